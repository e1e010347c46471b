/* map.h - maps strings to pointers, and iterates in the order of insertion, so that simulator runs replay bit
 * for bit. The map borrows its keys: a key must live as long as its value. */
#ifndef SLP_BASE_MAP_H
#define SLP_BASE_MAP_H

#include "base/hash.h"
#include "base/mem.h"

typedef struct slp_map_entry {
  slp_str key;
  void *value; /* NULL: the entry was removed */
  uint64_t hash;
} slp_map_entry;

typedef struct slp_map {
  slp_mem *mem;
  /* the entries in order of insertion; a removed entry stays until the tables are rebuilt */
  slp_map_entry *entries;
  size_t entries_n, entries_cap, live; /* live: number of entries that were not removed */
  uint32_t *slots;                     /* index into entries + 1; 0: the slot is free */
  /* Number of slots: a power of two, and at least twice the entries. */
  size_t slots_n;
  slp_hash_key key; /* secret key of the hash that chooses a slot */
} slp_map;

void slp_map_init(slp_map *m, slp_mem *mem);
void slp_map_free(slp_map *m);                    /* does not free the values */
void *slp_map_get(const slp_map *m, slp_str key); /* NULL: the map has no such key */
/* Adds an entry. The map must not have the key yet. Returns 0 or SLP_ENOMEM. */
int slp_map_put(slp_map *m, slp_str key, void *value);
/* Removes an entry. Returns its value; NULL: the map has no such key. */
void *slp_map_remove(slp_map *m, slp_str key);
/* Returns the next value, or NULL at the end: for (size_t i = 0; (v = slp_map_each(m, &i));) ... The body of
 * the loop may remove the current entry. */
void *slp_map_each(const slp_map *m, size_t *at);

#endif
