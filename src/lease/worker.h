/* worker.h - the life of a worker: it joins, proves its life by heartbeats or as its strategy says
 * (strategy.h), and ends. */
#ifndef SLP_LEASE_WORKER_H
#define SLP_LEASE_WORKER_H

#include "base/repeat.h"
#include "lease/read.h"
#include "lease/write.h"

typedef struct slp_worker { /* for layouts in which one row for each worker proves its life */
  slp_read row;             /* a read of this worker's own row, before it registers */
  /* the write REGISTER, and at the end the write LEAVE */
  slp_write registration;
  slp_write heartbeat;
  uint64_t counter; /* counter of the last heartbeat that is in the table */
  /* runs for the next try to join */
  slp_timer join_timer;
  /* bounds how often this worker joins again, for a table that refuses every registration */
  slp_paced joins;
  /* bounds how often this worker evicts the row of its own id before it joins, for a damaged row that
   * refuses each eviction */
  slp_paced evictions;
  void (*stop_all)(slp_fleet *f);
} slp_worker;

/* stop_all: stops everything that this worker has under way, in every file. */
void slp_worker_init(slp_fleet *f, void (*stop_all)(slp_fleet *f));
void slp_worker_stop(slp_fleet *f);
void slp_worker_free(slp_fleet *f);

/* Functions of slp_strategy_native: see slp_strategy.join, .beat and .good_us. */
void slp_worker_join(slp_fleet *f);
void slp_worker_beat(slp_fleet *f);
uint64_t slp_worker_good_us(slp_fleet *f, int exact);

/* called by the strategy when the worker is registered: it lives from here on */
void slp_worker_begins(slp_fleet *f);
/* ends the worker's life: drops every lease and reports SLP_FLEET_LEFT with this text */
void slp_worker_out(slp_fleet *f, const char *why);
/* Writes LEAVE, the worker's last write: its row is marked as left. done is called when the write is
 * answered or given up. */
void slp_worker_mark_gone(slp_fleet *f, void (*done)(slp_write *op));

#endif
