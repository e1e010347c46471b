/* worker_part.h - how a worker joins and proves its life; worker.c owns it. */
#ifndef SLP_LEASE_WORKER_PART_H
#define SLP_LEASE_WORKER_PART_H

#include "base/repeat.h"
#include "host/host.h"
#include "lease/lease_types.h"
#include "lease/read.h"
#include "lease/write.h"

typedef struct slp_worker { /* for fleets where one row for each worker proves its life */
  slp_read row;             /* reads this worker's own row before it registers */
  /* the write REGISTER and, at the end, the write LEAVE */
  slp_write registration;
  slp_write heartbeat;
  uint64_t counter; /* the counter in the last heartbeat that is in the table */
  /* runs when the worker tries to join again */
  slp_timer join_timer;
  /* least time between two registrations; needed if the table refuses every registration */
  slp_paced joins;
  /* Least time between two evictions of the row with this worker's id, before the worker joins. Needed if the
   * row is damaged and refuses every eviction. */
  slp_paced evictions;
  void (*stop_all)(slp_fleet *f);
} slp_worker;

#endif
