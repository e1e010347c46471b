/* peer_kinsumer.c - a client of kinsumer. Source: github.com/twitchscience/kinsumer (kinsumer.go: refreshShards and
 * Run; clients.go, checkpoints.go, leader.go, shard_consumer.go), and what its rows show in test/guest: a
 * commit only when something was handed out, the whole row put each time, a row that goes stale while its shard is
 * idle, children read beside their parents, finished shards captured again. An error ends its process, as its
 * authors tell their users to do.
 *
 * An id is drawn and put before the name, so that either side may come first of all. */
#include "peer_model.h"

#include <stdio.h>
#include <stdlib.h>

#define CLIENTS 1
#define METADATA 2
#define CHECK_US(w) ((uint64_t)(w)->lease_ms * 1000 / 5) /* shardCheckFrequency and leaderActionFrequency */
#define THROTTLE_US (FW_S / 4)
#define COMMIT_US FW_S
#define TRIES 10 /* of the AWS SDK at DynamoDB, a while apart */
#define AGAIN_US (FW_S / 5)
#define NAMES 16

typedef struct record { /* a row of a shard */
  char owner[PR_TEXT], sequence[64];
  uint64_t updated_ns, finished_ns, cutoff_ns;
} record;

typedef struct own {
  char id[PR_TEXT];
  uint64_t generation; /* of its consumers */
  int clients, place, shards[FW_SHARDS], shards_n;
  uint8_t leads, tries;
  record captured[FW_SHARDS]; /* as read, about to be put */
} own;

typedef struct lease {
  uint8_t tries;
} lease;

static own *of(pm_worker *k) { return k->own; }
static uint64_t max_age_ns(const pm_worker *k) { return 5 * CHECK_US(k->w) * 1000; }
static uint64_t wall_ns(const pm_worker *k) { return (uint64_t)pm_wall_us(k) * 1000; }
static const char *id_of(const pm_worker *k, int shard) { return k->w->shards[shard].id; }

/* ---- rows ------------------------------------------------------------------------------------------- */

static void set_null(pr_write *u, const char *name) { pr_set(u, name, SLP_VAL_NULL, ""); }
static void set_updated(pr_write *u, uint64_t ns) {
  pr_set_number(u, "LastUpdate", ns);
  pr_set_text(u, "LastUpdateRFC", "Mon, 02 Jan 2006 15:04:05 +0000");
}
static void or_next(pr_write *u) { u->when[u->w.when_n - 1].or_next = 1; }

static int read_record(pm_worker *k, int shard, record *r) {
  slp_store_rows rows = pr_get(k->w, 0, id_of(k, shard));
  memset(r, 0, sizeof *r);
  for (size_t i = 0; i < rows.n; i++) {
    pr_text(&rows.rows[i], "OwnerID", r->owner, sizeof r->owner);
    pr_text(&rows.rows[i], "SequenceNumber", r->sequence, sizeof r->sequence);
    r->updated_ns = pr_number(&rows.rows[i], "LastUpdate");
    r->finished_ns = pr_number(&rows.rows[i], "Finished");
  }
  int there = rows.n > 0;
  slp_store_rows_free(&rows);
  return there;
}

static void put_record(pm_worker *k, pr_write *u, const char *sequence, uint64_t finished_ns) {
  if (sequence[0])
    pr_set_text(u, "SequenceNumber", sequence);
  else
    set_null(u, "SequenceNumber");
  set_updated(u, wall_ns(k));
  pr_set_text(u, "OwnerID", of(k)->id);
  pr_set_text(u, "OwnerName", k->name);
  if (finished_ns)
    pr_set_number(u, "Finished", finished_ns);
  else
    set_null(u, "Finished");
  set_null(u, "FinishedRFC");
}

static void sequence_of(const pm_hold *h, char out[64]) {
  out[0] = 0;
  if (h->done) snprintf(out, 64, "%llu", (unsigned long long)h->done);
}

/* ---- one shard's consumer ---------------------------------------------------------------------------- */

static pr_result release(pm_worker *k, pm_hold *h) {
  char sequence[64];
  pr_write u;
  sequence_of(h, sequence);
  pr_begin(&u, SLP_WRITE_UPDATE, 0, id_of(k, h->shard));
  pr_when_text(&u, "OwnerID", of(k)->id);
  pr_drop(&u, "OwnerID");
  pr_drop(&u, "OwnerName");
  set_updated(&u, wall_ns(k));
  if (sequence[0])
    pr_set_text(&u, "SequenceNumber", sequence);
  else
    set_null(&u, "SequenceNumber");
  return pr_send(k->w, &u);
}

/* An error comes out of Next(): its consumers may still release, and the process ends. */
static void die(pm_worker *k, const char *why) {
  slp_sim_trace(k->w->sim, "%s: %s", k->name, why);
  for (int i = 0; i < k->holds_n; i++)
    if (pm_random(k, 0, 1)) release(k, k->holds[i]);
  pm_gone(k);
}

static int commit(pm_worker *k, pm_hold *h, int finished) {
  char sequence[64];
  pr_write u;
  lease *l = h->own;
  if (h->done <= h->saved && !finished) return 1;
  sequence_of(h, sequence);
  pr_begin(&u, SLP_WRITE_PUT, 0, id_of(k, h->shard));
  pr_when_text(&u, "OwnerID", of(k)->id);
  put_record(k, &u, sequence, finished ? wall_ns(k) : 0);
  pr_result r = pr_send(k->w, &u);
  if (r == PR_REFUSED || (r == PR_NO_ANSWER && ++l->tries > TRIES)) {
    die(k, "error committing checkpoint");
    return 0;
  }
  if (r == PR_NO_ANSWER) return 0;
  l->tries = 0;
  h->saved = h->done;
  return 1;
}

/* To Next() at once: what is handed out counts as done, and is committed later. */
static void hand_out(pm_worker *k, pm_hold *h) {
  fw_shard *s = &k->w->shards[h->shard];
  uint64_t to = slp_min_u64(s->records, h->next + 9);
  if (to < h->next) return;
  if (h->next <= s->handed) s->repeats += slp_min_u64(s->handed, to) - h->next + 1;
  if (h->next > s->acked + 1) fw_wrong(k->w, "S2 order: %s skips records of %s", k->name, s->id);
  if (to > s->handed) s->handed = to;
  if (to > s->acked) s->acked = to;
  h->next = to + 1;
  h->done = to;
}

static void poll(pm_worker *k, uint64_t serial) {
  pm_hold *h = pm_hold_by(k, serial);
  if (!h) return;
  if (!pm_at_end(k, h)) {
    hand_out(k, h);
  } else if (commit(k, h, 1)) {
    release(k, h);
    pm_let_go(k, h);
    return;
  }
  if (k->alive) pm_in(k, THROTTLE_US, poll, serial);
}

static void commit_tick(pm_worker *k, uint64_t serial) {
  pm_hold *h = pm_hold_by(k, serial);
  if (!h) return;
  commit(k, h, 0);
  if (k->alive) pm_in(k, COMMIT_US, commit_tick, serial);
}

static uint64_t tag(const pm_worker *k, int shard) {
  return (((const own *)k->own)->generation << 16) | (uint64_t)shard;
}
static int is_old(pm_worker *k, uint64_t serial) { return serial >> 16 != of(k)->generation; }

static void capture(pm_worker *k, uint64_t serial);

static void put_capture(pm_worker *k, uint64_t serial) {
  int shard = (int)(serial & 0xffff);
  const record *r = &of(k)->captured[shard];
  char cutoff[32];
  pr_write u;
  if (is_old(k, serial)) return;
  snprintf(cutoff, sizeof cutoff, "%llu", (unsigned long long)r->cutoff_ns);
  pr_begin(&u, SLP_WRITE_PUT, 0, id_of(k, shard));
  pr_when_text(&u, "OwnerID", "");
  or_next(&u);
  pr_when(&u, "OwnerID", SLP_TEST_EQ, SLP_VAL_NULL, "");
  or_next(&u);
  pr_when(&u, "LastUpdate", SLP_TEST_LE, SLP_VAL_N, cutoff);
  put_record(k, &u, r->sequence, r->finished_ns);
  /* Its condition is that the row is free or old, and not that it is as it was read: what was saved in between
   * is put back. */
  k->w->may_go_back = 1;
  pr_result done = pr_send(k->w, &u);
  k->w->may_go_back = 0;
  if (done == PR_NO_ANSWER) {
    die(k, "error capturing a shard");
  } else if (done == PR_REFUSED) {
    pm_in(k, THROTTLE_US, capture, serial);
  } else {
    pm_hold *h = pm_take_up(k, shard, strtoull(r->sequence, NULL, 10));
    pm_in(k, 1000, poll, h->serial);
    pm_in(k, COMMIT_US, commit_tick, h->serial);
  }
}

static void capture(pm_worker *k, uint64_t serial) {
  int shard = (int)(serial & 0xffff);
  record *r = &of(k)->captured[shard];
  if (is_old(k, serial)) return;
  if (pr_unreadable(k->w)) {
    pm_in(k, AGAIN_US, capture, serial);
    return;
  }
  read_record(k, shard, r);
  r->cutoff_ns = wall_ns(k) - max_age_ns(k);
  if (r->owner[0] && r->updated_ns > r->cutoff_ns)
    pm_in(k, THROTTLE_US, capture, serial);
  else
    pm_in(k, pm_random(k, 1000, 40000), put_capture, serial);
}

static void stop_consumers(pm_worker *k) {
  of(k)->generation++;
  while (k->holds_n) {
    pm_hold *h = k->holds[k->holds_n - 1];
    release(k, h);
    pm_let_go(k, h);
  }
}

static void start_consumers(pm_worker *k) {
  own *o = of(k);
  for (int i = 0; i < o->shards_n; i++)
    if (i % o->clients == o->place) pm_in(k, pm_random(k, 1000, 20000), capture, tag(k, o->shards[i]));
}

/* ---- the list of shards ------------------------------------------------------------------------------ */

/* The ids between the quotes of the list; their numbers. */
static int read_list(pm_worker *k, int shards[FW_SHARDS], uint64_t *updated_ns) {
  slp_store_rows rows = pr_get(k->w, METADATA, "ShardCache");
  int n = 0;
  *updated_ns = 0;
  for (size_t i = 0; i < rows.n; i++) {
    const slp_val *v = slp_row_get(&rows.rows[i], slp_str_of("ShardIDs"));
    *updated_ns = pr_number(&rows.rows[i], "LastUpdate");
    for (size_t at = 0; v->kind == SLP_VAL_OTHER && at + 8 < v->s.n; at++) {
      char id[24];
      if (memcmp(v->s.p + at, "shardId-", 8) != 0) continue;
      snprintf(id, sizeof id, "%.20s", v->s.p + at);
      int shard = pr_shard_of(k->w, id);
      if (shard >= 0 && n < FW_SHARDS) shards[n++] = shard;
    }
  }
  slp_store_rows_free(&rows);
  return n;
}

static pr_result put_list(pm_worker *k, const int *shards, int n) {
  char json[FW_SHARDS * 40];
  size_t at = (size_t)snprintf(json, sizeof json, "{\"L\":[");
  pr_write u;
  for (int i = 0; i < n; i++)
    at +=
        (size_t)snprintf(json + at, sizeof json - at, "%s{\"S\":\"%s\"}", i ? "," : "", id_of(k, shards[i]));
  snprintf(json + at, sizeof json - at, "]}");
  pr_begin(&u, SLP_WRITE_PUT, METADATA, "ShardCache");
  set_updated(&u, wall_ns(k));
  u.changes[u.w.changes_n++] =
      (slp_change){slp_str_of("ShardIDs"), SLP_SET, {.kind = SLP_VAL_OTHER, .s = slp_str_of(json)}};
  return pr_send(k->w, &u);
}

/* Shards are born in the order of their ids. */
static int listed(const pm_worker *k, int shards[FW_SHARDS]) {
  int n = 0;
  for (int i = 0; i < k->w->shards_n; i++)
    if (!k->w->shards[i].trimmed) shards[n++] = i;
  return n;
}

static int has(const int *shards, int n, int shard) {
  for (int i = 0; i < n; i++)
    if (shards[i] == shard) return 1;
  return 0;
}

static void renew_list(pm_worker *k) {
  int cached[FW_SHARDS], all[FW_SHARDS], next[FW_SHARDS], n = 0, changed = 0;
  uint64_t updated_ns;
  record r;
  int cached_n = read_list(k, cached, &updated_ns), all_n = listed(k, all);
  if (wall_ns(k) - updated_ns < CHECK_US(k->w) * 1000) return;
  for (int i = 0; i < all_n; i++) {
    int stays = !(read_record(k, all[i], &r) && r.finished_ns), had = has(cached, cached_n, all[i]);
    if (stays) next[n++] = all[i];
    changed |= stays != had;
  }
  if (changed && n) put_list(k, next, n);
}

/* ---- the leader -------------------------------------------------------------------------------------- */

static void lead(pm_worker *k, uint64_t serial) {
  char cutoff[32];
  pr_write u;
  (void)serial;
  if (!of(k)->leads || k->stopping) return;
  snprintf(cutoff, sizeof cutoff, "%llu", (unsigned long long)(wall_ns(k) - max_age_ns(k)));
  pr_begin(&u, SLP_WRITE_PUT, METADATA, "Leader");
  pr_when_text(&u, "ID", of(k)->id);
  or_next(&u);
  pr_when_text(&u, "ID", "");
  or_next(&u);
  pr_when(&u, "LastUpdate", SLP_TEST_LE, SLP_VAL_N, cutoff);
  pr_set_text(&u, "ID", of(k)->id);
  pr_set_text(&u, "Name", k->name);
  set_updated(&u, wall_ns(k));
  pr_result r = pr_send(k->w, &u);
  if (r == PR_DONE && !pr_unreadable(k->w)) renew_list(k);
  pm_in(k, CHECK_US(k->w), lead, 0);
}

static void follow(pm_worker *k) {
  pr_write u;
  if (!of(k)->leads) return;
  of(k)->leads = 0;
  pr_begin(&u, SLP_WRITE_UPDATE, METADATA, "Leader");
  pr_when_text(&u, "ID", of(k)->id);
  pr_drop(&u, "ID");
  set_updated(&u, wall_ns(k));
  pr_send(k->w, &u);
}

/* ---- refreshShards ------------------------------------------------------------------------------------ */

static int by_text(const void *a, const void *b) { return strcmp(a, b); }

/* Its place among all that live; -1: it is not there. */
static int place_of(pm_worker *k, int *clients) {
  char ids[NAMES * 4][PR_TEXT];
  int n = 0, place = -1;
  slp_store_rows rows = pr_scan(k->w, CLIENTS);
  for (size_t i = 0; i < rows.n && n < NAMES * 4; i++)
    if (pr_number(&rows.rows[i], "LastUpdate") > wall_ns(k) - max_age_ns(k))
      pr_text(&rows.rows[i], "ID", ids[n++], PR_TEXT);
  slp_store_rows_free(&rows);
  qsort(ids, (size_t)n, sizeof ids[0], by_text);
  for (int i = 0; i < n; i++)
    if (strcmp(ids[i], of(k)->id) == 0) place = i;
  *clients = n;
  return place;
}

typedef enum { SAME, CHANGED, ERROR } refreshed;

static refreshed refresh(pm_worker *k) {
  own *o = of(k);
  int clients, shards[FW_SHARDS], n;
  uint64_t updated_ns;
  pr_write u;
  pr_begin(&u, SLP_WRITE_PUT, CLIENTS, o->id);
  pr_set_text(&u, "Name", k->name);
  set_updated(&u, wall_ns(k));
  if (pr_send(k->w, &u) == PR_NO_ANSWER || pr_unreadable(k->w)) return ERROR;
  int place = place_of(k, &clients);
  if (place < 0) return ERROR;
  if (place) {
    follow(k);
  } else if (!o->leads) {
    o->leads = 1;
    pm_in(k, 1000, lead, 0);
  }
  n = read_list(k, shards, &updated_ns);
  if (!n) {
    n = listed(k, shards);
    if (put_list(k, shards, n) != PR_DONE) return ERROR;
  }
  int same = place == o->place && clients == o->clients && n == o->shards_n &&
             memcmp(shards, o->shards, (size_t)n * sizeof *shards) == 0;
  o->place = place;
  o->clients = clients;
  o->shards_n = n;
  memcpy(o->shards, shards, sizeof *shards * (size_t)n);
  return same ? SAME : CHANGED;
}

static void run(pm_worker *k, uint64_t serial) {
  (void)serial;
  if (k->stopping) return;
  refreshed r = refresh(k);
  if (r == ERROR && ++of(k)->tries > TRIES) {
    die(k, "error refreshing shards");
    return;
  }
  if (r != ERROR) of(k)->tries = 0;
  if (r == CHANGED) {
    stop_consumers(k);
    start_consumers(k);
  }
  pm_in(k, r == ERROR ? AGAIN_US : CHECK_US(k->w), run, 0);
}

/* ---- its life --------------------------------------------------------------------------------------- */

static void start(pm_worker *k) {
  static const char first[] = "0123456789abcdefghijklmnopqrstuvwxyz";
  snprintf(of(k)->id, PR_TEXT, "%c-%.60s", first[pm_random(k, 0, sizeof first - 2)], k->name);
  of(k)->place = -1;
  pm_in(k, 100000, run, 0);
}

static void leave(pm_worker *k, uint64_t serial) {
  pr_write u;
  (void)serial;
  stop_consumers(k);
  pr_begin(&u, SLP_WRITE_DELETE, CLIENTS, of(k)->id);
  pr_send(k->w, &u);
  follow(k);
  pm_gone(k);
}
static void stop(pm_worker *k) { pm_in(k, pm_random(k, 1000, 300000), leave, 0); }

/* The id without what was put before the name; ours have no such thing. */
static void read_row(const slp_row *from, peer_row *to) {
  char owner[PR_TEXT], sequence[64];
  pr_text(from, "Shard", to->key, sizeof to->key);
  pr_text(from, "OwnerID", owner, sizeof owner);
  pr_text(from, "SequenceNumber", sequence, sizeof sequence);
  snprintf(to->owner, sizeof to->owner, "%s", owner[0] && owner[1] == '-' ? owner + 2 : owner);
  to->done = strtoull(sequence, NULL, 10);
  to->ended = pr_number(from, "Finished") > 0;
}

/* Its client's row is old, its shard's row too and a fifth more, and whoever is next has looked twice; of a
 * living client that lost its consumer a lease later. */
static uint64_t orphan_us(const fw_world *w) { return 3 * (uint64_t)w->lease_ms * 1000 + 4 * CHECK_US(w); }
static uint64_t settled_us(const fw_world *w) { return 8 * (uint64_t)w->lease_ms * 1000; }

static const pm_rules rules = {sizeof(own), sizeof(lease), start, stop};
const peer_system peer_kinsumer = {.name = "kinsumer",
                                   .layout = &fw_layout_kinsumer,
                                   .rules = &rules,
                                   PM_LIFE,
                                   .read = read_row,
                                   .orphan_us = orphan_us,
                                   .settled_us = settled_us,
                                   .lease_ms = 5000,
                                   .skew_ms = 100,
                                   .lives = PM_WORKERS,
                                   .moves_at_rest = 0};
