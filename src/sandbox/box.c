/* box.c - creates and frees the sandbox's model, and answers one request: finds the operation, checks
 * signature and input, and writes the result or the error. No operation calls this file. */
#include "base/buf.h"
#include "base/list.h"
#include "base/little.h"
#include "base/mem.h"
#include "base/u128.h"
#include "codec/crc32.h"
#include "codec/digest.h"
#include "codec/json.h"
#include "sandbox/changes.h"
#include "sandbox/ddb.h"
#include "sandbox/metric_data.h"
#include "sandbox/model.h"
#include "sandbox/sandbox.h"
#include "sandbox/value.h"

#include <sloop_sandbox.h>
#include <stdio.h>

#define TYPE_JSON "application/x-amz-json-1.1"
#define TYPE_JSON_10 "application/x-amz-json-1.0"
#define TYPE_CBOR "application/x-amz-cbor-1.1"

/* ---- creating and freeing -------------------------------------------------------------------------- */
void sloop_sandbox_opts_init_sized(sloop_sandbox_opts_t *o, size_t size) {
  sloop_sandbox_opts_t full = {
      .size = size,
      .address = "127.0.0.1",
      .iterator_ms = 300000,
      .next_token_ms = 300000,
      .change_ms = 50,
      .reads_per_second = 5,
      .read_bytes_per_second = 2u << 20,
      .write_bytes_per_second = 1u << 20,
      .write_records_per_second = 1000,
      .list_page_max = 1000,
      .cbor_indefinite = 1,
      .table_partitions = 4,
      .roll_ms = 4 * 3600000,
      .change_iterator_ms = 900000,
      .change_readers_max = 2,
      .describes_per_second = 10,
      .lists_per_second = 5,
      .subscription_ms = 300000,
      .resubscribe_ms = 5000,
      .idle_event_ms = 5000,
      .push_bytes_per_second = 2u << 20,
      .consumer_limits = 1,
      .key_limits = 1,
  };
  memset(o, 0, size);
  memcpy(o, &full, size < sizeof full ? size : sizeof full);
}

static int copy_text(slp_mem *mem, const char **text) {
  if (!*text) return 0;
  char *copy = slp_strdup(mem, slp_str_of(*text));
  *text = copy;
  return copy ? 0 : SLP_ENOMEM;
}

static void free_text(slp_mem *mem, const char *text) {
  if (text) slp_free(mem, (void *)(uintptr_t)text);
}

/* Copies the caller's options over the defaults. The caller's struct may be shorter or longer than
 * sloop_sandbox_opts_t is here. */
static int take_options(slp_box *box, const sloop_sandbox_opts_t *given) {
  sloop_sandbox_opts_t *o = &box->o;
  sloop_sandbox_opts_init_sized(o, sizeof *o);
  if (given) memcpy(o, given, given->size < sizeof *o ? given->size : sizeof *o);
  if (o->list_page_max == 0) o->list_page_max = 1000;
  const char **texts[] = {&o->address, &o->access_key, &o->secret_key, &o->session_token};
  int r = 0;
  for (size_t i = 0; i < SLP_COUNT(texts); i++) {
    if (r)
      *texts[i] = NULL; /* this is still the caller's text, and must not be freed */
    else
      r = copy_text(box->mem, texts[i]);
  }
  return r;
}

static int set_up(slp_box *box, const sloop_sandbox_opts_t *o) {
  char key[16];
  int r = take_options(box, o);
  if (r) return r;
  box->digest = slp_digest_new(box->mem);
  box->marker = slp_digest_new(box->mem);
  if (!box->digest || !box->marker) return SLP_ENOMEM;
  for (int i = 0; i < 2; i++) {
    uint64_t part = slp_little_u64(slp_box_random(box));
    memcpy(key + 8 * i, &part, 8);
  }
  box->ddb = slp_ddb_new(box->mem);
  box->changes_all = slp_changes_all_new(box->mem);
  if (!box->ddb || !box->changes_all) return SLP_ENOMEM;
  r = slp_hmac_key(box->marker, (slp_str){key, sizeof key});
  if (r || !box->o.access_key || !box->o.secret_key) return r;
  box->auth = slp_box_auth_new(box->mem, &box->o);
  return box->auth ? 0 : SLP_ENOMEM;
}

slp_box *slp_box_new(slp_mem *mem, const sloop_sandbox_opts_t *o, uint64_t seed) {
  slp_box *box = SLP_NEW(mem, slp_box);
  if (!box) return NULL;
  box->mem = slp_mem_hold(mem);
  box->random = seed;
  slp_list_init(&box->streams);
  slp_list_init(&box->faults);
  slp_list_init(&box->subs);
  slp_list_init(&box->news);
  slp_box_tree_init(&box->tree, mem);
  slp_buf_init(&box->scratch, mem, 16u << 20);
  slp_buf_init(&box->unpacked, mem, 16u << 20);
  if (!set_up(box, o)) return box;
  slp_box_free(box);
  return NULL;
}

void slp_box_free(slp_box *box) {
  if (!box) return;
  slp_mem *mem = box->mem;
  for (slp_list *it; (it = slp_list_first(&box->subs)) != NULL;) slp_push_close(slp_push_of(it));
  for (slp_list *it; (it = slp_list_first(&box->streams)) != NULL;) {
    slp_box_stream_free(box, SLP_OWNER(it, slp_stream, link));
  }
  slp_ddb_free(box);
  slp_changes_box_free(box);
  slp_box_faults_clear(box);
  slp_box_auth_free(box->auth);
  slp_digest_free(box->digest);
  slp_digest_free(box->marker);
  slp_box_tree_free(&box->tree);
  slp_buf_free(&box->scratch);
  slp_buf_free(&box->unpacked);
  free_text(mem, box->o.address);
  free_text(mem, box->o.access_key);
  free_text(mem, box->o.secret_key);
  free_text(mem, box->o.session_token);
  slp_free(mem, box);
  slp_mem_drop(mem);
}

/* ---- one call ---------------------------------------------------------------------------------------- */

/* Returns the wire form that belongs to the content type. -1: the content type is not known. */
static int wire_of(slp_str type) {
  slp_str bare = {type.p, 0};
  while (bare.n < type.n && type.p[bare.n] != ';' && type.p[bare.n] != ' ') bare.n++;
  if (slp_str_is(bare, TYPE_CBOR)) return SLP_WIRE_CBOR;
  if (slp_str_is(bare, TYPE_JSON) || slp_str_is(bare, TYPE_JSON_10) || slp_str_is(bare, "application/json")) {
    return SLP_WIRE_JSON;
  }
  return -1;
}

/* Returns the service named by the first part of the header X-Amz-Target. *ret_operation gets the rest, which
 * is the operation's name. */
static slp_box_service service_of(slp_str target, slp_str *ret_operation) {
  static const char *const prefixes[] = {[SLP_BOX_KINESIS] = "Kinesis_20131202.",
                                         [SLP_BOX_DYNAMODB] = "DynamoDB_20120810.",
                                         [SLP_BOX_CHANGES] = "DynamoDBStreams_20120810.",
                                         [SLP_BOX_CLOUDWATCH] = "GraniteServiceVersion20100801."};
  for (size_t i = 0; i < SLP_COUNT(prefixes); i++) {
    size_t n = strlen(prefixes[i]);
    if (target.n <= n || memcmp(target.p, prefixes[i], n) != 0) continue;
    *ret_operation = (slp_str){target.p + n, target.n - n};
    return (slp_box_service)i;
  }
  *ret_operation = (slp_str){NULL, 0};
  return SLP_BOX_KINESIS;
}

static const slp_box_operation *operation_of(slp_box_call *c, slp_str target, slp_str name,
                                             uint32_t *ret_number) {
  const slp_box_operation *op = slp_box_operation_find(c->service, name, ret_number);
  if (op) return op;
  slp_box_fail(c, "UnknownOperationException", "Unknown operation %.*s", (int)slp_min_u64(target.n, 100),
               target.p ? target.p : "");
  return NULL;
}

/* Returns the shard that a call is about, for the fault script. If the call has an iterator, which contains
 * only the shard's number, the shard's id is written into `room`. */
static slp_str find_call_subject(slp_box_call *c, char room[24]) {
  static const char *const members[] = {"ShardId", "ShardToSplit", "ShardToMerge"};
  slp_box_mark m;
  if (c->service == SLP_BOX_CHANGES) return slp_changes_subject(c);
  const slp_value *v = slp_box_tree_get(c->in, 0, "ShardIterator");
  if (v && v->kind == SLP_VALUE_TEXT && !slp_box_mark_read(c->box, v->text, 'i', &m)) {
    int n = snprintf(room, 24, "shardId-%012u", m.shard);
    return (slp_str){room, (size_t)n};
  }
  for (size_t i = 0; i < SLP_COUNT(members); i++) {
    v = slp_box_tree_get(c->in, 0, members[i]);
    if (v && v->kind == SLP_VALUE_TEXT) return v->text;
  }
  return (slp_str){NULL, 0};
}

/* Carries out a request for the first time, and drops the answer. Called only for the fault that has a
 * request carried out twice. */
static int run_unseen(slp_box_call *c, const slp_box_operation *op, const slp_box_request *rq,
                      slp_box_answer *answer) {
  slp_wire wire = c->out.wire;
  int definite = c->out.definite;
  op->run(c);
  slp_ddb_call_over(c->box);
  c->error = NULL;
  c->error_more = (slp_str){NULL, 0};
  slp_buf_clear(&answer->body);
  slp_out_begin(&c->out, &answer->body, wire, definite);
  return slp_box_tree_read(c->in, c->in->wire, rq->body) ? slp_box_no_memory(c) : 0;
}

static void run_operation(slp_box_call *c, const slp_box_operation *op, const slp_box_request *rq,
                          slp_box_answer *answer) {
  char room[24];
  int r = slp_box_tree_read(c->in, c->in->wire, rq->body);
  if (r == SLP_ENOMEM) {
    slp_box_no_memory(c);
    return;
  }
  if (r) {
    slp_box_fail(c, "SerializationException", "The request's body could not be read.");
    return;
  }
  slp_box_settle(c->box, c->now_ms);
  slp_ddb_settle(c->box, c->now_ms);
  slp_changes_settle(c->box, c->now_ms);
  slp_box_fault_find(c, find_call_subject(c, room));
  if (slp_box_fault_before(c, answer)) return;
  if (slp_box_check_input(c, op)) return;
  if (slp_box_fault_twice(c) && (run_unseen(c, op, rq, answer) || slp_box_check_input(c, op))) return;
  if (op->run(c)) return;
  if (slp_out_failed(&c->out)) slp_box_no_memory(c);
}

/* Returns the prefix of an error's name. Kinesis has none. The other services put the name of the API that
 * defines the error in front. */
static const char *error_prefix(const slp_box_call *c) {
  static const struct {
    const char *error, *prefix;
  } families[] = {
      {"ValidationException", "com.amazon.coral.validate#"},
      {"SerializationException", "com.amazon.coral.service#"},
      {"UnknownOperationException", "com.amazon.coral.service#"},
      {"AccessDeniedException", "com.amazon.coral.service#"},
      {"UnrecognizedClientException", "com.amazon.coral.service#"},
      {"InvalidSignatureException", "com.amazon.coral.service#"},
      {"IncompleteSignatureException", "com.amazon.coral.service#"},
      {"MissingAuthenticationTokenException", "com.amazon.coral.service#"},
      {"ExpiredTokenException", "com.amazon.coral.service#"},
      {"ThrottlingException", "com.amazon.coral.availability#"},
  };
  if (c->service == SLP_BOX_KINESIS) return "";
  if (c->service == SLP_BOX_CLOUDWATCH) return "com.amazonaws.cloudwatch.v2010_08_01#";
  for (size_t i = 0; i < SLP_COUNT(families); i++) {
    if (strcmp(families[i].error, c->error) == 0) return families[i].prefix;
  }
  return "com.amazonaws.dynamodb.v20120810#";
}

static void put_error_name(slp_box_call *c) {
  char type[200];
  snprintf(type, sizeof type, "%s%.150s", error_prefix(c), c->error);
  slp_out_put_z(&c->out, "__type", type);
}

/* Returns the member that has an error's message. For three errors it is "Message", for all others
 * "message". */
static const char *message_member(const slp_box_call *c) {
  int capital =
      c->service == SLP_BOX_DYNAMODB && (strcmp(c->error, "TransactionCanceledException") == 0 ||
                                         strcmp(c->error, "TransactionInProgressException") == 0 ||
                                         strcmp(c->error, "IdempotentParameterMismatchException") == 0);
  return capital ? "Message" : "message";
}

static void put_error(slp_box_call *c, slp_box_answer *answer) {
  slp_wire wire = c->out.wire;
  slp_buf_clear(&answer->body);
  answer->status = c->error_status;
  slp_out_begin(&c->out, &answer->body, wire, c->out.definite);
  slp_out_map(&c->out);
  put_error_name(c);
  slp_out_put_z(&c->out, message_member(c), c->error_message);
  if (c->error_more.n) slp_out_members(&c->out, c->error_more);
  slp_out_end(&c->out);
  if (slp_out_failed(&c->out)) slp_buf_clear(&answer->body); /* no memory: the answer has no body */
}

static void new_request_id(slp_box *box, char out[40]) {
  uint64_t a = slp_box_random(box), b = slp_box_random(box);
  snprintf(out, 40, "%08x-%04x-%04x-%04x-%012llx", (unsigned)(a >> 32), (unsigned)(a >> 16 & 0xffff),
           (unsigned)(a & 0xffff), (unsigned)(b >> 48), (unsigned long long)(b & UINT64_C(0xffffffffffff)));
}

static void count_request(slp_box *box, uint32_t number, const slp_box_request *rq,
                          const slp_box_answer *answer) {
  slp_box_use *use = &box->use[number];
  uint64_t out = answer->drop ? 0 : answer->body.n;
  box->stats.requests++;
  box->stats.bytes_in += rq->body.n;
  box->stats.bytes_out += out;
  use->calls++;
  use->bytes_in += rq->body.n;
  use->bytes_out += out;
  if (answer->status >= 300) {
    box->stats.errors++;
    use->errors++;
  }
}

void slp_box_handle(slp_box *box, int64_t now_ms, const slp_box_request *received, slp_box_answer *answer) {
  uint32_t number = SLP_BOX_OPERATIONS;
  slp_box_request common;
  slp_metrics_form form;
  int unreadable = slp_metrics_request(box, received, &common, &form);
  const slp_box_request *rq = &common;
  int wire = wire_of(rq->content_type);
  slp_box_call c = {.box = box, .now_ms = now_ms, .in = &box->tree, .operation = "?"};
  const slp_box_operation *op = NULL;
  slp_str name;
  c.service = service_of(rq->target, &name);
  answer->status = 200;
  answer->content_type = wire == SLP_WIRE_CBOR ? TYPE_CBOR : TYPE_JSON;
  answer->has_crc32 = answer->bad_crc32 = 0;
  answer->content_encoding = answer->protocol = NULL;
  answer->error_type[0] = 0;
  answer->subscription = NULL;
  answer->delay_ms = 0;
  answer->drop = 0;
  answer->cut_after = SIZE_MAX;
  new_request_id(box, answer->request_id);
  box->tree.wire = wire == SLP_WIRE_CBOR ? SLP_WIRE_CBOR : SLP_WIRE_JSON;
  slp_out_begin(&c.out, &answer->body, box->tree.wire, !box->o.cbor_indefinite);
  slp_box_region_of(rq->authorization, c.region);
  if (!slp_str_is(rq->method, "POST") || !slp_str_is(rq->path, "/") || wire < 0) {
    slp_box_fail(&c, "UnknownOperationException", "Only POST / with %s or %s is served.", TYPE_JSON,
                 TYPE_CBOR);
    c.error_status = 404;
  } else if (!box->auth || !slp_box_auth_check(box->auth, &c, received)) {
    if (unreadable)
      slp_box_fail(&c, "SerializationException", "The request's body could not be read.");
    else
      op = operation_of(&c, rq->target, name, &number);
  }
  /* DynamoDB and DynamoDB Streams accept JSON only */
  if (c.service == SLP_BOX_DYNAMODB || c.service == SLP_BOX_CHANGES) {
    if (wire == SLP_WIRE_CBOR) {
      op = NULL;
      slp_box_fail(&c, "SerializationException", "DynamoDB takes %s.", TYPE_JSON_10);
    }
    c.out.wire = SLP_WIRE_JSON;
    answer->content_type = TYPE_JSON_10;
  }
  if (op) {
    c.operation = op->name;
    run_operation(&c, op, rq, answer);
  }
  if (c.error) put_error(&c, answer);
  if (c.service == SLP_BOX_CLOUDWATCH) slp_metrics_answer(&c, form, answer);
  if (c.error && c.subscription) {
    /* The fault script had the request carried out twice. The first time opened a subscription, but the
     * second time failed, so the answer is an error and the subscription is closed. */
    slp_push_close(c.subscription);
    c.subscription = NULL;
  }
  if (c.subscription) {
    answer->content_type = "application/vnd.amazon.eventstream";
    answer->subscription = c.subscription;
  }
  slp_box_fault_after(&c, answer);
  slp_ddb_call_over(box);
  if (c.service == SLP_BOX_DYNAMODB) {
    answer->has_crc32 = 1;
    answer->crc32 = slp_crc32(slp_buf_str(&answer->body)) ^ (uint32_t)answer->bad_crc32;
  }
  count_request(box, number, received, answer);
}

/* ---- control requests -------------------------------------------------------------------------------- */
int slp_box_stream(slp_box *box, int64_t now_ms, const char *name, uint32_t shards) {
  slp_stream *s;
  slp_str z = slp_str_of(name);
  slp_box_settle(box, now_ms);
  if (!slp_box_name_valid(z) || shards == 0 || shards > SLP_BOX_SHARDS_MAX / 2) return SLP_EINVAL;
  if (slp_box_find(box, z)) return -EEXIST;
  int r = slp_box_stream_new(box, now_ms, z, &s);
  if (r) return r;
  r = slp_box_stream_fill(box, s, now_ms, shards);
  if (r) slp_box_stream_free(box, s);
  return r;
}

int slp_box_synthetic(slp_box *box, int64_t now_ms, const char *name, uint32_t shards, uint64_t records,
                      uint32_t record_bytes, uint64_t records_per_second, uint64_t seed) {
  slp_stream *s;
  slp_str z = slp_str_of(name);
  if (!slp_box_name_valid(z) || shards == 0 || shards > SLP_BOX_SHARDS_MAX / 2 ||
      record_bytes > SLP_BOX_RECORD_BYTES) {
    return SLP_EINVAL;
  }
  if (slp_box_find(box, z)) return -EEXIST;
  /* If all records exist from the start, they count as having arrived over the last hours. So the stream must
   * count as created before that. */
  if (records_per_second == 0) now_ms -= SLP_SYNTHETIC_SPREAD_MS;
  int r = slp_box_stream_new(box, now_ms, z, &s);
  if (r) return r;
  s->synthetic = 1;
  s->record_bytes = record_bytes;
  s->records_per_second = records_per_second;
  s->synthetic_records = records;
  s->seed = seed;
  s->record_kib_max = (uint32_t)slp_max_u64(s->record_kib_max, (record_bytes + 1023) / 1024);
  r = slp_box_stream_fill(box, s, now_ms, shards);
  if (!r) r = slp_synthetic_setup(box, s, 0);
  if (r) slp_box_stream_free(box, s);
  return r;
}

static slp_stream *settle_and_find_stream(slp_box *box, int64_t now_ms, const char *stream) {
  slp_box_settle(box, now_ms);
  slp_stream *s = slp_box_find(box, slp_str_of(stream));
  return s && s->shards_n > 0 ? s : NULL;
}

int slp_box_put(slp_box *box, int64_t now_ms, const char *stream, slp_str key, slp_str data, char seq[130],
                char shard[129]) {
  slp_u128 hash;
  slp_box_seq number;
  char text[SLP_BOX_SEQ_TEXT];
  slp_stream *s = settle_and_find_stream(box, now_ms, stream);
  if (!s) return SLP_ENOENT;
  if (s->synthetic || key.n > 1024 || data.n > SLP_BOX_RECORD_BYTES) return SLP_EINVAL;
  if (key.p ? key.n < 1 || !slp_utf8_valid(key) : !s->spreads) return SLP_EINVAL;
  slp_box_sweep(box, s, now_ms);
  int r = s->spreads ? 0 : slp_box_hash_of(box, key, &hash);
  if (r) return r;
  slp_box_shard *sh = s->spreads ? slp_box_next_in_turn(s) : slp_box_shard_for(s, hash);
  SLP_CHECK(sh != NULL);
  s->spread_next++;
  r = slp_box_store(box, sh, now_ms, key, data, &number);
  if (r) return r;
  size_t n = slp_box_seq_text(&number, text);
  if (seq) memcpy(seq, text, n + 1);
  if (shard) memcpy(shard, sh->id, strlen(sh->id) + 1);
  return 0;
}

static int order_refused(const slp_box_refusal *why) {
  return strcmp(why->code, "ResourceNotFoundException") == 0 ? SLP_ENOENT : SLP_EINVAL;
}

int slp_box_split(slp_box *box, int64_t now_ms, const char *stream, const char *shard,
                  const char *new_start_hash) {
  slp_box_refusal why;
  slp_box_shard *sh;
  slp_u128 at;
  slp_stream *s = settle_and_find_stream(box, now_ms, stream);
  if (!s) return SLP_ENOENT;
  if (s->change != SLP_BOX_NOTHING) return -EBUSY;
  slp_box_may_split(s, slp_str_of(shard), slp_str_of(new_start_hash), &why, &sh, &at);
  return why.code ? order_refused(&why) : slp_box_split_at(box, s, now_ms, sh, at);
}

int slp_box_merge(slp_box *box, int64_t now_ms, const char *stream, const char *shard, const char *adjacent) {
  slp_box_refusal why;
  slp_box_shard *a, *b;
  slp_stream *s = settle_and_find_stream(box, now_ms, stream);
  if (!s) return SLP_ENOENT;
  if (s->change != SLP_BOX_NOTHING) return -EBUSY;
  slp_box_may_merge(s, slp_str_of(shard), slp_str_of(adjacent), &why, &a, &b);
  return why.code ? order_refused(&why) : slp_box_merge_two(box, s, now_ms, a, b);
}

int slp_box_trim(slp_box *box, int64_t now_ms, const char *stream, int64_t before_ms) {
  slp_stream *s = settle_and_find_stream(box, now_ms, stream);
  if (!s) return SLP_ENOENT;
  s->trimmed_ms = slp_max_i64(s->trimmed_ms, before_ms);
  s->swept_ms = INT64_MIN;
  slp_box_sweep(box, s, now_ms);
  return 0;
}

int slp_box_keep(slp_box *box, int64_t now_ms, const char *stream, uint32_t hours) {
  slp_stream *s = settle_and_find_stream(box, now_ms, stream);
  if (!s) return SLP_ENOENT;
  s->retention_ms = hours * SLP_BOX_HOUR_MS;
  s->swept_ms = INT64_MIN;
  slp_box_sweep(box, s, now_ms);
  return 0;
}

/* ---- statistics ---------------------------------------------------------------------------------------- */
void slp_box_stats(const slp_box *box, sloop_sandbox_stats_t *out) { *out = box->stats; }

static void put_use(slp_box_out *o, const char *name, const slp_box_use *use) {
  slp_out_key(o, name);
  slp_out_map(o);
  slp_out_put_i64(o, "calls", (int64_t)use->calls);
  slp_out_put_i64(o, "errors", (int64_t)use->errors);
  slp_out_put_i64(o, "bytes_in", (int64_t)use->bytes_in);
  slp_out_put_i64(o, "bytes_out", (int64_t)use->bytes_out);
  slp_out_end(o);
}

int slp_box_stats_json(const slp_box *box, slp_buf *to) {
  slp_box_out o;
  uint64_t busiest = 0;
  SLP_LIST_EACH(&box->streams, it) {
    const slp_stream *s = SLP_OWNER(it, slp_stream, link);
    for (uint32_t i = 0; i < s->shards_n; i++) busiest = slp_max_u64(busiest, s->shards[i]->asked_max);
  }
  slp_out_begin(&o, to, SLP_WIRE_JSON, 0);
  slp_out_map(&o);
  slp_out_put_i64(&o, "requests", (int64_t)box->stats.requests);
  slp_out_put_i64(&o, "errors", (int64_t)box->stats.errors);
  slp_out_put_i64(&o, "bytes_in", (int64_t)box->stats.bytes_in);
  slp_out_put_i64(&o, "bytes_out", (int64_t)box->stats.bytes_out);
  slp_out_put_i64(&o, "records_in", (int64_t)box->stats.records_in);
  slp_out_put_i64(&o, "records_out", (int64_t)box->stats.records_out);
  slp_out_put_i64(&o, "metric_data", (int64_t)box->metric_data);
  slp_out_put_i64(&o, "faults_used", (int64_t)box->stats.faults_used);
  slp_out_put_i64(&o, "shard_reads_per_second_max", (int64_t)busiest);
  slp_out_put_i64(&o, "change_shard_reads_per_second_max", (int64_t)slp_changes_asked_max(box));
  slp_out_key(&o, "operations");
  slp_out_map(&o);
  const char *name;
  for (uint32_t i = 0; (name = slp_box_operation_label(i)) != NULL; i++) put_use(&o, name, &box->use[i]);
  put_use(&o, "other", &box->use[SLP_BOX_OPERATIONS]);
  slp_out_end(&o);
  slp_out_end(&o);
  return slp_out_failed(&o);
}
