/* write_proof.c - proves that the table accepts this worker's writes (write_proof.h). For layouts without
 * rows of workers, in which only leases have counters. */
#include "guest/write_proof.h"

#include "base/probe.h"
#include "core/position.h"
#include "guest/guest.h"
#include "guest/guest_operations.h"
#include "guest/mode.h"
#include "host/host.h"
#include "lease/context.h"
#include "lease/deadline.h"
#include "lease/deadline_part.h"
#include "lease/instance.h"
#include "lease/lease_types.h"
#include "lease/outcome.h"
#include "lease/schema.h"
#include "lease/shard_set.h"
#include "lease/snapshot.h"
#include "lease/worker_life.h"
#include "lease/write.h"

/* Returns the time after which a worker without leases proves again that the table accepts writes. For the
 * proof, it sends a renewal of another worker's lease, which the table refuses. A worker with leases does
 * not need this, because it renews them more often: after a third of a lease time. */
static uint64_t every_us(const slp_fleet *f) { return slp_fleet_lease_us(f) / 5 * 2; }

/* Returns 1 if some lease has an owner whose silence this worker must judge. */
static int must_judge_silence(const slp_fleet *f) {
  return slp_guest_of(f)->write_proof.shard[0] && slp_worker_is(f, SLP_WORKER_RUNS) &&
         slp_proof_is(f, SLP_PROOF_GOOD);
}

static uint64_t due_us(slp_fleet *f) {
  const slp_write_proof *p = &slp_guest_of(f)->write_proof;
  return p->answered_us ? slp_after_us(p->answered_us, every_us(f)) : slp_fleet_now(f);
}

static void set_proof_timer(slp_fleet *f) {
  uint64_t soonest = slp_fleet_now(f) + slp_fleet_lease_us(f) / 20;
  slp_fleet_timer(f, &slp_guest_of(f)->write_proof.timer,
                  slp_guest_of(f)->write_proof.shard[0] ? slp_max_u64(due_us(f), soonest) : SLP_NEVER);
}

/* To be called when a write was answered. A write is answered at least every 2/5 of a lease time, unless the
 * table accepts no writes for a while. Then other workers have the same trouble, so their silence does not
 * prove that they are dead. */
void slp_write_proof_got(slp_fleet *f, uint64_t sent_us) {
  slp_write_proof *p = &slp_guest_of(f)->write_proof;
  uint64_t now = slp_now_refresh_us(f->h), lease_us = slp_fleet_lease_us(f);
  if (p->shard[0] && p->answered_us && now - p->answered_us > lease_us / 2) {
    SLP_PROBE("write proof: none for half a lease");
    slp_fleet_trouble(f);
  }
  p->answered_us = now;
  p->sent_us = slp_max_u64(p->sent_us, sent_us);
}

int slp_write_proof_covers(const slp_fleet *f, uint64_t since_us) {
  return slp_guest_of(f)->write_proof.sent_us >= slp_after_us(since_us, slp_fleet_lease_us(f) / 2);
}

static void on_proof_renewed(slp_write *op) {
  slp_fleet *f = slp_write_fleet(op);
  int fails = op->end == SLP_OUTCOME_GIVEN_UP;
  op->failed_before = fails ? op->failed_before + 1 : 0;
  if (fails)
    slp_fleet_trouble(f);
  else
    slp_write_proof_got(f, op->sent_us);
  set_proof_timer(f);
}

static void on_proof_timer(slp_timer *t) {
  slp_fleet *f = SLP_OWNER(t, slp_guest, write_proof.timer)->f;
  slp_write_proof *p = &slp_guest_of(f)->write_proof;
  if (!must_judge_silence(f) || due_us(f) > slp_fleet_now(f)) {
    set_proof_timer(f);
    return;
  }
  slp_fleet_operation(f, &p->renewal.i, SLP_GUEST_RENEW);
  p->renewal.i.shard = slp_str_of(p->shard);
  p->renewal.tries_max = 1;
  slp_write_send(&p->renewal, on_proof_renewed);
}

/* Returns the row of a lease that another worker owns. A renewal of it by this worker, with the epoch 0, is
 * refused by the table. */
static const slp_lease_row *another_s(const slp_fleet *f, const slp_snapshot *s) {
  for (size_t i = 0; i < s->leases_n; i++) {
    const slp_lease_row *row = &s->leases[i];
    int fits = row->shard.n && row->shard.n <= SLP_SHARD_ID_MAX && row->position.kind != SLP_POSITION_END;
    if (fits && row->owner.n && !slp_str_eq(row->owner, slp_instance_str(&f->me))) return row;
  }
  return NULL;
}

void slp_write_proof_saw(slp_fleet *f, const slp_snapshot *s) {
  slp_write_proof *p = &slp_guest_of(f)->write_proof;
  if (p->renewal.busy) return; /* a renewal that is under way points to p->shard, so it must not be changed */
  const slp_lease_row *row =
      slp_mode_is(f, SLP_MODE_LED) || slp_mode_is(f, SLP_MODE_STRANGE) ? NULL : another_s(f, s);
  /* If there is no owner to judge, or there was none before, the answers until now prove nothing about an
   * owner that is judged later. */
  if (!row || !p->shard[0]) p->answered_us = 0;
  p->shard[0] = 0;
  if (row) {
    memcpy(p->shard, row->shard.p, row->shard.n);
    p->shard[row->shard.n] = 0;
  }
  set_proof_timer(f);
}

void slp_write_proof_init(slp_fleet *f) {
  slp_fleet_timer_init(&slp_guest_of(f)->write_proof.timer, on_proof_timer);
  slp_write_init(&slp_guest_of(f)->write_proof.renewal, &f->writes, f);
}

void slp_write_proof_stop(slp_fleet *f) {
  slp_timer_clear(f->h, &slp_guest_of(f)->write_proof.timer);
  slp_write_stop(&slp_guest_of(f)->write_proof.renewal);
  slp_guest_of(f)->write_proof.shard[0] = 0;
  slp_guest_of(f)->write_proof.answered_us = 0;
}

void slp_write_proof_free(slp_fleet *f) { slp_write_free(&slp_guest_of(f)->write_proof.renewal); }
