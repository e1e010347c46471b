/* streams_read.h - writes the requests to DynamoDB Streams, and those to DynamoDB that lead to a table's
 * stream. Reads the descriptions of both. answers.h and codec/page.h read the other answers. */
#ifndef SLP_AWS_STREAMS_READ_H
#define SLP_AWS_STREAMS_READ_H

#include "aws/ops.h"
#include "base/buf.h"

/* The slp_streams_put_ functions write a request into b, which must be empty. They return 0, SLP_ENOMEM, or
 * SLP_EBADDATA if a name is not UTF-8. */
int slp_streams_put_table(slp_buf *b, slp_str table); /* DescribeTable; `table` is a name or an ARN */
int slp_streams_put_describe(slp_buf *b, slp_str arn);
int slp_streams_put_list(slp_buf *b, const slp_op_list_shards *op);
int slp_streams_put_iterator(slp_buf *b, const slp_op_iterator *op);
int slp_streams_put_records(slp_buf *b, const slp_op_records *op);

/* The slp_streams_read_ functions read an answer in place. They return 0, or SLP_EBADDATA or SLP_ELIMIT with
 * a reason in *ret_why. slp_streams_read_table sets ret_name to the table's name, and ret_arn to the ARN of
 * its latest stream, or "" if there is none. */
int slp_streams_read_table(slp_str body, slp_op_describe *op, const char **ret_why);
int slp_streams_read_describe(slp_str body, slp_op_describe *op, const char **ret_why);

#endif
