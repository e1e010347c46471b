/* config.h - the configuration file: options by their long names and settings of -X, one a line. */
#ifndef SLP_CLI_CONFIG_H
#define SLP_CLI_CONFIG_H

#include "cli/args.h"

/* Reads the file and applies every line to `a`, which keeps its text:
 *   # a comment      ; another      wire = json      exit-at-tip      quiet = no      grep = "a # b" # why
 * A flag alone, or =1, yes, true, on, sets it; =0, no, false, off does not. A value is all of the line, or
 * what stands between two quotes; nothing in it is an escape. A comment follows a flag or a quote; where a #
 * may be one or part of a value, the line is refused. SLP_EINVAL, and `why` names file and line. */
int slp_config_read(slp_args *a, const char *path, int may_be_absent, const slp_clock *clock,
                    char why[SLP_ARGS_WHY]);
/* -X dump: what was given, as lines of such a file, and the settings of -X as comments after it. */
int slp_config_dump(slp_buf *b, const slp_args *a);

#endif
