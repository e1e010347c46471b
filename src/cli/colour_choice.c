/* colour_choice.c - decides whether the output of a command is coloured. */
#include "cli/colour_choice.h"

#include "cli/args.h"

#include <stdlib.h>
#include <string.h>

int slp_wants_colour(const slp_args *a, int terminal) {
  const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
  if (a->color != SLP_COLOR_AUTO) return a->color == SLP_COLOR_ALWAYS;
  if (no_color && *no_color) return 0; /* no-color.org: NO_COLOR counts if it is set and not empty */
  return terminal && term && *term && strcmp(term, "dumb") != 0;
}
