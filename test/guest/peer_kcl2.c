/* peer_kcl2.c - a worker of Amazon's KCL 2. Source: the project amazon-kinesis-client 2.7, classes
 * DynamoDBLeaseTaker (which leases it takes: computeLeasesToTake, chooseLeasesToSteal),
 * DynamoDBLeaseRenewer, DynamoDBLeaseRefresher, LeaseCoordinator (the intervals), ShutdownTask (the end
 * of a shard), LeaseCleanupManager, and what its logs and rows show (test/guest): a worker that stops
 * saves and lets its leases run out, and one that has read a shard to its end goes on renewing that lease
 * until it is removed.
 *
 * Intervals follow from the lease as KCL's do from failoverTimeMillis; those of the cleanup are shorter
 * here. */
#include "kcl_rows.h"
#include "peer_model.h"

#include <stdio.h>
#include <stdlib.h>

#define VERY_OLD 3 /* times the lease */
#define STEAL_MAX 1
#define POLL_US (FW_S / 4)
#define SAVE_US FW_S
#define EPSILON_US 25000
#define CLEAN_US(w) (10 * failover_us(w))

typedef struct seen { /* of a row, by the taker */
  uint64_t counter, moved_us;
  char owner[KCL_NAME];
  uint8_t there, owned, never; /* never: new and nobody's, so that it counts as never renewed */
} seen;

typedef struct own {
  seen rows[FW_SHARDS];
  int to_take[FW_SHARDS], to_take_n;
} own;

typedef struct lease {
  uint64_t counter, renewed_us, saved_us;
  uint8_t named, ended, last; /* named: its children are there, and in its row */
} lease;

static uint64_t failover_us(const fw_world *w) { return (uint64_t)w->lease_ms * 1000; }
static lease *lease_of(pm_hold *h) { return h->own; }
static const char *id_of(const pm_worker *k, int shard) { return k->w->shards[shard].id; }

/* ---- writes of an owner ----------------------------------------------------------------------------- */

static void begin_owned(pm_worker *k, pm_hold *h, pr_write *u) {
  pr_begin(u, SLP_WRITE_UPDATE, 0, id_of(k, h->shard));
  pr_when_number(u, "leaseCounter", lease_of(h)->counter);
  pr_set_number(u, "leaseCounter", lease_of(h)->counter + 1);
}

/* An answer got lost and the SDK's second try was refused: the row shows that the first one went through. */
static int was_mine(pm_worker *k, pm_hold *h) {
  kcl_row r;
  return !pr_unreadable(k->w) && kcl_get(k->w, id_of(k, h->shard), &r) && strcmp(r.owner, k->name) == 0 &&
         r.counter == lease_of(h)->counter + 1;
}

/* 0: it is lost. */
static int renew(pm_worker *k, pm_hold *h) {
  pr_write u;
  lease *l = lease_of(h);
  if (fw_now(k->w) - l->renewed_us > failover_us(k->w)) return 0;
  begin_owned(k, h, &u);
  pr_result r = pr_send(k->w, &u);
  if (r == PR_NO_ANSWER) return 1; /* not known: it is tried again */
  if (r == PR_REFUSED && !was_mine(k, h)) return 0;
  l->counter++;
  l->renewed_us = fw_now(k->w);
  return 1;
}

/* DONE, REFUSED: it is lost; NO_ANSWER: the application sees an exception and tries again later. */
static pr_result save(pm_worker *k, pm_hold *h, const char *checkpoint) {
  pr_write u;
  begin_owned(k, h, &u);
  pr_set_text(&u, "checkpoint", checkpoint);
  pr_set_number(&u, "checkpointSubSequenceNumber", 0);
  pr_set_number(&u, "ownerSwitchesSinceCheckpoint", 0);
  pr_result r = pr_send(k->w, &u);
  if (r == PR_DONE) {
    lease_of(h)->counter++;
    lease_of(h)->saved_us = fw_now(k->w);
  }
  return r;
}

static pr_result save_done(pm_worker *k, pm_hold *h) {
  char text[24];
  if (h->done <= h->saved) return PR_DONE;
  snprintf(text, sizeof text, "%llu", (unsigned long long)h->done);
  pr_result r = save(k, h, text);
  if (r == PR_DONE) h->saved = h->done;
  return r;
}

/* ---- reading ---------------------------------------------------------------------------------------- */

static void batch_done(pm_worker *k, uint64_t serial) {
  pm_hold *h = pm_done(k, serial);
  if (!h) return;
  if (fw_now(k->w) - lease_of(h)->saved_us < SAVE_US && !k->stopping) return;
  if (save_done(k, h) == PR_REFUSED) pm_let_go(k, h);
}

/* The children first, then the end itself. 0: it waits for something, and is tried again. */
static int end_shard(pm_worker *k, pm_hold *h) {
  fw_world *w = k->w;
  const fw_shard *s = &w->shards[h->shard];
  if (w->outage_until_us > fw_now(w) || !kcl_may_end(w, s)) return 0;
  if (!lease_of(h)->named) {
    for (int i = 0; i < s->kids_n; i++) kcl_make_lease(w, s->kids[i], 0);
    kcl_name_kids(w, h->shard);
    lease_of(h)->named = 1;
    return 0; /* the application is asked */
  }
  pr_result r = save(k, h, "SHARD_END");
  if (r == PR_REFUSED) pm_let_go(k, h);
  if (r == PR_DONE) lease_of(h)->ended = 1;
  return r != PR_NO_ANSWER;
}

static void poll(pm_worker *k, uint64_t serial) {
  pm_hold *h = pm_hold_by(k, serial);
  if (!h || lease_of(h)->ended) return;
  if (fw_now(k->w) - lease_of(h)->renewed_us > failover_us(k->w)) { /* it does not believe in it any more */
    pm_let_go(k, h);
    return;
  }
  if (!k->stopping &&
      (h->reading || (!pr_unreadable(k->w) && kcl_parents_ended(k->w, &k->w->shards[h->shard])))) {
    h->reading = 1;
    if (pm_at_end(k, h)) {
      if (end_shard(k, h)) return;
    } else {
      pm_read(k, h, 10, batch_done);
    }
  }
  pm_in(k, pm_random(k, POLL_US / 2, POLL_US * 3 / 2), poll, serial);
}

static void begin_lease(pm_worker *k, int shard, const kcl_row *r, uint64_t counter) {
  pm_hold *h = pm_take_up(k, shard, strtoull(r->checkpoint, NULL, 10));
  lease *l = lease_of(h);
  l->counter = counter;
  l->renewed_us = l->saved_us = fw_now(k->w);
  l->ended = strcmp(r->checkpoint, "SHARD_END") == 0;
  if (!l->ended) pm_in(k, pm_random(k, 1000, POLL_US), poll, h->serial);
}

static void renew_all(pm_worker *k, uint64_t serial) {
  (void)serial;
  for (int i = k->holds_n - 1; i >= 0; i--)
    if (i < k->holds_n && !renew(k, k->holds[i])) pm_let_go(k, k->holds[i]);
  pm_in(k, failover_us(k->w) / 3 - EPSILON_US, renew_all, 0);
}

/* ---- the taker -------------------------------------------------------------------------------------- */

static int never_renewed(const seen *s) { return s->never; }
static uint64_t silent_us(const pm_worker *k, const seen *s) { return fw_now(k->w) - s->moved_us; }
static int is_available(const pm_worker *k, const seen *s) {
  return !s->owned || never_renewed(s) || silent_us(k, s) > failover_us(k->w);
}
static int is_very_old(const pm_worker *k, const seen *s) {
  return never_renewed(s) || silent_us(k, s) > VERY_OLD * failover_us(k->w);
}

static void look(pm_worker *k) {
  own *o = k->own;
  slp_store_rows rows = pr_scan(k->w, 0);
  uint8_t there[FW_SHARDS] = {0};
  for (size_t i = 0; i < rows.n; i++) {
    kcl_row r = kcl_row_of(&rows.rows[i]);
    int shard = pr_shard_of(k->w, r.key);
    if (shard < 0 || !kcl_is_lease(&rows.rows[i])) continue;
    seen *s = &o->rows[shard];
    there[shard] = 1;
    if (!s->there || s->counter != r.counter) {
      s->moved_us = fw_now(k->w);
      s->never = !s->there && !r.owner[0];
    }
    s->there = 1;
    s->counter = r.counter;
    s->owned = r.owner[0] != 0;
    snprintf(s->owner, sizeof s->owner, "%s", r.owner);
  }
  slp_store_rows_free(&rows);
  for (int i = 0; i < FW_SHARDS; i++)
    if (!there[i]) o->rows[i].there = 0;
}

typedef struct count {
  const char *name;
  int leases;
} count;

/* Leases of each worker that has some that are not available; this one is counted always. */
static int count_all(pm_worker *k, count counts[FW_SHARDS + 1]) {
  own *o = k->own;
  int n = 1;
  counts[0] = (count){k->name, 0};
  for (int i = 0; i < k->w->shards_n; i++) {
    const seen *s = &o->rows[i];
    int at = 0;
    if (!s->there || is_available(k, s)) continue;
    while (at < n && strcmp(counts[at].name, s->owner) != 0) at++;
    if (at == n) counts[n++] = (count){s->owner, 0};
    counts[at].leases++;
  }
  return n;
}

static void choose(pm_worker *k, int (*which)(const pm_worker *k, const seen *s), int most) {
  own *o = k->own;
  int all[FW_SHARDS], n = 0;
  for (int i = 0; i < k->w->shards_n; i++)
    if (o->rows[i].there && which(k, &o->rows[i])) all[n++] = i;
  pm_shuffle(k, all, n);
  for (int i = 0; i < n && i < most; i++) o->to_take[o->to_take_n++] = all[i];
}

static void choose_victims(pm_worker *k, const count *counts, int n, int need, int target) {
  own *o = k->own;
  const count *most = &counts[0];
  int his[FW_SHARDS], his_n = 0;
  for (int i = 1; i < n; i++)
    if (counts[i].leases > most->leases) most = &counts[i];
  int steal = most->leases - target < need ? most->leases - target : need;
  if (most->leases < target) return;
  if (steal == 0 && need > 1) steal = 1;
  if (steal > STEAL_MAX) steal = STEAL_MAX;
  for (int i = 0; i < k->w->shards_n; i++)
    if (o->rows[i].there && o->rows[i].owned && strcmp(o->rows[i].owner, most->name) == 0) his[his_n++] = i;
  pm_shuffle(k, his, his_n);
  for (int i = 0; i < steal && i < his_n; i++) o->to_take[o->to_take_n++] = his[i];
}

static void compute(pm_worker *k) {
  own *o = k->own;
  count counts[FW_SHARDS + 1];
  int leases = 0, very_old = 0, available = 0, n = count_all(k, counts);
  for (int i = 0; i < k->w->shards_n; i++) {
    if (!o->rows[i].there) continue;
    leases++;
    very_old += is_very_old(k, &o->rows[i]);
    available += is_available(k, &o->rows[i]);
  }
  o->to_take_n = 0;
  if (!leases) return;
  int target = n >= leases ? 1 : (leases + n - 1) / n, need = target - counts[0].leases;
  if (very_old)
    choose(k, is_very_old, leases);
  else if (need > 0 && available)
    choose(k, is_available, need);
  else if (need > 0)
    choose_victims(k, counts, n, need, target);
}

static void take_next(pm_worker *k, uint64_t first);

static void take(pm_worker *k, int shard) {
  own *o = k->own;
  seen *s = &o->rows[shard];
  pr_write u;
  kcl_row r;
  pr_begin(&u, SLP_WRITE_UPDATE, 0, id_of(k, shard));
  pr_when_number(&u, "leaseCounter", s->counter);
  pr_set_number(&u, "leaseCounter", s->counter + 1);
  pr_set_text(&u, "leaseOwner", k->name);
  if (s->owned && strcmp(s->owner, k->name) != 0) pr_add(&u, "ownerSwitchesSinceCheckpoint", 1);
  if (pr_send(k->w, &u) != PR_DONE) return;
  s->moved_us = fw_now(k->w);
  pm_hold *had = pm_held(k, shard);
  if (had) pm_let_go(k, had);
  if (kcl_get(k->w, id_of(k, shard), &r)) begin_lease(k, shard, &r, s->counter + 1);
}

static void run_taker(pm_worker *k, uint64_t serial) {
  own *o = k->own;
  (void)serial;
  if (k->stopping) return;
  o->to_take_n = 0;
  if (!pr_unreadable(k->w)) {
    look(k);
    compute(k);
  }
  take_next(k, 1);
}

static void take_next(pm_worker *k, uint64_t first) {
  own *o = k->own;
  if (k->stopping) return;
  if (!first && o->to_take_n) take(k, o->to_take[--o->to_take_n]);
  if (o->to_take_n)
    pm_in(k, pm_random(k, 1000, 40000), take_next, 0);
  else
    pm_in(k, 2 * (failover_us(k->w) + EPSILON_US), run_taker, 0);
}

/* ---- its life --------------------------------------------------------------------------------------- */

static void clean(pm_worker *k, uint64_t serial) {
  (void)serial;
  for (int i = k->holds_n - 1; i >= 0; i--) {
    pm_hold *h = k->holds[i];
    pr_write u;
    if (!lease_of(h)->ended || pr_unreadable(k->w) || !kcl_may_clean(k->w, &k->w->shards[h->shard])) continue;
    pr_begin(&u, SLP_WRITE_DELETE, 0, id_of(k, h->shard));
    if (pr_send(k->w, &u) == PR_DONE) pm_let_go(k, h);
  }
  pm_in(k, CLEAN_US(k->w), clean, 0);
}

static void begin_all(pm_worker *k, uint64_t serial) {
  (void)serial;
  if (pr_unreadable(k->w)) {
    pm_in(k, FW_S, begin_all, 0);
    return;
  }
  slp_store_rows rows = pr_scan(k->w, 0);
  size_t n = rows.n;
  for (size_t i = 0; i < n; i++) { /* what stands under its name is its own at once */
    kcl_row r = kcl_row_of(&rows.rows[i]);
    int shard = pr_shard_of(k->w, r.key);
    pr_write u;
    if (shard < 0 || strcmp(r.owner, k->name) != 0) continue;
    pr_begin(&u, SLP_WRITE_UPDATE, 0, r.key);
    pr_when_number(&u, "leaseCounter", r.counter);
    pr_set_number(&u, "leaseCounter", r.counter + 1);
    if (pr_send(k->w, &u) == PR_DONE) begin_lease(k, shard, &r, r.counter + 1);
  }
  slp_store_rows_free(&rows);
  for (int i = 0; !n && i < k->w->shards_n; i++)
    if (k->w->shards[i].parents[0] < 0) kcl_make_lease(k->w, i, 0);
  pm_in(k, failover_us(k->w) / 3, renew_all, 0);
  pm_in(k, pm_random(k, 1000, 100000), run_taker, 0);
  pm_in(k, CLEAN_US(k->w), clean, 0);
}

static void start(pm_worker *k) { pm_in(k, 100000, begin_all, 0); }

/* Each application is told, saves, and its lease is dropped: in memory only. */
static void stop_some(pm_worker *k, uint64_t serial) {
  int waits = 0;
  (void)serial;
  for (int i = k->holds_n - 1; i >= 0; i--) {
    pm_hold *h = k->holds[i];
    if (lease_of(h)->ended) continue;
    if (h->busy || (save_done(k, h) == PR_NO_ANSWER && ++lease_of(h)->last < 5))
      waits = 1;
    else
      pm_let_go(k, h);
  }
  if (waits)
    pm_in(k, 100000, stop_some, 0);
  else
    pm_gone(k);
}
static void stop(pm_worker *k) { pm_in(k, 1000, stop_some, 0); }

static void read_row(const slp_row *from, peer_row *to) {
  kcl_row r = kcl_row_of(from);
  snprintf(to->key, sizeof to->key, "%s", r.key);
  snprintf(to->owner, sizeof to->owner, "%s", r.by[0] ? r.by : r.owner);
  to->done = strtoull(r.checkpoint, NULL, 10);
  to->ended = strcmp(r.checkpoint, "SHARD_END") == 0;
}

/* Seen at the second run of somebody's taker at the latest, and very old one run and a lease later. */
static uint64_t orphan_us(const fw_world *w) {
  return 2 * (2 * failover_us(w) + FW_S) + 3 * failover_us(w) + FW_S;
}
static uint64_t settled_us(const fw_world *w) { return 40 * failover_us(w); }

static const pm_rules rules = {sizeof(own), sizeof(lease), start, stop};
const peer_system peer_kcl2 = {.name = "kcl-2",
                               .layout = &fw_layout_kcl,
                               .checkpoint = "checkpoint",
                               .rules = &rules,
                               PM_LIFE,
                               .read = read_row,
                               .orphan_us = orphan_us,
                               .settled_us = settled_us,
                               .lease_ms = 2000,
                               .skew_ms = 50000,
                               .lives = PM_WORKERS,
                               .moves_at_rest = 0};
