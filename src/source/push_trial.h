/* push_trial.h - a trial subscription, which shows whether push works while the stream is polled.
 *
 *   IDLE --slp_push_trial_later--> WAITING --at_us--> OPEN --an event, the end, or SLP_PUSH_SILENT_US--> IDLE
 *
 * The events of the trial are dropped, because the polls read the same records. */
#ifndef SLP_SOURCE_PUSH_TRIAL_H
#define SLP_SOURCE_PUSH_TRIAL_H

#include "aws/ops.h"
#include "base/fail.h"
#include "codec/page.h"
#include "host/host.h"

/* Kinesis sends an event about every five seconds, an empty one if there are no new records (Developer Guide,
 * SubscribeToShardEvent). A subscription that gets no event for twice as long does not work. */
#define SLP_PUSH_SILENT_US 10000000u

typedef enum { SLP_TRIAL_IDLE, SLP_TRIAL_WAITING, SLP_TRIAL_OPEN } slp_trial_state;

typedef struct slp_push_trial {
  slp_host *h;
  slp_ops *ops; /* borrowed */
  /* borrowed, and used when the trial begins; shard "": no shard is known */
  const char *consumer_arn, *shard;
  /* Called right before the trial begins; may set consumer_arn and shard. */
  void (*on_due)(struct slp_push_trial *t);
  /* Called in a turn of the event queue when the trial is over, with the outcome in `brought` and `fail`. */
  void (*on_over)(struct slp_push_trial *t);
  uint8_t brought; /* out, 1: an event has arrived, at least its first bytes */
  slp_fail fail;   /* out: why no event arrived; SLP_FINE: the subscription ended, or no event came in time */
  /* Private members. */
  slp_trial_state state;
  slp_op_subscribe op;
  slp_page *page;
  slp_timer timer;
} slp_push_trial;

void slp_push_trial_init(slp_push_trial *t, slp_host *h, slp_ops *ops);
/* begins a trial at at_us; to be called only in IDLE. Returns 0 or SLP_ENOMEM. */
int slp_push_trial_later(slp_push_trial *t, uint64_t at_us);
/* stops the trial, so that on_over is not called; does nothing in IDLE */
void slp_push_trial_stop(slp_push_trial *t);

#endif
