/* kcl3_model.h - workers of Amazon's KCL 3 in a world of fleets: a model of what they read and write, which
 * shares no code with the product. Its source is the project amazon-kinesis-client 3.5 (classes
 * LeaseAssignmentManager, VarianceBasedLeaseAssignmentDecider, DynamoDBLeaseRefresher, DynamoDBLeaseRenewer,
 * LeaseGracefulShutdownHandler, LeaseDiscoverer) and amazon-dynamodb-lock-client.
 *
 * Times follow from the world's lease as KCL's follow from failoverTimeMillis, but those of the lock and of the
 * hand-over, which KCL has as constants and which are shorter here. */
#ifndef SLP_TEST_GUEST_KCL3_MODEL_H
#define SLP_TEST_GUEST_KCL3_MODEL_H

#include "story/fleet_world.h"

#define K3_WORKERS 24

typedef struct k3 k3;

k3 *k3_new(fw_world *w);
void k3_end(k3 *m); /* with its world */
void k3_make_leases(k3 *m);
/* A worker begins; its number. */
int k3_start(k3 *m, const char *name);
void k3_kill(k3 *m, int worker);
void k3_stop(k3 *m, int worker); /* gives everything up, and is gone */
void k3_freeze(k3 *m, int worker, uint64_t us);
int k3_runs(const k3 *m, const char *name); /* one of that name is alive and not frozen */
int k3_alive(const k3 *m, int worker);
int k3_leads(const k3 *m, int worker);
int k3_held(const k3 *m, int worker); /* leases */
void k3_version(k3 *m, const char *cv);
/* Moves of leases to another owner since the beginning, by the leader; without those that are read to their
 * end: our workers do not renew them, so that it gives them to one after another until one of its own has
 * them. */
uint64_t k3_moves(const k3 *m);
uint64_t k3_forced(const k3 *m);        /* hand-overs that overran, and were ended by the leader */
uint64_t k3_handed(const k3 *m);        /* ended by a victim of the model's */
uint64_t k3_cycles(const k3 *m);        /* leases that a worker of the model's had and has no more */
void k3_free(k3 *m);                    /* after its world; k3_end ends both */
const char *k3_owner(k3 *m, int shard); /* of the row: who reads it; "" nobody */
const char *k3_attr(k3 *m, const char *key, const char *attr);

#endif
