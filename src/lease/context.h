/* context.h - what every part of a fleet's worker needs: the clock, timers, the keys of rows, the worker's
 * name, and the events that are reported to its user. */
#ifndef SLP_LEASE_CONTEXT_H
#define SLP_LEASE_CONTEXT_H

#include "base/buf.h"
#include "base/fail.h"
#include "host/host.h"
#include "lease/fleet_opts.h"
#include "lease/lease_types.h"
#include "lease/schema.h"
#include "lease/store.h"
#include "lease/write.h"

/* a time that never comes */
#define SLP_NEVER UINT64_MAX

/* the monotonic clock, in microseconds */
uint64_t slp_fleet_now(slp_fleet *f);
/* the lease time, called L in PROTOCOL.md: after this time of silence a worker may be evicted; in
 * microseconds */
uint64_t slp_fleet_lease_us(const slp_fleet *f);
/* returns `us`, made longer or shorter at random by up to `percent` percent */
uint64_t slp_fleet_jitter(slp_fleet *f, uint64_t us, uint32_t percent);

/* Sets up a timer. The host has reserved room for every timer of a fleet, so setting it can't fail. */
void slp_fleet_timer_init(slp_timer *t, void (*run)(slp_timer *t));
/* sets the timer to at_us; SLP_NEVER stops it */
void slp_fleet_timer(slp_fleet *f, slp_timer *t, uint64_t at_us);

/* Returns 1 if the failure should be reported to the user now. n: how many times in a row it has come. */
int slp_fleet_tells(const slp_fleet *f, uint32_t n, const slp_fail *fail);
/* Returns 1 if the table has been gone for twice the lease time. Then the function has told the user that
 * this worker ends. */
int slp_fleet_ends_without_table(slp_fleet *f, const slp_fail *fail);
/* Reports an event to the user, with a text made by fmt. shard, epoch: the lease that the event is about;
 * {NULL, 0} and 0: none. */
void slp_fleet_tell(slp_fleet *f, slp_fleet_event_kind kind, slp_str shard, uint64_t epoch, const char *fmt,
                    ...) SLP_PRINTF(5, 6);
/* Reports SLP_FLEET_TROUBLE to the user. fmt must include the message of `fail`. */
void slp_fleet_tell_fail(slp_fleet *f, const slp_fail *fail, slp_str shard, uint64_t epoch, const char *fmt,
                         ...) SLP_PRINTF(5, 6);
/* To be called when the table did not show what it had accepted before, n times in a row. how: what it
 * showed. Reports SLP_FLEET_TROUBLE if slp_fleet_tells returns 1. */
void slp_fleet_tell_contradiction(slp_fleet *f, uint32_t n, const char *how);
/* Counts a request that the table refused because its capacity is used up. Reports SLP_FLEET_TROUBLE when the
 * table has throttled for some seconds, and then ever more rarely (throttling.h). of_write, 1: the request
 * was a write. */
void slp_fleet_table_refused(slp_fleet *f, int of_write, const slp_fail *fail);
int slp_fleet_writes_throttled(slp_fleet *f); /* returns 1 if a write was throttled within the last minute */
/* Reports to the user a row that is damaged or has a newer format. No worker changes or uses such a row. */
void slp_fleet_bad_row(slp_fleet *f, slp_str shard, const slp_row_key *key, const char *why);

/* Builds the key of one row. Its bytes are appended to `text`, and *ret points to them. Returns 0 or
 * SLP_ENOMEM. */
int slp_fleet_key(slp_fleet *f, slp_operation_kind kind, slp_str name, slp_buf *text, slp_row_key *ret);
/* Begins an operation of this worker: sets its kind, the worker's name and the time. The caller must set the
 * other members. */
void slp_fleet_operation(slp_fleet *f, slp_operation *i, slp_operation_kind kind);
/* Sets up this worker's writes. A write that fails is reported to the user if slp_fleet_tells returns 1. If
 * the kind of the write is in slp_strategy.doubtful, slp_fleet_trouble is called too. */
void slp_fleet_writes_init(slp_fleet *f);
slp_fleet *slp_write_fleet(const slp_write *op); /* returns the fleet of the worker that sends op */
/* To be called when a request of this worker to the table has failed. The silence of other workers until now
 * then proves nothing about them, because this worker could not have seen their writes. */
void slp_fleet_trouble(slp_fleet *f);
/* Returns when slp_fleet_trouble was last called or, if later, when this process came back from an absence
 * (absence.h); 0: neither has happened. */
uint64_t slp_fleet_trouble_us(slp_fleet *f);
/* returns when the last absence of this process ended (absence.h); 0: there was none */
uint64_t slp_fleet_back_us(slp_fleet *f);
/* Sets up the timer that notices absences of this process (absence.h). It runs from slp_fleet_absence_begin
 * to slp_fleet_absence_stop. */
void slp_fleet_absence_init(slp_fleet *f);
void slp_fleet_absence_begin(slp_fleet *f);
void slp_fleet_absence_stop(slp_fleet *f);
/* Draws a new random incarnation for this worker. Each time it joins the fleet it needs a new one. */
void slp_fleet_draw_incarnation(slp_fleet *f);
/* Makes this worker use the same name and incarnation as the worker of `with`. For layouts where one process
 * appears as one worker in all its fleets (guest/common_name.c). */
void slp_fleet_share_incarnation(slp_fleet *f, const slp_fleet *with);
slp_str slp_fleet_instance(const slp_fleet *f); /* "id.incarnation" with which this worker last joined */

#endif
