/* What a refused write means, by the row that refused: the table of section 3 of the protocol, whole. */
#include "core/fleet_inside.h"

#include "../check.h"

#define ME SLP_STR("me.0000000000000001")
#define OTHER SLP_STR("other.0000000000000002")

static slp_intent intent(slp_verb verb) {
  return (slp_intent){.verb = verb,
                      .me = ME,
                      .id = SLP_STR("me"),
                      .boot = SLP_STR("0000000000000001"),
                      .counter = 5,
                      .epoch = 7,
                      .shard = SLP_STR("s")};
}

static slp_op_end lease(slp_verb verb, slp_str owner, uint64_t epoch) {
  slp_intent i = intent(verb);
  slp_fact f = {.kind = SLP_FACT_LEASE};
  f.u.lease.owner = owner;
  f.u.lease.epoch = epoch;
  return slp_settle(&i, 1, &f);
}

static slp_op_end worker(slp_verb verb, const char *boot, uint64_t counter, int gone) {
  slp_intent i = intent(verb);
  slp_fact f = {.kind = SLP_FACT_WORKER};
  f.u.worker.boot = slp_str_of(boot);
  f.u.worker.counter = counter;
  if (gone) f.u.worker.gone = OTHER;
  return slp_settle(&i, 1, &f);
}

TEST(takes_are_mine_by_owner_and_next_epoch) {
  slp_verb verbs[] = {SLP_L2_TAKE, SLP_L3_RETAKE};
  for (size_t k = 0; k < 2; k++) {
    CHECK_INT(lease(verbs[k], ME, 8), SLP_OP_DONE);
    CHECK_INT(lease(verbs[k], OTHER, 8), SLP_OP_REFUSED);
    CHECK_INT(lease(verbs[k], ME, 9), SLP_OP_REFUSED);
  }
  CHECK_INT(lease(SLP_L2_TAKE, ME, 7), SLP_OP_REFUSED);
  CHECK_INT(lease(SLP_L3_RETAKE, ME, 7), SLP_OP_STILL);
}

TEST(a_checkpoint_is_in_as_long_as_the_tenancy_is_mine) {
  CHECK_INT(lease(SLP_L4_CHECKPOINT, ME, 7), SLP_OP_DONE);
  CHECK_INT(lease(SLP_L4_CHECKPOINT, ME, 8), SLP_OP_REFUSED);
  CHECK_INT(lease(SLP_L4_CHECKPOINT, OTHER, 7), SLP_OP_REFUSED);
}

TEST(letting_go_is_still_to_do_or_over) {
  slp_verb verbs[] = {SLP_L6_TRANSFER, SLP_L7_RELEASE, SLP_L8_END};
  for (size_t k = 0; k < 3; k++) {
    CHECK_INT(lease(verbs[k], ME, 7), SLP_OP_STILL);
    CHECK_INT(lease(verbs[k], (slp_str){NULL, 0}, 7), SLP_OP_REFUSED);
    CHECK_INT(lease(verbs[k], OTHER, 8), SLP_OP_REFUSED);
  }
}

TEST(a_claim_is_in_when_the_row_names_me) {
  slp_intent i = intent(SLP_L5_CLAIM);
  slp_fact f = {.kind = SLP_FACT_LEASE};
  f.u.lease.owner = OTHER;
  f.u.lease.epoch = 7;
  f.u.lease.claim = ME;
  CHECK_INT(slp_settle(&i, 1, &f), SLP_OP_DONE);
  f.u.lease.claim = OTHER;
  CHECK_INT(slp_settle(&i, 1, &f), SLP_OP_REFUSED);
  f.u.lease.claim = ME;
  f.u.lease.epoch = 8;
  CHECK_INT(slp_settle(&i, 1, &f), SLP_OP_REFUSED);
}

TEST(a_row_that_is_there_is_made_even_when_it_is_damaged) {
  slp_intent i = intent(SLP_L1_CREATE);
  slp_fact f = {.kind = SLP_FACT_BAD};
  CHECK_INT(slp_settle(&i, 1, &f), SLP_OP_DONE);
  CHECK_INT(lease(SLP_L1_CREATE, OTHER, 3), SLP_OP_DONE);
  CHECK_INT(slp_settle(&i, 0, &f), SLP_OP_REFUSED);
}

TEST(heartbeats_and_registrations) {
  const char *mine = "0000000000000001", *other = "0000000000000009";
  CHECK_INT(worker(SLP_W1_REGISTER, mine, 1, 0), SLP_OP_DONE);
  CHECK_INT(worker(SLP_W1_REGISTER, mine, 1, 1), SLP_OP_REFUSED);
  CHECK_INT(worker(SLP_W1_REGISTER, other, 1, 0), SLP_OP_REFUSED);
  CHECK_INT(worker(SLP_W2_BEAT, mine, 5, 0), SLP_OP_DONE);
  CHECK_INT(worker(SLP_W2_BEAT, mine, 4, 0), SLP_OP_STILL);
  CHECK_INT(worker(SLP_W2_BEAT, mine, 5, 1), SLP_OP_REFUSED);
  CHECK_INT(worker(SLP_W2_BEAT, other, 9, 0), SLP_OP_REFUSED);
}

TEST(condemning_and_leaving) {
  const char *same = "0000000000000001", *other = "0000000000000009";
  CHECK_INT(worker(SLP_W3_CONDEMN, same, 6, 0), SLP_OP_REFUSED); /* it lives */
  CHECK_INT(worker(SLP_W3_CONDEMN, same, 5, 1), SLP_OP_DONE);
  CHECK_INT(worker(SLP_W3_CONDEMN, other, 1, 0), SLP_OP_DONE);
  CHECK_INT(worker(SLP_W4_LEAVE, same, 5, 1), SLP_OP_DONE);
  CHECK_INT(worker(SLP_W4_LEAVE, other, 5, 0), SLP_OP_REFUSED);
}

TEST(leadership_is_mine_by_owner_and_next_epoch) {
  slp_intent i = intent(SLP_G1_LEAD);
  slp_fact f = {.kind = SLP_FACT_LEAD};
  f.u.lead.owner = ME;
  f.u.lead.epoch = 8;
  CHECK_INT(slp_settle(&i, 1, &f), SLP_OP_DONE);
  f.u.lead.owner = OTHER;
  CHECK_INT(slp_settle(&i, 1, &f), SLP_OP_REFUSED);
}

/* ---- a counter a lease -------------------------------------------------------------------------- */

static slp_op_end counted(slp_verb verb, slp_str owner, uint64_t counter, slp_spot_kind at) {
  slp_intent i = intent(verb);
  slp_fact f = {.kind = SLP_FACT_LEASE};
  f.u.lease.owner = owner;
  f.u.lease.epoch = counter;
  f.u.lease.spot.kind = at;
  return slp_settle_counted(&i, 1, &f);
}

TEST(the_next_number_under_my_name_is_mine) {
  slp_verb verbs[] = {SLP_L2_TAKE, SLP_L3_RETAKE, SLP_L4_CHECKPOINT, SLP_L11_RENEW};
  for (size_t k = 0; k < SLP_COUNT(verbs); k++) {
    CHECK_INT(counted(verbs[k], ME, 8, SLP_SPOT_OLDEST), SLP_OP_DONE);
    CHECK_INT(counted(verbs[k], ME, 7, SLP_SPOT_OLDEST), SLP_OP_STILL);
    CHECK_INT(counted(verbs[k], ME, 9, SLP_SPOT_OLDEST), SLP_OP_REFUSED);
    CHECK_INT(counted(verbs[k], OTHER, 8, SLP_SPOT_OLDEST), SLP_OP_REFUSED);
    CHECK_INT(counted(verbs[k], (slp_str){NULL, 0}, 8, SLP_SPOT_OLDEST), SLP_OP_REFUSED);
  }
}

TEST(a_counted_lease_is_let_go_or_ended_by_the_next_number) {
  slp_str nobody = {NULL, 0};
  CHECK_INT(counted(SLP_L7_RELEASE, nobody, 8, SLP_SPOT_OLDEST), SLP_OP_DONE);
  CHECK_INT(counted(SLP_L7_RELEASE, nobody, 9, SLP_SPOT_OLDEST), SLP_OP_REFUSED);
  CHECK_INT(counted(SLP_L7_RELEASE, ME, 7, SLP_SPOT_OLDEST), SLP_OP_STILL);
  CHECK_INT(counted(SLP_L7_RELEASE, OTHER, 8, SLP_SPOT_OLDEST), SLP_OP_REFUSED);
  CHECK_INT(counted(SLP_L8_END, ME, 8, SLP_SPOT_END), SLP_OP_DONE);
  CHECK_INT(counted(SLP_L8_END, ME, 8, SLP_SPOT_AFTER), SLP_OP_REFUSED);
  CHECK_INT(counted(SLP_L8_END, ME, 7, SLP_SPOT_AFTER), SLP_OP_STILL);
  CHECK_INT(counted(SLP_L8_END, OTHER, 9, SLP_SPOT_END), SLP_OP_REFUSED);
}

TEST(a_counted_lease_is_made_when_its_row_is_there) {
  slp_intent make = intent(SLP_L1_CREATE), take = intent(SLP_L2_TAKE);
  slp_fact bad = {.kind = SLP_FACT_BAD};
  CHECK_INT(counted(SLP_L1_CREATE, OTHER, 3, SLP_SPOT_AFTER), SLP_OP_DONE);
  CHECK_INT(slp_settle_counted(&make, 1, &bad), SLP_OP_DONE);
  CHECK_INT(slp_settle_counted(&make, 0, &bad), SLP_OP_REFUSED);
  CHECK_INT(slp_settle_counted(&take, 1, &bad), SLP_OP_REFUSED);
}

/* A row of a lease says nothing of a write to another kind of row. */
TEST(what_a_row_can_not_tell_is_refused) {
  slp_verb verbs[] = {SLP_W1_REGISTER, SLP_G1_LEAD, SLP_A1_PLAN};
  for (size_t k = 0; k < 3; k++) CHECK_INT(lease(verbs[k], ME, 7), SLP_OP_REFUSED);
  CHECK_INT(counted(SLP_L5_CLAIM, ME, 8, SLP_SPOT_OLDEST), SLP_OP_REFUSED); /* no claims under that rule */
}

CHECK_MAIN()
