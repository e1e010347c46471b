/* desk.h - an operator's desk: one look at a fleet's rows, or one change of them, asked for from outside. Has
 * requests of its own and a store and layout of its own, so that it works before a consumer starts and beside
 * one that runs, and touches nothing of that one's fleet.
 *
 * It judges like any worker would: nobody's lease is taken away before its owner is proven dead, by being
 * condemned or by a whole lease of silence that the desk itself has watched; unless it is told to use force.
 * Every write has a condition; what was read and has changed meanwhile is read again. */
#ifndef SLP_ADMIN_ADMIN_H
#define SLP_ADMIN_ADMIN_H

#include "lease/schema.h"
#include "core/source.h"
#include <sloop.h>

typedef struct slp_admin slp_admin;

typedef enum slp_admin_task {
  SLP_ADMIN_LEASES,  /* all there is */
  SLP_ADMIN_EXPLAIN, /* one shard, in words */
  SLP_ADMIN_RELEASE, /* a lease or a worker */
  SLP_ADMIN_RESET    /* the position of one lease, or of all */
} slp_admin_task;

typedef struct slp_admin_opts {
  slp_host *host;
  slp_source *source; /* borrowed; for its description and its listing */
  int (*open)(void *ctx, const slp_src_describe *d, slp_store **ret_store, slp_schema **ret_schema,
              slp_fail *f); /* as in core/leased.h; both become the desk's */
  void *ctx;
  uint32_t lease_ms; /* how long an owner whose row names no lease of its own is watched */
  slp_admin_task task;
  slp_str name;    /* a shard; RELEASE: or a worker; RESET: absent: all. Copied */
  slp_position to; /* RESET; LATEST becomes a time */
  uint8_t force;
  void (*on_done)(slp_admin *d, void *arg); /* from an event, once; may free the desk */
  void *arg;
} slp_admin_opts;

/* Begins at once. SLP_ENOMEM. */
int slp_admin_new(slp_admin **ret, slp_mem *mem, const slp_admin_opts *o);
/* At once: nothing of it is in flight afterwards, though a write that was sent may still happen. NULL is
 * fine. */
void slp_admin_free(slp_admin *d);

/* The answer; lives as long as the desk. */
const slp_fail *slp_admin_fail(const slp_admin *d);         /* class SLP_FINE: all is well */
const char *slp_admin_text(slp_admin *d);                   /* NUL-ended; "" when there is none */
const sloop_leases_t *slp_admin_answer(const slp_admin *d); /* NULL: LEASES was not asked, or it failed */

#endif
