/* json.h - a JSON pull reader that works in place over a mutable buffer.
 *
 * The caller asks for the next token. Strings are unescaped over their own text and handed out as slices
 * (they may hold NUL). Strict RFC 8259: UTF-8 is checked in strings (also \u surrogates: a lone one is
 * SLP_EBADDATA), there is one value, and only white space after it. Depth is a counter with a maximum; there
 * is no recursion. Duplicate keys are left to the caller (the last one wins by overwriting). */
#ifndef SLP_CODEC_JSON_H
#define SLP_CODEC_JSON_H

#include "base/buf.h"

/* DynamoDB's items may nest 32 deep. That is 64 levels, and the request around them. */
#define SLP_JSON_DEPTH_MAX 96
#define SLP_JSON_NUMBER_MAX 1024 /* characters; a longer number is SLP_ELIMIT */

typedef enum {
  SLP_JSON_END = 0, /* the one value is complete and only white space followed */
  SLP_JSON_OBJECT,  /* { */
  SLP_JSON_OBJECT_END,
  SLP_JSON_ARRAY,
  SLP_JSON_ARRAY_END,
  SLP_JSON_KEY,    /* text: the key; its value is the next token */
  SLP_JSON_STRING, /* text: unescaped */
  SLP_JSON_NUMBER, /* text: as written */
  SLP_JSON_TRUE,
  SLP_JSON_FALSE,
  SLP_JSON_NULL,
  SLP_JSON_PAUSE /* pause_at was reached, maybe inside a string: raise pause_at and call again */
} slp_json_token;

typedef struct slp_json {
  char *p; /* the body; changed in place */
  size_t n, at;
  slp_str text; /* of the token just read */
  uint32_t depth;
  uint8_t in_object[(SLP_JSON_DEPTH_MAX + 7) / 8];
  uint8_t want;    /* the reader's own: what may come next */
  uint8_t long_on; /* the reader's own: 1: inside a long string */
  /* set to 1 after begin: the body stays as it is, and text is what stands between the quotes */
  uint8_t keep;
  uint8_t escaped; /* 1: the string just read has escapes in it */
  size_t long_from, long_to;
  size_t pause_at; /* SIZE_MAX: never. While it is lower, only slp_json_next() may be used */
  const char *why; /* after an error: what was wrong, static text */
} slp_json;

void slp_json_begin(slp_json *j, char *body, size_t n);
/* Returns a slp_json_token (>= 0), or SLP_EBADDATA or SLP_ELIMIT (too deep); j->at then tells where. */
int slp_json_next(slp_json *j);
/* After KEY, or at the start of a value: passes over the whole value, whatever it is. Returns 0 or an
 * error. */
int slp_json_skip(slp_json *j);
/* Reads the next value (after KEY), which must be of that kind, or null: then *ret is {NULL,0} /
 * unchanged. */
int slp_json_string(slp_json *j, slp_str *ret);
int slp_json_i64(slp_json *j, int64_t *ret); /* SLP_ELIMIT: out of range; 1.0 and 1e3 are integers */

/* For a caller that reads one element of an array by itself instead of token by token. Returns 1 if an object
 * begins at j->at; a comma in front was passed. */
int slp_json_object_next(slp_json *j);
void slp_json_passed(slp_json *j, size_t end); /* the caller has read the object up to `end` */

/* Converts the text of a number from seconds to milliseconds; exact for any fraction or exponent. SLP_ELIMIT:
 * out of range. */
int slp_decimal_seconds_ms(slp_str number, int64_t *ret);
/* Computes the text of a number times 10^shift, rounded half away from zero. SLP_ELIMIT: out of range;
 * SLP_EBADDATA: no number. */
int slp_decimal_scaled(slp_str number, int shift, int64_t *ret);

int slp_utf8_valid(slp_str s); /* 1 or 0; fast for ASCII */

#endif
