/* index_rule.c - computes which shards of the shared list belong to one worker, and which shards the list
 * has. Both are computed as in kinsumer (github.com/twitchscience/kinsumer: refreshShards in kinsumer.go,
 * diffShardIDs in leader.go). */
#include "guest/guest_rules.h"

#include <stdlib.h>

static int by_bytes(const void *a, const void *b) {
  return slp_str_cmp(*(const slp_str *)a, *(const slp_str *)b);
}

size_t slp_index_place(slp_str *names, size_t n, slp_str me) {
  if (n) qsort(names, n, sizeof *names, by_bytes);
  for (size_t i = 0; i < n; i++)
    if (slp_str_eq(names[i], me)) return i;
  return n;
}

static int stays_in_list(const slp_index_shard *s) { return s->listed && !s->finished; }

static int those_that_stay_first(const void *a, const void *b) {
  const slp_index_shard *x = a, *y = b;
  int first = stays_in_list(y) - stays_in_list(x);
  return first ? first : slp_str_cmp(x->id, y->id);
}

int slp_index_list(slp_index_shard *shards, size_t n, size_t *ret_n) {
  int changed = 0;
  *ret_n = 0;
  for (size_t i = 0; i < n; i++) {
    changed |= stays_in_list(&shards[i]) != shards[i].cached;
    *ret_n += (size_t)stays_in_list(&shards[i]);
  }
  if (n) qsort(shards, n, sizeof *shards, those_that_stay_first);
  return changed;
}
