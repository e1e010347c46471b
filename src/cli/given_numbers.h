/* given_numbers.h - the sequence numbers that a child was given and has not checkpointed yet, which it may
 * name. A number between two of them may be none of the stream, and would be refused for ever. */
#ifndef SLP_CLI_GIVEN_NUMBERS_H
#define SLP_CLI_GIVEN_NUMBERS_H

#include "base/mem.h"

#define SLP_GIVEN_MAX 131072u /* of them; of older ones nothing is known */

typedef struct slp_given_numbers {
  uint64_t *all; /* owned; hashes, the newest last */
  uint32_t n, cap;
  uint8_t forgot; /* there were too many, or no memory for one: any number may have been given */
} slp_given_numbers;

void slp_given_add(slp_given_numbers *g, slp_mem *mem,
                   slp_str number);                            /* by value: zeros in front count not */
int slp_given_has(const slp_given_numbers *g, slp_str number); /* 1: it was, or may have been */
/* Everything in front of this one is checkpointed. */
void slp_given_forget_before(slp_given_numbers *g, slp_str number);
void slp_given_clear(slp_given_numbers *g, slp_mem *mem); /* none was given; nothing is owned any more */

#endif
