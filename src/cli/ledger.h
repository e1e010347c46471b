/* ledger.h - the producer's own book of its puts, which judges what a reader hands out. It knows nothing of
 * the library it judges: only shard ids, sequence numbers and times. */
#ifndef SLP_CLI_LEDGER_H
#define SLP_CLI_LEDGER_H

#include "base/list.h"
#include "cli/names.h"

#define SLP_LEDGER_PHASES_MAX 8
#define SLP_LEDGER_PARENTS_MAX 2

typedef struct slp_ledger_shard {
  slp_list waiting;                         /* put and not yet read, in the order they were put */
  uint32_t parents[SLP_LEDGER_PARENTS_MAX]; /* numbers; UINT32_MAX: none */
  uint32_t phases;                          /* bits: put to in that phase */
  uint8_t read_from;                        /* a child that was counted in `children` */
} slp_ledger_shard;

typedef struct slp_ledger {
  slp_mem *mem;
  slp_names names;
  slp_ledger_shard *shards; /* owned, shards_cap; numbered by names */
  uint32_t shards_cap;
  uint32_t phase; /* of the next put, from 0 on */
  uint32_t
      changing[SLP_LEDGER_PARENTS_MAX]; /* shards being split or merged: parents of those that appear next */
  uint64_t put, read;
  uint64_t put_in[SLP_LEDGER_PHASES_MAX], read_in[SLP_LEDGER_PHASES_MAX];
  uint64_t wrong;       /* read out of order, twice, or never put */
  uint64_t skipped;     /* put, and passed over by the reader */
  uint64_t time_back;   /* read after something that arrived later */
  uint64_t child_early; /* read before all of a parent was */
  uint32_t children;    /* shards with parents that were read from */
  int64_t latest_ms;
} slp_ledger;

void slp_ledger_init(slp_ledger *l, slp_mem *mem);
void slp_ledger_free(slp_ledger *l);
/* From now on shards that were never seen are children of these (b may be NULL). */
int slp_ledger_change(slp_ledger *l, const char *a, const char *b);
/* A put that the service confirmed. *ret_new is 1 when the shard was never seen before. SLP_ENOMEM. */
int slp_ledger_put(slp_ledger *l, const char *shard, const char *seq, int *ret_new);
void slp_ledger_read(slp_ledger *l, const char *shard, const char *seq, size_t seq_n, int64_t arrived_at_ms);
/* Counts records that were put and not read in their turn: still waiting, or passed over. */
uint64_t slp_ledger_missing(const slp_ledger *l);
/* How many shards were put to in a phase. */
uint32_t slp_ledger_width(const slp_ledger *l, uint32_t phase);
/* 1: everything that was put was read exactly once, in order in each shard, by time across shards,
 * parents before children. */
int slp_ledger_proven(const slp_ledger *l);

#endif
