/* cbor.h - a CBOR pull reader (definite and indefinite forms) and a writer, for the format
 * application/x-amz-cbor-1.1 of Kinesis: maps with text keys, byte strings for blobs, tag 1 for times.
 * Strings are not copied: they are slices of the body, and the chunks of an indefinite string are joined in
 * place. Depth and counts are limited; a length is checked against the remaining bytes before it is used. */
#ifndef SLP_CODEC_CBOR_H
#define SLP_CODEC_CBOR_H

#include "base/buf.h"

#define SLP_CBOR_DEPTH_MAX 64
#define SLP_CBOR_TAGS_MAX 16 /* the most tags on one value */

typedef enum {
  SLP_CBOR_END = 0,
  SLP_CBOR_MAP,
  SLP_CBOR_MAP_END,
  SLP_CBOR_ARRAY,
  SLP_CBOR_ARRAY_END,
  SLP_CBOR_UINT,  /* an integer >= 0: the value is in slp_cbor.u */
  SLP_CBOR_NEG,   /* an integer < 0: the value is -1 - slp_cbor.u */
  SLP_CBOR_BYTES, /* a byte string: slp_cbor.text */
  SLP_CBOR_TEXT,  /* slp_cbor.text, valid UTF-8; a value, or a key of a map */
  SLP_CBOR_TAG,   /* the tag is in slp_cbor.u; the tagged value is the next token */
  SLP_CBOR_FLOAT, /* half, single or double precision: the value is in slp_cbor.f */
  SLP_CBOR_TRUE,
  SLP_CBOR_FALSE,
  SLP_CBOR_NULL,   /* null, or undefined */
  SLP_CBOR_SIMPLE, /* any other simple value: its number is in slp_cbor.u */
  /* pause_at was reached, maybe inside a string: set pause_at to a larger value and call again */
  SLP_CBOR_PAUSE
} slp_cbor_token;

typedef struct slp_cbor_level {
  uint64_t left;    /* items still to come (a pair of a map is two); UINT64_MAX: until a break */
  uint8_t map, key; /* map: 1: the level is a map; key: 1: the next item is a key of it */
} slp_cbor_level;

typedef struct slp_cbor {
  char *p;
  size_t n, at;
  slp_str text;
  uint64_t u;
  double f;
  uint8_t is_key; /* 1: the SLP_CBOR_TEXT just read is a map key */
  uint8_t tagged; /* number of tags just read; the tagged value must follow */
  uint8_t done;
  /* 1: the reader has paused inside a string. long_on to chunk_left are private to the reader */
  uint8_t long_on;
  uint8_t long_major, long_chunked;
  size_t long_from, long_to, chunk_left;
  /* The offset at which slp_cbor_next() pauses; SIZE_MAX: never. If it is set, only slp_cbor_next() may be
   * used. */
  size_t pause_at;
  uint32_t depth;
  slp_cbor_level level[SLP_CBOR_DEPTH_MAX];
  const char *why;
} slp_cbor;

/* Begins to read body[0, n). The body must live as long as its strings are used, and is changed. */
void slp_cbor_begin(slp_cbor *c, char *body, size_t n);
/* Returns a slp_cbor_token, or an error. SLP_EBADDATA: reserved lengths 28-30, a stray break, a key that is
 * not text, bytes after the value, a length past the end, or bad UTF-8. SLP_ELIMIT: nested too deeply, or too
 * many tags. */
int slp_cbor_next(slp_cbor *c);
int slp_cbor_skip(slp_cbor *c); /* skips the next value, whatever it is */
/* Reads the next value, which must be text or null. Null gives {NULL, 0}. */
int slp_cbor_text(slp_cbor *c, slp_str *ret);
/* Reads a byte string, text or null. *ret_is_text is 1 for text: local servers send blobs as base64 text. */
int slp_cbor_blob(slp_cbor *c, slp_str *ret, int *ret_is_text);
int slp_cbor_i64(slp_cbor *c, int64_t *ret); /* reads an integer; null leaves *ret as it is */
/* Reads a time, with tag 1 or without a tag. A number is in seconds if its magnitude is below 1e11, else in
 * ms. Null leaves *ret as it is. */
int slp_cbor_time_ms(slp_cbor *c, int64_t *ret);
/* Converts a token that was read already (UINT, NEG or FLOAT), by the rule of slp_cbor_time_ms(). */
int slp_cbor_token_ms(slp_cbor *c, int token, int64_t *ret);

/* For a caller that parses a whole item itself instead of reading its tokens. slp_cbor_more() returns 1 if an
 * item may begin at c->at. slp_cbor_passed() moves the reader to `end`, the end of the item that the caller
 * has parsed. */
static inline int slp_cbor_more(const slp_cbor *c) {
  return c->depth && !c->long_on && !c->tagged && c->level[c->depth - 1].left > 0;
}
void slp_cbor_passed(slp_cbor *c, size_t end);

/* The writer. A map or array has a count, or is indefinite if the count is UINT64_MAX; then
 * slp_cbor_put_break() must close it. */
int slp_cbor_put_map(slp_buf *b, uint64_t pairs);
int slp_cbor_put_array(slp_buf *b, uint64_t items);
int slp_cbor_put_break(slp_buf *b);
int slp_cbor_put_text(slp_buf *b, slp_str s);
int slp_cbor_put_bytes(slp_buf *b, slp_str s);
int slp_cbor_put_i64(slp_buf *b, int64_t v);
int slp_cbor_put_time_ms(slp_buf *b, int64_t ms); /* writes tag 1 and integer ms, as the service does */
int slp_cbor_put_bool(slp_buf *b, int on);
int slp_cbor_put_null(slp_buf *b);

#endif
