/* propose.h - the hidden mode with which a shell's completion gets names of streams, shards, workers,
 * applications and profiles. */
#ifndef SLP_CLI_PROPOSE_H
#define SLP_CLI_PROPOSE_H

#include "base/mem.h"
#include "cli/args.h"

/* The first word of the hidden mode's command line: stream-tail SLP_PROPOSE_WORD KIND WORD... The WORDs are
 * those that the user has typed so far. SLP_PROPOSE_WORD is not in the table of options, because no user
 * types it. */
#define SLP_PROPOSE_WORD "--propose-names"

/* Prints names of the kind argv[2] ("streams", "shards", "workers", "apps", "profiles"), one a line. The
 * words after argv[2] need not be a complete command line. Ends within about a second. Uses the names in the
 * user's cache folder if they were stored less than a minute ago. Returns the exit code. */
int slp_propose_run(slp_mem *mem, int argc, const char *const *argv, const slp_surroundings *around);

#endif
