/* produce.h - -P: puts lines of standard input, or files, into a stream. */
#ifndef SLP_CLI_PRODUCE_H
#define SLP_CLI_PRODUCE_H

#include "base/mem.h"
#include "cli/args.h"

int slp_produce_run(slp_mem *mem, const slp_args *args); /* returns the exit code */

#endif
