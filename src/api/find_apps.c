/* find_apps.c - asks a store for its tables and their keys, and reads the rows of each table that has the
 * keys of a layout of leases (find_apps.h). The requests follow each other.
 *
 *   NAMING --names of all tables--> KEYS --keys of one table--> ROWS --its rows--> KEYS ... OVER
 *
 * For a SQLite file, the list of tables has the keys of each table too. */
#include "api/find_apps.h"

#include "api/app_rows.h"
#include "api/open.h"
#include "aws/aws.h"
#include "aws/aws_impl.h"
#include "aws/classify.h"
#include "aws/json_op.h"
#include "aws/limits.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/repeat.h"
#include "base/states.h"
#include "codec/json.h"
#include "codec/json_write.h"
#include "guest/layouts.h"
#include "host/host.h"
#include "lease/store.h"
#include "store/dynamo.h"
#include "store/dynamo_read.h"
#include "store/sqlite.h"

#include <sloop.h>

#define TRIES 4u
#define PAGES_MAX 10000u
#define BYTES_MAX (UINT64_C(64) << 20)
#define BODY_MAX (1u << 20)
/* ListTables and DescribeTable are calls of DynamoDB's control plane. Other programs of the account use it
 * too, so this search leaves them a part of the account's limit. */
#define CALLS_A_SECOND 10u

typedef enum { NAMING, KEYS, ROWS, OVER } apps_state;

typedef struct table {
  char *name; /* owned */
  /* owned; NULL: the keys were not asked for yet. range "": the table has no range key */
  char *hash, *range;
} table;

struct slp_apps {
  slp_mem *mem; /* a reference is held */
  slp_aws *aws; /* a reference is held */
  slp_host *host;
  slp_apps_calls calls;
  void *arg;
  apps_state state;
  slp_event ev;
  slp_timer timer;
  slp_json_op op;
  slp_paging pages;
  slp_buf last; /* the last name of the page before; empty: the first page */
  uint64_t bytes;
  size_t before_n, page_n; /* how many names came with earlier pages, and with the one just read */
  uint8_t more;            /* 1: there are more pages than the one just read */
  uint8_t named;           /* 1: the user named this one table */
  char *file;              /* owned; the SQLite file; NULL: tables of DynamoDB */
  table *tables;           /* owned */
  size_t n, room, at;
  slp_dynamo_table keys; /* the keys of the table that was described last */
  slp_store *store;      /* owned; the store of the table whose rows are read */
  slp_store_list rows;
  slp_fail fail;
};

static void move(slp_apps *f, apps_state to) {
  static const slp_set allowed[] = {
      [NAMING] = SLP_BIT(NAMING) | SLP_BIT(KEYS) | SLP_BIT(OVER),
      [KEYS] = SLP_BIT(KEYS) | SLP_BIT(ROWS) | SLP_BIT(OVER),
      [ROWS] = SLP_BIT(KEYS) | SLP_BIT(OVER),
      [OVER] = 0,
  };
  SLP_MOVE(allowed, f->state, to);
}

static void go_on(slp_apps *f) { slp_post(f->host, &f->ev); }

/* ---- names --------------------------------------------------------------------------------------------- */

static int add_found_app(slp_apps *f, slp_str name, const slp_str *hash, const slp_str *range) {
  if (f->n == f->room) {
    size_t room = f->room ? f->room * 2 : 64;
    table *tables = slp_realloc(f->mem, f->tables, room * sizeof *tables);
    if (!tables) return SLP_ENOMEM;
    f->tables = tables;
    f->room = room;
  }
  table *t = &f->tables[f->n];
  *t = (table){.name = slp_strdup(f->mem, name)};
  if (hash) t->hash = slp_strdup(f->mem, *hash);
  if (range) t->range = slp_strdup(f->mem, *range);
  f->n++;
  f->page_n++;
  f->bytes += name.n;
  return t->name && (!hash || t->hash) && (!range || t->range) ? 0 : SLP_ENOMEM;
}

static void drop_tables(slp_apps *f, size_t from) {
  for (; f->n > from; f->n--) {
    table *t = &f->tables[f->n - 1];
    slp_free(f->mem, t->name);
    slp_free(f->mem, t->hash);
    slp_free(f->mem, t->range);
  }
}

/* Reads {"TableNames": ["a", ...], "LastEvaluatedTableName": "a"}. */
static int read_names(slp_json_op *op, int begin, const char **why) {
  slp_apps *f = SLP_OWNER(op, slp_apps, op);
  slp_json j;
  slp_str name = {NULL, 0};
  int r = 0;
  (void)begin;                 /* not used, because each answer is read by one call */
  drop_tables(f, f->before_n); /* an answer to the same call that could not be read may have added names */
  f->page_n = f->more = 0;
  slp_json_begin(&j, op->answer.p, op->answer.n);
  for (int token; !r && (token = slp_json_next(&j)) != SLP_JSON_END;) {
    if (token < 0) r = token;
    if (token == SLP_JSON_KEY) name = j.text;
    if (token != SLP_JSON_STRING) continue;
    if (j.depth == 2 && slp_str_is(name, "TableNames")) r = add_found_app(f, j.text, NULL, NULL);
    if (j.depth != 1 || !slp_str_is(name, "LastEvaluatedTableName")) continue;
    f->more = 1;
    slp_buf_clear(&f->last);
    r = slp_buf_add_str(&f->last, j.text);
  }
  *why = j.why;
  return r;
}

static int read_keys(slp_json_op *op, int begin, const char **why) {
  slp_apps *f = SLP_OWNER(op, slp_apps, op);
  (void)begin;
  return slp_dynamo_read_table(slp_buf_str(&op->answer), &f->keys, why);
}

/* ---- the end ------------------------------------------------------------------------------------------- */

static void finish_find_apps(slp_apps *f) {
  move(f, OVER);
  f->calls.on_done(f, &f->fail, f->arg); /* the last statement, because on_done may free f */
}

static void no_memory(slp_apps *f) {
  slp_fail_set(&f->fail, SLP_NOMEM, SLP_ENOMEM, "no memory for the names of tables");
  finish_find_apps(f);
}

/* ---- calls of DynamoDB --------------------------------------------------------------------------------- */

static void on_answer(slp_json_op *op);

static void send_find_call(slp_apps *f) {
  slp_json_op *op = &f->op;
  int names = f->state == NAMING;
  slp_json_op_free(op);
  slp_json_op_init(op, f->aws, BODY_MAX);
  op->svc = SLP_SVC_LEASES;
  op->lane = SLP_LANE_CONTROL;
  op->target = slp_str_of(names ? "DynamoDB_20120810.ListTables" : "DynamoDB_20120810.DescribeTable");
  op->call.quota_a_second = CALLS_A_SECOND;
  op->ms_max = SLP_CONTROL_MS_MAX;
  op->tries_max = TRIES;
  op->read = names ? read_names : read_keys;
  op->on_done = on_answer;
  f->before_n = f->n;
  slp_jw w = slp_jw_begin(&op->request);
  if (names && f->last.n) slp_jw_str(&w, "ExclusiveStartTableName", slp_buf_str(&f->last));
  if (!names) slp_jw_z(&w, "TableName", f->tables[f->at].name);
  if (slp_jw_object_end(&w))
    no_memory(f);
  else
    slp_json_op_send(op);
}

static void on_due(slp_timer *t) { send_find_call(SLP_OWNER(t, slp_apps, timer)); }

static void on_names(slp_apps *f, const slp_fail *fail) {
  uint64_t wait_us = 0;
  char why[160];
  if (fail->class != SLP_FINE) {
    f->fail = *fail;
    slp_name_right(&f->fail, "dynamodb:", f->op.target, SLP_STR("*"));
    finish_find_apps(f);
  } else if (!f->more) {
    move(f, KEYS);
    go_on(f);
  } else if (slp_paging_next(&f->pages, slp_buf_str(&f->last), f->op.answer.n, f->page_n, f->bytes, &wait_us,
                             why)) {
    slp_fail_set(&f->fail, SLP_TRANSIENT, SLOOP_EPROTO, "the listing of tables: %s", why);
    finish_find_apps(f);
  } else if (!wait_us || slp_timer_set(f->host, &f->timer, slp_after_us(slp_now_us(f->host), wait_us))) {
    send_find_call(f);
  }
}

/* Calls on_app for a table whose keys or rows could not be read. */
static void tell_failed(slp_apps *f, const char *schemas, const slp_fail *fail) {
  const char *name = f->tables[f->at].name;
  slp_found_app app = {.app = "",
                       .schema = schemas,
                       .stream = "",
                       .table = name,
                       .workers = -1,
                       .behind_ms = -1,
                       .why = fail->message};
  f->calls.on_app(f, &app, f->arg);
}

static void next_table(slp_apps *f) {
  f->at++;
  move(f, KEYS);
  go_on(f);
}

static void read_rows(slp_apps *f, const char *hash, const char *range);

static void on_keys(slp_apps *f, slp_fail *fail) {
  if (fail->class == SLP_GONE && !f->named) { /* the table was deleted meanwhile */
    next_table(f);
  } else if (fail->class != SLP_FINE) {
    slp_name_right(fail, "dynamodb:", f->op.target, slp_str_of(f->tables[f->at].name));
    tell_failed(f, "", fail);
    next_table(f);
  } else {
    read_rows(f, f->keys.hash, f->keys.range);
  }
}

static void on_answer(slp_json_op *op) {
  slp_apps *f = SLP_OWNER(op, slp_apps, op);
  slp_fail fail = op->fail;
  if (f->state == NAMING)
    on_names(f, &fail);
  else
    on_keys(f, &fail);
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

typedef struct listener {
  slp_apps *f;
} listener;

static void on_app(void *arg, const slp_found_app *app) {
  slp_apps *f = ((listener *)arg)->f;
  f->calls.on_app(f, app, f->arg);
}

static void close_store(slp_apps *f) {
  slp_store_rows_free(&f->rows.out);
  slp_buf_free(&f->rows.at);
  if (f->store) f->store->ops->close(f->store);
  f->store = NULL;
}

static void on_rows(slp_store_req *rq) {
  slp_apps *f = SLP_OWNER(SLP_OWNER(rq, slp_store_list, rq), slp_apps, rows);
  const table *t = &f->tables[f->at];
  const char *hash = t->hash ? t->hash : f->keys.hash, *range = t->range ? t->range : f->keys.range;
  char schemas[120];
  listener l = {f};
  slp_layouts_of_keys(hash, range, schemas, sizeof schemas);
  if (rq->fail.class != SLP_FINE)
    tell_failed(f, schemas, &rq->fail);
  else if (slp_app_rows_tell(f->mem, t->name, hash, range, &f->rows.out, slp_wall_ms(f->host), on_app, &l)) {
    close_store(f);
    no_memory(f);
    return;
  }
  close_store(f);
  next_table(f);
}

/* Reads all rows of the table, if a layout has tables with these keys. */
static void read_rows(slp_apps *f, const char *hash, const char *range) {
  const char *name = f->tables[f->at].name;
  char schemas[120];
  slp_layouts_of_keys(hash, range, schemas, sizeof schemas);
  if (!*schemas) {
    next_table(f);
    return;
  }
  /* for DynamoDB, leaves the range key out, so that the whole table is scanned, not queried under one hash
   * key */
  slp_table_spec spec = {.name = name, .hash_name = hash, .range_name = f->file && *range ? range : NULL};
  int r = f->file ? slp_sqlite_store(&f->store, f->host, f->file, &spec)
                  : slp_dynamo_store(&f->store, f->host, f->aws, &spec);
  if (r) {
    no_memory(f);
    return;
  }
  move(f, ROWS);
  f->rows = (slp_store_list){.rq = {.on_done = on_rows}, .hash = {NULL, 0}, .prefix = {NULL, 0}};
  slp_store_rows_init(&f->rows.out, f->mem);
  f->store->ops->list(f->store, &f->rows);
}

/* ---- a file -------------------------------------------------------------------------------------------- */

static void on_file(slp_store_req *rq) {
  slp_apps *f = SLP_OWNER(SLP_OWNER(rq, slp_store_list, rq), slp_apps, rows);
  int r = 0;
  f->fail = rq->fail;
  for (size_t i = 0; i < f->rows.out.n && !r; i++) {
    const slp_row *row = &f->rows.out.rows[i];
    slp_str hash = slp_row_text(row, SLP_STR("hash_name")), range = slp_row_text(row, SLP_STR("range_name"));
    r = add_found_app(f, slp_row_text(row, SLP_STR("name")), &hash, &range);
  }
  close_store(f);
  if (r)
    no_memory(f);
  else if (f->fail.class != SLP_FINE)
    finish_find_apps(f);
  else {
    move(f, KEYS);
    go_on(f);
  }
}

static void list_file(slp_apps *f) {
  slp_table_spec spec = {.name = "", .hash_name = ""};
  if (slp_sqlite_store(&f->store, f->host, f->file, &spec)) {
    no_memory(f);
    return;
  }
  f->rows = (slp_store_list){.rq = {.on_done = on_file}};
  slp_store_rows_init(&f->rows.out, f->mem);
  f->store->ops->list(f->store, &f->rows);
}

/* ---- in order ------------------------------------------------------------------------------------------ */

static void on_event(slp_event *ev) {
  slp_apps *f = SLP_OWNER(ev, slp_apps, ev);
  int names = f->state == NAMING;
  if (names && f->file)
    list_file(f);
  else if (!names && f->at == f->n)
    finish_find_apps(f);
  else if (!names && f->tables[f->at].hash)
    read_rows(f, f->tables[f->at].hash, f->tables[f->at].range);
  else
    send_find_call(f);
}

/* ---- creating and freeing ------------------------------------------------------------------------------ */

/* Reads from the option `store` where to look. Returns 0, or an error: SLP_ENOENT if the store is a file and
 * this build has no SQLite. */
static int read_store(slp_apps *f, const char *store) {
  static const char dynamodb[] = "dynamodb:", sqlite[] = "sqlite:";
  if (!store || strcmp(store, "dynamodb") == 0) return 0;
  if (strncmp(store, sqlite, sizeof sqlite - 1) == 0 && store[sizeof sqlite - 1]) {
    if (!slp_sqlite_there()) return SLP_ENOENT;
    f->file = slp_strdup(f->mem, slp_str_of(store + sizeof sqlite - 1));
    return f->file ? 0 : SLP_ENOMEM;
  }
  if (strncmp(store, dynamodb, sizeof dynamodb - 1) != 0 || !store[sizeof dynamodb - 1]) return SLOOP_EOPTION;
  move(f, KEYS);
  f->named = 1;
  return add_found_app(f, slp_str_of(store + sizeof dynamodb - 1), NULL, NULL);
}

int slp_apps_new(slp_apps **ret, sloop_t *s, const char *store, const slp_apps_calls *calls, void *arg) {
  slp_apps *f = SLP_NEW(s->mem, slp_apps);
  if (!f) return SLP_ENOMEM;
  f->mem = slp_mem_hold(s->mem);
  f->aws = s->family->aws;
  f->host = s->family->host;
  f->calls = *calls;
  f->arg = arg;
  f->ev.run = on_event;
  f->timer = (slp_timer){.at_us = UINT64_MAX, .run = on_due};
  slp_aws_hold(f->aws);
  slp_json_op_init(&f->op, f->aws, BODY_MAX);
  slp_buf_init(&f->last, f->mem, 4096);
  slp_store_rows_init(&f->rows.out, f->mem);
  slp_paging_begin(&f->pages, PAGES_MAX, BYTES_MAX);
  int r = read_store(f, store);
  if (r) {
    slp_apps_free(f);
    return r;
  }
  go_on(f);
  *ret = f;
  return 0;
}

void slp_apps_free(slp_apps *f) {
  if (!f) return;
  slp_mem *mem = f->mem;
  slp_unpost(&f->ev);
  slp_timer_clear(f->host, &f->timer);
  slp_json_op_cancel(&f->op);
  slp_json_op_free(&f->op);
  slp_buf_free(&f->last);
  if (f->store) f->store->ops->cancel(f->store, &f->rows.rq);
  close_store(f);
  drop_tables(f, 0);
  slp_free(mem, f->tables);
  slp_free(mem, f->file);
  slp_aws_drop(f->aws);
  slp_free(mem, f);
  slp_mem_drop(mem);
}
