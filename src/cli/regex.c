/* regex.c - extended regular expressions to programs. A piece of a program is left at its end, and its jumps
 * are counted from where they stand, so a piece may be moved and copied as it is. */
#include "cli/regex.h"

#include <stdio.h>

#define NESTED_MAX 200
#define REPEATED_MAX 32767 /* RE_DUP_MAX of glibc */

typedef struct reader {
  slp_regex *r;
  const char *at;
  uint32_t nested;
  char *why;
} reader;

void slp_regex_init(slp_regex *r, slp_mem *mem) { *r = (slp_regex){.mem = mem}; }

void slp_regex_free(slp_regex *r) {
  slp_free(r->mem, r->steps);
  slp_free(r->mem, r->sets);
  slp_regex_init(r, r->mem);
}

static int wrong(reader *p, const char *why) {
  snprintf(p->why, 100, "%s", why);
  return SLP_EINVAL;
}

/* ---- steps --------------------------------------------------------------------------------------------- */

static int room(reader *p, size_t more) {
  slp_regex *r = p->r;
  if (r->n + more > SLP_REGEX_STEPS_MAX) return wrong(p, "it is too large");
  if (r->n + more <= r->cap) return 0;
  size_t cap = r->cap ? r->cap : 64;
  while (cap < r->n + more) cap *= 2;
  slp_regex_step *steps = slp_realloc(r->mem, r->steps, cap * sizeof *steps);
  if (!steps) return SLP_ENOMEM;
  r->steps = steps;
  r->cap = cap;
  return 0;
}

static int add(reader *p, slp_regex_op op, int to, int or_to) {
  int e = room(p, 1);
  if (e) return e;
  p->r->steps[p->r->n++] = (slp_regex_step){(uint8_t)op, (int16_t)to, (int16_t)or_to};
  return 0;
}

static int insert(reader *p, size_t at, slp_regex_op op, int to, int or_to) {
  int e = add(p, op, to, or_to);
  if (e) return e;
  slp_regex_step *s = p->r->steps, new = s[p->r->n - 1];
  memmove(s + at + 1, s + at, (p->r->n - 1 - at) * sizeof *s);
  s[at] = new;
  return 0;
}

static int add_set(reader *p, const slp_regex_set *set) {
  slp_regex *r = p->r;
  size_t i = 0;
  while (i < r->sets_n && memcmp(&r->sets[i], set, sizeof *set) != 0) i++;
  if (i == SLP_REGEX_STEPS_MAX) return wrong(p, "it is too large");
  if (i == r->sets_n && i == r->sets_cap) {
    size_t cap = i ? i * 2 : 16;
    slp_regex_set *sets = slp_realloc(r->mem, r->sets, cap * sizeof *sets);
    if (!sets) return SLP_ENOMEM;
    r->sets = sets;
    r->sets_cap = cap;
  }
  if (i == r->sets_n) r->sets[r->sets_n++] = *set;
  return add(p, SLP_REGEX_BYTE, (int)i, 0);
}

/* ---- sets of bytes ------------------------------------------------------------------------------------- */

static void put(slp_regex_set *s, uint8_t c) { s->bits[c / 64] |= UINT64_C(1) << (c % 64); }

static void turn_over(slp_regex_set *s) {
  for (size_t i = 0; i < 4; i++) s->bits[i] = ~s->bits[i];
}

static int add_one(reader *p, uint8_t c) {
  slp_regex_set s = {{0}};
  put(&s, c);
  return add_set(p, &s);
}

/* Of the C locale. */
typedef struct class {
  const char *name;
  uint8_t n, ranges[8]; /* pairs: first and last */
} class;
static const class classes[] = {
    {"alnum", 6, "09AZaz"},   {"alpha", 4, "AZaz"},   {"blank", 4, "\t\t  "}, {"cntrl", 4, "\0\x1f\x7f\x7f"},
    {"digit", 2, "09"},       {"graph", 2, "!~"},     {"lower", 2, "az"},     {"print", 2, " ~"},
    {"punct", 8, "!/:@[`{~"}, {"space", 4, "\t\r  "}, {"upper", 2, "AZ"},     {"xdigit", 6, "09AFaf"}};
static const class word = {"", 8, "09AZ__az"}, space = {"", 4, "\t\r  "};

static void put_ranges(slp_regex_set *s, const class *of) {
  for (size_t i = 0; i < of->n; i += 2)
    for (uint32_t c = of->ranges[i]; c <= of->ranges[i + 1]; c++) put(s, (uint8_t)c);
}

void slp_regex_put_words(slp_regex_set *s) { put_ranges(s, &word); }

static int add_class(reader *p, const class *of, int reversed) {
  slp_regex_set s = {{0}};
  put_ranges(&s, of);
  if (reversed) turn_over(&s);
  return add_set(p, &s);
}

static int put_class(reader *p, slp_regex_set *s, slp_str name) {
  for (size_t i = 0; i < SLP_COUNT(classes); i++) {
    if (!slp_str_eq(name, slp_str_of(classes[i].name))) continue;
    put_ranges(s, &classes[i]);
    return 0;
  }
  return wrong(p, "there is no such class of characters as between its [: and :]");
}

/* What stands between [. and .], or = or :, at the first of these two; p->at is behind them then. */
static int between(reader *p, slp_str *ret) {
  char kind = p->at[1];
  const char *from = p->at + 2, *to = from;
  while (*to && !(to[0] == kind && to[1] == ']')) to++;
  if (!*to) return wrong(p, "it has a [ without its ]");
  *ret = (slp_str){from, (size_t)(to - from)};
  p->at = to + 2;
  return 0;
}

typedef enum { ONE, CLASS, EQUIVALENTS } element;

/* One element of a [ ]: *ret_c, but of a class, which is put into the set. */
static int read_element(reader *p, int any_hyphen, slp_regex_set *s, element *ret, uint8_t *ret_c) {
  const char *c = p->at;
  *ret = ONE;
  if (*c == '[' && (c[1] == ':' || c[1] == '.' || c[1] == '=')) {
    slp_str name;
    char kind = c[1];
    int e = between(p, &name);
    if (e) return e;
    *ret = kind == ':' ? CLASS : kind == '=' ? EQUIVALENTS : ONE;
    if (kind == ':') return put_class(p, s, name);
    if (name.n != 1) return wrong(p, "it has a [. .] or [= =] around more than one character");
    *ret_c = (uint8_t)name.p[0];
    return 0;
  }
  if (!*c) return wrong(p, "it has a [ without its ]");
  if (*c == '-' && !any_hyphen && c[1] != ']') return wrong(p, "it has a - in a [ ] that is no range");
  *ret_c = (uint8_t)*c;
  p->at++;
  return 0;
}

static int begins_range(const char *c) { return c[0] == '-' && c[1] != ']' && c[1]; }

static int read_set(reader *p) {
  slp_regex_set s = {{0}};
  int reversed = *p->at == '^', e = 0, first = 1;
  p->at += reversed;
  while (first || *p->at != ']') {
    element kind, to_kind;
    uint8_t from = 0, to = 0;
    e = read_element(p, first, &s, &kind, &from);
    first = 0;
    if (e) return e;
    if (kind == CLASS) continue;
    to = from;
    if (kind == ONE && begins_range(p->at)) {
      p->at++;
      e = read_element(p, 1, &s, &to_kind, &to);
      if (e) return e;
      if (to_kind != ONE || to < from)
        return wrong(p, "it has a range in a [ ] whose end is before its beginning");
    }
    for (int c = from; c <= to; c++) put(&s, (uint8_t)c);
  }
  p->at++;
  if (reversed) turn_over(&s);
  return add_set(p, &s);
}

/* ---- repetitions --------------------------------------------------------------------------------------- */

static int copy(reader *p, size_t from, size_t n) {
  int e = room(p, n);
  if (e) return e;
  memcpy(p->r->steps + p->r->n, p->r->steps + from, n * sizeof *p->r->steps);
  p->r->n += n;
  return 0;
}

static int maybe(reader *p, size_t from) {
  return insert(p, from, SLP_REGEX_FORK, 1, (int)(p->r->n - from) + 1);
}
static int many(reader *p, size_t from) { return add(p, SLP_REGEX_FORK, -(int)(p->r->n - from), 1); }
static int any(reader *p, size_t from) {
  int n = (int)(p->r->n - from), e = insert(p, from, SLP_REGEX_FORK, 1, n + 2);
  return e ? e : add(p, SLP_REGEX_JUMP, -(n + 1), 0);
}

/* Of the piece at `from`; most < 0: without end. */
static int repeat(reader *p, size_t from, int least, int most) {
  size_t n = p->r->n - from;
  int e = 0;
  if (most == 0) p->r->n = from;
  if (most == 0 || n == 0) return 0;
  if (least == 0) {
    if (most < 0) return any(p, from);
    e = maybe(p, from);
    for (int i = 1; i < most && !e; i++) e = copy(p, from, n + 1);
    return e;
  }
  for (int i = 1; i < least && !e; i++) e = copy(p, from, n);
  size_t last = p->r->n - n;
  if (e || most == least) return e;
  if (most < 0) return many(p, last);
  e = copy(p, from, n);
  if (!e) e = maybe(p, last + n);
  for (int i = least + 1; i < most && !e; i++) e = copy(p, last + n, n + 1);
  return e;
}

static int read_number(reader *p) { /* -1: there is none */
  int v = -1;
  for (; *p->at >= '0' && *p->at <= '9'; p->at++)
    if (v <= REPEATED_MAX) v = (v < 0 ? 0 : v * 10) + (*p->at - '0');
  return v;
}

static int read_bounds(reader *p, size_t from) {
  int least = read_number(p), most = least;
  if (*p->at == ',') {
    p->at++;
    most = read_number(p);
    if (least < 0) least = 0;
  }
  if (*p->at != '}' || least < 0) return wrong(p, "it has a { } that is no {N}, {N,} or {N,M}");
  p->at++;
  if (least > REPEATED_MAX || most > REPEATED_MAX) return wrong(p, "it is too large");
  if (most >= 0 && most < least) return wrong(p, "it has a {N,M} whose M is less than its N");
  return repeat(p, from, least, most);
}

static int is_repetition(char c) { return c == '*' || c == '+' || c == '?' || c == '{'; }

static int read_repetitions(reader *p, size_t from) {
  int e = 0;
  while (!e && is_repetition(*p->at)) {
    switch (*p->at++) {
      case '*': e = repeat(p, from, 0, -1); break;
      case '+': e = repeat(p, from, 1, -1); break;
      case '?': e = repeat(p, from, 0, 1); break;
      default: e = read_bounds(p, from);
    }
  }
  return e;
}

/* ---- expressions --------------------------------------------------------------------------------------- */

/* Behind a backslash. */
static int read_escaped(reader *p, int *ret_check) {
  static const char checks[] = "`'bB<>";
  char c = *p->at;
  if (!c) return wrong(p, "it ends with a backslash");
  p->at++;
  const char *is = strchr(checks, c);
  if (is) {
    *ret_check = SLP_REGEX_BEGIN + (int)(is - checks);
    return 0;
  }
  switch (c) {
    case 'w': return add_class(p, &word, 0);
    case 'W': return add_class(p, &word, 1);
    case 's': return add_class(p, &space, 0);
    case 'S': return add_class(p, &space, 1);
    default: break;
  }
  if (c >= '1' && c <= '9') return wrong(p, "it has a back-reference, and its matching takes without bound");
  return add_one(p, (uint8_t)c);
}

static int add_check(reader *p, int check) {
  p->r->words |= check >= SLP_REGEX_WORD_EDGE;
  return add(p, SLP_REGEX_CHECK, check, 0);
}

static int read_all(reader *p);

static int read_group(reader *p) {
  if (++p->nested > NESTED_MAX) return wrong(p, "its ( ) are nested too deeply");
  int e = read_all(p);
  if (e) return e;
  if (*p->at != ')') return wrong(p, "it has a ( without its )");
  p->at++;
  p->nested--;
  return 0;
}

/* One character, set, group or check, with what repeats it. A check can't be repeated. */
static int read_one(reader *p) {
  size_t from = p->r->n;
  int check = -1, e = 0;
  slp_regex_set all = {{UINT64_MAX - 1, UINT64_MAX, UINT64_MAX, UINT64_MAX}}; /* but NUL, as libc has it */
  if (is_repetition(*p->at)) return wrong(p, "one of its * + ? { has nothing to repeat");
  switch (*p->at++) {
    case '(': e = read_group(p); break;
    case '[': e = read_set(p); break;
    case '.': e = add_set(p, &all); break;
    case '^': check = SLP_REGEX_BEGIN; break;
    case '$': check = SLP_REGEX_END; break;
    case '\\': e = read_escaped(p, &check); break;
    default: e = add_one(p, (uint8_t)p->at[-1]);
  }
  if (e) return e;
  return check >= 0 ? add_check(p, check) : read_repetitions(p, from);
}

/* What begins at `from` becomes the first of two alternatives; *ret_jump: where the other is jumped over. */
static int begin_other(reader *p, size_t from, size_t *ret_jump) {
  int e = insert(p, from, SLP_REGEX_FORK, 1, (int)(p->r->n - from) + 2);
  *ret_jump = p->r->n;
  return e ? e : add(p, SLP_REGEX_JUMP, 1, 0);
}
static void end_other(reader *p, size_t jump) { p->r->steps[jump].to = (int16_t)(p->r->n - jump); }

static int read_all(reader *p) {
  size_t from = p->r->n, jump = 0;
  int e = 0, others = 0;
  for (;;) {
    while (!e && *p->at && *p->at != '|' && !(*p->at == ')' && p->nested)) e = read_one(p);
    if (e) return e;
    if (others++) end_other(p, jump);
    if (*p->at != '|') return 0;
    p->at++;
    e = begin_other(p, from, &jump);
  }
}

int slp_regex_add(slp_regex *r, const char *text, char why[100]) {
  reader p = {.r = r, .at = text, .why = why};
  size_t jump = 0, first = r->n == 0;
  int e = first ? 0 : begin_other(&p, 0, &jump);
  if (e) return e;
  e = read_all(&p);
  if (!e && !first) end_other(&p, jump);
  /* Without a step there would be none before the next. */
  return !e && first && r->n == 0 ? add(&p, SLP_REGEX_JUMP, 1, 0) : e;
}
