/* push_consumer.h - finds the registered consumer of a stream, or registers it, and waits until it is ACTIVE.
 *
 *   ASKING --ACTIVE--> IDLE, done
 *     | not found --> REGISTERING --registered, or another process registers it--> PAUSING
 *     | CREATING, DELETING, too many calls --> PAUSING --a second later--> ASKING
 *
 * If the user gave the consumer's ARN, the consumer is neither looked up nor registered, because only another
 * account may have the permission to do that.
 *
 * After a minute of pauses the search fails. If the consumer was ACTIVE before, the failure is SLP_BUSY,
 * which is retried. Otherwise it is SLP_REFUSED, which is final. */
#ifndef SLP_SOURCE_PUSH_CONSUMER_H
#define SLP_SOURCE_PUSH_CONSUMER_H

#include "aws/ops.h"
#include "base/fail.h"
#include "host/host.h"

typedef enum {
  SLP_FINDING_IDLE,
  SLP_FINDING_ASKING,
  SLP_FINDING_REGISTERING,
  SLP_FINDING_PAUSING
} slp_finding_state;

typedef struct slp_finding {
  slp_host *h;
  slp_ops *ops;     /* borrowed */
  const char *name; /* the consumer's name; borrowed */
  /* the consumer's ARN, if the user gave it; "": the consumer is looked up by its name; borrowed */
  const char *given_arn;
  /* Called in a turn of the event queue when the search is over, with the outcome in `fail`. (One exception:
   * see slp_finding_begin.) */
  void (*on_done)(struct slp_finding *f);
  slp_fail fail; /* out */
  /* out: the ARN of the consumer when it was last found to be ACTIVE; "": never yet */
  char arn[768];
  /* out, 1: the consumer did not exist, and this search has registered it */
  uint8_t registered;
  /* Private members. */
  slp_finding_state state;
  const char *stream_arn;
  slp_op_consumer op;
  slp_consumer_row row;
  slp_timer timer;
  uint64_t begun_us; /* when the search began */
  /* waits: how many pauses this search has made. refusals: how many calls of this search were refused because
   * there were too many calls. */
  uint32_t waits, refusals;
} slp_finding;

void slp_finding_init(slp_finding *f, slp_host *h, slp_ops *ops, const char *name, const char *given_arn);
/* Starts the search. stream_arn is borrowed until on_done. If the user gave the consumer's ARN, on_done is
 * called before this function returns. */
void slp_finding_begin(slp_finding *f, const char *stream_arn);
/* stops the search, so that on_done is not called; does nothing if no search is running */
void slp_finding_stop(slp_finding *f);

#endif
