/* tail.h - the default mode: prints records on standard output. */
#ifndef SLP_CLI_TAIL_H
#define SLP_CLI_TAIL_H

#include "cli/args.h"

int slp_tail_run(slp_mem *mem, const slp_args *args); /* runs to the end; returns the exit code */

#endif
