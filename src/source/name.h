/* name.h - reads the option `stream`, a stream of Kinesis or of DynamoDB by name or ARN, and `push_consumer`,
 * a registered consumer by name or ARN. */
#ifndef SLP_SOURCE_NAME_H
#define SLP_SOURCE_NAME_H

#include "base/base.h"

typedef enum { SLP_NAMES_KINESIS = 1, SLP_NAMES_DYNAMODB } slp_names;

typedef struct slp_stream_name { /* slices of what was read */
  slp_names what;
  slp_str name; /* of the stream; DynamoDB: of the table */
  slp_str arn;  /* {NULL,0}: only a name was given. DynamoDB: the table's or the stream's */
} slp_stream_name;

#define SLP_STREAM_NAME_MAX 255u /* of tables; Kinesis' streams: 128 */
#define SLP_STREAM_ARN_MAX 511u

/* 0, or SLOOP_EOPTION and static text that says what is wrong with it. */
int slp_stream_name_read(slp_str text, slp_stream_name *ret, const char **ret_why);
/* Returns 1 if the text, right or not, is meant for the stream of a table: dynamodb:..., or an ARN of
 * DynamoDB. */
int slp_stream_is_of_table(slp_str text);

#define SLP_CONSUMER_ARN_MAX 700u

typedef struct slp_consumer_name { /* of a registered consumer; slices of what was read */
  slp_str name;
  slp_str stream_arn; /* {NULL,0}: only a name was given */
} slp_consumer_name;

/* Reads a consumer's name, or its ARN: STREAM-ARN/consumer/NAME:NUMBER. Returns as the function above. */
int slp_consumer_name_read(slp_str text, slp_consumer_name *ret, const char **ret_why);

#endif
