/* steal.c - how leases are shared without a leader, as in KCL 2. About once in a lease time, each worker
 * reads the whole table (a round) and chooses leases by steal_rule.c: leases that are free, or whose owner is
 * dead. If there are none, and this worker holds too few leases, it chooses one lease of the worker that
 * holds the most. The write that takes a lease has the counter that was read as its condition, and raises it.
 * So the former owner learns of the take when its next write is refused. If the owner is a worker of sloop,
 * it is asked for the lease first, and hands it over. */
#include "guest/steal.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/mutant.h"
#include "base/probe.h"
#include "base/states.h"
#include "codec/page.h"
#include "core/position.h"
#include "guest/ask_owner.h"
#include "guest/common_name.h"
#include "guest/counter.h"
#include "guest/guest.h"
#include "guest/guest_rules.h"
#include "guest/mode.h"
#include "guest/steal_part.h"
#include "guest/strategies.h"
#include "guest/write_proof.h"
#include "host/host.h"
#include "lease/bulk_write.h"
#include "lease/context.h"
#include "lease/deadline.h"
#include "lease/deadline_part.h"
#include "lease/due.h"
#include "lease/fleet_opts.h"
#include "lease/instance.h"
#include "lease/lease.h"
#include "lease/lease_part.h"
#include "lease/lease_rules.h"
#include "lease/lease_types.h"
#include "lease/outcome.h"
#include "lease/read.h"
#include "lease/refused.h"
#include "lease/row_poll.h"
#include "lease/schema.h"
#include "lease/seen.h"
#include "lease/shard_listing.h"
#include "lease/shard_sync.h"
#include "lease/shut.h"
#include "lease/snapshot.h"
#include "lease/store.h"
#include "lease/strategy.h"
#include "lease/worker.h"
#include "lease/worker_life.h"
#include "lease/write.h"

#define LISTED_US UINT64_C(10000000) /* a listing of the stream that is older than this is not used */
/* if listings have lacked a shard for longer than this, the shard is gone */
#define UNLISTED_US UINT64_C(60000000)
#define FIRST_US 200000 /* the first reads of workers that start at the same time are spread over this time */
/* after a round that failed or could not begin, the next one begins after this time */
#define RETRY_US 300000
/* Least time between two listings that serve only to forget shards. */
#define FORGET_US UINT64_C(3600000000)
#define STEAL_MAX 1 /* at most this many leases are taken from a living worker at a time */
/* Numbers of lease times. OLD_LEASES: a lease that was not renewed for this long is taken even beyond the
 * fair share. FRESH_LEASES: see is_fresh. END_LEASES: this long after a shard's end its children should
 * have been read in part. */
#define OLD_LEASES 3
#define FRESH_LEASES 2
#define END_LEASES 3

static void round_in(slp_fleet *f, uint64_t us) {
  slp_fleet_timer(f, &slp_guest_of(f)->stealing.timer, slp_after_us(slp_fleet_now(f), us));
}

static int is_reading(const slp_fleet *f) {
  return slp_guest_of(f)->stealing.read.busy || slp_mode_is_reading(f);
}

/* ---- taking ------------------------------------------------------------------------------------ */

/* Returns 1 if the leader has assigned the lease to this worker, and no other worker still has to hand it
 * over. */
static int is_given(const slp_fleet *f, const slp_lease_row *row) {
  return slp_str_eq(row->owner, slp_instance_str(&f->me)) && (!row->claim.n || row->claim_asks);
}

/* Returns 1 if this row was read before this worker's own last write of the row. */
static int is_old(const slp_lease *l, const slp_lease_row *row) {
  return slp_guest_rules_of(l->f)->grows && row->epoch < l->own.row_epoch;
}

/* ---- asking: the owner and this worker are both workers of sloop --------------------------------------- */

/* Returns which owners are asked for a lease before it is taken. Returns SLP_ASKS_NOBODY if rows have no
 * attribute for a claim. */
static slp_asks owners_to_ask(const slp_fleet *f) {
  int can = slp_set_has(f->schema->operations, SLP_OPERATION_CLAIM);
  return can ? (slp_asks)slp_guest_rules_of(f)->asks : SLP_ASKS_NOBODY;
}

/* Returns 1 if the owner of the row can be asked for the lease. An owner that is asked saves its position and
 * gives the lease up, so that no record is handed out twice. A worker of the KCL can't be asked, nor can an
 * owner whose lease a leader is moving to another worker. */
static int asks_owner(const slp_fleet *f, const slp_lease_row *row) {
  slp_str id, incarnation;
  if (owners_to_ask(f) != SLP_ASKS_OURS) return owners_to_ask(f) == SLP_ASKS_ALL;
  return slp_instance_split(row->owner, &id, &incarnation) && (!row->claim.n || row->claim_asks);
}

/* Returns how long an owner that was asked may take to hand the lease over. An owner that takes longer runs a
 * version of sloop that does not read claims. */
static uint64_t patience_us(const slp_fleet *f) {
  return (uint64_t)f->o.handover_ms * 1000 + slp_fleet_lease_us(f);
}

/* Decides whether this worker waits until a living owner hands the lease over. Returns 0 if the lease is
 * to be taken now. Returns 1 otherwise: the row is read again soon, this worker's claim is written, or the
 * choice is dropped. */
static int wait_for_owner(slp_lease *l, const slp_lease_row *row) {
  slp_fleet *f = l->f;
  slp_str from = slp_instance_str(&slp_guest_lease_of(l)->choice.from);
  int may = slp_guest_lease_of(l)->choice.until_us && slp_str_eq(row->owner, from) && asks_owner(f, row);
  /* If this worker was stopped for a while, the owner may have been stopped too. So the time that the owner
   * has begins again. */
  uint64_t back_us = slp_fleet_back_us(f), until_us = back_us ? slp_after_us(back_us, patience_us(f)) : 0;
  until_us = slp_max_u64(until_us, slp_guest_lease_of(l)->choice.until_us);
  if (!may || slp_fleet_now(f) >= until_us || slp_ask_owner_is_dead(l, row)) return 0;
  if (slp_ask_is_mine(l, row))
    slp_ask_look_soon(l);
  else if (l->state == SLP_LEASE_WANTED)
    slp_lease_claim(l);
  else
    slp_choice_forget(l); /* the row has the claim of another worker */
  return 1;
}

/* Returns 1 if a program of the other system (such as motorway) has replaced this worker's row by a row
 * for a new shard. That happens if the program looked for the row before this worker created it. This
 * worker still knows the position that it saved. */
int slp_steal_is_put_anew(const slp_lease *l, const slp_lease_row *row) {
  slp_str id, incarnation;
  int begins = row->position.kind == SLP_POSITION_OLDEST || row->position.kind == SLP_POSITION_LATEST ||
               row->position.kind == SLP_POSITION_TIME;
  return slp_guest_rules_of(l->f)->settles && begins && row->owner.n && !row->stranger &&
         !slp_instance_split(row->owner, &id, &incarnation) &&
         slp_position_cmp(&row->position, &l->own.saved) < 0;
}

/* ---- a row that was read on its own --------------------------------------------------------------- */

/* Handles the row of one lease that was read by itself. A row is read by itself for three reasons: the lease
 * is of a child of a shard that this worker has read; or the lease was chosen from a list that took long; or
 * the lease's owner was asked for the lease. */
void slp_steal_met(slp_lease *l, const slp_lease_row *parsed) {
  slp_str me = slp_instance_str(&l->f->me), from = slp_instance_str(&slp_guest_lease_of(l)->choice.from);
  int free = !parsed->owner.n || slp_str_eq(parsed->owner, me);
  int as_chosen = slp_guest_lease_of(l)->choice.counter == parsed->epoch + 1 ||
                  (from.n && slp_str_eq(parsed->owner, from));
  int led = slp_mode_is(l->f, SLP_MODE_LED);
  if (led) free = as_chosen = is_given(l->f, parsed);
  if (slp_guest_lease_of(l)->choice.restores) as_chosen = slp_steal_is_put_anew(l, parsed);
  if (!slp_lease_wanted(l) || !(free || as_chosen) || is_old(l, parsed)) {
    if (slp_ask_is_mine(l, parsed))
      slp_ask_take_back(l);
    else
      slp_choice_forget(l);
    return;
  }
  if (!led && !free && wait_for_owner(l, parsed)) return;
  slp_lease_choose(l);
  slp_lease_take(l);
}

/* Handles a take that was refused. If this worker's claim is still in the row, removes it. */
void slp_steal_missed(slp_lease *l) {
  int asked = l->row.claim_asks && slp_str_eq(slp_instance_str(&l->row.claim), slp_instance_str(&l->f->me));
  if (asked || (l->op.row.kind == SLP_ROW_LEASE && slp_ask_is_mine(l, &l->op.row.u.lease)))
    slp_ask_take_back(l);
  else
    slp_choice_forget(l);
}

void slp_steal_gone(slp_lease *l, int (*undone)(const slp_lease *l, const slp_lease_row *row)) {
  const slp_write *op = &l->op;
  int refused = op->end == SLP_OUTCOME_REFUSED && op->row.kind == SLP_ROW_LEASE;
  slp_guest_lease_of(l)->choice = (slp_lease_choice){.counter = 0};
  slp_lease_unchoose(l);
  if (!refused || !slp_worker_is(l->f, SLP_WORKER_RUNS) || !undone(l, &op->row.u.lease)) return;
  SLP_PROBE("steal: a peer has put an older row over mine");
  slp_guest_lease_of(l)->choice.restores = 1;
  slp_lease_choose(l);
  slp_lease_poll(l, slp_fleet_now(l->f));
}

#define UNHEARD_MAX 6 /* the wait between two claims is doubled at most this many times */

void slp_steal_unheard(slp_fleet *f, int unheard) {
  slp_stealing *st = &slp_guest_of(f)->stealing;
  st->unheard = unheard ? (uint8_t)slp_min_u64(st->unheard + 1u, UNHEARD_MAX) : 0;
  uint64_t wait_us = slp_fleet_lease_us(f) << st->unheard;
  if (unheard) slp_common_name_stole(f, slp_after_us(slp_fleet_now(f), slp_fleet_jitter(f, wait_us, 10)));
}

/* Returns 1 if this worker waits for a lease for which it has asked a living owner. */
static int is_claiming(slp_fleet *f) {
  size_t at = 0;
  for (slp_lease *l; (l = slp_lease_each(f, &at));)
    if (slp_guest_lease_of(l)->choice.from.n && slp_lease_in(l, SLP_LEASE_SOUGHT) && owners_to_ask(f))
      return 1;
  return 0;
}

/* ---- what the table shows ---------------------------------------------------------------------- */

/* what steal_rule.c must know of the table, made from one complete list of its rows */
typedef struct view {
  slp_fleet *f;
  const slp_snapshot *s;
  slp_steal_lease *leases; /* n elements; rows[i] is the index, in the snapshot, of the row of leases[i] */
  size_t *rows;
  size_t n;
  uint32_t mine_elsewhere; /* how many rows of other streams have this worker as their owner */
  slp_map owners;          /* maps a worker's name to its number; the value is the pointer numbers + number */
  const char *numbers;
  uint64_t next_us; /* the next time at which an owner or claimant that is silent now will count as dead */
} view;

static int parents_done(const view *v, const slp_lease_row *l) {
  for (int k = 0; k < 2; k++) {
    const slp_lease_row *p = slp_snapshot_lease_of(v->s, l->parents[k]);
    if (p && p->position.kind != SLP_POSITION_END) return 0;
  }
  return 1;
}

static uint32_t number_of(view *v, slp_str owner) {
  const char *at = slp_map_get(&v->owners, owner);
  if (at) return (uint32_t)(at - v->numbers);
  uint32_t n = (uint32_t)v->owners.live;
  return slp_map_put(&v->owners, owner, (void *)(uintptr_t)(v->numbers + n)) ? SLP_NOBODY : n;
}

/* Returns 1 if this worker has the lease, or may get it by a write that is under way. */
static int is_mine(const slp_lease *l) {
  return l && (slp_lease_in(l, SLP_LEASE_SOUGHT | SLP_LEASE_MINE) || l->op.busy);
}

static int is_shunned(slp_fleet *f, const slp_lease *l) {
  return l && l->want.shunned_us && slp_fleet_now(f) < l->want.shunned_us;
}

/* Returns the worker in whose share the lease counts. That is the owner, except if the rules of KCL 2 hold
 * and the row still shows a hand-over that a leader of KCL 3 began. Then the lease counts in the share of
 * the next owner, because workers of KCL 2 see only the attribute leaseOwner. */
static slp_str holder_of_lease(const slp_fleet *f, const slp_lease_row *row) {
  int left = row->claim.n && !row->claim_asks && slp_mode_is(f, SLP_MODE_TAKE);
  return left ? row->claim : row->owner;
}

/* For fleets where a leader assigns leases: adds the row's lease to v, if the leader has assigned it to this
 * worker. */
static void view_led(view *v, const slp_lease_row *row) {
  slp_fleet *f = v->f;
  const slp_lease *mine = slp_lease_get(f, row->shard);
  int mine_now = is_mine(mine) || is_shunned(f, mine) || (mine && row->epoch < mine->own.row_epoch);
  if (row->position.kind == SLP_POSITION_END || !is_given(f, row) || mine_now) return;
  if (slp_refused_waits(row, slp_wall_ms(f->h))) return;
  v->leases[v->n] = (slp_steal_lease){.owner = SLP_NOBODY, .free = 1, .ready = 1, .ret = 1};
  v->rows[v->n++] = (size_t)(row - v->s->leases);
}

/* Returns 1 while the lease's owner has begun to read and has saved nothing: if the lease were taken now, all
 * records that it has handed out would come again. The owner of an idle shard never saves anything, so this
 * returns 0 after FRESH_LEASES lease times. */
static int is_fresh(slp_fleet *f, const slp_seen_shard *seen) {
  return slp_guest_seen_of(seen)->unsaved_us &&
         slp_fleet_now(f) - slp_guest_seen_of(seen)->unsaved_us < FRESH_LEASES * slp_fleet_lease_us(f);
}

/* Reports to the user, once, that a program of the other system owns a lease and never gives one up. */
static void name_stranger(slp_fleet *f, const slp_lease_row *row) {
  if (!row->stranger || slp_guest_of(f)->stealing.strange) return;
  slp_guest_of(f)->stealing.strange = 1;
  slp_fleet_tell(f, SLP_FLEET_TROUBLE, row->shard, 0,
                 "\"%.*s\" of the other system owns it and shares with no worker: it is not taken until that "
                 "one is silent",
                 (int)row->owner.n, row->owner.p);
}

/* For fleets where each worker takes leases for itself: adds the row's lease to v. Returns 0 or
 * SLP_ENOMEM. */
static int view_lease(view *v, const slp_lease_row *row) {
  slp_fleet *f = v->f;
  slp_seen_shard *seen = slp_seen_of(f, row->shard);
  const slp_lease *mine = slp_lease_get(f, row->shard);
  slp_steal_lease *to = &v->leases[v->n];
  int by_name = slp_str_eq(row->owner, slp_instance_str(&f->me));
  uint64_t reserved_us =
      slp_guest_rules_of(f)->reserved_until_us ? slp_guest_rules_of(f)->reserved_until_us(f, row) : 0;
  if (!seen) return SLP_ENOMEM;
  if (row->position.kind == SLP_POSITION_END || row->parked) return 0;
  *to = (slp_steal_lease){.owner = SLP_NOBODY, .ready = (uint8_t)parents_done(v, row)};
  if (is_mine(mine)) {
    to->owner = 0;
  } else if (slp_refused_waits(row, slp_wall_ms(f->h))) {
    return 0; /* the service has refused this position lately, so no worker takes the lease yet */
  } else if (reserved_us > slp_fleet_now(f)) {
    to->owner = number_of(v, row->claim);
    to->ready = 0;
    if (!row->owner.n) v->next_us = slp_min_u64(v->next_us, reserved_us + 1000);
    if (to->owner == SLP_NOBODY) return SLP_ENOMEM;
    /* The lease is free: it has no owner; or this worker has released it (by_name), and the answer has not
     * come yet. */
  } else if (!row->owner.n || by_name) {
    to->free = 1;
    to->old =
        (uint8_t)(slp_guest_seen_of(seen)->born_free || by_name || slp_counter_dead(f, seen, OLD_LEASES));
  } else if (slp_counter_dead(f, seen, 1)) {
    to->free = 1;
    to->old = (uint8_t)slp_counter_dead(f, seen, OLD_LEASES);
  } else {
    uint64_t dead_us = slp_max_u64(
        slp_guest_seen_of(seen)->silence.since_us + slp_strategy_span_us(f->strategy, slp_fleet_lease_us(f)),
        slp_guest_seen_of(seen)->silence.last.until_us);
    if (dead_us < slp_fleet_now(f) + slp_fleet_lease_us(f) / 2)
      v->next_us = slp_min_u64(v->next_us, dead_us + 1000);
    if ((is_fresh(f, seen) && !asks_owner(f, row)) || row->stranger) to->ready = 0;
    name_stranger(f, row);
    to->owner = number_of(v, holder_of_lease(f, row));
    if (to->owner == SLP_NOBODY) return SLP_ENOMEM;
  }
  if (is_shunned(f, mine) || (mine && is_old(mine, row))) to->ready = 0;
  /* a free lease that no worker can take yet does not count for the fair share */
  if (to->free && !to->ready) return 0;
  v->rows[v->n++] = (size_t)(row - v->s->leases);
  return 0;
}

/* Adds to v the lease of another stream of the application. This lease counts for the fair share, but this
 * fleet never takes it. Returns 0 or SLP_ENOMEM. */
static int view_elsewhere(view *v, const slp_lease_row *row) {
  slp_fleet *f = v->f;
  slp_seen_shard *seen = slp_seen_of(f, row->shard);
  slp_steal_lease *to = &v->leases[v->n];
  if (!seen) return SLP_ENOMEM;
  if (row->position.kind == SLP_POSITION_END) return 0;
  *to = (slp_steal_lease){.owner = SLP_NOBODY};
  if (slp_str_eq(row->owner, slp_instance_str(&f->me))) {
    to->owner = 0;
    v->mine_elsewhere++;
  } else if (!row->owner.n || slp_counter_dead(f, seen, 1)) {
    to->free = 1;
  } else if ((to->owner = number_of(v, row->owner)) == SLP_NOBODY) {
    return SLP_ENOMEM;
  }
  v->n++;
  return 0;
}

static uint32_t steal_random_below(void *ctx, uint32_t n) { return (uint32_t)slp_random_below(ctx, n); }

/* Remembers that this worker has chosen the lease. Then takes it, or asks its owner for it. */
static void choose_lease(view *v, const slp_steal_lease *chosen, const slp_lease_row *row,
                         const slp_store_req *rq) {
  slp_fleet *f = v->f;
  slp_lease *l = slp_lease_make(f, row->shard);
  if (!l || is_mine(l) || slp_lease_read_image(l, row, rq->done_us)) return;
  slp_guest_lease_of(l)->choice = (slp_lease_choice){.counter = row->epoch + 1, .at_us = slp_fleet_now(f)};
  if (!chosen->free) {
    slp_instance_set(&slp_guest_lease_of(l)->choice.from, row->owner);
    if (owners_to_ask(f) == SLP_ASKS_OURS)
      slp_guest_lease_of(l)->choice.until_us = slp_fleet_now(f) + patience_us(f);
    slp_common_name_stole(f, slp_after_us(slp_fleet_now(f), slp_fleet_lease_us(f) / 10 * 8));
  }
  slp_lease_choose(l);
  /* If reading the list took long, owners have raised their counters since then. So the row must be read
   * again. */
  if (rq->done_us - rq->sent_us > slp_fleet_lease_us(f) / 6)
    slp_lease_poll(l, slp_fleet_now(f));
  else if (!chosen->free && asks_owner(f, row))
    slp_lease_claim(l);
  else
    slp_lease_take(l);
}

/* Returns 1 if this worker must compare the stream with the table: of the living workers of sloop, the first
 * by name does. (By a rule of the KCL, its workers elect one of all workers for this. If the rule elects a
 * worker of sloop, no worker of the KCL compares. So one worker of sloop always compares.) */
static int am_first(const view *v) {
  slp_str me = slp_instance_str(&v->f->me);
  if (slp_mode_is(v->f, SLP_MODE_LED)) return 0; /* the leader compares the stream with the table */
  for (size_t i = 0; i < v->owners.entries_n; i++) {
    slp_str name = v->owners.entries[i].key, id, incarnation;
    if (!v->owners.entries[i].value || !slp_instance_split(name, &id, &incarnation)) continue;
    int c = me.n ? memcmp(name.p, me.p, name.n < me.n ? name.n : me.n) : 1;
    if (c < 0 || (!c && name.n < me.n)) return 0;
  }
  return 1;
}

/* Returns how many leases this worker may take from living workers now. If the leader of a fleet of KCL 3 is
 * away, a worker of sloop takes no lease from a living worker while any worker of the KCL lives or owns a
 * lease, because a leader will come back. */
static uint32_t steal_max(const view *v) {
  slp_fleet *f = v->f;
  if (slp_fleet_now(f) < slp_common_name_steal_us(f) || is_claiming(f)) return 0;
  if (!slp_mode_is(f, SLP_MODE_UNLED)) return STEAL_MAX;
  if (slp_mode_strangers(f)) return 0;
  for (size_t i = 0; i < v->owners.entries_n; i++) {
    slp_str id, incarnation;
    if (v->owners.entries[i].value && !slp_instance_split(v->owners.entries[i].key, &id, &incarnation))
      return 0;
  }
  return STEAL_MAX;
}

static int view_all(view *v) {
  slp_fleet *f = v->f;
  if (slp_mode_is(f, SLP_MODE_STRANGE)) return 0;
  if (slp_mode_is(f, SLP_MODE_LED)) {
    for (size_t i = 0; i < v->s->leases_n; i++) view_led(v, &v->s->leases[i]);
    return 0;
  }
  /* this worker gets the number 0, because it is the first name that is added */
  int r = number_of(v, slp_instance_str(&f->me)) == SLP_NOBODY ? SLP_ENOMEM : 0;
  for (size_t i = 0; i < v->s->leases_n && !r; i++) r = view_lease(v, &v->s->leases[i]);
  for (size_t i = 0; i < v->s->elsewhere_n && !r; i++) r = view_elsewhere(v, &v->s->elsewhere[i]);
  return r;
}

static int takes_by_itself(const slp_fleet *f) {
  return !slp_mode_is(f, SLP_MODE_LED) && !slp_mode_is(f, SLP_MODE_STRANGE);
}

/* Takes the leases that steal_rule.c chooses. Returns 0, or SLP_ENOMEM if none was taken. */
static int take_some(slp_fleet *f, const slp_snapshot *s, uint64_t *ret_next_us) {
  view v = {.f = f, .s = s, .next_us = SLP_NEVER};
  size_t rows = s->leases_n + s->elsewhere_n;
  v.leases = slp_zalloc_n(f->mem, rows + 1, sizeof *v.leases);
  v.rows = slp_zalloc_n(f->mem, s->leases_n + 1, sizeof *v.rows);
  v.numbers = slp_alloc(f->mem, rows + 2);
  slp_map_init(&v.owners, f->mem);
  int r = v.leases && v.rows && v.numbers ? view_all(&v) : SLP_ENOMEM;
  if (!r) {
    slp_guest_of(f)->stealing.first = (uint8_t)am_first(&v);
    if (!slp_guest_of(f)->stealing.first)
      /* only the worker that compares the stream with the table reports hash keys that no lease covers */
      f->stats.holes_now = 0;
  }
  if (!r && takes_by_itself(f)) {
    uint32_t there = slp_common_name_held_elsewhere(f);
    slp_steal steal = {.workers_n = (uint32_t)v.owners.live,
                       .me_more = there > v.mine_elsewhere ? there - v.mine_elsewhere : 0,
                       .leases = v.leases,
                       .leases_n = v.n,
                       .steal_max = steal_max(&v),
                       .below = steal_random_below,
                       .ctx = f->h};
    r = slp_steal_make(&steal, f->mem);
  }
  for (size_t i = 0; i < v.n && !r; i++)
    if (v.leases[i].ret)
      choose_lease(&v, &v.leases[i], &s->leases[v.rows[i]], slp_guest_of(f)->stealing.read.rq);
  *ret_next_us = v.next_us;
  slp_map_free(&v.owners);
  slp_free(f->mem, v.leases);
  slp_free(f->mem, v.rows);
  slp_free(f->mem, (void *)(uintptr_t)v.numbers);
  return r;
}

/* ---- rounds ------------------------------------------------------------------------------------ */

static void on_sync_rows_written(slp_fleet *f, uint32_t refused, int given_up) {
  (void)refused;
  if (given_up) {
    slp_guest_of(f)->stealing.made = 0; /* some rows may not have been created */
    slp_guest_of(f)->stealing.sync_at_us = slp_fleet_now(f) + 1000000;
  }
  round_in(f, 0); /* soon, because the leases that were just created can be taken now */
}

/* Called when the renewals of leases of ended shards are answered. Does nothing, because a renewal that
 * failed is sent again in the next round. */
static void ignore_kept_renewals(slp_fleet *f, uint32_t refused, int given_up) {
  (void)f;
  (void)refused;
  (void)given_up;
}

/* If this round has a listing of the stream (stealing.sync), compares the stream with the table. Otherwise
 * asks for a listing, if a shard sync is due and this worker is the one that does it. */
static void sync_with_listing(slp_fleet *f, const slp_snapshot *s) {
  uint64_t now = slp_fleet_now(f);
  if (slp_guest_of(f)->stealing.sync) {
    slp_guest_of(f)->stealing.sync_from_us = SLP_NEVER;
    f->stats.shard_syncs++;
    slp_guest_of(f)->stealing.sync_at_us = now + slp_fleet_jitter(f, slp_listed_every_us(f), 10);
    int made = 0, removed = 0, r = slp_steal_sync_write(f, s, &made, &removed);
    slp_guest_of(f)->stealing.made |= (uint8_t)made;
    if (removed)
      slp_guest_of(f)->stealing.sync_at_us =
          slp_min_u64(slp_guest_of(f)->stealing.sync_at_us, now + 2 * slp_fleet_lease_us(f));
    /* New leases may cover the hash keys that no lease covered. So the next shard sync comes soon. */
    if (r || (made && f->stats.holes_now)) slp_guest_of(f)->stealing.sync_at_us = now + 1000000;
    if (slp_bulk_write_n(f)) slp_bulk_write_run(f, NULL, on_sync_rows_written);
  } else if (slp_guest_of(f)->stealing.sync_from_us == SLP_NEVER &&
             now >= slp_guest_of(f)->stealing.sync_at_us && slp_guest_of(f)->stealing.first) {
    slp_guest_of(f)->stealing.sync_from_us = now;
    slp_fleet_list(f);
  } else if (now >= slp_guest_of(f)->stealing.sync_at_us &&
             slp_guest_of(f)->stealing.sync_from_us == SLP_NEVER) {
    slp_guest_of(f)->stealing.sync_at_us = now + slp_fleet_jitter(f, slp_listed_every_us(f), 10);
  }
}

/* Remembers when the row of a shard first showed the shard's end. The row can be removed END_LEASES lease
 * times later, so a shard sync is due by then. */
static void saw_end(slp_fleet *f, slp_seen_shard *seen) {
  seen->ended_us = slp_guest_of(f)->stealing.read.rq->done_us;
  slp_guest_of(f)->stealing.sync_at_us = slp_min_u64(slp_guest_of(f)->stealing.sync_at_us,
                                                     slp_fleet_now(f) + END_LEASES * slp_fleet_lease_us(f));
}

/* Remembers what a complete list of the table shows of each lease. */
static void saw_all(slp_fleet *f, const slp_snapshot *s) {
  uint64_t done_us = slp_guest_of(f)->stealing.read.rq->done_us;
  slp_guest_of(f)->stealing.table_us = done_us;
  slp_seen_rows(f, slp_fleet_now(f));
  for (size_t i = 0; i < s->leases_n; i++) {
    slp_seen_shard *seen = slp_seen_of(f, s->leases[i].shard);
    if (!seen) continue;
    slp_guest_seen *known = slp_guest_seen_of(seen);
    slp_counter_saw(f, seen, &s->leases[i], done_us);
    known->listed_us = done_us;
    slp_seen_row(f, seen);
    if (!known->first_us) known->first_us = known->listed_us;
    known->begun = (uint8_t)slp_sync_is_begun(&s->leases[i].position);
    if (!s->leases[i].unsaved || !s->leases[i].owner.n)
      known->unsaved_us = 0;
    else if (!known->unsaved_us)
      known->unsaved_us = done_us;
    if (s->leases[i].position.kind != SLP_POSITION_END)
      seen->ended_us = 0;
    else if (!seen->ended_us)
      saw_end(f, seen);
  }
  for (size_t i = 0; i < s->elsewhere_n; i++) {
    slp_seen_shard *seen = slp_seen_of(f, s->elsewhere[i].shard);
    if (!seen) continue;
    slp_counter_saw(f, seen, &s->elsewhere[i], done_us);
    slp_guest_seen_of(seen)->listed_us = done_us;
  }
}

/* Called for a shard that is neither in the table nor in the stream. Returns 1 if the shard must still be
 * remembered, because the stream was not listed since the table last had the shard's row. An id with a colon
 * is of another stream, whose shards this stream's listing lacks. Such a shard is forgotten as soon as the
 * table lacks its row. */
static int keeps_seen(slp_fleet *f, const slp_snapshot *s, const slp_seen_shard *seen) {
  uint64_t listed_us = slp_guest_seen_of(seen)->listed_us;
  if (s->elsewhere_n && slp_str_has(slp_str_of(seen->id), ':'))
    return listed_us == slp_guest_of(f)->stealing.table_us;
  return !slp_listed_us(f) || slp_listed_us(f) < listed_us;
}

/* Forgets shards that are neither in the table nor in the stream. The worker that does the shard sync
 * lists the stream anyway. Any other worker that remembers more shards than the table has lists the stream
 * once in FORGET_US. */
static void forget_gone_shards(slp_fleet *f, const slp_snapshot *s) {
  slp_seen_forget(f, s, keeps_seen);
  int more = slp_seen_n(f) > s->leases_n + s->elsewhere_n;
  if (more && slp_fleet_now(f) - slp_listed_us(f) > FORGET_US) slp_fleet_list(f);
}

/* Reports a table that accepts writes of leases but never lists them. Without this report all workers would
 * wait, and the user would not know why. */
static void tell_unlisted(slp_fleet *f, const slp_snapshot *s) {
  slp_stealing *st = &slp_guest_of(f)->stealing;
  int some = s->leases_n || s->bad_n;
  if (some) st->made = 0;
  if (some || (!st->made && !slp_leases_held(f))) {
    st->unlisted = 0;
    return;
  }
  slp_fleet_tell_contradiction(
      f, ++st->unlisted,
      "the list of all leases is empty, and leases were made or are renewed without a refusal");
}

static void use_snapshot(slp_fleet *f, const slp_snapshot *s) {
  uint64_t now = slp_fleet_now(f), next_us, lease_us = slp_fleet_lease_us(f);
  slp_polls_forget_leases(f);
  saw_all(f, s);
  slp_write_proof_saw(f, s);
  tell_unlisted(f, s);
  forget_gone_shards(f, s);
  int r = take_some(f, s, &next_us);
  if (slp_guest_of(f)->stealing.first)
    slp_shut_saw(f, s);
  else
    slp_shut_forget(f);
  slp_steal_keep_ended(f, s);
  sync_with_listing(f, s);
  if (slp_bulk_write_n(f) && !slp_bulk_write_busy(f)) slp_bulk_write_run(f, NULL, ignore_kept_renewals);
  uint64_t in = slp_fleet_jitter(f, lease_us, 10);
  if (slp_guest_of(f)->stealing.first && slp_guest_of(f)->stealing.sync_at_us > now)
    in = slp_min_u64(in, slp_guest_of(f)->stealing.sync_at_us - now);
  if (next_us != SLP_NEVER) in = slp_min_u64(in, next_us > now + lease_us / 8 ? next_us - now : lease_us / 8);
  round_in(f, r ? RETRY_US : in);
}

static void take_snapshot(slp_fleet *f, slp_store_rows *rows) {
  slp_snapshot s;
  if (slp_snapshot_make(&s, f->schema, rows)) {
    round_in(f, RETRY_US);
    return;
  }
  if (slp_guest_of(f)->stealing.sync) slp_shard_sync_tell_bad(f, &s);
  use_snapshot(f, &s);
}

static void table_read(slp_read *r) {
  slp_fleet *f = r->f;
  if (!r->came) {
    slp_fleet_trouble(f);
    round_in(f, slp_fleet_jitter(f, RETRY_US, 50));
  } else if (!slp_worker_is(f, SLP_WORKER_RUNS) || !slp_proof_is(f, SLP_PROOF_GOOD)) {
    round_in(f, RETRY_US);
  } else {
    slp_mode_saw(f, r->rows);
    take_snapshot(f, r->rows);
  }
}

static void read_table(slp_fleet *f) {
  slp_stealing *st = &slp_guest_of(f)->stealing;
  st->sync = st->sync_from_us != SLP_NEVER && slp_listed_since(f, st->sync_from_us);
  slp_read_all(&st->read, st->sync, table_read);
}

static void on_steal_timer(slp_timer *t) {
  slp_fleet *f = SLP_OWNER(t, slp_guest, stealing.timer)->f;
  slp_stealing *st = &slp_guest_of(f)->stealing;
  if (!slp_worker_is(f, SLP_WORKER_RUNS) || st->read.busy || slp_mode_is_reading(f)) return;
  if (slp_bulk_write_busy(f) || !slp_proof_is(f, SLP_PROOF_GOOD)) {
    round_in(f, RETRY_US);
    return;
  }
  slp_mode_read_beside(f, read_table);
}

void slp_steal_begin(slp_fleet *f) {
  slp_guest_of(f)->stealing.sync_at_us = slp_fleet_now(f);
  round_in(f, slp_random_below(f->h, FIRST_US));
}

void slp_steal_resumed(slp_fleet *f) {
  if (!is_reading(f)) round_in(f, 0);
}

void slp_steal_listed(slp_fleet *f, int ok) {
  if (slp_guest_of(f)->stealing.sync_from_us == SLP_NEVER || !slp_worker_is(f, SLP_WORKER_RUNS)) return;
  if (!ok) {
    slp_guest_of(f)->stealing.sync_from_us = SLP_NEVER;
    slp_guest_of(f)->stealing.sync_at_us = slp_fleet_now(f) + 1000000;
  } else if (!is_reading(f)) {
    round_in(f, 0);
  }
}

void slp_steal_unknown_children(slp_fleet *f) {
  slp_guest_of(f)->stealing.sync_at_us = slp_fleet_now(f);
  slp_guest_of(f)->stealing.first = 1;
  if (!is_reading(f)) round_in(f, 0);
}

/* Returns 1 if the shard's row was in the last list of the table, or if an earlier list showed that the shard
 * was read to its end. If an operator has removed the row before the shard's end, this returns 0; the row is
 * then created again before a child of the shard is read. */
static int has_row(slp_fleet *f, slp_str shard) {
  const slp_seen_shard *seen = slp_seen_get(f, shard);
  return seen && (seen->ended_us || slp_guest_seen_of(seen)->listed_us == slp_guest_of(f)->stealing.table_us);
}

/* Returns 1 if the shard's row had a position inside the shard when it was last read. */
static int is_begun(slp_fleet *f, slp_str shard) {
  const slp_seen_shard *seen = slp_seen_get(f, shard);
  return seen && slp_guest_seen_of(seen)->begun;
}

/* Returns 1 if the lease of the child `kid` may be created when its parent, the shard of l, ends. The child
 * of a merge gets a row only when both parents have rows. Workers of the KCL would believe that a parent
 * without a row was read, and its row removed. The other parent may have no row yet, while its own parents
 * are read. If the child has been read in part, its parents' rows do not matter any more, and may have been
 * removed. */
int slp_steal_may_make(slp_lease *l, const slp_shard_desc *kid) {
  slp_fleet *f = l->f;
  int first = SLP_MUTANT(other_parent_is_itself) || slp_str_eq(kid->parent, l->shard);
  slp_str other = first ? kid->adjacent_parent : kid->parent;
  if (!other.n || slp_str_eq(other, l->shard) || has_row(f, other) || is_begun(f, kid->id)) return 1;
  if (!l->end.asked_us) {
    l->end.asked_us = slp_fleet_now(f);
    slp_steal_unknown_children(f);
  }
  /* Another worker may be the one that compares the stream with the table. If the stream forgets the other
   * parent before that comparison, no worker will create the parent's row. */
  int answered = slp_listed_us(f) > l->end.asked_us, there = slp_fleet_listed_has(f, other);
  int late = !there && !slp_listed_passed(f, other) && slp_fleet_now(f) - l->end.asked_us <= UNLISTED_US;
  if (answered && !there && !late) return 1; /* the stream has forgotten the other parent */
  if (!answered || late || slp_fleet_now(f) - slp_listed_us(f) > LISTED_US) slp_fleet_list(f);
  if (!is_reading(f)) round_in(f, 0);
  return 0;
}

static void on_mode_left(slp_fleet *f) { slp_worker_out(f, "left"); }

void slp_steal_part(slp_fleet *f) { slp_mode_leave(f, on_mode_left); }

/* ---- creating and freeing ---------------------------------------------------------------------- */

void slp_steal_init(slp_fleet *f) {
  slp_stealing *st = &slp_guest_of(f)->stealing;
  slp_fleet_timer_init(&st->timer, on_steal_timer);
  slp_read_init(&st->read, f, "all leases", 2);
  st->sync_at_us = st->sync_from_us = SLP_NEVER;
}

void slp_steal_stop(slp_fleet *f) {
  slp_read_stop(&slp_guest_of(f)->stealing.read);
  slp_timer_clear(f->h, &slp_guest_of(f)->stealing.timer);
  slp_guest_of(f)->stealing.sync_at_us = SLP_NEVER;
}

void slp_steal_free(slp_fleet *f) { slp_read_free(&slp_guest_of(f)->stealing.read); }
