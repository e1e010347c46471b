/* lease_table.c - what --leases prints, for people and as JSON lines. */
#include "cli/lease_table.h"
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
            "SHARD  STATE   OWNER                     POSITION                       AGE  LAG\n"
            "0      owned   ip-10-0-3-17-2211-a1b2c3  after 496..054468616467513346   4s  90s\n"
            "1      owned   ip-10-0-3-18-44-d4e5f6    oldest                         60m  tip\n"
            "2      dead    gone                      after 496..16467513347 sub 12  60s    -\n"
            "3      free    -                         latest                           -    -\n"
            "11     ended   -                         end                             2h    -\n"
            "21     parked  -                         at 5                             0    -\n"
            "\n"
            "WORKER                    STATE  HELD  WEIGHT  LAG   RATE  SEEN  HOST\n"
            "gone                      dead      0       1    -      -   50s  -\n"
            "ip-10-0-3-17-2211-a1b2c3  leads     1       1  90s  123kB    5s  ip-10-0-3-17\n"
            "ip-10-0-3-18-44-d4e5f6    works     1       2  tip      0    1s  ip-10-0-3-18\n"
            "\n"
            "bad row: a/s/x: its \"v\" is newer?than ours\n"
            "6 leases: 1 dead, 1 free, 1 parked, 2 owned, 1 ended\n"
            "3 workers, 1 dead or silent; the furthest is 90s behind; 3 of unknown lag\n");
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
  CHECK(strncmp(text,
                "{\"stream\":\"orders\",\"shard\":\"shardId-000000000000\",\"state\":\"owned\",\"owner\":"
                "\"ip-10-0-3-17-"
                "2211-a1b2c3.0f0f0f0f0f0f0f0f\",\"claim\":null,\"epoch\":3,\"position\":\"after "
                "49680442336417878381467701481430417723054468616467513346\",\"written_at\":1795299996000,"
                "\"behind_ms\":90000,\"parked\":false,\"parents\":[],\"behind_at_most\":false}\n",
                strcspn(text, "\n") + 1) == 0);
  CHECK(strstr(text, "\"parents\":[\"shardId-000000000000\",\"shardId-000000000001\"]"));
  CHECK(strstr(text, "\"state\":\"parked\",\"owner\":null,\"claim\":null,\"epoch\":0,\"position\":\"at 5\""));
  CHECK(
      strstr(text,
             "{\"stream\":\"orders\",\"worker\":\"gone.7777777777777777\",\"state\":\"dead\",\"leads\":false,"
             "\"held\":0,\"weight\":1,\"lease_ms\":10000,\"counter\":4,\"written_at\":1795299950000,"
             "\"behind_ms\":null,\"rate_bytes\":null,\"host\":null}\n"));
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
