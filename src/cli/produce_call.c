/* produce_call.c - encodes the request of PutRecords and decodes its answer, in JSON, as botocore 1.44.8 does
 * (service model kinesis 2013-12-02). */
#include "cli/produce_call.h"

#include "aws/aws.h"
#include "aws/call.h"
#include "aws/classify.h"
#include "aws/hide.h"
#include "aws/json_op.h"
#include "base/buf.h"
#include "base/clean.h"
#include "base/fail.h"
#include "cli/produce_aggregate.h"
#include "cli/produce_queue.h"
#include "codec/json.h"
#include "codec/json_write.h"
#include "host/host.h"

#include <errno.h>
#include <sloop.h>
#include <stdio.h>

/* The most bytes of an answer. For each record the answer has a sequence number and the id of a shard; or an
 * error that may name account, stream and shard. Either takes less than 1 KiB. */
#define ANSWER_MAX (2u << 20)
/* How long a call may take: its body is up to 14 MB. */
#define CALL_MS_MAX 30000u

/* Writes an entry of the call. An aggregate gets the partition key and the hash key of its first record. All
 * records of an aggregate belong to one shard, so these keys place the aggregate in that shard. */
static void put_entry(slp_jw *w, const slp_put_call *c, const slp_put_record *first) {
  slp_str data = first->data;
  if (first->more) {
    data = slp_put_aggregates_pack(c->aggregates, first);
    if (!data.p) slp_buf_fail(w->b, SLP_ENOMEM);
  }
  slp_jw_object(w, NULL);
  slp_jw_base64(w, "Data", data);
  slp_jw_str(w, "PartitionKey", first->key);
  if (first->hash_key.n) slp_jw_str(w, "ExplicitHashKey", first->hash_key);
  slp_jw_object_end(w);
}

int slp_put_request(slp_buf *b, const slp_put_call *c) {
  slp_jw w = slp_jw_begin(b);
  slp_jw_z(&w, strncmp(c->stream, "arn:", 4) == 0 ? "StreamARN" : "StreamName", c->stream);
  slp_jw_array(&w, "Records");
  for (size_t i = 0; i < c->n; i++) put_entry(&w, c, c->records[i]);
  slp_jw_array_end(&w);
  return slp_jw_object_end(&w);
}

/* ---- the answer -------------------------------------------------------------------------------------- */
void slp_put_call_why(slp_put_call *c, size_t i, char why[SLP_PUT_WHY]) {
  slp_str code = c->codes[i], message = c->messages[i];
  slp_secrets secrets = slp_call_secrets(&c->op.call);
  *why = 0;
  if (!code.n) return;
  slp_hide_text(&secrets, (char *)(uintptr_t)code.p, code.n); /* both are parts of op.answer */
  if (message.n) slp_hide_text(&secrets, (char *)(uintptr_t)message.p, message.n);
  snprintf(why, SLP_PUT_WHY, "%.*s: %.*s", (int)slp_min_u64(code.n, 60), code.p,
           (int)slp_min_u64(message.n, 120), message.n ? message.p : "");
  why[slp_clean(why, strlen(why))] = 0;
}

static int read_entry(slp_json *j, slp_put_call *c, size_t i) {
  slp_str number = {NULL, 0}, code = {NULL, 0}, message = {NULL, 0}, shard = {NULL, 0};
  int token;
  while ((token = slp_json_next(j)) == SLP_JSON_KEY) {
    slp_str *to = slp_str_is(j->text, "SequenceNumber") ? &number
                  : slp_str_is(j->text, "ErrorCode")    ? &code
                  : slp_str_is(j->text, "ErrorMessage") ? &message
                  : slp_str_is(j->text, "ShardId")      ? &shard
                                                        : NULL;
    if (to ? slp_json_string(j, to) : slp_json_skip(j)) return SLP_EBADDATA;
  }
  if (token != SLP_JSON_OBJECT_END || i >= c->n || (!code.n && !number.n)) return SLP_EBADDATA;
  slp_remedy remedy;
  c->shards[i] = shard;
  c->codes[i] = code;
  c->messages[i] = message;
  c->outcomes[i] = code.n ? slp_classify_name(code, 500, &remedy) : SLP_FINE;
  if (code.n && !c->why[0]) slp_put_call_why(c, i, c->why);
  return 0;
}

static int read_entries(slp_json *j, slp_put_call *c, size_t *ret_n) {
  int token;
  if (slp_json_next(j) != SLP_JSON_ARRAY) return SLP_EBADDATA;
  while ((token = slp_json_next(j)) == SLP_JSON_OBJECT)
    if (read_entry(j, c, (*ret_n)++)) return SLP_EBADDATA;
  return token == SLP_JSON_ARRAY_END ? 0 : SLP_EBADDATA;
}

int slp_put_answer(slp_buf *answer, slp_put_call *c, const char **why) {
  slp_json j;
  size_t n = 0;
  int token = SLP_EBADDATA;
  c->why[0] = 0;
  *why = "it is no answer to PutRecords";
  if (slp_buf_reserve(answer, 1)) return SLP_ENOMEM;
  slp_json_begin(&j, answer->p, answer->n);
  if (slp_json_next(&j) != SLP_JSON_OBJECT) return SLP_EBADDATA;
  while ((token = slp_json_next(&j)) == SLP_JSON_KEY)
    if (slp_str_is(j.text, "Records") ? read_entries(&j, c, &n) : slp_json_skip(&j)) return SLP_EBADDATA;
  if (token != SLP_JSON_OBJECT_END || slp_json_next(&j) != SLP_JSON_END) return SLP_EBADDATA;
  *why = n == c->n ? NULL : "it tells of more or fewer records than were put";
  return *why ? SLP_EBADDATA : 0;
}

static int read_answer(slp_json_op *op, int begin, const char **why) {
  (void)begin;
  return slp_put_answer(&op->answer, SLP_OWNER(op, slp_put_call, op), why);
}

int slp_put_call_may_have_put(const slp_fail *f) {
  int no_name = f->code >= -3014 && f->code <= -3000; /* libuv's codes of names that do not resolve */
  int no_connection = f->code == -ECONNREFUSED || f->code == -EHOSTUNREACH || f->code == -ENETUNREACH ||
                      f->code == -ENETDOWN || f->code == SLOOP_ETLS || f->code == SLOOP_EPROXY;
  return f->class == SLP_TRANSIENT && !no_name && !no_connection;
}

/* ---- the call ---------------------------------------------------------------------------------------- */
static void on_done(slp_json_op *op) {
  slp_put_call *c = SLP_OWNER(op, slp_put_call, op);
  c->sent = 0;
  c->on_done(c);
}

void slp_put_call_init(slp_put_call *c, slp_aws *aws, const char *stream) {
  *c = (slp_put_call){.stream = stream};
  slp_json_op_init(&c->op, aws, ANSWER_MAX);
  c->op.svc = SLP_SVC_KINESIS;
  c->op.lane = SLP_LANE_CONTROL;
  c->op.target = SLP_STR("Kinesis_20131202.PutRecords");
  c->op.content_type = SLP_STR("application/x-amz-json-1.1");
  c->op.ms_max = CALL_MS_MAX;
  c->op.tries_max = 1; /* produce.c itself puts records again, together with other records */
  c->op.read = read_answer;
  c->op.call.keeps_secrets = 1; /* the words about an entry are written after the answer was read */
  c->op.on_done = on_done;
  if (strncmp(stream, "arn:", 4) == 0) c->op.call.arn = slp_str_of(stream);
}

int slp_put_call_send(slp_put_call *c) {
  slp_buf_clear(&c->op.request);
  if (slp_put_request(&c->op.request, c)) return SLP_ENOMEM;
  c->sent = 1;
  slp_json_op_send(&c->op);
  return 0;
}

void slp_put_call_cancel(slp_put_call *c) {
  if (c->sent) slp_json_op_cancel(&c->op);
  c->sent = 0;
}

void slp_put_call_free(slp_put_call *c) { slp_json_op_free(&c->op); }
