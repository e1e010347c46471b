/* lease_explain.c - puts an explanation of a shard's lease into words. Other machines have recorded many of
 * the times in it. An age that is shown is the difference of such a time from this machine's clock. */
#include "cli/lease_explain.h"

#include "base/buf.h"
#include "cli/lease_words.h"
#include "cli/record_formats.h"
#include "program/shown_time.h"

#include <sloop.h>
#include <sloop_admin.h>
#include <stdio.h>

typedef struct page { /* the output, and the facts about one shard from which it is written */
  slp_buf *b;
  const sloop_explanation_t *e;
} page;

typedef struct text { /* a short string, returned by value */
  char p[200];
} text;

/* Returns a length of time in words: "3.2 s", "4 min", "2 h", "5 d". */
static text describe_span(int64_t ms) {
  text t;
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

/* Returns in words how long the time at_ms was before the table was read. */
static text describe_age(const page *p, int64_t at_ms) {
  text t = {"at an unknown time"};
  if (at_ms >= 0) snprintf(t.p, sizeof t.p, "%.40s ago", describe_span(p->e->read_at_ms - at_ms).p);
  return t;
}

static text describe_position(const sloop_lease_t *l) {
  text t = {"not in the row: where -o of the worker that takes it says"};
  if (!slp_lease_begin_is_untold(l)) slp_position_text(&l->position, t.p);
  return t;
}

/* Returns the worker's id: the instance without its last dot and the part after that dot. That part differs
 * between several lives of one worker and means nothing to people. */
static text id_of(const char *instance) {
  text t;
  const char *dot = strrchr(instance, '.');
  size_t n = dot ? (size_t)(dot - instance) : strlen(instance);
  snprintf(t.p, sizeof t.p, "%.*s", (int)slp_min_u64(n, sizeof t.p - 1), instance);
  return t;
}

static int is_ended(const sloop_lease_t *l) { return l->position.kind == SLOOP_AT_END; }

/* ---- leaders ------------------------------------------------------------------------------------ */

static void say_leader(page *p) {
  const char *leader = p->e->leader;
  switch (p->e->leader_state) {
    case SLOOP_LEADER_UNUSED: return;
    case SLOOP_LEADER_ALIVE: slp_lease_say(p->b, "leader: %s", leader); return;
    case SLOOP_LEADER_NONE:
      slp_lease_say(p->b, "leader: none; the first worker that runs becomes the leader");
      return;
    case SLOOP_LEADER_SILENT:
      slp_lease_say(p->b, "leader: %s, whose row has not been updated lately", leader);
      return;
    case SLOOP_LEADER_DEAD: slp_lease_say(p->b, "leader: none alive; the last one was %s", leader); return;
  }
}

/* Returns in words what will happen to a free lease that is not assigned to a worker. */
static const char *who_assigns(const page *p) {
  if (p->e->leader_state == SLOOP_LEADER_UNUSED) return "the next worker that sees it takes it";
  if (p->e->leader_state == SLOOP_LEADER_ALIVE)
    return "the leader assigns it at its next shard sync, within about a minute";
  return p->e->workers_alive ? "there is no leader now; the next leader assigns it at once"
                             : "no worker is alive; the first that starts assigns it";
}

/* ---- parents and children ------------------------------------------------------------------------ */

static void say_relative(page *p, const char *what, const sloop_shard_lease_t *s) {
  const sloop_lease_t *l = s->lease;
  if (!l)
    slp_lease_say(p->b, "%s %s: %s", what, s->shard,
                  s->listed ? "has no lease yet" : "is no longer listed and has no lease");
  else if (is_ended(l))
    slp_lease_say(p->b, "%s %s: read to its end", what, s->shard);
  else if (l->parked)
    slp_lease_say(p->b, "%s %s: parked, position %s", what, s->shard, describe_position(l).p);
  else if (!*l->owner)
    slp_lease_say(p->b, "%s %s: no owner, position %s", what, s->shard, describe_position(l).p);
  else
    slp_lease_say(p->b, "%s %s: owned by %s%s, position %s", what, s->shard, l->owner,
                  l->state == SLOOP_LEASE_OWNER_DEAD ? ", which is dead or silent" : "",
                  describe_position(l).p);
}

static void say_parents(page *p) {
  for (size_t i = 0; i < p->e->parents_n; i++) say_relative(p, "parent", p->e->parents[i]);
}

static void say_children(page *p) {
  for (size_t i = 0; i < p->e->children_n; i++) say_relative(p, "child", p->e->children[i]);
  if (!p->e->children_n) slp_lease_say(p->b, "children: none known");
}

/* ---- the first lines: why the shard is read or not ------------------------------------------------- */

/* A worker that gave up a lease, because its shard made no progress, does not take the lease again for
 * TRIED_AGAIN_MS. For AVOIDED_MS the leader gives the lease to other workers. */
#define TRIED_AGAIN_MS 30000
#define AVOIDED_MS 600000

static int64_t given_up_ago_ms(const page *p, const sloop_lease_t *l) {
  return l->avoid_at_ms < 0 ? INT64_MAX : p->e->read_at_ms - l->avoid_at_ms;
}

/* Returns in words which worker will take an assigned lease, and when. l NULL: the shard has no lease. */
static text describe_next_owner(const page *p, const sloop_lease_t *l) {
  text t, id = id_of(p->e->assigned_to), when;
  int64_t ago_ms = l && strcmp(l->avoid, p->e->assigned_to) == 0 ? given_up_ago_ms(p, l) : INT64_MAX;
  if (p->e->assigned_silent_ms > 0) {
    when = describe_span(p->e->assigned_silent_ms);
    snprintf(t.p, sizeof t.p,
             "assigned to %.80s, last heard from %.20s ago: another takes it once that one is evicted", id.p,
             when.p);
  } else if (ago_ms < TRIED_AGAIN_MS) {
    when = describe_span(TRIED_AGAIN_MS - ago_ms);
    snprintf(t.p, sizeof t.p, "assigned to %.80s, which just gave it up and tries again in %.20s", id.p,
             when.p);
  } else {
    snprintf(t.p, sizeof t.p, "assigned to %.80s, which takes it in a moment", id.p);
  }
  return t;
}

static void say_free(page *p, const char *shard) {
  if (*p->e->assigned_to)
    slp_lease_say(p->b, "%s has no owner; it is %s", shard, describe_next_owner(p, p->e->shard.lease).p);
  else
    slp_lease_say(p->b, "%s has no owner: %s", shard, who_assigns(p));
}

static void say_dead_owner(page *p, const sloop_lease_t *l) {
  slp_lease_say(
      p->b, "%s is not being read: its owner %s %s", l->shard, l->owner,
      !p->e->owner && p->e->leader_state == SLOOP_LEADER_UNUSED ? "let its lease expire" : "is dead");
  if (*p->e->assigned_to)
    slp_lease_say(p->b, "it is free now, and %s", describe_next_owner(p, l).p);
  else
    slp_lease_say(p->b, "it is free now; %s", who_assigns(p));
}

static void say_silent_owner(page *p, const sloop_lease_t *l) {
  const sloop_worker_t *w = p->e->owner;
  slp_lease_say(p->b, "%s is not being read: its owner %s was last heard from %s", l->shard, l->owner,
                describe_age(p, w->written_at_ms).p);
  if (p->e->workers_alive)
    slp_lease_say(p->b, "it is free in %s at the latest, unless its owner is heard from again",
                  describe_span(p->e->free_in_ms).p);
  else
    slp_lease_say(p->b, "no other worker is alive: it is free %s after one starts",
                  describe_span(w->lease_ms).p);
}

static void say_blocked(page *p, const sloop_lease_t *l) {
  const char *parent = p->e->waits_for->shard;
  if (*l->owner)
    slp_lease_say(p->b, "%s is not being read yet: its owner %s waits for parent %s", l->shard, l->owner,
                  parent);
  else
    slp_lease_say(p->b, "%s is not being read yet: parent %s comes first", l->shard, parent);
  if (p->e->waits_for_last) say_relative(p, "which waits for", p->e->waits_for_last);
}

static void say_no_lease(page *p, const char *shard) {
  if (p->e->leader_state == SLOOP_LEADER_UNUSED)
    slp_lease_say(p->b, "%s has no lease yet: the next worker that lists the stream creates it", shard);
  else if (p->e->leader_state == SLOOP_LEADER_ALIVE)
    slp_lease_say(p->b,
                  "%s has no lease yet: the leader creates it at its next shard sync, within about a minute",
                  shard);
  else
    slp_lease_say(p->b, "%s has no lease, and there is no leader: %s", shard,
                  p->e->workers_alive ? "the next leader creates it at once"
                                      : "the first worker that starts creates it");
}

static void say_refused(page *p, const sloop_lease_t *l) {
  int64_t left_ms = l->refused_until_ms - p->e->read_at_ms;
  char again[80] = "at once";
  if (left_ms > 0) snprintf(again, sizeof again, "in about %.40s", describe_span(left_ms).p);
  slp_lease_say(
      p->b,
      "%s is not being read: the service refused its position %d times in a row, %s; a worker tries "
      "again %s",
      l->shard, l->refused_n, describe_age(p, l->refused_at_ms).p, again);
  slp_lease_say(p->b,
                "the position may belong to another stream read under the same application name, or to an "
                "older stream of this name; --reset %s --to oldest sets one that exists",
                slp_shard_short(l->shard));
}

static slp_lease_lag lag_now(const page *p, const sloop_lease_t *l) {
  return slp_lease_lag_by(l, p->e->owner, p->e->read_at_ms);
}

/* The explanation says that the shard makes no progress if records wait in it and no position was written for
 * longer than this. */
#define STANDS_MS 30000

static void say_read(page *p, const sloop_lease_t *l) {
  slp_lease_lag lag = lag_now(p, l);
  int64_t unwritten_ms = l->written_at_ms < 0 ? 0 : p->e->read_at_ms - l->written_at_ms;
  if (lag.ms < STANDS_MS || unwritten_ms < STANDS_MS) {
    slp_lease_say(p->b, "%s is being read by %s", l->shard, l->owner);
    return;
  }
  slp_lease_say(p->b, "%s makes no progress: its owner %s is alive but has stored no position for %s",
                l->shard, l->owner, describe_span(unwritten_ms).p);
  slp_lease_say(p->b, "the metrics and -v of that worker say what it waits for, or which calls fail");
}

static void say_answer(page *p) {
  const char *shard = p->e->shard.shard;
  const sloop_lease_t *l = p->e->shard.lease;
  switch (p->e->why) {
    case SLOOP_WHY_READ: say_read(p, l); return;
    case SLOOP_WHY_OWNED:
      slp_lease_say(p->b, "%s is owned by %s; whether that worker is alive can't be seen in one reading",
                    shard, l->owner);
      return;
    case SLOOP_WHY_ENDED: slp_lease_say(p->b, "%s was read to its end", shard); return;
    case SLOOP_WHY_PARKED:
      if (l && *l->owner && l->state == SLOOP_LEASE_OWNED)
        slp_lease_say(p->b, "%s is parked, but its owner %s has not given it up yet: records of it are out",
                      shard, l->owner);
      else
        slp_lease_say(p->b, "%s is parked: no worker reads it until it is released", shard);
      return;
    case SLOOP_WHY_REFUSED: say_refused(p, l); return;
    case SLOOP_WHY_DRAINED:
      slp_lease_say(p->b, "%s is not being read: the application is drained; --undrain ends that", shard);
      return;
    case SLOOP_WHY_PARENT: say_blocked(p, l); return;
    case SLOOP_WHY_FREE: say_free(p, shard); return;
    case SLOOP_WHY_OWNER_SILENT: say_silent_owner(p, l); return;
    case SLOOP_WHY_OWNER_DEAD: say_dead_owner(p, l); return;
    case SLOOP_WHY_OWNER_MISSING:
      slp_lease_say(p->b, "%s is not being read: its owner %s has no row", shard, l->owner);
      slp_lease_say(p->b, "it becomes free after other workers have not seen that row for one lease period");
      return;
    case SLOOP_WHY_NO_LEASE: say_no_lease(p, shard); return;
    case SLOOP_WHY_BAD_ROW:
      slp_lease_say(
          p->b,
          "%s is not being read: its row is invalid (%s); it is ignored until somebody repairs or deletes it",
          shard, p->e->bad_row);
      return;
  }
  slp_lease_say(p->b, "%s: reason %d, which this program does not know", shard, (int)p->e->why);
}

/* ---- the other lines: the facts behind the first line ---------------------------------------------- */

static void say_owner(page *p, const sloop_lease_t *l) {
  const sloop_worker_t *w = p->e->owner;
  char gone[240] = "";
  if (!w) {
    slp_lease_say(p->b, "owner: %s", l->owner);
    return;
  }
  if (w->dead && w->leaving)
    snprintf(gone, sizeof gone, "; it left");
  else if (w->dead)
    snprintf(gone, sizeof gone, "; evicted by %s", w->evicted_by);
  slp_lease_say(p->b, "owner: %s%s%s; heartbeat %llu %s by its clock; lease %u ms%s", w->worker,
                *w->host ? " on " : "", w->host, (unsigned long long)w->counter,
                describe_age(p, w->written_at_ms).p, (unsigned)w->lease_ms, gone);
}

/* Returns 1 if the owner looks alive and the leader has assigned the lease to another worker. */
static int is_to_move(const page *p, const sloop_lease_t *l) {
  const sloop_worker_t *w = p->e->owner;
  return *p->e->assigned_to && l->state == SLOOP_LEASE_OWNED && w && strcmp(w->worker, l->owner) == 0 &&
         strcmp(p->e->assigned_to, l->owner) != 0;
}

static void say_claim(page *p, const sloop_lease_t *l) {
  if (*l->claim)
    slp_lease_say(p->b, "requested by: %s; its owner hands it over when its batches are returned", l->claim);
  else if (is_to_move(p, l) && p->e->leader_state == SLOOP_LEADER_UNUSED)
    slp_lease_say(p->b,
                  "the workers' list assigns it to: %s; the present owner gives it up at its next check",
                  p->e->assigned_to);
  else if (is_to_move(p, l) && p->e->assigned_silent_ms > 0)
    slp_lease_say(p->b, "assigned to: %s, which was last heard from %s ago", id_of(p->e->assigned_to).p,
                  describe_span(p->e->assigned_silent_ms).p);
  else if (is_to_move(p, l))
    slp_lease_say(p->b, "assigned to: %s, which will request it", id_of(p->e->assigned_to).p);
}

/* Writes an upper bound of how far behind the shard is: the lag, rounded up to a whole number of the unit in
 * which it is shown. */
static void say_behind(page *p, const sloop_lease_t *l) {
  slp_lease_lag lag = lag_now(p, l);
  char most[24];
  slp_lease_lag_text((slp_lease_lag){lag.ms, 1}, most);
  if (lag.ms > 0) slp_lease_say(p->b, "behind: at most %s by now", most + 1);
  if (lag.ms == 0) slp_lease_say(p->b, "behind: at its tip, as its owner last reported");
}

/* Returns in words up to which arrival time the shard was read when the position of the lease was written.
 * Returns no words if that time is not known, or if the position is no record. */
static text read_up_to(const sloop_lease_t *l) {
  text t = {""};
  char at[SLP_SHOWN_TIME];
  int is_record = l->position.kind == SLOOP_AFTER_SEQ || l->position.kind == SLOOP_AT_SEQ;
  if (!is_record || l->behind_ms < 0 || l->written_at_ms < l->behind_ms) return t;
  slp_shown_time(l->written_at_ms - l->behind_ms, 0, 0, at);
  snprintf(t.p, sizeof t.p, ", read up to about %s", at);
  return t;
}

static void say_lease(page *p, const sloop_lease_t *l) {
  char behind[80] = "";
  if (l->behind_ms >= 0)
    snprintf(behind, sizeof behind, ", %.40s behind then", describe_span(l->behind_ms).p);
  slp_lease_say(p->b, "position: %s%s; written %s%s", describe_position(l).p, read_up_to(l).p,
                describe_age(p, l->written_at_ms).p, behind);
  if (p->e->why == SLOOP_WHY_READ) say_behind(p, l);
  slp_lease_say(p->b, "%s: %llu", p->e->epoch_is_counter ? "counter" : "epoch", (unsigned long long)l->epoch);
  if (*l->owner) say_owner(p, l);
  if (!is_ended(l)) say_claim(p, l);
  if (*l->avoid)
    slp_lease_say(p->b, "given up for lack of progress by: %s, %s%s", l->avoid,
                  describe_age(p, l->avoid_at_ms).p,
                  given_up_ago_ms(p, l) < AVOIDED_MS
                      ? "; for ten minutes the leader gives it to another worker if there is one"
                      : "");
}

int slp_lease_explain(slp_buf *b, const sloop_explanation_t *e) {
  page p = {b, e};
  const sloop_lease_t *l = e->shard.lease;
  say_answer(&p);
  if (e->why != SLOOP_WHY_BAD_ROW) {
    slp_lease_say(p.b, "stream: %s",
                  !e->shard.listed  ? "no longer lists it"
                  : e->shard.closed ? "lists it as closed"
                                    : "lists it as open");
    if (l) say_lease(&p, l);
    say_parents(&p);
    if (l && (is_ended(l) || e->shard.closed)) say_children(&p);
  }
  say_leader(&p);
  if (*e->hole_from)
    slp_lease_say(p.b, "gap: no lease covers the hash keys %s to %s; %s", e->hole_from, e->hole_to,
                  e->leader_state == SLOOP_LEADER_UNUSED
                      ? "records with them are not read"
                      : "the leader's next shard sync creates the missing leases");
  return slp_buf_failed(b);
}
