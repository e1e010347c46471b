/* When silence proves that a worker is dead: lease/silence.c. */
#include "lease/silence.h"

#include "check.h"

#define L UINT64_C(10000000)
#define NEVER UINT64_MAX

static int saw(slp_silence *s, uint64_t counter, uint64_t at_us, uint64_t trouble_us) {
  slp_sign sign = {.counter = counter};
  return slp_silence_saw(s, &sign, at_us, trouble_us);
}

static int saw_nothing(slp_silence *s, uint64_t at_us) {
  slp_sign sign = {.missing = 1, .counter = s->last.counter};
  return slp_silence_saw(s, &sign, at_us, 0);
}

TEST(a_worker_is_read_three_times) {
  slp_silence s = {.reads = 0};
  CHECK_INT(saw(&s, 7, 1000, 0), 1);
  CHECK_INT(saw(&s, 7, 2000, 0), 0);
  CHECK(slp_silence_of_worker_us(&s, L, 0) == NEVER);
  CHECK_INT(saw(&s, 7, 3000, 0), 0);
  CHECK(slp_silence_of_worker_us(&s, L, 0) == 1000 + L);
}

TEST(a_lease_and_a_missing_row_are_read_once) {
  slp_silence s = {.reads = 0};
  saw(&s, 7, 1000, 0);
  CHECK(slp_silence_dead_us(&s, 1, 3 * L, 0) == 1000 + 3 * L);
  CHECK_INT(saw_nothing(&s, 2000), 1);
  CHECK(slp_silence_of_worker_us(&s, L, 0) == 2000 + L);
  CHECK_INT(saw_nothing(&s, 3000), 0);
  CHECK(slp_silence_of_worker_us(&s, L, 0) == 2000 + L);
}

TEST(any_change_begins_anew) {
  slp_silence s = {.reads = 0};
  for (uint64_t at = 1000; at <= 3000; at += 1000) saw(&s, 7, at, 0);
  CHECK_INT(saw(&s, 6, 4000, 0), 1); /* turned back is moved as well */
  CHECK(slp_silence_of_worker_us(&s, L, 0) == NEVER);
  CHECK(slp_silence_dead_us(&s, 1, L, 0) == 4000 + L);
  saw_nothing(&s, 5000);
  CHECK_INT(saw(&s, 6, 6000, 0), 1); /* it is there again */
  CHECK(slp_silence_of_worker_us(&s, L, 0) == NEVER);
}

TEST(silence_counts_from_behind_the_readers_own_trouble) {
  slp_silence s = {.reads = 0};
  for (uint64_t at = 1000; at <= 3000; at += 1000) saw(&s, 7, at, 0);
  CHECK(slp_silence_of_worker_us(&s, L, 3500) == NEVER); /* nothing was read since */
  CHECK(slp_silence_dead_us(&s, 1, L, 3500) == NEVER);
  CHECK_INT(saw(&s, 7, 4000, 3500), 0);
  CHECK(slp_silence_dead_us(&s, 1, L, 3500) == 4000 + L);
  CHECK(slp_silence_of_worker_us(&s, L, 3500) == NEVER);
  saw(&s, 7, 5000, 3500);
  saw(&s, 7, 6000, 3500);
  CHECK(slp_silence_of_worker_us(&s, L, 3500) == 4000 + L);
}

TEST(what_was_never_read_proves_nothing) {
  slp_silence s = {.reads = 0};
  CHECK(slp_silence_dead_us(&s, 1, L, 0) == NEVER);
  CHECK(slp_silence_of_worker_us(&s, L, 0) == NEVER);
}

/* Trouble begins a silence anew, and is no sign of life. */
TEST(only_another_sign_is_a_move) {
  slp_silence s = {.reads = 0};
  saw(&s, 7, 1000, 0);
  CHECK(s.moved_us == 0 && s.since_us == 1000);
  saw(&s, 7, 5000, 4000);
  CHECK(s.moved_us == 0 && s.since_us == 5000);
  saw(&s, 8, 6000, 4000);
  CHECK(s.moved_us == 6000 && s.since_us == 6000);
}
