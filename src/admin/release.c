/* desk_release.c - a lease is taken from its owner, or a worker loses all it has.
 *
 * A single lease can't be taken from a worker that lives: it would go on handing out beside the next owner
 * until it looks at its row again. Where workers have rows, a living one can only be declared dead as a
 * whole, which it learns by its next heartbeat. Where each lease has a counter, taking it is what every
 * worker of that layout does to the others all the time. */
#include "admin/admin_inside.h"

#define LINES_MAX 100u
#define TEXT(s) (int)(s).n, (s).p

static void release_lease(slp_admin *d, const slp_lease_row *l) {
  int by_rows = d->schema->liveness == SLP_BY_WORKER;
  if (l->position.kind == SLP_POSITION_END) {
    slp_admin_say(d, "%.*s was read to its end: there is nothing to release", TEXT(l->shard));
    slp_admin_finish(d);
    return;
  }
  if (!l->owner.n && !l->parked) {
    slp_admin_say(d, "%.*s is nobody's already", TEXT(l->shard));
    slp_admin_finish(d);
    return;
  }
  d->o.force = !by_rows;
  if (slp_admin_targets(d, 1)) {
    slp_admin_no_memory(d);
    return;
  }
  slp_admin_target(d, l->shard, NULL);
  slp_admin_change(d);
}

/* ---- workers with a row -------------------------------------------------------------------------------- */

static int is_its(const slp_admin *d, const slp_lease_row *l) {
  return slp_admin_is_instance(&d->victim, l->owner);
}

static void say_leases(slp_admin *d) {
  size_t n = 0;
  for (size_t i = 0; i < d->snapshot.leases_n; i++) {
    const slp_lease_row *l = &d->snapshot.leases[i];
    if (is_its(d, l) && n++ < LINES_MAX) slp_admin_say(d, "%.*s: free for others", TEXT(l->shard));
  }
  if (n > LINES_MAX) slp_admin_say(d, "and %zu more", n - LINES_MAX);
  if (!n) slp_admin_say(d, "it had no lease");
}

static void declare(slp_admin *d);

static void looked(slp_admin *d) {
  const slp_worker_row *w = slp_admin_worker_of(&d->snapshot, d->victim.id);
  int over = !w || w->gone.n || !slp_str_eq(w->incarnation, d->victim.incarnation);
  if (!over && ++d->rounds < 8) {
    declare(d);
    return;
  }
  if (!over) {
    slp_admin_failed(d, SLP_TRANSIENT, SLOOP_ELEASE, "worker %.*s could not be declared dead",
                     TEXT(d->victim.id));
    return;
  }
  d->changed = 1; /* by this write or by another */
  slp_admin_say(d, "worker %.*s.%.*s is declared dead", TEXT(d->victim.id), TEXT(d->victim.incarnation));
  say_leases(d);
  slp_admin_say(
      d,
      "if it lives it learns so by its next heartbeat, within about %u ms, and joins anew; until then "
      "it may hand out what others read already, and what it saves is refused",
      (unsigned)(d->victim.lease_ms / 2));
  slp_admin_notify(d);
}

static void declared(slp_admin_slot *slot) {
  slp_admin *d = slot->admin;
  slp_fail f = slot->w.rq.fail;
  if (f.class != SLP_FINE && f.class != SLP_THROTTLE && f.class != SLP_TRANSIENT) {
    d->fail = f;
    slp_admin_finish(d);
    return;
  }
  slp_admin_read(d, looked);
}

static void declare(slp_admin *d) {
  slp_operation i = {.kind = SLP_OPERATION_EVICT,
                     .me = slp_str_of(d->me),
                     .id = d->victim.id,
                     .incarnation = d->victim.incarnation,
                     .counter = SLP_ANY_COUNTER};
  if (slp_admin_write(d, &i, 0, declared)) slp_admin_no_memory(d);
}

static void release_worker(slp_admin *d, const slp_worker_row *w) {
  d->victim = *w;
  d->victim.id = slp_admin_keep(d, w->id);
  d->victim.incarnation = slp_admin_keep(d, w->incarnation);
  if (d->starved) {
    slp_admin_no_memory(d);
  } else if (w->gone.n) {
    slp_admin_say(d, "worker %.*s.%.*s %s already", TEXT(w->id), TEXT(w->incarnation),
                  w->leaving ? "has left" : "was declared dead");
    say_leases(d);
    slp_admin_finish(d);
  } else {
    declare(d);
  }
}

/* ---- workers that only their leases name -----------------------------------------------------------------
 */

static int release_all_of(slp_admin *d, slp_str owner) {
  size_t n = 0;
  for (size_t i = 0; i < d->snapshot.leases_n; i++) {
    const slp_lease_row *l = &d->snapshot.leases[i];
    n += slp_str_eq(l->owner, owner) && l->position.kind != SLP_POSITION_END;
  }
  if (!n) return 0;
  d->o.force = 1;
  if (slp_admin_targets(d, n)) {
    slp_admin_no_memory(d);
    return 1;
  }
  for (size_t i = 0; i < d->snapshot.leases_n; i++) {
    const slp_lease_row *l = &d->snapshot.leases[i];
    if (slp_str_eq(l->owner, owner) && l->position.kind != SLP_POSITION_END)
      slp_admin_target(d, l->shard, NULL);
  }
  slp_admin_change(d);
  return 1;
}

void slp_admin_release(slp_admin *d) {
  slp_str name = d->o.name;
  const slp_lease_row *l = slp_snapshot_lease_of(&d->snapshot, name);
  const slp_worker_row *w = l ? NULL : slp_admin_worker_of(&d->snapshot, name);
  if (l) {
    release_lease(d, l);
  } else if (w) {
    release_worker(d, w);
  } else if (slp_admin_listed(d, name)) {
    slp_admin_say(d, "%.*s has no lease that can be read: there is nothing to release", TEXT(name));
    slp_admin_finish(d);
  } else if (d->schema->liveness == SLP_BY_WORKER || !release_all_of(d, name)) {
    int is_shard = name.n > 8 && memcmp(name.p, "shardId-", 8) == 0;
    slp_admin_failed(d, SLP_REFUSED, is_shard ? SLOOP_ENOSHARD : SLOOP_ENOWORKER,
                     "there is no lease and no worker %.*s of %.80s", (int)slp_min_u64(name.n, 128), name.p,
                     d->describe.name);
  }
}
