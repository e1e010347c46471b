/* probe.h - marks places that are seldom reached, so that a campaign of the simulator can tell which of them
 * it reached and how often. Only a build with -Dmutants=true counts. */
#ifndef SLP_BASE_PROBE_H
#define SLP_BASE_PROBE_H

#ifdef SLP_MUTANTS
#include <stdint.h>

typedef struct slp_probe {
  const char *name;
  uint64_t times;
} slp_probe;
/* All probes of the program, one after the other; the linker defines where they begin and end. */
extern slp_probe __start_slp_probes[], __stop_slp_probes[];
#define SLP_PROBE(text)                                                              \
  do {                                                                               \
    static slp_probe probe __attribute__((section("slp_probes"), used)) = {text, 0}; \
    probe.times++;                                                                   \
  } while (0)
#else
#define SLP_PROBE(text) ((void)0)
#endif

#endif
