/* counted_writes.c - decides what became of a write, and what a row shows about the life of its owner. For
 * tables in which each write of a lease changes a counter or a time in the lease's row; both are called the
 * number here. */
#include "guest/counted_writes.h"

#include "base/mutant.h"
#include "base/probe.h"
#include "core/mark.h"
#include "core/position.h"
#include "guest/expiry.h"
#include "guest/guest_operations.h"
#include "lease/outcome.h"
#include "lease/schema.h"
#include "lease/silence.h"

/* ---- what became of a write -------------------------------------------------------------------- */

/* Decides what became of a write, from the row that is in the table now. An owner has only one write of a
 * lease under way, and each write leaves one certain number. So if the row has this worker's name and that
 * number, this write has reached the table. Numbers never come back, so a write that was refused can't
 * succeed later. */
static slp_outcome outcome_of_counted_write(const slp_operation *i, const slp_lease_row *l) {
  int mine = slp_str_eq(l->owner, i->me), next = l->epoch == slp_epoch_after(i);
  int as_before = mine && l->epoch == i->epoch;
  if (mine && next) SLP_PROBE("settle, kcl: a write had got in");
  if (as_before) SLP_PROBE("settle, kcl: refused, and mine as before");
  switch ((unsigned)i->kind) {
    case SLP_OPERATION_CREATE: return SLP_OUTCOME_DONE;
    case SLP_OPERATION_TAKE:
    case SLP_OPERATION_RETAKE:
    case SLP_OPERATION_CHECKPOINT:
    case SLP_GUEST_RENEW:
      return mine && next && !SLP_MUTANT(own_counter_unknown) ? SLP_OUTCOME_DONE
             : as_before                                      ? SLP_OUTCOME_UNCHANGED
                                                              : SLP_OUTCOME_REFUSED;
    case SLP_OPERATION_CLAIM:
      return slp_str_eq(l->claim, i->me) && l->epoch == i->epoch ? SLP_OUTCOME_DONE : SLP_OUTCOME_REFUSED;
    case SLP_OPERATION_RELEASE:
      return !l->owner.n && next ? SLP_OUTCOME_DONE : as_before ? SLP_OUTCOME_UNCHANGED : SLP_OUTCOME_REFUSED;
    case SLP_OPERATION_TRANSFER:
      /* The write was made in two cases: the row has the next owner's name; or TRANSFER has freed the lease,
       * and left its time as it was. */
      if (next && (slp_str_eq(l->owner, i->to) || (!l->owner.n && l->epoch == i->epoch)))
        return SLP_OUTCOME_DONE;
      return as_before ? SLP_OUTCOME_UNCHANGED : SLP_OUTCOME_REFUSED;
    case SLP_OPERATION_END:
      if (next && l->position.kind == SLP_POSITION_END) return SLP_OUTCOME_DONE;
      return as_before ? SLP_OUTCOME_UNCHANGED : SLP_OUTCOME_REFUSED;
    case SLP_OPERATION_RESET: return slp_outcome_of_reset(i, l);
    default: return SLP_OUTCOME_REFUSED;
  }
}

slp_outcome slp_counted_outcome(const slp_operation *i, int there, const slp_parsed_row *parsed) {
  if (there && parsed->kind == SLP_ROW_LEASE) return outcome_of_counted_write(i, &parsed->u.lease);
  return there && i->kind == SLP_OPERATION_CREATE ? SLP_OUTCOME_DONE : SLP_OUTCOME_REFUSED;
}

/* ---- signs of life ------------------------------------------------------------------------------ */

slp_sign slp_counted_sign(const slp_lease_row *row, int64_t wall_ms, uint64_t now_us, uint32_t lease_ms) {
  (void)wall_ms;
  (void)now_us;
  (void)lease_ms;
  return (slp_sign){.counter = row->epoch};
}

static uint64_t mix_text(uint64_t h, slp_str s) {
  for (size_t i = 0; i < s.n; i++) h = (h ^ (unsigned char)s.p[i]) * UINT64_C(0x100000001b3);
  return (h ^ s.n) * UINT64_C(0x100000001b3);
}

/* Returns a hash of owner, number and position. The owner is in it because each owner may begin again with
 * the same numbers. The position is in it because a program may save a checkpoint without changing the
 * number. */
static uint64_t hash_lease_row(const slp_lease_row *row) {
  uint64_t h = mix_text(UINT64_C(0xcbf29ce484222325), row->owner);
  h = (h ^ row->epoch) * UINT64_C(0x100000001b3);
  return mix_text(h ^ (uint64_t)row->position.kind, slp_mark_seq(&row->position.mark));
}

slp_sign slp_counted_sign_of_tick(const slp_lease_row *row, int64_t wall_ms, uint64_t now_us,
                                  uint32_t lease_ms) {
  (void)wall_ms;
  (void)now_us;
  (void)lease_ms;
  return (slp_sign){.counter = hash_lease_row(row)};
}

slp_sign slp_counted_sign_of_time(const slp_lease_row *row, int64_t wall_ms, uint64_t now_us,
                                  uint32_t lease_ms) {
  return (slp_sign){.counter = row->epoch,
                    .until_us = slp_expiry_past_us(row->epoch, wall_ms, now_us, lease_ms)};
}
