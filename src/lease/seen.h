/* seen.h - what this worker remembers of every shard from one round over the table to the next. */
#ifndef SLP_LEASE_SEEN_H
#define SLP_LEASE_SEEN_H

#include "base/map.h"
#include "lease/processor.h"
#include "lease/silence.h"
#include "lease/snapshot.h"

typedef struct slp_seen_shard {
  char *id;
  uint64_t absent_us; /* the first complete listing without it; 0: listed */
  uint32_t unowned_n; /* rounds that count in which it was assigned and nobody's, */
  uint32_t stuck_n;   /* or in which its owner lived and it was assigned to another */
  uint8_t row;        /* it had one, */
  uint64_t row_us;    /* and that was there then, as it was read or made; 0: never */
  uint8_t born_free;  /* stealing: it had no owner when it was first seen, */
  uint8_t begun;      /* and some of it was saved as read when it was last seen */
  uint64_t
      unsaved_us; /* stealing: since then each list showed it owned and unsaved; 0: the last one did not */
  slp_silence silence; /* stealing: of its counter */
  uint64_t ended_us;   /* first seen read to its end */
  uint64_t listed_us;  /* stealing: the last complete list of the table that had its row, */
  uint64_t first_us;   /* and the first */
} slp_seen_shard;

typedef struct slp_seen {
  slp_map shards;   /* slp_seen_shard */
  uint64_t rows_us; /* all rows were read last; SLP_NEVER: nobody reads them any more */
} slp_seen;

void slp_seen_init(slp_fleet *f);
void slp_seen_free(slp_fleet *f);
slp_seen_shard *slp_seen_get(const slp_fleet *f, slp_str shard); /* NULL: not seen */
slp_seen_shard *slp_seen_of(slp_fleet *f, slp_str shard); /* remembered from here on; NULL: no memory */
slp_seen_shard *slp_seen_each(slp_fleet *f, size_t *at);
size_t slp_seen_n(const slp_fleet *f);
/* All rows were read at at_us: those are known to be there of which slp_seen_row is told from here on.
 * SLP_NEVER: none is known until they are read again. since_us: it was told then, or later. */
void slp_seen_rows(slp_fleet *f, uint64_t at_us);
void slp_seen_row(slp_fleet *f, slp_seen_shard *s);
int slp_seen_has_row(const slp_fleet *f, slp_str shard, uint64_t since_us);
/* A row that was read or made since then counts as there: nobody but an operator removes one so early. */
uint64_t slp_seen_lately_us(slp_fleet *f);
/* Forgets every shard that the table has no more, nor a listing of the stream that came after its row was
 * seen last. table_us: the listed_us of what is in the snapshot. */
void slp_seen_forget(slp_fleet *f, const slp_snapshot *s, uint64_t table_us);

#endif
