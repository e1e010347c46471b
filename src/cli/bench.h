/* bench.h - --bench: reads a stream to nowhere and reports what that took. */
#ifndef SLP_CLI_BENCH_H
#define SLP_CLI_BENCH_H

#include "cli/args.h"

int slp_bench_run(slp_mem *mem, const slp_args *args); /* the exit code */

#endif
