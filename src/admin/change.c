/* desk_change.c - leases that an operator changes, one conditional write each.
 *
 * In rounds: every row is read; who owns one of the leases is proven dead, or by force declared dead, before
 * anything is written; then the writes. What was refused, or got no answer, is judged by the next round's
 * rows. */
#include "admin/admin_inside.h"

#include <stdarg.h>
#include <stdio.h>

#define ROUNDS_MAX 8u
#define LINES_MAX 100u /* leases that are told one by one */
#define TEXT(s) (int)(s).n, (s).p

static int by_rows(const slp_admin *d) { return d->schema->liveness == SLP_BY_WORKER; }

/* ---- what is to be changed ---------------------------------------------------------------------------- */

int slp_admin_targets(slp_admin *d, size_t n) {
  d->targets = slp_admin_room(d, (n ? n : 1) * sizeof *d->targets);
  return d->targets ? 0 : SLP_ENOMEM;
}

void slp_admin_target(slp_admin *d, slp_str shard, const slp_position *to) {
  slp_target *t = &d->targets[d->targets_n++];
  t->shard = slp_admin_keep(d, shard);
  if (to) t->to = *to;
}

void slp_admin_note(slp_admin *d, const char *fmt, ...) {
  char text[400];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  const char *kept = d->notes_n < SLP_COUNT(d->notes) ? slp_admin_keep(d, slp_str_of(text)).p : NULL;
  if (kept) d->notes[d->notes_n++] = kept;
}

/* ---- the end: tell it, and ring the leader, who else finds out at its next audit ------------------------
 */

static void say_target(slp_admin *d, const slp_target *t) {
  char to[200];
  slp_admin_position_text(&t->to, to);
  if (!t->done)
    slp_admin_say(d, "%.*s: not changed: %s", TEXT(t->shard), t->why ? t->why : "its row kept changing");
  else if (!t->was)
    slp_admin_say(d, "%.*s: was so already", TEXT(t->shard));
  else if (to[0])
    slp_admin_say(d, "%.*s: set to %s; it was at %s", TEXT(t->shard), to, t->was);
  else
    slp_admin_say(d, "%.*s: nobody's now%s%s%s; its position stays %s", TEXT(t->shard),
                  t->was_owner[0] ? ", taken from " : "", t->was_owner,
                  t->was_parked ? ", and not parked any more" : "", t->was);
}

static void notified(slp_admin_slot *slot) { slp_admin_finish(slot->admin); }

void slp_admin_notify(slp_admin *d) {
  slp_str id, incarnation;
  if (d->changed && slp_admin_has(d, SLP_OPERATION_NOTIFY) &&
      slp_instance_split(d->snapshot.leadership.owner, &id, &incarnation)) {
    slp_operation i = {.kind = SLP_OPERATION_NOTIFY, .id = id};
    if (slp_admin_write(d, &i, 0, notified) == 0) return;
  }
  slp_admin_finish(d);
}

static void conclude(slp_admin *d) {
  size_t left = 0, told = 0;
  for (uint8_t done = 0; done < 2; done++) { /* what was not changed comes first */
    for (size_t i = 0; i < d->targets_n; i++) {
      if (d->targets[i].done != done) continue;
      left += !done;
      if (told++ < LINES_MAX) say_target(d, &d->targets[i]);
    }
  }
  if (told > LINES_MAX) slp_admin_say(d, "and %zu more", told - LINES_MAX);
  for (size_t i = 0; i < d->notes_n; i++) slp_admin_say(d, "%s", d->notes[i]);
  if (left && d->fail.class == SLP_FINE)
    slp_fail_set(&d->fail, SLP_REFUSED, SLOOP_ELEASE, "%zu of %zu leases could not be changed", left,
                 d->targets_n);
  slp_admin_notify(d);
}

/* ---- what the answers say --------------------------------------------------------------------------------
 */

static void look_again(slp_admin *d) { slp_admin_read(d, slp_admin_change); }

/* A failure that looking again does not cure. */
static void take_failure(slp_admin *d, const slp_fail *f) {
  int passes = f->class == SLP_FINE || f->class == SLP_THROTTLE || f->class == SLP_TRANSIENT;
  if (!passes && d->fail.class == SLP_FINE) d->fail = *f;
}

static void next_round(slp_admin *d) {
  if (d->fail.class != SLP_FINE || ++d->rounds >= ROUNDS_MAX)
    conclude(d);
  else
    slp_admin_later(d, 50000 * d->rounds, look_again);
}

/* ---- owners that are in the way --------------------------------------------------------------------------
 */

static void evict_on(slp_admin *d);

static void evicted(slp_admin_slot *slot) {
  slp_admin *d = slot->admin;
  take_failure(d, &slot->w.rq.fail);
  if (slot->w.written == SLP_WRITTEN_YES) d->changed = 1;
  evict_on(d);
}

/* By force whatever it does; else only if it has not moved since it was watched. */
static int evict(slp_admin *d, const slp_watched *w) {
  slp_operation i = {.kind = SLP_OPERATION_EVICT,
                     .me = slp_str_of(d->me),
                     .counter = d->o.force ? SLP_ANY_COUNTER : w->counter};
  if (w->evicted || w->missing || !slp_instance_split(w->name, &i.id, &i.incarnation)) return 0;
  return slp_admin_write(d, &i, 0, evicted);
}

/* All that were watched; what came of it, the next round's rows tell. */
static void evict_on(slp_admin *d) {
  const slp_watched *w;
  while (d->fail.class == SLP_FINE && (w = slp_map_each(&d->watched, &d->watched_at))) {
    int r = evict(d, w);
    if (r == SLP_ENOBUFS) {
      d->watched_at--; /* when a slot is free */
      return;
    }
    if (r) slp_fail_set(&d->fail, SLP_NOMEM, SLP_ENOMEM, "no memory to declare a worker dead");
  }
  if (!d->busy_n) next_round(d);
}

/* Who must be proven dead before it is touched; NULL and 0: nobody. */
static int in_the_way(slp_admin *d, const slp_lease_row *l, slp_watched **ret) {
  *ret = NULL;
  if (!l->owner.n) return 0;
  if (by_rows(d)) {
    slp_owner_life liveness = slp_admin_owner_life(d->schema, &d->snapshot, l->owner, d->wall_ms);
    /* An owner that is none of ours has no row that could ever be condemned. */
    if (liveness == SLP_OWNER_EVICTED || liveness == SLP_OWNER_UNKNOWN) return 0;
    if (liveness == SLP_OWNER_MISSING && d->o.force) return 0;
  } else if (d->o.force || l->position.kind == SLP_POSITION_END) {
    return 0; /* the counter that was read is the proof; an ended one keeps its owner's name */
  }
  *ret = slp_admin_watch(d, l);
  if (!*ret) return SLP_ENOMEM;
  /* Where its row can be condemned it is, first. */
  return (*ret)->dead && ((*ret)->missing || !by_rows(d)) ? 0 : 1;
}

/* ---- the writes
 * -------------------------------------------------------------------------------------------- */

static void write_on(slp_admin *d);

static void written(slp_admin_slot *slot) {
  slp_admin *d = slot->admin;
  take_failure(d, &slot->w.rq.fail);
  if (slot->w.written == SLP_WRITTEN_YES) d->targets[slot->about].done = d->changed = 1;
  write_on(d);
}

static void remember(slp_admin *d, slp_target *t, const slp_lease_row *l) {
  char position[200];
  if (t->was) return;
  const char *was = slp_admin_keep(d, (slp_str){position, slp_admin_position_text(&l->position, position)}).p;
  const char *owner = slp_admin_keep(d, l->owner).p;
  t->was_owner = owner ? owner : "";
  t->was = was ? was : "";
  t->was_parked = l->parked;
}

static int write_target(slp_admin *d, size_t at, const slp_lease_row *l) {
  slp_target *t = &d->targets[at];
  /* Where a counter is all there is, letting go is what its owner would write. */
  int as_owner = !by_rows(d) && t->to.kind == SLP_POSITION_NONE;
  slp_operation i = {.kind = as_owner ? SLP_OPERATION_RELEASE : SLP_OPERATION_RESET,
                     .me = as_owner ? l->owner : slp_str_of(d->me),
                     .owner = l->owner,
                     .shard = l->shard,
                     .epoch = l->epoch,
                     .position = t->to};
  int r = slp_admin_write(d, &i, at, written);
  if (r == 0) remember(d, t, l);
  if (r == SLP_EINVAL) t->why = "rows of this layout can't say that position";
  return r;
}

static void write_on(slp_admin *d) {
  for (; d->fail.class == SLP_FINE && d->target_at < d->targets_n; d->target_at++) {
    const slp_target *t = &d->targets[d->target_at];
    const slp_lease_row *l = t->done || t->why ? NULL : slp_snapshot_lease_of(&d->snapshot, t->shard);
    int r = l ? write_target(d, d->target_at, l) : 0;
    if (r == SLP_ENOBUFS) return;
    if (r == SLP_ENOMEM) slp_fail_set(&d->fail, SLP_NOMEM, r, "no memory to change the leases");
  }
  if (d->busy_n) return;
  for (size_t i = 0; i < d->targets_n; i++) {
    if (d->targets[i].done || d->targets[i].why) continue;
    next_round(d);
    return;
  }
  conclude(d);
}

/* ---- a round
 * ----------------------------------------------------------------------------------------------- */

static int is_so(const slp_target *t, const slp_lease_row *l) {
  int ended = l->position.kind == SLP_POSITION_END;
  if (l->parked || (l->owner.n && !(ended && t->to.kind == SLP_POSITION_END))) return 0;
  if (t->to.kind == SLP_POSITION_NONE) return 1;
  return t->to.kind == l->position.kind && t->to.at_ms == l->position.at_ms &&
         slp_position_cmp(&t->to, &l->position) == 0;
}

typedef struct obstacles {
  const slp_lease_row *alive; /* its owner has shown that it lives */
  uint64_t wait_us;           /* until somebody is to be looked at again; UINT64_MAX: no need */
  int evict;                  /* somebody is to be declared dead */
} obstacles;

static void meet(slp_admin *d, slp_target *t, obstacles *o) {
  const slp_lease_row *l = slp_snapshot_lease_of(&d->snapshot, t->shard);
  slp_watched *w;
  if (!l) {
    t->why = "it has no row that can be read";
    return;
  }
  if (is_so(t, l)) { /* it was; or it is ours, and the answer was lost */
    t->done = 1;
    if (t->was) d->changed = 1;
    return;
  }
  int r = in_the_way(d, l, &w);
  if (r == SLP_ENOMEM) d->starved = 1;
  if (r <= 0) return;
  if (w->dead || d->o.force) {
    o->evict = 1;
  } else if (w->alive && (d->changed || t->was)) {
    t->why = "a worker has taken it meanwhile";
  } else if (w->alive) {
    o->alive = o->alive ? o->alive : l;
  } else {
    o->wait_us = slp_min_u64(o->wait_us, slp_admin_watch_us(d, w));
  }
}

void slp_admin_change(slp_admin *d) {
  obstacles o = {NULL, UINT64_MAX, 0};
  slp_admin_watch_saw(d);
  for (size_t i = 0; i < d->targets_n; i++)
    if (!d->targets[i].done && !d->targets[i].why) meet(d, &d->targets[i], &o);
  if (d->starved) {
    slp_admin_no_memory(d);
  } else if (o.alive) {
    slp_admin_failed(
        d, SLP_REFUSED, SLOOP_EOWNED, "%.*s belongs to %.*s, which is alive; nothing was changed: %s",
        TEXT(o.alive->shard), TEXT(o.alive->owner),
        d->o.task == SLP_ADMIN_RESET ? "stop it, or use force" : "stop it, or release the worker");
  } else if (o.wait_us != UINT64_MAX) {
    slp_admin_later(d, o.wait_us, look_again);
  } else if (o.evict) {
    d->watched_at = 0;
    evict_on(d);
  } else {
    d->target_at = 0;
    write_on(d);
  }
}
