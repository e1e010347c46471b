/* fuzz_kpl.c - the input is the message of an aggregate (a right magic and MD5 are put around it), between
 * two plain records; once more it is taken as it is, as a record's data. A reader of another make (recursive,
 * all at once, byte by byte) says what must come of it. Slices of any size must give the same. */
#include "../kpl_page.h"
#include "../kpl_write.h"
#include "fuzz.h"

/* ---- the other reader: how many records, and what is the i-th ----------------------------------------- */
#define USERS_MAX 4096
typedef struct user {
  uint64_t key, hash;
  int has_hash;
  const uint8_t *data;
  size_t n;
} user;
typedef struct other {
  user users[USERS_MAX];
  const uint8_t *keys[USERS_MAX];
  size_t keys_n[USERS_MAX];
  size_t n, key_count, hash_count;
  int bad;
} other;

typedef struct span {
  const uint8_t *p, *end;
} span;

static int number(span *s, uint64_t *ret) {
  *ret = 0;
  for (int i = 0; i < 10 && s->p < s->end; i++) {
    uint8_t b = *s->p++;
    *ret += (uint64_t)(b % 128) << (7 * i);
    if (b < 128) return 1;
  }
  return 0;
}

/* A field's head and value; for groups everything up to their end. 0: broken. */
static int field(span *s, unsigned depth, uint64_t *ret_field, unsigned *ret_kind, uint64_t *ret_number,
                 span *ret_bytes) {
  uint64_t head, n, ignored_field;
  unsigned ignored_kind;
  span ignored;
  if (!number(s, &head) || head >= (uint64_t)1 << 32 || head < 8) return 0;
  *ret_field = head / 8;
  *ret_kind = head % 8;
  switch (*ret_kind) {
    case 0: return number(s, ret_number);
    case 1:
    case 5:
      n = *ret_kind == 1 ? 8 : 4;
      if ((uint64_t)(s->end - s->p) < n) return 0;
      s->p += n;
      return 1;
    case 2:
      if (!number(s, &n) || n > (uint64_t)(s->end - s->p)) return 0;
      *ret_bytes = (span){s->p, s->p + n};
      s->p += n;
      return 1;
    case 3:
      if (depth == 100) return 0;
      do {
        if (!field(s, depth + 1, &ignored_field, &ignored_kind, &n, &ignored)) return 0;
      } while (ignored_kind != 4);
      return ignored_field == *ret_field;
    case 4: return depth > 0;
    default: return 0;
  }
}

static int is_tag(span s) {
  int has_key = 0;
  while (s.p < s.end) {
    uint64_t f, n;
    unsigned kind;
    span bytes;
    if (!field(&s, 0, &f, &kind, &n, &bytes)) return 0;
    if (f == 1 && kind == 2) has_key = 1;
  }
  return has_key;
}

static int read_user(span s, user *u) {
  int has_key = 0, has_data = 0;
  u->has_hash = 0;
  while (s.p < s.end) {
    uint64_t f, n;
    unsigned kind;
    span bytes;
    if (!field(&s, 0, &f, &kind, &n, &bytes)) return 0;
    if (f == 1 && kind == 0) u->key = n, has_key = 1;
    if (f == 2 && kind == 0) u->hash = n, u->has_hash = 1;
    if (f == 3 && kind == 2) u->data = bytes.p, u->n = (size_t)(bytes.end - bytes.p), has_data = 1;
    if (f == 4 && kind == 2 && !is_tag(bytes)) return 0;
  }
  return has_key && has_data;
}

static int read_all(span s, other *o) {
  while (s.p < s.end) {
    uint64_t f, n;
    unsigned kind;
    span bytes;
    if (!field(&s, 0, &f, &kind, &n, &bytes)) return 0;
    if (kind != 2 || f > 3) continue;
    REQUIRE(o->n < USERS_MAX && o->key_count < USERS_MAX);
    if (f == 1) {
      if (bytes.end - bytes.p > UINT16_MAX) return 0;
      o->keys[o->key_count] = bytes.p;
      o->keys_n[o->key_count++] = (size_t)(bytes.end - bytes.p);
    } else if (f == 2) {
      if (bytes.end - bytes.p > UINT16_MAX) return 0;
      o->hash_count++;
    } else if (!read_user(bytes, &o->users[o->n++])) {
      return 0;
    }
  }
  for (size_t i = 0; i < o->n; i++) {
    if (o->users[i].key >= o->key_count) return 0;
    if (o->users[i].has_hash && o->users[i].hash >= o->hash_count) return 0;
  }
  return 1;
}

/* ---- both -------------------------------------------------------------------------------------------- */

static void same(slp_str ours, const uint8_t *p, size_t n) {
  REQUIRE(ours.n == n && (n == 0 || memcmp(ours.p, p, n) == 0));
}

static void inside(const slp_page *page, slp_str s, const slp_rec *whole) {
  const char *from = page->body.p + whole->data_at;
  REQUIRE(s.p >= from && s.p + s.n <= from + whole->data_n);
}

static void check_plain(const slp_page *page, const slp_rec *r, const char *data) {
  REQUIRE(r->flags == 0 && r->sub == 0);
  same(slp_rec_data(page, r), (const uint8_t *)data, strlen(data));
}

/* The rows of page->recs[1] before, which are all but the first and the last now. */
static void check(const slp_page *page, slp_rec whole, const other *o) {
  size_t n = page->recs_n - 2;
  check_plain(page, &page->recs[0], "before");
  check_plain(page, &page->recs[n + 1], "after");
  REQUIRE(page->extra_n == n - 1 && page->raw_n == (uint32_t)o->bad);
  REQUIRE(page->aggregates_n == (uint32_t)!o->bad && page->empty_n == (uint32_t)(!o->bad && o->n == 0));
  if (o->bad || o->n == 0) {
    REQUIRE(n == 1);
    whole.flags |= o->bad ? SLP_REC_RAW : SLP_REC_EMPTY;
    REQUIRE(memcmp(&whole, &page->recs[1], sizeof whole) == 0);
    return;
  }
  REQUIRE(n == o->n);
  for (size_t i = 0; i < n; i++) {
    const slp_rec *r = &page->recs[1 + i];
    const user *u = &o->users[i];
    REQUIRE(r->sub == i && r->seq_at == whole.seq_at && r->seq_n == whole.seq_n);
    REQUIRE(r->arrived_ms == whole.arrived_ms && (r->flags & ~SLP_REC_FOREIGN) == 0);
    same(slp_rec_data(page, r), u->data, u->n);
    same(slp_rec_key(page, r), o->keys[u->key], o->keys_n[u->key]);
    inside(page, slp_rec_data(page, r), &whole);
    inside(page, slp_rec_key(page, r), &whole);
  }
}

static slp_page *page_around(slp_mem *mem, slp_str data) {
  slp_page *page = kpl_page_new(mem);
  kpl_page_add(page, SLP_STR("before"));
  kpl_page_add(page, data);
  kpl_page_add(page, SLP_STR("after"));
  return page;
}

static void one(slp_mem *mem, slp_str data, const other *o) {
  static const slp_hash_range low = {.first = {0}, .last = {0x7f}};
  slp_kpl *k = slp_kpl_new(mem);
  REQUIRE(k != NULL);
  slp_page *first = NULL;
  for (size_t slice = 1 << 16; slice; slice /= 17) {
    slp_page *page = page_around(mem, data);
    slp_rec whole = page->recs[1];
    REQUIRE(kpl_page_expand(k, page, &low, slice, 1 + slice % 300, NULL) == 0);
    check(page, whole, o);
    if (first) {
      REQUIRE(memcmp(first->recs, page->recs, page->recs_n * sizeof *page->recs) == 0);
      slp_page_free(page);
    } else {
      first = page;
    }
  }
  slp_page_free(first);
  slp_kpl_free(k);
}

/* As it is: either no aggregate at all, or surely not one with the right MD5. */
static void as_it_is(slp_mem *mem, slp_str data) {
  slp_kpl *k = slp_kpl_new(mem);
  slp_page *page = page_around(mem, data);
  REQUIRE(k && kpl_page_expand(k, page, NULL, 100, 10, NULL) == 0);
  if (!slp_kpl_begins_like(data)) REQUIRE(page->recs_n == 3 && page->recs[1].flags == 0);
  for (size_t i = 0; i < page->recs_n; i++) {
    slp_str s = slp_rec_data(page, &page->recs[i]);
    REQUIRE(s.p >= page->body.p && s.p + s.n <= page->body.p + page->body.n);
  }
  slp_page_free(page);
  slp_kpl_free(k);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > USERS_MAX) return 0;
  char *copy = fuzz_copy(data, size);
  other *o = calloc(1, sizeof *o);
  slp_mem *mem = slp_mem_new(NULL, NULL);
  REQUIRE(o && mem);
  slp_buf sealed;
  slp_buf_init(&sealed, mem, SIZE_MAX / 2);
  kpl_seal(&sealed, (slp_str){copy, size});
  o->bad = !read_all((span){(uint8_t *)copy, (uint8_t *)copy + size}, o);
  if (size) one(mem, slp_buf_str(&sealed), o); /* without any message it is too short for an aggregate */
  as_it_is(mem, (slp_str){copy, size});
  slp_buf_free(&sealed);
  REQUIRE(mem->live_blocks == 0);
  slp_mem_drop(mem);
  free(o);
  free(copy);
  return 0;
}
