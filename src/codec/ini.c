/* ini.c - reads ~/.aws by botocore's rules (Python's configparser, then one level of nesting):
 *
 * - A line whose first visible character is # or ; is a comment; empty lines mean nothing.
 * - A line that is indented deeper than the key above it belongs to that key. If the key's own value is
 *   empty, the line is a nested key. Otherwise the line continues the value.
 * - Any other line is [section] (to the last ] of the line) or key = value or key: value. Sources: botocore
 * 1.43 configloader.py, Python 3.11 configparser.py. One difference is on purpose: a section or key given
 * twice is handed out twice, whereas botocore refuses the file. */
#include "codec/ini.h"

typedef struct reader {
  slp_str rest; /* the part of the text that is still to be read */
  uint32_t line;
  slp_ini_fn fn;
  void *arg;
  slp_str section, key, value; /* what was read last; key.p NULL: no key of the section was read yet */
  uint32_t key_line;
  size_t key_indent;
  uint8_t handed; /* 1: fn was called with the key */
} reader;

static int is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

static slp_str trim_ini_spaces(slp_str s) {
  while (s.n && is_space(s.p[0])) s = (slp_str){s.p + 1, s.n - 1};
  while (s.n && is_space(s.p[s.n - 1])) s.n--;
  return s;
}

static slp_str take_line(reader *r) {
  const char *end = memchr(r->rest.p, '\n', r->rest.n);
  slp_str line = {r->rest.p, end ? (size_t)(end - r->rest.p) : r->rest.n};
  size_t used = line.n + (end ? 1 : 0);
  r->rest = (slp_str){r->rest.p + used, r->rest.n - used};
  r->line++;
  return line;
}

/* Calls fn with the newest key, whose value is complete now. */
static int hand_out(reader *r) {
  if (!r->key.p || r->handed) return 0;
  r->handed = 1;
  return r->fn(r->arg, r->section, (slp_str){NULL, 0}, r->key, r->value, r->key_line);
}

/* Splits a line at its first delimiter. Returns 1, or 0 if there is no delimiter, or nothing in front of
 * it. */
static int split_at_delimiter(slp_str text, const char *delimiters, slp_str *ret_key, slp_str *ret_value) {
  size_t i = 0;
  while (i < text.n && text.p[i] != delimiters[0] && text.p[i] != delimiters[1]) i++;
  if (i == text.n) return 0;
  *ret_key = trim_ini_spaces((slp_str){text.p, i});
  *ret_value = trim_ini_spaces((slp_str){text.p + i + 1, text.n - i - 1});
  return ret_key->n > 0;
}

static int take_continuation_line(reader *r, slp_str text) {
  slp_str key, value;
  if (r->value.n) {
    r->value.n = (size_t)(text.p + text.n - r->value.p);
    return 0;
  }
  if (!split_at_delimiter(text, "==", &key, &value)) return SLP_EBADDATA;
  int stop = hand_out(r);
  return stop ? stop : r->fn(r->arg, r->section, r->key, key, value, r->line);
}

/* Reads [name]. Ignores what follows the last ]. Returns 1, or 0 if the line is no section. */
static int section_name(slp_str text, slp_str *ret) {
  size_t n = text.n;
  while (n && text.p[n - 1] != ']') n--;
  if (n < 3 || text.p[0] != '[') return 0;
  *ret = trim_ini_spaces((slp_str){text.p + 1, n - 2});
  return 1;
}

static int one_line(reader *r, slp_str line) {
  slp_str text = trim_ini_spaces(line), name;
  if (!text.n || text.p[0] == '#' || text.p[0] == ';') return 0;
  size_t indent = (size_t)(text.p - line.p);
  if (r->key.p && indent > r->key_indent) return take_continuation_line(r, text);
  int stop = hand_out(r);
  if (stop) return stop;
  r->key = (slp_str){NULL, 0};
  if (section_name(text, &name)) {
    r->section = name;
    return 0;
  }
  if (!r->section.p || !split_at_delimiter(text, "=:", &r->key, &r->value)) return SLP_EBADDATA;
  r->key_indent = indent;
  r->key_line = r->line;
  r->handed = 0;
  return 0;
}

int slp_ini_read(slp_str text, slp_ini_fn fn, void *arg, uint32_t *ret_line) {
  reader r = {.rest = text, .fn = fn, .arg = arg};
  /* Skips a byte order mark, which Windows editors leave. */
  if (text.n >= 3 && !memcmp(text.p, "\xEF\xBB\xBF", 3)) r.rest = (slp_str){text.p + 3, text.n - 3};
  while (r.rest.n) {
    int stop = one_line(&r, take_line(&r));
    if (!stop) continue;
    *ret_line = r.line;
    return stop;
  }
  return hand_out(&r);
}
