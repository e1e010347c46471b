/* split.h - splits input that comes in pieces into records at a delimiter, in bounded memory. */
#ifndef SLP_CLI_SPLIT_H
#define SLP_CLI_SPLIT_H

#include "base/buf.h"
#include "base/mem.h"

typedef enum {
  SLP_SPLIT_MORE, /* all bytes of the piece were taken; the record continues in the next piece */
  SLP_SPLIT_RECORD,
  SLP_SPLIT_LONG_PART, /* a part of a record that is longer than the maximum; more of it follows */
  SLP_SPLIT_LONG_END   /* the last part of such a record, which may be empty */
} slp_split_kind;

typedef struct slp_splitter {
  slp_str delimiter; /* borrowed; n 0: the whole input is one record */
  size_t max;        /* the longest record, without its delimiter */
  slp_buf held;      /* the beginning of a record that is not complete */
  uint64_t number;   /* number, from 1, of the record that was returned last or is being returned in parts */
  uint8_t is_long;   /* 1: parts of a long record were returned, and its end was not */
  /* `held` is to be cleared at the next call: 1: wholly; 2: except for the last bytes, which were not
   * returned */
  uint8_t spent;
  /* the record or part that was returned; valid until the next call, or until the piece is freed */
  slp_str text;
  uint8_t delimited; /* 1: a delimiter follows `text`; 0: the input ended there, or the record continues */
} slp_splitter;

void slp_splitter_init(slp_splitter *s, slp_mem *mem, slp_str delimiter, size_t max);
void slp_splitter_free(slp_splitter *s);
/* Takes bytes from the front of *piece. Returns a slp_split_kind, or SLP_ENOMEM: the bytes were not taken. */
int slp_splitter_next(slp_splitter *s, slp_str *piece);
/* Called at the end of the input. Returns a slp_split_kind; SLP_SPLIT_MORE: nothing is left. */
int slp_splitter_end(slp_splitter *s);

#endif
