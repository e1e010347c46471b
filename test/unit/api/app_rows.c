/* api/app_rows.c: what the rows of a table tell of its applications. */
#include "api/app_rows.h"
#include "base/mem.h"
#include "check.h"
#include "lease/store.h"

#include <stdarg.h>

#define NOW_MS INT64_C(1767323050000)

static slp_mem *mem;
static slp_store_rows rows;
static slp_found_app found[8];
static char texts[8][4][100];
static size_t found_n;

static void on_app(void *arg, const slp_found_app *a) {
  (void)arg;
  CHECK(found_n < SLP_COUNT(found));
  const char *from[] = {a->app, a->schema, a->stream, a->table};
  for (size_t i = 0; i < 4; i++) snprintf(texts[found_n][i], sizeof texts[0][0], "%s", from[i]);
  found[found_n] = *a;
  found[found_n].app = texts[found_n][0];
  found[found_n].schema = texts[found_n][1];
  found[found_n].stream = texts[found_n][2];
  found_n++;
}

/* A row of attributes "name=text" and "name#number", until NULL. */
static void add(const char *first, ...) {
  slp_attr attrs[12];
  size_t n = 0;
  va_list ap;
  va_start(ap, first);
  for (const char *p = first; p; p = va_arg(ap, const char *)) {
    size_t at = strcspn(p, "=#");
    attrs[n].name = (slp_str){p, at};
    attrs[n].val = (slp_val){.kind = p[at] == '#' ? SLP_VAL_N : SLP_VAL_S, .s = slp_str_of(p + at + 1)};
    n++;
  }
  va_end(ap);
  slp_row row = {attrs, n};
  CHECK_INT(slp_store_rows_copy(&rows, &row), 0);
}

static void begin(void) {
  mem = slp_mem_new(NULL, NULL);
  slp_store_rows_init(&rows, mem);
  found_n = 0;
}

static void tell(const char *table, const char *hash, const char *range) {
  found_n = 0;
  CHECK_INT(slp_app_rows_tell(mem, table, hash, range, &rows, NOW_MS, on_app, NULL), 0);
}

static void end(void) {
  slp_store_rows_free(&rows);
  slp_mem_drop(mem);
}

static void native(const char *app, const char *row, const char *a, const char *b, const char *c) {
  char hash[80], range[120];
  snprintf(hash, sizeof hash, "app=%s", app);
  snprintf(range, sizeof range, "row=%s", row);
  add(hash, range, a, b, c, "fmt#1", "lease#10000", "ts#1767323049000", "pos=0:oldest", "epoch#3", NULL);
}

TEST(native_applications_are_told_by_app_and_stream) {
  begin();
  native("b", "orders@17/lead", "start=0:oldest", "hold=op.1", "hv#1");
  native("b", "orders@17/w/w1", "boot=0123456789abcdef", "held#1", "lag#2000");
  native("b", "orders@17/l/s1", "owner=w1.0123456789abcdef", "op=x", "first=1");
  native("b", "other@18/l/s1", "op=x", "first=1", "range=0-1");
  native("a", "orders@17/w/w1", "boot=0123456789abcdef", "gone=x.y", "held#1");
  native("a", "orders@17/w/w2", "boot=0123456789abcdef", "held#1", "lag#0");
  native("a", "orders@17/l/s1", "owner=w2.0123456789abcdef", "op=x", "first=1");
  add("app=c", "row=nothing of ours", NULL);
  tell("sloop", "app", "row");
  CHECK_INT(found_n, 3);
  CHECK_STR(found[0].app, "a");
  CHECK_STR(found[0].stream, "orders");
  CHECK(found[0].workers == 1 && found[0].leases == 1 && found[0].behind_ms == 0 && !found[0].drained);
  CHECK_STR(found[1].app, "b");
  CHECK(found[1].workers == 1 && found[1].behind_ms == 3000 && !found[1].drained && found[1].draining);
  CHECK_STR(found[2].stream, "other");
  CHECK(found[2].workers == 0 && found[2].leases == 1 && found[2].behind_ms == -1);
  end();
}

/* A drain is over when every worker that may live has heard of the drain, and has no lease any more. */
TEST(an_application_is_drained_when_its_workers_have_stopped) {
  static const char *const obeys[] = {"obeys=0123456789abcdef:6", "obeys=0123456789abcdef:7"};
  for (int heard = 0; heard < 2; heard++) {
    begin();
    native("b", "orders@17/lead", "start=0:oldest", "hold=op.1", "hv#7");
    native("b", "orders@17/w/w1", "boot=0123456789abcdef", "held#0", obeys[heard]);
    native("b", "orders@17/w/w2", "boot=0123456789abcdef", "held#3", "gone=x.y");
    tell("sloop", "app", "row");
    CHECK_INT(found[0].drained, heard);
    CHECK_INT(found[0].draining, !heard);
    end();
  }
}

/* Leases under further partition keys belong to the application whose name has no number. */
TEST(leases_under_several_keys_are_of_one_application) {
  begin();
  add("app=a", "row=s@1/lead", "fmt#3", "keys#16", "epoch#1", "start=0:oldest", NULL);
  add("app=a+5", "row=s@1/s/shardId-000000000000", "epoch#0", "pos=0:oldest", NULL);
  add("app=a+5", "row=s@1/l/x", "epoch#0", "pos=0:oldest", NULL); /* an application of that name */
  tell("sloop", "app", "row");
  CHECK_INT(found_n, 2);
  CHECK_STR(found[0].app, "a");
  CHECK_STR(found[1].app, "a+5");
  CHECK_INT(found[1].leases, 1);
  end();
}

/* A worker is silent for long, or has not told of the lease that it has: its lag is unknown. */
TEST(what_is_unknown_is_told_as_unknown) {
  begin();
  add("app=a", "row=s@1/w/w1", "boot=0123456789abcdef", "held#1", "lag#0", "lease#10000", "ts#1767323000000",
      NULL);
  tell("sloop", "app", "row");
  CHECK(found_n == 1 && found[0].workers == 0 && found[0].behind_ms == -1);
  slp_store_rows_free(&rows);
  native("a", "s@1/w/w1", "boot=0123456789abcdef", "held#0", "lag#0");
  native("a", "s@1/l/s1", "owner=w1.0123456789abcdef", "op=x", "first=1");
  tell("sloop", "app", "row");
  CHECK(found_n == 1 && found[0].workers == 1 && found[0].behind_ms == -1);
  end();
}

TEST(other_layouts_are_told_by_their_attributes) {
  begin();
  add("leaseKey=000:orders:17:s1", "leaseCounter#1", "leaseOwner=w1", "checkpoint=7", NULL);
  add("leaseKey=000:orders:17:s2", "leaseCounter#1", "leaseOwner=w1", "checkpoint=SHARD_END", NULL);
  add("leaseKey=000:pay:17:s1", "leaseCounter#1", "leaseOwner=w2", "checkpoint=7", NULL);
  add("leaseKey=Migration3.0", "entityType=COORDINATOR_STATE", NULL);
  tell("kclapp", "leaseKey", "");
  CHECK_INT(found_n, 2);
  CHECK_STR(found[0].app, "kclapp");
  CHECK_STR(found[0].schema, "kcl");
  CHECK_STR(found[0].stream, "orders");
  CHECK(found[0].workers == -1 && found[0].owners == 1 && found[0].leases == 1 && found[0].behind_ms == -1);
  CHECK_STR(found[1].stream, "pay");
  slp_store_rows_free(&rows);
  add("shard_id=s1", "heartbeat#1", "worker_id=nobody", NULL);
  add("shard_id=s2", "heartbeat#1", "worker_id=w", NULL);
  tell("m", "shard_id", "");
  CHECK(found_n == 1 && found[0].owners == 1 && found[0].leases == 2);
  CHECK_STR(found[0].schema, "motorway");
  CHECK_STR(found[0].stream, "");
  slp_store_rows_free(&rows);
  add("shard_id=s1", "assigned_to=w", NULL);
  tell("m", "shard_id", "");
  CHECK_STR(found[0].schema, "kcl-rb");
  slp_store_rows_free(&rows);
  add("Shard=s1", "OwnerID=x", NULL);
  tell("app_checkpoints", "Shard", "");
  CHECK_STR(found[0].app, "app");
  end();
}

TEST(a_table_without_rows_may_be_an_application) {
  begin();
  tell("m", "shard_id", "");
  CHECK_INT(found_n, 1);
  CHECK_STR(found[0].schema, "motorway or kcl-rb");
  CHECK_INT(found[0].leases, 0);
  tell("sloop", "app", "row");
  CHECK_INT(found_n, 0);
  add("leaseKey=Migration3.0", "entityType=COORDINATOR_STATE", NULL);
  tell("k", "leaseKey", "");
  CHECK_INT(found_n, 0);
  end();
}
