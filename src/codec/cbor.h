/* cbor.h - a CBOR pull reader (definite and indefinite forms) and a writer, for Kinesis'
 * application/x-amz-cbor-1.1: maps with text keys, byte strings for blobs, tag 1 for times.
 * Zero copy: strings are slices of the body; an indefinite string of several chunks is joined in
 * place. Depth and counts are limited; lengths are checked against what is left before use. */
#ifndef SLP_CODEC_CBOR_H
#define SLP_CODEC_CBOR_H

#include "base/buf.h"

#define SLP_CBOR_DEPTH_MAX 64
#define SLP_CBOR_TAGS_MAX 16 /* on one value */

typedef enum {
  SLP_CBOR_END = 0,
  SLP_CBOR_MAP,
  SLP_CBOR_MAP_END,
  SLP_CBOR_ARRAY,
  SLP_CBOR_ARRAY_END,
  SLP_CBOR_UINT,  /* u */
  SLP_CBOR_NEG,   /* -1 - u */
  SLP_CBOR_BYTES, /* text */
  SLP_CBOR_TEXT,  /* text: valid UTF-8, keys of maps included */
  SLP_CBOR_TAG,   /* u; its value is the next token */
  SLP_CBOR_FLOAT, /* f: half, single and double */
  SLP_CBOR_TRUE,
  SLP_CBOR_FALSE,
  SLP_CBOR_NULL,   /* also undefined */
  SLP_CBOR_SIMPLE, /* u: any other simple value */
  SLP_CBOR_PAUSE   /* pause_at was reached, maybe inside a string: raise pause_at and call again */
} slp_cbor_token;

typedef struct slp_cbor_level {
  uint64_t left;    /* items to come (pairs count two); UINT64_MAX: until break */
  uint8_t map, key; /* in a map: is a key next? */
} slp_cbor_level;

typedef struct slp_cbor {
  char *p;
  size_t n, at;
  slp_str text;
  uint64_t u;
  double f;
  uint8_t is_key; /* the TEXT just read is a map key */
  uint8_t tagged; /* number of tags just read; their value must follow */
  uint8_t done;
  uint8_t long_on; /* inside a string: the reader's own, as are the four below */
  uint8_t long_major, long_chunked;
  size_t long_from, long_to, chunk_left;
  size_t pause_at; /* SIZE_MAX: never. Only slp_cbor_next() may be used while it is set lower */
  uint32_t depth;
  slp_cbor_level level[SLP_CBOR_DEPTH_MAX];
  const char *why;
} slp_cbor;

void slp_cbor_begin(slp_cbor *c, char *body, size_t n);
/* A slp_cbor_token, or SLP_EBADDATA (reserved 28-30, stray break, key that is not text, bytes after the
 * value, a length past the end, bad UTF-8) or SLP_ELIMIT (depth). */
int slp_cbor_next(slp_cbor *c);
int slp_cbor_skip(slp_cbor *c); /* the whole value to come */
/* The value to come must be text (or null: {NULL,0}). */
int slp_cbor_text(slp_cbor *c, slp_str *ret);
/* Byte string raw, or text (ret_text = 1: local servers send base64 text). */
int slp_cbor_blob(slp_cbor *c, slp_str *ret, int *ret_is_text);
int slp_cbor_i64(slp_cbor *c, int64_t *ret); /* null leaves *ret */
/* A time: tag 1 or untagged; integers are ms (below 1e11 in magnitude: seconds), floats are seconds unless
 * 1e11 or more (then ms). Null leaves *ret. */
int slp_cbor_time_ms(slp_cbor *c, int64_t *ret);
/* The same for a token already read (UINT, NEG or FLOAT). */
int slp_cbor_token_ms(slp_cbor *c, int token, int64_t *ret);

/* For a caller that reads one item by itself instead of token by token: whether an item may begin at c->at,
 * and that the caller has read it up to there. */
static inline int slp_cbor_more(const slp_cbor *c) {
  return c->depth && !c->long_on && !c->tagged && c->level[c->depth - 1].left > 0;
}
void slp_cbor_passed(slp_cbor *c, size_t end);

/* Writer. Open maps and arrays are definite when a count is given, indefinite with UINT64_MAX (close with
 * slp_cbor_put_break). */
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
