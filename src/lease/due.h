/* due.h - when something must be done about a lease: a step in this turn, or a read of its row at some time.
 * The work itself is on a higher floor (ownership.c steps, poll.c reads), which passes its functions in.
 * (due.c, fleet.c, poll.c) */
#ifndef SLP_LEASE_DUE_H
#define SLP_LEASE_DUE_H

#include "lease/processor.h"

typedef struct slp_lease slp_lease;
typedef struct slp_due {
  slp_timer timer;  /* one timer for leases, other workers and the assignment */
  uint64_t at_us;   /* when the timer must run for anything but the leases' own times */
  uint8_t reading;  /* a read is under way; no other one is started before its answer */
  slp_list touched; /* leases that will be stepped */
  slp_event step_ev;
} slp_due;

void slp_due_init(slp_fleet *f, void (*run)(slp_timer *t), void (*step)(slp_event *ev));
void slp_due_stop(slp_fleet *f);
void slp_due_free(slp_fleet *f);

/* makes the timer run at at_us or earlier */
void slp_poll_soon(slp_fleet *f, uint64_t at_us);
void slp_lease_poll(slp_lease *l, uint64_t at_us); /* reads its row at at_us or earlier */
void slp_lease_touch(slp_lease *l);                /* steps it soon */
void slp_due_step(slp_fleet *f);                   /* runs the steps soon, even if no lease was touched */

/* For the files that step and read. */
void slp_due_fired(slp_fleet *f); /* the timer ran, so nothing waits for it now */
/* sets the timer to the earliest time that a lease or anything else waits for */
void slp_due_arm(slp_fleet *f, uint64_t at_us);
void slp_due_reading(slp_fleet *f, int on);
void slp_due_take(slp_fleet *f, slp_list *ret); /* moves the touched leases to an empty list */

#endif
