/* Every verb of the native schema against one row: what its condition lets through, what it writes, and what
 * is read back. Conditions and changes are judged by the rules of the stores that are no DynamoDB. */
#include "lease/shard_set.h"
#include "store/rows.h"
#include "store/schema_sloop.h"

#include "check.h"

static slp_mem *mem;
static slp_schema *schema;
static slp_table_spec spec;
static slp_store_rows table; /* one row, or none */
static slp_parsed_row parsed;

static void begin(void) {
  mem = slp_mem_new(NULL, NULL);
  schema = slp_schema_sloop(mem, SLP_STR("orders-app"), SLP_STR("orders"), SLP_STR("1700000000"));
  schema->table(schema, "leases", &spec);
  slp_store_rows_init(&table, mem);
}

static void end(void) {
  slp_store_rows_free(&table);
  schema->free(schema);
  slp_mem_drop(mem);
}

/* 1: it was written; 0: refused. The row is read into `parsed`. */
static int apply(const slp_operation *i) {
  slp_store_write w;
  slp_row_request d;
  const char *why = "";
  memset(&w, 0, sizeof w);
  slp_row_request_init(&d, mem, &w);
  CHECK(schema->write(schema, &d, i) == 0);
  const slp_row *row = table.n ? &table.rows[0] : NULL;
  int done = slp_rows_hold(row, w.when, w.when_n);
  if (done && w.kind == SLP_WRITE_DELETE) {
    slp_store_rows_free(&table);
    slp_store_rows_init(&table, mem);
  } else if (done) {
    slp_store_rows next;
    slp_store_rows_init(&next, mem);
    CHECK(slp_rows_change(&next, row, &spec, &w, &why) == 0);
    slp_store_rows_free(&table);
    table = next;
  }
  slp_row_request_free(&d);
  memset(&parsed, 0, sizeof parsed);
  if (table.n) schema->read(schema, &table.rows[0], &parsed);
  return done;
}

#define DO(...) CHECK(apply(&(slp_operation){__VA_ARGS__}) == 1)
#define REFUSED(...) CHECK(apply(&(slp_operation){__VA_ARGS__}) == 0)
#define S(z) SLP_STR(z)

static slp_position after(const char *seq, uint32_t sub) {
  slp_position s = {.kind = SLP_POSITION_AFTER};
  slp_mark_set(&s.mark, slp_str_of(seq), sub, -1);
  return s;
}

/* Readers take all values of a row for values of the row's time. So an old lag must be removed. */
TEST(what_a_worker_no_longer_knows_leaves_its_row) {
  begin();
  DO(.kind = SLP_OPERATION_REGISTER, .id = S("w1"), .incarnation = S("b1"), .lease_ms = 10000,
     .behind_ms = -1, .rate_bytes = -1, .wall_ms = 8);
  CHECK(parsed.u.worker.behind_ms == -1 && parsed.u.worker.rate_bytes == -1);
  DO(.kind = SLP_OPERATION_HEARTBEAT, .id = S("w1"), .incarnation = S("b1"), .counter = 2, .held = 3,
     .behind_ms = 0, .rate_bytes = 7, .wall_ms = 9);
  CHECK(parsed.u.worker.behind_ms == 0 && parsed.u.worker.rate_bytes == 7);
  DO(.kind = SLP_OPERATION_HEARTBEAT, .id = S("w1"), .incarnation = S("b1"), .counter = 3, .held = 3,
     .behind_ms = -1, .rate_bytes = -1, .wall_ms = 10);
  CHECK(parsed.u.worker.behind_ms == -1 && parsed.u.worker.rate_bytes == -1);
  end();
}

TEST(a_worker_lives_is_evicted_and_never_comes_back) {
  begin();
  DO(.kind = SLP_OPERATION_REGISTER, .id = S("w1"), .incarnation = S("b1"), .lease_ms = 10000, .weight = 2,
     .host = S("h"), .behind_ms = -1, .rate_bytes = -1);
  CHECK(parsed.kind == SLP_ROW_WORKER && slp_str_is(parsed.u.worker.id, "w1") &&
        slp_str_is(parsed.u.worker.incarnation, "b1"));
  CHECK(parsed.u.worker.counter == 1 && parsed.u.worker.lease_ms == 10000 && parsed.u.worker.weight == 2);
  REFUSED(.kind = SLP_OPERATION_REGISTER, .id = S("w1"), .incarnation = S("b2"), .lease_ms = 10000);
  DO(.kind = SLP_OPERATION_HEARTBEAT, .id = S("w1"), .incarnation = S("b1"), .counter = 2, .held = 3,
     .behind_ms = 5, .rate_bytes = 7, .wall_ms = 9);
  CHECK(parsed.u.worker.held == 3 && parsed.u.worker.behind_ms == 5 && parsed.u.worker.wall_ms == 9);
  REFUSED(.kind = SLP_OPERATION_HEARTBEAT, .id = S("w1"), .incarnation = S("b1"), .counter = 2);
  REFUSED(.kind = SLP_OPERATION_HEARTBEAT, .id = S("w1"), .incarnation = S("b2"), .counter = 3);
  REFUSED(.kind = SLP_OPERATION_EVICT, .me = S("w2.x"), .id = S("w1"), .incarnation = S("b1"), .counter = 1);
  REFUSED(.kind = SLP_OPERATION_REAP, .id = S("w1"), .incarnation = S("b1"));
  DO(.kind = SLP_OPERATION_NOTIFY, .id = S("w1"));
  DO(.kind = SLP_OPERATION_NOTIFY, .id = S("w1"));
  CHECK(parsed.u.worker.changes == 2);
  DO(.kind = SLP_OPERATION_EVICT, .me = S("w2.x"), .id = S("w1"), .incarnation = S("b1"), .counter = 2);
  CHECK(slp_str_is(parsed.u.worker.gone, "w2.x"));
  REFUSED(.kind = SLP_OPERATION_HEARTBEAT, .id = S("w1"), .incarnation = S("b1"), .counter = 3);
  REFUSED(.kind = SLP_OPERATION_EVICT, .me = S("w3.x"), .id = S("w1"), .incarnation = S("b1"), .counter = 2);
  REFUSED(.kind = SLP_OPERATION_NOTIFY, .id = S("w1"));
  /* A stray copy of its own registration finds a row and no right to it; nor does one that names another
   * boot. */
  REFUSED(.kind = SLP_OPERATION_REGISTER, .id = S("w1"), .incarnation = S("b1"));
  REFUSED(.kind = SLP_OPERATION_REGISTER, .id = S("w1"), .incarnation = S("b3"), .over_tombstone = 1,
          .incarnation_before = S("b0"));
  DO(.kind = SLP_OPERATION_REGISTER, .id = S("w1"), .incarnation = S("b3"), .over_tombstone = 1,
     .incarnation_before = S("b1"), .lease_ms = 5000, .behind_ms = -1, .rate_bytes = -1);
  CHECK(!parsed.u.worker.gone.n && parsed.u.worker.changes == 0 &&
        slp_str_is(parsed.u.worker.incarnation, "b3"));
  DO(.kind = SLP_OPERATION_EVICT, .me = S("op"), .id = S("w1"), .incarnation = S("b3"),
     .counter = SLP_ANY_COUNTER);
  REFUSED(.kind = SLP_OPERATION_REAP, .id = S("w1"), .incarnation = S("b1"));
  DO(.kind = SLP_OPERATION_REAP, .id = S("w1"), .incarnation = S("b3"));
  CHECK(table.n == 0);
  end();
}

TEST(a_worker_that_leaves_says_so) {
  begin();
  DO(.kind = SLP_OPERATION_REGISTER, .id = S("w1"), .incarnation = S("b1"));
  DO(.kind = SLP_OPERATION_LEAVE, .me = S("w1.b1"), .id = S("w1"), .incarnation = S("b1"));
  CHECK(parsed.u.worker.leaving && slp_str_is(parsed.u.worker.gone, "w1.b1"));
  end();
}

TEST(one_leads_at_a_time_and_the_start_is_set_once) {
  begin();
  slp_position oldest = {.kind = SLP_POSITION_OLDEST}, time = {.kind = SLP_POSITION_TIME, .at_ms = 5};
  DO(.kind = SLP_OPERATION_LEAD, .me = S("w1.a"), .start = time);
  CHECK(parsed.kind == SLP_ROW_LEADERSHIP && slp_str_is(parsed.u.leadership.owner, "w1.a") &&
        parsed.u.leadership.epoch == 1);
  REFUSED(.kind = SLP_OPERATION_LEAD, .me = S("w2.a"), .start = oldest);
  REFUSED(.kind = SLP_OPERATION_LEAD, .me = S("w2.a"), .owner = S("w1.a"), .epoch = 0, .start = oldest);
  DO(.kind = SLP_OPERATION_LEAD, .me = S("w2.a"), .owner = S("w1.a"), .epoch = 1, .start = oldest);
  CHECK(parsed.u.leadership.epoch == 2 && parsed.u.leadership.start.kind == SLP_POSITION_TIME &&
        parsed.u.leadership.start.at_ms == 5);
  REFUSED(.kind = SLP_OPERATION_RESIGN, .me = S("w1.a"), .epoch = 2);
  DO(.kind = SLP_OPERATION_RESIGN, .me = S("w2.a"), .epoch = 2);
  CHECK(!parsed.u.leadership.owner.n && parsed.u.leadership.epoch == 2);
  REFUSED(.kind = SLP_OPERATION_LEAD, .me = S("w1.a"),
          .start = time); /* its first one, once more and much later */
  REFUSED(.kind = SLP_OPERATION_LEAD, .me = S("w2.a"), .epoch = 1, .start = time);
  DO(.kind = SLP_OPERATION_LEAD, .me = S("w3.a"), .epoch = 2, .start = time);
  CHECK(parsed.u.leadership.epoch == 3);
  end();
}

/* The version decides: of two operators who have read the same one the second is refused. */
TEST(a_hold_is_switched_by_its_version) {
  begin();
  REFUSED(.kind = SLP_OPERATION_HOLD, .me = S("op.1"), .version = 1, .hold = {.version = 0, .on = 1});
  DO(.kind = SLP_OPERATION_LEAD, .me = S("w1.a"), .start = {.kind = SLP_POSITION_OLDEST});
  CHECK(!parsed.u.leadership.hold.version && !parsed.u.leadership.hold.on);
  DO(.kind = SLP_OPERATION_HOLD, .me = S("op.1"), .version = 1, .wall_ms = 7,
     .hold = {.version = 0, .on = 1});
  CHECK(parsed.u.leadership.hold.version == 1 && parsed.u.leadership.hold.on &&
        slp_str_is(parsed.u.leadership.hold_by, "op.1") && parsed.u.leadership.hold_ms == 7);
  REFUSED(.kind = SLP_OPERATION_HOLD, .me = S("op.2"), .version = 2, .hold = {.version = 0, .on = 0});
  DO(.kind = SLP_OPERATION_LEAD, .me = S("w2.a"), .owner = S("w1.a"), .epoch = 1,
     .start = {.kind = SLP_POSITION_OLDEST});
  CHECK(parsed.u.leadership.hold.version == 1 && parsed.u.leadership.hold.on); /* another leads, it stays */
  DO(.kind = SLP_OPERATION_HOLD, .me = S("op.2"), .version = 2, .wall_ms = 9,
     .hold = {.version = 1, .on = 0});
  CHECK(parsed.u.leadership.hold.version == 2 && !parsed.u.leadership.hold.on &&
        !parsed.u.leadership.hold_by.n);
  end();
}

TEST(an_assignment_tells_the_hold) {
  begin();
  DO(.kind = SLP_OPERATION_ASSIGN, .me = S("w1.a"), .id = S("w2"), .version = 1, .set = S("x"));
  CHECK(!parsed.u.assignment.hold.version && !parsed.u.assignment.hold.on);
  DO(.kind = SLP_OPERATION_ASSIGN, .me = S("w1.a"), .id = S("w2"), .version = 2, .set = S("x"),
     .hold = {.version = 1, .on = 1});
  CHECK(parsed.u.assignment.hold.version == 1 && parsed.u.assignment.hold.on);
  DO(.kind = SLP_OPERATION_ASSIGN, .me = S("w1.a"), .id = S("w2"), .version = 3, .set = S("x"),
     .hold = {.version = 2, .on = 0});
  CHECK(parsed.u.assignment.hold.version == 2 && !parsed.u.assignment.hold.on);
  end();
}

/* What an incarnation obeyed says nothing of the next one under that id. */
TEST(a_worker_tells_which_hold_it_obeys) {
  begin();
  DO(.kind = SLP_OPERATION_REGISTER, .id = S("w1"), .incarnation = S("b1"));
  CHECK_INT(parsed.u.worker.hold_version, 0);
  DO(.kind = SLP_OPERATION_HEARTBEAT, .id = S("w1"), .incarnation = S("b1"), .counter = 2,
     .hold = {.version = 3, .on = 1});
  CHECK_INT(parsed.u.worker.hold_version, 3);
  DO(.kind = SLP_OPERATION_HEARTBEAT, .id = S("w1"), .incarnation = S("b1"), .counter = 3);
  CHECK_INT(parsed.u.worker.hold_version, 3);
  DO(.kind = SLP_OPERATION_EVICT, .me = S("op"), .id = S("w1"), .incarnation = S("b1"), .counter = 3);
  DO(.kind = SLP_OPERATION_REGISTER, .id = S("w1"), .incarnation = S("b2"), .over_tombstone = 1,
     .incarnation_before = S("b1"));
  CHECK_INT(parsed.u.worker.hold_version, 0);
  end();
}

TEST(a_shard_is_paused_whoever_owns_it) {
  begin();
  DO(.kind = SLP_OPERATION_CREATE, .shard = S("s1"), .position = {.kind = SLP_POSITION_OLDEST});
  DO(.kind = SLP_OPERATION_TAKE, .me = S("w1.a"), .shard = S("s1"));
  REFUSED(.kind = SLP_OPERATION_PAUSE, .me = S("op.1"), .shard = S("s1"), .hold = {.on = 1});
  DO(.kind = SLP_OPERATION_PAUSE, .me = S("op.1"), .shard = S("s1"), .owner = S("w1.a"), .epoch = 1,
     .hold = {.on = 1});
  CHECK(parsed.u.lease.paused && parsed.u.lease.parked && slp_str_is(parsed.u.lease.owner, "w1.a"));
  DO(.kind = SLP_OPERATION_RELEASE, .me = S("w1.a"), .shard = S("s1"), .epoch = 1,
     .position = {.kind = SLP_POSITION_OLDEST});
  CHECK(parsed.u.lease.paused && !parsed.u.lease.owner.n);
  DO(.kind = SLP_OPERATION_PAUSE, .me = S("op.1"), .shard = S("s1"), .epoch = 1);
  CHECK(!parsed.u.lease.paused && !parsed.u.lease.parked);
  DO(.kind = SLP_OPERATION_PAUSE, .me = S("op.1"), .shard = S("s1"), .epoch = 1, .hold = {.on = 1});
  CHECK(parsed.u.lease.paused && parsed.u.lease.epoch == 2);
  REFUSED(.kind = SLP_OPERATION_TAKE, .me = S("w1.a"), .shard = S("s1"), .epoch = 1); /* decided before */
  end();
}

TEST(plans_only_grow_newer_and_wills_are_merged) {
  begin();
  slp_str one[] = {S("shardId-000000000001")}, two[] = {S("shardId-000000000002"), S("shardId-000000000001")};
  DO(.kind = SLP_OPERATION_PROPOSE, .id = S("w1"), .shards = two, .shards_n = 2);
  CHECK(parsed.kind == SLP_ROW_ASSIGNMENT && parsed.u.assignment.plus_n == 2 &&
        parsed.u.assignment.version == 0);
  DO(.kind = SLP_OPERATION_ASSIGN, .id = S("w1"), .version = 1000001, .set = S("\x01\x00\x01"), .shards = one,
     .shards_n = 1);
  CHECK(parsed.u.assignment.version == 1000001 && parsed.u.assignment.plus_n == 1 &&
        parsed.u.assignment.set.n == 3);
  REFUSED(.kind = SLP_OPERATION_ASSIGN, .id = S("w1"), .version = 1000001, .set = S("\x01"));
  DO(.kind = SLP_OPERATION_ASSIGN, .id = S("w1"), .version = 2000001, .set = S("\x01"));
  end();
}

/* Under this layout a worker's row proves its life, no counter of a lease. */
TEST(verbs_that_the_table_can_not_say) {
  begin();
  for (slp_operation_kind v = 0; v < SLP_OPERATIONS; v++) {
    if (schema->operations & (1u << v)) continue;
    slp_store_write w;
    slp_row_request d;
    memset(&w, 0, sizeof w);
    slp_row_request_init(&d, mem, &w);
    CHECK_INT(
        schema->write(schema, &d,
                      &(slp_operation){.kind = v, .shard = S("s"), .id = S("w"), .incarnation = S("b")}),
        SLP_EINVAL);
    slp_row_request_free(&d);
  }
  CHECK(!(schema->operations >> SLP_OPERATIONS)); /* none that only another layout has */
  end();
}

/* Texts from a listing or from another worker's row may have any length. */
TEST(names_that_are_too_long) {
  char text[600];
  memset(text, '7', sizeof text);
  slp_str long_name = {text, SLP_SHARD_ID_MAX + 1};
  slp_position oldest = {.kind = SLP_POSITION_OLDEST};
  begin();
  DO(.kind = SLP_OPERATION_CREATE, .shard = S("s1"), .position = oldest, .hash_start = {text, 600},
     .hash_end = {text, 599});
  CHECK(parsed.kind == SLP_ROW_LEASE && parsed.u.lease.hash_start.n == 600 &&
        parsed.u.lease.hash_end.n == 599);
  end();
  begin();
  DO(.kind = SLP_OPERATION_CREATE, .shard = S("s1"), .position = oldest, .parents = {S("p"), long_name});
  CHECK_INT(parsed.kind, SLP_ROW_BAD);
  end();
  begin();
  DO(.kind = SLP_OPERATION_CREATE, .shard = long_name, .position = oldest);
  CHECK_INT(parsed.kind, SLP_ROW_BAD);
  REFUSED(.kind = SLP_OPERATION_CREATE, .shard = long_name, .position = oldest);
  end();
  begin();
  DO(.kind = SLP_OPERATION_REGISTER, .id = {text, SLP_WORKER_ID_MAX + 1}, .incarnation = S("b1"),
     .lease_ms = 1);
  CHECK_INT(parsed.kind, SLP_ROW_BAD);
  end();
  begin();
  DO(.kind = SLP_OPERATION_REGISTER, .id = S("w"), .incarnation = {text, SLP_INCARNATION_N + 1},
     .lease_ms = 1);
  CHECK_INT(parsed.kind, SLP_ROW_BAD);
  end();
  begin();
  DO(.kind = SLP_OPERATION_ASSIGN, .id = {text, SLP_WORKER_ID_MAX + 1}, .version = 1, .set = S("\x01"));
  CHECK_INT(parsed.kind, SLP_ROW_BAD);
  end();
}

TEST(a_lease_is_made_once_taken_moved_on_and_ended) {
  begin();
  slp_position oldest = {.kind = SLP_POSITION_OLDEST}, five = after("5", 0), ten = after("10", 2),
               nine = after("9", 9);
  slp_str kids[] = {S("s2"), S("s3")};
  DO(.kind = SLP_OPERATION_CREATE, .shard = S("s1"), .position = oldest, .parents = {S("p0"), S("p1")},
     .hash_start = S("0"), .hash_end = S("99"));
  CHECK(parsed.kind == SLP_ROW_LEASE && slp_str_is(parsed.u.lease.shard, "s1") && !parsed.u.lease.owner.n);
  CHECK(slp_str_is(parsed.u.lease.parents[0], "p0") && slp_str_is(parsed.u.lease.hash_end, "99"));
  REFUSED(.kind = SLP_OPERATION_CREATE, .shard = S("s1"), .position = ten);
  DO(.kind = SLP_OPERATION_TAKE, .shard = S("s1"), .me = S("a.1"), .epoch = 0, .op = S("a1"));
  CHECK(slp_str_is(parsed.u.lease.owner, "a.1") && parsed.u.lease.epoch == 1);
  REFUSED(.kind = SLP_OPERATION_TAKE, .shard = S("s1"), .me = S("b.1"), .epoch = 0);
  DO(.kind = SLP_OPERATION_CHECKPOINT, .shard = S("s1"), .me = S("a.1"), .epoch = 1, .position = ten);
  CHECK(slp_position_cmp(&parsed.u.lease.position, &ten) == 0);
  REFUSED(.kind = SLP_OPERATION_CHECKPOINT, .shard = S("s1"), .me = S("a.1"), .epoch = 1, .position = nine);
  REFUSED(.kind = SLP_OPERATION_CHECKPOINT, .shard = S("s1"), .me = S("a.1"), .epoch = 0, .position = ten);
  REFUSED(.kind = SLP_OPERATION_CHECKPOINT, .shard = S("s1"), .me = S("b.1"), .epoch = 1, .position = ten);
  REFUSED(.kind = SLP_OPERATION_RELEASE, .shard = S("s1"), .me = S("a.1"), .epoch = 1, .position = five);
  DO(.kind = SLP_OPERATION_RELEASE, .shard = S("s1"), .me = S("a.1"), .epoch = 1, .position = ten,
     .avoid_me = 1, .wall_ms = 1700000000000);
  CHECK(!parsed.u.lease.owner.n && parsed.u.lease.epoch == 1 && slp_str_is(parsed.u.lease.avoid, "a.1"));
  CHECK(parsed.u.lease.avoid_ms == 1700000000000);
  REFUSED(.kind = SLP_OPERATION_REMOVE, .shard = S("s1"));
  DO(.kind = SLP_OPERATION_TAKE, .shard = S("s1"), .me = S("b.1"), .epoch = 1);
  REFUSED(.kind = SLP_OPERATION_CHECKPOINT, .shard = S("s1"), .me = S("a.1"), .epoch = 1,
          .position = ten); /* a late write */
  DO(.kind = SLP_OPERATION_CHECKPOINT, .shard = S("s1"), .me = S("b.1"), .epoch = 2, .position = ten,
     .wall_ms = 1700000900000);
  CHECK(parsed.u.lease.wall_ms == 1700000900000 && parsed.u.lease.avoid_ms == 1700000000000);
  DO(.kind = SLP_OPERATION_TAKE, .shard = S("s1"), .me = S("c.1"), .owner = S("b.1"),
     .epoch = 2); /* b was evicted */
  CHECK(parsed.u.lease.epoch == 3);
  DO(.kind = SLP_OPERATION_RETAKE, .shard = S("s1"), .me = S("c.1"), .epoch = 3);
  REFUSED(.kind = SLP_OPERATION_END, .shard = S("s1"), .me = S("c.1"), .epoch = 3, .shards = kids,
          .shards_n = 2);
  DO(.kind = SLP_OPERATION_END, .shard = S("s1"), .me = S("c.1"), .epoch = 4, .shards = kids, .shards_n = 2);
  CHECK(parsed.u.lease.position.kind == SLP_POSITION_END && !parsed.u.lease.owner.n);
  REFUSED(.kind = SLP_OPERATION_TAKE, .shard = S("s1"), .me = S("a.1"), .epoch = 4);
  DO(.kind = SLP_OPERATION_REMOVE, .shard = S("s1"));
  CHECK(table.n == 0);
  end();
}

TEST(a_claim_is_honoured_only_for_the_claimant_and_newer_plans_outbid) {
  begin();
  slp_position oldest = {.kind = SLP_POSITION_OLDEST}, five = after("5", 0);
  DO(.kind = SLP_OPERATION_CREATE, .shard = S("s1"), .position = oldest);
  DO(.kind = SLP_OPERATION_TAKE, .shard = S("s1"), .me = S("a.1"));
  DO(.kind = SLP_OPERATION_CLAIM, .shard = S("s1"), .me = S("b.1"), .owner = S("a.1"), .epoch = 1,
     .version = 7);
  CHECK(slp_str_is(parsed.u.lease.claim, "b.1") && parsed.u.lease.claim_version == 7);
  REFUSED(.kind = SLP_OPERATION_CLAIM, .shard = S("s1"), .me = S("c.1"), .owner = S("a.1"), .epoch = 1,
          .version = 7);
  DO(.kind = SLP_OPERATION_CLAIM, .shard = S("s1"), .me = S("c.1"), .owner = S("a.1"), .epoch = 1,
     .version = 8);
  REFUSED(.kind = SLP_OPERATION_TRANSFER, .shard = S("s1"), .me = S("a.1"), .epoch = 1, .to = S("b.1"),
          .position = five);
  DO(.kind = SLP_OPERATION_TRANSFER, .shard = S("s1"), .me = S("a.1"), .epoch = 1, .to = S("c.1"),
     .position = five);
  CHECK(slp_str_is(parsed.u.lease.owner, "c.1") && parsed.u.lease.epoch == 2 && !parsed.u.lease.claim.n);
  CHECK(slp_position_cmp(&parsed.u.lease.position, &five) == 0);
  REFUSED(.kind = SLP_OPERATION_TRANSFER, .shard = S("s1"), .me = S("a.1"), .epoch = 1, .to = S("c.1"),
          .position = five);
  end();
}

/* As told with the position, and never that of another position. */
TEST(how_far_behind_goes_with_the_position) {
  begin();
  slp_position oldest = {.kind = SLP_POSITION_OLDEST}, five = after("5", 0), six = after("6", 0);
  DO(.kind = SLP_OPERATION_CREATE, .shard = S("s1"), .position = oldest, .behind_ms = -1);
  CHECK(parsed.u.lease.behind_ms == -1);
  DO(.kind = SLP_OPERATION_TAKE, .shard = S("s1"), .me = S("a.1"), .behind_ms = -1);
  DO(.kind = SLP_OPERATION_CHECKPOINT, .shard = S("s1"), .me = S("a.1"), .epoch = 1, .position = five,
     .behind_ms = 70);
  CHECK(parsed.u.lease.behind_ms == 70);
  DO(.kind = SLP_OPERATION_RETAKE, .shard = S("s1"), .me = S("a.1"), .epoch = 1, .behind_ms = -1);
  CHECK(parsed.u.lease.behind_ms == 70);
  DO(.kind = SLP_OPERATION_CHECKPOINT, .shard = S("s1"), .me = S("a.1"), .epoch = 2, .position = six,
     .behind_ms = -1);
  CHECK(parsed.u.lease.behind_ms == -1);
  DO(.kind = SLP_OPERATION_CLAIM, .shard = S("s1"), .me = S("b.1"), .owner = S("a.1"), .epoch = 2,
     .version = 1);
  DO(.kind = SLP_OPERATION_TRANSFER, .shard = S("s1"), .me = S("a.1"), .to = S("b.1"), .epoch = 2,
     .position = six, .behind_ms = 0);
  CHECK(parsed.u.lease.behind_ms == 0);
  DO(.kind = SLP_OPERATION_RELEASE, .shard = S("s1"), .me = S("b.1"), .epoch = 3, .position = six,
     .behind_ms = 9);
  CHECK(parsed.u.lease.behind_ms == 9);
  DO(.kind = SLP_OPERATION_RESET, .shard = S("s1"), .epoch = 3, .behind_ms = -1); /* its position stays */
  CHECK(parsed.u.lease.behind_ms == 9 && slp_position_cmp(&parsed.u.lease.position, &six) == 0);
  CHECK(parsed.u.lease.epoch == 4);
  DO(.kind = SLP_OPERATION_RESET, .shard = S("s1"), .epoch = 4, .position = five, .behind_ms = -1);
  CHECK(parsed.u.lease.behind_ms == -1);
  DO(.kind = SLP_OPERATION_TAKE, .shard = S("s1"), .me = S("a.1"), .epoch = 5);
  DO(.kind = SLP_OPERATION_CHECKPOINT, .shard = S("s1"), .me = S("a.1"), .epoch = 6, .position = six,
     .behind_ms = 5);
  DO(.kind = SLP_OPERATION_END, .shard = S("s1"), .me = S("a.1"), .epoch = 6);
  CHECK(parsed.u.lease.behind_ms == -1);
  end();
}

TEST(an_operator_resets_what_nobody_owns) {
  begin();
  slp_position oldest = {.kind = SLP_POSITION_OLDEST}, five = after("5", 0);
  DO(.kind = SLP_OPERATION_CREATE, .shard = S("s1"), .position = five);
  DO(.kind = SLP_OPERATION_TAKE, .shard = S("s1"), .me = S("a.1"));
  REFUSED(.kind = SLP_OPERATION_RESET, .shard = S("s1"), .epoch = 1, .position = oldest);
  slp_position four = after("4", 0);
  REFUSED(.kind = SLP_OPERATION_RESET, .shard = S("s1"), .owner = S("a.1"), .epoch = 1, .odd = four,
          .position = oldest); /* its owner has saved meanwhile */
  DO(.kind = SLP_OPERATION_RESET, .shard = S("s1"), .owner = S("a.1"), .epoch = 1, .odd = five,
     .position = oldest);
  CHECK(!parsed.u.lease.owner.n && parsed.u.lease.epoch == 2 &&
        parsed.u.lease.position.kind == SLP_POSITION_OLDEST);
  REFUSED(.kind = SLP_OPERATION_CHECKPOINT, .shard = S("s1"), .me = S("a.1"), .epoch = 1, .position = five);
  end();
}

/* ---- rows of others ------------------------------------------------------------------------------------ */

static slp_row_kind kind_of(const char *app, const char *row, const slp_attr *more, size_t n) {
  slp_attr attrs[8] = {{SLP_STR("app"), {SLP_VAL_S, slp_str_of(app), NULL, 0}},
                       {SLP_STR("row"), {SLP_VAL_S, slp_str_of(row), NULL, 0}}};
  slp_row r = {attrs, 2 + n};
  if (n) memcpy(attrs + 2, more, n * sizeof *more);
  schema->read(schema, &r, &parsed);
  return parsed.kind;
}

TEST(rows_of_others_are_left_alone_and_damaged_ones_named) {
  begin();
  slp_attr epoch = {SLP_STR("epoch"), {SLP_VAL_N, SLP_STR("3"), NULL, 0}};
  slp_attr no_epoch = {SLP_STR("epoch"), {SLP_VAL_S, SLP_STR("three"), NULL, 0}};
  slp_attr pos = {SLP_STR("pos"), {SLP_VAL_S, SLP_STR("0:oldest"), NULL, 0}};
  slp_attr odd = {SLP_STR("pos"), {SLP_VAL_S, SLP_STR("TRIM_HORIZON"), NULL, 0}};
  slp_attr good[] = {epoch, pos}, bad_pos[] = {epoch, odd}, bad_epoch[] = {no_epoch, pos};
  slp_attr newer[] = {epoch, {SLP_STR("fmt"), {SLP_VAL_N, SLP_STR("4"), NULL, 0}}};
  CHECK(kind_of("orders-app", "orders@1700000000/l/s1", good, 2) == SLP_ROW_LEASE);
  CHECK(kind_of("other-app", "orders@1700000000/l/s1", good, 2) == SLP_ROW_OTHER);
  CHECK(kind_of("orders-app", "orders@1600000000/l/s1", good, 2) ==
        SLP_ROW_OTHER); /* the stream before this one */
  CHECK(kind_of("orders-app", "orders@1700000000/x/s1", good, 2) == SLP_ROW_OTHER);
  CHECK(kind_of("orders-app", "orders@1700000000/l/s1", bad_pos, 2) == SLP_ROW_BAD && *parsed.why);
  CHECK(kind_of("orders-app", "orders@1700000000/l/s1", bad_epoch, 2) == SLP_ROW_BAD);
  CHECK(kind_of("orders-app", "orders@1700000000/l/", good, 2) == SLP_ROW_BAD);
  CHECK(kind_of("orders-app", "orders@1700000000/lead", newer, 2) == SLP_ROW_BAD);
  CHECK(kind_of("orders-app", "orders@1700000000/w/w1", NULL, 0) == SLP_ROW_BAD);
  /* An owner of another kind is neither somebody nor nobody: every take of it would be refused. */
  slp_attr owned[] = {epoch, pos, {SLP_STR("owner"), {SLP_VAL_N, SLP_STR("5"), NULL, 0}}};
  CHECK(kind_of("orders-app", "orders@1700000000/l/s1", owned, 3) == SLP_ROW_BAD);
  CHECK(kind_of("orders-app", "orders@1700000000/lead", owned, 3) == SLP_ROW_BAD);
  owned[2].val.kind = SLP_VAL_S;
  CHECK(kind_of("orders-app", "orders@1700000000/l/s1", owned, 3) == SLP_ROW_LEASE);
  end();
}

/* ---- leases under several partition keys ------------------------------------------------------- */

static void lies(const char *shard, const char *hash, const char *range) {
  slp_store_write w;
  slp_row_request d;
  slp_row_key key;
  memset(&w, 0, sizeof w);
  slp_row_request_init(&d, mem, &w);
  slp_operation i = {.kind = SLP_OPERATION_TAKE, .shard = slp_str_of(shard)};
  CHECK_INT(schema->key(schema, &d, &i, &key), 0);
  if (!slp_str_is(key.hash, hash) || !slp_str_is(key.range, range))
    CHECK_FAIL("%s lies under %.*s %.*s", shard, (int)key.hash.n, key.hash.p, (int)key.range.n, key.range.p);
  slp_row_request_free(&d);
}

TEST(a_lease_lies_where_its_number_says) {
  begin();
  lies("shardId-000000000700", "orders-app", "orders@1700000000/l/shardId-000000000700");
  schema->spread = (slp_spread){16, 512};
  lies("shardId-000000000000", "orders-app", "orders@1700000000/l/shardId-000000000000");
  lies("shardId-000000000511", "orders-app", "orders@1700000000/l/shardId-000000000511");
  lies("shardId-000000000512", "orders-app+1", "orders@1700000000/s/shardId-000000000512");
  lies("shardId-000000008191", "orders-app+15", "orders@1700000000/s/shardId-000000008191");
  lies("shardId-000000008192", "orders-app", "orders@1700000000/l/shardId-000000008192");
  /* 1414562045508 / 512 = 2762816495, which is 15 of 16: as bc says. */
  lies("shardId-00000001414562045508-2bac9cd2", "orders-app+15",
       "orders@1700000000/s/shardId-00000001414562045508-2bac9cd2");
  lies("whatever", "orders-app", "orders@1700000000/l/whatever");
  /* No more than 20 digits count, modulo 2^64: 7766279631452241919 / 512 is 15 of 16. */
  lies("shardId-99999999999999999999999999", "orders-app+15",
       "orders@1700000000/s/shardId-99999999999999999999999999");
  end();
}

static slp_row_kind kind_at(const char *app, const char *row) {
  slp_attr attrs[] = {{SLP_STR("app"), {SLP_VAL_S, slp_str_of(app), NULL, 0}},
                      {SLP_STR("row"), {SLP_VAL_S, slp_str_of(row), NULL, 0}},
                      {SLP_STR("epoch"), {SLP_VAL_N, SLP_STR("0"), NULL, 0}},
                      {SLP_STR("pos"), {SLP_VAL_S, SLP_STR("0:oldest"), NULL, 0}}};
  slp_row r = {attrs, 4};
  schema->read(schema, &r, &parsed);
  return parsed.kind;
}

/* The hashes are those of the FNV draft's test vectors: FNV-1a of 32 bits. */
TEST(leases_of_a_tables_stream_lie_where_the_hash_of_their_name_says) {
  begin();
  schema->spread = (slp_spread){.keys = 61};
  CHECK_INT(schema->lease_key_of(schema, SLP_STR("")), 0x811c9dc5u % 61);
  CHECK_INT(schema->lease_key_of(schema, SLP_STR("a")), 0xe40c292cu % 61);
  CHECK_INT(schema->lease_key_of(schema, SLP_STR("foobar")), 0xbf9cf968u % 61);
  schema->spread.keys = 16;
  lies("foobar", "orders-app+8", "orders@1700000000/s/foobar");
  CHECK_INT(kind_at("orders-app+8", "orders@1700000000/s/foobar"), SLP_ROW_LEASE);
  CHECK_INT(kind_at("orders-app+7", "orders@1700000000/s/foobar"), SLP_ROW_BAD);
  CHECK(parsed.astray);
  end();
}

TEST(the_row_of_leadership_says_how_leases_are_spread_and_is_made_once) {
  begin();
  slp_position oldest = {.kind = SLP_POSITION_OLDEST};
  DO(.kind = SLP_OPERATION_LEAD, .me = S("w1.1"), .start = oldest, .spread = {16, 512});
  CHECK(parsed.kind == SLP_ROW_LEADERSHIP && parsed.u.leadership.format == 2);
  CHECK(parsed.u.leadership.spread.keys == 16 && parsed.u.leadership.spread.block == 512);
  DO(.kind = SLP_OPERATION_RESIGN, .me = S("w1.1"), .epoch = 1);
  /* A late copy, and one that had found no row, leave it as it is. */
  REFUSED(.kind = SLP_OPERATION_LEAD, .me = S("w2.1"), .start = oldest, .spread = {32, 4});
  DO(.kind = SLP_OPERATION_LEAD, .me = S("w2.1"), .epoch = 1, .start = oldest);
  CHECK(parsed.u.leadership.spread.keys == 16 && parsed.u.leadership.spread.block == 512);
  end();
  begin();
  DO(.kind = SLP_OPERATION_LEAD, .me = S("w1.1"), .start = oldest, .spread = {.keys = 16});
  CHECK(parsed.kind == SLP_ROW_LEADERSHIP && parsed.u.leadership.format == 3);
  CHECK(parsed.u.leadership.spread.keys == 16 && !parsed.u.leadership.spread.block);
  end();
  begin(); /* from before */
  DO(.kind = SLP_OPERATION_LEAD, .me = S("w1.1"), .start = oldest, .spread = {1, 0});
  CHECK(parsed.u.leadership.format == 1 && !slp_is_spread(&parsed.u.leadership.spread));
  DO(.kind = SLP_OPERATION_RESIGN, .me = S("w1.1"), .epoch = 1);
  REFUSED(.kind = SLP_OPERATION_LEAD, .me = S("w2.1"), .epoch = 1, .start = oldest, .spread = {16, 512});
  end();
}

TEST(a_worker_says_by_which_rules_it_goes) {
  begin();
  DO(.kind = SLP_OPERATION_REGISTER, .id = S("w1"), .incarnation = S("b1"), .lease_ms = 10000);
  CHECK(slp_worker_takes(&parsed.u.worker));
  schema->spread = (slp_spread){16, 512};
  schema->read(schema, &table.rows[0], &parsed);
  CHECK(parsed.kind == SLP_ROW_WORKER && parsed.u.worker.older && !slp_worker_takes(&parsed.u.worker));
  DO(.kind = SLP_OPERATION_HEARTBEAT, .id = S("w1"), .incarnation = S("b1"), .counter = 2, .tells_format = 1);
  CHECK(slp_worker_takes(&parsed.u.worker));
  schema->spread = (slp_spread){.keys = 16};
  schema->read(schema, &table.rows[0], &parsed);
  CHECK(parsed.u.worker.older);
  end();
}

TEST(a_lease_counts_only_where_it_belongs) {
  begin();
  schema->spread = (slp_spread){16, 2};
  CHECK_INT(kind_at("orders-app", "orders@1700000000/l/shardId-000000000001"), SLP_ROW_LEASE);
  CHECK_INT(kind_at("orders-app+1", "orders@1700000000/s/shardId-000000000002"), SLP_ROW_LEASE);
  CHECK_INT(kind_at("orders-app", "orders@1700000000/l/shardId-000000000002"), SLP_ROW_BAD);
  CHECK(parsed.astray);
  CHECK_INT(kind_at("orders-app+2", "orders@1700000000/s/shardId-000000000002"), SLP_ROW_BAD);
  /* An application that has that name keeps its own rows. */
  CHECK_INT(kind_at("orders-app+1", "orders@1700000000/l/shardId-000000000002"), SLP_ROW_OTHER);
  CHECK_INT(kind_at("orders-app+1", "orders@1700000000/lead"), SLP_ROW_OTHER);
  CHECK_INT(kind_at("orders-app+01", "orders@1700000000/s/shardId-000000000002"), SLP_ROW_OTHER);
  CHECK_INT(kind_at("orders-app+", "orders@1700000000/s/shardId-000000000002"), SLP_ROW_OTHER);
  CHECK_INT(kind_at("orders-app+64", "orders@1700000000/s/shardId-000000000002"), SLP_ROW_OTHER);
  CHECK_INT(kind_at("orders-app+x", "orders@1700000000/s/shardId-000000000002"), SLP_ROW_OTHER);
  CHECK_INT(kind_at("orders-app+1", "orders@1800000000/s/shardId-000000000002"), SLP_ROW_OTHER);
  end();
}

static slp_row_kind leadership_of(slp_val_kind kind, const char *keys, const char *block) {
  slp_attr attrs[] = {{SLP_STR("app"), {SLP_VAL_S, SLP_STR("orders-app"), NULL, 0}},
                      {SLP_STR("row"), {SLP_VAL_S, SLP_STR("orders@1700000000/lead"), NULL, 0}},
                      {SLP_STR("epoch"), {SLP_VAL_N, SLP_STR("1"), NULL, 0}},
                      {SLP_STR("fmt"), {SLP_VAL_N, SLP_STR("2"), NULL, 0}},
                      {SLP_STR("keys"), {kind, slp_str_of(keys), NULL, 0}},
                      {SLP_STR("block"), {SLP_VAL_N, slp_str_of(block), NULL, 0}}};
  slp_row r = {attrs, 6};
  schema->read(schema, &r, &parsed);
  return parsed.kind;
}

TEST(how_leases_are_spread_makes_sense_or_the_row_is_left_alone) {
  begin();
  CHECK_INT(leadership_of(SLP_VAL_N, "64", "1"), SLP_ROW_LEADERSHIP);
  CHECK_INT(leadership_of(SLP_VAL_N, "65", "1"), SLP_ROW_BAD);
  CHECK_INT(leadership_of(SLP_VAL_N, "1", "1"), SLP_ROW_BAD);
  CHECK_INT(leadership_of(SLP_VAL_N, "0", "1"), SLP_ROW_BAD);
  CHECK_INT(leadership_of(SLP_VAL_N, "16", "0"), SLP_ROW_BAD);
  CHECK_INT(leadership_of(SLP_VAL_N, "16", "4294967296"), SLP_ROW_BAD);
  CHECK_INT(leadership_of(SLP_VAL_N, "16", "-3"), SLP_ROW_BAD);
  CHECK_INT(leadership_of(SLP_VAL_S, "sixteen", "3"), SLP_ROW_BAD);
  end();
}

/* A stream that was deleted and made anew begins as a new one, and whoever begins it is told of what is left. */
TEST(rows_of_an_earlier_stream_of_this_name_are_told_of) {
  static const char *const rows_of[] = {"orders@1700000000/l/shardId-0", "orders@1600000000/l/shardId-0",
                                        "orders@1600000000/w/w0", "orders-2@1600000000/l/shardId-0"};
  slp_attr attrs[4][2];
  slp_row rows[4];
  slp_table_form form;
  slp_str hash, prefix;
  begin();
  schema->former(schema, &hash, &prefix);
  CHECK(slp_str_is(hash, "orders-app") && slp_str_is(prefix, "orders@"));
  for (size_t i = 0; i < 4; i++) {
    attrs[i][0] = (slp_attr){SLP_STR("app"), {.kind = SLP_VAL_S, .s = SLP_STR("orders-app")}};
    attrs[i][1] = (slp_attr){SLP_STR("row"), {.kind = SLP_VAL_S, .s = slp_str_of(rows_of[i])}};
    rows[i] = (slp_row){attrs[i], 2};
  }
  schema->form(schema, &(slp_store_rows){.rows = rows, .n = 1}, &form);
  CHECK(!form.refused[0] && !form.passed[0]);
  schema->form(schema, &(slp_store_rows){.rows = rows, .n = 4}, &form);
  CHECK_STR(form.refused, "");
  CHECK_STR(form.passed,
            "rows of an earlier stream of this name are ignored (2, as orders@1600000000/l/shardId-0): "
            "nothing of them is continued");
  end();
}
