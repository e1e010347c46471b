/* config.h - the configuration file. Each line is an option by its long name, or a setting of -X. */
#ifndef SLP_CLI_CONFIG_H
#define SLP_CLI_CONFIG_H

#include "base/buf.h"
#include "cli/args.h"
#include "cli/point_in_time.h"

/* Reads the file and applies every line to `a`, which keeps the text. Examples of lines:
 *     # a comment    ; another comment    wire = json    exit-at-tip    quiet = no    grep = "a # b" # why
 *  1. A flag is set if it stands alone or has =1, =yes, =true or =on. It is not set with =0, =no, =false or
 *     =off.
 *  2. A value is the rest of the line, or the text between two quotes. There are no escapes.
 *  3. A comment may follow a flag or a closing quote. A line is refused if its '#' could begin a comment or
 *     could be a part of the value.
 * may_be_absent: a missing file is no error. Returns 0, or SLP_EINVAL and a sentence in `why` with the file
 * and the line. */
int slp_config_read(slp_args *a, const char *path, int may_be_absent, const slp_clock *clock,
                    char why[SLP_ARGS_WHY]);
/* -X dump: writes the options that the user gave as lines of a configuration file, then all settings of -X as
 * comments. Returns 0, or the buffer's error. */
int slp_config_dump(slp_buf *b, const slp_args *a);

#endif
