/* migrate_command.h - --migrate: copies the positions of a stream from one place (a lease table or a token's
 * file) to another. */
#ifndef SLP_CLI_MIGRATE_COMMAND_H
#define SLP_CLI_MIGRATE_COMMAND_H

#include "base/mem.h"
#include "cli/args.h"

/* Runs the command to its end. Returns the exit code. */
int slp_migrate_run(slp_mem *mem, const slp_args *args);

#endif
