/* page_table.c - makes, empties and frees pages, and adds rows to their tables. */
#include "codec/page_table.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/num.h"
#include "codec/focus.h"
#include "codec/json.h"
#include "codec/kpl.h"
#include "codec/page.h"

#define ROWS_FIRST 64

/* ---- pages --------------------------------------------------------------------------------------- */

void slp_page_no_rows(slp_page *page) {
  page->recs_n = 0;
  page->raw_n = page->largest_bytes = 0;
  page->latest_ms = -1;
  page->earliest_ms = INT64_MAX;
  page->unordered = 0;
  page->magic_n = page->aggregates_n = page->extra_n = page->empty_n = 0;
}

void slp_page_no_answer(slp_page *page) {
  slp_page_no_rows(page);
  page->next = (slp_str){NULL, 0};
  page->behind_ms = -1;
  page->children_n = 0;
  page->children_given = page->children_bad = page->records_given = 0;
}

slp_page *slp_page_new(slp_mem *mem) {
  slp_page *page = SLP_NEW(mem, slp_page);
  if (!page) return NULL;
  page->mem = slp_mem_hold(mem);
  slp_buf_init(&page->body, mem, SLP_PAGE_BYTES_MAX);
  slp_page_no_answer(page);
  return page;
}

void slp_page_free(slp_page *page) {
  if (!page) return;
  slp_mem *mem = page->mem;
  slp_buf_free(&page->body);
  slp_free(mem, page->recs);
  slp_free(mem, page->changes);
  slp_free(mem, page->children);
  slp_free(mem, page);
  slp_mem_drop(mem);
}

void slp_page_reset(slp_page *page) {
  slp_buf_clear(&page->body);
  page->focus.id = 0;
  slp_page_no_answer(page);
}

size_t slp_page_bytes(const slp_page *page) {
  size_t n = sizeof *page + page->body.cap + page->recs_cap * sizeof(slp_rec);
  if (page->changes) n += slp_alloc_size(page->changes);
  return page->children ? n + slp_alloc_size(page->children) : n;
}

size_t slp_page_rows_end(const slp_page *page, size_t from, size_t to) {
  size_t end = 0;
  for (size_t i = from; i < to; i++) {
    const slp_rec *r = &page->recs[i];
    end = slp_max_u64(end, (size_t)r->data_at + r->data_n);
    end = slp_max_u64(end, (size_t)r->key_at + r->key_n);
    end = slp_max_u64(end, (size_t)r->seq_at + r->seq_n);
  }
  return end;
}

void slp_page_cut(slp_page *page, size_t recs_n) {
  SLP_CHECK(recs_n > 0 && recs_n <= page->recs_n && !page->changes);
  page->recs_n = recs_n;
  page->body.n = slp_page_rows_end(page, 0, recs_n);
  page->next = (slp_str){NULL, 0};
  page->children_n = 0;
  slp_rec *recs = slp_realloc(page->mem, page->recs, recs_n * sizeof *recs);
  char *p = slp_realloc(page->body.mem, page->body.p, page->body.n + 1);
  if (recs) {
    page->recs = recs;
    page->recs_cap = recs_n;
  }
  if (!p) return;
  page->body.p = p;
  page->body.cap = page->body.n;
}

/* ---- children ------------------------------------------------------------------------------------- */

static slp_str put_behind(slp_buf *body, slp_str s) {
  size_t at = body->n;
  if (!s.n) return (slp_str){NULL, 0};
  SLP_CHECK(slp_buf_add_str(body, s) == 0); /* the caller has reserved the room, so the body does not move */
  return (slp_str){body->p + at, s.n};
}

int slp_page_give_children(slp_page *page, const slp_shard_desc *children, size_t n) {
  size_t texts = 0;
  for (size_t i = 0; i < n; i++) {
    const slp_shard_desc *d = &children[i];
    texts += d->id.n + d->parent.n + d->adjacent_parent.n + d->hash_start.n + d->hash_end.n;
  }
  /* these are slices of the body, and would be invalid when the body moves */
  SLP_CHECK(!page->next.n && !page->children_n);
  if (n > SLP_PAGE_CHILDREN_MAX) return SLP_ELIMIT;
  int r = slp_buf_reserve(&page->body, texts);
  if (r) return r;
  slp_shard_desc *rows = slp_realloc(page->mem, page->children, SLP_PAGE_CHILDREN_MAX * sizeof *rows);
  if (!rows) return SLP_ENOMEM;
  page->children = rows;
  for (size_t i = 0; i < n; i++)
    rows[i] = (slp_shard_desc){.id = put_behind(&page->body, children[i].id),
                               .parent = put_behind(&page->body, children[i].parent),
                               .adjacent_parent = put_behind(&page->body, children[i].adjacent_parent),
                               .hash_start = put_behind(&page->body, children[i].hash_start),
                               .hash_end = put_behind(&page->body, children[i].hash_end)};
  page->children_n = n;
  page->children_given = 1;
  return 0;
}

/* ---- rows ---------------------------------------------------------------------------------------- */

void *slp_page_doubled(slp_page *page, void *table, size_t *cap, size_t first, size_t most, size_t each) {
  size_t want = *cap ? *cap * 2 : first;
  if (want > most) want = most;
  void *p = slp_realloc(page->mem, table, want * each);
  if (p) *cap = want;
  return p;
}

static int grow_rows(slp_page *page) {
  slp_rec *recs =
      slp_page_doubled(page, page->recs, &page->recs_cap, ROWS_FIRST, SLP_PAGE_RECORDS_MAX, sizeof *recs);
  if (!recs) return SLP_ENOMEM;
  page->recs = recs;
  return 0;
}

int slp_page_add_row(slp_page *page, const slp_rec *rec, const char **ret_why) {
  if (page->recs_n == SLP_PAGE_RECORDS_MAX) {
    *ret_why = "too many records";
    return SLP_ELIMIT;
  }
  if (page->recs_n == page->recs_cap && grow_rows(page)) {
    *ret_why = "no memory";
    return SLP_ENOMEM;
  }
  if (page->recs_n) {
    const slp_rec *last = &page->recs[page->recs_n - 1];
    if (slp_num_cmp(slp_rec_seq(page, rec), slp_rec_seq(page, last)) <= 0) page->unordered = 1;
  }
  slp_rec *row = &page->recs[page->recs_n++];
  *row = *rec;
  if (page->focus.id) row->word = slp_focus_word(&page->focus, slp_rec_seq(page, rec));
  if (rec->flags & SLP_REC_RAW) page->raw_n++;
  if (slp_kpl_begins_like(slp_rec_data(page, rec))) page->magic_n++;
  if (rec->data_n > page->largest_bytes) page->largest_bytes = rec->data_n;
  if (rec->arrived_ms > page->latest_ms) page->latest_ms = rec->arrived_ms;
  if (rec->arrived_ms >= 0 && rec->arrived_ms < page->earliest_ms) page->earliest_ms = rec->arrived_ms;
  return 0;
}

int slp_page_add_change(slp_page *page, const slp_rec *rec, const slp_rec_change *change,
                        const char **ret_why) {
  size_t at = page->recs_n, cap = page->changes ? slp_alloc_size(page->changes) / sizeof *change : 0;
  if (at == cap && at < SLP_PAGE_RECORDS_MAX) {
    slp_rec_change *changes =
        slp_page_doubled(page, page->changes, &cap, ROWS_FIRST, SLP_PAGE_RECORDS_MAX, sizeof *changes);
    if (!changes) {
      *ret_why = "no memory";
      return SLP_ENOMEM;
    }
    page->changes = changes;
  }
  SLP_CHECK(page->changes); /* not NULL: without a table the capacity is 0, so a table was allocated above */
  int r = slp_page_add_row(page, rec, ret_why);
  if (!r) page->changes[at] = *change;
  return r;
}

void slp_page_no_changes(slp_page *page) {
  slp_free(page->mem, page->changes);
  page->changes = NULL;
}

/* ---- values ------------------------------------------------------------------------------------------ */

/* Reads "1767312000.123" as Kinesis writes it: seconds of 10 digits, a dot, 1 to 3 more. Returns 0 for any
 * other form. */
static int plain_seconds(slp_str s, int64_t *ret_ms) {
  int64_t v = 0;
  if (s.n < 12 || s.n > 14 || s.p[10] != '.') return 0;
  for (size_t i = 0; i < s.n; i++) {
    if (i == 10) continue;
    if (s.p[i] < '0' || s.p[i] > '9') return 0;
    v = v * 10 + (s.p[i] - '0');
  }
  static const int64_t scale[] = {100, 10, 1};
  *ret_ms = v * scale[s.n - 12];
  return 1;
}

int slp_page_time_ms(slp_str number, int64_t *ret_ms) {
  /* A time of 1e11 or more can't be in seconds, so it is taken for milliseconds, as in the CBOR reader. */
  const int64_t absurd_ms = 100000000000000;
  if (plain_seconds(number, ret_ms)) return 0;
  int r = slp_decimal_seconds_ms(number, ret_ms);
  return r || *ret_ms >= absurd_ms ? slp_decimal_scaled(number, 0, ret_ms) : 0;
}
