/* cbor.c - the CBOR pull reader (RFC 8949, definite and indefinite forms) and the writer. */
#include "codec/cbor.h"

#include "base/buf.h"
#include "codec/utf8.h"

enum { MAJOR_UINT, MAJOR_NEG, MAJOR_BYTES, MAJOR_TEXT, MAJOR_ARRAY, MAJOR_MAP, MAJOR_TAG, MAJOR_SIMPLE };
#define INFO_INDEFINITE 31
#define BREAK 0xFF

/* A time of this value or more is read as milliseconds, a smaller one as seconds: 1e11 s is the year 5138,
 * 1e11 ms is 1973. Kinesis sends tag 1 with ms (against RFC 8949), kinesalite sends seconds as floats. */
#define TIME_MS_FROM 100000000000

void slp_cbor_begin(slp_cbor *c, char *body, size_t n) {
  c->p = body;
  c->n = n;
  c->at = 0;
  c->text = (slp_str){NULL, 0};
  c->u = 0;
  c->f = 0;
  c->is_key = c->tagged = c->done = c->long_on = 0;
  c->long_major = c->long_chunked = 0;
  c->long_from = c->long_to = c->chunk_left = 0;
  c->pause_at = SIZE_MAX;
  c->depth = 0;
  c->why = NULL;
}

static int refuse_cbor(slp_cbor *c, const char *why) {
  c->why = why;
  return SLP_EBADDATA;
}

/* Reads the argument of the item whose head begins at c->at (RFC 8949), and moves c->at behind the head.
 * info: the low 5 bits of the head's first byte; must not be 31. */
static int read_cbor_argument(slp_cbor *c, uint8_t info, uint64_t *ret) {
  if (info < 24) {
    c->at++;
    *ret = info;
    return 0;
  }
  if (info > 27) return refuse_cbor(c, "a reserved length form");
  size_t bytes = (size_t)1 << (info - 24);
  if (c->n - c->at - 1 < bytes) return refuse_cbor(c, "the bytes end too early");
  const uint8_t *p = (const uint8_t *)c->p + c->at + 1;
  uint64_t v = 0;
  for (size_t i = 0; i < bytes; i++) v = v << 8 | p[i];
  c->at += 1 + bytes;
  *ret = v;
  return 0;
}

/* Called when an item is complete. Counts the item in the map or array that contains it. */
static void item_done(slp_cbor *c) {
  c->tagged = 0;
  if (!c->depth) {
    c->done = 1;
    return;
  }
  slp_cbor_level *l = &c->level[c->depth - 1];
  if (l->left != UINT64_MAX) l->left--;
  if (l->map) l->key = !l->key;
}

void slp_cbor_passed(slp_cbor *c, size_t end) {
  c->at = end;
  item_done(c);
}

static int open_level(slp_cbor *c, uint8_t major, uint8_t info) {
  int map = major == MAJOR_MAP;
  uint64_t left = UINT64_MAX;
  if (c->depth >= SLP_CBOR_DEPTH_MAX) {
    c->why = "nested too deeply";
    return SLP_ELIMIT;
  }
  if (info == INFO_INDEFINITE) {
    c->at++;
  } else {
    int r = read_cbor_argument(c, info, &left);
    if (r) return r;
    /* Every item takes at least one byte, and a pair two. So a count that needs more than the remaining bytes
     * is an error. */
    if (left > (c->n - c->at) / (map ? 2 : 1)) return refuse_cbor(c, "a count is past the end");
    if (map) left *= 2;
  }
  c->tagged = 0;
  c->level[c->depth++] = (slp_cbor_level){.left = left, .map = (uint8_t)map, .key = (uint8_t)map};
  return map ? SLP_CBOR_MAP : SLP_CBOR_ARRAY;
}

static int close_level(slp_cbor *c) {
  c->depth--;
  int token = c->level[c->depth].map ? SLP_CBOR_MAP_END : SLP_CBOR_ARRAY_END;
  item_done(c);
  return token;
}

/* Reads the head of the next chunk of an indefinite string, or the break that ends the string. Returns 1: the
 * string is complete; 0: a chunk follows; or an error. */
static int next_chunk(slp_cbor *c) {
  if (c->at >= c->n) return refuse_cbor(c, "the bytes end inside a string");
  uint8_t head = (uint8_t)c->p[c->at];
  uint64_t len;
  if (head == BREAK) {
    c->at++;
    return 1;
  }
  if (head >> 5 != c->long_major || (head & 31) == INFO_INDEFINITE)
    return refuse_cbor(c, "not a chunk of the string");
  int r = read_cbor_argument(c, head & 31, &len);
  if (r) return r;
  if (len > c->n - c->at) return refuse_cbor(c, "a length is past the end");
  c->chunk_left = (size_t)len;
  return 0;
}

static int string_done(slp_cbor *c) {
  c->long_on = 0;
  c->text = (slp_str){c->p + c->long_from, c->long_to - c->long_from};
  c->is_key = c->depth && c->level[c->depth - 1].key;
  item_done(c);
  return c->long_major == MAJOR_TEXT ? SLP_CBOR_TEXT : SLP_CBOR_BYTES;
}

/* Reads the rest of a chunk, at most up to pause_at. Checks that text is UTF-8. Moves the chunk's bytes
 * behind those of the chunks before, so that no chunk head stays between them. */
static int chunk_on(slp_cbor *c) {
  size_t take = c->chunk_left, room = c->pause_at - c->at;
  /* A byte string of known length is skipped at once, because its bytes need no check. */
  if (!c->long_chunked && c->long_major == MAJOR_BYTES) room = take;
  if (c->long_major == MAJOR_TEXT) {
    take = slp_utf8_run(c->p + c->at, take, room < take ? room : take);
    if (take == SIZE_MAX) return refuse_cbor(c, "text is not UTF-8");
  } else if (take > room) {
    take = room;
  }
  if (c->long_to != c->at) memmove(c->p + c->long_to, c->p + c->at, take);
  c->at += take;
  c->long_to += take;
  c->chunk_left -= take;
  return 0;
}

/* Continues to read a string until it is complete or pause_at is reached. */
static int string_on(slp_cbor *c) {
  for (;;) {
    if (!c->chunk_left && !c->long_chunked) return string_done(c);
    if (c->at >= c->pause_at && c->at < c->n) return SLP_CBOR_PAUSE;
    int r = c->chunk_left ? chunk_on(c) : next_chunk(c);
    if (r < 0) return r;
    if (r) return string_done(c);
  }
}

static int begin_cbor_string(slp_cbor *c, uint8_t major, uint8_t info) {
  uint64_t len = 0;
  if (info == INFO_INDEFINITE) {
    c->at++;
  } else {
    int r = read_cbor_argument(c, info, &len);
    if (r) return r;
    if (len > c->n - c->at) return refuse_cbor(c, "a length is past the end");
  }
  c->long_on = 1;
  c->long_major = major;
  c->long_chunked = info == INFO_INDEFINITE;
  c->long_from = c->long_to = c->at;
  c->chunk_left = (size_t)len;
  return string_on(c);
}

/* Converts half precision by its definition in RFC 8949 appendix D. */
static double half_to_double(uint64_t bits) {
  int exponent = (int)(bits >> 10 & 31);
  double v = (double)(bits & 1023);
  if (exponent == 31)
    v = v != 0 ? __builtin_nan("") : __builtin_inf();
  else if (exponent == 0)
    v = v / (1 << 24);
  else
    v = exponent >= 25 ? (v + 1024) * (1 << (exponent - 25)) : (v + 1024) / (1 << (25 - exponent));
  return bits & 0x8000 ? -v : v;
}

static int read_simple_value(slp_cbor *c, uint8_t info) {
  uint64_t v;
  if (info == INFO_INDEFINITE) return refuse_cbor(c, "a break that ends nothing");
  int r = read_cbor_argument(c, info, &v);
  if (r) return r;
  int token = SLP_CBOR_FLOAT;
  if (info == 25) {
    c->f = half_to_double(v);
  } else if (info == 26) {
    uint32_t bits = (uint32_t)v;
    float single;
    memcpy(&single, &bits, sizeof single);
    c->f = (double)single;
  } else if (info == 27) {
    memcpy(&c->f, &v, sizeof c->f);
  } else if (info == 24 && v < 32) {
    return refuse_cbor(c, "a simple value in the wrong form");
  } else {
    token = v == 20              ? SLP_CBOR_FALSE
            : v == 21            ? SLP_CBOR_TRUE
            : v == 22 || v == 23 ? SLP_CBOR_NULL
                                 : SLP_CBOR_SIMPLE;
    c->u = v;
  }
  item_done(c);
  return token;
}

static int read_cbor_item(slp_cbor *c, uint8_t head) {
  uint8_t major = head >> 5, info = head & 31;
  int r;
  switch (major) {
    case MAJOR_BYTES:
    case MAJOR_TEXT: return begin_cbor_string(c, major, info);
    case MAJOR_ARRAY:
    case MAJOR_MAP: return open_level(c, major, info);
    case MAJOR_SIMPLE: return read_simple_value(c, info);
    default: break;
  }
  if (info == INFO_INDEFINITE) return refuse_cbor(c, "a reserved length form");
  r = read_cbor_argument(c, info, &c->u);
  if (r) return r;
  if (major == MAJOR_TAG) {
    if (c->tagged >= SLP_CBOR_TAGS_MAX) {
      c->why = "too many tags on one value";
      return SLP_ELIMIT;
    }
    c->tagged++;
    return SLP_CBOR_TAG;
  }
  item_done(c);
  return major == MAJOR_UINT ? SLP_CBOR_UINT : SLP_CBOR_NEG;
}

int slp_cbor_next(slp_cbor *c) {
  if (c->long_on) return string_on(c);
  if (c->done) return c->at == c->n ? SLP_CBOR_END : refuse_cbor(c, "something follows the value");
  slp_cbor_level *l = c->depth ? &c->level[c->depth - 1] : NULL;
  c->is_key = 0;
  if (l && l->left == 0) return close_level(c);
  if (c->at >= c->n) return refuse_cbor(c, "the bytes end too early");
  if (c->at >= c->pause_at) return SLP_CBOR_PAUSE;
  uint8_t head = (uint8_t)c->p[c->at];
  if (l && l->map && l->key && head != BREAK && head >> 5 != MAJOR_TEXT)
    return refuse_cbor(c, "a key is not text");
  if (head == BREAK && l && l->left == UINT64_MAX && !c->tagged && !(l->map && !l->key)) {
    c->at++;
    return close_level(c);
  }
  return read_cbor_item(c, head);
}

int slp_cbor_skip(slp_cbor *c) {
  uint32_t depth = c->depth;
  int t;
  do {
    t = slp_cbor_next(c);
    if (t < 0) return t;
    if (t == SLP_CBOR_END || c->depth < depth) return refuse_cbor(c, "expected a value");
  } while (c->depth > depth || t == SLP_CBOR_TAG || (t == SLP_CBOR_TEXT && c->is_key));
  return 0;
}

/* ---- typed values ------------------------------------------------------------------------------ */

/* Returns the next token that is not a tag. */
static int next_untagged_token(slp_cbor *c) {
  int t;
  do t = slp_cbor_next(c);
  while (t == SLP_CBOR_TAG);
  return t;
}

int slp_cbor_text(slp_cbor *c, slp_str *ret) {
  int t = next_untagged_token(c);
  if (t < 0) return t;
  if (t == SLP_CBOR_TEXT)
    *ret = c->text;
  else if (t == SLP_CBOR_NULL)
    *ret = (slp_str){NULL, 0};
  else
    return refuse_cbor(c, "expected text");
  return 0;
}

int slp_cbor_blob(slp_cbor *c, slp_str *ret, int *ret_is_text) {
  int t = next_untagged_token(c);
  if (t < 0) return t;
  if (t == SLP_CBOR_NULL)
    *ret = (slp_str){NULL, 0};
  else if (t == SLP_CBOR_BYTES || t == SLP_CBOR_TEXT)
    *ret = c->text;
  else
    return refuse_cbor(c, "expected bytes");
  *ret_is_text = t == SLP_CBOR_TEXT;
  return 0;
}

/* Returns 1 if f fits an int64_t: doubles at and beyond 2^63 do not, and NaN fails both comparisons. */
static int fits_i64(double f) { return f >= -9223372036854775808.0 && f < 9223372036854775808.0; }

static int whole_of(slp_cbor *c, int token, int64_t *ret) {
  if (c->u > INT64_MAX) {
    c->why = "a number is out of range";
    return SLP_ELIMIT;
  }
  *ret = token == SLP_CBOR_NEG ? -1 - (int64_t)c->u : (int64_t)c->u;
  return 0;
}

int slp_cbor_i64(slp_cbor *c, int64_t *ret) {
  int t = next_untagged_token(c);
  if (t < 0) return t;
  if (t == SLP_CBOR_NULL) return 0;
  if (t == SLP_CBOR_UINT || t == SLP_CBOR_NEG) return whole_of(c, t, ret);
  if (t != SLP_CBOR_FLOAT) return refuse_cbor(c, "expected a number");
  if (!fits_i64(c->f)) {
    c->why = "a number is out of range";
    return c->f != c->f ? SLP_EBADDATA : SLP_ELIMIT;
  }
  if ((double)(int64_t)c->f != c->f) return refuse_cbor(c, "expected a whole number");
  *ret = (int64_t)c->f;
  return 0;
}

int slp_cbor_token_ms(slp_cbor *c, int token, int64_t *ret) {
  int64_t v;
  if (token == SLP_CBOR_UINT || token == SLP_CBOR_NEG) {
    int r = whole_of(c, token, &v);
    if (r) return r;
    *ret = v > -TIME_MS_FROM && v < TIME_MS_FROM ? v * 1000 : v;
    return 0;
  }
  if (token != SLP_CBOR_FLOAT || c->f != c->f) return refuse_cbor(c, "expected a time");
  double ms = c->f > -(double)TIME_MS_FROM && c->f < (double)TIME_MS_FROM ? c->f * 1000 : c->f;
  ms += ms < 0 ? -0.5 : 0.5;
  if (!fits_i64(ms)) {
    c->why = "a time is out of range";
    return SLP_ELIMIT;
  }
  *ret = (int64_t)ms;
  return 0;
}

int slp_cbor_time_ms(slp_cbor *c, int64_t *ret) {
  int t = next_untagged_token(c);
  if (t < 0) return t;
  return t == SLP_CBOR_NULL ? 0 : slp_cbor_token_ms(c, t, ret);
}

/* ---- writer ------------------------------------------------------------------------------------ */

static int put_head(slp_buf *b, unsigned major, uint64_t v) {
  unsigned info = v < 24            ? (unsigned)v
                  : v <= UINT8_MAX  ? 24
                  : v <= UINT16_MAX ? 25
                  : v <= UINT32_MAX ? 26
                                    : 27;
  size_t bytes = info < 24 ? 0 : (size_t)1 << (info - 24);
  char out[9] = {(char)(major << 5 | info)};
  for (size_t i = 0; i < bytes; i++) out[1 + i] = (char)(v >> (8 * (bytes - 1 - i)) & 255);
  return slp_buf_add(b, out, 1 + bytes);
}

static int put_open(slp_buf *b, unsigned major, uint64_t count) {
  if (count == UINT64_MAX) return slp_buf_add_char(b, (char)(major << 5 | INFO_INDEFINITE));
  return put_head(b, major, count);
}

static int put_string(slp_buf *b, unsigned major, slp_str s) {
  size_t was = b->n;
  put_head(b, major, s.n);
  int r = slp_buf_add_str(b, s);
  if (r) b->n = was;
  return r;
}

int slp_cbor_put_map(slp_buf *b, uint64_t pairs) { return put_open(b, MAJOR_MAP, pairs); }
int slp_cbor_put_array(slp_buf *b, uint64_t items) { return put_open(b, MAJOR_ARRAY, items); }
int slp_cbor_put_break(slp_buf *b) { return slp_buf_add_char(b, (char)BREAK); }
int slp_cbor_put_text(slp_buf *b, slp_str s) { return put_string(b, MAJOR_TEXT, s); }
int slp_cbor_put_bytes(slp_buf *b, slp_str s) { return put_string(b, MAJOR_BYTES, s); }

int slp_cbor_put_i64(slp_buf *b, int64_t v) {
  return v < 0 ? put_head(b, MAJOR_NEG, (uint64_t)(-1 - v)) : put_head(b, MAJOR_UINT, (uint64_t)v);
}

int slp_cbor_put_time_ms(slp_buf *b, int64_t ms) {
  size_t was = b->n;
  put_head(b, MAJOR_TAG, 1);
  int r = slp_cbor_put_i64(b, ms);
  if (r) b->n = was;
  return r;
}

int slp_cbor_put_bool(slp_buf *b, int on) { return put_head(b, MAJOR_SIMPLE, on ? 21 : 20); }
int slp_cbor_put_null(slp_buf *b) { return put_head(b, MAJOR_SIMPLE, 22); }
