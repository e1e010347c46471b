/* Rows of leases whose number or time each write of their owner moves: guest/counted_writes.c. */
#include "guest/counted_writes.h"
#include "guest/guest_operations.h"
#include "guest/strategies.h"

#include "check.h"

#define L UINT64_C(10000000)
#define ME SLP_STR("me.0000000000000001")
#define OTHER SLP_STR("other.0000000000000002")

static slp_operation operation(slp_operation_kind kind) {
  return (slp_operation){.kind = kind,
                         .me = ME,
                         .id = SLP_STR("me"),
                         .incarnation = SLP_STR("0000000000000001"),
                         .counter = 5,
                         .epoch = 7,
                         .shard = SLP_STR("s")};
}

/* ---- a counter a lease -------------------------------------------------------------------------- */

static slp_outcome counted(slp_operation_kind kind, slp_str owner, uint64_t counter, slp_position_kind at) {
  slp_operation i = operation(kind);
  slp_parsed_row f = {.kind = SLP_ROW_LEASE};
  f.u.lease.owner = owner;
  f.u.lease.epoch = counter;
  f.u.lease.position.kind = at;
  return slp_counted_outcome(&i, 1, &f);
}

TEST(the_next_number_under_my_name_is_mine) {
  slp_operation_kind operations[] = {SLP_OPERATION_TAKE, SLP_OPERATION_RETAKE, SLP_OPERATION_CHECKPOINT,
                                     SLP_GUEST_RENEW};
  for (size_t k = 0; k < SLP_COUNT(operations); k++) {
    CHECK_INT(counted(operations[k], ME, 8, SLP_POSITION_OLDEST), SLP_OUTCOME_DONE);
    CHECK_INT(counted(operations[k], ME, 7, SLP_POSITION_OLDEST), SLP_OUTCOME_UNCHANGED);
    CHECK_INT(counted(operations[k], ME, 9, SLP_POSITION_OLDEST), SLP_OUTCOME_REFUSED);
    CHECK_INT(counted(operations[k], OTHER, 8, SLP_POSITION_OLDEST), SLP_OUTCOME_REFUSED);
    CHECK_INT(counted(operations[k], (slp_str){NULL, 0}, 8, SLP_POSITION_OLDEST), SLP_OUTCOME_REFUSED);
  }
}

TEST(a_counted_lease_is_let_go_or_ended_by_the_next_number) {
  slp_str nobody = {NULL, 0};
  CHECK_INT(counted(SLP_OPERATION_RELEASE, nobody, 8, SLP_POSITION_OLDEST), SLP_OUTCOME_DONE);
  CHECK_INT(counted(SLP_OPERATION_RELEASE, nobody, 9, SLP_POSITION_OLDEST), SLP_OUTCOME_REFUSED);
  CHECK_INT(counted(SLP_OPERATION_RELEASE, ME, 7, SLP_POSITION_OLDEST), SLP_OUTCOME_UNCHANGED);
  CHECK_INT(counted(SLP_OPERATION_RELEASE, OTHER, 8, SLP_POSITION_OLDEST), SLP_OUTCOME_REFUSED);
  CHECK_INT(counted(SLP_OPERATION_END, ME, 8, SLP_POSITION_END), SLP_OUTCOME_DONE);
  CHECK_INT(counted(SLP_OPERATION_END, ME, 8, SLP_POSITION_AFTER), SLP_OUTCOME_REFUSED);
  CHECK_INT(counted(SLP_OPERATION_END, ME, 7, SLP_POSITION_AFTER), SLP_OUTCOME_UNCHANGED);
  CHECK_INT(counted(SLP_OPERATION_END, OTHER, 9, SLP_POSITION_END), SLP_OUTCOME_REFUSED);
}

TEST(a_counted_lease_is_made_when_its_row_is_there) {
  slp_operation make = operation(SLP_OPERATION_CREATE), take = operation(SLP_OPERATION_TAKE);
  slp_parsed_row bad = {.kind = SLP_ROW_BAD};
  CHECK_INT(counted(SLP_OPERATION_CREATE, OTHER, 3, SLP_POSITION_AFTER), SLP_OUTCOME_DONE);
  CHECK_INT(slp_counted_outcome(&make, 1, &bad), SLP_OUTCOME_DONE);
  CHECK_INT(slp_counted_outcome(&make, 0, &bad), SLP_OUTCOME_REFUSED);
  CHECK_INT(slp_counted_outcome(&take, 1, &bad), SLP_OUTCOME_REFUSED);
}

TEST(nothing_is_claimed_by_the_next_number) {
  CHECK_INT(counted(SLP_OPERATION_CLAIM, ME, 8, SLP_POSITION_OLDEST), SLP_OUTCOME_REFUSED);
}

TEST(a_reset_is_in_when_the_row_is_free_one_epoch_on_and_there) {
  slp_operation i = operation(SLP_OPERATION_RESET);
  slp_parsed_row f = {.kind = SLP_ROW_LEASE, .u.lease = {.epoch = 8}};
  i.position.kind = f.u.lease.position.kind = SLP_POSITION_OLDEST;
  CHECK_INT(slp_counted_outcome(&i, 1, &f), SLP_OUTCOME_DONE);
  f.u.lease.epoch = 9;
  CHECK_INT(slp_counted_outcome(&i, 1, &f), SLP_OUTCOME_REFUSED);
}

/* ---- a time at which each lease runs out -------------------------------------------------------- */

/* Owners come back to a name, times do not: a release leaves the time, what proves life moves it. */
static slp_outcome expires(slp_operation_kind kind, slp_str owner, uint64_t time, slp_position_kind at) {
  slp_operation i = operation(kind);
  slp_parsed_row f = {.kind = SLP_ROW_LEASE};
  int moves = kind == SLP_OPERATION_TAKE || kind == SLP_GUEST_RENEW || kind == SLP_OPERATION_CHECKPOINT;
  i.epoch_after = moves ? 1007 : i.epoch;
  f.u.lease.owner = owner;
  f.u.lease.epoch = time;
  f.u.lease.position.kind = at;
  return slp_counted_outcome(&i, 1, &f);
}

TEST(the_time_that_was_written_under_my_name_is_mine) {
  slp_operation_kind moving[] = {SLP_OPERATION_TAKE, SLP_OPERATION_CHECKPOINT, SLP_GUEST_RENEW};
  slp_str nobody = {NULL, 0};
  for (size_t k = 0; k < SLP_COUNT(moving); k++) {
    CHECK_INT(expires(moving[k], ME, 1007, SLP_POSITION_OLDEST), SLP_OUTCOME_DONE);
    CHECK_INT(expires(moving[k], ME, 7, SLP_POSITION_OLDEST), SLP_OUTCOME_UNCHANGED);
    CHECK_INT(expires(moving[k], ME, 8, SLP_POSITION_OLDEST), SLP_OUTCOME_REFUSED);
    CHECK_INT(expires(moving[k], OTHER, 1007, SLP_POSITION_OLDEST), SLP_OUTCOME_REFUSED);
  }
  slp_operation_kind leaving[] = {SLP_OPERATION_RELEASE, SLP_OPERATION_TRANSFER};
  for (size_t k = 0; k < SLP_COUNT(leaving); k++) {
    CHECK_INT(expires(leaving[k], nobody, 7, SLP_POSITION_OLDEST), SLP_OUTCOME_DONE);
    CHECK_INT(expires(leaving[k], ME, 7, SLP_POSITION_OLDEST), SLP_OUTCOME_UNCHANGED);
    CHECK_INT(expires(leaving[k], OTHER, 2000, SLP_POSITION_OLDEST), SLP_OUTCOME_REFUSED); /* taken since */
    CHECK_INT(expires(leaving[k], nobody, 2000, SLP_POSITION_OLDEST), SLP_OUTCOME_REFUSED);
  }
  CHECK_INT(expires(SLP_OPERATION_END, nobody, 7, SLP_POSITION_END), SLP_OUTCOME_DONE);
  CHECK_INT(expires(SLP_OPERATION_END, ME, 7, SLP_POSITION_AFTER), SLP_OUTCOME_UNCHANGED);
  CHECK_INT(expires(SLP_OPERATION_END, OTHER, 9, SLP_POSITION_AFTER), SLP_OUTCOME_REFUSED);
}

TEST(a_claim_on_a_lease_that_runs_out) {
  slp_operation i = operation(SLP_OPERATION_CLAIM);
  slp_parsed_row f = {.kind = SLP_ROW_LEASE};
  f.u.lease = (slp_lease_row){.owner = OTHER, .epoch = 7, .claim = ME};
  CHECK_INT(slp_counted_outcome(&i, 1, &f), SLP_OUTCOME_DONE);
  f.u.lease.claim = OTHER;
  CHECK_INT(slp_counted_outcome(&i, 1, &f), SLP_OUTCOME_REFUSED);
  f.u.lease = (slp_lease_row){.owner = OTHER, .epoch = 8, .claim = ME};
  CHECK_INT(slp_counted_outcome(&i, 1, &f), SLP_OUTCOME_REFUSED); /* its owner goes on */
}

/* ---- signs of life ------------------------------------------------------------------------------ */

/* A tick may begin anew with each owner, and stand where it stood: owner and place count as well. Silence counts
 * from the second look on, as motorway's workers wait. */
TEST(a_tick_counts_with_its_owner_and_takes_two_leases) {
  slp_lease_row row = {.owner = SLP_STR("a"), .epoch = 5, .position = {.kind = SLP_POSITION_AFTER}};
  slp_silence s = {.reads = 0};
  slp_mark_set(&row.position.mark, SLP_STR("7"), UINT32_MAX, -1);
  slp_sign first = slp_counted_sign_of_tick(&row, 0, 0, 10000), next = first;
  slp_silence_saw(&s, &first, 1000, 0);
  CHECK(slp_strategy_dead_us(&slp_strategy_motorway.base, &s, L, 0) == 1000 + 2 * L);
  CHECK(slp_strategy_span_us(&slp_strategy_motorway.base, L) == 2 * L &&
        slp_strategy_span_us(&slp_strategy_kcl.base, L) == L);
  CHECK_INT(slp_silence_saw(&s, &next, 2000, 0), 0);
  row.epoch = 6;
  next = slp_counted_sign_of_tick(&row, 0, 0, 10000);
  CHECK_INT(slp_silence_saw(&s, &next, 3000, 0), 1);
  row.owner = SLP_STR("b");
  next = slp_counted_sign_of_tick(&row, 0, 0, 10000);
  CHECK_INT(slp_silence_saw(&s, &next, 4000, 0), 1);
  slp_mark_set(&row.position.mark, SLP_STR("8"), UINT32_MAX, -1);
  next = slp_counted_sign_of_tick(&row, 0, 0, 10000);
  CHECK_INT(slp_silence_saw(&s, &next, 5000, 0), 1);
  CHECK(slp_strategy_dead_us(&slp_strategy_motorway.base, &s, L, 0) == 5000 + 2 * L);
}
