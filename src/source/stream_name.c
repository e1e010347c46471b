/* stream_name.c - parses names and ARNs of streams, tables and registered consumers. */
#include "source/stream_name.h"

#include "aws/endpoint.h"
#include "codec/digits.h"
#include "sloop.h"

#define KINESIS_NAME_MAX 128u
#define TABLE_NAME_MIN 3u

static int text_begins_with(slp_str s, slp_str with) {
  return s.n >= with.n && memcmp(s.p, with.p, with.n) == 0;
}

static slp_str text_after(slp_str s, size_t n) { return (slp_str){s.p + n, s.n - n}; }

/* Returns 1 if s has `least` to `most` characters, all of them allowed. Names of Kinesis streams and of
 * DynamoDB tables allow the same characters (StreamName, TableName: botocore 1.43.11, service models). */
static int is_name(slp_str s, size_t least, size_t most) {
  for (size_t i = 0; i < s.n; i++) {
    char c = s.p[i];
    int ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
             c == '.' || c == '-';
    if (!ok) return 0;
  }
  return s.n >= least && s.n <= most;
}

static int is_printable(slp_str s) {
  for (size_t i = 0; i < s.n; i++) {
    if ((unsigned char)s.p[i] <= 0x20 || (unsigned char)s.p[i] >= 0x7f) return 0;
  }
  return 1;
}

/* Splits s at the first character `at`. Returns the part before that character; s is then the part after it.
 * If s has no such character, returns {NULL,0}, and s is unchanged. */
static slp_str cut_at_character(slp_str *s, char at) {
  const char *end = s->n ? memchr(s->p, at, s->n) : NULL;
  if (!end) return (slp_str){NULL, 0};
  slp_str part = {s->p, (size_t)(end - s->p)};
  *s = text_after(*s, part.n + 1);
  return part;
}

static int explain_wrong_name(const char **ret_why, const char *why) {
  *ret_why = why;
  return SLOOP_EOPTION;
}

/* Parses the resource part of a DynamoDB ARN: table/NAME or table/NAME/stream/LABEL. */
static int read_table(slp_str resource, slp_stream_name *ret, const char **ret_why) {
  const slp_str table = SLP_STR("table/"), stream = SLP_STR("stream/");
  ret->what = SLP_NAMES_DYNAMODB;
  if (!text_begins_with(resource, table))
    return explain_wrong_name(ret_why, "not the ARN of a table or of a table's stream");
  slp_str rest = text_after(resource, table.n);
  slp_str name = cut_at_character(&rest, '/');
  if (!name.p) {
    name = rest;
  } else if (!text_begins_with(rest, stream) || rest.n == stream.n ||
             slp_str_has(text_after(rest, stream.n), '/')) {
    return explain_wrong_name(ret_why, "not the ARN of a table or of a table's stream");
  }
  ret->name = name;
  if (is_name(name, TABLE_NAME_MIN, SLP_STREAM_NAME_MAX)) return 0;
  return explain_wrong_name(ret_why, "not the ARN of a table or of a table's stream");
}

/* The error message for a queue of Kinesis, which has no shards (botocore 1.44.8: ReceiveQueueRecords). The
 * ARN of such a queue has the service "kinesis" too. */
static const char a_queue[] =
    "a queue, which has no shards and is read by other calls: name a stream of Kinesis or a table";

static int is_queue(slp_str service, slp_str resource) {
  return slp_str_is(service, "sqs") ||
         (slp_str_is(service, "kinesis") && text_begins_with(resource, SLP_STR("queue/")));
}

/* Parses an ARN: arn:PARTITION:SERVICE:REGION:ACCOUNT:RESOURCE. */
static int read_arn(slp_str arn, slp_stream_name *ret, const char **ret_why) {
  slp_str rest = text_after(arn, 4);
  slp_str partition = cut_at_character(&rest, ':'), service = cut_at_character(&rest, ':'),
          region = cut_at_character(&rest, ':');
  slp_str account = cut_at_character(&rest, ':');
  int fits = account.p && partition.n && region.n && arn.n <= SLP_STREAM_ARN_MAX && is_printable(arn);
  ret->arn = arn;
  if (fits && slp_str_is(service, "dynamodb")) return read_table(rest, ret, ret_why);
  const slp_str stream = SLP_STR("stream/");
  ret->what = SLP_NAMES_KINESIS;
  if (fits && is_queue(service, rest)) return explain_wrong_name(ret_why, a_queue);
  if (!fits || !slp_str_is(service, "kinesis") || !text_begins_with(rest, stream))
    return explain_wrong_name(ret_why, "not the ARN of a stream of Kinesis or of a table of DynamoDB");
  ret->name = text_after(rest, stream.n);
  return is_name(ret->name, 1, KINESIS_NAME_MAX)
             ? 0
             : explain_wrong_name(ret_why, "not the ARN of a Kinesis stream");
}

int slp_stream_name_read(slp_str text, slp_stream_name *ret, const char **ret_why) {
  const slp_str table = SLP_STR("dynamodb:");
  *ret = (slp_stream_name){.what = SLP_NAMES_KINESIS};
  if (text_begins_with(text, SLP_STR("arn:"))) return read_arn(text, ret, ret_why);
  if (text_begins_with(text, table)) {
    ret->what = SLP_NAMES_DYNAMODB;
    ret->name = text_after(text, table.n);
    if (is_name(ret->name, TABLE_NAME_MIN, SLP_STREAM_NAME_MAX)) return 0;
    return explain_wrong_name(ret_why, "a table's name is 3 to 255 of a-z A-Z 0-9 _ . -");
  }
  ret->name = text;
  if (is_name(text, 1, KINESIS_NAME_MAX)) return 0;
  return explain_wrong_name(ret_why, "a name is 1 to 128 of a-z A-Z 0-9 _ . -");
}

int slp_stream_is_of_table(slp_str text) {
  return text_begins_with(text, SLP_STR("dynamodb:")) ||
         slp_str_is(slp_arn_field(text, SLP_ARN_SERVICE), "dynamodb");
}

static int is_number(slp_str s) { return s.n > 0 && slp_all_digits(s.p, s.n); }

static int read_consumer_arn(slp_str arn, slp_consumer_name *ret, const char **ret_why) {
  const slp_str mark = SLP_STR("/consumer/");
  const char *not_one = "not the ARN of a consumer, STREAM-ARN/consumer/NAME:NUMBER";
  slp_stream_name stream;
  const char *why;
  size_t at = 0;
  while (at < arn.n && !text_begins_with(text_after(arn, at), mark)) at++;
  if (at == arn.n || arn.n > SLP_CONSUMER_ARN_MAX) return explain_wrong_name(ret_why, not_one);
  slp_str rest = text_after(arn, at + mark.n);
  ret->stream_arn = (slp_str){arn.p, at};
  ret->name = cut_at_character(&rest, ':');
  int r = slp_stream_name_read(ret->stream_arn, &stream, &why);
  if (r || stream.what != SLP_NAMES_KINESIS || !is_number(rest)) return explain_wrong_name(ret_why, not_one);
  return is_name(ret->name, 1, KINESIS_NAME_MAX) ? 0 : explain_wrong_name(ret_why, not_one);
}

int slp_consumer_name_read(slp_str text, slp_consumer_name *ret, const char **ret_why) {
  *ret = (slp_consumer_name){.name = text};
  if (text_begins_with(text, SLP_STR("arn:"))) return read_consumer_arn(text, ret, ret_why);
  if (is_name(text, 1, KINESIS_NAME_MAX)) return 0;
  return explain_wrong_name(ret_why,
                            "not the name of a consumer, 1 to 128 letters, digits, '_', '.' and '-'");
}
