/* iam.h - --iam: the rights that reading needs, one by one or as a policy. */
#ifndef SLP_CLI_IAM_H
#define SLP_CLI_IAM_H

#include "cli/args.h"

typedef struct slp_iam_statement { /* texts are borrowed, and valid until slp_iam_fn returns */
  const char *const *actions;      /* NULL ends them; static */
  const char *of;                  /* of this stream, table, or ARN; NULL: of everything */
  const char *suffix;              /* behind the ARN of that */
  const char *subject;             /* statements about one stream or table have the same */
  const char *consumer;            /* a registered consumer's name or ARN; NULL: it is about none */
  const char *ns;                  /* the namespace of metrics; NULL: it is about none */
  size_t stream;                   /* the number of the stream that is read; leases and metrics: 0 */
  uint8_t leases;                  /* of the table of leases, or one beside it */
} slp_iam_statement;
typedef void (*slp_iam_fn)(void *ctx, const slp_iam_statement *st);

/* Calls fn for each statement. 0, or an error of a buffer: not all were told. */
int slp_iam_each(slp_mem *mem, const slp_args *args, slp_iam_fn fn, void *ctx);
/* Adds the ARN of what a statement is about. Unknown parts of it are "*". */
int slp_iam_resource(slp_buf *b, const slp_args *args, const slp_iam_statement *st);
/* Writes the policy. 0, or the buffer's error. */
int slp_iam(slp_buf *b, const slp_args *args);

#endif
