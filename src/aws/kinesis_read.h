/* kinesis_read.h - requests to Kinesis as JSON or CBOR, and its JSON answers, the page of records excepted
 * (that is codec/page's). */
#ifndef SLP_AWS_KINESIS_READ_H
#define SLP_AWS_KINESIS_READ_H

#include "aws/ops.h"
#include "codec/json.h"

/* Requests are written into b, which must be empty. 0, SLP_ENOMEM, SLP_EBADDATA (a name that is not UTF-8).
 */
int slp_kinesis_put_describe(slp_buf *b, const slp_op_describe *op);
int slp_kinesis_put_list(slp_buf *b, const slp_op_list_shards *op);
int slp_kinesis_put_iterator(slp_buf *b, const slp_op_iterator *op);
int slp_kinesis_put_records(slp_buf *b, const slp_op_records *op, slp_form form);

/* Answers are read in place. 0, SLP_EBADDATA, SLP_ELIMIT, SLP_ENOMEM; *ret_why then says what was wrong. */
int slp_kinesis_read_describe(slp_str body, slp_op_describe *op, const char **ret_why);
int slp_kinesis_read_iterator(slp_str body, slp_op_iterator *op, const char **ret_why);

/* A listing is read some rows at a time. */
typedef struct slp_list_reader {
  slp_json j;
  uint8_t in_rows;
  uint8_t rows_given;
  size_t rows_cap;
  const char *why;
} slp_list_reader;
void slp_list_reader_begin(slp_list_reader *r, slp_op_list_shards *op);
/* SLP_MORE: call again. */
int slp_list_read(slp_list_reader *r, slp_op_list_shards *op, size_t rows_max);

#endif
