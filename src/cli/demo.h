/* demo.h - --demo: starts a sandbox and puts records into a stream there. Splits and merges shards meanwhile,
 * and reads everything over HTTP. */
#ifndef SLP_CLI_DEMO_H
#define SLP_CLI_DEMO_H

#include "base/mem.h"
#include "cli/args.h"

/* returns the exit code, which is 0 only if the ledger proves the result */
int slp_demo_run(slp_mem *mem, const slp_args *args);

#endif
