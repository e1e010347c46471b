/* lease_pick.h - finds the shard or worker that a name on the command line stands for. */
#ifndef SLP_CLI_LEASE_PICK_H
#define SLP_CLI_LEASE_PICK_H

#include <sloop_admin.h>

typedef struct slp_lease_pick {
  const char *name;   /* the full name; points into the leases, into the given name, or to `room` */
  const char *second; /* another shard that the given name may stand for; NULL: the name is unambiguous */
  char room[129];     /* holds a shard id that was completed from a number */
} slp_lease_pick;

/* Finds a shard by its id, by the number in shardId-000000000012, or by the end of its id. With `workers`,
 * also finds a worker by its id or its instance. A name that is not in the table is left unchanged, except
 * that a number is completed to a shard id if it can only be a shard's number. */
void slp_lease_find(const sloop_leases_t *all, const char *given, int workers, slp_lease_pick *ret);

#endif
