/* host/uv_listen.c: the tables of a connection and of a listener, as uv_conn.h draws them. The moves are the
 * file's own, so the file is included whole. */
#include "../../../src/host/uv_listen.c"

#include "moves.h"

enum { STATES = SLP_CONN_CLOSED + 1, LISTENER_STATES = SLP_LISTENER_CLOSED + 1 };

static slp_conn conn;
static slp_uv_listener listener;

static int try(int from, int to) {
  conn.state = (slp_conn_state)from;
  move(&conn, (slp_conn_state)to);
  return (int)conn.state;
}

static int try_listener(int from, int to) {
  listener.state = (slp_listener_state)from;
  move_listener(&listener, (slp_listener_state)to);
  return (int)listener.state;
}

TEST(a_connection_moves_as_it_is_drawn) {
  unsigned moves[STATES] = {0}, closed = SLP_BIT(SLP_CONN_CLOSED), gone = SLP_BIT(SLP_CONN_GONE);
  unsigned writing = SLP_BIT(SLP_CONN_WRITING), ends = SLP_BIT(SLP_CONN_STREAM_ENDS);
  unsigned last = SLP_BIT(SLP_CONN_LINGERING) | SLP_BIT(SLP_CONN_RESETTING);
  moves_find(moves, STATES, try);
  for (int from = 0; from < SLP_CONN_CLOSED; from++) CHECK(moves[from] & closed);
  for (int from = 0; from < STATES; from++) moves[from] &= ~closed;
  CHECK_INT(moves[SLP_CONN_READING], SLP_BIT(SLP_CONN_READY) | SLP_BIT(SLP_CONN_RAW) | writing);
  CHECK_INT(moves[SLP_CONN_READY], SLP_BIT(SLP_CONN_SERVING));
  CHECK_INT(moves[SLP_CONN_SERVING], SLP_BIT(SLP_CONN_STREAMING) | writing | gone);
  CHECK_INT(moves[SLP_CONN_STREAMING], SLP_BIT(SLP_CONN_STREAM_WRITES) | ends | gone);
  CHECK_INT(moves[SLP_CONN_STREAM_WRITES], SLP_BIT(SLP_CONN_STREAMING) | ends | gone);
  CHECK_INT(moves[SLP_CONN_STREAM_ENDS], writing);
  CHECK_INT(moves[SLP_CONN_WRITING], SLP_BIT(SLP_CONN_READING) | last);
  CHECK_INT(moves[SLP_CONN_RAW], SLP_BIT(SLP_CONN_RAW_GONE) | last);
  /* These only close. A connection that is CLOSED may be freed at any time. */
  CHECK_INT(moves[SLP_CONN_LINGERING] | moves[SLP_CONN_RESETTING], 0);
  CHECK_INT(moves[SLP_CONN_GONE] | moves[SLP_CONN_RAW_GONE] | moves[SLP_CONN_CLOSED], 0);
}

/* The user is told that the peer left only about a request or a connection that the user has. */
TEST(only_what_the_user_has_is_gone) {
  for (int from = 0; from < STATES; from++) {
    conn.state = (slp_conn_state)from;
    int has = is_serving(&conn);
    slp_set to = conn_allowed[from] & (SLP_BIT(SLP_CONN_GONE) | SLP_BIT(SLP_CONN_RAW_GONE));
    CHECK_INT(has, to != 0);
    CHECK_INT(slp_set_has(to, SLP_CONN_RAW_GONE), from == SLP_CONN_RAW);
  }
}

TEST(a_listener_never_listens_again) {
  unsigned moves[LISTENER_STATES] = {0};
  moves_find(moves, LISTENER_STATES, try_listener);
  CHECK_INT(moves[SLP_LISTENER_LISTENS], SLP_BIT(SLP_LISTENER_CLOSES));
  CHECK_INT(moves[SLP_LISTENER_CLOSES], SLP_BIT(SLP_LISTENER_CLOSED));
  CHECK_INT(moves[SLP_LISTENER_CLOSED], 0);
}
