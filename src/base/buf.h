/* buf.h - growable bytes with a maximum given at birth. Going over it is an error, not an abort.
 *
 * An error stays: what is added after a failed reserve or add is not written, and each call returns the first
 * error. So a text is put together without looking at each step, and its maker asks once, at the end and
 * before the bytes are used: slp_buf_failed(), or what the last add returned. */
#ifndef SLP_BASE_BUF_H
#define SLP_BASE_BUF_H

#include "base/mem.h"

typedef struct slp_buf {
  slp_mem *mem;
  char *p;      /* owned; NULL while nothing was added. Always followed by room for one NUL */
  size_t n;     /* bytes in use */
  size_t cap;   /* bytes allocated, without the NUL's */
  uint32_t max; /* n never exceeds it */
  int failed;   /* the first error since the buf was empty; 0: all that was added is there */
} slp_buf;

void slp_buf_init(slp_buf *b, slp_mem *mem, size_t max); /* above UINT32_MAX: that */
void slp_buf_free(slp_buf *b); /* back to empty, without an error; may be used again */
/* Back to the first n bytes, without an error; keeps the memory. */
static inline void slp_buf_cut(slp_buf *b, size_t n) {
  b->n = n;
  b->failed = 0;
}
static inline void slp_buf_clear(slp_buf *b) { slp_buf_cut(b, 0); }
static inline int slp_buf_failed(const slp_buf *b) { return b->failed; }
/* What was to be added can't be made: an error of the caller's, unless there is one already. The first. */
int slp_buf_fail(slp_buf *b, int error);
/* Room for `more` bytes after n. This and all that follow: 0, SLP_ENOMEM, SLP_ELIMIT, or an error before. */
int slp_buf_reserve(slp_buf *b, size_t more);
int slp_buf_add(slp_buf *b, const void *p, size_t n);
int slp_buf_add_str(slp_buf *b, slp_str s);
int slp_buf_add_z(slp_buf *b, const char *z);
int slp_buf_add_char(slp_buf *b, char c);
int slp_buf_add_u64(slp_buf *b, uint64_t v); /* decimal */
int slp_buf_add_i64(slp_buf *b, int64_t v);
/* v / 10^decimals, without zeros at its end: 1500 and 3 is "1.5". decimals: at most 19 */
int slp_buf_add_scaled(slp_buf *b, uint64_t v, unsigned decimals);
int slp_buf_addf(slp_buf *b, const char *fmt, ...) SLP_PRINTF(2, 3);
/* The content as a NUL-ended string; "" when empty. Valid until the next change. */
const char *slp_buf_z(slp_buf *b);
static inline slp_str slp_buf_str(const slp_buf *b) { return (slp_str){b->p ? b->p : "", b->n}; }
/* Moves the memory, and an error, from one buf to another (which must be empty of memory). */
void slp_buf_move(slp_buf *to, slp_buf *from);

#endif
