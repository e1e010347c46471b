/* deadline.h - the lease deadline: a worker that can't prove that it lives hands out nothing, whatever
 * rule the proof follows.
 *
 *         0.8 of a lease since the last good proof was sent
 *   GOOD ---------------------------------------------------> LATE
 *    ^ ^                    a proof is answered                | |
 *    | +-------------------------------------------------------+ |
 *    |                                                           |
 *    +--- it has joined anew --- EVICTED <--- its row says so ---+--- (from GOOD too) */
#ifndef SLP_LEASE_DEADLINE_H
#define SLP_LEASE_DEADLINE_H

#include "lease/processor.h"

typedef enum slp_proof {
  SLP_PROOF_GOOD, /* also before it has ever joined */
  SLP_PROOF_LATE,
  SLP_PROOF_EVICTED
} slp_proof;

typedef struct slp_deadline {
  slp_proof proof;
  uint64_t good_us; /* the sending of the last good proof, as the liveness rule counts it */
  uint64_t beat_at_us;
  uint64_t wanted_us; /* something waits for a proof that is sent then or later; 0: nothing ever did */
  slp_timer timer, beat_timer;
} slp_deadline;

void slp_deadline_init(slp_fleet *f);
void slp_deadline_stop(slp_fleet *f);
int slp_proof_is(const slp_fleet *f, slp_proof proof);
void slp_proof_evicted(slp_fleet *f);
/* A proof has come, or what hung on one is gone: suspends or resumes. */
void slp_deadline_check(slp_fleet *f);

uint64_t slp_proof_us(const slp_fleet *f);
void slp_proof_set(slp_fleet *f, uint64_t sent_us);
/* Opens a lease whose last proof was sent at sent_us: from now on it counts with the others. */
void slp_deadline_adds(slp_fleet *f, uint64_t sent_us);

/* Asks for a proof that is sent at since_us or later: one goes out now, or when the one under way is
 * answered. */
void slp_proof_want(slp_fleet *f, uint64_t since_us);
/* Returns 1 if a proof that was sent at sent_us is too old for whoever asked. */
int slp_proof_is_wanted(const slp_fleet *f, uint64_t sent_us);

/* When the next proof is to be sent; SLP_NEVER: not now. */
void slp_beat_at(slp_fleet *f, uint64_t at_us);
uint64_t slp_beat_at_us(const slp_fleet *f);

#endif
