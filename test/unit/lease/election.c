/* lease/election.c: the table of a worker's role, as election.h draws it. Its move is its own, so the file is
 * taken in whole. */
#include "../../../src/lease/election.c"

#include "moves.h"

#define ROLE(role) SLP_BIT(SLP_ROLE_##role)
enum { ROLES = SLP_ROLE_LEADS + 1 };

static slp_fleet fleet;
static int told[2]; /* that it leads no more, and that it leads */

static void on_leads(slp_fleet *f, int on) {
  CHECK(f == &fleet);
  told[on]++;
}

static int try(int from, int to) {
  fleet.election = (slp_election){.role = (slp_role)from, .changes_known = 1, .leads = on_leads};
  slp_fleet_timer_init(&fleet.election.timer, NULL);
  told[0] = told[1] = 0;
  move(&fleet, (slp_role)to);
  return (int)fleet.election.role;
}

TEST(nobody_leads_or_follows_without_having_sought) {
  unsigned moves[ROLES] = {0};
  moves_find(moves, ROLES, try);
  CHECK_INT(moves[SLP_ROLE_NONE], ROLE(NONE) | ROLE(SEEKS));
  CHECK_INT(moves[SLP_ROLE_SEEKS], ROLE(NONE) | ROLE(SEEKS) | ROLE(FOLLOWS) | ROLE(LEADS));
  CHECK_INT(moves[SLP_ROLE_FOLLOWS], ROLE(NONE) | ROLE(SEEKS));
  CHECK_INT(moves[SLP_ROLE_LEADS], ROLE(NONE) | ROLE(SEEKS));
}

TEST(it_is_told_once_when_a_worker_begins_to_lead_and_when_it_does_not_any_more) {
  unsigned moves[ROLES] = {0};
  moves_find(moves, ROLES, try);
  for (int from = 0; from < ROLES; from++) {
    for (int to = 0; to < ROLES; to++) {
      if (!(moves[from] & SLP_BIT(to))) continue;
      try(from, to);
      CHECK_INT(told[0], from == SLP_ROLE_LEADS);
      CHECK_INT(told[1], to == SLP_ROLE_LEADS);
      /* What is known of the leader's changes is not the next one's. */
      CHECK_INT(fleet.election.changes_known, to == SLP_ROLE_SEEKS || to == SLP_ROLE_FOLLOWS);
    }
  }
}

TEST(one_that_leads_is_the_leader_it_knows) {
  slp_instance_set(&fleet.me, SLP_STR("w1.7"));
  try(SLP_ROLE_SEEKS, SLP_ROLE_LEADS);
  slp_str leader = slp_instance_str(&fleet.election.leader);
  CHECK_MEM(leader.p, leader.n, "w1.7", 4);
}
