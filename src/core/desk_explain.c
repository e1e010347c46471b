/* desk_explain.c - why a shard is read, or is not, for a person. Everything it says follows from one
 * consistent look at the table and one listing of the stream; of clocks it knows only its own, so ages of
 * what others stamped are told as such. The first line is the answer, the others are what it rests on. */
#include "core/desk_inside.h"

#include "core/fleet_inside.h"
#include "core/shard_set.h"

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

static age_text ago(const slp_desk *d, int64_t wall_ms) {
  age_text t = {"at a time it does not tell"};
  if (wall_ms < 0) return t;
  age_text s = span(d->wall_ms - wall_ms);
  snprintf(t.p, sizeof t.p, "%.30s ago", s.p);
  return t;
}

/* Whose stamps are old may have a clock of its own: if it was seen to beat, it lives. */
static slp_owner_life life(const slp_desk *d, slp_str owner) {
  slp_owner_life by_stamp = slp_desk_owner_life(d->schema, &d->stock, owner, d->wall_ms);
  const slp_watched *w = slp_map_get(&d->watched, owner);
  return by_stamp == SLP_OWNER_SILENT && w && w->alive ? SLP_OWNER_ALIVE : by_stamp;
}

static int lives(const slp_desk *d, const slp_worker_fact *w) {
  return !w->gone.n && !w->leaving && !slp_desk_worker_silent(w, d->wall_ms);
}

static size_t living(const slp_desk *d) {
  size_t n = 0;
  for (size_t i = 0; i < d->stock.workers_n; i++) n += (size_t)lives(d, &d->stock.workers[i]);
  return n;
}

static int in_plan(const slp_plan_fact *p, slp_str shard) {
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
static const slp_worker_fact *planned_for(const slp_desk *d, slp_str shard) {
  const slp_worker_fact *found = NULL;
  for (size_t i = 0; i < d->stock.plans_n; i++) {
    const slp_plan_fact *p = &d->stock.plans[i];
    const slp_worker_fact *w = slp_desk_worker_of(&d->stock, p->worker);
    if (!w || (found && lives(d, found)) || !in_plan(p, shard)) continue;
    found = w;
  }
  return found;
}

/* ---- who leads ------------------------------------------------------------------------------------------
 */

static int somebody_leads(const slp_desk *d) { return life(d, d->stock.lead.owner) == SLP_OWNER_ALIVE; }

static void say_leader(slp_desk *d) {
  const slp_lead_fact *lead = &d->stock.lead;
  if (d->schema->share != SLP_BY_PLAN) return;
  switch (life(d, lead->owner)) {
    case SLP_OWNER_ALIVE: slp_desk_say(d, "leader: %.*s", TEXT(lead->owner)); return;
    case SLP_OWNER_NONE: slp_desk_say(d, "leader: none; the first worker that runs becomes it"); return;
    case SLP_OWNER_SILENT:
      slp_desk_say(d, "leader: %.*s, which by its stamps is silent", TEXT(lead->owner));
      return;
    case SLP_OWNER_CONDEMNED:
    case SLP_OWNER_MISSING:
    case SLP_OWNER_UNKNOWN:
      slp_desk_say(d, "leader: none that lives; %.*s led last", TEXT(lead->owner));
      return;
  }
}

static const char *who_plans(const slp_desk *d) {
  if (d->schema->share != SLP_BY_PLAN) return "whichever worker finds it next takes it";
  if (somebody_leads(d)) return "the leader plans it at its next audit, within about a minute";
  return living(d) ? "nobody leads now; the next leader plans it at once"
                   : "no worker is alive; the first that starts plans it";
}

/* ---- ancestors ------------------------------------------------------------------------------------------
 */

static int is_ended(const slp_lease_fact *l) { return l && l->spot.kind == SLP_SPOT_END; }

/* A parent that must be read first. Without a row it holds nobody back, unless it is still listed. */
static int holds_back(const slp_desk *d, slp_str parent) {
  const slp_lease_fact *p = slp_desk_lease_of(&d->stock, parent);
  if (!parent.n || is_ended(p)) return 0;
  return p || slp_desk_listed(d, parent);
}

/* Up from a shard to the first that itself waits for nobody. */
static slp_str first_cause(const slp_desk *d, slp_str shard) {
  for (int n = 0; n < ANCESTORS_MAX; n++) {
    const slp_lease_fact *l = slp_desk_lease_of(&d->stock, shard);
    const slp_desk_shard *listed = slp_desk_listed(d, shard);
    const slp_str *parents = l ? l->parents : listed ? listed->parents : NULL;
    if (!parents) return shard;
    int k = holds_back(d, parents[0]) ? 0 : holds_back(d, parents[1]) ? 1 : -1;
    if (k < 0) return shard;
    shard = parents[k];
  }
  return shard;
}

static void say_state(slp_desk *d, const char *what, slp_str shard) {
  const slp_lease_fact *l = slp_desk_lease_of(&d->stock, shard);
  char spot[200];
  if (!l) {
    slp_desk_say(d, "%s %.*s: %s", what, TEXT(shard),
                 slp_desk_listed(d, shard) ? "has no lease yet" : "is not listed any more and has no lease");
    return;
  }
  slp_desk_spot_text(&l->spot, spot);
  if (is_ended(l))
    slp_desk_say(d, "%s %.*s: read to its end", what, TEXT(shard));
  else if (l->parked)
    slp_desk_say(d, "%s %.*s: parked, position %s", what, TEXT(shard), spot);
  else if (!l->owner.n)
    slp_desk_say(d, "%s %.*s: nobody's, position %s", what, TEXT(shard), spot);
  else
    slp_desk_say(d, "%s %.*s: owned by %.*s%s, position %s", what, TEXT(shard), TEXT(l->owner),
                 life(d, l->owner) == SLP_OWNER_ALIVE || life(d, l->owner) == SLP_OWNER_UNKNOWN
                     ? ""
                     : ", which is dead or silent",
                 spot);
}

static void say_parents(slp_desk *d, const slp_str parents[2]) {
  for (int k = 0; k < 2; k++)
    if (parents[k].n) say_state(d, "parent", parents[k]);
}

static void say_children(slp_desk *d, slp_str shard) {
  size_t n = 0;
  for (size_t i = 0; i < d->shards_n; i++) {
    const slp_desk_shard *c = &d->shards[i];
    if (!slp_str_eq(c->parents[0], shard) && !slp_str_eq(c->parents[1], shard)) continue;
    say_state(d, "child", c->id);
    n++;
  }
  for (size_t i = 0; i < d->stock.leases_n; i++) {
    const slp_lease_fact *c = &d->stock.leases[i];
    if (!slp_str_eq(c->parents[0], shard) && !slp_str_eq(c->parents[1], shard)) continue;
    if (slp_desk_listed(d, c->shard)) continue;
    say_state(d, "child", c->shard);
    n++;
  }
  if (!n) slp_desk_say(d, "children: none that are known");
}

/* ---- the lease -------------------------------------------------------------------------------------------
 */

static void say_lease(slp_desk *d, const slp_lease_fact *l) {
  char spot[200], behind[80] = "";
  slp_desk_spot_text(&l->spot, spot);
  if (l->behind_ms >= 0) snprintf(behind, sizeof behind, ", %s behind then", span(l->behind_ms).p);
  slp_desk_say(d, "position: %s; written %s%s", spot, ago(d, l->wall_ms).p, behind);
  slp_desk_say(d, "%s: %llu", d->schema->life == SLP_BY_COUNTER ? "counter" : "epoch",
               (unsigned long long)l->epoch);
}

static void say_worker(slp_desk *d, const char *what, slp_str instance) {
  const slp_worker_fact *w = slp_desk_worker_of(&d->stock, instance);
  if (!w) {
    slp_desk_say(d, "%s: %.*s", what, TEXT(instance));
    return;
  }
  char gone[240] = "";
  if (w->gone.n && w->leaving)
    snprintf(gone, sizeof gone, "; it left");
  else if (w->gone.n)
    snprintf(gone, sizeof gone, "; declared dead by %.*s", TEXT(w->gone));
  slp_desk_say(d, "%s: %.*s.%.*s%s%.*s; heartbeat %llu %s by its clock; lease %u ms%s", what, TEXT(w->id),
               TEXT(w->boot), w->host.n ? " on " : "", TEXT(w->host), (unsigned long long)w->counter,
               ago(d, w->wall_ms).p, (unsigned)w->lease_ms, gone);
}

/* When others may take a silent worker for dead: their clocks run from when they saw its last heartbeat; if
 * it led, they began to look at it after half a lease. */
static int64_t free_in_ms(const slp_desk *d, const slp_worker_fact *w) {
  return slp_max_i64(0, w->wall_ms + (int64_t)w->lease_ms + w->lease_ms / 2 + 2000 - d->wall_ms);
}

static void say_silent_owner(slp_desk *d, const slp_lease_fact *l) {
  const slp_worker_fact *w = slp_desk_worker_of(&d->stock, l->owner);
  size_t others = living(d);
  slp_desk_say(d, "%.*s is not being read: its owner %.*s was last heard %s", TEXT(l->shard), TEXT(l->owner),
               ago(d, w->wall_ms).p);
  if (others)
    slp_desk_say(d, "it is free in %s at the latest, unless its owner is heard again",
                 span(free_in_ms(d, w)).p);
  else
    slp_desk_say(d, "no other worker is alive: it is free %s after one starts", span(w->lease_ms).p);
}

static void say_dead_owner(slp_desk *d, const slp_lease_fact *l, slp_owner_life how) {
  const slp_worker_fact *to = planned_for(d, l->shard);
  slp_desk_say(d, "%.*s is not being read: its owner %.*s %s", TEXT(l->shard), TEXT(l->owner),
               how == SLP_OWNER_MISSING ? "has no row" : "is dead");
  if (how == SLP_OWNER_MISSING)
    slp_desk_say(d, "it is free when others have missed that row for a whole lease");
  else if (to && lives(d, to))
    slp_desk_say(d, "it is free now, and planned for %.*s, which takes it in a moment", TEXT(to->id));
  else
    slp_desk_say(d, "it is free now; %s", who_plans(d));
}

static void say_free(slp_desk *d, const slp_lease_fact *l) {
  const slp_worker_fact *to = planned_for(d, l->shard);
  if (to && lives(d, to))
    slp_desk_say(d, "%.*s is nobody's, and planned for %.*s, which takes it in a moment", TEXT(l->shard),
                 TEXT(to->id));
  else
    slp_desk_say(d, "%.*s is nobody's: %s", TEXT(l->shard), who_plans(d));
}

static void say_claim(slp_desk *d, const slp_lease_fact *l) {
  const slp_worker_fact *to = planned_for(d, l->shard);
  if (l->claim.n)
    slp_desk_say(d, "asked for by: %.*s; its owner hands it over when its batches are back", TEXT(l->claim));
  else if (to && lives(d, to) && life(d, l->owner) == SLP_OWNER_ALIVE && !slp_desk_is_instance(to, l->owner))
    slp_desk_say(d, "planned for: %.*s, which is going to ask for it", TEXT(to->id));
}

static void say_avoid(slp_desk *d, const slp_lease_fact *l) {
  if (l->avoid.n)
    slp_desk_say(d, "given up for lack of progress by: %.*s; not planned for it for ten minutes",
                 TEXT(l->avoid));
}

static void say_blocked(slp_desk *d, const slp_lease_fact *l) {
  slp_str parent = holds_back(d, l->parents[0]) ? l->parents[0] : l->parents[1];
  slp_str cause = first_cause(d, parent);
  if (l->owner.n)
    slp_desk_say(d, "%.*s is not being read yet: its owner %.*s waits for parent %.*s", TEXT(l->shard),
                 TEXT(l->owner), TEXT(parent));
  else
    slp_desk_say(d, "%.*s is not being read yet: parent %.*s comes first", TEXT(l->shard), TEXT(parent));
  if (!slp_str_eq(cause, parent)) say_state(d, "which waits for", cause);
}

static void say_owned(slp_desk *d, const slp_lease_fact *l, slp_owner_life how) {
  switch (how) {
    case SLP_OWNER_SILENT: say_silent_owner(d, l); break;
    case SLP_OWNER_CONDEMNED:
    case SLP_OWNER_MISSING: say_dead_owner(d, l, how); break;
    case SLP_OWNER_UNKNOWN:
      slp_desk_say(
          d, "%.*s belongs to %.*s, which reads it as long as it moves its counter; one look can't tell",
          TEXT(l->shard), TEXT(l->owner));
      break;
    case SLP_OWNER_ALIVE:
    case SLP_OWNER_NONE: slp_desk_say(d, "%.*s is being read by %.*s", TEXT(l->shard), TEXT(l->owner)); break;
  }
}

static void explain_lease(slp_desk *d, const slp_lease_fact *l) {
  slp_owner_life how = life(d, l->owner);
  int dead = how == SLP_OWNER_SILENT || how == SLP_OWNER_CONDEMNED || how == SLP_OWNER_MISSING;
  const slp_desk_shard *listed = slp_desk_listed(d, l->shard);
  if (is_ended(l)) {
    slp_desk_say(d, "%.*s was read to its end", TEXT(l->shard));
  } else if (l->parked) {
    slp_desk_say(d, "%.*s is parked: nobody reads it until it is released", TEXT(l->shard));
  } else if (!dead && (holds_back(d, l->parents[0]) || holds_back(d, l->parents[1]))) {
    say_blocked(d, l);
  } else if (!l->owner.n) {
    say_free(d, l);
  } else {
    say_owned(d, l, how);
  }
  slp_desk_say(d, "stream: %s",
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

static void explain_listed(slp_desk *d, const slp_desk_shard *s) {
  if (d->schema->share != SLP_BY_PLAN)
    slp_desk_say(d, "%.*s has no lease yet: the next worker that lists the stream makes it", TEXT(s->id));
  else if (somebody_leads(d))
    slp_desk_say(d, "%.*s has no lease yet: the leader makes it at its next audit, within about a minute",
                 TEXT(s->id));
  else
    slp_desk_say(d, "%.*s has no lease, and nobody leads: %s", TEXT(s->id),
                 living(d) ? "the next leader makes it at once" : "the first worker that starts makes it");
  slp_desk_say(d, "stream: lists it as %s", s->open ? "open" : "closed");
  say_parents(d, s->parents);
}

/* Why its row can't be used, or NULL. */
static const char *bad_row_of(slp_desk *d, slp_str shard, int *ret_starved) {
  slp_store_write none = {.rq = {0}};
  slp_draft draft;
  slp_row_key key;
  slp_intent i = {.verb = SLP_L4_CHECKPOINT, .shard = shard};
  const char *why = NULL;
  slp_draft_init(&draft, d->mem, &none);
  *ret_starved = d->schema->key(d->schema, &draft, &i, &key) != 0;
  for (size_t k = 0; !*ret_starved && k < d->stock.bad_n; k++) {
    const slp_desk_bad *b = &d->stock.bad[k];
    if (slp_str_eq(b->key.hash, key.hash) && slp_str_eq(b->key.range, key.range)) why = b->why;
  }
  slp_draft_free(&draft);
  return why;
}

static void say_hole(slp_desk *d) {
  char from[40], to[40];
  int r = slp_ring_hole(d->mem, d->stock.leases, d->stock.leases_n, from, to);
  if (r == SLP_ENOMEM) d->starved = 1;
  if (r == 1)
    slp_desk_say(d, "hole: no lease covers the hash keys %s to %s; %s", from, to,
                 d->schema->share == SLP_BY_PLAN ? "the leader's next audit makes what is missing"
                                                 : "records with them are not read");
}

static void look_again(slp_desk *d) { slp_desk_look(d, slp_desk_explain); }

/* 1: its owner seems silent, and is to be looked at once more when it must have beaten, if it lives. */
static int listens(slp_desk *d, const slp_lease_fact *l) {
  if (d->watched.live) {
    slp_desk_watch_saw(d);
    return 0;
  }
  if (life(d, l->owner) != SLP_OWNER_SILENT) return 0;
  const slp_watched *w = slp_desk_watch(d, l);
  if (w) slp_desk_later(d, w->lease_us / 5 * 2 + 500000, look_again);
  return w != NULL;
}

void slp_desk_explain(slp_desk *d) {
  slp_str shard = d->o.name;
  const slp_lease_fact *l = slp_desk_lease_of(&d->stock, shard);
  if (l && listens(d, l)) return;
  const slp_desk_shard *listed = slp_desk_listed(d, shard);
  int starved = 0;
  const char *bad = l ? NULL : bad_row_of(d, shard, &starved);
  if (starved) {
    slp_desk_no_memory(d);
    return;
  }
  if (bad) {
    slp_desk_say(d,
                 "%.*s is not being read: its row makes no sense (%s), so it is left alone until somebody "
                 "mends or deletes it",
                 TEXT(shard), bad);
  } else if (l) {
    explain_lease(d, l);
  } else if (listed) {
    explain_listed(d, listed);
  } else {
    slp_desk_failed(d, SLP_REFUSED, SLOOP_ENOSHARD, "%.80s lists no shard %.*s, and there is no lease of it",
                    d->describe.name, (int)slp_min_u64(shard.n, 128), shard.p);
    return;
  }
  say_leader(d);
  if (d->stock.leases_n) say_hole(d);
  slp_desk_finish(d);
}
