/* metrics_sample.h - a copy of the statistics of a program's consumers, taken at one moment. The copy can be
 * written in slices while the consumers continue to run. */
#ifndef SLP_API_METRICS_SAMPLE_H
#define SLP_API_METRICS_SAMPLE_H

#include "aws/classify.h"
#include "base/buf.h"
#include "base/mem.h"

#include <sloop.h>

typedef enum slp_reading {
  SLP_READING_NOT_STARTED,
  SLP_READING_FINDING, /* the consumer looks for the stream and its shards */
  SLP_READING_RUNNING,
  SLP_READING_STOPPING,
  SLP_READING_STOPPED,
  SLP_READING_FAILED
} slp_reading;

#define SLP_SAMPLE_WORDS 12
typedef struct slp_sample_count { /* how many leases, workers or lags are of one kind */
  const char *word;               /* the name of the kind, which becomes the value of a label; static */
  uint64_t n;
} slp_sample_count;

/* what is known of a consumer only from its lease table, by a program that does not read the stream */
typedef struct slp_sample_table {
  uint8_t there;   /* 1: the consumer is known only from its lease table, so this struct is used */
  uint64_t up;     /* 1: the last try to read the table succeeded */
  uint64_t age_ms; /* the time since the last read that succeeded; UINT64_MAX: none has */
  uint64_t readings, failures;
  slp_sample_count leases[SLP_SAMPLE_WORDS], workers[SLP_SAMPLE_WORDS], lags[SLP_SAMPLE_WORDS];
  size_t leases_n, workers_n, lags_n; /* how many elements of the arrays above are used */
} slp_sample_table;

typedef struct slp_sample_consumer {
  /* offsets for slp_sample_text(), which returns the texts; "" if there is no such text */
  size_t app, stream, worker;
  size_t member; /* the caller's own number for this consumer, the same in every sample */
  uint32_t twin; /* 0 for the first consumer with this stream and application; 2, 3, ... for further ones */
  slp_reading reading;
  sloop_stats_t stats;
  size_t stuck; /* offset for slp_sample_text(): which shards make no progress, and why; "": none */
  /* how many calls failed, by kind of failure; indexed by slp_failure_number() */
  uint64_t failed_as[SLP_FAILURES];
  slp_sample_table table;
  /* one more than the index of this consumer's last shard in slp_sample.shards; see
   * slp_sample_shards_begin() */
  size_t shards_end;
} slp_sample_consumer;

typedef struct slp_sample_shard {
  size_t id; /* offset of the shard's id, for slp_sample_text() */
  uint64_t epoch, unacked;
  int64_t behind_ms; /* -1: not known */
  uint8_t paused, at_tip;
  uint8_t of_table; /* 1: the shard is known only from a lease table, so only its lag and its epoch are set */
  sloop_shard_state_t state;
  int64_t state_ms, acked_age_ms; /* -1: not known */
} slp_sample_shard;

typedef struct slp_sample {
  slp_mem *mem; /* borrowed */
  slp_sample_consumer *consumers;
  size_t consumers_n, consumers_cap;
  slp_sample_shard *shards;
  size_t shards_n, shards_cap;
  slp_buf texts;
  uint8_t of_tables; /* 1: all consumers are known only from their lease tables */
} slp_sample;

void slp_sample_init(slp_sample *s, slp_mem *mem);
void slp_sample_free(slp_sample *s); /* empties the sample, which may then be used again */
/* Adds a consumer to the sample. `app` and `worker`: "" or NULL: there is none. Returns 0, SLP_ENOMEM or
 * SLP_ELIMIT. */
int slp_sample_add(slp_sample *s, const char *app, const char *stream, const char *worker,
                   slp_reading reading, const sloop_stats_t *stats);
/* The next two functions add a shard to the consumer that was added last, or set its text `stuck`. They
 * return 0, SLP_ENOMEM or SLP_ELIMIT. */
int slp_sample_add_shard(slp_sample *s, const sloop_shard_stats_t *shard);
int slp_sample_set_stuck(slp_sample *s, const char *why);
/* Adds a consumer that is known only from its lease table. A time of -1: not known. stuck: why the consumer
 * is not ready, or "". */
int slp_sample_add_table(slp_sample *s, const char *app, const char *stream, int64_t behind_ms,
                         int64_t unknown_ms, const char *stuck, const slp_sample_table *table);
/* Adds a shard to the consumer that slp_sample_add_table added last. */
int slp_sample_add_lease(slp_sample *s, const char *shard, uint64_t epoch, int64_t behind_ms);
/* Sets failed_as of the consumer that was added last. */
void slp_sample_set_failures(slp_sample *s, const uint64_t failed_as[SLP_FAILURES]);

static inline const char *slp_sample_text(const slp_sample *s, size_t at) { return s->texts.p + at; }
static inline size_t slp_sample_shards_begin(const slp_sample *s, size_t consumer) {
  return consumer ? s->consumers[consumer - 1].shards_end : 0;
}

#endif
