/* worker.h - the life of a worker: it joins, proves its life by heartbeats or as its strategy says
 * (strategy.h), and leaves or is evicted. */
#ifndef SLP_LEASE_WORKER_H
#define SLP_LEASE_WORKER_H

#include "lease/lease_types.h"
#include "lease/write.h"

/* stop_all: a function that stops all requests and timers of this worker, in every file of the room */
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
/* returns 1 while a registration is under way: it may reach the table, and has no answer yet */
int slp_worker_registers(const slp_fleet *f);
/* Sends LEAVE, the worker's last write, which marks its row as left. done is called when the write is
 * answered or given up. */
void slp_worker_mark_gone(slp_fleet *f, void (*done)(slp_write *op));

#endif
