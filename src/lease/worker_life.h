/* worker_life.h - the states of a worker's life. worker.c, leave.c and guest/counter.c do what each state
 * needs.
 *
 *          start               registered           leave                 all is given away
 *   NEW ------------> JOINING ------------> RUNS ------------> LEAVING ------------> OUT
 *    |                 ^   |                  |                   |                   ^
 *    |                 |   |     evicted      |                   +--- evicted, ------+
 *    |                 +---|------------------+                        or too late    |
 *    +-- leaves before ----+-- leaves before it has joined, or its row can't be used -+ */
#ifndef SLP_LEASE_WORKER_LIFE_H
#define SLP_LEASE_WORKER_LIFE_H

#include "lease/lease_types.h"

#include <stdint.h>

typedef enum slp_worker_state {
  SLP_WORKER_NEW,
  SLP_WORKER_JOINING,
  SLP_WORKER_RUNS,
  SLP_WORKER_LEAVING,
  SLP_WORKER_OUT
} slp_worker_state;

typedef struct slp_worker_life {
  slp_worker_state state;
  uint64_t joined_us;   /* in JOINING: when the worker drew its incarnation; later: when it registered */
  uint64_t leave_by_us; /* in LEAVING: leases that are not drained at this time are given up anyway */
} slp_worker_life;

void slp_life_init(slp_fleet *f);
void slp_life_move(slp_fleet *f, slp_worker_state to);
int slp_worker_is(const slp_fleet *f, slp_worker_state state);
int slp_worker_lives(const slp_fleet *f); /* returns 1 in RUNS and LEAVING: the worker is registered */

uint64_t slp_life_joined_us(const slp_fleet *f);
void slp_life_joined(slp_fleet *f, uint64_t at_us);
/* returns when leases are given up that are not drained; SLP_NEVER before the worker leaves */
uint64_t slp_worker_leave_by_us(const slp_fleet *f);
void slp_worker_leave_by(slp_fleet *f, uint64_t at_us);

#endif
