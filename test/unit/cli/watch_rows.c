/* watch_rows.c - filters, orders and the choice of --watch's shards. */
#include "cli/watch_rows.h"
#include "check.h"
#include "cli/record_formats.h"
#include "leases_sample.h"

#define N 9

static slp_mem *mem;
static sloop_lease_t leases[N];
static const sloop_lease_t *at[N];
static char ids[N][40];
static sloop_worker_t workers[2];
static const sloop_worker_t *worker_at[2] = {&workers[0], &workers[1]};
static sloop_leases_t all;
static slp_watch_rows rows;
static slp_watch_ui ui;

/* Nine shards. Those with an even number are anna's, the others bert's; 3 is free, 4 ended, 5 far behind. */
static void begin(void) {
  mem = slp_mem_new(NULL, NULL);
  workers[0] = (sloop_worker_t){.worker = "anna.1",
                                .host = "",
                                .evicted_by = "",
                                .lease_ms = 10000,
                                .behind_ms = -1,
                                .rate_bytes = 10,
                                .written_at_ms = SAMPLE_NOW_MS};
  workers[1] = workers[0];
  workers[1].worker = "bert.1";
  workers[1].rate_bytes = 5000;
  for (int i = 0; i < N; i++) {
    snprintf(ids[i], sizeof ids[i], "shardId-%012d", i);
    leases[i] = (sloop_lease_t){.shard = ids[i],
                                .owner = i % 2 ? "bert.1" : "anna.1",
                                .claim = "",
                                .avoid = "",
                                .parents = {"", ""},
                                .lag_error = "",
                                .state = SLOOP_LEASE_OWNED,
                                .behind_ms = 1000 + i,
                                .written_at_ms = SAMPLE_NOW_MS,
                                .position = {.kind = SLOOP_OLDEST}};
    at[i] = &leases[i];
  }
  leases[3].owner = "";
  leases[3].state = SLOOP_LEASE_FREE;
  leases[4].position.kind = SLOOP_AT_END;
  leases[5].behind_ms = 90000;
  all = (sloop_leases_t){at, N, worker_at, 2, NULL, 0};
  ui = (slp_watch_ui){.sort = SLP_SORT_URGENT};
}
static void end(void) {
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

/* Returns the numbers of the shards in their order. */
static const char *order(slp_watch_sort sort) {
  static char text[40];
  CHECK_INT(slp_watch_rows_make(&rows, mem, &all, SAMPLE_NOW_MS, &ui), 0);
  slp_watch_rows_sort(&rows, sort);
  text[0] = 0;
  for (size_t i = 0; i < rows.n; i++) strcat(text, slp_shard_short(rows.row[i].lease->shard));
  slp_watch_rows_free(&rows);
  return text;
}

TEST(each_order) {
  begin();
  CHECK_STR(order(SLP_SORT_URGENT), "358762104");
  CHECK_STR(order(SLP_SORT_LAG), "587621034"); /* not known comes behind what is, and ended last */
  CHECK_STR(order(SLP_SORT_SHARD), "012345678");
  CHECK_STR(order(SLP_SORT_WORKER), "302468157");
  CHECK_STR(order(SLP_SORT_RATE), "157024683");
  end();
}

TEST(each_kind_of_filter) {
  static const char *const rows_of[][2] = {{"", "012345678"}, {"BERT", "157"}, {"free", "3"}, {"ended", "4"},
                                           {"7", "7"},        {"nobody", ""},  {".1", ""}};
  begin();
  for (size_t i = 0; i < SLP_COUNT(rows_of); i++) {
    snprintf(ui.filter, sizeof ui.filter, "%s", rows_of[i][0]);
    CHECK_STR(order(SLP_SORT_SHARD), rows_of[i][1]);
  }
  end();
  CHECK(slp_watch_matches("", "") && slp_watch_matches("ab", "") && !slp_watch_matches("", "a"));
  CHECK(slp_watch_matches("aab", "ab") && !slp_watch_matches("ab", "abc"));
}

static void choose(int32_t step, size_t lines, const char *shard, size_t top) {
  ui.step = step;
  ui.picks = 1;
  slp_watch_rows_choose(&rows, &ui, lines);
  CHECK_STR(slp_shard_short(ui.shard), shard);
  CHECK_INT(ui.top, top);
  CHECK_INT(ui.step, 0);
}

TEST(the_choice_moves_and_stays_in_sight) {
  begin();
  CHECK_INT(slp_watch_rows_make(&rows, mem, &all, SAMPLE_NOW_MS, NULL), 0);
  slp_watch_rows_choose(&rows, &ui, 4);
  CHECK_STR(slp_shard_short(ui.shard), "0");
  choose(3, 4, "3", 0);
  choose(1, 4, "4", 1);
  choose(-1, 4, "3", 1);
  choose(-3, 4, "0", 0);
  choose(-5, 4, "0", 0);
  choose(INT32_MAX / 2, 4, "8", 5);
  choose(0, 20, "8", 0); /* a larger screen shows all */
  choose(INT32_MIN / 2, 1, "0", 0);
  choose(2, 0, "2", 0);
  snprintf(ui.shard, sizeof ui.shard, "gone");
  choose(0, 4, "0", 0);
  slp_watch_rows_free(&rows);
  slp_watch_rows none = {.n = 0};
  slp_watch_rows_choose(&none, &ui, 4);
  CHECK_STR(ui.shard, "");
  end();
}
