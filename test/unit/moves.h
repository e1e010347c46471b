/* moves.h - which moves a table of states allows. A move that it does not allow ends the program, so each is
 * tried in a process of its own. */
#ifndef SLP_TEST_UNIT_MOVES_H
#define SLP_TEST_UNIT_MOVES_H

#include "check.h"

#include <signal.h>

/* try: sets the state, moves, and returns the state that it is in then. moves: from each, a bit for every
 * state that it may lead to. */
static inline void moves_find(unsigned moves[], int states, int (*try)(int from, int to)) {
  for (int at = 0; at < states * states; at++) {
    int from = at / states, to = at % states, status;
    fflush(NULL);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
      if (!freopen("/dev/null", "w", stderr)) _exit(1);
      _exit(try(from, to) == to ? 0 : 1);
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0) ||
          (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT));
    if (WIFEXITED(status)) moves[from] |= 1u << to;
  }
}

#endif
