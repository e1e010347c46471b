/* fleet_settle.c - a write was refused: what does the row say about it? A copy of it that was sent before may
 * have got in, so a refusal alone proves nothing. One table for every verb; (owner, epoch) identifies a
 * tenancy, so nothing here depends on the row's op. */
#include "base/probe.h"
#include "core/fleet_inside.h"

static int same_boot(const slp_worker_fact *w, const slp_intent *i) { return slp_str_eq(w->boot, i->boot); }

static slp_op_end of_worker(const slp_intent *i, const slp_worker_fact *w) {
  switch (i->verb) {
    case SLP_W1_REGISTER:
      return same_boot(w, i) && !w->gone.n && w->counter >= 1 ? SLP_OP_DONE : SLP_OP_REFUSED;
    case SLP_W2_BEAT:
      if (!same_boot(w, i) || w->gone.n || SLP_MUTANT(33)) return SLP_OP_REFUSED;
      if (w->counter >= i->counter) SLP_PROBE("settle: a heartbeat had got in");
      return w->counter >= i->counter ? SLP_OP_DONE : SLP_OP_STILL;
    /* Whoever condemned it, it is; another boot is as good. */
    case SLP_W3_CONDEMN: return !same_boot(w, i) || w->gone.n ? SLP_OP_DONE : SLP_OP_REFUSED;
    case SLP_W4_LEAVE: return same_boot(w, i) && w->gone.n ? SLP_OP_DONE : SLP_OP_REFUSED;
    default: return SLP_OP_REFUSED;
  }
}

/* Whose is it, and is it the tenancy that the intent speaks of, or the one it would begin? */
static slp_op_end of_owner(const slp_intent *i, slp_str owner, uint64_t epoch) {
  int mine = slp_str_eq(owner, i->me);
  switch (i->verb) {
    case SLP_L2_TAKE:
    case SLP_G1_LEAD:
      if (mine && epoch == i->epoch + 1) SLP_PROBE("settle: a take had got in");
      return mine && epoch == i->epoch + 1 ? SLP_OP_DONE : SLP_OP_REFUSED;
    case SLP_L3_RETAKE:
      if (mine && epoch == i->epoch + 1) return SLP_OP_DONE;
      return mine && epoch == i->epoch ? SLP_OP_STILL : SLP_OP_REFUSED;
    /* Mine still: then a later checkpoint of mine is in. */
    case SLP_L4_CHECKPOINT: return mine && epoch == i->epoch ? SLP_OP_DONE : SLP_OP_REFUSED;
    case SLP_L6_TRANSFER:
    case SLP_L7_RELEASE:
    case SLP_L8_END:
      if (mine && epoch == i->epoch) SLP_PROBE("settle: refused, and mine as before");
      return mine && epoch == i->epoch ? SLP_OP_STILL : SLP_OP_REFUSED;
    default: return SLP_OP_REFUSED;
  }
}

static slp_op_end of_lease(const slp_intent *i, const slp_lease_fact *l) {
  if (i->verb == SLP_L1_CREATE) return SLP_OP_DONE;
  if (i->verb == SLP_L5_CLAIM)
    return slp_str_eq(l->claim, i->me) && l->epoch == i->epoch ? SLP_OP_DONE : SLP_OP_REFUSED;
  return of_owner(i, l->owner, l->epoch);
}

/* ---- a counter a lease -------------------------------------------------------------------------
 * Every write of a lease moves its counter by one, and its owner has one write under way: the next number
 * under my name is mine. A counter never comes back, so what was refused can't happen any more, but for a
 * copy that was sent before and has. */
static slp_op_end counted(const slp_intent *i, const slp_lease_fact *l) {
  int mine = slp_str_eq(l->owner, i->me), next = l->epoch == i->epoch + 1;
  int as_before = mine && l->epoch == i->epoch;
  if (mine && next) SLP_PROBE("settle, kcl: a write had got in");
  if (as_before) SLP_PROBE("settle, kcl: refused, and mine as before");
  switch (i->verb) {
    case SLP_L1_CREATE: return SLP_OP_DONE;
    case SLP_L2_TAKE:
    case SLP_L3_RETAKE:
    case SLP_L4_CHECKPOINT:
    case SLP_L11_RENEW:
      return mine && next && !SLP_MUTANT(57) ? SLP_OP_DONE : as_before ? SLP_OP_STILL : SLP_OP_REFUSED;
    case SLP_L7_RELEASE: return !l->owner.n && next ? SLP_OP_DONE : as_before ? SLP_OP_STILL : SLP_OP_REFUSED;
    case SLP_L8_END:
      if (next && l->spot.kind == SLP_SPOT_END) return SLP_OP_DONE;
      return as_before ? SLP_OP_STILL : SLP_OP_REFUSED;
    default: return SLP_OP_REFUSED;
  }
}

slp_op_end slp_settle_counted(const slp_intent *i, int there, const slp_fact *fact) {
  if (there && fact->kind == SLP_FACT_LEASE) return counted(i, &fact->u.lease);
  return there && i->verb == SLP_L1_CREATE ? SLP_OP_DONE : SLP_OP_REFUSED;
}

/* ---- a row a worker ---------------------------------------------------------------------------- */

slp_op_end slp_settle(const slp_intent *i, int there, const slp_fact *fact) {
  if (!there) return SLP_OP_REFUSED;
  switch (fact->kind) {
    case SLP_FACT_WORKER: return of_worker(i, &fact->u.worker);
    case SLP_FACT_LEAD: return of_owner(i, fact->u.lead.owner, fact->u.lead.epoch);
    case SLP_FACT_LEASE: return of_lease(i, &fact->u.lease);
    case SLP_FACT_BAD: /* a row that can't be read is there, and nobody's to make anew */
    case SLP_FACT_OTHER:
    case SLP_FACT_PLAN: return i->verb == SLP_L1_CREATE ? SLP_OP_DONE : SLP_OP_REFUSED;
  }
  return SLP_OP_REFUSED;
}
