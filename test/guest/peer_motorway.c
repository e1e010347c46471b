/* peer_motorway.c - a process of motorway's Kinesis ramp. Source: the PyPI package motorway 3.1, class
 * KinesisRamp (can_claim_shard, claim_shard, process_shard).
 *
 * A thread for each shard there was when the process began. To claim, it looks at the table twice, a
 * heartbeat_timeout apart, then once more so under a lock of the process; a lease that stood still is free, and
 * one of the living is taken when shares are uneven. What it writes is the row as it was read, with its changes;
 * a claim has the checkpoint as its only condition, and a row that was not there is put without any. The thread
 * ends with its shard.
 *
 * Not modelled: a thread that can't reach the table ends in some cases; here it begins to claim anew, as it does
 * when it was throttled. */
#include "peer_model.h"

#include <stdio.h>
#include <stdlib.h>

#define KEY "shard_id"
#define LOOP_US FW_S
#define CALL_US 15000 /* between what was read and what is written */

typedef struct item { /* a row, as it was read */
  char owner[PR_TEXT], checkpoint[32], done[32], oldest[32], taken[PR_TEXT], parents[2][32];
  uint64_t tick;
  uint8_t there, is_number, parents_n; /* is_number: of its checkpoint */
} item;

typedef struct thread {
  uint8_t lives, locked; /* locked: it has the lock of the process */
  item snapshot, row;
  char names[FW_SHARDS + 1][PR_TEXT]; /* worker_heartbeats */
  uint64_t ticks[FW_SHARDS + 1];
  int names_n;
} thread;

typedef struct own {
  thread threads[FW_SHARDS];
  uint8_t locked;
} own;

typedef struct reading {
  item row;
  uint8_t from_latest; /* of which nothing is saved, not even by whom it was before */
} reading;

static uint64_t timeout_us(const fw_world *w) { return (uint64_t)w->lease_ms * 1000; }
static thread *thread_of(pm_worker *k, int shard) { return &((own *)k->own)->threads[shard]; }
static const char *id_of(const pm_worker *k, int shard) { return k->w->shards[shard].id; }

/* ---- rows ------------------------------------------------------------------------------------------- */

static void read_item(const slp_row *from, item *to) {
  memset(to, 0, sizeof *to);
  const slp_val *parents = slp_row_get(from, SLP_STR("sloop_parents"));
  to->there = 1;
  pr_text(from, "worker_id", to->owner, sizeof to->owner);
  pr_text(from, "checkpoint", to->checkpoint, sizeof to->checkpoint);
  pr_text(from, "sloop_done", to->done, sizeof to->done);
  pr_text(from, "sloop_oldest", to->oldest, sizeof to->oldest);
  pr_text(from, "sloop_taken", to->taken, sizeof to->taken);
  to->tick = pr_number(from, "heartbeat");
  to->is_number = slp_row_get(from, SLP_STR("checkpoint"))->kind == SLP_VAL_N;
  if (to->is_number) snprintf(to->checkpoint, sizeof to->checkpoint, "0");
  for (size_t i = 0; parents->kind == SLP_VAL_SS && i < parents->n && i < 2; i++, to->parents_n++)
    snprintf(to->parents[i], sizeof to->parents[i], "%.*s", (int)parents->items[i].n, parents->items[i].p);
}

/* 0: the table can't be reached. */
static int get(pm_worker *k, int shard, item *to) {
  memset(to, 0, sizeof *to);
  if (pr_unreadable(k->w)) return 0;
  slp_store_rows rows = pr_get(k->w, 0, id_of(k, shard));
  if (rows.n) read_item(&rows.rows[0], to);
  slp_store_rows_free(&rows);
  return 1;
}

static void set_checkpoint(pr_write *u, const char *z, int is_number) {
  pr_set(u, "checkpoint", is_number ? SLP_VAL_N : SLP_VAL_S, z);
}

/* The whole item: what is unknown to it goes along as it was read. */
static pr_result put(pm_worker *k, int shard, const item *i, const item *condition, int claims) {
  pr_write u;
  slp_str parents[2] = {slp_str_of(i->parents[0]), slp_str_of(i->parents[1])};
  pr_begin(&u, SLP_WRITE_PUT, 0, id_of(k, shard));
  if (condition)
    pr_when(&u, "checkpoint", SLP_TEST_EQ, condition->is_number ? SLP_VAL_N : SLP_VAL_S,
            condition->checkpoint);
  if (condition && !claims) {
    pr_when_text(&u, "worker_id", k->name);
    pr_when_number(&u, "heartbeat", condition->tick);
  }
  pr_set_text(&u, "worker_id", i->owner);
  pr_set_number(&u, "heartbeat", i->tick);
  set_checkpoint(&u, i->checkpoint, i->is_number);
  if (i->done[0]) pr_set_text(&u, "sloop_done", i->done);
  if (i->oldest[0]) pr_set_text(&u, "sloop_oldest", i->oldest);
  if (i->taken[0]) pr_set_text(&u, "sloop_taken", i->taken);
  if (i->parents_n) pr_set_texts(&u, "sloop_parents", parents, i->parents_n);
  return pr_send(k->w, &u);
}

/* ---- a thread that reads ---------------------------------------------------------------------------- */

static void begin_claim(pm_worker *k, uint64_t shard);

static void batch_done(pm_worker *k, uint64_t serial) { (void)pm_done(k, serial); }

static void lose(pm_worker *k, pm_hold *h) {
  int shard = h->shard;
  pm_let_go(k, h);
  begin_claim(k, (uint64_t)shard);
}

static void loop(pm_worker *k, uint64_t serial);

/* A lease of which nothing is saved: older records than the latest are left out. */
static void leave_out(pm_worker *k, pm_hold *h) {
  fw_shard *s = &k->w->shards[h->shard];
  if (s->acked < s->records) k->w->left_out += s->records - s->acked;
  s->acked = s->handed = s->records;
  h->done = h->saved = s->records;
  h->next = s->records + 1;
}

static void write_loop(pm_worker *k, uint64_t serial) {
  pm_hold *h = pm_hold_by(k, serial);
  if (!h) return;
  reading *r = h->own;
  item next = r->row;
  next.tick++;
  if (h->busy) {
    snprintf(next.checkpoint, sizeof next.checkpoint, "%llu", (unsigned long long)h->done + 1);
    next.is_number = 0;
  } else if (h->done > h->saved) {
    snprintf(next.checkpoint, sizeof next.checkpoint, "%llu", (unsigned long long)h->done);
    next.is_number = 0;
  }
  if (put(k, h->shard, &next, &r->row, 0) != PR_DONE) {
    lose(k, h);
    return;
  }
  /* Its first page comes from the latest record there is then. A worker of ours that had the lease has a second
   * to take it back. */
  if (r->from_latest && r->from_latest++ == 2) {
    leave_out(k, h);
    r->from_latest = 0;
  }
  if (!r->from_latest) {
    pm_read(k, h, 1000, batch_done);
    const fw_shard *s = &k->w->shards[h->shard];
    if (s->closed && h->next > s->records) { /* no iterator behind it: the thread ends */
      thread_of(k, h->shard)->lives = 0;
      if (h->busy) (void)pm_done(k, serial); /* what is queued is processed all the same */
      pm_let_go(k, h);
      return;
    }
  }
  pm_in(k, LOOP_US, loop, serial);
}

static void loop(pm_worker *k, uint64_t serial) {
  pm_hold *h = pm_hold_by(k, serial);
  if (!h) return;
  reading *r = h->own;
  if (!get(k, h->shard, &r->row) || !r->row.there || strcmp(r->row.owner, k->name) != 0) {
    lose(k, h);
    return;
  }
  pm_in(k, pm_random(k, 1000, CALL_US), write_loop, serial);
}

static void begin_reading(pm_worker *k, int shard) {
  item row;
  if (pm_held(k, shard)) return;
  if (!get(k, shard, &row) || !row.there) {
    begin_claim(k, (uint64_t)shard);
    return;
  }
  uint64_t at = row.is_number ? 0 : strtoull(row.checkpoint, NULL, 10);
  pm_hold *h = pm_take_up(k, shard, at ? at - 1 : 0);
  ((reading *)h->own)->from_latest = row.is_number;
  loop(k, h->serial);
}

/* ---- a thread that claims --------------------------------------------------------------------------- */

static void unlock(pm_worker *k, thread *t) {
  if (t->locked) ((own *)k->own)->locked = 0;
  t->locked = 0;
}

static void later(pm_worker *k, int shard) {
  unlock(k, thread_of(k, shard));
  pm_in(k, pm_random(k, 2, 14) * FW_S, begin_claim, (uint64_t)shard);
}

static void put_new(pm_worker *k, uint64_t shard) {
  item new = {.is_number = 1, .checkpoint = "0"};
  snprintf(new.owner, sizeof new.owner, "%s", k->name);
  k->w->may_go_back = 1;
  pr_result r = put(k, (int)shard, &new, NULL, 0);
  k->w->may_go_back = 0;
  if (r == PR_DONE)
    begin_reading(k, (int)shard);
  else
    later(k, (int)shard);
}

static void write_claim(pm_worker *k, uint64_t shard) {
  thread *t = thread_of(k, (int)shard);
  item mine = t->row;
  snprintf(mine.owner, sizeof mine.owner, "%s", k->name);
  mine.tick = 0;
  if (put(k, (int)shard, &mine, &t->row, 1) != PR_DONE) {
    later(k, (int)shard);
    return;
  }
  unlock(k, t);
  begin_reading(k, (int)shard);
}

static int count(const item *rows, int n, const char *owner) {
  int all = 0;
  for (int i = 0; i < n; i++) all += strcmp(rows[i].owner, owner) == 0;
  return all;
}

/* By the last row of a worker that the first look had. */
static int was_still(const thread *t, const item *row) {
  for (int i = 0; i < t->names_n; i++)
    if (strcmp(t->names[i], row->owner) == 0) return t->ticks[i] == row->tick;
  return 0;
}

static int is_uneven(pm_worker *k, int shard) {
  const thread *t = thread_of(k, shard);
  item rows[FW_SHARDS];
  int n = 0, active = 0, self = 0;
  const char *owner = "";
  slp_store_rows all = pr_scan(k->w, 0);
  for (size_t i = 0; i < all.n && n < FW_SHARDS; i++) {
    char id[64];
    pr_text(&all.rows[i], KEY, id, sizeof id);
    read_item(&all.rows[i], &rows[n++]);
    if (strcmp(id, id_of(k, shard)) == 0) owner = rows[n - 1].owner;
  }
  slp_store_rows_free(&all);
  for (int i = 0; i < n; i++) { /* the last row of each decides */
    int last = 1;
    for (int j = i + 1; j < n; j++) last &= strcmp(rows[i].owner, rows[j].owner) != 0;
    active += last && !was_still(t, &rows[i]);
    self |= strcmp(rows[i].owner, k->name) == 0;
  }
  active += !self;
  if (!active || !owner[0]) return 0; /* without an active worker it divides by zero; the thread ends there */
  int best = n / active, has = count(rows, n, owner), mine = count(rows, n, k->name);
  return (has > best || (!mine && has > 1)) && mine < best;
}

static void may_claim(pm_worker *k, int shard) {
  thread *t = thread_of(k, shard);
  own *o = k->own;
  if (t->locked) {
    if (get(k, shard, &t->row) && t->row.there)
      pm_in(k, pm_random(k, 1000, CALL_US), write_claim, (uint64_t)shard);
    else
      later(k, shard);
  } else if (o->locked) {
    pm_in(k, FW_S / 10, begin_claim, (uint64_t)shard);
  } else {
    o->locked = t->locked = 1;
    begin_claim(k, (uint64_t)shard);
  }
}

static void look_again(pm_worker *k, uint64_t shard) {
  thread *t = thread_of(k, (int)shard);
  if (!get(k, (int)shard, &t->row) || !t->row.there) {
    later(k, (int)shard);
    return;
  }
  int still = t->row.tick == t->snapshot.tick && strcmp(t->row.owner, t->snapshot.owner) == 0;
  if (still || is_uneven(k, (int)shard))
    may_claim(k, (int)shard);
  else
    later(k, (int)shard);
}

static void begin_claim(pm_worker *k, uint64_t shard) {
  thread *t = thread_of(k, (int)shard);
  int found = 0;
  if (!t->lives || pm_held(k, (int)shard)) return;
  if (pr_unreadable(k->w)) {
    later(k, (int)shard);
    return;
  }
  slp_store_rows all = pr_scan(k->w, 0);
  t->names_n = 0;
  for (size_t i = 0; i < all.n; i++) {
    char id[64];
    item row;
    int at = 0;
    pr_text(&all.rows[i], KEY, id, sizeof id);
    read_item(&all.rows[i], &row);
    while (at < t->names_n && strcmp(t->names[at], row.owner) != 0) at++;
    if (at == t->names_n && at < FW_SHARDS) snprintf(t->names[t->names_n++], PR_TEXT, "%s", row.owner);
    t->ticks[at] = strcmp(row.owner, k->name) == 0 ? 0 : row.tick;
    if (strcmp(id, id_of(k, (int)shard)) != 0) continue;
    t->snapshot = row;
    found = 1;
  }
  slp_store_rows_free(&all);
  if (found) {
    pm_in(k, timeout_us(k->w), look_again, shard);
  } else {
    unlock(k, t);
    pm_in(k, pm_random(k, 1000, CALL_US), put_new, shard);
  }
}

/* ---- a process -------------------------------------------------------------------------------------- */

static void start(pm_worker *k) {
  int order[FW_SHARDS], n = k->w->shards_n;
  for (int i = 0; i < n; i++) order[i] = i;
  pm_shuffle(k, order, n);
  for (int i = 0; i < n; i++) {
    if (k->w->shards[order[i]].trimmed) continue;
    thread_of(k, order[i])->lives = 1;
    pm_in(k, pm_random(k, 0, 100000), begin_claim, (uint64_t)order[i]);
  }
}

static void stop(pm_worker *k) { pm_gone(k); }

static int knows(const void *m, int worker, int shard) {
  const own *o = pm_own(m, worker);
  return o->threads[shard].lives;
}

/* ---- for the judge ---------------------------------------------------------------------------------- */

static void read_row(const slp_row *from, peer_row *to) {
  item i;
  read_item(from, &i);
  uint64_t at = i.is_number ? 0 : strtoull(i.checkpoint, NULL, 10);
  pr_text(from, KEY, to->key, sizeof to->key);
  if (strcmp(i.owner, "nobody") != 0) snprintf(to->owner, sizeof to->owner, "%s", i.owner);
  to->ended = strcmp(i.done, "SHARD_END") == 0;
  int is_done = to->ended || (strcmp(i.done, i.checkpoint) == 0 && strcmp(i.oldest, i.checkpoint) != 0);
  to->done = is_done || !at ? at : at - 1;
}

/* Two looks, the waits between, two more under the lock; and the lock is for one shard at a time. */
static uint64_t orphan_us(const fw_world *w) {
  return 5 * timeout_us(w) + 30 * FW_S + (uint64_t)w->shards_n * (2 * timeout_us(w));
}
static uint64_t settled_us(const fw_world *w) { return 2 * orphan_us(w); }

static const pm_rules rules = {sizeof(own), sizeof(reading), start, stop};
const peer_system peer_motorway = {.name = "motorway",
                                   .layout = &fw_layout_motorway,
                                   .rules = &rules,
                                   PM_LIFE,
                                   .knows = knows,
                                   .read = read_row,
                                   .orphan_us = orphan_us,
                                   .settled_us = settled_us,
                                   .lease_ms = 10000,
                                   .drops = 1,
                                   .takes_ended = 1,
                                   .lives = PM_WORKERS};
