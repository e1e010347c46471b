/* merge_set.h - records of many shards to put in one order, and the library's way to do it. */
#ifndef BENCH_MERGE_SET_H
#define BENCH_MERGE_SET_H

#include <stddef.h>
#include <stdint.h>

#define MERGE_SEQ_DIGITS 56

typedef struct merge_rec {
  int64_t time;
  const char *seq;
  uint64_t word; /* made when its page comes */
} merge_rec;
typedef struct merge_set {
  size_t shards, each;
  char *text;
  merge_rec *recs; /* [shard * each + i], in shard order */
} merge_set;
typedef struct merge_out { /* the result: a hash that depends on the order */
  uint64_t hash;
  size_t n;
} merge_out;

/* Arrival times in ms with 1000 records each, as a busy stream has: within one ms the sequence numbers
 * decide. Their first 35 digits carry a counter of arrival (ties 0) or are equal in the whole ms (ties 1), so
 * that only the last 21, counter and shard, differ. */
void merge_set_make(merge_set *set, size_t shards, size_t each, int ties);
void merge_set_free(merge_set *set);
void merge_leave(merge_out *out, const merge_rec *r);
void merge_by_heads(const merge_set *set, merge_out *out);

#endif
