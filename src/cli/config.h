/* config.h - the configuration file: options by their long names and settings of -X, one a line. */
#ifndef SLP_CLI_CONFIG_H
#define SLP_CLI_CONFIG_H

#include "cli/args.h"

/* Reads the file and applies every line to `a`, which keeps the text:
 *   # a comment      ; another      wire = json      exit-at-tip      quiet = no      grep = "a # b" # why
 * A flag is set if it stands alone or has =1, =yes, =true or =on. It is not set with =0, =no, =false or =off.
 * A value is the rest of the line, or what stands between two quotes; there are no escapes. A comment may
 * follow a flag or a closing quote. A line is refused if its # may be a comment or a part of the value.
 * Returns 0, or SLP_EINVAL, and then `why` names file and line. may_be_absent: a missing file is no error. */
int slp_config_read(slp_args *a, const char *path, int may_be_absent, const slp_clock *clock,
                    char why[SLP_ARGS_WHY]);
/* -X dump: writes what was given as lines for such a file, then all settings of -X as comments. Returns 0, or
 * the buffer's error. */
int slp_config_dump(slp_buf *b, const slp_args *a);

#endif
