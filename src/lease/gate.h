/* gate.h - spaces the requests of one worker by what the lease table grants. A worker has one gate for its
 * reads and one for its writes.
 *
 *   - The gate is open (gap_us is 0) until the table refuses a request for lack of capacity.
 *   - Each refusal makes the time between two units half as long again; each request that is served takes a
 *     part off it.
 *   - What must not wait (heartbeats) passes by the gate, and its refusals count.
 *
 * Pure: times come from the caller. (gate.c) */
#ifndef SLP_LEASE_GATE_H
#define SLP_LEASE_GATE_H

#include "base/base.h"

typedef struct slp_gate {
  uint64_t gap_us;     /* between two units; 0: open */
  uint64_t next_us;    /* closed: the next request may be sent then */
  uint64_t changed_us; /* gap_us was widened then: what was sent before proves nothing more */
  uint32_t served_n;   /* requests that were served since, up to a maximum */
} slp_gate;

/* Returns 1 if a request may be sent now; it counts as sent. Returns 0 if it is to wait until g->next_us.
 * dice: any random number, by which the times of workers with the same gap differ. */
int slp_gate_passes(slp_gate *g, uint64_t now_us, uint64_t dice);
/* A request that was sent at sent_us was refused for lack of capacity, or was served. */
void slp_gate_refused(slp_gate *g, uint64_t sent_us, uint64_t now_us, uint64_t dice);
void slp_gate_served(slp_gate *g);
static inline int slp_gate_is_open(const slp_gate *g) { return g->gap_us == 0; }
/* How far apart repeated requests of one kind are to be, so that others pass between them. */
static inline uint64_t slp_gate_rest_us(const slp_gate *g, uint64_t us, uint32_t units) {
  return slp_max_u64(us, g->gap_us * units);
}

#endif
