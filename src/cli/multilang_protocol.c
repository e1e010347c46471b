/* multilang_protocol.c - writes and reads the lines of the MultiLangDaemon's protocol. */
#include "cli/multilang_protocol.h"

#include "base/buf.h"
#include "base/num.h"
#include "codec/base64.h"
#include "codec/json.h"
#include "codec/utf8.h"

#include <sloop.h>

/* ---- a change of a table ------------------------------------------------------------------------------ */
/* Amazon's StreamsMultiLangDaemon gives its children what RecordAdapter.getData() of
 * dynamodb-streams-kinesis-adapter 1.6.1 returns. So a record of DynamoDB Streams is rewritten in that way:
 *   1. ApproximateCreationDateTime is in whole milliseconds; the service sends seconds.
 *   2. userIdentity has principalId and type; the service sends PrincipalId and Type.
 *   3. A member that is null is left out.
 * One difference remains: a member that the adapter does not know is kept here, but the adapter drops it. The
 * adapter's jar has written test/contract/vectors/change_adapter.json. */

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

/* Returns the offset of the value that follows the key that was read last. */
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

static int put_change(slp_buf *b, slp_str whole) {
  slp_json j;
  slp_json_begin(&j, (char *)(uintptr_t)whole.p, whole.n);
  j.keep = 1; /* the text is the user's record, so the reader must not unescape strings in place */
  int t = slp_json_next(&j);
  int r = t == SLP_JSON_OBJECT ? put_members(&j, b, RECORD) : SLP_EBADDATA;
  return r ? slp_buf_fail(b, r) : slp_buf_failed(b);
}

static const char *const names[SLP_ML_ACTIONS] = {
    [SLP_ML_INITIALIZE] = "initialize",
    [SLP_ML_RECORDS] = "processRecords",
    [SLP_ML_LEASE_LOST] = "leaseLost",
    [SLP_ML_SHARD_ENDED] = "shardEnded",
    [SLP_ML_SHUTDOWN_REQUESTED] = "shutdownRequested",
};

const char *slp_ml_action_name(slp_ml_action a) { return names[a]; }

/* ---- writing ---------------------------------------------------------------------------------- */

/* Appends a JSON string with the escapes that Jackson writes: short escapes such as \n, and \u00XX with
 * capital digits for other control characters. Everything else is written unchanged. Bytes that are not UTF-8
 * become U+FFFD, but no service sends a partition key with such bytes. */
static int put_string(slp_buf *b, slp_str s) {
  /* letters of the short escapes for bytes 8 to 13; 0: the byte has no short escape */
  static const char shorts[] = "btn\0fr";
  slp_buf_add_char(b, '"');
  for (size_t i = 0; i < s.n;) {
    unsigned char c = (unsigned char)s.p[i];
    if (c == '"' || c == '\\') {
      slp_buf_add_char(b, '\\');
      slp_buf_add_char(b, (char)c);
    } else if (c >= 8 && c <= 13 && shorts[c - 8]) {
      slp_buf_add_char(b, '\\');
      slp_buf_add_char(b, shorts[c - 8]);
    } else if (c < 32) {
      slp_buf_addf(b, "\\u%04X", c);
    } else if (c < 128) {
      slp_buf_add_char(b, (char)c);
    } else {
      size_t n = slp_utf8_length(s.p + i, s.n - i);
      slp_buf_add(b, n ? s.p + i : "\xef\xbf\xbd", n ? n : 3);
      i += n ? n : 1;
      continue;
    }
    i++;
  }
  return slp_buf_add_char(b, '"');
}

int slp_ml_put_initialize(slp_buf *b, const char *shard, const char *sequence, uint64_t sub) {
  slp_buf_add_z(b, "{\"action\":\"initialize\",\"shardId\":");
  put_string(b, slp_str_of(shard));
  slp_buf_add_z(b, ",\"sequenceNumber\":");
  put_string(b, slp_str_of(sequence));
  return slp_buf_addf(b, ",\"subSequenceNumber\":%llu}\n", (unsigned long long)sub);
}

int slp_ml_put_records_begin(slp_buf *b) {
  return slp_buf_add_z(b, "{\"action\":\"processRecords\",\"records\":[");
}

static int put_change_base64(slp_buf *b, slp_str whole) {
  slp_buf text;
  slp_buf_init(&text, b->mem, UINT32_MAX);
  int r = put_change(&text, whole);
  r = r ? slp_buf_fail(b, r) : slp_base64_encode(b, slp_buf_str(&text));
  slp_buf_free(&text);
  return r;
}

int slp_ml_put_record(slp_buf *b, const sloop_record_t *r, int first) {
  int of_table = r->whole.len != 0;
  slp_buf_add_z(b, first ? "{\"data\":\"" : ",{\"data\":\"");
  if (of_table)
    put_change_base64(b, (slp_str){r->whole.base, r->whole.len});
  else
    slp_base64_encode(b, (slp_str){r->data.base, r->data.len});
  slp_buf_add_z(b, "\",\"partitionKey\":");
  /* writes null, as amazon-kinesis-client-multilang 3.1.3 does */
  if (of_table || r->flags & SLOOP_REC_KEYLESS)
    slp_buf_add_z(b, "null");
  else
    put_string(b, (slp_str){r->key.base, r->key.len});
  slp_buf_add_z(b, ",\"sequenceNumber\":");
  put_string(b, (slp_str){r->seq.base, r->seq.len});
  slp_buf_add_z(b, ",\"approximateArrivalTimestamp\":");
  if (r->arrived_at_ms < 0)
    slp_buf_add_z(b, "null");
  else
    slp_buf_add_i64(b, r->arrived_at_ms);
  if (of_table) return slp_buf_add_z(b, ",\"subSequenceNumber\":null,\"action\":\"record\"}");
  return slp_buf_addf(b, ",\"subSequenceNumber\":%llu,\"action\":\"record\"}", (unsigned long long)r->sub);
}

int slp_ml_put_records_end(slp_buf *b, int64_t behind_ms) {
  slp_buf_add_z(b, "],\"millisBehindLatest\":");
  if (behind_ms < 0)
    slp_buf_add_z(b, "null");
  else
    slp_buf_add_i64(b, behind_ms);
  return slp_buf_add_z(b, "}\n");
}

int slp_ml_put_action(slp_buf *b, slp_ml_action a) {
  return slp_buf_addf(b, "{\"action\":\"%s\"}\n", names[a]);
}

int slp_ml_put_checkpoint(slp_buf *b, const slp_ml_message *asked, const char *error) {
  slp_buf_add_z(b, "{\"action\":\"checkpoint\",\"sequenceNumber\":");
  if (asked->has_text)
    put_string(b, asked->text);
  else
    slp_buf_add_z(b, "null");
  slp_buf_add_z(b, ",\"subSequenceNumber\":");
  if (asked->has_sub)
    slp_buf_add_i64(b, asked->sub);
  else
    slp_buf_add_z(b, "null");
  slp_buf_add_z(b, ",\"error\":");
  if (error)
    put_string(b, slp_str_of(error));
  else
    slp_buf_add_z(b, "null");
  return slp_buf_add_z(b, "}\n");
}

/* ---- reading ---------------------------------------------------------------------------------- */

typedef struct fields {
  slp_str action, response_for, sequence;
  uint8_t has_action, has_response_for, has_sequence, has_sub;
  int64_t sub;
} fields;

/* Reads a string. As in Jackson, a number, true or false is accepted as a string too. Returns 1 if there is a
 * string, 0 for null, or SLP_EBADDATA. If a member is given twice, the later value is used, even if it is
 * null. */
static int take_text(slp_json *j, slp_str *ret) {
  int t = slp_json_next(j);
  *ret = (slp_str){NULL, 0};
  if (t == SLP_JSON_NULL) return 0;
  if (t == SLP_JSON_STRING || t == SLP_JSON_NUMBER) {
    *ret = j->text;
    return 1;
  }
  if (t != SLP_JSON_TRUE && t != SLP_JSON_FALSE) return SLP_EBADDATA;
  *ret = t == SLP_JSON_TRUE ? SLP_STR("true") : SLP_STR("false");
  return 1;
}

/* Reads a whole number, with or without quotes around it. Returns 1 if there is a number, 0 for null or an
 * empty string, or SLP_EBADDATA. */
static int take_number(slp_json *j, int64_t *ret) {
  int t = slp_json_next(j);
  *ret = 0;
  if (t == SLP_JSON_NULL || (t == SLP_JSON_STRING && !j->text.n)) return 0;
  if (t != SLP_JSON_NUMBER && t != SLP_JSON_STRING) return SLP_EBADDATA;
  return slp_parse_i64(j->text, ret) ? SLP_EBADDATA : 1;
}

static int take_member(slp_json *j, fields *f) {
  int r = 0;
  if (slp_str_is(j->text, "action"))
    f->has_action = (uint8_t)((r = take_text(j, &f->action)) > 0);
  else if (slp_str_is(j->text, "responseFor"))
    f->has_response_for = (uint8_t)((r = take_text(j, &f->response_for)) > 0);
  else if (slp_str_is(j->text, "sequenceNumber"))
    f->has_sequence = (uint8_t)((r = take_text(j, &f->sequence)) > 0);
  else if (slp_str_is(j->text, "subSequenceNumber"))
    f->has_sub = (uint8_t)((r = take_number(j, &f->sub)) > 0);
  else
    r = slp_json_skip(j);
  return r < 0 ? r : 0;
}

static int take_fields(char *line, size_t n, fields *f) {
  slp_json j;
  slp_json_begin(&j, line, n);
  if (slp_json_next(&j) != SLP_JSON_OBJECT) return SLP_EBADDATA;
  for (;;) {
    int t = slp_json_next(&j);
    if (t == SLP_JSON_OBJECT_END) break;
    if (t != SLP_JSON_KEY || take_member(&j, f)) return SLP_EBADDATA;
  }
  return slp_json_next(&j) == SLP_JSON_END ? 0 : SLP_EBADDATA;
}

void slp_ml_read(char *line, size_t n, slp_ml_message *ret) {
  fields f = {.has_action = 0};
  memset(ret, 0, sizeof *ret);
  if (n && line[n - 1] == '\r') n--;
  if (!n) {
    ret->kind = SLP_ML_EMPTY;
    return;
  }
  if (take_fields(line, n, &f) || !f.has_action) return;
  if (slp_str_is(f.action, "status")) {
    ret->kind = SLP_ML_STATUS;
    ret->text = f.response_for;
    ret->has_text = f.has_response_for;
  } else if (slp_str_is(f.action, "checkpoint")) {
    ret->kind = SLP_ML_CHECKPOINT;
    ret->text = f.sequence;
    ret->has_text = f.has_sequence;
    ret->sub = f.sub;
    ret->has_sub = f.has_sub;
  } else {
    for (size_t i = 0; i < SLP_COUNT(names); i++)
      if (slp_str_is(f.action, names[i])) ret->kind = SLP_ML_OTHER;
  }
}
