/* context.h - what every part of a fleet's worker needs: the clock, timers, the keys of rows, the worker's
 * name, and the events that are reported to its user. */
#ifndef SLP_LEASE_CONTEXT_H
#define SLP_LEASE_CONTEXT_H

#include "lease/fleet.h"
#include "lease/instance.h"
#include "lease/write.h"

/* a time that never comes */
#define SLP_NEVER UINT64_MAX

/* the monotonic clock, in microseconds */
uint64_t slp_fleet_now(slp_fleet *f);
/* L, the time after which a silent worker may be evicted, in microseconds */
uint64_t slp_fleet_lease_us(const slp_fleet *f);
/* returns us, changed at random by up to `percent` percent, up or down */
uint64_t slp_fleet_jitter(slp_fleet *f, uint64_t us, uint32_t percent);

/* Sets up a timer. A place for every timer of a fleet is reserved when the fleet is created, so setting a
 * timer can't fail. */
void slp_fleet_timer_init(slp_timer *t, void (*run)(slp_timer *t));
/* sets the timer to at_us; SLP_NEVER: clears it */
void slp_fleet_timer(slp_fleet *f, slp_timer *t, uint64_t at_us);

/* Returns 1 if a failure that has come n times in a row should be reported to the user now. */
int slp_fleet_tells(const slp_fleet *f, uint32_t n, const slp_fail *fail);
/* Returns 1 if the table has been gone for two leases. The user was then told that this worker ends. */
int slp_fleet_ends_without_table(slp_fleet *f, const slp_fail *fail);
/* Reports an event to the user, with a text. */
void slp_fleet_tell(slp_fleet *f, slp_fleet_event_kind kind, slp_str shard, uint64_t epoch, const char *fmt,
                    ...) SLP_PRINTF(5, 6);
/* Reports TROUBLE to the user. fmt must include the message of `fail`. */
void slp_fleet_tell_fail(slp_fleet *f, const slp_fail *fail, slp_str shard, uint64_t epoch, const char *fmt,
                         ...) SLP_PRINTF(5, 6);
/* Reports TROUBLE, if slp_fleet_tells(n): n times in a row the table did not show what it had accepted
 * before. */
void slp_fleet_tell_contradiction(slp_fleet *f, uint32_t n, const char *how);
/* Counts a request that the table refused for lack of capacity, and reports TROUBLE when that is due. */
void slp_fleet_table_refused(slp_fleet *f, int of_write, const slp_fail *fail);
int slp_fleet_writes_throttled(slp_fleet *f); /* returns 1 if a write was throttled within the last minute */
/* Reports to the user a row that is damaged or has a newer format. No worker changes or uses such a row. */
void slp_fleet_bad_row(slp_fleet *f, slp_str shard, const slp_row_key *key, const char *why);

/* Builds the key of one row; its bytes are appended to `text`, which *ret points into. Returns 0 or
 * SLP_ENOMEM. */
int slp_fleet_key(slp_fleet *f, slp_operation_kind kind, slp_str name, slp_buf *text, slp_row_key *ret);
/* Begins an operation of this worker: sets its kind, the worker's name and the time. The caller fills in
 * the other members. */
void slp_fleet_operation(slp_fleet *f, slp_operation *i, slp_operation_kind kind);
/* Sets up this worker's writes. When a write fails, the user is told if it is due, and slp_fleet_trouble
 * is called if the strategy says so. */
void slp_fleet_writes_init(slp_fleet *f);
slp_fleet *slp_write_fleet(const slp_write *op); /* returns the fleet of the worker that sends op */
/* Notes that this worker's own access to the table has failed just now. So the silence of other workers
 * until now proves nothing about them. */
void slp_fleet_trouble(slp_fleet *f);
/* Returns when slp_fleet_trouble was last called, or when this process came back from an absence, whichever
 * is later; 0: never. */
uint64_t slp_fleet_trouble_us(slp_fleet *f);
/* returns when this process came back from its last absence; 0: there was none */
uint64_t slp_fleet_back_us(slp_fleet *f);
/* Between slp_fleet_absence_begin and slp_fleet_absence_stop a timer notices when this process stood still
 * (absence.h). */
void slp_fleet_absence_init(slp_fleet *f);
void slp_fleet_absence_begin(slp_fleet *f);
void slp_fleet_absence_stop(slp_fleet *f);
/* Draws a new random incarnation for this worker. Each life of a worker has an incarnation of its own. */
void slp_fleet_draw_incarnation(slp_fleet *f);
/* takes over the name of the worker of another fleet, with its incarnation */
void slp_fleet_share_incarnation(slp_fleet *f, const slp_fleet *with);

#endif
