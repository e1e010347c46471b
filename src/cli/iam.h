/* iam.h - --iam: the policy that reading needs. */
#ifndef SLP_CLI_IAM_H
#define SLP_CLI_IAM_H

#include "cli/args.h"

int slp_iam(slp_buf *b, const slp_args *args);

#endif
