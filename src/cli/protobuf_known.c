/* protobuf_known.c - recognises messages of google.protobuf, and writes their times, durations and field-mask
 * paths. */
#include "cli/protobuf_known.h"

#include "base/buf.h"
#include "cli/protobuf_schema.h"
#include "codec/date.h"

#include <stdio.h>
#include <stdlib.h>

enum { NANOS = 1000000000 };
/* the first second that a Timestamp may have: 0001-01-01T00:00:00Z */
#define FIRST_SECOND INT64_C(-62135596800)
/* the last second that a Timestamp may have: 9999-12-31T23:59:59Z */
#define LAST_SECOND INT64_C(253402300799)
#define SPAN_MAX INT64_C(315576000000) /* the greatest number of seconds in a Duration: 10,000 years */

/* The known messages. Each row lists the fields that the message must have; their numbers begin at 1. */
static const struct known_row {
  const char *name;
  slp_pb_known known;
  struct {
    uint8_t kind, repeated;
  } fields[6];
} rows[] = {
    {"Timestamp", SLP_PB_TIMESTAMP, {{SLP_PB_INT64, 0}, {SLP_PB_INT32, 0}}},
    {"Duration", SLP_PB_DURATION, {{SLP_PB_INT64, 0}, {SLP_PB_INT32, 0}}},
    {"FieldMask", SLP_PB_FIELD_MASK, {{SLP_PB_STRING, 1}}},
    {"DoubleValue", SLP_PB_WRAPPER, {{SLP_PB_DOUBLE, 0}}},
    {"FloatValue", SLP_PB_WRAPPER, {{SLP_PB_FLOAT, 0}}},
    {"Int64Value", SLP_PB_WRAPPER, {{SLP_PB_INT64, 0}}},
    {"UInt64Value", SLP_PB_WRAPPER, {{SLP_PB_UINT64, 0}}},
    {"Int32Value", SLP_PB_WRAPPER, {{SLP_PB_INT32, 0}}},
    {"UInt32Value", SLP_PB_WRAPPER, {{SLP_PB_UINT32, 0}}},
    {"BoolValue", SLP_PB_WRAPPER, {{SLP_PB_BOOL, 0}}},
    {"StringValue", SLP_PB_WRAPPER, {{SLP_PB_STRING, 0}}},
    {"BytesValue", SLP_PB_WRAPPER, {{SLP_PB_BINARY, 0}}},
    {"Struct", SLP_PB_STRUCT, {{SLP_PB_MESSAGE, 1}}},
    {"ListValue", SLP_PB_LIST_VALUE, {{SLP_PB_MESSAGE, 1}}},
    {"Any", SLP_PB_ANY, {{SLP_PB_STRING, 0}, {SLP_PB_BINARY, 0}}},
    {"Value",
     SLP_PB_VALUE,
     {{SLP_PB_ENUM, 0},
      {SLP_PB_DOUBLE, 0},
      {SLP_PB_STRING, 0},
      {SLP_PB_BOOL, 0},
      {SLP_PB_MESSAGE, 0},
      {SLP_PB_MESSAGE, 0}}},
};

static int fits_known_fields(const struct known_row *row, const slp_pb_field *fields, uint32_t n) {
  uint32_t want = 0;
  while (want < SLP_COUNT(row->fields) && row->fields[want].kind) want++;
  if (n != want) return 0;
  for (uint32_t i = 0; i < n; i++)
    if (fields[i].number != i + 1 || fields[i].kind != row->fields[i].kind ||
        fields[i].repeated != row->fields[i].repeated || fields[i].is_map != (row->known == SLP_PB_STRUCT) ||
        (fields[i].oneof == 0) != (row->known == SLP_PB_VALUE))
      return 0;
  return 1;
}

slp_pb_known slp_pb_known_of(slp_str name, const slp_pb_field *fields, uint32_t n) {
  static const char package[] = "google.protobuf.";
  size_t skip = sizeof package - 1;
  if (name.n <= skip || memcmp(name.p, package, skip) != 0) return SLP_PB_ORDINARY;
  name = (slp_str){name.p + skip, name.n - skip};
  for (size_t i = 0; i < SLP_COUNT(rows); i++)
    if (slp_str_is(name, rows[i].name))
      return fits_known_fields(&rows[i], fields, n) ? rows[i].known : SLP_PB_ORDINARY;
  return SLP_PB_ORDINARY;
}

static int refuse_known_value(char why[SLP_PB_WHY], const char *what) {
  snprintf(why, SLP_PB_WHY, "%s", what);
  return SLP_EBADDATA;
}

/* Appends a decimal point and 3, 6 or 9 digits: the fewest that show the value exactly. Appends nothing for
 * 0. */
static void put_fraction(slp_buf *b, unsigned nanos) {
  if (!nanos) return;
  if (nanos % 1000000 == 0)
    slp_buf_addf(b, ".%03u", nanos / 1000000);
  else if (nanos % 1000 == 0)
    slp_buf_addf(b, ".%06u", nanos / 1000);
  else
    slp_buf_addf(b, ".%09u", nanos);
}

int slp_pb_put_timestamp(slp_buf *b, int64_t seconds, int32_t nanos, char why[SLP_PB_WHY]) {
  char text[25];
  if (seconds < FIRST_SECOND || seconds > LAST_SECOND || nanos < 0 || nanos >= NANOS)
    return refuse_known_value(why, "a Timestamp is not within the years 1 to 9999");
  slp_date_iso(seconds * 1000, text);
  slp_buf_addf(b, "\"%.19s", text);
  put_fraction(b, (unsigned)nanos);
  return slp_buf_add_z(b, "Z\"");
}

int slp_pb_put_duration(slp_buf *b, int64_t seconds, int32_t nanos, char why[SLP_PB_WHY]) {
  if (seconds < -SPAN_MAX || seconds > SPAN_MAX || nanos <= -NANOS || nanos >= NANOS ||
      (seconds < 0 && nanos > 0) || (seconds > 0 && nanos < 0))
    return refuse_known_value(why, "a Duration is longer than 10,000 years, or of two signs");
  slp_buf_addf(b, "\"%s%lld", seconds < 0 || nanos < 0 ? "-" : "", llabs((long long)seconds));
  put_fraction(b, (unsigned)abs(nanos));
  return slp_buf_add_z(b, "s\"");
}

int slp_pb_put_path(slp_buf *b, slp_str path, char why[SLP_PB_WHY]) {
  int up = 0, bad = 0;
  for (size_t i = 0; i < path.n && !bad; i++) {
    char c = path.p[i];
    bad = (c >= 'A' && c <= 'Z') || (up && !(c >= 'a' && c <= 'z'));
    if (c != '_' && !bad) slp_buf_add_char(b, up ? (char)(c - 'a' + 'A') : c);
    up = c == '_';
  }
  return bad || up ? refuse_known_value(why, "a path of a FieldMask has no JSON") : slp_buf_failed(b);
}
