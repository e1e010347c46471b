/* knobs.h - -X NAME=VALUE: one table of every setting without an option of its own. */
#ifndef SLP_CLI_KNOBS_H
#define SLP_CLI_KNOBS_H

#include "cli/args.h"

/* SLP_EINVAL and a sentence in `why`. The value's text must live as long as `a`. */
int slp_knob_set(slp_args *a, slp_str setting, char why[200]);
/* -X list: name, default, unit and meaning, one a line. */
int slp_knobs_list(slp_buf *b);

#endif
