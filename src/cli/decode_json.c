/* decode_json.c - two decoders that turn JSON into JSON: one writes it on one line, the other removes
 * DynamoDB's types. */
#include "cli/decode_json.h"

#include "base/buf.h"
#include "base/mem.h"
#include "cli/decode.h"
#include "cli/decoder_table.h"
#include "codec/json.h"
#include "codec/json_write.h"

/* Starts to read a copy of the text, because the JSON reader changes the text in place. */
static int begin_json_copy(slp_buf *copy, slp_json *j, slp_mem *mem, slp_str in) {
  slp_buf_init(copy, mem, SLP_DECODED_BYTES_MAX);
  slp_buf_add_str(copy, in);
  /* reserves a byte, so that the copy of an empty text has an address too */
  int r = slp_buf_reserve(copy, 1);
  if (!r) slp_json_begin(j, copy->p, copy->n);
  return r;
}

/* Writes a token unchanged. */
static int put_token(slp_jw *w, const slp_json *j, int token) {
  switch (token) {
    case SLP_JSON_OBJECT: slp_jw_object(w, NULL); break;
    case SLP_JSON_OBJECT_END: slp_jw_object_end(w); break;
    case SLP_JSON_ARRAY: slp_jw_array(w, NULL); break;
    case SLP_JSON_ARRAY_END: slp_jw_array_end(w); break;
    case SLP_JSON_KEY: slp_jw_key(w, j->text); break;
    case SLP_JSON_STRING: slp_jw_str(w, NULL, j->text); break;
    case SLP_JSON_NUMBER: slp_jw_raw(w, NULL, j->text); break;
    case SLP_JSON_TRUE: slp_jw_bool(w, NULL, 1); break;
    case SLP_JSON_FALSE: slp_jw_bool(w, NULL, 0); break;
    case SLP_JSON_NULL: slp_jw_null(w, NULL); break;
    default: return token < 0 ? token : SLP_EBADDATA;
  }
  return 0;
}

int slp_decode_put_value(slp_jw *w, slp_json *j, int token) {
  for (uint32_t depth = 0;; token = slp_json_next(j)) {
    int r = put_token(w, j, token);
    if (r) return r;
    if (token == SLP_JSON_OBJECT || token == SLP_JSON_ARRAY) depth++;
    if (token == SLP_JSON_OBJECT_END || token == SLP_JSON_ARRAY_END) depth--;
    if (depth == 0 && token != SLP_JSON_KEY) return 0;
  }
}

/* Ends the reading and returns its error. Another token after the value is an error. If `ret` has failed,
 * returns the error of `ret` instead. */
static int end_json_copy(slp_buf *copy, slp_json *j, const slp_buf *ret, int r) {
  if (!r && slp_json_next(j) != SLP_JSON_END) r = SLP_EBADDATA;
  slp_buf_free(copy);
  return slp_buf_failed(ret) ? slp_buf_failed(ret) : r;
}

int slp_decode_plain_json(slp_buf *ret, slp_str in) {
  slp_buf copy;
  slp_json j;
  slp_jw w = {.b = ret, .one_line = 1};
  int r = begin_json_copy(&copy, &j, ret->mem, in);
  if (!r) r = slp_decode_put_value(&w, &j, slp_json_next(&j));
  r = end_json_copy(&copy, &j, ret, r);
  /* SLP_ELIMIT of the JSON reader means that the JSON is nested too deep */
  return r == SLP_ELIMIT ? SLP_EBADDATA : r;
}

/* ---- DynamoDB's types --------------------------------------------------------------------------- */

/* Returns 1 if the text is a number in JSON's syntax: -?(0|[1-9][0-9]*)(.[0-9]+)?([eE][+-]?[0-9]+)? */
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

/* Writes a number of DynamoDB unchanged. If it is not a number in JSON's syntax, writes it as a string. */
static void put_number(slp_jw *w, slp_str number) {
  if (is_json_number(number))
    slp_jw_raw(w, NULL, number);
  else
    slp_jw_str(w, NULL, number);
}

static int put_set(slp_jw *w, slp_json *j, int numbers) {
  int token;
  if (slp_json_next(j) != SLP_JSON_ARRAY) return SLP_EBADDATA;
  slp_jw_array(w, NULL);
  while ((token = slp_json_next(j)) == SLP_JSON_STRING) {
    if (numbers)
      put_number(w, j->text);
    else
      slp_jw_str(w, NULL, j->text);
  }
  slp_jw_array_end(w);
  return token == SLP_JSON_ARRAY_END ? 0 : SLP_EBADDATA;
}

static int put_attribute(slp_jw *w, slp_json *j, int token);

/* Writes a map of attributes as an object without types. The reader j is after the map's '{'. */
static int put_attributes(slp_jw *w, slp_json *j) {
  int token, r = 0;
  slp_jw_object(w, NULL);
  while (!r && (token = slp_json_next(j)) != SLP_JSON_OBJECT_END) {
    if (token != SLP_JSON_KEY) return SLP_EBADDATA;
    slp_jw_key(w, j->text);
    r = put_attribute(w, j, slp_json_next(j));
  }
  slp_jw_object_end(w);
  return r;
}

static int put_list(slp_jw *w, slp_json *j) {
  int token, r = 0;
  if (slp_json_next(j) != SLP_JSON_ARRAY) return SLP_EBADDATA;
  slp_jw_array(w, NULL);
  while (!r && (token = slp_json_next(j)) != SLP_JSON_ARRAY_END) r = put_attribute(w, j, token);
  slp_jw_array_end(w);
  return r;
}

static int put_typed(slp_jw *w, slp_json *j, kind k) {
  int token;
  switch (k) {
    case SET_TYPE:
    case NUMBERS_TYPE: return put_set(w, j, k == NUMBERS_TYPE);
    case LIST_TYPE: return put_list(w, j);
    case MAP_TYPE: return slp_json_next(j) == SLP_JSON_OBJECT ? put_attributes(w, j) : SLP_EBADDATA;
    case STRING_TYPE:
      return slp_json_next(j) == SLP_JSON_STRING ? put_token(w, j, SLP_JSON_STRING) : SLP_EBADDATA;
    case NUMBER_TYPE:
      if (slp_json_next(j) != SLP_JSON_STRING) return SLP_EBADDATA;
      put_number(w, j->text);
      return 0;
    case BOOL_TYPE:
      token = slp_json_next(j);
      return token == SLP_JSON_TRUE || token == SLP_JSON_FALSE ? put_token(w, j, token) : SLP_EBADDATA;
    case NULL_TYPE: return slp_json_next(j) == SLP_JSON_TRUE ? put_token(w, j, SLP_JSON_NULL) : SLP_EBADDATA;
  }
  return SLP_EBADDATA;
}

/* Writes the value of {"TYPE": ...} without its type. `token` is the first token of that object. The function
 * calls itself; the JSON reader bounds the depth. */
static int put_attribute(slp_jw *w, slp_json *j, int token) {
  kind k;
  if (token != SLP_JSON_OBJECT || slp_json_next(j) != SLP_JSON_KEY || !find_type(j->text, &k))
    return SLP_EBADDATA;
  int r = put_typed(w, j, k);
  if (r) return r;
  return slp_json_next(j) == SLP_JSON_OBJECT_END ? 0 : SLP_EBADDATA;
}

/* Writes a change record. The reader j is after the '{' of the record. Images and keys lose their types, and
 * everything else stays as it is. Sets *found to 1 if the change has any images or keys. */
static int put_change(slp_jw *w, slp_json *j, int *found) {
  int token, r = 0;
  slp_jw_object(w, NULL);
  while (!r && (token = slp_json_next(j)) != SLP_JSON_OBJECT_END) {
    if (token != SLP_JSON_KEY) return SLP_EBADDATA;
    int typed =
        slp_str_is(j->text, "Keys") || slp_str_is(j->text, "NewImage") || slp_str_is(j->text, "OldImage");
    int inner = slp_str_is(j->text, "dynamodb");
    slp_jw_key(w, j->text);
    token = slp_json_next(j);
    int object = token == SLP_JSON_OBJECT;
    if (typed && object) *found = 1;
    r = typed && object   ? put_attributes(w, j)
        : inner && object ? put_change(w, j, found)
                          : slp_decode_put_value(w, j, token);
  }
  slp_jw_object_end(w);
  return r;
}

/* Writes the whole text, which must be one object, as an item or as a change. */
static int put_whole(slp_buf *ret, slp_str in, int as_item, int *found) {
  slp_buf copy;
  slp_json j;
  slp_jw w = {.b = ret, .one_line = 1};
  int r = begin_json_copy(&copy, &j, ret->mem, in);
  if (!r && slp_json_next(&j) != SLP_JSON_OBJECT) r = SLP_EBADDATA;
  if (!r) r = as_item ? put_attributes(&w, &j) : put_change(&w, &j, found);
  return end_json_copy(&copy, &j, ret, r);
}

int slp_decode_ddb_json(slp_buf *ret, slp_str in) {
  size_t from = ret->n;
  int found = 0;
  int r = put_whole(ret, in, 0, &found);
  if (!r && found) return 0;
  if (r && r != SLP_EBADDATA && r != SLP_ELIMIT) return r;
  /* The text is not a change, so it is read again as an item or a map of keys. */
  slp_buf_cut(ret, from);
  r = put_whole(ret, in, 1, &found);
  return r == SLP_ELIMIT ? SLP_EBADDATA : r;
}

const slp_decoder slp_decoder_ddb_json = {.name = "ddb-json",
                                          .does = "DynamoDB's typed JSON as plain JSON",
                                          .damaged = "it is not DynamoDB's JSON",
                                          .run = slp_decode_ddb_json,
                                          .makes_json = 1};
const slp_decoder slp_decoder_plain_json = {.name = "plain-json",
                                            .does = "on one line; with -J as a value",
                                            .damaged = "it is not JSON",
                                            .run = slp_decode_plain_json,
                                            .makes_json = 1};
