/* colour_choice.h - decides whether the output of a command is coloured. */
#ifndef SLP_CLI_COLOUR_CHOICE_H
#define SLP_CLI_COLOUR_CHOICE_H

#include "cli/args.h"

/* Returns 1 if the user wants colours: --color=always, or --color=auto on a terminal that can show them and
 * without NO_COLOR. `terminal`: 1 if the output is a terminal. */
int slp_wants_colour(const slp_args *a, int terminal);

#endif
