/* decoder_table.h - the table of decoders. The option -s, its errors, -h, the manual page and the completions
 * all use this table. To add a decoder, write a file that defines an slp_decoder and add a row to
 * decoder_table.c. The input of decoders comes from outside: test/fuzz has programs for them. */
#ifndef SLP_CLI_DECODER_TABLE_H
#define SLP_CLI_DECODER_TABLE_H

#include "base/buf.h"
#include "base/mem.h"

#define SLP_DECODER_WHY 100 /* room for the reason why a decoder refuses a text */
/* `step` returns SLP_DECODE_WAITS while a schema that it asked for has not come. It is called again later. */
#define SLP_DECODE_WAITS 3

typedef struct slp_schemas slp_schemas;

typedef struct slp_decoder {
  const char *name; /* the word for the decoder in -s */
  /* What the decoder does, for -h and the manual page. At most 40 bytes, so that the line stays within 80
   * columns. */
  const char *does;
  /* why the decoder refuses a text, such as "it is not base64"; used if `step` writes no better reason */
  const char *damaged;
  const char *needs; /* the Debian package that this build lacks; NULL: the decoder works in this build */
  /* Returns 1 if the text begins with the magic bytes of this format. NULL: the format has none. */
  int (*recognizes)(slp_str in);
  /* name of another decoder whose format this decoder accepts too; NULL: there is none. When this decoder
   * refuses a text in that format, the error does not suggest the other decoder */
  const char *unpacks;
  /* A decoder has either `run`, or `open`, `step` and `close`. `run` decodes a whole text at once. The other
   * three are for texts that may become very long. The functions append to `ret` and never change `in`, which
   * is never empty. Errors: SLP_EBADDATA; SLP_ELIMIT if `ret` is full; SLP_ENOMEM. */
  int (*run)(slp_buf *ret, slp_str in);
  /* Returns the state of a decoding, or NULL if there is no memory. `in` and `schemas` live until close.
   * `schemas` may be NULL. */
  void *(*open)(slp_mem *mem, slp_str in, slp_schemas *schemas);
  /* Decodes about 64 KiB more. Returns 1 while more may come, 0 at the end, SLP_DECODE_WAITS, or an error.
   * With SLP_EBADDATA, `step` may write into `why` a better reason than `damaged`. */
  int (*step)(void *state, slp_buf *ret, char why[SLP_DECODER_WHY]);
  void (*close)(void *state);
  /* 1 only for auto, which has no functions of its own: the decoder that recognizes the text runs instead */
  uint8_t picks;
  uint8_t makes_json;   /* 1: the result is one JSON value */
  uint8_t needs_schema; /* 1: the decoder may have to ask a registry for a schema */
  uint8_t makes_lines;  /* 1: the result is any number of JSON values, separated by newlines */
  uint8_t makes_events; /* 1: the printer reads several events from the result, so no decoder may follow */
} slp_decoder;

/* Returns the decoder with this name, or NULL. */
const slp_decoder *slp_decoder_by_name(slp_str name);
/* Returns the i-th decoder of the table, or NULL after the last one. */
const slp_decoder *slp_decoder_at(size_t i);
/* Returns the first decoder that recognizes the text, or NULL. The decoder may be one that this build
 * lacks. */
const slp_decoder *slp_decoder_that_recognizes(slp_str in);
/* Returns 1 if the text begins with these bytes. */
int slp_begins_with(slp_str in, const char *bytes, size_t n);
/* Writes the names of all decoders, separated by the text `between`. Returns 0, or the buffer's error. */
int slp_decoder_names(slp_buf *b, const char *between);
/* Writes a line of help for each decoder: two spaces, the name, and what it does or that this build lacks it.
 * Each line begins with a newline character. Returns 0, or the buffer's error. */
int slp_decoder_lines(slp_buf *b);

#endif
