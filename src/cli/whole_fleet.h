/* whole_fleet.h - finds out how far all workers of an application have read together. For -e, --until and
 * --timeout.
 *
 * A worker sees only its own shards. The rows of the lease table show the progress of other workers, and the
 * stream's listing shows which shards there are. A look reads both once and judges them. A shard is at its
 * tip when it is read up to its newest record.
 *
 * A shard of another worker counts as read only if that worker has shown a sign of life between two looks.
 * With --until, the sign of life is enough, because rows do not show up to which time a shard is read. The
 * shards of a worker that leaves go to the others, so the worker that leaves last has had every shard. */
#ifndef SLP_CLI_WHOLE_FLEET_H
#define SLP_CLI_WHOLE_FLEET_H

#include "base/mem.h"
#include "cli/shard_numbers.h"

#include <sloop.h>
#include <sloop_admin.h>

typedef enum slp_whole_state {
  SLP_WHOLE_UNKNOWN, /* no look was completed yet */
  /* a shard has no lease, or no reader that has shown a sign of life; `why` names the shard */
  SLP_WHOLE_WAITS,
  /* every shard is ended, is being read, or is blocked, but a shard is not at its tip; `why` names it */
  SLP_WHOLE_SHARED,
  /* like SLP_WHOLE_AT_TIP, except that some shard is blocked: no worker reads it until an operator helps;
   * `why` names it */
  SLP_WHOLE_BLOCKED,
  /* Every shard is ended, or is at its tip with all of its records acknowledged. With --until: every shard
   * is ended, or this worker has read it up to that time, or it has another living reader. */
  SLP_WHOLE_AT_TIP
} slp_whole_state;

typedef struct slp_whole_shard { /* one shard; slp_whole_fleet.shards is an array of these */
  /* The epoch of the shard's lease. When it changes, that is a sign of life, and the next three members are
   * set again. */
  uint64_t epoch;
  /* The owner's count of heartbeats when the lease was first seen in this epoch. */
  uint64_t counter;
  /* written_at_ms of the lease's row and of the owner's row, when the lease was first seen in this epoch. */
  int64_t written_at_ms;
  int64_t owner_written_at_ms;
  uint8_t seen;  /* 1: the four members above are set */
  uint8_t alive; /* 1: the lease's row or the owner's row has changed since the lease was first seen */
  /* 1: the lease table has a row for the shard. Each look sets this member and the next seven again */
  uint8_t has_row;
  uint8_t ended;
  uint8_t has_child;   /* 1: another row names this shard as a parent, so this shard is closed */
  uint8_t is_mine;     /* 1: this worker reads the shard */
  uint8_t is_answered; /* 1: this worker reads the shard, and the service has answered for it */
  uint8_t has_passed;  /* 1: with --until: this worker has read the shard up to that time and has paused it */
  uint8_t waits; /* 1: with --until: the shard has no row, and descends from a shard whose row is not ended */
  uint8_t is_at_tip; /* 1: this worker has the shard at its tip, and all of its records are acknowledged */
} slp_whole_shard;

typedef struct slp_whole_fleet {
  slp_mem *mem; /* borrowed; NULL: the struct is not in use */
  slp_names names;
  slp_whole_shard *shards; /* owned; `cap` elements, indexed by a shard's number in `names` */
  uint32_t cap;
  size_t mine_n; /* how many shards this worker reads, by the present look */
  /* 1: the present look is for --until, and this worker has read its own shards up to that time */
  uint8_t by_time;
  slp_whole_state state;
  /* the first shard with the lowest state, and what is missing there; one line, without a newline */
  char why[300];
} slp_whole_fleet;

void slp_whole_init(slp_whole_fleet *w, slp_mem *mem);
void slp_whole_free(slp_whole_fleet *w);
/* A look consists of these calls, in this order: begin; mine, for each shard that this worker reads; rows;
 * listed. The functions that return int return 0 or SLP_ENOMEM. After `rows`, w->state is the state by the
 * rows alone; `listed` can only lower it. `me` is the instance of this worker. */
void slp_whole_begin(slp_whole_fleet *w, int by_time);
int slp_whole_mine(slp_whole_fleet *w, const sloop_shard_stats_t *shard);
int slp_whole_rows(slp_whole_fleet *w, const sloop_leases_t *rows, const char *me);
int slp_whole_listed(slp_whole_fleet *w, const sloop_shard_t *const *shards, size_t n);

#endif
