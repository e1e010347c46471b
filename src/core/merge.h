/* merge.h - the buffer heap that orders records across shards. It holds one entry a shard, not a
 * record: the key of the shard's next record, or, when none is buffered, the shard's watermark: a key
 * that no record still to come can precede. The least entry decides: a record may leave, or everybody
 * waits for that shard. O(log shards) a record, and a shard is removed without touching others. */
#ifndef SLP_CORE_MERGE_H
#define SLP_CORE_MERGE_H

#include "base/mem.h"

typedef struct slp_key {
  int64_t time; /* ms; see queue.c for how it is made from the arrival time */
  slp_str seq;  /* decimal; empty sorts before every record of that time */
  uint32_t sub;
} slp_key;

/* -1, 0, 1 by (time, sequence as a number, sub-sequence). */
int slp_key_cmp(const slp_key *a, const slp_key *b);

typedef struct slp_merge_node {
  slp_key key;   /* change it only through slp_merge_put */
  uint8_t ready; /* 1: key is a record's that may leave; 0: a watermark */
  uint32_t slot; /* place in the heap + 1; 0: not in it */
} slp_merge_node;

typedef struct slp_merge_entry {
  int64_t time;
  uint64_t tie[2]; /* length and first 35 digits of the sequence number: decides nearly every tie of
                      time without looking at the record */
  slp_merge_node *node;
} slp_merge_entry;

typedef struct slp_merge {
  slp_mem *mem;
  slp_merge_entry *heap;
  uint32_t n, cap;
  uint32_t ready_n; /* entries that are records */
} slp_merge;

void slp_merge_init(slp_merge *m, slp_mem *mem);
void slp_merge_free(slp_merge *m);
/* Room for n nodes in all, so that slp_merge_put can't fail. SLP_ENOMEM. */
int slp_merge_reserve(slp_merge *m, uint32_t n);
/* Puts the node in, or moves it, by a new key. There must be room for a new one. */
void slp_merge_put(slp_merge *m, slp_merge_node *node, const slp_key *key, int ready);
void slp_merge_remove(slp_merge *m, slp_merge_node *node); /* not in it: fine */
static inline slp_merge_node *slp_merge_top(const slp_merge *m) { return m->n ? m->heap[0].node : NULL; }
static inline uint32_t slp_merge_count(const slp_merge *m) { return m->n; }
static inline uint32_t slp_merge_ready(const slp_merge *m) { return m->ready_n; }
/* In no particular order. */
static inline slp_merge_node *slp_merge_at(const slp_merge *m, uint32_t i) { return m->heap[i].node; }
/* The earliest record in it, however far from the top; NULL when none. O(shards). */
slp_merge_node *slp_merge_first_ready(const slp_merge *m);
int slp_merge_valid(const slp_merge *m); /* for tests: heap order and slots hold */

#endif
