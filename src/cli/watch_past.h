/* watch_past.h - stores what --watch remembers from poll to poll: how far behind each shard was, and which
 * leases moved to another worker. */
#ifndef SLP_CLI_WATCH_PAST_H
#define SLP_CLI_WATCH_PAST_H

#include "base/mem.h"
#include "cli/shard_numbers.h"

#include <sloop_admin.h>

#define SLP_WATCH_POLLS 60  /* how many lags are remembered for each shard */
#define SLP_WATCH_MOVES 256 /* how many moves are remembered */
#define SLP_WATCH_MINUTE_MS 60000

typedef struct slp_watch_move { /* one lease that went from one worker to another */
  uint64_t at_ms;               /* when the poll that found the move came, by the monotonic clock */
  /* shard: number in slp_watch_past.shards. from, to: numbers in slp_watch_past.workers */
  uint32_t shard, from, to;
} slp_watch_move;

typedef struct slp_watch_shard {
  int64_t lags[SLP_WATCH_POLLS]; /* a circular buffer: the lag at each poll; -1: not known */
  uint32_t polls;                /* how many lags were stored so far, including those that were overwritten */
  uint32_t owner; /* number of the last worker that owned the lease; UINT32_MAX: none has owned it yet */
  /* a hash of what the owner writes into the row; when the hash changes, the owner is alive */
  uint64_t sign;
} slp_watch_shard;

typedef struct slp_watch_worker { /* a worker that owns leases; it may have no row of its own */
  /* first_ms: when the worker was first seen. moved_ms: when the row of one of its leases last changed; 0:
   * never. */
  uint64_t first_ms, moved_ms;
} slp_watch_worker;

typedef struct slp_watch_past {
  slp_names shards, workers;
  slp_watch_worker *lives; /* owned, indexed by the worker's number in `workers` */
  uint32_t lives_cap;
  slp_watch_shard *each; /* owned, indexed by the shard's number in `shards` */
  uint32_t each_cap;
  slp_watch_move moves[SLP_WATCH_MOVES]; /* a circular buffer of the last moves */
  /* how many moves there were so far, including those that were overwritten */
  uint64_t moves_n;
} slp_watch_past;

void slp_watch_past_init(slp_watch_past *p, slp_mem *mem);
void slp_watch_past_free(slp_watch_past *p);
/* Stores the lags, owners and moves that a poll shows. Returns 0 or SLP_ENOMEM. */
int slp_watch_past_add(slp_watch_past *p, const sloop_leases_t *leases, uint64_t now_ms, int64_t wall_ms);
/* Returns the word for a worker's state, as slp_worker_word() does, except that "owns" may become another
 * word. It becomes "works" if the row of one of the worker's leases has changed within the last lease_ms, and
 * "silent" if none has changed for longer. */
const char *slp_watch_past_word(slp_watch_past *p, const sloop_worker_t *w, uint64_t now_ms, int64_t wall_ms);
/* Returns how many leases moved to another worker in the last minute, at most SLP_WATCH_MOVES. */
uint32_t slp_watch_past_moves(const slp_watch_past *p, uint64_t now_ms);
/* Returns the last move for i = 0, the one before it for i = 1, and so on. Returns NULL if there were
 * fewer moves. */
const slp_watch_move *slp_watch_past_move(const slp_watch_past *p, uint32_t i);
/* Returns the lag that the shard had `back` polls ago; -1 if it is not known. */
int64_t slp_watch_past_lag(slp_watch_past *p, const char *shard, uint32_t back);

#endif
