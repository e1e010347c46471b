/* lease_types.h - names the objects of lease, for files that pass pointers to them. A file that reads their
 * members includes fleet_inside.h, lease_part.h, members_part.h or strategy.h. */
#ifndef SLP_LEASE_LEASE_TYPES_H
#define SLP_LEASE_LEASE_TYPES_H

typedef struct slp_fleet slp_fleet;       /* a fleet's worker */
typedef struct slp_lease slp_lease;       /* one lease as its worker sees it */
typedef struct slp_member slp_member;     /* a worker of the fleet as this worker sees it */
typedef struct slp_strategy slp_strategy; /* the parts of our own protocol that other systems replace */

#endif
