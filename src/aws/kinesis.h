/* kinesis.h - declares, for tests, the functions with which kinesis.c reads two kinds of answers. */
#ifndef SLP_AWS_KINESIS_H
#define SLP_AWS_KINESIS_H

#include "aws/ops.h"

/* Both functions read an answer in place. They return 0, or SLP_EBADDATA or SLP_ELIMIT with a reason in
 * *ret_why. */
int slp_kinesis_read_describe(slp_str body, slp_op_describe *op, const char **ret_why);
int slp_kinesis_read_consumer(slp_str body, slp_op_consumer *op, const char **ret_why);

#endif
