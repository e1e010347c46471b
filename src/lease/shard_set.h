/* shard_set.h - a set of shard ids in few bytes, for an assignment that is kept in one row. The first byte is
 * the coding:
 *   1: ids of Kinesis (shardId- and twelve digits), as runs of consecutive numbers. For each run the gap to
 *      the run before and its length, both as LEB128.
 *   2: any ids. For each id the number of bytes that it shares with the id before and the number of its own
 *      bytes, both as LEB128, then its own bytes. */
#ifndef SLP_LEASE_SHARD_SET_H
#define SLP_LEASE_SHARD_SET_H

#include "base/buf.h"

#define SLP_SHARD_ID_MAX 128

/* Codes the ids, each of which must be there once, and sorts them in place. Returns 0, SLP_ENOMEM or
 * SLP_ELIMIT. */
int slp_shard_set_write(slp_buf *to, slp_str *ids, size_t n);

typedef struct slp_shard_set_reader {
  slp_str left;
  uint8_t form;
  uint64_t next, run; /* coding 1 */
  size_t id_n;
  char id[SLP_SHARD_ID_MAX];
} slp_shard_set_reader;
void slp_shard_set_begin(slp_shard_set_reader *r, slp_str set); /* an empty set has no ids */
/* Returns 1 and the next id, valid until the next call; 0 after the last one; SLP_EBADDATA. */
int slp_shard_set_next(slp_shard_set_reader *r, slp_str *ret);

#endif
