/* explain.c - says why a shard is read, or why it is not. The answer follows from one consistent read of the
 * table and one listing of the stream. */
#include "admin/command.h"
#include "admin/command_inside.h"
#include "base/fail.h"
#include "core/position.h"
#include "lease/hash_range.h"
#include "lease/schema.h"
#include "lease/shard_set.h"
#include "lease/snapshot.h"
#include "lease/store.h"

#include <sloop.h>
#include <sloop_admin.h>
#include <stdio.h>

#define ANCESTORS_MAX 64 /* at most this many ancestors are examined, from a shard upwards */
#define LOOKS_MAX 8      /* the rows are read again at most this often because a worker seems silent */

/* ---- workers ------------------------------------------------------------------------------------ */

/* Returns 1 if the time in the worker's row is too old. If this command has seen the row change, returns
 * 0. */
static int is_silent(const slp_admin *a, const slp_worker_row *w) {
  char name[200];
  if (!slp_admin_worker_silent(a, w)) return 0;
  int n = snprintf(name, sizeof name, "%.*s.%.*s", (int)w->id.n, w->id.p, (int)w->incarnation.n,
                   w->incarnation.n ? w->incarnation.p : "");
  const slp_watched *seen = slp_watch_get(a, (slp_str){name, slp_min_u64((uint64_t)n, sizeof name - 1)});
  return !seen || !seen->alive;
}

/* Returns 1 if rows of this layout name at most one parent. The other parent is then taken from the stream's
 * listing. */
static int names_one_parent(const slp_admin *a) {
  return a->schema->strategy && a->schema->strategy->knows_parents;
}

static int worker_is_alive(const slp_admin *a, const slp_worker_row *w) {
  return slp_worker_takes(w) && !is_silent(a, w);
}

static size_t count_living_workers(const slp_admin *a) {
  size_t n = 0;
  for (size_t i = 0; i < a->snapshot.workers_n; i++) n += (size_t)worker_is_alive(a, &a->snapshot.workers[i]);
  return n;
}

static int in_assignment(const slp_assignment_row *p, slp_str shard) {
  slp_shard_set_reader r;
  slp_str id;
  for (size_t i = 0; i < p->plus_n; i++)
    if (slp_str_eq(p->plus[i], shard)) return 1;
  slp_shard_set_begin(&r, p->set);
  while (slp_shard_set_next(&r, &id) == 1)
    if (slp_str_eq(id, shard)) return 1;
  return 0;
}

/* For layouts where all workers share one list of shards. Each worker takes the shards whose index in the
 * list fits the worker's own index among the living workers. Returns the worker of the shard; NULL: there is
 * none. */
static const slp_worker_row *by_index(const slp_admin *a, slp_str shard) {
  const slp_snapshot *s = &a->snapshot;
  const slp_assignment_row *list = s->assignments;
  size_t at = 0, n = s->assignments_n ? list->plus_n : 0, alive = count_living_workers(a), place = 0;
  while (at < n && !slp_str_eq(list->plus[at], shard)) at++;
  for (size_t i = 0; at < n && i < s->workers_n; i++)
    if (worker_is_alive(a, &s->workers[i]) && a->schema->strategy->is_share(at, place++, alive))
      return &s->workers[i];
  return NULL;
}

/* Returns the worker to which an assignment row gives the shard. Prefers a living worker to a silent one.
 * NULL: there is none. */
static const slp_worker_row *assigned_to(const slp_admin *a, slp_str shard) {
  const slp_worker_row *silent = NULL;
  if (slp_admin_has_clients(a)) return by_index(a, shard);
  for (size_t i = 0; i < a->snapshot.assignments_n; i++) {
    const slp_assignment_row *p = &a->snapshot.assignments[i];
    const slp_worker_row *w = slp_admin_worker_of(&a->snapshot, p->worker);
    if (!w || !slp_worker_takes(w) || !in_assignment(p, shard)) continue;
    if (!is_silent(a, w)) return w;
    silent = w;
  }
  return silent;
}

static sloop_leader_state_t leader_state(const slp_admin *a) {
  if (a->schema->strategy) return SLOOP_LEADER_UNUSED;
  switch (slp_admin_owner_life(a, a->snapshot.leadership.owner)) {
    case SLP_OWNER_ALIVE: return SLOOP_LEADER_ALIVE;
    case SLP_OWNER_NONE: return SLOOP_LEADER_NONE;
    case SLP_OWNER_SILENT: return SLOOP_LEADER_SILENT;
    case SLP_OWNER_EVICTED:
    case SLP_OWNER_MISSING:
    case SLP_OWNER_UNKNOWN: break;
  }
  return SLOOP_LEADER_DEAD;
}

/* Returns after how many ms other workers may treat a silent worker as dead. Each worker counts from the
 * moment when it saw the last heartbeat of the silent worker. If the silent worker was the leader, the others
 * begin to watch its row only after half a lease. */
static int64_t free_in_ms(const slp_admin *a, const slp_worker_row *w) {
  return slp_max_i64(0, w->wall_ms + (int64_t)w->lease_ms + w->lease_ms / 2 + 2000 - a->wall_ms);
}

/* ---- parents and children ----------------------------------------------------------------------- */

static sloop_shard_lease_t shard_of(slp_admin *a, slp_str id) {
  const slp_lease_row *l = slp_snapshot_lease_of(&a->snapshot, id);
  const slp_admin_shard *listed = slp_admin_listed(a, id);
  sloop_lease_t *lease = l ? slp_admin_room(a, sizeof *lease) : NULL;
  sloop_shard_lease_t s = {.shard = slp_admin_text(a, id), .lease = lease};
  s.listed = listed != NULL;
  s.closed = listed && !listed->open;
  if (lease) *lease = slp_admin_lease(a, l);
  return s;
}

static const sloop_shard_lease_t *relative(slp_admin *a, slp_str id) {
  sloop_shard_lease_t *s = slp_admin_room(a, sizeof *s);
  if (s) *s = shard_of(a, id);
  return s;
}

static int is_ended(const slp_lease_row *l) { return l && l->position.kind == SLP_POSITION_END; }

/* Returns 1 if the parent must be read before its children. A parent that has no row and is not listed any
 * more need not be. */
static int holds_back(const slp_admin *a, slp_str parent) {
  const slp_lease_row *p = slp_snapshot_lease_of(&a->snapshot, parent);
  if (!parent.n || is_ended(p)) return 0;
  return p || slp_admin_listed(a, parent);
}

/* Returns the parents that the owner of the lease waits for. In some layouts a row names at most one parent.
 * A worker of sloop then learns both parents from the stream, and waits for both. A worker of another system
 * waits only for the parent in the row. */
static const slp_str *parents_of(const slp_admin *a, const slp_lease_row *l) {
  slp_str id, incarnation;
  const slp_admin_shard *listed = names_one_parent(a) ? slp_admin_listed(a, l->shard) : NULL;
  if (!listed || (l->owner.n && !slp_instance_split(l->owner, &id, &incarnation))) return l->parents;
  return listed->parents;
}

/* Follows the parents that hold a shard back, from the shard upwards. Returns the first shard on this way
 * that no parent holds back. */
static slp_str first_cause(const slp_admin *a, slp_str shard) {
  for (int n = 0; n < ANCESTORS_MAX; n++) {
    const slp_lease_row *l = slp_snapshot_lease_of(&a->snapshot, shard);
    const slp_admin_shard *listed = slp_admin_listed(a, shard);
    const slp_str *parents = l ? parents_of(a, l) : listed ? listed->parents : NULL;
    if (!parents) return shard;
    int k = holds_back(a, parents[0]) ? 0 : holds_back(a, parents[1]) ? 1 : -1;
    if (k < 0) return shard;
    shard = parents[k];
  }
  return shard;
}

static void add_parents(slp_admin *a, sloop_explanation_t *e, const slp_str parents[2]) {
  const sloop_shard_lease_t **all = slp_admin_room(a, 2 * sizeof(const sloop_shard_lease_t *));
  for (int k = 0; k < 2 && all; k++)
    if (parents[k].n && (all[e->parents_n] = relative(a, parents[k]))) e->parents_n++;
  e->parents = all;
}

static int has_parent(const slp_str parents[2], slp_str shard) {
  return slp_str_eq(parents[0], shard) || slp_str_eq(parents[1], shard);
}

/* Adds the children of the shard to e. The listing may be older than the table, so children that only the
 * table has are added too. */
static void add_children(slp_admin *a, sloop_explanation_t *e, slp_str shard) {
  const slp_snapshot *s = &a->snapshot;
  const sloop_shard_lease_t **all =
      slp_admin_room(a, (a->shards_n + s->leases_n + 1) * sizeof(const sloop_shard_lease_t *));
  for (size_t i = 0; i < a->shards_n && all; i++)
    if (has_parent(a->shards[i].parents, shard) && (all[e->children_n] = relative(a, a->shards[i].id)))
      e->children_n++;
  for (size_t i = 0; i < s->leases_n && all; i++) {
    if (!has_parent(s->leases[i].parents, shard) || slp_admin_listed(a, s->leases[i].shard)) continue;
    if ((all[e->children_n] = relative(a, s->leases[i].shard))) e->children_n++;
  }
  e->children = all;
}

/* ---- a shard with a lease ----------------------------------------------------------------------- */

static sloop_why_t why_owned(slp_owner_life life) {
  switch (life) {
    case SLP_OWNER_SILENT: return SLOOP_WHY_OWNER_SILENT;
    case SLP_OWNER_EVICTED: return SLOOP_WHY_OWNER_DEAD;
    case SLP_OWNER_MISSING: return SLOOP_WHY_OWNER_MISSING;
    case SLP_OWNER_UNKNOWN: return SLOOP_WHY_OWNED;
    case SLP_OWNER_NONE: return SLOOP_WHY_FREE;
    case SLP_OWNER_ALIVE: break;
  }
  return SLOOP_WHY_READ;
}

static sloop_why_t why_of(const slp_admin *a, const slp_lease_row *l) {
  slp_owner_life life = slp_admin_lease_life(a, l);
  const slp_str *parents = parents_of(a, l);
  int dead = life == SLP_OWNER_SILENT || life == SLP_OWNER_EVICTED || life == SLP_OWNER_MISSING;
  /* 1: nobody reads the shard, and while the application is drained nobody takes its lease */
  int drained =
      a->snapshot.leadership.hold.on && life != SLP_OWNER_SILENT && (dead || life == SLP_OWNER_NONE);
  if (is_ended(l)) return SLOOP_WHY_ENDED;
  if (l->parked) return SLOOP_WHY_PARKED;
  if (l->refused_n && life == SLP_OWNER_NONE) return SLOOP_WHY_REFUSED;
  if (!dead && (holds_back(a, parents[0]) || holds_back(a, parents[1]))) return SLOOP_WHY_PARENT;
  if (drained) return SLOOP_WHY_DRAINED;
  return why_owned(life);
}

static void explain_lease(slp_admin *a, sloop_explanation_t *e, const slp_lease_row *l) {
  const slp_worker_row *owner = l->owner.n ? slp_admin_worker_of(&a->snapshot, l->owner) : NULL;
  const slp_worker_row *to = assigned_to(a, l->shard);
  const slp_admin_shard *listed = slp_admin_listed(a, l->shard);
  sloop_worker_t *told = owner ? slp_admin_room(a, sizeof *told) : NULL;
  e->why = why_of(a, l);
  if (told) *told = slp_admin_worker(a, owner);
  e->owner = told;
  if (to) e->assigned_to = slp_admin_instance(a, to);
  if (to && is_silent(a, to)) e->assigned_silent_ms = a->wall_ms - to->wall_ms;
  if (owner && e->why == SLOOP_WHY_OWNER_SILENT) e->free_in_ms = free_in_ms(a, owner);
  if (e->why == SLOOP_WHY_PARENT) {
    const slp_str *parents = parents_of(a, l);
    slp_str parent = holds_back(a, parents[0]) ? parents[0] : parents[1];
    slp_str cause = first_cause(a, parent);
    e->waits_for = relative(a, parent);
    if (!slp_str_eq(cause, parent)) e->waits_for_last = relative(a, cause);
  }
  add_parents(a, e, listed && names_one_parent(a) ? listed->parents : l->parents);
  if (is_ended(l) || e->shard.closed) add_children(a, e, l->shard);
}

/* ---- a shard without a lease -------------------------------------------------------------------- */

/* Returns why the shard's row can't be read. NULL: it can be read, or there is none. */
static const char *bad_row_of(slp_admin *a, slp_str shard) {
  slp_store_write none = {.rq = {0}};
  slp_row_request request;
  slp_row_key key;
  slp_operation i = {.kind = SLP_OPERATION_CHECKPOINT, .shard = shard};
  const char *why = NULL;
  slp_row_request_init(&request, a->mem, &none);
  if (a->schema->key(a->schema, &request, &i, &key)) a->starved = 1;
  for (size_t k = 0; !a->starved && k < a->snapshot.bad_n; k++) {
    const slp_bad_row *b = &a->snapshot.bad[k];
    if (slp_str_eq(b->key.hash, key.hash) && slp_str_eq(b->key.range, key.range)) why = b->why;
  }
  slp_row_request_free(&request);
  return why;
}

/* ---- the whole explanation ---------------------------------------------------------------------- */

static void find_hole(slp_admin *a, sloop_explanation_t *e) {
  char from[40], to[40];
  int r = slp_hash_range_hole(a->mem, a->snapshot.leases, a->snapshot.leases_n, from, to);
  if (r == SLP_ENOMEM) a->starved = 1;
  if (r != 1) return;
  e->hole_from = slp_admin_text(a, slp_str_of(from));
  e->hole_to = slp_admin_text(a, slp_str_of(to));
}

/* Begins to watch every worker that seems silent, because the answer depends on how many workers live.
 * Returns the watched worker with the longest lease. NULL: no worker seems silent. */
static const slp_watched *watch_silent(slp_admin *a) {
  const slp_watched *longest = NULL;
  for (size_t i = 0; i < a->snapshot.workers_n; i++) {
    const slp_worker_row *w = &a->snapshot.workers[i];
    if (!slp_worker_takes(w) || !is_silent(a, w)) continue;
    const slp_watched *watched = slp_watch_add_worker(a, w);
    if (watched && (!longest || watched->lease_us > longest->lease_us)) longest = watched;
  }
  return longest;
}

/* Returns 1 if the rows must be read again because a worker seems silent. If the worker lives, it will have
 * written its row before that read. If this process stood still, the wait begins again, because the worker
 * may have stood still at the same time. */
static int read_again_if_silent(slp_admin *a, const slp_lease_row *l) {
  if (a->watch) slp_watch_saw(a);
  /* Clients (slp_admin_has_clients) write their rows seldom. So the rows are not read again: a time older
   * than a lease is proof enough. */
  if (slp_admin_has_clients(a)) return 0;
  const slp_watched *w = is_ended(l) ? NULL : watch_silent(a);
  uint64_t beat_us = w ? w->lease_us / 5 * 2 : 0;
  if (!w || a->rows.rq.done_us >= slp_after_us(w->silence.since_us, beat_us) || ++a->looks > LOOKS_MAX)
    return 0;
  slp_admin_read_in(a, beat_us + 500000);
  return 1;
}

void slp_admin_explain(slp_admin *a) {
  slp_str shard = a->o.name;
  const slp_lease_row *l = slp_snapshot_lease_of(&a->snapshot, shard);
  if (l && read_again_if_silent(a, l)) return;
  const slp_admin_shard *listed = slp_admin_listed(a, shard);
  const char *bad = l ? NULL : bad_row_of(a, shard);
  if (!l && !bad && !listed && !a->starved) {
    slp_admin_failed(a, SLP_ADMIN_NO_SUCH_SHARD, SLP_REFUSED, SLOOP_ENOSHARD, shard);
    return;
  }
  sloop_explanation_t *e = slp_admin_room(a, sizeof *e);
  if (!e || a->starved) {
    slp_admin_no_memory(a);
    return;
  }
  *e = (sloop_explanation_t){.why = SLOOP_WHY_NO_LEASE,
                             .shard = shard_of(a, shard),
                             .read_at_ms = a->wall_ms,
                             .assigned_to = "",
                             .bad_row = bad ? bad : "",
                             .leader_state = leader_state(a),
                             .leader = slp_admin_text(a, a->snapshot.leadership.owner),
                             .workers_alive = count_living_workers(a),
                             .epoch_is_counter = a->schema->strategy && a->schema->strategy->counts,
                             .hole_from = "",
                             .hole_to = ""};
  if (bad)
    e->why = SLOOP_WHY_BAD_ROW;
  else if (l)
    explain_lease(a, e, l);
  else
    add_parents(a, e, listed->parents);
  if (a->snapshot.leases_n) find_hole(a, e);
  a->answer.explanation = e;
  slp_admin_finish(a);
}
