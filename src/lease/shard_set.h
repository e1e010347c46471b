/* shard_set.h - a set of shard ids as few bytes, for assignments that live in one row. The first byte is the
 * coding.
 *   1: ids of Kinesis (shardId- and twelve digits), as runs of neighbours: for each run the gap to the one
 *      before and its length, both as LEB128.
 *   2: any ids: for each the number of bytes shared with the one before and of its own, both as LEB128, and
 *      then its own bytes. */
#ifndef SLP_LEASE_SHARD_SET_H
#define SLP_LEASE_SHARD_SET_H

#include "base/buf.h"

#define SLP_SHARD_ID_MAX 128

/* Sorts ids in place. No id twice. SLP_ENOMEM, SLP_ELIMIT. */
int slp_shard_set_write(slp_buf *to, slp_str *ids, size_t n);

typedef struct slp_shard_set_reader {
  slp_str left;
  uint8_t form;
  uint64_t next, run; /* form 1 */
  size_t id_n;
  char id[SLP_SHARD_ID_MAX];
} slp_shard_set_reader;
void slp_shard_set_begin(slp_shard_set_reader *r, slp_str set); /* empty: no ids */
/* 1: *ret is the next id, until the next call. 0: that was all. SLP_EBADDATA. */
int slp_shard_set_next(slp_shard_set_reader *r, slp_str *ret);

#endif
