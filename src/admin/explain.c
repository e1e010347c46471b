/* desk_explain.c - why a shard is read, or is not, for a person. Everything it says follows from one
 * consistent look at the table and one listing of the stream; of clocks it knows only its own, so ages of
 * what others stamped are told as such. The first line is the answer, the others are what it rests on. */
#include "admin/admin_inside.h"

#include "lease/hash_range.h"
#include "lease/shard_set.h"

#include <stdio.h>

#define ANCESTORS_MAX 64 /* generations that are looked at */
#define TEXT(s) (int)(s).n, (s).p

/* ---- pieces -------------------------------------------------------------------------------------------- */

typedef struct age_text {
  char p[48];
} age_text;

/* "3.2 s", "4 min", "2 h", "5 d" */
static age_text span(int64_t ms) {
  age_text t;
  if (ms < 0) ms = 0;
  if (ms < 120000)
    snprintf(t.p, sizeof t.p, "%lld.%lld s", (long long)(ms / 1000), (long long)(ms % 1000 / 100));
  else if (ms < INT64_C(7200000))
    snprintf(t.p, sizeof t.p, "%lld min", (long long)(ms / 60000));
  else if (ms < INT64_C(172800000))
    snprintf(t.p, sizeof t.p, "%lld h", (long long)(ms / 3600000));
  else
    snprintf(t.p, sizeof t.p, "%lld d", (long long)(ms / 86400000));
  return t;
}

static age_text ago(const slp_admin *d, int64_t wall_ms) {
  age_text t = {"at a time it does not tell"};
  if (wall_ms < 0) return t;
  age_text s = span(d->wall_ms - wall_ms);
  snprintf(t.p, sizeof t.p, "%.30s ago", s.p);
  return t;
}

/* Whose stamps are old may have a clock of its own: if it was seen to beat, it lives. */
static slp_owner_life liveness(const slp_admin *d, slp_str owner) {
  slp_owner_life by_stamp = slp_admin_owner_life(d->schema, &d->snapshot, owner, d->wall_ms);
  const slp_watched *w = slp_map_get(&d->watched, owner);
  return by_stamp == SLP_OWNER_SILENT && w && w->alive ? SLP_OWNER_ALIVE : by_stamp;
}

static int lives(const slp_admin *d, const slp_worker_row *w) {
  return !w->gone.n && !w->leaving && !slp_admin_worker_silent(w, d->wall_ms);
}

static size_t living(const slp_admin *d) {
  size_t n = 0;
  for (size_t i = 0; i < d->snapshot.workers_n; i++) n += (size_t)lives(d, &d->snapshot.workers[i]);
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

/* Whom a plan gives it; of several one that lives. NULL: nobody. */
static const slp_worker_row *assigned_to(const slp_admin *d, slp_str shard) {
  const slp_worker_row *found = NULL;
  for (size_t i = 0; i < d->snapshot.assignments_n; i++) {
    const slp_assignment_row *p = &d->snapshot.assignments[i];
    const slp_worker_row *w = slp_admin_worker_of(&d->snapshot, p->worker);
    if (!w || (found && lives(d, found)) || !in_assignment(p, shard)) continue;
    found = w;
  }
  return found;
}

/* ---- who leads ------------------------------------------------------------------------------------------
 */

static int somebody_leads(const slp_admin *d) {
  return liveness(d, d->snapshot.leadership.owner) == SLP_OWNER_ALIVE;
}

static void say_leader(slp_admin *d) {
  const slp_leadership_row *lead = &d->snapshot.leadership;
  if (d->schema->share != SLP_BY_ASSIGNMENT) return;
  switch (liveness(d, lead->owner)) {
    case SLP_OWNER_ALIVE: slp_admin_say(d, "leader: %.*s", TEXT(lead->owner)); return;
    case SLP_OWNER_NONE: slp_admin_say(d, "leader: none; the first worker that runs becomes it"); return;
    case SLP_OWNER_SILENT:
      slp_admin_say(d, "leader: %.*s, which by its stamps is silent", TEXT(lead->owner));
      return;
    case SLP_OWNER_EVICTED:
    case SLP_OWNER_MISSING:
    case SLP_OWNER_UNKNOWN:
      slp_admin_say(d, "leader: none that lives; %.*s led last", TEXT(lead->owner));
      return;
  }
}

static const char *who_assigns(const slp_admin *d) {
  if (d->schema->share != SLP_BY_ASSIGNMENT) return "whichever worker finds it next takes it";
  if (somebody_leads(d)) return "the leader plans it at its next audit, within about a minute";
  return living(d) ? "nobody leads now; the next leader plans it at once"
                   : "no worker is alive; the first that starts plans it";
}

/* ---- ancestors ------------------------------------------------------------------------------------------
 */

static int is_ended(const slp_lease_row *l) { return l && l->position.kind == SLP_POSITION_END; }

/* A parent that must be read first. Without a row it holds nobody back, unless it is still listed. */
static int holds_back(const slp_admin *d, slp_str parent) {
  const slp_lease_row *p = slp_snapshot_lease_of(&d->snapshot, parent);
  if (!parent.n || is_ended(p)) return 0;
  return p || slp_admin_listed(d, parent);
}

/* Up from a shard to the first that itself waits for nobody. */
static slp_str first_cause(const slp_admin *d, slp_str shard) {
  for (int n = 0; n < ANCESTORS_MAX; n++) {
    const slp_lease_row *l = slp_snapshot_lease_of(&d->snapshot, shard);
    const slp_admin_shard *listed = slp_admin_listed(d, shard);
    const slp_str *parents = l ? l->parents : listed ? listed->parents : NULL;
    if (!parents) return shard;
    int k = holds_back(d, parents[0]) ? 0 : holds_back(d, parents[1]) ? 1 : -1;
    if (k < 0) return shard;
    shard = parents[k];
  }
  return shard;
}

static void say_state(slp_admin *d, const char *what, slp_str shard) {
  const slp_lease_row *l = slp_snapshot_lease_of(&d->snapshot, shard);
  char position[200];
  if (!l) {
    slp_admin_say(
        d, "%s %.*s: %s", what, TEXT(shard),
        slp_admin_listed(d, shard) ? "has no lease yet" : "is not listed any more and has no lease");
    return;
  }
  slp_admin_position_text(&l->position, position);
  if (is_ended(l))
    slp_admin_say(d, "%s %.*s: read to its end", what, TEXT(shard));
  else if (l->parked)
    slp_admin_say(d, "%s %.*s: parked, position %s", what, TEXT(shard), position);
  else if (!l->owner.n)
    slp_admin_say(d, "%s %.*s: nobody's, position %s", what, TEXT(shard), position);
  else
    slp_admin_say(d, "%s %.*s: owned by %.*s%s, position %s", what, TEXT(shard), TEXT(l->owner),
                  liveness(d, l->owner) == SLP_OWNER_ALIVE || liveness(d, l->owner) == SLP_OWNER_UNKNOWN
                      ? ""
                      : ", which is dead or silent",
                  position);
}

static void say_parents(slp_admin *d, const slp_str parents[2]) {
  for (int k = 0; k < 2; k++)
    if (parents[k].n) say_state(d, "parent", parents[k]);
}

static void say_children(slp_admin *d, slp_str shard) {
  size_t n = 0;
  for (size_t i = 0; i < d->shards_n; i++) {
    const slp_admin_shard *c = &d->shards[i];
    if (!slp_str_eq(c->parents[0], shard) && !slp_str_eq(c->parents[1], shard)) continue;
    say_state(d, "child", c->id);
    n++;
  }
  for (size_t i = 0; i < d->snapshot.leases_n; i++) {
    const slp_lease_row *c = &d->snapshot.leases[i];
    if (!slp_str_eq(c->parents[0], shard) && !slp_str_eq(c->parents[1], shard)) continue;
    if (slp_admin_listed(d, c->shard)) continue;
    say_state(d, "child", c->shard);
    n++;
  }
  if (!n) slp_admin_say(d, "children: none that are known");
}

/* ---- the lease -------------------------------------------------------------------------------------------
 */

static void say_lease(slp_admin *d, const slp_lease_row *l) {
  char position[200], behind[80] = "";
  slp_admin_position_text(&l->position, position);
  if (l->behind_ms >= 0) snprintf(behind, sizeof behind, ", %s behind then", span(l->behind_ms).p);
  slp_admin_say(d, "position: %s; written %s%s", position, ago(d, l->wall_ms).p, behind);
  slp_admin_say(d, "%s: %llu", d->schema->liveness == SLP_BY_COUNTER ? "counter" : "epoch",
                (unsigned long long)l->epoch);
}

static void say_worker(slp_admin *d, const char *what, slp_str instance) {
  const slp_worker_row *w = slp_admin_worker_of(&d->snapshot, instance);
  if (!w) {
    slp_admin_say(d, "%s: %.*s", what, TEXT(instance));
    return;
  }
  char gone[240] = "";
  if (w->gone.n && w->leaving)
    snprintf(gone, sizeof gone, "; it left");
  else if (w->gone.n)
    snprintf(gone, sizeof gone, "; declared dead by %.*s", TEXT(w->gone));
  slp_admin_say(d, "%s: %.*s.%.*s%s%.*s; heartbeat %llu %s by its clock; lease %u ms%s", what, TEXT(w->id),
                TEXT(w->incarnation), w->host.n ? " on " : "", TEXT(w->host), (unsigned long long)w->counter,
                ago(d, w->wall_ms).p, (unsigned)w->lease_ms, gone);
}

/* When others may take a silent worker for dead: their clocks run from when they saw its last heartbeat; if
 * it led, they began to look at it after half a lease. */
static int64_t free_in_ms(const slp_admin *d, const slp_worker_row *w) {
  return slp_max_i64(0, w->wall_ms + (int64_t)w->lease_ms + w->lease_ms / 2 + 2000 - d->wall_ms);
}

static void say_silent_owner(slp_admin *d, const slp_lease_row *l) {
  const slp_worker_row *w = slp_admin_worker_of(&d->snapshot, l->owner);
  size_t others = living(d);
  slp_admin_say(d, "%.*s is not being read: its owner %.*s was last heard %s", TEXT(l->shard), TEXT(l->owner),
                ago(d, w->wall_ms).p);
  if (others)
    slp_admin_say(d, "it is free in %s at the latest, unless its owner is heard again",
                  span(free_in_ms(d, w)).p);
  else
    slp_admin_say(d, "no other worker is alive: it is free %s after one starts", span(w->lease_ms).p);
}

static void say_dead_owner(slp_admin *d, const slp_lease_row *l, slp_owner_life how) {
  const slp_worker_row *to = assigned_to(d, l->shard);
  slp_admin_say(d, "%.*s is not being read: its owner %.*s %s", TEXT(l->shard), TEXT(l->owner),
                how == SLP_OWNER_MISSING ? "has no row" : "is dead");
  if (how == SLP_OWNER_MISSING)
    slp_admin_say(d, "it is free when others have missed that row for a whole lease");
  else if (to && lives(d, to))
    slp_admin_say(d, "it is free now, and planned for %.*s, which takes it in a moment", TEXT(to->id));
  else
    slp_admin_say(d, "it is free now; %s", who_assigns(d));
}

static void say_free(slp_admin *d, const slp_lease_row *l) {
  const slp_worker_row *to = assigned_to(d, l->shard);
  if (to && lives(d, to))
    slp_admin_say(d, "%.*s is nobody's, and planned for %.*s, which takes it in a moment", TEXT(l->shard),
                  TEXT(to->id));
  else
    slp_admin_say(d, "%.*s is nobody's: %s", TEXT(l->shard), who_assigns(d));
}

static void say_claim(slp_admin *d, const slp_lease_row *l) {
  const slp_worker_row *to = assigned_to(d, l->shard);
  if (l->claim.n)
    slp_admin_say(d, "asked for by: %.*s; its owner hands it over when its batches are back", TEXT(l->claim));
  else if (to && lives(d, to) && liveness(d, l->owner) == SLP_OWNER_ALIVE &&
           !slp_admin_is_instance(to, l->owner))
    slp_admin_say(d, "planned for: %.*s, which is going to ask for it", TEXT(to->id));
}

static void say_avoid(slp_admin *d, const slp_lease_row *l) {
  if (l->avoid.n)
    slp_admin_say(d, "given up for lack of progress by: %.*s; not planned for it for ten minutes",
                  TEXT(l->avoid));
}

static void say_blocked(slp_admin *d, const slp_lease_row *l) {
  slp_str parent = holds_back(d, l->parents[0]) ? l->parents[0] : l->parents[1];
  slp_str cause = first_cause(d, parent);
  if (l->owner.n)
    slp_admin_say(d, "%.*s is not being read yet: its owner %.*s waits for parent %.*s", TEXT(l->shard),
                  TEXT(l->owner), TEXT(parent));
  else
    slp_admin_say(d, "%.*s is not being read yet: parent %.*s comes first", TEXT(l->shard), TEXT(parent));
  if (!slp_str_eq(cause, parent)) say_state(d, "which waits for", cause);
}

static void say_owned(slp_admin *d, const slp_lease_row *l, slp_owner_life how) {
  switch (how) {
    case SLP_OWNER_SILENT: say_silent_owner(d, l); break;
    case SLP_OWNER_EVICTED:
    case SLP_OWNER_MISSING: say_dead_owner(d, l, how); break;
    case SLP_OWNER_UNKNOWN:
      slp_admin_say(
          d, "%.*s belongs to %.*s, which reads it as long as it moves its counter; one look can't tell",
          TEXT(l->shard), TEXT(l->owner));
      break;
    case SLP_OWNER_ALIVE:
    case SLP_OWNER_NONE:
      slp_admin_say(d, "%.*s is being read by %.*s", TEXT(l->shard), TEXT(l->owner));
      break;
  }
}

static void explain_lease(slp_admin *d, const slp_lease_row *l) {
  slp_owner_life how = liveness(d, l->owner);
  int dead = how == SLP_OWNER_SILENT || how == SLP_OWNER_EVICTED || how == SLP_OWNER_MISSING;
  const slp_admin_shard *listed = slp_admin_listed(d, l->shard);
  if (is_ended(l)) {
    slp_admin_say(d, "%.*s was read to its end", TEXT(l->shard));
  } else if (l->parked) {
    slp_admin_say(d, "%.*s is parked: nobody reads it until it is released", TEXT(l->shard));
  } else if (!dead && (holds_back(d, l->parents[0]) || holds_back(d, l->parents[1]))) {
    say_blocked(d, l);
  } else if (!l->owner.n) {
    say_free(d, l);
  } else {
    say_owned(d, l, how);
  }
  slp_admin_say(d, "stream: %s",
                !listed        ? "does not list it any more"
                : listed->open ? "lists it as open"
                               : "lists it as closed");
  say_lease(d, l);
  if (l->owner.n) say_worker(d, "owner", l->owner);
  if (!is_ended(l)) say_claim(d, l);
  say_avoid(d, l);
  say_parents(d, l->parents);
  if (is_ended(l) || (listed && !listed->open)) say_children(d, l->shard);
}

/* ---- no lease ---------------------------------------------------------------------------------------------
 */

static void explain_listed(slp_admin *d, const slp_admin_shard *s) {
  if (d->schema->share != SLP_BY_ASSIGNMENT)
    slp_admin_say(d, "%.*s has no lease yet: the next worker that lists the stream makes it", TEXT(s->id));
  else if (somebody_leads(d))
    slp_admin_say(d, "%.*s has no lease yet: the leader makes it at its next audit, within about a minute",
                  TEXT(s->id));
  else
    slp_admin_say(d, "%.*s has no lease, and nobody leads: %s", TEXT(s->id),
                  living(d) ? "the next leader makes it at once" : "the first worker that starts makes it");
  slp_admin_say(d, "stream: lists it as %s", s->open ? "open" : "closed");
  say_parents(d, s->parents);
}

/* Why its row can't be used, or NULL. */
static const char *bad_row_of(slp_admin *d, slp_str shard, int *ret_starved) {
  slp_store_write none = {.rq = {0}};
  slp_row_request draft;
  slp_row_key key;
  slp_operation i = {.kind = SLP_OPERATION_CHECKPOINT, .shard = shard};
  const char *why = NULL;
  slp_row_request_init(&draft, d->mem, &none);
  *ret_starved = d->schema->key(d->schema, &draft, &i, &key) != 0;
  for (size_t k = 0; !*ret_starved && k < d->snapshot.bad_n; k++) {
    const slp_bad_row *b = &d->snapshot.bad[k];
    if (slp_str_eq(b->key.hash, key.hash) && slp_str_eq(b->key.range, key.range)) why = b->why;
  }
  slp_row_request_free(&draft);
  return why;
}

static void say_hole(slp_admin *d) {
  char from[40], to[40];
  int r = slp_hash_range_hole(d->mem, d->snapshot.leases, d->snapshot.leases_n, from, to);
  if (r == SLP_ENOMEM) d->starved = 1;
  if (r == 1)
    slp_admin_say(d, "hole: no lease covers the hash keys %s to %s; %s", from, to,
                  d->schema->share == SLP_BY_ASSIGNMENT ? "the leader's next audit makes what is missing"
                                                        : "records with them are not read");
}

static void look_again(slp_admin *d) { slp_admin_read(d, slp_admin_explain); }

/* 1: its owner seems silent, and is to be looked at once more when it must have beaten, if it lives. */
static int listens(slp_admin *d, const slp_lease_row *l) {
  if (d->watched.live) {
    slp_admin_watch_saw(d);
    return 0;
  }
  if (liveness(d, l->owner) != SLP_OWNER_SILENT) return 0;
  const slp_watched *w = slp_admin_watch(d, l);
  if (w) slp_admin_later(d, w->lease_us / 5 * 2 + 500000, look_again);
  return w != NULL;
}

void slp_admin_explain(slp_admin *d) {
  slp_str shard = d->o.name;
  const slp_lease_row *l = slp_snapshot_lease_of(&d->snapshot, shard);
  if (l && listens(d, l)) return;
  const slp_admin_shard *listed = slp_admin_listed(d, shard);
  int starved = 0;
  const char *bad = l ? NULL : bad_row_of(d, shard, &starved);
  if (starved) {
    slp_admin_no_memory(d);
    return;
  }
  if (bad) {
    slp_admin_say(d,
                  "%.*s is not being read: its row makes no sense (%s), so it is left alone until somebody "
                  "mends or deletes it",
                  TEXT(shard), bad);
  } else if (l) {
    explain_lease(d, l);
  } else if (listed) {
    explain_listed(d, listed);
  } else {
    slp_admin_failed(d, SLP_REFUSED, SLOOP_ENOSHARD, "%.80s lists no shard %.*s, and there is no lease of it",
                     d->describe.name, (int)slp_min_u64(shard.n, 128), shard.p);
    return;
  }
  say_leader(d);
  if (d->snapshot.leases_n) say_hole(d);
  slp_admin_finish(d);
}
