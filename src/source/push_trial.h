/* push_trial.h - while a stream is polled, a trial subscription shows whether push works.
 *
 *   IDLE --slp_push_trial_later--> WAITING --at_us--> OPEN --an event, the end, or SLP_PUSH_SILENT_US--> IDLE
 *
 * Its events are dropped: the polls read the same records. */
#ifndef SLP_SOURCE_PUSH_TRIAL_H
#define SLP_SOURCE_PUSH_TRIAL_H

#include "aws/ops.h"
#include "host/host.h"

/* The service sends an event, empty if there is nothing new, about every five seconds (Developer Guide,
 * SubscribeToShardEvent). A subscription without an event for twice as long does not work. */
#define SLP_PUSH_SILENT_US 10000000u

typedef enum { SLP_TRIAL_IDLE, SLP_TRIAL_WAITING, SLP_TRIAL_OPEN } slp_trial_state;

typedef struct slp_push_trial {
  slp_host *h;
  slp_ops *ops;                     /* borrowed */
  const char *consumer_arn, *shard; /* borrowed; read when the trial begins; "": not known */
  /* called right before the trial begins; may set consumer_arn and shard */
  void (*on_due)(struct slp_push_trial *t);
  /* called in a turn of the event queue; brought and fail say how it went */
  void (*on_over)(struct slp_push_trial *t);
  uint8_t brought; /* out: an event came, or had begun to come */
  slp_fail fail;   /* out: why no event came; FINE: the subscription ended, or was silent */
  /* Private. */
  slp_trial_state state;
  slp_op_subscribe op;
  slp_page *page;
  slp_timer timer;
} slp_push_trial;

void slp_push_trial_init(slp_push_trial *t, slp_host *h, slp_ops *ops);
int slp_push_trial_later(slp_push_trial *t, uint64_t at_us); /* from IDLE only; returns 0 or SLP_ENOMEM */
void slp_push_trial_stop(slp_push_trial *t);                 /* on_over will not run; may be called in IDLE */

#endif
