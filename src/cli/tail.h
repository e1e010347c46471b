/* tail.h - the default mode: prints records on standard output. */
#ifndef SLP_CLI_TAIL_H
#define SLP_CLI_TAIL_H

#include "base/mem.h"
#include "cli/args.h"

/* Runs the command to its end, and returns the exit code. While the command runs, adds new streams that match
 * a pattern to args->streams. */
int slp_tail_run(slp_mem *mem, slp_args *args);

#endif
