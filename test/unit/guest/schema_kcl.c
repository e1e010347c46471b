/* The layout of KCL 2.x: rows as its workers write them, read; and every verb against one row. What is
 * written is compared attribute by attribute, for whoever reads it is not ours. */
#include "unit/schema_table.h"

#include "guest/guest_operations.h"
#include "guest/kcl3_rows.h"
#include "lease/shard_set.h"

#define TS 1700000000123

static void begin_of(const char *stream) {
  mem = slp_mem_new(NULL, NULL);
  schema = slp_schema_kcl(mem, slp_str_of(stream), TS);
  table_begin();
}
static void begin(void) { begin_of(""); }

#define SEQ "49590338271490256608559692538361571095921575989136588898"

TEST(a_row_of_a_running_worker_is_read) {
  static const slp_str parents[] = {SLP_STR("shardId-000000000001"), SLP_STR("shardId-000000000002")};
  begin();
  READ(TEXT("leaseKey", "shardId-000000000003"), TEXT("leaseOwner", "host-1:d0a1"), NUM("leaseCounter", "42"),
       TEXT("checkpoint", SEQ), NUM("checkpointSubSequenceNumber", "7"),
       NUM("ownerSwitchesSinceCheckpoint", "1"), TEXT("startingHashKey", "0"), TEXT("endingHashKey", "99"),
       {S("parentShardId"), {.kind = SLP_VAL_SS, .items = parents, .n = 2}},
       NUM("throughputKBps", "1.500000"));
  const slp_lease_row *l = &parsed.u.lease;
  CHECK(parsed.kind == SLP_ROW_LEASE && slp_str_is(parsed.key.hash, "shardId-000000000003") &&
        !parsed.key.range.n);
  CHECK(slp_str_is(l->shard, "shardId-000000000003") && slp_str_is(l->owner, "host-1:d0a1") && !l->claim.n);
  CHECK(l->epoch == 42 && l->position.kind == SLP_POSITION_AFTER && l->position.mark.sub == 7);
  CHECK(slp_str_is(slp_mark_seq(&l->position.mark), SEQ));
  CHECK(slp_str_eq(l->parents[0], parents[0]) && slp_str_eq(l->parents[1], parents[1]));
  CHECK(slp_str_is(l->hash_start, "0") && slp_str_is(l->hash_end, "99"));
  table_end();
}

/* A condition on such a row could not be written so that it holds: nobody would ever take the lease, in silence. */
TEST(a_row_whose_owner_is_an_empty_text_is_damaged) {
  static const char *const names[] = {"leaseOwner", "checkpointOwner"};
  begin();
  for (size_t i = 0; i < SLP_COUNT(names); i++) {
    READ(TEXT("leaseKey", "shardId-0"), NUM("leaseCounter", "0"), TEXT("checkpoint", "TRIM_HORIZON"),
         {slp_str_of(names[i]), {.kind = SLP_VAL_S}});
    CHECK(parsed.kind == SLP_ROW_BAD && strstr(parsed.why, names[i]));
  }
  table_end();
}

static slp_position_kind kind_of(const char *checkpoint) {
  slp_attr attrs[] = {TEXT("leaseKey", "shardId-0"),
                      NUM("leaseCounter", "0"),
                      {S("checkpoint"), {.kind = SLP_VAL_S, .s = slp_str_of(checkpoint)}}};
  slp_row row = {attrs, 3};
  schema->read(schema, &row, &parsed);
  return parsed.kind == SLP_ROW_LEASE ? parsed.u.lease.position.kind : SLP_POSITION_NONE;
}

TEST(the_words_of_a_checkpoint) {
  begin();
  CHECK(kind_of("TRIM_HORIZON") == SLP_POSITION_OLDEST && !parsed.u.lease.owner.n);
  CHECK(kind_of("LATEST") == SLP_POSITION_LATEST);
  CHECK(kind_of("AT_TIMESTAMP") == SLP_POSITION_TIME && parsed.u.lease.position.at_ms == TS);
  CHECK(kind_of("SHARD_END") == SLP_POSITION_END);
  CHECK(kind_of("0") == SLP_POSITION_AFTER && parsed.u.lease.position.mark.sub == 0); /* no sub-sequence: 0 */
  CHECK(kind_of("trim_horizon") == SLP_POSITION_NONE && parsed.kind == SLP_ROW_BAD);
  CHECK(kind_of("") == SLP_POSITION_NONE && parsed.kind == SLP_ROW_BAD);
  CHECK(kind_of("007") == SLP_POSITION_AFTER &&
        slp_str_is(slp_mark_seq(&parsed.u.lease.position.mark), "007"));
  CHECK(kind_of("12x") == SLP_POSITION_NONE && parsed.kind == SLP_ROW_BAD);
  char digits[200];
  memset(digits, '9', sizeof digits);
  digits[199] = 0;
  CHECK(kind_of(digits) == SLP_POSITION_NONE && parsed.kind == SLP_ROW_BAD);
  digits[SLP_SEQ_MAX] = 0;
  CHECK(kind_of(digits) == SLP_POSITION_AFTER);
  table_end();
}

TEST(rows_of_others_are_left_alone) {
  begin();
  READ(TEXT("leaseKey", "x"), NUM("leaseCounter", "1"), TEXT("checkpoint", "1"),
       TEXT("entityType", "STREAM"));
  CHECK(parsed.kind == SLP_ROW_OTHER);
  READ(TEXT("leaseKey", "1:orders:1700000000:shardId-0"), NUM("leaseCounter", "1"), TEXT("checkpoint", "1"));
  CHECK(parsed.kind == SLP_ROW_ELSEWHERE); /* of an application with several streams */
  READ(TEXT("leaseKey", "shardId-0"), NUM("leaseCounter", "1"), TEXT("checkpoint", "1"),
       TEXT("entityType", "LEASE"));
  CHECK(parsed.kind == SLP_ROW_LEASE);
  READ(TEXT("other", "shardId-0"), NUM("leaseCounter", "1"), TEXT("checkpoint", "1"));
  CHECK(parsed.kind == SLP_ROW_OTHER);
  table_end();
}

TEST(damaged_rows_are_named) {
  begin();
  READ(TEXT("leaseKey", "s"), TEXT("leaseCounter", "1"), TEXT("checkpoint", "1"));
  CHECK(parsed.kind == SLP_ROW_BAD && strstr(parsed.why, "leaseCounter"));
  READ(TEXT("leaseKey", "s"), NUM("leaseCounter", "-1"), TEXT("checkpoint", "1"));
  CHECK(parsed.kind == SLP_ROW_BAD && strstr(parsed.why, "leaseCounter"));
  READ(TEXT("leaseKey", "s"), NUM("leaseCounter", "1.5"), TEXT("checkpoint", "1"));
  CHECK(parsed.kind == SLP_ROW_BAD);
  READ(TEXT("leaseKey", "s"), NUM("leaseCounter", "1"));
  CHECK(parsed.kind == SLP_ROW_BAD && strstr(parsed.why, "checkpoint"));
  READ(TEXT("leaseKey", "s"), NUM("leaseCounter", "1"), NUM("checkpoint", "1"));
  CHECK(parsed.kind == SLP_ROW_BAD && strstr(parsed.why, "checkpoint"));
  READ(TEXT("leaseKey", "s"), NUM("leaseCounter", "1"), TEXT("checkpoint", "1"),
       TEXT("checkpointSubSequenceNumber", "x"));
  CHECK(parsed.kind == SLP_ROW_BAD);
  READ(TEXT("leaseKey", "s"), NUM("leaseCounter", "1"), TEXT("checkpoint", "1"), NIL("leaseOwner"));
  CHECK(parsed.kind == SLP_ROW_BAD && strstr(parsed.why, "leaseOwner"));
  /* But not what KCL itself writes in two types, nor a number of a sub-record beyond ours. */
  READ(TEXT("leaseKey", "s"), NUM("leaseCounter", "1"), TEXT("checkpoint", "1"),
       NUM("pendingCheckpointState", "0"), NUM("checkpointSubSequenceNumber", "9223372036854775807"));
  CHECK(parsed.kind == SLP_ROW_LEASE && parsed.u.lease.position.mark.sub == UINT32_MAX);
  table_end();
}

TEST(during_a_hand_over_of_kcl_3_the_old_owner_reads_on) {
  begin();
  READ(TEXT("leaseKey", "s"), NUM("leaseCounter", "1"), TEXT("checkpoint", "1"), TEXT("leaseOwner", "next"),
       TEXT("checkpointOwner", "last"));
  CHECK(slp_str_is(parsed.u.lease.owner, "last") && slp_str_is(parsed.u.lease.claim, "next"));
  table_end();
}

/* ---- verbs -------------------------------------------------------------------------------------- */

TEST(a_lease_from_its_making_to_its_removal_as_kcl_keeps_it) {
  begin();
  slp_position oldest = {.kind = SLP_POSITION_OLDEST}, ten = after("10", 2);
  slp_str kids[] = {S("shardId-3"), S("shardId-2")};
  DO(.kind = SLP_OPERATION_CREATE, .shard = S("shardId-1"), .position = oldest,
     .parents = {S("shardId-0"), {NULL, 0}}, .hash_start = S("0"), .hash_end = S("99"), .seq_start = S("5"));
  CHECK_STR(row_text(),
            "checkpoint=S:TRIM_HORIZON checkpointSubSequenceNumber=N:0 endingHashKey=S:99 leaseCounter=N:0 "
            "leaseKey=S:shardId-1 ownerSwitchesSinceCheckpoint=N:0 parentShardId=SS:shardId-0 "
            "startingHashKey=S:0");
  REFUSED(.kind = SLP_OPERATION_CREATE, .shard = S("shardId-1"), .position = ten);
  set_by_another("throughputKBps", (slp_val){.kind = SLP_VAL_N, .s = S("1.5")});
  set_by_another("pendingCheckpoint", (slp_val){.kind = SLP_VAL_S, .s = S("12")});
  set_by_another("pendingCheckpointState", (slp_val){.kind = SLP_VAL_N, .s = S("0")});
  REFUSED(.kind = SLP_OPERATION_TAKE, .shard = S("shardId-1"), .me = S("a.1"), .epoch = 1);
  DO(.kind = SLP_OPERATION_TAKE, .shard = S("shardId-1"), .me = S("a.1"), .epoch = 0);
  CHECK_STR(
      row_text(),
      "checkpoint=S:TRIM_HORIZON checkpointSubSequenceNumber=N:0 endingHashKey=S:99 leaseCounter=N:1 "
      "leaseKey=S:shardId-1 leaseOwner=S:a.1 ownerSwitchesSinceCheckpoint=N:0 parentShardId=SS:shardId-0 "
      "pendingCheckpoint=S:12 pendingCheckpointState=N:0 startingHashKey=S:0 throughputKBps=N:1.5");
  REFUSED(.kind = SLP_GUEST_RENEW, .shard = S("shardId-1"), .me = S("a.1"), .epoch = 0);
  DO(.kind = SLP_GUEST_RENEW, .shard = S("shardId-1"), .me = S("a.1"), .epoch = 1);
  CHECK(parsed.u.lease.epoch == 2 && slp_str_is(parsed.u.lease.owner, "a.1"));
  REFUSED(.kind = SLP_OPERATION_CHECKPOINT, .shard = S("shardId-1"), .me = S("a.1"), .epoch = 1,
          .position = ten);
  DO(.kind = SLP_OPERATION_CHECKPOINT, .shard = S("shardId-1"), .me = S("a.1"), .epoch = 2, .position = ten);
  CHECK_STR(
      row_text(),
      "checkpoint=S:10 checkpointSubSequenceNumber=N:2 endingHashKey=S:99 leaseCounter=N:3 "
      "leaseKey=S:shardId-1 leaseOwner=S:a.1 ownerSwitchesSinceCheckpoint=N:0 parentShardId=SS:shardId-0 "
      "startingHashKey=S:0 throughputKBps=N:1.5");
  /* Stolen from the living: its next write is refused. */
  DO(.kind = SLP_OPERATION_TAKE, .shard = S("shardId-1"), .me = S("b.1"), .owner = S("a.1"), .epoch = 3);
  REFUSED(.kind = SLP_OPERATION_CHECKPOINT, .shard = S("shardId-1"), .me = S("a.1"), .epoch = 3,
          .position = ten);
  REFUSED(.kind = SLP_OPERATION_END, .shard = S("shardId-1"), .me = S("a.1"), .epoch = 3);
  REFUSED(.kind = SLP_OPERATION_RELEASE, .shard = S("shardId-1"), .me = S("a.1"), .epoch = 3,
          .position = ten);
  DO(.kind = SLP_OPERATION_RETAKE, .shard = S("shardId-1"), .me = S("b.1"), .owner = S("b.1"), .epoch = 4);
  slp_position eleven = after("11", 0);
  DO(.kind = SLP_OPERATION_RELEASE, .shard = S("shardId-1"), .me = S("b.1"), .epoch = 5, .position = eleven);
  CHECK_STR(row_text(),
            "checkpoint=S:11 checkpointSubSequenceNumber=N:0 endingHashKey=S:99 leaseCounter=N:6 "
            "leaseKey=S:shardId-1 ownerSwitchesSinceCheckpoint=N:0 parentShardId=SS:shardId-0 "
            "startingHashKey=S:0 throughputKBps=N:1.5");
  REFUSED(.kind = SLP_OPERATION_REMOVE, .shard = S("shardId-1"));
  DO(.kind = SLP_OPERATION_TAKE, .shard = S("shardId-1"), .me = S("a.1"), .epoch = 6);
  DO(.kind = SLP_OPERATION_END, .shard = S("shardId-1"), .me = S("a.1"), .epoch = 7, .shards = kids,
     .shards_n = 2);
  CHECK_STR(row_text(),
            "checkpoint=S:SHARD_END checkpointSubSequenceNumber=N:0 childShardIds=SS:shardId-2,shardId-3 "
            "endingHashKey=S:99 leaseCounter=N:8 leaseKey=S:shardId-1 leaseOwner=S:a.1 "
            "ownerSwitchesSinceCheckpoint=N:0 parentShardId=SS:shardId-0 startingHashKey=S:0 "
            "throughputKBps=N:1.5");
  DO(.kind = SLP_OPERATION_REMOVE, .shard = S("shardId-1"));
  CHECK(table.n == 0);
  table_end();
}

TEST(names_that_are_too_long) {
  char text[SLP_SHARD_ID_MAX + 1];
  memset(text, '7', sizeof text);
  slp_str long_name = {text, sizeof text};
  slp_position oldest = {.kind = SLP_POSITION_OLDEST};
  begin();
  DO(.kind = SLP_OPERATION_CREATE, .shard = S("shardId-1"), .position = oldest,
     .parents = {long_name, {NULL, 0}});
  CHECK_INT(parsed.kind, SLP_ROW_BAD);
  table_end();
  begin();
  DO(.kind = SLP_OPERATION_CREATE, .shard = long_name, .position = oldest);
  CHECK_INT(parsed.kind, SLP_ROW_BAD);
  table_end();
}

/* As KCL counts: only a take from somebody else is a switch. */
TEST(a_take_of_what_nobody_owns_is_no_switch) {
  begin();
  slp_position oldest = {.kind = SLP_POSITION_OLDEST};
  DO(.kind = SLP_OPERATION_CREATE, .shard = S("s"), .position = oldest);
  DO(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = S("a.1"));
  CHECK_INT(slp_row_int(&table.rows[0], S("ownerSwitchesSinceCheckpoint"), -1), 0);
  DO(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = S("a.1"), .owner = S("a.1"), .epoch = 1);
  CHECK_INT(slp_row_int(&table.rows[0], S("ownerSwitchesSinceCheckpoint"), -1), 0);
  DO(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = S("b.1"), .owner = S("a.1"), .epoch = 2);
  CHECK_INT(slp_row_int(&table.rows[0], S("ownerSwitchesSinceCheckpoint"), -1), 1);
  table_end();
}

TEST(what_was_never_read_is_released_as_it_was) {
  begin();
  slp_position latest = {.kind = SLP_POSITION_LATEST};
  DO(.kind = SLP_OPERATION_CREATE, .shard = S("s"), .position = latest, .epoch_first = 1700000000);
  DO(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = S("a.1"), .epoch = 1700000000);
  DO(.kind = SLP_OPERATION_RELEASE, .shard = S("s"), .me = S("a.1"), .epoch = 1700000001, .position = latest);
  CHECK_STR(row_text(),
            "checkpoint=S:LATEST checkpointSubSequenceNumber=N:0 leaseCounter=N:1700000002 "
            "leaseKey=S:s ownerSwitchesSinceCheckpoint=N:0");
  table_end();
}

TEST(a_lease_that_kcl_3_hands_over_is_taken_whole) {
  begin();
  DO(.kind = SLP_OPERATION_CREATE, .shard = S("s"), .position = after("3", 0));
  DO(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = S("a.1"), .epoch = 0);
  set_by_another("leaseOwner", (slp_val){.kind = SLP_VAL_S, .s = S("next")});
  set_by_another("checkpointOwner", (slp_val){.kind = SLP_VAL_S, .s = S("a.1")});
  REFUSED(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = S("b.1"), .owner = S("a.1"), .epoch = 1);
  DO(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = S("b.1"), .owner = S("a.1"), .claim = S("next"),
     .epoch = 1);
  CHECK(slp_str_is(parsed.u.lease.owner, "b.1") && !parsed.u.lease.claim.n);
  table_end();
}

static slp_val named(const char *name) { return (slp_val){.kind = SLP_VAL_S, .s = slp_str_of(name)}; }

/* Naming the next owner does not move the counter: who did not know is refused, and then goes on to the end of
 * the hand-over. */
TEST(a_hand_over_of_kcl_3_from_its_victims_side) {
  begin();
  DO(.kind = SLP_OPERATION_CREATE, .shard = S("s"), .position = after("3", 0));
  DO(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = S("a.1"), .epoch = 0);
  set_by_another("leaseOwner", named("next"));
  set_by_another("checkpointOwner", named("a.1"));
  REFUSED(.kind = SLP_GUEST_RENEW, .shard = S("s"), .me = S("a.1"), .epoch = 1);
  REFUSED(.kind = SLP_OPERATION_RELEASE, .shard = S("s"), .me = S("a.1"), .epoch = 1);
  DO(.kind = SLP_GUEST_RENEW, .shard = S("s"), .me = S("a.1"), .claim = S("next"), .epoch = 1);
  DO(.kind = SLP_OPERATION_CHECKPOINT, .shard = S("s"), .me = S("a.1"), .epoch = 2,
     .position = after("4", 0));
  CHECK(slp_str_is(parsed.u.lease.owner, "a.1") && slp_str_is(parsed.u.lease.claim, "next"));
  REFUSED(.kind = SLP_OPERATION_TRANSFER, .shard = S("s"), .me = S("a.1"), .to = S("other"), .epoch = 3);
  REFUSED(.kind = SLP_OPERATION_TRANSFER, .shard = S("s"), .me = S("b.1"), .to = S("next"), .epoch = 3);
  DO(.kind = SLP_OPERATION_TRANSFER, .shard = S("s"), .me = S("a.1"), .to = S("next"), .epoch = 3,
     .position = after("5", 2));
  CHECK_STR(row_text(),
            "checkpoint=S:5 checkpointSubSequenceNumber=N:2 leaseCounter=N:4 leaseKey=S:s "
            "leaseOwner=S:next ownerSwitchesSinceCheckpoint=N:0");
  table_end();
}

/* The leader names another one between what was read and the take: the counter does not tell. */
TEST(a_take_of_what_the_leader_has_given_away_meanwhile_is_refused) {
  begin();
  DO(.kind = SLP_OPERATION_CREATE, .shard = S("s"), .position = after("3", 0));
  set_by_another("leaseOwner", named("a.1"));
  set_by_another("checkpointOwner", named("b.1"));
  REFUSED(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = S("a.1"), .owner = S("a.1"), .epoch = 0);
  table_end();
}

/* A worker of KCL 2 knows no checkpointOwner and leaves it behind when it frees the lease. */
TEST(a_lease_whose_next_owner_has_freed_it_can_be_taken) {
  begin();
  DO(.kind = SLP_OPERATION_CREATE, .shard = S("s"), .position = after("3", 0));
  set_by_another("checkpointOwner", named("a.1"));
  REFUSED(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = S("b.1"), .owner = S("c.1"), .epoch = 0);
  DO(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = S("b.1"), .owner = S("a.1"), .epoch = 0);
  CHECK(slp_str_is(parsed.u.lease.owner, "b.1") && !parsed.u.lease.claim.n);
  table_end();
}

/* The next owner has gone without a trace: the present one stands where KCL 3 keeps it during a hand-over. */
TEST(a_worker_alone_in_the_place_of_a_hand_over_goes_on) {
  begin();
  DO(.kind = SLP_OPERATION_CREATE, .shard = S("s"), .position = after("3", 0));
  set_by_another("checkpointOwner", named("a.1"));
  CHECK(slp_str_is(parsed.u.lease.owner, "a.1") && !parsed.u.lease.claim.n);
  REFUSED(.kind = SLP_GUEST_RENEW, .shard = S("s"), .me = S("b.1"), .epoch = 0);
  REFUSED(.kind = SLP_OPERATION_RELEASE, .shard = S("s"), .me = S("b.1"), .epoch = 0);
  DO(.kind = SLP_GUEST_RENEW, .shard = S("s"), .me = S("a.1"), .epoch = 0);
  CHECK_STR(row_text(),
            "checkpoint=S:3 checkpointSubSequenceNumber=N:0 leaseCounter=N:1 leaseKey=S:s "
            "leaseOwner=S:a.1 ownerSwitchesSinceCheckpoint=N:0");
  DO(.kind = SLP_OPERATION_RELEASE, .shard = S("s"), .me = S("a.1"), .epoch = 1);
  set_by_another("checkpointOwner", named("a.1"));
  DO(.kind = SLP_OPERATION_RELEASE, .shard = S("s"), .me = S("a.1"), .epoch = 2);
  CHECK(!parsed.u.lease.owner.n);
  table_end();
}

/* Between workers of sloop. The counter stays, so the owner's next write gets in, and its answer shows it. */
TEST(a_lease_is_asked_for_and_handed_over) {
  begin();
  DO(.kind = SLP_OPERATION_CREATE, .shard = S("s"), .position = after("3", 0));
  REFUSED(.kind = SLP_OPERATION_CLAIM, .shard = S("s"), .me = S("b.1"), .owner = S("a.1"));
  DO(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = S("a.1"));
  REFUSED(.kind = SLP_OPERATION_CLAIM, .shard = S("s"), .me = S("c.1"), .owner = S("a.1"), .epoch = 0);
  DO(.kind = SLP_OPERATION_CLAIM, .shard = S("s"), .me = S("c.1"), .owner = S("a.1"), .epoch = 1);
  DO(.kind = SLP_OPERATION_CLAIM, .shard = S("s"), .me = S("b.1"), .owner = S("a.1"), .epoch = 1);
  CHECK(slp_str_is(parsed.u.lease.owner, "a.1") && slp_str_is(parsed.u.lease.claim, "b.1") &&
        parsed.u.lease.claim_asks && parsed.u.lease.epoch == 1);
  REFUSED(.kind = SLP_GUEST_UNCLAIM, .shard = S("s"), .me = S("c.1"));
  DO(.kind = SLP_GUEST_RENEW, .shard = S("s"), .me = S("a.1"), .epoch = 1);
  DO(.kind = SLP_GUEST_RENEW, .shard = S("s"), .me = S("a.1"), .epoch = 2, .claim = S("b.1"),
     .claim_asks = 1);
  REFUSED(.kind = SLP_OPERATION_TRANSFER, .shard = S("s"), .me = S("a.1"), .to = S("c.1"), .claim = S("c.1"),
          .claim_asks = 1, .epoch = 3);
  DO(.kind = SLP_OPERATION_TRANSFER, .shard = S("s"), .me = S("a.1"), .to = S("b.1"), .claim = S("b.1"),
     .claim_asks = 1, .epoch = 3, .position = after("5", 2));
  CHECK_STR(row_text(),
            "checkpoint=S:5 checkpointSubSequenceNumber=N:2 leaseCounter=N:4 leaseKey=S:s "
            "leaseOwner=S:b.1 ownerSwitchesSinceCheckpoint=N:0");
  table_end();
}

/* A worker of KCL takes the lease and leaves the claim; a leader names the next owner over it. */
TEST(a_claim_of_ours_means_nothing_to_kcl) {
  begin();
  DO(.kind = SLP_OPERATION_CREATE, .shard = S("s"), .position = after("3", 0));
  DO(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = S("a.1"));
  DO(.kind = SLP_OPERATION_CLAIM, .shard = S("s"), .me = S("b.1"), .owner = S("a.1"), .epoch = 1);
  set_by_another("leaseOwner", named("kcl"));
  DO(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = S("c.1"), .owner = S("kcl"), .claim = S("b.1"),
     .claim_asks = 1, .epoch = 1);
  CHECK(slp_str_is(parsed.u.lease.owner, "c.1") && !parsed.u.lease.claim.n);
  DO(.kind = SLP_OPERATION_CLAIM, .shard = S("s"), .me = S("b.1"), .owner = S("c.1"), .epoch = 2);
  set_by_another("leaseOwner", named("next"));
  set_by_another("checkpointOwner", named("c.1"));
  CHECK(slp_str_is(parsed.u.lease.claim, "next") && !parsed.u.lease.claim_asks);
  REFUSED(.kind = SLP_OPERATION_CLAIM, .shard = S("s"), .me = S("b.1"), .owner = S("c.1"), .epoch = 2);
  REFUSED(.kind = SLP_OPERATION_TRANSFER, .shard = S("s"), .me = S("c.1"), .to = S("b.1"), .claim = S("b.1"),
          .claim_asks = 1, .epoch = 2);
  DO(.kind = SLP_OPERATION_TRANSFER, .shard = S("s"), .me = S("c.1"), .to = S("next"), .claim = S("next"),
     .epoch = 2);
  CHECK(!strstr(row_text(), "Claim") && !strstr(row_text(), "checkpointOwner"));
  set_by_another("sloopClaim", (slp_val){.kind = SLP_VAL_N, .s = S("7")}); /* somebody else's of that name */
  CHECK(parsed.kind == SLP_ROW_LEASE && !parsed.u.lease.claim.n);
  table_end();
}

static const slp_operation_extra rate = {.tells_rate = 1};

TEST(rates_are_kilobytes_with_six_digits) {
  begin();
  DO(.kind = SLP_OPERATION_CREATE, .shard = S("s"), .position = after("3", 0));
  DO(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = S("a.1"), .epoch = 0);
  CHECK_INT(parsed.u.lease.rate_bytes, -1);
  DO(.kind = SLP_GUEST_RENEW, .shard = S("s"), .me = S("a.1"), .epoch = 1, .rate_bytes = 1536,
     .extra = &rate);
  CHECK(strstr(row_text(), " throughputKBps=N:1.500000"));
  CHECK_INT(parsed.u.lease.rate_bytes, 1536);
  DO(.kind = SLP_GUEST_RENEW, .shard = S("s"), .me = S("a.1"), .epoch = 2, .rate_bytes = 1, .extra = &rate);
  CHECK(strstr(row_text(), " throughputKBps=N:0.000976"));
  set_by_another("throughputKBps", (slp_val){.kind = SLP_VAL_N, .s = S("0.074633")});
  DO(.kind = SLP_GUEST_RENEW, .shard = S("s"), .me = S("a.1"), .epoch = 3);
  CHECK_INT(parsed.u.lease.rate_bytes, 76);
  table_end();
}

/* What KCL 3.5 reads: the same attributes and types as its own row. */
TEST(a_workers_load_is_told_and_taken_back) {
  begin();
  static const uint32_t cpu[] = {1500, 99999};
  slp_operation_extra busy = {.cpu_millis = cpu, .cpu_n = 2};
  slp_kcl_row load;
  DO(.kind = SLP_GUEST_PUBLISH, .me = S("w.1"), .wall_ms = 1795342863999);
  CHECK_STR(row_text(),
            "entityType=S:WORKER_METRIC_STATS leaseKey=S:w.1 lut=N:1795342863 opr=?:{\"M\":{}} "
            "slu=N:1795342863 sts=?:{\"M\":{}} sup=N:1");
  slp_kcl_row_read(&table.rows[0], &load);
  CHECK(load.kind == SLP_KCL_ROW_LOAD && slp_str_is(load.u.load.worker, "w.1") && !load.u.load.cpu);
  DO(.kind = SLP_GUEST_PUBLISH, .me = S("w.1"), .wall_ms = 1795342893999, .extra = &busy);
  CHECK(strstr(row_text(), "sts=?:{\"M\":{\"C\":{\"L\":[{\"N\":\"1.500\"},{\"N\":\"99.999\"}]}}}"));
  CHECK(strstr(row_text(), "opr=?:{\"M\":{\"C\":{\"L\":[{\"N\":\"100\"}]}}}"));
  slp_kcl_row_read(&table.rows[0], &load);
  CHECK(load.kind == SLP_KCL_ROW_LOAD && load.u.load.cpu);
  table_end();
}

TEST(an_operator_resets_what_nobody_owns_or_by_name) {
  begin();
  slp_position oldest = {.kind = SLP_POSITION_OLDEST}, time = {.kind = SLP_POSITION_TIME, .at_ms = TS};
  DO(.kind = SLP_OPERATION_CREATE, .shard = S("s"), .position = after("5", 0));
  DO(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = S("a.1"));
  REFUSED(.kind = SLP_OPERATION_RESET, .shard = S("s"), .epoch = 1, .position = oldest);
  REFUSED(.kind = SLP_OPERATION_RESET, .shard = S("s"), .owner = S("a.1"), .epoch = 0, .position = oldest);
  DO(.kind = SLP_OPERATION_RESET, .shard = S("s"), .owner = S("a.1"), .epoch = 1, .position = oldest);
  CHECK(!parsed.u.lease.owner.n && parsed.u.lease.position.kind == SLP_POSITION_OLDEST &&
        parsed.u.lease.epoch == 2);
  REFUSED(.kind = SLP_GUEST_RENEW, .shard = S("s"), .me = S("a.1"), .epoch = 1);
  DO(.kind = SLP_OPERATION_RESET, .shard = S("s"), .epoch = 2, .position = time);
  CHECK(parsed.u.lease.position.kind == SLP_POSITION_TIME && parsed.u.lease.position.at_ms == TS);
  DO(.kind = SLP_OPERATION_TAKE, .shard = S("s"), .me = S("a.1"), .epoch = 3);
  set_by_another("leaseOwner", named("next")); /* with a hand-over pending: by both names */
  set_by_another("checkpointOwner", named("a.1"));
  REFUSED(.kind = SLP_OPERATION_RESET, .shard = S("s"), .owner = S("a.1"), .claim = S("other"), .epoch = 4,
          .position = oldest);
  DO(.kind = SLP_OPERATION_RESET, .shard = S("s"), .owner = S("a.1"), .claim = S("next"), .epoch = 4,
     .position = oldest);
  CHECK(!parsed.u.lease.owner.n && !parsed.u.lease.claim.n);
  table_end();
}

/* A place where no record is, as a row of KCL holds it, and back. */
TEST(a_place_without_a_record) {
  begin();
  READ(TEXT("leaseKey", "shardId-0"), NUM("leaseCounter", "1"), TEXT("checkpoint", SEQ),
       NUM("checkpointSubSequenceNumber", "1790000000123"));
  slp_position at = parsed.u.lease.position;
  CHECK(at.kind == SLP_POSITION_AFTER && at.mark.idle && at.mark.sub == UINT32_MAX);
  CHECK_INT(at.mark.arrived_ms, INT64_C(1790000000123));
  READ(TEXT("leaseKey", "shardId-0"), NUM("leaseCounter", "1"), TEXT("checkpoint", SEQ),
       NUM("checkpointSubSequenceNumber", "4294967295"));
  CHECK(!parsed.u.lease.position.mark.idle && parsed.u.lease.position.mark.sub == UINT32_MAX);
  DO(.kind = SLP_OPERATION_CREATE, .shard = S("s"), .position = at);
  CHECK(strstr(row_text(), "checkpointSubSequenceNumber=N:1790000000123"));
  CHECK(parsed.u.lease.position.mark.idle && slp_position_cmp(&parsed.u.lease.position, &at) == 0);
  table_end();
}

TEST(positions_and_verbs_that_the_table_can_not_say) {
  begin();
  slp_position at = {.kind = SLP_POSITION_AT}, nowhere = {.kind = SLP_POSITION_NONE};
  slp_mark_set(&at.mark, S("5"), 0, -1);
  can_not(&(slp_operation){.kind = SLP_OPERATION_RESET, .shard = S("s"), .position = at});
  can_not(&(slp_operation){.kind = SLP_OPERATION_CREATE, .shard = S("s"), .position = nowhere});
  at.mark.sub = 3; /* at the fourth: the third is done */
  DO(.kind = SLP_OPERATION_CREATE, .shard = S("s"), .position = at);
  CHECK(parsed.u.lease.position.kind == SLP_POSITION_AFTER && parsed.u.lease.position.mark.sub == 2);
  CHECK(slp_position_cmp(&parsed.u.lease.position, &at) == 0);
  for (slp_operation_kind v = 0; v < SLP_GUEST_OPERATIONS; v++) {
    if (schema->operations & (1u << v)) continue;
    can_not(
        &(slp_operation){.kind = v, .shard = S("s"), .id = S("w"), .incarnation = S("b"), .position = at});
  }
  CHECK(slp_set_has(schema->operations, SLP_GUEST_RENEW));
  table_end();
}

TEST(an_application_of_several_streams) {
  begin_of("123456789012:orders:1700000000");
  slp_position oldest = {.kind = SLP_POSITION_OLDEST};
  DO(.kind = SLP_OPERATION_CREATE, .shard = S("shardId-7"), .position = oldest,
     .parents = {S("shardId-1"), {NULL, 0}});
  CHECK_STR(row_text(),
            "checkpoint=S:TRIM_HORIZON checkpointSubSequenceNumber=N:0 leaseCounter=N:0 "
            "leaseKey=S:123456789012:orders:1700000000:shardId-7 ownerSwitchesSinceCheckpoint=N:0 "
            "parentShardId=SS:shardId-1 shardId=S:shardId-7 streamName=S:123456789012:orders:1700000000");
  CHECK(slp_str_is(parsed.u.lease.shard, "shardId-7"));
  READ(TEXT("leaseKey", "123456789012:orders:1700000001:shardId-7"), NUM("leaseCounter", "1"),
       TEXT("checkpoint", "1"));
  CHECK(parsed.kind == SLP_ROW_ELSEWHERE); /* made again under the same name */
  READ(TEXT("leaseKey", "shardId-7"), NUM("leaseCounter", "1"), TEXT("checkpoint", "1"));
  CHECK(parsed.kind == SLP_ROW_BAD && !parsed.foreign);
  slp_store_write w = {.rq = {0}};
  slp_row_request d;
  slp_row_key key;
  slp_row_request_init(&d, mem, &w);
  CHECK(schema->key(schema, &d, &(slp_operation){.kind = SLP_OPERATION_CHECKPOINT, .shard = S("shardId-7")},
                    &key) == 0);
  CHECK(slp_str_is(key.hash, "123456789012:orders:1700000000:shardId-7") && !key.range.n);
  slp_row_request_free(&d);
  table_end();
}
