/* idle_settings.c - a table of what each setting of -X needs to have an effect. */
#include "cli/idle_settings.h"

#include "base/buf.h"
#include "cli/args.h"
#include "cli/options.h"
#include "guest/layouts.h"

#include <sloop.h>

#define READS (SLP_MODE_TAIL | SLP_MODE_BENCH | SLP_MODE_DEMO | SLP_MODE_MULTILANG)
/* The modes that do work. The other modes, such as -h, only print a text, so in them no setting is reported
 * as having no effect. */
#define RUNS                                                                                                 \
  (READS | LEASES | SLP_MODE_LIST | SLP_MODE_APPS | SLP_MODE_SERVE | SLP_MODE_MIGRATE | SLP_MODE_CONSUMERS | \
   SLP_MODE_DEREGISTER | SLP_MODE_CHECK | SLP_MODE_PRODUCE)
#define LEASES                                                                               \
  (SLP_MODE_LEASES | SLP_MODE_EXPLAIN | SLP_MODE_RELEASE | SLP_MODE_RESET | SLP_MODE_WATCH | \
   SLP_MODE_DRAIN | SLP_MODE_UNDRAIN | SLP_MODE_PAUSE | SLP_MODE_RESUME)

static int is_mode(const slp_args *a, slp_mode modes) { return (a->mode & modes) != 0; }
static int is_pushed(const slp_args *a) { return a->opts.retrieval == SLOOP_RETRIEVAL_PUSH; }

static int is_of_table(const slp_args *a) {
  const char *stream = a->stream ? a->stream : "";
  return strncmp(stream, "dynamodb:", 9) == 0 || strstr(stream, ":dynamodb:") != NULL;
}

/* ---- needs: each function returns NULL if the need is met, or else what is missing ----------------- */

static const char *services(const slp_args *a) {
  return is_mode(a, SLP_MODE_SERVE | SLP_MODE_DEMO) ? "no service is asked, the sandbox is in this process"
                                                    : NULL;
}

static const char *reading(const slp_args *a) { return is_mode(a, READS) ? NULL : "no records are read"; }

static const char *order(const slp_args *a) {
  return is_mode(a, SLP_MODE_MULTILANG) ? "each child has a shard to itself" : reading(a);
}

static const char *polling(const slp_args *a) {
  const char *why = reading(a);
  return why ? why : is_pushed(a) ? "records are pushed" : NULL;
}

static const char *retrieving(const slp_args *a) { return is_mode(a, SLP_MODE_EXPLAIN) ? NULL : reading(a); }

static const char *pushing(const slp_args *a) {
  const char *why = retrieving(a);
  return why ? why : a->opts.retrieval == SLOOP_RETRIEVAL_POLL ? "records are polled; see --push" : NULL;
}

/* For `aggregates`: --migrate reads no records, but needs the setting to know whether a position can be
 * inside an aggregate. */
static const char *aggregates(const slp_args *a) {
  const char *why = is_mode(a, SLP_MODE_MIGRATE) ? NULL : reading(a);
  return why ? why : is_of_table(a) ? "changes of a table are not aggregated" : NULL;
}

static const char *progress(const slp_args *a) {
  const char *why = is_mode(a, SLP_MODE_TAIL | SLP_MODE_BENCH) ? NULL : "no progress is shown";
  return why ? why : a->verbose ? NULL : "it is for -v";
}

static const char *retries(const slp_args *a) {
  const char *why = reading(a);
  return why ? why : a->opts.on_retry == SLOOP_RETRY_REDELIVER ? "on_retry=again never stops" : NULL;
}

static const char *app(const slp_args *a) {
  return a->opts.app || is_mode(a, SLP_MODE_MIGRATE) ? NULL : "it is for leases: -G";
}

static const char *worker(const slp_args *a) {
  const char *why = app(a);
  return why                                              ? why
         : is_mode(a, SLP_MODE_TAIL | SLP_MODE_MULTILANG) ? NULL
                                                          : "it is for a worker, and none is started";
}

/* For `lease_ms`, which is not only for workers: --migrate, --explain, --release and the like use it to watch
 * whether an owner lives. */
static const char *watching(const slp_args *a) {
  const char *why = app(a);
  return why || is_mode(a, SLP_MODE_TAIL | SLP_MODE_MULTILANG | SLP_MODE_MIGRATE | LEASES) ? why : worker(a);
}

static const char *weight(const slp_args *a) {
  const char *why = worker(a);
  return why                                                    ? why
         : slp_layout_of(a->opts.schema) == slp_layout_of(NULL) ? NULL
                                                                : "workers of this schema have no weights";
}

static const char *store_url(const slp_args *a) {
  const char *why = app(a), *store = a->opts.store;
  int local = store && strncmp(store, "dynamodb", 8) != 0;
  return why ? why : local && !is_mode(a, SLP_MODE_MIGRATE) ? "the leases are not in DynamoDB" : NULL;
}

static const char *decoding(const slp_args *a) {
  return a->decode.n || a->decode_key.n ? NULL : "nothing is decoded: -s";
}

static const char *metrics(const slp_args *a) {
  return is_mode(a, SLP_MODE_TAIL | SLP_MODE_MULTILANG) ? NULL : "no metrics are published here";
}

static const char *metrics_served(const slp_args *a) { return a->exports ? NULL : metrics(a); }

static const char *matching(const slp_args *a) {
  const char *why = is_mode(a, SLP_MODE_TAIL) ? NULL : "the streams are listed once";
  return a->patterns_n ? why : "no STREAM is a pattern";
}

static const char *exporting(const slp_args *a) { return a->exports ? NULL : "it is for --leases --metrics"; }

static const char *ready(const slp_args *a) {
  const char *why = metrics(a);
  return why ? why : a->metrics.listen ? NULL : "/ready is not served: --metrics";
}

static const char *cloudwatch(const slp_args *a) {
  const char *why = metrics(a);
  return why ? why : slp_args_cloudwatch(a) ? NULL : "no metrics go to CloudWatch";
}

static const char *sandbox(const slp_args *a) {
  return is_mode(a, SLP_MODE_SERVE | SLP_MODE_DEMO) ? NULL : "it is for the sandbox: -M";
}

static const char *synthetic(const slp_args *a) {
  return !is_mode(a, SLP_MODE_SERVE) ? "it is for the sandbox: -M"
         : !a->synthetic.bytes       ? "sandbox.synthetic_bytes is 0"
                                     : NULL;
}

static const char *synthetic_bytes(const slp_args *a) {
  return is_mode(a, SLP_MODE_BENCH) && !a->stream ? NULL : is_mode(a, SLP_MODE_SERVE) ? NULL : sandbox(a);
}

/* One row for each setting of cli/knobs.c. */
static const struct {
  const char *name;
  const char *(*needs)(const slp_args *a);
  /* the key in the file of --multilang that overrides the setting; NULL: no key does */
  const char *key;
} rows[] = {
    {"region", services, NULL},
    {"profile", services, NULL},
    {"endpoint", services, NULL},
    {"ca_bundle", services, NULL},
    {"user_agent", services, "processingLanguage"},
    {"log_level", services, NULL},
    {"order_wait_ms", order, NULL},
    {"poll_ms", polling, "idleTimeBetweenReadsInMillis"},
    {"fetch_records_max", polling, "maxRecords"},
    {"retrieval", retrieving, "retrievalMode"},
    {"push_consumer", pushing, NULL},
    {"buffered_bytes_max", reading, NULL},
    {"batches_out_max", reading, NULL},
    {"batch_records_max", reading, "maxRecords"},
    {"batch_bytes_max", reading, NULL},
    {"buffered_records_per_shard_max", reading, NULL},
    {"in_flight_max", reading, NULL},
    {"on_trimmed", reading, NULL},
    {"aggregates", aggregates, NULL},
    {"list_ms", reading, "shardSyncIntervalMillis"},
    {"stats_ms", progress, NULL},
    {"on_retry", reading, NULL},
    {"retry_max", retries, NULL},
    {"app", app, "applicationName"},
    {"store", app, NULL},
    {"store_endpoint", store_url, NULL},
    {"schema", app, "applicationName"},
    {"kcl_coordinator", app, "coordinatorStateTableName"},
    {"kcl_metrics", app, "workerMetricsTableName"},
    {"worker", worker, NULL},
    {"weight", weight, NULL},
    {"lease_ms", watching, "failoverTimeMillis"},
    {"checkpoint_ms", worker, NULL},
    {"handover_ms", worker, "gracefulLeaseHandoffTimeoutMillis"},
    {"stall_ms", worker, NULL},
    {"leases_ms", exporting, NULL},
    {"streams_ms", matching, NULL},
    {"decoded_bytes_max", decoding, NULL},
    {"metrics", metrics_served, NULL},
    {"unready_ms", ready, NULL},
    {"cloudwatch", metrics, "metricsLevel"},
    {"cloudwatch_set", metrics, NULL},
    {"cloudwatch_as_motorway", metrics, NULL},
    {"cloudwatch_ms", cloudwatch, "metricsBufferTimeMillis"},
    {"sandbox.synthetic_bytes", synthetic_bytes, NULL},
    {"sandbox.synthetic_records", synthetic, NULL},
    {"sandbox.synthetic_rate", synthetic, NULL},
    {"sandbox.synthetic_seed", synthetic, NULL},
    {"sandbox.port", sandbox, NULL},
    {"sandbox.address", sandbox, NULL},
    {"sandbox.iterator_ms", sandbox, NULL},
    {"sandbox.next_token_ms", sandbox, NULL},
    {"sandbox.change_ms", sandbox, NULL},
    {"sandbox.reads_per_second", sandbox, NULL},
    {"sandbox.read_bytes_per_second", sandbox, NULL},
    {"sandbox.write_bytes_per_second", sandbox, NULL},
    {"sandbox.write_records_per_second", sandbox, NULL},
    {"sandbox.list_page_max", sandbox, NULL},
    {"sandbox.access_key", sandbox, NULL},
    {"sandbox.secret_key", sandbox, NULL},
    {"sandbox.session_token", sandbox, NULL},
    {"sandbox.clock_offset_ms", sandbox, NULL},
    {"sandbox.cbor_indefinite", sandbox, NULL},
    {"sandbox.table_partitions", sandbox, NULL},
    {"sandbox.roll_ms", sandbox, NULL},
    {"sandbox.change_iterator_ms", sandbox, NULL},
    {"sandbox.change_readers_max", sandbox, NULL},
    {"sandbox.change_reads_per_second", sandbox, NULL},
    {"sandbox.describes_per_second", sandbox, NULL},
    {"sandbox.lists_per_second", sandbox, NULL},
};

static size_t row_of(slp_str name) {
  size_t i = 0;
  while (i < SLP_COUNT(rows) && !slp_str_is(name, rows[i].name)) i++;
  return i;
}

int slp_idle_setting_known(slp_str name) { return row_of(name) < SLP_COUNT(rows); }

const char *slp_idle_setting(const slp_args *a, slp_str name) {
  size_t i = row_of(name);
  if (i == SLP_COUNT(rows) || !is_mode(a, RUNS)) return NULL;
  if (a->multilang && rows[i].key && is_mode(a, SLP_MODE_MULTILANG | SLP_MODE_CHECK))
    return "the file of --multilang sets it";
  return is_mode(a, SLP_MODE_CHECK) ? NULL : rows[i].needs(a);
}

int slp_idle_settings_list(slp_buf *b, const slp_args *a) {
  for (size_t i = 0; i < a->given_n; i++) {
    const slp_given *g = &a->given[i];
    if (g->option->id != O_KNOB || g->from_file) continue;
    slp_str name = {g->value, strcspn(g->value, "=")};
    const char *why = slp_idle_setting(a, name);
    size_t row = row_of(name);
    int by_file = why && a->multilang && rows[row].key && is_mode(a, SLP_MODE_MULTILANG | SLP_MODE_CHECK);
    if (why)
      slp_buf_addf(b, "-X %.*s has no effect here: %s%s%s\n", (int)name.n, name.p, why,
                   by_file ? ", by its key " : "", by_file ? rows[row].key : "");
  }
  return slp_buf_failed(b);
}
