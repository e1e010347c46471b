/* seen.h - what this worker remembers of each shard from one round over the table to the next. Some
 * members are used only by strategies that steal leases from living workers ("stealing"). */
#ifndef SLP_LEASE_SEEN_H
#define SLP_LEASE_SEEN_H

#include "base/map.h"
#include "lease/processor.h"
#include "lease/silence.h"
#include "lease/snapshot.h"

typedef struct slp_seen_shard {
  char *id;
  /* when the first complete listing without the shard came; 0: the stream lists the shard */
  uint64_t absent_us;
  uint32_t unowned_n; /* in how many counting rounds in a row the lease was free although it was assigned */
  /* in how many counting rounds in a row a living worker owned the lease although it was assigned to
   * another worker */
  uint32_t stuck_n;
  uint8_t row;       /* the shard had a row once */
  uint64_t row_us;   /* when the shard's row was last read or created; 0: never */
  uint8_t born_free; /* stealing: the lease was free when it was first seen */
  uint8_t begun;     /* stealing: a position was saved in the row when it was last seen */
  /* stealing: since when every list has shown the lease owned and without a saved position; 0: the last
   * list did not */
  uint64_t unsaved_us;
  slp_silence silence; /* stealing: how long the counter in the row has not moved */
  uint64_t ended_us;   /* when the row first showed that the shard was read to its end */
  uint64_t listed_us;  /* stealing: when the last complete list of the table with the shard's row came */
  uint64_t first_us;   /* stealing: when the first complete list with the shard's row came */
} slp_seen_shard;

typedef struct slp_seen {
  slp_map shards;   /* of slp_seen_shard, by id */
  uint64_t rows_us; /* when all rows were last read; SLP_NEVER: this worker no longer reads them */
} slp_seen;

void slp_seen_init(slp_fleet *f);
void slp_seen_free(slp_fleet *f);
slp_seen_shard *slp_seen_get(const slp_fleet *f, slp_str shard); /* NULL: the shard was not seen */
/* returns what is remembered of the shard, and begins to remember it if needed; NULL: no memory */
slp_seen_shard *slp_seen_of(slp_fleet *f, slp_str shard);
slp_seen_shard *slp_seen_each(slp_fleet *f, size_t *at);
size_t slp_seen_n(const slp_fleet *f);
/* slp_seen_rows: notes that all rows were read at at_us, so that a shard counts as having a row only if
 * slp_seen_row is called for it afterwards. at_us SLP_NEVER: no shard counts until all rows are read again.
 * slp_seen_row: notes that the shard's row was read or created now.
 * slp_seen_has_row: returns 1 if that was so at since_us or later, and since slp_seen_rows. */
void slp_seen_rows(slp_fleet *f, uint64_t at_us);
void slp_seen_row(slp_fleet *f, slp_seen_shard *s);
int slp_seen_has_row(const slp_fleet *f, slp_str shard, uint64_t since_us);
/* Returns the time 10 s ago. A row that was read or created at that time or later is assumed to exist still:
 * only an operator would have removed it so soon. */
uint64_t slp_seen_lately_us(slp_fleet *f);
/* Forgets each shard that is neither in the table nor in a listing that came after its row was last seen.
 * table_us: listed_us of the shards that this snapshot has. */
void slp_seen_forget(slp_fleet *f, const slp_snapshot *s, uint64_t table_us);

#endif
