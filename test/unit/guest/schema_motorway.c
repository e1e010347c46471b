/* The layout of motorway's control table: rows as its workers write them, read; and every operation against one
 * row. What is written is compared attribute by attribute, for whoever reads it is not ours. */
#include "unit/schema_table.h"

#include "guest/guest_operations.h"
#include "lease/shard_set.h"

#define SEQ "49590338271490256608559692538361571095921575989136588898"
#define START "49590338271490256608559692538361571095921575989136588800"

static void begin_at(slp_position_kind kind, int64_t ms) {
  slp_position start = {.kind = kind, .at_ms = ms};
  mem = slp_mem_new(NULL, NULL);
  schema = slp_schema_motorway(mem, &start);
  table_begin();
}
static void begin(void) { begin_at(SLP_POSITION_OLDEST, 0); }

/* ---- reading ------------------------------------------------------------------------------------ */

TEST(rows_of_a_running_worker_are_read) {
  begin();
  READ(TEXT("shard_id", "shardId-000000000003"), TEXT("checkpoint", SEQ), TEXT("worker_id", "5b1c"),
       NUM("heartbeat", "8123"));
  const slp_lease_row *l = &parsed.u.lease;
  CHECK(parsed.kind == SLP_ROW_LEASE && slp_str_is(parsed.key.hash, "shardId-000000000003"));
  CHECK(slp_str_is(l->owner, "5b1c") && l->epoch == 8123 && !l->claim.n && !l->parents[0].n && !l->stranger);
  /* It may be the oldest that is not done: it comes again. */
  CHECK(l->position.kind == SLP_POSITION_AT && slp_str_is(slp_mark_seq(&l->position.mark), SEQ));
  READ(TEXT("shard_id", "s"), NUM("checkpoint", "0"), TEXT("worker_id", "5b1c"), NUM("heartbeat", "0"));
  CHECK(parsed.kind == SLP_ROW_LEASE && l->position.kind == SLP_POSITION_OLDEST && !l->epoch);
  table_end();
}

TEST(a_row_of_which_nothing_is_saved_begins_where_the_options_say) {
#define FRESH(...)                                                                                   \
  READ(TEXT("shard_id", "s"), NUM("checkpoint", "0"), TEXT("worker_id", "w"), NUM("heartbeat", "1"), \
       __VA_ARGS__)
  begin_at(SLP_POSITION_TIME, 1700000000123);
  FRESH(TEXT("x", "y"));
  CHECK(parsed.u.lease.position.kind == SLP_POSITION_TIME && parsed.u.lease.position.at_ms == 1700000000123);
  table_end();
  begin_at(SLP_POSITION_LATEST, 0);
  FRESH(TEXT("x", "y"));
  CHECK(parsed.kind == SLP_ROW_LEASE && parsed.u.lease.position.kind == SLP_POSITION_LATEST);
  slp_str parents[] = {S("p"), S("q")};
  FRESH({S("sloop_parents"), {.kind = SLP_VAL_SS, .items = parents, .n = 2}});
  CHECK(parsed.kind == SLP_ROW_LEASE && parsed.u.lease.position.kind == SLP_POSITION_OLDEST);
  CHECK(slp_str_is(parsed.u.lease.parents[0], "p") && slp_str_is(parsed.u.lease.parents[1], "q"));
  table_end();
}

TEST(what_its_own_attributes_add_holds_for_that_checkpoint_only) {
  begin();
#define AT_PLACE(seq, name, s)                                                                        \
  READ(TEXT("shard_id", "s"), TEXT("checkpoint", seq), TEXT("worker_id", "w"), NUM("heartbeat", "1"), \
       TEXT(name, s))
  AT_PLACE("7", "sloop_done", "7");
  CHECK(parsed.u.lease.position.kind == SLP_POSITION_AFTER && parsed.u.lease.position.mark.sub == UINT32_MAX);
  AT_PLACE("000000000000000000100", "sloop_done", "000000000000000000100");
  CHECK(parsed.u.lease.position.kind == SLP_POSITION_AFTER &&
        slp_str_is(slp_mark_seq(&parsed.u.lease.position.mark), "000000000000000000100"));
  AT_PLACE("8", "sloop_done", "7"); /* motorway has gone on, and 8 may not be done */
  CHECK(parsed.u.lease.position.kind == SLP_POSITION_AT &&
        slp_str_is(slp_mark_seq(&parsed.u.lease.position.mark), "8"));
  AT_PLACE("5", "sloop_oldest", "5");
  CHECK(parsed.u.lease.position.kind == SLP_POSITION_OLDEST);
  AT_PLACE("6", "sloop_oldest", "5");
  CHECK(parsed.u.lease.position.kind == SLP_POSITION_AT);
  AT_PLACE("6", "sloop_done", "SHARD_END");
  CHECK(parsed.u.lease.position.kind == SLP_POSITION_END);
  table_end();
}

TEST(rows_of_a_wrong_type_are_named) {
  begin();
#define BAD(word, ...)                                             \
  do {                                                             \
    READ(TEXT("shard_id", "s"), __VA_ARGS__);                      \
    CHECK(parsed.kind == SLP_ROW_BAD && strstr(parsed.why, word)); \
    CHECK(!parsed.foreign);                                        \
  } while (0)
  BAD("worker_id", NUM("worker_id", "1"), NUM("heartbeat", "1"), NUM("checkpoint", "0"));
  BAD("heartbeat", TEXT("worker_id", "w"), TEXT("heartbeat", "1"), NUM("checkpoint", "0"));
  BAD("heartbeat", TEXT("worker_id", "w"), NUM("heartbeat", "-1"), NUM("checkpoint", "0"));
  BAD("heartbeat", TEXT("worker_id", "w"), NUM("heartbeat", "1.5"), NUM("checkpoint", "0"));
  BAD("checkpoint", TEXT("worker_id", "w"), NUM("heartbeat", "1"), NUM("checkpoint", "5"));
  BAD("checkpoint", TEXT("worker_id", "w"), NUM("heartbeat", "1"), NIL("checkpoint"));
  BAD("checkpoint", TEXT("worker_id", "w"), NUM("heartbeat", "1"), TEXT("checkpoint", "SHARD_END"));
  BAD("checkpoint", TEXT("worker_id", "w"), NUM("heartbeat", "1"), TEXT("checkpoint", "12x"));
  BAD("sloop_done", TEXT("worker_id", "w"), NUM("heartbeat", "1"), NUM("checkpoint", "0"),
      NUM("sloop_done", "1"));
  BAD("sloop_oldest", TEXT("worker_id", "w"), NUM("heartbeat", "1"), NUM("checkpoint", "0"),
      NIL("sloop_oldest"));
  BAD("sloop_parents", TEXT("worker_id", "w"), NUM("heartbeat", "1"), NUM("checkpoint", "0"),
      TEXT("sloop_parents", "p"));
  READ(TEXT("leaseKey", "s"), TEXT("checkpoint", "5"));
  CHECK(parsed.kind == SLP_ROW_OTHER);
  char name[SLP_SHARD_ID_MAX + 80];
  memset(name, '7', sizeof name);
  slp_attr attrs[] = {TEXT("shard_id", "s"), TEXT("worker_id", ""), NUM("heartbeat", "1"),
                      NUM("checkpoint", "0")};
  attrs[1].val.s = (slp_str){name, 201};
  slp_row row = {attrs, 4};
  schema->read(schema, &row, &parsed);
  CHECK(parsed.kind == SLP_ROW_BAD && strstr(parsed.why, "worker_id"));
  attrs[1].val.s = S("w");
  attrs[0].val.s = (slp_str){name, SLP_SHARD_ID_MAX + 1};
  schema->read(schema, &row, &parsed);
  CHECK(parsed.kind == SLP_ROW_BAD && strstr(parsed.why, "shard"));
  table_end();
}

/* kcl-rb has the same key. */
TEST(a_row_without_what_each_has_is_another_systems) {
  begin();
  READ(TEXT("shard_id", "s"), TEXT("assigned_to", "w1"), TEXT("lease_timeout", "2026-11-21 00:24:35 UTC"),
       NIL("checkpoint"));
  CHECK(parsed.kind == SLP_ROW_BAD && parsed.foreign && strstr(parsed.why, "heartbeat"));
  READ(TEXT("shard_id", "s"), TEXT("worker_id", "w"), NUM("heartbeat", "4"));
  CHECK(parsed.kind == SLP_ROW_BAD && parsed.foreign);
  table_end();
}

/* ---- operations --------------------------------------------------------------------------------- */

TEST(a_lease_from_its_making_to_its_removal) {
  begin();
  slp_position oldest = {.kind = SLP_POSITION_OLDEST}, ten = after("10", UINT32_MAX);
  DO(.kind = SLP_OPERATION_CREATE, .shard = S("s"), .position = oldest, .parents = {S("p"), S("q")},
     .hash_start = S("0"), .hash_end = S("99"), .seq_start = S(START));
  CHECK_STR(row_text(), "checkpoint=S:" START " heartbeat=N:0 shard_id=S:s sloop_oldest=S:" START
                        " sloop_parents=SS:p,q worker_id=S:nobody");
  CHECK(parsed.u.lease.position.kind == SLP_POSITION_OLDEST && !parsed.u.lease.owner.n);
  CHECK(slp_str_is(parsed.u.lease.parents[0], "p") && slp_str_is(parsed.u.lease.parents[1], "q"));
  REFUSED(.kind = SLP_OPERATION_CREATE, .shard = S("s"), .position = oldest);
  REFUSED(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = S("a.1"), .epoch = 1);
  /* Above every tick that this worker wrote before. */
  DO(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = S("a.1"), .epoch_after = 40);
  CHECK(slp_str_is(parsed.u.lease.owner, "a.1") && parsed.u.lease.epoch == 40 && parsed.u.lease.unsaved);
  set_by_another("Extra", (slp_val){.kind = SLP_VAL_N, .s = S("1")});
  REFUSED(.kind = SLP_GUEST_RENEW, .shard = S("s"), .me = S("a.1"), .epoch = 39);
  REFUSED(.kind = SLP_GUEST_RENEW, .shard = S("s"), .me = S("b.1"), .epoch = 40);
  DO(.kind = SLP_GUEST_RENEW, .shard = S("s"), .me = S("a.1"), .epoch = 40);
  DO(.kind = SLP_OPERATION_CHECKPOINT, .shard = S("s"), .me = S("a.1"), .epoch = 41, .position = ten);
  CHECK_STR(row_text(),
            "Extra=N:1 checkpoint=S:10 heartbeat=N:42 shard_id=S:s sloop_done=S:10 "
            "sloop_parents=SS:p,q worker_id=S:a.1");
  REFUSED(.kind = SLP_OPERATION_CHECKPOINT, .shard = S("s"), .me = S("a.1"), .epoch = 41, .position = ten);
  slp_position eleven = after("11", UINT32_MAX);
  DO(.kind = SLP_OPERATION_RELEASE, .shard = S("s"), .me = S("a.1"), .epoch = 42, .position = eleven);
  CHECK_STR(row_text(),
            "Extra=N:1 checkpoint=S:11 heartbeat=N:43 shard_id=S:s sloop_done=S:11 "
            "sloop_parents=SS:p,q worker_id=S:nobody");
  DO(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = S("b.1"), .epoch = 43);
  DO(.kind = SLP_OPERATION_RETAKE, .shard = S("s"), .me = S("b.1"), .owner = S("b.1"), .epoch = 44);
  slp_position end = after("12", UINT32_MAX);
  end.kind = SLP_POSITION_END;
  DO(.kind = SLP_OPERATION_END, .shard = S("s"), .me = S("b.1"), .epoch = 45, .position = end);
  CHECK_STR(row_text(),
            "Extra=N:1 checkpoint=S:12 heartbeat=N:46 shard_id=S:s sloop_done=S:SHARD_END "
            "sloop_parents=SS:p,q worker_id=S:nobody");
  CHECK(parsed.u.lease.position.kind == SLP_POSITION_END);
  REFUSED(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = S("b.1"), .epoch = 46);
  DO(.kind = SLP_OPERATION_REMOVE, .shard = S("s"));
  CHECK(!table.n);
  table_end();
}

/* As a program of motorway's leaves it: its claim begins the tick anew and keeps the rest. */
TEST(a_lease_of_motorway_is_taken_and_goes_on) {
  begin();
  PUT(TEXT("shard_id", "s"), TEXT("checkpoint", "10"), TEXT("worker_id", "5b1c"), NUM("heartbeat", "0"),
      TEXT("sloop_done", "10"), TEXT("Extra", "1"));
  CHECK(parsed.u.lease.position.kind == SLP_POSITION_AFTER);
  REFUSED(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = S("a.1"), .owner = S("5b1d"));
  REFUSED(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = S("a.1"), .owner = S("5b1c"), .epoch = 1);
  DO(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = S("a.1"), .owner = S("5b1c"));
  CHECK_STR(row_text(),
            "Extra=S:1 checkpoint=S:10 heartbeat=N:1 shard_id=S:s sloop_done=S:10 sloop_taken=S:a.1 "
            "worker_id=S:a.1");
  slp_position none = {.kind = SLP_POSITION_NONE};
  DO(.kind = SLP_OPERATION_RESET, .shard = S("s"), .me = S("op"), .owner = S("a.1"), .epoch = 1,
     .position = none);
  CHECK_STR(row_text(),
            "Extra=S:1 checkpoint=S:10 heartbeat=N:2 shard_id=S:s sloop_done=S:10 worker_id=S:nobody");
  slp_position oldest = {.kind = SLP_POSITION_OLDEST};
  DO(.kind = SLP_OPERATION_RESET, .shard = S("s"), .me = S("op"), .epoch = 2, .position = oldest);
  CHECK_STR(row_text(), "Extra=S:1 checkpoint=N:0 heartbeat=N:3 shard_id=S:s worker_id=S:nobody");
  table_end();
}

TEST(positions_that_it_can_and_can_not_say) {
  slp_position at = {.kind = SLP_POSITION_AT}, end = {.kind = SLP_POSITION_END}, inside = after("5", 3);
  slp_position oldest = {.kind = SLP_POSITION_OLDEST}, latest = {.kind = SLP_POSITION_LATEST};
  slp_position time = {.kind = SLP_POSITION_TIME, .at_ms = 7};
  slp_mark_set(&at.mark, S("5"), 0, -1);
  begin_at(SLP_POSITION_LATEST, 0);
  DO(.kind = SLP_OPERATION_CREATE, .shard = S("s"), .position = latest, .parents = {S("p")});
  CHECK_STR(row_text(), "checkpoint=N:0 heartbeat=N:0 shard_id=S:s worker_id=S:nobody");
  CHECK(parsed.u.lease.position.kind == SLP_POSITION_LATEST);
  can_not(&(slp_operation){.kind = SLP_OPERATION_CREATE, .shard = S("t"), .position = oldest});
  can_not(&(slp_operation){.kind = SLP_OPERATION_CREATE, .shard = S("t"), .position = time});
  can_not(&(slp_operation){.kind = SLP_OPERATION_CREATE, .shard = S("t"), .position = inside});
  can_not(&(slp_operation){.kind = SLP_OPERATION_CLAIM, .shard = S("t")});
  table_end();
  begin_at(SLP_POSITION_TIME, 7);
  DO(.kind = SLP_OPERATION_CREATE, .shard = S("s"), .position = time);
  CHECK(slp_position_same(&parsed.u.lease.position, &time));
  table_end();
  begin();
  DO(.kind = SLP_OPERATION_CREATE, .shard = S("s"), .position = at, .epoch_first = 17);
  CHECK_STR(row_text(), "checkpoint=S:5 heartbeat=N:17 shard_id=S:s worker_id=S:nobody");
  CHECK(slp_position_same(&parsed.u.lease.position, &at));
  table_end();
  begin();
  DO(.kind = SLP_OPERATION_CREATE, .shard = S("s"), .position = end);
  CHECK_STR(row_text(),
            "checkpoint=N:0 heartbeat=N:0 shard_id=S:s sloop_done=S:SHARD_END worker_id=S:nobody");
  CHECK(parsed.u.lease.position.kind == SLP_POSITION_END);
  table_end();
}

TEST(its_table) {
  begin();
  CHECK_STR(spec.name, "leases");
  CHECK_STR(spec.hash_name, "shard_id");
  CHECK(!spec.range_name);
  table_end();
}
