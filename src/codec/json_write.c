/* json_write.c - writes JSON into a slp_buf. */
#include "codec/json_write.h"

#include "base/buf.h"
#include "base/clean.h"
#include "codec/base64.h"
#include "codec/json_plain.h"
#include "codec/utf8.h"

/* ---- strings ---- */

static int put_u_escape(slp_buf *b, uint32_t unit) {
  static const char digits[] = "0123456789abcdef";
  char out[6] = {
      '\\', 'u', digits[unit >> 12 & 15], digits[unit >> 8 & 15], digits[unit >> 4 & 15], digits[unit & 15]};
  return slp_buf_add(b, out, 6);
}

static int put_escaped(slp_buf *b, uint8_t c) {
  switch (c) {
    case '"': return slp_buf_add(b, "\\\"", 2);
    case '\\': return slp_buf_add(b, "\\\\", 2);
    case '\b': return slp_buf_add(b, "\\b", 2);
    case '\f': return slp_buf_add(b, "\\f", 2);
    case '\n': return slp_buf_add(b, "\\n", 2);
    case '\r': return slp_buf_add(b, "\\r", 2);
    case '\t': return slp_buf_add(b, "\\t", 2);
    default: return put_u_escape(b, c);
  }
}

/* Returns the code point of a sequence of two or three bytes; 0 for a longer one. */
static uint32_t code_point(const char *p, size_t len) {
  const uint8_t *u = (const uint8_t *)p;
  if (len == 2) return (u[0] & 0x1Fu) << 6 | (u[1] & 0x3Fu);
  return len == 3 ? (u[0] & 0x0Fu) << 12 | (u[1] & 0x3Fu) << 6 | (u[2] & 0x3Fu) : 0;
}

/* Writes the character at *at, which is not ASCII or may need an escape. Moves *at behind the character. */
static void put_special(slp_buf *b, slp_str s, size_t *at, int one_line) {
  const char *from = s.p + *at;
  if ((uint8_t)*from < 0x80) {
    (*at)++;
    put_escaped(b, (uint8_t)*from);
    return;
  }
  size_t len = slp_utf8_length(from, s.n - *at);
  if (!len) slp_buf_fail(b, SLP_EBADDATA);
  int unsafe = one_line && slp_may_be_unsafe(*from) && slp_unsafe_length(from, len) != 0;
  *at = len ? *at + len : s.n;
  if (unsafe)
    put_u_escape(b, code_point(from, len));
  else
    slp_buf_add(b, from, len);
}

/* Returns the end of the run of bytes from i on that are written unchanged. */
static size_t run_end(slp_str s, size_t i, int one_line) {
  size_t end = slp_json_plain_end(s.p, i, s.n);
  const char *del = one_line && end > i ? memchr(s.p + i, 0x7F, end - i) : NULL;
  return del ? (size_t)(del - s.p) : end;
}

static int put_text(slp_buf *b, slp_str s, int one_line) {
  size_t was = b->n, at = run_end(s, 0, one_line);
  if (slp_buf_reserve(b, s.n + 2)) return slp_buf_failed(b);
  b->p[b->n] = '"';
  if (at) memcpy(b->p + b->n + 1, s.p, at);
  b->n += at + 1;
  while (at < s.n) {
    put_special(b, s, &at, one_line);
    size_t end = run_end(s, at, one_line);
    slp_buf_add(b, s.p + at, end - at);
    at = end;
  }
  int r = slp_buf_add_char(b, '"');
  if (r) b->n = was;
  return r;
}

int slp_json_put_string(slp_buf *b, slp_str s) { return put_text(b, s, 0); }
int slp_json_put_line_string(slp_buf *b, slp_str s) { return put_text(b, s, 1); }

/* ---- values ---- */

slp_buf *slp_jw_value(slp_jw *w, const char *name) {
  slp_buf *b = w->b;
  if (!name && !w->comma) {
    w->comma = 1;
    return b;
  }
  slp_str key = slp_str_of(name);
  size_t space = w->spaced != 0;
  size_t need = (w->comma ? 1 + space : 0) + (name ? key.n + 3 + space : 0);
  if (slp_buf_reserve(b, need)) return b;
  char *at = b->p + b->n;
  if (w->comma) *at++ = ',';
  if (w->comma && space) *at++ = ' ';
  if (name) {
    *at++ = '"';
    if (key.n) memcpy(at, key.p, key.n);
    at += key.n;
    *at++ = '"';
    *at++ = ':';
    if (space) *at = ' ';
  }
  b->n += need;
  w->comma = 1;
  return b;
}

slp_jw slp_jw_begin(slp_buf *b) {
  slp_jw w = {.b = b};
  slp_jw_object(&w, NULL);
  return w;
}

static void open_with(slp_jw *w, const char *name, char c) {
  slp_buf_add_char(slp_jw_value(w, name), c);
  w->comma = 0;
}

static int close_with(slp_jw *w, char c) {
  w->comma = 1;
  return slp_buf_add_char(w->b, c);
}

void slp_jw_object(slp_jw *w, const char *name) { open_with(w, name, '{'); }
int slp_jw_object_end(slp_jw *w) { return close_with(w, '}'); }
void slp_jw_array(slp_jw *w, const char *name) { open_with(w, name, '['); }
int slp_jw_array_end(slp_jw *w) { return close_with(w, ']'); }

void slp_jw_key(slp_jw *w, slp_str key) {
  slp_jw_str(w, NULL, key);
  slp_buf_add(w->b, ": ", w->spaced ? 2 : 1);
  w->comma = 0;
}

void slp_jw_str(slp_jw *w, const char *name, slp_str s) { put_text(slp_jw_value(w, name), s, w->one_line); }
void slp_jw_z(slp_jw *w, const char *name, const char *z) { slp_jw_str(w, name, slp_str_of(z)); }

void slp_jw_z_or_null(slp_jw *w, const char *name, const char *z) {
  if (z && *z)
    slp_jw_z(w, name, z);
  else
    slp_jw_null(w, name);
}

void slp_jw_base64(slp_jw *w, const char *name, slp_str bytes) {
  slp_buf_add_char(slp_jw_value(w, name), '"');
  slp_base64_encode(w->b, bytes);
  slp_buf_add_char(w->b, '"');
}

void slp_jw_u64(slp_jw *w, const char *name, uint64_t v) { slp_buf_add_u64(slp_jw_value(w, name), v); }
void slp_jw_i64(slp_jw *w, const char *name, int64_t v) { slp_buf_add_i64(slp_jw_value(w, name), v); }

void slp_jw_i64_or_null(slp_jw *w, const char *name, int64_t v) {
  if (v < 0)
    slp_jw_null(w, name);
  else
    slp_jw_i64(w, name, v);
}

void slp_jw_scaled(slp_jw *w, const char *name, uint64_t v, unsigned decimals) {
  slp_buf_add_scaled(slp_jw_value(w, name), v, decimals);
}

void slp_jw_bool(slp_jw *w, const char *name, int on) {
  slp_jw_raw(w, name, on ? SLP_STR("true") : SLP_STR("false"));
}
void slp_jw_null(slp_jw *w, const char *name) { slp_jw_raw(w, name, SLP_STR("null")); }
void slp_jw_raw(slp_jw *w, const char *name, slp_str json) { slp_buf_add_str(slp_jw_value(w, name), json); }
