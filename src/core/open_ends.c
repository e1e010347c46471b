/* open_ends.c - decides whether a shard whose parents are not known may descend from a shard that is read. */
#include "core/open_ends.h"

#include "base/map.h"
#include "base/mem.h"
#include "codec/kpl.h"

#include <stdlib.h>

void slp_open_ends_init(slp_open_ends *ends, slp_mem *mem) {
  *ends = (slp_open_ends){.mem = mem};
  slp_map_init(&ends->parents, mem);
}

void slp_open_ends_add(slp_open_ends *ends, const slp_hash_range *range) {
  slp_hash_range *more = ends->ranges;
  if (range && ends->n == ends->cap) more = slp_doubled(ends->mem, more, &ends->cap, 8, sizeof *more);
  if (!range || !more) {
    ends->anywhere = 1;
    return;
  }
  ends->ranges = more;
  ends->ranges[ends->n++] = *range;
  ends->settled = 0;
}

static int by_first(const void *a, const void *b) {
  const slp_hash_range *x = a, *y = b;
  return memcmp(x->first, y->first, sizeof x->first);
}

/* Sorts the ranges by their first key. Then raises each `last` to the greatest `last` of the range itself and
 * of all ranges before it. */
static void sort_open_ranges(slp_open_ends *ends) {
  slp_hash_range *r = ends->ranges;
  if (ends->n) qsort(r, ends->n, sizeof *r, by_first);
  for (size_t i = 1; i < ends->n; i++)
    if (memcmp(r[i].last, r[i - 1].last, sizeof r->last) < 0)
      memcpy(r[i].last, r[i - 1].last, sizeof r->last);
  ends->settled = 1;
}

int slp_open_ends_reach(slp_open_ends *ends, const slp_hash_range *range) {
  if (ends->anywhere || !range) return ends->anywhere || ends->n > 0;
  if (!ends->settled) sort_open_ranges(ends);
  /* a binary search for the number of ranges that begin at range->last or before */
  size_t low = 0, high = ends->n;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (memcmp(ends->ranges[middle].first, range->last, sizeof range->last) <= 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low > 0 && memcmp(ends->ranges[low - 1].last, range->first, sizeof range->first) >= 0;
}

void slp_open_ends_add_parent(slp_open_ends *ends, slp_str id) {
  if (!slp_map_get(&ends->parents, id) && slp_map_put(&ends->parents, id, ends)) ends->all = 1;
}

int slp_open_ends_is_parent(const slp_open_ends *ends, slp_str id) {
  return ends->all || slp_map_get(&ends->parents, id) != NULL;
}

void slp_open_ends_free(slp_open_ends *ends) {
  slp_map_free(&ends->parents);
  slp_free(ends->mem, ends->ranges);
}
