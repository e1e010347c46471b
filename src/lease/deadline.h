/* deadline.h - the lease deadline: a worker that can't prove that it lives hands out nothing, whatever
 * strategy (strategy.h) the proof follows.
 *
 *         0.8 of a lease since the last good proof was sent
 *   GOOD ---------------------------------------------------> LATE
 *    ^ ^                    a proof is answered                | |
 *    | +-------------------------------------------------------+ |
 *    |                                                           |
 *    +--- it has joined again --- EVICTED <--- its row says so --+--- (from GOOD too) */
#ifndef SLP_LEASE_DEADLINE_H
#define SLP_LEASE_DEADLINE_H

#include "lease/processor.h"

typedef enum slp_proof {
  SLP_PROOF_GOOD, /* also before it has joined */
  SLP_PROOF_LATE,
  SLP_PROOF_EVICTED
} slp_proof;

typedef struct slp_deadline {
  slp_proof proof;
  uint64_t good_us; /* when the last good proof was sent, as the liveness rule counts it */
  /* when the next proof is to be sent */
  uint64_t beat_at_us;
  /* something waits for a proof that is sent at this time or later; 0: nothing ever did */
  uint64_t wanted_us;
  slp_timer timer, beat_timer;
} slp_deadline;

void slp_deadline_init(slp_fleet *f);
void slp_deadline_stop(slp_fleet *f);
int slp_proof_is(const slp_fleet *f, slp_proof proof);
void slp_proof_evicted(slp_fleet *f);
/* Checks the deadline after a proof has come, or after a lease that needed one is gone. Suspends or resumes
 * the worker. */
void slp_deadline_check(slp_fleet *f);

uint64_t slp_proof_us(const slp_fleet *f);
void slp_proof_set(slp_fleet *f, uint64_t sent_us);
/* Adds a lease whose last proof was sent at sent_us; from now on it counts for the deadline. */
void slp_deadline_adds(slp_fleet *f, uint64_t sent_us);

/* Asks for a proof that is sent at since_us or later. It is sent now, or when the one under way is
 * answered. */
void slp_proof_want(slp_fleet *f, uint64_t since_us);
/* Returns 1 if a proof sent at sent_us is older than slp_proof_want asked for. */
int slp_proof_is_wanted(const slp_fleet *f, uint64_t sent_us);

/* Sets when the next proof is sent; SLP_NEVER: no proof is due. */
void slp_beat_at(slp_fleet *f, uint64_t at_us);
uint64_t slp_beat_at_us(const slp_fleet *f);

#endif
