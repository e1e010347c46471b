/* probe.h - SLP_PROBE marks a place in the code that is seldom reached. A series of simulator runs can report
 * which of these places it reached, and how often. Probes count only in a build with -Dmutants=true. */
#ifndef SLP_BASE_PROBE_H
#define SLP_BASE_PROBE_H

#ifdef SLP_MUTANTS
#include <stdint.h>

typedef struct slp_probe {
  const char *name;
  uint64_t times;
} slp_probe;
/* The array of all probes of the program. The linker defines the symbols of its beginning and its end. */
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
