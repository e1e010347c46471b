/* shard_numbers.c - a hash table of shard ids. */
#include "cli/shard_numbers.h"

#include "base/hash.h"
#include "base/mem.h"

void slp_names_init(slp_names *t, slp_mem *mem) { *t = (slp_names){.mem = mem}; }

void slp_names_free(slp_names *t) {
  for (uint32_t i = 0; i < t->n; i++) slp_free(t->mem, t->name[i]);
  slp_free(t->mem, t->name);
  slp_free(t->mem, t->slots);
  slp_names_init(t, t->mem);
}

/* Returns the index of the slot with this name, or of the free slot for it if no slot has the name. */
static uint32_t slot_of(const slp_names *t, const char *name) {
  uint32_t at = (uint32_t)slp_hash(&t->key, slp_str_of(name)) & (t->slots_n - 1);
  while (t->slots[at] && strcmp(t->name[t->slots[at] - 1], name) != 0) at = (at + 1) & (t->slots_n - 1);
  return at;
}

static int grow_name_table(slp_names *t) {
  uint32_t cap = t->cap ? t->cap * 2 : 16;
  char **name = slp_realloc(t->mem, t->name, cap * sizeof *name);
  if (!name) return SLP_ENOMEM;
  t->name = name;
  uint32_t *slots = slp_zalloc_n(t->mem, (size_t)cap * 2, sizeof *slots);
  if (!slots) return SLP_ENOMEM;
  if (!t->slots_n) t->key = t->mem->hash_key;
  slp_free(t->mem, t->slots);
  t->slots = slots;
  t->slots_n = cap * 2; /* the table is at most half full */
  t->cap = cap;
  for (uint32_t i = 0; i < t->n; i++) t->slots[slot_of(t, t->name[i])] = i + 1;
  return 0;
}

uint32_t slp_names_find(slp_names *t, const char *name) {
  if (!t->n) return UINT32_MAX;
  if (strcmp(t->name[t->last], name) == 0) return t->last;
  uint32_t slot = t->slots[slot_of(t, name)];
  if (!slot) return UINT32_MAX;
  t->last = slot - 1;
  return t->last;
}

uint32_t slp_names_number(slp_names *t, const char *name) {
  uint32_t found = slp_names_find(t, name);
  if (found != UINT32_MAX) return found;
  if (t->n == SLP_NAMES_MAX) return UINT32_MAX;
  if (t->n == t->cap && grow_name_table(t) != 0) return UINT32_MAX;
  char *copy = slp_strdup(t->mem, slp_str_of(name));
  if (!copy) return UINT32_MAX;
  t->slots[slot_of(t, name)] = t->n + 1;
  t->name[t->n] = copy;
  t->last = t->n;
  return t->n++;
}
