/* write_proof.h - proves that the table takes this worker's writes, where only leases have counters.
 * (write_proof.c)
 *
 * If nobody can write to the table, living owners are as silent as dead ones: another process holds the lock
 * of the store's file, or the table can be read and not written. A worker that holds leases notices that by
 * its own renewals. A worker without leases writes nothing, so it tries to renew another worker's lease now
 * and then. The table refuses that renewal, which changes nothing; the refusal is the proof. */
#ifndef SLP_GUEST_WRITE_PROOF_H
#define SLP_GUEST_WRITE_PROOF_H

#include "lease/processor.h"
#include "lease/shard_set.h"
#include "lease/snapshot.h"
#include "lease/write.h"

typedef struct slp_write_proof {
  /* another worker's lease, whose renewal is sent to be refused; "": there is no owner to judge */
  char shard[SLP_SHARD_ID_MAX + 1];
  uint64_t answered_us; /* when a write last got a certain answer; 0: never */
  uint64_t sent_us;     /* when that write was sent */
  slp_write renewal;
  slp_timer timer;
} slp_write_proof;

void slp_write_proof_init(slp_fleet *f);
void slp_write_proof_stop(slp_fleet *f);
void slp_write_proof_free(slp_fleet *f);
/* Takes all rows of the table. Decides whether there is an owner to judge, and which lease to renew. */
void slp_write_proof_saw(slp_fleet *f, const slp_snapshot *s);
/* Notes that a write of a lease, sent at sent_us, has now got a certain answer. */
void slp_write_proof_got(slp_fleet *f, uint64_t sent_us);
/* Returns 1 if a write was answered that was sent at least half a lease after since_us. An owner renews every
 * third of a lease, so it could have renewed by then. */
int slp_write_proof_covers(const slp_fleet *f, uint64_t since_us);

#endif
