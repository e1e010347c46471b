/* lease_readings.h - the last successful reading of a lease table, kept for metrics. The time since the
 * reading is added to its lags, as core/progress.c does for shards that are read. A lag of 0 stays 0 until
 * the next reading is overdue. */
#ifndef SLP_CLI_LEASE_READINGS_H
#define SLP_CLI_LEASE_READINGS_H

#include "api/metrics_sample.h"
#include "base/mem.h"

#include <sloop_admin.h>

#define SLP_READINGS_WHY 400

typedef struct slp_lease_readings { /* readings of the leases of one application and stream */
  slp_mem *mem;                     /* borrowed, as are `app` and `stream` */
  const char *app, *stream;
  /* for how long after its reading a lag of 0 stays 0. After that, the time since the reading is added to it,
   * as to any other lag */
  uint32_t fresh_ms;
  uint64_t begun_us; /* when slp_lease_readings_init was called */
  uint64_t read_us;  /* when the answer of the kept reading came; 0: no reading is kept */
  /* since when the lag of at least one shard has not been known; 0: all lags are known */
  uint64_t unknown_us;
  /* the kept reading as a sample: the application and stream as one consumer, and its shards with their lags
   * at read_us */
  slp_sample kept;
  /* the largest lag of any shard at read_us; -1: the lag of some shard is not known, or there is no shard */
  int64_t behind_ms;
  uint8_t failed; /* 1: the last reading failed */
  uint64_t readings, failures;
  char why[SLP_READINGS_WHY]; /* why the last reading failed */
} slp_lease_readings;

/* Prepares r without a reading. `app` and `stream` must live as long as r. fresh_ms: for how long a lag of 0
 * stays 0. */
void slp_lease_readings_init(slp_lease_readings *r, slp_mem *mem, const char *app, const char *stream,
                             uint32_t fresh_ms, uint64_t now_us);
void slp_lease_readings_free(slp_lease_readings *r);
/* Keeps the answer of a reading. now_us: monotonic time; wall_ms: Unix time. Returns 0; after SLP_ENOMEM or
 * SLP_ELIMIT the reading counts as failed. */
int slp_lease_readings_take(slp_lease_readings *r, const sloop_leases_t *leases, uint64_t now_us,
                            int64_t wall_ms);
/* Counts a failed reading and keeps the reason `why`. */
void slp_lease_readings_failed(slp_lease_readings *r, const char *why);
/* Adds the kept reading to a sample. The time from the reading to now_us is added to the lags. Returns 0,
 * SLP_ENOMEM or SLP_ELIMIT. */
int slp_lease_readings_sample(const slp_lease_readings *r, slp_sample *into, uint64_t now_us,
                              int with_shards);

#endif
