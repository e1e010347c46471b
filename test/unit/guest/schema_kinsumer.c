/* The layout of kinsumer: rows as its clients write them (taken from a running one), read; and every operation
 * against one row, compared attribute by attribute. A lease is LastUpdate and five check periods, 300 s here. */
#include "unit/schema_table.h"

#include "guest/guest_operations.h"
#include "lease/shard_set.h"

#define SEQ "49590338271490256608559692538361571095921575989136588898"
#define T1 "1795220326356381773"
#define T2 "1795220326400000000"
#define RFC2 "Sat, 21 Nov 2026 00:18:46 +0000"
#define LEASE UINT64_C(300000000000)
#define N1 (UINT64_C(1795220326356381773) + LEASE)
#define N2 (UINT64_C(1795220326400000000) + LEASE)
#define MS 1795220326400
#define ME "a.0123456789abcdef"
#define UUID "0e0ac5ee-7b5e-4ca2-b4a4-5cf3e0b2f6d1"

static void begin(void) {
  mem = slp_mem_new(NULL, NULL);
  schema = slp_schema_kinsumer(mem, "app", 300000);
  table_begin();
}

#define LIST(json)                                                     \
  {                                                                    \
    SLP_STR("ShardIDs"), { .kind = SLP_VAL_OTHER, .s = SLP_STR(json) } \
  }

/* ---- tables ------------------------------------------------------------------------------------- */

TEST(there_are_three_tables) {
  slp_table_spec of;
  begin();
  CHECK_STR(spec.name, "app_checkpoints");
  CHECK_STR(spec.hash_name, "Shard");
  CHECK(schema->side_table(schema, 1, &of) && !of.range_name && !of.optional);
  CHECK_STR(of.name, "app_clients");
  CHECK_STR(of.hash_name, "ID");
  CHECK(schema->side_table(schema, 2, &of));
  CHECK_STR(of.name, "app_metadata");
  CHECK_STR(of.hash_name, "Key");
  CHECK(!schema->side_table(schema, 3, &of));
  table_end();
}

/* ---- reading ------------------------------------------------------------------------------------ */

TEST(rows_of_shards_are_read) {
  begin();
  READ(TEXT("Shard", "shardId-000000000003"), TEXT("SequenceNumber", SEQ), NUM("LastUpdate", T1),
       TEXT("LastUpdateRFC", RFC2), TEXT("OwnerID", UUID), TEXT("OwnerName", "host-7"), NIL("Finished"),
       NIL("FinishedRFC"));
  const slp_lease_row *l = &parsed.u.lease;
  CHECK(parsed.kind == SLP_ROW_LEASE && slp_str_is(parsed.key.hash, "shardId-000000000003"));
  CHECK(slp_str_is(l->owner, UUID) && l->epoch == N1 && !l->claim.n);
  CHECK(l->position.kind == SLP_POSITION_AFTER && l->position.mark.sub == UINT32_MAX);
  CHECK(slp_str_is(slp_mark_seq(&l->position.mark), SEQ));
  READ(TEXT("Shard", "s"), TEXT("SequenceNumber", "000000000000000000100"), NUM("LastUpdate", T1));
  CHECK(slp_str_is(slp_mark_seq(&l->position.mark), "000000000000000000100"));
  READ(TEXT("Shard", "s"), NIL("SequenceNumber"), NUM("LastUpdate", T1), NIL("OwnerID"), NIL("Finished"));
  CHECK(parsed.kind == SLP_ROW_LEASE && !l->owner.n && l->position.kind == SLP_POSITION_OLDEST);
  READ(TEXT("Shard", "s"), TEXT("SequenceNumber", "LATEST"));
  CHECK(parsed.kind == SLP_ROW_LEASE && !l->epoch && l->position.kind == SLP_POSITION_LATEST);
  READ(TEXT("Shard", "s"), TEXT("SequenceNumber", SEQ), NUM("Finished", T2), TEXT("FinishedRFC", RFC2));
  CHECK(parsed.kind == SLP_ROW_LEASE && l->position.kind == SLP_POSITION_END);
  table_end();
}

TEST(rows_of_clients_and_of_their_leader_are_read) {
  begin();
  READ(TEXT("ID", UUID), NUM("LastUpdate", T1), TEXT("Name", "host-7"), TEXT("LastUpdateRFC", RFC2));
  CHECK(parsed.kind == SLP_ROW_WORKER && slp_str_is(parsed.u.worker.id, UUID));
  CHECK(parsed.u.worker.counter == N1 - LEASE && slp_str_is(parsed.u.worker.host, "host-7"));
  READ(TEXT("ID", UUID), NIL("Name"));
  CHECK(parsed.kind == SLP_ROW_WORKER && !parsed.u.worker.counter);
  READ(TEXT("Key", "Leader"), TEXT("ID", UUID), TEXT("Name", "host-7"), NUM("LastUpdate", T1));
  CHECK(parsed.kind == SLP_ROW_LEADERSHIP && slp_str_is(parsed.u.leadership.owner, UUID));
  CHECK(parsed.u.leadership.epoch == N1 - LEASE);
  READ(TEXT("Key", "Leader"), NUM("LastUpdate", T1));
  CHECK(parsed.kind == SLP_ROW_LEADERSHIP && !parsed.u.leadership.owner.n);
  READ(TEXT("Key", "Later"), NUM("LastUpdate", T1));
  CHECK(parsed.kind == SLP_ROW_OTHER);
  table_end();
}

TEST(the_list_of_shards_is_read) {
  static const slp_str items[] = {SLP_STR("a"), SLP_STR("b")};
  const slp_assignment_row *a = &parsed.u.assignment;
  begin();
  READ(TEXT("Key", "ShardCache"), LIST("{\"L\":[{\"S\":\"shardId-0\"}, {\"S\":\"shardId-2\"}]}"),
       NUM("LastUpdate", T1));
  CHECK(parsed.kind == SLP_ROW_ASSIGNMENT && a->plus_n == 2 && a->version == N1 - LEASE);
  CHECK(slp_str_is(a->plus[0], "shardId-0") && slp_str_is(a->plus[1], "shardId-2"));
  READ(TEXT("Key", "ShardCache"), LIST("{\"L\":[]}"));
  CHECK(parsed.kind == SLP_ROW_ASSIGNMENT && !a->plus_n && !a->version);
  READ(TEXT("Key", "ShardCache"), NIL("ShardIDs"));
  CHECK(parsed.kind == SLP_ROW_ASSIGNMENT && !a->plus_n);
  READ(TEXT("Key", "ShardCache"), {SLP_STR("ShardIDs"), {.kind = SLP_VAL_SS, .items = items, .n = 2}});
  CHECK(parsed.kind == SLP_ROW_ASSIGNMENT && a->plus_n == 2 && slp_str_is(a->plus[1], "b"));
#define BAD_LIST(json)                                                   \
  do {                                                                   \
    READ(TEXT("Key", "ShardCache"), LIST(json));                         \
    CHECK(parsed.kind == SLP_ROW_BAD && strstr(parsed.why, "ShardIDs")); \
  } while (0)
  BAD_LIST("{\"L\":[{\"S\":\"a\"},{\"N\":\"1\"}]}");
  BAD_LIST("{\"L\":[{\"S\":\"a\"},{\"S\":\"\"}]}");
  BAD_LIST("{\"L\":[[]]}");
  BAD_LIST("{\"M\":{}}");
  READ(TEXT("Key", "ShardCache"), TEXT("ShardIDs", "shardId-0"));
  CHECK(parsed.kind == SLP_ROW_BAD && strstr(parsed.why, "ShardIDs"));
  table_end();
}

TEST(rows_of_a_wrong_type_are_named) {
  begin();
#define BAD(key, word, ...)                                        \
  do {                                                             \
    READ(key, __VA_ARGS__);                                        \
    CHECK(parsed.kind == SLP_ROW_BAD && strstr(parsed.why, word)); \
  } while (0)
#define SHARD_ROW TEXT("Shard", "s")
  BAD(SHARD_ROW, "OwnerID", NUM("OwnerID", "1"));
  BAD(SHARD_ROW, "OwnerID", TEXT("OwnerID", ""));
  BAD(SHARD_ROW, "OwnerName", NUM("OwnerName", "1"));
  BAD(SHARD_ROW, "LastUpdate", TEXT("LastUpdate", T1));
  BAD(SHARD_ROW, "LastUpdate", NUM("LastUpdate", "-5"));
  BAD(SHARD_ROW, "LastUpdateRFC", NUM("LastUpdateRFC", T1));
  BAD(SHARD_ROW, "Finished", TEXT("Finished", T1));
  BAD(SHARD_ROW, "FinishedRFC", NUM("FinishedRFC", T1));
  BAD(SHARD_ROW, "SequenceNumber", NUM("SequenceNumber", "5"));
  BAD(SHARD_ROW, "SequenceNumber", TEXT("SequenceNumber", "TRIM_HORIZON"));
  BAD(SHARD_ROW, "SequenceNumber", TEXT("SequenceNumber", ""));
  BAD(TEXT("ID", UUID), "LastUpdate", TEXT("LastUpdate", T1));
  BAD(TEXT("ID", UUID), "Name", NUM("Name", "7"));
  BAD(TEXT("Key", "Leader"), "ID", NUM("ID", "7"));
  BAD(TEXT("Key", "Leader"), "LastUpdate", TEXT("LastUpdate", T1));
  READ(TEXT("shard_id", "s"), TEXT("checkpoint", "5"));
  CHECK(parsed.kind == SLP_ROW_OTHER);
  READ(NUM("Shard", "5"));
  CHECK(parsed.kind == SLP_ROW_OTHER);
  table_end();
}

/* ---- operations on shards ----------------------------------------------------------------------- */

TEST(a_lease_from_its_making_to_its_end) {
  begin();
  slp_position oldest = {.kind = SLP_POSITION_OLDEST}, ten = after("10", UINT32_MAX);
  DO(.kind = SLP_OPERATION_CREATE, .shard = S("s"), .position = oldest, .wall_ms = MS);
  CHECK_STR(row_text(), "Finished=NULL: FinishedRFC=NULL: LastUpdate=N:" T2 " LastUpdateRFC=S:" RFC2
                        " SequenceNumber=NULL: Shard=S:s");
  REFUSED(.kind = SLP_OPERATION_CREATE, .shard = S("s"), .position = oldest);
  REFUSED(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = S(ME), .epoch = N1, .epoch_after = N2);
  REFUSED(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = S(ME), .owner = S(UUID), .epoch = N2,
          .epoch_after = N2 + 1);
  DO(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = S(ME), .epoch = N2, .epoch_after = N2 + 7);
  CHECK(slp_str_is(parsed.u.lease.owner, ME) && parsed.u.lease.epoch == N2 + 7);
  CHECK_STR(row_text(),
            "Finished=NULL: FinishedRFC=NULL: LastUpdate=N:1795220326400000007 LastUpdateRFC=S:" RFC2
            " OwnerID=S:" ME " OwnerName=S:a SequenceNumber=NULL: Shard=S:s");
  set_by_another("Extra", (slp_val){.kind = SLP_VAL_N, .s = S("1")});
  REFUSED(.kind = SLP_GUEST_RENEW, .shard = S("s"), .me = S(ME), .epoch = N2, .epoch_after = N2 + 8);
  REFUSED(.kind = SLP_GUEST_RENEW, .shard = S("s"), .me = S(UUID), .epoch = N2 + 7, .epoch_after = N2 + 8);
  DO(.kind = SLP_GUEST_RENEW, .shard = S("s"), .me = S(ME), .epoch = N2 + 7, .epoch_after = N2 + 8);
  DO(.kind = SLP_OPERATION_CHECKPOINT, .shard = S("s"), .me = S(ME), .epoch = N2 + 8, .epoch_after = N2 + 9,
     .position = ten);
  CHECK(slp_str_is(slp_mark_seq(&parsed.u.lease.position.mark), "10") && parsed.u.lease.epoch == N2 + 9);
  DO(.kind = SLP_OPERATION_RELEASE, .shard = S("s"), .me = S(ME), .epoch = N2 + 9, .epoch_after = N2 + 9,
     .position = after("11", UINT32_MAX));
  CHECK_STR(row_text(),
            "Extra=N:1 Finished=NULL: FinishedRFC=NULL: LastUpdate=N:1795220326400000009 "
            "LastUpdateRFC=S:" RFC2 " SequenceNumber=S:11 Shard=S:s");
  DO(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = S(ME), .epoch = N2 + 9, .epoch_after = N2 + 10);
  slp_position end = after("12", UINT32_MAX);
  end.kind = SLP_POSITION_END;
  DO(.kind = SLP_OPERATION_END, .shard = S("s"), .me = S(ME), .epoch = N2 + 10, .epoch_after = N2 + 10,
     .wall_ms = MS, .position = end);
  CHECK(parsed.u.lease.position.kind == SLP_POSITION_END && !parsed.u.lease.owner.n);
  CHECK_STR(row_text(),
            "Extra=N:1 Finished=N:" T2 " FinishedRFC=S:" RFC2
            " LastUpdate=N:1795220326400000010 LastUpdateRFC=S:" RFC2 " SequenceNumber=S:12 Shard=S:s");
  REFUSED(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = S(ME), .epoch = N2 + 10, .epoch_after = N2 + 11);
  DO(.kind = SLP_OPERATION_RESET, .shard = S("s"), .epoch = N2 + 10, .epoch_after = N2 + 10, .position = ten);
  CHECK(slp_str_is(slp_mark_seq(&parsed.u.lease.position.mark), "10"));
  table_end();
}

/* What the Go program leaves behind: NULL for what it has not. Its own condition, for a row of ours: OwnerID is
 * absent when we have let go. */
TEST(a_row_of_the_go_program_is_taken_as_it_is) {
  begin();
  PUT(TEXT("Shard", "s"), NIL("SequenceNumber"), NUM("LastUpdate", T1), TEXT("LastUpdateRFC", RFC2),
      NIL("OwnerID"), NIL("OwnerName"), NIL("Finished"), NIL("FinishedRFC"));
  DO(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = S(ME), .epoch = N1, .epoch_after = N2);
  PUT(TEXT("Shard", "s"), TEXT("SequenceNumber", "5"), NUM("LastUpdate", T1), TEXT("OwnerID", UUID),
      NIL("Finished"));
  REFUSED(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = S(ME), .epoch = N1, .epoch_after = N2);
  DO(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = S(ME), .owner = S(UUID), .epoch = N1,
     .epoch_after = N2);
  PUT(TEXT("Shard", "s"), NUM("LastUpdate", "0"));
  DO(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = S(ME), .epoch = LEASE, .epoch_after = N2);
  PUT(TEXT("Shard", "s"));
  DO(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = S(ME), .epoch_after = N2);
  table_end();
}

TEST(positions_that_a_row_can_not_hold) {
  begin();
  can_not(&(slp_operation){
      .kind = SLP_OPERATION_CREATE, .shard = S("s"), .position = {.kind = SLP_POSITION_TIME, .at_ms = 5}});
  can_not(&(slp_operation){
      .kind = SLP_OPERATION_CHECKPOINT, .shard = S("s"), .me = S(ME), .position = after("5", 3)});
  can_not(&(slp_operation){.kind = SLP_OPERATION_CLAIM, .shard = S("s"), .me = S(ME)});
  can_not(&(slp_operation){.kind = SLP_OPERATION_REMOVE, .shard = S("s")});
  DO(.kind = SLP_OPERATION_CREATE, .shard = S("s"), .position = {.kind = SLP_POSITION_LATEST}, .wall_ms = MS);
  CHECK(parsed.u.lease.position.kind == SLP_POSITION_LATEST);
  slp_store_rows_free(&table);
  DO(.kind = SLP_OPERATION_CREATE, .shard = S("s"), .position = {.kind = SLP_POSITION_END}, .wall_ms = MS);
  CHECK(parsed.u.lease.position.kind == SLP_POSITION_END);
  table_end();
}

/* ---- operations on clients, leader and list ----------------------------------------------------- */

TEST(a_client_tells_of_itself_and_goes) {
  begin();
  DO(.kind = SLP_GUEST_PUBLISH, .me = S(ME), .wall_ms = MS);
  CHECK_STR(row_text(), "ID=S:" ME " LastUpdate=N:" T2 " LastUpdateRFC=S:" RFC2 " Name=S:a");
  CHECK(schema->side_table(schema, 1, &spec));
  set_by_another("Extra", (slp_val){.kind = SLP_VAL_N, .s = S("1")});
  DO(.kind = SLP_GUEST_PUBLISH, .me = S(ME), .wall_ms = MS + 1);
  CHECK(parsed.u.worker.counter == N2 - LEASE + 1000000 && strstr(row_text(), "Extra=N:1"));
  REFUSED(.kind = SLP_OPERATION_REAP, .id = S(ME), .counter = N2 - LEASE);
  DO(.kind = SLP_GUEST_WITHDRAW, .me = S(ME));
  CHECK_INT(table.n, 0);
  PUT(TEXT("ID", UUID), NUM("LastUpdate", T1));
  DO(.kind = SLP_OPERATION_REAP, .id = S(UUID), .counter = N1 - LEASE);
  CHECK_INT(table.n, 0);
  table_end();
}

TEST(leadership_is_taken_as_it_was_read) {
  begin();
  DO(.kind = SLP_OPERATION_LEAD, .me = S(ME), .wall_ms = MS);
  CHECK_STR(row_text(), "ID=S:" ME " Key=S:Leader LastUpdate=N:" T2 " LastUpdateRFC=S:" RFC2 " Name=S:a");
  REFUSED(.kind = SLP_OPERATION_LEAD, .me = S(UUID), .wall_ms = MS);
  REFUSED(.kind = SLP_OPERATION_LEAD, .me = S(UUID), .owner = S(ME), .epoch = N1 - LEASE, .wall_ms = MS);
  REFUSED(.kind = SLP_OPERATION_RESIGN, .me = S(UUID), .wall_ms = MS);
  DO(.kind = SLP_OPERATION_RESIGN, .me = S(ME), .wall_ms = MS);
  CHECK(parsed.kind == SLP_ROW_LEADERSHIP && !parsed.u.leadership.owner.n);
  DO(.kind = SLP_OPERATION_LEAD, .me = S(UUID), .epoch = N2 - LEASE, .wall_ms = MS);
  CHECK(slp_str_is(parsed.u.leadership.owner, UUID));
  table_end();
}

TEST(the_list_is_renewed_as_it_was_read) {
  static const slp_str ids[] = {SLP_STR("shardId-0"), SLP_STR("shardId-2")};
  const slp_assignment_row *a = &parsed.u.assignment;
  begin();
  DO(.kind = SLP_OPERATION_ASSIGN, .me = S(ME), .shards = ids, .shards_n = 2, .wall_ms = MS);
  CHECK_STR(row_text(), "Key=S:ShardCache LastUpdate=N:" T2 " LastUpdateRFC=S:" RFC2
                        " ShardIDs=?:{\"L\":[{\"S\":\"shardId-0\"},{\"S\":\"shardId-2\"}]}");
  CHECK(a->plus_n == 2 && slp_str_is(a->plus[1], "shardId-2"));
  REFUSED(.kind = SLP_OPERATION_ASSIGN, .me = S(ME), .shards = ids, .shards_n = 1, .wall_ms = MS);
  DO(.kind = SLP_OPERATION_ASSIGN, .me = S(ME), .version = N2 - LEASE, .shards = ids, .shards_n = 1,
     .wall_ms = MS + 1);
  CHECK(a->plus_n == 1);
  table_end();
}
