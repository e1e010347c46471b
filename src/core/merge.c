/* merge.c - a binary heap of shard heads. Keys are packed into the heap's array, so that a
 * comparison rarely leaves it: at 4096 shards a look at the records themselves is a cache miss each. */
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

static uint64_t digits(slp_str s, size_t from, size_t count) {
  uint64_t v = 0;
  if (from + count <= s.n) {
    const char *p = s.p + from;
    for (; count >= 8; count -= 8, p += 8) v = v * 100000000u + eight_digits(p);
    for (; count; count--, p++) v = v * 10 + (uint64_t)(*p - '0');
    return v;
  }
  for (size_t i = from; i < from + count; i++) v = v * 10 + (i < s.n ? (uint64_t)(s.p[i] - '0') : 0);
  return v;
}

static slp_merge_entry entry_of(slp_merge_node *node) {
  slp_str seq = node->key.seq;
  return (slp_merge_entry){
      node->key.time, {(uint64_t)(seq.n & 0xff) << 56 | digits(seq, 0, 16), digits(seq, 16, 19)}, node};
}

static int before(const slp_merge_entry *a, const slp_merge_entry *b) {
  if (a->time != b->time) return a->time < b->time;
  if (a->tie[0] != b->tie[0]) return a->tie[0] < b->tie[0];
  if (a->tie[1] != b->tie[1]) return a->tie[1] < b->tie[1];
  int c = slp_key_cmp(&a->node->key, &b->node->key);
  if (c) return c < 0;
  /* Equal keys: a record goes before a watermark, which only promises that nothing earlier comes. */
  return a->node->ready > b->node->ready;
}

void slp_merge_init(slp_merge *m, slp_mem *mem) { *m = (slp_merge){.mem = mem}; }

void slp_merge_free(slp_merge *m) {
  for (uint32_t i = 0; i < m->n; i++) m->heap[i].node->slot = 0;
  slp_free(m->mem, m->heap);
  slp_merge_init(m, m->mem);
}

int slp_merge_reserve(slp_merge *m, uint32_t n) {
  if (n <= m->cap) return 0;
  uint32_t cap = m->cap ? m->cap : 16;
  while (cap < n) cap *= 2;
  slp_merge_entry *heap = slp_realloc(m->mem, m->heap, cap * sizeof *heap);
  if (!heap) return SLP_ENOMEM;
  m->heap = heap;
  m->cap = cap;
  return 0;
}

static void settle(slp_merge *m, uint32_t i, slp_merge_entry e) {
  m->heap[i] = e;
  e.node->slot = i + 1;
}

static void sift_up(slp_merge *m, uint32_t i, slp_merge_entry e) {
  while (i > 0) {
    uint32_t up = (i - 1) / 2;
    if (!before(&e, &m->heap[up])) break;
    settle(m, i, m->heap[up]);
    i = up;
  }
  settle(m, i, e);
}

static void sift_down(slp_merge *m, uint32_t i, slp_merge_entry e) {
  for (;;) {
    uint32_t down = 2 * i + 1;
    if (down >= m->n) break;
    if (down + 1 < m->n && before(&m->heap[down + 1], &m->heap[down])) down++;
    if (!before(&m->heap[down], &e)) break;
    settle(m, i, m->heap[down]);
    i = down;
  }
  settle(m, i, e);
}

static void place(slp_merge *m, uint32_t i, slp_merge_entry e) {
  if (i > 0 && before(&e, &m->heap[(i - 1) / 2])) {
    sift_up(m, i, e);
  } else {
    sift_down(m, i, e);
  }
}

void slp_merge_put(slp_merge *m, slp_merge_node *node, const slp_key *key, int ready) {
  if (node->slot && node->ready) m->ready_n--;
  if (ready) m->ready_n++;
  node->key = *key;
  node->ready = (uint8_t)(ready != 0);
  if (node->slot) {
    place(m, node->slot - 1, entry_of(node));
    return;
  }
  SLP_CHECK(m->n < m->cap);
  m->n++;
  sift_up(m, m->n - 1, entry_of(node));
}

void slp_merge_remove(slp_merge *m, slp_merge_node *node) {
  if (!node->slot) return;
  uint32_t i = node->slot - 1;
  SLP_CHECK(i < m->n && m->heap[i].node == node);
  node->slot = 0;
  if (node->ready) m->ready_n--;
  m->n--;
  if (i < m->n) place(m, i, m->heap[m->n]);
}

slp_merge_node *slp_merge_first_ready(const slp_merge *m) {
  const slp_merge_entry *best = NULL;
  for (uint32_t i = 0; i < m->n; i++) {
    if (m->heap[i].node->ready && (!best || before(&m->heap[i], best))) best = &m->heap[i];
  }
  return best ? best->node : NULL;
}

int slp_merge_valid(const slp_merge *m) {
  uint32_t ready = 0;
  for (uint32_t i = 0; i < m->n; i++) {
    if (m->heap[i].node->slot != i + 1) return 0;
    if (i && before(&m->heap[i], &m->heap[(i - 1) / 2])) return 0;
    ready += m->heap[i].node->ready;
  }
  return ready == m->ready_n;
}
