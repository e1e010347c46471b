/* kpl.c - expands aggregates of the Kinesis Producer Library, in slices of bounded work.
 *
 * A new table of rows is written for the page, and replaces the old one at the end. SCAN copies ordinary rows
 * up to the next aggregate. An aggregate passes four stages:
 *   - SUM computes its MD5;
 *   - READ reads its message field by field into rows. A row contains the indexes of its keys and not yet the
 *     keys, because the tables of keys may still grow;
 *   - JUDGE checks which keys hash into the shard's range;
 *   - RESOLVE replaces the indexes in the rows by keys.
 * On any error the rows are removed, and the aggregate itself takes their place. */
#include "codec/kpl.h"

#include "base/mem.h"
#include "base/mutant.h"
#include "base/num.h"
#include "codec/digest.h"
#include "codec/kpl_message.h"
#include "codec/md5_many.h"
#include "codec/page.h"

#define MAGIC_N 4
#define MD5_N 16
/* The cost of reading one field, in bytes of a slice. */
#define FIELD_BYTES 32
/* The cost of an MD5 besides its bytes, in bytes of a slice. */
#define HASH_BYTES 256
/* Tables with up to this many entries keep their memory for the next page. */
#define ENTRIES_KEPT_MAX 4096

typedef enum stage { SCAN, SUM, READ, JUDGE, RESOLVE } stage;

typedef struct entry { /* an entry of the table of keys, or of explicit hash keys: a text in the body */
  uint32_t at;
  uint16_t n;
  uint8_t foreign;
} entry;

typedef struct table {
  entry *entries; /* owned */
  size_t n, cap;
} table;

struct slp_kpl {
  slp_mem *mem; /* a reference is held */
  slp_digest *digest;
  slp_page *page;
  const slp_hash_range *range; /* hash keys of the page's shard; NULL: no record is foreign */
  stage stage;
  int64_t bytes_left, records_left; /* bytes and records that the present slice may still handle */

  /* How far the page is expanded: */
  size_t next;      /* index in page->recs of the record to look at next */
  uint32_t magic_n; /* number of records from `next` on that begin like aggregates */
  slp_rec *rows;    /* the new table; owned, until the page takes it over */
  size_t rows_n, rows_cap;
  uint32_t aggregates_n, empty_n, raw_n;
  uint8_t cut; /* 1: the page is full, and ends before the record `next` */

  /* How far the aggregate page->recs[next] is expanded: */
  size_t first;   /* index in `rows` of the first row of the aggregate */
  size_t at, end; /* offsets in the body: at: up to where the MD5 is computed; end: end of the message */
  size_t done;    /* entries checked in JUDGE, or rows resolved in RESOLVE */
  slp_kpl_message message;
  table keys, hashes;
};

/* ---- rows and tables --------------------------------------------------------------------------------- */

static int grow_rows(slp_kpl *k) {
  size_t cap = k->rows_cap ? k->rows_cap * 2 : k->page->recs_n + 1024;
  if (cap > SLP_KPL_PAGE_RECORDS_MAX) cap = SLP_KPL_PAGE_RECORDS_MAX;
  slp_rec *rows = slp_realloc(k->page->mem, k->rows, cap * sizeof *rows);
  if (!rows) return SLP_ENOMEM;
  k->rows = rows;
  k->rows_cap = cap;
  return 0;
}

/* Appends a row. Returns SLP_ELIMIT if the page is full. */
static int put_row(slp_kpl *k, const slp_rec *row) {
  if (k->rows_n == k->rows_cap) {
    if (k->rows_n == SLP_KPL_PAGE_RECORDS_MAX) return SLP_ELIMIT;
    if (grow_rows(k)) return SLP_ENOMEM;
  }
  k->rows[k->rows_n++] = *row;
  k->records_left--;
  return 0;
}

static int put_entry(slp_kpl *k, table *t) {
  size_t n = k->message.text_n;
  if (n > UINT16_MAX || t->n == SLP_KPL_RECORDS_MAX) return SLP_EBADDATA;
  if (t->n == t->cap) {
    size_t cap = t->cap ? t->cap * 2 : 64;
    entry *entries = slp_realloc(k->mem, t->entries, cap * sizeof *entries);
    if (!entries) return SLP_ENOMEM;
    t->entries = entries;
    t->cap = cap;
  }
  t->entries[t->n++] = (entry){(uint32_t)k->message.text_at, (uint16_t)n, 0};
  return 0;
}

static void trim_table(slp_kpl *k, table *t) {
  t->n = 0;
  if (t->cap <= ENTRIES_KEPT_MAX) return;
  slp_free(k->mem, t->entries);
  *t = (table){NULL, 0, 0};
}

/* ---- the stages of an aggregate ------------------------------------------------------------------------ */

static int begin_aggregate(slp_kpl *k) {
  const slp_rec *whole = &k->page->recs[k->next];
  k->magic_n--;
  k->bytes_left -= HASH_BYTES;
  k->stage = SUM;
  k->first = k->rows_n;
  k->at = whole->data_at + MAGIC_N;
  k->end = whole->data_at + whole->data_n - MD5_N;
  return slp_md5_begin(k->digest);
}

static int sum_aggregate(slp_kpl *k) {
  const char *body = k->page->body.p;
  size_t n = k->end - k->at;
  if ((int64_t)n > k->bytes_left) n = (size_t)k->bytes_left;
  if (slp_md5_add(k->digest, (slp_str){body + k->at, n})) return SLP_ENOMEM;
  k->at += n;
  k->bytes_left -= (int64_t)n;
  if (k->at < k->end) return 0;
  uint8_t md5[MD5_N];
  if (slp_md5_end(k->digest, md5)) return SLP_ENOMEM;
  if (memcmp(md5, body + k->end, MD5_N) != 0) return SLP_EBADDATA;
  k->stage = READ;
  k->keys.n = k->hashes.n = 0;
  slp_kpl_message_begin(&k->message, body, k->page->recs[k->next].data_at + MAGIC_N, k->end);
  return 0;
}

/* Appends a row for a record of the message. Until RESOLVE the row holds indexes into the tables of keys:
 * key_at is the index of its key, arrived_ms the index of its explicit hash key, or -1 if it has none. */
static int put_record(slp_kpl *k) {
  const slp_kpl_message *m = &k->message;
  const slp_rec *whole = &k->page->recs[k->next];
  size_t sub = k->rows_n - (SLP_MUTANT(subs_renumbered) ? 0 : k->first);
  if (sub == SLP_KPL_RECORDS_MAX) return SLP_EBADDATA;
  slp_rec row = {.arrived_ms = m->has_hash ? (int64_t)slp_min_u64(m->hash_index, INT64_MAX) : -1,
                 .seq_at = whole->seq_at,
                 .seq_n = whole->seq_n,
                 .key_at = (uint32_t)slp_min_u64(m->key_index, UINT32_MAX),
                 .data_at = (uint32_t)m->text_at,
                 .data_n = (uint32_t)m->text_n,
                 .sub = (uint32_t)sub,
                 .word = whole->word};
  return put_row(k, &row);
}

static int read_message(slp_kpl *k) {
  while (k->bytes_left > 0 && k->records_left > 0) {
    int r = slp_kpl_message_next(&k->message);
    k->bytes_left -= FIELD_BYTES;
    if (r == SLP_KPL_END) {
      k->stage = k->range ? JUDGE : RESOLVE;
      k->done = 0;
      return 0;
    }
    if (r == SLP_KPL_KEY || r == SLP_KPL_HASH)
      r = put_entry(k, r == SLP_KPL_KEY ? &k->keys : &k->hashes);
    else if (r == SLP_KPL_RECORD)
      r = put_record(k);
    if (r) return r;
  }
  return 0;
}

static slp_str text_of(const slp_kpl *k, const entry *e) { return (slp_str){k->page->body.p + e->at, e->n}; }

/* Checks whether the next keys hash into the shard's range, several keys at once if they are short. */
static int judge_keys(slp_kpl *k) {
  entry *e = &k->keys.entries[k->done];
  uint8_t hashes[SLP_MD5_MANY][16];
  slp_str texts[SLP_MD5_MANY];
  size_t n = 0, most = slp_min_u64(k->keys.n - k->done, SLP_MD5_MANY);
  for (; n < most && e[n].n <= SLP_MD5_SHORT_MAX; n++) texts[n] = text_of(k, &e[n]);
  if (n) {
    slp_md5_many(texts, n, hashes);
  } else {
    n = 1;
    if (slp_md5(k->digest, text_of(k, e), hashes[0])) return SLP_ENOMEM;
    k->bytes_left -= e->n + HASH_BYTES;
  }
  for (size_t i = 0; i < n; i++) e[i].foreign = !slp_hash_range_has(k->range, hashes[i]);
  k->done += n;
  k->records_left -= (int64_t)n;
  return 0;
}

/* Checks whether an explicit hash key is in the shard's range. A text that is no number is treated as inside:
 * it can't decide on a shard, because the service accepts only numbers. */
static void judge_hash(slp_kpl *k) {
  entry *e = &k->hashes.entries[k->done++ - k->keys.n];
  uint8_t hash[16];
  e->foreign = slp_parse_u128(text_of(k, e), hash) == 0 && !slp_hash_range_has(k->range, hash);
  k->records_left--;
}

static int judge_key_tables(slp_kpl *k) {
  while (k->done < k->keys.n + k->hashes.n) {
    if (k->records_left <= 0 || k->bytes_left <= 0) return 0;
    if (k->done >= k->keys.n)
      judge_hash(k);
    else if (judge_keys(k))
      return SLP_ENOMEM;
  }
  k->stage = RESOLVE;
  k->done = 0;
  return 0;
}

static int resolve_row(slp_kpl *k, slp_rec *row) {
  if (row->key_at >= k->keys.n) return SLP_EBADDATA;
  const entry *key = &k->keys.entries[row->key_at], *judged = key;
  if (row->arrived_ms >= 0) {
    if ((uint64_t)row->arrived_ms >= k->hashes.n) return SLP_EBADDATA;
    judged = &k->hashes.entries[row->arrived_ms];
  }
  row->arrived_ms = k->page->recs[k->next].arrived_ms;
  row->key_at = key->at;
  row->key_n = key->n;
  row->flags = judged->foreign ? SLP_REC_FOREIGN : 0;
  return 0;
}

static int resolve_rows(slp_kpl *k) {
  size_t n = k->rows_n - k->first;
  for (; k->done < n && k->records_left > 0; k->done++, k->records_left--) {
    if (resolve_row(k, &k->rows[k->first + k->done])) return SLP_EBADDATA;
  }
  if (k->done < n) return 0;
  slp_rec whole = k->page->recs[k->next];
  whole.flags |= SLP_REC_EMPTY;
  int r = n == 0 ? put_row(k, &whole) : 0;
  if (r) return r;
  k->empty_n += n == 0;
  k->aggregates_n++;
  k->next++;
  k->stage = SCAN;
  return 0;
}

/* Puts the aggregate itself into the table instead of its records, with the flag SLP_REC_RAW. */
static int give_whole(slp_kpl *k) {
  slp_rec whole = k->page->recs[k->next];
  whole.flags |= SLP_REC_RAW;
  k->rows_n = k->first;
  k->stage = SCAN;
  int r = put_row(k, &whole);
  if (r) return r;
  k->raw_n++;
  k->next++;
  return 0;
}

/* ---- pages --------------------------------------------------------------------------------------------- */

static int scan_to_next_aggregate(slp_kpl *k) {
  const slp_page *page = k->page;
  while (k->next < page->recs_n && k->records_left > 0) {
    const slp_rec *r = &page->recs[k->next];
    k->first = k->rows_n;
    if (k->magic_n && slp_kpl_begins_like(slp_rec_data(page, r))) return begin_aggregate(k);
    int e = put_row(k, r);
    if (e) return e;
    k->next++;
  }
  return 0;
}

static int run_kpl_stage(slp_kpl *k) {
  switch (k->stage) {
    case SCAN: return scan_to_next_aggregate(k);
    case SUM: return sum_aggregate(k);
    case READ: return read_message(k);
    case JUDGE: return judge_key_tables(k);
    case RESOLVE: break;
  }
  return resolve_rows(k);
}

/* Ends the page before the record `next`. latest_ms, earliest_ms and raw_n are computed again without the
 * records that are cut off. The page gets no next iterator and no children, because using them would skip
 * these records. */
static void cut_off(slp_kpl *k) {
  slp_page *page = k->page;
  page->latest_ms = -1;
  page->earliest_ms = INT64_MAX;
  for (size_t i = 0; i < k->next; i++) {
    int64_t ms = page->recs[i].arrived_ms;
    page->latest_ms = slp_max_i64(page->latest_ms, ms);
    if (ms >= 0) page->earliest_ms = slp_min_i64(page->earliest_ms, ms);
  }
  for (size_t i = k->next; i < page->recs_n; i++) page->raw_n -= page->recs[i].flags & SLP_REC_RAW;
  page->next = (slp_str){NULL, 0};
  page->children_n = 0;
  page->children_given = page->children_bad = 0;
}

static int replace_page_rows(slp_kpl *k) {
  slp_page *page = k->page;
  if (k->cut) cut_off(k);
  slp_free(page->mem, page->recs);
  page->recs = k->rows;
  page->recs_n = k->rows_n;
  page->recs_cap = k->rows_cap;
  page->raw_n += k->raw_n;
  page->aggregates_n = k->aggregates_n;
  page->empty_n = k->empty_n;
  page->extra_n = (uint32_t)(k->rows_n - k->next);
  k->rows = NULL;
  slp_kpl_drop(k);
  return 0;
}

slp_kpl *slp_kpl_new(slp_mem *mem) {
  slp_kpl *k = SLP_NEW(mem, slp_kpl);
  if (!k) return NULL;
  k->mem = slp_mem_hold(mem);
  k->digest = slp_digest_new(mem);
  if (k->digest) return k;
  slp_kpl_free(k);
  return NULL;
}

void slp_kpl_free(slp_kpl *k) {
  if (!k) return;
  slp_mem *mem = k->mem;
  slp_kpl_drop(k);
  slp_free(mem, k->keys.entries);
  slp_free(mem, k->hashes.entries);
  slp_digest_free(k->digest);
  slp_free(mem, k);
  slp_mem_drop(mem);
}

/* Returns 1 if the range contains all hash keys, so that no record can be foreign (belong to another
 * shard). */
static int is_whole_ring(const slp_hash_range *range) {
  for (int i = 0; i < 16; i++) {
    if (range->first[i] != 0 || range->last[i] != 0xff) return 0;
  }
  return 1;
}

void slp_kpl_begin(slp_kpl *k, slp_page *page, const slp_hash_range *range) {
  slp_kpl_drop(k);
  k->page = page;
  k->range = range && !is_whole_ring(range) ? range : NULL;
  k->stage = SCAN;
  k->next = 0;
  k->magic_n = page->magic_n;
  k->aggregates_n = k->empty_n = k->raw_n = 0;
  k->cut = 0;
}

int slp_kpl_step(slp_kpl *k, size_t bytes_max, size_t records_max) {
  if (!k->page) return 0;
  if (!k->page->magic_n) {
    slp_kpl_drop(k);
    return 0;
  }
  k->bytes_left = (int64_t)slp_min_u64(slp_max_u64(bytes_max, 1), SLP_PAGE_BYTES_MAX);
  k->records_left = (int64_t)slp_min_u64(slp_max_u64(records_max, 1), SLP_KPL_PAGE_RECORDS_MAX);
  while (k->next < k->page->recs_n && !k->cut) {
    if (k->bytes_left <= 0 || k->records_left <= 0) return SLP_MORE;
    int r = run_kpl_stage(k);
    if (r == SLP_EBADDATA) r = give_whole(k);
    if (r == SLP_ELIMIT) {
      k->rows_n = k->first;
      k->cut = 1;
    } else if (r) {
      slp_kpl_drop(k);
      return r;
    }
  }
  return replace_page_rows(k);
}

void slp_kpl_drop(slp_kpl *k) {
  if (k->page) slp_free(k->page->mem, k->rows);
  k->rows = NULL;
  k->rows_n = k->rows_cap = 0;
  trim_table(k, &k->keys);
  trim_table(k, &k->hashes);
  k->page = NULL;
  k->range = NULL;
}
