/* ddb_cost.c - what operations cost, and the saved units of provisioned tables. Amounts are in halves of a
 * unit. */
#include "sandbox/ddb.h"
#include "sandbox/model.h"
#include "sandbox/value.h"

#include <stdio.h>

#define WRITE_BYTES 1024
#define READ_BYTES 4096
#define BURST_S 300
#define UNIT INT64_C(2)

slp_cost *slp_cost_of(slp_box_call *c, slp_cost **all, slp_table *t) {
  while (*all && (*all)->t != t) all = &(*all)->next;
  if (*all) return *all;
  *all = SLP_ARENA_NEW(slp_call_arena(c), slp_cost);
  if (!*all) {
    slp_box_no_memory(c);
    return NULL;
  }
  (*all)->t = t;
  return *all;
}

static int64_t count_size_steps(size_t size, size_t step) {
  return size ? (int64_t)((size + step - 1) / step) : 1;
}

int64_t slp_cost_write(size_t size) { return UNIT * count_size_steps(size, WRITE_BYTES); }
int64_t slp_cost_read(size_t size, int consistent) {
  return (consistent ? UNIT : 1) * count_size_steps(size, READ_BYTES);
}

static int same_keys(const slp_index *x, const slp_av *a, const slp_av *b) {
  for (uint8_t i = 0; i < x->parts_n; i++) {
    slp_str name = slp_str_of(x->part[i].name);
    if (!slp_av_equal(slp_av_member(a, name), slp_av_member(b, name))) return 0;
  }
  return 1;
}

/* Adds the cost of changing an index. If the key in the index changes, this costs two writes: the old entry
 * is deleted, and a new one is put. A change of attributes that are not in the index costs nothing. */
static int of_index(slp_box_call *c, slp_cost *to, uint32_t n, const slp_av *was, const slp_av *now,
                    int times) {
  const slp_index *x = &to->t->index[n];
  slp_arena *a = slp_call_arena(c);
  const slp_av *before = NULL, *after = NULL;
  if (was && slp_index_holds(x, was) && !(before = slp_index_part(a, to->t, x, was))) return SLP_ENOMEM;
  if (now && slp_index_holds(x, now) && !(after = slp_index_part(a, to->t, x, now))) return SLP_ENOMEM;
  int64_t old_cost = before ? slp_cost_write(slp_item_size(before)) : 0;
  int64_t new_cost = after ? slp_cost_write(slp_item_size(after)) : 0;
  int64_t cost = old_cost + new_cost;
  if (before && after && same_keys(x, before, after)) {
    cost = slp_av_equal(before, after) ? 0 : slp_max_i64(old_cost, new_cost);
  }
  to->writes[n] += cost * times;
  return 0;
}

int slp_cost_change(slp_box_call *c, slp_cost *to, const slp_av *was, const slp_av *now, int times) {
  size_t size = slp_max_u64(was ? slp_item_size(was) : 0, now ? slp_item_size(now) : 0);
  to->writes[0] += slp_cost_write(size) * times;
  for (uint32_t n = 1; n < to->t->indexes_n; n++) {
    if (of_index(c, to, n, was, now, times)) return slp_box_no_memory(c);
  }
  return 0;
}

/* ---- buckets --------------------------------------------------------------------------------- */
void slp_bucket_set(slp_bucket *b, int64_t now_ms, int64_t units) {
  *b = (slp_bucket){.units = units, .at_ms = now_ms, .thousandths = units * UNIT * BURST_S * 1000};
}

static void refill_bucket(slp_bucket *b, int64_t now_ms) {
  int64_t most = b->units * UNIT * BURST_S * 1000;
  if (now_ms > b->at_ms) {
    int64_t passed_ms = slp_min_i64(now_ms - b->at_ms, BURST_S * 1000 * 2);
    b->thousandths = slp_min_i64(most, b->thousandths + passed_ms * b->units * UNIT);
  }
  b->at_ms = now_ms;
}

static int refuse_for_throughput(slp_box_call *c, const slp_table *t, uint32_t n, const char *kind) {
  char arn[400], more[600];
  const slp_index *x = &t->index[n];
  int global = n > 0 && !x->local;
  slp_table_arn(c, t, arn);
  slp_box_fail(c, "ProvisionedThroughputExceededException",
               "The level of configured provisioned throughput for %s exceeded. Consider increasing your "
               "provisioning level with the UpdateTable API.",
               global ? "one or more global secondary indexes of the table was" : "the table was");
  int length = snprintf(
      more, sizeof more,
      "\"ThrottlingReasons\":[{\"reason\":\"%s%sProvisionedThroughputExceeded\",\"resource\":\"%s%s%s\"}]",
      global ? "Index" : "Table", kind, arn, global ? "/index/" : "", global ? x->name : "");
  c->error_more = slp_arena_copy(slp_call_arena(c), (slp_str){more, (size_t)length});
  if (!c->error_more.p) c->error_more.n = 0;
  return -1;
}

/* Returns how much of a write's cost is taken from index n. Local indexes have no units of their own, so
 * their costs are part of the table's. */
static int64_t writes_of(const slp_cost *cost, uint32_t n) {
  int64_t sum = cost->writes[n];
  for (uint32_t i = 1; n == 0 && i < cost->t->indexes_n; i++) {
    if (cost->t->index[i].local) sum += cost->writes[i];
  }
  return sum;
}

int slp_cost_take_writes(slp_box_call *c, slp_cost *cost) {
  slp_table *t = cost->t;
  if (t->on_demand) return 0;
  for (uint32_t n = 0; n < t->indexes_n; n++) {
    slp_bucket *b = &t->index[n].writes;
    if (t->index[n].local) continue;
    refill_bucket(b, c->now_ms);
    int64_t wanted = writes_of(cost, n) * 1000;
    /* An operation may cost more than a bucket can hold. Such an operation is carried out when the bucket is
     * full. */
    if (b->thousandths < wanted && b->thousandths < b->units * UNIT * BURST_S * 1000) {
      return refuse_for_throughput(c, t, n, "Write");
    }
  }
  for (uint32_t n = 0; n < t->indexes_n; n++) {
    if (!t->index[n].local) t->index[n].writes.thousandths -= writes_of(cost, n) * 1000;
  }
  return 0;
}

int slp_cost_may_read(slp_box_call *c, slp_table *t, uint32_t n) {
  if (t->on_demand) return 0;
  if (t->index[n].local) n = 0;
  refill_bucket(&t->index[n].reads, c->now_ms);
  return t->index[n].reads.thousandths > 0 ? 0 : refuse_for_throughput(c, t, n, "Read");
}

void slp_cost_take_reads(slp_box_call *c, slp_cost *cost) {
  slp_table *t = cost->t;
  if (t->on_demand) return;
  for (uint32_t n = 0; n < t->indexes_n; n++) {
    slp_bucket *b = &t->index[t->index[n].local ? 0 : n].reads;
    refill_bucket(b, c->now_ms);
    b->thousandths -= cost->reads[n] * 1000;
  }
}

/* ---- ConsumedCapacity --------------------------------------------------------------------------- */
static void put_units(slp_box_call *c, const char *key, int64_t halves) {
  char text[32];
  int n = snprintf(text, sizeof text, "%lld.%c", (long long)(halves / 2), halves % 2 ? '5' : '0');
  slp_out_key(&c->out, key);
  slp_out_raw(&c->out, (slp_str){text, (size_t)n});
}

static void put_amount(slp_box_call *c, int64_t reads, int64_t writes, int both) {
  put_units(c, "CapacityUnits", reads + writes);
  if (both && reads) put_units(c, "ReadCapacityUnits", reads);
  if (both && writes) put_units(c, "WriteCapacityUnits", writes);
}

static void put_indexes(slp_box_call *c, const slp_cost *cost, int local, int both) {
  int open = 0;
  for (uint32_t n = 1; n < cost->t->indexes_n; n++) {
    const slp_index *x = &cost->t->index[n];
    if (x->local != local || (cost->reads[n] == 0 && cost->writes[n] == 0)) continue;
    if (!open++) {
      slp_out_key(&c->out, local ? "LocalSecondaryIndexes" : "GlobalSecondaryIndexes");
      slp_out_map(&c->out);
    }
    slp_out_key(&c->out, x->name);
    slp_out_map(&c->out);
    put_amount(c, cost->reads[n], cost->writes[n], both);
    slp_out_end(&c->out);
  }
  if (open) slp_out_end(&c->out);
}

static void put_one(slp_box_call *c, const slp_cost *cost, int with_indexes, int both) {
  int64_t reads = 0, writes = 0;
  for (uint32_t n = 0; n < cost->t->indexes_n; n++) {
    reads += cost->reads[n];
    writes += cost->writes[n];
  }
  slp_out_map(&c->out);
  slp_out_put_z(&c->out, "TableName", cost->t->name);
  put_amount(c, reads, writes, both);
  if (with_indexes) {
    slp_out_key(&c->out, "Table");
    slp_out_map(&c->out);
    put_amount(c, cost->reads[0], cost->writes[0], both);
    slp_out_end(&c->out);
    put_indexes(c, cost, 0, both);
    put_indexes(c, cost, 1, both);
  }
  slp_out_end(&c->out);
}

void slp_cost_put(slp_box_call *c, const slp_cost *cost, int many, int both) {
  slp_str how = slp_box_text(c, "ReturnConsumedCapacity");
  int indexes = slp_str_is(how, "INDEXES");
  if (!indexes && !slp_str_is(how, "TOTAL")) return;
  slp_out_key(&c->out, "ConsumedCapacity");
  if (many) slp_out_list(&c->out);
  for (; cost; cost = cost->next) put_one(c, cost, indexes, both);
  if (many) slp_out_end(&c->out);
}
