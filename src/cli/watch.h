/* watch.h - --watch: shows the leases of an application live. */
#ifndef SLP_CLI_WATCH_H
#define SLP_CLI_WATCH_H

#include "base/mem.h"
#include "cli/args.h"

/* Runs the command to its end, and returns the exit code. */
int slp_watch_mode_run(slp_mem *mem, const slp_args *args);

#endif
