/* edits.c - the leases that an operator changes, each by one conditional write. The work is done in rounds.
 * Every round reads all rows. If a lease has an owner, the owner is watched until it is proven dead, or is
 * evicted by force. Only then is the lease written. If a write was refused, or got no answer, the rows of the
 * next round show whether it was made. */
#include "admin/command.h"
#include "admin/command_inside.h"
#include "base/fail.h"
#include "base/mutant.h"
#include "base/states.h"
#include "core/position.h"
#include "lease/outcome.h"
#include "lease/schema.h"
#include "lease/snapshot.h"

#include <sloop.h>
#include <sloop_admin.h>

#define ROUNDS_MAX 8u

/* The states of a target, a lease that is to be changed: UNSENT -> SENT -> DONE. UNSENT and SENT may also
 * become WAS_SO or GIVEN_UP. Each round judges the targets in UNSENT and SENT by their rows. */
typedef enum target_state {
  TARGET_UNSENT,
  TARGET_SENT, /* a write was sent at least once, and is not known to be made */
  TARGET_DONE,
  /* The row is as it should be, but not by this command's write. Either it was so before, or another process
   * changed it after this command's write was refused. */
  TARGET_WAS_SO,
  TARGET_GIVEN_UP
} target_state;

typedef struct target { /* one lease that is to be changed */
  slp_str shard;        /* the shard whose lease is to be changed; in `keep`, like all texts of this struct */
  target_state state;
  slp_position to; /* the new position; NONE: it does not change */
  /* the position in the row before the last write was sent; was_owner and was_parked are from the same row */
  slp_position was;
  slp_str was_owner;
  uint8_t was_parked;
  /* 1: a write got no answer. If the row has changed since, it does not show whether that write was made. */
  uint8_t in_doubt;
  sloop_change_kind_t why; /* in GIVEN_UP: the reason */
} target;

struct slp_edits {
  target *targets; /* in `keep` */
  size_t n;
  size_t write_at;  /* index of the next target to write */
  size_t evicted_n; /* how many workers were evicted; counts an eviction that got no answer too */
  size_t evict_at;  /* where slp_watch_each continues: the next watched owner to evict */
  /* how many rounds have ended with targets that are not done */
  uint32_t rounds;
  uint8_t force;
  sloop_admin_result_t *result; /* what the operator gets, in `keep`; NULL: not made yet */
};

static int by_rows(const slp_admin *a) { return !a->schema->strategy; }

/* ---- targets ------------------------------------------------------------------------------------ */

static int is_open(const target *t) { return t->state == TARGET_UNSENT || t->state == TARGET_SENT; }

static const slp_set allowed[] = {
    [TARGET_UNSENT] = SLP_BIT(TARGET_SENT) | SLP_BIT(TARGET_WAS_SO) | SLP_BIT(TARGET_GIVEN_UP),
    [TARGET_SENT] =
        SLP_BIT(TARGET_SENT) | SLP_BIT(TARGET_DONE) | SLP_BIT(TARGET_WAS_SO) | SLP_BIT(TARGET_GIVEN_UP),
    [TARGET_DONE] = 0,
    [TARGET_WAS_SO] = 0,
    [TARGET_GIVEN_UP] = 0,
};

static void move(target *t, target_state to) { SLP_MOVE(allowed, t->state, to); }

static void give_up(target *t, sloop_change_kind_t why) {
  t->why = why;
  move(t, TARGET_GIVEN_UP);
}

int slp_edits_begin(slp_admin *a, size_t n, int force) {
  slp_edits *c = slp_admin_room(a, sizeof *c);
  target *targets = slp_admin_room(a, (n ? n : 1) * sizeof *targets);
  if (!c || !targets) return SLP_ENOMEM;
  c->targets = targets;
  c->force = force != 0;
  a->edits = c;
  return 0;
}

void slp_edits_add(slp_admin *a, slp_str shard, const slp_position *to) {
  target *t = &a->edits->targets[a->edits->n++];
  t->shard = slp_admin_keep(a, shard);
  if (to) t->to = *to;
}

/* ---- the result --------------------------------------------------------------------------------- */

sloop_admin_result_t *slp_edits_result(slp_admin *a) {
  sloop_admin_result_t *r = slp_admin_room(a, sizeof *r);
  if (!r) {
    slp_admin_no_memory(a);
    return NULL;
  }
  r->worker = "";
  if (a->edits) a->edits->result = r;
  return r;
}

void slp_edits_nothing(slp_admin *a, slp_str shard, sloop_change_kind_t kind) {
  sloop_admin_result_t *r = slp_edits_result(a);
  sloop_change_t *c = r ? slp_admin_room(a, sizeof *c) : NULL;
  const sloop_change_t **at = c ? slp_admin_room(a, sizeof(const sloop_change_t *)) : NULL;
  if (!r) return;
  if (at) {
    *c = (sloop_change_t){.shard = slp_admin_text(a, shard), .kind = kind, .was_owner = ""};
    *at = c;
    r->changes = at;
    r->changes_n = 1;
  }
  a->answer.result = r;
  slp_admin_finish(a);
}

static int is_so_now(const target *t) { return t->state == TARGET_DONE || t->state == TARGET_WAS_SO; }
static int is_unknown(const target *t) { return t->in_doubt && !is_so_now(t); }

static sloop_change_t change_of_target(slp_admin *a, const target *t) {
  static const sloop_change_kind_t kinds[] = {[TARGET_UNSENT] = SLOOP_CHANGE_CONFLICT,
                                              [TARGET_SENT] = SLOOP_CHANGE_CONFLICT,
                                              [TARGET_DONE] = SLOOP_CHANGE_DONE,
                                              [TARGET_WAS_SO] = SLOOP_CHANGE_WAS_SO};
  sloop_change_t c = {.shard = slp_admin_text(a, t->shard), .was_owner = ""};
  c.kind = t->state == TARGET_GIVEN_UP ? t->why : kinds[t->state];
  if (is_unknown(t)) c.kind = SLOOP_CHANGE_UNKNOWN;
  c.to = slp_admin_position(a, t->shard, &t->to);
  if (t->state != TARGET_DONE) return c;
  c.was = slp_admin_position(a, t->shard, &t->was);
  c.was_owner = slp_admin_text(a, t->was_owner);
  c.was_parked = t->was_parked;
  return c;
}

/* Puts all targets into the result. Sets a->why.left to the number of targets that could not be changed as
 * the operator asked. */
static void tell_all(slp_admin *a, sloop_admin_result_t *r) {
  slp_edits *c = a->edits;
  sloop_change_t *all = slp_admin_room(a, (c->n + 1) * sizeof *all);
  const sloop_change_t **at = slp_admin_room(a, (c->n + 1) * sizeof(const sloop_change_t *));
  size_t n = 0, left = 0, unknown = 0;
  /* done 0: the targets that were not changed; done 1: the others */
  for (int done = 0; done < 2 && all && at; done++) {
    for (size_t i = 0; i < c->n; i++) {
      if (is_so_now(&c->targets[i]) != done) continue;
      left += !done;
      unknown += is_unknown(&c->targets[i]);
      all[n] = change_of_target(a, &c->targets[i]);
      at[n] = &all[n];
      n++;
    }
  }
  r->changes = at;
  r->changes_n = n;
  r->evicted_n = c->evicted_n;
  a->answer.result = r;
  a->why.left = left;
  a->why.unknown = unknown;
  a->why.all = c->n;
}

/* Ends the edits. Either every target is done or given up, or a->fail says why some are left. */
void slp_edits_conclude(slp_admin *a) {
  tell_all(a, a->edits->result);
  if (a->why.left) slp_admin_note(a, SLP_ADMIN_SOME_UNCHANGED, SLP_REFUSED, SLOOP_ELEASE);
  slp_admin_move(a, SLP_ADMIN_NOTIFYING);
}

static void on_owner_evicted(slp_admin_slot *slot);
static void on_target_written(slp_admin_slot *slot);

void slp_edits_stop(slp_admin *a) {
  slp_edits *c = a->edits;
  sloop_admin_result_t *r = c->result ? c->result : slp_admin_room(a, sizeof *r);
  if (!r) return;
  if (!r->worker) r->worker = "";
  /* a write that is under way at the stop may or may not be made */
  for (size_t i = 0; i < SLP_ADMIN_WRITES; i++) {
    const slp_admin_slot *s = &a->slots[i];
    if (!s->op.busy) continue;
    if (s->on_done == on_target_written) c->targets[s->about].in_doubt = 1;
    c->evicted_n += s->on_done == on_owner_evicted;
  }
  tell_all(a, r);
}

static void next_round(slp_admin *a) {
  if (a->fail.class != SLP_FINE || ++a->edits->rounds >= ROUNDS_MAX)
    slp_edits_conclude(a);
  else
    slp_admin_read_in(a, 50000 * a->edits->rounds);
}

/* ---- EVICTING: owners that are in the way ------------------------------------------------------- */

static void evict_on(slp_admin *a);

static void on_owner_evicted(slp_admin_slot *slot) {
  slp_admin *a = slot->admin;
  slp_admin_write_is_final(slot);
  if (slot->op.end == SLP_OUTCOME_DONE) a->changed = 1;
  a->edits->evicted_n += slot->op.end == SLP_OUTCOME_DONE || slp_admin_write_in_doubt(&slot->op);
  evict_on(a);
}

/* Marks a watched owner as evicted. Without `force`, the write has the condition that the owner's counter is
 * as it was when last read. */
static int evict_watched_owner(slp_admin *a, const slp_watched *w) {
  slp_operation i = {.kind = SLP_OPERATION_EVICT,
                     .me = slp_str_of(a->me),
                     .counter = a->edits->force ? SLP_ANY_COUNTER : w->silence.last.counter};
  if (w->evicted || w->silence.last.missing || !slp_instance_split(w->name, &i.id, &i.incarnation)) return 0;
  return slp_admin_write(a, &i, 0, on_owner_evicted);
}

/* Evicts all watched owners that must be evicted. The rows of the next round show the outcome. */
static void evict_on(slp_admin *a) {
  slp_edits *c = a->edits;
  const slp_watched *w;
  while (a->fail.class == SLP_FINE && (w = slp_watch_each(a, &c->evict_at))) {
    int r = evict_watched_owner(a, w);
    if (r == SLP_ENOBUFS) {
      c->evict_at--; /* no slot for a write is free; when one is, this owner is evicted */
      return;
    }
    if (r) slp_admin_note(a, SLP_ADMIN_NO_MEMORY, SLP_NOMEM, SLP_ENOMEM);
  }
  if (!a->busy_n) next_round(a);
}

void slp_edits_evict(slp_admin *a) {
  a->edits->evict_at = 0;
  evict_on(a);
}

/* Looks whether the owner of a lease must be evicted or proven dead before the lease is written. Returns 1 if
 * so; the owner is then watched, and *ret is the entry. Returns 0 if not, or SLP_ENOMEM. */
static int in_the_way(slp_admin *a, const slp_lease_row *l, slp_watched **ret) {
  int force = a->edits->force;
  *ret = NULL;
  if (!l->owner.n) return 0;
  if (by_rows(a)) {
    slp_owner_life life = slp_admin_owner_life(a, l->owner);
    /* SLP_OWNER_UNKNOWN: an owner whose name is no instance has no row, so it can't be evicted */
    if (life == SLP_OWNER_EVICTED || life == SLP_OWNER_UNKNOWN) return 0;
    if (life == SLP_OWNER_MISSING && force) return 0;
  } else if (force || l->position.kind == SLP_POSITION_END) {
    /* With `force` the owner need not be proven dead; the write has only the condition on the lease's
     * counter. An ended lease has no owner that reads: its row only keeps the name. */
    return 0;
  }
  *ret = slp_watch_add(a, l);
  if (!*ret) return SLP_ENOMEM;
  /* if the owner has a row, the row must be marked as evicted before the lease is written */
  return (*ret)->dead && ((*ret)->silence.last.missing || !by_rows(a)) ? 0 : 1;
}

/* ---- WRITING ------------------------------------------------------------------------------------ */

static void write_on(slp_admin *a);

static void on_target_written(slp_admin_slot *slot) {
  slp_admin *a = slot->admin;
  target *t = &a->edits->targets[slot->about];
  slp_admin_write_is_final(slot);
  if (slp_admin_write_in_doubt(&slot->op)) t->in_doubt = 1;
  if (slot->op.end == SLP_OUTCOME_DONE || (SLP_MUTANT(refused_is_done) && t->state == TARGET_SENT)) {
    move(t, TARGET_DONE);
    a->changed = 1;
  }
  write_on(a);
}

/* Stores what the row said before this command's write, because the result reports it. */
static void remember_old_row(slp_admin *a, target *t, const slp_lease_row *l) {
  t->was = l->position;
  t->was_owner = slp_admin_keep(a, l->owner);
  t->was_parked = l->parked;
  move(t, TARGET_SENT);
}

static int write_target(slp_admin *a, size_t at, const slp_lease_row *l) {
  target *t = &a->edits->targets[at];
  /* 1: the lease is released in a layout where only leases show who lives. The write is then the same as if
   * the owner had sent it. */
  int as_owner = !by_rows(a) && t->to.kind == SLP_POSITION_NONE;
  const slp_admin_shard *listed = slp_admin_listed(a, l->shard);
  slp_operation i = {.kind = as_owner ? SLP_OPERATION_RELEASE : SLP_OPERATION_RESET,
                     .me = as_owner ? l->owner : slp_str_of(a->me),
                     .owner = l->owner,
                     .claim = l->claim,
                     .claim_asks = l->claim_asks,
                     .shard = l->shard,
                     .epoch = l->epoch,
                     .seq_start = listed ? listed->seq_start : (slp_str){NULL, 0},
                     .position = as_owner ? l->position : t->to,
                     .odd = as_owner ? (slp_position){.kind = SLP_POSITION_NONE} : l->position};
  int r = slp_admin_write(a, &i, at, on_target_written);
  if (r == 0) remember_old_row(a, t, l);
  if (r == SLP_EINVAL) give_up(t, SLOOP_CHANGE_POSITION);
  return r;
}

static void write_on(slp_admin *a) {
  slp_edits *c = a->edits;
  for (; a->fail.class == SLP_FINE && c->write_at < c->n; c->write_at++) {
    const target *t = &c->targets[c->write_at];
    const slp_lease_row *l = is_open(t) ? slp_snapshot_lease_of(&a->snapshot, t->shard) : NULL;
    int r = l ? write_target(a, c->write_at, l) : 0;
    if (r == SLP_ENOBUFS) return;
    if (r == SLP_ENOMEM) slp_admin_note(a, SLP_ADMIN_NO_MEMORY, SLP_NOMEM, r);
  }
  if (a->busy_n) return;
  for (size_t i = 0; i < c->n; i++) {
    if (!is_open(&c->targets[i])) continue;
    next_round(a);
    return;
  }
  slp_edits_conclude(a);
}

void slp_edits_write(slp_admin *a) {
  a->edits->write_at = 0;
  write_on(a);
}

/* ---- a round, after the rows were read ---------------------------------------------------------------- */

/* Returns 1 if the row is as the target asks for, so that no write is needed. */
static int is_so(const target *t, const slp_lease_row *l) {
  int ended = l->position.kind == SLP_POSITION_END;
  if (l->parked || l->refused_n || (l->owner.n && !(ended && t->to.kind == SLP_POSITION_END))) return 0;
  if (t->to.kind == SLP_POSITION_NONE) return 1;
  return slp_position_same(&t->to, &l->position) && !l->position.mark.row_n;
}

typedef struct obstacles {
  const slp_lease_row *alive; /* a lease whose owner is proven to live; NULL: none */
  uint64_t wait_us;           /* after what time owners must be judged again; UINT64_MAX: they need not be */
  int evict;                  /* 1: at least one owner must be evicted */
} obstacles;

static void check_target_lease(slp_admin *a, target *t, obstacles *o) {
  const slp_lease_row *l = slp_snapshot_lease_of(&a->snapshot, t->shard);
  slp_watched *w;
  if (!l) {
    give_up(t, SLOOP_CHANGE_NO_ROW);
    return;
  }
  /* The row is as it should be: it was so before, or another process changed it, or this command's write was
   * made and its answer was lost. */
  if (is_so(t, l)) {
    if (t->in_doubt) a->changed = 1;
    move(t, t->in_doubt ? TARGET_DONE : TARGET_WAS_SO);
    return;
  }
  int r = in_the_way(a, l, &w);
  if (r == SLP_ENOMEM) a->starved = 1;
  if (r <= 0) return;
  if (w->dead || a->edits->force) {
    o->evict = 1;
  } else if (w->alive && (a->may_have_changed || t->state == TARGET_SENT)) {
    give_up(t, SLOOP_CHANGE_TAKEN);
  } else if (w->alive) {
    o->alive = o->alive ? o->alive : l;
  } else {
    o->wait_us = slp_min_u64(o->wait_us, slp_watch_wait_us(a, w));
  }
}

void slp_edits_round(slp_admin *a) {
  slp_edits *c = a->edits;
  obstacles o = {NULL, UINT64_MAX, 0};
  if (!c->result && !slp_edits_result(a)) return;
  slp_watch_saw(a);
  for (size_t i = 0; i < c->n; i++)
    if (is_open(&c->targets[i])) check_target_lease(a, &c->targets[i], &o);
  if (a->starved) {
    slp_admin_no_memory(a);
  } else if (o.alive) {
    a->why.owner = slp_admin_keep(a, o.alive->owner);
    slp_admin_failed(a, SLP_ADMIN_OWNED, SLP_REFUSED, SLOOP_EOWNED, o.alive->shard);
  } else if (o.wait_us != UINT64_MAX) {
    slp_admin_read_in(a, o.wait_us);
  } else {
    slp_admin_move(a, o.evict ? SLP_ADMIN_EVICTING : SLP_ADMIN_WRITING);
  }
}
