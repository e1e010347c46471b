/* context.h - the surroundings that every part of a fleet's worker works in: its clock, its timers, its
 * table's keys, its own name, and how it tells its user what happens. */
#ifndef SLP_LEASE_CONTEXT_H
#define SLP_LEASE_CONTEXT_H

#include "lease/fleet.h"
#include "lease/instance.h"
#include "lease/write.h"

#define SLP_NEVER UINT64_MAX

uint64_t slp_fleet_now(slp_fleet *f);
uint64_t slp_fleet_lease_us(const slp_fleet *f);
uint64_t slp_fleet_jitter(slp_fleet *f, uint64_t us, uint32_t percent); /* us, that many percent up or down */

/* Every timer of a fleet has its place reserved when the fleet is made, so setting one can't fail. */
void slp_fleet_timer_init(slp_timer *t, void (*run)(slp_timer *t));
void slp_fleet_timer(slp_fleet *f, slp_timer *t, uint64_t at_us); /* SLP_NEVER: cleared */

/* 1: something failed n times in a row, and it is time to tell the user. */
int slp_fleet_tells(const slp_fleet *f, uint32_t n, const slp_fail *fail);
/* Returns 1 if the table has been gone for two leases: the user was told that this is the end. */
int slp_fleet_ends_without_table(slp_fleet *f, const slp_fail *fail);
void slp_fleet_tell(slp_fleet *f, slp_fleet_event_kind kind, slp_str shard, uint64_t epoch, const char *fmt,
                    ...) SLP_PRINTF(5, 6);
/* TROUBLE with the store's own words behind it. */
void slp_fleet_tell_fail(slp_fleet *f, const slp_fail *fail, slp_str shard, uint64_t epoch, const char *fmt,
                         ...) SLP_PRINTF(5, 6);
/* TROUBLE, when it is time: so often in a row the table lacked what it had taken before. */
void slp_fleet_tell_contradiction(slp_fleet *f, uint32_t n, const char *how);
/* A request was refused for lack of capacity. TROUBLE, when it is time. */
void slp_fleet_table_refused(slp_fleet *f, int of_write, const slp_fail *fail);
int slp_fleet_writes_throttled(slp_fleet *f); /* 1: a write was refused within the last minute */
/* A row that is damaged or of a newer format is named and left alone. */
void slp_fleet_bad_row(slp_fleet *f, slp_str shard, const slp_row_key *key, const char *why);

/* The key of one row; its bytes are added to text. SLP_ENOMEM. */
int slp_fleet_key(slp_fleet *f, slp_operation_kind kind, slp_str name, slp_buf *text, slp_row_key *ret);
/* An operation of this worker, stamped with its name and the time; the caller fills in the rest. */
void slp_fleet_operation(slp_fleet *f, slp_operation *i, slp_operation_kind kind);
/* The writes of this worker: their failures are told, and make doubtful what was seen of others. */
void slp_fleet_writes_init(slp_fleet *f);
slp_fleet *slp_write_fleet(const slp_write *op); /* the fleet whose worker writes it */
/* My own way to the table failed just now: the silence of others before that proves nothing about them. */
void slp_fleet_trouble(slp_fleet *f);
/* When it last did, or when this process last came back from an absence, if that is later; 0: never. */
uint64_t slp_fleet_trouble_us(slp_fleet *f);
uint64_t slp_fleet_back_us(slp_fleet *f); /* from an absence; 0: there was none */
/* From here on this process's absences are noticed, until slp_fleet_absence_stop. */
void slp_fleet_absence_init(slp_fleet *f);
void slp_fleet_absence_begin(slp_fleet *f);
void slp_fleet_absence_stop(slp_fleet *f);
/* A new incarnation: every life of a worker has a name of its own. */
void slp_fleet_draw_incarnation(slp_fleet *f);
void slp_fleet_share_incarnation(slp_fleet *f, const slp_fleet *with); /* the name that another one has */

#endif
