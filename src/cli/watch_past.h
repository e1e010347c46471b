/* watch_past.h - the memory of --watch from poll to poll: how far behind each shard was, and which leases
 * moved. */
#ifndef SLP_CLI_WATCH_PAST_H
#define SLP_CLI_WATCH_PAST_H

#include "cli/names.h"
#include "sloop.h"

#define SLP_WATCH_POLLS 60  /* lags remembered of a shard */
#define SLP_WATCH_MOVES 256 /* the last ones */
#define SLP_WATCH_MINUTE_MS 60000

typedef struct slp_watch_move {
  uint64_t at_ms;           /* of the poll that saw it, by the monotonic clock */
  uint32_t shard, from, to; /* numbers of names */
} slp_watch_move;

typedef struct slp_watch_shard {
  int64_t lags[SLP_WATCH_POLLS]; /* circular; -1: not known */
  uint32_t polls;                /* how many were written in all */
  uint32_t owner;                /* the last one; UINT32_MAX: it never had any */
  uint64_t sign;                 /* of what its owner writes into the row */
} slp_watch_shard;

typedef struct slp_watch_worker { /* that leases name: rows of its own it may have none */
  uint64_t first_ms, moved_ms; /* when it was seen first, and when a lease of it has moved last; 0: never */
} slp_watch_worker;

typedef struct slp_watch_past {
  slp_names shards, workers;
  slp_watch_worker *lives; /* owned, by number of the worker's name */
  uint32_t lives_cap;
  slp_watch_shard *each; /* owned, by number of the name */
  uint32_t each_cap;
  slp_watch_move moves[SLP_WATCH_MOVES]; /* circular */
  uint64_t moves_n;                      /* in all */
} slp_watch_past;

void slp_watch_past_init(slp_watch_past *p, slp_mem *mem);
void slp_watch_past_free(slp_watch_past *p);
/* Takes in what the table says now. SLP_ENOMEM. */
int slp_watch_past_add(slp_watch_past *p, const sloop_leases_t *leases, uint64_t now_ms, int64_t wall_ms);
/* As slp_worker_word(), but "works" or "silent" in place of "owns" once that was seen: its leases have
 * moved in the time of a lease, or they have not. */
const char *slp_watch_past_word(slp_watch_past *p, const sloop_worker_t *w, uint64_t now_ms, int64_t wall_ms);
/* How many leases came to another worker in the last minute; at most SLP_WATCH_MOVES. */
uint32_t slp_watch_past_moves(const slp_watch_past *p, uint64_t now_ms);
/* The i-th last one, from 0 on, or NULL: there were not so many. */
const slp_watch_move *slp_watch_past_move(const slp_watch_past *p, uint32_t i);
/* The lag of a shard `back` polls ago, -1: not known. */
int64_t slp_watch_past_lag(slp_watch_past *p, const char *shard, uint32_t back);

#endif
