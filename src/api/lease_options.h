/* lease_options.h - reads the options `store`, `schema` and `worker`, and opens the store and the schema of
 * the leases. */
#ifndef SLP_API_LEASE_OPTIONS_H
#define SLP_API_LEASE_OPTIONS_H

#include "base/fail.h"
#include "core/source.h"
#include "guest/layouts.h"
#include "lease/schema.h"
#include "lease/store.h"

#include <sloop.h>

typedef enum slp_lease_store { SLP_LEASES_DYNAMODB, SLP_LEASES_SQLITE, SLP_LEASES_MEMORY } slp_lease_store;

typedef struct slp_lease_place {
  slp_lease_store store;
  const slp_layout *layout;
  const char *name; /* the name of the table or file; points into the options. With MEMORY: "" */
  /* for the layout kcl: the names of its two other tables; NULL: made from the application's name */
  const char *coordinator, *metrics;
} slp_lease_place;
/* Reads from the options where the leases are stored. o->app must be set. Returns 0, or SLOOP_EOPTION with
 * the reason in `why`. */
int slp_lease_place_read(const sloop_opts_t *o, slp_lease_place *ret, char why[160]);

/* Opens the store and the schema that the options of s name, for the described stream. The caller must close
 * both. Sends no request to the store. Returns 0, or an error with the reason in f. */
int slp_leases_open(sloop_t *s, const slp_src_describe *d, slp_store **ret_store, slp_schema **ret_schema,
                    slp_fail *f);
/* Does the same as slp_leases_open, but with the members app, store and schema of `o`. several 1: the
 * application reads several streams. */
int slp_leases_open_at(sloop_t *s, const sloop_opts_t *o, int several, const slp_src_describe *d,
                       slp_store **ret_store, slp_schema **ret_schema, slp_fail *f);
/* Makes s a consumer with leases. Returns 0 or SLP_ENOMEM. */
int slp_leases_wire(sloop_t *s);

#endif
