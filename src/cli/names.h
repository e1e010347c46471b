/* names.h - gives shard ids small numbers, counted from 0 in the order they are met. */
#ifndef SLP_CLI_NAMES_H
#define SLP_CLI_NAMES_H

#include "base/mem.h"

#define SLP_NAMES_MAX 1000000

typedef struct slp_names {
  slp_mem *mem;
  char **name;     /* owned, n of them */
  uint32_t *slots; /* owned: open addressing; number + 1, 0: free */
  uint32_t n, cap, slots_n;
  slp_hash_key key; /* of the slots */
  uint32_t last;    /* the answer before this one: records come in runs of a shard */
} slp_names;

void slp_names_init(slp_names *t, slp_mem *mem);
void slp_names_free(slp_names *t);
/* The number of that name, a new one when it was never seen. UINT32_MAX: no memory. */
uint32_t slp_names_number(slp_names *t, const char *name);
/* The number, or UINT32_MAX when never seen. */
uint32_t slp_names_find(slp_names *t, const char *name);

#endif
