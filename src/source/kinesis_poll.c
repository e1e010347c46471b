/* kinesis_poll.c - where Kinesis differs from other services that are polled: names and ARNs, times to come,
 * and what a page of records needs before core gets it. */
#include "source/kinesis_poll.h"

#include "aws/limits.h"
#include "sloop.h"
#include "source/poll.h"

#include <stdio.h>

/* How exactly we know the service's time when it says that a point in time is in the future. */
#define FUTURE_SLACK_MS 2000

static void described(slp_poll *p, const slp_op_describe *d, slp_src_describe *rq) {
  snprintf(rq->name, sizeof rq->name, "%s", d->ret_name[0] ? d->ret_name : p->name);
  snprintf(rq->arn, sizeof rq->arn, "%s", d->ret_arn[0] ? d->ret_arn : p->arn);
  rq->created_ms = d->created_ms;
  rq->retention_ms = d->retention_hours ? (int64_t)d->retention_hours * 3600000 : -1;
  rq->ready = d->status != SLP_STREAM_CREATING;
}

/* The service refuses a time that its own clock has not reached; from there on is from now on. Anything else
 * it calls an invalid argument is the caller's mistake. */
static int other_place(slp_request *q) {
  slp_op_iterator *it = &q->op.iterator;
  if (q->from_latest || it->kind != SLP_ITER_AT_TIME) return 0;
  if (strcmp(it->op.fail.aws_code, "InvalidArgumentException") != 0) return 0;
  int64_t now = it->op.date_ms >= 0 ? it->op.date_ms : slp_wall_ms(q->poll->h);
  if (it->at_ms <= now - FUTURE_SLACK_MS) return 0;
  q->from_latest = 1;
  it->kind = SLP_ITER_LATEST;
  return 1;
}

static void fetched(slp_request *q) { slp_request_answer(q); }

static const slp_poll_kind kinesis_kind = {
    .described = described, .other_place = other_place, .fetched = fetched};

int slp_kinesis_poll_new(slp_source **ret, slp_host *h, slp_ops *ops, slp_str stream) {
  slp_stream_name named;
  const char *why;
  int r = slp_stream_name_read(stream, &named, &why);
  if (r || named.what != SLP_NAMES_KINESIS) return SLOOP_EOPTION;
  slp_poll *p = SLP_NEW(h->mem, slp_poll);
  if (!p) return SLP_ENOMEM;
  /* A name alone goes without an ARN: kinesalite knows none. */
  slp_poll_init(p, &kinesis_kind, h, ops, &named);
  p->s.fetch_records_max = SLP_KINESIS_RECORDS_MAX;
  p->s.fetch_bytes_max = SLP_KINESIS_PAGE_BYTES_MAX;
  p->s.tells_behind = 1;
  p->s.anchors_by_time = 1;
  *ret = &p->s;
  return 0;
}
