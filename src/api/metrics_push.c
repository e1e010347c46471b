/* metrics_push.c - publishes values to CloudWatch in rounds. A round takes a sample, and makes as many calls
 * as the sample needs. Then nothing happens until the next round is due. */
#include "api/metrics_push.h"

#include "api/metrics_data.h"
#include "api/metrics_sample.h"
#include "aws/aws.h"
#include "aws/aws_impl.h"
#include "aws/cloudwatch.h"
#include "base/fail.h"
#include "base/mem.h"
#include "host/host.h"

#include <sloop.h>

/* A call that is below both sizes has room for the totals of one more consumer: 20 values with the longest
 * names. */
#define NEARLY_FULL_BYTES (SLP_CLOUDWATCH_BODY_MAX - 200000u)
#define NEARLY_FULL_DATA (SLP_CLOUDWATCH_DATA_MAX - SLP_METRICS_TOTALS_MAX)

static void send_some(slp_metrics_push *p);

static void round_over(slp_metrics_push *p) {
  slp_sample_free(&p->now);
  p->busy = 0;
  if (p->soon)
    slp_timer_set_reserved(p->h, &p->timer, slp_now_us(p->h));
  else if (p->on_rest)
    p->on_rest(p->arg);
}

static void end_round_as_failed(slp_metrics_push *p, const slp_fail *f) {
  p->failures++;
  round_over(p);
  if (p->in_trouble && p->trouble_code == f->code) return;
  p->in_trouble = 1;
  p->trouble_code = f->code;
  p->on_trouble(p->arg, f);
}

static void end_round_without_memory(slp_metrics_push *p) {
  slp_fail f;
  slp_fail_clear(&f);
  slp_fail_set(&f, SLP_NOMEM, SLP_ENOMEM, "no memory");
  end_round_as_failed(p, &f);
}

static void went_well(slp_metrics_push *p) {
  round_over(p);
  if (!p->in_trouble) return;
  p->in_trouble = 0;
  p->on_fine(p->arg);
}

static int nearly_full(const slp_metrics_push *p) {
  return p->put.data_n > NEARLY_FULL_DATA || p->put.op.request.n > NEARLY_FULL_BYTES;
}

/* Finds the next datum. Returns 1 if it is in p->next; 0 if there is none, or if it must go into another
 * call. */
static int have_next(slp_metrics_push *p) {
  if (p->next_waits) return 1;
  int totals = slp_metrics_data_at_totals(&p->data);
  size_t consumer = p->data.consumer;
  if (totals && p->put.data_n && nearly_full(p)) return 0;
  if (!slp_metrics_data_next(&p->data, &p->next)) return 0;
  if (totals) p->totals_to = consumer + 1;
  return 1;
}

static void send_some(slp_metrics_push *p) {
  int r = slp_cw_put_begin(&p->put, slp_str_of(p->ns), slp_aws_now_ms(p->aws));
  p->totals_from = p->totals_to;
  while (!r && have_next(p)) {
    r = slp_cw_put_add(&p->put, &p->next);
    p->next_waits = r == SLP_MORE;
    if (r == SLP_EBADDATA) r = 0; /* leaves out a datum whose name CloudWatch would not accept */
  }
  if (r && r != SLP_MORE)
    end_round_without_memory(p);
  else if (p->put.data_n)
    slp_cw_put_send(&p->put);
  else
    went_well(p);
}

static void on_put(slp_cw_put *put) {
  slp_metrics_push *p = SLP_OWNER(put, slp_metrics_push, put);
  if (put->fail.class != SLP_FINE) {
    end_round_as_failed(p, &put->fail);
    return;
  }
  p->data_told += put->data_n;
  for (size_t i = p->totals_from; i < p->totals_to; i++) {
    const slp_sample_consumer *c = &p->now.consumers[i];
    p->told[c->member] = c->stats;
    if (p->on_taken) p->on_taken(p->arg, c->member, &c->stats);
  }
  send_some(p);
}

/* Makes room in `told` for the greatest member number in the sample. */
static int room_for_told(slp_metrics_push *p) {
  size_t want = 0;
  for (size_t i = 0; i < p->now.consumers_n; i++) want = slp_max_u64(want, p->now.consumers[i].member + 1);
  if (want <= p->told_n) return 0;
  sloop_stats_t *more = slp_realloc(p->h->mem, p->told, want * sizeof *more);
  if (!more) return SLP_ENOMEM;
  memset(more + p->told_n, 0, (want - p->told_n) * sizeof *more);
  for (size_t i = p->told_n; i < want && p->begin; i++) p->begin(p->arg, i, &more[i]);
  p->told = more;
  p->told_n = want;
  return 0;
}

static void on_time(slp_timer *timer) {
  slp_metrics_push *p = SLP_OWNER(timer, slp_metrics_push, timer);
  slp_timer_set_reserved(p->h, timer, slp_after_us(slp_now_us(p->h), (uint64_t)p->every_ms * 1000));
  /* the last round is still under way, so this one is left out; the next one publishes its growth too */
  if (p->busy) return;
  p->busy = 1;
  p->soon = 0;
  p->next_waits = 0;
  p->totals_to = 0;
  int r = p->sample(p->arg, &p->now);
  if (!r) r = room_for_told(p);
  if (r) {
    end_round_without_memory(p);
    return;
  }
  slp_metrics_data_begin(&p->data, &p->now, p->told, p->set);
  send_some(p);
}

int slp_metrics_push_open(slp_metrics_push *p, slp_host *h, slp_aws *aws) {
  int r = slp_host_reserve_timers(h, 1);
  if (r) return r;
  p->h = h;
  p->aws = aws;
  slp_aws_hold(aws);
  slp_sample_init(&p->now, h->mem);
  slp_cw_put_init(&p->put, aws);
  p->put.on_done = on_put;
  p->timer = (slp_timer){.at_us = UINT64_MAX, .run = on_time};
  slp_timer_set_reserved(h, &p->timer, slp_after_us(slp_now_us(h), (uint64_t)p->every_ms * 1000));
  return 0;
}

void slp_metrics_push_soon(slp_metrics_push *p) {
  if (!p->h) return;
  p->soon = 1;
  if (!p->busy) slp_timer_set_reserved(p->h, &p->timer, slp_now_us(p->h));
}

int slp_metrics_push_is_telling(const slp_metrics_push *p) { return p->h && (p->busy || p->soon); }

void slp_metrics_push_close(slp_metrics_push *p) {
  if (!p->h) return;
  slp_timer_clear(p->h, &p->timer);
  slp_host_unreserve_timers(p->h, 1);
  slp_cw_put_cancel(&p->put);
  slp_cw_put_free(&p->put);
  slp_sample_free(&p->now);
  slp_free(p->h->mem, p->told);
  slp_aws_drop(p->aws);
  p->h = NULL;
  p->aws = NULL;
  p->told = NULL;
  p->told_n = 0;
}
