/* ddb_keys.c - the units that one partition key may use, however many units its table has: 1000 for writes
 * and 3000 for reads in a second (DynamoDB Developer Guide, "Best practices for designing and using partition
 * keys effectively").
 *
 * The guide says that a partition saves up to 300 s of unused capacity. It also says that the items of a busy
 * key are spread over several partitions by their sort keys ("DynamoDB burst and adaptive capacity"). The
 * guide promises neither. So the sandbox saves up one second only: a program that works with this limit works
 * with the service too. Transactions, indexes and scans are not counted. */
#include "base/map.h"
#include "base/mem.h"
#include "sandbox/ddb.h"
#include "sandbox/model.h"

#include <stdio.h>

#define WRITES_MS INT64_C(2) /* writes for each millisecond, in halves of a unit */
#define READS_MS INT64_C(6)
#define SAVED_MS INT64_C(1000)
#define KEYS_MIN 4096u /* a table with fewer keys than this keeps them all, used or not */

struct slp_key_load {
  slp_str name; /* text of the partition key; its bytes follow this struct */
  int64_t at_ms, writes, reads;
};

static slp_key_load *refill_key_load(slp_key_load *k, int64_t now_ms) {
  int64_t passed = slp_min_i64(slp_max_i64(now_ms - k->at_ms, 0), 100 * SAVED_MS);
  k->writes = slp_min_i64(WRITES_MS * SAVED_MS, k->writes + passed * WRITES_MS);
  k->reads = slp_min_i64(READS_MS * SAVED_MS, k->reads + passed * READS_MS);
  k->at_ms = slp_max_i64(now_ms, k->at_ms);
  return k;
}

/* Removes keys whose saved units are complete again, about a second after their last use. The next removal
 * comes when the number of keys has doubled. If every new key caused a look at all keys, the time would grow
 * with the square of their number. */
static void forget_quiet(slp_box *box, slp_table *t, int64_t now_ms) {
  size_t at = 0;
  for (slp_key_load *k; (k = slp_map_each(&t->keys, &at));) {
    refill_key_load(k, now_ms);
    if (k->writes < WRITES_MS * SAVED_MS || k->reads < READS_MS * SAVED_MS) continue;
    slp_map_remove(&t->keys, k->name);
    slp_free(box->mem, k);
  }
  t->keys_max = 2 * t->keys.live;
}

/* Returns what a partition key may still use, after adding the units of the time that has passed. NULL: there
 * is no limit, or no memory for counting. */
static slp_key_load *load_of(slp_box_call *c, slp_table *t, const slp_av *hash) {
  slp_box *box = c->box;
  if (!box->o.key_limits) return NULL;
  slp_key_load *k = slp_map_get(&t->keys, hash->text);
  if (k) return refill_key_load(k, c->now_ms);
  if (t->keys.live >= slp_max_u64(KEYS_MIN, t->keys_max)) forget_quiet(box, t, c->now_ms);
  k = slp_alloc(box->mem, sizeof *k + hash->text.n);
  if (!k) return NULL;
  char *name = (char *)(k + 1);
  memcpy(name, hash->text.p, hash->text.n);
  *k = (slp_key_load){.name = {name, hash->text.n},
                      .at_ms = c->now_ms,
                      .writes = WRITES_MS * SAVED_MS,
                      .reads = READS_MS * SAVED_MS};
  if (slp_map_put(&t->keys, k->name, k) == 0) return k;
  slp_free(box->mem, k);
  return NULL;
}

/* Refuses a call. On-demand and provisioned tables have different errors, which spell the member
 * ThrottlingReasons differently (API_ThrottlingException.html). */
static int refuse_for_key_load(slp_box_call *c, const slp_table *t, const char *kind) {
  char arn[400], more[600];
  slp_table_arn(c, t, arn);
  slp_box_fail(c, t->on_demand ? "ThrottlingException" : "ProvisionedThroughputExceededException",
               "Throughput exceeds the maximum of %s units a second that one partition of the table serves.",
               kind);
  int n = snprintf(
      more, sizeof more,
      "\"%chrottlingReasons\":[{\"reason\":\"Table%sKeyRangeThroughputExceeded\",\"resource\":\"%s\"}]",
      t->on_demand ? 't' : 'T', kind, arn);
  c->error_more = slp_arena_copy(slp_call_arena(c), (slp_str){more, (size_t)n});
  if (!c->error_more.p) c->error_more.n = 0;
  return -1;
}

int slp_key_take_write(slp_box_call *c, slp_table *t, const slp_key *key, int64_t halves) {
  slp_key_load *k = load_of(c, t, key->hash);
  if (!k) return 0;
  if (k->writes < slp_min_i64(halves, WRITES_MS * SAVED_MS)) return refuse_for_key_load(c, t, "Write");
  k->writes -= halves;
  return 0;
}

int slp_key_may_read(slp_box_call *c, slp_table *t, const slp_key *key) {
  slp_key_load *k = load_of(c, t, key->hash);
  return !k || k->reads > 0 ? 0 : refuse_for_key_load(c, t, "Read");
}

void slp_key_take_read(slp_box_call *c, slp_table *t, const slp_key *key, int64_t halves) {
  slp_key_load *k = load_of(c, t, key->hash);
  if (k) k->reads -= halves;
}

void slp_keys_free(slp_box *box, slp_table *t) {
  size_t at = 0;
  for (slp_key_load *k; (k = slp_map_each(&t->keys, &at));) slp_free(box->mem, k);
  slp_map_free(&t->keys);
}
