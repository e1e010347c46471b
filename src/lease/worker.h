/* worker.h - a worker joins, lives by its heartbeat or by what its strategy has in its place (strategy.h),
 * and is out. */
#ifndef SLP_LEASE_WORKER_H
#define SLP_LEASE_WORKER_H

#include "base/repeat.h"
#include "lease/read.h"
#include "lease/write.h"

typedef struct slp_worker { /* where one row a worker proves its life */
  slp_read row;             /* its own, before it registers */
  slp_write registration;
  slp_write heartbeat;
  uint64_t counter; /* of the last heartbeat that is in */
  slp_timer join_timer;
  slp_paced joins;     /* a table that refuses each registration makes it begin again and again */
  slp_paced evictions; /* of the row in its way; a damaged one refuses each */
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
/* Its last write: its row says that it has left. done comes when that is answered, or given up. */
void slp_worker_mark_gone(slp_fleet *f, void (*done)(slp_write *op));

#endif
