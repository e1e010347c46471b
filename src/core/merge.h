/* merge.h - the buffer heap that orders records across shards. It holds one entry a shard, not a
 * record: the key of the shard's next record, or, when none is buffered, the shard's watermark: a key
 * that no record still to come can precede. The least entry decides: a record may leave, or everybody
 * waits for that shard. It is a tournament: each entry is a leaf, each node above knows the lesser of the
 * two below it, so that a changed key costs one comparison a level, log2(shards) in all. */
#ifndef SLP_CORE_MERGE_H
#define SLP_CORE_MERGE_H

#include "base/mem.h"
#include "codec/focus.h"

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
  uint32_t slot; /* its leaf + 1; 0: not in it */
} slp_merge_node;

/* A node of the tournament: the least entry below it. Its two words decide alone, unless they are equal. */
typedef struct slp_merge_entry {
  uint64_t time; /* the key's, as a number without a sign that orders as it does */
  uint64_t word; /* of its sequence number, see codec/focus.h */
  slp_merge_node *node;
} slp_merge_entry;

/* The digits that are compared first are those behind some that nearly all numbers share. */
typedef struct slp_merge_focus {
  slp_focus digits;
  uint32_t ties; /* comparisons since the last look for better digits that other digits decided */
  size_t differ; /* the furthest digit that decided one of them */
  uint32_t vain; /* looks since it was set that found the same: each makes the next one rarer */
} slp_merge_focus;

typedef struct slp_merge {
  slp_mem *mem;
  slp_merge_entry *tree; /* [1]: the least of all; below i are 2i and 2i + 1; [size + i]: leaf i, n in use */
  uint32_t n, size, cap; /* size: a power of two */
  uint32_t ready_n;      /* entries that are records */
  uint8_t ahead;         /* the least one's words moved on in its leaf and in [1], not yet in between */
  uint64_t second_time, second_word; /* no entry but the least one has lower words; zeros: not known */
  slp_merge_focus focus;
} slp_merge;

void slp_merge_init(slp_merge *m, slp_mem *mem);
void slp_merge_free(slp_merge *m);
/* Room for n nodes in all, so that slp_merge_put can't fail. SLP_ENOMEM. */
int slp_merge_reserve(slp_merge *m, uint32_t n);
/* Puts the node in, or moves it, by a new key. There must be room for a new one. The bytes of the key's
 * number must stay until it has another key or is removed. */
void slp_merge_put(slp_merge *m, slp_merge_node *node, const slp_key *key, int ready);
/* The same with the number's word at hand, by the focus that the merge has now. */
void slp_merge_put_word(slp_merge *m, slp_merge_node *node, const slp_key *key, uint64_t word, int ready);
static inline const slp_focus *slp_merge_focus_now(const slp_merge *m) { return &m->focus.digits; }
/* The last look found no digits that tell more of them apart: whole numbers will be compared. */
static inline int slp_merge_needs_numbers(const slp_merge *m) { return m->focus.vain > 0; }
void slp_merge_remove(slp_merge *m, slp_merge_node *node); /* not in it: fine */
static inline slp_merge_node *slp_merge_top(const slp_merge *m) { return m->n ? m->tree[1].node : NULL; }
static inline uint32_t slp_merge_count(const slp_merge *m) { return m->n; }
static inline uint32_t slp_merge_ready(const slp_merge *m) { return m->ready_n; }
/* In no particular order. */
static inline slp_merge_node *slp_merge_at(const slp_merge *m, uint32_t i) {
  return m->tree[m->size + i].node;
}
/* The earliest record in it, however far from the top; NULL when none. O(shards). */
slp_merge_node *slp_merge_first_ready(const slp_merge *m);
int slp_merge_valid(const slp_merge *m); /* for tests: each node above knows its least, and slots hold */

#endif
