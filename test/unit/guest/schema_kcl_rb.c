/* The layout of kcl-rb's table: rows as its worker writes them, read; and every operation against one row. What
 * is written is compared attribute by attribute: what is free, kcl-rb is to go on with. */
#include "unit/schema_table.h"

#include "guest/guest_operations.h"
#include "lease/shard_set.h"

#define SEQ "49590338271490256608559692538361571095921575989136588898"
#define T1 "2026-11-21 00:24:35 UTC"
#define S1 UINT64_C(1795220675)
#define ME S("a.0123456789abcdef")
#define OTHER S("b.0123456789abcdef")

static void begin(void) {
  mem = slp_mem_new(NULL, NULL);
  schema = slp_schema_kcl_rb(mem);
  table_begin();
}

/* ---- reading ------------------------------------------------------------------------------------ */

TEST(rows_of_its_worker_are_read) {
  begin();
  const slp_lease_row *l = &parsed.u.lease;
  READ(TEXT("shard_id", "s"), TEXT("assigned_to", "w1"), TEXT("lease_timeout", T1), NIL("checkpoint"));
  CHECK(parsed.kind == SLP_ROW_LEASE && slp_str_is(l->owner, "w1") && l->epoch == S1);
  CHECK(l->position.kind == SLP_POSITION_OLDEST && l->stranger);
  uint64_t sign = l->stranger;
  /* A checkpoint that it saves while it has a lease is a sign of it; that of a free one may be ours. */
  READ(TEXT("shard_id", "s"), TEXT("assigned_to", "w1"), TEXT("lease_timeout", T1), TEXT("checkpoint", SEQ));
  CHECK(l->position.kind == SLP_POSITION_AFTER && l->stranger && l->stranger != sign);
  READ(TEXT("shard_id", "s"), TEXT("lease_timeout", T1), TEXT("checkpoint", SEQ));
  sign = l->stranger;
  CHECK(parsed.kind == SLP_ROW_LEASE && !l->owner.n && !l->epoch && sign);
  READ(TEXT("shard_id", "s"), TEXT("lease_timeout", T1), TEXT("checkpoint", "7"));
  CHECK(l->stranger == sign);
  READ(TEXT("shard_id", "s"), TEXT("lease_timeout", "2026-11-21 00:24:36 UTC"), TEXT("checkpoint", SEQ));
  CHECK(l->stranger && l->stranger != sign);
  READ(TEXT("shard_id", "s"), NIL("assigned_to"), TEXT("lease_timeout", ""), TEXT("checkpoint", "SHARD_END"));
  CHECK(parsed.kind == SLP_ROW_LEASE && !l->owner.n && l->position.kind == SLP_POSITION_END && !l->stranger);
  READ(TEXT("shard_id", "s"), TEXT("parent_shard_id", "p"));
  CHECK(parsed.kind == SLP_ROW_LEASE && slp_str_is(l->parents[0], "p") && !l->parents[1].n);
  CHECK(l->position.kind == SLP_POSITION_OLDEST);
  table_end();
}

TEST(a_parked_lease_is_read) {
  begin();
  const slp_lease_row *l = &parsed.u.lease;
  READ(TEXT("shard_id", "s"), TEXT("lease_timeout", T1), TEXT("checkpoint", "SHARD_END"),
       TEXT("sloop_owner", "a.0123456789abcdef"), NUM("sloop_counter", "8"), TEXT("sloop_checkpoint", SEQ));
  CHECK(parsed.kind == SLP_ROW_LEASE && slp_str_is(l->owner, "a.0123456789abcdef") && l->epoch == 8 &&
        !l->stranger);
  CHECK(l->position.kind == SLP_POSITION_AFTER && slp_str_is(slp_mark_seq(&l->position.mark), SEQ));
  READ(TEXT("shard_id", "s"), TEXT("checkpoint", "SHARD_END"), TEXT("sloop_owner", "a.0123456789abcdef"),
       TEXT("sloop_checkpoint", "000000000000000000100"));
  CHECK(slp_str_is(slp_mark_seq(&l->position.mark), "000000000000000000100"));
  READ(TEXT("shard_id", "s"), TEXT("checkpoint", "SHARD_END"), TEXT("sloop_owner", "a.0123456789abcdef"));
  CHECK(parsed.kind == SLP_ROW_LEASE && l->position.kind == SLP_POSITION_OLDEST);
  READ(TEXT("shard_id", "s"), TEXT("sloop_checkpoint", "AT_TIMESTAMP:1700000000123"));
  CHECK(l->position.kind == SLP_POSITION_TIME && l->position.at_ms == 1700000000123);
  READ(TEXT("shard_id", "s"), TEXT("sloop_checkpoint", "LATEST"));
  CHECK(l->position.kind == SLP_POSITION_LATEST);
  table_end();
}

TEST(rows_that_make_no_sense_are_named) {
  begin();
#define BAD(word, ...)                                             \
  do {                                                             \
    READ(TEXT("shard_id", "s"), __VA_ARGS__);                      \
    CHECK(parsed.kind == SLP_ROW_BAD && strstr(parsed.why, word)); \
    CHECK(!parsed.foreign);                                        \
  } while (0)
  BAD("assigned_to", NUM("assigned_to", "1"));
  BAD("lease_timeout", NUM("lease_timeout", "1700000000"));
  BAD("lease_timeout", TEXT("lease_timeout", "2026-11-21T00:24:35Z"));
  BAD("lease_timeout", TEXT("lease_timeout", "2026-11-21 00:24:35 +0000"));
  BAD("lease_timeout", TEXT("assigned_to", "w1"));
  BAD("lease_timeout", TEXT("assigned_to", "w1"), TEXT("lease_timeout", ""));
  BAD("checkpoint", NUM("checkpoint", "5"));
  BAD("checkpoint", TEXT("checkpoint", "TRIM_HORIZON"));
  BAD("checkpoint", TEXT("checkpoint", "LATEST"));
  BAD("checkpoint", TEXT("sloop_checkpoint", "AT_TIMESTAMP:x"));
  BAD("parent_shard_id", NUM("parent_shard_id", "1"));
  BAD("sloop_owner", NIL("sloop_owner"));
  BAD("sloop_counter", TEXT("sloop_counter", "1"));
  BAD("sloop_counter", NUM("sloop_counter", "-1"));
  BAD("sloop_checkpoint", NIL("sloop_checkpoint"));
  BAD("parked", TEXT("sloop_owner", "a.0123456789abcdef"), TEXT("checkpoint", "5"));
  BAD("both", TEXT("sloop_owner", "a.0123456789abcdef"), TEXT("assigned_to", "w"), TEXT("lease_timeout", T1),
      TEXT("checkpoint", "SHARD_END"));
  /* No condition of a take could hold. */
  BAD("checkpoint", TEXT("sloop_checkpoint", SEQ));
  BAD("sloop_owner", TEXT("sloop_owner", "w"), TEXT("checkpoint", "SHARD_END"));
  BAD("sloop_owner", TEXT("sloop_owner", ""));
  BAD("assigned_to", TEXT("assigned_to", ""));
  BAD("assigned_to", TEXT("assigned_to", "a.0123456789abcdef"), TEXT("lease_timeout", T1));
  READ(TEXT("ShardID", "s"), TEXT("Checkpoint", "5"));
  CHECK(parsed.kind == SLP_ROW_OTHER);
  READ(TEXT("shard_id", "s"), NUM("checkpoint", "0"), TEXT("worker_id", "w"), NUM("heartbeat", "1"));
  CHECK(parsed.kind == SLP_ROW_BAD && parsed.foreign && strstr(parsed.why, "motorway"));
  char name[SLP_SHARD_ID_MAX + 80];
  memset(name, '7', sizeof name);
  slp_attr attrs[] = {TEXT("shard_id", "s"), TEXT("assigned_to", ""), TEXT("lease_timeout", T1)};
  attrs[1].val.s = (slp_str){name, 201};
  slp_row row = {attrs, 3};
  schema->read(schema, &row, &parsed);
  CHECK(parsed.kind == SLP_ROW_BAD && strstr(parsed.why, "owner"));
  attrs[1].val.s = S("w");
  attrs[0].val.s = (slp_str){name, SLP_SHARD_ID_MAX + 1};
  schema->read(schema, &row, &parsed);
  CHECK(parsed.kind == SLP_ROW_BAD && strstr(parsed.why, "shard"));
  table_end();
}

/* ---- operations --------------------------------------------------------------------------------- */

TEST(a_lease_from_its_making_to_its_removal) {
  begin();
  slp_position oldest = {.kind = SLP_POSITION_OLDEST}, ten = after("10", UINT32_MAX);
  DO(.kind = SLP_OPERATION_CREATE, .shard = S("s"), .position = oldest, .parents = {S("p"), S("q")});
  CHECK_STR(row_text(), "parent_shard_id=S:p shard_id=S:s");
  REFUSED(.kind = SLP_OPERATION_CREATE, .shard = S("s"), .position = oldest);
  DO(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = ME, .position = oldest);
  CHECK_STR(row_text(),
            "checkpoint=S:SHARD_END parent_shard_id=S:p shard_id=S:s sloop_counter=N:1 "
            "sloop_owner=S:a.0123456789abcdef sloop_taken=S:a.0123456789abcdef");
  CHECK(parsed.u.lease.position.kind == SLP_POSITION_OLDEST && parsed.u.lease.epoch == 1);
  CHECK(parsed.u.lease.unsaved);
  REFUSED(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = OTHER, .epoch = 1, .position = oldest);
  set_by_another("Extra", (slp_val){.kind = SLP_VAL_N, .s = S("1")});
  REFUSED(.kind = SLP_GUEST_RENEW, .shard = S("s"), .me = ME, .epoch = 2);
  REFUSED(.kind = SLP_GUEST_RENEW, .shard = S("s"), .me = OTHER, .epoch = 1);
  DO(.kind = SLP_GUEST_RENEW, .shard = S("s"), .me = ME, .epoch = 1);
  DO(.kind = SLP_OPERATION_CHECKPOINT, .shard = S("s"), .me = ME, .epoch = 2, .position = ten);
  CHECK_STR(row_text(),
            "Extra=N:1 checkpoint=S:SHARD_END parent_shard_id=S:p shard_id=S:s sloop_checkpoint=S:10 "
            "sloop_counter=N:3 sloop_owner=S:a.0123456789abcdef");
  /* Another one of ours takes it as it is. */
  DO(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = OTHER, .owner = ME, .epoch = 3, .epoch_after = 9);
  CHECK(parsed.u.lease.epoch == 9 && slp_position_same(&parsed.u.lease.position, &ten));
  DO(.kind = SLP_OPERATION_RELEASE, .shard = S("s"), .me = OTHER, .epoch = 9, .position = ten);
  CHECK_STR(row_text(), "Extra=N:1 checkpoint=S:10 parent_shard_id=S:p shard_id=S:s sloop_counter=N:10");
  DO(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = ME, .epoch = 10, .position = ten);
  DO(.kind = SLP_OPERATION_RETAKE, .shard = S("s"), .me = ME, .owner = ME, .epoch = 11);
  DO(.kind = SLP_OPERATION_END, .shard = S("s"), .me = ME, .epoch = 12);
  CHECK_STR(row_text(),
            "Extra=N:1 checkpoint=S:SHARD_END parent_shard_id=S:p shard_id=S:s sloop_counter=N:13");
  CHECK(parsed.u.lease.position.kind == SLP_POSITION_END && !parsed.u.lease.owner.n);
  DO(.kind = SLP_OPERATION_REMOVE, .shard = S("s"));
  CHECK(!table.n);
  table_end();
}

TEST(a_row_of_kcl_rb_is_parked_and_given_back) {
  begin();
  slp_position oldest = {.kind = SLP_POSITION_OLDEST}, seq = after(SEQ, UINT32_MAX),
               one = after("1", UINT32_MAX);
  PUT(TEXT("shard_id", "s"), TEXT("lease_timeout", T1), TEXT("checkpoint", SEQ));
  REFUSED(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = ME, .position = oldest);
  REFUSED(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = ME, .position = one);
  DO(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = ME, .position = seq);
  CHECK_STR(row_text(),
            "checkpoint=S:SHARD_END lease_timeout=S:" T1 " shard_id=S:s sloop_checkpoint=S:" SEQ
            " sloop_counter=N:1 sloop_owner=S:a.0123456789abcdef sloop_taken=S:a.0123456789abcdef");
  REFUSED(.kind = SLP_OPERATION_REMOVE, .shard = S("s")); /* it is not at its end */
  DO(.kind = SLP_OPERATION_RELEASE, .shard = S("s"), .me = ME, .epoch = 1, .position = seq);
  CHECK_STR(row_text(), "checkpoint=S:" SEQ " lease_timeout=S:" T1 " shard_id=S:s sloop_counter=N:2");
  /* Nothing is saved of it: NULL is no checkpoint. */
  PUT(TEXT("shard_id", "s"), NIL("assigned_to"), TEXT("lease_timeout", T1), NIL("checkpoint"));
  REFUSED(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = ME, .position = seq);
  DO(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = ME, .position = oldest);
  DO(.kind = SLP_OPERATION_RELEASE, .shard = S("s"), .me = ME, .epoch = 1, .position = oldest);
  CHECK_STR(row_text(), "lease_timeout=S:" T1 " shard_id=S:s sloop_counter=N:2");
  table_end();
}

/* Its worker was killed: the row names it for ever. */
TEST(a_lease_of_a_dead_worker_of_kcl_rb_is_taken_as_it_was_read) {
  begin();
  slp_position ten = after("10", UINT32_MAX);
  PUT(TEXT("shard_id", "s"), TEXT("assigned_to", "w1"), TEXT("lease_timeout", T1), TEXT("checkpoint", "10"));
  REFUSED(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = ME, .owner = S("w2"), .epoch = S1,
          .position = ten);
  REFUSED(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = ME, .owner = S("w1"), .epoch = S1 + 1,
          .position = ten);
  REFUSED(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = ME, .position = ten);
  DO(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = ME, .owner = S("w1"), .epoch = S1, .position = ten);
  CHECK(slp_str_is(parsed.u.lease.owner, "a.0123456789abcdef") && parsed.u.lease.epoch == S1 + 1);
  PUT(TEXT("shard_id", "s"), TEXT("assigned_to", "w1"), TEXT("lease_timeout", T1), TEXT("checkpoint", "10"));
  DO(.kind = SLP_OPERATION_RELEASE, .shard = S("s"), .me = S("w1"), .owner = S("w1"), .epoch = S1,
     .position = ten);
  CHECK_STR(row_text(), "checkpoint=S:10 lease_timeout=S:" T1 " shard_id=S:s sloop_counter=N:1795220676");
  PUT(TEXT("shard_id", "s"), TEXT("assigned_to", "w1"), TEXT("lease_timeout", T1), TEXT("checkpoint", "10"));
  slp_position one = after("1", UINT32_MAX);
  DO(.kind = SLP_OPERATION_RESET, .shard = S("s"), .me = S("op"), .owner = S("w1"), .epoch = S1,
     .position = one);
  CHECK_STR(row_text(), "checkpoint=S:1 lease_timeout=S:" T1 " shard_id=S:s sloop_counter=N:1795220676");
  table_end();
}

TEST(positions_that_it_can_and_can_not_say) {
  begin();
  slp_position at = {.kind = SLP_POSITION_AT}, end = {.kind = SLP_POSITION_END}, inside = after("5", 3);
  slp_position latest = {.kind = SLP_POSITION_LATEST}, none = {.kind = SLP_POSITION_NONE};
  slp_position time = {.kind = SLP_POSITION_TIME, .at_ms = 7};
  slp_mark_set(&at.mark, S("5"), 0, -1);
  can_not(&(slp_operation){.kind = SLP_OPERATION_CREATE, .shard = S("t"), .position = at});
  can_not(&(slp_operation){.kind = SLP_OPERATION_CREATE, .shard = S("t"), .position = inside});
  can_not(&(slp_operation){.kind = SLP_OPERATION_RELEASE, .shard = S("t"), .me = ME, .position = none});
  can_not(&(slp_operation){.kind = SLP_OPERATION_CLAIM, .shard = S("t")});
  DO(.kind = SLP_OPERATION_CREATE, .shard = S("s"), .position = latest, .epoch_first = 17);
  CHECK_STR(row_text(), "shard_id=S:s sloop_checkpoint=S:LATEST sloop_counter=N:17");
  DO(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = ME, .epoch = 17, .position = latest);
  CHECK(parsed.u.lease.position.kind == SLP_POSITION_LATEST);
  DO(.kind = SLP_OPERATION_RELEASE, .shard = S("s"), .me = ME, .epoch = 18, .position = latest);
  CHECK(parsed.u.lease.position.kind == SLP_POSITION_LATEST && !parsed.u.lease.owner.n);
  table_end();
  begin();
  DO(.kind = SLP_OPERATION_CREATE, .shard = S("s"), .position = time);
  CHECK_STR(row_text(), "shard_id=S:s sloop_checkpoint=S:AT_TIMESTAMP:7");
  CHECK(slp_position_same(&parsed.u.lease.position, &time));
  table_end();
  begin();
  DO(.kind = SLP_OPERATION_CREATE, .shard = S("s"), .position = end);
  CHECK_STR(row_text(), "checkpoint=S:SHARD_END shard_id=S:s");
  CHECK(parsed.u.lease.position.kind == SLP_POSITION_END);
  table_end();
}
