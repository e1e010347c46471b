/* watch_past.c - lags and moves from poll to poll. */
#include "cli/watch_past.h"
#include "check.h"

static slp_watch_past p;

static void look(const char *owner, int64_t lag_ms, uint64_t now_ms) {
  sloop_lease_t l = {.shard = "s",
                     .owner = owner,
                     .claim = "",
                     .position = {.kind = SLOOP_LATEST},
                     .state = SLOOP_LEASE_OWNED,
                     .written_at_ms = 0,
                     .behind_ms = lag_ms};
  const sloop_lease_t *at = &l;
  sloop_leases_t all = {.leases = &at, .leases_n = 1};
  CHECK_INT(slp_watch_past_add(&p, &all, now_ms, 0), 0);
}

static void begin(void) { slp_watch_past_init(&p, slp_mem_new(NULL, NULL)); }
static void end(void) {
  slp_mem *mem = p.shards.mem;
  slp_watch_past_free(&p);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

TEST(the_last_lags_are_there) {
  begin();
  CHECK_INT(slp_watch_past_lag(&p, "s", 0), -1);
  for (int i = 0; i < 100; i++) {
    look("a.1", i, 0);
    CHECK_INT(slp_watch_past_lag(&p, "s", 0), i);
    CHECK_INT(slp_watch_past_lag(&p, "s", 5), i < 5 ? -1 : i - 5);
  }
  CHECK_INT(slp_watch_past_lag(&p, "s", SLP_WATCH_POLLS - 1), 99 - SLP_WATCH_POLLS + 1);
  CHECK_INT(slp_watch_past_lag(&p, "s", SLP_WATCH_POLLS), -1);
  CHECK_INT(slp_watch_past_lag(&p, "other", 0), -1);
  end();
}

TEST(a_move_is_a_new_owner) {
  begin();
  look("", -1, 1000);
  look("a.1", -1, 2000); /* the first one */
  look("a.1", -1, 3000);
  CHECK(!slp_watch_past_move(&p, 0));
  look("b.1", -1, 4000);
  CHECK_INT(slp_watch_past_moves(&p, 4000), 1);
  look("", -1, 5000);
  look("b.1", -1, 6000); /* it released it and took it again */
  CHECK_INT(slp_watch_past_moves(&p, 6000), 1);
  look("", -1, 7000);
  look("a.1", -1, 8000);
  const slp_watch_move *m = slp_watch_past_move(&p, 0);
  CHECK_INT(m->at_ms, 8000);
  CHECK_STR(p.workers.name[m->from], "b.1");
  CHECK_STR(p.workers.name[m->to], "a.1");
  CHECK_STR(p.shards.name[m->shard], "s");
  CHECK_INT(slp_watch_past_move(&p, 1)->at_ms, 4000);
  CHECK(!slp_watch_past_move(&p, 2));
  CHECK_INT(slp_watch_past_moves(&p, 63999), 2);
  CHECK_INT(slp_watch_past_moves(&p, 64000), 1); /* of the last minute */
  CHECK_INT(slp_watch_past_moves(&p, 68000), 0);
  end();
}

TEST(many_moves_are_counted_as_far_as_they_are_kept) {
  begin();
  for (int i = 0; i < 1000; i++) look(i % 2 ? "a.1" : "b.1", 0, 10);
  CHECK_INT(slp_watch_past_moves(&p, 10), SLP_WATCH_MOVES);
  CHECK(!slp_watch_past_move(&p, SLP_WATCH_MOVES));
  end();
}

TEST(many_shards) {
  static char names[1000][16];
  static sloop_lease_t l[1000];
  static const sloop_lease_t *at[1000];
  begin();
  for (int i = 0; i < 1000; i++) {
    snprintf(names[i], sizeof names[i], "s%d", i);
    l[i] = (sloop_lease_t){.shard = names[i], .owner = "", .claim = "", .behind_ms = i};
    at[i] = &l[i];
  }
  sloop_leases_t all = {.leases = at, .leases_n = 1000};
  CHECK_INT(slp_watch_past_add(&p, &all, 0, 0), 0);
  for (int i = 0; i < 1000; i++) CHECK_INT(slp_watch_past_lag(&p, names[i], 0), i);
  end();
}

static const char *word_at(uint64_t epoch, uint64_t now_ms) {
  sloop_lease_t l = {.shard = "s",
                     .owner = "a.1",
                     .claim = "",
                     .state = SLOOP_LEASE_OWNED,
                     .epoch = epoch,
                     .written_at_ms = -1,
                     .behind_ms = -1};
  sloop_worker_t w = {.worker = "a.1", .host = "", .lease_ms = 10000, .written_at_ms = -1, .evicted_by = ""};
  const sloop_lease_t *at = &l;
  sloop_leases_t all = {.leases = &at, .leases_n = 1};
  CHECK_INT(slp_watch_past_add(&p, &all, now_ms, 0), 0);
  return slp_watch_past_word(&p, &w, now_ms, 0);
}

TEST(a_worker_that_only_leases_name_works_while_they_move) {
  begin();
  CHECK_STR(word_at(1, 1000), "owns"); /* one look can't tell */
  CHECK_STR(word_at(1, 4000), "owns");
  CHECK_STR(word_at(2, 5000), "works");
  CHECK_STR(word_at(2, 15000), "works");
  CHECK_STR(word_at(2, 15001), "silent");
  CHECK_STR(word_at(3, 16000), "works");
  end();
  begin();
  CHECK_STR(word_at(1, 1000), "owns");
  CHECK_STR(word_at(1, 11001), "silent");
  end();
}
