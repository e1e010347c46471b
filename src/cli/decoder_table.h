/* decoder_table.h - the table of decoders. -s, its errors, -h, the manual page and the completions are made
 * from it. To add a decoder, write a file that defines one slp_decoder and add a row to decoder_table.c.
 * Decoders take bytes from outside: see test/fuzz. */
#ifndef SLP_CLI_DECODER_TABLE_H
#define SLP_CLI_DECODER_TABLE_H

#include "base/buf.h"

#define SLP_DECODER_WHY 100 /* room for the reason of a refusal */
/* Result of a step that waits for a schema which was asked for. It is called again later. */
#define SLP_DECODE_WAITS 3

typedef struct slp_schemas slp_schemas;

typedef struct slp_decoder {
  const char *name; /* the name that -s takes */
  /* What it does, for -h and the manual page. At most 40 bytes, to stay within 80 columns. */
  const char *does;
  const char *damaged; /* the reason of a refusal, unless `step` gives a better one: "it is not base64" */
  const char *needs;   /* the Debian package that this build lacks; NULL: the decoder is built in */
  /* Returns 1 if the text begins as this format does. NULL: the format has no magic bytes. */
  int (*recognizes)(slp_str in);
  /* Name of the other decoder whose format this one takes too; NULL: none. If that format is seen, the
   * refusal does not suggest the other decoder. */
  const char *unpacks;
  /* A decoder has either `run`, which decodes a whole text at once, or open, step and close, for texts that
   * may become very long. They append to `ret` and never write to `in`, which is never empty. Errors:
   * SLP_EBADDATA; SLP_ELIMIT when `ret` is full; SLP_ENOMEM. */
  int (*run)(slp_buf *ret, slp_str in);
  /* Returns NULL if there is no memory. `in` and `schemas` live until close. `schemas` may be NULL. */
  void *(*open)(slp_mem *mem, slp_str in, slp_schemas *schemas);
  /* Decodes about 64 KiB more. Returns 1 while there may be more, 0 at the end, or SLP_DECODE_WAITS. With
   * SLP_EBADDATA it may write a better reason than `damaged` into `why`. */
  int (*step)(void *state, slp_buf *ret, char why[SLP_DECODER_WHY]);
  void (*close)(void *state);
  /* Only auto, which has none of these functions: the decoder that recognizes the text is used. */
  uint8_t picks;
  uint8_t makes_json;   /* the result is one JSON value */
  uint8_t needs_schema; /* it may have to ask a registry for a schema */
  uint8_t makes_lines;  /* the result is any number of JSON values, with a newline between them */
  uint8_t makes_events; /* the printer makes several texts of the result, so no step may follow */
} slp_decoder;

/* Returns the decoder of that name, or NULL. */
const slp_decoder *slp_decoder_by_name(slp_str name);
/* Returns the i-th decoder, in the order in which they are shown, or NULL behind the last one. */
const slp_decoder *slp_decoder_at(size_t i);
/* Returns the first decoder that recognizes the text, even if it is not built in; or NULL. */
const slp_decoder *slp_decoder_that_recognizes(slp_str in);
/* Returns 1 if the text begins with these bytes. */
int slp_begins_with(slp_str in, const char *bytes, size_t n);
/* Writes the names of all decoders, with `between` between them. Returns 0, or the buffer's error. */
int slp_decoder_names(slp_buf *b, const char *between);
/* Writes a line of help for each decoder: two spaces, the name, and what it does or that it is not built in.
 * A newline comes before each line. Returns 0, or the buffer's error. */
int slp_decoder_lines(slp_buf *b);

#endif
