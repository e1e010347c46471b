/* mutant.h - mistakes that are planted on purpose, to see that the simulators find them (test/mutants). Only
 * a build with -Dmutants=true has them, all in one, and a test chooses; elsewhere they are the constant 0. */
#ifndef SLP_BASE_MUTANT_H
#define SLP_BASE_MUTANT_H

#ifdef SLP_MUTANTS
extern int slp_mutant; /* the one that is at work; 0: none */
#define SLP_MUTANT(n) (slp_mutant == (n))
#else
#define SLP_MUTANT(n) 0
#endif

#endif
