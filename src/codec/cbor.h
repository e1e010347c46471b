/* cbor.h - a CBOR pull reader (definite and indefinite forms) and a writer, for Kinesis'
 * application/x-amz-cbor-1.1: maps with text keys, byte strings for blobs, tag 1 for times.
 * Zero copy: strings are slices of the body; an indefinite string of several chunks is joined in
 * place. Depth and counts are limited; lengths are checked against what is left before use. */
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
  SLP_CBOR_UINT,  /* the value is u */
  SLP_CBOR_NEG,   /* the value is -1 - u */
  SLP_CBOR_BYTES, /* the bytes are text */
  SLP_CBOR_TEXT,  /* text is valid UTF-8; also the keys of maps */
  SLP_CBOR_TAG,   /* the tag is u; the tagged value is the next token */
  SLP_CBOR_FLOAT, /* the value is f: half, single and double */
  SLP_CBOR_TRUE,
  SLP_CBOR_FALSE,
  SLP_CBOR_NULL,   /* null or undefined */
  SLP_CBOR_SIMPLE, /* any other simple value: u */
  SLP_CBOR_PAUSE   /* pause_at was reached, maybe inside a string: raise pause_at and call again */
} slp_cbor_token;

typedef struct slp_cbor_level {
  uint64_t left;    /* items to come (pairs count two); UINT64_MAX: until break */
  uint8_t map, key; /* map: 1: in a map; key: 1: a key comes next */
} slp_cbor_level;

typedef struct slp_cbor {
  char *p;
  size_t n, at;
  slp_str text;
  uint64_t u;
  double f;
  uint8_t is_key; /* 1: the TEXT just read is a map key */
  uint8_t tagged; /* number of tags just read; their value must follow */
  uint8_t done;
  uint8_t long_on; /* 1: inside a string; this and the next five are the reader's own */
  uint8_t long_major, long_chunked;
  size_t long_from, long_to, chunk_left;
  size_t pause_at; /* SIZE_MAX: never. While it is lower, only slp_cbor_next() may be used */
  uint32_t depth;
  slp_cbor_level level[SLP_CBOR_DEPTH_MAX];
  const char *why;
} slp_cbor;

void slp_cbor_begin(slp_cbor *c, char *body, size_t n);
/* Returns a slp_cbor_token, SLP_EBADDATA (reserved 28-30, stray break, key that is not text, bytes after the
 * value, a length past the end, bad UTF-8) or SLP_ELIMIT (depth). */
int slp_cbor_next(slp_cbor *c);
int slp_cbor_skip(slp_cbor *c); /* passes over the next value, whatever it is */
/* Reads the next value, which must be text, or null: {NULL,0}. */
int slp_cbor_text(slp_cbor *c, slp_str *ret);
/* Reads a byte string, or text with *ret_is_text = 1, because local servers send base64 text. */
int slp_cbor_blob(slp_cbor *c, slp_str *ret, int *ret_is_text);
int slp_cbor_i64(slp_cbor *c, int64_t *ret); /* null leaves *ret as it is */
/* Reads a time with tag 1 or without a tag. Integers are ms (below 1e11 in magnitude: seconds), floats are
 * seconds (from 1e11 on: ms). Null leaves *ret as it is. */
int slp_cbor_time_ms(slp_cbor *c, int64_t *ret);
/* Does the same for a token that was read already (UINT, NEG or FLOAT). */
int slp_cbor_token_ms(slp_cbor *c, int token, int64_t *ret);

/* For a caller that reads one item by itself instead of token by token. slp_cbor_more: returns 1 if an item
 * may begin at c->at. slp_cbor_passed: the caller has read the item up to `end`. */
static inline int slp_cbor_more(const slp_cbor *c) {
  return c->depth && !c->long_on && !c->tagged && c->level[c->depth - 1].left > 0;
}
void slp_cbor_passed(slp_cbor *c, size_t end);

/* The writer. A map or array is definite if a count is given, and indefinite with UINT64_MAX: it is then
 * closed with slp_cbor_put_break. */
int slp_cbor_put_map(slp_buf *b, uint64_t pairs);
int slp_cbor_put_array(slp_buf *b, uint64_t items);
int slp_cbor_put_break(slp_buf *b);
int slp_cbor_put_text(slp_buf *b, slp_str s);
int slp_cbor_put_bytes(slp_buf *b, slp_str s);
int slp_cbor_put_i64(slp_buf *b, int64_t v);
int slp_cbor_put_time_ms(slp_buf *b, int64_t ms); /* tag 1 + integer ms, as the service does */
int slp_cbor_put_bool(slp_buf *b, int on);
int slp_cbor_put_null(slp_buf *b);

#endif
