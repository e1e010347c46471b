/* release_lease.c - takes a lease from its owner, or all leases from a worker.
 *
 * If the operator names a shard, its lease can't be taken from a worker that lives: until that worker reads
 * its row again, it would hand out records at the same time as the next owner. If the operator names a
 * worker, the worker loses all its leases, whether it lives or not. If workers have rows, it is evicted, and
 * learns that by its next heartbeat. If only leases name the worker, each lease is taken, and the worker
 * learns that when it next writes to it. */
#include "admin/command.h"
#include "admin/command_inside.h"
#include "base/fail.h"
#include "core/position.h"
#include "lease/outcome.h"
#include "lease/schema.h"
#include "lease/snapshot.h"

#include <sloop.h>
#include <sloop_admin.h>

#define ROUNDS_MAX 8u

static void release_lease(slp_admin *a, const slp_lease_row *l) {
  if (l->position.kind == SLP_POSITION_END) {
    slp_edits_nothing(a, l->shard, SLOOP_CHANGE_ENDED);
  } else if (!l->owner.n && !l->parked && !l->refused_n) {
    slp_edits_nothing(a, l->shard, SLOOP_CHANGE_UNOWNED);
  } else if (slp_edits_begin(a, 1, 0)) {
    slp_admin_no_memory(a);
  } else {
    slp_edits_add(a, l->shard, NULL);
    slp_edits_round(a);
  }
}

/* ---- workers with a row ------------------------------------------------------------------------- */

struct slp_victim {
  slp_worker_row row; /* the worker's row as it was first read; its texts are in `keep` */
  /* the leases that the worker had before it was evicted; of this result only `changes` is used */
  sloop_admin_result_t leases;
  /* how many reads of the rows did not show the eviction that was sent before */
  uint32_t rounds;
};

/* Lists the leases that the worker has before it is evicted: the eviction frees them. After the eviction
 * other workers may take these leases, or the worker itself under a new incarnation. */
static int fill_leases(slp_admin *a, sloop_admin_result_t *r) {
  const slp_snapshot *s = &a->snapshot;
  sloop_change_t *all = slp_admin_room(a, (s->leases_n + 1) * sizeof *all);
  const sloop_change_t **at = slp_admin_room(a, (s->leases_n + 1) * sizeof(const sloop_change_t *));
  if (!all || !at) return SLP_ENOMEM;
  for (size_t i = 0; i < s->leases_n; i++) {
    if (!slp_admin_is_instance(&a->victim->row, s->leases[i].owner)) continue;
    all[r->changes_n] = (sloop_change_t){
        .shard = slp_admin_text(a, s->leases[i].shard), .kind = SLOOP_CHANGE_FREE, .was_owner = ""};
    at[r->changes_n] = &all[r->changes_n];
    r->changes_n++;
  }
  r->changes = at;
  return 0;
}

static sloop_admin_result_t *make_eviction_result(slp_admin *a, sloop_eviction_t what) {
  sloop_admin_result_t *r = slp_edits_result(a);
  if (!r) return NULL;
  r->eviction = what;
  r->worker = slp_admin_instance(a, &a->victim->row);
  r->worker_lease_ms = a->victim->row.lease_ms;
  return r;
}

static void report_eviction(slp_admin *a, sloop_eviction_t what) {
  sloop_admin_result_t *r = make_eviction_result(a, what);
  if (!r) return;
  r->changes = a->victim->leases.changes;
  r->changes_n = a->victim->leases.changes_n;
  a->answer.result = r;
  if (what == SLOOP_EVICTION_DONE)
    slp_admin_move(a, SLP_ADMIN_NOTIFYING);
  else
    slp_admin_finish(a);
}

static void on_eviction_written(slp_admin_slot *slot) {
  slp_admin *a = slot->admin;
  if (slot->op.end == SLP_OUTCOME_DONE) a->changed = 1;
  if (slp_admin_write_is_final(slot))
    slp_admin_finish(a);
  else
    slp_admin_move(a, SLP_ADMIN_READING);
}

/* Sets the answer: the worker is evicted. The answer lists the leases that the worker had before the
 * eviction, because the rows were not read again. */
void slp_admin_tell_victim(slp_admin *a) {
  sloop_admin_result_t *r = slp_admin_room(a, sizeof *r);
  if (!r) return;
  *r = (sloop_admin_result_t){.changes = a->victim->leases.changes,
                              .changes_n = a->victim->leases.changes_n,
                              .eviction = SLOOP_EVICTION_DONE,
                              .worker = slp_admin_instance(a, &a->victim->row),
                              .worker_lease_ms = a->victim->row.lease_ms};
  a->answer.result = r;
}

void slp_admin_tell_eviction(slp_admin *a) {
  slp_admin_tell_victim(a);
  if (a->answer.result)
    slp_admin_move(a, SLP_ADMIN_NOTIFYING);
  else
    slp_admin_no_memory(a);
}

void slp_admin_evict_victim(slp_admin *a) {
  slp_operation i = {.kind = SLP_OPERATION_EVICT,
                     .me = slp_str_of(a->me),
                     .id = a->victim->row.id,
                     .incarnation = a->victim->row.incarnation,
                     .counter = SLP_ANY_COUNTER};
  if (slp_admin_write(a, &i, 0, on_eviction_written)) slp_admin_no_memory(a);
}

/* Finds out from the rows whether the worker is evicted now. */
static void look_again(slp_admin *a) {
  slp_victim *v = a->victim;
  const slp_worker_row *w = slp_snapshot_worker(&a->snapshot, v->row.id);
  if (!w || w->gone.n || !slp_str_eq(w->incarnation, v->row.incarnation)) {
    a->changed = 1; /* evicted, by this command or by another process */
    report_eviction(a, SLOOP_EVICTION_DONE);
  } else if (++v->rounds < ROUNDS_MAX) {
    slp_admin_move(a, SLP_ADMIN_EVICTING);
  } else {
    slp_admin_failed(a, SLP_ADMIN_NOT_EVICTED, SLP_TRANSIENT, SLOOP_ELEASE, v->row.id);
  }
}

static void release_worker(slp_admin *a, const slp_worker_row *w) {
  slp_victim *v = slp_admin_room(a, sizeof *v);
  if (v) {
    v->row = *w;
    v->row.id = slp_admin_keep(a, w->id);
    v->row.incarnation = slp_admin_keep(a, w->incarnation);
    a->victim = v;
  }
  if (!v || a->starved || fill_leases(a, &v->leases))
    slp_admin_no_memory(a);
  else if (w->gone.n)
    report_eviction(a, w->leaving ? SLOOP_EVICTION_HAD_LEFT : SLOOP_EVICTION_WAS_SO);
  else
    slp_admin_move(a, SLP_ADMIN_EVICTING);
}

/* ---- workers that only their leases name -------------------------------------------------------- */

static int is_of(const slp_lease_row *l, slp_str owner) {
  return slp_str_eq(l->owner, owner) && l->position.kind != SLP_POSITION_END;
}

/* Takes all leases of a worker that has no row. Returns 0 if it has no lease. */
static int release_all_of(slp_admin *a, slp_str owner) {
  const slp_snapshot *s = &a->snapshot;
  size_t n = 0;
  for (size_t i = 0; i < s->leases_n; i++) n += (size_t)is_of(&s->leases[i], owner);
  if (!n) return 0;
  if (slp_edits_begin(a, n, 1)) {
    slp_admin_no_memory(a);
    return 1;
  }
  for (size_t i = 0; i < s->leases_n; i++)
    if (is_of(&s->leases[i], owner)) slp_edits_add(a, s->leases[i].shard, NULL);
  slp_edits_round(a);
  return 1;
}

static void choose_what_to_release(slp_admin *a) {
  slp_str name = a->o.name;
  const slp_lease_row *l = slp_snapshot_lease_of(&a->snapshot, name);
  int by_rows = !a->schema->strategy;
  const slp_worker_row *w = l || !by_rows ? NULL : slp_admin_worker_of(&a->snapshot, name);
  if (l) {
    release_lease(a, l);
  } else if (w) {
    release_worker(a, w);
  } else if (slp_admin_listed(a, name)) {
    slp_edits_nothing(a, name, SLOOP_CHANGE_NO_LEASE);
  } else if (by_rows || !release_all_of(a, name)) {
    int is_shard = name.n > 8 && memcmp(name.p, "shardId-", 8) == 0;
    slp_admin_failed(a, SLP_ADMIN_NO_SUCH_NAME, SLP_REFUSED, is_shard ? SLOOP_ENOSHARD : SLOOP_ENOWORKER,
                     name);
  }
}

void slp_admin_release(slp_admin *a) {
  if (a->victim)
    look_again(a);
  else if (a->edits)
    slp_edits_round(a);
  else
    choose_what_to_release(a);
}
