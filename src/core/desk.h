/* desk.h - an operator's desk: one look at a fleet's rows, or one change of them, asked for from outside. Has
 * requests of its own and a store and layout of its own, so that it works before a consumer starts and beside
 * one that runs, and touches nothing of that one's fleet.
 *
 * It judges like any worker would: nobody's lease is taken away before its owner is proven dead, by being
 * condemned or by a whole lease of silence that the desk itself has watched; unless it is told to use force.
 * Every write has a condition; what was read and has changed meanwhile is read again. */
#ifndef SLP_CORE_DESK_H
#define SLP_CORE_DESK_H

#include "core/schema.h"
#include "core/source.h"
#include <sloop.h>

typedef struct slp_desk slp_desk;

typedef enum slp_desk_task {
  SLP_DESK_LEASES,  /* all there is */
  SLP_DESK_EXPLAIN, /* one shard, in words */
  SLP_DESK_RELEASE, /* a lease or a worker */
  SLP_DESK_RESET    /* the position of one lease, or of all */
} slp_desk_task;

typedef struct slp_desk_opts {
  slp_host *host;
  slp_source *source; /* borrowed; for its description and its listing */
  int (*open)(void *ctx, const slp_src_describe *d, slp_store **ret_store, slp_schema **ret_schema,
              slp_fail *f); /* as in core/leased.h; both become the desk's */
  void *ctx;
  uint32_t lease_ms; /* how long an owner whose row names no lease of its own is watched */
  slp_desk_task task;
  slp_str name; /* a shard; RELEASE: or a worker; RESET: absent: all. Copied */
  slp_spot to;  /* RESET; LATEST becomes a time */
  uint8_t force;
  void (*on_done)(slp_desk *d, void *arg); /* from an event, once; may free the desk */
  void *arg;
} slp_desk_opts;

/* Begins at once. SLP_ENOMEM. */
int slp_desk_new(slp_desk **ret, slp_mem *mem, const slp_desk_opts *o);
/* At once: nothing of it is in flight afterwards, though a write that was sent may still happen. NULL is
 * fine. */
void slp_desk_free(slp_desk *d);

/* The answer; lives as long as the desk. */
const slp_fail *slp_desk_fail(const slp_desk *d);         /* class SLP_FINE: all is well */
const char *slp_desk_text(slp_desk *d);                   /* NUL-ended; "" when there is none */
const sloop_leases_t *slp_desk_answer(const slp_desk *d); /* NULL: LEASES was not asked, or it failed */

#endif
