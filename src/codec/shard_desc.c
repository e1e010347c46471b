/* shard_desc.c - checks the description of a shard, from a listing or from the last page of its parent. */
#include "base/clean.h"
#include "base/num.h"
#include "codec/page.h"
#include "codec/page_table.h"

static int parent_is_wrong(slp_str id) { return id.n && !slp_is_shard_id(id); }

const char *slp_shard_desc_wrong(const slp_shard_desc *d) {
  const slp_str numbers[] = {d->hash_start, d->hash_end, d->seq_start, d->seq_end};
  if (d->id.p && !slp_is_shard_id(d->id)) return "a shard without a usable id";
  if (parent_is_wrong(d->parent) || parent_is_wrong(d->adjacent_parent))
    return "a shard whose parent has no usable id";
  for (size_t i = 0; i < SLP_COUNT(numbers); i++)
    if (numbers[i].n && (numbers[i].n > SLP_PAGE_SEQ_DIGITS_MAX || !slp_num_valid(numbers[i])))
      return "a hash key or a sequence number that is no number";
  return NULL;
}
