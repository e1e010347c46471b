/* shard_set.h - a set of shard ids in few bytes, for an assignment that is kept in one row. The first byte
 * says how the ids are coded:
 *   1: ids of Kinesis (shardId- and twelve digits), as runs of consecutive numbers. Each run is two LEB128
 *      numbers: the gap to the run before, and the length of the run.
 *   2: any ids. Each id is two LEB128 numbers, the count of bytes that it shares with the id before and the
 *      count of its other bytes, followed by these other bytes. */
#ifndef SLP_LEASE_SHARD_SET_H
#define SLP_LEASE_SHARD_SET_H

#include "base/buf.h"

#define SLP_SHARD_ID_MAX 128

/* Codes the ids, and sorts them in place. No id may be given twice. Returns 0, SLP_ENOMEM, or SLP_ELIMIT if
 * there are too many. */
int slp_shard_set_write(slp_buf *to, slp_str *ids, size_t n);

typedef struct slp_shard_set_reader {
  /* the bytes of the set that were not read yet */
  slp_str left;
  uint8_t form;       /* the first byte of the set: its coding */
  uint64_t next, run; /* coding 1: number in the next id, and how many ids of its run are left */
  /* coding 2: the id that was returned last, and its length */
  size_t id_n;
  char id[SLP_SHARD_ID_MAX];
} slp_shard_set_reader;
/* Begins to read a set. `set` must stay valid as long as the reader. An empty set has no ids. */
void slp_shard_set_begin(slp_shard_set_reader *r, slp_str set);
/* Returns 1 and the next id, which is valid until the next call; 0 after the last id; SLP_EBADDATA if the
 * set is damaged. */
int slp_shard_set_next(slp_shard_set_reader *r, slp_str *ret);

#endif
