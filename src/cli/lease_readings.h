/* lease_readings.h - the last reading of a lease table that succeeded, kept for metrics. Between two readings
 * what it told grows old, as core/progress.c has it for a reader: a lag grows, and 0 stays 0 only until the
 * next reading is overdue. */
#ifndef SLP_CLI_LEASE_READINGS_H
#define SLP_CLI_LEASE_READINGS_H

#include "api/metrics_sample.h"
#include "sloop.h"

#define SLP_READINGS_WHY 400

typedef struct slp_lease_readings { /* of one application and stream */
  slp_mem *mem;                     /* borrowed, as app and stream */
  const char *app, *stream;
  uint32_t fresh_ms; /* a lag of 0 holds for so long */
  uint64_t begun_us;
  uint64_t read_us;    /* when the reading that is kept was answered; 0: there is none */
  uint64_t unknown_us; /* since when a shard's lag has not been known; 0: all are known */
  slp_sample kept;     /* one consumer: its shards, with the lags of read_us */
  int64_t behind_ms;   /* the most of any, at read_us; -1: not known of some, or there is no shard */
  uint8_t failed;      /* the last reading did */
  uint64_t readings, failures;
  char why[SLP_READINGS_WHY]; /* it failed */
} slp_lease_readings;

void slp_lease_readings_init(slp_lease_readings *r, slp_mem *mem, const char *app, const char *stream,
                             uint32_t fresh_ms, uint64_t now_us);
void slp_lease_readings_free(slp_lease_readings *r);
/* A reading was answered. now_us: monotonic. SLP_ENOMEM, SLP_ELIMIT: it counts as failed. */
int slp_lease_readings_take(slp_lease_readings *r, const sloop_leases_t *leases, uint64_t now_us,
                            int64_t wall_ms);
void slp_lease_readings_failed(slp_lease_readings *r, const char *why);
/* Adds it as it is now to a sample. */
int slp_lease_readings_sample(const slp_lease_readings *r, slp_sample *into, uint64_t now_us,
                              int with_shards);

#endif
