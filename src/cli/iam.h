/* iam.h - --iam: finds the rights that the command line needs, and writes them one by one or as a policy. */
#ifndef SLP_CLI_IAM_H
#define SLP_CLI_IAM_H

#include "base/buf.h"
#include "base/mem.h"
#include "cli/args.h"

typedef struct slp_iam_statement { /* the texts are borrowed, and valid until slp_iam_fn returns */
  const char *const *actions;      /* static; NULL after the last action */
  /* name or ARN of the stream or table that the rights apply to; NULL: the policy gives "*" as the
   * resource */
  const char *of;
  const char *suffix; /* text to append to the ARN of `of` */
  /* name of the stream, table or service that the statement is about, to show to people. All statements about
   * one stream or table have the same text */
  const char *subject;
  /* name or ARN of a registered consumer; NULL: the statement is not about a consumer */
  const char *consumer;
  const char *ns; /* namespace of metrics; NULL: the statement is not about metrics */
  size_t stream;  /* index of the stream in slp_args.streams; 0 for leases and metrics */
  uint8_t leases; /* 1: the statement is about the lease table, or about a table that belongs to it */
} slp_iam_statement;
typedef void (*slp_iam_fn)(void *ctx, const slp_iam_statement *st);

/* Calls fn for each statement. Returns 0, or the error of a buffer; then some statements are missing. */
int slp_iam_each(slp_mem *mem, const slp_args *args, slp_iam_fn fn, void *ctx);
/* Writes the ARN of the resource that a statement is about. Unknown parts are written as "*". Returns 0, or
 * the buffer's error. */
int slp_iam_resource(slp_buf *b, const slp_args *args, const slp_iam_statement *st);
/* Writes the whole policy. Returns 0, or the buffer's error. */
int slp_iam(slp_buf *b, const slp_args *args);

#endif
