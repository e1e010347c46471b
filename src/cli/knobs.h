/* knobs.h - -X NAME=VALUE: a table of the settings that are not options by themselves. */
#ifndef SLP_CLI_KNOBS_H
#define SLP_CLI_KNOBS_H

#include "base/buf.h"
#include "cli/args.h"

/* Parses "NAME=VALUE" and stores the value in `a`. The text must live as long as `a`. Returns 0, or
 * SLP_EINVAL and a sentence in `why`. */
int slp_knob_set(slp_args *a, slp_str setting, char why[200]);
/* Returns 1 if -X has a setting with this name. */
int slp_knob_exists(slp_str name);
/* Returns 1 if this value of the setting must not be printed, because it is a secret, or a URL with a user
 * name or a password. */
int slp_knob_hides(slp_str name, const char *value);
/* -X list: writes the name, default, unit and meaning of each setting. Returns 0, or the buffer's error. */
int slp_knobs_list(slp_buf *b);
/* -X dump: writes "# NAME=VALUE" for each setting with its value in `a`. A secret is written as "(secret)".
 * Returns 0, or the buffer's error. */
int slp_knobs_dump(slp_buf *b, const slp_args *a);
/* Calls fn for each setting, in the order of the table. */
void slp_knobs_each(void (*fn)(void *arg, const char *name, const char *unit, const char *meaning),
                    void *arg);

#endif
