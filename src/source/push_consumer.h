/* push_consumer.h - finds the registered consumer of a stream, or registers it, and waits until it is ACTIVE.
 *
 *   ASKING --ACTIVE--> IDLE, done
 *     | not found --> REGISTERING --registered, or another process registers it--> PAUSING
 *     | CREATING, DELETING, too many calls --> PAUSING --a second later--> ASKING
 *
 * If the user gave the consumer as an ARN, this code neither looks it up nor registers it, because the right
 * to do that may belong to another account.
 *
 * After a minute of pauses the search fails. If the consumer was ACTIVE before, the failure is SLP_BUSY,
 * which is retried. Otherwise it is SLP_REFUSED, which is final. */
#ifndef SLP_SOURCE_PUSH_CONSUMER_H
#define SLP_SOURCE_PUSH_CONSUMER_H

#include "aws/ops.h"
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
  /* the consumer's ARN from the user; "": the consumer is looked up by its name; borrowed */
  const char *given_arn;
  /* Called in a turn of the event queue, but see slp_finding_begin. `fail` has the outcome. */
  void (*on_done)(struct slp_finding *f);
  slp_fail fail; /* out */
  /* out: the ARN of the consumer that was last ACTIVE; "": none was ACTIVE yet */
  char arn[768];
  /* out: 1: the consumer did not exist, and this search registered it */
  uint8_t registered;
  /* Private members. */
  slp_finding_state state;
  const char *stream_arn;
  slp_op_consumer op;
  slp_consumer_row row;
  slp_timer timer;
  uint64_t begun_us; /* when the search began */
  /* waits: how many pauses the search has made. refusals: how many calls were refused as too many. */
  uint32_t waits, refusals;
} slp_finding;

void slp_finding_init(slp_finding *f, slp_host *h, slp_ops *ops, const char *name, const char *given_arn);
/* Starts the search. stream_arn is borrowed until on_done. If the user gave an ARN, on_done runs before
 * this function returns. */
void slp_finding_begin(slp_finding *f, const char *stream_arn);
void slp_finding_stop(slp_finding *f); /* on_done will not be called; may also be called when idle */

#endif
