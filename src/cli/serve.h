/* serve.h - -M: serves a sandbox to other programs. */
#ifndef SLP_CLI_SERVE_H
#define SLP_CLI_SERVE_H

#include "base/buf.h"
#include "base/mem.h"
#include "cli/args.h"

#include <sloop.h>

#define SLP_SANDBOX_REGION "us-east-1"

/* A callback for credentials (sloop_opts_t.creds) of consumers that read the sandbox in this process. It
 * returns the sandbox's keys, whatever keys the environment has. */
void slp_sandbox_creds(sloop_t *s, sloop_creds_req_t *rq, void *arg);

/* runs the command to its end, and returns the exit code */
int slp_serve_run(slp_mem *mem, const slp_args *args);

/* The records of --feed are orders of a made-up shop, in JSON. */
#define SLP_FEED_KEY 24

/* Writes record `number` (0, 1, ...), and the record's user as the partition key. The same number gives the
 * same record, except for its time. Returns 0, or the error of b. */
int slp_feed_record(uint64_t number, int64_t now_ms, slp_buf *b, char key[SLP_FEED_KEY]);
/* Returns how many records are due `us` after the beginning, at `rate` records a second. */
uint64_t slp_feed_due(uint64_t us, uint64_t rate);

#endif
