/* absence.h - whether this process stood still: it was stopped (SIGSTOP, docker pause), its machine was, or
 * a callback held its loop. The monotonic clock goes on meanwhile, and nothing tells a process that it was
 * away. So whoever judges others by their silence notes again and again that it runs, and finds an absence
 * in the gap between two notes. No silence counts from before an absence: the others may have stood as well,
 * or could not write, because the sleeper held the lock of their store. Pure.
 *
 * A fleet's worker (context.c) and an operator's command (admin/watch.c) keep one each. */
#ifndef SLP_LEASE_ABSENCE_H
#define SLP_LEASE_ABSENCE_H

#include "base/mem.h"

typedef struct slp_absence {
  uint64_t seen_us; /* the last note; 0: there was none yet */
  uint64_t back_us; /* when the last absence was over; 0: there was none */
} slp_absence;

/* Notes that this process runs at now_us. A gap of more than two fifths of a lease since the last note is an
 * absence: a shorter one can't make a lease of silence of what a worker that lives shows, a third. Returns
 * back_us. */
uint64_t slp_absence_note(slp_absence *a, uint64_t now_us, uint64_t lease_us);
/* How long after a note the next one is due. */
static inline uint64_t slp_absence_every_us(uint64_t lease_us) { return lease_us / 10 + 1; }

#endif
