/* outcome.h - decides what became of a write, and what a refusal means, by the row that refused it. Pure. */
#ifndef SLP_LEASE_OUTCOME_H
#define SLP_LEASE_OUTCOME_H

#include "lease/schema.h"

typedef enum slp_outcome {
  SLP_OUTCOME_DONE, /* one copy of the write is in the table; parsed: the row after it, if the store tells */
  /* refused, and the row is as it was before. The write is not done, but an old copy may still land */
  SLP_OUTCOME_UNCHANGED,
  SLP_OUTCOME_REFUSED, /* refused; parsed: the row that refused, of kind OTHER if there is none */
  SLP_OUTCOME_GIVEN_UP /* no answer in the number of tries that were allowed */
} slp_outcome;

/* there 0: there is no row. A strategy may have another rule (slp_strategy.outcome). */
slp_outcome slp_outcome_of(const slp_operation *i, int there, const slp_parsed_row *parsed);
slp_outcome slp_outcome_of_reset(const slp_operation *i,
                                 const slp_lease_row *l); /* the same in all layouts */

#endif
