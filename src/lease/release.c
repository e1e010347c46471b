/* release.c - gives a lease up. After the first RELEASE or TRANSFER of an ownership was sent, this worker
 * never reads the shard under that ownership again. That holds whatever the answer is, because a copy of the
 * write may reach the table at any later moment. If the write is refused and this worker still owns the
 * lease, there are two ways. The lease is released again, or it is taken with a higher epoch, which no old
 * copy can touch. */
#include "base/mutant.h"
#include "base/probe.h"
#include "core/position.h"
#include "lease/context.h"
#include "lease/due.h"
#include "lease/fleet_inside.h"
#include "lease/fleet_opts.h"
#include "lease/instance.h"
#include "lease/lease.h"
#include "lease/lease_part.h"
#include "lease/outcome.h"
#include "lease/processor.h"
#include "lease/schema.h"
#include "lease/strategy.h"
#include "lease/worker_life.h"
#include "lease/write.h"

/* after this worker gave a lease up for lack of progress, it does not take the lease for this time, unless it
 * gets a new assignment with it */
#define SHUN_US 30000000

/* Called when the release was refused, and the row still says that this worker owns the lease. */
static void on_release_unchanged(slp_lease *l, const slp_write *op) {
  const slp_lease_row *row = &op->row.u.lease;
  slp_lease_move(l, SLP_LEASE_UNRELEASED);
  if (op->row.kind != SLP_ROW_LEASE) return;
  slp_lease_read_image(l, row, slp_fleet_now(l->f));
  if (slp_position_cmp(&row->position, &l->own.saved) > 0) l->own.saved = row->position;
}

/* Called when this worker, which was giving the lease up, wants it again and has taken it with a higher
 * epoch. */
static void taken_anew(slp_lease *l, const slp_write *op) {
  slp_fleet *f = l->f;
  SLP_PROBE("lease: kept after all");
  f->stats.taken++;
  if (l->release.was_open)
    slp_fleet_tell(f, SLP_FLEET_RELEASED, l->shard, l->own.epoch, "given up, and taken again");
  slp_lease_begin_write(l, op);
}

static void on_release_answered(slp_write *op) {
  slp_lease *l = op->owner;
  slp_fleet *f = l->f;
  int done = op->end == SLP_OUTCOME_DONE, retaken = op->i.kind == SLP_OPERATION_RETAKE;
  slp_lease_touch(l);
  if (op->end == SLP_OUTCOME_UNCHANGED) {
    on_release_unchanged(l, op);
    return;
  }
  if (retaken && done) {
    taken_anew(l, op);
    return;
  }
  if (slp_worker_is(f, SLP_WORKER_LEAVING)) l->succession.freed = done && op->i.kind == SLP_OPERATION_RELEASE;
  /* 1: this worker gave the lease up because another worker should read the shard, or no worker should */
  int gave_up = l->release.why >= SLP_RELEASE_STALL;
  if (gave_up && done && f->strategy->gave_up) f->strategy->gave_up(f);
  slp_lease_gone(l, done || !retaken ? SLP_SHUTDOWN_HANDED_OVER : SLP_SHUTDOWN_LOST);
}

static void send_release_write(slp_lease *l, slp_operation_kind kind) {
  slp_operation *i = &l->op.i;
  slp_fleet_operation(l->f, i, kind);
  i->epoch = l->own.row_epoch;
  i->owner = i->me;
  slp_lease_quote_claim(l, i);
  i->position = l->own.saved;
  i->odd = l->own.odd;
  i->behind_ms = l->own.behind_ms;
  i->to = slp_instance_str(&l->release.to);
  i->avoid_me = l->release.why == SLP_RELEASE_STALL || l->release.why == SLP_RELEASE_REFUSED;
  if (l->release.why == SLP_RELEASE_REFUSED) i->refused_n = l->row.refused_n + 1;
  i->park = l->release.why == SLP_RELEASE_PARK;
  l->op.tries_max = 0;
  slp_lease_send(l, kind, on_release_answered);
}

void slp_lease_release_step(slp_lease *l) {
  int claimed = l->row.claim.n && !slp_str_eq(slp_instance_str(&l->row.claim), slp_instance_str(&l->f->me));
  const slp_strategy *strategy = l->f->strategy;
  /* 1: the claim in the row decides who is the next owner, for whatever reason the lease is given up */
  int named = claimed && strategy->must_give_up && strategy->must_give_up(l);
  if (l->state == SLP_LEASE_UNRELEASED && slp_lease_wanted(l) && !named) {
    send_release_write(l, SLP_OPERATION_RETAKE);
  } else if (named || (l->release.why == SLP_RELEASE_HANDOVER && claimed)) {
    l->release.to = l->row.claim;
    send_release_write(l, SLP_OPERATION_TRANSFER);
  } else {
    send_release_write(l, SLP_OPERATION_RELEASE);
  }
}

/* Closes the shard, and sets own.saved to the position up to which every record is acknowledged. If the shard
 * was read to its end, that is the position after its last record, and not END. An END is written only
 * together with the rows of the children (end.c). */
static void close_processor(slp_lease *l, slp_release_reason why) {
  slp_fleet *f = l->f;
  slp_position mark;
  slp_lease_mark(l, &mark);
  int over = mark.kind == SLP_POSITION_END, has_place = !over || mark.mark.seq_n;
  if (over && has_place) mark.kind = SLP_POSITION_AFTER;
  if (has_place && slp_position_ahead(&mark, &l->own.saved) && !SLP_MUTANT(hand_over_forgets_place))
    l->own.saved = mark;
  int whole = has_place && (over || l->state == SLP_LEASE_DRAINED);
  slp_shutdown_reason part = why == SLP_RELEASE_HANDOVER ? SLP_SHUTDOWN_HANDED_OVER : SLP_SHUTDOWN_LEFT;
  f->processor->ops->revoke(f->processor, l->shard, whole ? part : SLP_SHUTDOWN_EXPIRED);
}

void slp_lease_release(slp_lease *l, slp_release_reason why) {
  slp_fleet *f = l->f;
  int was_open = slp_lease_in(l, SLP_LEASE_OPEN);
  if (was_open)
    close_processor(l, why);
  else if (slp_position_ahead(&l->own.begin, &l->own.saved))
    /* The lease was taken again, and its shard is not opened yet. `begin` is the position acknowledged before
     * that; it is not in the table yet. */
    l->own.saved = l->own.begin;
  if (why == SLP_RELEASE_STALL)
    slp_lease_shun(l, slp_max_u64(SHUN_US, f->strategy->shun_leases * slp_fleet_lease_us(f)));
  slp_lease_move(l, SLP_LEASE_RELEASING);
  l->release.why = (uint8_t)why;
  l->release.was_open = (uint8_t)was_open;
  /* the release also writes the position that the user wants to be saved */
  if (l->save.request == SLP_SAVE_ASKED) l->save.request = SLP_SAVE_SENT;
  l->own.released_epoch = slp_max_u64(l->own.released_epoch, l->own.epoch + 1);
  slp_lease_release_step(l);
}

void slp_lease_release_again(slp_lease *l, const slp_lease_row *row) {
  SLP_PROBE("lease: released, still its own, and released again");
  l->own.epoch = l->own.row_epoch = row->epoch;
  l->own.saved = row->position;
  slp_lease_note_odd(l, &row->position);
  if (slp_position_ahead(&l->own.begin, &l->own.saved)) l->own.saved = l->own.begin;
  slp_lease_move(l, SLP_LEASE_UNRELEASED);
  l->release.why = SLP_RELEASE_LEAVE;
  l->own.released_epoch = slp_max_u64(l->own.released_epoch, l->own.epoch + 1);
  slp_lease_release_step(l);
}
