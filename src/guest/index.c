/* index.c - the rounds of a worker that shares by index (index.h). The worker takes the leases of its own
 * share when no other worker has them, and gives up leases that are not in its share any more. If a lease
 * stays in its share while other workers come and go, the worker keeps it without a break. */
#include "guest/index.h"

#include "base/fail.h"
#include "base/mem.h"
#include "base/probe.h"
#include "base/states.h"
#include "core/position.h"
#include "guest/common_name.h"
#include "guest/counter.h"
#include "guest/guest.h"
#include "guest/guest_operations.h"
#include "guest/guest_rules.h"
#include "guest/index_part.h"
#include "guest/steal.h"
#include "host/host.h"
#include "lease/bulk_write.h"
#include "lease/context.h"
#include "lease/deadline.h"
#include "lease/deadline_part.h"
#include "lease/due.h"
#include "lease/fleet_opts.h"
#include "lease/instance.h"
#include "lease/lease.h"
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

#define NS_PER_US UINT64_C(1000)
#define RETRY_US 500000 /* after a round that failed, the next round begins after this time */
/* after a round that created rows, or when the stream must be listed, the next round begins after this
 * time */
#define SOON_US 100000
#define REFUSED_US 10000000 /* time between two reads of a row whose position the service refuses */
#define LOOK_US 500000      /* time between two reads of a row that another worker still owns */
#define TRIES 3             /* each write of a round is tried this often */

static const slp_str nothing = {NULL, 0};

static uint64_t period_us(const slp_fleet *f) { return slp_fleet_lease_us(f) / 5; }

/* ---- phases ------------------------------------------------------------------------------------------ */

static const slp_set allowed[] = {
    [SLP_INDEX_REST] = SLP_BIT(SLP_INDEX_REST) | SLP_BIT(SLP_INDEX_TELLING) | SLP_BIT(SLP_INDEX_WORKERS) |
                       SLP_BIT(SLP_INDEX_PARTING),
    [SLP_INDEX_TELLING] = SLP_BIT(SLP_INDEX_WORKERS) | SLP_BIT(SLP_INDEX_REST),
    [SLP_INDEX_WORKERS] = SLP_BIT(SLP_INDEX_LIST) | SLP_BIT(SLP_INDEX_REST),
    [SLP_INDEX_LIST] = SLP_BIT(SLP_INDEX_LEADING) | SLP_BIT(SLP_INDEX_SHARDS) | SLP_BIT(SLP_INDEX_LEASES) |
                       SLP_BIT(SLP_INDEX_REST),
    [SLP_INDEX_LEADING] = SLP_BIT(SLP_INDEX_SHARDS) | SLP_BIT(SLP_INDEX_LEASES) | SLP_BIT(SLP_INDEX_REST),
    [SLP_INDEX_SHARDS] = SLP_BIT(SLP_INDEX_LEASES) | SLP_BIT(SLP_INDEX_REST),
    [SLP_INDEX_LEASES] = SLP_BIT(SLP_INDEX_WRITING) | SLP_BIT(SLP_INDEX_REST),
    [SLP_INDEX_WRITING] = SLP_BIT(SLP_INDEX_REST),
    [SLP_INDEX_PARTING] = SLP_BIT(SLP_INDEX_REST),
};

static void move(slp_fleet *f, slp_index_phase to) {
  slp_indexing *x = &slp_guest_of(f)->index;
  SLP_MOVE(allowed, x->phase, to);
}

static int is_in(const slp_fleet *f, slp_index_phase phase) { return slp_guest_of(f)->index.phase == phase; }

static void rest_until_next_round(slp_fleet *f, uint64_t us) {
  move(f, SLP_INDEX_REST);
  slp_fleet_timer(f, &slp_guest_of(f)->index.timer, slp_after_us(slp_fleet_now(f), us));
}

/* Gives up every lease. The other workers count this worker as gone, or will soon, and then share its
 * leases. */
static void give_up_all(slp_fleet *f) {
  size_t at = 0;
  for (slp_lease *l; (l = slp_lease_each(f, &at));) {
    if (!l->want.assigned) continue;
    slp_lease_unwant(l);
    slp_lease_touch(l);
  }
}

/* Ends a round that failed. If that round has listed the stream's shards, the next round lists them again. */
static void end_failed_round(slp_fleet *f) {
  slp_bulk_write_stop(f);
  slp_guest_of(f)->index.look |= slp_guest_of(f)->index.listed;
  if (slp_guest_of(f)->index.round_us &&
      slp_fleet_now(f) - slp_guest_of(f)->index.round_us > slp_fleet_lease_us(f)) {
    SLP_PROBE("index: no round for a whole lease");
    give_up_all(f);
  }
  rest_until_next_round(f, slp_fleet_jitter(f, RETRY_US, 50));
}

/* ---- names ------------------------------------------------------------------------------------------- */

static int names_are_same(const slp_index_names *have, const slp_str *names, size_t n) {
  if (have->n != n) return 0;
  for (size_t i = 0; i < n; i++)
    if (!slp_str_eq(have->all[i], names[i])) return 0;
  return 1;
}

/* If `names` differ from the names in `to`, replaces `to` by copies of `names`, and remembers the time of the
 * change. Returns 0, or SLP_ENOMEM with `to` as it was. */
static int keep_changed_names(slp_fleet *f, slp_index_names *to, const slp_str *names, size_t n) {
  size_t bytes = 0;
  if (names_are_same(to, names, n)) return 0;
  for (size_t i = 0; i < n; i++) bytes += names[i].n;
  slp_str *all = slp_alloc(f->mem, (n + 1) * sizeof *all + bytes);
  if (!all) return SLP_ENOMEM;
  char *at = (char *)(all + n + 1);
  for (size_t i = 0; i < n; i++) {
    memcpy(at, names[i].p, names[i].n);
    all[i] = (slp_str){at, names[i].n};
    at += names[i].n;
  }
  slp_free(f->mem, to->all);
  *to = (slp_index_names){all, n};
  slp_guest_of(f)->index.changed_us = slp_now_refresh_us(f->h);
  slp_leases_set_version(f, ++slp_guest_of(f)->index.version);
  return 0;
}

/* ---- damaged rows ------------------------------------------------------------------------------------- */

/* Ends this worker, because it found a damaged row before it joined. The worker has not written anything. */
static void fail_on_damaged_row(slp_fleet *f, const slp_parsed_row *row) {
  slp_str key = row->key.hash;
  slp_indexing_stop(f);
  slp_life_move(f, SLP_WORKER_OUT);
  slp_common_name_leave(f);
  slp_fleet_tell(f, SLP_FLEET_FAILED, nothing, 0, "row \"%.*s\" is not as schema %s has it: %s", (int)key.n,
                 key.p, f->schema->name, row->why);
}

/* If the row is damaged, reports it, and ends the worker if the worker has not joined yet. Returns 1 if it
 * has ended the worker. */
static int is_bad(slp_fleet *f, const slp_parsed_row *row) {
  if (row->kind != SLP_ROW_BAD) return 0;
  if (slp_worker_is(f, SLP_WORKER_JOINING)) {
    fail_on_damaged_row(f, row);
    return 1;
  }
  slp_fleet_bad_row(f, nothing, &row->key, row->why);
  return 0;
}

/* ---- who owns a lease? --------------------------------------------------------------------------------- */

static int is_living_index_worker(const slp_fleet *f, slp_str worker) {
  const slp_index_names *all = &slp_guest_of(f)->index.workers;
  for (size_t i = 0; i < all->n; i++)
    if (slp_str_eq(all->all[i], worker)) return 1;
  return 0;
}

/* Returns 1 if this worker may take the lease: no other worker owns it, or the owner is gone, by the time in
 * the lease's row and by this worker's own clock. If the owner is alive, this worker waits longer, because a
 * Go client writes nothing while its shard is idle: the row, the list of workers and the list of shards must
 * be unchanged for one lease time. By then the owner must have seen the last change and given the lease
 * up. */
static int is_left(slp_lease *l, const slp_lease_row *row) {
  slp_fleet *f = l->f;
  slp_seen_shard *seen = slp_seen_of(f, l->shard);
  uint64_t now = slp_now_refresh_us(f->h), lease_us = slp_fleet_lease_us(f);
  if (!row->owner.n || slp_str_eq(row->owner, slp_instance_str(&f->me))) return 1;
  if (!seen || !slp_proof_is(f, SLP_PROOF_GOOD)) return 0;
  slp_counter_saw(f, seen, row, now);
  int alive = is_living_index_worker(f, row->owner);
  uint64_t at = slp_strategy_dead_us(f->strategy, &slp_guest_seen_of(seen)->silence,
                                     alive ? lease_us : 2 * period_us(f), slp_fleet_trouble_us(f));
  if (alive) at = slp_max_u64(at, slp_after_us(slp_guest_of(f)->index.changed_us, lease_us));
  return now >= at;
}

/* Handles the row of one lease that was read by itself. Takes the lease if no other worker has it; otherwise
 * reads the row again later. */
void slp_indexing_met(slp_lease *l, const slp_lease_row *row) {
  if (!slp_lease_wanted(l) || !l->want.assigned)
    slp_lease_forget(l);
  else if (slp_refused_waits(row, slp_wall_ms(l->f->h)))
    slp_lease_poll(l, slp_fleet_now(l->f) + slp_fleet_jitter(l->f, REFUSED_US, 20));
  else if (is_left(l, row))
    slp_lease_take(l);
  else
    slp_lease_poll(l, slp_fleet_now(l->f) + slp_fleet_jitter(l->f, LOOK_US, 20));
}

void slp_indexing_missed(slp_lease *l) { slp_lease_poll(l, slp_fleet_now(l->f) + LOOK_US / 4); }

/* Assigns to this worker the leases of its share, and marks all its other leases as not assigned. The
 * share follows from the list of shards and the living workers. If a shard of the share has no row, the
 * next round lists the stream's shards. */
static void assign_own_share(slp_fleet *f, const slp_snapshot *s) {
  const slp_indexing *x = &slp_guest_of(f)->index;
  size_t at = 0;
  for (size_t i = 0; i < x->list.n; i++) {
    const slp_lease_row *row = slp_snapshot_lease_of(s, x->list.all[i]);
    if (!slp_index_is_mine(i, x->place, x->workers.n)) continue;
    slp_lease *l = slp_lease_make(f, x->list.all[i]);
    if (!l) continue; /* no memory: the next round tries again */
    slp_lease_assign(l);
    if (!row && !slp_snapshot_is_bad(s, x->list.all[i])) slp_guest_of(f)->index.look = 1;
  }
  for (slp_lease *l; (l = slp_lease_each(f, &at));) {
    const slp_lease_row *row = slp_snapshot_lease_of(s, l->shard);
    int was = l->want.assigned || l->want.inherited;
    slp_lease_unwant(l);
    slp_lease_assigned(l, 0);
    if (was && !l->want.assigned) slp_lease_touch(l);
    if (row && row->position.kind != SLP_POSITION_END) slp_lease_doubt_end(l);
  }
}

/* ---- a round; its functions are in reverse order ------------------------------------------------------- */

/* Sets when the next round begins. The worker that renews the list of shards has rounds at least as often as
 * list_ms says, because the stream is listed in rounds. */
static void schedule_next_round(slp_fleet *f, int soon) {
  uint64_t us = period_us(f);
  if (slp_guest_of(f)->index.leads) us = slp_min_u64(us, slp_listed_every_us(f));
  rest_until_next_round(f, soon ? SOON_US : slp_fleet_jitter(f, us / 20 * 19, 5));
}

static void on_index_rows_written(slp_fleet *f, uint32_t refused, int given_up) {
  (void)refused; /* a refused CREATE needs no action: another worker has created that row first */
  if (given_up)
    end_failed_round(f);
  else
    /* soon, so that leases that were just created are shared and taken */
    schedule_next_round(f, slp_guest_of(f)->index.listed);
}

static void apply_table_rows(slp_fleet *f, const slp_snapshot *s) {
  int made, removed; /* neither is used: this layout removes no rows of leases */
  slp_seen_forget(f, s, NULL);
  if (slp_guest_of(f)->index.listed) {
    slp_guest_of(f)->index.look = 0;
    slp_shard_sync_tell_bad(f, s);
    if (slp_steal_sync_write(f, s, &made, &removed)) slp_guest_of(f)->index.look = 1;
    slp_index_write_list(f, s);
    f->stats.shard_syncs++;
  }
  slp_polls_forget_leases(f);
  if (slp_guest_of(f)->index.list.n) assign_own_share(f, s);
  if (!slp_bulk_write_n(f)) {
    schedule_next_round(f, slp_guest_of(f)->index.look && !slp_guest_of(f)->index.listed);
    return;
  }
  move(f, SLP_INDEX_WRITING);
  slp_bulk_write_run(f, NULL, on_index_rows_written);
}

static void leases_read(slp_read *r) {
  slp_fleet *f = r->f;
  slp_snapshot s;
  if (!r->came || slp_snapshot_make(&s, f->schema, r->rows)) {
    slp_fleet_trouble(f);
    end_failed_round(f);
    return;
  }
  for (size_t i = 0; i < s.leases_n; i++) {
    slp_seen_shard *seen = slp_seen_of(f, s.leases[i].shard);
    if (seen) slp_counter_saw(f, seen, &s.leases[i], r->rq->done_us);
  }
  if (slp_guest_of(f)->index.leads)
    slp_shut_saw(f, &s);
  else
    slp_shut_forget(f);
  apply_table_rows(f, &s);
}

static void read_leases(slp_fleet *f) {
  move(f, SLP_INDEX_LEASES);
  slp_read_all(&slp_guest_of(f)->index.read, 1, leases_read);
}

void slp_indexing_listed(slp_fleet *f, int ok) {
  if (!is_in(f, SLP_INDEX_SHARDS)) return;
  slp_guest_of(f)->index.listed = (uint8_t)ok;
  if (ok)
    read_leases(f);
  else
    end_failed_round(f);
}

static void list_shards(slp_fleet *f) {
  slp_guest_of(f)->index.listed = 0;
  if (slp_guest_of(f)->index.look || !slp_guest_of(f)->index.list.n || slp_index_renews(f)) {
    move(f, SLP_INDEX_SHARDS);
    slp_fleet_list(f);
  } else {
    read_leases(f);
  }
}

/* Counts in *n how many successive tries of a write have failed, over all rounds, and tells the user when
 * that is due. One round gives a write up after TRIES tries, which are too few to be reported, and the
 * next round sends it again. */
static void count_failures(slp_fleet *f, const slp_write *op, uint32_t *n) {
  const slp_fail *fail = slp_write_fail(op);
  uint32_t to = *n + TRIES;
  if (op->end != SLP_OUTCOME_GIVEN_UP) {
    *n = 0;
    return;
  }
  while (*n < to) {
    (*n)++;
    /* the first TRIES failures are reported by the write itself, like those of any write */
    if (*n > TRIES && slp_fleet_tells(f, *n, fail))
      slp_fleet_tell_fail(f, fail, nothing, 0, "a write of the lease table failed %u times: %s", *n,
                          fail->message);
  }
}

static void on_lead_answered(slp_write *op) {
  slp_fleet *f = slp_write_fleet(op);
  int leads = op->end == SLP_OUTCOME_DONE && op->i.kind == SLP_OPERATION_LEAD;
  int given_up = op->end == SLP_OUTCOME_GIVEN_UP;
  count_failures(f, op, &slp_guest_of(f)->index.unled);
  if (leads != slp_guest_of(f)->index.leads)
    slp_fleet_tell(f, leads ? SLP_FLEET_LEADS : SLP_FLEET_FOLLOWS, nothing, 0, "%s",
                   leads      ? "renews the list of shards"
                   : given_up ? "can't write that it renews the list of shards"
                              : "another worker renews the list of shards");
  slp_guest_of(f)->index.leads = (uint8_t)leads;
  if (given_up)
    end_failed_round(f);
  else
    list_shards(f);
}

static void send_index_write(slp_fleet *f, slp_operation_kind kind, void (*on_done)(slp_write *op)) {
  slp_write *op = &slp_guest_of(f)->index.write;
  slp_fleet_operation(f, &op->i, kind);
  op->i.owner = slp_instance_str(&slp_guest_of(f)->index.leader);
  op->i.epoch = slp_guest_of(f)->index.leader_ns;
  op->tries_max = TRIES;
  slp_write_send(op, on_done);
}

static void lead_or_follow(slp_fleet *f) {
  int named = slp_str_eq(slp_instance_str(&slp_guest_of(f)->index.leader), slp_instance_str(&f->me));
  if (slp_index_may_lead(f)) {
    move(f, SLP_INDEX_LEADING);
    send_index_write(f, SLP_OPERATION_LEAD, on_lead_answered);
  } else if (named) {
    move(f, SLP_INDEX_LEADING);
    send_index_write(f, SLP_OPERATION_RESIGN, on_lead_answered);
  } else {
    slp_guest_of(f)->index.leads = 0;
    list_shards(f);
  }
}

static void list_read(slp_read *r) {
  slp_fleet *f = r->f;
  slp_indexing *x = &slp_guest_of(f)->index;
  slp_parsed_row row;
  int bad = 0, kept = 0, there = 0;
  slp_instance_set(&x->leader, nothing);
  x->leader_ns = 0;
  while (r->came && slp_read_next(r, &row)) {
    if (is_bad(f, &row) && slp_worker_is(f, SLP_WORKER_OUT)) return;
    if (row.kind == SLP_ROW_BAD) bad = 1;
    if (row.kind == SLP_ROW_LEADERSHIP) {
      slp_instance_set(&x->leader, row.u.leadership.owner);
      x->leader_ns = row.u.leadership.epoch;
    }
    if (row.kind != SLP_ROW_ASSIGNMENT) continue;
    there = 1;
    x->list_ns = row.u.assignment.version;
    kept = keep_changed_names(f, &x->list, row.u.assignment.plus, row.u.assignment.plus_n);
  }
  if (!r->came || bad || kept) {
    end_failed_round(f);
  } else if (slp_worker_is(f, SLP_WORKER_JOINING)) {
    move(f, SLP_INDEX_REST);
    slp_worker_begins(f);
  } else {
    if (!there) {
      x->list_ns = 0;
      keep_changed_names(f, &x->list, NULL, 0);
    }
    lead_or_follow(f);
  }
}

/* Returns 1 if the worker of row w is alive: by the wall clock, it has written its row within the last lease
 * time. If this process was stopped for a while or could not reach the table, other workers may have had the
 * same trouble. So a worker that was alive before that counts as alive for one more lease time, in which it
 * can write its row again. */
static int is_alive(slp_fleet *f, const slp_worker_row *w) {
  int64_t since_ns = (int64_t)w->counter + (int64_t)(slp_fleet_lease_us(f) * NS_PER_US);
  uint64_t trouble_us = slp_fleet_trouble_us(f), until_us = slp_after_us(trouble_us, slp_fleet_lease_us(f));
  int spared = trouble_us && slp_fleet_now(f) < until_us && is_living_index_worker(f, w->id);
  return spared || since_ns / 1000000 > slp_wall_ms(f->h);
}

static void workers_read(slp_read *r) {
  slp_fleet *f = r->f;
  slp_str *names = r->came ? slp_store_rows_get(r->rows, (r->rows->n + 1) * sizeof *names) : NULL;
  slp_parsed_row row;
  size_t n = 0;
  while (names && slp_read_next(r, &row)) {
    if (is_bad(f, &row)) return;
    if (row.kind != SLP_ROW_WORKER) continue;
    if (is_alive(f, &row.u.worker))
      names[n++] = row.u.worker.id;
    else if (slp_guest_of(f)->index.leads)
      slp_index_reap(f, &row.u.worker);
  }
  size_t place = names ? slp_index_place(names, n, slp_instance_str(&f->me)) : 0;
  /* 0: other workers have removed this worker's row */
  int here = slp_worker_is(f, SLP_WORKER_JOINING) || place < n;
  if (!names || !here || keep_changed_names(f, &slp_guest_of(f)->index.workers, names, n)) {
    end_failed_round(f);
    return;
  }
  slp_guest_of(f)->index.place = place;
  move(f, SLP_INDEX_LIST);
  slp_read_side(&slp_guest_of(f)->index.read, 2, list_read);
}

static void read_workers(slp_fleet *f) {
  move(f, SLP_INDEX_WORKERS);
  slp_read_side(&slp_guest_of(f)->index.read, 1, workers_read);
}

static void on_client_row_published(slp_write *op) {
  slp_fleet *f = slp_write_fleet(op);
  count_failures(f, op, &slp_guest_of(f)->index.unpublished);
  if (op->end != SLP_OUTCOME_DONE) {
    end_failed_round(f);
    return;
  }
  slp_guest_of(f)->index.told = 1;
  slp_guest_of(f)->index.round_us = op->sent_us;
  f->stats.heartbeats++;
  read_workers(f);
}

static void on_index_timer(slp_timer *t) {
  slp_fleet *f = SLP_OWNER(t, slp_guest, index.timer)->f;
  if (!is_in(f, SLP_INDEX_REST)) return;
  if (slp_worker_is(f, SLP_WORKER_JOINING)) {
    read_workers(f);
  } else if (slp_worker_is(f, SLP_WORKER_RUNS)) {
    move(f, SLP_INDEX_TELLING);
    send_index_write(f, SLP_GUEST_PUBLISH, on_client_row_published);
  }
}

/* ---- functions of slp_strategy and slp_guest_strategy -------------------------------------------------- */

void slp_indexing_joins(slp_fleet *f) { rest_until_next_round(f, 0); }
void slp_indexing_begin(slp_fleet *f) { rest_until_next_round(f, 0); }
int slp_indexing_must_give_up(const slp_lease *l) { return !l->want.assigned; }
void slp_indexing_unknown_children(slp_fleet *f) { slp_guest_of(f)->index.look = 1; }

void slp_indexing_leaves(slp_fleet *f) {
  slp_read_stop(&slp_guest_of(f)->index.read);
  slp_write_stop(&slp_guest_of(f)->index.write);
  slp_timer_clear(f->h, &slp_guest_of(f)->index.timer);
  move(f, SLP_INDEX_REST);
}

static void on_index_resigned(slp_write *op) {
  slp_fleet *f = slp_write_fleet(op);
  move(f, SLP_INDEX_REST);
  slp_worker_out(f, "left");
}

static void on_client_row_withdrawn(slp_write *op) {
  slp_fleet *f = slp_write_fleet(op);
  if (slp_guest_of(f)->index.leads)
    send_index_write(f, SLP_OPERATION_RESIGN, on_index_resigned);
  else
    on_index_resigned(op);
}

void slp_indexing_part(slp_fleet *f) {
  if (!is_in(f, SLP_INDEX_REST)) return;
  move(f, SLP_INDEX_PARTING);
  send_index_write(f, SLP_GUEST_WITHDRAW, on_client_row_withdrawn);
}

/* ---- creating and freeing ------------------------------------------------------------------------------ */

void slp_indexing_init(slp_fleet *f) {
  slp_fleet_timer_init(&slp_guest_of(f)->index.timer, on_index_timer);
  slp_read_init(&slp_guest_of(f)->index.read, f, "the workers and shards", 0);
  slp_write_init(&slp_guest_of(f)->index.write, &f->writes, f);
}

void slp_indexing_stop(slp_fleet *f) {
  slp_read_stop(&slp_guest_of(f)->index.read);
  slp_write_stop(&slp_guest_of(f)->index.write);
  slp_timer_clear(f->h, &slp_guest_of(f)->index.timer);
  move(f, SLP_INDEX_REST);
}

void slp_indexing_free(slp_fleet *f) {
  slp_read_free(&slp_guest_of(f)->index.read);
  slp_write_free(&slp_guest_of(f)->index.write);
  slp_free(f->mem, slp_guest_of(f)->index.workers.all);
  slp_free(f->mem, slp_guest_of(f)->index.list.all);
}
