/* states.c - SLP_MOVE allows the moves of a table's rows and no others; a set has the values that were put
 * into it. */
#include "base/states.h"

#include "moves.h"

typedef enum { OPEN, SHUT, LOCKED, LAST = 31 } door_state;

static const slp_set allowed[] = {
    [OPEN] = SLP_BIT(SHUT),
    [SHUT] = SLP_BIT(OPEN) | SLP_BIT(LOCKED),
    [LOCKED] = SLP_BIT(LOCKED),
};

static struct {
  int before;
  door_state state;
  int after;
} door = {.before = 1, .after = 2};

static void move(door_state to) { SLP_MOVE(allowed, door.state, to); }

static int try(int from, int to) {
  door.state = (door_state)from;
  move((door_state)to);
  return (int)door.state;
}

TEST(a_move_that_the_table_does_not_have_ends_the_process) {
  unsigned moves[3] = {0};
  moves_find(moves, 3, try);
  CHECK_INT(moves[OPEN], 1u << SHUT);
  CHECK_INT(moves[SHUT], 1u << OPEN | 1u << LOCKED);
  CHECK_INT(moves[LOCKED], 1u << LOCKED); /* a state may follow itself if its row says so */
}

TEST(a_move_writes_the_state_and_nothing_beside_it) {
  CHECK_INT(try(OPEN, SHUT), SHUT);
  CHECK_INT(try(SHUT, LOCKED), LOCKED);
  CHECK_INT(door.before, 1);
  CHECK_INT(door.after, 2);
}

/* An illegal move ends the process as SLP_CHECK does, with the file, the line and the table's name. */
TEST(a_move_that_is_refused_tells_the_table_and_the_place) {
  int pipes[2], status;
  char said[400] = "";
  CHECK(pipe(pipes) == 0);
  fflush(NULL);
  pid_t pid = fork();
  CHECK(pid >= 0);
  if (pid == 0) {
    dup2(pipes[1], 2);
    try(LOCKED, OPEN);
    _exit(0);
  }
  close(pipes[1]);
  ssize_t n = read(pipes[0], said, sizeof said - 1);
  close(pipes[0]);
  CHECK(waitpid(pid, &status, 0) == pid);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
  CHECK(n > 0 && strstr(said, "check failed") && strstr(said, "allowed") && strstr(said, "door.state"));
  CHECK(strstr(said, "states.c:") != NULL);
}

TEST(each_value_from_0_to_31_has_a_bit_of_its_own) {
  slp_set all = 0;
  for (unsigned value = 0; value <= LAST; value++) {
    CHECK(!slp_set_has(all, value));
    all |= SLP_BIT(value);
    CHECK(slp_set_has(all, value));
    CHECK(slp_set_has(SLP_BIT(value), value));
    for (unsigned other = 0; other <= LAST; other++)
      if (other != value) CHECK(!slp_set_has(SLP_BIT(value), other));
  }
  CHECK_INT(all, UINT32_MAX);
  CHECK_INT(slp_set_has(SLP_BIT(LAST) | SLP_BIT(OPEN), LAST), 1); /* 1, and not the bit: 0x80000000 */
}

/* A set of several values is a constant, so a table can be one. */
static const slp_set both = SLP_BIT(OPEN) | SLP_BIT(LAST);

TEST(a_set_takes_no_value_of_another_one) {
  CHECK(slp_set_has(both, OPEN) && slp_set_has(both, LAST));
  CHECK(!slp_set_has(both, SHUT) && !slp_set_has(both, LOCKED));
  CHECK(!slp_set_has(0, OPEN) && !slp_set_has(0, LAST));
}
