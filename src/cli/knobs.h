/* knobs.h - -X NAME=VALUE: one table of every setting without an option of its own. */
#ifndef SLP_CLI_KNOBS_H
#define SLP_CLI_KNOBS_H

#include "cli/args.h"

/* SLP_EINVAL and a sentence in `why`. The value's text must live as long as `a`. */
int slp_knob_set(slp_args *a, slp_str setting, char why[200]);
int slp_knob_exists(slp_str name);
/* Returns 1 if this value of the setting must not be shown: it is a secret, or a URL with a user or
 * password. */
int slp_knob_hides(slp_str name, const char *value);
/* -X list: name, default, unit and meaning. */
int slp_knobs_list(slp_buf *b);
/* -X dump: "# NAME=VALUE" lines of the settings in force in `a`; secrets are left out. */
int slp_knobs_dump(slp_buf *b, const slp_args *a);
/* Calls fn for each setting in the order of the table. */
void slp_knobs_each(void (*fn)(void *arg, const char *name, const char *unit, const char *meaning),
                    void *arg);

#endif
