/* counter.c - a worker proves by the rows of its leases that it is alive. Each row has a counter that its
 * owner raises, or a wall-clock time at which the lease runs out. Both are called the counter here.
 *   - Each write of a lease raises its counter, including a checkpoint. So when a renewal is due and there is
 *     a position to save, a checkpoint is sent instead.
 *   - A worker that finds the counter as it left it still owns the lease, whatever happened meanwhile: a take
 *     by another worker would have raised the counter. So a worker that was stopped for a while keeps its
 *     leases, unless a renewal is refused. */
#include "guest/counter.h"

#include "base/probe.h"
#include "guest/common_name.h"
#include "guest/entry.h"
#include "guest/guest.h"
#include "guest/guest_operations.h"
#include "guest/mode.h"
#include "guest/write_proof.h"
#include "host/host.h"
#include "lease/context.h"
#include "lease/deadline.h"
#include "lease/deadline_part.h"
#include "lease/due.h"
#include "lease/fleet_opts.h"
#include "lease/lease.h"
#include "lease/lease_part.h"
#include "lease/lease_types.h"
#include "lease/outcome.h"
#include "lease/processor.h"
#include "lease/schema.h"
#include "lease/seen.h"
#include "lease/silence.h"
#include "lease/strategy.h"
#include "lease/write.h"

/* while another write of the lease is under way, its renewal is tried again after this time */
#define BUSY_US 20000
/* after a renewal that was refused for no visible reason, the next one is sent after this time */
#define RETRY_US 200000

/* ---- the proof of life ------------------------------------------------------------------------- */

uint64_t slp_counter_good_us(slp_fleet *f, int exact) {
  if (!exact) return slp_proof_us(f);
  size_t at = 0;
  uint64_t oldest = SLP_NEVER;
  for (slp_lease *l; (l = slp_lease_each(f, &at));)
    if (slp_lease_in(l, SLP_LEASE_OPEN)) oldest = slp_min_u64(oldest, slp_guest_lease_of(l)->counter.good_us);
  slp_proof_set(f, oldest);
  return oldest;
}

int slp_counter_may_open(slp_lease *l) {
  slp_fleet *f = l->f;
  if (slp_guest_rules_of(f)->settles && !slp_guest_lease_of(l)->counter.settled)
    return 0; /* too early: until a renewal sets `settled`, this lease is not opened */
  if (slp_now_refresh_us(f->h) >=
      slp_after_us(slp_guest_lease_of(l)->counter.good_us, slp_fleet_lease_us(f) / 10 * 8))
    return 0;
  slp_deadline_adds(f, slp_guest_lease_of(l)->counter.good_us);
  return 1;
}

/* Returns the time between two renewals of a lease. */
static uint64_t period_us(slp_fleet *f) {
  uint64_t third = slp_fleet_lease_us(f) / 3, tick = slp_guest_rules_of(f)->tick_us;
  return slp_fleet_jitter(f, tick ? slp_min_u64(third, tick) : third, 10);
}

void slp_counter_wrote(slp_lease *l, const slp_write *op) {
  slp_fleet *f = l->f;
  uint64_t sent_us = slp_guest_rules_of(f)->of_first ? op->first_sent_us : op->sent_us;
  slp_write_proof_got(f, op->sent_us);
  l->own.row_epoch = slp_epoch_after(&op->i);
  slp_guest_lease_of(l)->counter.good_us = sent_us;
  slp_guest_lease_of(l)->counter.renew_us = slp_after_us(sent_us, period_us(f));
  if (!slp_guest_lease_of(l)->counter.settled && op->i.kind != SLP_OPERATION_TAKE) slp_lease_touch(l);
  slp_guest_lease_of(l)->counter.settled = op->i.kind != SLP_OPERATION_TAKE;
  l->own.since_us = slp_now_refresh_us(f->h);
  if (slp_guest_lease_of(l)->counter.renew_us < slp_beat_at_us(f))
    slp_beat_at(f, slp_guest_lease_of(l)->counter.renew_us);
  slp_deadline_check(f);
}

/* To be called when an ownership ends. Raises row_epoch to the counter that this worker's last write has left
 * or found in the row, because the next take continues from row_epoch. A take counts as made if the row has
 * this worker's name and the counter that the take would leave; so no earlier write of this worker may have
 * left the same. */
void slp_counter_gone(slp_lease *l) {
  const slp_write *op = &l->op;
  const slp_lease_row *row = &op->row.u.lease;
  int of_it = slp_str_eq(op->i.shard, l->shard);
  if (of_it && op->end == SLP_OUTCOME_DONE)
    l->own.row_epoch = slp_max_u64(l->own.row_epoch, slp_epoch_after(&op->i));
  if (of_it && op->row.kind == SLP_ROW_LEASE) l->own.row_epoch = slp_max_u64(l->own.row_epoch, row->epoch);
  if (!slp_proof_is(l->f, SLP_PROOF_GOOD))
    /* this lease's last renewal may have been the only one that was too old, so the worker may be resumed */
    slp_deadline_check(l->f);
}

void slp_counter_begun(slp_lease *l) {
  slp_guest_lease_of(l)->load = (slp_lease_load){.rate_bytes = l->row.rate_bytes};
}

/* ---- renewals ---------------------------------------------------------------------------------- */

static const slp_operation_extra with_rate = {.tells_rate = 1};

/* Adds to the write how many bytes a second the shard delivers: the mean of the rate since the bytes were
 * last counted, and the average before that. The KCL does the same with each renewal (project
 * amazon-kinesis-client: Lease, with an exponential moving average of one half). If the bytes were counted
 * less than a quarter of a lease time ago, the known average is written again. The KCL renews the lease of an
 * ended shard until the average has fallen to nothing; here the operation END writes 0. */
void slp_counter_tell_rate(slp_lease *l, slp_operation *i) {
  slp_fleet *f = l->f;
  slp_lease_load *load = &slp_guest_lease_of(l)->load;
  uint64_t now = slp_fleet_now(f), us = now - load->at_us;
  if (!slp_mode_publishes(f) || !f->processor->ops->bytes || !slp_lease_in(l, SLP_LEASE_OPEN)) return;
  if (i->kind == SLP_OPERATION_END) {
    load->rate_bytes = 0;
  } else if (!load->at_us || us >= slp_fleet_lease_us(f) / 4) {
    uint64_t bytes = f->processor->ops->bytes(f->processor, l->shard);
    int64_t rate = load->at_us && bytes > load->bytes ? (int64_t)((bytes - load->bytes) * 1000000 / us) : 0;
    if (load->at_us) load->rate_bytes = load->rate_bytes < 0 ? rate : (load->rate_bytes + rate) / 2;
    load->at_us = now;
    load->bytes = bytes;
  }
  i->rate_bytes = load->rate_bytes;
  i->extra = &with_rate;
}

static void renew_soon(slp_lease *l, uint64_t us) {
  slp_fleet *f = l->f;
  slp_guest_lease_of(l)->counter.renew_us = slp_after_us(slp_fleet_now(f), us);
  if (slp_guest_lease_of(l)->counter.renew_us < slp_beat_at_us(f))
    slp_beat_at(f, slp_guest_lease_of(l)->counter.renew_us);
}

/* Handles a renewal that was refused although the counter is as this worker left it: a leader has written the
 * next owner's name into the row. This worker still has the lease, so it renews the lease again, now on the
 * condition that the row has the next owner's name. */
static void was_claimed(slp_lease *l, const slp_write *op) {
  if (op->row.kind == SLP_ROW_LEASE) slp_lease_read_image(l, &op->row.u.lease, slp_fleet_now(l->f));
  renew_soon(l, l->row.claim.n ? 0 : RETRY_US);
}

static void on_renewal_answered(slp_write *op) {
  slp_lease *l = op->owner;
  slp_lease_touch(l);
  if (op->end == SLP_OUTCOME_UNCHANGED) {
    was_claimed(l, op);
    return;
  }
  if (op->end != SLP_OUTCOME_DONE) {
    slp_lease_gone(l, SLP_SHUTDOWN_LOST);
    return;
  }
  l->f->stats.heartbeats++;
  slp_counter_wrote(l, op);
  /* Reads the claim from the row: there may be a new one, or the known one may have been removed. */
  if ((l->row.claim.n || slp_guest_rules_of(l->f)->asks) && op->row.kind == SLP_ROW_LEASE)
    slp_lease_read_image(l, &op->row.u.lease, slp_fleet_now(l->f));
}

static int send_renewal(slp_lease *l) {
  slp_operation *i = &l->op.i;
  if (slp_lease_put(l)) return 1;
  slp_fleet_operation(l->f, i, SLP_GUEST_RENEW);
  i->epoch = l->own.row_epoch;
  slp_lease_quote_claim(l, i);
  slp_counter_tell_rate(l, i);
  l->op.tries_max = 0;
  return slp_lease_send(l, SLP_GUEST_RENEW, on_renewal_answered);
}

void slp_counter_park(slp_lease *l) {
  slp_fleet *f = l->f;
  if (slp_lease_put(l)) return;
  SLP_PROBE("lease: kept shut, parked");
  f->processor->ops->revoke(f->processor, l->shard, SLP_SHUTDOWN_LEFT);
  l->own.begin = l->own.saved;
  l->parked_us = slp_fleet_now(f);
  slp_lease_move(l, SLP_LEASE_PARKED);
  slp_fleet_tell(f, SLP_FLEET_RELEASED, l->shard, l->own.epoch,
                 "parked: this worker keeps it, unread, while it runs");
}

void slp_counter_beat(slp_fleet *f) {
  uint64_t now = slp_now_refresh_us(f->h), slack = slp_fleet_lease_us(f) / 40, next = SLP_NEVER;
  size_t at = 0;
  for (slp_lease *l; (l = slp_lease_each(f, &at));) {
    if (!slp_lease_in(l, SLP_LEASE_HELD)) continue;
    if (slp_guest_lease_of(l)->counter.renew_us > now + slack)
      next = slp_min_u64(next, slp_guest_lease_of(l)->counter.renew_us);
    /* another write of this lease is under way, or too many writes on other leases are */
    else if (l->op.busy || !send_renewal(l))
      next = slp_min_u64(next, now + BUSY_US);
  }
  slp_beat_at(f, next);
}

/* ---- other workers ----------------------------------------------------------------------------- */

void slp_counter_saw(slp_fleet *f, slp_seen_shard *seen, const slp_lease_row *row, uint64_t done_us) {
  slp_sign sign = f->strategy->sign(row, slp_wall_ms(f->h), slp_fleet_now(f), f->o.lease_ms);
  if (!slp_guest_seen_of(seen)->silence.reads) slp_guest_seen_of(seen)->born_free = !row->owner.n;
  if (row->owner.n) slp_guest_seen_of(seen)->born_free = 0;
  slp_silence_saw(&slp_guest_seen_of(seen)->silence, &sign, done_us, slp_fleet_trouble_us(f));
}

int slp_counter_dead(slp_fleet *f, const slp_seen_shard *seen, uint32_t leases) {
  if (!slp_proof_is(f, SLP_PROOF_GOOD) ||
      !slp_write_proof_covers(f, slp_guest_seen_of(seen)->silence.since_us))
    return 0;
  uint64_t at = slp_strategy_dead_us(f->strategy, &slp_guest_seen_of(seen)->silence,
                                     leases * slp_fleet_lease_us(f), slp_fleet_trouble_us(f));
  return at != SLP_NEVER && slp_now_refresh_us(f->h) >= at;
}

/* Joins with a new incarnation. Each life of a worker needs a name of its own, because a counter does not
 * show which of two lives with the same name has raised it. */
void slp_counter_join(slp_fleet *f) {
  slp_common_name_take(f);
  slp_proof_set(f, SLP_NEVER);
  slp_beat_at(f, SLP_NEVER);
  slp_entry_begin(f, slp_guest_rules_of(f)->joins ? slp_guest_rules_of(f)->joins : slp_mode_begin);
}
