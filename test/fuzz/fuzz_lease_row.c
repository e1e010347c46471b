/* fuzz_lease_row.c - rows of lease tables from any bytes (an item as DynamoDB's JSON has it), read by each
 * layout. What is read as a lease can be taken by what was read: the condition holds for that very row, it is
 * a lease of the same shard at the same place afterwards, mine and one epoch on, and whatever else stood in
 * the row stands there still. What is not a lease says so. */
#include "lease/shard_set.h"
#include "store/item.h"
#include "store/rows.h"
#include "store/schemas.h"

#include "fuzz.h"

#define ME SLP_STR("me.0000000000000001")

static int is_known(slp_str name) {
  static const char *const ours[] = {"app",
                                     "row",
                                     "leaseKey",
                                     "owner",
                                     "epoch",
                                     "op",
                                     "ts",
                                     "claim",
                                     "cv",
                                     "avoid",
                                     "park",
                                     "leaseOwner",
                                     "leaseCounter",
                                     "checkpointOwner",
                                     "ownerSwitchesSinceCheckpoint"};
  for (size_t i = 0; i < SLP_COUNT(ours); i++)
    if (slp_str_is(name, ours[i])) return 1;
  return 0;
}

/* No table has such a row. */
static int names_twice(const slp_row *row) {
  for (size_t i = 0; i < row->n; i++)
    if (slp_row_get(row, row->attrs[i].name) != &row->attrs[i].val) return 1;
  return 0;
}

static void all_survive(const slp_row *before, const slp_row *after) {
  for (size_t i = 0; i < before->n; i++) {
    const slp_val *was = &before->attrs[i].val, *is = slp_row_get(after, before->attrs[i].name);
    if (is_known(before->attrs[i].name)) continue;
    REQUIRE(is->kind == was->kind && slp_str_eq(is->s, was->s) && is->n == was->n);
  }
}

static void take(slp_mem *mem, slp_schema *schema, const slp_row *row, const slp_parsed_row *parsed) {
  const slp_lease_row *l = &parsed->u.lease;
  slp_table_spec spec;
  slp_store_write w = {.rq = {0}};
  slp_store_rows next;
  slp_row_request d;
  const char *why = "";
  slp_operation i = {
      .kind = SLP_OPERATION_TAKE, .me = ME, .shard = l->shard, .owner = l->owner, .epoch = l->epoch};
  schema->table(schema, "leases", &spec);
  slp_row_request_init(&d, mem, &w);
  slp_store_rows_init(&next, mem);
  REQUIRE(schema->write(schema, &d, &i) == 0);
  REQUIRE(slp_str_eq(w.key.hash, parsed->key.hash) && slp_str_eq(w.key.range, parsed->key.range));
  int hand_over = l->claim.n && slp_row_get(row, SLP_STR("checkpointOwner"))->kind != SLP_VAL_NONE;
  int ended = l->position.kind == SLP_POSITION_END && !l->owner.n && spec.range_name;
  REQUIRE(slp_rows_hold(row, w.when, w.when_n) == !ended || hand_over);
  int r = slp_rows_change(&next, row, &spec, &w, &why);
  REQUIRE(r == 0 || r == SLP_EINVAL); /* a number that can't be added to */
  if (r == 0 && l->epoch < INT64_MAX) {
    slp_parsed_row then;
    schema->read(schema, &next.rows[0], &then);
    REQUIRE(then.kind == SLP_ROW_LEASE && slp_str_eq(then.u.lease.shard, l->shard));
    REQUIRE(slp_str_eq(then.u.lease.owner, ME) && then.u.lease.epoch == l->epoch + 1);
    REQUIRE(slp_position_cmp(&then.u.lease.position, &l->position) == 0 &&
            then.u.lease.position.kind == l->position.kind);
    all_survive(row, &next.rows[0]);
  }
  slp_store_rows_free(&next);
  slp_row_request_free(&d);
}

static void read_by(slp_mem *mem, slp_schema *schema, const slp_row *row) {
  slp_parsed_row parsed;
  REQUIRE(schema);
  schema->read(schema, row, &parsed);
  if (parsed.kind == SLP_ROW_BAD) REQUIRE(parsed.why && parsed.why[0]);
  if (parsed.kind == SLP_ROW_LEASE) {
    REQUIRE(parsed.u.lease.shard.n && parsed.u.lease.position.kind != SLP_POSITION_NONE);
    if (parsed.u.lease.position.kind == SLP_POSITION_AFTER)
      REQUIRE(slp_num_valid(slp_mark_seq(&parsed.u.lease.position.mark)));
    take(mem, schema, row, &parsed);
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
    read_by(mem, slp_schema_kcl(mem, SLP_STR(""), 5), &rows.rows[0]);
    read_by(mem, slp_schema_kcl(mem, SLP_STR("1:s:2"), 5), &rows.rows[0]);
    read_any(slp_schema_kinsumer(mem, "app", 300000), &rows.rows[0]);
    read_by(mem, slp_schema_vmware(mem, &(slp_position){.kind = SLP_POSITION_LATEST}), &rows.rows[0]);
    read_by(mem, slp_schema_motorway(mem, &(slp_position){.kind = SLP_POSITION_LATEST}), &rows.rows[0]);
    read_by(mem, slp_schema_kcl_rb(mem), &rows.rows[0]);
    read_by(mem, slp_schema_sloop(mem, SLP_STR("app"), SLP_STR("s"), SLP_STR("1")), &rows.rows[0]);
  }
  slp_store_rows_free(&rows);
  free(text);
  REQUIRE(mem->live_blocks == 0);
  slp_mem_drop(mem);
  return 0;
}
