/* buf.h - growable bytes with a maximum given at birth. Going over it is an error, not an abort. */
#ifndef SLP_BASE_BUF_H
#define SLP_BASE_BUF_H

#include "base/mem.h"

typedef struct slp_buf {
  slp_mem *mem;
  char *p;    /* owned; NULL while nothing was added. Always followed by room for one NUL */
  size_t n;   /* bytes in use */
  size_t cap; /* bytes allocated, without the NUL's */
  size_t max; /* n never exceeds it */
} slp_buf;

void slp_buf_init(slp_buf *b, slp_mem *mem, size_t max);
void slp_buf_free(slp_buf *b);                             /* back to empty; may be used again */
static inline void slp_buf_clear(slp_buf *b) { b->n = 0; } /* keeps the memory */
/* Room for `more` bytes after n. SLP_ENOMEM or SLP_ELIMIT. */
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
/* Moves the memory from one buf to another (which must be empty of memory). */
void slp_buf_move(slp_buf *to, slp_buf *from);

#endif
