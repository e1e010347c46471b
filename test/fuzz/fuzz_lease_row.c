/* fuzz_lease_row.c - rows of lease tables from any bytes (an item as DynamoDB's JSON has it), read by each
 * layout. What is read as a lease can be taken by what was read: the condition holds for that very row, it is
 * a lease of the same shard at the same place afterwards, mine and one epoch on, and whatever else stood in
 * the row stands there still. What is not a lease says so. */
#include "lease/shard_set.h"
#include "store/item.h"
#include "store/rows.h"
#include "guest/guest_schemas.h"
#include "store/schema_sloop.h"

#include "fuzz.h"

#define ME SLP_STR("me.0000000000000001")

/* What a schema's take does to a row. */
typedef struct taking {
  const char *changes[12]; /* the attributes that it may change */
  enum { TAKES_ENDED, LEAVES_FREE_ENDED, LEAVES_ENDED } ended;
} taking;
static const taking of_kcl = {
    {"leaseOwner", "leaseCounter", "checkpointOwner", "sloopClaim", "ownerSwitchesSinceCheckpoint"},
    TAKES_ENDED};
static const taking of_vmware = {{"AssignedTo", "LeaseTimeout", "Checkpoint", "ClaimRequest"}, LEAVES_ENDED};
static const taking of_motorway = {{"worker_id", "heartbeat", "sloop_taken"}, LEAVES_ENDED};
static const taking of_kcl_rb = {
    {"sloop_owner", "sloop_taken", "sloop_counter", "sloop_checkpoint", "checkpoint", "assigned_to"},
    LEAVES_ENDED};
static const taking of_sloop = {{"owner", "epoch", "op", "ts", "claim", "cv"}, LEAVES_FREE_ENDED};

static int may_change(const taking *t, slp_str name) {
  for (size_t i = 0; i < SLP_COUNT(t->changes) && t->changes[i]; i++)
    if (slp_str_is(name, t->changes[i])) return 1;
  return 0;
}

/* No table has such a row. */
static int names_twice(const slp_row *row) {
  for (size_t i = 0; i < row->n; i++)
    if (slp_row_get(row, row->attrs[i].name) != &row->attrs[i].val) return 1;
  return 0;
}

static void others_survive(const taking *t, const slp_row *before, const slp_row *after) {
  for (size_t i = 0; i < before->n; i++) {
    const slp_val *was = &before->attrs[i].val, *is = slp_row_get(after, before->attrs[i].name);
    if (may_change(t, before->attrs[i].name)) continue;
    REQUIRE(is->kind == was->kind && slp_str_eq(is->s, was->s) && is->n == was->n);
  }
}

static int may_be_taken(const taking *t, const slp_lease_row *l) {
  if (l->position.kind != SLP_POSITION_END) return 1;
  return t->ended == TAKES_ENDED || (t->ended == LEAVES_FREE_ENDED && l->owner.n);
}

/* The keys of every table are texts. */
static int has_keys(const slp_row *row, const slp_table_spec *spec) {
  if (slp_row_get(row, slp_str_of(spec->hash_name))->kind != SLP_VAL_S) return 0;
  return !spec->range_name || slp_row_get(row, slp_str_of(spec->range_name))->kind == SLP_VAL_S;
}

/* As lease/ownership.c asks for it. */
static void take(slp_mem *mem, slp_schema *schema, const taking *t, const slp_row *row,
                 const slp_parsed_row *parsed) {
  const slp_lease_row *l = &parsed->u.lease;
  slp_table_spec spec;
  slp_store_write w = {.rq = {0}};
  slp_store_rows next;
  slp_row_request d;
  const char *why = "";
  slp_operation i = {.kind = SLP_OPERATION_TAKE,
                     .me = ME,
                     .shard = l->shard,
                     .owner = l->owner,
                     .claim = l->claim,
                     .claim_asks = l->claim_asks,
                     .epoch = l->epoch,
                     .position = l->position};
  schema->table(schema, "leases", &spec);
  if (!has_keys(row, &spec)) return;
  slp_row_request_init(&d, mem, &w);
  slp_store_rows_init(&next, mem);
  REQUIRE(schema->write(schema, &d, &i) == 0);
  REQUIRE(slp_str_eq(w.key.hash, parsed->key.hash) && slp_str_eq(w.key.range, parsed->key.range));
  REQUIRE(slp_rows_hold(row, w.when, w.when_n) == may_be_taken(t, l));
  int r = slp_rows_change(&next, row, &spec, &w, &why);
  REQUIRE(r == 0 || r == SLP_EINVAL); /* a number that can't be added to */
  if (r == 0 && may_be_taken(t, l) && l->epoch < INT64_MAX) {
    slp_parsed_row then;
    schema->read(schema, &next.rows[0], &then);
    REQUIRE(then.kind == SLP_ROW_LEASE && slp_str_eq(then.u.lease.shard, l->shard));
    REQUIRE(slp_str_eq(then.u.lease.owner, ME) && !then.u.lease.claim.n);
    REQUIRE(then.u.lease.epoch == l->epoch + 1);
    REQUIRE(slp_position_cmp(&then.u.lease.position, &l->position) == 0 &&
            then.u.lease.position.kind == l->position.kind);
    others_survive(t, row, &next.rows[0]);
  }
  slp_store_rows_free(&next);
  slp_row_request_free(&d);
}

static void read_by(slp_mem *mem, slp_schema *schema, const taking *t, const slp_row *row) {
  slp_parsed_row parsed;
  REQUIRE(schema);
  schema->read(schema, row, &parsed);
  if (parsed.kind == SLP_ROW_BAD) REQUIRE(parsed.why && parsed.why[0]);
  if (parsed.kind == SLP_ROW_LEASE) {
    REQUIRE(parsed.u.lease.shard.n && parsed.u.lease.position.kind != SLP_POSITION_NONE);
    if (parsed.u.lease.position.kind == SLP_POSITION_AFTER)
      REQUIRE(slp_num_valid(slp_mark_seq(&parsed.u.lease.position.mark)));
    take(mem, schema, t, row, &parsed);
  }
  schema->free(schema);
}

/* A row of any of kinsumer's three tables. Its times do not go up by one. */
static void read_any(slp_schema *schema, const slp_row *row) {
  slp_parsed_row parsed;
  REQUIRE(schema);
  schema->read(schema, row, &parsed);
  if (parsed.kind == SLP_ROW_BAD) REQUIRE(parsed.why && parsed.why[0]);
  if (parsed.kind == SLP_ROW_LEASE)
    REQUIRE(parsed.u.lease.shard.n && parsed.u.lease.position.kind != SLP_POSITION_NONE);
  for (size_t i = 0; parsed.kind == SLP_ROW_ASSIGNMENT && i < parsed.u.assignment.plus_n; i++)
    REQUIRE(parsed.u.assignment.plus[i].n && parsed.u.assignment.plus[i].n <= SLP_SHARD_ID_MAX);
  schema->free(schema);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_store_rows rows;
  slp_json j;
  char *text = fuzz_copy(data, size);
  slp_store_rows_init(&rows, mem);
  slp_json_begin(&j, text, size);
  if (slp_item_read(&j, &rows) == 1 && !names_twice(&rows.rows[0])) {
    const slp_position latest = {.kind = SLP_POSITION_LATEST};
    const slp_row *row = &rows.rows[0];
    read_by(mem, slp_schema_kcl(mem, SLP_STR(""), 5), &of_kcl, row);
    read_by(mem, slp_schema_kcl(mem, SLP_STR("1:s:2"), 5), &of_kcl, row);
    read_any(slp_schema_kinsumer(mem, "app", 300000), row);
    read_by(mem, slp_schema_vmware(mem, &latest), &of_vmware, row);
    read_by(mem, slp_schema_motorway(mem, &latest), &of_motorway, row);
    read_by(mem, slp_schema_kcl_rb(mem), &of_kcl_rb, row);
    read_by(mem, slp_schema_sloop(mem, SLP_STR("app"), SLP_STR("s"), SLP_STR("1")), &of_sloop, row);
  }
  slp_store_rows_free(&rows);
  free(text);
  REQUIRE(mem->live_blocks == 0);
  slp_mem_drop(mem);
  return 0;
}
