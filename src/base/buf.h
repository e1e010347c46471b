/* buf.h - growable bytes with a maximum given at birth. Going over it is an error, not an abort.
 *
 * An error stays: what is added after a failed reserve or add is not written, and each call returns the first
 * error. So a text is put together without a check after each step. Its maker asks once, before the bytes are
 * used: slp_buf_failed(), or the result of the last add. */
#ifndef SLP_BASE_BUF_H
#define SLP_BASE_BUF_H

#include "base/mem.h"

typedef struct slp_buf {
  slp_mem *mem;
  char *p;      /* owned; NULL while nothing was added. Always followed by room for one NUL */
  size_t n;     /* bytes in use */
  size_t cap;   /* bytes allocated, without the one for a NUL */
  uint32_t max; /* n never exceeds it */
  int failed;   /* the first error since it was empty; 0: all that was added is there */
} slp_buf;

void slp_buf_init(slp_buf *b, slp_mem *mem, size_t max); /* a max above UINT32_MAX counts as UINT32_MAX */
void slp_buf_free(slp_buf *b); /* empties it and forgets the error; it may be used again */
/* Keeps the first n bytes and the memory; forgets the error. */
static inline void slp_buf_cut(slp_buf *b, size_t n) {
  b->n = n;
  b->failed = 0;
}
static inline void slp_buf_clear(slp_buf *b) { slp_buf_cut(b, 0); }
static inline int slp_buf_failed(const slp_buf *b) { return b->failed; }
/* Records an error of the caller's, who can't make what should be added. Returns the first error recorded. */
int slp_buf_fail(slp_buf *b, int error);
/* Makes room for `more` bytes after n. This function and those that follow return 0, SLP_ENOMEM, SLP_ELIMIT,
 * or the error recorded before. */
int slp_buf_reserve(slp_buf *b, size_t more);
int slp_buf_add(slp_buf *b, const void *p, size_t n);
int slp_buf_add_str(slp_buf *b, slp_str s);
int slp_buf_add_z(slp_buf *b, const char *z);
int slp_buf_add_char(slp_buf *b, char c);
int slp_buf_add_u64(slp_buf *b, uint64_t v); /* decimal */
int slp_buf_add_i64(slp_buf *b, int64_t v);
/* Appends v / 10^decimals, without zeros at its end: 1500 and 3 is "1.5". decimals: at most 19 */
int slp_buf_add_scaled(slp_buf *b, uint64_t v, unsigned decimals);
int slp_buf_addf(slp_buf *b, const char *fmt, ...) SLP_PRINTF(2, 3);
/* Returns the content as a NUL-ended string; "" if it is empty. Valid until the next change. */
const char *slp_buf_z(slp_buf *b);
static inline slp_str slp_buf_str(const slp_buf *b) { return (slp_str){b->p ? b->p : "", b->n}; }
/* Moves memory and error to another buf, which must own no memory. */
void slp_buf_move(slp_buf *to, slp_buf *from);

#endif
