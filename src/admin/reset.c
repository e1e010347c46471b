/* desk_reset.c - where leases are set to. All of them: whoever is listed no more is left alone, there is
 * nothing to read; a child is read after its parents as ever, whose ends are undone with the rest.
 *
 * The latest is a moment, as for a fleet that begins: a shard that was closed before it, and whose children
 * have leases, has nothing behind that moment and counts as read. */
#include "admin/admin_inside.h"

#define TEXT(s) (int)(s).n, (s).p

/* Whether a shard has children, and all of them have leases. */
static void count_children(slp_admin *d) {
  for (size_t i = 0; i < d->shards_n; i++) {
    int there = slp_snapshot_lease_of(&d->snapshot, d->shards[i].id) != NULL;
    for (int k = 0; k < 2; k++) {
      /* Not const: it is one of ours. */
      slp_admin_shard *p = (slp_admin_shard *)(uintptr_t)slp_admin_listed(d, d->shards[i].parents[k]);
      if (!p) continue;
      p->has_kids = 1;
      if (!there) p->lacks_kids = 1;
    }
  }
}

/* Closed, and whoever comes after it is there. */
static int is_past(const slp_admin *d, slp_str shard) {
  const slp_admin_shard *s = slp_admin_listed(d, shard);
  return s && !s->open && s->has_kids && !s->lacks_kids;
}

/* Ours may be ahead of the service's, and what comes till then would not be read. */
static int64_t now_ms(const slp_admin *d) {
  int64_t ms = slp_svctime_low_ms(&d->service, slp_now_us(d->o.host));
  return ms > 0 ? ms : d->wall_ms;
}

static slp_position place_of(const slp_admin *d, slp_str shard) {
  if (d->o.to.kind != SLP_POSITION_LATEST) return d->o.to;
  if (is_past(d, shard)) return (slp_position){.kind = SLP_POSITION_END};
  /* Where rows hold no times, "latest" is a word of theirs. */
  if (d->schema->liveness == SLP_BY_COUNTER) return d->o.to;
  return (slp_position){.kind = SLP_POSITION_TIME, .at_ms = now_ms(d)};
}

/* ---- one
 * ---------------------------------------------------------------------------------------------------- */

static void note_kin(slp_admin *d, const slp_lease_row *l) {
  for (int k = 0; k < 2; k++) {
    const slp_lease_row *p = slp_snapshot_lease_of(&d->snapshot, l->parents[k]);
    if (p && p->position.kind != SLP_POSITION_END)
      slp_admin_note(d, "its parent %.*s is not read to its end: it comes first", TEXT(p->shard));
  }
  for (size_t i = 0; i < d->snapshot.leases_n; i++) {
    const slp_lease_row *c = &d->snapshot.leases[i];
    if (!slp_str_eq(c->parents[0], l->shard) && !slp_str_eq(c->parents[1], l->shard)) continue;
    if (c->position.kind >= SLP_POSITION_AT || c->owner.n)
      slp_admin_note(d, "its child %.*s is read on beside it, from where it stands", TEXT(c->shard));
  }
}

static void reset_one(slp_admin *d) {
  const slp_lease_row *l = slp_snapshot_lease_of(&d->snapshot, d->o.name);
  const slp_admin_shard *listed = slp_admin_listed(d, d->o.name);
  if (!l) {
    slp_admin_failed(d, SLP_REFUSED, SLOOP_ENOSHARD, "there is no lease of %.*s%s",
                     (int)slp_min_u64(d->o.name.n, 128), d->o.name.p, listed ? " that can be read" : "");
    return;
  }
  if (!listed) {
    slp_admin_failed(d, SLP_REFUSED, SLOOP_ENOSHARD, "%.80s does not list %.*s any more: it can't be read",
                     d->describe.name, (int)slp_min_u64(d->o.name.n, 128), d->o.name.p);
    return;
  }
  if (slp_admin_targets(d, 1)) {
    slp_admin_no_memory(d);
    return;
  }
  slp_position to = place_of(d, l->shard);
  slp_admin_target(d, l->shard, &to);
  note_kin(d, l);
  slp_admin_change(d);
}

/* ---- all
 * ---------------------------------------------------------------------------------------------------- */

static void note_others(slp_admin *d, size_t unlisted) {
  size_t missing = 0;
  for (size_t i = 0; i < d->shards_n; i++) missing += !slp_snapshot_lease_of(&d->snapshot, d->shards[i].id);
  if (unlisted)
    slp_admin_note(d, "%zu leases of shards that are not listed any more were left alone", unlisted);
  if (missing)
    slp_admin_note(d,
                   "%zu listed shards have no lease that can be read; what is missing begins where the "
                   "application began",
                   missing);
  if (d->snapshot.bad_n) slp_admin_note(d, "%zu rows make no sense and were left alone", d->snapshot.bad_n);
}

static void reset_all(slp_admin *d) {
  size_t unlisted = 0;
  if (!d->snapshot.leases_n) {
    slp_admin_failed(d, SLP_REFUSED, SLOOP_ENOSHARD, "this application has no leases of %.80s",
                     d->describe.name);
    return;
  }
  if (slp_admin_targets(d, d->snapshot.leases_n)) {
    slp_admin_no_memory(d);
    return;
  }
  for (size_t i = 0; i < d->snapshot.leases_n; i++) {
    slp_str shard = d->snapshot.leases[i].shard;
    if (!slp_admin_listed(d, shard)) {
      unlisted++;
      continue;
    }
    slp_position to = place_of(d, shard);
    slp_admin_target(d, shard, &to);
  }
  note_others(d, unlisted);
  slp_admin_change(d);
}

void slp_admin_reset(slp_admin *d) {
  count_children(d);
  if (d->o.to.kind == SLP_POSITION_TIME && d->schema->liveness == SLP_BY_COUNTER) {
    slp_admin_failed(d, SLP_REFUSED, SLOOP_EOPTION, "rows of schema %s hold no times", d->schema->name);
  } else if (d->o.name.n) {
    reset_one(d);
  } else {
    reset_all(d);
  }
}
