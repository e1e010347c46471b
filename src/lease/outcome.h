/* outcome.h - what became of a write, and what a refusal means by the row that refused. Pure. */
#ifndef SLP_LEASE_OUTCOME_H
#define SLP_LEASE_OUTCOME_H

#include "lease/schema.h"

typedef enum slp_outcome {
  SLP_OUTCOME_DONE,      /* it is in, by whichever copy; parsed: the row after it, where the store tells */
  SLP_OUTCOME_UNCHANGED, /* refused, and the row is as it was before: not done, an old copy may still land */
  SLP_OUTCOME_REFUSED,   /* refused: parsed is the row that refused; OTHER: there is none */
  SLP_OUTCOME_GIVEN_UP   /* no answer in as many tries as were allowed */
} slp_outcome;

/* there 0: there is no row. A strategy may have another rule (slp_strategy.outcome). */
slp_outcome slp_outcome_of(const slp_operation *i, int there, const slp_parsed_row *parsed);
slp_outcome slp_outcome_of_reset(const slp_operation *i,
                                 const slp_lease_row *l); /* the same in all layouts */

#endif
