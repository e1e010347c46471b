/* rights.h - --iam --try: tries which of the rights that a command needs this identity has. */
#ifndef SLP_CLI_RIGHTS_H
#define SLP_CLI_RIGHTS_H

#include "cli/args.h"

int slp_rights_run(slp_mem *mem, const slp_args *args); /* runs to the end; returns the exit code */

#endif
