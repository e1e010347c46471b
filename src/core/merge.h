/* merge.h - the buffer heap that orders records across shards.
 *
 * The heap holds one entry per shard: the key of the shard's next record, or, if none is buffered, the
 * shard's watermark, a key that no record still to come can precede. The least entry decides: its record may
 * leave, or everybody waits for its shard.
 *
 * The heap is a tournament: each entry is a leaf, and each node above knows the lesser of the two below it.
 * So a changed key costs one comparison a level, log2(shards) in all. */
#ifndef SLP_CORE_MERGE_H
#define SLP_CORE_MERGE_H

#include "base/mem.h"
#include "codec/focus.h"

typedef struct slp_key {
  int64_t time; /* ms; made from the arrival time, see queue.c */
  slp_str seq;  /* decimal; empty sorts before every record of that time */
  uint32_t sub;
} slp_key;

/* Returns -1, 0 or 1: compares time, then seq as a number, then sub. */
int slp_key_cmp(const slp_key *a, const slp_key *b);

typedef struct slp_merge_node {
  slp_key key;   /* only slp_merge_put may change it */
  uint8_t ready; /* 1: key is that of a record that may leave; 0: key is a watermark */
  uint32_t slot; /* number of its leaf + 1; 0: not in the heap */
} slp_merge_node;

/* A node of the tournament: the least entry below it. The two words decide alone unless they are equal. */
typedef struct slp_merge_entry {
  uint64_t time; /* the key's time as a number without a sign, in the same order */
  uint64_t word; /* a word of the key's sequence number, see codec/focus.h */
  slp_merge_node *node;
} slp_merge_entry;

/* Which digits of the numbers are compared first: those behind a prefix that nearly all numbers share. */
typedef struct slp_merge_focus {
  slp_focus digits;
  uint32_t ties; /* comparisons that other digits decided, since the last look for better ones */
  size_t differ; /* the furthest digit that decided a tie */
  uint32_t vain; /* looks for better digits that found none; each makes the next look rarer */
} slp_merge_focus;

typedef struct slp_merge {
  slp_mem *mem;
  /* [1]: the least of all; below i are 2i and 2i + 1; [size + i]: leaf i, of which n are in use */
  slp_merge_entry *tree;
  uint32_t n, size, cap; /* size is a power of two */
  uint32_t ready_n;      /* entries that are records */
  uint8_t ahead;         /* 1: the least entry has new words in its leaf and in [1], but not yet in between */
  uint64_t second_time, second_word; /* no entry but the least has lower words; zeros: not known */
  slp_merge_focus focus;
} slp_merge;

void slp_merge_init(slp_merge *m, slp_mem *mem);
void slp_merge_free(slp_merge *m);
/* Makes room for n nodes in all, so that slp_merge_put can't fail. Returns 0 or SLP_ENOMEM. */
int slp_merge_reserve(slp_merge *m, uint32_t n);
/* Puts the node in, or moves it, by a new key. There must be room for it. The bytes of key->seq must stay
 * until the node has another key or is removed. */
void slp_merge_put(slp_merge *m, slp_merge_node *node, const slp_key *key, int ready);
/* Does the same, if the caller has the number's word, made by the focus that the merge has now. */
void slp_merge_put_word(slp_merge *m, slp_merge_node *node, const slp_key *key, uint64_t word, int ready);
static inline const slp_focus *slp_merge_focus_now(const slp_merge *m) { return &m->focus.digits; }
/* Returns 1 if the last look found no digits that tell more entries apart: whole numbers will be compared. */
static inline int slp_merge_needs_numbers(const slp_merge *m) { return m->focus.vain > 0; }
void slp_merge_remove(slp_merge *m, slp_merge_node *node); /* a node that is not in it is fine */
static inline slp_merge_node *slp_merge_top(const slp_merge *m) { return m->n ? m->tree[1].node : NULL; }
static inline uint32_t slp_merge_count(const slp_merge *m) { return m->n; }
static inline uint32_t slp_merge_ready(const slp_merge *m) { return m->ready_n; }
/* Returns the node of leaf i, in no particular order. */
static inline slp_merge_node *slp_merge_at(const slp_merge *m, uint32_t i) {
  return m->tree[m->size + i].node;
}
/* Returns the earliest record, however far from the top; NULL: there is none. Costs O(shards). */
slp_merge_node *slp_merge_first_ready(const slp_merge *m);
int slp_merge_valid(const slp_merge *m); /* for tests: nodes know their least, slots are right */

#endif
