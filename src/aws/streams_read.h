/* streams_read.h - requests to DynamoDB Streams, and to DynamoDB for a table's stream, and descriptions of
 * both. Other answers: answers.h, codec/page.h. */
#ifndef SLP_AWS_STREAMS_READ_H
#define SLP_AWS_STREAMS_READ_H

#include "aws/ops.h"

/* Requests are written into b, which must be empty. 0, SLP_ENOMEM, SLP_EBADDATA (a name that is not UTF-8).
 */
int slp_streams_put_table(slp_buf *b, slp_str table); /* DescribeTable: name or ARN */
int slp_streams_put_describe(slp_buf *b, slp_str arn);
int slp_streams_put_list(slp_buf *b, const slp_op_list_shards *op);
int slp_streams_put_iterator(slp_buf *b, const slp_op_iterator *op);
int slp_streams_put_records(slp_buf *b, const slp_op_records *op);

/* Read in place. 0, SLP_EBADDATA, SLP_ELIMIT; *ret_why then says what was wrong.
 * op->ret_name and ret_arn are the table's and its latest stream's; ret_arn "": it has none. */
int slp_streams_read_table(slp_str body, slp_op_describe *op, const char **ret_why);
int slp_streams_read_describe(slp_str body, slp_op_describe *op, const char **ret_why);

#endif
