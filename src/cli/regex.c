/* regex.c - compiles Perl's regular expressions to programs for cli/matcher.h. Each read_* function appends
 * the steps for what it has read to the end of the program; these steps are called a piece. Jumps are
 * relative, so a piece may be moved and copied without changes. */
#include "cli/regex.h"

#include "base/mem.h"
#include "codec/json.h"
#include "codec/utf8.h"

#include <stdio.h>

#define NESTED_MAX 200
#define REPEATED_MAX 65535 /* the greatest number in {N,M}, as in PCRE2 */

typedef struct reader {
  slp_regex *r;
  const char *text, *at;
  uint32_t nested;
  uint8_t utf8;           /* 1: the expression matches characters; 0: bytes */
  uint8_t folds, dot_all; /* 1: (?i) or (?s) applies at this place of the expression */
  uint8_t alternates;     /* 1: there is a | outside of all groups */
  uint8_t any_lost;       /* 1: an alternative has no literal text, or there are too many alternatives */
  slp_regex_traits *traits;
  /* the literal text that is being collected, see end_run */
  char run[sizeof((slp_regex_traits *)0)->literal];
  uint32_t run_n;
  uint8_t run_folds;
  char *why;
} reader;

void slp_regex_init(slp_regex *r, slp_mem *mem) { *r = (slp_regex){.mem = mem}; }

void slp_regex_free(slp_regex *r) {
  slp_free(r->mem, r->steps);
  slp_free(r->mem, r->sets);
  slp_regex_init(r, r->mem);
}

/* Writes `why` and the place of the error, p->at, as a byte number from 1. Returns the error code. */
static int refuse_expression(reader *p, const char *why) {
  snprintf(p->why, SLP_REGEX_WHY, "%s, at byte %zu", why, (size_t)(p->at - p->text) + 1);
  return SLP_EINVAL;
}

/* Refuses the construct `what`, which only PCRE2 can match. Returns the error code. */
static int refuse_without_pcre2(reader *p, const char *what) {
  snprintf(p->why, SLP_REGEX_WHY, "%s is known only to a stream-tail built with PCRE2, at byte %zu", what,
           (size_t)(p->at - p->text) + 1);
  return SLP_EINVAL;
}

/* ---- steps --------------------------------------------------------------------------------------------- */

/* Makes room for `more` steps. */
static int reserve_steps(reader *p, size_t more) {
  slp_regex *r = p->r;
  if (r->n + more > SLP_REGEX_STEPS_MAX) return refuse_expression(p, "it is too large");
  if (r->n + more <= r->cap) return 0;
  size_t cap = r->cap ? r->cap : 64;
  while (cap < r->n + more) cap *= 2;
  slp_regex_step *steps = slp_realloc(r->mem, r->steps, cap * sizeof *steps);
  if (!steps) return SLP_ENOMEM;
  r->steps = steps;
  r->cap = cap;
  return 0;
}

static int append_step(reader *p, slp_regex_op op, int to, int or_to) {
  int e = reserve_steps(p, 1);
  if (e) return e;
  p->r->steps[p->r->n++] = (slp_regex_step){(uint8_t)op, (int16_t)to, (int16_t)or_to};
  return 0;
}

static int insert_step(reader *p, size_t at, slp_regex_op op, int to, int or_to) {
  int e = append_step(p, op, to, or_to);
  if (e) return e;
  slp_regex_step *s = p->r->steps, new = s[p->r->n - 1];
  memmove(s + at + 1, s + at, (p->r->n - 1 - at) * sizeof *s);
  s[at] = new;
  return 0;
}

/* Appends a step that takes a byte of the set. Equal sets are stored once. */
static int add_set(reader *p, const slp_regex_set *set) {
  slp_regex *r = p->r;
  size_t i = 0;
  while (i < r->sets_n && memcmp(&r->sets[i], set, sizeof *set) != 0) i++;
  if (i == SLP_REGEX_STEPS_MAX) return refuse_expression(p, "it is too large");
  if (i == r->sets_n && i == r->sets_cap) {
    size_t cap = i ? i * 2 : 16;
    slp_regex_set *sets = slp_realloc(r->mem, r->sets, cap * sizeof *sets);
    if (!sets) return SLP_ENOMEM;
    r->sets = sets;
    r->sets_cap = cap;
  }
  if (i == r->sets_n) r->sets[r->sets_n++] = *set;
  return append_step(p, SLP_REGEX_BYTE, (int)i, 0);
}

/* ---- sets of characters -------------------------------------------------------------------------------- */

/* A set of characters. Of the characters beyond ASCII it has either all, or at most those two that are
 * another case of an ASCII letter. */
typedef struct chars {
  slp_regex_set bytes;
  /* 1: the set has all characters beyond ASCII. 0 in an expression about bytes, where `bytes` has every
   * member */
  uint8_t high;
  uint8_t kelvin; /* 1: the set has U+212A, another case of k */
  uint8_t long_s; /* 1: the set has U+017F, another case of s */
} chars;

static void add_byte_to_set(slp_regex_set *s, uint8_t c) { s->bits[c / 64] |= UINT64_C(1) << (c % 64); }

/* A named class of ASCII characters. `ranges` has n bytes: pairs of the first and last character of a
 * range. */
typedef struct class {
  const char *name;
  uint8_t n, ranges[8];
} class;
static const class classes[] = {
    {"alnum", 6, "09AZaz"},   {"alpha", 4, "AZaz"},   {"blank", 4, "\t\t  "}, {"cntrl", 4, "\0\x1f\x7f\x7f"},
    {"digit", 2, "09"},       {"graph", 2, "!~"},     {"lower", 2, "az"},     {"print", 2, " ~"},
    {"punct", 8, "!/:@[`{~"}, {"space", 4, "\t\r  "}, {"upper", 2, "AZ"},     {"xdigit", 6, "09AFaf"},
    {"ascii", 2, "\0\x7f"},   {"word", 8, "09AZ__az"}};
static const class word = {"", 8, "09AZ__az"}, space = {"", 4, "\t\r  "}, digit = {"", 2, "09"};
static const class letters = {"", 4, "AZaz"};

static void put_ranges(slp_regex_set *s, const class *of) {
  for (size_t i = 0; i < of->n; i += 2)
    for (uint32_t c = of->ranges[i]; c <= of->ranges[i + 1]; c++) add_byte_to_set(s, (uint8_t)c);
}

void slp_regex_put_words(slp_regex_set *s) { put_ranges(s, &word); }

/* Replaces a set by its complement. */
static void turn_over(const reader *p, chars *c) {
  for (size_t i = 0; i < (p->utf8 ? 2 : 4); i++) c->bytes.bits[i] = ~c->bytes.bits[i];
  if (p->utf8) c->high = !c->high;
}

static void put_class(const reader *p, chars *c, const class *of, int reversed) {
  chars of_class = {.high = 0};
  put_ranges(&of_class.bytes, of);
  if (reversed) turn_over(p, &of_class);
  for (size_t i = 0; i < 4; i++) c->bytes.bits[i] |= of_class.bytes.bits[i];
  c->high |= of_class.high;
}

static int is_letter(uint8_t c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; }

/* Adds a character of one byte to a set. If case is ignored, adds its other cases too. */
static void put_char(const reader *p, chars *to, uint8_t c) {
  add_byte_to_set(&to->bytes, c);
  if (!p->folds || !is_letter(c)) return;
  add_byte_to_set(&to->bytes, c ^ 0x20);
  to->kelvin |= p->utf8 && (c | 0x20) == 'k';
  to->long_s |= p->utf8 && (c | 0x20) == 's';
}

typedef struct sequence { /* the UTF-8 bytes of some characters: for each byte its range */
  uint8_t n, ranges[4][2];
} sequence;
static const sequence beyond_ascii[] = {
    {2, {{0xc2, 0xdf}, {0x80, 0xbf}}},
    {3, {{0xe0, 0xe0}, {0xa0, 0xbf}, {0x80, 0xbf}}},
    {3, {{0xe1, 0xec}, {0x80, 0xbf}, {0x80, 0xbf}}},
    {3, {{0xed, 0xed}, {0x80, 0x9f}, {0x80, 0xbf}}},
    {3, {{0xee, 0xef}, {0x80, 0xbf}, {0x80, 0xbf}}},
    {4, {{0xf0, 0xf0}, {0x90, 0xbf}, {0x80, 0xbf}, {0x80, 0xbf}}},
    {4, {{0xf1, 0xf3}, {0x80, 0xbf}, {0x80, 0xbf}, {0x80, 0xbf}}},
    {4, {{0xf4, 0xf4}, {0x80, 0x8f}, {0x80, 0xbf}, {0x80, 0xbf}}},
};
static const sequence kelvin = {3, {{0xe2, 0xe2}, {0x84, 0x84}, {0xaa, 0xaa}}};
static const sequence long_s = {2, {{0xc5, 0xc5}, {0xbf, 0xbf}}};

static int add_sequence(reader *p, const sequence *q) {
  int e = 0;
  for (size_t i = 0; i < q->n && !e; i++) {
    slp_regex_set s = {{0}};
    for (uint32_t c = q->ranges[i][0]; c <= q->ranges[i][1]; c++) add_byte_to_set(&s, (uint8_t)c);
    e = add_set(p, &s);
  }
  return e;
}

/* Appends steps that take one character of the set. The character is one byte or one of the sequences. */
static int add_chars(reader *p, const chars *c) {
  const sequence *others[SLP_COUNT(beyond_ascii)];
  size_t n = 0, left = 0;
  for (size_t i = 0; c->high && i < SLP_COUNT(beyond_ascii); i++) others[n++] = &beyond_ascii[i];
  if (!c->high && c->kelvin) others[n++] = &kelvin;
  if (!c->high && c->long_s) others[n++] = &long_s;
  for (size_t i = 0; i < n; i++) left += others[i]->n + (i + 1 < n ? 2u : 0u);
  p->traits->beyond_ascii |= n > 0;
  int e = n ? append_step(p, SLP_REGEX_FORK, 1, 3) : 0;
  if (!e) e = add_set(p, &c->bytes);
  if (!e && n) e = append_step(p, SLP_REGEX_JUMP, (int)left + 1, 0);
  for (size_t i = 0; i < n && !e; i++) {
    int last = i + 1 == n;
    if (!last) e = append_step(p, SLP_REGEX_FORK, 1, others[i]->n + 2);
    if (!e) e = add_sequence(p, others[i]);
    left -= others[i]->n + (last ? 0u : 2u);
    if (!e && !last) e = append_step(p, SLP_REGEX_JUMP, (int)left + 1, 0);
  }
  return e;
}

/* ---- what a match must contain ------------------------------------------------------------------------- */

/* Ends the literal text in p->run. Stores it as the literal of the traits if it is the longest so far. */
static void end_run(reader *p) {
  slp_regex_traits *t = p->traits;
  if (p->run_n > strlen(t->literal)) {
    memcpy(t->literal, p->run, p->run_n);
    t->literal[p->run_n] = 0;
    t->literal_folds = p->run_folds;
  }
  p->run_n = 0;
}

/* Ends an alternative outside of all groups. Adds its longest literal text to `any`. */
static void end_alternative(reader *p) {
  slp_regex_traits *t = p->traits;
  end_run(p);
  if (!t->literal[0] || t->any_n == SLP_REGEX_ANY_MAX) p->any_lost = 1;
  if (!p->any_lost) {
    slp_regex_text *is = &t->any[t->any_n++];
    memcpy(is->text, t->literal, sizeof is->text);
    is->folds = t->literal_folds;
  }
  if (p->alternates) t->literal[0] = 0;
}

/* Adds text that every match contains, directly after the text in p->run. Text inside a group is not
 * stored. */
static void go_on_with_run(reader *p, const char *text, size_t n) {
  if (p->nested || memchr(text, 0, n)) {
    end_run(p);
    return;
  }
  if (p->run_n + n >= sizeof p->run || p->run_folds != p->folds) end_run(p);
  p->run_folds = p->folds;
  memcpy(p->run + p->run_n, text, n);
  p->run_n += (uint32_t)n;
}

/* ---- repetitions --------------------------------------------------------------------------------------- */

/* Appends a copy of the n steps that begin at step `from`. */
static int append_steps_copy(reader *p, size_t from, size_t n) {
  int e = reserve_steps(p, n);
  if (e) return e;
  memcpy(p->r->steps + p->r->n, p->r->steps + from, n * sizeof *p->r->steps);
  p->r->n += n;
  return 0;
}

/* Each of these three functions changes the piece that begins at step `from` and ends the program.
 * make_piece_optional() makes it optional, as ? does; repeat_piece_from_one() repeats it one or more times,
 * as +; repeat_piece_from_zero() does both, as *. */
static int make_piece_optional(reader *p, size_t from) {
  return insert_step(p, from, SLP_REGEX_FORK, 1, (int)(p->r->n - from) + 1);
}
static int repeat_piece_from_one(reader *p, size_t from) {
  return append_step(p, SLP_REGEX_FORK, -(int)(p->r->n - from), 1);
}
static int repeat_piece_from_zero(reader *p, size_t from) {
  int n = (int)(p->r->n - from), e = insert_step(p, from, SLP_REGEX_FORK, 1, n + 2);
  return e ? e : append_step(p, SLP_REGEX_JUMP, -(n + 1), 0);
}

/* Repeats the piece that begins at step `from` and ends the program, `least` to `most` times. most < 0:
 * without limit. */
static int repeat_piece(reader *p, size_t from, int least, int most) {
  size_t n = p->r->n - from;
  int e = 0;
  if (most == 0) p->r->n = from;
  if (most == 0 || n == 0) return 0;
  if (least == 0) {
    if (most < 0) return repeat_piece_from_zero(p, from);
    e = make_piece_optional(p, from);
    for (int i = 1; i < most && !e; i++) e = append_steps_copy(p, from, n + 1);
    return e;
  }
  for (int i = 1; i < least && !e; i++) e = append_steps_copy(p, from, n);
  size_t last = p->r->n - n;
  if (e || most == least) return e;
  if (most < 0) return repeat_piece_from_one(p, last);
  e = append_steps_copy(p, from, n);
  if (!e) e = make_piece_optional(p, last + n);
  for (int i = least + 1; i < most && !e; i++) e = append_steps_copy(p, last + n, n + 1);
  return e;
}

/* Returns 1 if {N}, {N,} or {N,M} begins at c. */
static int is_bounds(const char *c) {
  size_t n = strspn(c + 1, "0123456789");
  if (n == 0) return 0;
  c += n + 1;
  if (*c == ',') c += strspn(c + 1, "0123456789") + 1;
  return *c == '}';
}

static int is_repetition(const char *c) {
  return *c == '*' || *c == '+' || *c == '?' || (*c == '{' && is_bounds(c));
}

static int read_number(reader *p) { /* returns -1 if there is no number */
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
  }
  if (least > REPEATED_MAX || most > REPEATED_MAX) return refuse_expression(p, "it is too large");
  if (most >= 0 && most < least) return refuse_expression(p, "it has a {N,M} whose M is less than its N");
  p->at++;
  p->traits->loops |= most < 0;
  return repeat_piece(p, from, least, most);
}

/* Reads a repetition. It does not matter whether the repetition is lazy (*?): that decides only where a
 * match ends, not whether there is a match. */
static int read_repetition(reader *p, size_t from) {
  int e = 0;
  p->traits->loops |= *p->at == '*' || *p->at == '+';
  switch (*p->at++) {
    case '*': e = repeat_piece(p, from, 0, -1); break;
    case '+': e = repeat_piece(p, from, 1, -1); break;
    case '?': e = repeat_piece(p, from, 0, 1); break;
    default: e = read_bounds(p, from);
  }
  if (e) return e;
  if (*p->at == '?') p->at++;
  if (*p->at == '+') return refuse_without_pcre2(p, "a possessive repetition (*+ ++ ?+)");
  return is_repetition(p->at) ? refuse_expression(p, "it has a repetition of a repetition") : 0;
}

/* ---- escapes ------------------------------------------------------------------------------------------- */

typedef enum { ONE, SET, CHECK } escape;

static int read_hex(reader *p, uint8_t *ret) {
  int braces = *p->at == '{', digits = 0;
  uint32_t v = 0;
  p->at += braces;
  for (; digits < (braces ? 8 : 2) && strchr("0123456789abcdefABCDEF", *p->at) && *p->at; digits++, p->at++)
    v = v * 16 + (uint32_t)(*p->at <= '9' ? *p->at - '0' : (*p->at | 0x20) - 'a' + 10);
  if (braces && (!digits || *p->at++ != '}'))
    return refuse_expression(p, "it has a \\x{ that is no \\x{HEX}");
  if (v >= (p->utf8 ? 0x80u : 0x100u)) return refuse_without_pcre2(p, "a \\x beyond ASCII");
  *ret = (uint8_t)v;
  return 0;
}

/* Reads what follows a backslash, and sets *ret. ONE: *ret_byte is a byte. SET: characters were added to
 * *set. CHECK: *ret_byte is a slp_regex_check. */
static int read_escaped(reader *p, int in_set, escape *ret, uint8_t *ret_byte, chars *set) {
  static const char from[] = "tnrfea", to[] = "\t\n\r\f\033\a";
  static const struct {
    char c;
    const class *is;
  } sets[] = {{'d', &digit}, {'w', &word}, {'s', &space}};
  static const char checks[] = "AZzbB";
  static const slp_regex_check are[] = {SLP_REGEX_BEGIN, SLP_REGEX_END, SLP_REGEX_VERY_END,
                                        SLP_REGEX_WORD_EDGE, SLP_REGEX_NO_WORD_EDGE};
  char c = *p->at;
  if (!c) return refuse_expression(p, "it ends with a backslash");
  const char *is = strchr(from, c);
  *ret = ONE;
  *ret_byte = (uint8_t)(is ? to[is - from] : c);
  if (is || (in_set && c == 'b')) {
    if (!is) *ret_byte = '\b';
    p->at++;
    return 0;
  }
  for (size_t i = 0; i < SLP_COUNT(sets); i++) {
    if ((c | 0x20) != sets[i].c) continue;
    p->at++;
    *ret = SET;
    put_class(p, set, sets[i].is, c != sets[i].c);
    return 0;
  }
  is = strchr(checks, c);
  if (is && !in_set) {
    p->at++;
    *ret = CHECK;
    *ret_byte = (uint8_t)are[is - checks];
    return 0;
  }
  if (c == 'x') {
    p->at++;
    return read_hex(p, ret_byte);
  }
  if (c >= '1' && c <= '9') return refuse_without_pcre2(p, "a back-reference (\\1)");
  char name[8];
  snprintf(name, sizeof name, "\\%c", c);
  if (is_letter((uint8_t)c) || c == '0' || (uint8_t)c >= 0x80)
    return refuse_without_pcre2(p, (uint8_t)c >= 0x80 ? "such an escape" : name);
  p->at++;
  return 0;
}

/* ---- sets in an expression ----------------------------------------------------------------------------- */

/* If a [:NAME:], [.NAME.] or [=NAME=] begins at c, returns a pointer to its closing :], .] or =]. Returns
 * NULL if none begins there. Decides by PCRE2's rules. */
static const char *end_of_class(const char *c) {
  char kind = c[1];
  if (kind != ':' && kind != '.' && kind != '=') return NULL;
  for (c += 2; *c && *c != ']'; c++) {
    if (*c == '\\' && (c[1] == ']' || c[1] == '\\'))
      c++;
    else if (c[0] == '[' && c[1] == kind)
      return NULL;
    else if (c[0] == kind && c[1] == ']')
      return c;
  }
  return NULL;
}

static int read_class(reader *p, const char *end, chars *set) {
  if (p->at[1] != ':') return refuse_expression(p, "it has a [. .] or [= =]");
  int reversed = p->at[2] == '^';
  slp_str name = {p->at + 2 + reversed, (size_t)(end - p->at - 2 - reversed)};
  for (size_t i = 0; i < SLP_COUNT(classes); i++) {
    const class *is = &classes[i];
    if (!slp_str_eq(name, slp_str_of(is->name))) continue;
    if (p->folds && (slp_str_is(name, "upper") || slp_str_is(name, "lower"))) is = &letters;
    put_class(p, set, is, reversed);
    p->at = end + 2;
    return 0;
  }
  return refuse_expression(p, "there is no such class of characters as between its [: and :]");
}

/* Reads one element of a [ ], and sets *ret. ONE: *ret_byte is a byte. SET: characters were added to *set. */
static int read_element(reader *p, chars *set, escape *ret, uint8_t *ret_byte) {
  const char *end = *p->at == '[' ? end_of_class(p->at) : NULL;
  *ret = ONE;
  if (!*p->at) return refuse_expression(p, "it has a [ without its ]");
  if (end) {
    *ret = SET;
    return read_class(p, end, set);
  }
  if (p->utf8 && (uint8_t)*p->at >= 0x80) return refuse_without_pcre2(p, "a character beyond ASCII in a [ ]");
  *ret_byte = (uint8_t)*p->at++;
  return *ret_byte == '\\' ? read_escaped(p, 1, ret, ret_byte, set) : 0;
}

static int begins_range(const char *c) { return c[0] == '-' && c[1] != ']' && c[1]; }

/* Reads a [ ], and appends its step. p->at is after the [. */
static int read_set(reader *p) {
  if (end_of_class(p->at - 1))
    return refuse_expression(p, "a [:class:] stands in a [ ] of its own, [[:class:]]");
  chars set = {.high = 0};
  int reversed = *p->at == '^', e = 0;
  p->at += reversed;
  for (int first = 1; first || *p->at != ']'; first = 0) {
    escape kind, to_kind;
    uint8_t from = 0, to = 0;
    e = read_element(p, &set, &kind, &from);
    if (e) return e;
    if (kind == SET && begins_range(p->at)) return refuse_without_pcre2(p, "a - behind a class in a [ ]");
    if (kind == SET) continue;
    to = from;
    if (begins_range(p->at)) {
      p->at++;
      e = read_element(p, &set, &to_kind, &to);
      if (e) return e;
      if (to_kind != ONE) return refuse_without_pcre2(p, "a - before a class in a [ ]");
      if (to < from) return refuse_expression(p, "it has a range in a [ ] whose end is before its beginning");
    }
    for (int c = from; c <= to; c++) put_char(p, &set, (uint8_t)c);
  }
  p->at++;
  if (reversed && !set.high && (set.kelvin || set.long_s))
    return refuse_without_pcre2(p, "(?i) with a k or s in a [^ ]");
  if (reversed) turn_over(p, &set);
  return add_chars(p, &set);
}

/* ---- expressions --------------------------------------------------------------------------------------- */

static int add_check(reader *p, int check) {
  p->r->words |= check >= SLP_REGEX_WORD_EDGE;
  return append_step(p, SLP_REGEX_CHECK, check, 0);
}

static int read_all(reader *p);

/* Reads the flags of (?i), (?s), (?-i) or (?i: . p->at is after the question mark. Returns 1 if the flags end
 * with a colon, 0 if they end with a parenthesis. */
static int read_flags(reader *p) {
  uint8_t on = 1;
  for (; *p->at && *p->at != ')' && *p->at != ':'; p->at++) {
    if (*p->at == '-' && on)
      on = 0;
    else if (*p->at == 'i')
      p->folds = on;
    else if (*p->at == 's')
      p->dot_all = on;
    else
      return refuse_without_pcre2(p, "such a (?");
  }
  if (!*p->at) return refuse_expression(p, "it has a ( without its )");
  return *p->at++ == ':';
}

/* Skips the name of a group. p->at is after (?< or (?P<. */
static int read_name(reader *p, char end) {
  size_t n = 0;
  for (; is_letter((uint8_t)p->at[n]) || p->at[n] == '_' || (n && p->at[n] >= '0' && p->at[n] <= '9'); n++) {
  }
  if (n == 0 || n > 32 || p->at[n] != end) return refuse_without_pcre2(p, "such a (?");
  p->at += n + 1;
  return 0;
}

/* Reads a group, and sets *ret_is_one to 1. p->at is after the ( . Flags that are set inside a group end with
 * the group. (?i) and the like are no group: they set *ret_is_one to 0, and the flags stay in force. */
static int read_group(reader *p, int *ret_is_one) {
  uint8_t folds = p->folds, dot_all = p->dot_all;
  int e = 0;
  *ret_is_one = 1;
  if (*p->at == '*') return refuse_without_pcre2(p, "(*");
  if (*p->at == '?') {
    const char *c = ++p->at;
    if (c[0] == ':')
      p->at++;
    else if (c[0] == 'P' && c[1] == '<')
      p->at += 2, e = read_name(p, '>');
    else if (c[0] == '<' && c[1] != '=' && c[1] != '!')
      p->at++, e = read_name(p, '>');
    else
      e = *ret_is_one = read_flags(p);
    if (e < 0) return e;
    if (!*ret_is_one) return 0;
  }
  if (++p->nested > NESTED_MAX) return refuse_expression(p, "its ( ) are nested too deeply");
  e = read_all(p);
  if (e) return e;
  if (*p->at != ')') return refuse_expression(p, "it has a ( without its )");
  p->at++;
  p->nested--;
  p->folds = folds;
  p->dot_all = dot_all;
  return 0;
}

/* Appends steps for a literal character of n bytes. */
static int add_literal(reader *p, const char *c, size_t n) {
  int e = 0;
  if (n > 1 && p->folds) return refuse_without_pcre2(p, "a character beyond ASCII where case is ignored");
  for (size_t i = 0; i < n && !e; i++) {
    chars one = {.high = 0};
    put_char(p, &one, (uint8_t)c[i]);
    e = add_chars(p, &one);
  }
  return e;
}

static int add_dot(reader *p) {
  chars all = {.high = 0};
  if (!p->dot_all) add_byte_to_set(&all.bytes, '\n');
  turn_over(p, &all);
  return add_chars(p, &all);
}

/* Reads a character, set, group or check, and the repetition after it. A check can't be repeated. */
static int read_one(reader *p) {
  size_t from = p->r->n, n = 0; /* n: bytes of a literal character; 0: it is no literal */
  const char *c = p->at;
  char byte = 0;
  escape kind = ONE;
  uint8_t what = 0;
  chars set = {.high = 0};
  int e = 0, is_one = 1;
  if (is_repetition(c)) return refuse_expression(p, "one of its * + ? { has nothing to repeat");
  p->at++;
  switch (*c) {
    case '(': e = read_group(p, &is_one); break;
    case ')': p->at--; return refuse_expression(p, "it has a ) without its (");
    case '[': e = read_set(p); break;
    case '.': e = add_dot(p); break;
    case '^': e = add_check(p, SLP_REGEX_BEGIN), is_one = 0; break;
    case '$': e = add_check(p, SLP_REGEX_END), is_one = 0; break;
    case '\\':
      e = read_escaped(p, 0, &kind, &what, &set);
      byte = (char)what;
      if (!e && kind == SET) e = add_chars(p, &set);
      if (!e && kind == CHECK) e = add_check(p, what), is_one = 0;
      if (kind == ONE) c = &byte, n = 1;
      break;
    default: n = p->utf8 ? slp_utf8_length(c, strlen(c)) : 1; p->at = c + n;
  }
  if (!e && n) e = add_literal(p, c, n);
  if (e) return e;
  if (is_one && is_repetition(p->at)) {
    end_run(p);
    return read_repetition(p, from);
  }
  if (n)
    go_on_with_run(p, c, n);
  else
    end_run(p);
  return 0;
}

/* Begins the right side of a |. The piece that begins at step `from` is the left side. The caller appends the
 * right side, and then calls end_other with *ret_jump. */
static int begin_other(reader *p, size_t from, size_t *ret_jump) {
  int e = insert_step(p, from, SLP_REGEX_FORK, 1, (int)(p->r->n - from) + 2);
  *ret_jump = p->r->n;
  return e ? e : append_step(p, SLP_REGEX_JUMP, 1, 0);
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
    p->alternates |= p->nested == 0;
    if (p->nested == 0) end_alternative(p);
    e = begin_other(p, from, &jump);
  }
}

/* Every match must contain ret->literal. So the literal is "" if the expression has alternatives outside of
 * all groups. */
int slp_regex_add(slp_regex *r, const char *text, int folds, slp_regex_traits *ret, char why[SLP_REGEX_WHY]) {
  *ret = (slp_regex_traits){.steps = 0};
  reader p = {.r = r, .text = text, .at = text, .folds = folds != 0, .traits = ret, .why = why};
  p.utf8 = slp_utf8_valid(slp_str_of(text)) != 0;
  size_t jump = 0, had = r->n, first = had == 0;
  int e = first ? 0 : begin_other(&p, 0, &jump);
  if (e) return e;
  e = read_all(&p);
  if (!e && !first) end_other(&p, jump);
  end_alternative(&p);
  if (p.any_lost) ret->any_n = 0;
  ret->steps = r->n - had;
  /* an expression without steps gets one, because begin_other needs a left side */
  return !e && first && r->n == 0 ? append_step(&p, SLP_REGEX_JUMP, 1, 0) : e;
}

/* ---- dialects ------------------------------------------------------------------------------------------ */

/* Returns a pointer to the end of the set whose [ is at c. */
static const char *end_of_set(const char *c) {
  c += c[1] == '^' ? 2 : 1;
  for (int first = 1; *c && (first || *c != ']'); first = 0) {
    const char *end = *c == '[' ? end_of_class(c) : NULL;
    c = end ? end + 2 : *c == '\\' && c[1] ? c + 2 : c + 1;
  }
  return *c ? c + 1 : c;
}

const char *slp_regex_next(const char *c) {
  if (*c == '[') return end_of_set(c);
  if (*c != '\\' || !c[1]) return c + 1;
  if (c[1] == 'c' && c[2]) return c + 3;
  const char *end = c[1] == 'Q' ? strstr(c, "\\E") : NULL;
  return end ? end + 2 : c[1] == 'Q' ? c + strlen(c) : c + 2;
}

static const char *find(const char *c, const char *end, const char *what) {
  for (size_t n = strlen(what); c + n <= end; c++)
    if (memcmp(c, what, n) == 0) return c;
  return NULL;
}

/* Returns a sentence if tools disagree about the element at c: what they read differently, and what to write
 * instead. Returns NULL if they agree. */
static const char *other_reading(const char *c, const char *end) {
  if (c[0] == '\\' && (c[1] == '<' || c[1] == '>'))
    return "\\< and \\> are edges of words to some tools, < and > to others: write \\b or [<]";
  if (c[0] == '\\' && (c[1] == '`' || c[1] == '\''))
    return "\\` and \\' are ends of the text to some tools: write \\A, \\z, or ` and '";
  if (c[0] == '\\' && c[1] == 'G') return "\\G means nothing where one match is looked for: write \\A";
  if (c[0] == '{' && !is_bounds(c)) {
    size_t n = strspn(c + 1, "0123456789, ");
    return n && c[n + 1] == '}' ? "tools differ about such a { }: write {N}, {N,}, {0,N}, or \\{" : NULL;
  }
  if (c[0] == '[' && (find(c, end, "&&") || find(c, end, "~~") || find(c, end, "--[")))
    return "&& ~~ and --[ in a [ ] are sets of sets to some tools: write each of a set once";
  return NULL;
}

int slp_regex_check_dialect(const char *text, char why[SLP_REGEX_WHY]) {
  for (const char *c = text, *end; *c; c = end) {
    end = slp_regex_next(c);
    const char *is = other_reading(c, end);
    if (!is) continue;
    snprintf(why, SLP_REGEX_WHY, "%s, at byte %zu", is, (size_t)(c - text) + 1);
    return SLP_EINVAL;
  }
  return 0;
}
