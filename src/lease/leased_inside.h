/* leased_inside.h - a consumer with leases, as the files that implement it see it: leased_consumer.c,
 * processor.c and requests.c. */
#ifndef SLP_LEASE_LEASED_INSIDE_H
#define SLP_LEASE_LEASED_INSIDE_H

#include "base/list.h"
#include "core/consumer_inside.h"
#include "core/engine_inside.h"
#include "core/leases.h"
#include "core/position.h"
#include "host/host.h"
#include "lease/fleet_opts.h"
#include "lease/lease_types.h"
#include "lease/leased_consumer.h"
#include "lease/processor.h"
#include "lease/schema.h"
#include "lease/store.h"

#include <sloop.h>

struct slp_leased {
  slp_leases leases; /* the table of functions that core calls */
  slp_processor processor;
  slp_consumer *c;
  slp_leased_opts o; /* the options; worker and machine point into `texts` */
  char *texts;       /* owned; the strings of `o` */
  slp_store *store;  /* owned; NULL before the table is opened */
  /* owned; NULL before the table is opened */
  slp_schema *schema;
  /* owned; NULL before the fleet is created and after it was freed */
  slp_fleet *fleet;
  slp_fleet_stats last; /* the statistics of a fleet that was freed; all 0 before */
  /* the request that prepares the table, before the fleet is created */
  slp_store_prepare prepare;
  /* preparing: `prepare` is under way. joined: the worker is registered. leaving: on_leave was called. left:
   * the fleet has ended. list_asked: the fleet waits for a listing of the stream. */
  uint8_t preparing, joined, leaving, left, list_asked;
  /* when the load was last reported to the fleet, and how many bytes were handed out until then */
  uint64_t load_us, load_bytes;
  uint64_t list_serial; /* serial number of the first listing that answers the fleet's request */
  /* before the fleet is created: prepares the table again. Afterwards: looks for shards that make no
   * progress. */
  slp_timer timer;
  slp_event end_ev; /* frees a fleet that has failed */
  /* the user's callback for a save (slp_leased_save); NULL: no save is under way */
  sloop_cb save_cb;
  void *save_arg;
  uint8_t save_done;
  int save_status; /* with save_done 1: what the callback is told */
  /* the code of the fatal error with which the consumer has ended by itself; 0: it has not */
  int end_status;
  slp_event save_ev;
  slp_event named_ev;  /* writes the positions that the user chose, or reports their outcome to the user */
  slp_list reopenings; /* shards that the user wants to be read again, linked by slp_reopening.link */
  slp_timer reopen;    /* opens the shards in `reopenings` again */
  /* "id.incarnation" of the worker; empty before it has joined */
  char instance[160];
};

/* A shard that the user wants to be read again (sloop_seek_checkpoint). Once it is retired, c->shards no
 * longer has the shard. */
typedef struct slp_reopening {
  slp_list link;
  uint8_t retired; /* 1: the shard was removed from c->shards, with the records that were fetched */
  /* When the shard was removed: paused, 1: the user had paused it. paused_all, 1: the user had paused all. */
  uint8_t paused, paused_all;
  /* epoch: the epoch of the lease. held_us: slp_progress_held_us of the shard when it was removed. */
  uint64_t epoch, held_us;
  /* where reading of the shard begins again */
  slp_position from;
  size_t shard_n;
  char shard[];
} slp_reopening;

static inline slp_host *slp_leased_host(const slp_leased *ld) { return ld->c->engine->host; }
/* returns NULL if the consumer has no leases */
static inline slp_leased *slp_leased_by(const slp_consumer *c) {
  return c->leases ? SLP_OWNER(c->leases, slp_leased, leases) : NULL;
}
/* Returns 1 if the user chooses each position that is saved (SLOOP_CHECKPOINTS_ASKED). */
static inline int slp_leased_is_named(const slp_consumer *c) {
  return c->o->checkpoints == SLOOP_CHECKPOINTS_ASKED;
}

/* ---- processor.c ------------------------------------------------------------------------------------ */
extern const slp_processor_ops slp_leased_processor_ops;
/* Begins to read a shard from this position; implements slp_processor_ops.open. */
int slp_leased_open(slp_processor *t, slp_str id, uint64_t epoch, const slp_position *from);
void slp_leased_move_end(slp_shard *s, slp_shard_end to);
/* Drops the records that were not handed out. Records that the user holds stay valid, and their
 * acknowledgements are waited for. */
void slp_leased_stop_reading(slp_shard *s);
/* Tells the fleet that the shard is drained: now, or when the user has given all its records back. */
void slp_leased_let_go(slp_shard *s);
void slp_leased_retire(slp_shard *s); /* removes the shard; records of it that the user holds stay valid */
/* makes shards continue that may have waited for a shard that is gone */
void slp_leased_go_on(slp_consumer *c);
/* returns the entry of the shard in `reopenings`; NULL: it need not be read again */
slp_reopening *slp_leased_reopening(slp_leased *ld, slp_str id);

/* ---- requests.c ---------------------------------------------------------------------------------------- */
void slp_leased_requests_init(slp_leased *ld);
/* The consumer has ended by itself with the error `status`: makes each pending callback of a request get
 * it. */
void slp_leased_requests_end(slp_leased *ld, int status);
void slp_leased_requests_free(slp_leased *ld);

#endif
