/* given_numbers.h - the sequence numbers that a child process was given and has not checkpointed yet. The
 * child may checkpoint only at one of them: a number between two of them may not exist in the stream, and the
 * service would refuse it for ever. */
#ifndef SLP_CLI_GIVEN_NUMBERS_H
#define SLP_CLI_GIVEN_NUMBERS_H

#include "base/mem.h"

#define SLP_GIVEN_MAX 131072u /* how many are remembered; older ones are forgotten */

typedef struct slp_given_numbers {
  uint64_t *all; /* owned; a hash for each number, the newest last */
  uint32_t n, cap;
  uint8_t forgot; /* 1: there were too many, or no memory, so any number may have been given */
} slp_given_numbers;

/* Leading zeros of a number are ignored. */
void slp_given_add(slp_given_numbers *g, slp_mem *mem, slp_str number);
/* returns 1 if it was given, or may have been */
int slp_given_has(const slp_given_numbers *g, slp_str number);
/* Forgets the numbers before this one, because they are checkpointed. */
void slp_given_forget_before(slp_given_numbers *g, slp_str number);
void slp_given_clear(slp_given_numbers *g, slp_mem *mem); /* forgets all, and frees the memory */

#endif
