/* given_numbers.c - remembers sequence numbers as hashes of 64 bits. For each remembered number there is a
 * chance of 1 in 2^64 that a number that was never given counts as given. */
#include "cli/given_numbers.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/num.h"

#define FIRST 256u

static uint64_t hash_of(slp_str number) {
  static const slp_hash_key key = {{0x676976656e, 0x6e756d62657273}};
  return slp_hash(&key, slp_num_trim(number));
}

/* Makes room for one more number. If the array has its largest size, forgets the older half. Returns 0 if
 * there is no memory. */
static int has_room(slp_given_numbers *g, slp_mem *mem) {
  if (g->n < g->cap) return 1;
  if (g->cap == SLP_GIVEN_MAX) {
    g->n -= g->n / 2;
    memmove(g->all, g->all + (g->cap - g->n), g->n * sizeof *g->all);
    g->forgot = 1;
    return 1;
  }
  uint32_t cap = g->cap ? g->cap * 2 : FIRST;
  uint64_t *all = slp_realloc(mem, g->all, cap * sizeof *all);
  if (!all) return 0;
  g->all = all;
  g->cap = cap;
  return 1;
}

void slp_given_add(slp_given_numbers *g, slp_mem *mem, slp_str number) {
  uint64_t hash = hash_of(number);
  /* the previous record of the same aggregate had the same number */
  if (g->n && g->all[g->n - 1] == hash) return;
  if (has_room(g, mem))
    g->all[g->n++] = hash;
  else
    g->forgot = 1;
}

/* Returns the index of the number's hash in `all`, or n if it is not there. */
static uint32_t find_number_hash(const slp_given_numbers *g, slp_str number) {
  uint64_t hash = hash_of(number);
  uint32_t i = g->n;
  while (i > 0 && g->all[i - 1] != hash) i--;
  return i ? i - 1 : g->n;
}

int slp_given_has(const slp_given_numbers *g, slp_str number) {
  return g->forgot || find_number_hash(g, number) < g->n;
}

void slp_given_forget_before(slp_given_numbers *g, slp_str number) {
  uint32_t i = find_number_hash(g, number);
  if (i == g->n) return;
  memmove(g->all, g->all + i, (g->n - i) * sizeof *g->all);
  g->n -= i;
}

void slp_given_clear(slp_given_numbers *g, slp_mem *mem) {
  slp_free(mem, g->all);
  *g = (slp_given_numbers){.all = NULL};
}
