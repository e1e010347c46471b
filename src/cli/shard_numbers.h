/* shard_numbers.h - gives shard ids numbers: 0, 1, 2 ... in the order in which the ids first appear. */
#ifndef SLP_CLI_SHARD_NUMBERS_H
#define SLP_CLI_SHARD_NUMBERS_H

#include "base/hash.h"
#include "base/mem.h"

#define SLP_NAMES_MAX 1000000

typedef struct slp_names {
  slp_mem *mem;
  char **name; /* owned; name[i] is the id with number i; n ids */
  /* owned; a hash table of slots_n slots with open addressing; a slot has 1 plus a number; 0: the slot is
   * free */
  uint32_t *slots;
  uint32_t n, cap, slots_n;
  slp_hash_key key; /* key of the hash function for the slots */
  uint32_t last; /* the number that was found last; tried first, because records of one shard come in runs */
} slp_names;

void slp_names_init(slp_names *t, slp_mem *mem);
void slp_names_free(slp_names *t);
/* Returns the number of the name. A name that is not in the table gets the next number. Returns UINT32_MAX if
 * there is no memory or the table has SLP_NAMES_MAX names. */
uint32_t slp_names_number(slp_names *t, const char *name);
/* Returns the number of the name, or UINT32_MAX if the name is not in the table. */
uint32_t slp_names_find(slp_names *t, const char *name);

#endif
