/* guest/kcl3_rows.c: the rows that KCL 3 keeps beside its leases, as KCL 3.4.2 and 3.5.1 wrote them. */
#include "guest/guest_schemas.h"
#include "guest/kcl3_rows.h"

#include "check.h"

#define S(z) SLP_STR(z)
#define TEXT(name_, s_)                                     \
  {                                                         \
    SLP_STR(name_), { .kind = SLP_VAL_S, .s = SLP_STR(s_) } \
  }
#define NUM(name_, s_)                                      \
  {                                                         \
    SLP_STR(name_), { .kind = SLP_VAL_N, .s = SLP_STR(s_) } \
  }
#define JSON(name_, s_)                                         \
  {                                                             \
    SLP_STR(name_), { .kind = SLP_VAL_OTHER, .s = SLP_STR(s_) } \
  }
#define READ(...)                            \
  do {                                       \
    const slp_attr attrs[] = {__VA_ARGS__};  \
    slp_row row = {attrs, SLP_COUNT(attrs)}; \
    schema->read(schema, &row, &parsed);     \
    slp_kcl_row_read(&row, &known);          \
    schema->hint(schema, &row, &hint);       \
  } while (0)

static slp_mem *mem;
static slp_schema *schema;
static slp_parsed_row parsed;
static slp_kcl_row known;
static slp_row_hint hint;

/* Returns 1 if the row is of this kind, and the rest of the library sees it as a row that only the layout knows. */
static int is(slp_kcl_row_kind kind) { return known.kind == kind && parsed.kind == SLP_ROW_BESIDE; }

static void begin(void) {
  mem = slp_mem_new(NULL, NULL);
  schema = slp_schema_kcl(mem, S(""), 0);
}

static void end(void) {
  schema->free(schema);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

static slp_kcl_version version_of(const char *word) {
  READ(TEXT("leaseKey", "Migration3.0"), TEXT("entityType", "CLIENT_VERSION_MIGRATION"),
       {S("cv"), {.kind = SLP_VAL_S, .s = slp_str_of(word)}}, TEXT("mb", "kA"), NUM("mts", "1795342821402"),
       JSON("h", "{\"L\":[]}"));
  CHECK(is(SLP_KCL_ROW_VERSION) && slp_str_is(known.u.version.word, word));
  CHECK(!hint.unsettled || slp_str_is(hint.word, word));
  CHECK(!hint.worker.n);
  CHECK_INT(hint.unsettled,
            known.u.version.is == SLP_KCL_VERSION_UPGRADE || known.u.version.is == SLP_KCL_VERSION_UNKNOWN);
  return known.u.version.is;
}

TEST(the_version_of_an_application) {
  begin();
  CHECK_INT(version_of("CLIENT_VERSION_3X"), SLP_KCL_VERSION_LED);
  CHECK_INT(version_of("CLIENT_VERSION_3X_WITH_ROLLBACK"), SLP_KCL_VERSION_LED);
  CHECK_INT(version_of("CLIENT_VERSION_UPGRADE_FROM_2X"), SLP_KCL_VERSION_UPGRADE);
  CHECK_INT(version_of("CLIENT_VERSION_2X"), SLP_KCL_VERSION_TAKE);
  CHECK_INT(version_of("CLIENT_VERSION_INIT"), SLP_KCL_VERSION_UNKNOWN); /* KCL never stores it */
  CHECK_INT(version_of("client_version_3x"), SLP_KCL_VERSION_UNKNOWN);
  READ(TEXT("leaseKey", "Migration3.0"), NUM("cv", "3"));
  CHECK(is(SLP_KCL_ROW_VERSION) && known.u.version.is == SLP_KCL_VERSION_UNKNOWN);
  CHECK(hint.unsettled && !hint.word.n);
  READ(TEXT("leaseKey", "Migration3.0"));
  CHECK(is(SLP_KCL_ROW_VERSION) && known.u.version.is == SLP_KCL_VERSION_UNKNOWN);
  READ(TEXT("key", "Migration3.0"), TEXT("cv", "CLIENT_VERSION_3X")); /* as in the table of 3.0 to 3.4 */
  CHECK(is(SLP_KCL_ROW_VERSION) && known.u.version.is == SLP_KCL_VERSION_LED);
  CHECK(slp_str_is(parsed.key.hash, "Migration3.0"));
  end();
}

TEST(where_the_rows_beside_the_leases_are) {
  static const struct {
    const char *word;
    slp_kcl_places is;
  } words[] = {{"TABLE_MIGRATION_STATUS_INIT", SLP_KCL_PLACES_APART},
               {"TABLE_MIGRATION_STATUS_DEPLOYED", SLP_KCL_PLACES_MOVING},
               {"TABLE_MIGRATION_STATUS_PENDING", SLP_KCL_PLACES_MOVING},
               {"TABLE_MIGRATION_STATUS_COMPLETE", SLP_KCL_PLACES_ONE},
               {"DONE", SLP_KCL_PLACES_UNKNOWN}};
  begin();
  for (size_t i = 0; i < SLP_COUNT(words); i++) {
    READ(TEXT("key", "TableMigration3.5"), {S("tm"), {.kind = SLP_VAL_S, .s = slp_str_of(words[i].word)}});
    CHECK(is(SLP_KCL_ROW_PLACES) && known.u.places.is == words[i].is);
    CHECK_INT(hint.unsettled, words[i].is == SLP_KCL_PLACES_MOVING || words[i].is == SLP_KCL_PLACES_UNKNOWN);
    CHECK(!hint.unsettled || slp_str_is(hint.word, words[i].word));
  }
  end();
}

TEST(the_lock_of_a_leader) {
  begin();
  for (int apart = 0; apart < 2; apart++) {
    if (apart)
      READ(TEXT("key", "Leader"), TEXT("ownerName", "kA"), TEXT("leaseDuration", "120000"),
           TEXT("recordVersionNumber", "91d16d81"));
    else
      READ(TEXT("leaseKey", "Leader"), TEXT("entityType", "LEADER"), TEXT("ownerName", "kA"),
           TEXT("leaseDuration", "120000"), TEXT("recordVersionNumber", "91d16d81"));
    CHECK(is(SLP_KCL_ROW_LOCK) && slp_str_is(known.u.lock.owner, "kA"));
    CHECK(known.u.lock.lease_ms == 120000 && slp_str_is(known.u.lock.version, "91d16d81"));
    CHECK(!known.u.lock.released && !hint.worker.n && !hint.unsettled);
  }
  READ(TEXT("leaseKey", "Leader"), TEXT("entityType", "LEADER"), TEXT("ownerName", "kA"),
       TEXT("leaseDuration", "1000"), TEXT("recordVersionNumber", "9"), TEXT("isReleased", "1"));
  CHECK(is(SLP_KCL_ROW_LOCK) && known.u.lock.released);
  READ(TEXT("leaseKey", "Leader"), TEXT("ownerName", "kA"), NUM("leaseDuration", "1000"),
       TEXT("recordVersionNumber", "9"));
  CHECK(parsed.kind == SLP_ROW_BAD && strstr(parsed.why, "leaseDuration"));
  READ(TEXT("leaseKey", "Leader"), TEXT("ownerName", "kA"), TEXT("leaseDuration", "1000"));
  CHECK(parsed.kind == SLP_ROW_BAD && strstr(parsed.why, "recordVersionNumber"));
  end();
}

TEST(what_a_worker_tells_of_itself) {
  begin();
  READ(TEXT("leaseKey", "kA"), TEXT("entityType", "WORKER_METRIC_STATS"), NUM("lut", "1795342863"),
       JSON("sts", "{\"M\":{}}"), JSON("opr", "{\"M\":{}}"), NUM("sup", "1"), NUM("slu", "1795342863"));
  CHECK(is(SLP_KCL_ROW_LOAD) && slp_str_is(known.u.load.worker, "kA"));
  CHECK(known.u.load.wall_s == 1795342863 && !known.u.load.cpu);
  CHECK(slp_str_is(hint.worker, "kA") && hint.wall_s == 1795342863 && hint.dead_s == 60 && !hint.unsettled);
  READ(TEXT("wid", "kB"), NUM("lut", "7"), JSON("sts", "{\"M\":{\"C\":{\"L\":[{\"N\":\"3.5\"}]}}}"));
  CHECK(is(SLP_KCL_ROW_LOAD) && slp_str_is(known.u.load.worker, "kB") && known.u.load.cpu);
  READ(TEXT("wid", "kB"), TEXT("lut", "7"));
  CHECK(parsed.kind == SLP_ROW_BAD && slp_str_is(parsed.u.name, "kB"));
  CHECK(!hint.worker.n && !hint.unsettled);
  end();
}

TEST(other_rows_are_not_understood) {
  begin();
  READ(TEXT("leaseKey", "1:orders:1700000000"), TEXT("entityType", "STREAM"), TEXT("streamId", "x"));
  CHECK(parsed.kind == SLP_ROW_OTHER);
  READ(TEXT("leaseKey", "Leader"));
  CHECK(parsed.kind == SLP_ROW_OTHER);
  READ(TEXT("other", "Leader"));
  CHECK(parsed.kind == SLP_ROW_OTHER);
  /* A shard whose row has this key is neither made nor taken by anybody, which has to be told. */
  READ(TEXT("leaseKey", "shardId-000000000000"), TEXT("other", "x"));
  CHECK(parsed.kind == SLP_ROW_BAD && !parsed.foreign);
  CHECK_STR(parsed.why, "it has neither leaseCounter nor checkpoint");
  /* A lease tells of no fleet that is changing, whatever its key is. */
  READ(TEXT("leaseKey", "Migration3.0"), NUM("leaseCounter", "1"), TEXT("checkpoint", "LATEST"));
  CHECK(parsed.kind != SLP_ROW_BESIDE && !hint.unsettled);
  end();
}
