/* whole_fleet.h - tells a worker how far all workers of its application are together: for -e, --until and
 * --timeout.
 *
 * A worker sees only its own shards. Those of others stand in rows of the lease table, and which shards
 * there are in the stream's listing: one look reads both. A shard of another worker counts as read only if
 * that worker has shown a sign of life between two looks. With --until that is enough: no row tells up to
 * which time a shard is read, and whoever leaves last has had every shard. */
#ifndef SLP_CLI_WHOLE_FLEET_H
#define SLP_CLI_WHOLE_FLEET_H

#include "cli/names.h"
#include "sloop.h"

typedef enum slp_whole_state {
  SLP_WHOLE_UNKNOWN, /* there was no look yet */
  SLP_WHOLE_WAITS,   /* a shard has no lease, or no reader that has shown a sign of life: `why` */
  SLP_WHOLE_SHARED,  /* each shard is ended, or read, or nobody may read it; one is not at its tip: `why` */
  SLP_WHOLE_BLOCKED, /* as AT_TIP, but for a shard that nobody reads until an operator helps: `why` */
  SLP_WHOLE_AT_TIP   /* each shard is ended, or was at its tip with all of it acknowledged; with --until, is
                        read up to that time by this worker, or has another living reader */
} slp_whole_state;

typedef struct slp_whole_shard { /* of the name with the same number */
  uint64_t epoch;                /* of its lease; another one begins the proof again */
  uint64_t counter;              /* of its owner's heartbeats when the lease was first seen in this epoch */
  int64_t written_at_ms;         /* its row, and its owner's, by their own words then */
  int64_t owner_written_at_ms;
  uint8_t seen;    /* these four are set */
  uint8_t alive;   /* since it was first seen, it or its owner has moved */
  uint8_t has_row; /* these eight: by the look under way */
  uint8_t ended;
  uint8_t has_child;   /* a row names it as a parent, so it is closed */
  uint8_t is_mine;     /* this worker reads it */
  uint8_t is_answered; /* and the service has answered */
  uint8_t has_passed;  /* --until: this worker has paused it at the time */
  uint8_t waits;       /* --until: no row, and comes behind a shard whose row is not ended */
  uint8_t is_at_tip;   /* this worker has it at its tip, and all of it is acknowledged */
} slp_whole_shard;

typedef struct slp_whole_fleet {
  slp_mem *mem; /* borrowed; NULL: not in use */
  slp_names names;
  slp_whole_shard *shards; /* owned: cap of them */
  uint32_t cap;
  size_t mine_n;   /* shards that this worker reads, by the look under way */
  uint8_t by_time; /* of that look: it is for --until, and what this worker reads is read up to that time */
  slp_whole_state state;
  char why[300]; /* what is waited for: one line without an end */
} slp_whole_fleet;

void slp_whole_init(slp_whole_fleet *w, slp_mem *mem);
void slp_whole_free(slp_whole_fleet *w);
/* One look, in this order: begin, mine for each shard that this worker reads, rows, listed. All return 0 or
 * SLP_ENOMEM. After rows `state` says what the rows alone tell; listed can only make it less. */
void slp_whole_begin(slp_whole_fleet *w, int by_time);
int slp_whole_mine(slp_whole_fleet *w, const sloop_shard_stats_t *shard);
int slp_whole_rows(slp_whole_fleet *w, const sloop_leases_t *rows, const char *me);
int slp_whole_listed(slp_whole_fleet *w, const sloop_shard_t *const *shards, size_t n);

#endif
