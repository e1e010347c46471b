/* watch_past.h - what --watch remembers from poll to poll: how far behind each shard was, and which leases
 * moved to another worker. */
#ifndef SLP_CLI_WATCH_PAST_H
#define SLP_CLI_WATCH_PAST_H

#include "cli/names.h"
#include "sloop.h"

#define SLP_WATCH_POLLS 60  /* lags remembered for each shard */
#define SLP_WATCH_MOVES 256 /* moves remembered */
#define SLP_WATCH_MINUTE_MS 60000

typedef struct slp_watch_move { /* a lease that came to another worker */
  uint64_t at_ms;               /* when the poll saw it, by the monotonic clock */
  uint32_t shard, from, to;     /* numbers in `shards`; from and to in `workers` */
} slp_watch_move;

typedef struct slp_watch_shard {
  int64_t lags[SLP_WATCH_POLLS]; /* circular: the lag at each poll; -1: not known */
  uint32_t polls;                /* how many lags were written in all */
  uint32_t owner;                /* number of the last owner; UINT32_MAX: it never had one */
  /* a hash of what the owner writes into the row; a change is a sign of the owner's life */
  uint64_t sign;
} slp_watch_shard;

typedef struct slp_watch_worker { /* an owner of leases; it may have no row of its own */
  /* first_ms: when the worker was first seen; moved_ms: when a row of its leases changed last; 0: never */
  uint64_t first_ms, moved_ms;
} slp_watch_worker;

typedef struct slp_watch_past {
  slp_names shards, workers;
  slp_watch_worker *lives; /* owned, by the number in `workers` */
  uint32_t lives_cap;
  slp_watch_shard *each; /* owned, by the number in `shards` */
  uint32_t each_cap;
  slp_watch_move moves[SLP_WATCH_MOVES]; /* circular, the last ones */
  uint64_t moves_n;                      /* how many moves there were in all */
} slp_watch_past;

void slp_watch_past_init(slp_watch_past *p, slp_mem *mem);
void slp_watch_past_free(slp_watch_past *p);
/* Notes what a poll found. Returns 0 or SLP_ENOMEM. */
int slp_watch_past_add(slp_watch_past *p, const sloop_leases_t *leases, uint64_t now_ms, int64_t wall_ms);
/* Returns the word of slp_worker_word(), except that "owns" becomes "works" if rows of the worker's leases
 * have changed within the last lease_ms, or "silent" if no row has changed for longer. */
const char *slp_watch_past_word(slp_watch_past *p, const sloop_worker_t *w, uint64_t now_ms, int64_t wall_ms);
/* Returns how many leases came to another worker in the last minute, at most SLP_WATCH_MOVES. */
uint32_t slp_watch_past_moves(const slp_watch_past *p, uint64_t now_ms);
/* Returns the i-th last move, from 0; NULL: there were not so many. */
const slp_watch_move *slp_watch_past_move(const slp_watch_past *p, uint32_t i);
/* Returns the lag of a shard `back` polls ago; -1: not known. */
int64_t slp_watch_past_lag(slp_watch_past *p, const char *shard, uint32_t back);

#endif
