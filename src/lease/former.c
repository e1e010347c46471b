/* former.c - the numbers of leases that no longer concern this worker (former.h). */
#include "lease/former.h"

#include "base/map.h"
#include "base/mem.h"

#include <string.h>

typedef struct former {
  slp_former_numbers numbers;
  uint8_t minutes; /* for how many minutes the numbers have been kept */
  uint8_t id_n;
  char id[];
} former;

void slp_former_init(slp_former *all, slp_mem *mem) { slp_map_init(&all->all, mem); }

void slp_former_free(slp_former *all) {
  size_t at = 0;
  for (former *one; (one = slp_map_each(&all->all, &at));) slp_free(all->all.mem, one);
  slp_map_free(&all->all);
}

static slp_str id_of(const former *one) { return (slp_str){one->id, one->id_n}; }

static void drop_former(slp_former *all, former *one) {
  slp_map_remove(&all->all, id_of(one));
  slp_free(all->all.mem, one);
}

int slp_former_keep(slp_former *all, slp_str shard, const slp_former_numbers *numbers) {
  former *one = shard.n <= UINT8_MAX ? slp_alloc(all->all.mem, sizeof *one + shard.n) : NULL;
  if (!one) return SLP_ENOMEM;
  *one = (former){.numbers = *numbers, .id_n = (uint8_t)shard.n};
  memcpy(one->id, shard.p, shard.n);
  if (slp_map_put(&all->all, id_of(one), one) == 0) return 0;
  slp_free(all->all.mem, one);
  return SLP_ENOMEM;
}

int slp_former_has(const slp_former *all, slp_str shard) { return slp_map_get(&all->all, shard) != NULL; }

int slp_former_take(slp_former *all, slp_str shard, slp_former_numbers *ret) {
  former *one = slp_map_get(&all->all, shard);
  if (!one) return 0;
  *ret = one->numbers;
  drop_former(all, one);
  return 1;
}

void slp_former_age(slp_former *all, uint8_t minutes) {
  size_t at = 0;
  for (former *one; (one = slp_map_each(&all->all, &at));)
    if (++one->minutes >= minutes) drop_former(all, one);
}
