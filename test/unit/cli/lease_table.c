/* lease_table.c - what --leases prints, for people and as JSON lines. */
#include "cli/lease_table.h"

#include "cli/lease_words.h"
#include "check.h"
#include "leases_sample.h"

static slp_mem *mem;
static slp_buf b;

static void begin(void) {
  mem = slp_mem_new(NULL, NULL);
  slp_buf_init(&b, mem, 1 << 20);
}
static void end(void) {
  slp_buf_free(&b);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

TEST(eighty_columns) {
  begin();
  CHECK_INT(slp_lease_table(&b, &sample, SAMPLE_NOW_MS, 80), 0);
  CHECK_STR(slp_buf_z(&b),
            "SHARD  STATE   OWNER                     POSITION                      AGE   LAG\n"
            "0      owned   ip-10-0-3-17-2211-a1b2c3  after 49..054468616467513346   4s  <94s\n"
            "1      owned   ip-10-0-3-18-44-d4e5f6    oldest                        60m   tip\n"
            "2      dead    gone                      after 49..16467513347 sub 12  60s     -\n"
            "3      free    -                         latest                          -     -\n"
            "11     ended   -                         end                            2h     -\n"
            "21     parked  -                         at 5                            0     -\n"
            "\n"
            "WORKER                    STATE  HELD  WEIGHT   LAG   RATE  SEEN  HOST\n"
            "gone                      dead      0       1     -      -   50s  -\n"
            "ip-10-0-3-17-2211-a1b2c3  leads     1       1  <95s  123kB    5s  ip-10-0-3-17\n"
            "ip-10-0-3-18-44-d4e5f6    works     1       2   tip      0    1s  ip-10-0-3-18\n"
            "\n"
            "bad row: a/s/x: its \"v\" is newer?than ours\n"
            "6 leases: 1 dead, 1 free, 1 parked, 2 owned, 1 ended\n"
            "3 workers, 1 dead or silent; the furthest is <94s behind; 3 of unknown lag\n");
  for (size_t width = 60; width < 140; width++) {
    slp_buf_clear(&b);
    CHECK_INT(slp_lease_table(&b, &sample, SAMPLE_NOW_MS, width), 0);
    for (const char *line = slp_buf_z(&b); *line;) {
      size_t n = strcspn(line, "\n");
      if (n > slp_max_u64(width, 80)) CHECK_FAIL("%zu columns: %.*s", n, (int)n, line);
      line += n + 1;
    }
  }
  end();
}

TEST(without_a_limit_everything_is_there) {
  begin();
  CHECK_INT(slp_lease_table(&b, &sample, SAMPLE_NOW_MS, 0), 0);
  static const char *const positions[] = {
      "after 49680442336417878381467701481430417723054468616467513346 ",
      "oldest",
      "after 49680442336417878381467701481430417723054468616467513347 sub 12",
      "latest",
      "end",
      "at 5"};
  for (size_t i = 0; i < SLP_COUNT(positions); i++)
    if (!strstr(slp_buf_z(&b), positions[i])) CHECK_FAIL("no %s", positions[i]);
  for (size_t i = 0; i < sample.workers_n; i++) CHECK(strstr(slp_buf_z(&b), sample_workers[i].worker));
  end();
}

TEST(an_empty_table) {
  static const sloop_leases_t none = {0};
  begin();
  CHECK_INT(slp_lease_table(&b, &none, SAMPLE_NOW_MS, 80), 0);
  CHECK_STR(slp_buf_z(&b),
            "SHARD  STATE  OWNER  POSITION  AGE  LAG\n\n"
            "WORKER  STATE  HELD  WEIGHT  LAG  RATE  SEEN  HOST\n\n"
            "0 leases\n0 workers\n");
  slp_buf_clear(&b);
  CHECK_INT(slp_lease_json(&b, "s", &none, SAMPLE_NOW_MS), 0);
  CHECK_INT(b.n, 0);
  end();
}

TEST(json_lines) {
  begin();
  CHECK_INT(slp_lease_json(&b, "orders", &sample, SAMPLE_NOW_MS), 0);
  const char *text = slp_buf_z(&b);
  CHECK(strncmp(
            text,
            "{\"stream\":\"orders\",\"shard\":\"shardId-000000000000\",\"state\":\"owned\",\"owner\":"
            "\"ip-10-0-3-17-"
            "2211-a1b2c3.0f0f0f0f0f0f0f0f\",\"claim\":null,\"epoch\":3,\"position\":\"after "
            "49680442336417878381467701481430417723054468616467513346\",\"written_at\":1795299996000,"
            "\"behind_ms\":94000,\"parked\":false,\"parents\":[],\"behind_at_most\":true,\"lag\":\"told\"}\n",
            strcspn(text, "\n") + 1) == 0);
  CHECK(strstr(text, "\"parents\":[\"shardId-000000000000\",\"shardId-000000000001\"]"));
  CHECK(strstr(text, "\"state\":\"parked\",\"owner\":null,\"claim\":null,\"epoch\":0,\"position\":\"at 5\""));
  CHECK(
      strstr(text,
             "{\"stream\":\"orders\",\"worker\":\"gone.7777777777777777\",\"state\":\"dead\",\"leads\":false,"
             "\"held\":0,\"weight\":1,\"lease_ms\":10000,\"counter\":4,\"written_at\":1795299950000,"
             "\"behind_ms\":null,\"rate_bytes\":null,\"host\":null,\"behind_at_most\":false}\n"));
  CHECK(strstr(text, "{\"stream\":\"orders\",\"bad_row\":\"a/s/x: its \\\"v\\\" is newer\\nthan ours\"}\n"));
  size_t lines = 0;
  for (const char *line = text; *line; lines++) {
    size_t n = strcspn(line, "\n");
    CHECK(line[0] == '{' && line[n - 1] == '}');
    line += n + 1;
  }
  CHECK_INT(lines, 10);
  end();
}

/* ---- what was read at the positions --------------------------------------------------------------------- */

#define SHARDS 14
static sloop_lease_t rows[SHARDS], spare[2];
static const sloop_lease_t *row_at[SHARDS], *spare_at[2] = {&spare[0], &spare[1]};
static char names[SHARDS][24];

static sloop_lease_t row_of(const char *shard, sloop_lag_t lag, int64_t behind_ms, const char *error) {
  return (sloop_lease_t){.shard = shard,
                         .owner = "",
                         .claim = "",
                         .position = {.kind = SLOOP_OLDEST},
                         .parents = {"", ""},
                         .state = SLOOP_LEASE_FREE,
                         .written_at_ms = -1,
                         .behind_ms = -1,
                         .lag = lag,
                         .read_behind_ms = behind_ms,
                         .read_at_ms = lag == SLOOP_LAG_READ ? SAMPLE_NOW_MS - 2000 : -1,
                         .lag_error = error};
}

static sloop_leases_t read_leases(void) {
  static const sloop_lag_t lags[] = {SLOOP_LAG_READ,     SLOOP_LAG_READ,       SLOOP_LAG_TRIMMED,
                                     SLOOP_LAG_GONE,     SLOOP_LAG_REFUSED,    SLOOP_LAG_FAILED,
                                     SLOOP_LAG_UNPROVEN, SLOOP_LAG_NO_POSITION};
  for (size_t i = 0; i < SHARDS; i++) {
    sloop_lag_t lag = i < SLP_COUNT(lags) ? lags[i] : SLOOP_LAG_FAILED;
    snprintf(names[i], sizeof names[i], "shardId-%012zu", i);
    rows[i] = row_of(names[i], lag,
                     lag != SLOOP_LAG_READ ? -1
                     : i                   ? 58000
                                           : 0,
                     lag == SLOOP_LAG_FAILED ? "AccessDenied: no" : "");
    row_at[i] = &rows[i];
  }
  return (sloop_leases_t){.leases = row_at, .leases_n = SHARDS, .unlisted = ""};
}

TEST(what_was_read_is_told_and_why_a_lag_is_none) {
  begin();
  sloop_leases_t all = read_leases();
  CHECK_INT(slp_lease_table(&b, &all, SAMPLE_NOW_MS, 0), 0);
  static const char *const want[] = {
      "0      free   -      oldest      -      tip\n", /* nothing waited: nothing grows */
      "1      free   -      oldest      -      60s\n",
      "2      free   -      oldest      -  trimmed\n",
      "3      free   -      oldest      -     gone\n",
      "4      free   -      oldest      -  refused\n",
      "5      free   -      oldest      -        -\n",
      "trimmed: the position is older than the stream's retention; records after it may be lost: 2\n",
      "gone: the stream no longer has this shard; its unread records are lost: 3\n",
      "refused: the service refuses the position: 4\n",
      "of unknown lag: the shard could not be read: 5, 8, 9, 10, 11, 12, 13 (AccessDenied: no)\n",
      "of unknown lag: no answer had records, and none proved the tip: 6\n",
      "of unknown lag: the starting position is not known (give -o): 7\n",
      "14 leases: 14 free\n0 workers; the furthest is 60s behind; 3 that can't be continued; 9 of unknown",
      "9 of unknown lag\n"};
  for (size_t i = 0; i < SLP_COUNT(want); i++)
    if (!strstr(slp_buf_z(&b), want[i])) CHECK_FAIL("no %s in %s", want[i], slp_buf_z(&b));
  for (size_t i = 0; i < SHARDS; i++) rows[i] = row_of(names[i], SLOOP_LAG_OUT_OF_TIME, -1, "");
  slp_buf_clear(&b);
  CHECK_INT(slp_lease_table(&b, &all, SAMPLE_NOW_MS, 0), 0);
  CHECK(strstr(slp_buf_z(&b),
               "because the time was up (--timeout gives more): 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 4 more\n"));
  end();
}

static const char *no_word(const void *arg, const sloop_worker_t *w) {
  (void)arg, (void)w;
  return "";
}

TEST(shards_without_a_lease_are_told) {
  begin();
  sloop_leases_t all = read_leases();
  all.leases_n = 1;
  all.unleased = spare_at;
  all.unleased_n = 2;
  all.unlisted = "AccessDenied: ListShards";
  spare[0] = row_of(names[1], SLOOP_LAG_READ, 120000, "");
  spare[1] = row_of(names[2], SLOOP_LAG_NO_POSITION, -1, "");
  CHECK_INT(slp_lease_table(&b, &all, SAMPLE_NOW_MS, 0), 0);
  CHECK(strstr(slp_buf_z(&b), "1      unleased  -      oldest      -   2m\n"));
  CHECK(strstr(slp_buf_z(&b),
               "\nit is not known whether some shards have no lease: AccessDenied: ListShards\n"));
  CHECK(strstr(slp_buf_z(&b), "1 lease: 1 free; 2 shards without one\n"));
  CHECK(strstr(slp_buf_z(&b), "; the furthest is 2m behind; 1 of unknown lag\n"));
  slp_buf_clear(&b);
  CHECK_INT(slp_lease_json(&b, "s", &all, SAMPLE_NOW_MS), 0);
  CHECK(strstr(slp_buf_z(&b), "\"unleased\":\"shardId-000000000001\",\"state\":\"unleased\""));
  CHECK(!strstr(slp_buf_z(&b), "\"shard\":\"shardId-000000000001\""));
  CHECK(strstr(slp_buf_z(&b), "\"behind_ms\":122000,"));
  CHECK(strstr(slp_buf_z(&b), "\"lag\":\"no_position\"}\n"));
  CHECK(strstr(slp_buf_z(&b), "{\"stream\":\"s\",\"unlisted\":\"AccessDenied: ListShards\"}\n"));
  all.leases_n = 0;
  all.unleased_n = 1;
  spare[0].read_behind_ms = 0;
  slp_buf_clear(&b);
  CHECK_INT(slp_worker_sum(&b, &all, SAMPLE_NOW_MS, no_word, NULL), 0);
  CHECK_STR(slp_buf_z(&b), "0 workers; all at the tip");
  end();
}

TEST(each_lag_has_a_word) {
  static const char *const want[] = {"unknown", "read",     "trimmed",     "gone",       "refused",
                                     "failed",  "unproven", "out_of_time", "no_position"};
  for (size_t i = 0; i < SLP_COUNT(want); i++) {
    sloop_lease_t l = row_of("s", (sloop_lag_t)i, i == SLOOP_LAG_READ ? 5 : -1, "");
    sloop_leases_t all = {.leases_n = 0};
    CHECK_STR(slp_lease_lag_word(&l, slp_lease_lag_of(&l, &all, SAMPLE_NOW_MS)), want[i]);
  }
  CHECK_STR(
      slp_lease_lag_word(&sample_leases[0], slp_lease_lag_of(&sample_leases[0], &sample, SAMPLE_NOW_MS)),
      "told");
  CHECK_STR(
      slp_lease_lag_word(&sample_leases[4], slp_lease_lag_of(&sample_leases[4], &sample, SAMPLE_NOW_MS)),
      "ended");
}
