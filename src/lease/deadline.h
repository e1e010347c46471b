/* deadline.h - the lease deadline: a worker that can't prove that it lives hands out no records. A proof is a
 * write that shows that the worker lives, mostly a heartbeat; the strategy decides which writes are proofs
 * (strategy.h). */
#ifndef SLP_LEASE_DEADLINE_H
#define SLP_LEASE_DEADLINE_H

#include "lease/deadline_part.h"
#include "lease/lease_types.h"

void slp_deadline_init(slp_fleet *f);
void slp_deadline_stop(slp_fleet *f);
int slp_proof_is(const slp_fleet *f, slp_proof proof);
/* to be called when this worker was evicted */
void slp_proof_evicted(slp_fleet *f);
/* Checks the deadline, and suspends or resumes the worker. To be called when a proof was answered. If each
 * lease has a proof of its own: also when such a lease is gone. */
void slp_deadline_check(slp_fleet *f);

/* returns or sets slp_deadline.good_us */
uint64_t slp_proof_us(const slp_fleet *f);
void slp_proof_set(slp_fleet *f, uint64_t sent_us);
/* For strategies where each lease has a proof of its own. To be called when a shard is opened: from now on
 * the proof of its lease counts for the deadline. sent_us: when that proof was last sent. */
void slp_deadline_adds(slp_fleet *f, uint64_t sent_us);

/* Asks for a proof that is sent at since_us or later. The proof is sent now or, if another one is under way,
 * when that one is answered. */
void slp_proof_want(slp_fleet *f, uint64_t since_us);
/* Returns 1 if a proof that was sent at sent_us is too old for what slp_proof_want asked for. */
int slp_proof_is_wanted(const slp_fleet *f, uint64_t sent_us);

/* Sets when the next proof is sent; SLP_NEVER: none is due. */
void slp_beat_at(slp_fleet *f, uint64_t at_us);
uint64_t slp_beat_at_us(const slp_fleet *f);

/* To be called before records are handed out; reads the clock. Returns 1 if records may be handed out; 0 if
 * the worker is suspended or not in the fleet. */
int slp_fleet_may_deliver(slp_fleet *f);
/* To be called before work that takes long in this turn of the event loop. Sends a heartbeat if one is
 * due. */
void slp_fleet_beat_first(slp_fleet *f);

#endif
