/* changes_table.c - what a table sees of its streams. */
#include "sandbox/ddb.h"
#include "sandbox_changes.h"

#define KEYS "{\"h\":{\"S\":\"a\"},\"r\":{\"N\":\"1\"}}"

static slp_table table_with_key(void) {
  static char name[] = "Music", hash[] = "h", range[] = "r";
  slp_table t = {.name = name};
  t.index[0].parts_n = 2;
  t.index[0].part[0] = (slp_key_part){.name = hash, .kind = SLP_AV_S};
  t.index[0].part[1] = (slp_key_part){.name = range, .kind = SLP_AV_N};
  return t;
}

static const char *description(bench *t, slp_table *table) {
  slp_box_call c = {.box = t->box, .now_ms = t->now_ms, .region = "us-west-2"};
  slp_buf_clear(&t->answer.body);
  slp_out_begin(&c.out, &t->answer.body, SLP_WIRE_JSON, 0);
  slp_out_map(&c.out);
  slp_changes_describe(&c, table);
  slp_out_end(&c.out);
  CHECK_INT(slp_out_failed(&c.out), 0);
  return slp_buf_z(&t->answer.body);
}

static int insert(bench *t, slp_table *table) {
  return slp_changes_add(t->box, table, t->now_ms, SLP_STR(KEYS), (slp_str){NULL, 0}, SLP_STR(KEYS), 0);
}

TEST(enabled_and_disabled_and_enabled_again) {
  bench t;
  sloop_sandbox_opts_t o = free_change_opts();
  o.change_ms = 50;
  bench_open(&t, &o);
  slp_table table = table_with_key();
  CHECK_STR(description(&t, &table), "{}");
  CHECK_INT(insert(&t, &table), 0); /* goes nowhere */
  CHECK_INT(slp_changes_enable(t.box, &table, t.now_ms, SLP_STR("no such view")), SLP_EINVAL);
  CHECK_STR(description(&t, &table), "{}");
  CHECK_INT(slp_changes_enable(t.box, &table, t.now_ms, SLP_STR("KEYS_ONLY")), 0);
  CHECK(table.stream_on);
  CHECK_STR(table.view_type, "KEYS_ONLY");
  CHECK_STR(description(&t, &table),
            "{\"StreamSpecification\":{\"StreamEnabled\":true,\"StreamViewType\":\"KEYS_ONLY\"},"
            "\"LatestStreamArn\":\"arn:aws:dynamodb:us-west-2:000000000000:table/Music/stream/"
            "2026-11-21T03:21:25.123\",\"LatestStreamLabel\":\"2026-11-21T03:21:25.123\"}");
  slp_changes *first = table.changes;
  first->partitions = 2;
  first->quirks.empty_gets = 3;
  CHECK_INT(insert(&t, &table), 0); /* before the stream is enabled: in no stream */
  t.now_ms += 50;
  CHECK_INT(insert(&t, &table), 0);
  CHECK_INT(first->shards_n, 2);
  CHECK_INT(first->shards[0]->next + first->shards[1]->next, 1);
  CHECK_HAS(describe(&t, first, ""),
            "\"KeySchema\":[{\"AttributeName\":\"h\",\"KeyType\":\"HASH\"},"
            "{\"AttributeName\":\"r\",\"KeyType\":\"RANGE\"}]");

  slp_changes_disable(t.box, &table, t.now_ms);
  CHECK(!table.stream_on);
  CHECK_STR(table.view_type, "");
  CHECK_LACKS(description(&t, &table), "StreamSpecification");
  CHECK_HAS(description(&t, &table), "LatestStreamArn"); /* the service names the last one still */
  t.now_ms += 50;
  CHECK_INT(insert(&t, &table), 0);
  CHECK_INT(first->shards[0]->next + first->shards[1]->next, 1);
  CHECK_HAS(describe(&t, first, ""), "\"StreamStatus\":\"DISABLED\"");

  CHECK_INT(slp_changes_enable(t.box, &table, t.now_ms, SLP_STR("NEW_IMAGE")), 0);
  CHECK(table.changes != first);
  CHECK_INT(table.changes->partitions, 2);
  CHECK_INT(table.changes->quirks.empty_gets, 3);
  CHECK_HAS(description(&t, &table), "2026-11-21T03:21:25.223");
  CHECK_HAS(describe(&t, first, ""), "\"StreamStatus\":\"DISABLED\""); /* both are there */
  t.now_ms += 24 * SLP_BOX_HOUR_MS;
  slp_changes_settle(t.box, t.now_ms);
  CHECK(slp_changes_latest(t.box, SLP_STR("Music")) == table.changes);
  CHECK(slp_list_first(&t.box->changes_all->streams) == &table.changes->link); /* the only one */
  slp_changes_table_gone(t.box, &table, t.now_ms);
  bench_close(&t);
}

TEST(a_held_stream_outlives_its_day) { /* the table still points to it */
  bench t;
  sloop_sandbox_opts_t o = free_change_opts();
  bench_open(&t, &o);
  slp_table table = table_with_key();
  CHECK_INT(slp_changes_enable(t.box, &table, t.now_ms, SLP_STR("OLD_IMAGE")), 0);
  slp_changes_disable(t.box, &table, t.now_ms);
  t.now_ms += 30 * SLP_BOX_HOUR_MS;
  CHECK_LACKS(call_changes(&t, "ListStreams", "{}"), "Music");
  CHECK_HAS(description(&t, &table), "LatestStreamArn");
  CHECK_INT(slp_changes_enable(t.box, &table, t.now_ms, SLP_STR("OLD_IMAGE")), 0);
  CHECK_HAS(call_changes(&t, "ListStreams", "{}"), "Music");
  bench_close(&t);
}

TEST(a_table_goes_and_its_stream_stays_a_day) {
  bench t;
  sloop_sandbox_opts_t o = free_change_opts();
  bench_open(&t, &o);
  slp_table table = table_with_key();
  CHECK_INT(slp_changes_enable(t.box, &table, t.now_ms, SLP_STR("NEW_AND_OLD_IMAGES")), 0);
  CHECK_INT(insert(&t, &table), 0);
  slp_changes *s = table.changes;
  slp_changes_table_gone(t.box, &table, t.now_ms);
  CHECK(table.changes == NULL);
  CHECK_HAS(describe(&t, s, ""), "\"StreamStatus\":\"DISABLED\"");
  int found = 0;
  for (uint32_t i = 0; i < s->shards_n; i++) {
    slp_buf all;
    slp_buf_init(&all, t.mem, 1 << 20);
    CHECK(read_shard_through(&t, s, s->shards[i]->id, &all));
    found += occurrences(slp_buf_z(&all), "eventID");
    slp_buf_free(&all);
  }
  CHECK_INT(found, 1);
  t.now_ms += 24 * SLP_BOX_HOUR_MS + 1;
  CHECK_STR(call_changes(&t, "ListStreams", "{}"), "{\"Streams\":[]}");
  bench_close(&t);
}
