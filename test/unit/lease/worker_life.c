/* lease/worker_life.c: the table of a worker's life, as worker_life.h draws it. */
#include "lease/fleet_inside.h"

#include "moves.h"

#define BIT(state) SLP_BIT(SLP_WORKER_##state)
enum { STATES = SLP_WORKER_OUT + 1 };

static slp_fleet fleet;

static int try(int from, int to) {
  fleet.life.state = (slp_worker_state)from;
  slp_life_move(&fleet, (slp_worker_state)to);
  return (int)fleet.life.state;
}

TEST(a_worker_that_is_out_stays_out_and_one_that_leaves_never_joins_again) {
  unsigned moves[STATES] = {0};
  moves_find(moves, STATES, try);
  CHECK_INT(moves[SLP_WORKER_NEW], BIT(JOINING) | BIT(OUT));
  CHECK_INT(moves[SLP_WORKER_JOINING], BIT(RUNS) | BIT(OUT));
  CHECK_INT(moves[SLP_WORKER_RUNS],
            BIT(LEAVING) | BIT(JOINING)); /* it gives its leases away before it is out */
  CHECK_INT(moves[SLP_WORKER_LEAVING], BIT(OUT));
  CHECK_INT(moves[SLP_WORKER_OUT], 0);
}

TEST(an_evicted_incarnation_does_not_come_back) {
  fleet.incarnation = SLP_STR("w1.1");
  try(SLP_WORKER_JOINING, SLP_WORKER_RUNS);
  CHECK_INT(fleet.incarnation.n, 4);
  try(SLP_WORKER_RUNS, SLP_WORKER_LEAVING);
  CHECK_INT(fleet.incarnation.n, 4);
  try(SLP_WORKER_RUNS, SLP_WORKER_JOINING);
  CHECK_INT(fleet.incarnation.n, 0);
}

TEST(a_worker_is_registered_while_it_runs_or_leaves) {
  for (int state = 0; state < STATES; state++) {
    fleet.life.state = (slp_worker_state)state;
    CHECK_INT(slp_worker_lives(&fleet), state == SLP_WORKER_RUNS || state == SLP_WORKER_LEAVING);
    for (int other = 0; other < STATES; other++)
      CHECK_INT(slp_worker_is(&fleet, (slp_worker_state)other), other == state);
  }
}
