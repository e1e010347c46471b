/* decode_json.c - JSON to JSON: on one line, and without DynamoDB's types. */
#include "cli/decode_json.h"

#include "cli/decode.h"
#include "codec/json.h"

/* The reader works in place, and what it reads is not ours to change. */
static int begin(slp_buf *copy, slp_json *j, slp_mem *mem, slp_str in) {
  slp_buf_init(copy, mem, SLP_DECODED_BYTES_MAX);
  int r = slp_buf_add_str(copy, in);
  if (!r) r = slp_buf_reserve(copy, 1); /* an empty text has an address too */
  if (!r) slp_json_begin(j, copy->p, copy->n);
  return r;
}

/* A token that is a value by itself, or the beginning of one. */
static int put_token(slp_buf *b, const slp_json *j, int token) {
  switch (token) {
    case SLP_JSON_OBJECT: return slp_buf_add_char(b, '{');
    case SLP_JSON_OBJECT_END: return slp_buf_add_char(b, '}');
    case SLP_JSON_ARRAY: return slp_buf_add_char(b, '[');
    case SLP_JSON_ARRAY_END: return slp_buf_add_char(b, ']');
    case SLP_JSON_STRING: return slp_json_put_line_string(b, j->text);
    case SLP_JSON_NUMBER: return slp_buf_add_str(b, j->text);
    case SLP_JSON_TRUE: return slp_buf_add_z(b, "true");
    case SLP_JSON_FALSE: return slp_buf_add_z(b, "false");
    case SLP_JSON_NULL: return slp_buf_add_z(b, "null");
    default: return SLP_EBADDATA;
  }
}

/* A comma where the text so far calls for one. */
static int put_comma(slp_buf *b, size_t from) {
  char last = b->n > from ? b->p[b->n - 1] : '{';
  return last == '{' || last == '[' || last == ':' ? 0 : slp_buf_add_char(b, ',');
}

static int put_key(slp_buf *b, slp_str key) {
  int bad = slp_json_put_line_string(b, key);
  return bad ? bad : slp_buf_add_char(b, ':');
}

/* Copies the value that begins with `token`, whatever it is. */
static int put_value(slp_buf *b, slp_json *j, int token) {
  size_t from = b->n;
  uint32_t depth = 0;
  for (int first = 1;; first = 0) {
    if (!first) token = slp_json_next(j);
    if (token < 0) return token;
    int ends = token == SLP_JSON_OBJECT_END || token == SLP_JSON_ARRAY_END;
    int bad = ends ? 0 : put_comma(b, from);
    if (!bad) bad = token == SLP_JSON_KEY ? put_key(b, j->text) : put_token(b, j, token);
    if (bad) return bad;
    if (token == SLP_JSON_OBJECT || token == SLP_JSON_ARRAY) depth++;
    if (ends) depth--;
    if (depth == 0 && token != SLP_JSON_KEY) return 0;
  }
}

int slp_decode_plain_json(slp_buf *ret, slp_str in) {
  slp_buf copy;
  slp_json j;
  int r = begin(&copy, &j, ret->mem, in);
  if (!r) {
    int token = slp_json_next(&j);
    r = token < 0 ? token : put_value(ret, &j, token);
  }
  if (!r && slp_json_next(&j) != SLP_JSON_END) r = SLP_EBADDATA;
  slp_buf_free(&copy);
  return r == SLP_ELIMIT ? SLP_EBADDATA : r; /* too deep */
}

/* ---- DynamoDB's types --------------------------------------------------------------------------- */

/* A JSON number: -?(0|[1-9][0-9]*)(.[0-9]+)?([eE][+-]?[0-9]+)? */
static int is_json_number(slp_str s) {
  size_t at = 0, from;
  if (at < s.n && s.p[at] == '-') at++;
  from = at;
  while (at < s.n && s.p[at] >= '0' && s.p[at] <= '9') at++;
  if (at == from || (s.p[from] == '0' && at - from > 1)) return 0;
  if (at < s.n && s.p[at] == '.') {
    from = ++at;
    while (at < s.n && s.p[at] >= '0' && s.p[at] <= '9') at++;
    if (at == from) return 0;
  }
  if (at < s.n && (s.p[at] == 'e' || s.p[at] == 'E')) {
    at++;
    if (at < s.n && (s.p[at] == '+' || s.p[at] == '-')) at++;
    from = at;
    while (at < s.n && s.p[at] >= '0' && s.p[at] <= '9') at++;
    if (at == from) return 0;
  }
  return at == s.n;
}

typedef enum {
  STRING_TYPE,
  NUMBER_TYPE,
  BOOL_TYPE,
  NULL_TYPE,
  LIST_TYPE,
  MAP_TYPE,
  SET_TYPE,
  NUMBERS_TYPE
} kind;

static const struct {
  const char *name;
  kind kind;
} types[] = {{"S", STRING_TYPE},  {"N", NUMBER_TYPE},  {"B", STRING_TYPE}, {"BOOL", BOOL_TYPE},
             {"NULL", NULL_TYPE}, {"L", LIST_TYPE},    {"M", MAP_TYPE},    {"SS", SET_TYPE},
             {"BS", SET_TYPE},    {"NS", NUMBERS_TYPE}};

static int find_type(slp_str name, kind *ret) {
  for (size_t i = 0; i < SLP_COUNT(types); i++) {
    if (!slp_str_is(name, types[i].name)) continue;
    *ret = types[i].kind;
    return 1;
  }
  return 0;
}

static int put_number(slp_buf *b, slp_str number) {
  return is_json_number(number) ? slp_buf_add_str(b, number) : slp_json_put_line_string(b, number);
}

static int put_set(slp_buf *b, slp_json *j, int numbers) {
  if (slp_json_next(j) != SLP_JSON_ARRAY) return SLP_EBADDATA;
  int bad = slp_buf_add_char(b, '[');
  for (int first = 1; !bad; first = 0) {
    int token = slp_json_next(j);
    if (token == SLP_JSON_ARRAY_END) return slp_buf_add_char(b, ']');
    if (token != SLP_JSON_STRING) return SLP_EBADDATA;
    if (!first) bad = slp_buf_add_char(b, ',');
    if (!bad) bad = numbers ? put_number(b, j->text) : slp_json_put_line_string(b, j->text);
  }
  return bad;
}

static int put_attribute(slp_buf *b, slp_json *j, int token);

/* After '{': the members of a map of attributes and its '}'. */
static int put_attributes(slp_buf *b, slp_json *j) {
  int bad = slp_buf_add_char(b, '{');
  for (int first = 1; !bad; first = 0) {
    int token = slp_json_next(j);
    if (token == SLP_JSON_OBJECT_END) return slp_buf_add_char(b, '}');
    if (token != SLP_JSON_KEY) return SLP_EBADDATA;
    if (!first) bad = slp_buf_add_char(b, ',');
    if (!bad) bad = put_key(b, j->text);
    if (!bad) bad = put_attribute(b, j, slp_json_next(j));
  }
  return bad;
}

static int put_list(slp_buf *b, slp_json *j) {
  if (slp_json_next(j) != SLP_JSON_ARRAY) return SLP_EBADDATA;
  int bad = slp_buf_add_char(b, '[');
  for (int first = 1; !bad; first = 0) {
    int token = slp_json_next(j);
    if (token == SLP_JSON_ARRAY_END) return slp_buf_add_char(b, ']');
    if (!first) bad = slp_buf_add_char(b, ',');
    if (!bad) bad = put_attribute(b, j, token);
  }
  return bad;
}

static int put_typed(slp_buf *b, slp_json *j, kind k) {
  int token;
  switch (k) {
    case SET_TYPE:
    case NUMBERS_TYPE: return put_set(b, j, k == NUMBERS_TYPE);
    case LIST_TYPE: return put_list(b, j);
    case MAP_TYPE: return slp_json_next(j) == SLP_JSON_OBJECT ? put_attributes(b, j) : SLP_EBADDATA;
    case STRING_TYPE:
      return slp_json_next(j) == SLP_JSON_STRING ? put_token(b, j, SLP_JSON_STRING) : SLP_EBADDATA;
    case NUMBER_TYPE: return slp_json_next(j) == SLP_JSON_STRING ? put_number(b, j->text) : SLP_EBADDATA;
    case BOOL_TYPE:
      token = slp_json_next(j);
      return token == SLP_JSON_TRUE || token == SLP_JSON_FALSE ? put_token(b, j, token) : SLP_EBADDATA;
    case NULL_TYPE: return slp_json_next(j) == SLP_JSON_TRUE ? slp_buf_add_z(b, "null") : SLP_EBADDATA;
  }
  return SLP_EBADDATA;
}

/* {"TYPE": ...}, of which `token` was read: as deep as the reader allows, so the recursion has a bound. */
static int put_attribute(slp_buf *b, slp_json *j, int token) {
  kind k;
  if (token != SLP_JSON_OBJECT || slp_json_next(j) != SLP_JSON_KEY || !find_type(j->text, &k))
    return SLP_EBADDATA;
  int bad = put_typed(b, j, k);
  if (bad) return bad;
  return slp_json_next(j) == SLP_JSON_OBJECT_END ? 0 : SLP_EBADDATA;
}

/* A change: images and keys lose their types, everything else stays. After its '{'. */
static int put_change(slp_buf *b, slp_json *j, int *found) {
  int bad = slp_buf_add_char(b, '{');
  for (int first = 1; !bad; first = 0) {
    int token = slp_json_next(j);
    if (token == SLP_JSON_OBJECT_END) return slp_buf_add_char(b, '}');
    if (token != SLP_JSON_KEY) return SLP_EBADDATA;
    int typed =
        slp_str_is(j->text, "Keys") || slp_str_is(j->text, "NewImage") || slp_str_is(j->text, "OldImage");
    int inner = slp_str_is(j->text, "dynamodb");
    if (!first) bad = slp_buf_add_char(b, ',');
    if (!bad) bad = put_key(b, j->text);
    if (bad) return bad;
    token = slp_json_next(j);
    int object = token == SLP_JSON_OBJECT;
    if (typed && object) *found = 1;
    bad = typed && object   ? put_attributes(b, j)
          : inner && object ? put_change(b, j, found)
                            : put_value(b, j, token);
  }
  return bad;
}

int slp_decode_ddb_json(slp_buf *ret, slp_str in) {
  slp_buf copy;
  slp_json j;
  size_t from = ret->n;
  int found = 0;
  int r = begin(&copy, &j, ret->mem, in);
  if (!r) r = slp_json_next(&j) == SLP_JSON_OBJECT ? put_change(ret, &j, &found) : SLP_EBADDATA;
  if (!r && slp_json_next(&j) != SLP_JSON_END) r = SLP_EBADDATA;
  slp_buf_free(&copy);
  if (!r && found) return 0;
  if (r && r != SLP_EBADDATA && r != SLP_ELIMIT) return r;
  /* No change: then an item, or keys, by itself. */
  ret->n = from;
  r = begin(&copy, &j, ret->mem, in);
  if (!r) r = slp_json_next(&j) == SLP_JSON_OBJECT ? put_attributes(ret, &j) : SLP_EBADDATA;
  if (!r && slp_json_next(&j) != SLP_JSON_END) r = SLP_EBADDATA;
  slp_buf_free(&copy);
  return r == SLP_ELIMIT ? SLP_EBADDATA : r;
}
