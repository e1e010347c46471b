/* lease_command.h - runs --leases, --explain, --release, --reset, --drain, --undrain, --pause and
 * --resume. */
#ifndef SLP_CLI_LEASE_COMMAND_H
#define SLP_CLI_LEASE_COMMAND_H

#include "base/mem.h"
#include "cli/args.h"

/* Runs the command to its end. Returns the exit code. */
int slp_lease_command_run(slp_mem *mem, const slp_args *args);

#endif
