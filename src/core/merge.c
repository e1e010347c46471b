/* merge.c - a tournament of shard heads. What a changed key is compared with, level by level, is known
 * before the first comparison is done, and no comparison branches: so the processor loads all of it at
 * once, and never guesses wrong, which in a binary heap costs more than all else. */
#include "core/merge.h"

#include "base/num.h"

int slp_key_cmp(const slp_key *a, const slp_key *b) {
  if (a->time != b->time) return a->time < b->time ? -1 : 1;
  int c = slp_num_cmp(a->seq, b->seq);
  if (c) return c;
  return a->sub < b->sub ? -1 : a->sub > b->sub;
}

/* Eight digits as a number; the bytes are known to be digits. */
static uint64_t eight_digits(const char *p) {
  uint64_t v;
  memcpy(&v, p, 8);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  v = (v & 0x0f0f0f0f0f0f0f0fu) * 2561 >> 8;
  v = (v & 0x00ff00ff00ff00ffu) * 6553601 >> 16;
  return (v & 0x0000ffff0000ffffu) * 42949672960001u >> 32;
#else
  uint64_t d = 0;
  for (int i = 0; i < 8; i++) d = d * 10 + (uint64_t)(p[i] - '0');
  return d;
#endif
}

static uint64_t sixteen_digits(const char *p) { return eight_digits(p) * 100000000u + eight_digits(p + 8); }

#define LEAF_DIGITS 56 /* as many as Kinesis' numbers have */
#define LENGTH_SHIFT 56

static slp_merge_leaf leaf_of(slp_merge_node *node) {
  slp_str seq = node->key.seq;
  char padded[LEAF_DIGITS];
  const char *p = seq.p;
  if (seq.n < LEAF_DIGITS) {
    memset(padded, '0', sizeof padded);
    if (seq.n) memcpy(padded, seq.p, seq.n);
    p = padded;
  }
  uint64_t length = seq.n < 0xff ? seq.n : 0xff;
  /* Equal keys: a record goes before a watermark, which only promises that nothing earlier comes. */
  return (slp_merge_leaf){
      node->key.time,
      {length << LENGTH_SHIFT | sixteen_digits(p), sixteen_digits(p + 16), sixteen_digits(p + 32)},
      eight_digits(p + 48) << 33 | (uint64_t)node->key.sub << 1 | !node->ready,
      node};
}

/* Later than every entry. */
static const slp_merge_leaf unused = {INT64_MAX, {UINT64_MAX, UINT64_MAX, UINT64_MAX}, UINT64_MAX, NULL};

static int before_by_record(const slp_merge_node *a, const slp_merge_node *b) {
  int c = slp_key_cmp(&a->key, &b->key);
  return c ? c < 0 : a->ready > b->ready;
}

static inline unsigned before(const slp_merge_leaf *a, const slp_merge_leaf *b) {
  uint64_t length = a->digits[0] >> LENGTH_SHIFT;
  if (length > LEAF_DIGITS && a->node && b->node && a->time == b->time && a->digits[0] == b->digits[0])
    return (unsigned)before_by_record(a->node, b->node);
  /* & and |, not && and ||: all of it is computed, nothing is guessed. */
  unsigned less = a->rest < b->rest;
  less = (unsigned)(a->digits[2] < b->digits[2]) | ((unsigned)(a->digits[2] == b->digits[2]) & less);
  less = (unsigned)(a->digits[1] < b->digits[1]) | ((unsigned)(a->digits[1] == b->digits[1]) & less);
  less = (unsigned)(a->digits[0] < b->digits[0]) | ((unsigned)(a->digits[0] == b->digits[0]) & less);
  return (unsigned)(a->time < b->time) | ((unsigned)(a->time == b->time) & less);
}

void slp_merge_init(slp_merge *m, slp_mem *mem) { *m = (slp_merge){.mem = mem, .others_from = INT64_MIN}; }

void slp_merge_free(slp_merge *m) {
  for (uint32_t i = 0; i < m->n; i++) m->leaves[i].node->slot = 0;
  slp_free(m->mem, m->leaves);
  slp_free(m->mem, m->least);
  slp_merge_init(m, m->mem);
}

int slp_merge_reserve(slp_merge *m, uint32_t n) {
  if (n <= m->cap) return 0;
  uint32_t cap = m->cap ? m->cap : 16;
  while (cap < n) cap *= 2;
  slp_merge_leaf *leaves = slp_realloc(m->mem, m->leaves, cap * sizeof *leaves);
  if (!leaves) return SLP_ENOMEM;
  m->leaves = leaves;
  uint32_t *least = slp_realloc(m->mem, m->least, 2 * (size_t)cap * sizeof *least);
  if (!least) return SLP_ENOMEM;
  m->least = least;
  m->cap = cap;
  return 0;
}

/* A leaf changed: it meets the least of each neighbouring part on its way up. */
static void play(slp_merge *m, uint32_t i) {
  const slp_merge_leaf *leaves = m->leaves;
  uint32_t *least = m->least, won = i;
  int64_t others = INT64_MAX;
  for (uint32_t at = m->size + i; at > 1; at /= 2) {
    uint32_t other = least[at ^ 1];
    others = slp_min_i64(others, leaves[other].time);
    won = before(&leaves[other], &leaves[won]) ? other : won;
    least[at / 2] = won;
  }
  m->others_from = won == i ? others : INT64_MIN;
}

static void resize(slp_merge *m, uint32_t size) {
  m->size = size;
  for (uint32_t i = m->n; i < size; i++) m->leaves[i] = unused;
  for (uint32_t i = 0; i < size; i++) m->least[size + i] = i;
  for (uint32_t at = size - 1; at; at--) {
    uint32_t a = m->least[2 * at], b = m->least[2 * at + 1];
    m->least[at] = before(&m->leaves[b], &m->leaves[a]) ? b : a;
  }
  m->others_from = INT64_MIN;
}

static void put_leaf(slp_merge *m, uint32_t i, slp_merge_leaf leaf) {
  m->leaves[i] = leaf;
  leaf.node->slot = i + 1;
  /* Records of one shard often follow each other. */
  if (m->least[1] == i && leaf.time < m->others_from) return;
  play(m, i);
}

void slp_merge_put(slp_merge *m, slp_merge_node *node, const slp_key *key, int ready) {
  if (node->slot && node->ready) m->ready_n--;
  if (ready) m->ready_n++;
  node->key = *key;
  node->ready = (uint8_t)(ready != 0);
  if (!node->slot) {
    SLP_CHECK(m->n < m->cap);
    if (m->n == m->size) resize(m, m->size ? 2 * m->size : 1);
    node->slot = ++m->n;
  }
  put_leaf(m, node->slot - 1, leaf_of(node));
}

void slp_merge_remove(slp_merge *m, slp_merge_node *node) {
  if (!node->slot) return;
  uint32_t i = node->slot - 1, last = --m->n;
  SLP_CHECK(i <= last && m->leaves[i].node == node);
  node->slot = 0;
  if (node->ready) m->ready_n--;
  slp_merge_leaf moved = m->leaves[last];
  m->leaves[last] = unused;
  play(m, last);
  if (i < last) {
    m->others_from = INT64_MIN;
    put_leaf(m, i, moved);
  }
  if (m->n && m->n <= m->size / 4) resize(m, m->size / 2);
}

slp_merge_node *slp_merge_first_ready(const slp_merge *m) {
  const slp_merge_leaf *best = NULL;
  for (uint32_t i = 0; i < m->n; i++) {
    if (m->leaves[i].node->ready && (!best || before(&m->leaves[i], best))) best = &m->leaves[i];
  }
  return best ? best->node : NULL;
}

int slp_merge_valid(const slp_merge *m) {
  uint32_t ready = 0;
  for (uint32_t i = 0; i < m->n; i++) {
    if (m->leaves[i].node->slot != i + 1) return 0;
    if (before(&m->leaves[i], &m->leaves[m->least[1]])) return 0;
    if (i != m->least[1] && m->leaves[i].time < m->others_from) return 0;
    ready += m->leaves[i].node->ready;
  }
  for (uint32_t at = 1; at < m->size; at++) {
    uint32_t a = m->least[2 * at], b = m->least[2 * at + 1];
    if (m->least[at] != a && m->least[at] != b) return 0;
    if (before(&m->leaves[a == m->least[at] ? b : a], &m->leaves[m->least[at]])) return 0;
  }
  return ready == m->ready_n;
}
