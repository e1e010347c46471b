/* merge.h - the heap that orders records across shards; comments call it "the merge".
 *
 * The heap has one entry per shard. An entry's key is the key of the shard's next record. If no record of the
 * shard is in memory, the entry's key is the shard's watermark: a key that no record still to come from the
 * shard can precede. The least entry decides: if it is a record, that record may be handed out; if it is a
 * watermark, all shards wait for its shard.
 *
 * The heap is a tournament tree: each leaf is an entry, and each node above holds the lesser of the two
 * entries below it. So a changed key costs one comparison per level, log2(shards) in all. */
#ifndef SLP_CORE_MERGE_H
#define SLP_CORE_MERGE_H

#include "base/mem.h"
#include "codec/focus.h"

typedef struct slp_key {
  int64_t time; /* order time, in ms: the arrival time with the corrections of queue.c */
  slp_str seq; /* sequence number, decimal; an empty one sorts before every record with the same order time */
  uint32_t sub;
} slp_key;

/* Compares time, then seq as a number, then sub. Returns -1, 0 or 1. */
int slp_key_cmp(const slp_key *a, const slp_key *b);

typedef struct slp_merge_node {
  slp_key key;   /* only slp_merge_put, slp_merge_put_word and slp_merge_remove may change it */
  uint8_t ready; /* 1: `key` belongs to a record; 0: `key` is a watermark */
  uint32_t slot; /* number of the node's leaf + 1; 0: the node is not in the heap */
} slp_merge_node;

/* A node of the tournament tree: the least of all entries below it. Two entries are compared by `time` and
 * `word`; only if both are equal, by the keys of their nodes. */
typedef struct slp_merge_entry {
  uint64_t time; /* slp_key.time as an unsigned number that sorts in the same order */
  /* 19 digits of slp_key.seq as a number; slp_merge_focus chooses which, see codec/focus.h */
  uint64_t word;
  slp_merge_node *node;
} slp_merge_entry;

/* The focus: which digits of the sequence numbers are compared first. These digits come after a prefix that
 * nearly all numbers share. */
typedef struct slp_merge_focus {
  slp_focus digits;
  /* comparisons that these digits could not decide (ties), since the last search for better digits */
  uint32_t ties;
  size_t differ; /* the greatest index of a digit that decided a tie */
  /* number of searches that found no better digits; each of them delays the next search */
  uint32_t vain;
} slp_merge_focus;

typedef struct slp_merge {
  slp_mem *mem;
  /* tree[1] is the least of all entries. Below tree[i] are tree[2 * i] and tree[2 * i + 1]. tree[size + i] is
   * leaf i; n leaves are in use. */
  slp_merge_entry *tree;
  /* n: leaves in use. size: leaves of the tree, a power of two. cap: leaves that there is memory for. */
  uint32_t n, size, cap;
  uint32_t ready_n; /* how many entries are records, not watermarks */
  /* 1: the least entry was changed in its leaf and in tree[1], but not yet in the nodes between them */
  uint8_t ahead;
  /* `time` and `word` of the second-least entry; 0, 0: not known */
  uint64_t second_time, second_word;
  slp_merge_focus focus;
} slp_merge;

void slp_merge_init(slp_merge *m, slp_mem *mem);
void slp_merge_free(slp_merge *m);
/* Makes room for n nodes in all, so that slp_merge_put does not fail. Returns 0 or SLP_ENOMEM. */
int slp_merge_reserve(slp_merge *m, uint32_t n);
/* Puts the node into the heap. If the node is in the heap already, changes its key. The heap must have room
 * for the node. The bytes of key->seq must stay valid until the node gets another key or is removed. */
void slp_merge_put(slp_merge *m, slp_merge_node *node, const slp_key *key, int ready);
/* Does the same as slp_merge_put. word: the word of key->seq, made with the present focus
 * (slp_merge_focus_now). */
void slp_merge_put_word(slp_merge *m, slp_merge_node *node, const slp_key *key, uint64_t word, int ready);
static inline const slp_focus *slp_merge_focus_now(const slp_merge *m) { return &m->focus.digits; }
/* Returns 1 if the last search for better digits found none. Then ties are frequent, so whole sequence
 * numbers are compared. */
static inline int slp_merge_needs_numbers(const slp_merge *m) { return m->focus.vain > 0; }
/* removes the node from the heap; does nothing if the node is not in the heap */
void slp_merge_remove(slp_merge *m, slp_merge_node *node);
static inline slp_merge_node *slp_merge_top(const slp_merge *m) { return m->n ? m->tree[1].node : NULL; }
static inline uint32_t slp_merge_count(const slp_merge *m) { return m->n; }
static inline uint32_t slp_merge_ready(const slp_merge *m) { return m->ready_n; }
/* Returns the node of leaf i. The leaves have no order. */
static inline slp_merge_node *slp_merge_at(const slp_merge *m, uint32_t i) {
  return m->tree[m->size + i].node;
}
/* Returns the node of the earliest record, even if watermarks come before it; NULL: no entry is a record.
 * Looks at every entry. */
slp_merge_node *slp_merge_first_ready(const slp_merge *m);
/* For tests: returns 1 if every node of the tree holds the lesser of the two entries below it, and every
 * `slot` is right. */
int slp_merge_valid(const slp_merge *m);

#endif
