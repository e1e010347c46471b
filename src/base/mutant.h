/* mutant.h - mistakes that are planted on purpose, to see that the simulators find them (test/mutants). Only
 * a build with -Dmutants=true has them, all in one, and a test chooses; elsewhere they are the constant 0. */
#ifndef SLP_BASE_MUTANT_H
#define SLP_BASE_MUTANT_H

#ifdef SLP_MUTANTS
#include <string.h>
extern const char *slp_mutant; /* the name of the one that is at work; NULL: none */
#define SLP_MUTANT(name) (slp_mutant && strcmp(slp_mutant, #name) == 0)
#else
#define SLP_MUTANT(name) 0
#endif

#endif
