/* instance.h - the name of one life of a worker: "id.incarnation". */
#ifndef SLP_LEASE_INSTANCE_H
#define SLP_LEASE_INSTANCE_H

#include "lease/schema.h"

#define SLP_INSTANCE_MAX (SLP_WORKER_ID_MAX + 1 + SLP_INCARNATION_N)

#define SLP_NAME_MAX 200 /* for a worker of another system, whose name is often a host name and a UUID */

typedef struct slp_instance { /* n 0: nobody */
  char p[SLP_NAME_MAX];
  uint8_t n;
} slp_instance;

static inline slp_str slp_instance_str(const slp_instance *i) { return (slp_str){i->n ? i->p : NULL, i->n}; }
/* Sets the name. A name that is too long becomes empty, so no row ever proves that this instance lives. */
static inline void slp_instance_set(slp_instance *i, slp_str s) {
  i->n = s.n <= sizeof i->p ? (uint8_t)s.n : 0;
  if (i->n) memcpy(i->p, s.p, i->n);
}

#endif
