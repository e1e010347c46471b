/* changes_orders.c - orders to tables' streams: what they take, what they refuse. */
#include "sandbox_changes.h"

TEST(tables) {
  bench t;
  sloop_sandbox_opts_t o = free_change_opts();
  bench_open(&t, &o);
  CHECK_INT(slp_box_table(t.box, T0, "tab", 0, "KEYS_ONLY"), SLP_EINVAL);
  CHECK_INT(slp_box_table(t.box, T0, "tab", 1000000, "KEYS_ONLY"), SLP_EINVAL);
  CHECK_INT(slp_box_table(t.box, T0, "tab", 3, "KEYS"), SLP_EINVAL);
  CHECK_INT(slp_box_table(t.box, T0, "tab", 3, "KEYS\xff"), SLP_EINVAL);
  CHECK_INT(slp_box_table(t.box, T0, "tab\xff", 3, "KEYS_ONLY"), SLP_EINVAL);
  CHECK(slp_changes_latest(t.box, SLP_STR("tab")) == NULL);
  CHECK_INT(slp_box_table(t.box, T0, "tab", 3, "KEYS_ONLY"), 0);
  CHECK_INT(slp_box_table(t.box, T0, "tab", 3, "KEYS_ONLY"), -EEXIST);
  slp_changes *s = slp_changes_latest(t.box, SLP_STR("tab"));
  CHECK(s->status == SLP_CHANGES_ENABLED);
  CHECK_INT(s->open_n, 3);
  CHECK_HAS(describe(&t, s, ""), "\"KeySchema\":[{\"AttributeName\":\"id\",\"KeyType\":\"HASH\"}]");
  bench_close(&t);
}

TEST(rolling) {
  bench t;
  slp_changes *s = open_table(&t, NULL, 2);
  CHECK_INT(slp_box_roll(t.box, T0, "none", 0), SLP_ENOENT);
  CHECK_INT(slp_box_roll(t.box, T0, "Tbl", 0), 0);
  CHECK_INT(s->shards_n, 4);
  CHECK_INT(slp_box_roll(t.box, T0, "Tbl", 1), 0);
  CHECK_INT(s->open_n, 4);
  slp_changes_stop(s, T0, 0);
  CHECK_INT(slp_box_roll(t.box, T0, "Tbl", 0), SLP_ENOENT);
  bench_close(&t);
}

TEST(trimming_reaches_every_stream_of_the_table) {
  bench t;
  slp_changes *s = open_table(&t, NULL, 1);
  CHECK_INT(slp_box_trim_table(t.box, T0, "none", T0), SLP_ENOENT);
  change(&t, "k", 1);
  slp_changes_stop(s, T0, 0);
  slp_changes_settle(t.box, T0);
  CHECK_INT(s->live, 1);
  t.now_ms += 100;
  slp_changes *second;
  CHECK_INT(slp_changes_new(t.box, t.now_ms, SLP_STR("Tbl"), SLP_STR("id"), (slp_str){NULL, 0}, SLP_VIEW_NEW,
                            &second),
            0);
  slp_changes_settle(t.box, t.now_ms);
  change(&t, "k", 2);
  CHECK_INT(slp_box_trim_table(t.box, t.now_ms, "Tbl", t.now_ms + 1), 0);
  CHECK_INT(s->live, 0);
  CHECK_INT(second->live, 4); /* these are open */
  slp_buf all;
  slp_buf_init(&all, t.mem, 1 << 20);
  for (uint32_t i = 0; i < second->shards_n; i++) read_shard_through(&t, second, second->shards[i]->id, &all);
  CHECK_LACKS(slp_buf_z(&all), "eventID");
  slp_buf_free(&all);
  bench_close(&t);
}

TEST(quirks) {
  bench t;
  slp_changes *s = open_table(&t, NULL, 1);
  static const char *const names[] = {"open-parents", "late-children", "empty-lists", "empty-gets",
                                      "child-filter", "split-every",   "keep-open"};
  for (size_t i = 0; i < SLP_COUNT(names); i++) {
    CHECK_INT(slp_box_quirk(t.box, "Tbl", names[i], (uint32_t)i + 1), 0);
    CHECK_INT(slp_box_quirk(t.box, "none", names[i], 1), SLP_ENOENT);
  }
  CHECK_INT(slp_box_quirk(t.box, "Tbl", "other", 1), SLP_EINVAL);
  const slp_change_quirks expect = {1, 2, 3, 4, 5, 6, 7}, none = {0};
  CHECK(memcmp(&s->quirks, &expect, sizeof expect) == 0);
  CHECK(memcmp(&t.box->changes_all->quirks, &none, sizeof none) == 0);
  CHECK_INT(slp_box_quirk(t.box, NULL, "empty-gets", 0), 0);
  CHECK_INT(s->quirks.empty_gets, 0);
  bench_close(&t);
}
