/* lease_command.h - --leases, --explain, --release, --reset. */
#ifndef SLP_CLI_LEASE_COMMAND_H
#define SLP_CLI_LEASE_COMMAND_H

#include "cli/args.h"

/* Runs to the end; returns the exit code. */
int slp_lease_command_run(slp_mem *mem, const slp_args *args);

#endif
