/* push_consumer.h - finds the registered consumer as which a stream is read, or registers it, and waits
 * until it is ACTIVE.
 *
 *   ASKING --ACTIVE--> IDLE, done
 *     | not found --> REGISTERING --registered, or it exists by now--> ASKING
 *     | CREATING, DELETING, in use --> PAUSING --a second later--> ASKING
 *
 * A consumer that the user gave by its ARN is not looked up and never registered: the right to do that may
 * belong to another account.
 *
 * After a minute of pauses the search fails. The failure is SLP_REFUSED, which is final, or SLP_BUSY, which
 * is retried, if the consumer was ACTIVE before. */
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
  slp_ops *ops;          /* borrowed */
  const char *name;      /* of the consumer; borrowed */
  const char *given_arn; /* the user's ARN; "": the consumer is found by its name; borrowed */
  void (*on_done)(struct slp_finding *f); /* called in a turn of the event queue; fail says how it went */
  slp_fail fail;                          /* out */
  char arn[768];                          /* out; of the consumer that was last ACTIVE; "": none was */
  uint8_t registered;                     /* out: it did not exist, and we registered it */
  /* Private. */
  slp_finding_state state;
  const char *stream_arn;
  slp_op_consumer op;
  slp_consumer_row row;
  /* when the search began */
  slp_timer timer;
  uint64_t begun_us;
  /* pauses, and refusals because of too many calls */
  uint32_t waits, refusals;
} slp_finding;

void slp_finding_init(slp_finding *f, slp_host *h, slp_ops *ops, const char *name, const char *given_arn);
/* Starts the search. stream_arn is borrowed until on_done. If the user gave an ARN, on_done runs before this
 * function returns. */
void slp_finding_begin(slp_finding *f, const char *stream_arn);
void slp_finding_stop(slp_finding *f); /* on_done will not run; may be called when idle */

#endif
