/* push_consumer.h - finds the registered consumer that a stream is read as, or registers it, and waits until
 * it is ACTIVE.
 *
 *   ASKING --ACTIVE--> done
 *     | not found --> REGISTERING --made, or it exists by now--> ASKING
 *     | CREATING, DELETING, busy --> PAUSING --a second later--> ASKING
 *
 * One that is given by its ARN is not asked about, and never registered: that may be another account's right.
 *
 * After a minute of pauses it fails: SLP_REFUSED, which lasts, or SLP_BUSY where it was ACTIVE before. */
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
  slp_ops *ops;                           /* borrowed */
  const char *name;                       /* of the consumer; borrowed */
  const char *given_arn;                  /* "": it is found by its name; borrowed */
  void (*on_done)(struct slp_finding *f); /* fail says how it went; in a turn */
  slp_fail fail;                          /* out */
  char arn[768];                          /* out; of the last one that was ACTIVE, "": none was */
  uint8_t registered;                     /* out: by us */
  /* Private. */
  slp_finding_state state;
  const char *stream_arn;
  slp_op_consumer op;
  slp_consumer_row row;
  slp_timer timer;
  uint64_t begun_us;
  uint32_t waits, refusals;
} slp_finding;

void slp_finding_init(slp_finding *f, slp_host *h, slp_ops *ops, const char *name, const char *given_arn);
/* stream_arn: borrowed until on_done, which runs before this returns where an ARN is given. */
void slp_finding_begin(slp_finding *f, const char *stream_arn);
void slp_finding_stop(slp_finding *f); /* on_done will not run; idle is fine */

#endif
