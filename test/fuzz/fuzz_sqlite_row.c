/* fuzz_sqlite_row.c - what somebody else may have written into a row of the lease file: any bytes, as text or
 * (first byte odd) as a blob. The store reads what the reader of items reads, and of the rest the key alone; a
 * write to a row it can read changes what was asked and nothing else; a row it can't read stays as it is. */
#include "codec/json.h"
#include "store/item.h"
#include "store/sqlite_file.h"

#include <sqlite3.h>
#include <unistd.h>

#include "fuzz.h"

#define KEY \
  { SLP_STR("app"), SLP_STR("row") }

static const slp_table_spec table = {"leases", "app", "row"};
static char folder[200], path[220];
static sqlite3 *db; /* the other program's */
static slp_mem *file_mem;
static slp_sqlite_file *file;

static slp_sqlite_ask *ask(slp_sqlite_ask *a, slp_mem *mem, slp_sqlite_kind kind) {
  memset(a, 0, sizeof *a);
  a->kind = kind;
  a->file = file;
  slp_store_rows_init(&a->in, mem);
  slp_store_rows_init(&a->out, mem);
  return a;
}

static void at_exit(void) {
  char name[240];
  static const char *const ends[] = {"", "-wal", "-shm"};
  for (int i = 0; i < 3; i++) {
    snprintf(name, sizeof name, "%s%s", path, ends[i]);
    unlink(name);
  }
  rmdir(folder);
}

static void open_once(void) {
  slp_sqlite_ask a;
  const char *where = getenv("TMPDIR");
  if (!where) where = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"; /* where syncing costs nothing */
  snprintf(folder, sizeof folder, "%s/sloop-fuzz-XXXXXX", where);
  REQUIRE(mkdtemp(folder));
  atexit(at_exit);
  snprintf(path, sizeof path, "%s/l.db", folder);
  file_mem = slp_mem_new(NULL, NULL);
  file = slp_sqlite_file_new(file_mem, path, &table);
  REQUIRE(file != NULL);
  ask(&a, file_mem, SLP_SQLITE_PREPARE)->create = 1;
  slp_sqlite_do(&a);
  REQUIRE(a.fail.class == SLP_FINE && a.created);
  REQUIRE(sqlite3_open(path, &db) == SQLITE_OK);
}

static void put(const uint8_t *p, size_t n, int blob) {
  sqlite3_stmt *st = NULL;
  REQUIRE(sqlite3_prepare_v2(db, "INSERT OR REPLACE INTO rows VALUES('leases','app','row',?1)", -1, &st,
                             NULL) == SQLITE_OK);
  const char *text = n ? (const char *)p : "";
  if (blob)
    REQUIRE(sqlite3_bind_blob64(st, 1, text, n, SQLITE_STATIC) == SQLITE_OK);
  else
    REQUIRE(sqlite3_bind_text64(st, 1, text, n, SQLITE_STATIC, SQLITE_UTF8) == SQLITE_OK);
  REQUIRE(sqlite3_step(st) == SQLITE_DONE);
  sqlite3_finalize(st);
}

static void still(const uint8_t *p, size_t n) {
  sqlite3_stmt *st = NULL;
  REQUIRE(sqlite3_prepare_v2(db, "SELECT attrs FROM rows", -1, &st, NULL) == SQLITE_OK);
  REQUIRE(sqlite3_step(st) == SQLITE_ROW);
  const void *text = sqlite3_column_blob(st, 0);
  REQUIRE((size_t)sqlite3_column_bytes(st, 0) == n && (n == 0 || memcmp(text, p, n) == 0));
  sqlite3_finalize(st);
}

/* 1: the bytes are an item, and nothing else. */
static int is_item(slp_store_rows *rows, const uint8_t *p, size_t n) {
  slp_json j;
  char *text = fuzz_copy(p, n);
  slp_json_begin(&j, text, n);
  int is = slp_item_read(&j, rows) == 1 && slp_json_next(&j) == SLP_JSON_END;
  free(text);
  return is;
}

static void same_rows(slp_mem *mem, const slp_row *a, const slp_row *b) {
  slp_buf x, y;
  slp_buf_init(&x, mem, 1 << 24);
  slp_buf_init(&y, mem, 1 << 24);
  REQUIRE(slp_attrs_put(&x, a->attrs, a->n) == 0 && slp_attrs_put(&y, b->attrs, b->n) == 0);
  REQUIRE(slp_str_eq(slp_buf_str(&x), slp_buf_str(&y)));
  slp_buf_free(&x);
  slp_buf_free(&y);
}

static void get(slp_mem *mem, slp_store_rows *ret, slp_fail *ret_fail, slp_sqlite_kind kind) {
  static const slp_row_key key = KEY;
  slp_sqlite_ask a;
  ask(&a, mem, kind);
  a.keys = &key;
  a.keys_n = 1;
  a.hash = key.hash;
  a.prefix = SLP_STR("r");
  slp_sqlite_do(&a);
  REQUIRE(!a.busy);
  *ret_fail = a.fail;
  slp_store_rows_init(ret, mem);
  slp_store_rows_move(ret, &a.out);
}

static void check_change(const slp_row *before, const slp_row *after) {
  const slp_val *v = slp_row_get(after, SLP_STR("ours"));
  REQUIRE(v->kind == SLP_VAL_S && slp_str_is(v->s, "changed"));
  for (size_t i = 0; i < before->n; i++) {
    slp_str name = before->attrs[i].name;
    const slp_val *was = slp_row_get(before, name), *is = slp_row_get(after, name);
    if (slp_str_is(name, "ours") || slp_str_is(name, "app") || slp_str_is(name, "row")) continue;
    REQUIRE(was->kind == is->kind && slp_str_eq(was->s, is->s) && was->n == is->n);
  }
}

static void change_it(slp_mem *mem, const slp_row *before, const uint8_t *p, size_t n) {
  static const slp_change change = {SLP_STR("ours"), SLP_SET, {.kind = SLP_VAL_S, .s = SLP_STR("changed")}};
  slp_sqlite_ask a;
  ask(&a, mem, SLP_SQLITE_WRITE);
  a.write = (slp_store_write){.key = KEY, .changes = &change, .changes_n = 1};
  slp_sqlite_do(&a);
  if (!before) {
    REQUIRE(a.fail.class == SLP_REFUSED && a.write.written == SLP_WRITTEN_NOT_SURE && a.out.n == 0);
    still(p, n);
  } else {
    slp_store_rows now;
    slp_fail fail;
    REQUIRE(a.fail.class == SLP_FINE && a.write.written == SLP_WRITTEN_YES && a.out.n == 1);
    check_change(before, &a.out.rows[0]);
    get(mem, &now, &fail, SLP_SQLITE_GET);
    REQUIRE(fail.class == SLP_FINE && now.n == 1);
    same_rows(mem, &now.rows[0], &a.out.rows[0]);
    slp_store_rows_free(&now);
  }
  slp_store_rows_free(&a.out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 1) return 0;
  if (!file) open_once();
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_store_rows want, got;
  slp_fail fail;
  put(data + 1, size - 1, data[0] & 1);
  slp_store_rows_init(&want, mem);
  int readable = is_item(&want, data + 1, size - 1);
  for (int kind = SLP_SQLITE_GET; kind <= SLP_SQLITE_LIST; kind++) {
    get(mem, &got, &fail, (slp_sqlite_kind)kind);
    REQUIRE(fail.class == SLP_FINE && got.n == 1);
    if (readable)
      same_rows(mem, &got.rows[0], &want.rows[0]);
    else
      REQUIRE(got.rows[0].n == 2 && slp_str_is(slp_row_text(&got.rows[0], SLP_STR("row")), "row"));
    slp_store_rows_free(&got);
  }
  change_it(mem, readable ? &want.rows[0] : NULL, data + 1, size - 1);
  slp_store_rows_free(&want);
  REQUIRE(mem->live_blocks == 0);
  slp_mem_drop(mem);
  return 0;
}
