/* changes_records.c - a change is kept in the shard of its partition key, with the images its view
 * has. */
#include "sandbox_changes.h"

#define KEYS "{\"id\":{\"S\":\"a\"}}"
#define WAS "{\"id\":{\"S\":\"a\"},\"v\":{\"N\":\"1\"}}"
#define IS "{\"id\":{\"S\":\"a\"},\"v\":{\"N\":\"2\"},\"w\":{\"S\":\"x\"}}"

static const slp_change *only_change(const slp_changes *s) {
  const slp_change *found = NULL;
  for (uint32_t i = 0; i < s->shards_n; i++) {
    const slp_change_shard *sh = s->shards[i];
    for (uint64_t k = sh->first; k < sh->next; k++) {
      CHECK(found == NULL);
      found = slp_change_at(sh, k);
    }
  }
  CHECK(found != NULL);
  return found;
}

TEST(each_view_keeps_its_images) {
  static const struct {
    const char *view;
    int keeps_old, keeps_new;
  } views[] = {{"KEYS_ONLY", 0, 0}, {"NEW_IMAGE", 0, 1}, {"OLD_IMAGE", 1, 0}, {"NEW_AND_OLD_IMAGES", 1, 1}};
  for (size_t i = 0; i < SLP_COUNT(views); i++) {
    bench t;
    sloop_sandbox_opts_t o = free_change_opts();
    bench_open(&t, &o);
    CHECK_INT(slp_box_table(t.box, T0, "Tbl", 4, views[i].view), 0);
    CHECK_INT(slp_box_add_change(t.box, T0, "Tbl", SLP_STR(KEYS), SLP_STR(WAS), SLP_STR(IS), 0), 0);
    const slp_change *c = only_change(slp_changes_latest(t.box, SLP_STR("Tbl")));
    CHECK(c->has_old && c->has_new); /* a change of an item, whatever is kept of it */
    CHECK_INT(c->keys_n, strlen(KEYS));
    CHECK_INT(c->old_n, views[i].keeps_old ? strlen(WAS) : 0);
    CHECK_INT(c->new_n, views[i].keeps_new ? strlen(IS) : 0);
    CHECK_INT(c->size, 3 + (views[i].keeps_old ? 6 : 0) + (views[i].keeps_new ? 8 : 0));
    CHECK(memcmp(c->bytes, KEYS, c->keys_n) == 0);
    CHECK(memcmp(c->bytes + c->keys_n, WAS, c->old_n) == 0);
    CHECK(memcmp(c->bytes + c->keys_n + c->old_n, IS, c->new_n) == 0);
    bench_close(&t);
  }
}

TEST(a_key_stays_in_its_lineage) {
  bench t;
  slp_changes *s = open_table(&t, NULL, 4);
  uint32_t in_lineage[4] = {0};
  for (int round = 0; round < 5; round++) {
    for (int i = 0; i < 40; i++) {
      char key[20];
      snprintf(key, sizeof key, "key-%d", i);
      change(&t, key, round);
    }
    CHECK_INT(slp_box_roll(t.box, ++t.now_ms, "Tbl", 0), 0);
  }
  for (uint32_t i = 0; i < 4; i++) {
    const slp_change_shard *sh = s->shards[i];
    uint64_t each = sh->next;
    for (int round = 0; round < 5; round++) {
      CHECK_INT(sh->next, each); /* the same keys in every generation */
      CHECK_INT(sh->child_n, 1);
      in_lineage[i] += (uint32_t)sh->next;
      sh = s->shards[sh->child[0]];
    }
    CHECK(in_lineage[i] > 0);
  }
  CHECK_INT(in_lineage[0] + in_lineage[1] + in_lineage[2] + in_lineage[3], 200);
  bench_close(&t);
}

TEST(numbers_and_bytes_are_keys_too) {
  bench t;
  slp_changes *s = open_table(&t, NULL, 1);
  CHECK_INT(slp_box_add_change(t.box, T0, "Tbl", SLP_STR("{\"id\":{\"N\":\"7\"}}"), (slp_str){NULL, 0},
                               SLP_STR("{}"), 0),
            0);
  CHECK_INT(slp_box_add_change(t.box, T0, "Tbl", SLP_STR("{\"id\":{\"B\":\"aGk=\"}}"), SLP_STR("{}"),
                               (slp_str){NULL, 0}, 1),
            0);
  CHECK_INT(s->shards[0]->next, 2);
  CHECK(!slp_change_at(s->shards[0], 0)->has_old && slp_change_at(s->shards[0], 0)->has_new);
  CHECK(slp_change_at(s->shards[0], 1)->has_old && slp_change_at(s->shards[0], 1)->by_ttl);
  bench_close(&t);
}

TEST(what_is_no_change_is_refused_and_leaves_nothing) {
  bench t;
  slp_changes *s = open_table(&t, NULL, 1);
  slp_str none = {NULL, 0};
  static const char *const bad[] = {
      "", "[]", "{\"other\":{\"S\":\"a\"}}", "{\"id\":\"a\"}", "{\"id\":{}}", "{\"id\""};
  for (size_t i = 0; i < SLP_COUNT(bad); i++) {
    CHECK_INT(slp_box_add_change(t.box, T0, "Tbl", slp_str_of(bad[i]), none, SLP_STR(IS), 0), SLP_EINVAL);
  }
  CHECK_INT(slp_box_add_change(t.box, T0, "Tbl", SLP_STR(KEYS), none, SLP_STR("{"), 0), SLP_EINVAL);
  CHECK_INT(slp_box_add_change(t.box, T0, "Tbl", SLP_STR(KEYS), none, none, 0), SLP_EINVAL);
  CHECK_INT(slp_box_add_change(t.box, T0, "none", SLP_STR(KEYS), none, SLP_STR(IS), 0), SLP_ENOENT);
  CHECK_INT(s->shards[0]->next, 0);
  bench_close(&t);
}

TEST(old_changes_are_dropped_from_the_front) {
  bench t;
  slp_changes *s = open_table(&t, NULL, 1);
  for (int i = 0; i < 1000; i++) {
    change(&t, "k", i);
    t.now_ms += 10;
  }
  const slp_change_shard *sh = s->shards[0];
  CHECK_INT(slp_box_trim_table(t.box, t.now_ms, "Tbl", T0 + 9000), 0);
  CHECK_INT(sh->first, 900);
  CHECK_INT(sh->next, 1000);
  CHECK_INT(slp_change_at(sh, 900)->at_ms, T0 + 9000);
  change(&t, "k", 1000);
  CHECK_INT(slp_change_at(sh, 1000)->at_ms, t.now_ms);
  CHECK_INT(slp_box_trim_table(t.box, t.now_ms, "Tbl", t.now_ms + 1), 0);
  CHECK_INT(sh->first, 1001);
  bench_close(&t);
}
