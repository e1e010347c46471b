/* lease/leave.c: the table of a clean stop, as leave.h draws it. Its move is its own, so the file is taken in
 * whole. */
#include "../../../src/lease/leave.c"

#include "moves.h"

#define PHASE(phase) SLP_BIT(SLP_LEAVE_##phase)
enum { PHASES = SLP_LEAVE_UNDONE + 1 };

static slp_fleet fleet;
static unsigned moves[PHASES];

static int try(int from, int to) {
  fleet.leave.phase = (slp_leave_phase)from;
  move(&fleet, (slp_leave_phase)to);
  return (int)fleet.leave.phase;
}

TEST(a_stop_goes_step_by_step) {
  moves_find(moves, PHASES, try);
  static const unsigned next[PHASES] = {
      [SLP_LEAVE_NOT] = PHASE(REGISTERS) | PHASE(DRAIN),
      [SLP_LEAVE_REGISTERS] = PHASE(NOT) | PHASE(DRAIN), /* it is not registered; it is */
      [SLP_LEAVE_DRAIN] = PHASE(LIST),
      [SLP_LEAVE_LIST] =
          PHASE(PROPOSE) | PHASE(RESIGN) | PHASE(GO), /* nothing to propose; and it did not lead */
      [SLP_LEAVE_PROPOSE] = PHASE(PROPOSING),
      [SLP_LEAVE_PROPOSING] = PHASE(NOTIFY),
      [SLP_LEAVE_NOTIFY] = PHASE(NOTIFYING),
      [SLP_LEAVE_NOTIFYING] = PHASE(RESIGN) | PHASE(GO),
      [SLP_LEAVE_RESIGN] = PHASE(RESIGNING),
      [SLP_LEAVE_RESIGNING] = PHASE(GO),
      [SLP_LEAVE_GO] = PHASE(GOING),
  };
  for (int from = 0; from < PHASES; from++) CHECK_INT(moves[from] & ~OUT, next[from]);
}

TEST(a_limit_ends_it_from_everywhere_and_for_good) {
  moves_find(moves, PHASES, try);
  for (int from = 0; from < PHASES; from++) {
    int under_way = from > SLP_LEAVE_REGISTERS && !(SLP_BIT(from) & OUT);
    CHECK_INT(moves[from] & OUT, under_way ? OUT : 0u);
  }
  CHECK_INT(moves[SLP_LEAVE_LEFT] | moves[SLP_LEAVE_UNDONE], 0);
}
