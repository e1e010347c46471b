/* store.c - rows of values, and the arena (a growing list of memory blocks) that holds the rows of an answer
 * (store.h). */
#include "lease/store.h"

#include "base/mem.h"
#include "base/num.h"
#include "host/host.h"

/* The size of an arena's first block; it is small, because a row that is kept alone is small. Small values
 * share a block, and a large value gets a block of its own. */
#define BLOCK_BYTES_MIN 1024u
#define BLOCK_BYTES_MAX 16384u
#define ALIGN 16u

typedef struct slp_rows_block {
  slp_mem *mem; /* holds a reference */
  struct slp_rows_block *next;
  size_t used, cap;
  _Alignas(16) char bytes[];
} slp_rows_block;

static const slp_val nothing = {.kind = SLP_VAL_NONE};

const slp_val *slp_row_get(const slp_row *row, slp_str name) {
  for (size_t i = 0; i < row->n; i++) {
    if (slp_str_eq(row->attrs[i].name, name)) return &row->attrs[i].val;
  }
  return &nothing;
}

slp_str slp_row_text(const slp_row *row, slp_str name) {
  const slp_val *v = slp_row_get(row, name);
  return v->kind == SLP_VAL_S || v->kind == SLP_VAL_N ? v->s : (slp_str){NULL, 0};
}

int64_t slp_row_int(const slp_row *row, slp_str name, int64_t otherwise) {
  const slp_val *v = slp_row_get(row, name);
  int64_t n = 0;
  return v->kind == SLP_VAL_N && !slp_parse_i64(v->s, &n) ? n : otherwise;
}

/* ---- the arena ----------------------------------------------------------------------------------------- */
void slp_store_rows_init(slp_store_rows *rows, slp_mem *mem) { *rows = (slp_store_rows){.mem = mem}; }

void slp_store_rows_free(slp_store_rows *rows) {
  while (rows->blocks) {
    slp_rows_block *b = rows->blocks;
    slp_mem *mem = b->mem;
    rows->blocks = b->next;
    slp_free(mem, b);
    slp_mem_drop(mem);
  }
  rows->rows = NULL;
  rows->n = rows->cap = rows->bytes = 0;
}

static slp_rows_block *block_new(slp_mem *mem, size_t cap) {
  slp_rows_block *b = cap > SIZE_MAX - sizeof *b ? NULL : slp_alloc(mem, sizeof *b + cap);
  if (!b) return NULL;
  b->mem = slp_mem_hold(mem);
  b->cap = cap;
  b->used = 0;
  return b;
}

/* Adds a block with room for n bytes, and returns it. */
static slp_rows_block *block_add(slp_store_rows *rows, size_t n) {
  slp_rows_block *newest = rows->blocks;
  size_t cap = newest ? slp_min_u64(newest->cap * 4, BLOCK_BYTES_MAX) : BLOCK_BYTES_MIN;
  int large = n > cap / 4;
  slp_rows_block *b = block_new(rows->mem, large ? n : cap);
  if (!b) return NULL;
  rows->bytes += b->cap;
  if (newest && large) { /* puts the block of a large value after the newest block, which still has room */
    b->next = newest->next;
    newest->next = b;
  } else {
    b->next = newest;
    rows->blocks = b;
  }
  return b;
}

void *slp_store_rows_get(slp_store_rows *rows, size_t bytes) {
  slp_rows_block *b = rows->blocks;
  if (bytes > SIZE_MAX / 2) return NULL;
  size_t n = (bytes + ALIGN - 1) / ALIGN * ALIGN;
  if (!b || b->cap - b->used < n) b = block_add(rows, n);
  if (!b) return NULL;
  void *p = b->bytes + b->used;
  b->used += n;
  memset(p, 0, n);
  return p;
}

slp_str slp_store_rows_text(slp_store_rows *rows, slp_str s) {
  char *p = slp_store_rows_get(rows, s.n ? s.n : 1);
  if (!p) return (slp_str){NULL, 0};
  if (s.n) memcpy(p, s.p, s.n);
  return (slp_str){p, s.n};
}

int slp_store_rows_val(slp_store_rows *rows, const slp_val *from, slp_val *ret) {
  slp_val v = *from;
  v.items = NULL;
  if (from->s.p && !(v.s = slp_store_rows_text(rows, from->s)).p) return SLP_ENOMEM;
  if (from->kind == SLP_VAL_SS) {
    slp_str *items = slp_store_rows_get(rows, from->n * sizeof *items);
    if (!items) return SLP_ENOMEM;
    for (size_t i = 0; i < from->n; i++) {
      items[i] = slp_store_rows_text(rows, from->items[i]);
      if (!items[i].p) return SLP_ENOMEM;
    }
    v.items = items;
  }
  *ret = v;
  return 0;
}

int slp_store_rows_add(slp_store_rows *rows, const slp_attr *attrs, size_t n) {
  /* The old array of rows stays in the arena. All old arrays together are at most as large as the new one. */
  if (rows->n == rows->cap) {
    size_t cap = rows->cap ? rows->cap * 2 : 1;
    slp_row *more = slp_store_rows_get(rows, cap * sizeof *more);
    if (!more) return SLP_ENOMEM;
    if (rows->n) memcpy(more, rows->rows, rows->n * sizeof *more);
    rows->rows = more;
    rows->cap = cap;
  }
  rows->rows[rows->n++] = (slp_row){attrs, n};
  return 0;
}

int slp_store_rows_copy(slp_store_rows *rows, const slp_row *from) {
  slp_attr *attrs = slp_store_rows_get(rows, (from->n ? from->n : 1) * sizeof *attrs);
  if (!attrs) return SLP_ENOMEM;
  for (size_t i = 0; i < from->n; i++) {
    attrs[i].name = slp_store_rows_text(rows, from->attrs[i].name);
    if (!attrs[i].name.p || slp_store_rows_val(rows, &from->attrs[i].val, &attrs[i].val)) return SLP_ENOMEM;
  }
  return slp_store_rows_add(rows, attrs, from->n);
}

int slp_store_rows_join(slp_store_rows *to, slp_store_rows *from) {
  size_t n = to->n + from->n;
  slp_row *all = slp_store_rows_get(to, (n ? n : 1) * sizeof *all);
  if (!all) return SLP_ENOMEM;
  if (to->n) memcpy(all, to->rows, to->n * sizeof *all);
  if (from->n) memcpy(all + to->n, from->rows, from->n * sizeof *all);
  to->rows = all;
  to->n = to->cap = n;
  to->bytes += from->bytes;
  /* puts the blocks of `from` after the newest block of `to`, which may still have room */
  slp_rows_block **end = &to->blocks;
  while (*end) end = &(*end)->next;
  *end = from->blocks;
  slp_store_rows_init(from, from->mem);
  return 0;
}

void slp_store_rows_move(slp_store_rows *to, slp_store_rows *from) {
  SLP_CHECK(!to->blocks && to->n == 0);
  slp_mem *mem = to->mem;
  *to = *from;
  to->mem = mem;
  slp_store_rows_init(from, from->mem);
}

/* ---- requests ------------------------------------------------------------------------------------------ */
static void on_answer(slp_event *ev) {
  slp_store_req *rq = SLP_OWNER(ev, slp_store_req, ev);
  rq->impl = NULL;
  rq->on_done(rq);
}

void slp_store_answer(slp_host *h, slp_store_req *rq) {
  rq->done_us = slp_now_us(h);
  rq->ev.run = on_answer;
  slp_post(h, &rq->ev);
}
