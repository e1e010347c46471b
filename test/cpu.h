/* cpu.h - the time of a processor that this process has used: machines are busy, so no test measures another. */
#ifndef SLP_TEST_CPU_H
#define SLP_TEST_CPU_H

#include <stdint.h>
#include <time.h>

static inline uint64_t cpu_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

#endif
