/* desk_release.c - a lease is taken from its owner, or a worker loses all it has.
 *
 * A single lease can't be taken from a worker that lives: it would go on handing out beside the next owner
 * until it looks at its row again. Where workers have rows, a living one can only be declared dead as a
 * whole, which it learns by its next heartbeat. Where each lease has a counter, taking it is what every
 * worker of that layout does to the others all the time. */
#include "core/desk_inside.h"

#include "core/fleet_inside.h"

#define LINES_MAX 100u
#define TEXT(s) (int)(s).n, (s).p

static void release_lease(slp_desk *d, const slp_lease_fact *l) {
  int by_rows = d->schema->life == SLP_BY_WORKER;
  if (l->spot.kind == SLP_SPOT_END) {
    slp_desk_say(d, "%.*s was read to its end: there is nothing to release", TEXT(l->shard));
    slp_desk_finish(d);
    return;
  }
  if (!l->owner.n && !l->parked) {
    slp_desk_say(d, "%.*s is nobody's already", TEXT(l->shard));
    slp_desk_finish(d);
    return;
  }
  d->o.force = !by_rows;
  if (slp_desk_targets(d, 1)) {
    slp_desk_no_memory(d);
    return;
  }
  slp_desk_target(d, l->shard, NULL);
  slp_desk_change(d);
}

/* ---- workers with a row -------------------------------------------------------------------------------- */

static int is_its(const slp_desk *d, const slp_lease_fact *l) {
  return slp_desk_is_instance(&d->victim, l->owner);
}

static void say_leases(slp_desk *d) {
  size_t n = 0;
  for (size_t i = 0; i < d->stock.leases_n; i++) {
    const slp_lease_fact *l = &d->stock.leases[i];
    if (is_its(d, l) && n++ < LINES_MAX) slp_desk_say(d, "%.*s: free for others", TEXT(l->shard));
  }
  if (n > LINES_MAX) slp_desk_say(d, "and %zu more", n - LINES_MAX);
  if (!n) slp_desk_say(d, "it had no lease");
}

static void declare(slp_desk *d);

static void looked(slp_desk *d) {
  const slp_worker_fact *w = slp_desk_worker_of(&d->stock, d->victim.id);
  int over = !w || w->gone.n || !slp_str_eq(w->boot, d->victim.boot);
  if (!over && ++d->rounds < 8) {
    declare(d);
    return;
  }
  if (!over) {
    slp_desk_failed(d, SLP_TRANSIENT, SLOOP_ELEASE, "worker %.*s could not be declared dead",
                    TEXT(d->victim.id));
    return;
  }
  d->changed = 1; /* by this write or by another */
  slp_desk_say(d, "worker %.*s.%.*s is declared dead", TEXT(d->victim.id), TEXT(d->victim.boot));
  say_leases(d);
  slp_desk_say(
      d,
      "if it lives it learns so by its next heartbeat, within about %u ms, and joins anew; until then "
      "it may hand out what others read already, and what it saves is refused",
      (unsigned)(d->victim.lease_ms / 2));
  slp_desk_ring(d);
}

static void declared(slp_desk_slot *slot) {
  slp_desk *d = slot->desk;
  slp_fail f = slot->w.rq.fail;
  if (f.class != SLP_FINE && f.class != SLP_THROTTLE && f.class != SLP_TRANSIENT) {
    d->fail = f;
    slp_desk_finish(d);
    return;
  }
  slp_desk_look(d, looked);
}

static void declare(slp_desk *d) {
  slp_intent i = {.verb = SLP_W3_CONDEMN,
                  .me = slp_str_of(d->me),
                  .id = d->victim.id,
                  .boot = d->victim.boot,
                  .counter = SLP_ANY_COUNTER};
  if (slp_desk_write(d, &i, 0, declared)) slp_desk_no_memory(d);
}

static void release_worker(slp_desk *d, const slp_worker_fact *w) {
  d->victim = *w;
  d->victim.id = slp_desk_keep(d, w->id);
  d->victim.boot = slp_desk_keep(d, w->boot);
  if (d->starved) {
    slp_desk_no_memory(d);
  } else if (w->gone.n) {
    slp_desk_say(d, "worker %.*s.%.*s %s already", TEXT(w->id), TEXT(w->boot),
                 w->leaving ? "has left" : "was declared dead");
    say_leases(d);
    slp_desk_finish(d);
  } else {
    declare(d);
  }
}

/* ---- workers that only their leases name -----------------------------------------------------------------
 */

static int release_all_of(slp_desk *d, slp_str owner) {
  size_t n = 0;
  for (size_t i = 0; i < d->stock.leases_n; i++) {
    const slp_lease_fact *l = &d->stock.leases[i];
    n += slp_str_eq(l->owner, owner) && l->spot.kind != SLP_SPOT_END;
  }
  if (!n) return 0;
  d->o.force = 1;
  if (slp_desk_targets(d, n)) {
    slp_desk_no_memory(d);
    return 1;
  }
  for (size_t i = 0; i < d->stock.leases_n; i++) {
    const slp_lease_fact *l = &d->stock.leases[i];
    if (slp_str_eq(l->owner, owner) && l->spot.kind != SLP_SPOT_END) slp_desk_target(d, l->shard, NULL);
  }
  slp_desk_change(d);
  return 1;
}

void slp_desk_release(slp_desk *d) {
  slp_str name = d->o.name;
  const slp_lease_fact *l = slp_desk_lease_of(&d->stock, name);
  const slp_worker_fact *w = l ? NULL : slp_desk_worker_of(&d->stock, name);
  if (l) {
    release_lease(d, l);
  } else if (w) {
    release_worker(d, w);
  } else if (slp_desk_listed(d, name)) {
    slp_desk_say(d, "%.*s has no lease that can be read: there is nothing to release", TEXT(name));
    slp_desk_finish(d);
  } else if (d->schema->life == SLP_BY_WORKER || !release_all_of(d, name)) {
    int is_shard = name.n > 8 && memcmp(name.p, "shardId-", 8) == 0;
    slp_desk_failed(d, SLP_REFUSED, is_shard ? SLOOP_ENOSHARD : SLOOP_ENOWORKER,
                    "there is no lease and no worker %.*s of %.80s", (int)slp_min_u64(name.n, 128), name.p,
                    d->describe.name);
  }
}
