/* store_suite_base.c - the loop, the stores and the waiting of store_suite.c. */
#include "store_suite.h"

/* An answer may come from a turn that runs before the loop polls: without a stop it would then sleep for
 * ever. */
static uv_loop_t *loop_to_stop;
static void answered(int *done) {
  *done = 1;
  uv_stop(loop_to_stop);
}

static void on_host_closed(slp_host *h, void *arg) {
  (void)h;
  *(int *)arg = 1;
}

void suite_open(suite *u, store_kind kind, const char *file, const char *prefix) {
  char why[160];
  *u = (suite){.kind = kind, .file = file};
  snprintf(u->prefix, sizeof u->prefix, "%s", prefix);
  u->mem = slp_mem_new(NULL, NULL);
  u->loop = slp_loop_new(u->mem);
  CHECK(u->loop);
  loop_to_stop = u->loop;
  CHECK_INT(slp_uv_host_new(&u->h, u->loop, u->mem, NULL), 0);
  if (kind == KIND_MEMORY) u->memory = slp_memory_new(u->mem);
  if (kind == KIND_DYNAMODB && slp_aws_new(&u->aws, u->h, &(slp_aws_options){0}, why)) CHECK_FAIL("%s", why);
}

void suite_close(suite *u) {
  int closed = 0;
  slp_memory_drop(u->memory);
  if (u->aws) slp_aws_drop(u->aws);
  slp_host_close(u->h, on_host_closed, &closed);
  uv_run(u->loop, UV_RUN_DEFAULT);
  CHECK(closed);
  CHECK_INT(slp_loop_free(u->mem, u->loop), 0);
  for (int i = 0; i < u->names_n; i++) free(u->names[i]);
  CHECK_INT(u->mem->live_blocks, 0);
  slp_mem_drop(u->mem);
}

const char *suite_name(suite *u) {
  char name[120];
  CHECK(u->names_n < SUITE_NAMES_MAX);
  snprintf(name, sizeof name, "%s%d", u->prefix, u->names_n);
  u->last_table = u->names[u->names_n++] = strdup(name);
  return u->last_table;
}

slp_store *suite_store(suite *u, const slp_table_spec *spec) {
  slp_store *s = NULL;
  switch (u->kind) {
    case KIND_MEMORY: CHECK_INT(slp_memory_store(&s, u->memory, u->h, spec), 0); break;
    case KIND_SQLITE: CHECK_INT(slp_sqlite_store(&s, u->h, u->file, spec), 0); break;
    case KIND_DYNAMODB: CHECK_INT(slp_dynamo_store(&s, u->h, u->aws, spec), 0); break;
  }
  return s;
}

void suite_run(suite *u, const int *done) {
  while (!*done) uv_run(u->loop, UV_RUN_ONCE);
}

slp_table_spec suite_table(suite *u) { return (slp_table_spec){suite_name(u), "app", "row"}; }

slp_store *suite_ready(suite *u) {
  slp_table_spec t = suite_table(u);
  slp_store *s = suite_store(u, &t);
  slp_fail f;
  if (prepare(u, s, 1, NULL, &f)) CHECK_FAIL("%s", f.message);
  return s;
}

void store_close(slp_store *s) { s->ops->close(s); }

/* ---- requests ---------------------------------------------------------------------------------------- */
typedef struct mark {
  slp_store_req *rq;
  int *done;
} mark;
/* on_done has no argument of its own: who waits for prepare and list is found here. */
static mark marks[64];

static void on_marked(slp_store_req *rq) {
  for (size_t i = 0; i < SLP_COUNT(marks); i++) {
    if (marks[i].rq != rq) continue;
    answered(marks[i].done);
    marks[i].rq = NULL;
    return;
  }
  CHECK_FAIL("an answer nobody waits for");
}

static void mark_add(slp_store_req *rq, int *done) {
  size_t i = 0;
  for (size_t k = 0; k < SLP_COUNT(marks); k++) {
    if (marks[k].rq == rq) marks[k].rq = NULL; /* cancelled, and its memory used again */
  }
  while (i < SLP_COUNT(marks) && marks[i].rq) i++;
  CHECK(i < SLP_COUNT(marks));
  marks[i] = (mark){rq, done};
  rq->on_done = on_marked;
}

void prepare_begin(slp_store *s, slp_store_prepare *p, int *done) {
  *p = (slp_store_prepare){.create = 1};
  mark_add(&p->rq, done);
  s->ops->prepare(s, p);
}

slp_class prepare(suite *u, slp_store *s, int create, int *created, slp_fail *ret) {
  slp_store_prepare p = {.create = (uint8_t)create};
  int done = 0;
  mark_add(&p.rq, &done);
  s->ops->prepare(s, &p);
  suite_run(u, &done);
  *ret = p.rq.fail;
  if (created) *created = p.created;
  return p.rq.fail.class;
}

static void on_written(slp_store_req *rq) {
  writing *x = SLP_OWNER(SLP_OWNER(rq, slp_store_write, rq), writing, w);
  CHECK(!x->done && rq->done_us >= rq->sent_us);
  answered(&x->done);
}

void writing_init(suite *u, writing *x, const char *hash, const char *range) {
  memset(x, 0, sizeof *x);
  x->w.rq.on_done = on_written;
  x->w.key.hash = slp_str_of(hash);
  if (range) x->w.key.range = slp_str_of(range);
  slp_store_rows_init(&x->w.image, u->mem);
}

void writing_send(slp_store *s, writing *x) {
  x->done = 0;
  s->ops->write(s, &x->w);
  CHECK(!x->done);
}

void writing_free(writing *x) { slp_store_rows_free(&x->w.image); }

slp_written write_now(suite *u, slp_store *s, writing *x) {
  writing_send(s, x);
  suite_run(u, &x->done);
  return x->w.written;
}

static slp_written write_so(suite *u, slp_store *s, slp_write_kind kind, const char *range,
                            const slp_atom *when, size_t when_n, const slp_change *changes, size_t n) {
  writing x;
  writing_init(u, &x, APP, range);
  x.w.kind = kind;
  x.w.when = when;
  x.w.when_n = when_n;
  x.w.changes = changes;
  x.w.changes_n = n;
  slp_written w = write_now(u, s, &x);
  if (x.w.rq.fail.class) CHECK_FAIL("writing %s: %s", range, x.w.rq.fail.message);
  writing_free(&x);
  return w;
}

slp_written update(suite *u, slp_store *s, const char *range, const slp_atom *when, size_t when_n,
                   const slp_change *changes, size_t n) {
  return write_so(u, s, SLP_WRITE_UPDATE, range, when, when_n, changes, n);
}

void put(suite *u, slp_store *s, const char *range, const slp_change *changes, size_t n) {
  CHECK_INT(write_so(u, s, SLP_WRITE_PUT, range, NULL, 0, changes, n), SLP_WRITTEN_YES);
}

static void on_read(slp_store_req *rq) {
  reading *x = SLP_OWNER(SLP_OWNER(rq, slp_store_get, rq), reading, g);
  CHECK(!x->done);
  answered(&x->done);
}

void get_begin(suite *u, slp_store *s, reading *x) {
  x->done = 0;
  x->g.rq.on_done = on_read;
  if (!x->g.out.mem) slp_store_rows_init(&x->g.out, u->mem);
  s->ops->get(s, &x->g);
}

void read_begin(suite *u, slp_store *s, reading *x, const char *range) {
  x->key = (slp_row_key){SLP_STR(APP), slp_str_of(range)};
  x->g.keys = &x->key;
  x->g.keys_n = 1;
  get_begin(u, s, x);
}

const slp_row *read_row(suite *u, slp_store *s, reading *x, const char *range) {
  x->g.consistent = 1;
  read_begin(u, s, x, range);
  suite_run(u, &x->done);
  if (x->g.rq.fail.class) CHECK_FAIL("reading %s: %s", range, x->g.rq.fail.message);
  CHECK(x->g.out.n <= 1);
  return x->g.out.n ? &x->g.out.rows[0] : NULL;
}

void reading_free(reading *x) {
  if (x->g.out.mem) slp_store_rows_free(&x->g.out);
}

void list_begin(suite *u, slp_store *s, slp_store_list *l, const char *hash, const char *prefix, int *done) {
  *l = (slp_store_list){.hash = slp_str_of(hash), .prefix = slp_str_of(prefix), .consistent = 1};
  slp_store_rows_init(&l->out, u->mem);
  mark_add(&l->rq, done);
  s->ops->list(s, l);
}

slp_fail list_within(suite *u, slp_store *s, const char *hash, const char *prefix, slp_store_bound bound,
                     slp_store_rows *ret) {
  slp_store_list l = {
      .hash = slp_str_of(hash), .prefix = slp_str_of(prefix), .consistent = 1, .bound = bound, .out = *ret};
  int done = 0;
  mark_add(&l.rq, &done);
  s->ops->list(s, &l);
  suite_run(u, &done);
  *ret = l.out;
  return l.rq.fail;
}

void list_rows(suite *u, slp_store *s, const char *hash, const char *prefix, slp_store_rows *ret) {
  slp_fail f = list_within(u, s, hash, prefix, (slp_store_bound){0}, ret);
  if (f.class) CHECK_FAIL("listing %s: %s", prefix, f.message);
}
