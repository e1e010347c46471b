/* The layout of vmware-go-kcl: rows as its workers write them, read; and every operation against one row. What is
 * written is compared attribute by attribute, for whoever reads it is not ours. */
#include "unit/schema_table.h"

#include "guest/guest_operations.h"
#include "lease/shard_set.h"

#define SEQ "49590338271490256608559692538361571095921575989136588898"
#define T1 "2026-11-22T15:54:42.1Z"
#define N1 UINT64_C(1795362882100000000)
#define T2 "2026-11-22T15:54:45.250000007Z"
#define N2 UINT64_C(1795362885250000007)

static void begin_at(slp_position_kind kind, int64_t ms) {
  slp_position start = {.kind = kind, .at_ms = ms};
  mem = slp_mem_new(NULL, NULL);
  schema = slp_schema_vmware(mem, &start);
  table_begin();
}
static void begin(void) { begin_at(SLP_POSITION_OLDEST, 0); }

/* ---- reading ------------------------------------------------------------------------------------ */

TEST(a_row_of_a_running_worker_is_read) {
  begin();
  READ(TEXT("ShardID", "shardId-000000000003"), TEXT("AssignedTo", "1f6c"), TEXT("LeaseTimeout", T2),
       TEXT("Checkpoint", SEQ), TEXT("ParentShardId", "shardId-000000000001"), TEXT("ClaimRequest", "77aa"));
  const slp_lease_row *l = &parsed.u.lease;
  CHECK(parsed.kind == SLP_ROW_LEASE && slp_str_is(parsed.key.hash, "shardId-000000000003"));
  CHECK(slp_str_is(l->owner, "1f6c") && slp_str_is(l->claim, "77aa") && l->epoch == N2);
  CHECK(slp_str_is(l->parents[0], "shardId-000000000001") && !l->parents[1].n);
  CHECK(l->position.kind == SLP_POSITION_AFTER && l->position.mark.sub == UINT32_MAX);
  CHECK(slp_str_is(slp_mark_seq(&l->position.mark), SEQ));
  READ(TEXT("ShardID", "s"), TEXT("LeaseTimeout", T1), TEXT("Checkpoint", "000000000000000000100"));
  CHECK(slp_str_is(slp_mark_seq(&l->position.mark), "000000000000000000100"));
  READ(TEXT("ShardID", "s"), TEXT("LeaseTimeout", T1), TEXT("Checkpoint", "SHARD_END"));
  CHECK(parsed.kind == SLP_ROW_LEASE && !l->owner.n && l->position.kind == SLP_POSITION_END);
  table_end();
}

TEST(a_row_of_which_nothing_is_saved_begins_where_the_options_say) {
  begin_at(SLP_POSITION_TIME, 1700000000123);
  READ(TEXT("ShardID", "s"));
  CHECK(parsed.u.lease.position.kind == SLP_POSITION_TIME && parsed.u.lease.position.at_ms == 1700000000123);
  table_end();
  begin_at(SLP_POSITION_LATEST, 0);
  READ(TEXT("ShardID", "s"), TEXT("Checkpoint", ""));
  CHECK(parsed.kind == SLP_ROW_LEASE && parsed.u.lease.position.kind == SLP_POSITION_LATEST);
  READ(TEXT("ShardID", "s"), TEXT("Checkpoint", ""), TEXT("ParentShardId", "p"));
  CHECK(parsed.kind == SLP_ROW_LEASE && parsed.u.lease.position.kind == SLP_POSITION_OLDEST);
  table_end();
}

/* Its late checkpoint leaves AssignedTo "" behind; without LeaseTimeout its workers can never take it. */
TEST(owners_that_are_none) {
  begin();
  PUT(TEXT("ShardID", "s"), TEXT("AssignedTo", ""), TEXT("LeaseTimeout", T1), TEXT("Checkpoint", "5"));
  CHECK(parsed.kind == SLP_ROW_LEASE && parsed.u.lease.owner.n);
  REFUSED(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = S("a.1"), .epoch = N1, .epoch_after = N2);
  slp_str nameless = parsed.u.lease.owner;
  DO(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = S("a.1"), .owner = nameless, .epoch = N1,
     .epoch_after = N2);
  CHECK_STR(row_text(), "AssignedTo=S:a.1 Checkpoint=S:5 LeaseTimeout=S:" T2 " ShardID=S:s");
  /* A worker that is called as nobody is here. */
  PUT(TEXT("ShardID", "s"), {.name = SLP_STR("AssignedTo"), .val = {.kind = SLP_VAL_S, .s = nameless}},
      TEXT("LeaseTimeout", T1));
  CHECK(parsed.kind == SLP_ROW_LEASE && slp_str_eq(parsed.u.lease.owner, nameless));
  DO(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = S("a.1"), .owner = nameless, .epoch = N1,
     .epoch_after = N2);
  PUT(TEXT("ShardID", "s"), TEXT("AssignedTo", "old"));
  CHECK(parsed.kind == SLP_ROW_LEASE && slp_str_is(parsed.u.lease.owner, "old") && !parsed.u.lease.epoch);
  DO(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = S("a.1"), .owner = S("old"), .epoch_after = N1);
  CHECK_STR(row_text(), "AssignedTo=S:a.1 Checkpoint=S: LeaseTimeout=S:" T1 " ShardID=S:s");
  table_end();
}

TEST(rows_of_a_wrong_type_are_named) {
  begin();
#define BAD(word, ...)                                             \
  do {                                                             \
    READ(TEXT("ShardID", "s"), __VA_ARGS__);                       \
    CHECK(parsed.kind == SLP_ROW_BAD && strstr(parsed.why, word)); \
  } while (0)
  BAD("AssignedTo", NUM("AssignedTo", "1"));
  BAD("AssignedTo", NIL("AssignedTo"));
  BAD("LeaseTimeout", NUM("LeaseTimeout", "1700000000"));
  BAD("LeaseTimeout", TEXT("LeaseTimeout", "2026-11-22 15:54:42 UTC"));
  BAD("LeaseTimeout", TEXT("LeaseTimeout", "2026-11-22T15:54:42.120Z"));
  BAD("LeaseTimeout", TEXT("LeaseTimeout", ""));
  BAD("Checkpoint", NUM("Checkpoint", "5"));
  BAD("Checkpoint", NIL("Checkpoint"));
  BAD("Checkpoint", TEXT("Checkpoint", "TRIM_HORIZON"));
  BAD("Checkpoint", TEXT("Checkpoint", "12x"));
  BAD("ParentShardId", NIL("ParentShardId"));
  BAD("ClaimRequest", NUM("ClaimRequest", "7"));
  READ(TEXT("shard_id", "s"), TEXT("checkpoint", "5"));
  CHECK(parsed.kind == SLP_ROW_OTHER);
  READ(NUM("ShardID", "5"));
  CHECK(parsed.kind == SLP_ROW_OTHER);
  char name[SLP_SHARD_ID_MAX + 80];
  memset(name, '7', sizeof name);
  slp_attr attrs[] = {TEXT("ShardID", "s"), TEXT("AssignedTo", "")};
  attrs[1].val.s = (slp_str){name, 201};
  slp_row row = {attrs, 2};
  schema->read(schema, &row, &parsed);
  CHECK(parsed.kind == SLP_ROW_BAD && strstr(parsed.why, "AssignedTo"));
  attrs[0].val.s = (slp_str){name, SLP_SHARD_ID_MAX + 1};
  row.n = 1;
  schema->read(schema, &row, &parsed);
  CHECK(parsed.kind == SLP_ROW_BAD && strstr(parsed.why, "shard"));
  table_end();
}

/* ---- operations --------------------------------------------------------------------------------- */

TEST(a_lease_from_its_making_to_its_removal) {
  begin();
  slp_position oldest = {.kind = SLP_POSITION_OLDEST}, ten = after("10", UINT32_MAX);
  DO(.kind = SLP_OPERATION_CREATE, .shard = S("s"), .position = oldest, .parents = {S("p"), S("q")},
     .hash_start = S("0"), .hash_end = S("99"), .seq_start = S("5"), .epoch_first = 17);
  CHECK_STR(row_text(), "Checkpoint=S: ParentShardId=S:p ShardID=S:s");
  REFUSED(.kind = SLP_OPERATION_CREATE, .shard = S("s"), .position = oldest);
  DO(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = S("a.1"), .epoch_after = N1);
  CHECK_STR(row_text(), "AssignedTo=S:a.1 Checkpoint=S: LeaseTimeout=S:" T1 " ParentShardId=S:p ShardID=S:s");
  CHECK(parsed.u.lease.epoch == N1);
  /* A claim of a worker of its own survives all that its owner writes, and so does what is unknown here. */
  set_by_another("ClaimRequest", (slp_val){.kind = SLP_VAL_S, .s = S("77aa")});
  set_by_another("Extra", (slp_val){.kind = SLP_VAL_N, .s = S("1")});
  REFUSED(.kind = SLP_GUEST_RENEW, .shard = S("s"), .me = S("a.1"), .epoch = N2, .epoch_after = N2);
  REFUSED(.kind = SLP_GUEST_RENEW, .shard = S("s"), .me = S("b.1"), .epoch = N1, .epoch_after = N2);
  DO(.kind = SLP_GUEST_RENEW, .shard = S("s"), .me = S("a.1"), .epoch = N1, .epoch_after = N2);
  DO(.kind = SLP_OPERATION_CHECKPOINT, .shard = S("s"), .me = S("a.1"), .epoch = N2, .epoch_after = N2 + 1,
     .position = ten);
  CHECK_STR(row_text(),
            "AssignedTo=S:a.1 Checkpoint=S:10 ClaimRequest=S:77aa Extra=N:1 "
            "LeaseTimeout=S:2026-11-22T15:54:45.250000008Z ParentShardId=S:p ShardID=S:s");
  REFUSED(.kind = SLP_OPERATION_CHECKPOINT, .shard = S("s"), .me = S("a.1"), .epoch = N2, .epoch_after = N2,
          .position = ten);
  slp_position eleven = after("11", UINT32_MAX);
  REFUSED(.kind = SLP_OPERATION_TRANSFER, .shard = S("s"), .me = S("a.1"), .epoch = N2 + 1,
          .epoch_after = N2 + 1, .to = S("another"), .position = eleven);
  DO(.kind = SLP_OPERATION_TRANSFER, .shard = S("s"), .me = S("a.1"), .epoch = N2 + 1, .epoch_after = N2 + 1,
     .to = S("77aa"), .position = eleven);
  CHECK_STR(row_text(),
            "Checkpoint=S:11 ClaimRequest=S:77aa Extra=N:1 "
            "LeaseTimeout=S:2026-11-22T15:54:45.250000008Z ParentShardId=S:p ShardID=S:s");
  /* It is kept for that one; when its claim is too old, another one takes it over that claim and no other. */
  REFUSED(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = S("b.1"), .epoch = N2 + 1,
          .epoch_after = N2 + 2);
  REFUSED(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = S("b.1"), .epoch = N2 + 1, .epoch_after = N2 + 2,
          .claim = S("88"));
  DO(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = S("b.1"), .epoch = N2 + 1, .epoch_after = N2 + 2,
     .claim = S("77aa"));
  DO(.kind = SLP_OPERATION_RETAKE, .shard = S("s"), .me = S("b.1"), .owner = S("b.1"), .epoch = N2 + 2,
     .epoch_after = N2 + 3);
  DO(.kind = SLP_OPERATION_RELEASE, .shard = S("s"), .me = S("b.1"), .epoch = N2 + 3, .epoch_after = N2 + 3,
     .position = oldest);
  CHECK_STR(row_text(),
            "Checkpoint=S:11 Extra=N:1 LeaseTimeout=S:2026-11-22T15:54:45.25000001Z "
            "ParentShardId=S:p ShardID=S:s");
  REFUSED(.kind = SLP_OPERATION_REMOVE, .shard = S("s"));
  DO(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = S("a.1"), .epoch = N2 + 3, .epoch_after = N2 + 4);
  DO(.kind = SLP_OPERATION_END, .shard = S("s"), .me = S("a.1"), .epoch = N2 + 4, .epoch_after = N2 + 4);
  CHECK_STR(row_text(),
            "Checkpoint=S:SHARD_END Extra=N:1 LeaseTimeout=S:2026-11-22T15:54:45.250000011Z "
            "ParentShardId=S:p ShardID=S:s");
  REFUSED(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = S("a.1"), .epoch = N2 + 4,
          .epoch_after = N2 + 5);
  DO(.kind = SLP_OPERATION_REMOVE, .shard = S("s"));
  CHECK(table.n == 0);
  table_end();
}

TEST(a_claim_is_made_and_taken_back) {
  begin();
  PUT(TEXT("ShardID", "s"), TEXT("AssignedTo", "go"), TEXT("LeaseTimeout", T1), TEXT("Checkpoint", "5"));
  REFUSED(.kind = SLP_OPERATION_CLAIM, .shard = S("s"), .me = S("a.1"), .owner = S("go"), .epoch = N2);
  REFUSED(.kind = SLP_OPERATION_CLAIM, .shard = S("s"), .me = S("a.1"), .owner = S("g"), .epoch = N1);
  DO(.kind = SLP_OPERATION_CLAIM, .shard = S("s"), .me = S("a.1"), .owner = S("go"), .epoch = N1);
  CHECK_STR(row_text(),
            "AssignedTo=S:go Checkpoint=S:5 ClaimRequest=S:a.1 LeaseTimeout=S:" T1 " ShardID=S:s");
  REFUSED(.kind = SLP_OPERATION_CLAIM, .shard = S("s"), .me = S("b.1"), .owner = S("go"), .epoch = N1);
  REFUSED(.kind = SLP_GUEST_UNCLAIM, .shard = S("s"), .me = S("b.1"));
  DO(.kind = SLP_GUEST_UNCLAIM, .shard = S("s"), .me = S("a.1"));
  CHECK_STR(row_text(), "AssignedTo=S:go Checkpoint=S:5 LeaseTimeout=S:" T1 " ShardID=S:s");
  /* The Go program may leave an empty one. What has ended is not asked for. */
  set_by_another("ClaimRequest", (slp_val){.kind = SLP_VAL_S, .s = S("")});
  CHECK(parsed.kind == SLP_ROW_LEASE && !parsed.u.lease.claim.n);
  DO(.kind = SLP_OPERATION_CLAIM, .shard = S("s"), .me = S("a.1"), .owner = S("go"), .epoch = N1);
  PUT(TEXT("ShardID", "s"), TEXT("AssignedTo", "go"), TEXT("LeaseTimeout", T1),
      TEXT("Checkpoint", "SHARD_END"));
  REFUSED(.kind = SLP_OPERATION_CLAIM, .shard = S("s"), .me = S("a.1"), .owner = S("go"), .epoch = N1);
  table_end();
}

TEST(an_operator_sets_it_back) {
  begin();
  slp_position ten = after("10", UINT32_MAX), oldest = {.kind = SLP_POSITION_OLDEST};
  PUT(TEXT("ShardID", "s"), TEXT("AssignedTo", "go"), TEXT("LeaseTimeout", T1), TEXT("Checkpoint", "50"),
      TEXT("ClaimRequest", "b"));
  REFUSED(.kind = SLP_OPERATION_RESET, .shard = S("s"), .position = ten, .epoch = N1);
  REFUSED(.kind = SLP_OPERATION_RESET, .shard = S("s"), .position = ten, .owner = S("go"), .epoch = N2);
  DO(.kind = SLP_OPERATION_RESET, .shard = S("s"), .position = ten, .owner = S("go"), .epoch = N1);
  CHECK_STR(row_text(), "Checkpoint=S:10 LeaseTimeout=S:" T1 " ShardID=S:s");
  DO(.kind = SLP_OPERATION_RESET, .shard = S("s"), .position = oldest, .epoch = N1);
  CHECK_STR(row_text(), "Checkpoint=S: LeaseTimeout=S:" T1 " ShardID=S:s");
  table_end();
}

/* A row says nothing of an aggregate's inside, and of where reading begins only that it begins. */
TEST(positions_that_a_row_can_not_say) {
  static const slp_position_kind kinds[] = {SLP_POSITION_OLDEST, SLP_POSITION_LATEST, SLP_POSITION_TIME};
  slp_position part = after("10", 2), at = {.kind = SLP_POSITION_AT}, none = {.kind = SLP_POSITION_NONE};
  begin();
  can_not(&(slp_operation){.kind = SLP_OPERATION_CHECKPOINT, .shard = S("s"), .position = part});
  can_not(&(slp_operation){.kind = SLP_OPERATION_RESET, .shard = S("s"), .position = at});
  can_not(&(slp_operation){.kind = SLP_OPERATION_CREATE, .shard = S("s"), .position = none});
  can_not(&(slp_operation){.kind = SLP_OPERATION_EVICT, .shard = S("s")});
  table_end();
  for (size_t i = 0; i < 3; i++) {
    begin_at(kinds[i], 5);
    for (size_t k = 0; k < 3; k++) {
      slp_position to = {.kind = kinds[k], .at_ms = 5};
      slp_operation reset = {.kind = SLP_OPERATION_RESET, .shard = S("s"), .position = to};
      slp_operation make = {.kind = SLP_OPERATION_CREATE, .shard = S("s"), .position = to};
      if (k != i) can_not(&reset);
      if (k != i) can_not(&make);
      if (k == i) CHECK(apply(&make) && parsed.u.lease.position.kind == kinds[i]);
    }
    table_end();
  }
  begin_at(SLP_POSITION_TIME, 5);
  slp_position other = {.kind = SLP_POSITION_TIME, .at_ms = 6};
  can_not(&(slp_operation){.kind = SLP_OPERATION_CREATE, .shard = S("s"), .position = other});
  table_end();
}

/* Where it all began at the latest, a row with a parent is a child's and is read from its first record. */
TEST(a_child_in_a_fleet_that_began_at_the_latest) {
  slp_position oldest = {.kind = SLP_POSITION_OLDEST}, latest = {.kind = SLP_POSITION_LATEST};
  begin_at(SLP_POSITION_LATEST, 0);
  DO(.kind = SLP_OPERATION_CREATE, .shard = S("s"), .position = latest, .parents = {S("p"), {NULL, 0}});
  CHECK_STR(row_text(), "Checkpoint=S: ShardID=S:s");
  CHECK(parsed.u.lease.position.kind == SLP_POSITION_LATEST);
  table_end();
  begin_at(SLP_POSITION_LATEST, 0);
  DO(.kind = SLP_OPERATION_CREATE, .shard = S("s"), .position = oldest, .parents = {S("p"), {NULL, 0}});
  CHECK(parsed.u.lease.position.kind == SLP_POSITION_OLDEST);
  table_end();
}
