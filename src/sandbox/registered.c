/* registered.c - the registered consumers of a stream: RegisterStreamConsumer, DescribeStreamConsumer,
 * ListStreamConsumers, DeregisterStreamConsumer. Limits and rates are from the Amazon Kinesis Data Streams
 * Developer Guide, page "Quotas and limits". */
#include "base/list.h"
#include "base/mem.h"
#include "sandbox/model.h"
#include "sandbox/value.h"

#include <stdio.h>

#define CONSUMERS_MAX 20u /* the most registered consumers of one stream */
#define CREATING_MAX 5u   /* the most consumers of one stream that may be in the state CREATING at a time */
#define LIST_PAGE 100
/* the most calls of RegisterStreamConsumer a second, for the whole account */
#define REGISTERS_PER_SECOND 5u
#define DESCRIBES_PER_SECOND 20u  /* the most calls of DescribeStreamConsumer a second, for one stream */
#define LISTS_PER_SECOND 5u       /* the most calls of ListStreamConsumers a second, for one stream */
#define DEREGISTERS_PER_SECOND 5u /* the most calls of DeregisterStreamConsumer a second, for one stream */

/* ---- the list of consumers ---------------------------------------------------------------------------- */
static void consumer_free(slp_box *box, slp_box_consumer *k) {
  slp_push_forget_consumer(box, k);
  slp_list_remove(&k->link);
  slp_free(box->mem, k->name);
  slp_free(box->mem, k);
}

void slp_consumers_free(slp_box *box, slp_stream *s) {
  for (slp_list *it; (it = slp_list_first(&s->consumers)) != NULL;)
    consumer_free(box, SLP_OWNER(it, slp_box_consumer, link));
}

static void free_gone_consumers(slp_box *box, slp_stream *s, int64_t now_ms) {
  for (slp_list *it = s->consumers.next, *next; it != &s->consumers; it = next) {
    next = it->next;
    slp_box_consumer *k = SLP_OWNER(it, slp_box_consumer, link);
    if (k->gone_ms <= now_ms) consumer_free(box, k);
  }
}

slp_box_status slp_consumer_status(const slp_box_consumer *k, int64_t now_ms) {
  if (k->gone_ms != INT64_MAX) return SLP_BOX_DELETING;
  return now_ms < k->active_ms ? SLP_BOX_CREATING : SLP_BOX_ACTIVE;
}

uint32_t slp_consumers_count(slp_box *box, slp_stream *s, int64_t now_ms) {
  uint32_t n = 0;
  free_gone_consumers(box, s, now_ms);
  SLP_LIST_EACH(&s->consumers, it) n++;
  return n;
}

static slp_box_consumer *by_name(slp_stream *s, slp_str name) {
  SLP_LIST_EACH(&s->consumers, it) {
    slp_box_consumer *k = SLP_OWNER(it, slp_box_consumer, link);
    if (slp_str_is(name, k->name)) return k;
  }
  return NULL;
}

static size_t put_epoch(char out[24], const slp_box_consumer *k) {
  return (size_t)snprintf(out, 24, "%lld", (long long)(k->created_ms / 1000));
}

/* Returns the index of the first `what` in s, or s.n if there is none. */
static size_t find_text_index(slp_str s, const char *what) {
  size_t n = strlen(what);
  for (size_t i = 0; i + n <= s.n; i++) {
    if (memcmp(s.p + i, what, n) == 0) return i;
  }
  return s.n;
}

/* Finds the consumer with the ARN ...:stream/STREAM/consumer/NAME:EPOCH. After a consumer was deregistered,
 * its ARN finds nothing, even if a new consumer has the same name. */
static slp_box_consumer *by_arn(slp_box_call *c, slp_str arn, slp_stream **ret_stream) {
  char epoch[24];
  size_t stream_at = find_text_index(arn, ":stream/") + 8, consumer_at = find_text_index(arn, "/consumer/");
  if (stream_at >= consumer_at || consumer_at + 10 >= arn.n) return NULL;
  slp_str name = {arn.p + consumer_at + 10, arn.n - consumer_at - 10};
  size_t colon = find_text_index(name, ":");
  if (colon >= name.n) return NULL;
  slp_stream *s = slp_box_find(c->box, (slp_str){arn.p + stream_at, consumer_at - stream_at});
  if (!s) return NULL;
  free_gone_consumers(c->box, s, c->now_ms);
  slp_box_consumer *k = by_name(s, (slp_str){name.p, colon});
  if (!k ||
      !slp_str_eq((slp_str){name.p + colon + 1, name.n - colon - 1}, (slp_str){epoch, put_epoch(epoch, k)}))
    return NULL;
  *ret_stream = s;
  return k;
}

slp_box_consumer *slp_consumer_by_arn(slp_box_call *c, slp_str arn, slp_stream **ret_stream) {
  slp_box_consumer *k = by_arn(c, arn, ret_stream);
  if (k) slp_box_sweep(c->box, *ret_stream, c->now_ms);
  if (!k)
    slp_box_fail(c, "ResourceNotFoundException", "Consumer %.*s not found.", (int)slp_min_u64(arn.n, 400),
                 arn.p);
  return k;
}

/* Returns the consumer of the request, which gives either the consumer's ARN, or the stream's ARN and the
 * consumer's name. */
static slp_box_consumer *consumer_of(slp_box_call *c, slp_stream **ret_stream) {
  slp_str arn = slp_box_text(c, "ConsumerARN"), name = slp_box_text(c, "ConsumerName");
  if (arn.p) return slp_consumer_by_arn(c, arn, ret_stream);
  if (!name.p || !slp_box_text(c, "StreamARN").p) {
    slp_box_fail(c, "InvalidArgumentException",
                 "Either ConsumerARN, or both StreamARN and ConsumerName must be specified.");
    return NULL;
  }
  slp_stream *s = slp_box_stream_of(c);
  if (!s) return NULL;
  free_gone_consumers(c->box, s, c->now_ms);
  slp_box_consumer *k = by_name(s, name);
  if (!k)
    slp_box_fail(c, "ResourceNotFoundException",
                 "Consumer %.*s of stream %s under account " SLP_BOX_ACCOUNT " not found.",
                 (int)slp_min_u64(name.n, 128), name.p, s->name);
  *ret_stream = s;
  return k;
}

static int too_fast(slp_box_call *c, slp_box_window *w, uint32_t limit) {
  if (!c->box->o.consumer_limits) return 0;
  if (!slp_box_window_open(w, c->now_ms, limit, 0))
    return slp_box_fail(c, "LimitExceededException", "Rate exceeded for %s.", c->operation);
  slp_box_window_take(w, 0, 0);
  return 0;
}

/* ---- answers ------------------------------------------------------------------------------------------ */
static void put_members(slp_box_call *c, const slp_stream *s, const slp_box_consumer *k) {
  char arn[512], epoch[24];
  put_epoch(epoch, k);
  snprintf(arn, sizeof arn, "arn:aws:kinesis:%s:" SLP_BOX_ACCOUNT ":stream/%s/consumer/%s:%s", c->region,
           s->name, k->name, epoch);
  slp_out_put_z(&c->out, "ConsumerName", k->name);
  slp_out_put_z(&c->out, "ConsumerARN", arn);
  slp_out_put_z(&c->out, "ConsumerStatus", slp_box_status_name(slp_consumer_status(k, c->now_ms)));
  slp_out_key(&c->out, "ConsumerCreationTimestamp");
  slp_out_time(&c->out, k->created_ms / 1000 * 1000);
}

static void put_consumer(slp_box_call *c, const slp_stream *s, const slp_box_consumer *k) {
  slp_out_map(&c->out);
  put_members(c, s, k);
  slp_out_end(&c->out);
}

/* ---- the operations ----------------------------------------------------------------------------------- */
static slp_box_consumer *add_registered_consumer(slp_box_call *c, slp_stream *s, slp_str name) {
  slp_box_consumer *k = SLP_NEW(c->box->mem, slp_box_consumer);
  if (!k) return NULL;
  k->name = slp_strdup(c->box->mem, name);
  if (!k->name) {
    slp_free(c->box->mem, k);
    return NULL;
  }
  k->uid = ++c->box->uids;
  k->created_ms = c->now_ms;
  /* The ARN consists of the name and the second of creation. A consumer that is created again in the same
   * second would get the old ARN, so its creation time is set one second later. */
  SLP_LIST_EACH(&s->consumers, it) {
    slp_box_consumer *other = SLP_OWNER(it, slp_box_consumer, link);
    if (slp_str_is(name, other->name)) k->created_ms = other->created_ms + 1000;
  }
  k->created_ms = slp_max_i64(k->created_ms, s->consumer_ms);
  s->consumer_ms = k->created_ms / 1000 * 1000 + 1000;
  k->active_ms = c->now_ms + c->box->o.change_ms;
  k->gone_ms = INT64_MAX;
  slp_list_init(&k->seats);
  slp_list_add_last(&s->consumers, &k->link);
  return k;
}

int slp_consumers_op_register(slp_box_call *c) {
  uint32_t n = 0, creating = 0;
  if (too_fast(c, &c->box->registers, REGISTERS_PER_SECOND)) return -1;
  slp_stream *s = slp_box_stream_of(c);
  if (!s) return -1;
  slp_str name = slp_box_text(c, "ConsumerName");
  free_gone_consumers(c->box, s, c->now_ms);
  if (s->status == SLP_BOX_CREATING || s->status == SLP_BOX_DELETING)
    return slp_box_fail(c, "ResourceInUseException", "Stream %s under account " SLP_BOX_ACCOUNT " is %s.",
                        s->name, slp_box_status_name(s->status));
  if (by_name(s, name))
    return slp_box_fail(c, "ResourceInUseException", "Consumer %.*s of stream %s already exists.",
                        (int)name.n, name.p, s->name);
  SLP_LIST_EACH(&s->consumers, it) {
    slp_box_consumer *k = SLP_OWNER(it, slp_box_consumer, link);
    n++;
    creating += slp_consumer_status(k, c->now_ms) == SLP_BOX_CREATING;
  }
  if (n >= CONSUMERS_MAX || creating >= CREATING_MAX)
    return slp_box_fail(c, "LimitExceededException",
                        n >= CONSUMERS_MAX ? "Stream %s has %u registered consumers already."
                                           : "Stream %s has %u consumers in CREATING status already.",
                        s->name, n >= CONSUMERS_MAX ? n : creating);
  slp_box_consumer *k = add_registered_consumer(c, s, name);
  if (!k) return slp_box_no_memory(c);
  slp_out_map(&c->out);
  slp_out_key(&c->out, "Consumer");
  put_consumer(c, s, k);
  slp_out_end(&c->out);
  return 0;
}

int slp_consumers_op_describe(slp_box_call *c) {
  slp_stream *s;
  slp_box_consumer *k = consumer_of(c, &s);
  if (!k || too_fast(c, &s->consumer_describes, DESCRIBES_PER_SECOND)) return -1;
  slp_out_map(&c->out);
  slp_out_key(&c->out, "ConsumerDescription");
  slp_out_map(&c->out);
  put_members(c, s, k);
  slp_out_key(&c->out, "StreamARN");
  slp_box_put_arn(c, s);
  slp_out_end(&c->out);
  slp_out_end(&c->out);
  return 0;
}

int slp_consumers_op_deregister(slp_box_call *c) {
  slp_stream *s;
  slp_box_consumer *k = consumer_of(c, &s);
  if (!k || too_fast(c, &s->consumer_deregisters, DEREGISTERS_PER_SECOND)) return -1;
  if (k->gone_ms == INT64_MAX) k->gone_ms = c->now_ms + c->box->o.change_ms;
  slp_push_end_consumer(c->box, k);
  free_gone_consumers(c->box, s, c->now_ms);
  return 0;
}

/* Finds where a listing continues: the request's token contains the uid of the last consumer that was
 * listed. */
static int list_from(slp_box_call *c, const slp_stream *s, uint64_t *ret_after) {
  slp_box_mark m;
  slp_str token = slp_box_text(c, "NextToken");
  *ret_after = 0;
  if (!token.p) return 0;
  if (slp_box_mark_read(c->box, token, 'k', &m) || m.stream_uid != s->uid)
    return slp_box_fail(c, "InvalidArgumentException", "Invalid NextToken.");
  if (c->now_ms - m.issued_ms > c->box->o.next_token_ms)
    return slp_box_fail(c, "ExpiredNextTokenException", "NextToken expired.");
  *ret_after = m.counter;
  return 0;
}

int slp_consumers_op_list(slp_box_call *c) {
  uint64_t after, last = 0;
  int64_t most = slp_min_i64(slp_box_int(c, "MaxResults", LIST_PAGE), LIST_PAGE), n = 0;
  int more = 0;
  slp_stream *s = slp_box_stream_of(c);
  if (!s || too_fast(c, &s->consumer_lists, LISTS_PER_SECOND) || list_from(c, s, &after)) return -1;
  free_gone_consumers(c->box, s, c->now_ms);
  slp_out_map(&c->out);
  slp_out_key(&c->out, "Consumers");
  slp_out_list(&c->out);
  SLP_LIST_EACH(&s->consumers, it) {
    slp_box_consumer *k = SLP_OWNER(it, slp_box_consumer, link);
    if (k->uid <= after) continue;
    if ((more = n == most)) break;
    put_consumer(c, s, k);
    last = k->uid;
    n++;
  }
  slp_out_end(&c->out);
  if (more) {
    slp_box_mark m = {.kind = 'k', .stream_uid = s->uid, .counter = last, .issued_ms = c->now_ms};
    int r = slp_box_put_mark(c, "NextToken", &m);
    if (r) return r;
  }
  slp_out_end(&c->out);
  return 0;
}
