/* states.h - what a table of states is, the bit of a state, and the check of a move.
 *
 * An object with several states keeps its state in one member, a value of an enum. The first value is the
 * state of a zeroed object. A table has a row for each state: the set of the states that may follow it. A
 * single function writes the member, and checks each move against the table:
 *
 *   static const slp_set allowed[] = {
 *       [SLP_DOOR_OPEN] = SLP_BIT(SLP_DOOR_SHUT),
 *       [SLP_DOOR_SHUT] = SLP_BIT(SLP_DOOR_OPEN) | SLP_BIT(SLP_DOOR_LOCKED),
 *       [SLP_DOOR_LOCKED] = 0,
 *   };
 *
 *   static void move(slp_door *d, slp_door_state to) {
 *     SLP_MOVE(allowed, d->state, to);
 *   }
 *
 * If a state begins or ends something, such as a timer, this function does that too.
 * test/contract/tidy/rooms.py checks every table of src/ against these rules. */
#ifndef SLP_BASE_STATES_H
#define SLP_BASE_STATES_H

#include "base/base.h"

/* A set of values of one enum, each of them 0 to 31: states, or kinds of operations. */
typedef uint32_t slp_set;

/* The set with this value alone. A set of several values is written as SLP_BIT(a) | SLP_BIT(b). */
#define SLP_BIT(value) ((slp_set)1 << (value))

/* Returns 1 if the set has the value, 0 otherwise. */
static inline int slp_set_has(slp_set set, unsigned value) { return (int)(set >> value & 1); }

/* Writes the state `to` into the member `state`. Ends the process, as a failed SLP_CHECK does, if the row of
 * the old state in `table` does not contain `to`. The set is shifted, not compared with SLP_BIT(to), because
 * gcc then tests the bit with one instruction. */
#define SLP_MOVE(table, state, to)           \
  do {                                       \
    SLP_CHECK(((table)[state] >> (to)) & 1); \
    (state) = (to);                          \
  } while (0)

#endif
