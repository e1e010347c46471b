/* lease_pick.h - which lease or worker a name on the command line means. */
#ifndef SLP_CLI_LEASE_PICK_H
#define SLP_CLI_LEASE_PICK_H

#include "base/base.h"
#include "sloop.h"

typedef struct slp_lease_pick {
  const char *name;   /* the full name; points into the leases, the given name, or `room` */
  const char *second; /* NULL, or another shard that the given name may mean as well */
  char room[129];     /* memory for a shard id that was completed */
} slp_lease_pick;

/* Finds a shard by its id, by the number in shardId-000000000012, or by the end of its id. With `workers` it
 * also finds a worker, by its id or its instance. A name that is not in the table stays as it was given. A
 * number that can only be a shard's is completed to an id. */
void slp_lease_find(const sloop_leases_t *all, const char *given, int workers, slp_lease_pick *ret);

#endif
