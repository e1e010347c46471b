/* decoder_table.h - the table of decoders. -s, its errors, -h, the manual page and the completions are made
 * from it. A new decoder is a file that defines one slp_decoder, and a row in decoder_table.c. Decoders take
 * bytes from outside: see test/fuzz. */
#ifndef SLP_CLI_DECODER_TABLE_H
#define SLP_CLI_DECODER_TABLE_H

#include "base/buf.h"

#define SLP_DECODER_WHY 100
#define SLP_DECODE_WAITS 3 /* of a step: for a schema that was asked for; to be called again later */

typedef struct slp_schemas slp_schemas;

typedef struct slp_decoder {
  const char *name;    /* as -s takes it */
  const char *does;    /* for -h and the manual page: at most 40 bytes, to stay within 80 columns */
  const char *damaged; /* why a text is refused: "it is not base64" */
  const char *needs;   /* this build lacks it: the Debian package that it needs. NULL: it is there */
  /* Returns 1 if the text begins as this format does. NULL: the format has no magic bytes. */
  int (*recognizes)(slp_str in);
  const char
      *unpacks; /* the decoder whose format this one takes as well, packed texts being usual; or NULL */
  /* A decoder has either `run`, which decodes a whole text at once, or the three functions below it, for
   * texts that may become very long. They append to `ret` and never write to `in`, which is never empty.
   * Errors: SLP_EBADDATA; SLP_ELIMIT when `ret` is full; SLP_ENOMEM. */
  int (*run)(slp_buf *ret, slp_str in);
  /* NULL: no memory. `in` lives until close, and so do the schemas, which may be NULL. */
  void *(*open)(slp_mem *mem, slp_str in, slp_schemas *schemas);
  /* Decodes about 64 KiB more. Returns 1 while there may be more, 0 at the end, or SLP_DECODE_WAITS. With
   * SLP_EBADDATA it may write a better reason than `damaged` into `why`. */
  int (*step)(void *state, slp_buf *ret, char why[SLP_DECODER_WHY]);
  void (*close)(void *state);
  uint8_t picks;        /* auto: has none of these functions; the decoder that recognizes the text is used */
  uint8_t makes_json;   /* the result is one JSON value */
  uint8_t needs_schema; /* it may have to ask a registry for one */
  uint8_t makes_lines;  /* the result is JSON values, with a newline between two of them */
  uint8_t makes_events; /* the result is several texts, which the printer makes; so the last step */
} slp_decoder;

/* NULL: there is none of this name. */
const slp_decoder *slp_decoder_by_name(slp_str name);
/* The i-th of the table, in the order in which they are shown; NULL behind the last one. */
const slp_decoder *slp_decoder_at(size_t i);
/* Returns the first one that recognizes the text, built in or not; or NULL. */
const slp_decoder *slp_decoder_that_recognizes(slp_str in);
/* Returns 1 if the text begins with these bytes. */
int slp_begins_with(slp_str in, const char *bytes, size_t n);
/* Writes all names, with `between` between them. */
int slp_decoder_names(slp_buf *b, const char *between);
/* Writes a line of help for each: two spaces, name, what it does; or that it is not built in. A newline comes
 * before each line. */
int slp_decoder_lines(slp_buf *b);

#endif
