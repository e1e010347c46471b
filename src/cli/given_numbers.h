/* given_numbers.h - the sequence numbers of records that a child process was given and has not checkpointed
 * yet. The child may checkpoint only at one of these numbers. Other numbers may not exist in the stream; the
 * service would refuse to read from such a number, now and after each restart. */
#ifndef SLP_CLI_GIVEN_NUMBERS_H
#define SLP_CLI_GIVEN_NUMBERS_H

#include "base/mem.h"

#define SLP_GIVEN_MAX 131072u /* the most numbers that are remembered; older numbers are forgotten */

typedef struct slp_given_numbers {
  uint64_t *all; /* owned; the hash of each number, newest last */
  uint32_t n, cap;
  /* 1: a number could not be kept, for lack of room or memory, so every number counts as given */
  uint8_t forgot;
} slp_given_numbers;

/* Adds a number. Its leading zeros are ignored. */
void slp_given_add(slp_given_numbers *g, slp_mem *mem, slp_str number);
/* Returns 1 if the number was given, or may have been given because `forgot` is set. */
int slp_given_has(const slp_given_numbers *g, slp_str number);
/* Forgets the numbers that were added before this number, because they are checkpointed. */
void slp_given_forget_before(slp_given_numbers *g, slp_str number);
void slp_given_clear(slp_given_numbers *g, slp_mem *mem); /* forgets all numbers and frees the memory */

#endif
