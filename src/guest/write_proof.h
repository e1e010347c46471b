/* write_proof.h - proof that the table takes this worker's writes, where only leases have counters. Owners
 * that can't write are as silent as dead ones: another process holds the lock of the store's file, or the
 * table can be read and not written. Whoever holds leases learns it by its own renewals. A worker without
 * leases writes nothing, so it renews now and then a lease that is not its own. The table refuses that
 * renewal, which changes nothing; the refusal is the proof. */
#ifndef SLP_GUEST_WRITE_PROOF_H
#define SLP_GUEST_WRITE_PROOF_H

#include "lease/processor.h"
#include "lease/shard_set.h"
#include "lease/snapshot.h"
#include "lease/write.h"

typedef struct slp_write_proof {
  /* the lease that is renewed for the refusal; "": there is no owner to judge */
  char shard[SLP_SHARD_ID_MAX + 1];
  uint64_t answered_us; /* when a write last got a certain answer; 0: never */
  uint64_t sent_us;     /* when that write was sent */
  slp_write renewal;
  slp_timer timer;
} slp_write_proof;

void slp_write_proof_init(slp_fleet *f);
void slp_write_proof_stop(slp_fleet *f);
void slp_write_proof_free(slp_fleet *f);
/* The table was read: decides whether there is an owner to judge, and which lease to renew for the
 * refusal. */
void slp_write_proof_saw(slp_fleet *f, const slp_snapshot *s);
/* A write of a lease, sent at sent_us, has now got a certain answer. */
void slp_write_proof_got(slp_fleet *f, uint64_t sent_us);
/* Returns 1 if a write was answered that was sent at least half a lease after since_us. An owner renews every
 * third of a lease, so it could have renewed by then. */
int slp_write_proof_covers(const slp_fleet *f, uint64_t since_us);

#endif
