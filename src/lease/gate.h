/* gate.h - spaces the requests of one worker so that they stay within the capacity of the lease table. A
 * worker has one gate for its reads and one for its writes.
 *   - The gate is open (gap_us is 0) until the table refuses a request for lack of capacity.
 *   - Each refused request makes the gap longer by a half. Each request that is served shortens it. The gap
 *     is the time between two capacity units.
 *   - Requests that must not wait (heartbeats) bypass the gate, but the refusal of such a request makes the
 *     gap longer too.
 * Pure: times come from the caller. (gate.c) */
#ifndef SLP_LEASE_GATE_H
#define SLP_LEASE_GATE_H

#include "base/base.h"

typedef struct slp_gate {
  uint64_t gap_us;  /* time between two capacity units; 0: the gate is open */
  uint64_t next_us; /* if the gate is not open: when the next request may be sent */
  /* When gap_us last grew. Requests that were sent before that time don't make it grow again if they are
   * refused. */
  uint64_t changed_us;
  uint32_t served_n; /* how many requests were served since gap_us last grew; counted up to a maximum */
} slp_gate;

/* Returns 1 if a request may be sent now, and counts it as sent. Returns 0 if it must wait until g->next_us.
 * dice: a random number; it keeps workers with equal gaps from sending at the same time. */
int slp_gate_passes(slp_gate *g, uint64_t now_us, uint64_t dice);
/* To be called when a request was refused for lack of capacity. sent_us: when it was sent. */
void slp_gate_refused(slp_gate *g, uint64_t sent_us, uint64_t now_us, uint64_t dice);
/* to be called when a request was served */
void slp_gate_served(slp_gate *g);
static inline int slp_gate_is_open(const slp_gate *g) { return g->gap_us == 0; }
/* Returns how far apart repeated requests of one kind should be: `us`, or longer, so that between two such
 * requests the table has time for `units` capacity units of other requests. */
static inline uint64_t slp_gate_rest_us(const slp_gate *g, uint64_t us, uint32_t units) {
  return slp_max_u64(us, g->gap_us * units);
}

#endif
