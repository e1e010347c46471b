/* buf.h - growable bytes. slp_buf_init() sets a maximum size; exceeding it is an error (SLP_ELIMIT), not an
 * abort.
 *
 * The first error stays: every later reserve or add writes nothing and returns that error. So a caller can
 * append many pieces without a check behind each. It checks once, before it uses the bytes: slp_buf_failed(),
 * or the result of the last add. */
#ifndef SLP_BASE_BUF_H
#define SLP_BASE_BUF_H

#include "base/mem.h"

typedef struct slp_buf {
  slp_mem *mem;
  char *p;    /* owned; NULL until the first reserve or add. One byte more than cap is allocated, for a NUL */
  size_t n;   /* bytes in use */
  size_t cap; /* bytes allocated, without the one for a NUL */
  uint32_t max; /* limit of n; an append beyond it fails with SLP_ELIMIT */
  int failed;   /* the first error since the last init, cut or free; 0: every add succeeded */
} slp_buf;

void slp_buf_init(slp_buf *b, slp_mem *mem, size_t max); /* an empty buffer; max is cut to UINT32_MAX */
void slp_buf_free(slp_buf *b); /* frees the bytes and forgets the error; b may be used again */
/* Cuts the content to its first n bytes. Keeps the memory, and forgets the error. */
static inline void slp_buf_cut(slp_buf *b, size_t n) {
  b->n = n;
  b->failed = 0;
}
static inline void slp_buf_clear(slp_buf *b) { slp_buf_cut(b, 0); }
static inline int slp_buf_failed(const slp_buf *b) { return b->failed; }
/* Records an error of the caller, for example when it can't compute the bytes to be added. Returns the first
 * error recorded in b. */
int slp_buf_fail(slp_buf *b, int error);
/* The part of slp_buf_reserve() for a buffer that must grow, or that has failed. */
int slp_buf_grow(slp_buf *b, size_t more);
/* Makes room for `more` bytes behind the content. This function and all slp_buf_add functions return 0,
 * SLP_ENOMEM, SLP_ELIMIT, or the error recorded in b before. */
static inline int slp_buf_reserve(slp_buf *b, size_t more) {
  /* a caller may lower max after the buffer has grown */
  int fits = b->p && !b->failed && more <= b->cap - b->n && b->n + more <= b->max;
  return fits ? 0 : slp_buf_grow(b, more);
}
/* Makes room for `more` bytes behind the content and for no more, for a length that is known. Growing as
 * bytes come would copy them several times, and leave up to as much memory again unused. Returns 0 or
 * SLP_ENOMEM, which is not recorded in b. */
int slp_buf_reserve_exactly(slp_buf *b, size_t more);
static inline int slp_buf_add(slp_buf *b, const void *p, size_t n) {
  int r = slp_buf_reserve(b, n);
  if (r || !n) return r;
  memcpy(b->p + b->n, p, n);
  b->n += n;
  return 0;
}
static inline int slp_buf_add_str(slp_buf *b, slp_str s) { return slp_buf_add(b, s.p, s.n); }
int slp_buf_add_z(slp_buf *b, const char *z);
static inline int slp_buf_add_char(slp_buf *b, char c) { return slp_buf_add(b, &c, 1); }
int slp_buf_add_u64(slp_buf *b, uint64_t v); /* appends v in decimal */
int slp_buf_add_i64(slp_buf *b, int64_t v);
/* Appends v / 10^decimals as a decimal number without trailing zeros: v 1500 with decimals 3 gives "1.5".
 * decimals is at most 19. */
int slp_buf_add_scaled(slp_buf *b, uint64_t v, unsigned decimals);
int slp_buf_addf(slp_buf *b, const char *fmt, ...) SLP_PRINTF(2, 3);
/* Returns the content as a NUL-ended string; "" if it is empty. Valid until the buffer changes. */
const char *slp_buf_z(slp_buf *b);
static inline slp_str slp_buf_str(const slp_buf *b) { return (slp_str){b->p ? b->p : "", b->n}; }
/* Moves content, memory and error from `from` to `to`, which must own no memory. `to` keeps its max, unless
 * that is 0. */
void slp_buf_move(slp_buf *to, slp_buf *from);

#endif
