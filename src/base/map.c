/* map.c - a hash table with open addressing. A slot holds the index of an entry. The entries are in an array,
 * in the order of insertion. */
#include "base/map.h"

#include "base/hash.h"
#include "base/mem.h"

void slp_map_init(slp_map *m, slp_mem *mem) { *m = (slp_map){.mem = mem}; }

void slp_map_free(slp_map *m) {
  slp_free(m->mem, m->entries);
  slp_free(m->mem, m->slots);
  slp_map_init(m, m->mem);
}

/* Returns the slot that holds the key, or the free slot where the key belongs. */
static size_t slot_of(const slp_map *m, slp_str key, uint64_t hash) {
  size_t i = (size_t)hash & (m->slots_n - 1);
  while (m->slots[i]) {
    const slp_map_entry *e = &m->entries[m->slots[i] - 1];
    if (e->value && e->hash == hash && slp_str_eq(e->key, key)) return i;
    i = (i + 1) & (m->slots_n - 1);
  }
  return i;
}

void *slp_map_get(const slp_map *m, slp_str key) {
  if (!m->slots_n) return NULL;
  size_t i = slot_of(m, key, slp_hash(&m->key, key));
  return m->slots[i] ? m->entries[m->slots[i] - 1].value : NULL;
}

/* Rebuilds the tables without the removed entries, and with room for twice the live ones. Returns 0, or
 * SLP_ENOMEM: nothing has changed. */
static int rebuild_map_tables(slp_map *m) {
  size_t cap = m->live * 2 + 8, slots_n = 16;
  if (!m->slots_n) m->key = m->mem->hash_key;
  while (slots_n < cap * 2) slots_n *= 2;
  slp_map_entry *entries = slp_zalloc_n(m->mem, cap, sizeof *entries);
  uint32_t *slots = slp_zalloc_n(m->mem, slots_n, sizeof *slots);
  if (!entries || !slots) {
    slp_free(m->mem, entries);
    slp_free(m->mem, slots);
    return SLP_ENOMEM;
  }
  size_t n = 0;
  for (size_t i = 0; i < m->entries_n; i++) {
    if (m->entries[i].value) entries[n++] = m->entries[i];
  }
  slp_free(m->mem, m->entries);
  slp_free(m->mem, m->slots);
  m->entries = entries;
  m->slots = slots;
  m->entries_n = n;
  m->entries_cap = cap;
  m->slots_n = slots_n;
  for (size_t i = 0; i < n; i++) m->slots[slot_of(m, entries[i].key, entries[i].hash)] = (uint32_t)i + 1;
  return 0;
}

int slp_map_put(slp_map *m, slp_str key, void *value) {
  SLP_CHECK(value);
  if (m->entries_n == m->entries_cap) {
    int r = rebuild_map_tables(m);
    if (r) return r;
  }
  uint64_t hash = slp_hash(&m->key, key);
  size_t slot = slot_of(m, key, hash);
  SLP_CHECK(!m->slots[slot]);
  m->entries[m->entries_n++] = (slp_map_entry){key, value, hash};
  m->slots[slot] = (uint32_t)m->entries_n;
  m->live++;
  return 0;
}

void *slp_map_remove(slp_map *m, slp_str key) {
  if (!m->slots_n) return NULL;
  size_t slot = slot_of(m, key, slp_hash(&m->key, key));
  if (!m->slots[slot]) return NULL;
  slp_map_entry *e = &m->entries[m->slots[slot] - 1];
  void *value = e->value;
  e->value = NULL; /* the slot stays taken, so that keys that collided with this one are still found */
  e->key = (slp_str){NULL, 0};
  m->live--;
  return value;
}

void *slp_map_each(const slp_map *m, size_t *at) {
  while (*at < m->entries_n) {
    void *value = m->entries[(*at)++].value;
    if (value) return value;
  }
  return NULL;
}
