/* metrics_data.c - chooses the values for CloudWatch, and their names. A value that Amazon's KCL publishes
 * too has the KCL's name. */
#include "api/metrics_data.h"

#include "api/metrics_sample.h"
#include "aws/cloudwatch.h"

#include <sloop.h>

typedef enum { ADDED, LEVEL } total_kind;
typedef struct total {
  const char *name, *unit;
  total_kind kind;
  uint8_t leased; /* 1: published only if the consumer has leases */
  unsigned decimals;
  size_t at;
} total;
#define AT(stat) offsetof(sloop_stats_t, stat)

static const total totals[] = {
    {"RecordsProcessed", "Count", ADDED, 0, 0, AT(records)},
    {"DataBytesProcessed", "Bytes", ADDED, 0, 0, AT(payload_bytes)},
    {"MillisBehindLatest", "Milliseconds", LEVEL, 0, 0, AT(behind_ms_now)},
    {"Throttles", "Count", ADDED, 0, 0, AT(throttles)},
    {"Losses", "Count", ADDED, 0, 0, AT(losses)},
    {"DeadLetters", "Count", ADDED, 0, 0, AT(dead_letters)},
    {"CurrentLeases", "Count", LEVEL, 1, 0, AT(shards_now)},
    {"LeasesTaken", "Count", ADDED, 1, 0, AT(leases_taken)},
    {"LostLeases", "Count", ADDED, 1, 0, AT(leases_lost)},
    {"Evictions", "Count", ADDED, 1, 0, AT(evictions)},
    {"Holes", "Count", LEVEL, 1, 0, AT(holes_now)},
    {"WorkersSuspended", "Count", LEVEL, 1, 0, AT(suspended_now)},
    {"StoreWriteUnits", "Count", ADDED, 1, 3, AT(store_write_units)},
    {"StoreReadUnits", "Count", ADDED, 1, 3, AT(store_read_units)},
    {"StoreThrottles", "Count", ADDED, 1, 0, AT(store_throttles)},
};

static const slp_metrics_set sets[] = {
    {"sloop", NULL, "MillisBehindLatest", 1},
    {"motorway", "Motorway/Kinesis", "MillisecondsBehind", 0},
};

const slp_metrics_set *slp_metrics_set_at(size_t i) { return i < SLP_COUNT(sets) ? &sets[i] : NULL; }

const slp_metrics_set *slp_metrics_set_of(const char *name_or_null) {
  if (!name_or_null) return &sets[0];
  for (size_t i = 0; i < SLP_COUNT(sets); i++)
    if (strcmp(sets[i].name, name_or_null) == 0) return &sets[i];
  return NULL;
}

_Static_assert(SLP_COUNT(totals) <= SLP_METRICS_TOTALS_MAX, "a consumer's totals fit into one call");

static uint64_t stat_of(const sloop_stats_t *stats, const total *t) {
  uint64_t value;
  memcpy(&value, (const char *)stats + t->at, sizeof value);
  return value;
}

static void add_dimension_if_set(slp_cw_datum *ret, const char *name, const char *value) {
  if (*value) ret->dimensions[ret->dimensions_n++] = (slp_cw_dimension){name, slp_str_of(value)};
}

/* Makes the datum (one value for CloudWatch) of a total. Returns 0 if this total is not published. */
static int one_total(const slp_metrics_data *d, const slp_sample_consumer *c, const total *t,
                     slp_cw_datum *ret) {
  const char *app = slp_sample_text(d->sample, c->app);
  uint64_t value = stat_of(&c->stats, t);
  if ((t->leased && !*app) || value == UINT64_MAX) return 0;
  uint64_t before = t->kind == ADDED ? stat_of(&d->since[c->member], t) : 0;
  *ret = (slp_cw_datum){.name = t->name,
                        .unit = t->unit,
                        .value = value > before ? value - before : 0,
                        .decimals = t->decimals};
  add_dimension_if_set(ret, "Stream", slp_sample_text(d->sample, c->stream));
  add_dimension_if_set(ret, "Application", app);
  return 1;
}

static int one_shard(const slp_metrics_data *d, const slp_sample_consumer *c, const slp_sample_shard *s,
                     slp_cw_datum *ret) {
  if (s->behind_ms < 0) return 0;
  *ret = (slp_cw_datum){.name = d->set->lag, .unit = "Milliseconds", .value = (uint64_t)s->behind_ms};
  add_dimension_if_set(ret, "Stream", slp_sample_text(d->sample, c->stream));
  if (d->set->own) add_dimension_if_set(ret, "Application", slp_sample_text(d->sample, c->app));
  add_dimension_if_set(ret, "Shard", slp_sample_text(d->sample, s->id));
  return 1;
}

static size_t totals_n(const slp_metrics_data *d) { return d->set->own ? SLP_COUNT(totals) : 0; }

/* Fills *ret with the datum (one value for CloudWatch) that the cursor d points to. Returns 0 if this datum
 * is not published. */
static int item_at(const slp_metrics_data *d, slp_cw_datum *ret) {
  const slp_sample_consumer *c = &d->sample->consumers[d->consumer];
  if (d->item < totals_n(d)) return one_total(d, c, &totals[d->item], ret);
  size_t shard = slp_sample_shards_begin(d->sample, d->consumer) + d->item - totals_n(d);
  return one_shard(d, c, &d->sample->shards[shard], ret);
}

/* Moves the cursor d to the first datum, at its place or after it, that is published, or to the end. */
static void skip_unpublished_data(slp_metrics_data *d) {
  slp_cw_datum told;
  const slp_sample *s = d->sample;
  while (d->consumer < s->consumers_n) {
    size_t shards_n = s->consumers[d->consumer].shards_end - slp_sample_shards_begin(s, d->consumer);
    if (d->item == totals_n(d) + shards_n) {
      d->consumer++;
      d->item = 0;
    } else if (item_at(d, &told)) {
      return;
    } else {
      d->item++;
    }
  }
}

void slp_metrics_data_begin(slp_metrics_data *d, const slp_sample *sample, const sloop_stats_t *since,
                            const slp_metrics_set *set) {
  *d = (slp_metrics_data){.sample = sample, .since = since, .set = set};
  skip_unpublished_data(d);
}

int slp_metrics_data_next(slp_metrics_data *d, slp_cw_datum *ret) {
  if (d->consumer == d->sample->consumers_n) return 0;
  (void)item_at(d, ret);
  d->item++;
  skip_unpublished_data(d);
  return 1;
}

int slp_metrics_data_at_totals(const slp_metrics_data *d) {
  return d->set->own && d->item == 0 && d->consumer < d->sample->consumers_n;
}
