/* fleet_peer.c - other workers, as far as reading their rows shows: a value, and since when it has been so on
 * my own clock. No two machines' clocks are ever compared. */
#include "base/probe.h"
#include "lease/lease.h"

#define READS_MIN 3 /* of an unchanged counter, before its worker may be condemned */
#define FORGET_US UINT64_C(600000000)

void slp_instance_set(slp_instance *i, slp_str s) {
  i->n = 0;
  if (!s.n || s.n > sizeof i->p) return;
  memcpy(i->p, s.p, s.n);
  i->n = (uint8_t)s.n;
}

slp_member *slp_member_get(slp_fleet *f, slp_str id) { return slp_map_get(&f->members, id); }

slp_member *slp_member_make(slp_fleet *f, slp_str id) {
  slp_member *p = slp_member_get(f, id);
  if (p) p->used_us = slp_fleet_now(f);
  if (p || !id.n || id.n > SLP_WORKER_ID_MAX) return p;
  p = SLP_NEW(f->mem, slp_member);
  if (!p) return NULL;
  memcpy(p->id, id.p, id.n);
  p->id_n = (uint8_t)id.n;
  p->used_us = slp_fleet_now(f);
  slp_write_init(&p->op, f, p);
  if (slp_map_put(&f->members, (slp_str){p->id, p->id_n}, p) == 0) return p;
  slp_free(f->mem, p);
  return NULL;
}

static int is_needed(const slp_fleet *f, const slp_member *p) {
  slp_str id = {p->id, p->id_n}, leader = {NULL, 0}, incarnation;
  slp_instance_split(slp_instance_str(&f->leader), &leader, &incarnation);
  return p->wanted || p->op.busy || slp_str_eq(id, leader) || slp_str_eq(id, f->o.worker);
}

/* Most ids are of one process, and never come again. Whoever is forgotten and named once more is observed
 * from the beginning, as on the first day. */
void slp_members_forget(slp_fleet *f) {
  uint64_t now = slp_fleet_now(f);
  size_t at = 0;
  if (f->polling) return; /* what is looked at is pointed to */
  for (slp_member *p; (p = slp_map_each(&f->members, &at));) {
    if (is_needed(f, p) || now - p->used_us < FORGET_US) continue;
    slp_map_remove(&f->members, (slp_str){p->id, p->id_n});
    slp_write_free(&p->op);
    slp_free(f->mem, p);
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
  if (!exact) return; /* a replica may not have it yet */
  if (!p->missing || p->missing_since_us <= p->op.f->trouble_us) p->missing_since_us = rq->done_us;
  p->missing = 1;
  p->strange = 0;
  p->exact_us = rq->sent_us;
}

void slp_member_saw(slp_member *p, const slp_worker_row *w, int exact, const slp_store_req *rq) {
  p->last_ok = 1;
  if (rq->sent_us < p->exact_us) exact = 0; /* overtaken by a later one */
  if (!w) {
    saw_nothing(p, exact, rq);
    return;
  }
  slp_str incarnation = {p->incarnation, p->incarnation_n};
  int same = slp_str_eq(incarnation, w->incarnation);
  /* A replica may be behind what a consistent read has shown; or that worker has come again. */
  if (!exact && p->exact_us && (!same || w->counter < p->counter || (p->gone && !w->gone.n))) {
    SLP_PROBE("peer: a replica is behind");
    if (same) return;
    p->wanted = 1;
    slp_poll_soon(p->op.f, slp_fleet_now(p->op.f));
    return;
  }
  if (w->incarnation.n > SLP_INCARNATION_N) return;
  if (exact) p->exact_us = rq->sent_us;
  /* What I saw before my own heartbeats had trouble counts for nothing: all are to have a whole lease to be
   * heard in once the table is well again. */
  if (!same || w->counter != p->counter || p->missing || p->since_us <= p->op.f->trouble_us) {
    p->since_us = rq->done_us;
    p->reads = 0;
  }
  if (!same) p->gone = 0;
  memcpy(p->incarnation, w->incarnation.p, w->incarnation.n);
  p->incarnation_n = (uint8_t)w->incarnation.n;
  p->counter = w->counter;
  p->reads++;
  p->missing = p->strange = 0;
  if (w->gone.n && !p->gone) {
    p->gone = 1;
    p->gone_since_us = rq->done_us;
  }
  p->leaving = w->leaving;
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
  if (!p->strange) slp_fleet_bad_row(p->op.f, (slp_str){NULL, 0}, &row->key, row->why);
  p->strange = 1;
  p->missing = p->last_ok = 0;
}

static uint64_t silence_us(const slp_fleet *f, const slp_member *p) {
  return slp_max_u64(slp_fleet_lease_us(f), (uint64_t)p->lease_ms * 1000);
}

/* My own way to the table was fine for all that time: an outage condemns nobody. */
static int calm_since(const slp_fleet *f, uint64_t since_us) {
  return f->trouble_us < since_us && !f->suspended;
}

slp_verdict slp_member_verdict(slp_fleet *f, slp_str instance, uint64_t named_us) {
  slp_str id, incarnation;
  if (slp_str_eq(instance, slp_instance_str(&f->me))) return SLP_MEMBER_ALIVE;
  /* What is no instance of ours can't be condemned; an operator can release it. */
  if (!slp_instance_split(instance, &id, &incarnation)) return SLP_MEMBER_ALIVE;
  slp_member *p = slp_member_make(f, id);
  if (!p) return SLP_MEMBER_UNKNOWN;
  int same = slp_str_eq((slp_str){p->incarnation, p->incarnation_n}, incarnation);
  if (same && p->gone) {
    SLP_PROBE("peer: condemned by its row");
    return SLP_MEMBER_EVICTED; /* for ever: no boot comes back */
  }
  if (p->strange) {
    p->wanted = 1;
    return SLP_MEMBER_ALIVE;
  }
  /* Another boot, or no row, proves something only when it was read after somebody named this one: else it
   * may be from before that one was born. */
  if (!p->exact_us || (p->exact_us < named_us && !SLP_MUTANT(old_read_is_proof))) {
    SLP_PROBE("peer: what was read is from before it was named");
    if (same && !p->missing) return SLP_MEMBER_ALIVE;
    p->wanted = 1;
    return SLP_MEMBER_UNKNOWN;
  }
  if (p->missing) {
    SLP_PROBE("peer: its row is not there");
    uint64_t now = slp_fleet_now(f);
    p->wanted = 1;
    return calm_since(f, p->missing_since_us) && now - p->missing_since_us >= silence_us(f, p)
               ? SLP_MEMBER_EVICTED
               : SLP_MEMBER_ALIVE;
  }
  if (!same) SLP_PROBE("peer: condemned by another boot");
  return same ? SLP_MEMBER_ALIVE : SLP_MEMBER_EVICTED;
}

int slp_member_may_evict(slp_fleet *f, const slp_member *p, uint64_t more_us) {
  if (!p->incarnation_n || p->gone || p->missing || !p->last_ok || p->reads < READS_MIN) return 0;
  if (!calm_since(f, p->since_us)) return 0;
  return slp_now_refresh_us(f->h) - p->since_us >= silence_us(f, p) + more_us;
}

static void evicted(slp_write *op) {
  slp_member *p = op->owner;
  slp_fleet *f = op->f;
  slp_member_saw_write(p, op);
  if (op->end == SLP_OUTCOME_DONE && p->gone) {
    SLP_PROBE("peer: condemned by me");
    f->stats.evicted++;
    slp_fleet_tell(f, SLP_FLEET_EVICTED_OTHER, (slp_str){NULL, 0}, 0, "%.*s", (int)p->id_n, p->id);
  }
  if (f->role == SLP_ROLE_LEADS) slp_assignment_soon(f, 0);
  if (f->role == SLP_ROLE_FOLLOWS) slp_election_seek(f, 0);
  for (size_t at = 0; slp_map_each(&f->leases, &at);) {
    slp_lease *l = f->leases.entries[at - 1].value;
    if (slp_lease_in(l, SLP_LEASE_SOUGHT)) slp_lease_poll(l, slp_fleet_now(f));
  }
}

uint64_t slp_member_quiet_us(slp_fleet *f, const slp_member *p, uint64_t more_us) {
  uint64_t at = p->since_us + silence_us(f, p) + more_us + 1;
  return at > slp_fleet_now(f) && !p->gone && !p->missing ? at : SLP_NEVER;
}

void slp_member_evict(slp_fleet *f, slp_member *p) {
  if (p->op.busy) return;
  slp_fleet_operation(f, &p->op.i, SLP_OPERATION_EVICT);
  p->op.i.id = (slp_str){p->id, p->id_n};
  memcpy(p->evicting_incarnation, p->incarnation, p->incarnation_n);
  p->op.i.incarnation = (slp_str){p->evicting_incarnation, p->incarnation_n};
  p->op.i.counter = p->counter;
  p->op.tries_max = 3;
  slp_write_send(&p->op, evicted);
}
