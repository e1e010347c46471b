/* ddb_parse.c - parses the expressions of requests, first into tokens, then into trees. Limits and error
 * messages are the service's. */
#include "base/buf.h"
#include "sandbox/ddb.h"
#include "sandbox/model.h"
#include "sandbox/value.h"

#include <stdarg.h>
#include <stdio.h>

#define EXPRESSION_BYTES_MAX 4096
#define OPERATORS_MAX 300
#define NESTING_MAX 100
#define PATH_STEPS_MAX 32
#define IN_OPERANDS_MAX 100

typedef enum { T_END, T_WORD, T_NAME, T_VALUE, T_NUMBER, T_SIGN, T_BAD } token_kind;
typedef struct token {
  token_kind kind;
  slp_str text; /* T_NAME: begins with "#". T_VALUE: begins with ":" */
} token;

typedef struct parser {
  slp_words *w;
  slp_arena *a;
  const char *kind; /* the name of the expression, such as "ConditionExpression" */
  slp_str text;
  token *t; /* the tokens; the last is T_END */
  uint32_t at, operators, depth;
  uint32_t group_from, group_to; /* the tokens of the pair of parentheses that was parsed last */
  uint8_t update;                /* 1: inside an UpdateExpression, where other functions are allowed */
} parser;

static int refuse_invalid_expression(parser *p, const char *fmt, ...) SLP_PRINTF(2, 3);
static int refuse_invalid_expression(parser *p, const char *fmt, ...) {
  char text[700];
  va_list args;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  return slp_box_fail(p->w->c, "ValidationException", "Invalid %s: %s", p->kind, text);
}

static int no_memory(parser *p) { return slp_box_no_memory(p->w->c); }

/* ---- splitting the text into tokens ------------------------------------------------------------------- */
static int is_word_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static int is_word_digit(char c) { return c >= '0' && c <= '9'; }

static size_t name_length(slp_str s, size_t at) {
  size_t n = at;
  while (n < s.n && (is_word_letter(s.p[n]) || is_word_digit(s.p[n]))) n++;
  return n - at;
}

static token next_token(slp_str s, size_t at) {
  char ch = s.p[at];
  if (is_word_letter(ch)) return (token){T_WORD, {s.p + at, name_length(s, at)}};
  if (is_word_digit(ch)) {
    size_t n = 1;
    while (at + n < s.n && is_word_digit(s.p[at + n])) n++;
    return (token){T_NUMBER, {s.p + at, n}};
  }
  if (ch == '#' || ch == ':') {
    size_t n = name_length(s, at + 1);
    return (token){n == 0 ? T_BAD : ch == '#' ? T_NAME : T_VALUE, {s.p + at, n + 1}};
  }
  if (ch == '<' && at + 1 < s.n && (s.p[at + 1] == '>' || s.p[at + 1] == '='))
    return (token){T_SIGN, {s.p + at, 2}};
  if (ch == '>' && at + 1 < s.n && s.p[at + 1] == '=') return (token){T_SIGN, {s.p + at, 2}};
  return (token){strchr("=<>(),.[]+-", ch) && ch ? T_SIGN : T_BAD, {s.p + at, 1}};
}

static int syntax_error(parser *p) {
  const token *t = &p->t[p->at];
  const char *from = p->at > 0 ? t[-1].text.p : t->text.p, *to = t->text.p + t->text.n;
  if (t->kind == T_END && p->at > 0) to = t[-1].text.p + t[-1].text.n;
  if (t->kind == T_END)
    return refuse_invalid_expression(p, "Syntax error; token: \"<EOF>\", near: \"%.*s\"", (int)(to - from),
                                     from);
  if (t[1].kind != T_END) to = t[1].text.p + t[1].text.n;
  return refuse_invalid_expression(p, "Syntax error; token: \"%.*s\", near: \"%.*s\"",
                                   (int)slp_min_u64(t->text.n, 100), t->text.p,
                                   (int)slp_min_u64((uint64_t)(to - from), 300), from);
}

static int split_into_tokens(parser *p) {
  uint32_t n = 0;
  slp_str s = p->text;
  if (s.n > EXPRESSION_BYTES_MAX) {
    return refuse_invalid_expression(
        p, "Expression size has exceeded the maximum allowed size; expression size: %zu", s.n);
  }
  p->t = slp_arena_get(p->a, (s.n + 2) * sizeof *p->t);
  if (!p->t) return no_memory(p);
  for (size_t at = 0; at < s.n;) {
    if (strchr(" \t\r\n", s.p[at]) && s.p[at]) {
      at++;
      continue;
    }
    p->t[n] = next_token(s, at);
    at += p->t[n++].text.n;
  }
  p->t[n] = (token){T_END, {s.p + s.n, 0}};
  if (n == 0) return refuse_invalid_expression(p, "The expression can not be empty;");
  for (p->at = 0; p->at < n; p->at++) {
    if (p->t[p->at].kind == T_BAD) return syntax_error(p);
  }
  p->at = 0;
  return 0;
}

static int begin_parser(parser *p, slp_words *w, const char *kind, slp_str text) {
  *p = (parser){.w = w, .a = slp_call_arena(w->c), .kind = kind, .text = text};
  w->any = 1;
  return split_into_tokens(p);
}

static int is_sign(const parser *p, const char *sign) {
  return p->t[p->at].kind == T_SIGN && slp_str_is(p->t[p->at].text, sign);
}

/* Returns 1 if the token is the keyword, in upper or lower case. */
static int word_is(const token *t, const char *keyword) {
  if (t->kind != T_WORD || t->text.n != strlen(keyword)) return 0;
  for (size_t i = 0; i < t->text.n; i++) {
    char ch = t->text.p[i];
    if ((ch >= 'a' && ch <= 'z' ? ch - ('a' - 'A') : ch) != keyword[i]) return 0;
  }
  return 1;
}
static int is_word(const parser *p, const char *keyword) { return word_is(&p->t[p->at], keyword); }

static int expect_sign(parser *p, const char *sign) {
  if (!is_sign(p, sign)) return syntax_error(p);
  p->at++;
  return 0;
}

static int operator_counts(parser *p) {
  if (++p->operators <= OPERATORS_MAX) return 0;
  return refuse_invalid_expression(p, "The expression contains more operators than the limit of %d",
                                   OPERATORS_MAX);
}

static slp_x *new_parsed_node(parser *p, slp_x_op op, slp_x *a, slp_x *b) {
  slp_x *x = SLP_ARENA_NEW(p->a, slp_x);
  if (!x) {
    no_memory(p);
    return NULL;
  }
  x->op = op;
  x->a = a;
  x->b = b;
  return x;
}

/* ---- names, values, paths ------------------------------------------------------------------------------ */
static struct slp_name_entry *entry_of(slp_names *names, slp_str key) {
  for (uint32_t i = 0; i < names->n; i++) {
    if (!slp_str_eq(names->v[i].key, key)) continue;
    names->v[i].used = 1;
    return &names->v[i];
  }
  return NULL;
}

static int read_name(parser *p, slp_str *ret) {
  const token *t = &p->t[p->at];
  if (t->kind == T_NAME) {
    const struct slp_name_entry *e = entry_of(&p->w->names, t->text);
    if (!e) {
      return refuse_invalid_expression(
          p, "An expression attribute name used in the document path is not defined; attribute name: %.*s",
          (int)slp_min_u64(t->text.n, 256), t->text.p);
    }
    *ret = e->name;
  } else if (t->kind == T_WORD) {
    if (slp_ddb_reserved(t->text)) {
      return refuse_invalid_expression(p, "Attribute name is a reserved keyword; reserved keyword: %.*s",
                                       (int)slp_min_u64(t->text.n, 256), t->text.p);
    }
    *ret = t->text;
  } else {
    return syntax_error(p);
  }
  p->at++;
  return 0;
}

static int read_index(parser *p, uint32_t *ret) {
  const token *t = &p->t[p->at];
  uint64_t v = 0;
  if (t->kind != T_NUMBER) return syntax_error(p);
  for (size_t i = 0; i < t->text.n && v < UINT32_MAX; i++) v = v * 10 + (uint64_t)(t->text.p[i] - '0');
  if (v > 999999999)
    return refuse_invalid_expression(p, "List index is not within the allowable range; index: [%.*s]",
                                     (int)slp_min_u64(t->text.n, 60), t->text.p);
  *ret = (uint32_t)v;
  p->at++;
  return expect_sign(p, "]");
}

static int read_path(parser *p, slp_path **ret) {
  slp_path_step **to = ret;
  uint32_t steps = 0;
  for (;;) {
    slp_path_step *s = SLP_ARENA_NEW(p->a, slp_path_step);
    if (!s) return no_memory(p);
    *to = s;
    to = &s->next;
    if (++steps > PATH_STEPS_MAX) {
      return refuse_invalid_expression(
          p, "The document path has too many nesting elements; nesting level: %u", (unsigned)steps);
    }
    if (steps > 1 && is_sign(p, "[")) {
      p->at++;
      if (read_index(p, &s->index)) return -1;
    } else {
      if (steps > 1) p->at++; /* skip the dot in front of the next name */
      if (read_name(p, &s->name)) return -1;
    }
    if (!is_sign(p, ".") && !is_sign(p, "[")) return 0;
  }
}

/* Writes the path in the form [a, b, [2]]. */
static void write_path(const slp_path *path, char out[300]) {
  size_t at = 0;
  out[at++] = '[';
  for (const slp_path_step *s = path; s && at < 240; s = s->next) {
    const char *comma = s == path ? "" : ", ";
    int n = s->name.p
                ? snprintf(out + at, 290 - at, "%s%.*s", comma, (int)slp_min_u64(s->name.n, 50), s->name.p)
                : snprintf(out + at, 290 - at, "%s[%u]", comma, (unsigned)s->index);
    at = slp_min_u64(at + (size_t)n, 289);
  }
  out[at++] = ']';
  out[at] = 0;
}

static slp_x *path_node(parser *p) {
  slp_x *x = new_parsed_node(p, SLP_X_PATH, NULL, NULL);
  return x && !read_path(p, &x->path) ? x : NULL;
}

static slp_x *value_node(parser *p) {
  const token *t = &p->t[p->at];
  const struct slp_name_entry *e = entry_of(&p->w->values, t->text);
  if (!e) {
    refuse_invalid_expression(
        p, "An expression attribute value used in expression is not defined; attribute value: %.*s",
        (int)slp_min_u64(t->text.n, 256), t->text.p);
    return NULL;
  }
  p->at++;
  slp_x *x = new_parsed_node(p, SLP_X_VALUE, NULL, NULL);
  if (x) x->value = e->value;
  return x;
}

/* ---- functions ------------------------------------------------------------------------------- */
static const struct function {
  const char *name;
  slp_x_op op;
  uint8_t operands, in_condition, in_update, is_operand, first_is_path;
} functions[] = {
    {"attribute_exists", SLP_X_EXISTS, 1, 1, 0, 0, 1},
    {"attribute_not_exists", SLP_X_NOT_EXISTS, 1, 1, 0, 0, 1},
    {"attribute_type", SLP_X_TYPE, 2, 1, 0, 0, 1},
    {"begins_with", SLP_X_BEGINS, 2, 1, 0, 0, 0},
    {"contains", SLP_X_CONTAINS, 2, 1, 0, 0, 0},
    {"size", SLP_X_SIZE, 1, 1, 0, 1, 0},
    {"if_not_exists", SLP_X_IF_NOT_EXISTS, 2, 0, 1, 1, 1},
    {"list_append", SLP_X_LIST_APPEND, 2, 0, 1, 1, 0},
};

static slp_x *parse_operand(parser *p);

static int wrong_type(parser *p, const char *function, const slp_x *x) {
  return refuse_invalid_expression(
      p, "Incorrect operand type for operator or function; operator or function: %s, operand type: %s",
      function, slp_av_kind_name(x->value->kind));
}

/* Returns 1 if the operand is a value whose kind is not `not`. Such an operand is wrong for any item. */
static int is_value_of_other_kind(const slp_x *x, slp_av_kind not ) {
  return x->op == SLP_X_VALUE && x->value->kind != not ;
}

/* Checks the operands of a function as far as that is possible without an item. */
static int check_function(parser *p, const struct function *f, const slp_x *x) {
  switch (f->op) {
    case SLP_X_TYPE:
      if (x->b->op != SLP_X_VALUE || x->b->value->kind != SLP_AV_S) {
        return x->b->op == SLP_X_VALUE ? wrong_type(p, f->name, x->b) : syntax_error(p);
      }
      for (int kind = SLP_AV_S; kind <= SLP_AV_BS; kind++) {
        if (slp_str_is(x->b->value->text, slp_av_kind_name((slp_av_kind)kind))) return 0;
      }
      return refuse_invalid_expression(
          p, "Invalid attribute type name found; type: %.*s, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}",
          (int)slp_min_u64(x->b->value->text.n, 100), x->b->value->text.p);
    case SLP_X_BEGINS:
      for (const slp_x *o = x->a;; o = x->b) {
        if (o->op == SLP_X_VALUE && o->value->kind != SLP_AV_S && o->value->kind != SLP_AV_B)
          return wrong_type(p, f->name, o);
        if (o == x->b) return 0;
      }
    case SLP_X_SIZE:
      if (x->a->op == SLP_X_VALUE && (x->a->value->kind == SLP_AV_N || x->a->value->kind == SLP_AV_BOOL ||
                                      x->a->value->kind == SLP_AV_NULL))
        return wrong_type(p, f->name, x->a);
      return 0;
    case SLP_X_LIST_APPEND:
      if (is_value_of_other_kind(x->a, SLP_AV_L)) return wrong_type(p, f->name, x->a);
      return is_value_of_other_kind(x->b, SLP_AV_L) ? wrong_type(p, f->name, x->b) : 0;
    default: return 0;
  }
}

static slp_x *call_of(parser *p) {
  slp_str name = p->t[p->at].text;
  const struct function *f = NULL;
  for (size_t i = 0; i < SLP_COUNT(functions) && !f; i++) {
    if (slp_str_is(name, functions[i].name)) f = &functions[i];
  }
  if (!f) {
    refuse_invalid_expression(p, "Invalid function name; function: %.*s", (int)slp_min_u64(name.n, 100),
                              name.p);
    return NULL;
  }
  if (!(p->update ? f->in_update : f->in_condition)) {
    refuse_invalid_expression(p, "The function is not allowed in %s expression; function: %s",
                              p->update ? "an update" : "a condition", f->name);
    return NULL;
  }
  p->at += 2; /* skip the function's name and "(" */
  if (operator_counts(p)) return NULL;
  slp_x *first = NULL, **to = &first;
  uint32_t n = 0;
  do {
    if (n) p->at++;
    *to = parse_operand(p);
    if (!*to) return NULL;
    to = &(*to)->next;
    n++;
  } while (is_sign(p, ","));
  if (expect_sign(p, ")")) return NULL;
  if (n != f->operands) {
    refuse_invalid_expression(
        p,
        "Incorrect number of operands for operator or function; operator or function: %s, number of "
        "operands: %u",
        f->name, (unsigned)n);
    return NULL;
  }
  if (f->first_is_path && first->op != SLP_X_PATH) {
    refuse_invalid_expression(p, "Operator or function requires a document path; operator or function: %s",
                              f->name);
    return NULL;
  }
  slp_x *x = new_parsed_node(p, f->op, first, first->next);
  return x && !check_function(p, f, x) ? x : NULL;
}

static int is_call(const parser *p) {
  const token *t = &p->t[p->at];
  return t->kind == T_WORD && t[1].kind == T_SIGN && slp_str_is(t[1].text, "(");
}

static int is_operand(const slp_x *x) { return x->op <= SLP_X_LIST_APPEND; }

static int enter_nesting(parser *p) {
  if (++p->depth <= NESTING_MAX) return 0;
  return refuse_invalid_expression(p, "The expression is nested deeper than %d", NESTING_MAX);
}

/* Parses an operand of a comparison, a function, or an assignment. */
static slp_x *parse_operand(parser *p) {
  slp_x *x;
  if (enter_nesting(p)) return NULL;
  if (p->t[p->at].kind == T_VALUE) {
    x = value_node(p);
  } else if (is_call(p)) {
    x = call_of(p);
    if (x && !is_operand(x)) {
      refuse_invalid_expression(
          p, "The function is not allowed to be used this way in an expression; function: %s",
          x->op == SLP_X_EXISTS       ? "attribute_exists"
          : x->op == SLP_X_NOT_EXISTS ? "attribute_not_exists"
          : x->op == SLP_X_TYPE       ? "attribute_type"
          : x->op == SLP_X_BEGINS     ? "begins_with"
                                      : "contains");
      return NULL;
    }
  } else if (is_sign(p, "(")) {
    p->at++;
    x = parse_operand(p);
    if (x && expect_sign(p, ")")) return NULL;
  } else {
    x = path_node(p);
  }
  p->depth--;
  return x;
}

/* ---- conditions --------------------------------------------------------------------------------- */
static const struct {
  const char *sign;
  slp_x_op op;
} comparators[] = {{"=", SLP_X_EQ},  {"<>", SLP_X_NE}, {"<", SLP_X_LT},
                   {"<=", SLP_X_LE}, {">", SLP_X_GT},  {">=", SLP_X_GE}};

static slp_x *any_of(parser *p);

static int same_path(const slp_path *a, const slp_path *b) {
  for (; a && b; a = a->next, b = b->next) {
    if (!a->name.p != !b->name.p) return 0;
    if (a->name.p ? !slp_str_eq(a->name, b->name) : a->index != b->index) return 0;
  }
  return !a && !b;
}

static int is_ordered_value(const slp_av *v) {
  return v->kind == SLP_AV_S || v->kind == SLP_AV_N || v->kind == SLP_AV_B;
}

static int check_comparison(parser *p, const char *sign, const slp_x *x) {
  char text[300];
  if (x->a->op == SLP_X_PATH && x->b->op == SLP_X_PATH && same_path(x->a->path, x->b->path)) {
    write_path(x->a->path, text);
    return refuse_invalid_expression(
        p,
        "The first operand must be distinct from the remaining operands for this operator or function; "
        "operator: %s, first operand: %s",
        sign, text);
  }
  if (x->op == SLP_X_EQ || x->op == SLP_X_NE) return 0;
  if (x->a->op == SLP_X_VALUE && !is_ordered_value(x->a->value)) return wrong_type(p, sign, x->a);
  return x->b->op == SLP_X_VALUE && !is_ordered_value(x->b->value) ? wrong_type(p, sign, x->b) : 0;
}

static int bounds_text(const slp_av *v, slp_buf *to) {
  slp_buf_addf(to, "AttributeValue: {%s:", slp_av_kind_name(v->kind));
  slp_buf_add(to, v->text.p, slp_min_u64(v->text.n, 100));
  return slp_buf_add_char(to, '}');
}

static int check_between(parser *p, const slp_x *low, const slp_x *high) {
  if (low->op != SLP_X_VALUE || high->op != SLP_X_VALUE) return 0;
  if (!is_ordered_value(low->value)) return wrong_type(p, "BETWEEN", low);
  if (!is_ordered_value(high->value)) return wrong_type(p, "BETWEEN", high);
  slp_buf a, b;
  slp_buf_init(&a, p->a->mem, 400);
  slp_buf_init(&b, p->a->mem, 400);
  int r = bounds_text(low->value, &a);
  if (!r) r = bounds_text(high->value, &b);
  if (r) {
    r = no_memory(p);
  } else if (low->value->kind != high->value->kind) {
    r = refuse_invalid_expression(
        p,
        "The BETWEEN operator requires same data type for lower and upper bounds; lower bound operand: %s, "
        "upper bound operand: %s",
        slp_buf_z(&a), slp_buf_z(&b));
  } else if (slp_av_cmp(low->value, high->value) > 0) {
    r = refuse_invalid_expression(
        p,
        "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower bound "
        "operand: %s, upper bound operand: %s",
        slp_buf_z(&a), slp_buf_z(&b));
  }
  slp_buf_free(&a);
  slp_buf_free(&b);
  return r;
}

static slp_x *parse_between(parser *p, slp_x *a) {
  p->at++;
  slp_x *low = parse_operand(p);
  if (!low) return NULL;
  if (!is_word(p, "AND")) {
    syntax_error(p);
    return NULL;
  }
  p->at++;
  slp_x *high = parse_operand(p);
  if (!high || check_between(p, low, high)) return NULL;
  low->next = high;
  return new_parsed_node(p, SLP_X_BETWEEN, a, low);
}

static slp_x *parse_in_list(parser *p, slp_x *a) {
  slp_x *first = NULL, **to = &first;
  uint32_t n = 0;
  p->at++;
  if (!is_sign(p, "(")) {
    syntax_error(p);
    return NULL;
  }
  do {
    p->at++; /* skip "(" or "," */
    *to = parse_operand(p);
    if (!*to) return NULL;
    to = &(*to)->next;
    if (++n > IN_OPERANDS_MAX) {
      refuse_invalid_expression(
          p,
          "Invalid number of operands for operator or function; operator or function: IN, number of "
          "operands: %u",
          (unsigned)n);
      return NULL;
    }
  } while (is_sign(p, ","));
  if (expect_sign(p, ")")) return NULL;
  return new_parsed_node(p, SLP_X_IN, a, first);
}

/* Parses what follows the first operand of a comparison. `alone` 1: nothing may follow, because the operand
 * is in parentheses. */
static slp_x *parse_comparison(parser *p, slp_x *a, int alone) {
  slp_x *x = NULL;
  if (alone && is_sign(p, ")")) return a;
  if (operator_counts(p)) return NULL;
  if (is_word(p, "BETWEEN")) return parse_between(p, a);
  if (is_word(p, "IN")) return parse_in_list(p, a);
  for (size_t i = 0; i < SLP_COUNT(comparators); i++) {
    if (!is_sign(p, comparators[i].sign)) continue;
    p->at++;
    slp_x *b = parse_operand(p);
    if (b) x = new_parsed_node(p, comparators[i].op, a, b);
    return x && !check_comparison(p, comparators[i].sign, x) ? x : NULL;
  }
  syntax_error(p);
  return NULL;
}

static slp_x *parse_group(parser *p) {
  uint32_t from = p->at++;
  slp_x *x = any_of(p);
  if (!x) return NULL;
  int redundant = p->group_from == from + 1 && p->group_to == p->at && p->at > from + 1 &&
                  slp_str_is(p->t[from + 1].text, "(") && !is_operand(x);
  if (expect_sign(p, ")")) return NULL;
  if (redundant) {
    refuse_invalid_expression(p, "The expression has redundant parentheses;");
    return NULL;
  }
  p->group_from = from;
  p->group_to = p->at;
  return x;
}

static slp_x *parse_one_condition(parser *p) {
  uint32_t from = p->at;
  slp_x *x;
  if (is_word(p, "NOT")) {
    p->at++;
    if (operator_counts(p) || enter_nesting(p)) return NULL;
    x = parse_one_condition(p);
    p->depth--;
    if (x && is_operand(x)) {
      syntax_error(p);
      return NULL;
    }
    return x ? new_parsed_node(p, SLP_X_NOT, x, NULL) : NULL;
  }
  if (is_sign(p, "(")) {
    if (enter_nesting(p)) return NULL;
    x = parse_group(p);
    p->depth--;
  } else if (p->t[p->at].kind == T_VALUE) {
    x = value_node(p);
  } else {
    x = is_call(p) ? call_of(p) : path_node(p);
  }
  if (!x || !is_operand(x)) return x;
  return parse_comparison(p, x, from > 0 && slp_str_is(p->t[from - 1].text, "("));
}

/* Parses one or more parts that are joined by the keyword. If there are several, each must be a condition,
 * not an operand. */
static slp_x *parse_keyword_chain(parser *p, const char *keyword, slp_x_op op, slp_x *(*part)(parser *p)) {
  slp_x *x = part(p);
  while (x && is_word(p, keyword)) {
    if (is_operand(x)) {
      syntax_error(p);
      return NULL;
    }
    p->at++;
    if (operator_counts(p)) return NULL;
    slp_x *y = part(p);
    if (y && is_operand(y)) syntax_error(p);
    x = y && !is_operand(y) ? new_parsed_node(p, op, x, y) : NULL;
  }
  return x;
}

static slp_x *all_of(parser *p) { return parse_keyword_chain(p, "AND", SLP_X_AND, parse_one_condition); }
static slp_x *any_of(parser *p) { return parse_keyword_chain(p, "OR", SLP_X_OR, all_of); }

int slp_parse_condition(slp_words *w, const char *kind, slp_str text, slp_x **ret) {
  parser p;
  *ret = NULL;
  if (begin_parser(&p, w, kind, text)) return -1;
  slp_x *x = any_of(&p);
  if (!x) return -1;
  if (p.t[p.at].kind != T_END || is_operand(x)) return syntax_error(&p);
  *ret = x;
  return 0;
}

/* ---- projections ----------------------------------------------------------------------------- */
/* Returns a message if two paths overlap or conflict. NULL: neither. Paths overlap if one is equal to the
 * other, or is its beginning. They conflict if one needs a map where the other needs a list. */
static const char *find_path_clash(const slp_path *a, const slp_path *b) {
  for (; a && b; a = a->next, b = b->next) {
    if (!a->name.p != !b->name.p) return "conflict";
    if (a->name.p ? !slp_str_eq(a->name, b->name) : a->index != b->index) return NULL;
  }
  return "overlap";
}

static int check_paths(parser *p, const slp_path *a, const slp_path *b) {
  char one_text[300], two_text[300];
  const char *how = find_path_clash(a, b);
  if (!how) return 0;
  write_path(a, one_text);
  write_path(b, two_text);
  return refuse_invalid_expression(
      p,
      "Two document paths %s with each other; must remove or rewrite one of these paths; path one: %s, "
      "path two: %s",
      how, one_text, two_text);
}

int slp_parse_projection(slp_words *w, slp_str text, slp_paths **ret) {
  parser p;
  slp_paths **to = ret;
  *ret = NULL;
  if (begin_parser(&p, w, "ProjectionExpression", text)) return -1;
  for (;;) {
    slp_paths *one_path = SLP_ARENA_NEW(p.a, slp_paths);
    if (!one_path) return no_memory(&p);
    if (read_path(&p, &one_path->path)) return -1;
    for (const slp_paths *x = *ret; x; x = x->next) {
      if (check_paths(&p, x->path, one_path->path)) return -1;
    }
    *to = one_path;
    to = &one_path->next;
    if (p.t[p.at].kind == T_END) return 0;
    if (expect_sign(&p, ",")) return -1;
  }
}

/* ---- updates ------------------------------------------------------------------------------------ */
static const char *const sections[] = {
    [SLP_UP_SET] = "SET", [SLP_UP_REMOVE] = "REMOVE", [SLP_UP_ADD] = "ADD", [SLP_UP_DELETE] = "DELETE"};

static const char *long_name(slp_av_kind kind) {
  static const char *const names[] = {"STRING", "NUMBER", "BINARY",     "BOOLEAN",    "NULL",
                                      "LIST",   "MAP",    "STRING_SET", "NUMBER_SET", "BINARY_SET"};
  return names[kind];
}

static int set_value(parser *p, slp_up *u) {
  if (expect_sign(p, "=")) return -1;
  u->value = parse_operand(p);
  if (!u->value) return -1;
  if (!is_sign(p, "+") && !is_sign(p, "-")) return 0;
  int plus = is_sign(p, "+");
  p->at++;
  slp_x *b = parse_operand(p);
  if (!b || operator_counts(p)) return -1;
  const char *sign = plus ? "+" : "-";
  if (is_value_of_other_kind(u->value, SLP_AV_N)) return wrong_type(p, sign, u->value);
  if (is_value_of_other_kind(b, SLP_AV_N)) return wrong_type(p, sign, b);
  u->value = new_parsed_node(p, plus ? SLP_X_PLUS : SLP_X_MINUS, u->value, b);
  return u->value ? 0 : -1;
}

static int set_or_number(parser *p, slp_up *u) {
  int adds = u->kind == SLP_UP_ADD;
  if (p->t[p->at].kind != T_VALUE) return syntax_error(p);
  u->value = value_node(p);
  if (!u->value) return -1;
  slp_av_kind kind = u->value->value->kind;
  if (slp_av_is_set(kind) || (adds && kind == SLP_AV_N)) return 0;
  return refuse_invalid_expression(
      p,
      "Incorrect operand type for operator or function; operator: %s, operand type: %s, typeSet: "
      "ALLOWED_FOR_%s_OPERAND",
      sections[u->kind], long_name(kind), sections[u->kind]);
}

static int parse_update_action(parser *p, slp_up_kind kind, slp_up *first, slp_up **last) {
  slp_up *u = SLP_ARENA_NEW(p->a, slp_up);
  if (!u) return no_memory(p);
  u->kind = kind;
  if (read_path(p, &u->path)) return -1;
  if (kind == SLP_UP_SET && set_value(p, u)) return -1;
  if ((kind == SLP_UP_ADD || kind == SLP_UP_DELETE) && set_or_number(p, u)) return -1;
  if (operator_counts(p)) return -1;
  for (const slp_up *x = first; x; x = x->next) {
    if (check_paths(p, x->path, u->path)) return -1;
  }
  *last = u;
  return 0;
}

int slp_parse_update(slp_words *w, slp_str text, slp_up **ret) {
  parser p;
  uint8_t seen[SLP_COUNT(sections)] = {0};
  slp_up **to = ret;
  *ret = NULL;
  if (begin_parser(&p, w, "UpdateExpression", text)) return -1;
  p.update = 1;
  while (p.t[p.at].kind != T_END) {
    int kind = -1;
    for (size_t i = 0; i < SLP_COUNT(sections); i++) {
      if (is_word(&p, sections[i])) kind = (int)i;
    }
    if (kind < 0) return syntax_error(&p);
    if (seen[kind]++) {
      return refuse_invalid_expression(
          &p, "The \"%s\" section can only be used once in an update expression;", sections[kind]);
    }
    do {
      p.at++; /* skip the keyword or the comma */
      if (parse_update_action(&p, (slp_up_kind)kind, *ret, to)) return -1;
      to = &(*to)->next;
    } while (is_sign(&p, ","));
  }
  return 0;
}

/* ---- what names and values stand for --------------------------------------------------------- */
static int read_entries(slp_box_call *c, uint32_t map, slp_names *names, char mark, const char *member_name) {
  slp_box_tree *t = c->in;
  names->v = slp_arena_get(slp_call_arena(c), (t->v[map].count + 1) * sizeof *names->v);
  if (!names->v) return slp_box_no_memory(c);
  if (t->v[map].count == 0) {
    return slp_box_fail(c, "ValidationException", "%s must not be empty", member_name);
  }
  for (uint32_t i = t->v[map].child; i; i = t->v[i].next) {
    struct slp_name_entry *e = &names->v[names->n++];
    e->key = t->v[i].key;
    int plain = e->key.n > 1 && e->key.p[0] == mark && name_length(e->key, 1) == e->key.n - 1;
    if (!plain) {
      return slp_box_fail(c, "ValidationException", "%s contains invalid key: Syntax error; key: \"%.*s\"",
                          member_name, (int)slp_min_u64(e->key.n, 256), e->key.n ? e->key.p : "");
    }
    if (mark == ':') {
      e->value = slp_av_read(c, i);
      if (!e->value && strcmp(c->error, "ValidationException") == 0) {
        /* complete the message with the value's name */
        char why[700];
        snprintf(why, sizeof why, "%.690s", c->error_message);
        slp_box_fail(c, c->error, "%s contains invalid value: %s for key %.*s", member_name, why,
                     (int)slp_min_u64(e->key.n, 200), e->key.p);
      }
      if (!e->value) return -1;
    } else if (t->v[i].kind != SLP_VALUE_TEXT) {
      return slp_box_fail(c, "SerializationException", "%s holds texts only.", member_name);
    } else {
      e->name = t->v[i].text;
      if (e->name.n == 0 || e->name.n > UINT16_MAX) {
        return slp_box_fail(
            c, "ValidationException",
            "%s contains invalid value: The name of an attribute must have 1 to 65535 bytes for "
            "key %.*s",
            member_name, (int)slp_min_u64(e->key.n, 200), e->key.p);
      }
    }
  }
  return 0;
}

int slp_words_read(slp_words *w, slp_box_call *c, uint32_t parent) {
  *w = (slp_words){.c = c};
  const slp_value *names = slp_box_tree_get(c->in, parent, "ExpressionAttributeNames");
  const slp_value *values = slp_box_tree_get(c->in, parent, "ExpressionAttributeValues");
  if ((names && names->kind != SLP_VALUE_MAP) || (values && values->kind != SLP_VALUE_MAP)) {
    return slp_box_fail(c, "SerializationException", "Expression attribute names and values must be maps.");
  }
  if (names && read_entries(c, slp_box_tree_number(c->in, names), &w->names, '#', "ExpressionAttributeNames"))
    return -1;
  return values ? read_entries(c, slp_box_tree_number(c->in, values), &w->values, ':',
                               "ExpressionAttributeValues")
                : 0;
}

static int check_used(slp_box_call *c, const slp_names *names, const char *member_name, int any) {
  char keys[300];
  size_t at = 0;
  if (names->n > 0 && !any) {
    return slp_box_fail(c, "ValidationException", "%s can only be specified when using expressions",
                        member_name);
  }
  for (uint32_t i = 0; i < names->n && at < 250; i++) {
    if (names->v[i].used) continue;
    int n = snprintf(keys + at, sizeof keys - at, "%s%.*s", at ? ", " : "",
                     (int)slp_min_u64(names->v[i].key.n, 60), names->v[i].key.p);
    at = slp_min_u64(at + (size_t)n, sizeof keys - 1);
  }
  return at == 0 ? 0
                 : slp_box_fail(c, "ValidationException",
                                "Value provided in %s unused in expressions: keys: {%s}", member_name, keys);
}

int slp_words_end(slp_words *w) {
  if (check_used(w->c, &w->names, "ExpressionAttributeNames", w->any)) return -1;
  return check_used(w->c, &w->values, "ExpressionAttributeValues", w->any);
}
