/* strategies.c - the table of each system: by which functions and rules its workers prove that they are
 * alive, and share leases. */
#include "guest/strategies.h"

#include "base/states.h"
#include "guest/ask_owner.h"
#include "guest/claim_strategy.h"
#include "guest/common_name.h"
#include "guest/counted_writes.h"
#include "guest/counter.h"
#include "guest/entry.h"
#include "guest/expiry.h"
#include "guest/from_listing.h"
#include "guest/guest.h"
#include "guest/guest_operations.h"
#include "guest/guest_rules.h"
#include "guest/index.h"
#include "guest/mode.h"
#include "guest/steal.h"
#include "guest/write_proof.h"
#include "lease/lease.h"
#include "lease/lease_types.h"
#include "lease/schema.h"

/* ---- creating and freeing, in all systems ----------------------------------------------------------- */

static void init_guest_parts(slp_fleet *f) {
  slp_guest_of(f)->f = f;
  slp_entry_init(f);
  slp_mode_init(f);
  slp_write_proof_init(f);
  slp_steal_init(f);
  slp_indexing_init(f);
}

static void stop_guest_parts(slp_fleet *f) {
  slp_entry_stop(f);
  slp_mode_stop(f);
  slp_write_proof_stop(f);
  slp_common_name_leave(f);
  slp_steal_stop(f);
  slp_indexing_stop(f);
}

static void all_free(slp_fleet *f) {
  slp_entry_free(f);
  slp_mode_free(f);
  slp_write_proof_free(f);
  slp_steal_free(f);
  slp_indexing_free(f);
}

/* ---- the stream's shards ---------------------------------------------------------------------------- */

static void listed_where_stolen(slp_fleet *f, int ok) {
  slp_entry_listed(f, ok);
  slp_steal_listed(f, ok);
}

static void listed_by_index(slp_fleet *f, int ok) {
  slp_entry_listed(f, ok);
  slp_indexing_listed(f, ok);
}

/* ---- the end of an ownership ------------------------------------------------------------------------- */

static void gone_where_stolen(slp_lease *l) {
  slp_steal_gone(l, slp_steal_is_put_anew);
  slp_counter_gone(l);
}

static void gone_where_claimed(slp_lease *l) {
  slp_steal_gone(l, slp_claim_is_put_back);
  slp_counter_gone(l);
}

/* Returns the number that a take writes, in layouts where each owner may begin again with a small number. The
 * result is greater than the number in the row, and greater than every number that this worker has
 * written. */
static uint64_t take_epoch_of_tick(const slp_lease *l) {
  return slp_max_u64(l->row.epoch, l->own.row_epoch) + 1;
}

/* ---- the systems ------------------------------------------------------------------------------------ */

/* for layouts in which a worker proves by the row of each lease that it is alive */
#define BY_LEASE                                                                                         \
  .fleet_bytes = sizeof(slp_guest), .lease_bytes = sizeof(slp_guest_lease),                              \
  .seen_bytes = sizeof(slp_guest_seen), .timers = 5, .init = init_guest_parts, .stop = stop_guest_parts, \
  .free = all_free, .urgent = SLP_COUNTER_URGENT, .join = slp_counter_join, .beat = slp_counter_beat,    \
  .good_us = slp_counter_good_us, .may_open = slp_counter_may_open, .wrote = slp_counter_wrote,          \
  .begun = slp_counter_begun, .chosen_us = slp_choice_us, .restores = slp_choice_restores,               \
  .removed = slp_choice_removed, .outcome = slp_counted_outcome, .park = slp_counter_park

/* for layouts in which the row of a lease has a time at which the lease runs out */
#define BY_TIME                                                                          \
  .epoch_after = slp_expiry_after, .sign = slp_counted_sign_of_time, .silent_leases = 1, \
  .past_us = slp_expiry_past_us, .doubtful = SLP_BIT(SLP_OPERATION_TAKE) | SLP_BIT(SLP_GUEST_PUBLISH)

/* For systems in which each worker takes leases in rounds. A worker that gave a lease up for lack of progress
 * does not take it again for six lease times, because other workers take it after three. */
#define BY_ROUNDS                                                                                         \
  .shun_leases = 6, .must_give_up = slp_ask_must_give_up, .hands_over = slp_lease_unwant,                 \
  .begin = slp_steal_begin, .resumed = slp_steal_resumed, .listed = listed_where_stolen,                  \
  .unknown_children = slp_steal_unknown_children, .may_make = slp_steal_may_make, .part = slp_steal_part, \
  .claimed = slp_ask_claimed, .leaves = slp_ask_leaves

#define BY_STEALING .met = slp_steal_met, .missed = slp_steal_missed, .gone = gone_where_stolen

const slp_guest_strategy slp_strategy_kcl = {
    .base = {BY_LEASE, BY_ROUNDS, BY_STEALING, .doubtful = SLP_BIT(SLP_OPERATION_TAKE),
             .tell_load = slp_counter_tell_rate, .sign = slp_counted_sign, .silent_leases = 1, .counts = 1},
    .grows = 1,
    .asks = SLP_ASKS_OURS,
    .renews_ended = 1,
    .versions = 1,
};

/* For layouts in which the row of a lease has a number, the tick, and each owner may begin again with a small
 * number. An owner is dead after two lease times of silence, for two reasons: a motorway program waits twice
 * before it takes a lease; and a program that is throttled may not raise its tick for that long. */
#define BY_TICK                                                                                             \
  .doubtful = SLP_BIT(SLP_OPERATION_TAKE), .missing_blocks = 1, .knows_parents = slp_listing_knows_parents, \
  .take_epoch = take_epoch_of_tick, .sign = slp_counted_sign_of_tick, .silent_leases = 2, .counts = 1

/* Why `settles` is set: when a motorway program takes a lease, its write has no condition on the tick. So it
 * may replace the row of a worker that has just taken the lease. tick_us: once a second, as motorway's
 * workers do. */
#define OF_TICK .settles = 1, .asks = SLP_ASKS_OURS, .keeps_listed = 1, .tick_us = 1000000

const slp_guest_strategy slp_strategy_motorway = {
    .base = {BY_LEASE, BY_ROUNDS, BY_STEALING, BY_TICK, .knows_start = slp_listing_knows_start},
    OF_TICK,
};

const slp_guest_strategy slp_strategy_kcl_rb = {
    .base = {BY_LEASE, BY_ROUNDS, BY_STEALING, BY_TICK},
    OF_TICK,
};

const slp_guest_strategy slp_strategy_vmware = {
    /* These tables have no rows of workers. So how long a claim is respected follows from the form of the
     * claimant's name (slp_expiry_reserved_us). */
    .base = {BY_LEASE, BY_TIME, BY_ROUNDS, .missing_blocks = 1, .knows_parents = slp_listing_knows_parents,
             .met = slp_claim_met, .missed = slp_claim_missed, .gone = gone_where_claimed},
    .of_first = 1,
    .asks = SLP_ASKS_ALL,
    .keeps_listed = 1,
    .reserved_until_us = slp_claim_reserved_until_us,
};

const slp_guest_strategy slp_strategy_kinsumer = {
    .base = {BY_LEASE, BY_TIME, .missing_blocks = 1, .knows_parents = slp_listing_knows_parents,
             .must_give_up = slp_indexing_must_give_up, .begin = slp_indexing_begin, .met = slp_indexing_met,
             .missed = slp_indexing_missed, .gone = slp_counter_gone, .listed = listed_by_index,
             .unknown_children = slp_indexing_unknown_children, .part = slp_indexing_part,
             .leaves = slp_indexing_leaves, .clients = 1, .is_share = slp_index_is_mine},
    .of_first = 1,
    .keeps_listed = 1,
    .joins = slp_indexing_joins,
};
