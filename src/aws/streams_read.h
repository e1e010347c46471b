/* streams_read.h - writes requests to DynamoDB Streams, and to DynamoDB for a table's stream, and reads the
 * descriptions of both. Other answers: answers.h, codec/page.h. */
#ifndef SLP_AWS_STREAMS_READ_H
#define SLP_AWS_STREAMS_READ_H

#include "aws/ops.h"

/* These write a request into b, which must be empty. They return 0, SLP_ENOMEM, or SLP_EBADDATA for a name
 * that is not UTF-8. */
int slp_streams_put_table(slp_buf *b, slp_str table); /* DescribeTable; `table` is a name or an ARN */
int slp_streams_put_describe(slp_buf *b, slp_str arn);
int slp_streams_put_list(slp_buf *b, const slp_op_list_shards *op);
int slp_streams_put_iterator(slp_buf *b, const slp_op_iterator *op);
int slp_streams_put_records(slp_buf *b, const slp_op_records *op);

/* These read in place. They return 0, SLP_EBADDATA or SLP_ELIMIT; *ret_why then says what is wrong.
 * slp_streams_read_table sets ret_name to the table's name and ret_arn to the ARN of its latest stream, "" if
 * it has none. */
int slp_streams_read_table(slp_str body, slp_op_describe *op, const char **ret_why);
int slp_streams_read_describe(slp_str body, slp_op_describe *op, const char **ret_why);

#endif
