/* push_consumer.c - looks up the registered consumer of a stream or registers it, and waits until it is
 * ACTIVE. A consumer is never deregistered here, because other processes may read as the same consumer. */
#include "source/push_consumer.h"

#include "aws/ops.h"
#include "base/fail.h"
#include "base/states.h"
#include "host/host.h"
#include "host/op.h"
#include "source/stream_name.h"

#include <sloop.h>
#include <stdio.h>

/* how many pauses of one second the search makes until the consumer is ACTIVE; Kinesis takes a few seconds */
#define WAITS_MAX 60u
/* after this many LimitExceededException in a row, the cause is too many consumers, and not too many calls */
#define REFUSALS_MAX 4u
#define PAUSE_US 1000000u

static const slp_set allowed[] = {
    [SLP_FINDING_IDLE] = SLP_BIT(SLP_FINDING_ASKING),
    [SLP_FINDING_ASKING] =
        SLP_BIT(SLP_FINDING_REGISTERING) | SLP_BIT(SLP_FINDING_PAUSING) | SLP_BIT(SLP_FINDING_IDLE),
    [SLP_FINDING_REGISTERING] =
        SLP_BIT(SLP_FINDING_ASKING) | SLP_BIT(SLP_FINDING_PAUSING) | SLP_BIT(SLP_FINDING_IDLE),
    [SLP_FINDING_PAUSING] = SLP_BIT(SLP_FINDING_ASKING) | SLP_BIT(SLP_FINDING_IDLE),
};

static void move(slp_finding *f, slp_finding_state to) { SLP_MOVE(allowed, f->state, to); }

static void on_answer(slp_op *op);

static void send_consumer_call(slp_finding *f, slp_consumer_call what) {
  move(f, what == SLP_CONSUMER_DESCRIBE ? SLP_FINDING_ASKING : SLP_FINDING_REGISTERING);
  f->op = (slp_op_consumer){.op = {.on_done = on_answer, .tries_max = 3},
                            .what = what,
                            .stream_arn = slp_str_of(f->stream_arn),
                            .name = slp_str_of(f->name),
                            .rows = &f->row};
  f->ops->consumer(f->ops, &f->op);
}

static void finish_finding(slp_finding *f) {
  move(f, SLP_FINDING_IDLE);
  f->on_done(f);
}

static void give_up(slp_finding *f, slp_class class, int code, const char *why) {
  slp_stream_name stream;
  const char *why_not;
  if (slp_stream_name_read(slp_str_of(f->stream_arn), &stream, &why_not))
    slp_fail_set(&f->fail, class, code, "consumer %s: %s", f->name, why);
  else
    slp_fail_set(&f->fail, class, code, "consumer %s of stream %.*s: %s", f->name, (int)stream.name.n,
                 stream.name.p, why);
  finish_finding(f);
}

/* Returns the class of the failure to find the consumer. The failure is final for a reader that has just
 * started. A reader that has read as this consumer before tries again. */
static slp_class final_class(const slp_finding *f) { return f->arn[0] ? SLP_BUSY : SLP_REFUSED; }

static void waited_in_vain(slp_finding *f, const char *what) {
  char why[80];
  snprintf(why, sizeof why, "still %s after %u s of waiting until it is ACTIVE", what,
           (unsigned)((slp_now_us(f->h) - f->begun_us) / 1000000));
  give_up(f, final_class(f), SLOOP_ESTREAMBUSY, why);
}

/* Waits a second before the consumer is looked up again, or fails after WAITS_MAX pauses. what: the
 * consumer's state, such as CREATING, or how the last call was answered; a part of the error message. */
static void pause_or_give_up(slp_finding *f, const char *what) {
  if (++f->waits > WAITS_MAX) {
    waited_in_vain(f, what);
    return;
  }
  move(f, SLP_FINDING_PAUSING);
  if (slp_timer_set(f->h, &f->timer, slp_after_us(slp_now_us(f->h), PAUSE_US)))
    give_up(f, SLP_NOMEM, SLP_ENOMEM, "no memory to wait for it");
}

static void on_timer(slp_timer *timer) {
  send_consumer_call(SLP_OWNER(timer, slp_finding, timer), SLP_CONSUMER_DESCRIBE);
}

static void on_consumer_described(slp_finding *f) {
  if (f->row.status == SLP_CONSUMER_CREATING) {
    pause_or_give_up(f, "CREATING");
  } else if (f->row.status == SLP_CONSUMER_DELETING) {
    pause_or_give_up(f, "DELETING");
  } else {
    slp_fail_clear(&f->fail);
    snprintf(f->arn, sizeof f->arn, "%s", f->row.arn);
    finish_finding(f);
  }
}

static void on_register_refused(slp_finding *f) {
  char why[320];
  snprintf(why, sizeof why, "%.300s", f->fail.message);
  if (f->fail.class == SLP_THROTTLE && ++f->refusals < REFUSALS_MAX) pause_or_give_up(f, "refused");
  /* too many consumers are the cause, not too many calls, so waiting does not help */
  else if (f->fail.class == SLP_THROTTLE)
    give_up(f, final_class(f), SLOOP_EREFUSED, why);
  else
    give_up(f, f->fail.class, f->fail.code, why);
}

static void on_answer(slp_op *op) {
  slp_finding *f = SLP_OWNER(op, slp_finding, op.op);
  int registering = f->state == SLP_FINDING_REGISTERING;
  f->fail = op->fail;
  if (f->fail.class == SLP_FINE && !registering) {
    on_consumer_described(f);
  } else if (f->fail.class == SLP_FINE) {
    f->registered = 1;
    pause_or_give_up(f, "CREATING");
  } else if (f->fail.class == SLP_GONE && !registering) {
    send_consumer_call(f, SLP_CONSUMER_REGISTER);
  } else if (f->fail.class == SLP_BUSY && registering) {
    /* another process has just registered the consumer */
    pause_or_give_up(f, "in use");
  } else {
    on_register_refused(f);
  }
}

void slp_finding_init(slp_finding *f, slp_host *h, slp_ops *ops, const char *name, const char *given_arn) {
  *f = (slp_finding){.h = h,
                     .ops = ops,
                     .name = name,
                     .given_arn = given_arn,
                     .timer = {.at_us = UINT64_MAX, .run = on_timer}};
}

/* Accepts the consumer's ARN that the user gave, if it belongs to the stream that is read. An ARN of another
 * account may belong to a stream with the same name. To read that stream's records for the shards of this one
 * would mix the two. */
static void take_given(slp_finding *f) {
  slp_consumer_name consumer;
  const char *wrong;
  move(f, SLP_FINDING_ASKING);
  if (slp_consumer_name_read(slp_str_of(f->given_arn), &consumer, &wrong)) {
    give_up(f, SLP_REFUSED, SLOOP_EREFUSED, wrong);
  } else if (*f->stream_arn && !slp_str_eq(consumer.stream_arn, slp_str_of(f->stream_arn))) {
    char why[700];
    snprintf(why, sizeof why, "its ARN is of a consumer of %.*s; name the stream by that ARN",
             (int)consumer.stream_arn.n, consumer.stream_arn.p);
    give_up(f, SLP_REFUSED, SLOOP_EREFUSED, why);
  } else {
    slp_fail_clear(&f->fail);
    snprintf(f->arn, sizeof f->arn, "%s", f->given_arn);
    finish_finding(f);
  }
}

void slp_finding_begin(slp_finding *f, const char *stream_arn) {
  f->stream_arn = stream_arn;
  f->begun_us = slp_now_us(f->h);
  f->waits = f->refusals = 0;
  f->registered = 0;
  if (*f->given_arn)
    take_given(f);
  else
    send_consumer_call(f, SLP_CONSUMER_DESCRIBE);
}

void slp_finding_stop(slp_finding *f) {
  if (f->state == SLP_FINDING_IDLE) return;
  f->ops->cancel(f->ops, &f->op.op);
  slp_timer_clear(f->h, &f->timer);
  move(f, SLP_FINDING_IDLE);
}
