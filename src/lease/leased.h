/* leased.h - a consumer with leases, as seen by the files that make it: consumer.c, processor.c and
 * requests.c. */
#ifndef SLP_LEASE_LEASED_H
#define SLP_LEASE_LEASED_H

#include "core/consumer.h"
#include "lease/consumer.h"

struct slp_leased {
  slp_leases leases; /* what core sees */
  slp_processor processor;
  slp_consumer *c;
  slp_leased_opts o; /* worker and machine point into texts */
  char *texts;       /* owned */
  slp_store *store;  /* owned, as the next two; NULL: not yet */
  slp_schema *schema;
  slp_fleet *fleet;
  slp_store_prepare prepare;
  uint8_t preparing, joined, leaving, left, list_asked;
  uint64_t load_us, load_bytes; /* when the load was last told; the bytes handed out by then */
  uint64_t list_serial;         /* the first listing that answers the fleet's request */
  slp_timer timer;              /* to prepare the table again; later, to look for shards without progress */
  slp_event end_ev;             /* frees a fleet that can't be used */
  sloop_cb save_cb;
  void *save_arg;
  uint8_t save_done;
  slp_event save_ev;
  slp_event named_ev;  /* writes positions that the user named, or tells the user what became of them */
  slp_list reopenings; /* shards to be read again (reopening.link) */
  slp_timer reopen;    /* runs on_reopen */
  char instance[160];
};

/* A shard that the user wants to be read again. Once it is retired, c->shards does not have it. */
typedef struct slp_reopening {
  slp_list link;
  uint8_t retired;         /* what was read of the shard is gone */
  uint64_t epoch, held_us; /* held_us: slp_progress_held_us of the shard before */
  slp_position from;
  size_t shard_n;
  char shard[];
} slp_reopening;

static inline slp_host *slp_leased_host(const slp_leased *ld) { return ld->c->engine->host; }
/* NULL: the consumer has no leases */
static inline slp_leased *slp_leased_by(const slp_consumer *c) {
  return c->leases ? SLP_OWNER(c->leases, slp_leased, leases) : NULL;
}
static inline int slp_leased_is_named(const slp_consumer *c) {
  return c->o->checkpoints == SLOOP_CHECKPOINTS_ASKED;
}

/* ---- processor.c ------------------------------------------------------------------------------------ */
extern const slp_processor_ops slp_leased_processor_ops;
/* Begins to read a shard; the first function of slp_processor_ops. */
int slp_leased_open(slp_processor *t, slp_str id, uint64_t epoch, const slp_position *from);
void slp_leased_move_end(slp_shard *s, slp_shard_end to);
/* Drops what was not handed out; records that are out are waited for. */
void slp_leased_stop_reading(slp_shard *s);
void slp_leased_let_go(slp_shard *s);   /* drained: tells the fleet, at once or when no record is out */
void slp_leased_retire(slp_shard *s);   /* removes the shard. Records of it that are out stay with the user */
void slp_leased_go_on(slp_consumer *c); /* others may have waited for a shard that is gone */
slp_reopening *slp_leased_reopening(slp_leased *ld, slp_str id); /* NULL: the shard is not to be read again */

/* ---- requests.c ---------------------------------------------------------------------------------------- */
void slp_leased_requests_init(slp_leased *ld);
void slp_leased_requests_free(slp_leased *ld);

#endif
