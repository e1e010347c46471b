/* lease/lease.c: the table of a lease's states. The rules that keep a lease safe are read from the moves that
 * slp_lease_move allows. */
#include "lease/fleet_inside.h"

#include "core/desc.h"
#include "lease/lease.h"

#include "moves.h"

#define BIT(state) SLP_BIT(SLP_LEASE_##state)
enum { STATES = SLP_LEASE_UNRELEASED + 1 };

static slp_fleet fleet;
static slp_lease lease;
static unsigned moves[STATES]; /* from each, the states that it may lead to */

static int try(int from, int to) {
  lease.state = (slp_lease_state)from;
  slp_lease_move(&lease, (slp_lease_state)to);
  return (int)lease.state;
}

static void begin(void) {
  fleet.mem = slp_mem_new(NULL, NULL);
  lease.f = &fleet;
  moves_find(moves, STATES, try);
}

static void end(void) { slp_mem_drop(fleet.mem); }

/* All states that lead into the set from outside of it. */
static unsigned into(unsigned set) {
  unsigned found = 0;
  for (int from = 0; from < STATES; from++)
    if (!(SLP_BIT(from) & set) && moves[from] & set) found |= SLP_BIT(from);
  return found;
}

static unsigned entered(unsigned set) { /* the states of the set that are led into from outside */
  unsigned found = 0;
  for (int from = 0; from < STATES; from++)
    if (!(SLP_BIT(from) & set)) found |= moves[from] & set;
  return found;
}

TEST(a_lease_is_opened_only_after_it_waited_for_its_parents) {
  begin();
  CHECK_INT(into(SLP_LEASE_OPEN), BIT(WAITING));
  CHECK_INT(entered(SLP_LEASE_OPEN), BIT(OWNED));
  end();
}

TEST(an_ownership_that_sent_its_last_write_never_reads_again) {
  begin();
  CHECK_INT(moves[SLP_LEASE_RELEASING], BIT(IDLE) | BIT(UNRELEASED));
  CHECK_INT(moves[SLP_LEASE_UNRELEASED] & SLP_LEASE_OPEN, 0);
  CHECK_INT(moves[SLP_LEASE_CLOSING], BIT(IDLE) | BIT(ENDING)); /* the same write again: all is read */
  end();
}

TEST(what_is_drained_is_not_read_on) {
  begin();
  unsigned given_up = BIT(DRAINING) | BIT(DRAINED) | BIT(ENDING) | BIT(CLOSING) | BIT(PARKED);
  for (int from = 0; from < STATES; from++)
    if (SLP_BIT(from) & given_up) CHECK_INT(moves[from] & (BIT(OWNED) | BIT(WAITING)), 0);
  end();
}

TEST(everything_may_be_lost_at_any_time) {
  begin();
  for (int from = 0; from < STATES; from++) CHECK(moves[from] & BIT(IDLE));
  end();
}

TEST(an_ownership_begins_by_waiting_or_by_being_given_up_again) {
  begin();
  CHECK_INT(entered(SLP_LEASE_MINE), BIT(WAITING) | BIT(UNRELEASED));
  end();
}

TEST(what_belonged_to_a_state_goes_with_it) {
  slp_shard_desc kid = {.id = SLP_STR("kid"), .parent = SLP_STR("s")};
  begin();
  for (int from = 0; from < STATES; from++) {
    for (int to = 0; to < STATES; to++) {
      unsigned in = SLP_BIT(from), out = SLP_BIT(to);
      if (!(moves[from] & out)) continue;
      lease.state = (slp_lease_state)from;
      if (in & SLP_LEASE_OPEN) CHECK_INT(slp_lease_keep_kids(&lease, &kid, 1), 0);
      if (in & (SLP_LEASE_OPEN | SLP_LEASE_HELD)) lease.save.dirty = 1;
      if (in & SLP_LEASE_OPEN) lease.save.request = SLP_SAVE_ASKED;
      if (in & SLP_LEASE_MINE) lease.release.why = SLP_RELEASE_STALL;
      if (in & BIT(WAITING)) lease.gate.wait_ms = 1000;
      slp_lease_move(&lease, (slp_lease_state)to);
      int was_open = (in & SLP_LEASE_OPEN) != 0, is_open = (out & SLP_LEASE_OPEN) != 0;
      CHECK_INT(lease.end.reached, was_open && is_open);
      CHECK_INT(lease.end.kids != NULL, was_open && is_open);
      CHECK_INT(lease.gate.wait_ms, 0);
      if (!is_open) CHECK_INT(lease.save.dirty, 0);
      if (!(out & SLP_LEASE_MINE) || to == SLP_LEASE_WAITING || to == SLP_LEASE_PARKED) {
        CHECK_INT(lease.save.request, SLP_SAVE_NONE);
        CHECK_INT(lease.release.why, SLP_RELEASE_NONE);
      } else if (was_open) {
        CHECK_INT(lease.save.request, SLP_SAVE_ASKED); /* a release takes it along */
      }
      slp_lease_drop_kids(&lease);
      lease.save = (slp_lease_save){.dirty = 0};
      lease.release = (slp_lease_release_part){.why = SLP_RELEASE_NONE};
    }
  }
  end();
}

static slp_lease *next_turn(void) {
  slp_list *it = slp_list_pop(&fleet.leases.turns);
  return it ? SLP_OWNER(it, slp_lease, turn) : NULL;
}

TEST(ends_have_their_turn_before_takes) {
  slp_lease take = {.f = &fleet, .state = SLP_LEASE_WANTED},
            claimed = {.f = &fleet, .state = SLP_LEASE_CLAIMED},
            ends = {.f = &fleet, .state = SLP_LEASE_ENDING};
  begin();
  slp_list_init(&fleet.leases.turns);
  slp_lease_wait_turn(&take);
  slp_lease_wait_turn(&claimed);
  slp_lease_wait_turn(&ends);
  slp_lease_wait_turn(&take); /* has its place already */
  CHECK(next_turn() == &ends);
  CHECK(next_turn() == &take);
  CHECK(next_turn() == &claimed);
  CHECK(!next_turn());
  end();
}
