/* shard_set.c - codes and decodes sets of shard ids (shard_set.h). */
#include "lease/shard_set.h"

#include "base/buf.h"
#include "base/num.h"

#include <stdio.h>
#include <stdlib.h>

#define FORM_RUNS 1
#define FORM_PREFIXES 2
/* the form that slp_shard_set_begin gives the reader if the set is damaged, so that nothing more is read;
 * never written */
#define FORM_ENDLESS 255
#define KINESIS "shardId-"
#define DIGITS 12
/* Most ids in a set. Without a limit, a few damaged bytes could claim any number of ids. */
#define SET_MAX 131072

static int by_bytes(const void *a, const void *b) {
  const slp_str *x = a, *y = b;
  int c = memcmp(x->p, y->p, x->n < y->n ? x->n : y->n);
  return c ? c : (x->n > y->n) - (x->n < y->n);
}

/* Returns 1, and the number in the id, if the id is one of Kinesis; 0 otherwise. */
static int number_of(slp_str id, uint64_t *ret) {
  slp_str digits = {id.p + sizeof KINESIS - 1, DIGITS};
  if (id.n != sizeof KINESIS - 1 + DIGITS || memcmp(id.p, KINESIS, sizeof KINESIS - 1) != 0) return 0;
  for (size_t i = 0; i < DIGITS; i++)
    if (digits.p[i] < '0' || digits.p[i] > '9') return 0;
  return slp_parse_u64(digits, ret) == 0;
}

/* LEB128: 7 bits in each byte, the lowest first; the high bit is set in all bytes but the last. */
static int add_leb(slp_buf *to, uint64_t v) {
  while (v >= 128) {
    int r = slp_buf_add_char(to, (char)(v % 128 + 128));
    if (r) return r;
    v /= 128;
  }
  return slp_buf_add_char(to, (char)v);
}

static int write_runs(slp_buf *to, const slp_str *ids, size_t n) {
  uint64_t before = 0; /* the number that follows the last run of ids */
  int r = slp_buf_add_char(to, FORM_RUNS);
  for (size_t i = 0; i < n && !r;) {
    uint64_t first = 0, number = 0, length = 0;
    number_of(ids[i], &first);
    while (i < n && number_of(ids[i], &number) && number == first + length) {
      i++;
      length++;
    }
    r = add_leb(to, first - before);
    if (!r) r = add_leb(to, length);
    before = first + length;
  }
  return r;
}

static int write_prefixes(slp_buf *to, const slp_str *ids, size_t n) {
  slp_str before = {"", 0};
  int r = slp_buf_add_char(to, FORM_PREFIXES);
  for (size_t i = 0; i < n && !r; i++) {
    size_t same = 0;
    while (same < before.n && same < ids[i].n && before.p[same] == ids[i].p[same]) same++;
    r = add_leb(to, same);
    if (!r) r = add_leb(to, ids[i].n - same);
    if (!r) r = slp_buf_add(to, ids[i].p + same, ids[i].n - same);
    before = ids[i];
  }
  return r;
}

int slp_shard_set_write(slp_buf *to, slp_str *ids, size_t n) {
  uint64_t number;
  int runs = 1;
  if (n > SET_MAX) return SLP_ELIMIT;
  if (n) qsort(ids, n, sizeof *ids, by_bytes);
  for (size_t i = 0; i < n; i++) {
    SLP_CHECK(ids[i].n && ids[i].n <= SLP_SHARD_ID_MAX);
    runs &= number_of(ids[i], &number);
  }
  return runs ? write_runs(to, ids, n) : write_prefixes(to, ids, n);
}

/* ---- reading ------------------------------------------------------------------------------------------ */

static int take_leb(slp_str *left, uint64_t *ret) {
  uint64_t v = 0;
  for (unsigned shift = 0; shift < 63; shift += 7) {
    if (!left->n) return SLP_EBADDATA;
    uint8_t byte = (uint8_t)*left->p;
    *left = (slp_str){left->p + 1, left->n - 1};
    v |= (uint64_t)(byte & 127) << shift;
    if (byte < 128) {
      *ret = v;
      return 0;
    }
  }
  return SLP_EBADDATA;
}

/* Returns 1 if all runs together have at most SET_MAX ids. */
static int runs_are_short(slp_str left) {
  uint64_t all = 0, gap, run;
  while (left.n && !take_leb(&left, &gap) && !take_leb(&left, &run)) {
    if (run > SET_MAX - all) return 0;
    all += run;
  }
  return 1; /* if the set ends in the middle of a number, slp_shard_set_next returns the error */
}

void slp_shard_set_begin(slp_shard_set_reader *r, slp_str set) {
  memset(r, 0, sizeof *r);
  if (!set.n) return;
  r->form = (uint8_t)set.p[0];
  r->left = (slp_str){set.p + 1, set.n - 1};
  if (r->form == FORM_RUNS && !runs_are_short(r->left)) r->form = FORM_ENDLESS;
}

static int next_of_run(slp_shard_set_reader *r, slp_str *ret) {
  if (!r->run) {
    uint64_t gap;
    if (!r->left.n) return 0;
    if (take_leb(&r->left, &gap) || take_leb(&r->left, &r->run)) return SLP_EBADDATA;
    if (!r->run || gap > UINT64_C(999999999999) || r->run > UINT64_C(999999999999)) return SLP_EBADDATA;
    r->next += gap;
  }
  if (r->next > UINT64_C(999999999999)) return SLP_EBADDATA;
  int n = snprintf(r->id, sizeof r->id, KINESIS "%012llu", (unsigned long long)r->next);
  r->next++;
  r->run--;
  *ret = (slp_str){r->id, (size_t)n};
  return 1;
}

static int next_of_prefixes(slp_shard_set_reader *r, slp_str *ret) {
  uint64_t same, own;
  if (!r->left.n) return 0;
  if (take_leb(&r->left, &same) || take_leb(&r->left, &own)) return SLP_EBADDATA;
  if (same > r->id_n || own > r->left.n || same + own > sizeof r->id || same + own == 0) return SLP_EBADDATA;
  memcpy(r->id + same, r->left.p, (size_t)own);
  r->left = (slp_str){r->left.p + own, r->left.n - (size_t)own};
  r->id_n = (size_t)(same + own);
  *ret = (slp_str){r->id, r->id_n};
  return 1;
}

int slp_shard_set_next(slp_shard_set_reader *r, slp_str *ret) {
  switch (r->form) {
    case 0: return r->left.n ? SLP_EBADDATA : 0;
    case FORM_RUNS: return next_of_run(r, ret);
    case FORM_PREFIXES: return next_of_prefixes(r, ret);
    default: return SLP_EBADDATA;
  }
}
