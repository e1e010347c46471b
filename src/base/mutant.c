/* mutant.c - see mutant.h; no part of an ordinary build. */
#include "base/mutant.h"

const char *slp_mutant;
