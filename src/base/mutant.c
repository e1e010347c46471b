/* mutant.c - which planted mistake (mutant.h) is active; no part of an ordinary build. */
#include "base/mutant.h"

const char *slp_mutant;
