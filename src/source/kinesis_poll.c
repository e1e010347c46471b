/* kinesis_poll.c - the code that only Kinesis needs. Three things differ from DynamoDB Streams: streams
 * have ARNs, Kinesis refuses times in the future, and aggregates are expanded before core gets a page. */
#include "source/kinesis_poll.h"

#include "aws/limits.h"
#include "aws/ops.h"
#include "base/fail.h"
#include "base/list.h"
#include "base/mem.h"
#include "codec/kpl.h"
#include "codec/page.h"
#include "core/source.h"
#include "host/host.h"
#include "source/expander.h"
#include "source/hash_ranges.h"
#include "source/listing_pages.h"
#include "source/poll.h"
#include "source/stream_name.h"

#include <sloop.h>
#include <stdio.h>

/* At most this many idle expanders are kept for the next pages. A busy stream uses about that many at the
 * same time, and an expander takes little memory. */
#define IDLE_EXPANDERS_MAX 16u
/* After DescribeStreamSummary was denied, it is called again after this time. An operator may have granted
 * the permission by then. */
#define DENIED_US (3600u * UINT64_C(1000000))

typedef struct kinesis_poll {
  slp_poll p; /* must be the first member: freeing p frees the whole block */
  int expand; /* 1: aggregates are expanded */
  uint8_t described;
  /* 1: a failed description was reported to the user, and none has succeeded since */
  uint8_t undescribed_told;
  /* before this time a listing needs no description; 0: the next listing needs one */
  uint64_t describe_us;
  slp_hash_ranges ranges;
  slp_list idle; /* expanders kept for reuse */
  size_t idle_n;
} kinesis_poll;

static kinesis_poll *kinesis_of(slp_poll *p) { return SLP_OWNER(p, kinesis_poll, p); }

static void on_kinesis_described(slp_poll *p, const slp_op_describe *d, slp_src_describe *rq) {
  snprintf(rq->name, sizeof rq->name, "%s", d->ret_name[0] ? d->ret_name : p->name);
  snprintf(rq->arn, sizeof rq->arn, "%s", d->ret_arn[0] ? d->ret_arn : p->arn);
  rq->created_ms = d->created_ms;
  rq->retention_ms = d->retention_hours ? (int64_t)d->retention_hours * 3600000 : -1;
  rq->ready = d->status != SLP_STREAM_CREATING;
  rq->reshards = d->status == SLP_STREAM_UPDATING;
  p->placement = d->placement;
  kinesis_of(p)->described = 1;
  kinesis_of(p)->undescribed_told = 0;
  if (p->s.news == SLP_NEWS_NONE) p->s.told[0] = 0;
}

/* Returns whether the first listing waits for a description of the stream. The description says whether a
 * record's hash key decides on the record's shard at all (`placement`). If the call for the description is
 * denied, the listing continues without a description. */
static slp_list_after list_waits(const slp_poll *p) {
  const kinesis_poll *k = (const kinesis_poll *)p; /* p is the first member of kinesis_poll */
  return k->described || slp_now_us(p->h) < k->describe_us ? SLP_LIST_AT_ONCE : SLP_LIST_WANTS;
}

static void on_describe_failed(slp_poll *p, const slp_fail *f) {
  kinesis_poll *k = kinesis_of(p);
  if (!slp_class_lasts(f->class)) return;
  k->describe_us = slp_after_us(slp_now_us(p->h), DENIED_US);
  if (k->undescribed_told) return;
  k->undescribed_told = 1;
  p->s.news = SLP_NEWS_WARNING;
  snprintf(p->s.told, sizeof p->s.told, "it is not known whether partition keys choose the shard: %.300s",
           f->message);
}

/* Called when the service refused a position; sets another one. If a time is in the future by Kinesis' own
 * clock, Kinesis refuses it with InvalidArgumentException. For any other position, that error is a mistake of
 * the caller. */
static int other_place(slp_request *q) {
  slp_op_iterator *it = &q->op.iterator;
  if (it->kind != SLP_ITER_AT_TIME) return 0;
  if (strcmp(it->op.fail.aws_code, "InvalidArgumentException") != 0) return 0;
  if (!q->earlier) return slp_request_earlier(q, 1);
  /* A time slightly before now was tried already, and was refused too, because our clock is ahead of the
   * service's clock. So reading begins at the oldest record. */
  it->kind = SLP_ITER_OLDEST;
  return 1;
}

/* ---- aggregates -------------------------------------------------------------------------------------- */
static slp_expander *take_expander(kinesis_poll *k) {
  slp_list *node = slp_list_pop(&k->idle);
  if (!node) return slp_expander_new(k->p.h);
  k->idle_n--;
  return SLP_OWNER(node, slp_expander, link);
}

static void give_back(kinesis_poll *k, slp_expander *x) {
  slp_expander_stop(x);
  if (k->idle_n == IDLE_EXPANDERS_MAX) {
    slp_expander_free(x);
    return;
  }
  slp_list_add_first(&k->idle, &x->link);
  k->idle_n++;
}

static void give_expander_back(slp_request *q) {
  slp_expander *x = q->fetch_work;
  q->fetch_work = NULL;
  if (x) give_back(kinesis_of(q->poll), x);
}

/* Begins to expand the aggregates of `page`. Returns 0 if there are none, SLP_ENOMEM, or SLP_MORE if on_done
 * will be called; *ret is then the expander. */
static int begin_expanding(kinesis_poll *k, slp_page *page, slp_str shard, slp_expander **ret,
                           void (*on_done)(slp_expander *x, int verdict), void *arg) {
  slp_hash_range range;
  if (k->expand) slp_hash_ranges_learn(&k->ranges, page);
  if (!k->expand || !page->magic_n) return 0;
  slp_expander *x = take_expander(k);
  if (!x) return SLP_ENOMEM;
  *ret = x;
  x->arg = arg;
  x->on_done = on_done;
  /* The expander drops records of an aggregate whose keys are outside `range`, because they belong to another
   * shard. If the stream distributes records without regard to their keys, the expander gets no range, and
   * drops no record. */
  int known =
      k->p.placement != SLOOP_PLACED_ANYWHERE && slp_hash_ranges_get(&k->ranges, k->p.last, shard, &range);
  slp_expander_begin(x, page, known ? &range : NULL);
  return SLP_MORE;
}

static void answer_expanded(slp_request *q, int r) {
  if (r) slp_fail_set(&q->rq->fail, SLP_NOMEM, SLP_ENOMEM, "no memory to expand the aggregates of a page");
  slp_request_answer(q);
}

static void on_expanded(slp_expander *x, int r) { answer_expanded(x->arg, r); }

static void on_kinesis_page_fetched(slp_request *q) {
  slp_expander *x = NULL;
  slp_str shard = SLP_OWNER(q->rq, slp_src_fetch, rq)->shard;
  int r = begin_expanding(kinesis_of(q->poll), q->op.records.page, shard, &x, on_expanded, q);
  q->fetch_work = x;
  if (r != SLP_MORE) answer_expanded(q, r);
}

static kinesis_poll *of_source(slp_source *s) { return kinesis_of(SLP_OWNER(s, slp_poll, s)); }

int slp_kinesis_poll_expand(slp_source *poll, slp_page *page, slp_str shard, slp_expander **ret,
                            void (*on_done)(slp_expander *x, int verdict), void *arg) {
  return begin_expanding(of_source(poll), page, shard, ret, on_done, arg);
}

void slp_kinesis_poll_expanded(slp_source *poll, slp_expander *x) { give_back(of_source(poll), x); }

static void learn_hash_ranges(slp_poll *p, slp_listing *l) {
  slp_hash_ranges_listed(&kinesis_of(p)->ranges, l);
}

static void close_kinesis_poll(slp_poll *p) {
  kinesis_poll *k = kinesis_of(p);
  slp_hash_ranges_free(&k->ranges);
  for (slp_list *node; (node = slp_list_pop(&k->idle)) != NULL;)
    slp_expander_free(SLP_OWNER(node, slp_expander, link));
}

static const slp_poll_kind kinesis_kind = {.described = on_kinesis_described,
                                           .list_waits = list_waits,
                                           .undescribed = on_describe_failed,
                                           .listed = learn_hash_ranges,
                                           .other_place = other_place,
                                           .fetched = on_kinesis_page_fetched,
                                           .fetch_over = give_expander_back,
                                           .closing = close_kinesis_poll};

int slp_kinesis_poll_new(slp_source **ret, slp_host *h, slp_ops *ops, slp_str stream,
                         sloop_aggregates_t aggregates) {
  slp_stream_name named;
  const char *why;
  int r = slp_stream_name_read(stream, &named, &why);
  if (r || named.what != SLP_NAMES_KINESIS) return SLOOP_EOPTION;
  kinesis_poll *k = SLP_NEW(h->mem, kinesis_poll);
  if (!k) return SLP_ENOMEM;
  slp_poll *p = &k->p;
  k->expand = aggregates == SLOOP_AGGREGATES_EXPAND;
  slp_list_init(&k->idle);
  slp_hash_ranges_init(&k->ranges, h->mem);
  /* If the user gave only a name, calls contain no ARN, because kinesalite does not know ARNs. */
  slp_poll_init(p, &kinesis_kind, h, ops, &named);
  p->s.fetch_records_max = SLP_KINESIS_RECORDS_MAX;
  p->s.fetch_bytes_max = SLP_KINESIS_PAGE_BYTES_MAX;
  p->s.fetch_bytes_full = SLP_KINESIS_PAGE_BYTES_FULL;
  p->s.tells_behind = 1;
  p->s.anchors_by_time = 1;
  *ret = &p->s;
  return 0;
}
