/* propose.h - the hidden mode by which completions of a shell get names: of streams, shards, workers,
 * applications and profiles. */
#ifndef SLP_CLI_PROPOSE_H
#define SLP_CLI_PROPOSE_H

#include "base/mem.h"
#include "cli/args.h"

/* The first word of such a command line: stream-tail SLP_PROPOSE_WORD KIND WORD...; the words are those that
 * the user has typed so far. It is no option of the table, because no user types it. */
#define SLP_PROPOSE_WORD "--propose-names"

/* Prints names of the kind argv[2] ("streams", "shards", "workers", "apps", "profiles"), one a line, and
 * returns the exit code. The words behind it need not make a whole command line. Ends within about a second.
 * Names are taken from a file of the user's cache folder if that is less than a minute old. */
int slp_propose_run(slp_mem *mem, int argc, const char *const *argv, const slp_surroundings *around);

#endif
