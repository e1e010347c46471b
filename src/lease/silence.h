/* silence.h - decides when a worker may be taken for dead: its sign of life has not changed for long enough,
 * by the clock of the worker that reads it. Clocks of two machines are never compared, with one exception: if
 * a lease has a wall-clock time at which it expires, that time must have passed as well. Pure: times come
 * from the caller.
 *
 * All code that judges owners uses this file: members.c for rows of workers, strategies (strategy.h) for
 * rows of leases, and an operator's command (admin/owner_watch.c) for both. The caller passes in what a read
 * showed, and when. */
#ifndef SLP_LEASE_SILENCE_H
#define SLP_LEASE_SILENCE_H

#include "lease/schema.h"

typedef struct slp_sign { /* a sign of life of an owner, as one read showed it */
  uint8_t missing;        /* 1: the row does not exist */
  uint64_t counter;       /* changed by the owner; a smaller value is a change too */
  /* until this time, on the reader's clock, the row says that its owner lives; 0: the row has no such time */
  uint64_t until_us;
} slp_sign;

typedef struct slp_silence {
  /* the sign of the last read */
  slp_sign last;
  /* since when the sign has been the same while the reader had no trouble with the table */
  uint64_t since_us;
  uint64_t moved_us; /* when a read last showed another sign than the read before; 0: never */
  uint32_t reads;    /* reads in a row that showed this sign, since since_us; 0: there was no read */
} slp_silence;

/* Takes what a read showed that was answered at done_us. trouble_us: when the reader's own access to the
 * table last failed; 0: never. The owner may have had the same trouble, so silence is counted only from a
 * read after it. Returns 1 if the sign has changed, 0 otherwise. */
int slp_silence_saw(slp_silence *s, const slp_sign *sign, uint64_t done_us, uint64_t trouble_us);
/* Returns the time from which on the silence proves that the owner is dead: the sign must be unchanged for
 * span_us. Returns UINT64_MAX if fewer than reads_min reads have shown the sign since the last trouble;
 * then time alone proves nothing. */
uint64_t slp_silence_dead_us(const slp_silence *s, uint32_t reads_min, uint64_t span_us, uint64_t trouble_us);
/* Returns the result of slp_silence_dead_us for a worker's own row, with the reads_min for such rows. */
uint64_t slp_silence_of_worker_us(const slp_silence *s, uint64_t span_us, uint64_t trouble_us);

#endif
