/* live_workers.c - finds out whether any worker uses these rows. Every worker that the rows name is watched
 * until it is proven dead. If one is proven alive, the command ends. */
#include "admin/command.h"
#include "admin/command_inside.h"
#include "base/fail.h"
#include "core/position.h"
#include "host/host.h"
#include "lease/schema.h"
#include "lease/snapshot.h"

#include <sloop.h>

#define SIGN_AGAIN_US UINT64_C(5000000) /* time between two reads of the rows that show a worker's life */

/* Returns 1 if the owner of this lease must be watched; 0 if it need not be, or can't be. */
static int owner_must_be_watched(const slp_admin *a, const slp_lease_row *l) {
  if (!l->owner.n) return 0;
  if (a->schema->strategy) return l->position.kind != SLP_POSITION_END;
  slp_owner_life life = slp_admin_owner_life(a, l->owner);
  return life != SLP_OWNER_EVICTED && life != SLP_OWNER_UNKNOWN;
}

typedef struct obstacle {
  uint64_t wait_us; /* after how many us the owners must be judged again; UINT64_MAX: they need not be */
  slp_str shard, alive;
} obstacle;

static void check_watched_worker(slp_admin *a, obstacle *o, const slp_watched *w, slp_str shard,
                                 slp_str worker) {
  if (!w || w->dead || w->evicted) return;
  if (w->alive) {
    o->shard = shard;
    o->alive = worker;
  } else {
    o->wait_us = slp_min_u64(o->wait_us, slp_watch_wait_us(a, w));
  }
}

/* Remembers the newest time in the rows of all clients (slp_admin_has_clients). A client without a lease is
 * known only by its own row, which it writes again and again. It is enough to watch the newest time, because
 * it grows when any client writes its row. */
static void see_clients(slp_admin *a) {
  const slp_snapshot *s = &a->snapshot;
  uint64_t youngest = a->worker_ns;
  for (size_t i = 0; i < s->workers_n; i++) {
    if (s->workers[i].counter <= a->worker_ns) continue;
    a->worker_ns = s->workers[i].counter;
    a->worker = slp_admin_keep(a, s->workers[i].id);
  }
  a->worker_lives |= youngest && a->worker_ns > youngest;
}

/* When this process continues after it stood still (absence.h), a wait of length `us` begins. Returns how
 * much of this wait is left; 0 if the process never stood still, or if the wait is over. */
static uint64_t left_since_back_us(slp_admin *a, uint64_t us) {
  uint64_t back_us = slp_watch_back_us(a), now = slp_now_us(a->o.host), until_us = slp_after_us(back_us, us);
  return back_us && until_us > now ? until_us - now : 0;
}

/* Returns how much longer the newest row of a client must stay unchanged until that client counts as dead. If
 * this process stood still, the time begins again, because the client may have stood still at the same
 * time. */
static uint64_t worker_left_us(slp_admin *a) {
  int64_t end_ms = (int64_t)(a->worker_ns / 1000000) + (int64_t)a->o.lease_ms;
  if (!a->worker_ns) return 0;
  uint64_t left_us = end_ms > a->wall_ms ? (uint64_t)(end_ms - a->wall_ms) * 1000 : 0;
  return slp_max_u64(left_us, left_since_back_us(a, (uint64_t)a->o.lease_ms * 1000));
}

/* Waits for workers that have no lease, in layouts where such a worker proves its life by a row beside the
 * leases (slp_row_hint.worker). */
static void meet_sign(slp_admin *a, obstacle *o) {
  slp_admin_sign *sign = &a->sign;
  uint64_t here_us = slp_now_us(a->o.host) - sign->seen_us, dead_us = sign->dead_s * UINT64_C(1000000);
  if (!sign->wall_s) return;
  if (sign->passes < 2) sign->passes++;
  if (sign->alive)
    o->alive = sign->worker;
  else if ((slp_wall_ms(a->o.host) / 1000 - sign->wall_s <= sign->dead_s && here_us <= dead_us) ||
           left_since_back_us(a, dead_us))
    o->wait_us = slp_min_u64(o->wait_us, SIGN_AGAIN_US);
}

int slp_admin_is_quiet(slp_admin *a) {
  const slp_snapshot *s = &a->snapshot;
  obstacle o = {.wait_us = UINT64_MAX};
  if (slp_admin_has_clients(a)) see_clients(a);
  uint64_t left_us = worker_left_us(a);
  slp_watch_saw(a);
  if (a->worker_lives)
    o.alive = a->worker;
  else if (left_us)
    o.wait_us = slp_min_u64(left_us, (uint64_t)a->o.lease_ms * 250 + 1);
  for (size_t i = 0; i < s->workers_n && !a->schema->strategy; i++) {
    const slp_worker_row *w = &s->workers[i];
    if (!w->gone.n)
      check_watched_worker(a, &o, slp_watch_add_worker(a, w), (slp_str){NULL, 0},
                           slp_str_of(slp_admin_instance(a, w)));
  }
  for (size_t i = 0; i < s->leases_n; i++) {
    const slp_lease_row *l = &s->leases[i];
    if (owner_must_be_watched(a, l)) check_watched_worker(a, &o, slp_watch_add(a, l), l->shard, l->owner);
  }
  if (!o.alive.n) meet_sign(a, &o);
  if (a->starved) {
    slp_admin_no_memory(a);
  } else if (o.alive.n) {
    a->why.owner = slp_admin_keep(a, o.alive);
    slp_admin_failed(a, o.shard.n ? SLP_ADMIN_OWNED : SLP_ADMIN_WORKS, SLP_REFUSED,
                     a->why.wrote ? SLOOP_ELEASE : SLOOP_EOWNED, o.shard);
  } else if (o.wait_us != UINT64_MAX) {
    slp_admin_read_in(a, o.wait_us);
  } else {
    return 1;
  }
  return 0;
}
