/* write_proof.h - proves that the table accepts this worker's writes. For layouts without rows of workers, in
 * which only leases have counters. (write_proof.c)
 *
 * While no worker can write to the table, a living owner is as silent as a dead one. No worker can write if
 * another process holds the lock of the store's file, or if the table can be read but not written. A worker
 * that holds leases notices this by its own renewals. A worker without leases has nothing to write. So now
 * and then it sends a renewal of another worker's lease, which the table refuses without changing anything.
 * The refusal proves that the table processes writes. */
#ifndef SLP_GUEST_WRITE_PROOF_H
#define SLP_GUEST_WRITE_PROOF_H

#include "host/host.h"
#include "lease/lease_types.h"
#include "lease/shard_set.h"
#include "lease/snapshot.h"
#include "lease/write.h"

typedef struct slp_write_proof {
  /* The shard of another worker's lease. This worker sends a renewal of that lease, which the table will
   * refuse. "": there is no owner to judge. */
  char shard[SLP_SHARD_ID_MAX + 1];
  uint64_t answered_us; /* when a write was last answered for certain; 0: none was */
  uint64_t sent_us;     /* when that write was sent */
  slp_write renewal;
  slp_timer timer;
} slp_write_proof;

void slp_write_proof_init(slp_fleet *f);
void slp_write_proof_stop(slp_fleet *f);
void slp_write_proof_free(slp_fleet *f);
/* To be called with all rows of the table. Decides whether this worker must find out if the owner of some
 * lease lives, and which lease this worker renews. */
void slp_write_proof_saw(slp_fleet *f, const slp_snapshot *s);
/* To be called when a write of a lease, which was sent at sent_us, has got a certain answer. */
void slp_write_proof_got(slp_fleet *f, uint64_t sent_us);
/* Returns 1 if the table has answered a write that was sent at least half a lease time after since_us. A
 * living owner would have renewed its lease by then, because it does so every third of a lease time. */
int slp_write_proof_covers(const slp_fleet *f, uint64_t since_us);

#endif
