/* due.h - the times at which something must be done about a lease. Two things can be due:
 *   - to step the lease: to do what is due for it in its state, in a later turn (ownership.c);
 *   - to read the row of the lease (row_poll.c).
 * This file may not call those functions, because they are on a higher floor (fleet_inside.h). So they are
 * passed to slp_due_init. (due.c, fleet.c, row_poll.c) */
#ifndef SLP_LEASE_DUE_H
#define SLP_LEASE_DUE_H

#include "base/list.h"
#include "host/host.h"
#include "lease/lease_types.h"

typedef struct slp_due {
  /* runs when a row must be read (of a lease, a worker or an assignment) or a lease must be stepped */
  slp_timer timer;
  uint64_t at_us;    /* the earliest time given to slp_poll_soon since the timer last ran; SLP_NEVER: none */
  uint8_t reading;   /* 1: a read of lease rows is under way; the next one starts only after its answer */
  slp_list touched;  /* leases that will be stepped soon, linked by slp_lease.touched */
  slp_event step_ev; /* runs the steps */
} slp_due;

/* run: reads the rows that are due, called by the timer. step: steps the leases that were touched. */
void slp_due_init(slp_fleet *f, void (*run)(slp_timer *t), void (*step)(slp_event *ev));
void slp_due_stop(slp_fleet *f);
void slp_due_free(slp_fleet *f);

/* makes the timer run at at_us or earlier */
void slp_poll_soon(slp_fleet *f, uint64_t at_us);
void slp_lease_poll(slp_lease *l, uint64_t at_us); /* makes the lease's row be read at at_us or earlier */
void slp_lease_touch(slp_lease *l); /* makes slp_lease_step run for the lease soon, in a later turn */
void slp_due_step(slp_fleet *f);    /* makes the steps run soon, even if no lease was touched */

/* The next functions are for the files that step leases and read rows (fleet.c, row_poll.c). */
/* to be called when the timer has run: forgets the times that were given to slp_poll_soon */
void slp_due_fired(slp_fleet *f);
/* sets the timer to at_us or to the time given to slp_poll_soon, whichever is earlier */
void slp_due_arm(slp_fleet *f, uint64_t at_us);
/* to be called when a read of lease rows begins (1) or is answered (0) */
void slp_due_reading(slp_fleet *f, int on);
/* moves all touched leases to *ret, which must be an empty list */
void slp_due_take(slp_fleet *f, slp_list *ret);

#endif
