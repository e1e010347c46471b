/* config.h - the configuration file: options by their long names and settings of -X, one a line. */
#ifndef SLP_CLI_CONFIG_H
#define SLP_CLI_CONFIG_H

#include "cli/args.h"

/* Reads the file and applies every line to `a`, which keeps its text:
 *   # a comment            wire = json          exit-at-tip          quiet = no          poll_ms = 500
 * A flag alone, or =1, yes, true, on, sets it; =0, no, false, off does not. SLP_EINVAL, and `why` names file
 * and line. */
int slp_config_read(slp_args *a, const char *path, int may_be_absent, const slp_clock *clock,
                    char why[SLP_ARGS_WHY]);
/* -X dump: what was given, as lines of such a file, and the settings of -X as comments after it. */
int slp_config_dump(slp_buf *b, const slp_args *a);

#endif
