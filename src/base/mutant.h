/* mutant.h - mutants: mistakes planted in the code on purpose, so that test/swarm/mutants_hunt.py can show
 * that the simulators find them. A build with -Dmutants=true holds all mutants, and a test activates one. In
 * other builds SLP_MUTANT() is the constant 0. */
#ifndef SLP_BASE_MUTANT_H
#define SLP_BASE_MUTANT_H

#ifdef SLP_MUTANTS
#include <string.h>
extern const char *slp_mutant; /* the name of the planted mistake that is active; NULL: none */
#define SLP_MUTANT(name) (slp_mutant && strcmp(slp_mutant, #name) == 0)
#else
#define SLP_MUTANT(name) 0
#endif

#endif
