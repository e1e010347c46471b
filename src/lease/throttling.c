/* throttling.c - decides when the user is told that the lease table throttles this worker (throttling.h). */
#include "lease/throttling.h"

#include "base/base.h"

/* Throttling is reported only if it has lasted LASTS_US and the table has refused at least LASTS_N requests.
 * Shorter throttling needs no report: after a short burst of requests, the table soon serves all of them
 * again. */
#define LASTS_US 2000000
#define LASTS_N 3
#define QUIET_US UINT64_C(60000000) /* throttling is over when no request was refused for this time */
/* time between the first two reports; it doubles with each report, up to REST_MOST_US */
#define REST_LEAST_US UINT64_C(60000000)
#define REST_MOST_US UINT64_C(3600000000)

static void begin_throttling(slp_throttling *t, uint64_t now_us) {
  *t = (slp_throttling){.since_us = now_us, .tell_us = now_us + LASTS_US, .rest_us = REST_LEAST_US};
}

int slp_throttling_saw(slp_throttling *t, uint64_t now_us, int of_write) {
  if (!t->since_us || now_us - t->last_us >= QUIET_US) begin_throttling(t, now_us);
  t->last_us = now_us;
  if (of_write) t->last_write_us = now_us;
  t->writes += of_write != 0;
  t->reads += !of_write;
  if (t->reads + t->writes < LASTS_N || now_us < t->tell_us) return 0;
  t->tell_us = now_us + t->rest_us;
  t->rest_us = slp_min_u64(2 * t->rest_us, REST_MOST_US);
  return 1;
}

int slp_throttling_of_writes(const slp_throttling *t, uint64_t now_us) {
  return t->last_write_us && now_us - t->last_write_us < QUIET_US;
}

const char *slp_throttling_lacks(const slp_throttling *t) {
  return !t->writes ? "read units" : !t->reads ? "write units" : "read and write units";
}
