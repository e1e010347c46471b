/* streams.h - declares, for tests, the functions with which streams.c reads two kinds of answers. */
#ifndef SLP_AWS_STREAMS_H
#define SLP_AWS_STREAMS_H

#include "aws/ops.h"

/* Both functions read an answer in place. They return 0, or SLP_EBADDATA or SLP_ELIMIT with a reason in
 * *ret_why. slp_streams_read_table sets ret_name to the table's name, and ret_arn to the ARN of its latest
 * stream, or "" if there is none. */
int slp_streams_read_table(slp_str body, slp_op_describe *op, const char **ret_why);
int slp_streams_read_describe(slp_str body, slp_op_describe *op, const char **ret_why);

#endif
