/* kcl3_rows.c - reads those rows of KCL 3 that are not leases, as the KCL's own classes write them (project
 * amazon-kinesis-client: MigrationState, TableMigrationState, WorkerMetricStats; project
 * amazon-dynamodb-lock-client: AmazonDynamoDBLockClient). The key of these rows is `leaseKey` in the table of
 * leases, `key` in the table APPLICATION-CoordinatorState, and `wid` in the table
 * APPLICATION-WorkerMetricStats. */
#include "guest/kcl3_rows.h"

#include "base/num.h"
#include "lease/schema.h"
#include "lease/store.h"

static slp_str kcl3_row_text(const slp_row *row, const char *name) {
  return slp_row_text(row, slp_str_of(name));
}
static const slp_val *get(const slp_row *row, const char *name) { return slp_row_get(row, slp_str_of(name)); }

static void mark_kcl3_row_bad(slp_kcl_row *k, const char *why) {
  k->kind = SLP_KCL_ROW_BAD;
  k->why = why;
}

static void read_version(const slp_row *row, slp_kcl_row *k) {
  slp_kcl_version_row *v = &k->u.version;
  static const struct {
    const char *word;
    slp_kcl_version is;
  } words[] = {{"CLIENT_VERSION_UPGRADE_FROM_2X", SLP_KCL_VERSION_UPGRADE},
               {"CLIENT_VERSION_2X", SLP_KCL_VERSION_TAKE},
               {"CLIENT_VERSION_3X_WITH_ROLLBACK", SLP_KCL_VERSION_LED},
               {"CLIENT_VERSION_3X", SLP_KCL_VERSION_LED}};
  k->kind = SLP_KCL_ROW_VERSION;
  if (get(row, "cv")->kind == SLP_VAL_S) v->word = kcl3_row_text(row, "cv");
  for (size_t i = 0; i < SLP_COUNT(words); i++)
    if (slp_str_is(v->word, words[i].word)) v->is = words[i].is;
}

static void read_places(const slp_row *row, slp_kcl_row *k) {
  slp_kcl_places_row *p = &k->u.places;
  static const struct {
    const char *word;
    slp_kcl_places is;
  } words[] = {{"TABLE_MIGRATION_STATUS_INIT", SLP_KCL_PLACES_APART},
               {"TABLE_MIGRATION_STATUS_DEPLOYED", SLP_KCL_PLACES_MOVING},
               {"TABLE_MIGRATION_STATUS_PENDING", SLP_KCL_PLACES_MOVING},
               {"TABLE_MIGRATION_STATUS_COMPLETE", SLP_KCL_PLACES_ONE}};
  k->kind = SLP_KCL_ROW_PLACES;
  if (get(row, "tm")->kind == SLP_VAL_S) p->word = kcl3_row_text(row, "tm");
  for (size_t i = 0; i < SLP_COUNT(words); i++)
    if (slp_str_is(p->word, words[i].word)) p->is = words[i].is;
}

/* Reads the row of the leader's lock. Its leaseDuration is a text with a number of ms. */
static void read_lock(const slp_row *row, slp_kcl_row *k) {
  slp_kcl_lock_row *l = &k->u.lock;
  const slp_val *lease = get(row, "leaseDuration");
  k->kind = SLP_KCL_ROW_LOCK;
  l->owner = kcl3_row_text(row, "ownerName");
  l->version = kcl3_row_text(row, "recordVersionNumber");
  l->released = slp_str_is(kcl3_row_text(row, "isReleased"), "1");
  if (lease->kind != SLP_VAL_S || slp_parse_u64(lease->s, &l->lease_ms))
    mark_kcl3_row_bad(k, "its leaseDuration is no number of milliseconds");
  else if (!l->version.n)
    mark_kcl3_row_bad(k, "it has no recordVersionNumber");
}

/* Returns 1 if `sts`, in DynamoDB's JSON, is a map with an entry C, which has averages of the processor's
 * load. */
static int tells_cpu(const slp_val *sts) {
  static const char mark[] = "\"C\"";
  return sts->kind == SLP_VAL_OTHER && memmem(sts->s.p, sts->s.n, mark, sizeof mark - 1) != NULL;
}

static void read_load(const slp_row *row, slp_kcl_row *k) {
  slp_kcl_load_row *l = &k->u.load;
  k->kind = SLP_KCL_ROW_LOAD;
  l->worker = k->name;
  l->wall_s = slp_row_int(row, SLP_STR("lut"), -1);
  l->cpu = (uint8_t)tells_cpu(get(row, "sts"));
  if (l->wall_s < 0) mark_kcl3_row_bad(k, "its lut is no time");
}

/* Returns 1 if the key looks like that of a lease. A row with such a key that is no lease is reported to the
 * user, because it prevents the lease from being created and taken. */
static int keeps_a_lease_away(slp_str key) {
  static const char mark[] = "shardId-";
  return key.n && memmem(key.p, key.n, mark, sizeof mark - 1) != NULL;
}

void slp_kcl_row_read(const slp_row *row, slp_kcl_row *ret) {
  slp_str wid = kcl3_row_text(row, "wid"), entity = kcl3_row_text(row, "entityType"),
          lease = kcl3_row_text(row, "leaseKey");
  slp_str key = lease.n ? lease : kcl3_row_text(row, "key");
  *ret = (slp_kcl_row){.name = key.n ? key : wid};
  if (!ret->name.n) return;
  if (!key.n || slp_str_is(entity, "WORKER_METRIC_STATS"))
    read_load(row, ret);
  else if (slp_str_is(key, "Migration3.0"))
    read_version(row, ret);
  else if (slp_str_is(key, "TableMigration3.5"))
    read_places(row, ret);
  else if (slp_str_is(key, "Leader") && (slp_str_is(entity, "LEADER") || kcl3_row_text(row, "ownerName").n))
    read_lock(row, ret);
  else if (!entity.n && keeps_a_lease_away(lease))
    mark_kcl3_row_bad(ret, "it has neither leaseCounter nor checkpoint");
}

static void hint_unsettled(slp_row_hint *ret, slp_str word) {
  ret->unsettled = 1;
  ret->word = word;
}

void slp_kcl_row_hint(const slp_kcl_row *row, slp_row_hint *ret) {
  *ret = (slp_row_hint){.unsettled = 0};
  if (row->kind == SLP_KCL_ROW_VERSION) {
    slp_kcl_version is = row->u.version.is;
    if (is == SLP_KCL_VERSION_UPGRADE || is == SLP_KCL_VERSION_UNKNOWN)
      hint_unsettled(ret, row->u.version.word);
  } else if (row->kind == SLP_KCL_ROW_PLACES) {
    slp_kcl_places is = row->u.places.is;
    if (is == SLP_KCL_PLACES_MOVING || is == SLP_KCL_PLACES_UNKNOWN) hint_unsettled(ret, row->u.places.word);
  } else if (row->kind == SLP_KCL_ROW_LOAD) {
    ret->worker = row->u.load.worker;
    ret->wall_s = row->u.load.wall_s;
    ret->dead_s = SLP_KCL_LOAD_DEAD_S;
  }
}
