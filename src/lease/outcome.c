/* outcome.c - decides what became of a write whose condition did not hold, from the row as it was then. A
 * refusal alone proves nothing, because an earlier copy of the same write may have reached the table. Owner
 * and epoch identify an ownership, so the signature in the row's attribute `op` is not needed. */
#include "lease/outcome.h"

#include "base/mutant.h"
#include "base/probe.h"
#include "core/position.h"
#include "lease/schema.h"

static int same_incarnation(const slp_worker_row *w, const slp_operation *i) {
  return slp_str_eq(w->incarnation, i->incarnation);
}

static slp_outcome of_worker(const slp_operation *i, const slp_worker_row *w) {
  switch (i->kind) {
    case SLP_OPERATION_REGISTER:
      return same_incarnation(w, i) && !w->gone.n && w->counter >= 1 ? SLP_OUTCOME_DONE : SLP_OUTCOME_REFUSED;
    case SLP_OPERATION_HEARTBEAT:
      if (!same_incarnation(w, i) || w->gone.n || SLP_MUTANT(own_write_unknown)) return SLP_OUTCOME_REFUSED;
      if (w->counter >= i->counter) SLP_PROBE("outcome: a heartbeat had got in");
      return w->counter >= i->counter ? SLP_OUTCOME_DONE : SLP_OUTCOME_UNCHANGED;
    /* The row says that the worker is evicted, or has another incarnation. So some worker has evicted it, and
     * nothing is left to do. */
    case SLP_OPERATION_EVICT:
      return !same_incarnation(w, i) || w->gone.n ? SLP_OUTCOME_DONE : SLP_OUTCOME_REFUSED;
    case SLP_OPERATION_LEAVE:
      return same_incarnation(w, i) && w->gone.n ? SLP_OUTCOME_DONE : SLP_OUTCOME_REFUSED;
    default: return SLP_OUTCOME_REFUSED;
  }
}

/* Returns DONE if the row shows the ownership that the operation should begin. Returns UNCHANGED if it shows
 * the ownership that the operation should end. Otherwise returns REFUSED. */
static slp_outcome of_owner(const slp_operation *i, slp_str owner, uint64_t epoch) {
  int mine = slp_str_eq(owner, i->me);
  switch (i->kind) {
    case SLP_OPERATION_TAKE:
    case SLP_OPERATION_LEAD:
      if (mine && epoch == i->epoch + 1) SLP_PROBE("outcome: a take had got in");
      return mine && epoch == i->epoch + 1 ? SLP_OUTCOME_DONE : SLP_OUTCOME_REFUSED;
    case SLP_OPERATION_RETAKE:
      if (mine && epoch == i->epoch + 1) return SLP_OUTCOME_DONE;
      return mine && epoch == i->epoch ? SLP_OUTCOME_UNCHANGED : SLP_OUTCOME_REFUSED;
    /* This worker still owns the row in this epoch. So the table has this checkpoint, or a later one of this
     * worker. */
    case SLP_OPERATION_CHECKPOINT: return mine && epoch == i->epoch ? SLP_OUTCOME_DONE : SLP_OUTCOME_REFUSED;
    case SLP_OPERATION_TRANSFER:
    case SLP_OPERATION_RELEASE:
    case SLP_OPERATION_END:
      if (mine && epoch == i->epoch) SLP_PROBE("outcome: refused, and mine as before");
      return mine && epoch == i->epoch ? SLP_OUTCOME_UNCHANGED : SLP_OUTCOME_REFUSED;
    default: return SLP_OUTCOME_REFUSED;
  }
}

/* Decides what became of an operator's RESET that was refused. If the row is as the RESET would make it, an
 * earlier copy of the RESET was made: the operator sends no other write on this lease at the same time. */
slp_outcome slp_outcome_of_reset(const slp_operation *i, const slp_lease_row *l) {
  int there = i->position.kind == SLP_POSITION_NONE || slp_position_same(&i->position, &l->position);
  return !l->owner.n && l->epoch == slp_epoch_after(i) && there ? SLP_OUTCOME_DONE : SLP_OUTCOME_REFUSED;
}

static slp_outcome of_lease(const slp_operation *i, const slp_lease_row *l) {
  if (i->kind == SLP_OPERATION_RESET) return slp_outcome_of_reset(i, l);
  if (i->kind == SLP_OPERATION_CREATE) return SLP_OUTCOME_DONE;
  if (i->kind == SLP_OPERATION_CLAIM)
    return slp_str_eq(l->claim, i->me) && l->epoch == i->epoch ? SLP_OUTCOME_DONE : SLP_OUTCOME_REFUSED;
  return of_owner(i, l->owner, l->epoch);
}

/* ---- any row, in layouts where each worker has a row of its own --------------------------------- */

slp_outcome slp_outcome_of(const slp_operation *i, int there, const slp_parsed_row *parsed) {
  if (!there) return SLP_OUTCOME_REFUSED;
  switch (parsed->kind) {
    case SLP_ROW_WORKER: return of_worker(i, &parsed->u.worker);
    case SLP_ROW_LEADERSHIP: return of_owner(i, parsed->u.leadership.owner, parsed->u.leadership.epoch);
    case SLP_ROW_LEASE: return of_lease(i, &parsed->u.lease);
    case SLP_ROW_BAD: /* a row that can't be read exists all the same, so it must not be created again */
    case SLP_ROW_OTHER:
    case SLP_ROW_ELSEWHERE:
    case SLP_ROW_BESIDE:
    case SLP_ROW_ASSIGNMENT: return i->kind == SLP_OPERATION_CREATE ? SLP_OUTCOME_DONE : SLP_OUTCOME_REFUSED;
  }
  return SLP_OUTCOME_REFUSED;
}
