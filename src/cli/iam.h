/* iam.h - --iam: the rights that the command line needs, one by one or as a policy. */
#ifndef SLP_CLI_IAM_H
#define SLP_CLI_IAM_H

#include "cli/args.h"

typedef struct slp_iam_statement { /* its texts are borrowed, and valid until slp_iam_fn returns */
  const char *const *actions;      /* static; NULL behind the last one */
  const char *of;                  /* the stream, table or ARN that the rights are on; NULL: everything */
  const char *suffix;              /* follows the ARN of `of` */
  const char *subject;  /* what it is about; the same in all statements about one stream or table */
  const char *consumer; /* name or ARN of a registered consumer; NULL: it is about none */
  const char *ns;       /* namespace of metrics; NULL: it is not about metrics */
  size_t stream;        /* index of the stream in slp_args.streams; 0 for leases and metrics */
  uint8_t leases;       /* 1: it is about the lease table, or a table beside it */
} slp_iam_statement;
typedef void (*slp_iam_fn)(void *ctx, const slp_iam_statement *st);

/* Calls fn for each statement. Returns 0, or the error of a buffer if not all statements could be told. */
int slp_iam_each(slp_mem *mem, const slp_args *args, slp_iam_fn fn, void *ctx);
/* Writes the ARN of what a statement is about. Parts that are not known are "*". Returns 0, or the buffer's
 * error. */
int slp_iam_resource(slp_buf *b, const slp_args *args, const slp_iam_statement *st);
/* Writes the policy. Returns 0, or the buffer's error. */
int slp_iam(slp_buf *b, const slp_args *args);

#endif
