/* silence.h - decides when an owner may be taken for dead: its sign of life has not changed for long enough,
 * by the clock of the worker that reads it. Clocks of two machines are never compared, with one exception: if
 * a lease has a wall-clock time at which it expires, that time must have passed as well. Pure: times come
 * from the caller.
 *
 * All code that judges owners uses this file: members.c for rows of workers, strategies (strategy.h) for rows
 * of leases, and an operator's command (admin/owner_watch.c) for both. The caller says what a read showed,
 * and when. */
#ifndef SLP_LEASE_SILENCE_H
#define SLP_LEASE_SILENCE_H

#include <stdint.h>

typedef struct slp_sign { /* the sign of life of an owner, as one read showed it */
  uint8_t missing;        /* 1: the owner's row does not exist */
  uint64_t counter;       /* changed by the owner with each proof of life; a smaller value is a change too */
  /* the row says that its owner lives until this time, on the reader's clock; 0: the row has no such time */
  uint64_t until_us;
} slp_sign;

typedef struct slp_silence {
  /* the sign that the last read showed */
  slp_sign last;
  /* since when the sign has been the same; begins again after each trouble of the reader with the table */
  uint64_t since_us;
  /* when a read last showed another sign of the same owner than the read before it; 0: never */
  uint64_t moved_us;
  uint32_t reads; /* how many reads in a row have shown this sign, since since_us */
} slp_silence;

/* To be called with the sign of life that a read showed. done_us: when the read was answered. trouble_us:
 * when the reader's own access to the table last failed; 0: never. The owner may have had the same trouble,
 * so its silence counts only from a read after trouble_us. Returns 1 if the sign has changed, 0 otherwise. */
int slp_silence_saw(slp_silence *s, const slp_sign *sign, uint64_t done_us, uint64_t trouble_us);
/* Returns from which time on the silence proves that the owner is dead: the sign must be unchanged for
 * span_us. Returns UINT64_MAX if fewer than reads_min reads have shown the sign since the last trouble; then
 * no time proves it. */
uint64_t slp_silence_dead_us(const slp_silence *s, uint32_t reads_min, uint64_t span_us, uint64_t trouble_us);
/* Does the same as slp_silence_dead_us for the row of a worker, with the number of reads that such rows
 * need. */
uint64_t slp_silence_of_worker_us(const slp_silence *s, uint64_t span_us, uint64_t trouble_us);

#endif
