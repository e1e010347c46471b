/* absence.c - finds out whether this process stood still (absence.h). */
#include "lease/absence.h"

#include "base/base.h"
#include "base/mutant.h"
#include "base/probe.h"

uint64_t slp_absence_note(slp_absence *a, uint64_t now_us, uint64_t lease_us) {
  int stood = a->seen_us && now_us > a->seen_us && now_us - a->seen_us > lease_us / 5 * 2;
  if (stood && !SLP_MUTANT(sleep_counts)) {
    SLP_PROBE("absence: over");
    a->back_us = now_us;
  }
  a->seen_us = slp_max_u64(a->seen_us, now_us);
  return a->back_us;
}
