/* lease_pick.c - finds the shard or worker that a name on the command line stands for. */
#include "cli/lease_pick.h"

#include "cli/start_option.h"

#include <sloop_admin.h>

static int is_shard(const sloop_leases_t *all, const char *name) {
  for (size_t i = 0; i < all->leases_n; i++)
    if (strcmp(all->leases[i]->shard, name) == 0) return 1;
  return 0;
}

/* Returns 1 if the name is the instance or the id of a worker in the table. An instance is the worker's id, a
 * dot, and a part that differs between several lives of one worker. */
static int is_worker(const sloop_leases_t *all, const char *name) {
  size_t n = strlen(name);
  for (size_t i = 0; i < all->workers_n; i++) {
    const char *w = all->workers[i]->worker, *dot = strrchr(w, '.');
    if (strcmp(w, name) == 0 || (dot && (size_t)(dot - w) == n && memcmp(w, name, n) == 0)) return 1;
  }
  return 0;
}

static int ends_with(const char *z, const char *end) {
  size_t n = strlen(z), m = strlen(end);
  return n >= m && memcmp(z + n - m, end, m) == 0;
}

void slp_lease_find(const sloop_leases_t *all, const char *given, int workers, slp_lease_pick *ret) {
  *ret = (slp_lease_pick){.name = given};
  slp_start_full_shard(slp_str_of(given), ret->room);
  if (is_shard(all, given) || (workers && is_worker(all, given))) return;
  if (is_shard(all, ret->room)) {
    ret->name = ret->room;
    return;
  }
  const char *found = NULL;
  for (size_t i = 0; i < all->leases_n && !ret->second; i++) {
    if (!ends_with(all->leases[i]->shard, given)) continue;
    if (found) ret->second = all->leases[i]->shard;
    if (!found) found = all->leases[i]->shard;
  }
  if (found) ret->name = found;
  /* with `workers`, a number may be a worker's id, so it is not completed to a shard id */
  else if (*ret->room && !workers)
    ret->name = ret->room;
}
