/* owner_watch.c - decides whether an owner is dead, by the same rule as a worker (lease/silence.h): its sign
 * of life has not changed for the length of a lease, by this machine's clock. Times from the clocks of other
 * machines are not used. */
#include "admin/command_inside.h"
#include "base/map.h"
#include "host/host.h"
#include "lease/absence.h"
#include "lease/schema.h"
#include "lease/silence.h"
#include "lease/snapshot.h"
#include "lease/strategy.h"

struct slp_watch {
  slp_map by_name; /* slp_watched by name; the values are in `keep` */
};

static int by_rows(const slp_admin *a) { return !a->schema->strategy; }

/* Returns until when the row of a client (slp_admin_has_clients) proves that the client lives; 0: it has no
 * row. The client's leases prove nothing, because a client does not write the leases of idle shards. */
static uint64_t client_until_ns(const slp_admin *a, slp_str owner) {
  const slp_worker_row *w = slp_admin_has_clients(a) ? slp_snapshot_worker(&a->snapshot, owner) : NULL;
  return w ? w->counter + (uint64_t)a->o.lease_ms * 1000000 : 0;
}

/* Returns the owner's sign of life, as the last read of the rows shows it. */
static slp_sign sign_of(const slp_admin *a, slp_watched *w) {
  slp_str id, incarnation;
  if (!by_rows(a)) {
    const slp_lease_row *l = slp_snapshot_lease_of(&a->snapshot, w->name);
    if (!l) return (slp_sign){.missing = 1};
    slp_lease_row row = *l;
    row.epoch = slp_max_u64(row.epoch, client_until_ns(a, l->owner));
    return a->schema->strategy->sign(&row, a->wall_ms, a->rows.rq.done_us, a->o.lease_ms);
  }
  const slp_worker_row *row =
      slp_instance_split(w->name, &id, &incarnation) ? slp_snapshot_worker(&a->snapshot, id) : NULL;
  if (!row) return (slp_sign){.missing = 1};
  w->evicted = row->gone.n || !slp_str_eq(row->incarnation, incarnation);
  w->lease_us = slp_max_u64(w->lease_us, (uint64_t)row->lease_ms * 1000);
  return (slp_sign){.counter = row->counter};
}

/* Passes this command's own lease time to slp_absence_note, for which a gap of more than 2/5 of that time is
 * an absence. Each owner is watched for at least that long, so an absence within the watch is noticed. */
uint64_t slp_watch_back_us(slp_admin *a) {
  return slp_absence_note(&a->absence, slp_now_refresh_us(a->o.host), (uint64_t)a->o.lease_ms * 1000);
}

/* Returns when a read last failed or, if that is later, when this process last continued after it stood
 * still. Silence from before that moment proves nothing. */
static uint64_t trouble_us(slp_admin *a) { return slp_max_u64(a->trouble_us, slp_watch_back_us(a)); }

/* Compares an owner with the rows that were just read. Returns 1 if its sign of life has changed. */
static int compare_sign_of_life(slp_admin *a, slp_watched *w) {
  slp_sign sign = sign_of(a, w);
  return slp_silence_saw(&w->silence, &sign, a->rows.rq.done_us, trouble_us(a));
}

static slp_map *map_of_watched_owners(slp_admin *a) {
  if (!a->watch) {
    a->watch = slp_admin_room(a, sizeof *a->watch);
    if (a->watch) slp_map_init(&a->watch->by_name, a->mem);
  }
  return a->watch ? &a->watch->by_name : NULL;
}

const slp_watched *slp_watch_get(const slp_admin *a, slp_str name) {
  return a->watch ? slp_map_get(&a->watch->by_name, name) : NULL;
}

const slp_watched *slp_watch_each(const slp_admin *a, size_t *at) {
  return a->watch ? slp_map_each(&a->watch->by_name, at) : NULL;
}

static slp_watched *add_watched_owner(slp_admin *a, slp_str name) {
  slp_map *all = map_of_watched_owners(a);
  slp_watched *w = all ? slp_map_get(all, name) : NULL;
  if (w || !all) return w;
  w = slp_admin_room(a, sizeof *w);
  if (!w) return NULL;
  w->name = slp_admin_keep(a, name);
  if (!w->name.p || slp_map_put(all, w->name, w)) {
    a->starved = 1;
    return NULL;
  }
  w->lease_us = (uint64_t)a->o.lease_ms * 1000;
  compare_sign_of_life(a, w);
  return w;
}

/* A client (slp_admin_has_clients) writes its row once in each check period, which is a fifth of a lease. A
 * client whose row is old is watched for two check periods. Other clients give it the same time
 * (guest/index.c:is_left). */
slp_watched *slp_watch_add(slp_admin *a, const slp_lease_row *l) {
  slp_watched *w = add_watched_owner(a, by_rows(a) ? l->owner : l->shard);
  if (w && slp_admin_has_clients(a) && slp_admin_client_life(a, l->owner) != SLP_OWNER_ALIVE)
    w->lease_us = (uint64_t)a->o.lease_ms * 1000 / 5 * 2;
  return w;
}

slp_watched *slp_watch_add_worker(slp_admin *a, const slp_worker_row *w) {
  return add_watched_owner(a, slp_str_of(slp_admin_instance(a, w)));
}

static uint64_t dead_us(slp_admin *a, const slp_watched *w) {
  const slp_strategy *s = a->schema->strategy;
  return s ? slp_strategy_dead_us(s, &w->silence, w->lease_us, trouble_us(a))
           : slp_silence_of_worker_us(&w->silence, w->lease_us, trouble_us(a));
}

void slp_watch_saw(slp_admin *a) {
  size_t at = 0;
  for (slp_watched *w; a->watch && (w = slp_map_each(&a->watch->by_name, &at));) {
    /* A worker that was seen alive counts as alive until this command ends. A drain and a pause wait for
     * workers, and may outlive them. */
    if (compare_sign_of_life(a, w) && !w->evicted && !a->drain && !a->pause) w->alive = 1;
    w->dead = !w->alive && a->rows.rq.done_us >= dead_us(a, w);
  }
}

uint64_t slp_watch_wait_us(const slp_admin *a, const slp_watched *w) {
  uint64_t now = slp_now_us(a->o.host);
  const slp_strategy *s = a->schema->strategy;
  uint64_t end = w->silence.since_us + (s ? slp_strategy_span_us(s, w->lease_us) : w->lease_us) + 1;
  end = slp_max_u64(end, w->silence.last.until_us);
  uint64_t left = end > now ? end - now : 1;
  return slp_min_u64(left, w->lease_us / 4 + 1);
}

void slp_watch_free(slp_admin *a) {
  if (a->watch) slp_map_free(&a->watch->by_name);
  a->watch = NULL;
}
