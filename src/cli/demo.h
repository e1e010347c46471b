/* demo.h - --demo: a sandbox, producers, a split, a merge, and a consumer that reads it all over HTTP. */
#ifndef SLP_CLI_DEMO_H
#define SLP_CLI_DEMO_H

#include "cli/args.h"

int slp_demo_run(slp_mem *mem, const slp_args *args); /* returns the exit code: 0 only if all was proven */

#endif
