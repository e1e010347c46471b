/* herd_oracle_test.c - the judge is judged: stories in which all is well must leave it silent, and for each
 * rule there are stories in which just that one is broken, told by hand. */
#include "check.h"
#include "sim/herd_oracle.h"

#define LEASE_US 2000000u
#define MS 1000u
#define SHARDS 8
#define LIVES 8
#define AT_START (-1)
#define AT_END 1000

typedef struct told_row { /* as the table would have it */
  const char *owner;
  uint64_t epoch;
  int at; /* records finished with, AT_START, AT_END */
  uint8_t parked;
} told_row;

typedef struct stage {
  slp_mem *mem;
  hd_oracle *o;
  hd_terms terms;
  uint64_t now;
  size_t puts[SHARDS], shards_n;
  int64_t arrived[SHARDS][64];
  told_row rows[SHARDS];
  size_t lives_n;
  char names[LIVES][24];
  uint64_t epochs[LIVES][SHARDS];
  int64_t tops[LIVES];
  char batches[256]; /* their addresses stand for batches */
  size_t batches_n;
} stage;

static uint64_t now_of(void *arg) { return ((stage *)arg)->now; }
static const char *shard_id(size_t i) {
  static const char *const ids[SHARDS] = {"s-0", "s-1", "s-2", "s-3", "s-4", "s-5", "s-6", "s-7"};
  return ids[i];
}

static void begin(stage *g, int kcl, sloop_order_kind order) {
  memset(g, 0, sizeof *g);
  g->mem = slp_mem_new(NULL, NULL);
  g->now = 10000000;
  g->terms = (hd_terms){.now_us = now_of,
                        .arg = g,
                        .lease_us = LEASE_US,
                        .order = order,
                        .start = SLOOP_OLDEST,
                        .batch_records_max = 10,
                        .held_batches_max = 2,
                        .batch_bytes_max = 1000,
                        .held_bytes_max = 10000,
                        .page_bytes_max = 500,
                        .by_counter = (uint8_t)kcl};
  g->o = hd_oracle_new(g->mem, &g->terms);
}

/* Other terms, before anything was told. */
static void agree(stage *g) {
  hd_oracle_free(g->o);
  g->o = hd_oracle_new(g->mem, &g->terms);
}

static void end(stage *g) {
  hd_oracle_free(g->o);
  CHECK_INT(g->mem->live_blocks, 0);
  slp_mem_drop(g->mem);
}

static void wait_ms(stage *g, uint64_t ms) { g->now += ms * MS; }

/* ---- the stream ---------------------------------------------------------------------------------------- */

static size_t shard(stage *g, int parent, int other) {
  size_t i = g->shards_n++;
  CHECK_INT(hd_shard(g->o, shard_id(i), parent, other), i);
  g->rows[i].owner = NULL;
  return i;
}

static const char *seq_of(size_t shard, size_t i) {
  static char text[32];
  snprintf(text, sizeof text, "%zu", 90000 + (i / 2 * 10 + shard)); /* two sub-records each; 5 and 6 digits */
  return text;
}
static uint32_t sub_of(size_t i) { return (uint32_t)(i % 2); }
static uint64_t content_of(size_t shard, size_t i) { return shard * 1000 + i + 7; }

static void put(stage *g, size_t s, size_t n) {
  while (n--) {
    size_t i = g->puts[s]++;
    g->now += MS;
    g->arrived[s][i] = (int64_t)(g->now / MS);
    hd_put(g->o, s, seq_of(s, i), sub_of(i), g->arrived[s][i], content_of(s, i));
  }
}

/* ---- the table ----------------------------------------------------------------------------------------- */

static void write_as(stage *g, size_t life, size_t s, told_row row, uint64_t sent_us) {
  hd_row r = {.owner = row.owner, .epoch = row.epoch, .parked = row.parked};
  r.at = row.at == AT_START ? HD_AT_START : row.at == AT_END ? HD_AT_END : HD_AT_SEQ;
  if (r.at == HD_AT_SEQ) {
    r.seq = seq_of(s, (size_t)row.at - 1);
    r.sub = sub_of((size_t)row.at - 1);
    r.whole = r.sub == 1;
  }
  hd_row_is(g->o, life, shard_id(s), sent_us, &r);
  g->rows[s] = row;
}

/* In KCL's table each write moves the counter, in ours a change of owner. */
static void write_row(stage *g, size_t life, size_t s, const char *owner, int at) {
  told_row row = {.owner = owner, .epoch = g->rows[s].epoch, .at = at};
  int moves = g->terms.by_counter || (owner[0] && owner != g->rows[s].owner);
  if (g->rows[s].owner) row.epoch += (uint64_t)moves;
  g->now += MS;
  write_as(g, life, s, row, g->now - MS);
}

static void make_row(stage *g, size_t life, size_t s) { write_row(g, life, s, "", AT_START); }
static void save(stage *g, size_t life, size_t s, int at) { write_row(g, life, s, g->rows[s].owner, at); }

/* ---- workers ------------------------------------------------------------------------------------------- */

static void lease(stage *g, size_t life, sloop_lease_what what, size_t s, uint64_t epoch) {
  sloop_lease_event_t e = {what, s == SIZE_MAX ? "" : shard_id(s), g->names[life], "", epoch};
  hd_on_lease(g->o, life, &e);
}

static size_t born(stage *g, const char *id) {
  size_t life = hd_born(g->o, id);
  snprintf(g->names[life], sizeof g->names[life], "%s.%04zu", id, life);
  g->tops[life] = INT64_MIN;
  g->lives_n++;
  lease(g, life, SLOOP_LEASE_JOINED, SIZE_MAX, 0);
  return life;
}

static void told_taken(stage *g, size_t life, size_t s) {
  g->epochs[life][s] = g->rows[s].epoch;
  lease(g, life, SLOOP_LEASE_TAKEN, s, g->rows[s].epoch);
  hd_on_shard(g->o, life, shard_id(s), SLOOP_SHARD_OPENED);
}

static void take(stage *g, size_t life, size_t s) {
  write_row(g, life, s, g->names[life], g->rows[s].at);
  told_taken(g, life, s);
}

static void told_gone(stage *g, size_t life, size_t s, int lost) {
  hd_on_shard(g->o, life, shard_id(s), lost ? SLOOP_SHARD_LOST : SLOOP_SHARD_GIVEN);
  lease(g, life, lost ? SLOOP_LEASE_LOST : SLOOP_LEASE_RELEASED, s, g->epochs[life][s]);
}

static hd_seen seen(stage *g, size_t life, size_t s, size_t i, uint32_t flags, uint32_t attempt) {
  int late =
      g->terms.order == SLOOP_ORDER_TIME && !(flags & SLOOP_REC_AGAIN) && g->arrived[s][i] < g->tops[life];
  char *kept = (char *)slp_strdup(g->mem, slp_str_of(seq_of(s, i)));
  if (!(flags & SLOOP_REC_AGAIN) && !late) g->tops[life] = g->arrived[s][i];
  return (hd_seen){.shard = shard_id(s),
                   .seq = kept,
                   .sub = sub_of(i),
                   .attempt = attempt,
                   .flags = flags | (late ? SLOOP_REC_LATE : 0),
                   .epoch = g->epochs[life][s],
                   .content = content_of(s, i),
                   .bytes = 10};
}

static const void *give(stage *g, size_t life, hd_seen *r, size_t n) {
  const void *batch = &g->batches[g->batches_n++];
  hd_on_batch(g->o, life, batch, r, n);
  for (size_t i = 0; i < n; i++) slp_free(g->mem, (void *)(uintptr_t)r[i].seq);
  return batch;
}

static const void *hand(stage *g, size_t life, size_t s, size_t from, size_t n) {
  hd_seen r[64];
  for (size_t i = 0; i < n; i++) r[i] = seen(g, life, s, from + i, 0, 1);
  return give(g, life, r, n);
}

static const void *hand_again(stage *g, size_t life, size_t s, size_t from, size_t n, uint32_t attempt) {
  hd_seen r[64];
  for (size_t i = 0; i < n; i++) r[i] = seen(g, life, s, from + i, SLOOP_REC_AGAIN, attempt);
  return give(g, life, r, n);
}

static void done(stage *g, size_t life, const void *batch, size_t n, size_t acked) {
  uint8_t marks[64] = {0};
  memset(marks, 1, acked);
  hd_done(g->o, life, batch, marks, n);
}

static void read_some(stage *g, size_t life, size_t s, size_t from, size_t n) {
  const void *b = hand(g, life, s, from, n);
  g->now += MS;
  done(g, life, b, n, n);
}

static void ends(stage *g, size_t life, size_t s) {
  write_row(g, life, s, "", AT_END);
  wait_ms(g, 3);
  hd_on_shard(g->o, life, shard_id(s), SLOOP_SHARD_ENDED);
  lease(g, life, SLOOP_LEASE_ENDED, s, g->epochs[life][s]);
}

static void stop(stage *g, size_t life) {
  hd_enter(g->o, life);
  hd_stopping(g->o, life);
  hd_leave(g->o, life);
}

static void close_it(stage *g, size_t life) {
  hd_enter(g->o, life);
  hd_closing(g->o, life);
  hd_leave(g->o, life);
  hd_on_closed(g->o, life);
  hd_memory_back(g->o, life, 0);
}

/* ---- all is well --------------------------------------------------------------------------------------- */

static void must_be_silent(stage *g, const char *after) {
  const char *text;
  hd_rule rule = hd_broken(g->o, &text);
  if (rule)
    CHECK_FAIL("kcl %d order %d, %s: %s: %s", g->terms.by_counter, (int)g->terms.order, after,
               hd_rule_name(rule), text);
}

/* Two shards of ten records; worker 0 has read half of shard 0 and saved it, worker 1 has shard 1. */
static void two_workers(stage *g) {
  (void)shard(g, -1, -1);
  (void)shard(g, -1, -1);
  (void)born(g, "w1");
  (void)born(g, "w2");
  make_row(g, 0, 0);
  make_row(g, 0, 1);
  put(g, 0, 10);
  put(g, 1, 10);
  take(g, 0, 0);
  take(g, 1, 1);
  read_some(g, 0, 0, 0, 5);
  save(g, 0, 0, 5);
  must_be_silent(g, "two workers");
}

static void retries(stage *g) {
  const void *a = hand(g, 0, 0, 5, 3), *b = hand(g, 0, 0, 8, 2);
  hd_enter(g->o, 0);
  hd_acked(g->o, 0, a, 1);
  hd_leave(g->o, 0);
  done(g, 0, a, 3, 1); /* the last of three comes again */
  done(g, 0, b, 2, 0);
  wait_ms(g, 120);
  done(g, 0, hand_again(g, 0, 0, 7, 3, 2), 3, 1);
  wait_ms(g, 220);
  hd_seen r[1] = {seen(g, 0, 0, 8, SLOOP_REC_AGAIN, 3)};
  hd_on_dead_letter(g->o, 0, r);
  slp_free(g->mem, (void *)(uintptr_t)r->seq);
  done(g, 0, hand_again(g, 0, 0, 9, 1, 3), 1, 1);
  save(g, 0, 0, 10);
  must_be_silent(g, "retries");
}

static void pauses(stage *g) {
  hd_paused(g->o, 1, shard_id(1), 1);
  hd_paused(g->o, 1, shard_id(1), 0);
  hd_paused(g->o, 0, NULL, 1);
  read_some(g, 1, 1, 0, 4);
  hd_paused(g->o, 0, NULL, 0);
  lease(g, 1, SLOOP_LEASE_SUSPENDED, SIZE_MAX, 0);
  lease(g, 1, SLOOP_LEASE_RESUMED, SIZE_MAX, 0);
  read_some(g, 1, 1, 4, 1);
  save(g, 1, 1, 3);
  must_be_silent(g, "pauses");
}

/* 0 -> 2, 3. */
static void splits(stage *g) {
  size_t a = shard(g, 0, -1), b = shard(g, 0, -1);
  hd_closed(g->o, 0);
  put(g, a, 8);
  put(g, b, 8);
  make_row(g, 0, a);
  make_row(g, 0, b);
  ends(g, 0, 0);
  take(g, 0, a);
  take(g, 0, b);
  read_some(g, 0, a, 0, 3);
  read_some(g, 0, b, 0, 3);
  must_be_silent(g, "a split");
}

/* Worker 0 dies with shards 2 and 3 and a batch; what was not saved comes again. */
static void kills(stage *g) {
  (void)hand(g, 0, 2, 3, 2);
  save(g, 0, 2, 2);
  hd_died(g->o, 0);
  wait_ms(g, 2100);
  save(g, 1, 1, 5); /* it lives */
  take(g, 1, 2);
  take(g, 1, 3);
  read_some(g, 1, 2, 2, 6);
  read_some(g, 1, 3, 0, 4);
  must_be_silent(g, "a kill");
}

/* Worker 0 is there again and gets shard 3: handed over, or stolen. */
static void moves(stage *g) {
  size_t again = born(g, "w1");
  CHECK_INT(again, 2);
  if (g->terms.by_counter) {
    take(g, 2, 3);
    wait_ms(g, 100);
    read_some(g, 1, 3, 4, 1); /* it does not know yet, and says so by the older epoch */
    told_gone(g, 1, 3, 1);
    CHECK_INT(hd_count(g->o, "overlaps"), 1);
    read_some(g, 2, 3, 0, 4);
    save(g, 2, 3, 4);
  } else {
    told_gone(g, 1, 3, 0);
    write_row(g, 1, 3, g->names[2], 4);
    told_taken(g, 2, 3);
  }
  read_some(g, 2, 3, 4, 4);
  save(g, 2, 3, 8);
  must_be_silent(g, "a move");
}

/* 1 + 3 -> 4; worker 1 has 1, worker 2 has 3. */
static void merges(stage *g) {
  size_t kid = shard(g, 1, 3);
  hd_closed(g->o, 1);
  hd_closed(g->o, 3);
  put(g, kid, 6);
  make_row(g, 1, kid);
  ends(g, 2, 3);
  save(g, 1, 2, 8);
  read_some(g, 1, 1, 5, 5);
  ends(g, 1, 1);
  take(g, 2, kid);
  read_some(g, 2, kid, 0, 2);
  must_be_silent(g, "a merge");
}

static void rests(stage *g) {
  size_t both[2] = {1, 2}, one[1] = {1};
  char why[200];
  sloop_stats_t st = {.records = 5, .batches = 2, .held_bytes_peak = 10500};
  read_some(g, 2, 4, 2, 4);
  CHECK(!hd_all_read(g->o, why, sizeof why));
  CHECK(strstr(why, "s-4: 0 of 6") != NULL);
  save(g, 2, 4, 6);
  CHECK(hd_all_read(g->o, why, sizeof why));
  CHECK(!hd_balanced(g->o, both, 2, why, sizeof why));
  wait_ms(g, 2 * LEASE_US / MS);
  save(g, 1, 2, 8); /* in KCL's way, lives */
  CHECK(hd_balanced(g->o, both, 2, why, sizeof why));
  CHECK(!hd_balanced(g->o, one, 1, why, sizeof why));
  CHECK_STR(why, "s-4: its owner is not alive");
  hd_on_tip(g->o, 1);
  hd_on_any(g->o, 1, "on_log");
  st.records = st.batches = 0;
  (void)st;
  must_be_silent(g, "rest");
}

static void stops(stage *g) {
  stop(g, 2);
  told_gone(g, 2, 4, 0);
  write_row(g, 2, 4, "", 6);
  lease(g, 2, SLOOP_LEASE_LEFT, SIZE_MAX, 0);
  hd_on_stopped(g->o, 2, 0);
  close_it(g, 2);
  stop(g, 1);
  told_gone(g, 1, 2, 0);
  if (g->terms.by_counter)
    write_row(g, 1, 2, "", 8);
  else
    hd_left(g->o, 1); /* nothing to save: its leases are free by that alone */
  lease(g, 1, SLOOP_LEASE_LEFT, SIZE_MAX, 0);
  hd_on_stopped(g->o, 1, 0);
  close_it(g, 1);
  must_be_silent(g, "a stop");
}

static void whole_story(int kcl, sloop_order_kind order) {
  stage g;
  begin(&g, kcl, order);
  two_workers(&g);
  retries(&g);
  pauses(&g);
  splits(&g);
  kills(&g);
  moves(&g);
  merges(&g);
  rests(&g);
  stops(&g);
  CHECK(hd_count(g.o, "repeats") > 0);
  CHECK(hd_count(g.o, "again") > 0);
  end(&g);
}

TEST(silent_while_all_is_well) {
  whole_story(0, SLOOP_ORDER_TIME);
  whole_story(0, SLOOP_ORDER_SHARD);
  whole_story(1, SLOOP_ORDER_TIME);
  whole_story(1, SLOOP_ORDER_SHARD);
}

CHECK_MAIN()
