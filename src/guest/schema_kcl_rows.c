/* schema_kcl_rows.c - reads those rows of KCL 3 that are not leases, as the KCL's own classes write them
 * (project amazon-kinesis-client: MigrationState, TableMigrationState, WorkerMetricStats; project
 * amazon-dynamodb-lock-client: AmazonDynamoDBLockClient). Their key is `leaseKey` in the table of leases,
 * `key` in the table APPLICATION-CoordinatorState, and `wid` in the table APPLICATION-WorkerMetricStats. */
#include "guest/schema_kcl_rows.h"

#include "base/num.h"
#include "lease/schema.h"
#include "lease/store.h"

static slp_str text(const slp_row *row, const char *name) { return slp_row_text(row, slp_str_of(name)); }
static const slp_val *get(const slp_row *row, const char *name) { return slp_row_get(row, slp_str_of(name)); }

static void bad(slp_parsed_row *f, const char *why) {
  f->kind = SLP_ROW_BAD;
  f->why = why;
}

static void read_version(const slp_row *row, slp_parsed_row *f) {
  slp_version_row *v = &f->u.version;
  static const struct {
    const char *word;
    slp_version is;
  } words[] = {{"CLIENT_VERSION_UPGRADE_FROM_2X", SLP_VERSION_UPGRADE},
               {"CLIENT_VERSION_2X", SLP_VERSION_TAKE},
               {"CLIENT_VERSION_3X_WITH_ROLLBACK", SLP_VERSION_LED},
               {"CLIENT_VERSION_3X", SLP_VERSION_LED}};
  f->kind = SLP_ROW_VERSION;
  v->name = f->key.hash;
  if (get(row, "cv")->kind == SLP_VAL_S) v->word = text(row, "cv");
  for (size_t i = 0; i < SLP_COUNT(words); i++)
    if (slp_str_is(v->word, words[i].word)) v->is = words[i].is;
}

static void read_places(const slp_row *row, slp_parsed_row *f) {
  slp_places_row *p = &f->u.places;
  static const struct {
    const char *word;
    slp_places is;
  } words[] = {{"TABLE_MIGRATION_STATUS_INIT", SLP_PLACES_APART},
               {"TABLE_MIGRATION_STATUS_DEPLOYED", SLP_PLACES_MOVING},
               {"TABLE_MIGRATION_STATUS_PENDING", SLP_PLACES_MOVING},
               {"TABLE_MIGRATION_STATUS_COMPLETE", SLP_PLACES_ONE}};
  f->kind = SLP_ROW_PLACES;
  p->name = f->key.hash;
  if (get(row, "tm")->kind == SLP_VAL_S) p->word = text(row, "tm");
  for (size_t i = 0; i < SLP_COUNT(words); i++)
    if (slp_str_is(p->word, words[i].word)) p->is = words[i].is;
}

/* Reads the row of the leader's lock. Its leaseDuration is a text with a number of ms. */
static void read_lock(const slp_row *row, slp_parsed_row *f) {
  slp_lock_row *l = &f->u.lock;
  const slp_val *lease = get(row, "leaseDuration");
  f->kind = SLP_ROW_LOCK;
  l->name = f->key.hash;
  l->owner = text(row, "ownerName");
  l->version = text(row, "recordVersionNumber");
  l->released = slp_str_is(text(row, "isReleased"), "1");
  if (lease->kind != SLP_VAL_S || slp_parse_u64(lease->s, &l->lease_ms))
    bad(f, "its leaseDuration is no number of milliseconds");
  else if (!l->version.n)
    bad(f, "it has no recordVersionNumber");
}

/* Returns 1 if `sts`, in DynamoDB's JSON, is a map with an entry C, which has averages of the processor's
 * load. */
static int tells_cpu(const slp_val *sts) {
  static const char mark[] = "\"C\"";
  return sts->kind == SLP_VAL_OTHER && memmem(sts->s.p, sts->s.n, mark, sizeof mark - 1) != NULL;
}

static void read_load(const slp_row *row, slp_parsed_row *f) {
  slp_load_row *l = &f->u.load;
  f->kind = SLP_ROW_LOAD;
  l->worker = f->key.hash;
  l->wall_s = slp_row_int(row, SLP_STR("lut"), -1);
  l->cpu = (uint8_t)tells_cpu(get(row, "sts"));
  if (l->wall_s < 0) bad(f, "its lut is no time");
}

/* Returns 1 if the key looks like that of a lease. If a row with such a key is no lease, it is reported to
 * the user, because it prevents the lease from being created and taken. */
static int keeps_a_lease_away(slp_str key) {
  static const char mark[] = "shardId-";
  return key.n && memmem(key.p, key.n, mark, sizeof mark - 1) != NULL;
}

void slp_kcl_read_other(const slp_row *row, slp_parsed_row *f) {
  slp_str wid = text(row, "wid"), entity = text(row, "entityType"), key = f->key.hash;
  if (!key.n) key = text(row, "key");
  f->key.hash = key.n ? key : wid;
  if (!f->key.hash.n) return;
  if (!key.n || slp_str_is(entity, "WORKER_METRIC_STATS"))
    read_load(row, f);
  else if (slp_str_is(key, "Migration3.0"))
    read_version(row, f);
  else if (slp_str_is(key, "TableMigration3.5"))
    read_places(row, f);
  else if (slp_str_is(key, "Leader") && (slp_str_is(entity, "LEADER") || text(row, "ownerName").n))
    read_lock(row, f);
  else if (!entity.n && keeps_a_lease_away(text(row, "leaseKey")))
    bad(f, "it has neither leaseCounter nor checkpoint");
}
