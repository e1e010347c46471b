/* metrics_sample.h - a copy of the statistics of a program's consumers at one moment, so that it can be
 * written out in slices while they continue. */
#ifndef SLP_API_METRICS_SAMPLE_H
#define SLP_API_METRICS_SAMPLE_H

#include "aws/classify.h"
#include "base/buf.h"
#include <sloop.h>

typedef enum slp_reading {
  SLP_READING_NOT_STARTED,
  SLP_READING_FINDING, /* looking for the stream and its shards */
  SLP_READING_RUNNING,
  SLP_READING_STOPPING,
  SLP_READING_STOPPED,
  SLP_READING_FAILED
} slp_reading;

#define SLP_SAMPLE_WORDS 12
typedef struct slp_sample_count { /* how many there are of a kind */
  const char *word;               /* static; a label's value */
  uint64_t n;
} slp_sample_count;

typedef struct
    slp_sample_table { /* what a lease table says, read from outside: nothing is read of the stream */
  uint8_t there;       /* 1: the sample's consumer is one of these */
  uint64_t up;         /* 1: the last reading of it succeeded */
  uint64_t age_ms;     /* of the reading that is shown; UINT64_MAX: none succeeded */
  uint64_t readings, failures;
  slp_sample_count leases[SLP_SAMPLE_WORDS], workers[SLP_SAMPLE_WORDS], lags[SLP_SAMPLE_WORDS];
  size_t leases_n, workers_n, lags_n; /* words */
} slp_sample_table;

typedef struct slp_sample_consumer {
  size_t app, stream, worker; /* for slp_sample_text(); "" when there is none */
  size_t member;              /* the sampler's own number for it, the same in every sample */
  uint32_t twin;              /* from 2 on: number among those of the same stream and application; else 0 */
  slp_reading reading;
  sloop_stats_t stats;
  size_t stuck; /* for slp_sample_text(): a shard that makes no progress, and why; "": there is none */
  uint64_t failed_as[SLP_FAILURES]; /* calls, by slp_failure_number() */
  slp_sample_table table;
  size_t shards_end; /* its shards end before this one, and begin where those of the consumer before end */
} slp_sample_consumer;

typedef struct slp_sample_shard {
  size_t id; /* for slp_sample_text() */
  uint64_t epoch, unacked;
  int64_t behind_ms; /* -1: not known */
  uint8_t paused, at_tip;
  uint8_t of_table; /* only its lag and epoch are known */
  sloop_shard_state_t state;
  int64_t state_ms, acked_age_ms; /* -1: not told */
} slp_sample_shard;

typedef struct slp_sample {
  slp_mem *mem; /* borrowed */
  slp_sample_consumer *consumers;
  size_t consumers_n, consumers_cap;
  slp_sample_shard *shards;
  size_t shards_n, shards_cap;
  slp_buf texts;
  uint8_t of_tables; /* all consumers are known by their lease tables alone */
} slp_sample;

void slp_sample_init(slp_sample *s, slp_mem *mem);
void slp_sample_free(slp_sample *s); /* back to empty */
/* 0, SLP_ENOMEM, SLP_ELIMIT. app and worker: "" or NULL for none. */
int slp_sample_add(slp_sample *s, const char *app, const char *stream, const char *worker,
                   slp_reading reading, const sloop_stats_t *stats);
/* The same of the last consumer added. */
int slp_sample_add_shard(slp_sample *s, const sloop_shard_stats_t *shard);
int slp_sample_set_stuck(slp_sample *s, const char *why);
/* One that is known by its lease table alone. ms: -1: not known. stuck: why it is not ready; or "". */
int slp_sample_add_table(slp_sample *s, const char *app, const char *stream, int64_t behind_ms,
                         int64_t unknown_ms, const char *stuck, const slp_sample_table *table);
/* A shard of it. */
int slp_sample_add_lease(slp_sample *s, const char *shard, uint64_t epoch, int64_t behind_ms);
void slp_sample_set_failures(slp_sample *s, const uint64_t failed_as[SLP_FAILURES]);

static inline const char *slp_sample_text(const slp_sample *s, size_t at) { return s->texts.p + at; }
static inline size_t slp_sample_shards_begin(const slp_sample *s, size_t consumer) {
  return consumer ? s->consumers[consumer - 1].shards_end : 0;
}

#endif
