/* rights.h - --iam --try: which of the rights that a command needs are there. */
#ifndef SLP_CLI_RIGHTS_H
#define SLP_CLI_RIGHTS_H

#include "cli/args.h"

int slp_rights_run(slp_mem *mem, const slp_args *args); /* the exit status */

#endif
