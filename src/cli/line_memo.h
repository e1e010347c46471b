/* line_memo.h - keeps the text that JSON lines of one shard, or of one second, have in common, so that it is
 * made once and then copied. */
#ifndef SLP_CLI_LINE_MEMO_H
#define SLP_CLI_LINE_MEMO_H

#include "base/buf.h"

#include <sloop.h>

#define SLP_MEMO_HEADS 32
#define SLP_MEMO_HEAD_BYTES 240

/* The text {"stream":"NAME","shard":"NAME" of a shard whose names need no escapes. */
typedef struct slp_memo_head {
  uint8_t n, stream_n, shard_n; /* lengths of `text` and of the names in it; n 0: none is kept */
  char text[SLP_MEMO_HEAD_BYTES];
} slp_memo_head;

/* All zero: nothing is kept yet. Owns no memory. */
typedef struct slp_line_memo {
  slp_memo_head heads[SLP_MEMO_HEADS];
  int64_t second;  /* the second since 1970 whose digits are in `digits`; 0: none */
  char digits[10]; /* of a time from 2001 to 2286 */
} slp_line_memo;

/* Appends {"stream":"...","shard":"..." of the record. */
void slp_line_memo_add_head(slp_line_memo *m, slp_buf *b, const sloop_record_t *r);
/* Appends a time in ms since 1970 as a decimal number. */
void slp_line_memo_add_ms(slp_line_memo *m, slp_buf *b, int64_t at_ms);

#endif
