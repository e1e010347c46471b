/* due.h - when something is to be done about a lease: a step in this turn, or a look at its row at some time.
 * Those who do it are above (ownership.c steps, poll.c reads) and are given to it as functions.
 * (due.c, fleet.c, poll.c) */
#ifndef SLP_LEASE_DUE_H
#define SLP_LEASE_DUE_H

#include "lease/processor.h"

typedef struct slp_lease slp_lease;
typedef struct slp_due {
  slp_timer timer;  /* one for everything that is due of leases, of other workers, of the assignment */
  uint64_t at_us;   /* what waits for the timer beside the leases' own times */
  uint8_t reading;  /* rows are being read: until the answer is there none is asked for */
  slp_list touched; /* leases to be stepped */
  slp_event step_ev;
} slp_due;

void slp_due_init(slp_fleet *f, void (*run)(slp_timer *t), void (*step)(slp_event *ev));
void slp_due_stop(slp_fleet *f);
void slp_due_free(slp_fleet *f);

void slp_poll_soon(slp_fleet *f, uint64_t at_us);
void slp_lease_poll(slp_lease *l, uint64_t at_us); /* its row is read then, or before */
void slp_lease_touch(slp_lease *l);                /* it is stepped soon */
void slp_due_step(slp_fleet *f);                   /* steps are run soon, touched or not */

/* For those who do it. */
void slp_due_fired(slp_fleet *f);               /* the timer ran: nothing waits for it */
void slp_due_arm(slp_fleet *f, uint64_t at_us); /* the earliest of the leases' times; or what else waits */
void slp_due_reading(slp_fleet *f, int on);
void slp_due_take(slp_fleet *f, slp_list *ret); /* what was touched goes over to an empty list */

#endif
