/* ledger.h - a list of the records that a producer put into a stream. The records that a reader hands out are
 * checked against it. The ledger knows only shard ids, sequence numbers and times, and nothing of the library
 * that it judges. Used by --demo. */
#ifndef SLP_CLI_LEDGER_H
#define SLP_CLI_LEDGER_H

#include "base/list.h"
#include "cli/names.h"

#define SLP_LEDGER_PHASES_MAX 8
#define SLP_LEDGER_PARENTS_MAX 2

typedef struct slp_ledger_shard {
  slp_list waiting;                         /* entries put and not yet read, in the order they were put */
  uint32_t parents[SLP_LEDGER_PARENTS_MAX]; /* numbers of the parent shards; UINT32_MAX: none */
  uint32_t phases;                          /* bit i: the shard got records in phase i */
  /* 1: the shard has parents, was read from, and is counted in `children` */
  uint8_t read_from;
} slp_ledger_shard;

typedef struct slp_ledger {
  slp_mem *mem;
  slp_names names;
  slp_ledger_shard *shards; /* owned, shards_cap of them; indexed by the number that `names` gives */
  uint32_t shards_cap;
  uint32_t phase; /* phase of the next put, from 0; a phase ends when a split or merge takes effect */
  /* Numbers of the shards being split or merged; shards that appear next are their children. */
  uint32_t changing[SLP_LEDGER_PARENTS_MAX];
  uint64_t put, read;
  uint64_t put_in[SLP_LEDGER_PHASES_MAX], read_in[SLP_LEDGER_PHASES_MAX];
  /* records read that are not waiting: read twice, after a later record of the shard, or never put */
  uint64_t wrong;
  uint64_t skipped;     /* records put that the reader passed over */
  uint64_t time_back;   /* records read after a record that arrived later */
  uint64_t child_early; /* records of a child read before all records of its parents */
  uint32_t children;    /* number of shards that have parents and were read from */
  int64_t latest_ms;    /* the latest arrival time of any record read */
} slp_ledger;

void slp_ledger_init(slp_ledger *l, slp_mem *mem);
void slp_ledger_free(slp_ledger *l);
/* Says that shard a is being split, or that a and b are being merged; b may be NULL. Shards that are first
 * seen from now on are their children. Returns 0, or SLP_ENOENT if a or b was never put to. */
int slp_ledger_change(slp_ledger *l, const char *a, const char *b);
/* Notes a put that the service confirmed. *ret_new is 1 if the shard was never seen before, 0 otherwise.
 * Returns 0 or SLP_ENOMEM. */
int slp_ledger_put(slp_ledger *l, const char *shard, const char *seq, int *ret_new);
/* Checks a record that the reader handed out, and counts it. */
void slp_ledger_read(slp_ledger *l, const char *shard, const char *seq, size_t seq_n, int64_t arrived_at_ms);
/* Returns how many records were put and not read in order: those still waiting, and those passed over. */
uint64_t slp_ledger_missing(const slp_ledger *l);
/* Returns how many shards got records in a phase. */
uint32_t slp_ledger_width(const slp_ledger *l, uint32_t phase);
/* Returns 1 if every record put was read exactly once, in order within each shard, by time across shards, and
 * parents before children; 0 otherwise, or if nothing was put. */
int slp_ledger_proven(const slp_ledger *l);

#endif
