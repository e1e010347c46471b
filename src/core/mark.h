/* mark.h - a record of a shard by its number: sequence number, and index inside an aggregate. */
#ifndef SLP_CORE_MARK_H
#define SLP_CORE_MARK_H

#include "base/num.h"
#include "codec/page.h"

#define SLP_SEQ_MAX 129 /* digits of a sequence number: pattern 0|([1-9]\d{0,128}) */

typedef struct slp_mark {
  int64_t arrived_ms; /* -1: not known */
  uint32_t sub;
  uint8_t seq_n; /* 0: no record */
  uint8_t part;  /* records of its aggregate follow it; 0: none do, or it is not known */
  uint8_t idle;  /* no record has the number: the service gave it when nothing had come until arrived_ms */
  char seq[SLP_SEQ_MAX];
} slp_mark;

static inline slp_str slp_mark_seq(const slp_mark *m) { return (slp_str){m->seq, m->seq_n}; }

static inline void slp_mark_set(slp_mark *m, slp_str seq, uint32_t sub, int64_t arrived_ms) {
  SLP_CHECK(seq.n <= SLP_SEQ_MAX);
  if (seq.n) memmove(m->seq, seq.p, seq.n);
  m->seq_n = (uint8_t)seq.n;
  m->part = m->idle = 0;
  m->sub = sub;
  m->arrived_ms = arrived_ms;
}

/* Gives a number that somebody wrote without its zeros in front those that numbers of the shard have, such as
 * `like`: the service, and the order of positions as text, know it by them. */
static inline void slp_mark_pad(slp_mark *m, const slp_mark *like) {
  size_t zeros = like->seq_n > m->seq_n && *like->seq == '0' ? like->seq_n - m->seq_n : 0;
  if (!m->seq_n || !zeros) return;
  memmove(m->seq + zeros, m->seq, m->seq_n);
  memset(m->seq, '0', zeros);
  m->seq_n = like->seq_n;
}

static inline void slp_mark_rec(slp_mark *m, const slp_page *page, const slp_rec *r) {
  slp_mark_set(m, slp_rec_seq(page, r), r->sub, r->arrived_ms);
}

/* Where (seq, sub) stands against the mark: -1 before it, 0 it is that record, 1 behind it. */
static inline int slp_mark_side(const slp_mark *m, slp_str seq, uint32_t sub) {
  int c = slp_num_cmp(seq, slp_mark_seq(m));
  if (c) return c;
  return sub < m->sub ? -1 : sub > m->sub;
}

#endif
