/* mark.h - names a record of a shard by its sequence number and its index inside an aggregate. */
#ifndef SLP_CORE_MARK_H
#define SLP_CORE_MARK_H

#include "base/num.h"
#include "codec/page.h"

#define SLP_SEQ_MAX 129 /* digits of a sequence number: pattern 0|([1-9]\d{0,128}) */

typedef struct slp_mark {
  int64_t arrived_ms; /* -1: not known */
  /* Records behind this one are accounted for until clear_ms: none came, or their loss was told; 0, -1: not
   * known. */
  int64_t clear_ms;
  uint32_t sub;  /* index inside an aggregate; else 0 */
  uint8_t seq_n; /* digits in seq; 0: the mark names no record */
  uint8_t part;  /* 1: records of its aggregate follow it; 0: none do, or not known */
  uint8_t idle;  /* 1: no record has the number; the service gave it when nothing had come until arrived_ms */
  uint8_t row_n; /* digits that the number has in the row it was read from; 0: seq_n */
  char seq[SLP_SEQ_MAX];
} slp_mark;

static inline slp_str slp_mark_seq(const slp_mark *m) { return (slp_str){m->seq, m->seq_n}; }

static inline void slp_mark_set(slp_mark *m, slp_str seq, uint32_t sub, int64_t arrived_ms) {
  SLP_CHECK(seq.n <= SLP_SEQ_MAX);
  if (seq.n) memmove(m->seq, seq.p, seq.n);
  m->seq_n = (uint8_t)seq.n;
  m->part = m->idle = m->row_n = 0;
  m->sub = sub;
  m->arrived_ms = arrived_ms;
  m->clear_ms = -1;
}

/* ---- numbers from outside: mark.c ---------------------------------------------------------------------- */

/* Returns the text of a sequence number as a mark can hold it, or {NULL, 0} if it is no number. */
static inline slp_str slp_seq_fit(slp_str text) { return slp_num_fit(text, SLP_SEQ_MAX); }

/* Brings the number into the one form that the service knows: without leading zeros, or filled up with zeros
 * to digits_min digits (slp_source.number_digits_min). */
void slp_mark_canonical(slp_mark *m, unsigned digits_min);
/* Does the same for a mark read from a row. row_n remembers the row's form, which conditions on the row must
 * repeat. */
void slp_mark_read_canonical(slp_mark *m, unsigned digits_min);
/* Returns the mark with as many digits as its row has. */
slp_mark slp_mark_of_row(const slp_mark *m);

static inline void slp_mark_rec(slp_mark *m, const slp_page *page, const slp_rec *r) {
  slp_mark_set(m, slp_rec_seq(page, r), r->sub, r->arrived_ms);
}

/* Compares the record (seq, sub) with the mark. Returns -1: before it, 0: the same record, 1: behind it. */
static inline int slp_mark_side(const slp_mark *m, slp_str seq, uint32_t sub) {
  int c = slp_num_cmp(seq, slp_mark_seq(m));
  if (c) return c;
  return sub < m->sub ? -1 : sub > m->sub;
}

#endif
