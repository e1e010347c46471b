/* admin_table.h - for tests of admin/: a lease table in memory with rows made by hand, a stream that lists
 * what the test says, workers whose hearts beat in virtual time, and a store in between that can be harmed.
 */
#ifndef SLP_TEST_CORE_DESK_H
#define SLP_TEST_CORE_DESK_H

#include "admin/command.h"
#include "api/admin_words.h"
#include "lease/shard_set.h"
#include "store/memory.h"
#include "guest/guest_schemas.h"
#include "store/schema_sloop.h"

#include "aws_fake_host.h"
#include "scarce.h"

#include <stdarg.h>

#define INCARNATION "0123456789abcdef"
#define NOW FAKE_WALL_MS

static fake_host f;
static slp_mem *mem;
static slp_memory *tables;
static slp_store *mine; /* the test's own way to the table */
static slp_schema *layout;
static int kcl;
static slp_position
    vmware; /* where reading begins in a table of vmware-go-kcl; NONE: the table is another one */

/* ---- rows --------------------------------------------------------------------------------------------- */

static int waiting;
static inline void waited(slp_store_req *rq) {
  (void)rq;
  waiting = 0;
}

/* Also from inside a turn: only this request's own events run. */
static inline void finish_request(slp_store_req *rq) {
  for (int i = 0; waiting && i < 10; i++) {
    slp_unpost(&rq->ev);
    rq->ev.run(&rq->ev);
  }
  CHECK(!waiting);
}

static inline void write_row(slp_store_write *w) {
  w->rq.on_done = waited;
  slp_store_rows_init(&w->image, mem);
  waiting = 1;
  mine->ops->write(mine, w);
  finish_request(&w->rq);
  CHECK_INT(w->written, SLP_WRITTEN_YES);
  slp_store_rows_free(&w->image);
}

/* "+N/ROW" is under the n-th partition key. */
static slp_row_key key_of(const char *row) {
  static char range[300], hash[40];
  if (kcl || vmware.kind) return (slp_row_key){slp_str_of(row), {NULL, 0}};
  const char *rest = row[0] == '+' ? strchr(row, '/') + 1 : row;
  snprintf(hash, sizeof hash, "shop%.*s", rest == row ? 0 : (int)(rest - row - 1), row);
  snprintf(range, sizeof range, "orders@1700000000/%s", rest);
  return (slp_row_key){slp_str_of(hash), slp_str_of(range)};
}

/* "name=text", "name#number", "name+a,b" (a set), "name@shard,shard" (a plan's set), "-name" (goes). The rest
 * of the row stays. */
static inline void put(const char *row, ...) {
  slp_change c[16];
  static char names[16][40];
  slp_str items[16][8], ids[8];
  slp_buf sets[16];
  size_t n = 0;
  va_list ap;
  va_start(ap, row);
  for (const char *a; (a = va_arg(ap, const char *)); n++) {
    size_t len = strcspn(a, "=#+@"), k = 0;
    const char *v = a[len] ? a + len + 1 : a + len;
    int gone = a[0] == '-';
    snprintf(names[n], sizeof names[n], "%.*s", (int)(len - (size_t)gone), a + gone);
    c[n] = (slp_change){slp_str_of(names[n]), SLP_SET, {SLP_VAL_S, slp_str_of(v), NULL, 0}};
    slp_buf_init(&sets[n], mem, 1000);
    if (gone) c[n] = (slp_change){slp_str_of(names[n]), SLP_REMOVE, {SLP_VAL_NONE, {NULL, 0}, NULL, 0}};
    if (a[len] == '#') c[n].val.kind = SLP_VAL_N;
    if (a[len] != '+' && a[len] != '@') continue;
    for (size_t m; *v; v += m + (v[m] == ',')) {
      m = strcspn(v, ",");
      items[n][k] = ids[k] = (slp_str){v, m};
      k++;
    }
    if (a[len] == '+') c[n].val = (slp_val){SLP_VAL_SS, {NULL, 0}, items[n], k};
    if (a[len] == '@') {
      CHECK_INT(slp_shard_set_write(&sets[n], ids, k), 0);
      c[n].val = (slp_val){SLP_VAL_B, slp_buf_str(&sets[n]), NULL, 0};
    }
  }
  va_end(ap);
  slp_store_write w = {.key = key_of(row), .kind = SLP_WRITE_UPDATE, .changes = c, .changes_n = n};
  write_row(&w);
  for (size_t i = 0; i < n; i++) slp_buf_free(&sets[i]);
}
#define PUT(...) put(__VA_ARGS__, (const char *)NULL)

/* A row's attribute as text, or ""; a number too. */
static inline const char *get(const char *row, const char *attr) {
  static char text[8][300];
  static int next;
  char *out = text[next++ % 8];
  slp_row_key key = key_of(row);
  slp_store_get g = {.rq = {.on_done = waited}, .keys = &key, .keys_n = 1, .consistent = 1};
  slp_store_rows_init(&g.out, mem);
  waiting = 1;
  mine->ops->get(mine, &g);
  finish_request(&g.rq);
  slp_str s = g.out.n ? slp_row_text(&g.out.rows[0], slp_str_of(attr)) : (slp_str){NULL, 0};
  snprintf(out, 300, "%.*s", (int)s.n, s.n ? s.p : "");
  slp_store_rows_free(&g.out);
  return out;
}

static inline void worker(const char *id, const char *more) {
  char row[80];
  snprintf(row, sizeof row, "w/%s", id);
  PUT(row, "boot=" INCARNATION, "ctr#7", "lease#10000", "st=run", "cap#1", "held#2", "fmt#1",
      "ts#1767323044000", more ? more : "cap#1");
}

/* ---- a stream ------------------------------------------------------------------------------------------ */

typedef struct fake_stream {
  slp_source s;
  const char *shards;                           /* "a b<a c<a,b d!": id, parents, closed */
  int describe_fails, list_fails, locate_fails; /* so many times, as throttled */
  int creating;
  slp_op *out;
  slp_event ev;
  slp_shard_desc list[64];
} fake_stream;
static fake_stream stream;

static void stream_answers(slp_event *ev) {
  (void)ev;
  slp_op *rq = stream.out;
  stream.out = NULL;
  rq->on_done(rq);
}

static void stream_asked(slp_op *rq, int *fails) {
  CHECK(!stream.out);
  stream.out = rq;
  slp_fail_clear(&rq->fail);
  rq->date_ms = -1;
  if (*fails > 0) {
    (*fails)--;
    slp_fail_set(&rq->fail, SLP_THROTTLE, SLOOP_ETHROTTLE, "too fast");
  }
  stream.ev.run = stream_answers;
  slp_post(&f.h, &stream.ev);
}

static void stream_describe(slp_source *s, slp_src_describe *d) {
  (void)s;
  snprintf(d->name, sizeof d->name, "orders");
  d->created_ms = 1700000000000;
  d->ready = !stream.creating;
  stream_asked(&d->rq, &stream.describe_fails);
}

static slp_str piece(const char **at, const char *stops) {
  size_t n = strcspn(*at, stops);
  slp_str s = {n ? *at : NULL, n};
  *at += n;
  return s;
}

static void stream_list(slp_source *s, slp_src_list *l) {
  (void)s;
  const char *at = stream.shards;
  l->shards = stream.list;
  l->shards_n = 0;
  while (*at) {
    slp_shard_desc *d = &stream.list[l->shards_n++];
    memset(d, 0, sizeof *d);
    d->id = piece(&at, "<! ");
    if (*at == '<') at++, d->parent = piece(&at, ",! ");
    if (*at == ',') at++, d->adjacent_parent = piece(&at, "! ");
    if (*at == '!') at++, d->seq_end = SLP_STR("99");
    if (*at == ' ') at++;
  }
  stream_asked(&l->rq, &stream.list_fails);
}

static void stream_cancel(slp_source *s, slp_op *rq) {
  (void)s;
  if (stream.out != rq) return;
  stream.out = NULL;
  slp_unpost(&stream.ev);
}

/* It knows numbers that begin with a 4, and no others. */
static void stream_locate(slp_source *s, slp_src_locate *l) {
  (void)s;
  stream_asked(&l->rq, &stream.locate_fails);
  if (l->rq.fail.class != SLP_FINE || *l->from.mark.seq == '4') return;
  slp_fail_set(&l->rq.fail, SLP_REFUSED, SLOOP_EREFUSED, "it did not come from this stream");
  snprintf(l->rq.fail.aws_code, sizeof l->rq.fail.aws_code, "InvalidArgumentException");
}

static const slp_source_ops stream_ops = {
    .describe = stream_describe, .list = stream_list, .locate = stream_locate, .cancel = stream_cancel};

/* ---- the command's store ------------------------------------------------------------------------------- */

typedef struct harmed_store {
  slp_store s;
  slp_store *in;
  int no_answer;              /* so many of its next writes are done, and nobody is told */
  const char *silent_row;     /* no write of this shard's row is answered */
  slp_class writes_fail;      /* all of them; FINE: they do not */
  int fails_n;                /* so many of them; 0: all */
  void (*before_write)(void); /* once */
  void (*before_list)(void);  /* before the second one */
  int last_fails;
  size_t writes, lists;
  size_t list_fails;    /* that one is throttled */
  slp_class lists_fail; /* all of them */
  uint64_t most;        /* all lists of a command may keep so many bytes; 0: as many as the store allows */
  int prepare_fails;    /* nobody may look at the table */
  slp_store_write *silent;
  void (*on_done)(slp_store_req *rq);
} harmed_store;
static harmed_store harmed;

static void lost(slp_store_req *rq) {
  slp_store_write *w = SLP_OWNER(rq, slp_store_write, rq);
  w->written = SLP_WRITTEN_NOT_SURE;
  slp_store_rows_free(&w->image);
  w->image_known = 0;
  slp_fail_set(&rq->fail, SLP_TRANSIENT, SLOOP_EREMOTE, "no answer");
  rq->on_done = harmed.on_done;
  rq->on_done(rq);
}
static void h_prepare(slp_store *s, slp_store_prepare *rq) {
  (void)s;
  if (harmed.prepare_fails) {
    slp_fail_set(&rq->rq.fail, SLP_ACCESS, SLOOP_EACCESS, "no permission for dynamodb:DescribeTable");
    slp_store_answer(&f.h, &rq->rq);
    return;
  }
  harmed.in->ops->prepare(harmed.in, rq);
}
static void h_get(slp_store *s, slp_store_get *rq) {
  (void)s;
  harmed.in->ops->get(harmed.in, rq);
}
static void h_list(slp_store *s, slp_store_list *rq) {
  (void)s;
  harmed.lists++;
  CHECK(rq->consistent);
  if (harmed.lists == 2 && harmed.before_list) harmed.before_list();
  if (harmed.lists_fail) {
    slp_fail_set(&rq->rq.fail, harmed.lists_fail, SLOOP_EACCESS, "no permission for dynamodb:Query");
    slp_store_answer(&f.h, &rq->rq);
    return;
  }
  if (harmed.lists == harmed.list_fails) {
    slp_fail_set(&rq->rq.fail, SLP_THROTTLE, SLOOP_ETHROTTLE, "too fast");
    slp_store_answer(&f.h, &rq->rq);
    return;
  }
  rq->bound.bytes_max = harmed.most;
  harmed.in->ops->list(harmed.in, rq);
}
static void refuse(slp_store_req *rq) {
  slp_store_write *w = SLP_OWNER(rq, slp_store_write, rq);
  w->written = SLP_WRITTEN_NOT_SURE;
  slp_store_rows_free(&w->image);
  slp_fail_set(&rq->fail, harmed.writes_fail, SLOOP_EACCESS, "no permission for dynamodb:UpdateItem");
  rq->on_done = harmed.on_done;
  if (harmed.last_fails) harmed.writes_fail = SLP_FINE;
  harmed.last_fails = 0;
  rq->on_done(rq);
}
static void h_write(slp_store *s, slp_store_write *w) {
  (void)s;
  harmed.writes++;
  if (harmed.before_write) {
    void (*hook)(void) = harmed.before_write;
    harmed.before_write = NULL;
    hook();
  }
  slp_str range = w->key.range, silent = slp_str_of(harmed.silent_row);
  int is_silent =
      silent.n && range.n > silent.n && memcmp(range.p + range.n - silent.n, silent.p, silent.n) == 0;
  if (is_silent) harmed.no_answer++;
  if (harmed.no_answer > 0 || harmed.writes_fail) {
    static const slp_atom never = {{"no", 2}, SLP_TEST_THERE, {SLP_VAL_NONE, {NULL, 0}, NULL, 0}, 0};
    harmed.on_done = w->rq.on_done;
    w->rq.on_done = harmed.writes_fail ? refuse : lost;
    if (harmed.writes_fail) {
      w->when = &never;
      w->when_n = 1;
      if (harmed.fails_n && !--harmed.fails_n) harmed.last_fails = 1;
    } else {
      harmed.no_answer--;
    }
  }
  harmed.in->ops->write(harmed.in, w);
}
static void h_cancel(slp_store *s, slp_store_req *rq) {
  (void)s;
  slp_unpost(&rq->ev);
  harmed.in->ops->cancel(harmed.in, rq);
}
static void h_close(slp_store *s) {
  (void)s;
  harmed.in->ops->close(harmed.in);
  harmed.in = NULL;
}
static const slp_store_ops harmed_ops = {h_prepare, h_get, h_list, h_write, h_cancel, h_close};

static slp_schema *layout_new(void) {
  if (vmware.kind) return slp_schema_vmware(mem, &vmware);
  if (kcl) return slp_schema_kcl(mem, (slp_str){NULL, 0}, 0);
  return slp_schema_sloop(mem, SLP_STR("shop"), SLP_STR("orders"), SLP_STR("1700000000"));
}

static int no_table;
static int open_admin(void *ctx, const slp_src_describe *d, slp_store **ret_store, slp_schema **ret_schema,
                      slp_fail *fail) {
  slp_table_spec spec;
  CHECK(ctx == &f);
  CHECK_STR(d->name, "orders");
  slp_schema *schema = layout_new();
  int r = SLP_ENOMEM;
  if (schema) {
    schema->table(schema, no_table ? "nowhere" : "leases", &spec);
    r = slp_memory_store(&harmed.in, tables, &f.h, &spec);
  }
  if (r) {
    if (schema) schema->free(schema);
    return slp_fail_set(fail, SLP_NOMEM, SLP_ENOMEM, "no memory for the leases");
  }
  harmed.s.ops = &harmed_ops;
  *ret_store = &harmed.s;
  *ret_schema = schema;
  return 0;
}

/* ---- hearts that beat ---------------------------------------------------------------------------------- */

static struct heart {
  slp_timer timer;
  char row[80];
  uint64_t counter, each_us;
} heart;

static void heart_beats(slp_timer *t) {
  static const slp_val none = {SLP_VAL_NONE, {NULL, 0}, NULL, 0};
  char n[24];
  (void)none;
  snprintf(n, sizeof n, "ctr#%llu", (unsigned long long)++heart.counter);
  if (!get(heart.row, "gone")[0]) PUT(heart.row, n);
  CHECK_INT(slp_timer_set(&f.h, t, slp_now_us(&f.h) + heart.each_us), 0);
}

static inline void beats(const char *row, uint64_t each_us) {
  snprintf(heart.row, sizeof heart.row, "%s", row);
  heart.counter = 7;
  heart.each_us = each_us;
  heart.timer = (slp_timer){.at_us = UINT64_MAX, .run = heart_beats};
  CHECK_INT(slp_timer_set(&f.h, &heart.timer, slp_now_us(&f.h) + each_us), 0);
}

/* ---- life ---------------------------------------------------------------------------------------------- */

static scarce memory = {.left = -1};
static inline void begin(const char *shards) {
  slp_table_spec spec;
  memory.left = -1;
  no_table = 0;
  memset(&harmed, 0, sizeof harmed);
  memset(&stream, 0, sizeof stream);
  stream.s.ops = &stream_ops;
  stream.shards = shards;
  mem = slp_mem_new(scarce_alloc, &memory);
  fake_init(&f, mem);
  tables = slp_memory_new(mem);
  layout = layout_new();
  layout->table(layout, "leases", &spec);
  CHECK_INT(slp_memory_store(&mine, tables, &f.h, &spec), 0);
  slp_store_prepare p = {.rq = {.on_done = waited}, .create = 1};
  waiting = 1;
  mine->ops->prepare(mine, &p);
  finish_request(&p.rq);
}

static inline void end(void) {
  slp_timer_clear(&f.h, &heart.timer);
  CHECK(!stream.out && !harmed.in);
  mine->ops->close(mine);
  layout->free(layout);
  slp_memory_drop(tables);
  fake_end(&f, mem);
}

/* ---- asking -------------------------------------------------------------------------------------------- */

static slp_admin *admin;
static int answered;
static uint64_t took_us;
static void on_admin(slp_admin *d, void *arg) {
  CHECK(d == admin && arg == &answered);
  answered++;
}

static inline int ask(const slp_admin_opts *how) {
  slp_admin_opts o = *how;
  o.host = &f.h;
  o.source = &stream.s;
  o.open = open_admin;
  o.ctx = &f;
  if (!o.lease_ms) o.lease_ms = 10000;
  o.on_done = on_admin;
  o.arg = &answered;
  answered = 0;
  uint64_t from = f.mono_us;
  int r = slp_admin_new(&admin, mem, &o);
  if (r) return r;
  for (int i = 0; !answered && i < 100000; i++) {
    if (f.wake_us > f.mono_us && f.wake_us != UINT64_MAX) f.mono_us = f.wake_us;
    CHECK(f.wake_us != UINT64_MAX);
    f.wake_us = UINT64_MAX;
    slp_host_turn(&f.h);
  }
  CHECK_INT(answered, 1);
  took_us = f.mono_us - from;
  return 0;
}

/* Why it failed, as a user of the library is told. */
static inline const char *message(void) {
  static slp_fail fail;
  slp_admin_why why = slp_admin_reason_of(admin);
  fail = *slp_admin_fail(admin);
  slp_admin_words(&fail, &why);
  return fail.message;
}

static inline void over(void) {
  slp_admin_free(admin);
  admin = NULL;
}

#endif
