/* lease.c - one lease as its worker sees it (lease.h): the table of its states, the last known contents of
 * its row, its one write at a time, and how an ownership begins and ends. */
#include "lease/lease.h"

#include "base/list.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/mutant.h"
#include "base/states.h"
#include "codec/page.h"
#include "core/position.h"
#include "host/host.h"
#include "lease/context.h"
#include "lease/due.h"
#include "lease/fleet_inside.h"
#include "lease/fleet_opts.h"
#include "lease/former.h"
#include "lease/hold.h"
#include "lease/instance.h"
#include "lease/lease_part.h"
#include "lease/processor.h"
#include "lease/read.h"
#include "lease/schema.h"
#include "lease/shard_set.h"
#include "lease/strategy.h"
#include "lease/worker_life.h"
#include "lease/write.h"

/* at most this many urgent writes on leases (slp_strategy.urgent) are under way at once */
#define URGENT_MAX 256

/* ---- states -------------------------------------------------------------------------------------------- */

#define NOT_MINE                                                                       \
  (SLP_BIT(SLP_LEASE_IDLE) | SLP_BIT(SLP_LEASE_EXPECTED) | SLP_BIT(SLP_LEASE_WANTED) | \
   SLP_BIT(SLP_LEASE_CLAIMED))
static const slp_set allowed[] = {
    [SLP_LEASE_IDLE] = NOT_MINE | SLP_BIT(SLP_LEASE_WAITING) | SLP_BIT(SLP_LEASE_UNRELEASED),
    [SLP_LEASE_EXPECTED] = SLP_BIT(SLP_LEASE_IDLE) | SLP_BIT(SLP_LEASE_EXPECTED) |
                           SLP_BIT(SLP_LEASE_CLAIMED) | SLP_BIT(SLP_LEASE_WAITING) |
                           SLP_BIT(SLP_LEASE_UNRELEASED),
    [SLP_LEASE_WANTED] = NOT_MINE | SLP_BIT(SLP_LEASE_WAITING) | SLP_BIT(SLP_LEASE_UNRELEASED),
    [SLP_LEASE_CLAIMED] = NOT_MINE | SLP_BIT(SLP_LEASE_WAITING) | SLP_BIT(SLP_LEASE_UNRELEASED),
    [SLP_LEASE_WAITING] = SLP_BIT(SLP_LEASE_IDLE) | SLP_BIT(SLP_LEASE_OWNED) | SLP_BIT(SLP_LEASE_RELEASING),
    [SLP_LEASE_PARKED] = SLP_BIT(SLP_LEASE_IDLE) | SLP_BIT(SLP_LEASE_RELEASING),
    [SLP_LEASE_OWNED] = SLP_BIT(SLP_LEASE_IDLE) | SLP_BIT(SLP_LEASE_DRAINING) | SLP_BIT(SLP_LEASE_ENDING),
    [SLP_LEASE_DRAINING] = SLP_BIT(SLP_LEASE_IDLE) | SLP_BIT(SLP_LEASE_DRAINED) | SLP_BIT(SLP_LEASE_PARKED) |
                           SLP_BIT(SLP_LEASE_ENDING) | SLP_BIT(SLP_LEASE_RELEASING),
    [SLP_LEASE_DRAINED] = SLP_BIT(SLP_LEASE_IDLE) | SLP_BIT(SLP_LEASE_PARKED) | SLP_BIT(SLP_LEASE_ENDING) |
                          SLP_BIT(SLP_LEASE_RELEASING),
    [SLP_LEASE_ENDING] = SLP_BIT(SLP_LEASE_IDLE) | SLP_BIT(SLP_LEASE_DRAINING) | SLP_BIT(SLP_LEASE_CLOSING) |
                         SLP_BIT(SLP_LEASE_RELEASING),
    [SLP_LEASE_CLOSING] = SLP_BIT(SLP_LEASE_IDLE) | SLP_BIT(SLP_LEASE_ENDING),
    [SLP_LEASE_RELEASING] = SLP_BIT(SLP_LEASE_IDLE) | SLP_BIT(SLP_LEASE_UNRELEASED),
    [SLP_LEASE_UNRELEASED] = SLP_BIT(SLP_LEASE_IDLE) | SLP_BIT(SLP_LEASE_CLAIMED) |
                             SLP_BIT(SLP_LEASE_WAITING) | SLP_BIT(SLP_LEASE_UNRELEASED),
};

void slp_lease_drop_kids(slp_lease *l) {
  slp_free(l->f->mem, l->end.kids);
  slp_free(l->f->mem, l->end.names);
  l->end = (slp_lease_end_part){.kids = NULL};
}

void slp_lease_move(slp_lease *l, slp_lease_state to) {
  slp_set from = SLP_BIT(l->state), at = SLP_BIT(to);
  SLP_MOVE(allowed, l->state, to);
  if (from & SLP_BIT(SLP_LEASE_WAITING)) l->gate = (slp_lease_gate){.wait_ms = 0};
  if (from & SLP_LEASE_OPEN && !(at & SLP_LEASE_OPEN)) slp_lease_drop_kids(l);
  if (from & (SLP_LEASE_HELD | SLP_LEASE_OPEN) && !(at & (SLP_LEASE_OPEN | SLP_BIT(SLP_LEASE_WAITING)))) {
    l->save.dirty = 0;
    l->save.at_us = 0;
  }
  /* Leaving the states in SLP_LEASE_OPEN does not end the user's request for a checkpoint: it ends here, when
   * the ownership is over. The write that releases the lease also saves the position, so the request stays
   * until that write is answered. */
  if (from & SLP_LEASE_MINE && at & (NOT_MINE | SLP_BIT(SLP_LEASE_WAITING) | SLP_BIT(SLP_LEASE_PARKED))) {
    l->save.request = SLP_SAVE_NONE;
    l->release = (slp_lease_release_part){.why = SLP_RELEASE_NONE};
  }
}

/* ---- the leases that this worker knows ----------------------------------------------------------------- */

slp_lease *slp_lease_get(slp_fleet *f, slp_str shard) { return slp_map_get(&f->leases.all, shard); }

/* Restores the few numbers that were kept of the lease while it did not concern this worker (former.h). */
static void recall_former_numbers(slp_lease *l) {
  slp_former_numbers numbers;
  if (!slp_former_take(&l->f->leases.former, l->shard, &numbers)) return;
  l->row.epoch = numbers.epoch;
  l->row.ended = numbers.ended;
  l->row.ended_epoch = numbers.ended_epoch;
  l->own.released_epoch = numbers.released_epoch;
}

slp_lease *slp_lease_make(slp_fleet *f, slp_str shard) {
  slp_lease *l = slp_lease_get(f, shard);
  if (l || !shard.n || shard.n > SLP_SHARD_ID_MAX) return l;
  l = slp_zalloc(f->mem, sizeof *l + f->strategy->lease_bytes);
  char *id = l ? slp_strdup(f->mem, shard) : NULL;
  if (!id) {
    slp_free(f->mem, l);
    return NULL;
  }
  l->f = f;
  l->guest = l + 1;
  l->shard = (slp_str){id, shard.n};
  l->poll.row_us = l->poll.step_us = SLP_NEVER;
  slp_write_init(&l->op, &f->writes, l);
  if (slp_map_put(&f->leases.all, l->shard, l) == 0) {
    recall_former_numbers(l);
    return l;
  }
  slp_free(f->mem, id);
  slp_free(f->mem, l);
  return NULL;
}

static void drop_text(slp_mem *mem, slp_str *s) {
  slp_free(mem, (void *)(uintptr_t)s->p);
  *s = (slp_str){NULL, 0};
}

void slp_lease_free(slp_lease *l) {
  slp_mem *mem = l->f->mem;
  slp_list_remove(&l->touched);
  slp_list_remove(&l->turn);
  slp_write_free(&l->op);
  slp_lease_drop_kids(l);
  for (int k = 0; k < 2; k++) drop_text(mem, &l->row.parents[k]);
  drop_text(mem, &l->shard);
  slp_free(mem, l);
}

void slp_leases_init(slp_fleet *f) {
  slp_map_init(&f->leases.all, f->mem);
  slp_former_init(&f->leases.former, f->mem);
  slp_list_init(&f->leases.turns);
}

void slp_leases_stop(slp_fleet *f) {
  size_t at = 0;
  for (slp_lease *l; (l = slp_lease_each(f, &at));) {
    slp_write_stop(&l->op);
    l->poll.row_us = l->poll.step_us = SLP_NEVER;
    slp_list_remove(&l->turn);
  }
  f->leases.writes = 0;
}

void slp_leases_free(slp_fleet *f) {
  size_t at = 0;
  for (slp_lease *l; (l = slp_lease_each(f, &at));) slp_lease_free(l);
  slp_map_free(&f->leases.all);
  slp_former_free(&f->leases.former);
}

slp_lease *slp_lease_each(slp_fleet *f, size_t *at) { return slp_map_each(&f->leases.all, at); }

uint32_t slp_leases_held(slp_fleet *f) {
  uint32_t n = 0;
  size_t at = 0;
  for (slp_lease *l; (l = slp_lease_each(f, &at));) n += (uint32_t)slp_lease_in(l, SLP_LEASE_HELD);
  return n;
}

uint32_t slp_leases_unreleased(slp_fleet *f) {
  uint32_t n = 0;
  size_t at = 0;
  for (slp_lease *l; (l = slp_lease_each(f, &at));)
    n += slp_lease_in(l, SLP_LEASE_MINE) || l->op.busy || l->succession.freed;
  return n;
}

void slp_leases_of_fleet(slp_fleet *f, uint64_t n) { f->leases.of_fleet = n; }
uint64_t slp_leases_version(const slp_fleet *f) { return f->leases.version; }
void slp_leases_set_version(slp_fleet *f, uint64_t version) { f->leases.version = version; }

/* After FORGET_MINUTES no copy of a write of this worker can still be under way, so the numbers that are kept
 * of the lease (former.h) may be forgotten. */
#define FORGET_MINUTES 60
/* when a lease has not concerned this worker for this time, only its numbers are kept */
#define FORMER_MINUTES 5
/* slp_leases_forget acts at most once in this time. It is called every minute, give or take a tenth. */
#define MINUTE_US 50000000

/* Returns 1 if the lease does not concern this worker, and nothing is planned for it. */
static int is_nothing(const slp_lease *l) {
  return l->state == SLP_LEASE_IDLE && !l->want.assigned && !l->want.inherited && !l->op.busy &&
         !slp_list_linked(&l->touched) && !slp_list_linked(&l->turn) &&
         l->want.shunned_us <= slp_fleet_now(l->f) && l->poll.row_us == SLP_NEVER &&
         l->poll.step_us == SLP_NEVER;
}

/* Replaces the lease by its numbers (former.h). If there is no memory for them, the lease stays. */
static void make_former(slp_lease *l) {
  slp_worker_leases *all = &l->f->leases;
  slp_former_numbers numbers = {l->row.epoch, l->own.released_epoch, l->row.ended_epoch, l->row.ended};
  if (slp_former_keep(&all->former, l->shard, &numbers)) return;
  slp_map_remove(&all->all, l->shard);
  slp_lease_free(l);
}

void slp_leases_forget(slp_fleet *f) {
  slp_worker_leases *all = &f->leases;
  uint64_t now = slp_fleet_now(f);
  size_t at = 0;
  if (now < all->forget_us) return;
  all->forget_us = now + MINUTE_US;
  slp_former_age(&all->former, FORGET_MINUTES);
  for (slp_lease *l; (l = slp_lease_each(f, &at));) {
    l->idle_minutes = is_nothing(l) ? (uint8_t)slp_min_u64(l->idle_minutes + 1u, FORMER_MINUTES) : 0;
    if (l->idle_minutes == FORMER_MINUTES) make_former(l);
  }
}

/* ---- whether the lease is wanted ----------------------------------------------------------------------- */

int slp_lease_wanted(const slp_lease *l) {
  slp_fleet *f = l->f;
  const slp_lease_want *w = &l->want;
  if (!slp_worker_is(f, SLP_WORKER_RUNS) || l->row.ended || !(w->assigned || w->inherited)) return 0;
  if (!slp_hold_is(f, SLP_HOLD_OFF)) return 0;
  return !w->shunned_us || w->shunned_assignment != slp_leases_version(f) ||
         slp_fleet_now(f) >= w->shunned_us;
}

void slp_lease_choose(slp_lease *l) {
  l->want.assigned = 1;
  l->want.shunned_us = 0;
  if (!slp_lease_in(l, SLP_LEASE_SOUGHT)) slp_lease_move(l, SLP_LEASE_WANTED);
}

void slp_lease_unchoose(slp_lease *l) { l->want.assigned = 0; }

void slp_lease_forget(slp_lease *l) {
  slp_lease_unwant(l);
  slp_lease_move(l, SLP_LEASE_IDLE);
  slp_lease_touch(l);
}

void slp_lease_shun(slp_lease *l, uint64_t us) {
  l->want.shunned_assignment = slp_leases_version(l->f);
  l->want.shunned_us = slp_fleet_now(l->f) + us;
}

void slp_lease_unwant(slp_lease *l) { l->want.assigned = l->want.inherited = 0; }

void slp_lease_assign(slp_lease *l) { l->want.named = 1; }

void slp_lease_assigned(slp_lease *l, int keep) {
  int assigned = l->want.named || (keep && l->want.assigned);
  if (l->want.named || assigned != l->want.assigned) slp_lease_touch(l);
  l->want.assigned = (uint8_t)assigned;
  l->want.named = 0;
  /* Another worker will soon claim the lease. A table that serves few reads is not asked more often. */
  if (assigned || !slp_lease_in(l, SLP_LEASE_HELD) || slp_fleet_is_scarce(l->f)) return;
  l->poll.often_us = slp_fleet_now(l->f) + SLP_LEASE_ALERT_US;
  slp_lease_poll(l, slp_fleet_now(l->f));
}

void slp_lease_doubt_end(slp_lease *l) {
  int nothing = l->state == SLP_LEASE_IDLE || l->state == SLP_LEASE_EXPECTED;
  if (l->want.assigned && l->row.ended && nothing) slp_lease_poll(l, slp_fleet_now(l->f));
}

void slp_lease_inherit(slp_lease *l) {
  l->want.inherited = 1;
  slp_lease_touch(l);
}

/* ---- when the lease is looked at next ------------------------------------------------------------------ */

/* times that are at least FAR_US away are rounded up to a multiple of GRID_US or more (on_grid) */
#define FAR_US 1000000
#define GRID_US UINT64_C(50000)

/* Rounds a time up to a multiple of the grid. Leases that are due far from now are then due at the same time,
 * so one pass over all leases serves many of them. The more leases, the larger the grid. */
static uint64_t on_grid(slp_fleet *f, uint64_t at_us) {
  uint64_t grid = GRID_US * (1 + slp_min_u64(f->leases.all.live / 1000, 3));
  return at_us > SLP_NEVER - grid ? at_us : (at_us + grid - 1) / grid * grid;
}

void slp_leases_touch_waiting(slp_fleet *f) {
  size_t at = 0;
  for (slp_lease *l; (l = slp_lease_each(f, &at));)
    if (l->state == SLP_LEASE_WAITING) slp_lease_touch(l);
}

void slp_lease_step_at(slp_lease *l, uint64_t at_us) {
  uint64_t later = on_grid(l->f, at_us);
  if (l->poll.step_us <= later) return;
  if (at_us >= slp_fleet_now(l->f) + FAR_US) at_us = later;
  l->poll.step_us = at_us;
  slp_poll_soon(l->f, at_us);
}

/* ---- what the row says --------------------------------------------------------------------------------- */

/* Remembers the ids of the shard's parents. Returns 0 or SLP_ENOMEM. */
static int know_parents(slp_lease *l, const slp_str parents[2]) {
  slp_mem *mem = l->f->mem;
  slp_str *known = l->row.parents;
  for (int k = 0; k < 2; k++) {
    slp_str parent = parents[k];
    /* The row and the listing may have the parents in different orders. A parent that is known keeps its
     * index, because gate.parents has the same index. */
    if (!parent.n || slp_str_eq(parent, known[0]) || slp_str_eq(parent, known[1])) continue;
    int at = known[k].n && !known[1 - k].n ? 1 - k : k;
    char *p = slp_strdup(mem, parent);
    if (!p) return SLP_ENOMEM;
    drop_text(mem, &known[at]);
    known[at] = (slp_str){p, parent.n};
    l->gate.parents[at] = SLP_PARENT_UNFINISHED;
  }
  return 0;
}

int slp_lease_know_parents(slp_lease *l, const slp_shard_desc *d) {
  const slp_str parents[2] = {d->parent, d->adjacent_parent};
  return know_parents(l, parents);
}

int slp_lease_read_image(slp_lease *l, const slp_lease_row *row, uint64_t done_us) {
  slp_lease_image *image = &l->row;
  if (know_parents(l, row->parents)) return SLP_ENOMEM;
  if (!slp_str_eq(slp_instance_str(&image->owner), row->owner)) image->owner_us = done_us;
  if (!slp_str_eq(slp_instance_str(&image->claim), row->claim)) image->claim_us = done_us;
  if (row->epoch != image->epoch || !slp_str_eq(slp_instance_str(&image->owner), row->owner))
    image->take_us = 0;
  slp_instance_set(&image->owner, row->owner);
  slp_instance_set(&image->claim, row->claim);
  image->epoch = row->epoch;
  image->claim_version = row->claim_version;
  image->claim_asks = row->claim_asks;
  image->rate_bytes = row->rate_bytes;
  image->refused_n = row->refused_n;
  image->paused = row->paused;
  image->position = row->position;
  if (row->position.kind == SLP_POSITION_END) {
    image->ended = 1;
    image->ended_epoch = row->epoch;
  } else if (image->ended && row->epoch > image->ended_epoch) {
    /* The row no longer shows the END. No worker undoes an END, so an operator has set the position back. */
    image->ended = 0;
  }
  return 0;
}

void slp_lease_quote_claim(const slp_lease *l, slp_operation *i) {
  i->claim = slp_instance_str(&l->row.claim);
  i->claim_asks = l->row.claim_asks;
}

void slp_lease_ended(slp_lease *l, uint64_t epoch) {
  l->row.ended = 1;
  l->row.ended_epoch = epoch;
  l->want.inherited = 0;
}

int slp_lease_seen(slp_fleet *f, slp_str shard) {
  const slp_lease *l = slp_lease_get(f, shard);
  return l ? l->row.epoch || l->own.released_epoch : slp_former_has(&f->leases.former, shard);
}

/* ---- the one write ------------------------------------------------------------------------------------- */

static void on_lease_write_answered(slp_write *op) {
  slp_lease *l = op->owner;
  l->f->leases.writes--;
  slp_due_step(l->f); /* one write less is under way, so the next lease in the queue may write */
  l->on_answer(op);
}

int slp_lease_may_write(const slp_fleet *f, slp_operation_kind kind) {
  int urgent = slp_set_has(f->strategy->urgent, kind);
  return f->leases.writes < (urgent ? URGENT_MAX : slp_writes_window(&f->writes, SLP_LEASE_WRITES_MAX));
}

/* Puts the lease into the queue of leases that wait to write. A lease in ENDING goes to the front. Behind
 * thousands of TAKEs, the rows of its children would be created late. */
void slp_lease_wait_turn(slp_lease *l) {
  slp_list *turns = &l->f->leases.turns;
  if (slp_list_linked(&l->turn)) return;
  if (l->state == SLP_LEASE_ENDING)
    slp_list_add_first(turns, &l->turn);
  else
    slp_list_add_last(turns, &l->turn);
}

int slp_leases_next_turns(slp_fleet *f) {
  size_t most = slp_writes_window(&f->writes, SLP_LEASE_WRITES_MAX);
  for (size_t n = f->leases.writes; n < most; n++) {
    slp_list *it = slp_list_pop(&f->leases.turns);
    if (!it) return 0;
    slp_lease_touch(SLP_OWNER(it, slp_lease, turn));
  }
  return f->leases.writes < most && !slp_list_empty(&f->leases.turns);
}

int slp_lease_send(slp_lease *l, slp_operation_kind kind, void (*on_answer)(slp_write *op)) {
  slp_fleet *f = l->f;
  if (!slp_lease_may_write(f, kind)) {
    if (slp_set_has(f->strategy->urgent, kind))
      slp_lease_step_at(l, slp_fleet_now(f) + 20000);
    else
      slp_lease_wait_turn(l);
    return 0;
  }
  f->leases.writes++;
  l->on_answer = on_answer;
  l->op.i.kind = kind;
  if (!l->op.i.shard.n) l->op.i.shard = l->shard;
  slp_write_send(&l->op, on_lease_write_answered);
  return 1;
}

/* Remembers how the row spells the number of the position. This worker's own writes use the canonical text,
 * so own.odd needs no update when they are answered. */
void slp_lease_note_odd(slp_lease *l, const slp_position *position) {
  l->own.odd = (slp_position){.kind = SLP_POSITION_NONE};
  if (position->mark.row_n) l->own.odd = *position;
}

/* ---- ownerships begin and end -------------------------------------------------------------------------- */

void slp_lease_begin(slp_lease *l, uint64_t epoch, const slp_position *position) {
  slp_lease_own *own = &l->own;
  slp_lease_move(l, SLP_LEASE_WAITING);
  own->epoch = own->row_epoch = epoch;
  own->saved = own->begin = *position;
  slp_lease_note_odd(l, position);
  own->since_us = slp_now_refresh_us(l->f->h);
  own->behind_ms = -1;
  if (l->f->strategy->begun) l->f->strategy->begun(l);
  slp_lease_touch(l);
}

void slp_lease_begin_write(slp_lease *l, const slp_write *op) {
  uint64_t now = slp_fleet_now(l->f);
  if (op->row.kind == SLP_ROW_LEASE && slp_lease_read_image(l, &op->row.u.lease, now) == 0 &&
      op->row.u.lease.epoch == slp_epoch_after(&op->i)) {
    slp_position known = l->own.saved;
    slp_lease_begin(l, slp_epoch_after(&op->i),
                    SLP_MUTANT(begins_where_it_was) && known.kind ? &known : &op->row.u.lease.position);
    const slp_strategy *strategy = l->f->strategy;
    if (strategy->wrote) strategy->wrote(l, op);
    /* This worker had the lease before, and no other worker had it in between. So records that were
     * acknowledged after the last checkpoint still count. */
    int counts = op->i.kind == SLP_OPERATION_RETAKE || (strategy->restores && strategy->restores(l));
    if (counts && slp_position_ahead(&known, &l->own.saved)) {
      l->own.begin = known;
      l->save.dirty = 1;
    }
    return;
  }
  /* The lease is this worker's, but the answer does not show its row. The row must be read, to know where
   * reading of the shard begins. */
  slp_lease_move(l, SLP_LEASE_CLAIMED);
  slp_lease_poll(l, now);
}

void slp_lease_gone(slp_lease *l, slp_shutdown_reason why) {
  slp_fleet *f = l->f;
  int told = slp_lease_in(l, SLP_LEASE_OPEN) || l->release.was_open;
  if (slp_lease_in(l, SLP_LEASE_MINE))
    l->own.released_epoch = slp_max_u64(l->own.released_epoch, l->own.epoch + 1);
  if (slp_lease_in(l, SLP_LEASE_OPEN)) f->processor->ops->revoke(f->processor, l->shard, why);
  slp_lease_move(l, SLP_LEASE_IDLE);
  slp_lease_touch(l);
  if (f->strategy->gone) f->strategy->gone(l);
  if (!told) return;
  if (why == SLP_SHUTDOWN_LOST) {
    f->stats.lost++;
    slp_fleet_tell(f, SLP_FLEET_LOST, l->shard, l->own.epoch, "somebody else has it");
  } else if (why == SLP_SHUTDOWN_ENDED) {
    f->stats.ended++;
    slp_fleet_tell(f, SLP_FLEET_ENDED_SHARD, l->shard, l->own.epoch, "read to its end");
  } else {
    f->stats.released++;
    slp_fleet_tell(f, SLP_FLEET_RELEASED, l->shard, l->own.epoch, "given up");
  }
}
