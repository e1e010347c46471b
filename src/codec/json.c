/* json.c - the JSON pull reader: returns the tokens of a mutable buffer, and unescapes strings in place. */
#include "codec/json.h"

#include "codec/json_plain.h"
#include "codec/utf8.h"

/* The values of slp_json.want: which kind of token may come next. */
enum {
  WANT_VALUE,
  WANT_VALUE_OR_END, /* right after [ */
  WANT_KEY,          /* after a comma in an object */
  WANT_KEY_OR_END,   /* right after { */
  WANT_COLON,
  WANT_COMMA_OR_END,
  WANT_NOTHING /* the outermost value is complete */
};

void slp_json_begin(slp_json *j, char *body, size_t n) {
  *j = (slp_json){.p = body, .n = n, .want = WANT_VALUE, .pause_at = SIZE_MAX};
}

static int refuse_json(slp_json *j, const char *why) {
  j->why = why;
  return SLP_EBADDATA;
}

static int too_much(slp_json *j, const char *why) {
  j->why = why;
  return SLP_ELIMIT;
}

static int read_four_hex_digits(const char *p, uint32_t *ret) {
  uint32_t v = 0;
  for (int i = 0; i < 4; i++) {
    char c = p[i];
    uint32_t d;
    if (c >= '0' && c <= '9')
      d = (uint32_t)(c - '0');
    else if (c >= 'a' && c <= 'f')
      d = (uint32_t)(c - 'a') + 10;
    else if (c >= 'A' && c <= 'F')
      d = (uint32_t)(c - 'A') + 10;
    else
      return 0;
    v = v << 4 | d;
  }
  *ret = v;
  return 1;
}

static size_t put_utf8(char *out, uint32_t c) {
  if (c < 0x80) {
    out[0] = (char)c;
    return 1;
  }
  if (c < 0x800) {
    out[0] = (char)(0xC0 | c >> 6);
    out[1] = (char)(0x80 | (c & 0x3F));
    return 2;
  }
  if (c < 0x10000) {
    out[0] = (char)(0xE0 | c >> 12);
    out[1] = (char)(0x80 | (c >> 6 & 0x3F));
    out[2] = (char)(0x80 | (c & 0x3F));
    return 3;
  }
  out[0] = (char)(0xF0 | c >> 18);
  out[1] = (char)(0x80 | (c >> 12 & 0x3F));
  out[2] = (char)(0x80 | (c >> 6 & 0x3F));
  out[3] = (char)(0x80 | (c & 0x3F));
  return 4;
}

/* Appends to the string the bytes that an escape stands for. If j->keep is 1, the string is not changed and
 * keeps its escapes. */
static void append_unescaped(slp_json *j, const char *bytes, size_t n) {
  j->escaped = 1;
  if (j->keep) {
    j->long_to = j->at;
    return;
  }
  memcpy(j->p + j->long_to, bytes, n);
  j->long_to += n;
}

/* Reads the \u escape at j->at. If it is the first half of a surrogate pair, reads the second half too. */
static int unescape_unicode(slp_json *j) {
  uint32_t c, low;
  if (j->n - j->at < 6 || !read_four_hex_digits(j->p + j->at + 2, &c))
    return refuse_json(j, "\\u needs four hex digits");
  size_t used = 6;
  if (c >= 0xDC00 && c <= 0xDFFF) return refuse_json(j, "a lone low surrogate");
  if (c >= 0xD800 && c <= 0xDBFF) {
    const char *second = j->p + j->at + 6;
    if (j->n - j->at < 12 || second[0] != '\\' || second[1] != 'u' ||
        !read_four_hex_digits(second + 2, &low) || low < 0xDC00 || low > 0xDFFF) {
      return refuse_json(j, "a lone high surrogate");
    }
    c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
    used = 12;
  }
  char bytes[4];
  j->at += used;
  append_unescaped(j, bytes, put_utf8(bytes, c));
  return 0;
}

static int unescape_next(slp_json *j) {
  if (j->n - j->at < 2) return refuse_json(j, "the text ends inside a string");
  char c = j->p[j->at + 1];
  switch (c) {
    case '"':
    case '\\':
    case '/': break;
    case 'b': c = '\b'; break;
    case 'f': c = '\f'; break;
    case 'n': c = '\n'; break;
    case 'r': c = '\r'; break;
    case 't': c = '\t'; break;
    case 'u': return unescape_unicode(j);
    default: return refuse_json(j, "an unknown escape in a string");
  }
  j->at += 2;
  append_unescaped(j, &c, 1);
  return 0;
}

/* Continues to read a string. Its part before j->at is unescaped already, and lies at offsets long_from to
 * long_to. Returns 0: the string is complete and j->text is set; SLP_MORE: j->pause_at is reached inside the
 * string; or an error. */
static int string_on(slp_json *j) {
  for (;;) {
    if (j->at >= j->pause_at && j->at < j->n) return SLP_MORE;
    size_t end = j->pause_at < j->n ? j->pause_at : j->n;
    size_t run = slp_json_plain_end(j->p, j->at, end) - j->at;
    if (run && j->long_to != j->at) memmove(j->p + j->long_to, j->p + j->at, run);
    j->at += run;
    j->long_to += run;
    if (j->at >= j->n) return refuse_json(j, "the text ends inside a string");
    if (j->at >= end) continue;
    uint8_t c = (uint8_t)j->p[j->at];
    if (c == '"') break;
    if (c == '\\') {
      int r = unescape_next(j);
      if (r) return r;
    } else if (c < 0x20) {
      return refuse_json(j, "a control character in a string");
    } else {
      size_t len = slp_utf8_length(j->p + j->at, j->n - j->at);
      if (!len) return refuse_json(j, "a string is not UTF-8");
      if (j->long_to != j->at) memmove(j->p + j->long_to, j->p + j->at, len);
      j->at += len;
      j->long_to += len;
    }
  }
  j->at++;
  j->long_on = 0;
  j->text = (slp_str){j->p + j->long_from, j->long_to - j->long_from};
  return 0;
}

/* Reads a string; j->at is behind its opening quote. */
static int begin_json_string(slp_json *j) {
  size_t end = j->pause_at < j->n ? j->pause_at : j->n;
  size_t stop = j->at < end ? slp_json_plain_end(j->p, j->at, end) : j->at;
  j->escaped = 0;
  if (stop < end && j->p[stop] == '"') { /* a plain string; nearly all strings are plain */
    j->text = (slp_str){j->p + j->at, stop - j->at};
    j->at = stop + 1;
    return 0;
  }
  j->long_on = 1;
  j->long_from = j->at;
  j->long_to = j->at = stop;
  return string_on(j);
}

static int is_digit(char c) { return c >= '0' && c <= '9'; }

static size_t digits_end(const char *p, size_t i, size_t end) {
  while (i < end && is_digit(p[i])) i++;
  return i;
}

/* Finds the end of a number of RFC 8259: -? (0 | 1-9 digits) (. digits)? (e +-? digits)?. Returns 0 if no
 * number starts at i. */
static size_t number_end(const char *p, size_t i, size_t end) {
  if (i < end && p[i] == '-') i++;
  if (i >= end || !is_digit(p[i])) return 0;
  i = p[i] == '0' ? i + 1 : digits_end(p, i, end);
  if (i < end && p[i] == '.') {
    size_t from = ++i;
    i = digits_end(p, i, end);
    if (i == from) return 0;
  }
  if (i < end && (p[i] == 'e' || p[i] == 'E')) {
    i++;
    if (i < end && (p[i] == '+' || p[i] == '-')) i++;
    size_t from = i;
    i = digits_end(p, i, end);
    if (i == from) return 0;
  }
  return i;
}

static int read_json_number(slp_json *j) {
  size_t most = j->n - j->at > SLP_JSON_NUMBER_MAX ? j->at + SLP_JSON_NUMBER_MAX + 1 : j->n;
  size_t end = number_end(j->p, j->at, most);
  if (end - j->at > SLP_JSON_NUMBER_MAX && end) return too_much(j, "a number is too long");
  if (!end) return refuse_json(j, strchr("-0123456789", j->p[j->at]) ? "not a number" : "no JSON value");
  j->text = (slp_str){j->p + j->at, end - j->at};
  j->at = end;
  return SLP_JSON_NUMBER;
}

static int read_json_word(slp_json *j, const char *text, size_t n, int token) {
  if (j->n - j->at < n || memcmp(j->p + j->at, text, n) != 0) return refuse_json(j, "not a JSON value");
  j->at += n;
  return token;
}

static void value_done(slp_json *j) { j->want = j->depth ? WANT_COMMA_OR_END : WANT_NOTHING; }

static int inside_object(const slp_json *j) {
  uint32_t level = j->depth - 1;
  return j->in_object[level / 8] >> (level % 8) & 1;
}

static int open_level(slp_json *j, int object) {
  if (j->depth >= SLP_JSON_DEPTH_MAX) return too_much(j, "nested too deeply");
  uint8_t bit = (uint8_t)(1u << (j->depth % 8)), *byte = &j->in_object[j->depth / 8];
  *byte = (uint8_t)(object ? *byte | bit : *byte & ~bit);
  j->depth++;
  j->at++;
  j->want = object ? WANT_KEY_OR_END : WANT_VALUE_OR_END;
  return object ? SLP_JSON_OBJECT : SLP_JSON_ARRAY;
}

static int close_level(slp_json *j) {
  int object = inside_object(j);
  if (j->p[j->at] != (object ? '}' : ']'))
    return refuse_json(j, object ? "expected , or }" : "expected , or ]");
  j->at++;
  j->depth--;
  value_done(j);
  return object ? SLP_JSON_OBJECT_END : SLP_JSON_ARRAY_END;
}

/* Reads a string, which is a key or a value, from its beginning or from where it paused. */
static int string_token(slp_json *j, int key) {
  int r = j->long_on ? string_on(j) : begin_json_string(j);
  if (r == SLP_MORE) return SLP_JSON_PAUSE;
  if (r < 0) return r;
  if (!key) {
    value_done(j);
    return SLP_JSON_STRING;
  }
  j->want = WANT_COLON;
  if (j->at < j->n && j->p[j->at] == ':') {
    j->at++;
    j->want = WANT_VALUE;
  }
  return SLP_JSON_KEY;
}

static int read_json_value(slp_json *j) {
  int token;
  switch (j->p[j->at]) {
    case '"': j->at++; return string_token(j, 0);
    case '{': return open_level(j, 1);
    case '[': return open_level(j, 0);
    case 't': token = read_json_word(j, "true", 4, SLP_JSON_TRUE); break;
    case 'f': token = read_json_word(j, "false", 5, SLP_JSON_FALSE); break;
    case 'n': token = read_json_word(j, "null", 4, SLP_JSON_NULL); break;
    default: token = read_json_number(j);
  }
  if (token >= 0) value_done(j);
  return token;
}

/* Skips white space. Returns 1: j->at is at a byte that is no white space; 0: the text has ended;
 * SLP_JSON_PAUSE: pause_at was reached. */
static int pass_space(slp_json *j) {
  while (j->at < j->n) {
    if (j->at >= j->pause_at) return SLP_JSON_PAUSE;
    char c = j->p[j->at];
    if (c != ' ' && c != '\n' && c != '\t' && c != '\r') return 1;
    j->at++;
  }
  return 0;
}

static int read_json_key(slp_json *j) {
  if (j->p[j->at] != '"') return refuse_json(j, "expected a key");
  /* If reading the key pauses, slp_json_next() resumes it later; WANT_KEY then shows that the string is a
   * key. */
  j->want = WANT_KEY;
  j->at++;
  return string_token(j, 1);
}

int slp_json_next(slp_json *j) {
  if (j->long_on) return string_token(j, j->want == WANT_KEY);
  for (;;) {
    int r = pass_space(j);
    if (r == SLP_JSON_PAUSE) return r;
    if (j->want == WANT_NOTHING) return r ? refuse_json(j, "something follows the value") : SLP_JSON_END;
    if (!r) return refuse_json(j, "the text ends too early");
    char c = j->p[j->at];
    switch (j->want) {
      case WANT_VALUE: return read_json_value(j);
      case WANT_VALUE_OR_END: return c == ']' ? close_level(j) : read_json_value(j);
      case WANT_KEY: return read_json_key(j);
      case WANT_KEY_OR_END: return c == '}' ? close_level(j) : read_json_key(j);
      case WANT_COLON:
        if (c != ':') return refuse_json(j, "expected a colon");
        j->want = WANT_VALUE;
        break;
      default: /* WANT_COMMA_OR_END: inside an object or array, behind a value */
        if (c != ',') return close_level(j);
        j->want = inside_object(j) ? WANT_KEY : WANT_VALUE;
    }
    j->at++;
  }
}

int slp_json_object_next(slp_json *j) {
  if (j->long_on || !j->depth || inside_object(j)) return 0;
  size_t comma = j->want == WANT_COMMA_OR_END;
  if (!comma && j->want != WANT_VALUE && j->want != WANT_VALUE_OR_END) return 0;
  if (j->n - j->at <= comma || (comma && j->p[j->at] != ',') || j->p[j->at + comma] != '{') return 0;
  j->at += comma;
  j->want = WANT_VALUE;
  return 1;
}

void slp_json_passed(slp_json *j, size_t end) {
  j->at = end;
  j->want = WANT_COMMA_OR_END;
}

int slp_json_skip(slp_json *j) {
  uint32_t depth = j->depth;
  do {
    int t = slp_json_next(j);
    if (t < 0) return t;
    if (t == SLP_JSON_KEY) continue; /* the key's value is still to come */
    if (t == SLP_JSON_END || j->depth < depth) return refuse_json(j, "expected a value");
  } while (j->depth > depth || j->want == WANT_VALUE || j->want == WANT_COLON);
  return 0;
}

/* ---- typed values ------------------------------------------------------------------------------ */

int slp_json_string(slp_json *j, slp_str *ret) {
  int t = slp_json_next(j);
  if (t < 0) return t;
  if (t == SLP_JSON_STRING)
    *ret = j->text;
  else if (t == SLP_JSON_NULL)
    *ret = (slp_str){NULL, 0};
  else
    return refuse_json(j, "expected a string");
  return 0;
}

/* A parsed decimal number: its digits, and the place of the decimal point. */
typedef struct decimal {
  slp_str text;
  size_t from, end; /* the digits are text.p[from, end), maybe with a dot among them */
  int64_t point;    /* number of digits before the decimal point, exponent included; may be negative */
  int minus;
} decimal;

static int decimal_of(slp_str s, decimal *d) {
  /* A larger exponent is reduced to about this value, so that no sum overflows. With such an exponent the
   * number is out of range, or zero, anyway. */
  const int64_t exponent_max = (int64_t)1 << 40;
  if (!s.n || number_end(s.p, 0, s.n) != s.n) return SLP_EBADDATA;
  *d = (decimal){.text = s, .minus = s.p[0] == '-'};
  size_t i = d->from = (size_t)d->minus;
  i = digits_end(s.p, i, s.n);
  d->point = (int64_t)(i - d->from);
  if (i < s.n && s.p[i] == '.') i = digits_end(s.p, i + 1, s.n);
  d->end = i;
  if (i == s.n) return 0;
  i++; /* skips the letter e, with which the exponent begins */
  int down = s.p[i] == '-';
  if (s.p[i] == '-' || s.p[i] == '+') i++;
  int64_t exponent = 0;
  for (; i < s.n && exponent < exponent_max; i++) exponent = exponent * 10 + (s.p[i] - '0');
  d->point += down ? -exponent : exponent;
  return 0;
}

/* Computes number * 10^shift, rounded. *ret_exact is 1 if the result is exact. Returns 0, SLP_ELIMIT or
 * SLP_EBADDATA. */
static int decimal_times(slp_str number, int shift, int64_t *ret, int *ret_exact) {
  decimal d;
  int r = decimal_of(number, &d);
  if (r) return r;
  int64_t place = 0, whole = d.point + shift;
  uint64_t v = 0, most = (uint64_t)INT64_MAX + (d.minus ? 1 : 0);
  int exact = 1;
  for (size_t i = d.from; i < d.end; i++) {
    if (d.text.p[i] == '.') continue;
    uint64_t digit = (uint64_t)(d.text.p[i] - '0');
    if (place < whole) {
      if (v > (most - digit) / 10) return SLP_ELIMIT;
      v = v * 10 + digit;
    } else {
      if (digit) exact = 0;
      if (place == whole && digit >= 5 && v++ == most) return SLP_ELIMIT;
    }
    place++;
  }
  for (; v && place < whole; place++) { /* at most 19 rounds, because v grows tenfold in each */
    if (v > most / 10) return SLP_ELIMIT;
    v *= 10;
  }
  *ret = d.minus ? (v ? -(int64_t)(v - 1) - 1 : 0) : (int64_t)v;
  *ret_exact = exact;
  return 0;
}

int slp_decimal_scaled(slp_str number, int shift, int64_t *ret) {
  int exact;
  return decimal_times(number, shift, ret, &exact);
}

int slp_decimal_seconds_ms(slp_str number, int64_t *ret) { return slp_decimal_scaled(number, 3, ret); }

int slp_json_i64(slp_json *j, int64_t *ret) {
  int t = slp_json_next(j);
  if (t < 0) return t;
  if (t == SLP_JSON_NULL) return 0;
  if (t != SLP_JSON_NUMBER) return refuse_json(j, "expected a number");
  int64_t v;
  int exact;
  int r = decimal_times(j->text, 0, &v, &exact);
  if (r == SLP_ELIMIT) return too_much(j, "a number is out of range");
  if (r) return refuse_json(j, "expected a number");
  if (!exact) return refuse_json(j, "expected a whole number");
  *ret = v;
  return 0;
}

int slp_utf8_valid(slp_str s) { return s.n == 0 || slp_utf8_run(s.p, s.n, s.n) == s.n; }
