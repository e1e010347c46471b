/* worker.h - a worker joins, lives by its heartbeat or by what its strategy has in its place (strategy.h),
 * and is out. */
#ifndef SLP_LEASE_WORKER_H
#define SLP_LEASE_WORKER_H

#include "base/repeat.h"
#include "lease/read.h"
#include "lease/write.h"

typedef struct slp_worker { /* for schemas in which a row for each worker proves its life */
  slp_read row;             /* reads this worker's own row before it registers */
  slp_write registration;
  slp_write heartbeat;
  uint64_t counter; /* of the last heartbeat that is in the table */
  slp_timer join_timer;
  slp_paced joins;     /* bounds repeated joining, for a table that refuses every registration */
  slp_paced evictions; /* bounds evictions of the row in its way, for a damaged row that refuses each one */
  void (*stop_all)(slp_fleet *f);
} slp_worker;

/* stop_all: stops everything that this worker has under way, in every file. */
void slp_worker_init(slp_fleet *f, void (*stop_all)(slp_fleet *f));
void slp_worker_stop(slp_fleet *f);
void slp_worker_free(slp_fleet *f);

/* Of slp_strategy_native. */
void slp_worker_join(slp_fleet *f);
void slp_worker_beat(slp_fleet *f);
uint64_t slp_worker_good_us(slp_fleet *f, int exact);

void slp_worker_begins(slp_fleet *f); /* it is registered, and lives from here on */
void slp_worker_out(slp_fleet *f, const char *why);
/* Writes that the worker has left: its last write. done is called when that is answered or given up. */
void slp_worker_mark_gone(slp_fleet *f, void (*done)(slp_write *op));

#endif
