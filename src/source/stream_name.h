/* stream_name.h - parses two options: `stream`, the name or ARN of a Kinesis stream or DynamoDB table, and
 * `push_consumer`, the name or ARN of a registered consumer. */
#ifndef SLP_SOURCE_STREAM_NAME_H
#define SLP_SOURCE_STREAM_NAME_H

#include "base/base.h"

typedef enum { SLP_NAMES_KINESIS = 1, SLP_NAMES_DYNAMODB } slp_names;

typedef struct slp_stream_name { /* points into the text that was parsed */
  slp_names what;
  slp_str name; /* the name of the Kinesis stream or of the DynamoDB table */
  /* the ARN of the Kinesis stream, of the DynamoDB table, or of the table's stream; {NULL,0}: the user gave
   * only a name */
  slp_str arn;
} slp_stream_name;

/* most characters of a table's name; a Kinesis stream's name has at most 128 */
#define SLP_STREAM_NAME_MAX 255u
#define SLP_STREAM_ARN_MAX 511u

/* Parses the option `stream`. Returns 0, or SLOOP_EOPTION with a static text in *ret_why that says what is
 * wrong. */
int slp_stream_name_read(slp_str text, slp_stream_name *ret, const char **ret_why);
/* Returns 1 if the text names the stream of a table, even if it is malformed: it begins with "dynamodb:", or
 * is an ARN of DynamoDB. */
int slp_stream_is_of_table(slp_str text);

#define SLP_CONSUMER_ARN_MAX 700u

typedef struct slp_consumer_name { /* a registered consumer; points into the text that was parsed */
  slp_str name;
  /* the stream's ARN, if the user gave the consumer's ARN; {NULL,0}: the user gave only a name */
  slp_str stream_arn;
} slp_consumer_name;

/* Parses the name or the ARN (STREAM-ARN/consumer/NAME:NUMBER) of a consumer. Returns 0, or SLOOP_EOPTION
 * with a static text in *ret_why that says what is wrong. */
int slp_consumer_name_read(slp_str text, slp_consumer_name *ret, const char **ret_why);

#endif
