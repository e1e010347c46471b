/* fleet_reads.c - reads of the table that fail are repeated by whoever asked; here it is told when that
 * lasts. */
#include "lease/fleet_inside.h"

static const char *const names[SLP_READS_N] = {
    [SLP_READ_LEASES] = "leases",
    [SLP_READ_WORKERS] = "the workers",
    [SLP_READ_LEADER] = "the leader",
    [SLP_READ_ASSIGNMENT] = "what is planned for this worker",
    [SLP_READ_SNAPSHOT] = "the whole fleet",
    [SLP_READ_MINE] = "this worker's own row",
};

int slp_read_came(slp_fleet *f, slp_read_of what, const slp_store_req *rq) {
  if (rq->fail.class == SLP_FINE) {
    f->reads_failed[what] = 0;
    return 1;
  }
  uint32_t n = ++f->reads_failed[what];
  if (!slp_fleet_tells(f, n, &rq->fail)) return 0;
  f->why = &rq->fail;
  slp_fleet_tell(f, SLP_FLEET_TROUBLE, (slp_str){NULL, 0}, 0,
                 "reading %s in the lease table failed %u time%s: %s", names[what], n, n > 1 ? "s" : "",
                 rq->fail.message);
  return 0;
}
