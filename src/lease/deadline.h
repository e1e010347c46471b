/* deadline.h - the lease deadline: a worker that can't prove that it lives hands out no records. The strategy
 * says how a worker proves it (strategy.h); a proof is mostly a heartbeat. */
#ifndef SLP_LEASE_DEADLINE_H
#define SLP_LEASE_DEADLINE_H

#include "lease/deadline_part.h"
#include "lease/lease_types.h"

void slp_deadline_init(slp_fleet *f);
void slp_deadline_stop(slp_fleet *f);
int slp_proof_is(const slp_fleet *f, slp_proof proof);
void slp_proof_evicted(slp_fleet *f);
/* Checks the deadline, and suspends or resumes the worker. To be called when a proof was answered, and when a
 * lease with a proof of its own is gone. */
void slp_deadline_check(slp_fleet *f);

uint64_t slp_proof_us(const slp_fleet *f);
void slp_proof_set(slp_fleet *f, uint64_t sent_us);
/* Adds a lease with a proof of its own, which was last sent at sent_us, to those that decide the deadline. */
void slp_deadline_adds(slp_fleet *f, uint64_t sent_us);

/* Asks for a proof that is sent at since_us or later. It is sent now or, if a proof is under way, when that
 * is answered. */
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
