/* avro_value.c - turns Avro's binary encoding into JSON. It keeps a stack of frames instead of calling
 * itself. Every item writes at least one byte of JSON, even an item without bytes in the input, so the
 * maximum of the output also bounds the work. */
#include "cli/avro_value.h"

#include "base/buf.h"
#include "cli/avro_schema.h"
#include "cli/json_number.h"
#include "codec/json_write.h"

#include <stdio.h>

#define SLICE_BYTES 65536u
#define SLICE_STEPS 16384

int slp_avro_long(slp_str in, size_t *at, int64_t *ret) {
  uint64_t v = 0;
  for (unsigned shift = 0; shift < 70; shift += 7) {
    if (*at >= in.n) return SLP_EBADDATA;
    uint8_t byte = (uint8_t)in.p[(*at)++];
    if (shift == 63 && byte > 1) return SLP_EBADDATA;
    v |= (uint64_t)(byte & 0x7f) << shift;
    if (byte & 0x80) continue;
    *ret = (int64_t)(v >> 1 ^ (0 - (v & 1)));
    return 0;
  }
  return SLP_EBADDATA;
}

static int refuse_avro_value(char why[SLP_AVRO_WHY], const char *what) {
  snprintf(why, SLP_AVRO_WHY, "%s", what);
  return SLP_EBADDATA;
}

static int cut_short(char why[SLP_AVRO_WHY]) {
  return refuse_avro_value(why, "it is damaged or truncated, or has another schema");
}

static int read_long(slp_avro_value *v, int64_t *ret, char why[SLP_AVRO_WHY]) {
  return slp_avro_long(v->in, &v->at, ret) ? cut_short(why) : 0;
}

/* Sets *ret to the next n bytes of the input and moves past them. */
static int take_avro_bytes(slp_avro_value *v, uint64_t n, slp_str *ret, char why[SLP_AVRO_WHY]) {
  if (n > v->in.n - v->at) return cut_short(why);
  *ret = (slp_str){v->in.p + v->at, (size_t)n};
  v->at += (size_t)n;
  return 0;
}

/* Reads a length and then takes that many bytes. */
static int take_bytes(slp_avro_value *v, slp_str *ret, char why[SLP_AVRO_WHY]) {
  int64_t n = 0;
  int r = read_long(v, &n, why);
  if (!r && n < 0) r = cut_short(why);
  return r ? r : take_avro_bytes(v, (uint64_t)n, ret, why);
}

/* ---- values without parts ---- */

static int is_plain(uint8_t c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; }

/* Writes each byte as the character with the same number. U+0080 to U+009F could control a terminal, so they
 * are escaped. */
static void put_bytes(slp_buf *b, slp_str s) {
  slp_buf_add_char(b, '"');
  for (size_t i = 0; i < s.n && !slp_buf_failed(b);) {
    size_t from = i;
    while (i < s.n && is_plain((uint8_t)s.p[i])) i++;
    slp_buf_add(b, s.p + from, i - from);
    if (i == s.n) break;
    uint8_t c = (uint8_t)s.p[i++];
    if (c == '"' || c == '\\')
      slp_buf_addf(b, "\\%c", c);
    else if (c < 0xa0)
      slp_buf_addf(b, "\\u%04x", c);
    else
      slp_buf_add(b, (const char[]){(char)(0xc0 | c >> 6), (char)(0x80 | (c & 0x3f))}, 2);
  }
  slp_buf_add_char(b, '"');
}

static int put_binary(slp_buf *b, const slp_avro_type *t, slp_str s, char why[SLP_AVRO_WHY]) {
  if (!t->decimal) {
    put_bytes(b, s);
    return 0;
  }
  if (s.n > SLP_DECIMAL_BYTES_MAX) {
    snprintf(why, SLP_AVRO_WHY, "a decimal has %zu bytes; at most %u are supported", s.n,
             SLP_DECIMAL_BYTES_MAX);
    return SLP_EBADDATA;
  }
  slp_json_put_decimal(b, s, t->scale);
  return 0;
}

static int put_string(slp_avro_value *v, slp_buf *b, char why[SLP_AVRO_WHY]) {
  slp_str s;
  int r = take_bytes(v, &s, why);
  if (r) return r;
  r = slp_json_put_line_string(b, s);
  return r == SLP_EBADDATA
             ? refuse_avro_value(why, "a string is not UTF-8: it is damaged or has another schema")
             : r;
}

static int put_float(slp_avro_value *v, slp_buf *b, char why[SLP_AVRO_WHY]) {
  slp_str s = {NULL, 0};
  float x;
  int r = take_avro_bytes(v, sizeof x, &s, why);
  if (r) return r;
  const uint8_t *p = (const uint8_t *)s.p;
  uint32_t bits = p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
  memcpy(&x, &bits, sizeof x);
  slp_json_put_float(b, x);
  return 0;
}

static int put_double(slp_avro_value *v, slp_buf *b, char why[SLP_AVRO_WHY]) {
  slp_str s = {NULL, 0};
  double x;
  uint64_t bits = 0;
  int r = take_avro_bytes(v, sizeof x, &s, why);
  if (r) return r;
  for (size_t i = sizeof bits; i-- > 0;) bits = bits << 8 | (uint8_t)s.p[i];
  memcpy(&x, &bits, sizeof x);
  slp_json_put_double(b, x);
  return 0;
}

static int put_whole(slp_avro_value *v, slp_buf *b, int is_int, char why[SLP_AVRO_WHY]) {
  int64_t x = 0;
  int r = read_long(v, &x, why);
  if (!r && is_int && (x < INT32_MIN || x > INT32_MAX)) r = cut_short(why);
  return r ? r : slp_buf_add_i64(b, x);
}

static int put_symbol(slp_avro_value *v, slp_buf *b, const slp_avro_type *t, char why[SLP_AVRO_WHY]) {
  int64_t x = 0;
  int r = read_long(v, &x, why);
  if (!r && (x < 0 || x >= t->n)) r = cut_short(why);
  if (r) return r;
  const slp_avro_part *part = &v->schema->parts[t->first + (uint32_t)x];
  return slp_buf_add(b, v->schema->labels.p + part->label, part->label_n);
}

static int put_boolean(slp_avro_value *v, slp_buf *b, char why[SLP_AVRO_WHY]) {
  slp_str s = {NULL, 0};
  int r = take_avro_bytes(v, 1, &s, why);
  if (r) return r;
  return (uint8_t)*s.p > 1 ? cut_short(why) : slp_buf_add_z(b, *s.p ? "true" : "false");
}

/* ---- values with parts ---- */

static int open_frame(slp_avro_value *v, slp_buf *b, uint32_t type, char why[SLP_AVRO_WHY]) {
  if (v->depth == SLP_AVRO_DEPTH_MAX) {
    snprintf(why, SLP_AVRO_WHY, "it is nested deeper than %d", SLP_AVRO_DEPTH_MAX);
    return SLP_EBADDATA;
  }
  v->open[v->depth++] = (slp_avro_frame){.type = type, .end = SIZE_MAX};
  return slp_buf_add_char(b, v->schema->types[type].kind == SLP_AVRO_ARRAY ? '[' : '{');
}

/* Writes a value that has no parts, or opens a frame for a value that has parts. */
static int put_value(slp_avro_value *v, slp_buf *b, uint32_t type, char why[SLP_AVRO_WHY]) {
  const slp_avro_type *t = &v->schema->types[type];
  slp_str s;
  int64_t branch = 0;
  int r;
  switch ((slp_avro_kind)t->kind) {
    case SLP_AVRO_NULL: return slp_buf_add_z(b, "null");
    case SLP_AVRO_BOOLEAN: return put_boolean(v, b, why);
    case SLP_AVRO_INT:
    case SLP_AVRO_LONG: return put_whole(v, b, t->kind == SLP_AVRO_INT, why);
    case SLP_AVRO_FLOAT: return put_float(v, b, why);
    case SLP_AVRO_DOUBLE: return put_double(v, b, why);
    case SLP_AVRO_STRING: return put_string(v, b, why);
    case SLP_AVRO_BYTES: r = take_bytes(v, &s, why); return r ? r : put_binary(b, t, s, why);
    case SLP_AVRO_FIXED: r = take_avro_bytes(v, t->n, &s, why); return r ? r : put_binary(b, t, s, why);
    case SLP_AVRO_ENUM: return put_symbol(v, b, t, why);
    case SLP_AVRO_RECORD:
    case SLP_AVRO_ARRAY:
    case SLP_AVRO_MAP: return open_frame(v, b, type, why);
    case SLP_AVRO_UNION: break;
  }
  r = read_long(v, &branch, why);
  if (!r && (branch < 0 || branch >= t->n)) r = cut_short(why);
  /* a branch of a union is never a union, so put_value calls itself only once here */
  return r ? r : put_value(v, b, v->schema->parts[t->first + (uint32_t)branch].type, why);
}

/* Reads the head of the next block of an array or map. A block of 0 items ends the array or map. The head may
 * also give the size of the block in bytes; then the block must end exactly there. */
static int begin_block(slp_avro_value *v, slp_avro_frame *f, char why[SLP_AVRO_WHY]) {
  int64_t n = 0, size = 0;
  if (f->end != SIZE_MAX && f->end != v->at) return cut_short(why);
  f->end = SIZE_MAX;
  int r = read_long(v, &n, why);
  if (r || n >= 0) {
    f->left = (uint64_t)n;
    return r;
  }
  f->left = 0 - (uint64_t)n;
  r = read_long(v, &size, why);
  if (!r && (size < 0 || (uint64_t)size > v->in.n - v->at)) r = cut_short(why);
  f->end = v->at + (size_t)size;
  return r;
}

/* Writes the next item of an array or map. When no item is left, closes the array or map. */
static int put_item(slp_avro_value *v, slp_buf *b, slp_avro_frame *f, char why[SLP_AVRO_WHY]) {
  const slp_avro_type *t = &v->schema->types[f->type];
  int is_map = t->kind == SLP_AVRO_MAP, r = 0;
  if (!f->left) r = begin_block(v, f, why);
  if (r) return r;
  if (!f->left) {
    v->depth--;
    return slp_buf_add_char(b, is_map ? '}' : ']');
  }
  f->left--;
  if (f->at) slp_buf_add_char(b, ',');
  f->at = 1;
  if (is_map) r = put_string(v, b, why);
  if (is_map && !r) r = slp_buf_add_char(b, ':');
  return r ? r : put_value(v, b, v->schema->parts[t->first].type, why);
}

static int put_field(slp_avro_value *v, slp_buf *b, slp_avro_frame *f, char why[SLP_AVRO_WHY]) {
  const slp_avro_type *t = &v->schema->types[f->type];
  if (f->at == t->n) {
    v->depth--;
    return slp_buf_add_char(b, '}');
  }
  const slp_avro_part *part = &v->schema->parts[t->first + f->at];
  if (f->at++) slp_buf_add_char(b, ',');
  slp_buf_add(b, v->schema->labels.p + part->label, part->label_n);
  return put_value(v, b, part->type, why);
}

void slp_avro_value_begin(slp_avro_value *v, const slp_avro_schema *schema, slp_str in, size_t at) {
  v->schema = schema;
  v->in = in;
  v->at = at;
  v->begun = 0;
  v->depth = 0;
}

/* Writes one more item. Returns 1 while the value has more items, 0 at its end, or an error. */
static int write_next_avro_item(slp_avro_value *v, slp_buf *b, char why[SLP_AVRO_WHY]) {
  int r;
  if (!v->begun) {
    v->begun = 1;
    r = put_value(v, b, v->schema->root, why);
  } else {
    slp_avro_frame *f = &v->open[v->depth - 1];
    r = v->schema->types[f->type].kind == SLP_AVRO_RECORD ? put_field(v, b, f, why) : put_item(v, b, f, why);
  }
  if (r) return r;
  return slp_buf_failed(b) ? slp_buf_failed(b) : v->depth > 0;
}

int slp_avro_value_step(slp_avro_value *v, slp_buf *ret, char why[SLP_AVRO_WHY]) {
  size_t from = ret->n;
  int r = 1;
  for (int i = 0; r == 1 && i < SLICE_STEPS && ret->n - from < SLICE_BYTES; i++)
    r = write_next_avro_item(v, ret, why);
  return r;
}
