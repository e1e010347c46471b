/* lease_over.c - which shards --lag-over names. */
#include "cli/lease_over.h"

#include "check.h"
#include "leases_sample.h"

static const char *over(const sloop_leases_t *l, int64_t limit_ms, size_t want_n) {
  static char text[2000];
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_buf b;
  slp_buf_init(&b, mem, 10000);
  slp_buf_add_z(&b, "said: ");
  CHECK_INT(slp_lease_over(&b, l, SAMPLE_NOW_MS, limit_ms, "LIMIT"), want_n);
  snprintf(text, sizeof text, "%s", slp_buf_z(&b));
  slp_buf_free(&b);
  slp_mem_drop(mem);
  return text;
}

TEST(what_is_not_known_is_over) {
  CHECK_STR(over(&sample, 93999, 5),
            "said: lag above LIMIT, or unknown: 0 (<94s), 2 (unknown), 3 (unknown), 21 (unknown), an invalid "
            "row (unknown)");
  CHECK_STR(
      over(&sample, 94000, 4),
      "said: lag above LIMIT, or unknown: 2 (unknown), 3 (unknown), 21 (unknown), an invalid row (unknown)");
  sloop_leases_t some = sample;
  some.leases_n = 2;
  some.bad_rows_n = 0;
  CHECK_STR(over(&some, 94000, 0), "said: ");
  some.unlisted = "AccessDenied";
  CHECK_STR(over(&some, 94000, 1), "said: lag above LIMIT, or unknown: shards without a lease (unknown)");
  some = (sloop_leases_t){.leases_n = 0};
  CHECK_STR(over(&some, 94000, 1), "said: lag above LIMIT, or unknown: every shard (no lease)");
}

TEST(what_was_read_counts) {
  static sloop_lease_t rows[14];
  static const sloop_lease_t *at[14];
  static char names[14][24];
  for (size_t i = 0; i < 14; i++) {
    snprintf(names[i], sizeof names[i], "shardId-%012zu", i);
    rows[i] = sample_leases[3];
    rows[i].shard = names[i];
    rows[i].lag = i == 0 ? SLOOP_LAG_TRIMMED : SLOOP_LAG_READ;
    rows[i].read_behind_ms = i == 0 ? -1 : i == 1 ? 0 : 300000;
    rows[i].read_at_ms = SAMPLE_NOW_MS;
    at[i] = &rows[i];
  }
  sloop_leases_t all = {.leases = at, .leases_n = 2, .unleased = at + 2, .unleased_n = 12};
  CHECK_STR(over(&all, 1000, 13),
            "said: lag above LIMIT, or unknown: 0 (trimmed), 2 (5m), 3 (5m), 4 (5m), 5 (5m), 6 (5m), 7 (5m), "
            "8 (5m), 9 (5m), 10 (5m) and 3 more");
  CHECK_STR(over(&all, 300000, 1), "said: lag above LIMIT, or unknown: 0 (trimmed)");
}
