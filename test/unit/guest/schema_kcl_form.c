/* Rows of the KCL that name their stream, and rows that do not: which of them are a worker's own, and which tables
 * nobody joins. The keys are as MultiStreamLease.getLeaseKey and StreamIdentifier.serialize of
 * amazon-kinesis-client 3.1.0 make them. */
#include "guest/schema_kcl_form.h"
#include "guest/guest_schemas.h"

#include "check.h"

#define NAME "123456789012:orders:1700000000"
#define ALIAS "123456789012:eu-west-1$123456789012$orders$2023-11-14T22_13_20.000:1"
#define OTHER "123456789012:payments:1600000000:shardId-000000000003"
#define FORMER "123456789012:orders:1699999999:shardId-000000000000"

static const slp_str names[SLP_KCL_NAMES] = {{NAME, sizeof NAME - 1}, {ALIAS, sizeof ALIAS - 1}};

static slp_kcl_key kind(const char *key) {
  slp_str shard;
  return slp_kcl_key_of(names, slp_str_of(key), &shard);
}

TEST(a_key_says_whose_it_is) {
  slp_str shard;
  CHECK(kind("shardId-000000000000") == SLP_KCL_KEY_PLAIN);
  CHECK(slp_kcl_key_of(names, SLP_STR(NAME ":shardId-7"), &shard) == SLP_KCL_KEY_OURS);
  CHECK(slp_str_is(shard, "shardId-7"));
  CHECK(slp_kcl_key_of(names, SLP_STR(ALIAS ":shardId-8-ab"), &shard) == SLP_KCL_KEY_ALIAS);
  CHECK(slp_str_is(shard, "shardId-8-ab"));
  CHECK(kind(OTHER) == SLP_KCL_KEY_OTHER);
  CHECK(kind("999999999999:orders:1500000000:shardId-0") == SLP_KCL_KEY_OTHER);
  CHECK(kind(FORMER) == SLP_KCL_KEY_FORMER);
}

TEST(a_stream_that_is_named_with_a_time_at_which_it_was_not_made_is_told_from_an_earlier_one) {
  CHECK(kind("123456789012:orders:12345:shardId-0") == SLP_KCL_KEY_MISNAMED);
  CHECK(kind("123456789012:orders:1700000001:shardId-0") == SLP_KCL_KEY_MISNAMED);
  CHECK(kind("123456789012:orders:x:shardId-0") == SLP_KCL_KEY_MISNAMED);
  CHECK(kind("999999999999:orders:1700000000:shardId-0") == SLP_KCL_KEY_MISNAMED);
}

TEST(what_is_none_of_these_is_odd) {
  CHECK(kind("orders:shardId-0") == SLP_KCL_KEY_ODD);
  CHECK(kind("1:orders:shardId-0") == SLP_KCL_KEY_ODD);
  CHECK(kind("1::1:shardId-0") == SLP_KCL_KEY_ODD);
  CHECK(kind("1:orders:1:") == SLP_KCL_KEY_ODD);
  CHECK(kind(":") == SLP_KCL_KEY_ODD);
}

/* The stream of a table has a label, which has colons of its own. */
TEST(labels_of_tables_streams_are_told_apart) {
  static const slp_str of_table[SLP_KCL_NAMES] = {{"1:t:2024-01-02T03:04:05.678", 27}, {NULL, 0}};
  slp_str shard;
  CHECK(slp_kcl_key_of(of_table, SLP_STR("1:t:2024-01-02T03:04:05.678:shardId-1-a"), &shard) ==
        SLP_KCL_KEY_OURS);
  CHECK(slp_str_is(shard, "shardId-1-a"));
  CHECK(slp_kcl_key_of(of_table, SLP_STR("1:t:2023-01-02T03:04:05.678:shardId-1-a"), &shard) ==
        SLP_KCL_KEY_FORMER);
  CHECK(slp_kcl_key_of(of_table, SLP_STR("1:u:2023-01-02T03:04:05.678:shardId-1-a"), &shard) ==
        SLP_KCL_KEY_OTHER);
}

/* ---- tables --------------------------------------------------------------------------------------- */

static slp_table_form form;
static slp_kcl_key decide(int several, const char *a, const char *b) {
  slp_kcl_keys keys = {.n = {0}};
  if (a) slp_kcl_keys_count(&keys, names, slp_str_of(a));
  if (b) slp_kcl_keys_count(&keys, names, slp_str_of(b));
  return slp_kcl_form(&keys, names, several, &form);
}

static void joins(int several, const char *a, const char *b, slp_kcl_key as, const char *passed) {
  CHECK_INT(decide(several, a, b), as);
  CHECK_STR(form.refused, "");
  CHECK(passed ? strstr(form.passed, passed) != NULL : !form.passed[0]);
}

TEST(a_table_is_joined_in_the_form_that_it_has) {
  joins(0, NULL, NULL, SLP_KCL_KEY_PLAIN, NULL);
  joins(0, "shardId-0", NULL, SLP_KCL_KEY_PLAIN, NULL);
  joins(0, NAME ":shardId-0", NULL, SLP_KCL_KEY_OURS, NULL);
  joins(0, ALIAS ":shardId-0-a", NULL, SLP_KCL_KEY_ALIAS, NULL);
  joins(1, NULL, NULL, SLP_KCL_KEY_OURS, NULL);
  joins(1, NAME ":shardId-0", OTHER, SLP_KCL_KEY_OURS, NULL);
  joins(1, ALIAS ":shardId-0-a", NULL, SLP_KCL_KEY_ALIAS, NULL);
}

TEST(rows_of_other_streams_are_named_and_their_form_is_kept) {
  joins(0, OTHER, NULL, SLP_KCL_KEY_OURS, "rows of other streams are ignored (1, as " OTHER ")");
  joins(0, NAME ":shardId-0", OTHER, SLP_KCL_KEY_OURS, OTHER);
  joins(0, FORMER, NULL, SLP_KCL_KEY_OURS, "rows of an earlier stream of this name");
  joins(1, FORMER, OTHER, SLP_KCL_KEY_OURS, FORMER);
}

static void refuses(int several, const char *a, const char *b, const char *why) {
  decide(several, a, b);
  if (!strstr(form.refused, why) || !strstr(form.refused, a)) CHECK_FAIL("%s", form.refused);
}

TEST(a_table_that_is_not_understood_is_joined_by_nobody) {
  for (int several = 0; several < 2; several++) {
    refuses(several, "shardId-0", NAME ":shardId-0", "two applications");
    refuses(several, "shardId-0", OTHER, "two applications");
    refuses(several, NAME ":shardId-0", ALIAS ":shardId-0-a", "in two ways");
    refuses(several, "123456789012:orders:12345:shardId-0", NULL, "but not as " NAME);
    refuses(several, "a:b", NULL, "neither a shard nor ACCOUNT:NAME:EPOCH:SHARD");
  }
  refuses(1, "shardId-0", NULL, "--migrate");
  /* One odd row among others is named when the table is read, and the others are used. */
  CHECK(decide(0, "a:b", "shardId-0") == SLP_KCL_KEY_PLAIN && !form.refused[0]);
}

/* ---- the layout ----------------------------------------------------------------------------------- */

static slp_mem *mem;
static slp_schema *schema;

static slp_parsed_row parsed;
static void see(const char *key) {
  slp_attr attrs[] = {{SLP_STR("leaseKey"), {.kind = SLP_VAL_S, .s = slp_str_of(key)}},
                      {SLP_STR("leaseCounter"), {.kind = SLP_VAL_N, .s = SLP_STR("7")}},
                      {SLP_STR("checkpoint"), {.kind = SLP_VAL_S, .s = SLP_STR("49")}}};
  schema->read(schema, &(slp_row){attrs, 3}, &parsed);
}

static void find(const char *key) {
  slp_attr attrs[] = {{SLP_STR("leaseKey"), {.kind = SLP_VAL_S, .s = slp_str_of(key)}},
                      {SLP_STR("leaseCounter"), {.kind = SLP_VAL_N, .s = SLP_STR("7")}}};
  slp_row row = {attrs, 2};
  schema->form(schema, &(slp_store_rows){.rows = &row, .n = 1}, &form);
  CHECK_STR(form.refused, "");
}

static const slp_str *made(slp_str *name) {
  static slp_str key;
  static char room[200];
  slp_store_write w = {.rq = {0}};
  slp_row_request d;
  slp_operation i = {
      .kind = SLP_OPERATION_CREATE, .shard = SLP_STR("shardId-5"), .position = {.kind = SLP_POSITION_OLDEST}};
  slp_row_request_init(&d, mem, &w);
  CHECK(schema->write(schema, &d, &i) == 0);
  memcpy(room, w.key.hash.p, w.key.hash.n);
  key = (slp_str){room, w.key.hash.n};
  *name = (slp_str){NULL, 0};
  for (size_t k = 0; k < w.changes_n; k++)
    if (slp_str_is(w.changes[k].name, "streamName")) name->n = w.changes[k].val.s.n;
  slp_row_request_free(&d);
  return &key;
}

TEST(what_is_read_and_made_goes_by_what_was_found) {
  slp_str name;
  mem = slp_mem_new(NULL, NULL);
  schema = slp_schema_kcl(mem, (slp_str){"", 0}, 0);
  CHECK(slp_schema_kcl_named(schema, names[0], names[1]) == 0);
  find(NAME ":shardId-0");
  CHECK(!schema->is_other_streams);
  see(NAME ":shardId-0");
  CHECK(parsed.kind == SLP_ROW_LEASE && slp_str_is(parsed.u.lease.shard, "shardId-0"));
  see("shardId-0");
  CHECK(parsed.kind == SLP_ROW_BAD && !parsed.foreign);
  see(OTHER);
  CHECK(parsed.kind == SLP_ROW_ELSEWHERE);
  CHECK(slp_str_is(*made(&name), NAME ":shardId-5") && name.n == sizeof NAME - 1);
  find(ALIAS ":shardId-0-a");
  CHECK(slp_str_is(*made(&name), ALIAS ":shardId-5") && name.n == sizeof ALIAS - 1);
  find("shardId-0");
  CHECK(schema->is_other_streams);
  see("shardId-0");
  CHECK(parsed.kind == SLP_ROW_LEASE);
  see(NAME ":shardId-0");
  CHECK(parsed.kind == SLP_ROW_BAD);
  CHECK(slp_str_is(*made(&name), "shardId-5") && !name.n);
  schema->free(schema);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}
