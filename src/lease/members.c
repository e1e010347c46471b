/* members.c - the workers of the fleet (members) as their rows show them. A worker proves its life by a
 * counter in its row. For each member, this worker remembers that counter, and since when it has not changed,
 * by this worker's own clock. Clocks of two machines are never compared. */
#include "lease/members.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/mutant.h"
#include "base/probe.h"
#include "host/host.h"
#include "lease/context.h"
#include "lease/deadline.h"
#include "lease/deadline_part.h"
#include "lease/due.h"
#include "lease/fleet_inside.h"
#include "lease/fleet_opts.h"
#include "lease/instance.h"
#include "lease/members_part.h"
#include "lease/outcome.h"
#include "lease/read.h"
#include "lease/schema.h"
#include "lease/silence.h"
#include "lease/store.h"
#include "lease/strategy.h"
#include "lease/worker_life.h"
#include "lease/write.h"

/* a member for which slp_member_make was not called for this time is forgotten */
#define FORGET_US UINT64_C(600000000)

void slp_members_init(slp_fleet *f) {
  slp_map_init(&f->members.all, f->mem);
  slp_read_init(&f->members.list, f, "the workers", 3);
}

void slp_members_stop(slp_fleet *f) {
  slp_read_stop(&f->members.list);
  size_t at = 0;
  for (slp_member *p; (p = slp_member_each(f, &at));)
    if (p->eviction) slp_write_stop(&p->eviction->op);
}

static void drop_member(slp_fleet *f, slp_member *p) {
  if (p->eviction) slp_write_free(&p->eviction->op);
  slp_free(f->mem, p->eviction);
  slp_free(f->mem, p);
}

void slp_members_free(slp_fleet *f) {
  size_t at = 0;
  for (slp_member *p; (p = slp_member_each(f, &at));) drop_member(f, p);
  slp_map_free(&f->members.all);
  slp_read_free(&f->members.list);
}

slp_member *slp_member_get(slp_fleet *f, slp_str id) { return slp_map_get(&f->members.all, id); }

slp_member *slp_member_each(slp_fleet *f, size_t *at) { return slp_map_each(&f->members.all, at); }

slp_str slp_member_id(const slp_member *p) { return (slp_str){p->id, p->id_n}; }

int slp_member_is_missing(const slp_member *p) { return p->silence.last.missing; }

int slp_member_is_me(const slp_fleet *f, const slp_member *p) {
  return slp_str_eq(slp_member_id(p), f->o.worker);
}

slp_member *slp_member_make(slp_fleet *f, slp_str id) {
  slp_member *p = slp_member_get(f, id);
  if (p) p->used_us = slp_fleet_now(f);
  if (p || !id.n || id.n > SLP_WORKER_ID_MAX) return p;
  p = SLP_NEW(f->mem, slp_member);
  if (!p) return NULL;
  memcpy(p->id, id.p, id.n);
  p->id_n = (uint8_t)id.n;
  p->used_us = slp_fleet_now(f);
  p->fleet = f;
  if (slp_map_put(&f->members.all, slp_member_id(p), p) == 0) return p;
  slp_free(f->mem, p);
  return NULL;
}

static int is_being_evicted(const slp_member *p) { return p->eviction && p->eviction->op.busy; }

/* Forgets members that were not looked up for long: most ids are used by one process only, so they would pile
 * up. If such a member is looked up again, it is observed from the beginning. */
void slp_members_forget(slp_fleet *f, slp_str keep) {
  uint64_t now = slp_fleet_now(f);
  size_t at = 0;
  for (slp_member *p; (p = slp_member_each(f, &at));) {
    int needed =
        p->wanted || is_being_evicted(p) || slp_str_eq(slp_member_id(p), keep) || slp_member_is_me(f, p);
    if (needed || now - p->used_us < FORGET_US) continue;
    slp_map_remove(&f->members.all, slp_member_id(p));
    drop_member(f, p);
  }
}

void slp_member_instance(const slp_member *p, slp_instance *ret) {
  ret->n = 0;
  if (!p->incarnation_n) return;
  memcpy(ret->p, p->id, p->id_n);
  ret->p[p->id_n] = '.';
  memcpy(ret->p + p->id_n + 1, p->incarnation, p->incarnation_n);
  ret->n = (uint8_t)(p->id_n + 1 + p->incarnation_n);
}

static void saw_nothing(slp_member *p, int exact, const slp_store_req *rq) {
  if (!exact) return; /* the read was not consistent, so a replica may lack the row */
  slp_fleet *f = p->fleet;
  slp_sign sign = {.missing = 1, .counter = p->silence.last.counter};
  slp_silence_saw(&p->silence, &sign, rq->done_us, slp_fleet_trouble_us(f));
  p->strange = 0;
  p->exact_us = rq->sent_us;
}

void slp_member_saw(slp_member *p, const slp_worker_row *w, int exact, const slp_store_req *rq) {
  p->last_ok = 1;
  /* the answer to a read that was sent later has already come, so this answer may be old */
  if (rq->sent_us < p->exact_us) exact = 0;
  if (!w) {
    saw_nothing(p, exact, rq);
    return;
  }
  slp_fleet *f = p->fleet;
  slp_str incarnation = {p->incarnation, p->incarnation_n};
  int same = slp_str_eq(incarnation, w->incarnation);
  /* This read was not consistent, and it shows something else than an earlier consistent read. So either the
   * replica that answered is behind, or the member has joined again. */
  if (!exact && p->exact_us && (!same || w->counter < p->silence.last.counter || (p->gone && !w->gone.n))) {
    SLP_PROBE("member: a replica is behind");
    if (same) return;
    p->wanted = 1;
    slp_poll_soon(f, slp_fleet_now(f));
    return;
  }
  if (w->incarnation.n > SLP_INCARNATION_N) return;
  if (exact) p->exact_us = rq->sent_us;
  if (!same) {
    p->silence = (slp_silence){0};
    p->gone = 0;
  }
  slp_sign sign = {.counter = w->counter};
  slp_silence_saw(&p->silence, &sign, rq->done_us, slp_fleet_trouble_us(f));
  memcpy(p->incarnation, w->incarnation.p, w->incarnation.n);
  p->incarnation_n = (uint8_t)w->incarnation.n;
  p->strange = 0;
  if (w->gone.n && !p->gone) {
    p->gone = 1;
    p->gone_since_us = rq->done_us;
  }
  p->leaving = w->leaving;
  p->older = w->older;
  p->lease_ms = w->lease_ms;
  p->held = w->held;
  p->weight = w->weight;
  p->changes = w->changes;
}

void slp_member_saw_write(slp_member *p, const slp_write *op) {
  if (op->row.kind == SLP_ROW_WORKER)
    slp_member_saw(p, &op->row.u.worker, 1, op->row_read ? &op->get.rq : &op->w.rq);
}

void slp_member_unread(slp_member *p) { p->last_ok = 0; }

void slp_member_saw_bad(slp_member *p, const slp_parsed_row *row) {
  if (!p->strange) slp_fleet_bad_row(p->fleet, (slp_str){NULL, 0}, &row->key, row->why);
  p->strange = 1;
  if (slp_member_is_missing(p))
    p->silence = (slp_silence){.last = {.counter = p->silence.last.counter}, .moved_us = p->silence.moved_us};
  p->last_ok = 0;
}

/* Returns how long the member's row must be unchanged before the member may be evicted: the longer of the two
 * lease times. */
static uint64_t silence_us(const slp_fleet *f, const slp_member *p) {
  return slp_max_u64(slp_fleet_lease_us(f), (uint64_t)p->lease_ms * 1000);
}

/* Returns from which time on worker p counts as dead because of its silence; SLP_NEVER: it does not. A worker
 * that can't prove its own life must not judge others. One exception: a worker that is joining has no life to
 * prove yet, and judges the row of its own id. Otherwise that row might stay for ever, because perhaps no
 * other worker is left. */
static uint64_t dead_us(slp_fleet *f, const slp_member *p, uint64_t more_us) {
  int in_my_way = slp_worker_is(f, SLP_WORKER_JOINING) && slp_member_is_me(f, p);
  if (!in_my_way && !slp_proof_is(f, SLP_PROOF_GOOD)) return SLP_NEVER;
  return slp_silence_of_worker_us(&p->silence, silence_us(f, p) + more_us, slp_fleet_trouble_us(f));
}

slp_verdict slp_member_verdict(slp_fleet *f, slp_str instance, uint64_t named_us) {
  slp_str id, incarnation;
  if (slp_str_eq(instance, slp_instance_str(&f->me))) return SLP_MEMBER_ALIVE;
  /* An owner whose name is not "id.incarnation" can't be evicted; an operator can release its leases. */
  if (!slp_instance_split(instance, &id, &incarnation)) return SLP_MEMBER_ALIVE;
  slp_member *p = slp_member_make(f, id);
  if (!p) return SLP_MEMBER_UNKNOWN;
  int same = slp_str_eq((slp_str){p->incarnation, p->incarnation_n}, incarnation);
  if (same && p->gone) {
    SLP_PROBE("member: evicted by its row");
    return SLP_MEMBER_EVICTED; /* stays true for ever, because an incarnation never comes back */
  }
  if (p->strange) {
    p->wanted = 1;
    return SLP_MEMBER_ALIVE;
  }
  /* If the row has another incarnation, or there is no row, this instance may be gone. That is proven only if
   * the row was read after the instance was first seen as an owner or claimant: an earlier read may be from
   * before it joined. */
  if (!p->exact_us || (p->exact_us < named_us && !SLP_MUTANT(old_read_is_proof))) {
    SLP_PROBE("member: what was read is from before it was named");
    if (same && !slp_member_is_missing(p)) return SLP_MEMBER_ALIVE;
    p->wanted = 1;
    return SLP_MEMBER_UNKNOWN;
  }
  if (slp_member_is_missing(p)) {
    SLP_PROBE("member: its row is not there");
    p->wanted = 1;
    return slp_fleet_now(f) >= dead_us(f, p, 0) ? SLP_MEMBER_EVICTED : SLP_MEMBER_ALIVE;
  }
  if (!same) SLP_PROBE("member: evicted by another incarnation");
  return same ? SLP_MEMBER_ALIVE : SLP_MEMBER_EVICTED;
}

int slp_member_may_evict(slp_fleet *f, const slp_member *p, uint64_t more_us) {
  if (!p->incarnation_n || p->gone || slp_member_is_missing(p) || !p->last_ok) return 0;
  uint64_t at = dead_us(f, p, more_us);
  return at != SLP_NEVER && slp_now_refresh_us(f->h) >= at;
}

static void on_member_evicted(slp_write *op) {
  slp_member *p = op->owner;
  slp_fleet *f = slp_write_fleet(op);
  slp_member_saw_write(p, op);
  if (op->end == SLP_OUTCOME_DONE && p->gone) {
    SLP_PROBE("member: evicted by this worker");
    f->stats.evicted++;
    slp_fleet_tell(f, SLP_FLEET_EVICTED_OTHER, (slp_str){NULL, 0}, 0, "%.*s", (int)p->id_n, p->id);
  }
  if (op->end != SLP_OUTCOME_GIVEN_UP && f->strategy->evicted_other) f->strategy->evicted_other(f);
}

uint64_t slp_member_quiet_us(slp_fleet *f, const slp_member *p, uint64_t more_us) {
  uint64_t at = p->silence.since_us + silence_us(f, p) + more_us + 1;
  return at > slp_fleet_now(f) && !p->gone && !slp_member_is_missing(p) ? at : SLP_NEVER;
}

void slp_member_evict(slp_fleet *f, slp_member *p) {
  if (is_being_evicted(p)) return;
  if (!p->eviction) {
    slp_eviction *made = SLP_NEW(f->mem, slp_eviction);
    if (!made) return; /* the next look at the members tries again */
    slp_write_init(&made->op, &f->writes, p);
    p->eviction = made;
  }
  slp_write *op = &p->eviction->op;
  slp_fleet_operation(f, &op->i, SLP_OPERATION_EVICT);
  op->i.id = slp_member_id(p);
  memcpy(p->eviction->incarnation, p->incarnation, p->incarnation_n);
  op->i.incarnation = (slp_str){p->eviction->incarnation, p->incarnation_n};
  op->i.counter = p->silence.last.counter;
  /* The write is tried only once. After the next read, slp_member_may_evict decides whether to send it
   * again. */
  op->tries_max = 1;
  slp_write_send(op, on_member_evicted);
}

/* ---- the list of all workers --------------------------------------------------------------------- */

static void see_rows(slp_fleet *f, slp_read *r) {
  slp_parsed_row row;
  while (slp_read_next(r, &row)) {
    slp_member *known = row.kind == SLP_ROW_BAD ? slp_member_get(f, row.u.worker.id) : NULL;
    if (known) slp_member_saw_bad(known, &row);
    if (row.kind != SLP_ROW_WORKER) continue;
    slp_member *p = slp_member_make(f, row.u.worker.id);
    if (!p) continue;
    slp_member_saw(p, &row.u.worker, r->list.consistent, r->rq);
    p->in_list = 1;
  }
}

static void on_members_listed(slp_read *r) {
  slp_fleet *f = r->f;
  slp_member *p;
  for (size_t at = 0; (p = slp_member_each(f, &at));) p->in_list = 0;
  if (r->came) see_rows(f, r);
  for (size_t at = 0; (p = slp_member_each(f, &at));) {
    if (!r->came)
      slp_member_unread(p);
    else if (!p->in_list && !p->strange)
      slp_member_saw(p, NULL, r->list.consistent, r->rq);
  }
  if (f->members.listed) f->members.listed(f);
}

int slp_members_list(slp_fleet *f, int exact, void (*done)(slp_fleet *f)) {
  if (f->members.list.busy ||
      slp_read_list(&f->members.list, SLP_OPERATION_HEARTBEAT, exact, on_members_listed))
    return 0;
  f->members.listed = done;
  return 1;
}

int slp_members_list_joined(slp_fleet *f, void (*done)(slp_fleet *f)) {
  if (!f->members.list.busy) return 0;
  f->members.listed = done;
  return 1;
}

size_t slp_members_n(const slp_fleet *f) { return f->members.all.live; }

int slp_members_list_came(const slp_fleet *f) { return f->members.list.came; }
