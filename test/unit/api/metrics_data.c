/* api/metrics_data.c: the data that a sample makes, and the start of counters. */
#include "api/metrics_data.h"

#include "check.h"

static slp_mem *mem;
static slp_sample s;
static char lines[20000];
static const sloop_stats_t nothing[4];

static void begin(void) {
  mem = slp_mem_new(NULL, NULL);
  slp_sample_init(&s, mem);
}
static void end(void) {
  slp_sample_free(&s);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}
/* "name unit value/decimals Dimension=value ...\n", one after the other. Returns how many. */
static size_t told(const sloop_stats_t *since, const char *set) {
  slp_metrics_data d;
  slp_cw_datum c;
  size_t n = 0, at = 0;
  slp_metrics_data_begin(&d, &s, since, slp_metrics_set_of(set));
  for (lines[0] = 0;; n++) {
    if (slp_metrics_data_at_totals(&d))
      at += (size_t)snprintf(lines + at, sizeof lines - at, "-- %zu\n", d.consumer);
    if (!slp_metrics_data_next(&d, &c)) return n;
    at += (size_t)snprintf(lines + at, sizeof lines - at, "%s %s %llu/%u", c.name, c.unit,
                           (unsigned long long)c.value, c.decimals);
    CHECK(c.dimensions_n <= SLP_CLOUDWATCH_DIMENSIONS_MAX);
    for (size_t i = 0; i < c.dimensions_n; i++)
      at += (size_t)snprintf(lines + at, sizeof lines - at, " %s=%.*s", c.dimensions[i].name,
                             (int)c.dimensions[i].value.n, c.dimensions[i].value.p);
    at += (size_t)snprintf(lines + at, sizeof lines - at, "\n");
  }
}
#define HAS(line) \
  if (!strstr(lines, line "\n")) CHECK_FAIL("no \"%s\" in\n%s", line, lines)

TEST(without_leases) {
  begin();
  sloop_stats_t stats = {.records = 10, .payload_bytes = 1000, .behind_ms_now = 70, .losses = 1};
  CHECK_INT(slp_sample_add(&s, "", "orders", "", SLP_READING_RUNNING, &stats), 0);
  CHECK_INT(slp_sample_add_shard(&s, &(sloop_shard_stats_t){"shard-0", 0, 70, 0, 0, 0}), 0);
  CHECK_INT(slp_sample_add_shard(&s, &(sloop_shard_stats_t){"shard-1", 0, -1, 0, 0, 0}), 0); /* not known */
  CHECK_INT(told(nothing, NULL), 7);
  HAS("RecordsProcessed Count 10/0 Stream=orders");
  HAS("DataBytesProcessed Bytes 1000/0 Stream=orders");
  HAS("MillisBehindLatest Milliseconds 70/0 Stream=orders");
  HAS("Throttles Count 0/0 Stream=orders");
  HAS("Losses Count 1/0 Stream=orders");
  HAS("MillisBehindLatest Milliseconds 70/0 Stream=orders Shard=shard-0");
  end();
}

TEST(with_leases_and_since) {
  begin();
  sloop_stats_t before = {.records = 4, .store_write_units = 1500, .losses = 9, .behind_ms_now = 5};
  sloop_stats_t stats = {.records = 10,
                         .shards_now = 3,
                         .leases_lost = 2,
                         .store_write_units = 4000,
                         .losses = 1,
                         .behind_ms_now = UINT64_MAX};
  CHECK_INT(slp_sample_add(&s, "app", "orders", "w1", SLP_READING_RUNNING, &stats), 0);
  CHECK_INT(slp_sample_add(&s, "app", "other", "w1", SLP_READING_RUNNING, &stats), 0);
  s.consumers[0].member = 1; /* members may have left */
  s.consumers[1].member = 3;
  told((const sloop_stats_t[4]){{0}, before, {0}, {0}}, NULL);
  HAS("RecordsProcessed Count 6/0 Stream=orders Application=app");
  HAS("RecordsProcessed Count 10/0 Stream=other Application=app");
  HAS("StoreWriteUnits Count 2500/3 Stream=orders Application=app");
  HAS("CurrentLeases Count 3/0 Stream=orders Application=app");
  HAS("LostLeases Count 2/0 Stream=orders Application=app");
  HAS("Losses Count 0/0 Stream=orders Application=app"); /* never below zero */
  CHECK(!strstr(lines, "MillisBehindLatest"));           /* not known */
  CHECK(!strstr(lines, "w1"));
  CHECK(strncmp(lines, "-- 0\nRecords", 12) == 0);
  CHECK(strstr(lines, "\n-- 1\nRecordsProcessed Count 10"));
  end();
}

TEST(sets_by_name) {
  CHECK(slp_metrics_set_of("sloop") == slp_metrics_set_of(NULL) && slp_metrics_set_of("sloop")->own);
  CHECK(!slp_metrics_set_of("sloop")->ns); /* the user says which */
  CHECK_STR(slp_metrics_set_of("motorway")->ns, "Motorway/Kinesis");
  CHECK(!slp_metrics_set_of("") && !slp_metrics_set_of("Motorway"));
  CHECK(slp_metrics_set_at(0) && !slp_metrics_set_at(2));
}

TEST(set_of_motorway) {
  begin();
  sloop_stats_t stats = {.records = 10};
  CHECK_INT(slp_sample_add(&s, "app", "empty", "", SLP_READING_RUNNING, &stats), 0);
  CHECK_INT(slp_sample_add(&s, "app", "orders", "", SLP_READING_RUNNING, &stats), 0);
  CHECK_INT(slp_sample_add_shard(&s, &(sloop_shard_stats_t){"shard-0", 0, 70, 0, 0, 0}), 0);
  CHECK_INT(slp_sample_add_shard(&s, &(sloop_shard_stats_t){"shard-1", 0, 0, 0, 0, 0}), 0);
  CHECK_INT(told(nothing, "motorway"), 2);
  CHECK_STR(lines,
            "MillisecondsBehind Milliseconds 70/0 Stream=orders Shard=shard-0\n"
            "MillisecondsBehind Milliseconds 0/0 Stream=orders Shard=shard-1\n");
  end();
}

TEST(nobody) {
  begin();
  CHECK_INT(told(nothing, NULL), 0);
  end();
}
