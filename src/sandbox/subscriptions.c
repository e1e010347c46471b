/* subscriptions.c - SubscribeToShard, the events that are due, and how subscriptions end by themselves. The
 * rules are from the Amazon Kinesis Data Streams API Reference, page "SubscribeToShard".
 *
 * A subscription is SLP_SUB_OPEN until it is SLP_SUB_ENDED: after five minutes, at the end of the shard, or
 * by an exception, which is sent from SLP_SUB_LAST_WORD. A fault makes it SLP_SUB_CUT or SLP_SUB_SILENT.
 * slp_push_more writes the events that are due. It must be called at the time that its last call returned,
 * and also when slp_push_next_news returns the subscription. */
#include "base/buf.h"
#include "base/list.h"
#include "base/mem.h"
#include "codec/crc32.h"
#include "sandbox/model.h"
#include "sandbox/sandbox.h"
#include "sandbox/subscription_list.h"
#include "sandbox/value.h"

#include <stdio.h>

#define EVENT_RECORDS 10000u
#define EVENT_BYTES (1u << 20)
/* nobody calls slp_push_news when a synthetic record arrives, so new ones are looked for this often */
#define SYNTHETIC_WAKE_MS 20
#define CONTENT_TYPE "application/x-amz-json-1.1"

/* ---- messages: encoded here, and not by codec/, so that reader and writer can't share a mistake ------- */
static void put_be32(slp_buf *b, uint64_t v) {
  char raw[4] = {(char)(v >> 24), (char)(v >> 16), (char)(v >> 8), (char)v};
  slp_buf_add(b, raw, 4);
}

static size_t header_bytes(const char *name, const char *value) {
  return 1 + strlen(name) + 3 + strlen(value);
}

static void put_header(slp_buf *b, const char *name, const char *value) {
  size_t n = strlen(value);
  slp_buf_add_char(b, (char)strlen(name));
  slp_buf_add_z(b, name);
  slp_buf_add_char(b, 7); /* header type 7 of an event stream: a string */
  slp_buf_add_char(b, (char)(n >> 8));
  slp_buf_add_char(b, (char)n);
  slp_buf_add_z(b, value);
}

/* Appends a message. `headers`: name, value, name, value ..., NULL. bad_sum 1: the checksum is wrong. */
static int put_message(slp_buf *to, const char *const *headers, slp_str payload, int bad_sum) {
  size_t from = to->n, n = 0;
  for (size_t i = 0; headers[i]; i += 2) n += header_bytes(headers[i], headers[i + 1]);
  slp_buf_reserve(to, 16 + n + payload.n);
  put_be32(to, 16 + n + payload.n);
  put_be32(to, n);
  if (slp_buf_failed(to)) return slp_buf_failed(to);
  put_be32(to, slp_crc32((slp_str){to->p + from, 8}));
  for (size_t i = 0; headers[i]; i += 2) put_header(to, headers[i], headers[i + 1]);
  slp_buf_add_str(to, payload);
  if (slp_buf_failed(to)) return slp_buf_failed(to);
  put_be32(to, slp_crc32((slp_str){to->p + from, to->n - from}) ^ (uint32_t)bad_sum);
  return slp_buf_failed(to);
}

static int put_event(slp_buf *to, const char *type, slp_str payload, int bad_sum) {
  const char *headers[] = {":message-type", "event",      ":event-type", type,
                           ":content-type", CONTENT_TYPE, NULL};
  return put_message(to, headers, payload, bad_sum);
}

static int put_exception(slp_box_sub *u, slp_buf *to, const char *name, const char *message) {
  const char *headers[] = {":message-type", "exception", ":exception-type", name, ":content-type",
                           CONTENT_TYPE,    NULL};
  slp_box_out out;
  slp_buf_clear(&u->payload);
  slp_out_begin(&out, &u->payload, SLP_WIRE_JSON, 1);
  slp_out_map(&out);
  slp_out_put_z(&out, "message", message);
  slp_out_end(&out);
  return slp_out_failed(&out) ? SLP_ENOMEM : put_message(to, headers, slp_buf_str(&u->payload), 0);
}

static int put_error(slp_buf *to, const char *code, const char *message) {
  const char *headers[] = {":message-type", "error", ":error-code", code, ":error-message", message, NULL};
  return put_message(to, headers, SLP_STR(""), 0);
}

/* ---- SubscribeToShard --------------------------------------------------------------------------------- */
static slp_seat *seat_of(slp_box *box, slp_box_consumer *k, uint32_t shard) {
  SLP_LIST_EACH(&k->seats, it) {
    slp_seat *at = SLP_OWNER(it, slp_seat, link);
    if (at->shard == shard) return at;
  }
  slp_seat *at = SLP_NEW(box->mem, slp_seat);
  if (!at) return NULL;
  at->shard = shard;
  at->subscribed_ms = INT64_MIN;
  slp_list_add_last(&k->seats, &at->link);
  return at;
}

static int may_subscribe(slp_box_call *c, slp_seat *at, const slp_box_consumer *k, const slp_box_shard *sh) {
  if (c->box->o.consumer_limits && !slp_box_window_open(&at->calls, c->now_ms, 1, 0))
    return slp_box_fail(
        c, "LimitExceededException",
        "Rate exceeded for consumer %s of stream %s and shard %s under account " SLP_BOX_ACCOUNT ".", k->name,
        sh->stream->name, sh->id);
  slp_box_window_take(&at->calls, 0, 0);
  if (at->subscribed_ms != INT64_MIN && c->now_ms - at->subscribed_ms < c->box->o.resubscribe_ms)
    return slp_box_fail(c, "ResourceInUseException",
                        "Another active subscription exists for this consumer: " SLP_BOX_ACCOUNT ":%s:%s:%s.",
                        sh->stream->name, k->name, sh->id);
  return 0;
}

static int position_of(slp_box_call *c, slp_box_shard *sh, uint64_t *ret) {
  slp_value *at = slp_box_tree_get(c->in, 0, "StartingPosition");
  uint32_t node = slp_box_tree_number(c->in, at);
  slp_value *type = slp_box_tree_get(c->in, node, "Type"),
            *seq = slp_box_tree_get(c->in, node, "SequenceNumber");
  slp_str none = {NULL, 0};
  return slp_box_position(c, sh, type->text, seq ? seq->text : none,
                          slp_box_tree_get(c->in, node, "Timestamp"), ret);
}

static slp_box_sub *open_sub(slp_box_call *c, slp_seat *at, const slp_box_shard *sh, uint64_t counter) {
  slp_box *box = c->box;
  slp_box_sub *u = SLP_NEW(box->mem, slp_box_sub);
  if (!u) return NULL;
  u->box = box;
  u->stream_uid = sh->stream->uid;
  u->shard = sh->index;
  u->counter = counter;
  u->next_ms = c->now_ms;
  u->not_before_ms = INT64_MIN;
  u->until_ms = c->now_ms + box->o.subscription_ms;
  slp_buf_init(&u->payload, box->mem, 64u << 20);
  if (at->sub) {
    at->sub->seat = NULL;
    slp_push_last_word(at->sub, "ResourceInUseException", "Another subscription of this consumer took over.");
  }
  u->seat = at;
  at->sub = u;
  at->subscribed_ms = c->now_ms;
  slp_list_add_last(&box->subs, &u->link);
  return u;
}

int slp_push_op_subscribe(slp_box_call *c) {
  slp_stream *s;
  uint64_t counter;
  /* The service answers a CBOR request with 500 (LocalStack, tests/aws/services/kinesis/test_kinesis.py). */
  if (c->out.wire == SLP_WIRE_CBOR)
    return slp_box_fail(c, "InternalFailure", "Subscriptions are asked for as JSON.");
  slp_box_consumer *k = slp_consumer_by_arn(c, slp_box_text(c, "ConsumerARN"), &s);
  if (!k) return -1;
  slp_str id = slp_box_text(c, "ShardId");
  slp_box_shard *sh = slp_box_shard_by_id(s, id);
  if (!sh)
    return slp_box_fail(c, "ResourceNotFoundException",
                        "Shard %.*s in stream %s under account " SLP_BOX_ACCOUNT " does not exist", (int)id.n,
                        id.p, s->name);
  slp_box_status status = slp_consumer_status(k, c->now_ms);
  if (status != SLP_BOX_ACTIVE)
    return slp_box_fail(c, "ResourceInUseException", "Consumer %s is in %s status.", k->name,
                        slp_box_status_name(status));
  slp_seat *at = seat_of(c->box, k, sh->index);
  if (!at) return slp_box_no_memory(c);
  if (may_subscribe(c, at, k, sh) || position_of(c, sh, &counter) || slp_box_dry_run(c)) return -1;
  slp_box_sub *u = open_sub(c, at, sh, counter);
  if (!u) return slp_box_no_memory(c);
  int initial = !(c->fault && c->fault->action == SLP_FAULT_NO_INITIAL);
  if (initial && put_event(c->out.b, "initial-response", SLP_STR("{}"), 0)) {
    slp_push_close(u);
    return slp_box_no_memory(c);
  }
  c->subscription = u;
  return 0;
}

/* ---- events ------------------------------------------------------------------------------------------- */
static slp_box_shard *shard_of(slp_box_sub *u, int64_t now_ms) {
  slp_stream *s = slp_box_find_uid(u->box, u->stream_uid);
  if (s) slp_box_sweep(u->box, s, now_ms);
  return s && u->shard < s->shards_n && !s->shards[u->shard]->gone ? s->shards[u->shard] : NULL;
}

/* Writes a sequence number that lies between the last record that was sent (or the shard's start) and the
 * next record. The number grows with time, as the service's does. */
static void put_continuation(slp_box_call *c, const slp_box_sub *u, const slp_box_shard *sh) {
  char text[SLP_BOX_SEQ_TEXT];
  slp_box_seq seq = {.create_s = sh->create_s,
                     .shard = sh->index,
                     .counter = u->counter - 1,
                     .arrive_s = (uint64_t)slp_max_i64(c->now_ms / 1000, 0)};
  slp_box_seq_text(&seq, text);
  slp_out_put_z(&c->out, "ContinuationSequenceNumber", text);
}

/* Finds the fault for the next event, and counts one use of the fault's line in the script. Returns
 * SLP_FAULT_NONE if there is none. */
static slp_fault_action fault_of(slp_box_sub *u, slp_box_call *c, const slp_box_shard *sh, slp_buf *to,
                                 uint64_t *ret_number) {
  slp_box_fault_find(c, slp_str_of(sh->id));
  slp_fault *f = c->fault;
  if (!f) return SLP_FAULT_NONE;
  slp_fault_action action = f->action;
  *ret_number = f->number;
  if (action == SLP_FAULT_ERROR) {
    put_exception(u, to, f->argument, f->message);
    slp_push_move(u, SLP_SUB_ENDED);
  } else if (action == SLP_FAULT_ERROR_IN_HEADER) {
    put_error(to, f->argument, f->message);
    slp_push_move(u, SLP_SUB_ENDED);
  }
  c->fault = NULL;
  slp_box_fault_use(u->box, f);
  return action;
}

/* Writes an event with the next n records, and sets u->counter to the record after them. */
static int write_event(slp_box_sub *u, slp_box_call *c, slp_box_shard *sh, uint64_t n, uint64_t end,
                       slp_buf *to, slp_fault_action fault) {
  uint64_t from = u->counter;
  int ends = !slp_box_shard_open(sh) && from + n == end;
  slp_buf_clear(&u->payload);
  slp_out_begin(&c->out, &u->payload, SLP_WIRE_JSON, 1);
  slp_out_map(&c->out);
  if (slp_box_put_records(c, sh, from, n, SLP_FAULT_NONE)) return SLP_ENOMEM;
  u->counter += n;
  if (!ends) put_continuation(c, u, sh);
  slp_out_put_i64(&c->out, "MillisBehindLatest", slp_box_behind_ms(sh, from, from + n, end, c->now_ms));
  if (ends && fault != SLP_FAULT_NO_CHILDREN) slp_box_put_children(c, sh);
  slp_out_end(&c->out);
  if (slp_out_failed(&c->out)) return SLP_ENOMEM;
  size_t before = to->n;
  const char *type = fault == SLP_FAULT_UNKNOWN_EVENT ? "SomethingNewEvent" : "SubscribeToShardEvent";
  int r = put_event(to, type, slp_buf_str(&u->payload), fault == SLP_FAULT_BAD_CRC);
  if (r) return r;
  if (fault == SLP_FAULT_UNKNOWN_EVENT) u->counter = from;
  if (fault == SLP_FAULT_BAD_CRC) slp_push_move(u, SLP_SUB_ENDED);
  if (ends && u->counter == end) slp_push_move(u, SLP_SUB_ENDED);
  u->box->stats.records_out += u->counter - from;
  return to->n > before ? 0 : SLP_ENOMEM;
}

static int write_due_event(slp_box_sub *u, slp_box_shard *sh, int64_t now_ms, slp_buf *to) {
  uint64_t end = slp_box_end(sh, now_ms), bytes = 0, number = 0;
  slp_box_call c = {.box = u->box, .now_ms = now_ms, .operation = SLP_BOX_EVENT, .in = &u->box->tree};
  size_t before = to->n;
  u->counter = slp_min_u64(slp_max_u64(u->counter, sh->first), end);
  uint64_t n =
      slp_box_page_size(sh, u->counter, slp_min_u64(EVENT_RECORDS, end - u->counter), EVENT_BYTES, &bytes);
  slp_fault_action fault = fault_of(u, &c, sh, to, &number);
  switch (fault) {
    case SLP_FAULT_ERROR:
    case SLP_FAULT_ERROR_IN_HEADER: return slp_buf_failed(to);
    case SLP_FAULT_SILENCE: slp_push_move(u, SLP_SUB_SILENT); return 0;
    case SLP_FAULT_DROP: slp_push_move(u, SLP_SUB_CUT); return 0;
    case SLP_FAULT_DELAY:
      u->not_before_ms = u->next_ms = now_ms + (int64_t)slp_min_u64(number, INT32_MAX);
      return 0;
    default: break;
  }
  int r = write_event(u, &c, sh, n, end, to, fault);
  if (r) return r;
  if (fault == SLP_FAULT_CUT) {
    to->n = before + (size_t)slp_min_u64(number, to->n - before);
    slp_push_move(u, SLP_SUB_CUT);
  }
  if (u->seat) slp_box_window_take(&u->seat->sent, bytes, u->box->o.push_bytes_per_second);
  u->next_ms = now_ms + u->box->o.idle_event_ms;
  if (sh->stream->synthetic && sh->stream->records_per_second)
    u->next_ms = slp_min_i64(u->next_ms, now_ms + SYNTHETIC_WAKE_MS);
  return 0;
}

/* Returns 1 if an event is due now. Otherwise returns 0, and sets *ret_at_ms to the time for the next
 * call. */
static int is_due(slp_box_sub *u, slp_box_shard *sh, int64_t now_ms, int64_t *ret_at_ms) {
  uint64_t most = u->box->o.push_bytes_per_second;
  *ret_at_ms = slp_min_i64(u->next_ms, u->until_ms);
  if (now_ms < u->not_before_ms) return 0;
  if (u->seat && !slp_box_window_open(&u->seat->sent, now_ms, 0, most)) {
    *ret_at_ms = slp_min_i64(u->seat->sent.until_ms, u->until_ms);
    return 0;
  }
  int news = u->counter < slp_box_end(sh, now_ms) || !slp_box_shard_open(sh);
  return news || now_ms >= u->next_ms;
}

slp_push_next slp_push_more(slp_box_sub *u, int64_t now_ms, slp_buf *to, int64_t *ret_at_ms) {
  int r = 0;
  slp_list_remove(&u->news_link);
  slp_box_settle(u->box, now_ms);
  *ret_at_ms = INT64_MAX;
  slp_box_shard *sh = shard_of(u, now_ms);
  if (u->state == SLP_SUB_OPEN && !sh)
    slp_push_last_word(u, "ResourceNotFoundException", "The stream or shard does not exist any more.");
  if (u->state == SLP_SUB_OPEN && now_ms >= u->until_ms) slp_push_move(u, SLP_SUB_ENDED);
  if (u->state == SLP_SUB_LAST_WORD) {
    r = put_exception(u, to, u->exception, u->said);
    slp_push_move(u, SLP_SUB_ENDED);
  }
  if (u->state == SLP_SUB_OPEN && is_due(u, sh, now_ms, ret_at_ms)) {
    r = write_due_event(u, sh, now_ms, to);
    *ret_at_ms = u->next_ms;
    if (u->state == SLP_SUB_OPEN && is_due(u, sh, now_ms, ret_at_ms)) *ret_at_ms = now_ms;
  }
  slp_list_remove(&u->news_link);
  if (r || u->state == SLP_SUB_CUT) return SLP_PUSH_CUT;
  return u->state == SLP_SUB_ENDED ? SLP_PUSH_ENDED : SLP_PUSH_OPEN;
}
