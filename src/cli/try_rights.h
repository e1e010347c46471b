/* try_rights.h - --iam --try: finds out which of the rights that a command needs the present identity has. */
#ifndef SLP_CLI_TRY_RIGHTS_H
#define SLP_CLI_TRY_RIGHTS_H

#include "base/mem.h"
#include "cli/args.h"

/* runs the command to its end, and returns the exit code */
int slp_rights_run(slp_mem *mem, const slp_args *args);

#endif
