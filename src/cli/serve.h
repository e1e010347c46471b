/* serve.h - -M: a sandbox for other programs. */
#ifndef SLP_CLI_SERVE_H
#define SLP_CLI_SERVE_H

#include "cli/args.h"

#define SLP_SANDBOX_REGION "us-east-1"

/* For opts.creds of a consumer of our own sandbox: its keys, whatever the environment has. */
void slp_sandbox_creds(sloop_t *s, sloop_creds_req_t *rq, void *arg);

int slp_serve_run(slp_mem *mem, const slp_args *args); /* the exit code */

#endif
