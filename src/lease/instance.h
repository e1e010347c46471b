/* instance.h - the name of one life of a worker: "id.incarnation". A worker that joins again with the same id
 * has another incarnation. */
#ifndef SLP_LEASE_INSTANCE_H
#define SLP_LEASE_INSTANCE_H

#include "lease/schema.h"

#define SLP_INSTANCE_MAX (SLP_WORKER_ID_MAX + 1 + SLP_INCARNATION_N)

/* room for an instance. In layouts of other systems it is the worker's name, often a host name and a UUID. */
#define SLP_NAME_MAX 200

typedef struct slp_instance { /* n 0: no worker */
  char p[SLP_NAME_MAX];
  uint8_t n;
} slp_instance;

static inline slp_str slp_instance_str(const slp_instance *i) { return (slp_str){i->n ? i->p : NULL, i->n}; }
/* Sets the name to s. If s is too long, the name becomes empty, so that no row can prove that this instance
 * lives. */
static inline void slp_instance_set(slp_instance *i, slp_str s) {
  i->n = s.n <= sizeof i->p ? (uint8_t)s.n : 0;
  if (i->n) memcpy(i->p, s.p, i->n);
}

#endif
