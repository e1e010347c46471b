/* ledger.h - a list of the records that a producer put into a stream. The demo checks the records that a
 * reader hands out against this list. The ledger judges the library, so it uses nothing of the library. It
 * stores only shard ids, sequence numbers and times. */
#ifndef SLP_CLI_LEDGER_H
#define SLP_CLI_LEDGER_H

#include "base/list.h"
#include "base/mem.h"
#include "cli/shard_numbers.h"

#define SLP_LEDGER_PHASES_MAX 8
#define SLP_LEDGER_PARENTS_MAX 2

typedef struct slp_ledger_shard {
  slp_list waiting; /* entries put and not yet read, in the order they were put */
  /* indexes in `shards` of the parent shards; UINT32_MAX: no parent */
  uint32_t parents[SLP_LEDGER_PARENTS_MAX];
  uint32_t phases; /* bit i is 1: the shard got records in phase i (the time between two splits or merges) */
  /* 1: records of the shard were read and it has parents; it is then counted in `children` */
  uint8_t read_from;
} slp_ledger_shard;

typedef struct slp_ledger {
  slp_mem *mem;
  slp_names names;
  slp_ledger_shard *shards; /* owned; shards_cap elements; the index is the shard's number in `names` */
  uint32_t shards_cap;
  uint32_t phase; /* the phase of the next put, from 0; a phase ends when a split or merge takes effect */
  /* indexes of the shards that are being split or merged now; shards that appear next are their children */
  uint32_t changing[SLP_LEDGER_PARENTS_MAX];
  uint64_t put, read;
  uint64_t put_in[SLP_LEDGER_PHASES_MAX], read_in[SLP_LEDGER_PHASES_MAX];
  /* records that were read but were not waiting: read twice, read after a later record of the shard, or never
   * put */
  uint64_t wrong;
  uint64_t skipped;     /* records that were put and that the reader passed over */
  uint64_t time_back;   /* records that were read after a record with a later arrival time */
  uint64_t child_early; /* records of a child shard that were read before all records of its parents */
  uint32_t children;    /* number of shards that have parents and were read from */
  int64_t latest_ms;    /* the latest arrival time of all records read */
} slp_ledger;

void slp_ledger_init(slp_ledger *l, slp_mem *mem);
void slp_ledger_free(slp_ledger *l);
/* Must be called when shard a is split, or when a and b are merged; b may be NULL. Shards that appear for the
 * first time after this call are their children. Returns 0, or SLP_ENOENT if nothing was put into a or b. */
int slp_ledger_change(slp_ledger *l, const char *a, const char *b);
/* Adds a put that the service has confirmed. Sets *ret_new to 1 if the shard appears for the first time, 0
 * otherwise. Returns 0 or SLP_ENOMEM. */
int slp_ledger_put(slp_ledger *l, const char *shard, const char *seq, int *ret_new);
/* Compares a record that the reader handed out with the list, and counts the record. */
void slp_ledger_read(slp_ledger *l, const char *shard, const char *seq, size_t seq_n, int64_t arrived_at_ms);
/* Returns how many records were put and not read in order: records that are still waiting, and records that
 * the reader passed over. */
uint64_t slp_ledger_missing(const slp_ledger *l);
/* Returns how many shards got records between two changes of shards; phase 0 is the time before the first
 * change. */
uint32_t slp_ledger_width(const slp_ledger *l, uint32_t phase);
/* Returns 1 if every record that was put was read exactly once: in order within each shard, by time across
 * shards, and parents before children. Returns 0 otherwise, or if nothing was put. */
int slp_ledger_proven(const slp_ledger *l);

#endif
