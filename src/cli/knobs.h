/* knobs.h - -X NAME=VALUE: one table of every setting that has no option of its own. */
#ifndef SLP_CLI_KNOBS_H
#define SLP_CLI_KNOBS_H

#include "cli/args.h"

/* Sets a setting from "NAME=VALUE". The text must live as long as `a`. Returns 0, or SLP_EINVAL and a
 * sentence in `why`. */
int slp_knob_set(slp_args *a, slp_str setting, char why[200]);
/* Returns 1 if -X has the setting. */
int slp_knob_exists(slp_str name);
/* Returns 1 if this value of the setting must not be shown: it is a secret, or a URL with a user or a
 * password. */
int slp_knob_hides(slp_str name, const char *value);
/* -X list: writes name, default, unit and meaning of each setting. Returns 0, or the buffer's error. */
int slp_knobs_list(slp_buf *b);
/* -X dump: writes "# NAME=VALUE" for each setting as it is in `a`. A secret is written as "(secret)". Returns
 * 0, or the buffer's error. */
int slp_knobs_dump(slp_buf *b, const slp_args *a);
/* Calls fn for each setting, in the order of the table. */
void slp_knobs_each(void (*fn)(void *arg, const char *name, const char *unit, const char *meaning),
                    void *arg);

#endif
