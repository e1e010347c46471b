/* push_trial.c - opens one subscription, waits for its first event, and closes it. */
#include "source/push_trial.h"

#include "aws/ops.h"
#include "base/fail.h"
#include "base/states.h"
#include "codec/page.h"
#include "host/host.h"
#include "host/op.h"

/* The trial keeps at most this many bytes of an event. The transfer of a larger event is paused; its first
 * bytes are enough to show that events come. */
#define EVENT_BYTES_MAX (256u * 1024)

static const slp_set allowed[] = {
    [SLP_TRIAL_IDLE] = SLP_BIT(SLP_TRIAL_WAITING),
    [SLP_TRIAL_WAITING] = SLP_BIT(SLP_TRIAL_OPEN) | SLP_BIT(SLP_TRIAL_IDLE),
    [SLP_TRIAL_OPEN] = SLP_BIT(SLP_TRIAL_IDLE),
};

static void move(slp_push_trial *t, slp_trial_state to) {
  SLP_MOVE(allowed, t->state, to);
  slp_timer_clear(t->h, &t->timer);
}

static void finish_trial(slp_push_trial *t, int brought) {
  slp_page_free(t->page);
  t->page = NULL;
  t->brought = (uint8_t)brought;
  move(t, SLP_TRIAL_IDLE);
  t->on_over(t);
}

static int may_grow(slp_op_subscribe *op, size_t bytes) {
  (void)op;
  return bytes <= EVENT_BYTES_MAX;
}

static void on_event(slp_op_subscribe *op) {
  slp_push_trial *t = SLP_OWNER(op, slp_push_trial, op);
  slp_fail_clear(&t->fail);
  t->ops->unsubscribe(t->ops, op);
  finish_trial(t, 1);
}

static void on_ended(slp_op *op) {
  slp_push_trial *t = SLP_OWNER(op, slp_push_trial, op.op);
  t->fail = op->fail;
  finish_trial(t, 0);
}

static void no_memory(slp_push_trial *t) {
  slp_fail_set(&t->fail, SLP_NOMEM, SLP_ENOMEM, "no memory for a subscription");
  finish_trial(t, 0);
}

static void begin_trial(slp_push_trial *t) {
  t->on_due(t);
  t->op = (slp_op_subscribe){.op = {.on_done = on_ended},
                             .consumer_arn = slp_str_of(t->consumer_arn),
                             .shard = slp_str_of(t->shard),
                             .kind = SLP_ITER_LATEST,
                             .may_grow = may_grow,
                             .on_event = on_event};
  slp_fail_clear(&t->fail);
  move(t, SLP_TRIAL_OPEN);
  if (!t->consumer_arn[0] || !t->shard[0]) {
    finish_trial(t, 0);
    return;
  }
  t->page = slp_page_new(t->h->mem);
  uint64_t until_us = slp_after_us(slp_now_us(t->h), SLP_PUSH_SILENT_US);
  if (!t->page || slp_timer_set(t->h, &t->timer, until_us) || t->ops->subscribe(t->ops, &t->op)) {
    no_memory(t);
    return;
  }
  t->ops->next_event(t->ops, &t->op, t->page);
}

static void on_timer(slp_timer *timer) {
  slp_push_trial *t = SLP_OWNER(timer, slp_push_trial, timer);
  if (t->state == SLP_TRIAL_WAITING) {
    begin_trial(t);
    return;
  }
  int comes = t->op.pending;
  t->ops->unsubscribe(t->ops, &t->op);
  finish_trial(t, comes);
}

void slp_push_trial_init(slp_push_trial *t, slp_host *h, slp_ops *ops) {
  *t = (slp_push_trial){.h = h, .ops = ops, .timer = {.at_us = UINT64_MAX, .run = on_timer}};
}

int slp_push_trial_later(slp_push_trial *t, uint64_t at_us) {
  move(t, SLP_TRIAL_WAITING);
  if (slp_timer_set(t->h, &t->timer, at_us) == 0) return 0;
  move(t, SLP_TRIAL_IDLE);
  return SLP_ENOMEM;
}

void slp_push_trial_stop(slp_push_trial *t) {
  if (t->state == SLP_TRIAL_IDLE) return;
  if (t->state == SLP_TRIAL_OPEN) t->ops->unsubscribe(t->ops, &t->op);
  slp_page_free(t->page);
  t->page = NULL;
  move(t, SLP_TRIAL_IDLE);
}
