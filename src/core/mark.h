/* mark.h - identifies a record of a shard by its sequence number and its index inside an aggregate. */
#ifndef SLP_CORE_MARK_H
#define SLP_CORE_MARK_H

#include "base/num.h"
#include "codec/page.h"

#define SLP_SEQ_MAX 129 /* most digits of a sequence number: its pattern is 0|([1-9]\d{0,128}) */

typedef struct slp_mark {
  int64_t arrived_ms; /* when the record arrived, as the service stamped it; -1: not known */
  /* Until this time all records after the mark's record are accounted for: none came, or their loss was
   * reported. 0 or -1: not known. The head of loss.h says what this is for. */
  int64_t clear_ms;
  uint32_t sub;  /* index of the record inside its aggregate; 0 if it is in no aggregate */
  uint8_t seq_n; /* digits in seq; 0: the mark names no record */
  /* 1: more records of the same aggregate follow this record; 0: none follows, or that is not known */
  uint8_t part;
  /* 1: this is an idle mark: no record has its sequence number. The service gave the number as the shard's
   * position, because no record had come until arrived_ms. */
  uint8_t idle;
  /* How many digits the number has in the lease's row, if leading zeros make it longer or shorter there than
   * seq_n; otherwise 0. A conditional write must send the same text as the row has. */
  uint8_t row_n;
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

/* Returns the sequence number `text`; if it is too long for a mark, without leading zeros. Returns {NULL, 0}
 * if `text` is no number, or too long even without leading zeros. */
static inline slp_str slp_seq_fit(slp_str text) { return slp_num_fit(text, SLP_SEQ_MAX); }

/* Brings the number into the one form that the service accepts: without leading zeros, or padded with zeros
 * to digits_min digits (slp_source.number_digits_min). */
void slp_mark_canonical(slp_mark *m, unsigned digits_min);
/* Does the same as slp_mark_canonical, for a mark read from a lease's row. Keeps the length that the number
 * has in the row in row_n, because a conditional write must send the same text as the row has. */
void slp_mark_read_canonical(slp_mark *m, unsigned digits_min);
/* Returns the mark with its number in the form that the lease's row has. */
slp_mark slp_mark_of_row(const slp_mark *m);

static inline void slp_mark_rec(slp_mark *m, const slp_page *page, const slp_rec *r) {
  slp_mark_set(m, slp_rec_seq(page, r), r->sub, r->arrived_ms);
}

/* Compares the record (seq, sub) with the mark's record. Returns -1 if (seq, sub) comes first, 0 if both are
 * the same, 1 if (seq, sub) comes later. */
static inline int slp_mark_side(const slp_mark *m, slp_str seq, uint32_t sub) {
  int c = slp_num_cmp(seq, slp_mark_seq(m));
  if (c) return c;
  return sub < m->sub ? -1 : sub > m->sub;
}

#endif
