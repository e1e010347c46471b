/* kinesis_read.h - writes the requests for Kinesis in JSON or CBOR, and reads its descriptions of streams and
 * consumers. answers.h and codec/page.h read the other answers. */
#ifndef SLP_AWS_KINESIS_READ_H
#define SLP_AWS_KINESIS_READ_H

#include "aws/ops.h"
#include "base/buf.h"
#include "codec/page.h"

/* The slp_kinesis_put_ functions write a request into b, which must be empty. They return 0, SLP_ENOMEM, or
 * SLP_EBADDATA if a name is not UTF-8. */
int slp_kinesis_put_describe(slp_buf *b, const slp_op_describe *op);
int slp_kinesis_put_list(slp_buf *b, const slp_op_list_shards *op);
int slp_kinesis_put_iterator(slp_buf *b, const slp_op_iterator *op);
int slp_kinesis_put_records(slp_buf *b, const slp_op_records *op, slp_form form);

slp_str slp_kinesis_consumer_target(slp_consumer_call what);
int slp_kinesis_put_consumer(slp_buf *b, const slp_op_consumer *op);

/* The slp_kinesis_read_ functions read an answer in place. They return 0, or SLP_EBADDATA or SLP_ELIMIT with
 * a reason in *ret_why. */
int slp_kinesis_read_describe(slp_str body, slp_op_describe *op, const char **ret_why);
int slp_kinesis_read_consumer(slp_str body, slp_op_consumer *op, const char **ret_why);

#endif
