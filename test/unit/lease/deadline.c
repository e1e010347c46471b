/* lease/deadline.c: the table of a worker's proof of life, as deadline.h draws it. Its move is its own, so the
 * file is taken in whole. */
#include "../../../src/lease/deadline.c"

#include "moves.h"

#define PROOF(proof) SLP_BIT(SLP_PROOF_##proof)
enum { PROOFS = SLP_PROOF_EVICTED + 1 };

static slp_fleet fleet;
static slp_processor processor;
static int suspended;

static void on_suspend(slp_processor *p, int on) {
  CHECK(p == &processor);
  suspended = on;
}
static const slp_processor_ops ops = {.suspend = on_suspend};

static int try(int from, int to) {
  processor.ops = &ops;
  fleet.processor = &processor;
  fleet.deadline.proof = (slp_proof)from;
  suspended = -1;
  move(&fleet, (slp_proof)to);
  return (int)fleet.deadline.proof;
}

TEST(one_that_was_evicted_is_not_merely_late) {
  unsigned moves[PROOFS] = {0};
  moves_find(moves, PROOFS, try);
  CHECK_INT(moves[SLP_PROOF_GOOD], PROOF(LATE) | PROOF(EVICTED));
  CHECK_INT(moves[SLP_PROOF_LATE], PROOF(GOOD) | PROOF(EVICTED));
  CHECK_INT(moves[SLP_PROOF_EVICTED], PROOF(GOOD));
}

TEST(records_are_handed_out_only_while_the_proof_is_good) {
  try(SLP_PROOF_GOOD, SLP_PROOF_LATE);
  CHECK_INT(suspended, 1);
  try(SLP_PROOF_LATE, SLP_PROOF_EVICTED);
  CHECK_INT(suspended, 1);
  try(SLP_PROOF_GOOD, SLP_PROOF_EVICTED);
  CHECK_INT(suspended, 1);
  try(SLP_PROOF_LATE, SLP_PROOF_GOOD);
  CHECK_INT(suspended, 0);
  try(SLP_PROOF_EVICTED, SLP_PROOF_GOOD);
  CHECK_INT(suspended, 0);
}
