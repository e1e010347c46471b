/* lease_readings.c - what a reading told, and what it tells later. */
#include "cli/lease_readings.h"

#include "check.h"
#include "leases_sample.h"
#include "scarce.h"

#define SECOND UINT64_C(1000000)
#define FRESH_MS 40000u

static scarce memory = {.left = -1};
static slp_mem *mem;
static slp_lease_readings r;

static void begin(void) {
  memory.left = -1;
  mem = slp_mem_new(scarce_alloc, &memory);
  slp_lease_readings_init(&r, mem, "app", "orders", FRESH_MS, 5 * SECOND);
}

static void end(void) {
  slp_lease_readings_free(&r);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

static slp_sample now_of(uint64_t now_us) {
  slp_sample s;
  slp_sample_init(&s, mem);
  CHECK_INT(slp_lease_readings_sample(&r, &s, now_us, 1), 0);
  CHECK_INT(s.consumers_n, 1);
  CHECK(s.of_tables && s.consumers[0].table.there);
  return s;
}

static sloop_lease_t lease(const char *shard, sloop_lag_t lag, int64_t behind_ms) {
  return (sloop_lease_t){.shard = shard,
                         .owner = "",
                         .claim = "",
                         .position = {.kind = SLOOP_OLDEST},
                         .parents = {"", ""},
                         .state = SLOOP_LEASE_FREE,
                         .epoch = 7,
                         .written_at_ms = -1,
                         .behind_ms = -1,
                         .lag = lag,
                         .read_behind_ms = behind_ms,
                         .read_at_ms = SAMPLE_NOW_MS};
}

TEST(before_the_first_reading_nothing_is_known) {
  begin();
  slp_sample s = now_of(8 * SECOND);
  const slp_sample_consumer *c = &s.consumers[0];
  CHECK(c->table.up == 0 && c->table.age_ms == UINT64_MAX && c->table.readings == 0);
  CHECK(c->stats.behind_ms_now == UINT64_MAX && c->stats.behind_unknown_ms_now == 3000);
  CHECK_STR(slp_sample_text(&s, c->stuck), "the leases of app have not been read yet");
  slp_sample_free(&s);
  end();
}

TEST(a_lag_grows_between_readings) {
  sloop_lease_t a = lease("a", SLOOP_LAG_READ, 0), b = lease("b", SLOOP_LAG_READ, 60000);
  const sloop_lease_t *both[] = {&a, &b};
  sloop_leases_t l = {.leases = both, .leases_n = 2};
  begin();
  CHECK_INT(slp_lease_readings_take(&r, &l, 10 * SECOND, SAMPLE_NOW_MS), 0);
  slp_sample s = now_of(10 * SECOND);
  CHECK(s.shards[0].behind_ms == 0 && s.shards[1].behind_ms == 60000 && s.shards[1].epoch == 7);
  CHECK(s.consumers[0].stats.behind_ms_now == 60000);
  CHECK(s.consumers[0].stats.behind_unknown_ms_now == UINT64_MAX);
  CHECK_STR(slp_sample_text(&s, s.consumers[0].stuck), "");
  slp_sample_free(&s);
  s = now_of(50 * SECOND);
  CHECK(s.shards[0].behind_ms == 0 && s.shards[1].behind_ms == 100000); /* the next one is not overdue */
  CHECK(s.consumers[0].stats.behind_ms_now == 100000 && s.consumers[0].table.age_ms == 40000);
  slp_sample_free(&s);
  s = now_of(51 * SECOND);
  CHECK(s.shards[0].behind_ms == 41000 && s.shards[1].behind_ms == 101000);
  slp_sample_free(&s);
  end();
}

TEST(a_reading_that_fails_leaves_the_last_one) {
  sloop_lease_t a = lease("a", SLOOP_LAG_READ, 60000);
  const sloop_lease_t *one[] = {&a};
  sloop_leases_t l = {.leases = one, .leases_n = 1};
  begin();
  CHECK_INT(slp_lease_readings_take(&r, &l, 10 * SECOND, SAMPLE_NOW_MS), 0);
  slp_lease_readings_failed(&r, "no permission");
  slp_sample s = now_of(20 * SECOND);
  const slp_sample_table *t = &s.consumers[0].table;
  CHECK(t->up == 0 && t->readings == 2 && t->failures == 1 && t->age_ms == 10000);
  CHECK_INT(s.shards[0].behind_ms, 70000);
  CHECK_STR(slp_sample_text(&s, s.consumers[0].stuck), "the leases of app could not be read: no permission");
  slp_sample_free(&s);
  for (int n = 0;; n++) { /* one without memory fails, too */
    memory.left = n;
    int bad = slp_lease_readings_take(&r, &l, 30 * SECOND, SAMPLE_NOW_MS);
    memory.left = -1;
    CHECK(r.failed == (bad != 0) && r.kept.shards_n == 1);
    if (!bad) break;
    CHECK_INT(bad, SLP_ENOMEM);
  }
  end();
}

TEST(what_is_not_known_makes_the_whole_unknown) {
  sloop_lease_t a = lease("a", SLOOP_LAG_READ, 60000), b = lease("b", SLOOP_LAG_TRIMMED, -1);
  sloop_lease_t ended = lease("c", SLOOP_LAG_UNASKED, -1), child = lease("d", SLOOP_LAG_READ, 90000);
  ended.position.kind = SLOOP_AT_END;
  const sloop_lease_t *all[] = {&a, &b, &ended}, *more[] = {&child};
  sloop_leases_t l = {.leases = all, .leases_n = 3, .unleased = more, .unleased_n = 1};
  begin();
  CHECK_INT(slp_lease_readings_take(&r, &l, 10 * SECOND, SAMPLE_NOW_MS), 0);
  slp_sample s = now_of(12 * SECOND);
  const slp_sample_table *t = &s.consumers[0].table;
  CHECK(s.consumers[0].stats.behind_ms_now == UINT64_MAX);
  CHECK_INT(s.consumers[0].stats.behind_unknown_ms_now, 7000); /* since it began: it was never known */
  CHECK_INT(s.shards_n, 3);
  CHECK_INT(s.shards[1].behind_ms, -1);
  CHECK(t->lags_n == 3 && t->leases_n == 3);
  CHECK_STR(t->lags[0].word, "read");
  CHECK_INT(t->lags[0].n, 2);
  CHECK_STR(t->lags[1].word, "trimmed");
  CHECK_STR(t->lags[2].word, "ended");
  CHECK_STR(t->leases[0].word, "free");
  CHECK_INT(t->leases[0].n, 2);
  CHECK_STR(t->leases[2].word, "unleased");
  slp_sample_free(&s);
  b = lease("b", SLOOP_LAG_READ, 0);
  CHECK_INT(slp_lease_readings_take(&r, &l, 20 * SECOND, SAMPLE_NOW_MS), 0);
  s = now_of(20 * SECOND);
  CHECK_INT(s.consumers[0].stats.behind_ms_now, 90000);
  slp_sample_free(&s);
  b = lease("b", SLOOP_LAG_FAILED, -1);
  CHECK_INT(slp_lease_readings_take(&r, &l, 30 * SECOND, SAMPLE_NOW_MS), 0);
  CHECK_INT(slp_lease_readings_take(&r, &l, 40 * SECOND, SAMPLE_NOW_MS), 0);
  s = now_of(41 * SECOND);
  CHECK_INT(s.consumers[0].stats.behind_unknown_ms_now, 11000);
  slp_sample_free(&s);
  l = (sloop_leases_t){.leases_n = 0}; /* no shard has a lease: nobody knows */
  CHECK_INT(slp_lease_readings_take(&r, &l, 50 * SECOND, SAMPLE_NOW_MS), 0);
  s = now_of(50 * SECOND);
  CHECK(s.consumers[0].stats.behind_ms_now == UINT64_MAX && s.shards_n == 0);
  CHECK_INT(s.consumers[0].stats.behind_unknown_ms_now, 20000);
  slp_sample_free(&s);
  l = (sloop_leases_t){.leases = all + 2, .leases_n = 1}; /* read to its end */
  CHECK_INT(slp_lease_readings_take(&r, &l, 60 * SECOND, SAMPLE_NOW_MS), 0);
  s = now_of(60 * SECOND);
  CHECK(s.consumers[0].stats.behind_ms_now == 0 && s.shards_n == 0);
  CHECK(s.consumers[0].stats.behind_unknown_ms_now == UINT64_MAX);
  slp_sample_free(&s);
  end();
}

TEST(workers_are_counted) {
  begin();
  CHECK_INT(slp_lease_readings_take(&r, &sample, 10 * SECOND, SAMPLE_NOW_MS), 0);
  slp_sample s = now_of(10 * SECOND);
  const slp_sample_table *t = &s.consumers[0].table;
  CHECK_INT(t->workers_n, 3);
  CHECK_STR(t->workers[0].word, "dead");
  CHECK_STR(t->workers[1].word, "leads");
  CHECK(s.consumers[0].stats.behind_ms_now == UINT64_MAX);
  slp_sample_free(&s);
  end();
}
