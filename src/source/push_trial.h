/* push_trial.h - a subscription that only shows whether an event comes by it, beside shards that are polled.
 *
 *   IDLE --later--> WAITING --its time has come--> OPEN --an event, or the end, or nothing in time--> IDLE
 *
 * What it brings is dropped, so that it neither takes a record from the polling nor gives one twice. */
#ifndef SLP_SOURCE_PUSH_TRIAL_H
#define SLP_SOURCE_PUSH_TRIAL_H

#include "aws/ops.h"
#include "host/host.h"

/* The service sends an event, empty where nothing is new, about every five seconds (Developer Guide,
 * SubscribeToShardEvent). A subscription that has brought none for twice as long brings none. */
#define SLP_PUSH_SILENT_US 10000000u

typedef enum { SLP_TRIAL_IDLE, SLP_TRIAL_WAITING, SLP_TRIAL_OPEN } slp_trial_state;

typedef struct slp_push_trial {
  slp_host *h;
  slp_ops *ops;                              /* borrowed */
  const char *consumer_arn, *shard;          /* borrowed; looked at when the time has come; "": not known */
  void (*on_due)(struct slp_push_trial *t);  /* right before: the owner may change them */
  void (*on_over)(struct slp_push_trial *t); /* brought and fail say how it went; in a turn */
  uint8_t brought;                           /* out: an event came */
  slp_fail fail;                             /* out: why none came; FINE: it ended, or was silent */
  /* Private. */
  slp_trial_state state;
  slp_op_subscribe op;
  slp_page *page;
  slp_timer timer;
} slp_push_trial;

void slp_push_trial_init(slp_push_trial *t, slp_host *h, slp_ops *ops);
int slp_push_trial_later(slp_push_trial *t, uint64_t at_us); /* from IDLE. SLP_ENOMEM */
void slp_push_trial_stop(slp_push_trial *t);                 /* on_over will not run; IDLE is fine */

#endif
