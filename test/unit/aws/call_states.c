/* aws/call.c: the tables of a call and of its keys, as call.h draws them. The moves are the file's own, so the
 * file is included whole. */
#include "../../../src/aws/call.c"

#include "moves.h"

enum { STATES = SLP_CALL_ENDING + 1, KEYS = SLP_CALL_KEYS_RENEWED + 1 };

static slp_call call;

static int try(int from, int to) {
  call.state = (slp_call_state)from;
  move(&call, (slp_call_state)to);
  return (int)call.state;
}

TEST(a_call_is_read_only_after_it_was_sent) {
  unsigned moves[STATES] = {0}, idle = SLP_BIT(SLP_CALL_IDLE), settling = SLP_BIT(SLP_CALL_SETTLING);
  unsigned pausing = SLP_BIT(SLP_CALL_PAUSING), ending = SLP_BIT(SLP_CALL_ENDING);
  moves_find(moves, STATES, try);
  for (int from = 0; from < STATES; from++) CHECK(moves[from] & idle); /* slp_call_cancel, at any time */
  CHECK_INT(moves[SLP_CALL_IDLE], idle | settling | ending);
  CHECK_INT(moves[SLP_CALL_SETTLING], idle | SLP_BIT(SLP_CALL_WAITING_SETUP) |
                                          SLP_BIT(SLP_CALL_WAITING_KEYS) | SLP_BIT(SLP_CALL_SENT) | pausing |
                                          ending);
  CHECK_INT(moves[SLP_CALL_SENT], idle | settling | SLP_BIT(SLP_CALL_READING) | pausing | ending);
  CHECK_INT(moves[SLP_CALL_READING], idle | settling | pausing | ending);
  CHECK_INT(moves[SLP_CALL_ENDING], idle); /* its outcome is final */
}

/* A call that waits does nothing else before it has settled what the next try needs. */
TEST(a_call_that_waits_settles_again) {
  static const slp_call_state waits[] = {SLP_CALL_WAITING_SETUP, SLP_CALL_WAITING_KEYS, SLP_CALL_PAUSING};
  unsigned moves[STATES] = {0};
  moves_find(moves, STATES, try);
  for (size_t i = 0; i < SLP_COUNT(waits); i++)
    CHECK_INT(moves[waits[i]], SLP_BIT(SLP_CALL_IDLE) | SLP_BIT(SLP_CALL_SETTLING));
}

static int try_keys(int from, int to) {
  call.keys_are = (slp_call_keys)from;
  move_keys(&call, (slp_call_keys)to);
  return (int)call.keys_are;
}

TEST(the_keys_of_a_call_are_renewed_once) {
  unsigned moves[KEYS] = {0}, first = SLP_BIT(SLP_CALL_KEYS_FIRST); /* of the next call */
  moves_find(moves, KEYS, try_keys);
  CHECK_INT(moves[SLP_CALL_KEYS_FIRST], first | SLP_BIT(SLP_CALL_KEYS_REFUSED));
  CHECK_INT(moves[SLP_CALL_KEYS_REFUSED], first | SLP_BIT(SLP_CALL_KEYS_RENEWED));
  CHECK_INT(moves[SLP_CALL_KEYS_RENEWED], first);
}
