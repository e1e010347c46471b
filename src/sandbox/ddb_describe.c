/* ddb_describe.c - answers DescribeTable, ListTables and the requests about time to live. */
#include "base/list.h"
#include "base/mem.h"
#include "sandbox/changes.h"
#include "sandbox/ddb.h"
#include "sandbox/model.h"
#include "sandbox/value.h"

#include <stdio.h>

static void put_key_schema(slp_box_out *o, const slp_index *x) {
  slp_out_key(o, "KeySchema");
  slp_out_list(o);
  for (uint8_t i = 0; i < x->parts_n; i++) {
    slp_out_map(o);
    slp_out_put_z(o, "AttributeName", x->part[i].name);
    slp_out_put_z(o, "KeyType", i ? "RANGE" : "HASH");
    slp_out_end(o);
  }
  slp_out_end(o);
}

static void put_definitions(slp_box_out *o, const slp_table *t) {
  slp_out_key(o, "AttributeDefinitions");
  slp_out_list(o);
  for (uint32_t n = 0; n < t->indexes_n; n++) {
    for (uint8_t i = 0; i < t->index[n].parts_n; i++) {
      int told = 0;
      for (uint32_t m = 0; m <= n; m++) {
        for (int k = 0; k < (m == n ? i : t->index[m].parts_n); k++) {
          told |= strcmp(t->index[m].part[k].name, t->index[n].part[i].name) == 0;
        }
      }
      if (told) continue;
      slp_out_map(o);
      slp_out_put_z(o, "AttributeName", t->index[n].part[i].name);
      slp_out_put_z(o, "AttributeType", slp_av_kind_name(t->index[n].part[i].kind));
      slp_out_end(o);
    }
  }
  slp_out_end(o);
}

static void put_throughput(slp_box_out *o, const slp_index *x) {
  slp_out_key(o, "ProvisionedThroughput");
  slp_out_map(o);
  slp_out_put_i64(o, "NumberOfDecreasesToday", 0);
  slp_out_put_i64(o, "ReadCapacityUnits", x->reads.units);
  slp_out_put_i64(o, "WriteCapacityUnits", x->writes.units);
  slp_out_end(o);
}

/* Returns the number of items in an index. */
static uint64_t count_index_items(const slp_table *t, const slp_index *x) {
  uint64_t n = 0;
  for (size_t i = 0; i < t->rows_n; i++) {
    const slp_item *item = slp_row_at(t->rows[i], INT64_MAX);
    n += item && slp_index_holds(x, item->value);
  }
  return n;
}

static void put_index(slp_box_call *c, const slp_table *t, const slp_index *x) {
  static const char *const projections[] = {"ALL", "KEYS_ONLY", "INCLUDE"};
  slp_box_out *o = &c->out;
  char arn[400], full[680];
  slp_out_map(o);
  slp_out_put_z(o, "IndexName", x->name);
  put_key_schema(o, x);
  slp_out_key(o, "Projection");
  slp_out_map(o);
  slp_out_put_z(o, "ProjectionType", projections[x->projection]);
  if (x->some_n) {
    slp_out_key(o, "NonKeyAttributes");
    slp_out_list(o);
    for (uint32_t i = 0; i < x->some_n; i++) slp_out_text(o, slp_str_of(x->some[i]));
    slp_out_end(o);
  }
  slp_out_end(o);
  if (!x->local) {
    slp_out_put_z(o, "IndexStatus", x->creating ? "CREATING" : "ACTIVE");
    put_throughput(o, x);
  }
  slp_table_arn(c, t, arn);
  snprintf(full, sizeof full, "%s/index/%.255s", arn, x->name);
  slp_out_put_z(o, "IndexArn", full);
  slp_out_put_i64(o, "ItemCount", (int64_t)count_index_items(t, x));
  slp_out_end(o);
}

static void put_indexes(slp_box_call *c, const slp_table *t, int local) {
  int open = 0;
  for (uint32_t i = 1; i < t->indexes_n; i++) {
    if (t->index[i].local != local) continue;
    if (!open++) {
      slp_out_key(&c->out, local ? "LocalSecondaryIndexes" : "GlobalSecondaryIndexes");
      slp_out_list(&c->out);
    }
    put_index(c, t, &t->index[i]);
  }
  if (open) slp_out_end(&c->out);
}

void slp_table_put(slp_box_call *c, slp_table *t) {
  slp_box_out *o = &c->out;
  char arn[400];
  slp_table_arn(c, t, arn);
  slp_out_map(o);
  put_definitions(o, t);
  slp_out_put_z(o, "TableName", t->name);
  put_key_schema(o, &t->index[0]);
  slp_out_put_z(o, "TableStatus", slp_box_status_name(t->status));
  slp_out_key(o, "CreationDateTime");
  slp_out_time(o, t->created_ms);
  put_throughput(o, &t->index[0]);
  slp_out_put_i64(o, "TableSizeBytes", (int64_t)t->bytes);
  slp_out_put_i64(o, "ItemCount", (int64_t)t->items);
  slp_out_put_z(o, "TableArn", arn);
  slp_out_put_z(o, "TableId", t->id);
  if (t->on_demand) {
    slp_out_key(o, "BillingModeSummary");
    slp_out_map(o);
    slp_out_put_z(o, "BillingMode", "PAY_PER_REQUEST");
    slp_out_end(o);
  }
  put_indexes(c, t, 1);
  put_indexes(c, t, 0);
  slp_changes_describe(c, t);
  slp_out_key(o, "DeletionProtectionEnabled");
  slp_out_bool(o, t->protected);
  slp_out_end(o);
}

int slp_table_op_describe(slp_box_call *c) {
  slp_str name = slp_table_bare_name(slp_box_text(c, "TableName"));
  slp_table *t = slp_table_find(c->box, name);
  if (!t) {
    return slp_box_fail(c, "ResourceNotFoundException", "Requested resource not found: Table: %.*s not found",
                        (int)slp_min_u64(name.n, 300), name.n ? name.p : "");
  }
  slp_out_map(&c->out);
  slp_out_key(&c->out, "Table");
  slp_table_put(c, t);
  slp_out_end(&c->out);
  return 0;
}

int slp_table_op_list(slp_box_call *c) {
  slp_str after = slp_box_text(c, "ExclusiveStartTableName");
  int64_t limit = slp_box_int(c, "Limit", 100), n = 0;
  const char *last = NULL;
  slp_out_map(&c->out);
  slp_out_key(&c->out, "TableNames");
  slp_out_list(&c->out);
  SLP_LIST_EACH(&c->box->ddb->tables, it) {
    const slp_table *t = SLP_OWNER(it, slp_table, link);
    size_t length = strlen(t->name), common = slp_min_u64(length, after.n);
    int order = after.p && common ? memcmp(t->name, after.p, common) : 0;
    if (after.p && (order < 0 || (order == 0 && length <= after.n))) continue;
    if (n++ == limit) break;
    slp_out_text(&c->out, slp_str_of(t->name));
    last = t->name;
  }
  slp_out_end(&c->out);
  if (n > limit) slp_out_put_z(&c->out, "LastEvaluatedTableName", last);
  slp_out_end(&c->out);
  return 0;
}

/* ---- time to live ------------------------------------------------------------------------------- */
int slp_table_op_ttl(slp_box_call *c) {
  uint32_t spec;
  int bad = 0;
  slp_table *t = slp_table_of(c);
  if (!t || slp_in_map(c, 0, "TimeToLiveSpecification", &spec)) return -1;
  slp_str name = slp_in_text(c, spec, "AttributeName", &bad);
  int on = slp_in_flag(c, spec, "Enabled");
  if (bad) return -1;
  if (name.n < 1 || name.n > 255) {
    return slp_refuse(
        c,
        "1 validation error detected: Value at 'timeToLiveSpecification.attributeName' failed to "
        "satisfy constraint: Member must have length greater than or equal to 1");
  }
  if (on == (t->ttl_name != NULL))
    return slp_refuse(c, "TimeToLive is already %s", on ? "enabled" : "disabled");
  if (!on && !slp_str_is(name, t->ttl_name)) {
    return slp_refuse(c, "TimeToLive is active on a different AttributeName: current AttributeName is %s",
                      t->ttl_name);
  }
  char *copy = on ? slp_strdup(c->box->mem, name) : NULL;
  if (on && !copy) return slp_box_no_memory(c);
  slp_free(c->box->mem, t->ttl_name);
  t->ttl_name = copy;
  t->ttl_swept_ms = INT64_MIN / 2;
  slp_out_map(&c->out);
  slp_out_key(&c->out, "TimeToLiveSpecification");
  slp_out_map(&c->out);
  slp_out_key(&c->out, "AttributeName");
  slp_out_text(&c->out, name);
  slp_out_key(&c->out, "Enabled");
  slp_out_bool(&c->out, on);
  slp_out_end(&c->out);
  slp_out_end(&c->out);
  return 0;
}

int slp_table_op_describe_ttl(slp_box_call *c) {
  slp_table *t = slp_table_of(c);
  if (!t) return -1;
  slp_out_map(&c->out);
  slp_out_key(&c->out, "TimeToLiveDescription");
  slp_out_map(&c->out);
  slp_out_put_z(&c->out, "TimeToLiveStatus", t->ttl_name ? "ENABLED" : "DISABLED");
  if (t->ttl_name) slp_out_put_z(&c->out, "AttributeName", t->ttl_name);
  slp_out_end(&c->out);
  slp_out_end(&c->out);
  return 0;
}
