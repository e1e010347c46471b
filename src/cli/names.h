/* names.h - numbers shard ids from 0, in the order in which they are first seen. */
#ifndef SLP_CLI_NAMES_H
#define SLP_CLI_NAMES_H

#include "base/mem.h"

#define SLP_NAMES_MAX 1000000

typedef struct slp_names {
  slp_mem *mem;
  char **name;     /* owned: the ids by number, n of them */
  uint32_t *slots; /* owned: hash table of slots_n slots with open addressing; number + 1; 0: free */
  uint32_t n, cap, slots_n;
  slp_hash_key key; /* key of the slots' hash */
  uint32_t last;    /* the number found last: records of one shard come in runs */
} slp_names;

void slp_names_init(slp_names *t, slp_mem *mem);
void slp_names_free(slp_names *t);
/* Returns the number of the name. A new name gets the next number. UINT32_MAX: no memory, or SLP_NAMES_MAX
 * names. */
uint32_t slp_names_number(slp_names *t, const char *name);
/* Returns the number of the name; UINT32_MAX: it has none. */
uint32_t slp_names_find(slp_names *t, const char *name);

#endif
