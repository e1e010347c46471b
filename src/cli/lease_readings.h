/* lease_readings.h - the last successful reading of a lease table, kept for metrics. Its lags grow with the
 * time since that reading, as core/progress.c does it for a reader. A lag of 0 stays 0 until the next reading
 * is overdue. */
#ifndef SLP_CLI_LEASE_READINGS_H
#define SLP_CLI_LEASE_READINGS_H

#include "api/metrics_sample.h"
#include "sloop.h"

#define SLP_READINGS_WHY 400

typedef struct slp_lease_readings { /* readings of one application and stream */
  slp_mem *mem;                     /* borrowed, as app and stream */
  const char *app, *stream;
  uint32_t fresh_ms;   /* for how long a lag of 0 stays 0 */
  uint64_t begun_us;   /* when slp_lease_readings_init was called */
  uint64_t read_us;    /* when the kept reading was answered; 0: none is kept */
  uint64_t unknown_us; /* since when the lag of some shard has not been known; 0: all are known */
  slp_sample kept;     /* the kept reading: one consumer and its shards, with their lags at read_us */
  /* the most of any shard at read_us; -1: of some shard it is not known, or there is no shard */
  int64_t behind_ms;
  uint8_t failed; /* 1: the last reading failed */
  uint64_t readings, failures;
  char why[SLP_READINGS_WHY]; /* why it failed */
} slp_lease_readings;

/* `app` and `stream` must live as long as r. fresh_ms: for how long a lag of 0 stays 0. */
void slp_lease_readings_init(slp_lease_readings *r, slp_mem *mem, const char *app, const char *stream,
                             uint32_t fresh_ms, uint64_t now_us);
void slp_lease_readings_free(slp_lease_readings *r);
/* Takes the answer of a reading. now_us: monotonic; wall_ms: Unix time. Returns 0, or SLP_ENOMEM or
 * SLP_ELIMIT; then it counts as failed. */
int slp_lease_readings_take(slp_lease_readings *r, const sloop_leases_t *leases, uint64_t now_us,
                            int64_t wall_ms);
/* Counts a reading that failed. */
void slp_lease_readings_failed(slp_lease_readings *r, const char *why);
/* Adds the kept reading to a sample, as old as it is at now_us. Returns 0, or SLP_ENOMEM or SLP_ELIMIT. */
int slp_lease_readings_sample(const slp_lease_readings *r, slp_sample *into, uint64_t now_us,
                              int with_shards);

#endif
