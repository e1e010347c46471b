/* xml.c - reads the whole document in one pass, with a stack of the open elements' names. */
#include "codec/xml.h"

#include "base/buf.h"

typedef struct walker {
  slp_str rest;
  slp_buf *into;
  slp_str open[SLP_XML_DEPTH_MAX]; /* names of the open elements, with prefixes */
  size_t depth, matched;           /* matched: how many open elements match the path */
  /* the part of the path that is not matched yet; "" inside the wanted element */
  const char *path;
  const char *path_at[SLP_XML_DEPTH_MAX];
  uint8_t found, taking, rooted;
} walker;

static int is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
static int starts_with_str(slp_str s, slp_str with) {
  return s.n >= with.n && memcmp(s.p, with.p, with.n) == 0;
}
static slp_str skip_xml_chars(slp_str s, size_t n) { return (slp_str){s.p + n, s.n - n}; }

/* Moves w->rest behind the next `end`. *ret is the text before `end`. Returns 0 or SLP_EBADDATA. */
static int skip_xml_past(walker *w, slp_str end, slp_str *ret) {
  const char *at = memmem(w->rest.p, w->rest.n, end.p, end.n);
  if (!at) return SLP_EBADDATA;
  *ret = (slp_str){w->rest.p, (size_t)(at - w->rest.p)};
  w->rest = skip_xml_chars(w->rest, ret->n + end.n);
  return 0;
}

/* ---- text ---------------------------------------------------------------------------------------------- */
static int add_code_point(slp_buf *into, uint32_t c) {
  char utf8[4];
  size_t n = 0;
  if (c < 0x80) {
    utf8[n++] = (char)c;
  } else if (c < 0x800) {
    utf8[n++] = (char)(0xc0 | c >> 6);
  } else if (c < 0x10000) {
    utf8[n++] = (char)(0xe0 | c >> 12);
    utf8[n++] = (char)(0x80 | (c >> 6 & 63));
  } else {
    utf8[n++] = (char)(0xf0 | c >> 18);
    utf8[n++] = (char)(0x80 | (c >> 12 & 63));
    utf8[n++] = (char)(0x80 | (c >> 6 & 63));
  }
  if (c >= 0x80) utf8[n++] = (char)(0x80 | (c & 63));
  return slp_buf_add(into, utf8, n);
}

static int hex_digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

static int add_number(slp_buf *into, slp_str name) {
  uint32_t c = 0;
  int base = name.n && name.p[0] == 'x' ? 16 : 10;
  if (base == 16) name = skip_xml_chars(name, 1);
  if (!name.n) return SLP_EBADDATA;
  for (size_t i = 0; i < name.n; i++) {
    int d = hex_digit_value(name.p[i]);
    if (d >= base || c > 0x10ffff) return SLP_EBADDATA;
    c = c * (uint32_t)base + (uint32_t)d;
  }
  if (c == 0 || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) return SLP_EBADDATA;
  return add_code_point(into, c);
}

static int add_entity(slp_buf *into, slp_str name) {
  static const struct {
    const char *name;
    char c;
  } entities[] = {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
  if (name.n && name.p[0] == '#') return add_number(into, skip_xml_chars(name, 1));
  for (size_t i = 0; i < SLP_COUNT(entities); i++) {
    if (slp_str_is(name, entities[i].name)) return slp_buf_add_char(into, entities[i].c);
  }
  return SLP_EBADDATA;
}

static int add_text(slp_buf *into, slp_str text) {
  while (text.n) {
    const char *at = memchr(text.p, '&', text.n);
    size_t plain = at ? (size_t)(at - text.p) : text.n;
    int r = slp_buf_add(into, text.p, plain);
    if (r || !at) return r;
    text = skip_xml_chars(text, plain + 1);
    const char *end = memchr(text.p, ';', text.n);
    if (!end) return SLP_EBADDATA;
    size_t n = (size_t)(end - text.p);
    r = add_entity(into, (slp_str){text.p, n});
    if (r) return r;
    text = skip_xml_chars(text, n + 1);
  }
  return 0;
}

static int on_text(walker *w, slp_str text) {
  if (w->taking) return w->depth == w->matched ? add_text(w->into, text) : 0;
  for (size_t i = 0; i < text.n && !w->depth; i++) {
    if (!is_space(text.p[i])) return SLP_EBADDATA;
  }
  return 0;
}

/* ---- tags ---------------------------------------------------------------------------------------------- */
static slp_str without_prefix(slp_str name) {
  const char *colon = name.n ? memchr(name.p, ':', name.n) : NULL;
  return colon ? skip_xml_chars(name, (size_t)(colon - name.p) + 1) : name;
}

/* Returns 1 if `name` is the next name in the path; *ret is then the rest of the path. */
static int is_next(const char *path, slp_str name, const char **ret) {
  name = without_prefix(name);
  size_t n = strcspn(path, "/");
  if (!n || !slp_str_eq(name, (slp_str){path, n})) return 0;
  *ret = path + n + (path[n] == '/');
  return 1;
}

static int open_element(walker *w, slp_str name) {
  if (w->depth == SLP_XML_DEPTH_MAX) return SLP_ELIMIT;
  if (w->depth == 0 && w->rooted) return SLP_EBADDATA;
  w->rooted = 1;
  w->path_at[w->depth] = w->path;
  if (w->depth == w->matched && !w->found && is_next(w->path, name, &w->path)) w->matched++;
  w->open[w->depth++] = name;
  if (w->matched == w->depth && !*w->path && !w->found) w->found = w->taking = 1;
  return 0;
}

static int close_element(walker *w, slp_str name) {
  if (w->depth == 0 || !slp_str_eq(w->open[w->depth - 1], name)) return SLP_EBADDATA;
  if (w->matched == w->depth) {
    w->matched--;
    w->path = w->path_at[w->depth - 1];
    w->taking = 0;
  }
  w->depth--;
  return 0;
}

/* Finds the end of a tag: a > outside of quotes. Returns 0 or SLP_EBADDATA. */
static int tag_end(slp_str s, size_t *ret) {
  char quote = 0;
  for (size_t i = 0; i < s.n; i++) {
    char c = s.p[i];
    if (c == '<') return SLP_EBADDATA;
    if (quote)
      quote = c == quote ? 0 : quote;
    else if (c == '"' || c == '\'')
      quote = c;
    else if (c == '>') {
      *ret = i;
      return 0;
    }
  }
  return SLP_EBADDATA;
}

static int on_tag(walker *w) {
  size_t end = 0, n = 0;
  if (tag_end(w->rest, &end)) return SLP_EBADDATA;
  slp_str tag = {w->rest.p, end};
  w->rest = skip_xml_chars(w->rest, end + 1);
  int closes = starts_with_str(tag, SLP_STR("/")), empty = !closes && tag.n && tag.p[tag.n - 1] == '/';
  if (closes) tag = skip_xml_chars(tag, 1);
  if (empty) tag.n--;
  while (n < tag.n && !is_space(tag.p[n])) n++;
  slp_str name = {tag.p, n};
  if (!n || slp_str_has(name, '/') || slp_str_has(name, '&') || slp_str_has(name, '=')) return SLP_EBADDATA;
  if (closes) {
    for (size_t i = n; i < tag.n; i++) {
      if (!is_space(tag.p[i])) return SLP_EBADDATA;
    }
    return close_element(w, name);
  }
  int r = open_element(w, name);
  return r || !empty ? r : close_element(w, name);
}

static int on_markup(walker *w) {
  slp_str inside;
  if (starts_with_str(w->rest, SLP_STR("?"))) return skip_xml_past(w, SLP_STR("?>"), &inside);
  if (starts_with_str(w->rest, SLP_STR("!--"))) {
    w->rest = skip_xml_chars(w->rest, 3);
    return skip_xml_past(w, SLP_STR("-->"), &inside);
  }
  if (starts_with_str(w->rest, SLP_STR("![CDATA["))) {
    w->rest = skip_xml_chars(w->rest, 8);
    int r = skip_xml_past(w, SLP_STR("]]>"), &inside);
    if (r || !w->depth) return SLP_EBADDATA;
    return w->taking && w->depth == w->matched ? slp_buf_add_str(w->into, inside) : 0;
  }
  return starts_with_str(w->rest, SLP_STR("!")) ? SLP_EBADDATA : on_tag(w);
}

int slp_xml_text(slp_str document, const char *path, slp_buf *into) {
  walker w = {.rest = document, .into = into, .path = path};
  if (starts_with_str(document, SLP_STR("\xEF\xBB\xBF"))) w.rest = skip_xml_chars(document, 3);
  while (w.rest.n) {
    const char *at = memchr(w.rest.p, '<', w.rest.n);
    size_t n = at ? (size_t)(at - w.rest.p) : w.rest.n;
    int r = on_text(&w, (slp_str){w.rest.p, n});
    w.rest = skip_xml_chars(w.rest, at ? n + 1 : n);
    if (!r && at) r = on_markup(&w);
    if (r) return r;
  }
  if (w.depth || !w.rooted) return SLP_EBADDATA;
  return w.found ? 0 : SLP_ENOENT;
}
