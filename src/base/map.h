/* map.h - maps strings to pointers, and iterates in the order of insertion, so that runs replay bit for bit.
 * Keys are borrowed: they must live in (or with) the value. */
#ifndef SLP_BASE_MAP_H
#define SLP_BASE_MAP_H

#include "base/mem.h"

typedef struct slp_map_entry {
  slp_str key;
  void *value; /* NULL: removed */
  uint64_t hash;
} slp_map_entry;

typedef struct slp_map {
  slp_mem *mem;
  slp_map_entry *entries;              /* in order of insertion; removed entries leave holes */
  size_t entries_n, entries_cap, live; /* live: entries that were not removed */
  uint32_t *slots;                     /* number of an entry + 1; 0: free */
  /* a power of two; at most half of the slots are taken */
  size_t slots_n;
  slp_hash_key key; /* of the hash that chooses slots */
} slp_map;

void slp_map_init(slp_map *m, slp_mem *mem);
void slp_map_free(slp_map *m);                    /* the values stay the caller's */
void *slp_map_get(const slp_map *m, slp_str key); /* NULL: not there */
/* the key must not be there yet. Returns 0 or SLP_ENOMEM. */
int slp_map_put(slp_map *m, slp_str key, void *value);
void *slp_map_remove(slp_map *m, slp_str key);
/* for (size_t i = 0; (v = slp_map_each(m, &i));) ... the body may remove the current entry. */
void *slp_map_each(const slp_map *m, size_t *at);

#endif
