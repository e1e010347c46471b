/* memory.c - the store in memory. A request takes effect in the turn in which it is answered. */
#include "store/memory.h"

#include "base/fail.h"
#include "base/mem.h"
#include "host/host.h"
#include "lease/store.h"
#include "store/rows.h"
#include "store/table.h"

#include <sloop.h>

typedef struct kept { /* one row of a table */
  slp_row_key key;    /* the row's key; points into the member `row` */
  slp_store_rows row; /* the row itself; has exactly one row, and owns its texts */
} kept;

typedef struct place {
  kept *row; /* owned */
} place;

typedef struct table {
  slp_table_spec *spec; /* owned */
  place *rows;          /* owned; sorted by hash key and range key */
  size_t rows_n, rows_cap;
  struct table *next;
} table;

struct slp_memory {
  slp_mem *mem; /* the set of tables holds a reference */
  uint32_t holds;
  table *tables; /* owned */
};

typedef struct memory_store {
  slp_store s;
  slp_memory *m;
  slp_host *h;
  slp_table_spec *spec; /* owned */
} memory_store;

static memory_store *store_of(slp_store_req *rq) { return rq->impl; }

/* ---- tables -------------------------------------------------------------------------------------------- */
static void kept_free(slp_mem *mem, kept *k) {
  if (!k) return;
  slp_store_rows_free(&k->row);
  slp_free(mem, k);
}

slp_memory *slp_memory_new(slp_mem *mem) {
  slp_memory *m = SLP_NEW(mem, slp_memory);
  if (!m) return NULL;
  m->mem = slp_mem_hold(mem);
  m->holds = 1;
  return m;
}

void slp_memory_drop(slp_memory *m) {
  if (!m || --m->holds) return;
  slp_mem *mem = m->mem;
  while (m->tables) {
    table *t = m->tables;
    m->tables = t->next;
    for (size_t i = 0; i < t->rows_n; i++) kept_free(mem, t->rows[i].row);
    slp_free(mem, t->rows);
    slp_free(mem, t->spec);
    slp_free(mem, t);
  }
  slp_free(mem, m);
  slp_mem_drop(mem);
}

static table *table_find(const memory_store *s) {
  for (table *t = s->m->tables; t; t = t->next) {
    if (strcmp(t->spec->name, s->spec->name) == 0) return t;
  }
  return NULL;
}

static table *table_make(memory_store *s) {
  table *t = SLP_NEW(s->m->mem, table);
  if (!t) return NULL;
  t->spec = slp_table_copy(s->m->mem, s->spec);
  if (!t->spec) {
    slp_free(s->m->mem, t);
    return NULL;
  }
  t->next = s->m->tables;
  s->m->tables = t;
  return t;
}

/* Returns the index of the first row whose key is not less than `key`. */
static size_t place_of(const table *t, const slp_row_key *key) {
  size_t from = 0, to = t->rows_n;
  while (from < to) {
    size_t mid = from + (to - from) / 2;
    int c = slp_str_cmp(t->rows[mid].row->key.hash, key->hash);
    if (!c) c = slp_str_cmp(t->rows[mid].row->key.range, key->range);
    if (c < 0)
      from = mid + 1;
    else
      to = mid;
  }
  return from;
}

static kept *at_key(const table *t, const slp_row_key *key, size_t *ret_place) {
  size_t i = place_of(t, key);
  if (ret_place) *ret_place = i;
  if (i == t->rows_n) return NULL;
  kept *k = t->rows[i].row;
  return slp_str_eq(k->key.hash, key->hash) && slp_str_eq(k->key.range, key->range) ? k : NULL;
}

/* Returns the table of the request. If there is none, sets rq->fail and returns NULL. */
static table *table_of(slp_store_req *rq) {
  memory_store *s = store_of(rq);
  table *t = table_find(s);
  slp_fail_clear(&rq->fail);
  rq->done_us = slp_now_us(s->h);
  if (!t) slp_table_missing(&rq->fail, s->spec);
  return t;
}

static void answer_memory_request(slp_store_req *rq) {
  rq->impl = NULL;
  rq->on_done(rq);
}

/* ---- requests ------------------------------------------------------------------------------------------ */
static void post_memory_request(slp_store *store, slp_store_req *rq, void (*run)(slp_event *ev)) {
  memory_store *s = SLP_OWNER(store, memory_store, s);
  SLP_CHECK(!rq->impl);
  rq->impl = s;
  rq->sent_us = slp_now_us(s->h);
  rq->ev.run = run;
  slp_post(s->h, &rq->ev);
}

static void check_keys(slp_store_req *rq, const table *t) {
  const slp_table_spec *want = store_of(rq)->spec, *have = t->spec;
  const char *range = have->range_name ? have->range_name : "",
             *want_range = want->range_name ? want->range_name : "";
  if (strcmp(have->hash_name, want->hash_name) != 0 || strcmp(range, want_range) != 0)
    slp_table_other_keys(&rq->fail, want, have->hash_name, range);
}

static void run_prepare(slp_event *ev) {
  slp_store_req *rq = SLP_OWNER(ev, slp_store_req, ev);
  slp_store_prepare *p = SLP_OWNER(rq, slp_store_prepare, rq);
  p->created = 0;
  table *t = table_of(rq);
  if (!t && p->create) {
    slp_fail_clear(&rq->fail);
    t = table_make(store_of(rq));
    p->created = t != NULL;
    if (!t) slp_table_no_memory(&rq->fail);
  }
  if (t) check_keys(rq, t);
  answer_memory_request(rq);
}

static void run_get(slp_event *ev) {
  slp_store_req *rq = SLP_OWNER(ev, slp_store_req, ev);
  slp_store_get *g = SLP_OWNER(rq, slp_store_get, rq);
  const table *t = table_of(rq);
  slp_store_rows_free(&g->out);
  int r = 0;
  for (size_t i = 0; t && i < g->keys_n && !r; i++) {
    const kept *k = at_key(t, &g->keys[i], NULL);
    if (k) r = slp_store_rows_copy(&g->out, &k->row.rows[0]);
  }
  if (r) slp_table_no_memory(&rq->fail);
  store_of(rq)->s.cost.read_calls++;
  answer_memory_request(rq);
}

static int text_has_prefix(slp_str s, slp_str with) {
  return s.n >= with.n && (!with.n || memcmp(s.p, with.p, with.n) == 0);
}

static void run_list(slp_event *ev) {
  slp_store_req *rq = SLP_OWNER(ev, slp_store_req, ev);
  slp_store_list *l = SLP_OWNER(rq, slp_store_list, rq);
  const table *t = table_of(rq);
  slp_store_rows_free(&l->out);
  int r = 0, whole = t && !t->spec->range_name;
  size_t i = t && !whole ? place_of(t, &(slp_row_key){l->hash, l->prefix}) : 0;
  for (; t && i < t->rows_n && !r; i++) {
    const kept *k = t->rows[i].row;
    if (!whole && (!slp_str_eq(k->key.hash, l->hash) || !text_has_prefix(k->key.range, l->prefix))) break;
    r = slp_store_rows_copy(&l->out, &k->row.rows[0]);
    if (!r && l->out.bytes > slp_store_bytes_left(&l->bound))
      r = slp_table_too_long(&rq->fail, t->spec, &l->bound);
  }
  if (r == SLP_ENOMEM) slp_table_no_memory(&rq->fail);
  if (r) slp_store_rows_free(&l->out);
  store_of(rq)->s.cost.read_calls++;
  answer_memory_request(rq);
}

/* Grows the array of rows so that one more row fits. */
static int make_room(slp_mem *mem, table *t) {
  if (t->rows_n < t->rows_cap) return 0;
  place *rows = slp_doubled(mem, t->rows, &t->rows_cap, 16, sizeof *rows);
  if (!rows) return SLP_ENOMEM;
  t->rows = rows;
  return 0;
}

static void remove_at(slp_mem *mem, table *t, size_t i) {
  kept_free(mem, t->rows[i].row);
  t->rows_n--;
  memmove(t->rows + i, t->rows + i + 1, (t->rows_n - i) * sizeof *t->rows);
}

/* Replaces `old` by the row that the write w makes; old NULL: inserts that row at the index `at`. */
static int put_changed_row(slp_store_write *w, table *t, kept *old, size_t at, const char **why) {
  slp_mem *mem = store_of(&w->rq)->m->mem;
  kept *fresh = SLP_NEW(mem, kept);
  if (!fresh) return SLP_ENOMEM;
  slp_store_rows_init(&fresh->row, mem);
  int r = slp_rows_change(&fresh->row, old ? &old->row.rows[0] : NULL, t->spec, w, why);
  if (!r && w->kind == SLP_WRITE_UPDATE) r = slp_store_rows_copy(&w->image, &fresh->row.rows[0]);
  if (!r && !old) r = make_room(mem, t);
  if (r) {
    kept_free(mem, fresh);
    return r;
  }
  const slp_row *row = &fresh->row.rows[0];
  fresh->key.hash = slp_row_text(row, slp_str_of(t->spec->hash_name));
  if (t->spec->range_name) fresh->key.range = slp_row_text(row, slp_str_of(t->spec->range_name));
  if (old) {
    kept_free(mem, old);
  } else {
    memmove(t->rows + at + 1, t->rows + at, (t->rows_n - at) * sizeof *t->rows);
    t->rows_n++;
  }
  t->rows[at].row = fresh;
  return 0;
}

static void write_row(slp_store_write *w, table *t) {
  size_t at = 0;
  const char *why = "";
  int r = 0;
  kept *k = at_key(t, &w->key, &at);
  if (!slp_rows_hold(k ? &k->row.rows[0] : NULL, w->when, w->when_n)) {
    r = k ? slp_store_rows_copy(&w->image, &k->row.rows[0]) : 0;
    w->image_known = 1;
    w->written = SLP_WRITTEN_REFUSED;
  } else {
    if (w->kind != SLP_WRITE_DELETE)
      r = put_changed_row(w, t, k, at, &why);
    else if (k)
      remove_at(store_of(&w->rq)->m->mem, t, at);
    w->image_known = w->kind == SLP_WRITE_UPDATE;
    w->written = SLP_WRITTEN_YES;
  }
  if (r == SLP_EINVAL) slp_fail_set(&w->rq.fail, SLP_REFUSED, SLOOP_EREFUSED, "%s", why);
  if (r && r != SLP_EINVAL) slp_table_no_memory(&w->rq.fail);
  if (!r) return;
  slp_store_rows_free(&w->image);
  w->image_known = 0;
  w->written = SLP_WRITTEN_NOT_SURE;
}

static void run_write(slp_event *ev) {
  slp_store_req *rq = SLP_OWNER(ev, slp_store_req, ev);
  slp_store_write *w = SLP_OWNER(rq, slp_store_write, rq);
  table *t = table_of(rq);
  slp_store_rows_free(&w->image);
  w->image_known = 0;
  w->written = SLP_WRITTEN_NOT_SURE;
  if (t) write_row(w, t);
  store_of(rq)->s.cost.write_calls++;
  answer_memory_request(rq);
}

static void op_prepare(slp_store *s, slp_store_prepare *p) { post_memory_request(s, &p->rq, run_prepare); }
static void op_get(slp_store *s, slp_store_get *g) { post_memory_request(s, &g->rq, run_get); }
static void op_list(slp_store *s, slp_store_list *l) { post_memory_request(s, &l->rq, run_list); }
static void op_write(slp_store *s, slp_store_write *w) { post_memory_request(s, &w->rq, run_write); }

static void op_cancel(slp_store *s, slp_store_req *rq) {
  (void)s;
  slp_unpost(&rq->ev);
  rq->impl = NULL;
}

static void op_close(slp_store *store) {
  memory_store *s = SLP_OWNER(store, memory_store, s);
  slp_memory *m = s->m;
  slp_free(m->mem, s->spec);
  slp_free(m->mem, s);
  slp_memory_drop(m);
}

static const slp_store_ops ops = {op_prepare, op_get, op_list, op_write, op_cancel, op_close};

int slp_memory_store(slp_store **ret, slp_memory *m, slp_host *h, const slp_table_spec *spec) {
  memory_store *s = SLP_NEW(m->mem, memory_store);
  if (!s) return SLP_ENOMEM;
  s->spec = slp_table_copy(m->mem, spec);
  if (!s->spec) {
    slp_free(m->mem, s);
    return SLP_ENOMEM;
  }
  s->s.ops = &ops;
  s->m = m;
  s->h = h;
  m->holds++;
  *ret = &s->s;
  return 0;
}
