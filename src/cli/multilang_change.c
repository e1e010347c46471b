/* multilang_change.c - rewrites a record of DynamoDB Streams as RecordAdapter.getData() of
 * dynamodb-streams-kinesis-adapter 1.6.1 does (that jar wrote test/contract/vectors/change_adapter.json):
 *   1. ApproximateCreationDateTime is in whole milliseconds; the service sends seconds.
 *   2. userIdentity has principalId and type; the service sends PrincipalId and Type.
 *   3. A member that is null is left out.
 * One difference remains: a member that the jar's model does not know is kept here, and the jar drops it. */
#include "cli/multilang_change.h"

#include "base/buf.h"
#include "codec/json.h"

typedef enum object_kind { RECORD, CHANGE, IDENTITY, OTHER } object_kind;

static object_kind kind_of_member(object_kind in, slp_str name) {
  if (in == RECORD && slp_str_is(name, "dynamodb")) return CHANGE;
  if (in == RECORD && slp_str_is(name, "userIdentity")) return IDENTITY;
  return OTHER;
}

static slp_str name_to_write(object_kind in, slp_str name) {
  if (in == IDENTITY && slp_str_is(name, "PrincipalId")) return SLP_STR("principalId");
  if (in == IDENTITY && slp_str_is(name, "Type")) return SLP_STR("type");
  return name;
}

static int is_between(char c) { return c == ':' || c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/* Returns the offset of the value that follows the key which was read last. */
static size_t value_begins(const slp_json *j) {
  size_t at = j->at;
  while (at < j->n && is_between(j->p[at])) at++;
  return at;
}

static void put_name(slp_buf *b, slp_str name, int first) {
  slp_buf_add_z(b, first ? "\"" : ",\"");
  slp_buf_add_str(b, name);
  slp_buf_add_z(b, "\":");
}

/* Copies the value that begins at offset `from`. With is_time the value is a time in seconds, and is written
 * in milliseconds. */
static int put_value(slp_json *j, slp_buf *b, size_t from, int is_time) {
  int64_t ms;
  int r = slp_json_skip(j);
  slp_str text = {j->p + from, j->at - from};
  if (r) return r;
  if (is_time && slp_decimal_seconds_ms(text, &ms) == 0) return slp_buf_add_i64(b, ms);
  return slp_buf_add_str(b, text);
}

/* Rewrites the members of an object whose '{' has been read. Calls itself for objects inside the record,
 * which are one level deep. */
static int put_members(slp_json *j, slp_buf *b, object_kind in) {
  int r = slp_buf_add_char(b, '{'), t = 0, first = 1;
  while (!r && (t = slp_json_next(j)) == SLP_JSON_KEY) {
    slp_str name = j->text;
    size_t from = value_begins(j);
    object_kind inner = kind_of_member(in, name);
    /* the value is null, because no other JSON value begins with 'n' */
    if (from < j->n && j->p[from] == 'n') {
      r = slp_json_skip(j);
      continue;
    }
    put_name(b, name_to_write(in, name), first);
    first = 0;
    if (inner != OTHER && from < j->n && j->p[from] == '{') {
      t = slp_json_next(j);
      r = t < 0 ? t : put_members(j, b, inner);
    } else {
      r = put_value(j, b, from, in == CHANGE && slp_str_is(name, "ApproximateCreationDateTime"));
    }
  }
  if (r || t < 0) return r ? r : t;
  return slp_buf_add_char(b, '}');
}

int slp_ml_put_change(slp_buf *b, slp_str whole) {
  slp_json j;
  slp_json_begin(&j, (char *)(uintptr_t)whole.p, whole.n);
  j.keep = 1; /* the text is the user's record, so the reader must not unescape strings in place */
  int t = slp_json_next(&j);
  int r = t == SLP_JSON_OBJECT ? put_members(&j, b, RECORD) : SLP_EBADDATA;
  return r ? slp_buf_fail(b, r) : slp_buf_failed(b);
}
