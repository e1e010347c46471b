/* share.h - how many seeds are played, and how long one may take. Under sanitizers every seed takes many times as
 * long, and only a share of them is played. */
#ifndef SLP_TEST_SWARM_SHARE_H
#define SLP_TEST_SWARM_SHARE_H

#include <stdint.h>
#include <stdlib.h>
#include <sys/time.h>

/* Runs one of SLOOP_TEST_SHARE seeds; all when it is not set. */
static inline uint64_t sim_share(uint64_t seeds) {
  const char *share = getenv("SLOOP_TEST_SHARE");
  uint64_t of = share ? strtoull(share, NULL, 10) : 1;
  return of > 1 ? (seeds + of - 1) / of : seeds;
}

/* Ends the process by SIGPROF when it has computed for so long from now on. Time does not count in which others
 * have the processor: a seed waits for nothing else. */
static inline void sim_compute_at_most(int seconds) {
  struct itimerval limit = {.it_value = {.tv_sec = seconds}};
  (void)setitimer(ITIMER_PROF, &limit, NULL);
}

#endif
