/* silence.h - when a worker may be taken for dead: its proof of life has not changed for long enough, by the
 * clock of the worker that reads it. Clocks of two machines are never compared, except where a lease has a
 * wall-clock time at which it runs out; then that time must have passed as well. Pure.
 *
 * Whoever judges an owner judges by this: members.c the rows of workers, a strategy (strategy.h) the rows of
 * leases, and an operator's command (admin/watch.c) both. They hand over what a read showed, and when. */
#ifndef SLP_LEASE_SILENCE_H
#define SLP_LEASE_SILENCE_H

#include "lease/schema.h"

typedef struct slp_sign { /* a sign of life, as one read showed it */
  uint8_t missing;        /* there is no such row */
  uint64_t counter;       /* moved by the owner; a smaller value counts as moved too */
  /* on the reader's clock: the row says that its owner lives until then; 0: it says nothing */
  uint64_t until_us;
} slp_sign;

typedef struct slp_silence {
  slp_sign last;
  uint64_t since_us; /* since when the sign has been the same, and the reader had no trouble */
  uint64_t moved_us; /* when a read last showed a different sign; 0: never */
  uint32_t reads;    /* reads that showed this sign; 0: none yet */
} slp_silence;

/* A read that was answered at done_us showed this. trouble_us: the reader's own way to the table last failed
 * then; 0: never. The owner may have had the same trouble, so silence counts from behind it. 1: the sign is
 * not as it was. */
int slp_silence_saw(slp_silence *s, const slp_sign *sign, uint64_t done_us, uint64_t trouble_us);
/* From when on this proves that its worker is dead, which was to be heard of within span_us and was read so
 * at least reads_min times. UINT64_MAX: not by these reads alone, whatever the time. */
uint64_t slp_silence_dead_us(const slp_silence *s, uint32_t reads_min, uint64_t span_us, uint64_t trouble_us);
/* The same of a worker's own row. */
uint64_t slp_silence_of_worker_us(const slp_silence *s, uint64_t span_us, uint64_t trouble_us);

#endif
