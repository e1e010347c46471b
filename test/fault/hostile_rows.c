/* hostile_rows.c - hostile rows in the lease table: of every schema, every attribute of every row that a worker at work
 * has there (its key aside) becomes each of: gone, another type, empty, huge, control characters, numbers beyond
 * all bounds, another's name. A worker whose table that happens to, in virtual time, stays within the bounds of
 * the lane, tells nothing that moves a terminal, and either reads on or says that something is wrong.
 *
 *   hostile_rows               all of them, and a table of a million rows of others
 *   hostile_rows sample N      one of N, and a table of 20,000 rows
 *   hostile_rows show TEXT     those whose names hold TEXT, with what they cost */
#include "../check.h"
#include "hostile_run.h"
#include "store/item.h"

#include <stdio.h>
#include <stdlib.h>

#define AT_MS 9000
#define SECONDS 30
#define HUGE_TEXT 100000

/* ---- what becomes of an attribute ----------------------------------------------------------------------- */
typedef struct change {
  const char *name, *value; /* NULL: it is removed */
} change;
static const change changes[] = {
    {"gone", NULL},
    {"one", "{\"N\":\"1\"}"},
    {"negative", "{\"N\":\"-1\"}"},
    {"a fraction", "{\"N\":\"0.5\"}"},
    {"2^64", "{\"N\":\"18446744073709551616\"}"},
    {"1e125", "{\"N\":\"1e125\"}"},
    {"empty", "{\"S\":\"\"}"},
    {"a text", "{\"S\":\"x\"}"},
    {"controls", "{\"S\":\"\\u001b[2J\\u001b]0;x\\u0007\\r\\n\\u009b31m\\u202e\\u2028\\u0000\"}"},
    {"huge", "HUGE"},
    {"an instance", "{\"S\":\"other.0123456789abcdef0123456789abcdef\"}"},
    {"the end", "{\"S\":\"SHARD_END\"}"},
    {"digits", "{\"S\":\"99999999999999999999999999999999999999999999999999999999999999999999\"}"},
    {"true", "{\"BOOL\":true}"},
    {"null", "{\"NULL\":true}"},
    {"bytes", "{\"B\":\"AP8bWw==\"}"},
    {"a set", "{\"SS\":[\"a\",\"\\u001b[2J\"]}"},
    {"a list", "{\"L\":[{\"M\":{\"a\":{\"L\":[{\"M\":{\"b\":{\"L\":[]}}}]}}}]}"},
};

/* ---- what is in the tables -------------------------------------------------------------------------------- */
typedef struct place {
  uint32_t want, n;       /* of all attributes in all tables: the one that is changed; how many there were */
  uint32_t more;          /* rows that are put in besides */
  const change *how;      /* NULL: none is changed */
  char at[200], why[200]; /* which, and why it was refused */
  int status;
} place;

static int dynamo(run *r, const char *op, slp_buf *rq, slp_buf *ret) {
  char target[60];
  snprintf(target, sizeof target, "DynamoDB_20120810.%s", op);
  int status = slp_hostile_ask(r, target, slp_buf_str(rq), ret);
  slp_buf_free(rq);
  return status;
}

/* The names in a table's KeySchema. */
static int key_names(run *r, const char *table, char names[2][60]) {
  slp_buf rq, ret;
  int n = 0;
  slp_buf_init(&rq, r->w->mem, 1 << 20);
  slp_buf_init(&ret, r->w->mem, SIZE_MAX / 2);
  slp_buf_addf(&rq, "{\"TableName\":\"%s\"}", table);
  CHECK_INT(dynamo(r, "DescribeTable", &rq, &ret), 200);
  slp_buf_add_char(&ret, 0);
  const char *at = strstr(ret.p, "\"KeySchema\":["), *end = at ? strchr(at, ']') : NULL;
  static const char name[] = "\"AttributeName\":\"";
  while (end && n < 2 && (at = strstr(at, name)) && at < end) {
    at += sizeof name - 1;
    snprintf(names[n++], 60, "%.*s", (int)strcspn(at, "\""), at);
  }
  slp_buf_free(&ret);
  return n;
}

static void write_change(run *r, slp_buf *rq, const char *table, const slp_row *row, char keys[2][60],
                         int keys_n, const slp_attr *a) {
  const place *p = r->arg;
  static char huge[HUGE_TEXT + 1];
  int is_huge = p->how->value && strcmp(p->how->value, "HUGE") == 0;
  slp_jw w = slp_jw_begin(rq);
  slp_jw_z(&w, "TableName", table);
  slp_jw_z(&w, "UpdateExpression", p->how->value ? "SET #a = :v" : "REMOVE #a");
  slp_jw_object(&w, "ExpressionAttributeNames");
  slp_jw_str(&w, "#a", a->name);
  slp_jw_object_end(&w);
  if (p->how->value) slp_jw_object(&w, "ExpressionAttributeValues");
  if (is_huge) {
    memset(huge, 'x', HUGE_TEXT);
    slp_jw_object(&w, ":v");
    slp_jw_z(&w, "S", huge);
    slp_jw_object_end(&w);
  } else if (p->how->value) {
    slp_jw_raw(&w, ":v", slp_str_of(p->how->value));
  }
  if (p->how->value) slp_jw_object_end(&w);
  slp_jw_object(&w, "Key");
  for (int i = 0; i < keys_n; i++) {
    slp_jw_object(&w, keys[i]);
    slp_jw_str(&w, "S", slp_row_text(row, slp_str_of(keys[i])));
    slp_jw_object_end(&w);
  }
  slp_jw_object_end(&w);
  CHECK_INT(slp_jw_object_end(&w), 0);
}

static void change_one(run *r, const char *table, const slp_row *row, char keys[2][60], int keys_n,
                       const slp_attr *a) {
  place *p = r->arg;
  slp_buf rq, ret;
  slp_buf_init(&rq, r->w->mem, 1 << 20);
  slp_buf_init(&ret, r->w->mem, SIZE_MAX / 2);
  write_change(r, &rq, table, row, keys, keys_n, a);
  slp_str key = slp_row_text(row, slp_str_of(keys[keys_n - 1]));
  snprintf(p->at, sizeof p->at, "%.40s %.*s %.*s", table, (int)slp_min_u64(key.n, 60), key.p,
           (int)slp_min_u64(a->name.n, 40), a->name.p);
  p->status = dynamo(r, "UpdateItem", &rq, &ret);
  if (p->status != 200) snprintf(p->why, sizeof p->why, "%.*s", (int)slp_min_u64(ret.n, 199), ret.p);
  slp_buf_free(&ret);
}

/* ---- rows of others ------------------------------------------------------------------------------------- */
/* Rows of leases of shards that the stream does not have, as far as a key alone says it. */
static void put_rows(run *r, const char *table, const slp_row *like) {
  const place *p = r->arg;
  char keys[2][60];
  int keys_n = key_names(r, table, keys);
  slp_buf rq, ret;
  slp_buf_init(&rq, r->w->mem, 1 << 20);
  slp_buf_init(&ret, r->w->mem, 1 << 20);
  slp_str hash = slp_row_text(like, slp_str_of(keys[0]));
  for (uint32_t i = 0; i < p->more; i++) {
    slp_buf_addf(&rq, "{\"TableName\":\"%s\",\"Item\":{", table);
    if (keys_n == 2) slp_buf_addf(&rq, "\"%s\":{\"S\":\"%.*s\"},", keys[0], (int)hash.n, hash.p);
    slp_buf_addf(&rq, "\"%s\":{\"S\":\"%sshardId-9%011u\"},\"leaseCounter\":{\"N\":\"1\"}}}",
                 keys[keys_n - 1], keys_n == 2 ? "l/" : "", i);
    int status = dynamo(r, "PutItem", &rq, &ret);
    if (status == 400 && memmem(ret.p, ret.n, "Throttling", 10)) { /* a thousand a second */
      slp_world_pass(r->w, 1000);
      r->waited++;
      i--;
      continue;
    }
    if (status != 200) CHECK_FAIL("PutItem: %d %.*s", status, (int)ret.n, ret.p);
  }
  slp_buf_free(&ret);
}

static void each_attribute(run *r, const char *table, const slp_row *row, char keys[2][60], int keys_n) {
  place *p = r->arg;
  for (size_t i = 0; i < row->n; i++) {
    int is_key = 0;
    for (int k = 0; k < keys_n; k++) is_key |= slp_str_is(row->attrs[i].name, keys[k]);
    if (!is_key && p->n++ == p->want && p->how) change_one(r, table, row, keys, keys_n, &row->attrs[i]);
  }
}

static void each_row(run *r, const char *table) {
  char keys[2][60];
  int keys_n = key_names(r, table, keys), t;
  slp_buf rq, ret;
  slp_store_rows rows;
  slp_json j;
  CHECK(keys_n > 0);
  slp_buf_init(&rq, r->w->mem, 1 << 20);
  slp_buf_init(&ret, r->w->mem, SIZE_MAX / 2);
  slp_store_rows_init(&rows, r->w->mem);
  slp_buf_addf(&rq, "{\"TableName\":\"%s\"}", table);
  CHECK_INT(dynamo(r, "Scan", &rq, &ret), 200);
  slp_json_begin(&j, ret.p, ret.n);
  CHECK_INT(slp_json_next(&j), SLP_JSON_OBJECT);
  while ((t = slp_json_next(&j)) == SLP_JSON_KEY) {
    if (!slp_str_is(j.text, "Items")) {
      CHECK_INT(slp_json_skip(&j), 0);
      continue;
    }
    CHECK_INT(slp_json_next(&j), SLP_JSON_ARRAY);
    while ((t = slp_json_next(&j)) == SLP_JSON_OBJECT) CHECK_INT(slp_item_read_rest(&j, &rows), 1);
  }
  for (size_t i = 0; i < rows.n; i++) each_attribute(r, table, &rows.rows[i], keys, keys_n);
  if (((place *)r->arg)->more && rows.n) put_rows(r, table, &rows.rows[0]);
  slp_store_rows_free(&rows);
  slp_buf_free(&ret);
}

static void each_table(run *r) {
  slp_buf rq, ret;
  slp_json j;
  slp_buf_init(&rq, r->w->mem, 1 << 20);
  slp_buf_init(&ret, r->w->mem, 1 << 20);
  slp_buf_add_z(&rq, "{}");
  CHECK_INT(dynamo(r, "ListTables", &rq, &ret), 200);
  slp_json_begin(&j, ret.p, ret.n);
  for (int t; (t = slp_json_next(&j)) > 0;) {
    char table[200];
    if (t != SLP_JSON_STRING) continue;
    snprintf(table, sizeof table, "%.*s", (int)j.text.n, j.text.p);
    each_row(r, table);
  }
  slp_buf_free(&ret);
}

/* ---- runs ------------------------------------------------------------------------------------------------- */
static void put_records(run *r) {
  slp_buf ret;
  slp_buf_init(&ret, r->w->mem, 1 << 20);
  static const char body[] =
      "{\"StreamName\":\"orders\",\"Records\":[{\"Data\":\"MA==\",\"PartitionKey\":\"a\"},"
      "{\"Data\":\"MQ==\",\"PartitionKey\":\"b\"},{\"Data\":\"Mg==\",\"PartitionKey\":\"c\"}]}";
  CHECK_INT(slp_hostile_ask(r, "Kinesis_20131202.PutRecords", slp_str_of(body), &ret), 200);
  slp_buf_free(&ret);
}

static void at_work(run *r) {
  r->records = r->told = r->errors = 0;
  put_records(r);
  each_table(r);
}

static sums all;
/* A sample goes diagonally through attributes and changes. A step through all combinations would, having a factor in
 * common with the number of changes, never play half of them. */
static uint32_t every = 1, attributes, played[SLP_COUNT(changes)];

/* It reads on, or it says that something is wrong: never silence. */
static int is_silent(const run *r) { return r->records < 3 && !r->errors && !r->told; }

static int play(const char *schema, place *p, const char *name, int show) {
  run r = {
      .schema = schema, .at_ms = at_work, .at = AT_MS, .seconds = SECONDS, .arg = p, .many = p->more > 0};
  slp_hostile_play(&r);
  r.n = p->status == 200 || p->more;
  char whole[300];
  snprintf(whole, sizeof whole, "%s %s %s", schema, p->at, name);
  int bad = slp_hostile_judge(&r, &all, whole, show);
  if (show && p->why[0]) printf("     refused: %s\n", p->why);
  if (is_silent(&r)) {
    printf("OVER %s: %u of 3 records, and not a word\n", whole, r.records);
    all.broken += !bad;
  }
  return bad;
}

static void each_change(const char *schema, const char *only) {
  place counted = {.want = UINT32_MAX};
  run r = {.schema = schema, .at_ms = at_work, .at = AT_MS, .seconds = 1, .arg = &counted};
  slp_hostile_play(&r);
  CHECK(counted.n > 5);
  for (uint32_t i = 0; i < counted.n; i++, attributes++) {
    for (uint32_t k = 0; k < SLP_COUNT(changes); k++) {
      char name[100];
      snprintf(name, sizeof name, "%u %s", i, changes[k].name);
      if ((only && !strstr(name, only)) || (attributes + k) % every) continue;
      played[k]++;
      place p = {.want = i, .how = &changes[k]};
      play(schema, &p, name, only != NULL);
    }
  }
}

int main(int argc, char **argv) {
  static const char *const schemas[] = {"sloop", "kcl", "vmware-go-kcl", "kinsumer", "motorway", "kcl-rb"};
  const char *only = argc == 3 && strcmp(argv[1], "show") == 0 ? argv[2] : NULL;
  if (argc == 3 && strcmp(argv[1], "sample") == 0) every = (uint32_t)strtoul(argv[2], NULL, 10);
  if (!every) every = 1;
  for (size_t i = 0; i < SLP_COUNT(schemas); i++) each_change(schemas[i], only);
  for (size_t k = 0; k < SLP_COUNT(changes) && !only && every <= attributes; k++)
    if (!played[k]) CHECK_FAIL("\"%s\" is never played", changes[k].name);
  for (size_t i = 0; i < 2 && !only; i++) {
    place p = {.want = UINT32_MAX, .more = every > 1 ? 20000 : 1000000};
    play(schemas[i], &p, "many rows", 0);
  }
  return slp_hostile_sums(&all);
}
