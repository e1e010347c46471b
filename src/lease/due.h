/* due.h - the times at which something must be done about a lease. Either the lease is stepped, which means
 * that what is due for it is done in a turn of its own; or the lease's row is read later. The functions that
 * step (ownership.c) and read (row_poll.c) are on a higher floor, which passes them to slp_due_init.
 * (due.c, fleet.c, row_poll.c) */
#ifndef SLP_LEASE_DUE_H
#define SLP_LEASE_DUE_H

#include "base/list.h"
#include "host/host.h"
#include "lease/lease_types.h"

typedef struct slp_due {
  slp_timer timer;  /* one timer for all rows that are read: of leases, of other workers and of assignments */
  uint64_t at_us;   /* when the timer must run for something other than rows of leases */
  uint8_t reading;  /* 1: a read of lease rows is under way; the next one starts only after its answer */
  slp_list touched; /* leases that will be stepped soon, linked by slp_lease.touched */
  slp_event step_ev; /* runs the steps */
} slp_due;

void slp_due_init(slp_fleet *f, void (*run)(slp_timer *t), void (*step)(slp_event *ev));
void slp_due_stop(slp_fleet *f);
void slp_due_free(slp_fleet *f);

/* makes the timer run at at_us or earlier, for something other than rows of leases */
void slp_poll_soon(slp_fleet *f, uint64_t at_us);
void slp_lease_poll(slp_lease *l, uint64_t at_us); /* makes the lease's row be read at at_us or earlier */
void slp_lease_touch(slp_lease *l); /* makes slp_lease_step run for the lease soon, in a later turn */
void slp_due_step(slp_fleet *f);    /* makes the steps run soon, even if no lease was touched */

/* The next functions are for the files that step and read (fleet.c, row_poll.c). */
void slp_due_fired(slp_fleet *f); /* to be called when the timer has run: no time is set any more */
/* sets the timer to at_us or to the time given to slp_poll_soon, whichever is earlier */
void slp_due_arm(slp_fleet *f, uint64_t at_us);
/* to be called when a read of lease rows begins (1) or is answered (0) */
void slp_due_reading(slp_fleet *f, int on);
/* moves all touched leases to *ret, which must be an empty list */
void slp_due_take(slp_fleet *f, slp_list *ret);

#endif
