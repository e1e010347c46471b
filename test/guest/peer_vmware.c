/* peer_vmware.c - a worker of vmware-go-kcl-v2 with lease stealing. Source: the project vmware-go-kcl-v2,
 * files worker.go (event loop, rebalance), dynamodb-checkpointer.go (GetLease, CheckpointSequence,
 * ClaimShard, syncLeases), its polling-shard-consumer.go and common-shard-consumer.go.
 *
 * It keeps each shard's checkpoint, owner and timeout in memory and writes whole rows from there: a
 * checkpoint without any condition, so that a worker that was frozen puts back what it remembers, and
 * erases claims. Intervals follow from the lease as the defaults do from FailoverTimeMillis; the one
 * between two turns of the loop and between two looks at all rows is shorter, as in test/guest. */
#include "peer_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NS INT64_C(1000000000)
#define CLAIM_NS (120 * NS) /* LeaseStealingClaimTimeoutMillis */
#define ENDED "SHARD_END"
#define POLL_US (FW_S / 4)
#define SAVE_US FW_S

typedef struct memory { /* ShardStatus */
  char checkpoint[32], owner[PR_TEXT];
  int64_t timeout_ns; /* 0: none */
  uint8_t known;
} memory;

typedef struct own {
  memory shards[FW_SHARDS];
  uint64_t synced_us;
} own;

typedef struct consumer {
  uint64_t saved_us;
  uint8_t lost;
  uint8_t putting; /* a renewal is under way: put */
  int64_t put_timeout_ns;
  pr_write put;
} consumer;

static uint64_t lease_us(const fw_world *w) { return (uint64_t)w->lease_ms * 1000; }
static uint64_t sync_us(const fw_world *w) { return lease_us(w) * 3 / 10; }
static memory *memory_of(pm_worker *k, int shard) { return &((own *)k->own)->shards[shard]; }
static consumer *consumer_of(pm_hold *h) { return h->own; }
static const char *id_of(const pm_worker *k, int shard) { return k->w->shards[shard].id; }
static int64_t wall_ns(const pm_worker *k) { return pm_wall_us(k) * 1000; }

/* ---- times as Go writes them: zeros at the end of the fraction are left out ------------------------- */

static void time_text(int64_t ns, char out[40]) {
  time_t s = (time_t)(ns / NS);
  struct tm tm;
  gmtime_r(&s, &tm);
  size_t n = strftime(out, 40, "%Y-%m-%dT%H:%M:%S", &tm);
  if (ns % NS) {
    n += (size_t)snprintf(out + n, 40 - n, ".%09lld", (long long)(ns % NS));
    while (out[n - 1] == '0') n--;
  }
  snprintf(out + n, 40 - n, "Z");
}

static int64_t time_of(const char *text) {
  struct tm tm = {0};
  const char *at = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
  if (!at) return 0;
  int64_t ns = (int64_t)timegm(&tm) * NS, unit = NS / 10;
  if (*at == '.')
    for (at++; *at >= '0' && *at <= '9'; at++, unit /= 10) ns += (*at - '0') * unit;
  return ns;
}

/* ---- rows ------------------------------------------------------------------------------------------- */

typedef struct row {
  char owner[PR_TEXT], timeout[40], checkpoint[32], claim[PR_TEXT];
  uint8_t there, has_owner, has_timeout, has_checkpoint, has_claim;
} row;

/* 0: it can't be read now. */
static int get(pm_worker *k, int shard, row *r) {
  memset(r, 0, sizeof *r);
  if (pr_unreadable(k->w)) return 0;
  slp_store_rows rows = pr_get(k->w, 0, id_of(k, shard));
  if (rows.n) {
    const slp_row *from = &rows.rows[0];
    r->there = 1;
    r->has_owner = pr_has(from, "AssignedTo") != 0;
    r->has_timeout = pr_has(from, "LeaseTimeout") != 0;
    r->has_checkpoint = pr_has(from, "Checkpoint") != 0;
    r->has_claim = pr_has(from, "ClaimRequest") != 0;
    pr_text(from, "AssignedTo", r->owner, sizeof r->owner);
    pr_text(from, "LeaseTimeout", r->timeout, sizeof r->timeout);
    pr_text(from, "Checkpoint", r->checkpoint, sizeof r->checkpoint);
    pr_text(from, "ClaimRequest", r->claim, sizeof r->claim);
  }
  slp_store_rows_free(&rows);
  return 1;
}

typedef enum fetched { FETCH_FAILED, FETCH_NOTHING, FETCH_DONE } fetched;

static fetched fetch(pm_worker *k, int shard) {
  memory *m = memory_of(k, shard);
  row r;
  if (!get(k, shard, &r)) return FETCH_FAILED;
  if (!r.has_checkpoint) return FETCH_NOTHING; /* before it looks at anything else */
  snprintf(m->checkpoint, sizeof m->checkpoint, "%s", r.checkpoint);
  if (r.has_owner) snprintf(m->owner, sizeof m->owner, "%s", r.owner);
  if (r.timeout[0]) m->timeout_ns = time_of(r.timeout);
  return FETCH_DONE;
}

/* A whole row, from memory. */
static void begin_put(pm_worker *k, int shard, pr_write *u, const char *owner, int64_t timeout_ns) {
  const fw_shard *s = &k->w->shards[shard];
  char timeout[40];
  time_text(timeout_ns, timeout);
  pr_begin(u, SLP_WRITE_PUT, 0, s->id);
  if (owner) pr_set_text(u, "AssignedTo", owner);
  pr_set_text(u, "LeaseTimeout", timeout);
  if (s->parents[0] >= 0) pr_set_text(u, "ParentShardId", id_of(k, s->parents[0]));
}

static pr_result put(pm_worker *k, pr_write *u) {
  k->w->may_go_back = 1;
  pr_result r = pr_send(k->w, u);
  k->w->may_go_back = 0;
  return r;
}

/* What GetLease finds before it writes. 0: it may not have it. */
static int begin_get_lease(pm_worker *k, int shard, pr_write *u, int64_t *timeout_ns) {
  memory *m = memory_of(k, shard);
  int64_t now = wall_ns(k);
  row r;
  *timeout_ns = now + (int64_t)lease_us(k->w) * 1000;
  if (!get(k, shard, &r)) return 0;
  int claim_over = m->timeout_ns && m->timeout_ns < now - CLAIM_NS;
  if (r.claim[0] && strcmp(r.claim, k->name) != 0 && !claim_over) return 0;
  begin_put(k, shard, u, k->name, *timeout_ns);
  if (!r.has_owner || !r.has_timeout) {
    pr_when(u, "AssignedTo", SLP_TEST_ABSENT, SLP_VAL_NONE, "");
  } else {
    if (now < time_of(r.timeout) && strcmp(r.owner, k->name) != 0 && !claim_over) return 0;
    pr_when(u, "AssignedTo", SLP_TEST_EQ, SLP_VAL_S, r.owner);
    pr_when(u, "LeaseTimeout", SLP_TEST_EQ, SLP_VAL_S, r.timeout);
  }
  if (m->checkpoint[0]) pr_set_text(u, "Checkpoint", m->checkpoint);
  if (r.claim[0] && strcmp(r.claim, k->name) == 0 && !claim_over)
    pr_when(u, "ClaimRequest", SLP_TEST_EQ, SLP_VAL_S, r.claim);
  return 1;
}

static int got_lease(pm_worker *k, int shard, pr_write *u, int64_t timeout_ns) {
  memory *m = memory_of(k, shard);
  if (put(k, u) != PR_DONE) return 0;
  snprintf(m->owner, sizeof m->owner, "%s", k->name);
  m->timeout_ns = timeout_ns;
  return 1;
}

/* CheckpointSequence: whoever has the row by now. The owner in memory may be another by then, who finds a
 * time in his row that he did not write. */
static int save(pm_worker *k, int shard, const char *checkpoint) {
  memory *m = memory_of(k, shard);
  pr_write u;
  slp_store_rows is = pr_get(k->w, 0, id_of(k, shard));
  char owner[PR_TEXT] = "";
  if (is.n) pr_text(&is.rows[0], "AssignedTo", owner, sizeof owner);
  slp_store_rows_free(&is);
  if (strcmp(owner, k->name) != 0) k->w->shards[shard].excused = 1;
  snprintf(m->checkpoint, sizeof m->checkpoint, "%s", checkpoint);
  begin_put(k, shard, &u, m->owner, m->timeout_ns);
  pr_set_text(&u, "Checkpoint", checkpoint);
  return put(k, &u) == PR_DONE;
}

/* ---- a consumer of one shard ------------------------------------------------------------------------ */

/* Its memory first, then the row. */
static void done_with(pm_worker *k, pm_hold *h) {
  pr_write u;
  memory_of(k, h->shard)->owner[0] = 0;
  pr_begin(&u, SLP_WRITE_UPDATE, 0, id_of(k, h->shard));
  pr_when_text(&u, "AssignedTo", k->name);
  pr_drop(&u, "AssignedTo");
  pr_send(k->w, &u);
  pm_let_go(k, h);
}

static void save_done(pm_worker *k, pm_hold *h) {
  char text[24];
  if (h->done <= h->saved) return;
  snprintf(text, sizeof text, "%llu", (unsigned long long)h->done);
  consumer_of(h)->saved_us = fw_now(k->w);
  if (save(k, h->shard, text)) h->saved = h->done;
}

static void batch_done(pm_worker *k, uint64_t serial) {
  pm_hold *h = pm_done(k, serial);
  if (h && fw_now(k->w) - consumer_of(h)->saved_us >= SAVE_US) save_done(k, h);
}

/* A renewal is on its way with the checkpoint that was known when it set out. */
static void renewed(pm_worker *k, uint64_t serial) {
  pm_hold *h = pm_hold_by(k, serial);
  if (!h) return;
  consumer *c = consumer_of(h);
  c->putting = 0;
  if (put(k, &c->put) == PR_DONE)
    memory_of(k, h->shard)->timeout_ns = c->put_timeout_ns;
  else
    c->lost = 1;
}

static void renew(pm_worker *k, uint64_t serial) {
  pm_hold *h = pm_hold_by(k, serial);
  if (!h || consumer_of(h)->lost || k->stopping) return;
  consumer *c = consumer_of(h);
  if (c->putting) {
    pm_in(k, FW_S / 50, renew, serial);
  } else if (begin_get_lease(k, h->shard, &c->put, &c->put_timeout_ns)) {
    c->putting = 1;
    pm_in(k, pm_random(k, 1000, 15000), renewed, serial);
    pm_in(k, lease_us(k->w) / 4, renew, serial);
  } else {
    c->lost = 1;
  }
}

static void poll(pm_worker *k, uint64_t serial) {
  pm_hold *h = pm_hold_by(k, serial);
  if (!h) return;
  consumer *c = consumer_of(h);
  if (!h->busy && c->lost) { /* without a word to the application */
    done_with(k, h);
    return;
  }
  if (!h->busy && pm_at_end(k, h)) {
    save(k, h->shard, ENDED);
    done_with(k, h);
    return;
  }
  if (!h->busy && k->stopping) {
    save_done(k, h);
    done_with(k, h);
    return;
  }
  pm_read(k, h, 10, batch_done);
  pm_in(k, pm_random(k, POLL_US / 2, POLL_US * 3 / 2), poll, serial);
}

/* A parent that nobody has saved anything of counts as gone. Nothing is renewed meanwhile. */
static void wait_for_parent(pm_worker *k, uint64_t serial) {
  pm_hold *h = pm_hold_by(k, serial);
  if (!h) return;
  int parent = k->w->shards[h->shard].parents[0];
  if (parent >= 0 && memory_of(k, parent)->known) {
    fetched f = fetch(k, parent);
    if (f == FETCH_FAILED || (f == FETCH_DONE && strcmp(memory_of(k, parent)->checkpoint, ENDED) != 0)) {
      pm_in(k, f == FETCH_FAILED ? FW_S : lease_us(k->w), wait_for_parent, serial);
      return;
    }
  }
  if (fetch(k, h->shard) == FETCH_FAILED) {
    done_with(k, h);
    return;
  }
  h->done = h->saved = strtoull(memory_of(k, h->shard)->checkpoint, NULL, 10);
  h->next = h->done + 1;
  h->reading = 1;
  consumer_of(h)->saved_us = fw_now(k->w);
  pm_in(k, lease_us(k->w) / 4, renew, serial);
  poll(k, serial);
}

/* ---- the loop --------------------------------------------------------------------------------------- */

static void sync_shards(pm_worker *k) {
  for (int i = 0; i < k->w->shards_n; i++) memory_of(k, i)->known = !k->w->shards[i].trimmed;
}

/* One lease a turn at most. */
static void look_for_lease(pm_worker *k) {
  int order[FW_SHARDS], n = k->w->shards_n;
  for (int i = 0; i < n; i++) order[i] = i;
  pm_shuffle(k, order, n);
  for (int i = 0; i < n; i++) {
    int shard = order[i];
    memory *m = memory_of(k, shard);
    pr_write u;
    int64_t timeout_ns;
    if (!m->known || strcmp(m->owner, k->name) == 0 || pm_held(k, shard)) continue;
    if (fetch(k, shard) == FETCH_FAILED || strcmp(m->checkpoint, ENDED) == 0) continue;
    if (!begin_get_lease(k, shard, &u, &timeout_ns) || !got_lease(k, shard, &u, timeout_ns)) continue;
    pm_hold *h = pm_take_up(k, shard, strtoull(m->checkpoint, NULL, 10));
    wait_for_parent(k, h->serial);
    return;
  }
}

/* Owners that all rows name; a row that lacks one of three attributes is passed over. */
static int sync_leases(pm_worker *k) {
  own *o = k->own;
  if (o->synced_us && fw_now(k->w) - o->synced_us < sync_us(k->w)) return 1;
  if (pr_unreadable(k->w)) return 0;
  o->synced_us = fw_now(k->w);
  slp_store_rows rows = pr_scan(k->w, 0);
  for (size_t i = 0; i < rows.n; i++) {
    const slp_row *r = &rows.rows[i];
    char id[64];
    pr_text(r, "ShardID", id, sizeof id);
    int shard = pr_shard_of(k->w, id);
    if (shard < 0 || !memory_of(k, shard)->known || !pr_has(r, "AssignedTo") || !pr_has(r, "Checkpoint"))
      continue;
    pr_text(r, "AssignedTo", memory_of(k, shard)->owner, PR_TEXT);
    pr_text(r, "Checkpoint", memory_of(k, shard)->checkpoint, sizeof memory_of(k, shard)->checkpoint);
  }
  slp_store_rows_free(&rows);
  return 1;
}

static void claim(pm_worker *k, int shard) {
  memory *m = memory_of(k, shard);
  pr_write u;
  char timeout[40];
  if (fetch(k, shard) == FETCH_FAILED) return;
  time_text(m->timeout_ns, timeout);
  begin_put(k, shard, &u, m->owner[0] ? m->owner : NULL, m->timeout_ns);
  pr_set_text(&u, "Checkpoint", m->checkpoint);
  pr_set_text(&u, "ClaimRequest", k->name);
  pr_when(&u, "LeaseTimeout", SLP_TEST_EQ, SLP_VAL_S, timeout);
  pr_when_text(&u, "ClaimRequest", "");
  pr_when_text(&u, "AssignedTo", m->owner);
  if (strcmp(m->checkpoint, ENDED) == 0)
    pr_when(&u, "Checkpoint", SLP_TEST_NE, SLP_VAL_S, ENDED);
  else
    pr_when_text(&u, "Checkpoint", m->checkpoint);
  pr_when_text(&u, "ParentShardId",
               k->w->shards[shard].parents[0] >= 0 ? id_of(k, k->w->shards[shard].parents[0]) : "");
  if (put(k, &u) == PR_DONE)
    slp_sim_trace(k->w->sim, "%s claims %s of %s", k->name, id_of(k, shard), m->owner);
}

static void rebalance(pm_worker *k) {
  const char *names[FW_SHARDS];
  int counts[FW_SHARDS], workers = 0, shards = 0, mine = 0, his[FW_SHARDS], his_n = 0;
  if (!sync_leases(k)) return;
  for (int i = 0; i < k->w->shards_n; i++) {
    const memory *m = memory_of(k, i);
    int at = 0;
    if (!m->known || strcmp(m->checkpoint, ENDED) == 0) continue;
    if (!m->owner[0]) return; /* not all are somebody's */
    while (at < workers && strcmp(names[at], m->owner) != 0) at++;
    if (at == workers) names[workers] = m->owner, counts[workers++] = 0;
    counts[at]++;
    shards++;
    mine += strcmp(m->owner, k->name) == 0;
  }
  if (workers >= shards) return;
  if (!mine) workers++;
  int best = shards / workers, victim = -1;
  if (mine >= best) return;
  for (int i = 0; i < workers - !mine; i++)
    if (strcmp(names[i], k->name) != 0 && counts[i] > best) victim = i, best = counts[i];
  if (victim < 0) return;
  for (int i = 0; i < k->w->shards_n; i++) {
    const memory *m = memory_of(k, i);
    if (m->known && strcmp(m->checkpoint, ENDED) != 0 && strcmp(m->owner, names[victim]) == 0)
      his[his_n++] = i;
  }
  if (his_n) claim(k, his[pm_random(k, 0, (uint64_t)his_n - 1)]);
}

static void loop(pm_worker *k, uint64_t serial) {
  (void)serial;
  if (k->stopping) return;
  sync_shards(k);
  look_for_lease(k);
  rebalance(k);
  pm_in(k, pm_random(k, sync_us(k->w) / 2, sync_us(k->w) * 3 / 2), loop, 0);
}

/* ---- its life --------------------------------------------------------------------------------------- */

static void start(pm_worker *k) { pm_in(k, pm_random(k, sync_us(k->w) / 2, sync_us(k->w) * 3 / 2), loop, 0); }

/* Every consumer sees it when its batch is done; one that waits for a parent does not, until somebody
 * kills it. */
static void stop_some(pm_worker *k, uint64_t tries) {
  if (!k->holds_n || !tries)
    pm_gone(k);
  else
    pm_in(k, FW_S / 10, stop_some, tries - 1);
}
static void stop(pm_worker *k) { stop_some(k, 100); }

static void read_row(const slp_row *from, peer_row *to) {
  char checkpoint[32];
  pr_text(from, "ShardID", to->key, sizeof to->key);
  pr_text(from, "AssignedTo", to->owner, sizeof to->owner);
  pr_text(from, "Checkpoint", checkpoint, sizeof checkpoint);
  to->done = strtoull(checkpoint, NULL, 10);
  to->ended = strcmp(checkpoint, ENDED) == 0;
}

/* A claim of a dead worker keeps others away for 120 s behind the lease's time; each worker takes one
 * lease a turn. */
static uint64_t orphan_us(const fw_world *w) {
  return 120 * FW_S + 2 * lease_us(w) + (uint64_t)w->shards_n * sync_us(w) * 3 / 2 + FW_S;
}
static uint64_t settled_us(const fw_world *w) { return 3 * orphan_us(w); }

static const pm_rules rules = {sizeof(own), sizeof(consumer), start, stop};
const peer_system peer_vmware = {.name = "vmware-go-kcl",
                                 .layout = &fw_layout_vmware,
                                 .checkpoint = "Checkpoint",
                                 .rules = &rules,
                                 PM_LIFE,
                                 .read = read_row,
                                 .orphan_us = orphan_us,
                                 .settled_us = settled_us,
                                 .lease_ms = 10000,
                                 .skew_ms = 100,
                                 .blind = 1,
                                 .drops = 1,
                                 .lives = PM_WORKERS,
                                 .moves_at_rest = 2};
