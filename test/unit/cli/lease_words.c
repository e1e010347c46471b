/* lease_words.c - states, ages and lags in words. */
#include "cli/lease_words.h"
#include <stdlib.h>

#include "check.h"
#include "leases_sample.h"

TEST(each_lease_has_a_mood) {
  static const char *const want[] = {"owned", "owned", "dead", "free", "ended", "parked"};
  for (size_t i = 0; i < SLP_COUNT(want); i++)
    CHECK_STR(slp_lease_mood_word(slp_lease_mood_of(&sample_leases[i])), want[i]);
}

TEST(a_silent_owner_is_not_called_dead) {
  sloop_worker_t w = sample_workers[1];
  const sloop_worker_t *workers[] = {&w};
  sloop_leases_t all = {.workers = workers, .workers_n = 1};
  sloop_lease_t l = sample_leases[0];
  l.state = SLOOP_LEASE_OWNER_DEAD;
  CHECK_STR(slp_lease_mood_word(slp_lease_mood_in(&l, &all)), "silent");
  w.dead = 1; /* evicted */
  CHECK_STR(slp_lease_mood_word(slp_lease_mood_in(&l, &all)), "dead");
  all.workers_n = 0; /* its row is gone */
  CHECK_STR(slp_lease_mood_word(slp_lease_mood_in(&l, &all)), "dead");
}

TEST(workers_are_found_and_have_a_word) {
  for (size_t i = 0; i < sample.workers_n; i++)
    CHECK(slp_lease_worker(&sample, sample_workers[i].worker) == sample.workers[i]);
  CHECK(!slp_lease_worker(&sample, "") && !slp_lease_worker(&sample, "ip") &&
        !slp_lease_worker(&sample, "z"));
  CHECK_STR(slp_worker_word(&sample_workers[0], SAMPLE_NOW_MS), "dead");
  CHECK_STR(slp_worker_word(&sample_workers[1], SAMPLE_NOW_MS), "leads");
  CHECK_STR(slp_worker_word(&sample_workers[1], SAMPLE_NOW_MS + 5000), "leads");
  CHECK_STR(slp_worker_word(&sample_workers[1], SAMPLE_NOW_MS + 5001), "silent");
  CHECK_STR(slp_worker_word(&sample_workers[2], SAMPLE_NOW_MS), "works");
  sloop_worker_t w = sample_workers[2];
  w.leaving = 1;
  CHECK_STR(slp_worker_word(&w, SAMPLE_NOW_MS), "leaving");
  w.dead = 1;
  CHECK_STR(slp_worker_word(&w, SAMPLE_NOW_MS), "left");
  w = (sloop_worker_t){.written_at_ms = -1, .lease_ms = 1000};
  CHECK_STR(slp_worker_word(&w, SAMPLE_NOW_MS), "owns"); /* no row says whether it lives */
}

static const char *lag_of(const sloop_lease_t *l, int64_t now_ms) {
  static char out[24];
  slp_lease_lag_text(slp_lease_lag_of(l, &sample, now_ms), out);
  return out;
}

TEST(the_word_of_an_owner_counts_where_it_is_less) {
  CHECK_STR(lag_of(&sample_leases[0], SAMPLE_NOW_MS), "<94s"); /* told 90 s four seconds ago */
  CHECK_STR(lag_of(&sample_leases[1], SAMPLE_NOW_MS), "tip");  /* idle since: its owner is at the tip */
  CHECK_STR(lag_of(&sample_leases[2], SAMPLE_NOW_MS), "-");    /* its owner is dead */
  CHECK_STR(lag_of(&sample_leases[3], SAMPLE_NOW_MS), "-");
  CHECK_STR(lag_of(&sample_leases[4], SAMPLE_NOW_MS), "tip");
  sloop_lease_t l = sample_leases[1];
  l.behind_ms = -1;
  CHECK_STR(lag_of(&l, SAMPLE_NOW_MS), "tip");
}

TEST(what_a_row_tells_grows_old) {
  sloop_worker_t w = sample_workers[1]; /* whose worst is 90 s: that may be another shard */
  w.held = 2;
  const sloop_worker_t *workers[] = {&w};
  sloop_leases_t all = {.workers = workers, .workers_n = 1};
  sloop_lease_t l = sample_leases[0];
  l.written_at_ms = SAMPLE_NOW_MS - 20000;
  l.behind_ms = 0;
  CHECK_INT(slp_lease_lag_of(&l, &all, SAMPLE_NOW_MS).ms, 20000);
  CHECK_INT(slp_lease_lag_of(&l, &all, SAMPLE_NOW_MS).at_most, 1);
  l.written_at_ms = SAMPLE_NOW_MS - 3600000;
  CHECK_INT(slp_lease_lag_of(&l, &all, SAMPLE_NOW_MS).ms, 95000); /* the worker's row is five seconds old */
  CHECK_INT(slp_lease_lag_of(&l, &all, SAMPLE_NOW_MS).at_most, 1);
  CHECK_INT(slp_worker_lag_of(&w, SAMPLE_NOW_MS).ms, 95000);
  CHECK_INT(slp_worker_lag_of(&w, SAMPLE_NOW_MS).at_most, 1);
  w.behind_ms = 0;
  CHECK_INT(slp_lease_lag_of(&l, &all, SAMPLE_NOW_MS).ms, 0);
  CHECK_INT(slp_lease_lag_of(&l, &all, SAMPLE_NOW_MS).at_most, 0);
  CHECK_INT(slp_lease_lag_of(&l, &all, SAMPLE_NOW_MS + 1).ms, 5001); /* its next word is overdue */
  l.written_at_ms = SAMPLE_NOW_MS - 100; /* the lease was written later, and not at the tip */
  l.behind_ms = 1000;
  CHECK_INT(slp_lease_lag_of(&l, &all, SAMPLE_NOW_MS).ms, 1100);
  CHECK_INT(slp_lease_lag_of(&l, &all, SAMPLE_NOW_MS).at_most, 1);
  l.written_at_ms = SAMPLE_NOW_MS - 3600000;
  l.behind_ms = 0;
  CHECK_INT(slp_worker_lag_of(&w, SAMPLE_NOW_MS).ms, 0);
  CHECK_INT(slp_worker_lag_of(&w, SAMPLE_NOW_MS + 40000).ms, 45000);
  w.behind_ms = -1;
  CHECK_INT(slp_worker_lag_of(&w, SAMPLE_NOW_MS).ms, -1);
  CHECK_INT(slp_lease_lag_of(&l, &all, SAMPLE_NOW_MS).ms, 3600000);
  l.behind_ms = -1;
  CHECK_INT(slp_lease_lag_of(&l, &all, SAMPLE_NOW_MS).ms, -1);
  w.behind_ms = 90000;
  w.drained = 1; /* it reads no shard; the row still has the lag of the time when it did */
  CHECK_INT(slp_worker_lag_of(&w, SAMPLE_NOW_MS).ms, -1);
  w.drained = 0;
  w.dead = 1;
  w.behind_ms = 0;
  CHECK_INT(slp_worker_lag_of(&w, SAMPLE_NOW_MS).ms, -1);
  char out[24];
  slp_lease_lag_text((slp_lease_lag){178000, 1}, out); /* "at most 2m" would not be so */
  CHECK_STR(out, "<3m");
  slp_lease_lag_text((slp_lease_lag){4001, 1}, out);
  CHECK_STR(out, "<5s");
  slp_lease_lag_text((slp_lease_lag){180000, 1}, out);
  CHECK_STR(out, "<3m");
  slp_lease_lag_text((slp_lease_lag){178000, 0}, out);
  CHECK_STR(out, "2m");
  slp_lease_lag_text((slp_lease_lag){999, 1}, out);
  CHECK_STR(out, "<999ms");
}

static const char *span(int64_t ms) {
  static char out[24];
  memset(out, 'x', sizeof out);
  slp_span_text(ms, out);
  return out;
}

TEST(spans) {
  static const struct {
    int64_t ms;
    const char *want;
  } all[] = {{-1, "-"},
             {0, "0"},
             {999, "999ms"},
             {1000, "1s"},
             {119999, "119s"},
             {120000, "2m"},
             {7199999, "119m"},
             {7200000, "2h"},
             {172799999, "47h"},
             {172800000, "2d"},
             {INT64_MAX, "106751991167d"}};
  for (size_t i = 0; i < SLP_COUNT(all); i++) CHECK_STR(span(all[i].ms), all[i].want);
  char out[24];
  slp_lag_text(0, out);
  CHECK_STR(out, "tip");
  slp_lag_text(-1, out);
  CHECK_STR(out, "-");
  slp_age_text(1000, 4000, out);
  CHECK_STR(out, "3s");
  slp_age_text(4000, 1000, out);
  CHECK_STR(out, "0");
  slp_age_text(-1, 1000, out);
  CHECK_STR(out, "-");
}

TEST(rates) {
  static const struct {
    int64_t bytes;
    const char *want;
  } all[] = {{-1, "-"}, {0, "0"}, {999, "999B"}, {1000, "1kB"}, {999999, "999kB"}, {1000000, "1MB"}};
  char out[24];
  for (size_t i = 0; i < SLP_COUNT(all); i++) {
    slp_rate_text(all[i].bytes, out);
    CHECK_STR(out, all[i].want);
  }
}

TEST(a_line_about_leases_moves_no_terminal) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_buf b;
  slp_buf_init(&b, mem, 2000);
  slp_lease_say(&b, "owned by %s", "a\x1b[2J\xc2\x9b\xe2\x80\xae\xe2\x80\xa8\xe2\x81\xa6z");
  CHECK_STR(slp_buf_z(&b), "owned by a?[2J????z\n");
  slp_buf_clear(&b);
  slp_lease_say(&b, "%01500d", 7);
  CHECK_INT(b.n, 1024);
  slp_lease_say(&b, "%0999d", 7); /* the buffer has no room for it */
  CHECK(b.n == 1024 && !slp_buf_failed(&b));
  slp_buf_free(&b);
  slp_mem_drop(mem);
}

TEST(a_time_is_shown_to_people_as_a_time_and_to_programs_as_a_number) {
  char out[200];
  sloop_lease_t l = {.position = {.kind = SLOOP_AT_TIME, .at_ms = 1769861405123}};
  setenv("TZ", "CET-1", 1);
  slp_lease_position_text(&l, out);
  CHECK_STR(out, "time 2026-01-31T13:10:05.123+01:00");
  slp_position_text(&l.position, out);
  CHECK_STR(out, "time:1769861405123");
  l.position = (sloop_position_t){.kind = SLOOP_AFTER_SEQ, .seq = "42", .sub = UINT32_MAX};
  slp_lease_position_text(&l, out);
  CHECK_STR(out, "after 42");
}
