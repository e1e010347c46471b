/* outcome.h - decides what became of a write. If it was refused, "the row that refused it" is the row as it
 * was when the write's condition did not hold; it shows what the refusal means. Pure: no input but the
 * arguments. */
#ifndef SLP_LEASE_OUTCOME_H
#define SLP_LEASE_OUTCOME_H

#include "lease/schema.h"

typedef enum slp_outcome {
  /* The write is in the table. slp_write.row: the row after the write, if the store returns it. */
  SLP_OUTCOME_DONE,
  /* The write was refused, and the row is as it was before the write was sent. A copy that was sent earlier
   * may still reach the table. */
  SLP_OUTCOME_UNCHANGED,
  /* The write was refused. slp_write.row: the row that refused it; its kind is OTHER if there is no row. */
  SLP_OUTCOME_REFUSED,
  SLP_OUTCOME_GIVEN_UP /* no answer came within the number of tries that were allowed */
} slp_outcome;

/* Returns the outcome of a write that was refused. there, 0: there is no row. A strategy may have another
 * rule (slp_strategy.outcome). */
slp_outcome slp_outcome_of(const slp_operation *i, int there, const slp_parsed_row *parsed);
/* Returns the outcome of an operator's RESET that was refused; the rule is the same in all layouts. */
slp_outcome slp_outcome_of_reset(const slp_operation *i, const slp_lease_row *l);

#endif
