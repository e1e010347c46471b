/* herd_oracle_test.c - the judge is judged: stories in which all is well must leave it silent, and for each
 * rule there are stories in which just that one is broken, told by hand. */
#include "check.h"
#include "swarm/herd_oracle.h"

#define LEASE_US 2000000u
#define MS 1000u
#define SHARDS 8
#define LIVES 8
#define AT_START (-1)
#define AT_END 1000
#define AT_REST_MS 4000 /* at rest a shard is told less behind */

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

static void begin(stage *g, int kcl, sloop_order_t order) {
  *g = (stage){0};
  g->mem = slp_mem_new(NULL, NULL);
  g->now = 10000000;
  g->terms = (hd_terms){.now_us = now_of,
                        .arg = g,
                        .lease_us = LEASE_US,
                        .order = order,
                        .start = SLOOP_OLDEST,
                        .batch_records_max = 10,
                        .batches_out_max = 2,
                        .batch_bytes_max = 1000,
                        .buffered_bytes_max = (1 << 20) + 1,
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

static void lease(stage *g, size_t life, sloop_lease_event_kind_t what, size_t s, uint64_t epoch) {
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
  hd_on_shard(g->o, life, shard_id(s), lost ? SLOOP_SHARD_LOST : SLOOP_SHARD_RELEASED);
  lease(g, life, lost ? SLOOP_LEASE_LOST : SLOOP_LEASE_RELEASED, s, g->epochs[life][s]);
}

static hd_seen seen(stage *g, size_t life, size_t s, size_t i, uint32_t flags, uint32_t attempt) {
  int late = g->terms.order == SLOOP_ORDER_TIME && !(flags & SLOOP_REC_REDELIVERED) &&
             g->arrived[s][i] < g->tops[life];
  char *kept = (char *)slp_strdup(g->mem, slp_str_of(seq_of(s, i)));
  if (!(flags & SLOOP_REC_REDELIVERED) && !late) g->tops[life] = g->arrived[s][i];
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
  for (size_t i = 0; i < n; i++) r[i] = seen(g, life, s, from + i, SLOOP_REC_REDELIVERED, attempt);
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
  hd_seen r[1] = {seen(g, 0, 0, 8, SLOOP_REC_REDELIVERED, 3)};
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
  sloop_stats_t st = {.records = 5, .batches = 2, .buffered_bytes_peak = (1 << 20) + 501};
  read_some(g, 2, 4, 2, 4);
  CHECK(!hd_all_read(g->o, why, sizeof why));
  CHECK(strstr(why, "s-4: 0 of 6") != NULL);
  CHECK_INT(hd_left_to_read(g->o), 6 + 1);
  save(g, 2, 4, 4);
  CHECK_INT(hd_left_to_read(g->o), 2 + 1);
  save(g, 2, 4, 6);
  CHECK_INT(hd_left_to_read(g->o), 0);
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

static void whole_story(int kcl, sloop_order_t order) {
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

/* ---- what is allowed besides --------------------------------------------------------------------------- */

static void play_allowed(void (*play)(stage *g), int kcl, sloop_position_kind_t start, int trims) {
  stage g;
  begin(&g, kcl, SLOOP_ORDER_SHARD);
  if (start) g.terms.start = start;
  g.terms.losses_expected = (uint8_t)trims;
  agree(&g);
  two_workers(&g);
  play(&g);
  must_be_silent(&g, "what is allowed");
  end(&g);
}

/* A transfer that was never answered: the lease is taken anew, from what its own worker knows. */
static void retakes(stage *g) {
  read_some(g, 0, 0, 5, 3);
  wait_ms(g, 10);
  told_gone(g, 0, 0, 0);
  told_row row = g->rows[0];
  row.epoch++;
  write_as(g, 0, 0, row, g->now);
  told_taken(g, 0, 0);
  read_some(g, 0, 0, 8, 2);
  save(g, 0, 0, 10);
}
/* The same twice, with nothing handed out in between. Then the worker saves all that it knows. */
static void retakes_twice(stage *g) {
  read_some(g, 0, 0, 5, 3);
  for (int i = 0; i < 2; i++) {
    wait_ms(g, 10);
    told_gone(g, 0, 0, 0);
    told_row row = g->rows[0];
    row.epoch++;
    write_as(g, 0, 0, row, g->now);
    told_taken(g, 0, 0);
  }
  save(g, 0, 0, 8);
}
/* A release that never got in, an eviction, and the lease is taken under the next name from where the row has it. */
static void is_evicted_as_it_lets_go(stage *g) {
  read_some(g, 0, 0, 5, 3);
  wait_ms(g, 50);
  told_gone(g, 0, 0, 0);
  wait_ms(g, 2100);
  lease(g, 0, SLOOP_LEASE_EVICTED, SIZE_MAX, 0);
  snprintf(g->names[0], sizeof g->names[0], "w1.again");
  lease(g, 0, SLOOP_LEASE_JOINED, SIZE_MAX, 0);
  write_as(g, 0, 0, (told_row){g->names[0], g->rows[0].epoch + 1, 5, 0}, g->now);
  told_taken(g, 0, 0);
  read_some(g, 0, 0, 5, 5);
  save(g, 0, 0, 10);
}
/* Given up while a batch was out: what is acknowledged then is not saved, and comes again. */
static void deadline_passes(stage *g) {
  const void *b = hand(g, 0, 0, 5, 3);
  told_gone(g, 0, 0, 0);
  done(g, 0, b, 3, 3);
  write_row(g, 0, 0, "", 5);
  take(g, 1, 0);
  read_some(g, 1, 0, 5, 3);
}
/* A lease that waited for its parents is given up and was never told as taken. */
static void waits_and_gives_up(stage *g) {
  hd_closed(g->o, 0);
  size_t kid = shard(g, 0, -1);
  make_row(g, 0, kid);
  write_row(g, 1, kid, g->names[1], AT_START);
  lease(g, 1, SLOOP_LEASE_RELEASED, kid, g->rows[kid].epoch);
  write_row(g, 1, kid, "", AT_START);
}
/* An operator sets it back: the old owner may hand out for a while, the new one begins there. */
static void is_set_back(stage *g) {
  told_row row = {"", g->rows[0].epoch + 1, 2, 0};
  write_as(g, SIZE_MAX, 0, row, g->now);
  read_some(g, 0, 0, 5, 1);
  told_gone(g, 0, 0, 1);
  take(g, 1, 0);
  read_some(g, 1, 0, 2, 8);
  save(g, 1, 0, 10);
}
/* And afterwards the rules are as ever. */
static void is_set_back_and_broken(stage *g) {
  is_set_back(g);
  must_be_silent(g, "set back");
  save(g, 1, 0, 9);
}
static void is_deleted(stage *g) {
  hd_row_is(g->o, SIZE_MAX, shard_id(0), g->now, NULL);
  read_some(g, 0, 0, 5, 1);
  told_gone(g, 0, 0, 1);
  told_row row = {"", 70000, AT_START, 0};
  write_as(g, 1, 0, row, g->now);
  take(g, 1, 0);
  read_some(g, 1, 0, 0, 10);
  save(g, 1, 0, 10);
}
static void is_deleted_and_counts_anew(stage *g) {
  told_row row = {"", 0, AT_START, 0};
  hd_row_is(g->o, SIZE_MAX, shard_id(0), g->now, NULL);
  told_gone(g, 0, 0, 1);
  write_as(g, 1, 0, row, g->now);
  take(g, 0, 0); /* in the same epoch as before */
  read_some(g, 0, 0, 0, 10);
  save(g, 0, 0, 10);
}
static void is_deleted_and_the_counter_fits(stage *g) {
  told_row row = {"", 1, AT_START, 0};
  read_some(g, 0, 0, 5, 2);
  hd_row_is(g->o, SIZE_MAX, shard_id(0), g->now, NULL);
  write_as(g, 1, 0, row, g->now);
  take(g, 1, 0);
  row = g->rows[0];
  row.epoch++;
  row.at = 7;
  write_as(g, 0, 0, row, g->now);
}
static void is_trimmed(stage *g) {
  sloop_loss_t loss = {shard_id(0), "", "", 1, "gone"};
  hd_trimmed(g->o, 0, 7);
  hd_on_loss(g->o, 0, &loss);
  read_some(g, 0, 0, 7, 2); /* while it is read */
  save(g, 0, 0, 9);
  hd_trimmed(g->o, 1, 3);
  read_some(g, 1, 1, 3, 7); /* at its beginning */
  save(g, 1, 1, 10);
}
/* Records that another worker reads before the stop are not the stopped one's to save. */
static void stops_robbed(stage *g) {
  read_some(g, 0, 0, 5, 2);
  take(g, 1, 0);
  stop(g, 0);
  told_gone(g, 0, 0, 0);
  lease(g, 0, SLOOP_LEASE_LEFT, SIZE_MAX, 0);
  hd_on_stopped(g->o, 0, 0);
}
/* Worker 1 asks worker 0 for shard 0 by a write that moves no owner, thinks better of it, and stops. `copied`: the
 * write is carried out again before worker 0 gives it what it asks for. */
static void is_given(stage *g, int copied) {
  told_row asks = g->rows[0];
  uint64_t sent_us = g->now;
  write_as(g, 1, 0, asks, sent_us);
  wait_ms(g, 20);
  save(g, 0, 0, 5);
  if (copied) write_as(g, 1, 0, g->rows[0], sent_us);
  told_gone(g, 0, 0, 0);
  write_row(g, 0, 0, g->names[1], 5);
  stop(g, 1);
  told_gone(g, 1, 1, 0);
  write_row(g, 1, 1, "", AT_START);
  lease(g, 1, SLOOP_LEASE_LEFT, SIZE_MAX, 0);
  hd_on_stopped(g->o, 1, 0);
}
static void stops_given_for_a_copy(stage *g) { is_given(g, 1); }
static void stopped_and_was_given(stage *g) { is_given(g, 0); }
/* It began behind what was trimmed, and what it was handed came back only after the lease was given up. */
static void stops_behind_a_trim(stage *g) {
  hd_trimmed(g->o, 1, 3);
  const void *b = hand(g, 1, 1, 3, 2);
  stop(g, 1);
  told_gone(g, 1, 1, 0);
  write_row(g, 1, 1, "", AT_START);
  wait_ms(g, 50);
  done(g, 1, b, 2, 2);
  lease(g, 1, SLOOP_LEASE_LEFT, SIZE_MAX, 0);
  hd_on_stopped(g->o, 1, 0);
}
/* Taken for dead while it stops: its leases are free by that. */
static void stops_evicted(stage *g) {
  read_some(g, 0, 0, 5, 2);
  stop(g, 0);
  lease(g, 0, SLOOP_LEASE_EVICTED, SIZE_MAX, 0);
  told_gone(g, 0, 0, 1);
  lease(g, 0, SLOOP_LEASE_LEFT, SIZE_MAX, 0);
  hd_on_stopped(g->o, 0, 0);
}
static size_t later_shard(stage *g, hd_row made) {
  size_t s = shard(g, -1, -1);
  put(g, s, 4);
  made.owner = "";
  hd_row_is(g->o, 0, shard_id(s), g->now, &made);
  put(g, s, 4);
  made.owner = g->names[0];
  made.epoch = 1;
  hd_row_is(g->o, 0, shard_id(s), g->now, &made);
  g->rows[s] = (told_row){g->names[0], 1, AT_START, 0};
  told_taken(g, 0, s);
  return s;
}
/* An operator removes a lease's row; it is made again at a time behind some of its records. */
static void begins_after_a_removal(stage *g) {
  size_t s = shard(g, -1, -1);
  put(g, s, 3);
  hd_row made = {.owner = "", .at = HD_AT_TIME, .ms = (int64_t)(g->now / MS) + 1};
  hd_row_is(g->o, 0, shard_id(s), g->now, &made);
  put(g, s, 5);
  hd_excuse(g->o, shard_id(s));
  hd_row_is(g->o, SIZE_MAX, shard_id(s), g->now, NULL);
  wait_ms(g, 20);
  made.ms = (int64_t)(g->now / MS);
  made.epoch = 100;
  hd_row_is(g->o, 0, shard_id(s), g->now, &made);
  put(g, s, 2);
  made.owner = g->names[0];
  made.epoch = 101;
  hd_row_is(g->o, 0, shard_id(s), g->now, &made);
  g->rows[s] = (told_row){g->names[0], 101, AT_START, 0};
  told_taken(g, 0, s);
  (void)hand(g, 0, s, 8, 2);
}
/* And that of leadership, which nobody has read: the application is new. */
static void begins_anew_at_latest(stage *g) {
  hd_begun_anew(g->o);
  begins_after_a_removal(g);
}

/* The application is new: it begins where its lease was made, or where a time says. */
static void begins_at_latest(stage *g) {
  size_t s = later_shard(g, (hd_row){.at = HD_AT_TIME, .ms = (int64_t)(g->now / MS) + 4});
  read_some(g, 0, s, 3, 5);
  save(g, 0, s, 8);
}
static void begins_at_latest_of_kcl(stage *g) {
  size_t s = later_shard(g, (hd_row){.at = HD_AT_START, .latest = 1});
  read_some(g, 0, s, 6, 2);
  save(g, 0, s, 8);
}
/* A subscription at the latest got lost; the service is asked for its time, of the sixth record. */
static void begins_at_the_time_of_latest(stage *g) {
  size_t s = later_shard(g, (hd_row){.at = HD_AT_START, .latest = 1});
  hd_latest_was(g->o, 0, s, g->arrived[s][6]);
  read_some(g, 0, s, 6, 2);
  save(g, 0, s, 8);
}

/* The question of an owner that was frozen arrives when its successor has the shard, which asks for itself. */
static size_t succeeded_at_latest(stage *g) {
  size_t s = later_shard(g, (hd_row){.at = HD_AT_START, .latest = 1});
  wait_ms(g, 20);
  hd_row taken = {.owner = g->names[1], .epoch = 2, .at = HD_AT_START, .latest = 1};
  hd_row_is(g->o, 1, shard_id(s), g->now, &taken);
  g->rows[s] = (told_row){g->names[1], 2, AT_START, 0};
  told_taken(g, 1, s);
  return s;
}
static void begins_at_the_time_of_its_own_latest(stage *g) {
  size_t s = succeeded_at_latest(g);
  hd_latest_was(g->o, 0, s, g->arrived[s][4]);
  hd_latest_was(g->o, 1, s, g->arrived[s][6]);
  read_some(g, 1, s, 6, 2);
  save(g, 1, s, 8);
}

/* ---- two workers that begin an application of KCL's at the latest while a shard is split ---------------- */

static void make_start(stage *g, size_t life, size_t s, int latest) {
  hd_row made = {.owner = "", .at = HD_AT_START, .latest = (uint8_t)latest};
  wait_ms(g, 2);
  hd_row_is(g->o, life, shard_id(s), g->now - MS, &made);
  g->rows[s] = (told_row){"", 0, AT_START, 0};
}
static size_t split_off(stage *g, size_t parent) {
  size_t kid = shard(g, (int)parent, -1);
  hd_closed(g->o, parent);
  put(g, kid, 8);
  return kid;
}
static void reads_table(stage *g, size_t life) {
  wait_ms(g, 1);
  hd_reads_table(g->o, life, g->now);
  wait_ms(g, 1);
}
static void take_start(stage *g, size_t life, size_t s, int latest) {
  hd_row taken = {.owner = g->names[life], .epoch = 1, .at = HD_AT_START, .latest = (uint8_t)latest};
  hd_row_is(g->o, life, shard_id(s), g->now, &taken);
  g->rows[s] = (told_row){g->names[life], 1, AT_START, 0};
  told_taken(g, life, s);
}
/* Its maker had read the table when another worker made the row of the parent, which it listed as open. */
static void is_made_beside_its_parent(stage *g) {
  size_t parent = shard(g, -1, -1), kid = split_off(g, parent);
  reads_table(g, 0);
  make_start(g, 1, parent, 1);
  make_start(g, 0, kid, 1);
  hd_reads_table(g->o, 0, g->now); /* the next reading is none that it knew of */
  take_start(g, 0, kid, 1);
  read_some(g, 0, kid, 6, 2);
  save(g, 0, kid, 8);
}
/* Whose row is made at the latest; the parent has records, and no row yet. */
static size_t kid_made_first(stage *g, size_t *ret_parent) {
  *ret_parent = shard(g, -1, -1);
  put(g, *ret_parent, 4);
  size_t kid = split_off(g, *ret_parent);
  reads_table(g, 0);
  make_start(g, 0, kid, 1);
  return kid;
}
static void is_made_before_its_parent(stage *g) {
  size_t parent, kid = kid_made_first(g, &parent);
  take_start(g, 0, kid, 1);
  make_start(g, 1, parent, 1);
  read_some(g, 0, kid, 6, 2);
  save(g, 0, kid, 8);
}
/* The parent's row is made at its oldest, when its own parent has ended; all of it is finished with, and its end
 * is not saved yet. */
static void finish_a_parent_at_its_oldest(stage *g, size_t parent) {
  make_start(g, 1, parent, 0);
  take_start(g, 1, parent, 0);
  read_some(g, 1, parent, 0, 4);
}
static void is_taken_before_its_parent_is_made(stage *g) {
  size_t parent, kid = kid_made_first(g, &parent);
  take_start(g, 0, kid, 1);
  finish_a_parent_at_its_oldest(g, parent);
  read_some(g, 0, kid, 6, 2);
  save(g, 0, kid, 8);
}
/* An operator removes the row of a child that is being read; another worker makes it anew at the latest. */
static void removed_and_made_at_latest(stage *g, int parent_is_gone) {
  size_t parent = shard(g, -1, -1), kid = split_off(g, parent);
  make_start(g, 0, parent, 1);
  take_start(g, 0, parent, 1);
  make_start(g, 0, kid, 0);
  ends(g, 0, parent);
  take_start(g, 0, kid, 0);
  read_some(g, 0, kid, 0, 3);
  save(g, 0, kid, 3);
  if (parent_is_gone) hd_row_is(g->o, 0, shard_id(parent), g->now, NULL);
  hd_excuse(g->o, shard_id(kid));
  hd_row_is(g->o, SIZE_MAX, shard_id(kid), g->now, NULL);
  told_gone(g, 0, kid, 1);
  reads_table(g, 1);
  make_start(g, 1, kid, 1);
  hd_row taken = {.owner = g->names[1], .epoch = 50, .at = HD_AT_START, .latest = 1};
  hd_row_is(g->o, 1, shard_id(kid), g->now, &taken);
  g->rows[kid] = (told_row){g->names[1], 50, AT_START, 0};
  told_taken(g, 1, kid);
  hd_latest(g->o, 1, kid);
  put(g, kid, 2);
  read_some(g, 1, kid, 8, 2);
  save(g, 1, kid, 10);
}
static void is_made_anew_at_latest_without_parents(stage *g) { removed_and_made_at_latest(g, 1); }
static void begins_at_a_time(stage *g) {
  size_t s = later_shard(g, (hd_row){.at = HD_AT_TIME, .ms = (int64_t)(g->now / MS) + 2});
  read_some(g, 0, s, 1, 7);
  save(g, 0, s, 8);
}
static void is_parked(stage *g) {
  char why[100];
  read_some(g, 0, 0, 5, 5);
  save(g, 0, 0, 10);
  read_some(g, 1, 1, 0, 4);
  told_row row = {"", g->rows[1].epoch + g->terms.by_counter, 4, 1};
  told_gone(g, 1, 1, 0);
  write_as(g, 1, 1, row, g->now);
  CHECK(hd_all_read(g->o, why, sizeof why));
}

/* A lease after it stood, or for a moment; and what was sent before it stood may come late. */
static void evicts_the_silent(stage *g) {
  wait_ms(g, LEASE_US / MS);
  hd_stands(g->o, 0, LEASE_US);
  hd_evicts(g->o, 0, g->now - 1, "w1");
  wait_ms(g, 2 * LEASE_US / MS);
  hd_evicts(g->o, 0, g->now, "w1");
  hd_stands(g->o, 0, LEASE_US / 3);
  wait_ms(g, LEASE_US / MS);
  hd_evicts(g->o, 0, g->now, "w1");
  hd_evicts(g->o, 1, g->now, "w0");
  hd_stands(g->o, 0, 9 * LEASE_US);
  wait_ms(g, LEASE_US / MS / 4);
  hd_goes_on(g->o, 0);
  wait_ms(g, 1);
  hd_evicts(g->o, 0, g->now, "w1");
}

TEST(what_is_allowed_besides) {
  for (int kcl = 0; kcl < 2; kcl++) {
    play_allowed(retakes, kcl, 0, 0);
    if (!kcl) play_allowed(retakes_twice, kcl, 0, 0); /* a lease of the KCL counts renewals, too */
    play_allowed(deadline_passes, kcl, 0, 0);
    play_allowed(waits_and_gives_up, kcl, 0, 0);
    play_allowed(is_set_back, kcl, 0, 0);
    play_allowed(is_deleted, kcl, 0, 0);
    play_allowed(is_deleted_and_counts_anew, kcl, 0, 0);
    play_allowed(is_trimmed, kcl, 0, 1);
    play_allowed(stops_behind_a_trim, kcl, 0, 1);
    play_allowed(is_parked, kcl, 0, 0);
  }
  play_allowed(evicts_the_silent, 0, 0, 0);
  play_allowed(stops_robbed, 1, 0, 0);
  play_allowed(stops_given_for_a_copy, 1, 0, 0);
  play_allowed(stops_evicted, 0, 0, 0);
  play_allowed(is_evicted_as_it_lets_go, 0, 0, 0);
  play_allowed(is_deleted_and_the_counter_fits, 1, 0, 0);
  play_allowed(begins_at_latest, 0, SLOOP_LATEST, 0);
  play_allowed(begins_at_latest_of_kcl, 1, SLOOP_LATEST, 0);
  play_allowed(begins_at_the_time_of_latest, 1, SLOOP_LATEST, 0);
  play_allowed(begins_at_the_time_of_its_own_latest, 1, SLOOP_LATEST, 0);
  play_allowed(is_made_beside_its_parent, 1, SLOOP_LATEST, 0);
  play_allowed(is_made_before_its_parent, 1, SLOOP_LATEST, 0);
  play_allowed(is_taken_before_its_parent_is_made, 1, SLOOP_LATEST, 0);
  play_allowed(begins_anew_at_latest, 0, SLOOP_LATEST, 0);
  play_allowed(is_made_anew_at_latest_without_parents, 1, SLOOP_LATEST, 0);
  play_allowed(begins_at_a_time, 0, SLOOP_AT_TIME, 0);
}

TEST(readable_when_all_parents_have_ended) {
  stage g;
  begin(&g, 0, SLOOP_ORDER_SHARD);
  two_workers(&g);
  size_t kid = shard(&g, 0, 1);
  hd_closed(g.o, 0);
  hd_closed(g.o, 1);
  CHECK(hd_readable_us(g.o, 0) == 0);
  CHECK(hd_readable_us(g.o, kid) == UINT64_MAX);
  read_some(&g, 0, 0, 5, 5);
  ends(&g, 0, 0);
  CHECK(hd_readable_us(g.o, kid) == UINT64_MAX);
  read_some(&g, 1, 1, 0, 10);
  write_row(&g, 1, 1, "", AT_END);
  CHECK(hd_readable_us(g.o, kid) == g.now);
  must_be_silent(&g, "two ends");
  end(&g);
}

/* With clocks that are farther off than agreed two may hand out at once: that is counted. */
TEST(overlaps_are_counted_when_clocks_are_beyond) {
  stage g;
  begin(&g, 0, SLOOP_ORDER_SHARD);
  g.terms.clocks_beyond = 1;
  agree(&g);
  two_workers(&g);
  take(&g, 1, 0);
  read_some(&g, 0, 0, 5, 1);
  must_be_silent(&g, "an overlap");
  CHECK_INT(hd_count(g.o, "overlaps"), 1);
  end(&g);
}

/* ---- the story ----------------------------------------------------------------------------------------- */

typedef struct told_lines {
  size_t n;
  char text[4000];
} told_lines;

static void keep_line(void *arg, const char *text) {
  told_lines *to = arg;
  size_t at = strlen(to->text);
  to->n++;
  snprintf(to->text + at, sizeof to->text - at, "%s\n", text);
}

TEST(the_story_of_a_shard) {
  stage g;
  told_lines to = {0};
  begin(&g, 0, SLOOP_ORDER_SHARD);
  two_workers(&g);
  done(&g, 0, hand(&g, 0, 0, 5, 3), 3, 1);
  hd_died(g.o, 0);
  take(&g, 1, 0);
  hd_story(g.o, shard_id(0), 7, keep_line, &to);
  CHECK_INT(to.n, 7);
  CHECK_STR(to.text,
            "10.026 row: owner w1.0000 epoch 1 after record 4 90020, by w1#0, sent 10.025\n"
            "10.026 w1#0 epoch 1 batch of 3 from 5 90020/1 to 7 90030/1\n"
            "10.026 w1#0 epoch 1 back from 5 90020/1: 1 of 3 finished with\n"
            "10.026 w1#0 dies\n"
            "10.027 row: owner w2.0001 epoch 2 after record 4 90020, by w2#1, sent 10.026\n"
            "10.027 w2#1 lease taken epoch 2\n"
            "10.027 w2#1 shard opened\n");
  to = (told_lines){0};
  hd_story(g.o, shard_id(1), 1000, keep_line, &to);
  CHECK(strstr(to.text, "w2#1 lease taken epoch 1") != NULL);
  CHECK(strstr(to.text, "batch") == NULL);
  end(&g);
}

/* ---- one rule is broken -------------------------------------------------------------------------------- */

/* Each begins with two_workers(): worker 0 reads shard 0 and has 0..4 saved, worker 1 has shard 1 unread. */

static void saves_what_is_out(stage *g) {
  (void)hand(g, 0, 0, 5, 3);
  save(g, 0, 0, 7);
}
static void saves_what_came_back(stage *g) {
  done(g, 0, hand(g, 0, 0, 5, 3), 3, 1);
  save(g, 0, 0, 8);
}
static void saves_what_was_never_out(stage *g) { save(g, 0, 0, 6); }
static void saves_before_it_is_acked(stage *g) {
  const void *b = hand(g, 0, 0, 5, 3);
  uint64_t sent = g->now;
  wait_ms(g, 5);
  done(g, 0, b, 3, 3);
  told_row row = g->rows[0];
  row.at = 8;
  row.epoch += g->terms.by_counter;
  write_as(g, 0, 0, row, sent);
}
static void ends_with_one_out(stage *g) {
  hd_closed(g->o, 0);
  read_some(g, 0, 0, 5, 4);
  (void)hand(g, 0, 0, 9, 1);
  write_row(g, 0, 0, "", AT_END);
}
static void counts_what_a_lost_tenancy_acked(stage *g) {
  const void *b = hand(g, 0, 0, 5, 3);
  told_gone(g, 0, 0, 1);
  done(g, 0, b, 3, 3);
  take(g, 1, 0);
  save(g, 1, 0, 8);
}

static void leaves_one_out(stage *g) { (void)hand(g, 0, 0, 6, 1); }
static void leaves_one_out_in_a_batch(stage *g) {
  hd_seen r[2] = {seen(g, 0, 0, 5, 0, 1), seen(g, 0, 0, 7, 0, 1)};
  (void)give(g, 0, r, 2);
}
static void hands_out_twice(stage *g) {
  (void)hand(g, 0, 0, 5, 3);
  g->tops[0] = INT64_MIN;
  (void)hand(g, 0, 0, 6, 1);
}
static void begins_behind(stage *g) {
  hd_died(g->o, 0);
  take(g, 1, 0);
  (void)hand(g, 1, 0, 6, 1);
}
static void begins_behind_latest(stage *g) { /* what came after the lease was made */
  size_t s = shard(g, -1, -1);
  put(g, s, 3);
  hd_row made = {.owner = "", .at = HD_AT_TIME, .ms = (int64_t)(g->now / MS) + 5};
  hd_row_is(g->o, 0, shard_id(s), g->now, &made);
  g->rows[s] = (told_row){"", 0, AT_START, 0};
  put(g, s, 7);
  made.owner = g->names[0];
  made.epoch = g->rows[s].epoch = 1;
  hd_row_is(g->o, 0, shard_id(s), g->now, &made);
  told_taken(g, 0, s);
  (void)hand(g, 0, s, 7, 2);
}

static void leaves_out_what_its_row_says(stage *g) {
  size_t s = shard(g, -1, -1);
  put(g, s, 8);
  make_start(g, 0, s, 0);
  take_start(g, 0, s, 0);
  (void)hand(g, 0, s, 6, 1);
}
static void saves_beyond_what_its_row_says(stage *g) {
  size_t s = shard(g, -1, -1);
  put(g, s, 8);
  make_start(g, 0, s, 0);
  take_start(g, 0, s, 0);
  save(g, 0, s, 8);
}
/* The row of the parent was there when the maker of the child's read the table. */
static void makes_it_at_latest_behind_a_parent(stage *g) {
  size_t parent = shard(g, -1, -1), kid = split_off(g, parent);
  make_start(g, 1, parent, 1);
  reads_table(g, 0);
  make_start(g, 0, kid, 1);
  take_start(g, 0, kid, 1);
  take_start(g, 1, parent, 1);
  ends(g, 1, parent);
  (void)hand(g, 0, kid, 6, 1);
}
static void makes_it_anew_at_latest_behind_a_parent(stage *g) { removed_and_made_at_latest(g, 0); }
/* The parent's row is made later, and at the oldest: its records come behind those of the child. */
static void begins_before_a_parent_at_its_oldest(stage *g) {
  size_t parent, kid = kid_made_first(g, &parent);
  take_start(g, 0, kid, 1);
  make_start(g, 1, parent, 0);
  (void)hand(g, 0, kid, 6, 1);
}
/* The row of the parent was there when the child was taken. */
static void is_taken_after_its_parent_is_made(stage *g) {
  size_t parent, kid = kid_made_first(g, &parent);
  finish_a_parent_at_its_oldest(g, parent);
  take_start(g, 0, kid, 1);
  (void)hand(g, 0, kid, 6, 1);
}
static void begins_at_the_oldest_before_its_parent(stage *g) {
  size_t parent = shard(g, -1, -1), kid = split_off(g, parent);
  reads_table(g, 0);
  make_start(g, 0, kid, 0);
  take_start(g, 0, kid, 0);
  make_start(g, 1, parent, 1);
  (void)hand(g, 0, kid, 0, 1);
}

/* The second time of one owner is no "latest" any more. */
static void subscribes_behind_its_latest(stage *g) {
  size_t s = later_shard(g, (hd_row){.at = HD_AT_START, .latest = 1});
  hd_latest_was(g->o, 0, s, g->arrived[s][4]);
  hd_latest_was(g->o, 0, s, g->arrived[s][6]);
  read_some(g, 0, s, 6, 2);
  save(g, 0, s, 8);
}
static void subscribes_behind_its_latest_after_another(stage *g) {
  size_t s = succeeded_at_latest(g);
  hd_latest_was(g->o, 1, s, g->arrived[s][4]);
  hd_latest_was(g->o, 0, s, g->arrived[s][4]);
  hd_latest_was(g->o, 1, s, g->arrived[s][6]);
  read_some(g, 1, s, 6, 2);
  save(g, 1, s, 8);
}
static void subscribes_behind_what_it_asked(stage *g) {
  size_t s = later_shard(g, (hd_row){.at = HD_AT_START, .latest = 1});
  hd_latest(g->o, 0, s);
  put(g, s, 2);
  hd_latest_was(g->o, 0, s, g->arrived[s][9]);
  read_some(g, 0, s, 9, 1);
  save(g, 0, s, 10);
}

static void alters_one(stage *g) {
  hd_seen r[1] = {seen(g, 0, 0, 5, 0, 1)};
  r->content++;
  (void)give(g, 0, r, 1);
}
static void makes_one_up(stage *g) {
  g->puts[0] = 11;
  (void)hand(g, 0, 0, 10, 1);
}
static void makes_a_shard_up(stage *g) {
  hd_seen r[1] = {seen(g, 0, 0, 5, 0, 1)};
  r->shard = "s-9";
  (void)give(g, 0, r, 1);
}
static void makes_a_lease_up(stage *g) {
  hd_row row = {.owner = "", .epoch = 0};
  hd_row_is(g->o, 0, "s-9", g->now, &row);
}

static size_t child_of_0(stage *g) {
  size_t kid = shard(g, 0, -1);
  hd_closed(g->o, 0);
  put(g, kid, 4);
  make_row(g, 0, kid);
  take(g, 0, kid);
  return kid;
}
static void begins_before_the_end_is_saved(stage *g) {
  read_some(g, 0, 0, 5, 5);
  save(g, 0, 0, 10);
  (void)hand(g, 0, child_of_0(g), 0, 1);
}
static void begins_before_the_other_parent(stage *g) {
  size_t kid = shard(g, 0, 1);
  hd_closed(g->o, 0);
  hd_closed(g->o, 1);
  put(g, kid, 4);
  make_row(g, 0, kid);
  read_some(g, 0, 0, 5, 5);
  ends(g, 0, 0);
  read_some(g, 1, 1, 0, 10);
  save(g, 1, 1, 9);
  take(g, 0, kid);
  (void)hand(g, 0, kid, 0, 1);
}
static void begins_before_its_parent_is_read(stage *g) { (void)hand(g, 0, child_of_0(g), 0, 1); }

static void changes_owner_in_one_epoch(stage *g) {
  told_row row = g->rows[0];
  row.owner = g->names[1];
  write_as(g, 1, 0, row, g->now);
}
static void takes_a_free_one_in_one_epoch(stage *g) {
  told_row row = g->rows[0];
  row.owner = "";
  row.epoch += g->terms.by_counter;
  write_as(g, 0, 0, row, g->now);
  row.owner = g->names[1];
  write_as(g, 1, 0, row, g->now);
}
static void hands_out_in_an_epoch_of_another(stage *g) {
  g->epochs[1][0] = g->rows[0].epoch;
  g->rows[0].owner = g->names[1];
  told_taken(g, 1, 0);
  (void)hand(g, 1, 0, 5, 1);
}
static void hands_out_in_an_epoch_of_nobody(stage *g) {
  g->rows[1].epoch += 5;
  lease(g, 1, SLOOP_LEASE_LOST, 1, g->epochs[1][1]);
  hd_on_shard(g->o, 1, shard_id(1), SLOOP_SHARD_LOST);
  told_taken(g, 1, 1);
  (void)hand(g, 1, 1, 0, 1);
}

static void old_epoch_is_saved(stage *g) {
  const void *b = hand(g, 0, 0, 5, 3);
  done(g, 0, b, 3, 3);
  told_row row = g->rows[0];
  take(g, 1, 0);
  row.at = 8;
  write_as(g, 0, 0, row, g->now);
}
static void saves_in_the_lease_of_another(stage *g) {
  read_some(g, 0, 0, 5, 3);
  take(g, 1, 0);
  told_row row = g->rows[0];
  row.at = 8;
  row.epoch += g->terms.by_counter;
  write_as(g, 0, 0, row, g->now);
}
static void frees_the_lease_of_another(stage *g) { write_row(g, 1, 0, "", 5); }
static void gives_away_the_lease_of_another(stage *g) {
  size_t c = born(g, "w3");
  told_row row = g->rows[0];
  row.owner = g->names[c];
  row.epoch++;
  write_as(g, 1, 0, row, g->now);
}

static void hands_out_beside_a_newer(stage *g) {
  take(g, 1, 0);
  (void)hand(g, 0, 0, 5, 1);
}
static void hands_out_what_it_gave(stage *g) {
  told_row row = g->rows[0];
  row.owner = "";
  write_as(g, 0, 0, row, g->now);
  (void)hand(g, 0, 0, 5, 1);
}
static void hands_out_without_proof(stage *g) {
  wait_ms(g, LEASE_US / MS);
  (void)hand(g, 0, 0, 5, 1);
}
static void robbed_and_hands_on(stage *g) {
  take(g, 1, 0);
  (void)hand(g, 0, 0, 5, 1); /* fine: it can't know */
  must_be_silent(g, "robbed");
  wait_ms(g, LEASE_US / MS);
  (void)hand(g, 0, 0, 6, 1);
}
static void hands_out_suspended(stage *g) {
  lease(g, 0, SLOOP_LEASE_SUSPENDED, SIZE_MAX, 0);
  (void)hand(g, 0, 0, 5, 1);
}

static void goes_back(stage *g) { save(g, 0, 0, 4); }
static void goes_back_within_a_record(stage *g) { /* 4 is the first of two sub-records */
  read_some(g, 0, 0, 5, 1);
  save(g, 0, 0, 6);
  save(g, 0, 0, 5);
}
static void goes_back_to_the_start(stage *g) { save(g, 0, 0, AT_START); }
static void comes_back_from_the_end(stage *g) {
  hd_closed(g->o, 0);
  read_some(g, 0, 0, 5, 5);
  write_row(g, 0, 0, g->names[0], AT_END);
  save(g, 0, 0, 10);
}
static void ends_an_open_one(stage *g) {
  read_some(g, 0, 0, 5, 5);
  write_row(g, 0, 0, "", AT_END);
}
static void saves_what_another_acked(stage *g) { /* all was done with, but not by the owner */
  read_some(g, 0, 0, 5, 3);
  hd_died(g->o, 0);
  take(g, 1, 0);
  read_some(g, 1, 0, 5, 1);
  save(g, 1, 0, 8);
}
static void moves_by_taking(stage *g) {
  read_some(g, 0, 0, 5, 3);
  hd_died(g->o, 0);
  write_row(g, 1, 0, g->names[1], 8);
}
static void removes_an_unfinished_one(stage *g) { hd_row_is(g->o, 0, shard_id(0), g->now, NULL); }
static void makes_an_ended_one_anew(stage *g) {
  hd_closed(g->o, 0);
  read_some(g, 0, 0, 5, 5);
  ends(g, 0, 0);
  hd_row_is(g->o, 0, shard_id(0), g->now, NULL);
  must_be_silent(g, "removal");
  make_row(g, 1, 0);
}

static void repeats_what_is_saved(stage *g) {
  hd_died(g->o, 0);
  take(g, 1, 0);
  (void)hand(g, 1, 0, 4, 2);
}
static void repeats_what_was_acked(stage *g) {
  read_some(g, 0, 0, 5, 2);
  g->tops[0] = INT64_MIN;
  (void)hand(g, 0, 0, 6, 1);
}
static void lets_go_without_saving(stage *g) {
  read_some(g, 0, 0, 5, 3);
  wait_ms(g, 50);
  told_gone(g, 0, 0, 0);
  write_row(g, 0, 0, "", 6);
}
static void hands_over_without_saving(stage *g) {
  read_some(g, 0, 0, 5, 3);
  wait_ms(g, 50);
  told_gone(g, 0, 0, 0);
  write_row(g, 0, 0, g->names[1], 5);
}

static void asks_too_often(stage *g) { hd_break(g->o, HD_S10_RATE, shard_id(0), "%d calls in a second", 7); }
static void holds_too_much(stage *g) {
  sloop_stats_t st = {.records = 5, .batches = 1, .buffered_bytes_peak = (1 << 20) + 502};
  hd_stats(g->o, 0, &st);
}

static void hands_out_untold(stage *g) {
  write_row(g, 1, 0, g->names[1], 5);
  g->epochs[1][0] = g->rows[0].epoch;
  (void)hand(g, 1, 0, 5, 1);
}
static void hands_out_unopened(stage *g) {
  hd_died(g->o, 0);
  write_row(g, 1, 0, g->names[1], 5);
  g->epochs[1][0] = g->rows[0].epoch;
  lease(g, 1, SLOOP_LEASE_TAKEN, 0, g->rows[0].epoch);
  (void)hand(g, 1, 0, 5, 1);
}
static void hands_out_without_an_epoch(stage *g) {
  g->epochs[0][0] = 0;
  (void)hand(g, 0, 0, 5, 1);
}
static void hands_out_after_the_loss(stage *g) {
  told_gone(g, 0, 0, 1);
  (void)hand(g, 0, 0, 5, 1);
}
static void hands_out_after_stop(stage *g) {
  stop(g, 0);
  (void)hand(g, 0, 0, 5, 1);
}
static void told_taken_twice(stage *g) {
  write_row(g, 0, 0, g->names[0], 5);
  lease(g, 0, SLOOP_LEASE_TAKEN, 0, g->rows[0].epoch + 1);
}
static void told_an_old_epoch(stage *g) {
  told_gone(g, 0, 0, 1);
  lease(g, 0, SLOOP_LEASE_TAKEN, 0, g->epochs[0][0]);
}
static void told_lost_twice(stage *g) {
  told_gone(g, 0, 0, 1);
  lease(g, 0, SLOOP_LEASE_LOST, 0, g->epochs[0][0]);
}
static void told_another_epoch_lost(stage *g) { lease(g, 0, SLOOP_LEASE_LOST, 0, g->epochs[0][0] + 3); }
static void told_opened_twice(stage *g) { hd_on_shard(g->o, 0, shard_id(0), SLOOP_SHARD_OPENED); }
static void told_given_twice(stage *g) {
  hd_on_shard(g->o, 0, shard_id(0), SLOOP_SHARD_RELEASED);
  hd_on_shard(g->o, 0, shard_id(0), SLOOP_SHARD_RELEASED);
}
static void told_ended_and_open(stage *g) { hd_on_shard(g->o, 0, shard_id(0), SLOOP_SHARD_ENDED); }
static void told_ended_and_not_saved(stage *g) {
  hd_closed(g->o, 0);
  read_some(g, 0, 0, 5, 5);
  hd_on_shard(g->o, 0, shard_id(0), SLOOP_SHARD_ENDED);
}
static void told_ended_twice(stage *g) {
  hd_closed(g->o, 0);
  read_some(g, 0, 0, 5, 5);
  ends(g, 0, 0);
  hd_on_shard(g->o, 0, shard_id(0), SLOOP_SHARD_ENDED);
}
static void told_of_no_shard(stage *g) { hd_on_shard(g->o, 0, "s-9", SLOOP_SHARD_OPENED); }
static void told_joined_twice(stage *g) { lease(g, 0, SLOOP_LEASE_JOINED, SIZE_MAX, 0); }
static void told_evicted_twice(stage *g) {
  lease(g, 0, SLOOP_LEASE_EVICTED, SIZE_MAX, 0);
  lease(g, 0, SLOOP_LEASE_EVICTED, SIZE_MAX, 0);
}
static void told_suspended_twice(stage *g) {
  lease(g, 0, SLOOP_LEASE_SUSPENDED, SIZE_MAX, 0);
  lease(g, 0, SLOOP_LEASE_SUSPENDED, SIZE_MAX, 0);
}
static void told_resumed_for_nothing(stage *g) { lease(g, 0, SLOOP_LEASE_RESUMED, SIZE_MAX, 0); }
static void told_more_after_the_last(stage *g) {
  lease(g, 0, SLOOP_LEASE_LEFT, SIZE_MAX, 0);
  lease(g, 0, SLOOP_LEASE_FOLLOWS, SIZE_MAX, 0);
}
static void told_a_loss_for_nothing(stage *g) {
  sloop_loss_t loss = {shard_id(0), "", "", 1, "gone"};
  hd_on_loss(g->o, 0, &loss);
}
static void told_an_error_in_lines(stage *g) {
  sloop_error_t e = {.message = "one\ntwo"};
  hd_on_error(g->o, 0, &e);
}
static void told_the_tip_too_early(stage *g) {
  (void)hand(g, 0, 0, 5, 1);
  hd_on_tip(g->o, 0);
}
static void told_the_tip_and_some_came_back(stage *g) {
  done(g, 0, hand(g, 0, 0, 5, 1), 1, 0);
  hd_on_tip(g->o, 0);
}
static void stopped_twice(stage *g) {
  stop(g, 0);
  hd_on_stopped(g->o, 0, SLP_ETIMEDOUT);
  hd_on_stopped(g->o, 0, SLP_ETIMEDOUT);
}
static void closed_without_stopped(stage *g) {
  stop(g, 0);
  close_it(g, 0);
}
static void takes_an_ended_one(stage *g) {
  hd_closed(g->o, 0);
  read_some(g, 0, 0, 5, 5);
  ends(g, 0, 0);
  write_row(g, 1, 0, g->names[1], AT_END);
}
static void evicts_after_it_stood(stage *g) {
  hd_stands(g->o, 0, LEASE_US);
  wait_ms(g, 2 * LEASE_US / MS);
  hd_evicts(g->o, 0, g->now - LEASE_US / 2, "w1");
}
static void evicts_after_it_was_let_go_on(stage *g) {
  hd_stands(g->o, 0, 9 * LEASE_US);
  wait_ms(g, LEASE_US / MS);
  hd_goes_on(g->o, 0);
  wait_ms(g, LEASE_US / MS / 2);
  hd_evicts(g->o, 0, g->now, "w1");
}
static void reads_when_drained(stage *g) {
  hd_drained(g->o, 1);
  wait_ms(g, 5);
  read_some(g, 0, 0, 5, 3);
}
static int runs(const void *arg, const char *boot) {
  (void)arg, (void)boot;
  return 1;
}
static void drained_with_a_lease(stage *g) { hd_judge_released(g->o, runs, NULL); }

/* Worker 1 releases its lease. Worker 0 releases its lease to worker 1. */
static void given_when_drained(stage *g) {
  told_gone(g, 0, 0, 0);
  write_row(g, 0, 0, g->names[1], g->rows[0].at);
  told_gone(g, 1, 1, 0);
  write_row(g, 1, 1, "", g->rows[1].at);
}
static void given_and_begun_when_drained(stage *g) {
  given_when_drained(g);
  told_taken(g, 1, 0);
  (void)hand(g, 1, 0, 5, 1);
  hd_judge_released(g->o, runs, NULL);
}
static void given_and_kept_when_drained(stage *g) {
  given_when_drained(g);
  hd_drained(g->o, 1);
  hd_judge_released(g->o, runs, NULL);
  wait_ms(g, 5);
  save(g, 1, 0, g->rows[0].at);
}
static void miscounts_records(stage *g) {
  sloop_stats_t st = {.records = 6, .batches = 1};
  hd_stats(g->o, 0, &st);
}
static void miscounts_what_is_out(stage *g) {
  sloop_stats_t st = {.records = 5, .batches = 1, .batches_now = 1};
  hd_stats(g->o, 0, &st);
}
static void gives_back_twice(stage *g) {
  const void *b = hand(g, 0, 0, 5, 1);
  done(g, 0, b, 1, 1);
  done(g, 0, b, 1, 1);
}

static void unread_at_rest(stage *g) {
  char why[200];
  if (!hd_all_read(g->o, why, sizeof why)) hd_break(g->o, HD_L1_ALL_READ, "", "%s", why);
}
static void reads_all(stage *g) {
  read_some(g, 0, 0, 5, 5);
  read_some(g, 1, 1, 0, 10);
  save(g, 0, 0, 10);
  save(g, 1, 1, 10);
}
static void unread_without_a_lease(stage *g) {
  reads_all(g);
  put(g, shard(g, -1, -1), 1);
  unread_at_rest(g);
}
static void unended_at_rest(stage *g) {
  reads_all(g);
  hd_closed(g->o, 0);
  unread_at_rest(g);
}
static void one_record_unread(stage *g) {
  reads_all(g);
  put(g, 1, 1);
  unread_at_rest(g);
}
static void unbalanced(stage *g) {
  char why[200];
  size_t both[2] = {0, 1};
  if (!hd_balanced(g->o, both, 2, why, sizeof why)) hd_break(g->o, HD_L2_BALANCED, "", "%s", why);
}
static void moved_lately(stage *g) {
  take(g, 1, 0);
  take(g, 0, 1);
  wait_ms(g, LEASE_US / MS);
  unbalanced(g);
}
static void one_has_all(stage *g) {
  told_gone(g, 0, 0, 0);
  write_row(g, 0, 0, g->names[1], 5);
  wait_ms(g, 3 * LEASE_US / MS);
  unbalanced(g);
}
/* Two of four each, where one of them has the weight of three. */
static void not_by_weight(stage *g) {
  hd_weighs(g->o, 0, 3);
  for (size_t i = 0; i < 2; i++) write_row(g, i, shard(g, -1, -1), g->names[i], AT_START);
  wait_ms(g, 3 * LEASE_US / MS);
  unbalanced(g);
}
static void nobody_has_it(stage *g) {
  told_gone(g, 0, 0, 0);
  write_row(g, 0, 0, "", 5);
  wait_ms(g, 3 * LEASE_US / MS);
  unbalanced(g);
}

static void calls_inside(stage *g) {
  hd_enter(g->o, 0);
  hd_on_any(g->o, 0, "on_log");
}
static void hands_out_inside(stage *g) {
  hd_enter(g->o, 0);
  (void)hand(g, 0, 0, 5, 1);
}
static void stopped_inside(stage *g) {
  hd_enter(g->o, 0);
  hd_stopping(g->o, 0);
  hd_on_stopped(g->o, 0, 0);
}
static void closed_inside(stage *g) {
  hd_enter(g->o, 0);
  hd_closing(g->o, 0);
  hd_on_closed(g->o, 0);
}

static void calls_after_close(stage *g) {
  hd_closing(g->o, 0);
  lease(g, 0, SLOOP_LEASE_LEFT, SIZE_MAX, 0);
}
static void hands_out_after_close(stage *g) {
  hd_closing(g->o, 0);
  (void)hand(g, 0, 0, 5, 1);
}
static void calls_after_the_end(stage *g) {
  close_it(g, 0);
  hd_on_any(g->o, 0, "on_log");
}
static void answers_after_close(stage *g) {
  hd_closing(g->o, 0);
  hd_on_answer(g->o, 0, "list", SLP_ECANCELED);
  must_be_silent(g, "a canceled listing");
  hd_on_answer(g->o, 0, "list", 0);
}
static void closed_twice(stage *g) {
  close_it(g, 0);
  hd_on_closed(g->o, 0);
}
static void closed_unasked(stage *g) { hd_on_closed(g->o, 0); }
static void stopped_after_close(stage *g) {
  stop(g, 0);
  hd_closing(g->o, 0);
  hd_on_stopped(g->o, 0, 0);
}
static void calls_from_the_dead(stage *g) {
  hd_died(g->o, 0);
  hd_on_tip(g->o, 0);
}

static void again_unflagged(stage *g) {
  done(g, 0, hand(g, 0, 0, 5, 1), 1, 0);
  wait_ms(g, 200);
  hd_seen r[1] = {seen(g, 0, 0, 5, SLOOP_REC_REDELIVERED, 2)};
  r->flags = 0;
  (void)give(g, 0, r, 1);
}
static void flagged_again(stage *g) { (void)hand_again(g, 0, 0, 5, 1, 1); }
static void fresh_with_attempts(stage *g) {
  hd_seen r[1] = {seen(g, 0, 0, 5, 0, 2)};
  (void)give(g, 0, r, 1);
}
static void attempts_miscounted(stage *g) {
  done(g, 0, hand(g, 0, 0, 5, 1), 1, 0);
  wait_ms(g, 200);
  (void)hand_again(g, 0, 0, 5, 1, 4);
}
static void again_too_soon(stage *g) {
  done(g, 0, hand(g, 0, 0, 5, 1), 1, 0);
  wait_ms(g, 20);
  (void)hand_again(g, 0, 0, 5, 1, 2);
}
static void again_out_of_order(stage *g) {
  done(g, 0, hand(g, 0, 0, 5, 3), 3, 0);
  wait_ms(g, 200);
  (void)hand_again(g, 0, 0, 6, 1, 2);
}
static void fresh_before_again(stage *g) {
  done(g, 0, hand(g, 0, 0, 5, 3), 3, 2);
  wait_ms(g, 200);
  (void)hand(g, 0, 0, 8, 1);
}
static void dead_letter_of_a_fresh_one(stage *g) {
  hd_seen r[1] = {seen(g, 0, 0, 5, SLOOP_REC_REDELIVERED, 2)};
  hd_on_dead_letter(g->o, 0, r);
  slp_free(g->mem, (void *)(uintptr_t)r->seq);
}
static void late_unflagged(stage *g) { /* shard 1's first records came before what worker 1 has handed out */
  put(g, 0, 1);
  hd_died(g->o, 0);
  take(g, 1, 0);
  (void)hand(g, 1, 1, 0, 2);
  g->tops[1] = INT64_MIN;
  (void)hand(g, 1, 0, 5, 1);
}
static void flagged_late(stage *g) {
  hd_seen r[1] = {seen(g, 0, 0, 5, 0, 1)};
  r->flags |= SLOOP_REC_LATE;
  (void)give(g, 0, r, 1);
}
static void mixes_shards(stage *g) {
  hd_died(g->o, 0);
  take(g, 1, 0);
  hd_seen r[2] = {seen(g, 1, 0, 5, 0, 1), seen(g, 1, 1, 0, 0, 1)};
  (void)give(g, 1, r, 2);
}

static void too_many_records(stage *g) {
  put(g, 1, 1);
  (void)hand(g, 1, 1, 0, 11);
}
static void too_many_bytes(stage *g) {
  hd_seen r[2] = {seen(g, 0, 0, 5, 0, 1), seen(g, 0, 0, 6, 0, 1)};
  r->bytes = 995;
  (void)give(g, 0, r, 2);
}
static void too_many_batches(stage *g) {
  (void)hand(g, 0, 0, 5, 1);
  (void)hand(g, 0, 0, 6, 1);
  must_be_silent(g, "two batches");
  (void)hand(g, 0, 0, 7, 1);
}

static void hands_out_paused(stage *g) {
  hd_paused(g->o, 0, shard_id(0), 1);
  (void)hand(g, 0, 0, 5, 1);
}
static void hands_out_all_paused(stage *g) {
  hd_paused(g->o, 0, NULL, 1);
  (void)hand(g, 0, 0, 5, 1);
}

static void stopped_with_one_out(stage *g) {
  (void)hand(g, 0, 0, 5, 1);
  stop(g, 0);
  told_gone(g, 0, 0, 0);
  write_row(g, 0, 0, "", 5);
  hd_on_stopped(g->o, 0, 0);
}
static void stopped_and_owns(stage *g) {
  stop(g, 0);
  told_gone(g, 0, 0, 0);
  hd_on_stopped(g->o, 0, 0);
}
static void stopped_and_has_not_saved(stage *g) {
  read_some(g, 0, 0, 5, 2);
  stop(g, 0);
  wait_ms(g, 50);
  told_gone(g, 0, 0, 0);
  hd_left(g->o, 0);
  hd_on_stopped(g->o, 0, 0);
}
static void stopped_behind_a_trim_and_has_not_saved(stage *g) {
  hd_trimmed(g->o, 1, 3);
  read_some(g, 1, 1, 3, 2);
  stop(g, 1);
  wait_ms(g, 50);
  told_gone(g, 1, 1, 0);
  hd_left(g->o, 1);
  hd_on_stopped(g->o, 1, 0);
}
static void keeps_memory(stage *g) {
  close_it(g, 0);
  hd_memory_back(g->o, 0, 16);
}

enum { ANY, SLOOP, KCL };         /* schema */
enum { BOTH, BY_TIME, BY_SHARD }; /* order */
/* ---- what is said ---------------------------------------------------------------------------------------- */

static void says(stage *g, size_t life, size_t s, sloop_shard_state_t state, int64_t behind_ms) {
  sloop_shard_stats_t st = {.shard = shard_id(s),
                            .epoch = g->epochs[life][s],
                            .behind_ms = behind_ms,
                            .state = state,
                            .at_tip = state == SLOOP_SHARD_IS_AT_TIP,
                            .state_ms = -1,
                            .error = state == SLOOP_SHARD_FAILS ? "no answer" : "",
                            .other = ""};
  hd_asked(g->o, life, 0);
  hd_says(g->o, life, &st, 0);
  hd_said(g->o, life, 0);
}

/* Worker 0 has read shard 0 to its tip, and says so. */
static void at_its_tip(stage *g) {
  read_some(g, 0, 0, 5, 5);
  save(g, 0, 0, 10);
  hd_paged(g->o, 0, 0);
  says(g, 0, 0, SLOOP_SHARD_IS_AT_TIP, 0);
  hd_says_ready(g->o, 0, "", 1);
  must_be_silent(g, "at its tip");
}

static void tells_a_lag_younger_than_its_record(stage *g) {
  wait_ms(g, 9000);
  hd_paged(g->o, 0, 0);
  says(g, 0, 0, SLOOP_SHARD_IS_READ, 4000);
}
static void tells_a_lag_younger_than_its_page(stage *g) {
  at_its_tip(g);
  wait_ms(g, 4500);
  says(g, 0, 0, SLOOP_SHARD_IS_READ, 200);
}
static void tells_a_lag_without_a_page(stage *g) { says(g, 0, 0, SLOOP_SHARD_IS_READ, 100000); }
static void does_not_know_its_lag(stage *g) {
  hd_paged(g->o, 0, 0);
  says(g, 0, 0, SLOOP_SHARD_IS_READ, -1);
  wait_ms(g, 5500);
  save(g, 0, 0, 5);
  read_some(g, 0, 0, 5, 1);
  says(g, 0, 0, SLOOP_SHARD_IS_READ, -1);
}
static void reads_without_a_page(stage *g) {
  at_its_tip(g);
  wait_ms(g, 8500);
  says(g, 0, 0, SLOOP_SHARD_IS_READ, 8500);
}
static void is_at_its_tip_and_behind(stage *g) {
  at_its_tip(g);
  says(g, 0, 0, SLOOP_SHARD_IS_AT_TIP, 20);
}
static void is_parked_and_at_its_tip(stage *g) {
  sloop_shard_stats_t st = {.shard = shard_id(0), .state = SLOOP_SHARD_IS_PARKED, .error = "", .other = ""};
  hd_asked(g->o, 0, 0);
  hd_says(g->o, 0, &st, 0);
}
static void waits_for_a_parent_that_it_has_not(stage *g) {
  sloop_shard_stats_t st = {.shard = shard_id(0),
                            .behind_ms = -1,
                            .state = SLOOP_SHARD_WAITS_FOR_PARENT,
                            .error = "",
                            .other = "shardId-000000000001"};
  hd_asked(g->o, 0, 0);
  hd_says(g->o, 0, &st, 0);
}
static void fails_for_no_reason(stage *g) {
  sloop_shard_stats_t st = {.shard = shard_id(0),
                            .epoch = g->epochs[0][0],
                            .behind_ms = -1,
                            .state = SLOOP_SHARD_FAILS,
                            .error = "",
                            .other = ""};
  hd_asked(g->o, 0, 0);
  hd_says(g->o, 0, &st, 0);
}
/* Worker 0 says at rest that shard 0 fails: the last call was refused as one too many. */
static void is_throttled_at_rest(stage *g) {
  at_its_tip(g);
  wait_ms(g, 300);
  hd_throttled(g->o, 0, 0);
  sloop_shard_stats_t st = {.shard = shard_id(0),
                            .epoch = g->epochs[0][0],
                            .behind_ms = 30,
                            .state = SLOOP_SHARD_FAILS,
                            .error = "ProvisionedThroughputExceededException",
                            .other = ""};
  hd_asked(g->o, 0, 0);
  hd_says(g->o, 0, &st, 1);
  must_be_silent(g, "one too many at rest");
}
static void fails_though_a_page_came_since(stage *g) {
  is_throttled_at_rest(g);
  wait_ms(g, 300);
  hd_paged(g->o, 0, 0);
  sloop_shard_stats_t st = {.shard = shard_id(0),
                            .epoch = g->epochs[0][0],
                            .behind_ms = 30,
                            .state = SLOOP_SHARD_FAILS,
                            .error = "ProvisionedThroughputExceededException",
                            .other = ""};
  hd_asked(g->o, 0, 0);
  hd_says(g->o, 0, &st, 1);
}
/* Worker 0 says at rest that shard 0 is read, and so far behind. */
static void is_read_at_rest(stage *g, int64_t behind_ms) {
  sloop_shard_stats_t st = {.shard = shard_id(0),
                            .epoch = g->epochs[0][0],
                            .behind_ms = behind_ms,
                            .state = SLOOP_SHARD_IS_READ,
                            .error = "",
                            .other = ""};
  hd_asked(g->o, 0, 0);
  hd_says(g->o, 0, &st, 1);
}
/* The same two workers, whose shards are pushed: the last event may be 10 s old. */
static void is_between_subscriptions_at_rest(stage *g) {
  int kcl = g->terms.by_counter;
  sloop_order_t order = g->terms.order;
  end(g);
  begin(g, kcl, order);
  g->terms.pushed = 1;
  agree(g);
  two_workers(g);
  at_its_tip(g);
  is_read_at_rest(g, AT_REST_MS + 10000 - 1);
  must_be_silent(g, "between two subscriptions");
}
static void was_pushed_nothing_at_rest(stage *g) {
  is_between_subscriptions_at_rest(g);
  is_read_at_rest(g, AT_REST_MS + 10000);
}
static void lags_at_rest(stage *g) {
  at_its_tip(g);
  is_read_at_rest(g, AT_REST_MS);
}
static void fails_at_rest(stage *g) {
  at_its_tip(g);
  sloop_shard_stats_t st = {.shard = shard_id(0),
                            .epoch = g->epochs[0][0],
                            .behind_ms = 30,
                            .state = SLOOP_SHARD_FAILS,
                            .error = "no answer",
                            .other = ""};
  hd_asked(g->o, 0, 0);
  hd_says(g->o, 0, &st, 1);
}
static void does_not_tell_what_it_owns(stage *g) {
  at_its_tip(g);
  wait_ms(g, 300);
  hd_asked(g->o, 0, 0);
  hd_said(g->o, 0, 1);
}
static void is_ready_and_suspended(stage *g) {
  lease(g, 0, SLOOP_LEASE_SUSPENDED, SIZE_MAX, 0);
  wait_ms(g, 1100);
  hd_says_ready(g->o, 0, "", 0);
}
static void is_ready_and_evicted(stage *g) {
  lease(g, 0, SLOOP_LEASE_EVICTED, SIZE_MAX, 0);
  wait_ms(g, 1100);
  hd_says_ready(g->o, 0, "", 0);
}
static void is_ready_and_nothing_comes(stage *g) {
  wait_ms(g, 8500);
  hd_says_ready(g->o, 0, "", 0);
}
static void is_not_ready_at_rest(stage *g) {
  at_its_tip(g);
  hd_says_ready(g->o, 0, "a part of the stream will not be read", 1);
}
static void tells_what_another_owns(stage *g) {
  says(g, 0, 0, SLOOP_SHARD_IS_SUSPENDED, -1);
  write_row(g, 1, 0, g->names[1], 5);
  wait_ms(g, 4000);
  says(g, 0, 0, SLOOP_SHARD_IS_SUSPENDED, -1); /* that may be */
  must_be_silent(g, "suspended");
  says(g, 0, 0, SLOOP_SHARD_FAILS, -1);
  wait_ms(g, 2900);
  says(g, 0, 0, SLOOP_SHARD_FAILS, -1);
  must_be_silent(g, "it may not know yet");
  wait_ms(g, 200);
  says(g, 0, 0, SLOOP_SHARD_FAILS, -1);
}
static void tells_what_it_never_took(stage *g) {
  says(g, 0, 1, SLOOP_SHARD_FAILS, -1);
  wait_ms(g, 1100);
  says(g, 0, 1, SLOOP_SHARD_FAILS, -1);
}

/* ---- losses ---------------------------------------------------------------------------------------------- */

static void tell_loss(stage *g, size_t from, size_t to) {
  char a[32], b[32];
  snprintf(a, sizeof a, "%s", seq_of(0, from));
  snprintf(b, sizeof b, "%s", seq_of(0, to));
  sloop_loss_t loss = {shard_id(0), a, b, 1, "gone"};
  hd_on_loss(g->o, 0, &loss);
}
static void tells_a_loss_that_is_none(stage *g) { tell_loss(g, 3, 8); }
static void tells_a_gap_that_is_none(stage *g) { tell_loss(g, 8, 3); }
static void goes_on_behind_a_loss(stage *g) {
  hd_trimmed(g->o, 0, 8);
  hd_died(g->o, 0);
  wait_ms(g, 2100);
  save(g, 1, 1, AT_START);
  take(g, 1, 0);
  read_some(g, 1, 0, 8, 1);
  wait_ms(g, 1100);
  hd_paged(g->o, 1, 0);
  says(g, 1, 0, SLOOP_SHARD_IS_READ, 9000);
}

/* ---- commands -------------------------------------------------------------------------------------------- */

static void told_change(stage *g, int status, sloop_change_kind_t kind, const char *was_owner,
                        const char *why) {
  char seq[32];
  snprintf(seq, sizeof seq, "%s", seq_of(0, 4));
  sloop_change_t c = {
      .shard = shard_id(0), .kind = kind, .to = {.kind = SLOOP_OLDEST}, .was_owner = was_owner};
  c.was = (sloop_position_t){.kind = SLOOP_AFTER_SEQ, .seq = seq, .sub = sub_of(4)};
  const sloop_change_t *all[] = {&c};
  sloop_admin_result_t r = {.changes = all, .changes_n = 1, .worker = ""};
  hd_told_changes(g->o, status, &r, why);
}
static void reset_by_command(stage *g) {
  hd_command(g->o);
  g->now += MS;
  write_as(g, SIZE_MAX, 0, (told_row){"", g->rows[0].epoch + 1, AT_START, 0}, g->now);
  hd_command_wrote(g->o, shard_id(0));
}
static void a_command_is_done(stage *g) {
  reset_by_command(g);
  told_change(g, 0, SLOOP_CHANGE_DONE, g->names[0], "");
}
static void a_command_tells_what_it_did_not_do(stage *g) {
  hd_command(g->o);
  told_change(g, 0, SLOOP_CHANGE_DONE, g->names[0], "");
}
static void a_command_tells_another_owner(stage *g) {
  reset_by_command(g);
  told_change(g, 0, SLOOP_CHANGE_DONE, "", "");
}
static void a_command_denies_what_it_did(stage *g) {
  reset_by_command(g);
  told_change(g, SLOOP_ELEASE, SLOOP_CHANGE_TAKEN, "", "");
}
static void a_command_is_silent_of_what_it_did(stage *g) {
  reset_by_command(g);
  hd_told_changes(g->o, SLOOP_EOWNED, NULL, "nothing was changed");
}
static void a_command_evicts_and_denies_it(stage *g) {
  hd_command(g->o);
  hd_command_evicts(g->o, "0000", 1);
  hd_told_changes(g->o, SLOOP_EOWNED, NULL, "nothing was changed");
}
static void a_command_succeeds_and_changes_nothing(stage *g) {
  hd_command(g->o);
  told_change(g, 0, SLOOP_CHANGE_CONFLICT, "", "");
}
static void told_lease(stage *g, const char *owner) {
  char seq[32];
  snprintf(seq, sizeof seq, "%s", seq_of(0, 4));
  sloop_lease_t l[2] = {{.shard = shard_id(0), .owner = owner, .epoch = g->rows[0].epoch},
                        {.shard = shard_id(1), .owner = g->names[1], .epoch = g->rows[1].epoch}};
  l[0].position = (sloop_position_t){.kind = SLOOP_AFTER_SEQ, .seq = seq, .sub = sub_of(4)};
  l[1].position = (sloop_position_t){.kind = SLOOP_OLDEST};
  const sloop_lease_t *all[] = {&l[0], &l[1]};
  sloop_leases_t t = {.leases = all, .leases_n = owner ? 2 : 1};
  if (!owner) all[0] = &l[1];
  hd_told_leases(g->o, &t);
}
static void a_command_tells_the_rows(stage *g) {
  hd_command(g->o);
  g->now += MS;
  told_lease(g, g->names[0]);
}
static void a_command_tells_rows_that_never_were(stage *g) {
  hd_command(g->o);
  told_lease(g, g->names[1]);
}
static void a_command_leaves_a_row_out(stage *g) {
  hd_command(g->o);
  g->now += MS;
  told_lease(g, NULL);
}

TEST(silent_while_what_is_said_is_true) {
  static void (*const plays[])(stage * g) = {at_its_tip, is_throttled_at_rest,
                                             is_between_subscriptions_at_rest, a_command_is_done,
                                             a_command_tells_the_rows};
  for (size_t i = 0; i < SLP_COUNT(plays); i++)
    for (int kcl = 0; kcl < 2; kcl++) {
      stage g;
      begin(&g, kcl, SLOOP_ORDER_TIME);
      two_workers(&g);
      plays[i](&g);
      must_be_silent(&g, "what is said");
      end(&g);
    }
}

typedef struct violation {
  hd_rule rule;
  const char *name;
  void (*play)(stage *g);
  int schema, order, trims;
  sloop_position_kind_t start;
} violation;

#define V(rule_, play_) \
  { .rule = rule_, .name = #play_, .play = play_ }
#define W(rule_, play_, ...) \
  { .rule = rule_, .name = #play_, .play = play_, __VA_ARGS__ }
static const violation violations[] = {
    V(HD_S1_LOSS, saves_what_is_out),
    V(HD_S1_LOSS, saves_what_came_back),
    W(HD_S1_LOSS, subscribes_behind_its_latest, .schema = KCL, .start = SLOOP_LATEST),
    W(HD_S1_LOSS, subscribes_behind_its_latest_after_another, .schema = KCL, .start = SLOOP_LATEST),
    W(HD_S1_LOSS, subscribes_behind_what_it_asked, .schema = KCL, .start = SLOOP_LATEST),
    W(HD_S1_LOSS, saves_beyond_what_its_row_says, .schema = KCL, .start = SLOOP_LATEST),
    V(HD_S1_LOSS, saves_what_was_never_out),
    V(HD_S1_LOSS, saves_before_it_is_acked),
    V(HD_S1_LOSS, ends_with_one_out),
    V(HD_S1_LOSS, counts_what_a_lost_tenancy_acked),
    W(HD_S1_LOSS, tells_a_loss_that_is_none, .trims = 1),
    W(HD_S1_LOSS, tells_a_gap_that_is_none, .trims = 1),
    W(HD_S1_LOSS, goes_on_behind_a_loss, .trims = 1),
    V(HD_S2_ORDER, leaves_one_out),
    V(HD_S2_ORDER, leaves_one_out_in_a_batch),
    V(HD_S2_ORDER, hands_out_twice),
    V(HD_S2_ORDER, begins_behind),
    W(HD_S2_ORDER, begins_behind_latest, .schema = SLOOP, .start = SLOOP_LATEST),
    W(HD_S2_ORDER, leaves_out_what_its_row_says, .schema = KCL, .start = SLOOP_LATEST),
    W(HD_S2_ORDER, makes_it_at_latest_behind_a_parent, .schema = KCL, .start = SLOOP_LATEST),
    W(HD_S2_ORDER, makes_it_anew_at_latest_behind_a_parent, .schema = KCL, .start = SLOOP_LATEST),
    W(HD_S4_LINEAGE, begins_at_the_oldest_before_its_parent, .schema = KCL, .start = SLOOP_LATEST),
    W(HD_S4_LINEAGE, is_taken_after_its_parent_is_made, .schema = KCL, .start = SLOOP_LATEST),
    W(HD_P4_PARENTS, begins_before_a_parent_at_its_oldest, .schema = KCL, .start = SLOOP_LATEST),
    W(HD_S2_ORDER, begins_after_a_removal, .schema = SLOOP, .start = SLOOP_LATEST),
    V(HD_S3_INTEGRITY, alters_one),
    V(HD_S3_INTEGRITY, makes_one_up),
    V(HD_S3_INTEGRITY, makes_a_shard_up),
    V(HD_S3_INTEGRITY, makes_a_lease_up),
    V(HD_S4_LINEAGE, begins_before_the_end_is_saved),
    V(HD_S4_LINEAGE, begins_before_the_other_parent),
    V(HD_S5_EXCLUSIVE, changes_owner_in_one_epoch),
    V(HD_S5_EXCLUSIVE, takes_a_free_one_in_one_epoch),
    V(HD_S5_EXCLUSIVE, hands_out_in_an_epoch_of_another),
    V(HD_S5_EXCLUSIVE, hands_out_in_an_epoch_of_nobody),
    V(HD_S6_FENCED, old_epoch_is_saved),
    V(HD_S6_FENCED, saves_in_the_lease_of_another),
    V(HD_S6_FENCED, frees_the_lease_of_another),
    V(HD_S6_FENCED, gives_away_the_lease_of_another),
    W(HD_S7_OVERLAP, hands_out_beside_a_newer, .schema = SLOOP),
    W(HD_S7_OVERLAP, hands_out_what_it_gave, .schema = SLOOP),
    W(HD_S7_OVERLAP, hands_out_without_proof, .schema = KCL),
    W(HD_S7_OVERLAP, robbed_and_hands_on, .schema = KCL),
    V(HD_S7_OVERLAP, hands_out_suspended),
    V(HD_S8_BACKWARDS, goes_back),
    V(HD_S8_BACKWARDS, goes_back_within_a_record),
    V(HD_S8_BACKWARDS, goes_back_to_the_start),
    V(HD_S8_BACKWARDS, comes_back_from_the_end),
    V(HD_S8_BACKWARDS, ends_an_open_one),
    V(HD_S8_BACKWARDS, saves_what_another_acked),
    V(HD_S8_BACKWARDS, moves_by_taking),
    V(HD_S8_BACKWARDS, removes_an_unfinished_one),
    V(HD_S8_BACKWARDS, makes_an_ended_one_anew),
    V(HD_S8_BACKWARDS, is_set_back_and_broken),
    V(HD_S9_REPEATS, repeats_what_is_saved),
    V(HD_S9_REPEATS, repeats_what_was_acked),
    V(HD_S9_REPEATS, lets_go_without_saving),
    W(HD_S9_REPEATS, hands_over_without_saving, .schema = SLOOP),
    V(HD_S10_RATE, asks_too_often),
    V(HD_S11_BOUNDS, holds_too_much),
    V(HD_S12_CONTRACT, hands_out_untold),
    V(HD_S12_CONTRACT, hands_out_unopened),
    V(HD_S12_CONTRACT, hands_out_without_an_epoch),
    V(HD_S12_CONTRACT, hands_out_after_the_loss),
    V(HD_S12_CONTRACT, hands_out_after_stop),
    V(HD_S12_CONTRACT, told_taken_twice),
    V(HD_S12_CONTRACT, told_an_old_epoch),
    V(HD_S12_CONTRACT, told_lost_twice),
    V(HD_S12_CONTRACT, told_another_epoch_lost),
    V(HD_S12_CONTRACT, told_opened_twice),
    V(HD_S12_CONTRACT, told_given_twice),
    V(HD_S12_CONTRACT, told_ended_and_open),
    V(HD_S12_CONTRACT, told_ended_and_not_saved),
    V(HD_S12_CONTRACT, told_ended_twice),
    V(HD_S12_CONTRACT, told_of_no_shard),
    V(HD_S12_CONTRACT, told_joined_twice),
    V(HD_S12_CONTRACT, told_evicted_twice),
    V(HD_S12_CONTRACT, told_suspended_twice),
    V(HD_S12_CONTRACT, told_resumed_for_nothing),
    V(HD_S12_CONTRACT, told_more_after_the_last),
    V(HD_S12_CONTRACT, told_a_loss_for_nothing),
    V(HD_S12_CONTRACT, told_an_error_in_lines),
    V(HD_S12_CONTRACT, told_the_tip_too_early),
    V(HD_S12_CONTRACT, told_the_tip_and_some_came_back),
    V(HD_S12_CONTRACT, stopped_twice),
    V(HD_S12_CONTRACT, closed_without_stopped),
    W(HD_S12_CONTRACT, takes_an_ended_one, .schema = SLOOP),
    V(HD_S12_CONTRACT, miscounts_records),
    V(HD_S12_CONTRACT, miscounts_what_is_out),
    V(HD_S12_CONTRACT, gives_back_twice),
    V(HD_S14_SILENCE, evicts_after_it_stood),
    V(HD_S15_DRAINED, reads_when_drained),
    V(HD_S15_DRAINED, drained_with_a_lease),
    V(HD_S15_DRAINED, given_and_begun_when_drained),
    W(HD_S15_DRAINED, given_and_kept_when_drained, .schema = SLOOP),
    V(HD_S14_SILENCE, evicts_after_it_was_let_go_on),
    V(HD_L1_ALL_READ, unread_at_rest),
    V(HD_L1_ALL_READ, unread_without_a_lease),
    V(HD_L1_ALL_READ, unended_at_rest),
    V(HD_L1_ALL_READ, one_record_unread),
    V(HD_L2_BALANCED, moved_lately),
    W(HD_L2_BALANCED, one_has_all, .schema = SLOOP),
    W(HD_L2_BALANCED, not_by_weight, .schema = SLOOP),
    V(HD_L2_BALANCED, nobody_has_it),
    V(HD_P1_NOT_INSIDE, calls_inside),
    V(HD_P1_NOT_INSIDE, hands_out_inside),
    V(HD_P1_NOT_INSIDE, stopped_inside),
    V(HD_P1_NOT_INSIDE, closed_inside),
    V(HD_P2_CLOSED, calls_after_close),
    V(HD_P2_CLOSED, hands_out_after_close),
    V(HD_P2_CLOSED, calls_after_the_end),
    V(HD_P2_CLOSED, answers_after_close),
    V(HD_P2_CLOSED, closed_twice),
    V(HD_P2_CLOSED, closed_unasked),
    V(HD_P2_CLOSED, stopped_after_close),
    V(HD_P2_CLOSED, calls_from_the_dead),
    V(HD_P3_IN_ORDER, again_unflagged),
    V(HD_P3_IN_ORDER, flagged_again),
    V(HD_P3_IN_ORDER, fresh_with_attempts),
    V(HD_P3_IN_ORDER, attempts_miscounted),
    V(HD_P3_IN_ORDER, again_too_soon),
    V(HD_P3_IN_ORDER, again_out_of_order),
    V(HD_P3_IN_ORDER, fresh_before_again),
    V(HD_P3_IN_ORDER, dead_letter_of_a_fresh_one),
    W(HD_P3_IN_ORDER, late_unflagged, .order = BY_TIME),
    V(HD_P3_IN_ORDER, flagged_late),
    W(HD_P3_IN_ORDER, mixes_shards, .order = BY_SHARD),
    V(HD_T1_LAG, tells_a_lag_younger_than_its_record),
    V(HD_T1_LAG, tells_a_lag_younger_than_its_page),
    V(HD_T1_LAG, tells_a_lag_without_a_page),
    V(HD_T1_LAG, does_not_know_its_lag),
    V(HD_T2_STATE, reads_without_a_page),
    V(HD_T2_STATE, is_at_its_tip_and_behind),
    V(HD_T2_STATE, fails_for_no_reason),
    V(HD_T2_STATE, is_parked_and_at_its_tip),
    V(HD_T2_STATE, waits_for_a_parent_that_it_has_not),
    V(HD_T3_REST, fails_at_rest),
    V(HD_T3_REST, lags_at_rest),
    V(HD_T3_REST, was_pushed_nothing_at_rest),
    V(HD_T3_REST, fails_though_a_page_came_since),
    V(HD_T3_REST, does_not_tell_what_it_owns),
    V(HD_T4_READY, is_ready_and_suspended),
    V(HD_T4_READY, is_ready_and_evicted),
    V(HD_T4_READY, is_ready_and_nothing_comes),
    V(HD_T4_READY, is_not_ready_at_rest),
    V(HD_T5_LEASE, tells_what_another_owns),
    V(HD_T5_LEASE, tells_what_it_never_took),
    V(HD_T6_COMMAND, a_command_tells_what_it_did_not_do),
    V(HD_T6_COMMAND, a_command_tells_another_owner),
    V(HD_T6_COMMAND, a_command_denies_what_it_did),
    V(HD_T6_COMMAND, a_command_is_silent_of_what_it_did),
    V(HD_T6_COMMAND, a_command_evicts_and_denies_it),
    V(HD_T6_COMMAND, a_command_succeeds_and_changes_nothing),
    V(HD_T6_COMMAND, a_command_tells_rows_that_never_were),
    V(HD_T6_COMMAND, a_command_leaves_a_row_out),
    V(HD_P4_PARENTS, begins_before_its_parent_is_read),
    V(HD_P5_BUDGET, too_many_records),
    V(HD_P5_BUDGET, too_many_bytes),
    V(HD_P5_BUDGET, too_many_batches),
    V(HD_P6_PAUSED, hands_out_paused),
    V(HD_P6_PAUSED, hands_out_all_paused),
    V(HD_P8_STOPPED, stopped_with_one_out),
    V(HD_P8_STOPPED, stopped_and_owns),
    V(HD_P8_STOPPED, stopped_and_was_given),
    V(HD_P8_STOPPED, stopped_and_has_not_saved),
    V(HD_P8_STOPPED, stopped_behind_a_trim_and_has_not_saved),
    V(HD_P10_MEMORY, keeps_memory),
};

static int play(const violation *v, int kcl, sloop_order_t order) {
  stage g;
  const char *text;
  begin(&g, kcl, order);
  if (v->start || v->trims) {
    if (v->start) g.terms.start = v->start;
    g.terms.losses_expected = (uint8_t)v->trims;
    agree(&g);
  }
  two_workers(&g);
  v->play(&g);
  hd_rule rule = hd_broken(g.o, &text);
  if (rule != v->rule)
    fprintf(stderr, "  %s, kcl %d order %d: %s and not %s: %s\n", v->name, kcl, (int)order,
            hd_rule_name(rule), hd_rule_name(v->rule), text);
  int named = rule == v->rule && strncmp(text, "at 1", 4) == 0;
  end(&g);
  return named;
}

static int plays_in(const violation *v, int kcl, int order) {
  if (v->schema != ANY && kcl != (v->schema == KCL)) return 0;
  return v->order == BOTH || order == (v->order == BY_TIME ? SLOOP_ORDER_TIME : SLOOP_ORDER_SHARD);
}

TEST(each_broken_rule_is_named) {
  size_t wrong = 0;
  for (size_t i = 0; i < SLP_COUNT(violations); i++)
    for (int kcl = 0; kcl < 2; kcl++)
      for (int order = SLOOP_ORDER_TIME; order <= SLOOP_ORDER_SHARD; order++)
        if (plays_in(&violations[i], kcl, order)) wrong += !play(&violations[i], kcl, (sloop_order_t)order);
  CHECK_INT(wrong, 0);
}

/* A worker that obeys a hold is given a lease by an earlier write of another worker. It releases the lease as
 * soon as it hears of it. */
TEST(a_lease_that_comes_after_all_is_drained_breaks_no_rule) {
  for (int kcl = 0; kcl < 2; kcl++) {
    stage g;
    const char *text;
    begin(&g, kcl, SLOOP_ORDER_TIME);
    two_workers(&g);
    given_when_drained(&g);
    hd_drained(g.o, 1);
    hd_judge_released(g.o, runs, NULL);
    wait_ms(&g, 5);
    write_row(&g, 1, 0, "", g.rows[0].at);
    CHECK_INT(hd_broken(g.o, &text), 0);
    end(&g);
  }
}

/* Rules that only a driver sees are broken by it: S13 two runs, L3 and L4 what is fetched. */
TEST(no_rule_is_without_a_violation) {
  for (int rule = 1; rule < HD_RULES; rule++) {
    size_t n = 0;
    for (size_t i = 0; i < SLP_COUNT(violations); i++) n += violations[i].rule == (hd_rule)rule;
    if (!n && rule != HD_S13_SAME && rule != HD_L3_NO_ZOMBIE && rule != HD_L4_WATCHDOG)
      CHECK_FAIL("%s", hd_rule_name((hd_rule)rule));
    CHECK(strlen(hd_rule_name((hd_rule)rule)) > 4);
  }
}
