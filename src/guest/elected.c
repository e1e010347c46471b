/* elected.c - tells the user when an upgrade from KCL 2 to KCL 3 waits for this worker. By a rule of KCL 2,
 * one worker is elected from all names that own leases, and only that worker decides on the upgrade. The rule
 * may elect a worker of sloop, which never decides. Then the upgrade waits, and no worker of the KCL reports
 * why. */
#include "guest/elected.h"

#include "base/mem.h"
#include "guest/guest_rules.h"
#include "lease/context.h"
#include "lease/fleet_inside.h"
#include "lease/fleet_opts.h"
#include "lease/instance.h"
#include "lease/lease_rules.h"
#include "lease/schema.h"
#include "lease/store.h"

#include <stdlib.h>

static int by_name(const void *a, const void *b) {
  return slp_str_cmp(*(const slp_str *)a, *(const slp_str *)b);
}

/* Fills `names` with the owners of all leases as the KCL sees them: sorted, each name once. Returns how many
 * there are. */
static size_t collect_owner_names(slp_fleet *f, const slp_store_rows *rows, slp_str *names) {
  size_t n = 0, kept = 0;
  for (size_t i = 0; i < rows->n; i++) {
    slp_parsed_row row;
    slp_schema_read_row(f->schema, &rows->rows[i], &row);
    const slp_lease_row *l = &row.u.lease;
    if (row.kind != SLP_ROW_LEASE && row.kind != SLP_ROW_ELSEWHERE) continue;
    names[n] = l->claim.n && !l->claim_asks ? l->claim : l->owner;
    n += names[n].n > 0;
  }
  if (n) qsort(names, n, sizeof *names, by_name);
  for (size_t i = 0; i < n; i++)
    if (!kept || !slp_str_eq(names[kept - 1], names[i])) names[kept++] = names[i];
  return kept;
}

int slp_elected_saw(slp_fleet *f, const slp_store_rows *rows, int was) {
  slp_str *names = slp_zalloc_n(f->mem, rows->n + 1, sizeof *names);
  if (!names) return was; /* no memory: returns the answer of the last round; the next round tries again */
  size_t n = collect_owner_names(f, rows, names);
  uint32_t first = n && n < UINT32_MAX ? slp_elected((uint32_t)n, f->mem) : SLP_NOBODY;
  int mine = first != SLP_NOBODY && slp_str_eq(names[first], slp_instance_str(&f->me));
  slp_free(f->mem, names);
  if (mine && !was)
    slp_fleet_tell(f, SLP_FLEET_TROUBLE, (slp_str){NULL, 0}, 0,
                   "the upgrade of the application to KCL 3 waits for this worker, which can't decide it: "
                   "the rule of KCL 2 elects it as number %u of %zu workers that own leases; stop it for 15 "
                   "minutes, or give it a name that sorts elsewhere",
                   first + 1, n);
  return mine;
}
