/* seen.h - what this worker remembers of each shard from one round over the table to the next. */
#ifndef SLP_LEASE_SEEN_H
#define SLP_LEASE_SEEN_H

#include "base/map.h"
#include "lease/processor.h"
#include "lease/silence.h"
#include "lease/snapshot.h"

typedef struct slp_seen_shard {
  char *id;
  uint64_t absent_us; /* the first complete listing without it; 0: the stream lists it */
  uint32_t unowned_n; /* counting rounds in a row in which the shard was assigned, but its lease was free */
  /* counting rounds in a row in which a living worker owned the lease although it was assigned to another
   * one */
  uint32_t stuck_n;
  uint8_t row;       /* it had a row, */
  uint64_t row_us;   /* which was read or created at this time; 0: never */
  uint8_t born_free; /* stealing: its lease was free when first seen */
  uint8_t begun;     /* and something was saved as read when it was last seen */
  /* stealing: since when every list has shown it owned and without a saved position; 0: the last one did
   * not */
  uint64_t unsaved_us;
  slp_silence silence; /* stealing: how long its counter has not moved */
  uint64_t ended_us;   /* when it was first seen read to its end */
  uint64_t listed_us;  /* stealing: the last complete list of the table with its row, */
  uint64_t first_us;   /* and the first one */
} slp_seen_shard;

typedef struct slp_seen {
  slp_map shards;   /* slp_seen_shard */
  uint64_t rows_us; /* when all rows were last read; SLP_NEVER: this worker no longer reads them */
} slp_seen;

void slp_seen_init(slp_fleet *f);
void slp_seen_free(slp_fleet *f);
slp_seen_shard *slp_seen_get(const slp_fleet *f, slp_str shard); /* NULL: not seen */
/* begins to remember the shard if needed; NULL: no memory */
slp_seen_shard *slp_seen_of(slp_fleet *f, slp_str shard);
slp_seen_shard *slp_seen_each(slp_fleet *f, size_t *at);
size_t slp_seen_n(const slp_fleet *f);
/* slp_seen_rows: all rows were read at at_us. A shard counts as having a row only if slp_seen_row is called
 * for it after that. SLP_NEVER: no row is known until all are read again. slp_seen_has_row: a row was known
 * at since_us or later. */
void slp_seen_rows(slp_fleet *f, uint64_t at_us);
void slp_seen_row(slp_fleet *f, slp_seen_shard *s);
int slp_seen_has_row(const slp_fleet *f, slp_str shard, uint64_t since_us);
/* Returns since when a row that was read or created counts as existing: only an operator removes one so
 * soon. */
uint64_t slp_seen_lately_us(slp_fleet *f);
/* Forgets each shard that is neither in the table nor in a listing that came after its row was last seen.
 * table_us: the listed_us of the shards in the snapshot. */
void slp_seen_forget(slp_fleet *f, const slp_snapshot *s, uint64_t table_us);

#endif
