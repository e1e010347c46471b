/* bench.h - --bench: reads a stream, throws the records away and reports how fast the reading was. */
#ifndef SLP_CLI_BENCH_H
#define SLP_CLI_BENCH_H

#include "base/mem.h"
#include "cli/args.h"

int slp_bench_run(slp_mem *mem, const slp_args *args); /* returns the exit code */

#endif
