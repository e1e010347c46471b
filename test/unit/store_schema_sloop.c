/* Every verb of the native schema against one row: what its condition lets through, what it writes, and what
 * is read back. Conditions and changes are judged by the rules of the stores that are no DynamoDB. */
#include "core/shard_set.h"
#include "store/rows.h"
#include "store/schemas.h"

#include "../check.h"

static slp_mem *mem;
static slp_schema *schema;
static slp_table_spec spec;
static slp_store_rows table; /* one row, or none */
static slp_fact fact;

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

/* 1: it was written; 0: refused. The row is read into `fact`. */
static int apply(const slp_intent *i) {
  slp_store_write w;
  slp_draft d;
  const char *why = "";
  memset(&w, 0, sizeof w);
  slp_draft_init(&d, mem, &w);
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
  slp_draft_free(&d);
  memset(&fact, 0, sizeof fact);
  if (table.n) schema->read(schema, &table.rows[0], &fact);
  return done;
}

#define DO(...) CHECK(apply(&(slp_intent){__VA_ARGS__}) == 1)
#define REFUSED(...) CHECK(apply(&(slp_intent){__VA_ARGS__}) == 0)
#define S(z) SLP_STR(z)

static slp_spot after(const char *seq, uint32_t sub) {
  slp_spot s = {.kind = SLP_SPOT_AFTER};
  slp_mark_set(&s.mark, slp_str_of(seq), sub, -1);
  return s;
}

TEST(a_worker_lives_is_condemned_and_never_comes_back) {
  begin();
  DO(.verb = SLP_W1_REGISTER, .id = S("w1"), .boot = S("b1"), .lease_ms = 10000, .weight = 2, .host = S("h"),
     .behind_ms = -1, .rate_bytes = -1);
  CHECK(fact.kind == SLP_FACT_WORKER && slp_str_is(fact.u.worker.id, "w1") &&
        slp_str_is(fact.u.worker.boot, "b1"));
  CHECK(fact.u.worker.counter == 1 && fact.u.worker.lease_ms == 10000 && fact.u.worker.weight == 2);
  REFUSED(.verb = SLP_W1_REGISTER, .id = S("w1"), .boot = S("b2"), .lease_ms = 10000);
  DO(.verb = SLP_W2_BEAT, .id = S("w1"), .boot = S("b1"), .counter = 2, .held = 3, .behind_ms = 5,
     .rate_bytes = 7, .wall_ms = 9);
  CHECK(fact.u.worker.held == 3 && fact.u.worker.behind_ms == 5 && fact.u.worker.wall_ms == 9);
  REFUSED(.verb = SLP_W2_BEAT, .id = S("w1"), .boot = S("b1"), .counter = 2);
  REFUSED(.verb = SLP_W2_BEAT, .id = S("w1"), .boot = S("b2"), .counter = 3);
  REFUSED(.verb = SLP_W3_CONDEMN, .me = S("w2.x"), .id = S("w1"), .boot = S("b1"), .counter = 1);
  REFUSED(.verb = SLP_W6_REAP, .id = S("w1"), .boot = S("b1"));
  DO(.verb = SLP_W5_RING, .id = S("w1"));
  DO(.verb = SLP_W5_RING, .id = S("w1"));
  CHECK(fact.u.worker.bell == 2);
  DO(.verb = SLP_W3_CONDEMN, .me = S("w2.x"), .id = S("w1"), .boot = S("b1"), .counter = 2);
  CHECK(slp_str_is(fact.u.worker.gone, "w2.x"));
  REFUSED(.verb = SLP_W2_BEAT, .id = S("w1"), .boot = S("b1"), .counter = 3);
  REFUSED(.verb = SLP_W3_CONDEMN, .me = S("w3.x"), .id = S("w1"), .boot = S("b1"), .counter = 2);
  REFUSED(.verb = SLP_W5_RING, .id = S("w1"));
  /* A stray copy of its own registration finds a row and no right to it; nor does one that names another
   * boot. */
  REFUSED(.verb = SLP_W1_REGISTER, .id = S("w1"), .boot = S("b1"));
  REFUSED(.verb = SLP_W1_REGISTER, .id = S("w1"), .boot = S("b3"), .over_tombstone = 1,
          .boot_before = S("b0"));
  DO(.verb = SLP_W1_REGISTER, .id = S("w1"), .boot = S("b3"), .over_tombstone = 1, .boot_before = S("b1"),
     .lease_ms = 5000, .behind_ms = -1, .rate_bytes = -1);
  CHECK(!fact.u.worker.gone.n && fact.u.worker.bell == 0 && slp_str_is(fact.u.worker.boot, "b3"));
  DO(.verb = SLP_W3_CONDEMN, .me = S("op"), .id = S("w1"), .boot = S("b3"), .counter = SLP_ANY_COUNTER);
  REFUSED(.verb = SLP_W6_REAP, .id = S("w1"), .boot = S("b1"));
  DO(.verb = SLP_W6_REAP, .id = S("w1"), .boot = S("b3"));
  CHECK(table.n == 0);
  end();
}

TEST(a_worker_that_leaves_says_so) {
  begin();
  DO(.verb = SLP_W1_REGISTER, .id = S("w1"), .boot = S("b1"));
  DO(.verb = SLP_W4_LEAVE, .me = S("w1.b1"), .id = S("w1"), .boot = S("b1"));
  CHECK(fact.u.worker.leaving && slp_str_is(fact.u.worker.gone, "w1.b1"));
  end();
}

TEST(one_leads_at_a_time_and_the_start_is_set_once) {
  begin();
  slp_spot oldest = {.kind = SLP_SPOT_OLDEST}, time = {.kind = SLP_SPOT_TIME, .at_ms = 5};
  DO(.verb = SLP_G1_LEAD, .me = S("w1.a"), .start = time);
  CHECK(fact.kind == SLP_FACT_LEAD && slp_str_is(fact.u.lead.owner, "w1.a") && fact.u.lead.epoch == 1);
  REFUSED(.verb = SLP_G1_LEAD, .me = S("w2.a"), .start = oldest);
  REFUSED(.verb = SLP_G1_LEAD, .me = S("w2.a"), .owner = S("w1.a"), .epoch = 0, .start = oldest);
  DO(.verb = SLP_G1_LEAD, .me = S("w2.a"), .owner = S("w1.a"), .epoch = 1, .start = oldest);
  CHECK(fact.u.lead.epoch == 2 && fact.u.lead.start.kind == SLP_SPOT_TIME && fact.u.lead.start.at_ms == 5);
  REFUSED(.verb = SLP_G2_RESIGN, .me = S("w1.a"), .epoch = 2);
  DO(.verb = SLP_G2_RESIGN, .me = S("w2.a"), .epoch = 2);
  CHECK(!fact.u.lead.owner.n && fact.u.lead.epoch == 2);
  REFUSED(.verb = SLP_G1_LEAD, .me = S("w1.a"), .start = time); /* its first one, once more and much later */
  REFUSED(.verb = SLP_G1_LEAD, .me = S("w2.a"), .epoch = 1, .start = time);
  DO(.verb = SLP_G1_LEAD, .me = S("w3.a"), .epoch = 2, .start = time);
  CHECK(fact.u.lead.epoch == 3);
  end();
}

TEST(plans_only_grow_newer_and_wills_are_merged) {
  begin();
  slp_str one[] = {S("shardId-000000000001")}, two[] = {S("shardId-000000000002"), S("shardId-000000000001")};
  DO(.verb = SLP_A2_WILL, .id = S("w1"), .shards = two, .shards_n = 2);
  CHECK(fact.kind == SLP_FACT_PLAN && fact.u.plan.plus_n == 2 && fact.u.plan.version == 0);
  DO(.verb = SLP_A1_PLAN, .id = S("w1"), .plan = 1000001, .set = S("\x01\x00\x01"), .shards = one,
     .shards_n = 1);
  CHECK(fact.u.plan.version == 1000001 && fact.u.plan.plus_n == 1 && fact.u.plan.set.n == 3);
  REFUSED(.verb = SLP_A1_PLAN, .id = S("w1"), .plan = 1000001, .set = S("\x01"));
  DO(.verb = SLP_A1_PLAN, .id = S("w1"), .plan = 2000001, .set = S("\x01"));
  end();
}

/* Under this layout a worker's row proves its life, no counter of a lease. */
TEST(verbs_that_the_table_can_not_say) {
  begin();
  for (slp_verb v = 0; v < SLP_VERBS; v++) {
    if (schema->verbs & (1u << v)) continue;
    slp_store_write w;
    slp_draft d;
    memset(&w, 0, sizeof w);
    slp_draft_init(&d, mem, &w);
    CHECK_INT(
        schema->write(schema, &d, &(slp_intent){.verb = v, .shard = S("s"), .id = S("w"), .boot = S("b")}),
        SLP_EINVAL);
    slp_draft_free(&d);
  }
  CHECK(!(schema->verbs & (1u << SLP_L11_RENEW)));
  end();
}

/* What a listing or somebody else's row says may be of any length. */
TEST(names_that_are_too_long) {
  char text[600];
  memset(text, '7', sizeof text);
  slp_str long_name = {text, SLP_SHARD_ID_MAX + 1};
  slp_spot oldest = {.kind = SLP_SPOT_OLDEST};
  begin();
  DO(.verb = SLP_L1_CREATE, .shard = S("s1"), .spot = oldest, .hash_start = {text, 600},
     .hash_end = {text, 599});
  CHECK(fact.kind == SLP_FACT_LEASE && fact.u.lease.hash_start.n == 600 && fact.u.lease.hash_end.n == 599);
  end();
  begin();
  DO(.verb = SLP_L1_CREATE, .shard = S("s1"), .spot = oldest, .parents = {S("p"), long_name});
  CHECK_INT(fact.kind, SLP_FACT_BAD);
  end();
  begin();
  DO(.verb = SLP_L1_CREATE, .shard = long_name, .spot = oldest);
  CHECK_INT(fact.kind, SLP_FACT_BAD);
  REFUSED(.verb = SLP_L1_CREATE, .shard = long_name, .spot = oldest);
  end();
  begin();
  DO(.verb = SLP_W1_REGISTER, .id = {text, SLP_WORKER_ID_MAX + 1}, .boot = S("b1"), .lease_ms = 1);
  CHECK_INT(fact.kind, SLP_FACT_BAD);
  end();
  begin();
  DO(.verb = SLP_W1_REGISTER, .id = S("w"), .boot = {text, SLP_BOOT_N + 1}, .lease_ms = 1);
  CHECK_INT(fact.kind, SLP_FACT_BAD);
  end();
  begin();
  DO(.verb = SLP_A1_PLAN, .id = {text, SLP_WORKER_ID_MAX + 1}, .plan = 1, .set = S("\x01"));
  CHECK_INT(fact.kind, SLP_FACT_BAD);
  end();
}

TEST(a_lease_is_made_once_taken_moved_on_and_ended) {
  begin();
  slp_spot oldest = {.kind = SLP_SPOT_OLDEST}, five = after("5", 0), ten = after("10", 2),
           nine = after("9", 9);
  slp_str kids[] = {S("s2"), S("s3")};
  DO(.verb = SLP_L1_CREATE, .shard = S("s1"), .spot = oldest, .parents = {S("p0"), S("p1")},
     .hash_start = S("0"), .hash_end = S("99"));
  CHECK(fact.kind == SLP_FACT_LEASE && slp_str_is(fact.u.lease.shard, "s1") && !fact.u.lease.owner.n);
  CHECK(slp_str_is(fact.u.lease.parents[0], "p0") && slp_str_is(fact.u.lease.hash_end, "99"));
  REFUSED(.verb = SLP_L1_CREATE, .shard = S("s1"), .spot = ten);
  DO(.verb = SLP_L2_TAKE, .shard = S("s1"), .me = S("a.1"), .epoch = 0, .op = S("a1"));
  CHECK(slp_str_is(fact.u.lease.owner, "a.1") && fact.u.lease.epoch == 1);
  REFUSED(.verb = SLP_L2_TAKE, .shard = S("s1"), .me = S("b.1"), .epoch = 0);
  DO(.verb = SLP_L4_CHECKPOINT, .shard = S("s1"), .me = S("a.1"), .epoch = 1, .spot = ten);
  CHECK(slp_spot_cmp(&fact.u.lease.spot, &ten) == 0);
  REFUSED(.verb = SLP_L4_CHECKPOINT, .shard = S("s1"), .me = S("a.1"), .epoch = 1, .spot = nine);
  REFUSED(.verb = SLP_L4_CHECKPOINT, .shard = S("s1"), .me = S("a.1"), .epoch = 0, .spot = ten);
  REFUSED(.verb = SLP_L4_CHECKPOINT, .shard = S("s1"), .me = S("b.1"), .epoch = 1, .spot = ten);
  REFUSED(.verb = SLP_L7_RELEASE, .shard = S("s1"), .me = S("a.1"), .epoch = 1, .spot = five);
  DO(.verb = SLP_L7_RELEASE, .shard = S("s1"), .me = S("a.1"), .epoch = 1, .spot = ten, .avoid_me = 1);
  CHECK(!fact.u.lease.owner.n && fact.u.lease.epoch == 1 && slp_str_is(fact.u.lease.avoid, "a.1"));
  REFUSED(.verb = SLP_L9_REMOVE, .shard = S("s1"));
  DO(.verb = SLP_L2_TAKE, .shard = S("s1"), .me = S("b.1"), .epoch = 1);
  REFUSED(.verb = SLP_L4_CHECKPOINT, .shard = S("s1"), .me = S("a.1"), .epoch = 1,
          .spot = ten); /* a late write */
  DO(.verb = SLP_L2_TAKE, .shard = S("s1"), .me = S("c.1"), .owner = S("b.1"),
     .epoch = 2); /* b was condemned */
  CHECK(fact.u.lease.epoch == 3);
  DO(.verb = SLP_L3_RETAKE, .shard = S("s1"), .me = S("c.1"), .epoch = 3);
  REFUSED(.verb = SLP_L8_END, .shard = S("s1"), .me = S("c.1"), .epoch = 3, .shards = kids, .shards_n = 2);
  DO(.verb = SLP_L8_END, .shard = S("s1"), .me = S("c.1"), .epoch = 4, .shards = kids, .shards_n = 2);
  CHECK(fact.u.lease.spot.kind == SLP_SPOT_END && !fact.u.lease.owner.n);
  REFUSED(.verb = SLP_L2_TAKE, .shard = S("s1"), .me = S("a.1"), .epoch = 4);
  DO(.verb = SLP_L9_REMOVE, .shard = S("s1"));
  CHECK(table.n == 0);
  end();
}

TEST(a_claim_is_honoured_only_for_the_claimant_and_newer_plans_outbid) {
  begin();
  slp_spot oldest = {.kind = SLP_SPOT_OLDEST}, five = after("5", 0);
  DO(.verb = SLP_L1_CREATE, .shard = S("s1"), .spot = oldest);
  DO(.verb = SLP_L2_TAKE, .shard = S("s1"), .me = S("a.1"));
  DO(.verb = SLP_L5_CLAIM, .shard = S("s1"), .me = S("b.1"), .owner = S("a.1"), .epoch = 1, .plan = 7);
  CHECK(slp_str_is(fact.u.lease.claim, "b.1") && fact.u.lease.claim_plan == 7);
  REFUSED(.verb = SLP_L5_CLAIM, .shard = S("s1"), .me = S("c.1"), .owner = S("a.1"), .epoch = 1, .plan = 7);
  DO(.verb = SLP_L5_CLAIM, .shard = S("s1"), .me = S("c.1"), .owner = S("a.1"), .epoch = 1, .plan = 8);
  REFUSED(.verb = SLP_L6_TRANSFER, .shard = S("s1"), .me = S("a.1"), .epoch = 1, .to = S("b.1"),
          .spot = five);
  DO(.verb = SLP_L6_TRANSFER, .shard = S("s1"), .me = S("a.1"), .epoch = 1, .to = S("c.1"), .spot = five);
  CHECK(slp_str_is(fact.u.lease.owner, "c.1") && fact.u.lease.epoch == 2 && !fact.u.lease.claim.n);
  CHECK(slp_spot_cmp(&fact.u.lease.spot, &five) == 0);
  REFUSED(.verb = SLP_L6_TRANSFER, .shard = S("s1"), .me = S("a.1"), .epoch = 1, .to = S("c.1"),
          .spot = five);
  end();
}

/* As told with the position, and never that of another position. */
TEST(how_far_behind_goes_with_the_position) {
  begin();
  slp_spot oldest = {.kind = SLP_SPOT_OLDEST}, five = after("5", 0), six = after("6", 0);
  DO(.verb = SLP_L1_CREATE, .shard = S("s1"), .spot = oldest, .behind_ms = -1);
  CHECK(fact.u.lease.behind_ms == -1);
  DO(.verb = SLP_L2_TAKE, .shard = S("s1"), .me = S("a.1"), .behind_ms = -1);
  DO(.verb = SLP_L4_CHECKPOINT, .shard = S("s1"), .me = S("a.1"), .epoch = 1, .spot = five, .behind_ms = 70);
  CHECK(fact.u.lease.behind_ms == 70);
  DO(.verb = SLP_L3_RETAKE, .shard = S("s1"), .me = S("a.1"), .epoch = 1, .behind_ms = -1);
  CHECK(fact.u.lease.behind_ms == 70);
  DO(.verb = SLP_L4_CHECKPOINT, .shard = S("s1"), .me = S("a.1"), .epoch = 2, .spot = six, .behind_ms = -1);
  CHECK(fact.u.lease.behind_ms == -1);
  DO(.verb = SLP_L5_CLAIM, .shard = S("s1"), .me = S("b.1"), .owner = S("a.1"), .epoch = 2, .plan = 1);
  DO(.verb = SLP_L6_TRANSFER, .shard = S("s1"), .me = S("a.1"), .to = S("b.1"), .epoch = 2, .spot = six,
     .behind_ms = 0);
  CHECK(fact.u.lease.behind_ms == 0);
  DO(.verb = SLP_L7_RELEASE, .shard = S("s1"), .me = S("b.1"), .epoch = 3, .spot = six, .behind_ms = 9);
  CHECK(fact.u.lease.behind_ms == 9);
  DO(.verb = SLP_L10_RESET, .shard = S("s1"), .epoch = 3, .behind_ms = -1); /* its position stays */
  CHECK(fact.u.lease.behind_ms == 9 && slp_spot_cmp(&fact.u.lease.spot, &six) == 0);
  CHECK(fact.u.lease.epoch == 4);
  DO(.verb = SLP_L10_RESET, .shard = S("s1"), .epoch = 4, .spot = five, .behind_ms = -1);
  CHECK(fact.u.lease.behind_ms == -1);
  DO(.verb = SLP_L2_TAKE, .shard = S("s1"), .me = S("a.1"), .epoch = 5);
  DO(.verb = SLP_L4_CHECKPOINT, .shard = S("s1"), .me = S("a.1"), .epoch = 6, .spot = six, .behind_ms = 5);
  DO(.verb = SLP_L8_END, .shard = S("s1"), .me = S("a.1"), .epoch = 6);
  CHECK(fact.u.lease.behind_ms == -1);
  end();
}

TEST(an_operator_resets_what_nobody_owns) {
  begin();
  slp_spot oldest = {.kind = SLP_SPOT_OLDEST}, five = after("5", 0);
  DO(.verb = SLP_L1_CREATE, .shard = S("s1"), .spot = five);
  DO(.verb = SLP_L2_TAKE, .shard = S("s1"), .me = S("a.1"));
  REFUSED(.verb = SLP_L10_RESET, .shard = S("s1"), .epoch = 1, .spot = oldest);
  DO(.verb = SLP_L10_RESET, .shard = S("s1"), .owner = S("a.1"), .epoch = 1, .spot = oldest);
  CHECK(!fact.u.lease.owner.n && fact.u.lease.epoch == 2 && fact.u.lease.spot.kind == SLP_SPOT_OLDEST);
  REFUSED(.verb = SLP_L4_CHECKPOINT, .shard = S("s1"), .me = S("a.1"), .epoch = 1, .spot = five);
  end();
}

/* ---- rows of others
 * ------------------------------------------------------------------------------------------- */

static slp_fact_kind kind_of(const char *app, const char *row, const slp_attr *more, size_t n) {
  slp_attr attrs[8] = {{SLP_STR("app"), {SLP_VAL_S, slp_str_of(app), NULL, 0}},
                       {SLP_STR("row"), {SLP_VAL_S, slp_str_of(row), NULL, 0}}};
  slp_row r = {attrs, 2 + n};
  if (n) memcpy(attrs + 2, more, n * sizeof *more);
  schema->read(schema, &r, &fact);
  return fact.kind;
}

TEST(rows_of_others_are_left_alone_and_damaged_ones_named) {
  begin();
  slp_attr epoch = {SLP_STR("epoch"), {SLP_VAL_N, SLP_STR("3"), NULL, 0}};
  slp_attr no_epoch = {SLP_STR("epoch"), {SLP_VAL_S, SLP_STR("three"), NULL, 0}};
  slp_attr pos = {SLP_STR("pos"), {SLP_VAL_S, SLP_STR("0:oldest"), NULL, 0}};
  slp_attr odd = {SLP_STR("pos"), {SLP_VAL_S, SLP_STR("TRIM_HORIZON"), NULL, 0}};
  slp_attr good[] = {epoch, pos}, bad_pos[] = {epoch, odd}, bad_epoch[] = {no_epoch, pos};
  slp_attr newer[] = {epoch, {SLP_STR("fmt"), {SLP_VAL_N, SLP_STR("2"), NULL, 0}}};
  CHECK(kind_of("orders-app", "orders@1700000000/l/s1", good, 2) == SLP_FACT_LEASE);
  CHECK(kind_of("other-app", "orders@1700000000/l/s1", good, 2) == SLP_FACT_OTHER);
  CHECK(kind_of("orders-app", "orders@1600000000/l/s1", good, 2) ==
        SLP_FACT_OTHER); /* the stream before this one */
  CHECK(kind_of("orders-app", "orders@1700000000/x/s1", good, 2) == SLP_FACT_OTHER);
  CHECK(kind_of("orders-app", "orders@1700000000/l/s1", bad_pos, 2) == SLP_FACT_BAD && *fact.why);
  CHECK(kind_of("orders-app", "orders@1700000000/l/s1", bad_epoch, 2) == SLP_FACT_BAD);
  CHECK(kind_of("orders-app", "orders@1700000000/l/", good, 2) == SLP_FACT_BAD);
  CHECK(kind_of("orders-app", "orders@1700000000/lead", newer, 2) == SLP_FACT_BAD);
  CHECK(kind_of("orders-app", "orders@1700000000/w/w1", NULL, 0) == SLP_FACT_BAD);
  /* An owner of another kind is neither somebody nor nobody: every take of it would be refused. */
  slp_attr owned[] = {epoch, pos, {SLP_STR("owner"), {SLP_VAL_N, SLP_STR("5"), NULL, 0}}};
  CHECK(kind_of("orders-app", "orders@1700000000/l/s1", owned, 3) == SLP_FACT_BAD);
  CHECK(kind_of("orders-app", "orders@1700000000/lead", owned, 3) == SLP_FACT_BAD);
  owned[2].val.kind = SLP_VAL_S;
  CHECK(kind_of("orders-app", "orders@1700000000/l/s1", owned, 3) == SLP_FACT_LEASE);
  end();
}

CHECK_MAIN()
