/* gate.h - spaces the requests of one worker by the capacity that the lease table grants. A worker has one
 * gate for its reads and one for its writes.
 *
 *   - The gate is open (gap_us is 0) until the table refuses a request for lack of capacity.
 *   - Each refusal makes the gap between two units half as long again; each request that is served shortens
 *     it.
 *   - Requests that must not wait (heartbeats) bypass the gate, but their refusals count.
 *
 * Pure: times come from the caller. (gate.c) */
#ifndef SLP_LEASE_GATE_H
#define SLP_LEASE_GATE_H

#include "base/base.h"

typedef struct slp_gate {
  uint64_t gap_us;     /* time between two units; 0: the gate is open */
  uint64_t next_us;    /* if the gate is closed: when the next request may be sent */
  uint64_t changed_us; /* when gap_us last grew: answers to requests sent before prove nothing more */
  uint32_t served_n;   /* requests served since then, up to a maximum */
} slp_gate;

/* Returns 1 if a request may be sent now, and counts it as sent. Returns 0 if it must wait until g->next_us.
 * `dice` is a random number, so that workers with the same gap do not send at the same time. */
int slp_gate_passes(slp_gate *g, uint64_t now_us, uint64_t dice);
/* Called when a request that was sent at sent_us was refused for lack of capacity, or was served. */
void slp_gate_refused(slp_gate *g, uint64_t sent_us, uint64_t now_us, uint64_t dice);
void slp_gate_served(slp_gate *g);
static inline int slp_gate_is_open(const slp_gate *g) { return g->gap_us == 0; }
/* Returns how far apart repeated requests of one kind should be, so that other requests pass between them. */
static inline uint64_t slp_gate_rest_us(const slp_gate *g, uint64_t us, uint32_t units) {
  return slp_max_u64(us, g->gap_us * units);
}

#endif
