/* context.h - what every part of a fleet's worker needs: the clock, timers, the table's keys, the worker's
 * name, and the events for its user. */
#ifndef SLP_LEASE_CONTEXT_H
#define SLP_LEASE_CONTEXT_H

#include "lease/fleet.h"
#include "lease/instance.h"
#include "lease/write.h"

#define SLP_NEVER UINT64_MAX

uint64_t slp_fleet_now(slp_fleet *f);
uint64_t slp_fleet_lease_us(const slp_fleet *f);
/* us, changed at random by up to that many percent */
uint64_t slp_fleet_jitter(slp_fleet *f, uint64_t us, uint32_t percent);

/* Every timer of a fleet has its place reserved when the fleet is made, so setting one can't fail. */
void slp_fleet_timer_init(slp_timer *t, void (*run)(slp_timer *t));
void slp_fleet_timer(slp_fleet *f, slp_timer *t, uint64_t at_us); /* SLP_NEVER: clears the timer */

/* Returns 1 if something has failed n times in a row, and the user should be told now. */
int slp_fleet_tells(const slp_fleet *f, uint32_t n, const slp_fail *fail);
/* Returns 1 if the table has been gone for two leases. The user was then told that the worker ends. */
int slp_fleet_ends_without_table(slp_fleet *f, const slp_fail *fail);
void slp_fleet_tell(slp_fleet *f, slp_fleet_event_kind kind, slp_str shard, uint64_t epoch, const char *fmt,
                    ...) SLP_PRINTF(5, 6);
/* Tells TROUBLE, with the message of `fail` appended. */
void slp_fleet_tell_fail(slp_fleet *f, const slp_fail *fail, slp_str shard, uint64_t epoch, const char *fmt,
                         ...) SLP_PRINTF(5, 6);
/* Tells TROUBLE when it is due: n times in a row the table lacked what it had taken before. */
void slp_fleet_tell_contradiction(slp_fleet *f, uint32_t n, const char *how);
/* Counts a request that was refused for lack of capacity, and tells TROUBLE when it is due. */
void slp_fleet_table_refused(slp_fleet *f, int of_write, const slp_fail *fail);
int slp_fleet_writes_throttled(slp_fleet *f); /* returns 1 if a write was throttled within the last minute */
/* Tells of a row that is damaged or has a newer format. The row is left alone. */
void slp_fleet_bad_row(slp_fleet *f, slp_str shard, const slp_row_key *key, const char *why);

/* Builds the key of one row; its bytes are appended to text. Returns 0 or SLP_ENOMEM. */
int slp_fleet_key(slp_fleet *f, slp_operation_kind kind, slp_str name, slp_buf *text, slp_row_key *ret);
/* Begins an operation of this worker: sets its name and the time. The caller fills in the rest. */
void slp_fleet_operation(slp_fleet *f, slp_operation *i, slp_operation_kind kind);
/* Sets up this worker's writes. If one fails, the user is told, and the silence of other workers until then
 * proves nothing. */
void slp_fleet_writes_init(slp_fleet *f);
slp_fleet *slp_write_fleet(const slp_write *op); /* the fleet of the worker that writes op */
/* Notes that this worker's own access to the table has failed just now. The silence of other workers until
 * now then proves nothing about them. */
void slp_fleet_trouble(slp_fleet *f);
/* Returns when slp_fleet_trouble was last called, or when this process came back from an absence, whichever
 * is later; 0: never. */
uint64_t slp_fleet_trouble_us(slp_fleet *f);
/* when this process came back from its last absence; 0: there was none */
uint64_t slp_fleet_back_us(slp_fleet *f);
/* From slp_fleet_absence_begin to slp_fleet_absence_stop the absences of this process are noticed. */
void slp_fleet_absence_init(slp_fleet *f);
void slp_fleet_absence_begin(slp_fleet *f);
void slp_fleet_absence_stop(slp_fleet *f);
/* Draws a new incarnation: each life of a worker has a name of its own. */
void slp_fleet_draw_incarnation(slp_fleet *f);
/* takes the incarnation of another fleet of the same name */
void slp_fleet_share_incarnation(slp_fleet *f, const slp_fleet *with);

#endif
