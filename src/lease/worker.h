/* worker.h - the life of a worker: it joins, proves its life by heartbeats or as its strategy says
 * (strategy.h), and leaves or is evicted. */
#ifndef SLP_LEASE_WORKER_H
#define SLP_LEASE_WORKER_H

#include "base/repeat.h"
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
  /* least time between two registrations, for a table that refuses every one */
  slp_paced joins;
  /* Least time between two evictions of the row with this worker's id, before it joins; for a damaged row
   * that refuses every eviction. */
  slp_paced evictions;
  void (*stop_all)(slp_fleet *f);
} slp_worker;

/* stop_all: a function that stops everything that this worker has under way, in every file. */
void slp_worker_init(slp_fleet *f, void (*stop_all)(slp_fleet *f));
void slp_worker_stop(slp_fleet *f);
void slp_worker_free(slp_fleet *f);

/* These functions implement join, beat and good_us of slp_strategy_native. */
void slp_worker_join(slp_fleet *f);
void slp_worker_beat(slp_fleet *f);
uint64_t slp_worker_good_us(slp_fleet *f, int exact);

/* To be called by the strategy when the worker is registered: from now on it lives. */
void slp_worker_begins(slp_fleet *f);
/* Ends the worker's life: drops every lease, and reports SLP_FLEET_LEFT with the text `why`. */
void slp_worker_out(slp_fleet *f, const char *why);
/* Sends LEAVE, the worker's last write, which marks its row as left. done is called when the write is
 * answered or given up. */
void slp_worker_mark_gone(slp_fleet *f, void (*done)(slp_write *op));

#endif
