/* properties.c - reads Java's .properties, one property at a time. */
#include "cli/properties.h"

#include "base/buf.h"

static int is_blank(char c) { return c == ' ' || c == '\t' || c == '\f'; }
static int is_end(char c) { return c == '\n' || c == '\r'; }

slp_properties slp_properties_begin(slp_str text) { return (slp_properties){.text = text, .next_line = 1}; }

static int has_more_text(const slp_properties *p) { return p->at < p->text.n; }
static char get_current_char(const slp_properties *p) { return p->text.p[p->at]; }

static void pass_end(slp_properties *p) {
  if (!has_more_text(p)) return;
  char c = p->text.p[p->at++];
  if (c == '\r' && has_more_text(p) && get_current_char(p) == '\n') p->at++;
  p->next_line++;
}

static void pass_blanks(slp_properties *p) {
  while (has_more_text(p) && is_blank(get_current_char(p))) p->at++;
}

/* Returns 1 if the next two characters are a backslash and the end of a line. */
static int is_line_joined(const slp_properties *p) {
  return has_more_text(p) && get_current_char(p) == '\\' && p->at + 1 < p->text.n &&
         is_end(p->text.p[p->at + 1]);
}

static void pass_joined_blanks(slp_properties *p) {
  pass_blanks(p);
  while (is_line_joined(p)) {
    p->at++;
    pass_end(p);
    pass_blanks(p);
  }
}

/* Skips empty lines and comments, up to the next property. A comment is not continued by a backslash at its
 * end. A line that has only a backslash counts as empty. */
static void pass_empty(slp_properties *p) {
  for (;;) {
    pass_blanks(p);
    if (!has_more_text(p)) return;
    if (get_current_char(p) == '#' || get_current_char(p) == '!') {
      while (has_more_text(p) && !is_end(get_current_char(p))) p->at++;
    } else if (is_line_joined(p)) {
      p->at++;
    } else if (!is_end(get_current_char(p))) {
      return;
    }
    pass_end(p);
  }
}

static int hex_value_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Reads four hex digits, one UTF-16 unit. Returns -1 if they are not hex digits. */
static int32_t read_utf16_unit(slp_properties *p) {
  int32_t u = 0;
  for (int i = 0; i < 4; i++) {
    int digit = has_more_text(p) ? hex_value_of(get_current_char(p)) : -1;
    if (digit < 0) return -1;
    u = u * 16 + digit;
    p->at++;
  }
  return u;
}

static int is_half(int32_t u, int32_t first) { return u >= first && u < first + 0x400; }

/* Reads a \u escape, and appends its character. Half of a surrogate pair without its other half becomes
 * U+FFFD. */
static int add_escaped(slp_properties *p, slp_buf *into) {
  int32_t u = read_utf16_unit(p);
  if (u < 0) return SLP_EBADDATA;
  if (is_half(u, 0xd800) && p->at + 1 < p->text.n && get_current_char(p) == '\\' &&
      p->text.p[p->at + 1] == 'u') {
    size_t back = p->at;
    p->at += 2;
    int32_t low = read_utf16_unit(p);
    if (low < 0) return SLP_EBADDATA;
    if (is_half(low, 0xdc00))
      u = 0x10000 + (u - 0xd800) * 0x400 + (low - 0xdc00);
    else
      p->at = back;
  }
  if (is_half(u, 0xd800) || is_half(u, 0xdc00)) u = 0xfffd;
  if (!u) u = 0xfffd; /* U+0000 becomes U+FFFD, because a NUL ends each text in `into` */
  char utf8[4];
  size_t n = 0;
  if (u < 0x80) {
    utf8[n++] = (char)u;
  } else if (u < 0x800) {
    utf8[n++] = (char)(0xc0 | u >> 6);
    utf8[n++] = (char)(0x80 | (u & 63));
  } else if (u < 0x10000) {
    utf8[n++] = (char)(0xe0 | u >> 12);
    utf8[n++] = (char)(0x80 | (u >> 6 & 63));
    utf8[n++] = (char)(0x80 | (u & 63));
  } else {
    utf8[n++] = (char)(0xf0 | u >> 18);
    utf8[n++] = (char)(0x80 | (u >> 12 & 63));
    utf8[n++] = (char)(0x80 | (u >> 6 & 63));
    utf8[n++] = (char)(0x80 | (u & 63));
  }
  return slp_buf_add(into, utf8, n);
}

/* Reads what follows a backslash. A backslash at the end of a line joins the next line, without the blanks at
 * that line's beginning. */
static int take_escape(slp_properties *p, slp_buf *into) {
  if (!has_more_text(p)) return 0;
  char c = get_current_char(p);
  if (is_end(c)) {
    pass_end(p);
    pass_blanks(p);
    return 0;
  }
  p->at++;
  switch (c) {
    case 'u': return add_escaped(p, into);
    case 't': return slp_buf_add_char(into, '\t');
    case 'n': return slp_buf_add_char(into, '\n');
    case 'r': return slp_buf_add_char(into, '\r');
    case 'f': return slp_buf_add_char(into, '\f');
    default: return slp_buf_add_char(into, c ? c : ' ');
  }
}

/* Reads a key (key = 1), which ends at a blank, '=' or ':'; or a value (key = 0), which ends with the
 * line. */
static int take_text(slp_properties *p, slp_buf *into, int key) {
  int r = 0;
  while (has_more_text(p) && !is_end(get_current_char(p)) && !r) {
    char c = get_current_char(p);
    if (key && (is_blank(c) || c == '=' || c == ':')) break;
    p->at++;
    r = c == '\\' ? take_escape(p, into) : slp_buf_add_char(into, c ? c : ' ');
  }
  return r ? r : slp_buf_add_char(into, 0);
}

int slp_properties_next(slp_properties *p, slp_buf *into) {
  pass_empty(p);
  if (!has_more_text(p)) return 0;
  p->line = p->next_line;
  int r = take_text(p, into, 1);
  if (r) return r;
  pass_joined_blanks(p);
  if (has_more_text(p) && (get_current_char(p) == '=' || get_current_char(p) == ':')) {
    p->at++;
    pass_joined_blanks(p);
  }
  r = take_text(p, into, 0);
  pass_end(p);
  return r ? r : 1;
}
