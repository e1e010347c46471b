/* The meaning of a refused write, by the row that refused: the table "Refusals and lost answers" of
 * src/lease/PROTOCOL.md, whole. */
#include "lease/outcome.h"

#include "check.h"

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

static slp_outcome lease(slp_operation_kind kind, slp_str owner, uint64_t epoch) {
  slp_operation i = operation(kind);
  slp_parsed_row f = {.kind = SLP_ROW_LEASE};
  f.u.lease.owner = owner;
  f.u.lease.epoch = epoch;
  return slp_outcome_of(&i, 1, &f);
}

static slp_outcome worker(slp_operation_kind kind, const char *incarnation, uint64_t counter, int gone) {
  slp_operation i = operation(kind);
  slp_parsed_row f = {.kind = SLP_ROW_WORKER};
  f.u.worker.incarnation = slp_str_of(incarnation);
  f.u.worker.counter = counter;
  if (gone) f.u.worker.gone = OTHER;
  return slp_outcome_of(&i, 1, &f);
}

TEST(takes_are_mine_by_owner_and_next_epoch) {
  slp_operation_kind operations[] = {SLP_OPERATION_TAKE, SLP_OPERATION_RETAKE};
  for (size_t k = 0; k < 2; k++) {
    CHECK_INT(lease(operations[k], ME, 8), SLP_OUTCOME_DONE);
    CHECK_INT(lease(operations[k], OTHER, 8), SLP_OUTCOME_REFUSED);
    CHECK_INT(lease(operations[k], ME, 9), SLP_OUTCOME_REFUSED);
  }
  CHECK_INT(lease(SLP_OPERATION_TAKE, ME, 7), SLP_OUTCOME_REFUSED);
  CHECK_INT(lease(SLP_OPERATION_RETAKE, ME, 7), SLP_OUTCOME_UNCHANGED);
}

TEST(a_checkpoint_is_in_as_long_as_the_tenancy_is_mine) {
  CHECK_INT(lease(SLP_OPERATION_CHECKPOINT, ME, 7), SLP_OUTCOME_DONE);
  CHECK_INT(lease(SLP_OPERATION_CHECKPOINT, ME, 8), SLP_OUTCOME_REFUSED);
  CHECK_INT(lease(SLP_OPERATION_CHECKPOINT, OTHER, 7), SLP_OUTCOME_REFUSED);
}

TEST(letting_go_is_still_to_do_or_over) {
  slp_operation_kind operations[] = {SLP_OPERATION_TRANSFER, SLP_OPERATION_RELEASE, SLP_OPERATION_END};
  for (size_t k = 0; k < 3; k++) {
    CHECK_INT(lease(operations[k], ME, 7), SLP_OUTCOME_UNCHANGED);
    CHECK_INT(lease(operations[k], (slp_str){NULL, 0}, 7), SLP_OUTCOME_REFUSED);
    CHECK_INT(lease(operations[k], OTHER, 8), SLP_OUTCOME_REFUSED);
  }
}

TEST(a_claim_is_in_when_the_row_names_me) {
  slp_operation i = operation(SLP_OPERATION_CLAIM);
  slp_parsed_row f = {.kind = SLP_ROW_LEASE};
  f.u.lease.owner = OTHER;
  f.u.lease.epoch = 7;
  f.u.lease.claim = ME;
  CHECK_INT(slp_outcome_of(&i, 1, &f), SLP_OUTCOME_DONE);
  f.u.lease.claim = OTHER;
  CHECK_INT(slp_outcome_of(&i, 1, &f), SLP_OUTCOME_REFUSED);
  f.u.lease.claim = ME;
  f.u.lease.epoch = 8;
  CHECK_INT(slp_outcome_of(&i, 1, &f), SLP_OUTCOME_REFUSED);
}

TEST(a_row_that_is_there_is_made_even_when_it_is_damaged) {
  slp_operation i = operation(SLP_OPERATION_CREATE);
  slp_parsed_row f = {.kind = SLP_ROW_BAD};
  CHECK_INT(slp_outcome_of(&i, 1, &f), SLP_OUTCOME_DONE);
  CHECK_INT(lease(SLP_OPERATION_CREATE, OTHER, 3), SLP_OUTCOME_DONE);
  CHECK_INT(slp_outcome_of(&i, 0, &f), SLP_OUTCOME_REFUSED);
}

TEST(heartbeats_and_registrations) {
  const char *mine = "0000000000000001", *other = "0000000000000009";
  CHECK_INT(worker(SLP_OPERATION_REGISTER, mine, 1, 0), SLP_OUTCOME_DONE);
  CHECK_INT(worker(SLP_OPERATION_REGISTER, mine, 1, 1), SLP_OUTCOME_REFUSED);
  CHECK_INT(worker(SLP_OPERATION_REGISTER, other, 1, 0), SLP_OUTCOME_REFUSED);
  CHECK_INT(worker(SLP_OPERATION_HEARTBEAT, mine, 5, 0), SLP_OUTCOME_DONE);
  CHECK_INT(worker(SLP_OPERATION_HEARTBEAT, mine, 4, 0), SLP_OUTCOME_UNCHANGED);
  CHECK_INT(worker(SLP_OPERATION_HEARTBEAT, mine, 5, 1), SLP_OUTCOME_REFUSED);
  CHECK_INT(worker(SLP_OPERATION_HEARTBEAT, other, 9, 0), SLP_OUTCOME_REFUSED);
}

TEST(evicting_and_leaving) {
  const char *same = "0000000000000001", *other = "0000000000000009";
  CHECK_INT(worker(SLP_OPERATION_EVICT, same, 6, 0), SLP_OUTCOME_REFUSED); /* it lives */
  CHECK_INT(worker(SLP_OPERATION_EVICT, same, 5, 1), SLP_OUTCOME_DONE);
  CHECK_INT(worker(SLP_OPERATION_EVICT, other, 1, 0), SLP_OUTCOME_DONE);
  CHECK_INT(worker(SLP_OPERATION_LEAVE, same, 5, 1), SLP_OUTCOME_DONE);
  CHECK_INT(worker(SLP_OPERATION_LEAVE, other, 5, 0), SLP_OUTCOME_REFUSED);
}

TEST(leadership_is_mine_by_owner_and_next_epoch) {
  slp_operation i = operation(SLP_OPERATION_LEAD);
  slp_parsed_row f = {.kind = SLP_ROW_LEADERSHIP};
  f.u.leadership.owner = ME;
  f.u.leadership.epoch = 8;
  CHECK_INT(slp_outcome_of(&i, 1, &f), SLP_OUTCOME_DONE);
  f.u.leadership.owner = OTHER;
  CHECK_INT(slp_outcome_of(&i, 1, &f), SLP_OUTCOME_REFUSED);
}

/* A row of a lease says nothing of a write to another kind of row. */
TEST(what_a_row_can_not_tell_is_refused) {
  slp_operation_kind operations[] = {SLP_OPERATION_REGISTER, SLP_OPERATION_LEAD, SLP_OPERATION_ASSIGN};
  for (size_t k = 0; k < 3; k++) CHECK_INT(lease(operations[k], ME, 7), SLP_OUTCOME_REFUSED);
}

static slp_outcome reset(slp_position to, slp_str owner, uint64_t epoch, slp_position is) {
  slp_operation i = operation(SLP_OPERATION_RESET);
  slp_parsed_row f = {.kind = SLP_ROW_LEASE};
  i.position = to;
  f.u.lease.owner = owner;
  f.u.lease.epoch = epoch;
  f.u.lease.position = is;
  return slp_outcome_of(&i, 1, &f);
}

TEST(a_reset_is_in_when_the_row_is_free_one_epoch_on_and_there) {
  slp_position none = {.kind = SLP_POSITION_NONE}, oldest = {.kind = SLP_POSITION_OLDEST},
               end = {.kind = SLP_POSITION_END};
  slp_position time = {.kind = SLP_POSITION_TIME, .at_ms = 5},
               later = {.kind = SLP_POSITION_TIME, .at_ms = 6};
  slp_position at = {.kind = SLP_POSITION_AT}, after = {.kind = SLP_POSITION_AFTER};
  slp_mark_set(&at.mark, SLP_STR("42"), 3, -1);
  slp_mark_set(&after.mark, SLP_STR("42"), 2, -1);
  CHECK_INT(reset(oldest, (slp_str){NULL, 0}, 8, oldest), SLP_OUTCOME_DONE);
  CHECK_INT(reset(none, (slp_str){NULL, 0}, 8, end), SLP_OUTCOME_DONE); /* it stays where it was */
  CHECK_INT(reset(at, (slp_str){NULL, 0}, 8, after), SLP_OUTCOME_DONE); /* the same record */
  CHECK_INT(reset(time, (slp_str){NULL, 0}, 8, later), SLP_OUTCOME_REFUSED);
  CHECK_INT(reset(oldest, (slp_str){NULL, 0}, 8, end), SLP_OUTCOME_REFUSED);
  CHECK_INT(reset(oldest, OTHER, 8, oldest), SLP_OUTCOME_REFUSED);
  CHECK_INT(reset(oldest, (slp_str){NULL, 0}, 9, oldest), SLP_OUTCOME_REFUSED);
}
