/* leases.h - reads the options `store`, `schema` and `worker`, and opens what they name. */
#ifndef SLP_API_LEASES_H
#define SLP_API_LEASES_H

#include "guest/layouts.h"
#include "lease/consumer.h"
#include <sloop.h>

typedef enum slp_lease_store { SLP_LEASES_DYNAMODB, SLP_LEASES_SQLITE, SLP_LEASES_MEMORY } slp_lease_store;

typedef struct slp_lease_place {
  slp_lease_store store;
  const slp_layout *layout;
  const char *name;                  /* of the table or the file; points into the options. MEMORY: "" */
  const char *coordinator, *metrics; /* KCL: of the tables beside it; NULL: by the application's name */
} slp_lease_place;
/* 0, or SLOOP_EOPTION and why. o->app is there. */
int slp_lease_place_read(const sloop_opts_t *o, slp_lease_place *ret, char why[160]);

/* Opens the store and the schema that the options of s name, for the described stream. The caller closes
 * both. Does no I/O. 0, or an error with the reason in f. */
int slp_leases_open(sloop_t *s, const slp_src_describe *d, slp_store **ret_store, slp_schema **ret_schema,
                    slp_fail *f);
/* The same with `app`, `store` and `schema` of o. `several`: the application reads several streams. */
int slp_leases_open_at(sloop_t *s, const sloop_opts_t *o, int several, const slp_src_describe *d,
                       slp_store **ret_store, slp_schema **ret_schema, slp_fail *f);
/* Gives the consumer of s its leases. SLP_ENOMEM. */
int slp_leases_wire(sloop_t *s);

#endif
