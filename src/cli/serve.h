/* serve.h - -M: serves a sandbox to other programs. */
#ifndef SLP_CLI_SERVE_H
#define SLP_CLI_SERVE_H

#include "base/mem.h"
#include "cli/args.h"

#include <sloop.h>

#define SLP_SANDBOX_REGION "us-east-1"

/* A creds callback (sloop_opts_t.creds) for consumers of the sandbox in this process. Answers with the
 * sandbox's keys, whatever keys the environment has. */
void slp_sandbox_creds(sloop_t *s, sloop_creds_req_t *rq, void *arg);

/* runs the command to its end, and returns the exit code */
int slp_serve_run(slp_mem *mem, const slp_args *args);

#endif
