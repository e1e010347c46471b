/* whole_fleet.h - tells a worker how far all workers of its application are together, for -e, --until and
 * --timeout.
 *
 * A worker sees only its own shards. The others' progress is in rows of the lease table, and which shards
 * there are is in the stream's listing. One look judges both. A shard of another worker counts as read only
 * if that worker has shown a sign of life between two looks. With --until the sign of life is enough: rows do
 * not tell up to which time a shard is read, but the worker that leaves last has had every shard. */
#ifndef SLP_CLI_WHOLE_FLEET_H
#define SLP_CLI_WHOLE_FLEET_H

#include "cli/names.h"
#include "sloop.h"

typedef enum slp_whole_state {
  SLP_WHOLE_UNKNOWN, /* no look was done yet */
  SLP_WHOLE_WAITS,   /* a shard has no lease, or no reader that has shown a sign of life; `why` names it */
  /* every shard is ended, is being read, or is blocked; one is not at its tip, and `why` names it */
  SLP_WHOLE_SHARED,
  SLP_WHOLE_BLOCKED, /* as AT_TIP, except a shard that nobody reads until an operator helps; `why` names it */
  /* every shard is ended, or was at its tip with all of it acknowledged. With --until: every shard is ended,
   * is read up to that time by this worker, or has another living reader. */
  SLP_WHOLE_AT_TIP
} slp_whole_state;

typedef struct slp_whole_shard { /* indexed by the number of the shard's name */
  /* epoch of its lease; in another epoch the owner has to prove its life again */
  uint64_t epoch;
  /* the owner's counter of heartbeats when the lease was first seen in this epoch */
  uint64_t counter;
  /* written_at_ms of its row, and then of the owner's row, when it was first seen in this epoch */
  int64_t written_at_ms;
  int64_t owner_written_at_ms;
  uint8_t seen;    /* 1: the four members above are set */
  uint8_t alive;   /* 1: its row or the owner's row has changed since it was first seen */
  uint8_t has_row; /* this and the next seven are set by the present look */
  uint8_t ended;
  uint8_t has_child;   /* 1: a row names it as a parent, so it is closed */
  uint8_t is_mine;     /* 1: this worker reads it */
  uint8_t is_answered; /* 1: and the service has answered */
  uint8_t has_passed;  /* 1: --until: this worker has paused it at the time */
  uint8_t waits;       /* 1: --until: it has no row, and descends from a shard whose row is not ended */
  uint8_t is_at_tip;   /* 1: this worker has it at its tip, and all of it is acknowledged */
} slp_whole_shard;

typedef struct slp_whole_fleet {
  slp_mem *mem; /* borrowed; NULL: not in use */
  slp_names names;
  slp_whole_shard *shards; /* owned: cap of them, by the number in `names` */
  uint32_t cap;
  size_t mine_n; /* number of shards that this worker reads, by the present look */
  /* 1: the present look is for --until, and this worker has read its shards up to that time */
  uint8_t by_time;
  slp_whole_state state;
  char why[300]; /* what is waited for, on one line, without a newline */
} slp_whole_fleet;

void slp_whole_init(slp_whole_fleet *w, slp_mem *mem);
void slp_whole_free(slp_whole_fleet *w);
/* A look consists of these calls, in this order: begin; mine for each shard that this worker reads; rows;
 * listed. All return 0 or SLP_ENOMEM. After `rows`, `state` is what the rows alone tell; `listed` can only
 * lower it. `me` is this worker's instance. */
void slp_whole_begin(slp_whole_fleet *w, int by_time);
int slp_whole_mine(slp_whole_fleet *w, const sloop_shard_stats_t *shard);
int slp_whole_rows(slp_whole_fleet *w, const sloop_leases_t *rows, const char *me);
int slp_whole_listed(slp_whole_fleet *w, const sloop_shard_t *const *shards, size_t n);

#endif
