/* json.h - a JSON pull reader that works in place over a mutable buffer.
 *
 * The caller asks for the next token. Strings are unescaped in place and handed out as slices (they may hold
 * NUL). Strict RFC 8259: strings must be UTF-8, a lone \u surrogate is SLP_EBADDATA, and there is one value
 * with only white space after it. There is no recursion: the depth is a counter with a maximum. Duplicate
 * keys are handed out as they come, so the last one wins if the caller overwrites. */
#ifndef SLP_CODEC_JSON_H
#define SLP_CODEC_JSON_H

#include "base/base.h"

/* DynamoDB's items may nest 32 deep. Each depth takes two levels of JSON, and the request around an item
 * takes some more. */
#define SLP_JSON_DEPTH_MAX 96
#define SLP_JSON_NUMBER_MAX 1024 /* the most characters of a number; a longer number is SLP_ELIMIT */

typedef enum {
  SLP_JSON_END = 0, /* the outermost value is complete, and only white space followed */
  SLP_JSON_OBJECT,  /* a { was read: an object begins */
  SLP_JSON_OBJECT_END,
  SLP_JSON_ARRAY,
  SLP_JSON_ARRAY_END,
  SLP_JSON_KEY,    /* slp_json.text is the key; its value is the next token */
  SLP_JSON_STRING, /* slp_json.text is the string, unescaped */
  SLP_JSON_NUMBER, /* slp_json.text is the number as written */
  SLP_JSON_TRUE,
  SLP_JSON_FALSE,
  SLP_JSON_NULL,
  /* pause_at was reached, maybe inside a string: set pause_at to a larger value and call again */
  SLP_JSON_PAUSE
} slp_json_token;

typedef struct slp_json {
  char *p; /* the body, which is changed in place */
  size_t n, at;
  slp_str text; /* text of the key, string or number that was read last */
  uint32_t depth;
  uint8_t in_object[(SLP_JSON_DEPTH_MAX + 7) / 8];
  uint8_t want;    /* private to the reader: which tokens may come next */
  uint8_t long_on; /* private to the reader: 1: it has paused inside a string */
  /* May be set to 1 after slp_json_begin(). 1: strings are not unescaped, `text` is the text between the
   * quotes, and the body is not changed. */
  uint8_t keep;
  uint8_t escaped; /* 1: the string just read has escapes in it */
  size_t long_from, long_to;
  /* The offset at which slp_json_next() pauses; SIZE_MAX: never. If it is set, only slp_json_next() may be
   * used. */
  size_t pause_at;
  const char *why; /* after an error: what was wrong, static text */
} slp_json;

/* Begins to read body[0, n). The body must live as long as its strings are used, and is changed. */
void slp_json_begin(slp_json *j, char *body, size_t n);
/* Returns a slp_json_token (>= 0), or SLP_EBADDATA or SLP_ELIMIT (nested too deeply, a number too long).
 * After an error j->at is the place of the error. */
int slp_json_next(slp_json *j);
/* Skips a whole value of any kind. May be called after KEY, or where a value begins. Returns 0 or an
 * error. */
int slp_json_skip(slp_json *j);
/* slp_json_string() and slp_json_i64() read the next value, for example after KEY. For null, the first sets
 * *ret to {NULL,0}, and the second does not change *ret. A value of another kind is SLP_EBADDATA. */
int slp_json_string(slp_json *j, slp_str *ret);
/* reads an integer; 1.0 and 1e3 count as integers; SLP_ELIMIT: out of range */
int slp_json_i64(slp_json *j, int64_t *ret);

/* For a caller that parses an element of an array itself instead of reading its tokens. Returns 1 if the next
 * element is an object, and moves j->at to the object's {, behind a comma before it. */
int slp_json_object_next(slp_json *j);
/* moves the reader to `end`, the end of an object that the caller has parsed */
void slp_json_passed(slp_json *j, size_t end);

/* Converts the text of a number from seconds to milliseconds, for any fraction or exponent. Returns 0;
 * SLP_ELIMIT: out of range; SLP_EBADDATA: no number. */
int slp_decimal_seconds_ms(slp_str number, int64_t *ret);
/* Computes the value of a number's text times 10^shift, rounded half away from zero. Returns 0; SLP_ELIMIT:
 * out of range; SLP_EBADDATA: no number. */
int slp_decimal_scaled(slp_str number, int shift, int64_t *ret);

int slp_utf8_valid(slp_str s); /* returns 1 if s is valid UTF-8; fast for ASCII */

#endif
