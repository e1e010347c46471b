/* seen.h - what this worker remembers of each shard from one round (leader.c) to the next. (seen.c) */
#ifndef SLP_LEASE_SEEN_H
#define SLP_LEASE_SEEN_H

#include "base/map.h"
#include "lease/lease_types.h"
#include "lease/snapshot.h"

typedef struct slp_seen_shard {
  char *id;
  /* when the first complete listing came that lacked the shard; 0: the stream lists the shard */
  uint64_t absent_us;
  /* For how many counting rounds in a row the lease had no owner that takes leases. Counting rounds are the
   * leader's rounds about a minute apart (leader.c). A lease that must wait, or is ended, does not count. */
  uint32_t unowned_n;
  /* for how many counting rounds in a row the lease was assigned to one living worker and owned by another
   * one */
  uint32_t stuck_n;
  uint8_t row;       /* 1: the shard has a row, or had one */
  uint64_t row_us;   /* when the shard's row was last read, or created by this worker; 0: never */
  uint64_t ended_us; /* when a read of the row first showed that the shard was read to its end */
  /* what the strategy remembers of the shard: slp_strategy.seen_bytes zeroed bytes, part of this block */
  void *guest;
} slp_seen_shard;

typedef struct slp_seen {
  slp_map shards;   /* slp_seen_shard by shard id */
  uint64_t rows_us; /* when all rows were last read; SLP_NEVER: this worker does not read them any more */
} slp_seen;

void slp_seen_init(slp_fleet *f);
void slp_seen_free(slp_fleet *f);
/* returns what is remembered of the shard; NULL: nothing */
slp_seen_shard *slp_seen_get(const slp_fleet *f, slp_str shard);
/* Returns what is remembered of the shard, and begins to remember it if needed. NULL: no memory. */
slp_seen_shard *slp_seen_of(slp_fleet *f, slp_str shard);
slp_seen_shard *slp_seen_each(slp_fleet *f, size_t *at);
size_t slp_seen_n(const slp_fleet *f);
/* slp_seen_rows: to be called when all rows were read, at at_us. From then on only shards for which
 * slp_seen_row is called count as having a row. at_us SLP_NEVER: no shard counts until all rows are read
 * again.
 * slp_seen_row: to be called when the shard's row was read or created.
 * slp_seen_has_row: returns 1 if slp_seen_row was called for the shard at since_us or later, and after
 * slp_seen_rows. */
void slp_seen_rows(slp_fleet *f, uint64_t at_us);
void slp_seen_row(slp_fleet *f, slp_seen_shard *s);
int slp_seen_has_row(const slp_fleet *f, slp_str shard, uint64_t since_us);
/* Returns the time 10 s ago. If a row was read or created since then, it is assumed to exist still: only an
 * operator would have removed it so soon. */
uint64_t slp_seen_lately_us(slp_fleet *f);
/* Forgets each shard that has no row in s and that the stream does not list, unless `keeps` returns 1 for it.
 * keeps NULL: forgets all such shards, but none before the stream was listed for the first time. */
void slp_seen_forget(slp_fleet *f, const slp_snapshot *s,
                     int (*keeps)(slp_fleet *f, const slp_snapshot *s, const slp_seen_shard *seen));

#endif
