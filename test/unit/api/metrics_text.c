/* api/metrics_text.c: names, labels, omitted values, and that slices change nothing. process/metrics.py
 * shows that a Prometheus client reads it. */
#include "api/metrics_text.h"

#include "check.h"

static slp_mem *mem;
static slp_sample s;
static slp_buf out;

static void begin(void) {
  mem = slp_mem_new(NULL, NULL);
  slp_sample_init(&s, mem);
  slp_buf_init(&out, mem, 1 << 24);
}
static void end(void) {
  slp_sample_free(&s);
  slp_buf_free(&out);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}
static const char *text(size_t lines_max, slp_metrics_own own) {
  slp_metrics_text t;
  int r = SLP_MORE;
  slp_buf_clear(&out);
  slp_metrics_text_begin(&t, &s, &own, &out);
  while (r == SLP_MORE) r = slp_metrics_text_write(&t, lines_max);
  CHECK_INT(r, 0);
  return slp_buf_z(&out);
}
static const char *all(void) { return text(SIZE_MAX, (slp_metrics_own){0}); }
/* The number of times that a whole line occurs. */
static int lines(const char *line) {
  int n = 0;
  size_t len = strlen(line);
  const char *z = slp_buf_z(&out);
  for (const char *at = z; (at = strstr(at, line)); at += len)
    n += (at == z || at[-1] == '\n') && at[len] == '\n';
  return n;
}
static void stream(const char *name, sloop_stats_t stats) {
  CHECK_INT(slp_sample_add(&s, NULL, name, NULL, SLP_READING_RUNNING, &stats), 0);
}

static void named(const char *stat, const char *unit, const char *want) {
  char name[80];
  slp_metrics_text_name(stat, unit, name);
  CHECK_STR(name, want);
}
TEST(names) {
  named("records", "records", "sloop_records_total");
  named("payload_bytes", "bytes", "sloop_payload_bytes_total");
  named("buffered_bytes_now", "bytes", "sloop_buffered_bytes");
  named("buffered_bytes_peak", "bytes", "sloop_buffered_peak_bytes");
  named("batches_now", "batches", "sloop_batches_now"); /* sloop_batches_total is another */
  named("shards_now", "shards", "sloop_shards");
  named("behind_ms_now", "ms", "sloop_behind_seconds");
  named("turn_us_p999", "us", "sloop_turn_p999_seconds");
  named("hold_us_max", "us", "sloop_hold_max_seconds");
  named("heartbeat_age_ms_now", "ms", "sloop_heartbeat_age_seconds");
  named("store_write_units", "1/1000 unit", "sloop_store_write_units_total");
  named("joined_now", "0 or 1", "sloop_joined");
}

TEST(every_stat_is_there_once_under_a_name_of_its_own) {
  begin();
  sloop_stats_t stats;
  memset(&stats, 1, sizeof stats);
  stream("s", stats);
  all();
#define X(stat, unit, meaning)                                                                        \
  {                                                                                                   \
    char name[80], line[120];                                                                         \
    slp_metrics_text_name(#stat, unit, name);                                                         \
    snprintf(line, sizeof line, "# TYPE %s %s", name, strstr(name, "_total") ? "counter" : "gauge");  \
    CHECK_INT(lines(line), 1);                                                                        \
    snprintf(line, sizeof line, "\n%s{stream=\"s\"} ", name);                                         \
    if (!strstr(slp_buf_z(&out), line)) CHECK_FAIL("no %s", line);                                    \
    if (name[strspn(name, "abcdefghijklmnopqrstuvwxyz_0123456789")]) CHECK_FAIL("bad name %s", name); \
  }
  SLOOP_STATS(X)
#undef X
  end();
}

TEST(values_in_base_units) {
  begin();
  stream("orders", (sloop_stats_t){.records = 12,
                                   .behind_ms_now = 1500,
                                   .hold_us_max = 2500,
                                   .store_write_units = 500,
                                   .tip_age_ms_now = UINT64_MAX});
  all();
  CHECK_INT(lines("sloop_records_total{stream=\"orders\"} 12"), 1);
  CHECK_INT(lines("# HELP sloop_records_total handed to on_batch (records)"), 1);
  CHECK_INT(lines("sloop_behind_seconds{stream=\"orders\"} 1.5"), 1);
  CHECK_INT(lines("# HELP sloop_behind_seconds the most any shard is behind its tip (seconds)"), 1);
  CHECK_INT(lines("sloop_hold_max_seconds{stream=\"orders\"} 0.0025"), 1);
  CHECK_INT(lines("sloop_store_write_units_total{stream=\"orders\"} 0.5"), 1);
  CHECK(!strstr(slp_buf_z(&out), "\nsloop_tip_age_seconds")); /* not known: no line */
  CHECK_INT(lines("sloop_ready{stream=\"orders\"} 1"), 1);
  end();
}

TEST(labels_are_escaped) {
  begin();
  CHECK_INT(
      slp_sample_add(&s, "a\"b\\c", "line\nbreak", "\xff\xfe", SLP_READING_STOPPED, &(sloop_stats_t){0}), 0);
  CHECK_INT(slp_sample_add_shard(&s, &(sloop_shard_stats_t){"schön", 3, 20, 4, 0, 1}), 0);
  all();
#define LABELS "stream=\"line\\nbreak\",app=\"a\\\"b\\\\c\",worker=\"??\""
  CHECK_INT(lines("sloop_records_total{" LABELS "} 0"), 1);
  CHECK_INT(lines("sloop_ready{" LABELS "} 0"), 1);
  CHECK_INT(lines("sloop_shard_behind_seconds{" LABELS ",shard=\"schön\"} 0.02"), 1);
  CHECK_INT(lines("sloop_shard_unacked_records{" LABELS ",shard=\"schön\"} 4"), 1);
  CHECK_INT(lines("sloop_shard_epoch{" LABELS ",shard=\"schön\"} 3"), 1);
  CHECK_INT(lines("sloop_shard_paused{" LABELS ",shard=\"schön\"} 0"), 1);
  CHECK_INT(lines("sloop_shard_at_tip{" LABELS ",shard=\"schön\"} 1"), 1);
  end();
}

TEST(errors_by_name_and_what_shards_do) {
  slp_fail known = {.http_status = 400, .aws_code = "AccessDeniedException"},
           strange = {.http_status = 500, .aws_code = "SomethingElse"}, silent = {.http_status = 0};
  uint64_t failed_as[SLP_FAILURES] = {0};
  failed_as[slp_failure_number(&known)] = 3;
  failed_as[slp_failure_number(&strange)] += 2;
  failed_as[slp_failure_number(&silent)] += 7;
  begin();
  stream("fine", (sloop_stats_t){0});
  all();
  CHECK(!strstr(slp_buf_z(&out), "sloop_call_errors_total"));
  CHECK_INT(lines("sloop_ready{stream=\"fine\"} 1"), 1);
  stream("orders", (sloop_stats_t){0});
  slp_sample_set_failures(&s, failed_as);
  CHECK_INT(slp_sample_set_stuck(&s, "s1 has failed"), 0);
  sloop_shard_stats_t shard = {
      .shard = "s1", .state = SLOOP_SHARD_FAILS, .state_ms = 4500, .acked_age_ms = 60};
  CHECK_INT(slp_sample_add_shard(&s, &shard), 0);
  all();
  CHECK_INT(lines("sloop_call_errors_total{stream=\"orders\",error=\"AccessDenied\"} 3"), 1);
  CHECK_INT(lines("sloop_call_errors_total{stream=\"orders\",error=\"other\"} 2"), 1);
  CHECK_INT(lines("sloop_call_errors_total{stream=\"orders\",error=\"no answer\"} 7"), 1);
  CHECK_INT(lines("# TYPE sloop_call_errors_total counter"), 1);
  CHECK_INT(lines("sloop_shard_state_seconds{stream=\"orders\",shard=\"s1\",state=\"failing\"} 4.5"), 1);
  CHECK_INT(lines("sloop_shard_acked_age_seconds{stream=\"orders\",shard=\"s1\"} 0.06"), 1);
  CHECK_INT(lines("sloop_ready{stream=\"orders\"} 0"), 1);
  end();
}

TEST(shards_belong_to_their_consumer) {
  begin();
  stream("empty", (sloop_stats_t){0});
  stream("one", (sloop_stats_t){0});
  CHECK_INT(slp_sample_add_shard(&s, &(sloop_shard_stats_t){"s1", 0, -1, 0, 0, 0}), 0);
  stream("none", (sloop_stats_t){0});
  stream("one", (sloop_stats_t){0});
  CHECK_INT(slp_sample_add_shard(&s, &(sloop_shard_stats_t){"s1", 0, 7, 0, 0, 0}), 0);
  CHECK_INT(slp_sample_add_shard(&s, &(sloop_shard_stats_t){"s2", 0, 8, 0, 0, 0}), 0);
  stream("last", (sloop_stats_t){0});
  all();
  CHECK_INT(lines("sloop_shard_unacked_records{stream=\"one\",shard=\"s1\"} 0"), 1);
  CHECK_INT(lines("sloop_shard_unacked_records{stream=\"one\",consumer=\"2\",shard=\"s1\"} 0"), 1);
  CHECK_INT(lines("sloop_shard_unacked_records{stream=\"one\",consumer=\"2\",shard=\"s2\"} 0"), 1);
  CHECK_INT(lines("sloop_shard_behind_seconds{stream=\"one\",consumer=\"2\",shard=\"s2\"} 0.008"), 1);
  CHECK(!strstr(slp_buf_z(&out), "sloop_shard_behind_seconds{stream=\"one\",shard=\"s1\"}")); /* not known */
  CHECK_INT(lines("# TYPE sloop_shard_paused gauge"), 1);
  CHECK_INT(lines("sloop_records_total{stream=\"last\"} 0"), 1);
  end();
}

TEST(nothing_to_tell) {
  begin();
  all();
  CHECK_INT(lines("# TYPE sloop_records_total counter"), 1);
  CHECK(!strstr(slp_buf_z(&out), "shard_") && !strstr(slp_buf_z(&out), "cloudwatch"));
  text(SIZE_MAX, (slp_metrics_own){1, 12, 3});
  CHECK_INT(lines("sloop_cloudwatch_data_total 12"), 1);
  CHECK_INT(lines("sloop_cloudwatch_failures_total 3"), 1);
  end();
}

TEST(slices_change_nothing) {
  begin();
  for (int i = 0; i < 5; i++) {
    stream("s", (sloop_stats_t){.records = (uint64_t)i});
    for (int k = 0; k < 50 * (i % 2); k++)
      CHECK_INT(slp_sample_add_shard(&s, &(sloop_shard_stats_t){"shard", 0, k - 1, 0, 0, 0}), 0);
  }
  char *whole = strdup(all());
  for (size_t n = 1; n < 300; n += 13) CHECK_STR(text(n, (slp_metrics_own){0}), whole);
  free(whole);
  slp_metrics_text t;
  slp_metrics_text_begin(&t, &s, &(slp_metrics_own){0}, &out);
  slp_buf_free(&out);
  slp_buf_init(&out, mem, 5000);
  CHECK_INT(slp_metrics_text_write(&t, SIZE_MAX), SLP_ELIMIT);
  end();
}

/* Of what is known by its lease table alone: only what means the same there, and what the table says. */
TEST(a_page_of_lease_tables) {
  slp_sample_table t = {.up = 1, .age_ms = 1500, .readings = 3, .failures = 1};
  t.leases[0] = (slp_sample_count){"owned", 2};
  t.lags[0] = (slp_sample_count){"read", 1};
  t.lags[1] = (slp_sample_count){"trimmed", 1};
  t.leases_n = 1;
  t.lags_n = 2;
  begin();
  CHECK_INT(slp_sample_add_table(&s, "app", "orders", 61000, -1, "", &t), 0);
  CHECK_INT(slp_sample_add_lease(&s, "shardId-0", 4, 61000), 0);
  CHECK_INT(slp_sample_add_lease(&s, "shardId-1", 0, -1), 0);
  t = (slp_sample_table){.age_ms = UINT64_MAX};
  CHECK_INT(slp_sample_add_table(&s, "other", "orders", -1, 2000, "not read yet", &t), 0);
  all();
#define OF "stream=\"orders\",app=\"app\""
#define OF_OTHER "stream=\"orders\",app=\"other\""
  static const char *const want[] = {"sloop_behind_seconds{" OF "} 61",
                                     "sloop_behind_unknown_seconds{" OF_OTHER "} 2",
                                     "sloop_shard_behind_seconds{" OF ",shard=\"shardId-0\"} 61",
                                     "sloop_shard_epoch{" OF ",shard=\"shardId-0\"} 4",
                                     "sloop_leases{" OF ",state=\"owned\"} 2",
                                     "sloop_lags{" OF ",lag=\"read\"} 1",
                                     "sloop_lags{" OF ",lag=\"trimmed\"} 1",
                                     "sloop_leases_up{" OF "} 1",
                                     "sloop_leases_up{" OF_OTHER "} 0",
                                     "sloop_leases_age_seconds{" OF "} 1.5",
                                     "sloop_leases_readings_total{" OF "} 3",
                                     "sloop_leases_failures_total{" OF "} 1",
                                     "sloop_build_info{" OF ",version=\"0.1.0\"} 1",
                                     "# TYPE sloop_leases_failures_total counter",
                                     "# TYPE sloop_lags gauge"};
  for (size_t i = 0; i < SLP_COUNT(want); i++)
    if (lines(want[i]) != 1) CHECK_FAIL("no %s in %s", want[i], slp_buf_z(&out));
  static const char *const none[] = {
      "sloop_ready", "sloop_records", "sloop_shard_paused",     "sloop_shard_at_tip",
      "shardId-1",   "sloop_calls",   ("age_seconds{" OF_OTHER)};
  for (size_t i = 0; i < SLP_COUNT(none); i++)
    if (strstr(slp_buf_z(&out), none[i])) CHECK_FAIL("%s in %s", none[i], slp_buf_z(&out));
  slp_buf whole;
  slp_buf_init(&whole, mem, 1 << 20);
  CHECK_INT(slp_buf_add(&whole, out.p, out.n), 0);
  for (size_t max = 1; max < 40; max++) {
    text(max, (slp_metrics_own){0});
    CHECK(out.n == whole.n && memcmp(out.p, whole.p, out.n) == 0);
  }
  slp_buf_free(&whole);
  end();
}

TEST(a_page_of_readers_says_nothing_of_tables) {
  begin();
  stream("orders", (sloop_stats_t){.records = 1});
  all();
  CHECK(!strstr(slp_buf_z(&out), "sloop_leases_up") && !strstr(slp_buf_z(&out), "sloop_lags") &&
        !strstr(slp_buf_z(&out), "sloop_workers"));
  end();
}
