/* changes_shards.c - shards are born, roll over and fade; the open ones always cover every key once.
 */
#include "sandbox_changes.h"

static void check_cover(const slp_changes *s, uint32_t open) {
  slp_u128 covered = {0, 0};
  CHECK_INT(s->open_n, open);
  for (uint32_t i = 0; i < s->open_n; i++) {
    const slp_change_shard *sh = s->shards[s->open[i]];
    CHECK(slp_change_open(sh) && slp_u128_cmp(sh->hash_start, sh->hash_end) <= 0);
    covered = slp_u128_add(covered, slp_u128_sub(sh->hash_end, sh->hash_start));
    covered = slp_u128_add(covered, SLP_U128(1));
    CHECK(slp_change_shard_for(s, sh->hash_start) == sh);
    CHECK(slp_change_shard_for(s, sh->hash_end) == sh);
  }
  CHECK(slp_u128_eq(covered, SLP_U128(0))); /* 2^128 */
}

static void check_lineage(const slp_changes *s) {
  char end[SLP_CHANGE_NUMBER_TEXT], start[SLP_CHANGE_NUMBER_TEXT];
  for (uint32_t i = 0; i < s->shards_n; i++) {
    const slp_change_shard *sh = s->shards[i];
    CHECK_INT(sh->index, i);
    CHECK_INT(strlen(sh->id), 37);
    if (i) CHECK(strcmp(s->shards[i - 1]->id, sh->id) < 0); /* the order of a listing */
    CHECK(slp_change_open(sh) == (sh->child_n == 0));
    slp_change_end_text(sh, end);
    for (uint32_t k = 0; k < sh->child_n; k++) {
      const slp_change_shard *child = s->shards[sh->child[k]];
      CHECK_STR(child->parent, sh->id);
      CHECK(child->born_ms >= sh->closed_ms);
      slp_change_start_text(child, start);
      CHECK(strlen(end) < strlen(start) || (strlen(end) == strlen(start) && strcmp(end, start) < 0));
    }
  }
}

TEST(any_number_of_partitions_covers_all_keys) {
  static const uint32_t counts[] = {1, 2, 3, 7, 16, 1000};
  for (size_t i = 0; i < SLP_COUNT(counts); i++) {
    bench t;
    slp_changes *s = open_table(&t, NULL, counts[i]);
    check_cover(s, counts[i]);
    check_lineage(s);
    bench_close(&t);
  }
}

TEST(rolling_over_keeps_the_cover_and_the_lineage) {
  bench t;
  slp_changes *s = open_table(&t, NULL, 3);
  for (int i = 0; i < 10; i++) {
    t.now_ms += i % 3; /* several births in one millisecond too */
    CHECK_INT(slp_box_roll(t.box, t.now_ms, "Tbl", 0), 0);
    check_cover(s, 3);
  }
  CHECK_INT(s->shards_n, 33);
  CHECK_INT(slp_box_roll(t.box, t.now_ms, "Tbl", 1), 0);
  check_cover(s, 6);
  CHECK_INT(slp_box_roll(t.box, t.now_ms, "Tbl", 1), 0);
  check_cover(s, 12);
  check_lineage(s);
  bench_close(&t);
}

/* Found by fuzzing: each split went through all open shards for each of them, and there was no end to it. */
TEST(splits_by_hand_end_at_a_hundred_thousand_shards) {
  bench t;
  slp_changes *s = open_table(&t, NULL, 1);
  for (int i = 0; i < 40; i++) CHECK_INT(slp_box_roll(t.box, t.now_ms, "Tbl", 1), 0);
  CHECK(s->live >= SLP_CHANGE_SHARDS_MAX && s->live <= SLP_CHANGE_SHARDS_MAX + 1);
  for (uint32_t i = 0; i < s->open_n; i++) CHECK_INT(s->shards[s->open[i]]->open_at, i);
  bench_close(&t);
}

TEST(a_shard_of_one_hash_does_not_split) {
  bench t;
  slp_changes *s = open_table(&t, NULL, 1);
  slp_change_shard *sh = s->shards[0];
  sh->hash_start = sh->hash_end = SLP_U128(5);
  CHECK_INT(slp_change_roll(t.box, s, sh, t.now_ms, 2), 0);
  CHECK_INT(sh->child_n, 1);
  CHECK_INT(s->open_n, 1);
  bench_close(&t);
}

TEST(time_rolls_shards_over_but_not_all_at_once) {
  bench t;
  sloop_sandbox_opts_t o = free_change_opts();
  o.roll_ms = 4 * 3600000;
  slp_changes *s = open_table(&t, &o, 8);
  t.now_ms += 4 * 3600000 * INT64_C(3) / 4;
  slp_changes_settle(t.box, t.now_ms);
  CHECK_INT(s->shards_n, 8);
  t.now_ms = T0 + 4 * 3600000;
  CHECK_INT(slp_box_quirk(t.box, "Tbl", "keep-open", 1), 0);
  slp_changes_settle(t.box, t.now_ms);
  CHECK_INT(s->shards_n, 8);
  CHECK_INT(slp_box_quirk(t.box, "Tbl", "keep-open", 0), 0);
  slp_changes_settle(t.box, t.now_ms);
  CHECK(s->shards_n > 8 && s->shards_n < 16);
  t.now_ms = T0 + 4 * 3600000 * INT64_C(5) / 4 + 2;
  slp_changes_settle(t.box, t.now_ms);
  CHECK_INT(s->shards_n, 16);
  check_cover(s, 8);
  check_lineage(s);
  for (uint32_t i = 8; i < 16; i++) CHECK(s->shards[i]->born_ms > T0 && s->shards[i]->born_ms <= t.now_ms);
  bench_close(&t);
}

TEST(every_nth_rollover_splits) {
  bench t;
  sloop_sandbox_opts_t o = free_change_opts();
  o.roll_ms = 1000;
  slp_changes *s = open_table(&t, &o, 2);
  CHECK_INT(slp_box_quirk(t.box, "Tbl", "split-every", 3), 0);
  for (int i = 0; i < 200 && s->rolls < 6; i++) {
    t.now_ms += 50;
    slp_changes_settle(t.box, t.now_ms);
  }
  CHECK_INT(s->open_n, 2 + s->rolls / 3);
  check_cover(s, s->open_n);
  check_lineage(s);
  bench_close(&t);
}

TEST(splits_end_at_a_thousand_open_shards) { /* two to the 32nd would come of a jump */
  bench t;
  sloop_sandbox_opts_t o = free_change_opts();
  o.roll_ms = 1000;
  slp_changes *s = open_table(&t, &o, 1);
  CHECK_INT(slp_box_quirk(t.box, "Tbl", "split-every", 1), 0);
  for (int i = 0; i < 20; i++) {
    t.now_ms += 1300;
    slp_changes_settle(t.box, t.now_ms);
  }
  CHECK_INT(s->open_n, 1000);
  check_cover(s, 1000);
  t.now_ms += SLP_BOX_HOUR_MS;
  slp_changes_settle(t.box, t.now_ms);
  CHECK_INT(s->open_n, 1000);
  bench_close(&t);
}

TEST(a_jump_of_the_clock_makes_few_generations) {
  bench t;
  sloop_sandbox_opts_t o = free_change_opts();
  o.roll_ms = 100;
  slp_changes *s = open_table(&t, &o, 4);
  change(&t, "before", 1);
  t.now_ms += 25 * SLP_BOX_HOUR_MS;
  slp_changes_settle(t.box, t.now_ms);
  CHECK(s->shards_n > 4 * 20 && s->shards_n < 4 * 50);
  check_cover(s, 4);
  CHECK_INT(s->live, s->shards_n); /* the first ones were open all the time */
  for (uint32_t i = 0; i < 4; i++) CHECK(s->shards[i]->first == s->shards[i]->next);
  for (uint32_t i = 0; i < s->open_n; i++) CHECK(t.now_ms - s->shards[s->open[i]]->born_ms <= 125);
  bench_close(&t);
}

TEST(closed_and_empty_shards_fade_after_a_day) {
  bench t;
  slp_changes *s = open_table(&t, NULL, 1);
  change(&t, "a", 1);
  t.now_ms += 1000;
  CHECK_INT(slp_box_roll(t.box, t.now_ms, "Tbl", 0), 0);
  t.now_ms += 20 * SLP_BOX_HOUR_MS;
  CHECK_INT(slp_box_roll(t.box, t.now_ms, "Tbl", 0), 0);
  CHECK_INT(s->live, 3);
  t.now_ms =
      T0 + 24 * SLP_BOX_HOUR_MS; /* the record is just a day old, and its shard closed a second later */
  slp_changes_settle(t.box, t.now_ms);
  CHECK_INT(s->live, 3);
  t.now_ms += 1000;
  slp_changes_settle(t.box, t.now_ms);
  CHECK_INT(s->live, 2);
  CHECK(s->shards[0] == NULL);
  CHECK(s->shards[1]->parent[0] != 0); /* its parent is still named */
  t.now_ms += 48 * SLP_BOX_HOUR_MS;
  slp_changes_settle(t.box, t.now_ms);
  CHECK_INT(s->live, 1); /* an open shard never fades */
  check_cover(s, 1);
  bench_close(&t);
}
