/* merge.c - a tournament tree of the shards' keys.
 *
 * A binary heap would be slower: branches that the processor can't predict, and waits for memory, would take
 * most of the time. In a tournament tree it is known beforehand with which entries a changed key is compared,
 * and no comparison branches. So the processor loads all these entries at once.
 *
 * An entry has two words made of its key: the order time, and 19 digits of the sequence number. The whole key
 * is compared only if both words are equal (a tie). The sequence numbers of a stream often share their first
 * digits. So the 19 digits begin where earlier keys differed: that choice of digits is called the focus
 * (codec/focus.h). */
#include "core/merge.h"

#include "base/mem.h"
#include "base/num.h"
#include "codec/focus.h"

int slp_key_cmp(const slp_key *a, const slp_key *b) {
  if (a->time != b->time) return a->time < b->time ? -1 : 1;
  int c = slp_num_cmp(a->seq, b->seq);
  if (c) return c;
  return a->sub < b->sub ? -1 : a->sub > b->sub;
}

/* Turns the time into an unsigned number that sorts in the same order. */
static inline uint64_t time_word(int64_t time) { return (uint64_t)time ^ (uint64_t)INT64_MIN; }

static inline slp_merge_entry entry_of(const slp_focus *f, slp_merge_node *node, const slp_key *key) {
  return (slp_merge_entry){time_word(key->time), slp_focus_word(f, key->seq), node};
}

/* the content of unused leaves; it sorts after every entry */
static const slp_merge_entry unused = {UINT64_MAX, UINT64_MAX, NULL};

/* Returns how many leading digits two sequence numbers of the same length share. */
static size_t count_common_digits(slp_str a, slp_str b) {
  size_t i = 0;
  while (i + 8 <= a.n && slp_focus_load(a.p + i) == slp_focus_load(b.p + i)) i += 8;
  while (i < a.n && a.p[i] == b.p[i]) i++;
  return i;
}

/* Called when two entries have equal `time` and equal `word`, so that their whole keys must be compared.
 * Returns 1 if a comes before b. The order is that of slp_key_cmp. If the keys are equal too, a record comes
 * before a watermark, because a watermark only promises that no earlier record comes. */
__attribute__((noinline)) static int before_by_key(const slp_merge_node *a, const slp_merge_node *b,
                                                   slp_merge_focus *f) {
  if (!a || !b) return a != NULL;
  slp_str left = a->key.seq, right = b->key.seq;
  if (left.n != right.n) {
    f->ties++;
    int c = slp_num_cmp(left, right);
    if (c) return c < 0;
  } else {
    size_t i = count_common_digits(left, right);
    if (i < left.n) {
      f->ties++;
      if (i > f->differ) f->differ = i;
      return left.p[i] < right.p[i];
    }
  }
  if (a->key.sub != b->key.sub) return a->key.sub < b->key.sub;
  return a->ready > b->ready;
}

/* Returns 1 if the words (time_a, word_a) of an entry sort before (time_b, word_b). */
static inline int less_words(uint64_t time_a, uint64_t word_a, uint64_t time_b, uint64_t word_b) {
#ifdef __SIZEOF_INT128__
  /* with this type the comparison compiles to one subtraction with borrow */
  __extension__ typedef unsigned __int128 words;
  return ((words)time_a << 64 | word_a) < ((words)time_b << 64 | word_b);
#else
  return (time_a < time_b) | ((time_a == time_b) & (word_a < word_b));
#endif
}

static inline int entry_is_less(const slp_merge_entry *a, const slp_merge_entry *b) {
  return less_words(a->time, a->word, b->time, b->word);
}

/* Returns 1 if entry a comes before entry b: by `time` and `word` or, if both are equal, by their whole
 * keys. */
static int entry_is_before(const slp_merge_entry *a, const slp_merge_entry *b, slp_merge_focus *f) {
  if (a->time == b->time && a->word == b->word) return before_by_key(a->node, b->node, f);
  return entry_is_less(a, b);
}

void slp_merge_init(slp_merge *m, slp_mem *mem) { *m = (slp_merge){.mem = mem, .focus.digits.id = 1}; }

void slp_merge_free(slp_merge *m) {
  for (uint32_t i = 0; i < m->n; i++) slp_merge_at(m, i)->slot = 0;
  slp_free(m->mem, m->tree);
  slp_merge_init(m, m->mem);
}

int slp_merge_reserve(slp_merge *m, uint32_t n) {
  if (n <= m->cap) return 0;
  uint32_t cap = m->cap ? m->cap : 16;
  while (cap < n) cap *= 2;
  slp_merge_entry *tree = slp_realloc(m->mem, m->tree, 2 * (size_t)cap * sizeof *tree);
  if (!tree) return SLP_ENOMEM;
  m->tree = tree;
  m->cap = cap;
  return 0;
}

/* Carries the changed words of leaf i up to the root. At each level they are compared with the least entry of
 * the neighbouring subtree, and the lesser of the two goes up. It is chosen with masks and not with a branch,
 * because the processor would predict every second branch wrongly. */
static void carry_to_root(slp_merge *m, uint32_t i) {
  slp_merge_entry *tree = m->tree;
  size_t at = m->size + i;
  uint64_t time = tree[at].time, word = tree[at].word;
  uintptr_t node = (uintptr_t)tree[at].node;
  for (; at > 1; at /= 2) {
    const slp_merge_entry *other = &tree[at ^ 1];
    uint64_t time_differs = time ^ other->time, word_differs = word ^ other->word;
    uint64_t lost = 0 - (uint64_t)less_words(other->time, other->word, time, word);
    if (!(time_differs | word_differs))
      lost = 0 - (uint64_t)before_by_key(other->node, (void *)node, &m->focus);
    time ^= time_differs & lost;
    word ^= word_differs & lost;
    node ^= (node ^ (uintptr_t)other->node) & (uintptr_t)lost;
    tree[at / 2] = (slp_merge_entry){time, word, (slp_merge_node *)node};
  }
}

/* Sets second_time and second_word, the words of the second-least entry. The least entry is in leaf i. */
static void look_for_second(slp_merge *m, uint32_t i) {
  const slp_merge_entry *second = &unused;
  for (uint32_t at = m->size + i; at > 1; at /= 2) {
    if (entry_is_less(&m->tree[at ^ 1], second)) second = &m->tree[at ^ 1];
  }
  m->second_time = second->time;
  m->second_word = second->word;
}

/* Must be called before an entry other than the least one changes. If slp_merge_put_word changed only the
 * root and the leaf of the least entry (m->ahead), updates the nodes between them. */
static inline void catch_up(slp_merge *m) {
  m->second_time = m->second_word = 0;
  if (!m->ahead) return;
  m->ahead = 0;
  carry_to_root(m, m->tree[1].node->slot - 1);
}

static void resize_tree(slp_merge *m, uint32_t size) {
  slp_merge_entry *tree = m->tree;
  memmove(&tree[size], &tree[m->size], m->n * sizeof *tree);
  m->size = size;
  for (uint32_t i = m->n; i < size; i++) tree[size + i] = unused;
  for (uint32_t at = size - 1; at; at--)
    tree[at] = tree[2 * at + entry_is_before(&tree[2 * at + 1], &tree[2 * at], &m->focus)];
}

/* Returns the index of the first digit that the focus is to begin with. seq: a present sequence number. The
 * index is as low as possible, because leading digits change least often, with two limits:
 *   1. The focus must reach the last digit that decided a tie (focus.differ).
 *   2. It must not begin after the first digit in which the numbers differ. */
static size_t best_from(const slp_merge *m, slp_str seq) {
  size_t from = m->focus.differ < SLP_FOCUS_DIGITS ? 0 : m->focus.differ - (SLP_FOCUS_DIGITS - 1);
  for (uint32_t i = 0; i < m->n; i++) {
    slp_str other = slp_merge_at(m, i)->key.seq;
    if (other.n == seq.n) from = slp_min_u64(from, count_common_digits(seq, other));
  }
  from = slp_min_u64(from, slp_min_u64(sizeof m->focus.digits.shared, seq.n - SLP_FOCUS_DIGITS));
  return from < 8 ? 0 : from;
}

static int is_same_focus(const slp_focus *f, slp_str seq, size_t from) {
  return f->length == seq.n && f->from == from && slp_focus_same(f->shared, seq.p, from);
}

/* After a search that finds no better digits, twice as many ties must come before the next search. The number
 * of ties is doubled at most VAIN_MAX times. */
#define VAIN_MAX 8

/* Chooses the digits that are compared first, so that they distinguish more entries. The order of the entries
 * stays the same. If the present focus already has the best digits, it is kept, because the pages in memory
 * have words that were made with it. */
__attribute__((noinline)) static void set_focus(slp_merge *m, slp_str seq) {
  slp_merge_entry *tree = m->tree;
  slp_focus f = {.id = m->focus.digits.id + 1, .length = seq.n, .from = best_from(m, seq)};
  if (is_same_focus(&m->focus.digits, seq, f.from)) {
    m->focus.ties = 0;
    m->focus.differ = 0;
    if (m->focus.vain < VAIN_MAX) m->focus.vain++;
    return;
  }
  memcpy(f.shared, seq.p, f.from);
  m->focus = (slp_merge_focus){.digits = f};
  for (uint32_t i = 0; i < m->n; i++) {
    slp_merge_node *node = slp_merge_at(m, i);
    tree[m->size + i] = entry_of(&m->focus.digits, node, &node->key);
  }
  for (uint32_t at = m->size - 1; at; at--)
    tree[at] = tree[2 * at + (tree[2 * at + 1].node == tree[at].node)];
  m->second_time = m->second_word = 0;
  m->ahead = 0;
}

/* Returns 1 if so many ties came since the last search that a new search is worth its cost. (A search looks
 * at all entries.) */
static int wants_focus(const slp_merge *m) { return m->focus.ties > (32 + 2 * m->n) << m->focus.vain; }

/* Gives the node, which is not in the heap, a leaf that is not in use. */
static void give_leaf(slp_merge *m, slp_merge_node *node) {
  SLP_CHECK(m->n < m->cap);
  catch_up(m);
  if (m->n == m->size) resize_tree(m, m->size ? 2 * m->size : 1);
  node->slot = ++m->n;
  node->ready = 0;
}

void slp_merge_put(slp_merge *m, slp_merge_node *node, const slp_key *key, int ready) {
  slp_merge_put_word(m, node, key, slp_focus_word(&m->focus.digits, key->seq), ready);
}

void slp_merge_put_word(slp_merge *m, slp_merge_node *node, const slp_key *key, uint64_t word, int ready) {
  slp_merge_entry e = {time_word(key->time), word, node};
  if (!node->slot) give_leaf(m, node);
  m->ready_n += (uint32_t)(ready != 0) - node->ready;
  node->key = *key;
  node->ready = (uint8_t)(ready != 0);
  uint32_t i = node->slot - 1;
  int was_least = m->tree[1].node == node;
  m->tree[m->size + i] = e;
  if (was_least && less_words(e.time, e.word, m->second_time, m->second_word)) {
    /* Several records of one shard are often handed out in a row. So only the leaf and the root change now;
     * catch_up changes the nodes between them when another entry changes. */
    m->tree[1] = e;
    m->ahead = 1;
    return;
  }
  if (was_least) m->ahead = 0;
  catch_up(m);
  carry_to_root(m, i);
  if (was_least && m->tree[1].node == node) look_for_second(m, i);
  /* A number with leading zeros never sets the focus, because the focus compares the lengths of numbers
   * first, and would sort it after all other numbers. Such numbers are compared by their whole keys. */
  if (wants_focus(m) && key->seq.n >= SLP_FOCUS_DIGITS && *key->seq.p != '0') set_focus(m, key->seq);
}

void slp_merge_remove(slp_merge *m, slp_merge_node *node) {
  if (!node->slot) return;
  uint32_t i = node->slot - 1, last = m->n - 1;
  SLP_CHECK(i <= last && slp_merge_at(m, i) == node);
  node->key.seq.n = 0; /* the caller may have freed the number's bytes already */
  catch_up(m);
  node->slot = 0;
  if (node->ready) m->ready_n--;
  slp_merge_entry moved = m->tree[m->size + last];
  m->n = last;
  m->tree[m->size + last] = unused;
  carry_to_root(m, last);
  if (i < last) {
    m->tree[m->size + i] = moved;
    moved.node->slot = i + 1;
    carry_to_root(m, i);
  }
  if (m->n && m->n <= m->size / 4) resize_tree(m, m->size / 2);
}

slp_merge_node *slp_merge_first_ready(const slp_merge *m) {
  const slp_merge_entry *best = NULL, *leaf = m->tree + m->size;
  slp_merge_focus not_counted = {0};
  for (uint32_t i = 0; i < m->n; i++) {
    if (leaf[i].node->ready && (!best || entry_is_before(&leaf[i], best, &not_counted))) best = &leaf[i];
  }
  return best ? best->node : NULL;
}

/* Returns 1 if node `at` of the tree holds the lesser one of the two entries below it. */
static int is_lesser(const slp_merge *m, uint32_t at) {
  slp_merge_focus not_counted = {0};
  const slp_merge_entry *e = &m->tree[at], *below = &m->tree[2 * at];
  const slp_merge_entry *from = &below[e->node == below[1].node && e->node];
  const slp_merge_entry *other = from == below ? below + 1 : below;
  return e->node == from->node && e->time == from->time && e->word == from->word &&
         !entry_is_before(other, from, &not_counted);
}

int slp_merge_valid(const slp_merge *m) {
  const slp_merge_entry *leaf = m->tree + m->size;
  slp_merge_focus not_counted = {0};
  uint32_t ready = 0;
  for (uint32_t i = 0; i < m->n; i++) {
    slp_merge_entry e = entry_of(&m->focus.digits, leaf[i].node, &leaf[i].node->key);
    if (e.node->slot != i + 1 || e.time != leaf[i].time || e.word != leaf[i].word) return 0;
    if (entry_is_before(&e, &m->tree[1], &not_counted)) return 0;
    if (e.node != m->tree[1].node && less_words(e.time, e.word, m->second_time, m->second_word)) return 0;
    ready += e.node->ready;
  }
  for (uint32_t at = 1; at < m->size; at++) {
    if (!m->ahead && !is_lesser(m, at)) return 0;
  }
  return ready == m->ready_n;
}
