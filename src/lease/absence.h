/* absence.h - finds out whether this process stood still: it was stopped (SIGSTOP, docker pause), its machine
 * was suspended, or a callback held its loop. The monotonic clock keeps running during such a time, and no
 * call tells a process that it stood still.
 *
 * A process that judges other workers by their silence calls slp_absence_note regularly. A long gap between
 * two of these calls is called an absence. Silence of other workers before the end of an absence proves
 * nothing: they may have stood still as well, or could not write because this process held the lock of the
 * store's file.
 *
 * Pure: no input but the arguments. A fleet's worker (context.c) and an operator's command
 * (admin/owner_watch.c) keep an slp_absence each. */
#ifndef SLP_LEASE_ABSENCE_H
#define SLP_LEASE_ABSENCE_H

#include <stdint.h>

typedef struct slp_absence {
  uint64_t seen_us; /* when slp_absence_note was last called; 0: never */
  uint64_t back_us; /* when the last absence ended; 0: there was no absence */
} slp_absence;

/* Notes that this process runs at now_us. Returns when the last absence ended; 0: there was none. An absence
 * is a gap of more than 2/5 of lease_us since the last call. A living worker writes at least every lease_us /
 * 3, so a shorter gap can't make that worker look silent for a whole lease_us. */
uint64_t slp_absence_note(slp_absence *a, uint64_t now_us, uint64_t lease_us);
/* Returns how much time should pass between two calls of slp_absence_note. */
static inline uint64_t slp_absence_every_us(uint64_t lease_us) { return lease_us / 10 + 1; }

#endif
