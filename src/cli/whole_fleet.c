/* whole_fleet.c - judges how far a fleet has read, by the rows of the lease table, the stream's listing, and
 * the shards of this worker. fleet_look.c gets all three and passes them in; this file requests nothing.
 *
 * The rule to keep: a shard must never count as read because a row is missing, old, or of a dead worker. */
#include "cli/whole_fleet.h"

#include "base/mem.h"
#include "cli/lease_words.h"
#include "cli/shard_numbers.h"

#include <sloop.h>
#include <sloop_admin.h>
#include <stdio.h>

/* How many heartbeats of the owner must come after a lease was first seen. The first one may have been sent
 * before the owner had the lease. The second one surely includes this lease. */
#define PROOF_BEATS 2

void slp_whole_init(slp_whole_fleet *w, slp_mem *mem) {
  *w = (slp_whole_fleet){.mem = mem};
  slp_names_init(&w->names, mem);
}

void slp_whole_free(slp_whole_fleet *w) {
  if (!w->mem) return;
  slp_names_free(&w->names);
  slp_free(w->mem, w->shards);
  w->shards = NULL;
}

static slp_whole_shard *shard_of(slp_whole_fleet *w, const char *name) {
  uint32_t number = slp_names_number(&w->names, name);
  if (number == UINT32_MAX) return NULL;
  if (number >= w->cap) {
    uint32_t cap = w->cap ? w->cap * 2 : 64;
    while (cap <= number) cap *= 2;
    slp_whole_shard *shards = slp_realloc(w->mem, w->shards, cap * sizeof *shards);
    if (!shards) return NULL;
    memset(shards + w->cap, 0, (cap - w->cap) * sizeof *shards);
    w->shards = shards;
    w->cap = cap;
  }
  return &w->shards[number];
}

void slp_whole_begin(slp_whole_fleet *w, int by_time) {
  for (uint32_t i = 0; i < w->cap; i++) {
    slp_whole_shard *s = &w->shards[i];
    s->has_row = s->ended = s->has_child = s->waits = 0;
    s->is_mine = s->is_answered = s->is_at_tip = s->has_passed = 0;
  }
  w->mine_n = 0;
  w->by_time = (uint8_t)by_time;
}

int slp_whole_mine(slp_whole_fleet *w, const sloop_shard_stats_t *shard) {
  slp_whole_shard *s = shard_of(w, shard->shard);
  if (!s) return SLP_ENOMEM;
  s->is_answered = shard->behind_ms >= 0;
  s->is_mine = 1;
  s->has_passed = w->by_time && shard->paused;
  s->is_at_tip = s->has_passed || (shard->at_tip && !shard->unacked);
  w->mine_n++;
  return 0;
}

/* ---- rows --------------------------------------------------------------------------------------------- */

/* Lowers the state to `to`, unless the state is as low already. `why` is then about this shard, so in the end
 * about the first shard with the lowest state. */
static void lower_fleet_state(slp_whole_fleet *w, slp_whole_state to, const char *shard, const char *why,
                              const char *who) {
  if (to >= w->state) return;
  w->state = to;
  snprintf(w->why, sizeof w->why, "%.100s %s%.100s", shard, why, who);
}

/* Returns parent k of the lease; NULL if there is no parent k, or if the parent has no row. */
static slp_whole_shard *parent_of(slp_whole_fleet *w, const sloop_lease_t *l, size_t k) {
  uint32_t number = *l->parents[k] ? slp_names_find(&w->names, l->parents[k]) : UINT32_MAX;
  return number < w->cap && w->shards[number].has_row ? &w->shards[number] : NULL;
}

static int waits_for_parent(slp_whole_fleet *w, const sloop_lease_t *l) {
  for (size_t k = 0; k < SLP_COUNT(l->parents); k++) {
    const slp_whole_shard *parent = parent_of(w, l, k);
    if (parent && !parent->ended) return 1;
  }
  return 0;
}

static void judge_mine(slp_whole_fleet *w, const sloop_lease_t *l, const slp_whole_shard *s) {
  if (!s->is_answered && !s->is_at_tip)
    lower_fleet_state(w, SLP_WHOLE_WAITS, l->shard, "is this worker's, and has not been read yet", "");
  else if (!s->is_at_tip)
    lower_fleet_state(w, SLP_WHOLE_SHARED, l->shard, "is not read to its tip by this worker", "");
}

/* Sets s->alive if the row of the lease, or of its owner, has changed since the lease was first seen. In a
 * new epoch, stores the present values, with which later looks are compared. */
static void note_sign_of_life(slp_whole_shard *s, const sloop_lease_t *l, const sloop_worker_t *owner) {
  uint64_t counter = owner ? owner->counter : 0;
  int64_t owner_at_ms = owner ? owner->written_at_ms : -1;
  int anew = !s->seen || s->epoch != l->epoch;
  if (s->seen && (anew || counter != s->counter || l->written_at_ms != s->written_at_ms ||
                  owner_at_ms != s->owner_written_at_ms))
    s->alive = 1;
  if (!anew) return;
  s->seen = 1;
  s->epoch = l->epoch;
  s->counter = counter;
  s->written_at_ms = l->written_at_ms;
  s->owner_written_at_ms = owner_at_ms;
}

/* Returns 1 if heartbeats after the lease was first seen report that all shards of the owner are read to
 * their newest records. */
static int is_proven(const slp_whole_shard *s, const sloop_worker_t *owner) {
  return owner->counter >= s->counter + PROOF_BEATS && owner->behind_ms == 0;
}

/* Judges a lease that another worker owns. The owner must have shown a sign of life: rows alone are no proof,
 * because a worker that was killed looks alive in them until its lease has run out. */
static void judge_others(slp_whole_fleet *w, const sloop_lease_t *l, slp_whole_shard *s,
                         const sloop_worker_t *owner) {
  note_sign_of_life(s, l, owner);
  if (!s->alive)
    lower_fleet_state(w, SLP_WHOLE_WAITS, l->shard,
                      "has an owner that has shown no sign of life yet: ", l->owner);
  else if (w->by_time)
    return;
  /* Without heartbeats, the rows do not show how far the worker has read. */
  else if (!owner || !owner->counter)
    lower_fleet_state(w, SLP_WHOLE_SHARED, l->shard,
                      "may not be at its tip: rows of this schema do not store the lag of ", l->owner);
  else if (!is_proven(s, owner))
    lower_fleet_state(w, SLP_WHOLE_SHARED, l->shard, "has not been reported at its tip by ", l->owner);
}

/* Returns 1 if --until does not wait for the end of this shard: this worker has paused the shard at the
 * time of --until, or another worker owns it. */
static int is_left_unended(const slp_whole_fleet *w, const slp_whole_shard *s) {
  return w->by_time && !s->ended && (s->has_passed || !s->is_mine);
}

static void judge_lease_of_fleet(slp_whole_fleet *w, const sloop_lease_t *l, slp_whole_shard *s,
                                 const sloop_worker_t *owner, const char *me) {
  slp_lease_mood mood = slp_lease_mood_of(l);
  /* a shard that waits for its parent is not judged, because the parent's row stands for it */
  if (mood != SLP_LEASE_IS_ENDED && waits_for_parent(w, l)) return;
  switch (mood) {
    case SLP_LEASE_IS_ENDED: return;
    case SLP_LEASE_IS_PARKED:
      lower_fleet_state(w, SLP_WHOLE_BLOCKED, l->shard, "is parked: no worker reads it until --release", "");
      return;
    case SLP_LEASE_IS_REFUSED:
      lower_fleet_state(w, SLP_WHOLE_BLOCKED, l->shard, "is not read: the service refuses its position", "");
      return;
    case SLP_LEASE_IS_FREE: lower_fleet_state(w, SLP_WHOLE_WAITS, l->shard, "has no owner yet", ""); return;
    case SLP_LEASE_IS_DEAD:
    case SLP_LEASE_IS_SILENT:
      lower_fleet_state(w, SLP_WHOLE_WAITS, l->shard, "is not read, because dead or silent is its owner ",
                        l->owner);
      return;
    case SLP_LEASE_IS_OWNED:
    case SLP_LEASE_MOODS: break;
  }
  /* A closed shard is not done before the row has its end, even if the shard is at its tip. */
  if (s->has_child && !is_left_unended(w, s))
    lower_fleet_state(w, SLP_WHOLE_SHARED, l->shard, "is not read to its end yet", "");
  if (strcmp(l->owner, me) == 0)
    judge_mine(w, l, s);
  else
    judge_others(w, l, s, owner);
}

int slp_whole_rows(slp_whole_fleet *w, const sloop_leases_t *rows, const char *me) {
  for (size_t i = 0; i < rows->leases_n; i++) {
    slp_whole_shard *s = shard_of(w, rows->leases[i]->shard);
    if (!s) return SLP_ENOMEM;
    s->has_row = 1;
    s->ended = slp_lease_mood_of(rows->leases[i]) == SLP_LEASE_IS_ENDED;
  }
  for (size_t i = 0; i < rows->leases_n; i++)
    for (size_t k = 0; k < SLP_COUNT(rows->leases[i]->parents); k++) {
      slp_whole_shard *parent = parent_of(w, rows->leases[i], k);
      if (parent) parent->has_child = 1;
    }
  w->state = SLP_WHOLE_AT_TIP;
  w->why[0] = 0;
  for (size_t i = 0; i < rows->leases_n; i++) {
    const sloop_lease_t *l = rows->leases[i];
    judge_lease_of_fleet(w, l, shard_of(w, l->shard), *l->owner ? slp_lease_worker(rows, l->owner) : NULL,
                         me);
  }
  if (rows->bad_rows_n)
    lower_fleet_state(w, SLP_WHOLE_BLOCKED, "an invalid row is ignored:", rows->bad_rows[0], "");
  return 0;
}

/* ---- the listing -------------------------------------------------------------------------------------- */

/* Returns 1 if this shard's children may have no rows until the command ends, because --until does not read
 * the shard to its end. */
static int is_held_back(const slp_whole_fleet *w, uint32_t number) {
  const slp_whole_shard *s = number < w->cap ? &w->shards[number] : NULL;
  return s && (s->has_row ? is_left_unended(w, s) : s->waits);
}

/* Sets `waits` of shards that have no row and descend from a shard whose end --until does not wait for.
 * Returns 1 if this has marked a shard. */
static int hold_back(slp_whole_fleet *w, const sloop_shard_t *const *shards, size_t n) {
  int found = 0;
  for (size_t i = 0; i < n; i++) {
    slp_whole_shard *s = &w->shards[slp_names_find(&w->names, shards[i]->id)];
    int waits = is_held_back(w, slp_names_find(&w->names, shards[i]->parent)) ||
                is_held_back(w, slp_names_find(&w->names, shards[i]->adjacent_parent));
    if (s->has_row || s->waits || !waits) continue;
    s->waits = found = 1;
  }
  return found;
}

/* An open shard without a row gets a row later, so normally it is waited for. With --until there is an
 * exception. A child gets its row before its parent's row is ended. But the parent may be read only up to a
 * time, so that its row is never ended. So --until does not wait for the row of such a child. */
int slp_whole_listed(slp_whole_fleet *w, const sloop_shard_t *const *shards, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (!shard_of(w, shards[i]->id)) return SLP_ENOMEM;
  while (w->by_time && hold_back(w, shards, n)) continue; /* repeats if a child is listed before its parent */
  for (size_t i = 0; i < n; i++) {
    const slp_whole_shard *s = shard_of(w, shards[i]->id);
    if (!shards[i]->closed && !s->has_row && !s->waits)
      lower_fleet_state(w, SLP_WHOLE_WAITS, shards[i]->id, "has no lease yet", "");
  }
  return 0;
}
