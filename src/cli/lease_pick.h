/* lease_pick.h - which lease or worker a name on the command line means. */
#ifndef SLP_CLI_LEASE_PICK_H
#define SLP_CLI_LEASE_PICK_H

#include "base/base.h"
#include "sloop.h"

typedef struct slp_lease_pick {
  const char *name;   /* whole; points into the leases, the name that was given, or `room` */
  const char *second; /* not NULL: `name` and this one are meant alike */
  char room[129];
} slp_lease_pick;

/* A shard by its id, by the number in shardId-000000000012, or by the end of its id; with `workers` also a
 * worker by its id or its instance. What is not there stays as it was given; a number
 * that can only be a shard's is completed. */
void slp_lease_find(const sloop_leases_t *all, const char *given, int workers, slp_lease_pick *ret);

#endif
