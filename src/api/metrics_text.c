/* metrics_text.c - writes metrics in Prometheus' text format. A family is all that belongs to one metric
 * name: a HELP line, a TYPE line, then a line for each consumer, or for each shard of each consumer. Names
 * follow prometheus.io/docs/practices/naming: base units, the unit at the end, _total after counters. */
#include "api/metrics_text.h"

#include "api/metrics_ready.h"
#include "api/metrics_sample.h"
#include "aws/classify.h"
#include "base/buf.h"
#include "codec/json.h"

#include <sloop.h>
#include <stdio.h>

/* ---- families ------------------------------------------------------------------------------------------ */
typedef struct stat_row {
  const char *name, *unit, *meaning;
  size_t at;
} stat_row;
static const stat_row stats[] = {
#define X(name, unit, meaning) {#name, unit, meaning, offsetof(sloop_stats_t, name)},
    SLOOP_STATS(X)
#undef X
};

typedef enum {
  PER_CONSUMER_READY,
  PER_CONSUMER_INFO,
  PER_CONSUMER_ERRORS,
  PER_TABLE,
  PER_TABLE_LEASES, /* one line for each slp_sample_count in `leases`; its `word` becomes a label */
  PER_TABLE_WORKERS,
  PER_TABLE_LAGS,
  PER_PROGRAM,
  PER_SHARD,
  PER_SHARD_STATE
} other_kind;
typedef struct other_row {
  const char *name, *type, *help;
  other_kind kind;
  unsigned decimals;
  /* Returns 1 and the value; 0: a PER_SHARD value is not known, or a PER_PROGRAM value is not used. */
  int (*value)(const slp_metrics_text *t, const slp_sample_shard *s, uint64_t *ret);
  size_t at; /* for PER_TABLE: the offset of the value in slp_sample_table */
} other_row;

static int get_shard_behind(const slp_metrics_text *t, const slp_sample_shard *s, uint64_t *ret) {
  (void)t;
  *ret = (uint64_t)s->behind_ms;
  return s->behind_ms >= 0;
}
static int get_shard_unacked(const slp_metrics_text *t, const slp_sample_shard *s, uint64_t *ret) {
  (void)t;
  *ret = s->unacked;
  return !s->of_table;
}
static int get_shard_epoch(const slp_metrics_text *t, const slp_sample_shard *s, uint64_t *ret) {
  (void)t;
  *ret = s->epoch;
  return s->epoch > 0;
}
static int get_shard_paused(const slp_metrics_text *t, const slp_sample_shard *s, uint64_t *ret) {
  (void)t;
  *ret = s->paused;
  return !s->of_table;
}
static int at_tip(const slp_metrics_text *t, const slp_sample_shard *s, uint64_t *ret) {
  (void)t;
  *ret = s->at_tip;
  return !s->of_table;
}
static int ack_age(const slp_metrics_text *t, const slp_sample_shard *s, uint64_t *ret) {
  (void)t;
  *ret = (uint64_t)s->acked_age_ms;
  return s->acked_age_ms >= 0;
}
static int state_age(const slp_metrics_text *t, const slp_sample_shard *s, uint64_t *ret) {
  (void)t;
  *ret = (uint64_t)slp_max_i64(s->state_ms, 0);
  return s->state != 0;
}
static int put_data(const slp_metrics_text *t, const slp_sample_shard *s, uint64_t *ret) {
  (void)s;
  *ret = t->own.cloudwatch_data;
  return t->own.cloudwatch;
}
static int put_failures(const slp_metrics_text *t, const slp_sample_shard *s, uint64_t *ret) {
  (void)s;
  *ret = t->own.cloudwatch_failures;
  return t->own.cloudwatch;
}

static const other_row others[] = {
    {"sloop_ready", "gauge", "1: it works; 0: /ready says why not", PER_CONSUMER_READY, 0, NULL},
    {"sloop_build_info", "gauge", "always 1; the label says what runs", PER_CONSUMER_INFO, 0, NULL},
    {"sloop_shard_behind_seconds", "gauge", "how far reading is behind the tip of the shard", PER_SHARD, 3,
     get_shard_behind},
    {"sloop_shard_unacked_records", "gauge", "fetched and not acknowledged", PER_SHARD, 0, get_shard_unacked},
    {"sloop_shard_epoch", "gauge", "counts the owners of the shard's lease", PER_SHARD, 0, get_shard_epoch},
    {"sloop_shard_paused", "gauge", "1: paused by sloop_pause()", PER_SHARD, 0, get_shard_paused},
    {"sloop_shard_at_tip", "gauge", "1: read to its tip", PER_SHARD, 0, at_tip},
    {"sloop_shard_acked_age_seconds", "gauge", "since records of the shard were last acknowledged", PER_SHARD,
     3, ack_age},
    {"sloop_shard_state_seconds", "gauge", "for how long it has been in the state of the label",
     PER_SHARD_STATE, 3, state_age},
    {"sloop_leases", "gauge", "leases of the table, by their state", PER_TABLE_LEASES, 0, NULL},
    {"sloop_workers", "gauge", "workers of the table, by their state", PER_TABLE_WORKERS, 0, NULL},
    {"sloop_lags", "gauge", "shards, by how their lag is known, or why it is not", PER_TABLE_LAGS, 0, NULL},
    {"sloop_leases_up", "gauge", "1: the last reading of the lease table succeeded", PER_TABLE, 0, NULL,
     offsetof(slp_sample_table, up)},
    {"sloop_leases_age_seconds", "gauge", "age of the reading of the lease table that is shown", PER_TABLE, 3,
     NULL, offsetof(slp_sample_table, age_ms)},
    {"sloop_leases_readings_total", "counter", "readings of the lease table", PER_TABLE, 0, NULL,
     offsetof(slp_sample_table, readings)},
    {"sloop_leases_failures_total", "counter", "readings of the lease table that failed", PER_TABLE, 0, NULL,
     offsetof(slp_sample_table, failures)},
    {"sloop_call_errors_total", "counter", "calls that failed, by the name of the error", PER_CONSUMER_ERRORS,
     0, NULL},
    {"sloop_cloudwatch_data_total", "counter", "values that CloudWatch accepted", PER_PROGRAM, 0, put_data},
    {"sloop_cloudwatch_failures_total", "counter", "calls to CloudWatch that failed", PER_PROGRAM, 0,
     put_failures},
};
/* The families of SLOOP_STATS are always written. Each other family is left out if it would have no line. */
#define FAMILIES (SLP_COUNT(stats) + SLP_COUNT(others))

/* ---- names of stats ------------------------------------------------------------------------------------ */
static int ends_with(const char *z, const char *end) {
  size_t n = strlen(z), k = strlen(end);
  return n >= k && strcmp(z + n - k, end) == 0;
}

/* Returns 1 if the statistic is a gauge, 0 if it is a counter, which only grows. By the rule of sloop.h,
 * names that end in _now are gauges. Maxima and percentiles are gauges too. */
static int is_level(const char *stat) {
  return ends_with(stat, "_now") || ends_with(stat, "_peak") || ends_with(stat, "_max") ||
         ends_with(stat, "_p999");
}

static unsigned decimals_of(const char *unit) {
  if (strcmp(unit, "ms") == 0) return 3;
  if (strcmp(unit, "us") == 0) return 6;
  return strncmp(unit, "1/1000 ", 7) == 0 ? 3 : 0;
}

static const char *base_unit(const char *unit) {
  /* returns the base unit; "": the unit is no part of the name */
  if (strcmp(unit, "ms") == 0 || strcmp(unit, "us") == 0) return "seconds";
  return strcmp(unit, "bytes") == 0 ? "bytes" : "";
}

/* Returns 1 if `stat` is "NAME_now" and there is a counter "NAME". Some readers take NAME and NAME_total for
 * the same family, so "NAME_now" must then keep its "_now": "batches_now" must not become "batches". */
static int has_counter(const char *stat) {
  size_t n = strlen(stat) - strlen("_now");
  for (size_t i = 0; i < SLP_COUNT(stats); i++)
    if (strlen(stats[i].name) == n && strncmp(stats[i].name, stat, n) == 0) return 1;
  return 0;
}

void slp_metrics_text_name(const char *stat, const char *unit, char out[80]) {
  const char *base = base_unit(unit);
  size_t n = (size_t)snprintf(out, 80, "sloop");
  int now_told = !ends_with(stat, "_now") || !has_counter(stat);
  /* Leaves out the unit, which is appended at the end, and "now", which the TYPE line expresses. */
  for (const char *word = stat; *word;) {
    int len = (int)strcspn(word, "_");
    slp_str w = {word, (size_t)len};
    int told = (now_told && slp_str_is(w, "now")) || (*base && (slp_str_is(w, base) || slp_str_is(w, unit)));
    if (!told) n += (size_t)snprintf(out + n, 80 - n, "_%.*s", len, word);
    word += len + (word[len] == '_');
  }
  if (*base) n += (size_t)snprintf(out + n, 80 - n, "_%s", base);
  if (!is_level(stat)) snprintf(out + n, 80 - n, "_total");
}

static void add_head(slp_buf *b, const char *name, const char *type, slp_str help, const char *unit) {
  slp_buf_addf(b, "# HELP %s ", name);
  slp_buf_add_str(b, help);
  if (*unit) slp_buf_addf(b, " (%s)", unit);
  slp_buf_addf(b, "\n# TYPE %s %s\n", name, type);
}

/* ---- lines --------------------------------------------------------------------------------------------- */
static void add_label(slp_buf *b, const char *name, const char *value, char before) {
  slp_str v = slp_str_of(value);
  int text = slp_utf8_valid(v);
  slp_buf_add_char(b, before);
  slp_buf_add_z(b, name);
  slp_buf_add_z(b, "=\"");
  for (size_t i = 0; i < v.n; i++) {
    char c = v.p[i];
    if (c == '\\' || c == '"' || c == '\n') slp_buf_add_char(b, '\\');
    if (c == '\n') c = 'n';
    slp_buf_add_char(b, !text && (c & 0x80) ? '?' : c);
  }
  slp_buf_add_char(b, '"');
}

/* Writes name{stream="...",app="...",worker="..." without the closing brace. */
static void add_labels(const slp_metrics_text *t, const char *name, const slp_sample_consumer *c) {
  const slp_sample *s = t->sample;
  slp_buf *b = t->out;
  char number[16];
  snprintf(number, sizeof number, "%u", (unsigned)c->twin);
  slp_buf_add_z(b, name);
  add_label(b, "stream", slp_sample_text(s, c->stream), '{');
  if (slp_sample_text(s, c->app)[0]) add_label(b, "app", slp_sample_text(s, c->app), ',');
  if (slp_sample_text(s, c->worker)[0]) add_label(b, "worker", slp_sample_text(s, c->worker), ',');
  if (c->twin) add_label(b, "consumer", number, ',');
}

/* Writes what add_labels writes, one more label, and the closing brace. */
static void add_name(const slp_metrics_text *t, const char *name, const slp_sample_consumer *c,
                     const char *label, const char *value) {
  add_labels(t, name, c);
  if (label) add_label(t->out, label, value, ',');
  slp_buf_add_z(t->out, "} ");
}

static void add_value(slp_buf *b, uint64_t value, unsigned decimals) {
  slp_buf_add_scaled(b, value, decimals);
  slp_buf_add_char(b, '\n');
}

/* Writes the line of a statistic; nothing if its value is not known. */
static void add_stat(const slp_metrics_text *t, const stat_row *row, const slp_sample_consumer *c) {
  char name[80];
  uint64_t value;
  memcpy(&value, (const char *)&c->stats + row->at, sizeof value);
  if (value == UINT64_MAX) return;
  slp_metrics_text_name(row->name, row->unit, name);
  add_name(t, name, c, NULL, NULL);
  add_value(t->out, value, decimals_of(row->unit));
}

/* Writes one line for each kind of error that has happened. */
static void add_errors(const slp_metrics_text *t, const other_row *row, const slp_sample_consumer *c) {
  const char *error;
  for (size_t i = 0; i < SLP_FAILURES && (error = slp_failure_name(i)) != NULL; i++) {
    if (!c->failed_as[i]) continue;
    add_name(t, row->name, c, "error", error);
    add_value(t->out, c->failed_as[i], 0);
  }
}

/* Writes one line for each slp_sample_count of the table. */
static void add_counts(const slp_metrics_text *t, const other_row *row, const slp_sample_consumer *c) {
  const slp_sample_table *table = &c->table;
  const slp_sample_count *counts = row->kind == PER_TABLE_LEASES    ? table->leases
                                   : row->kind == PER_TABLE_WORKERS ? table->workers
                                                                    : table->lags;
  size_t n = row->kind == PER_TABLE_LEASES    ? table->leases_n
             : row->kind == PER_TABLE_WORKERS ? table->workers_n
                                              : table->lags_n;
  for (size_t i = 0; i < n; i++) {
    add_name(t, row->name, c, row->kind == PER_TABLE_LAGS ? "lag" : "state", counts[i].word);
    add_value(t->out, counts[i].n, 0);
  }
}

static int is_per_table(const other_row *row) {
  return row->kind == PER_TABLE || row->kind == PER_TABLE_LEASES || row->kind == PER_TABLE_WORKERS ||
         row->kind == PER_TABLE_LAGS;
}

static int is_per_shard(const other_row *row) {
  return row->kind == PER_SHARD || row->kind == PER_SHARD_STATE;
}

static void add_other(const slp_metrics_text *t, const other_row *row, const slp_sample_consumer *c,
                      const slp_sample_shard *shard) {
  uint64_t value = 1;
  switch (row->kind) {
    case PER_CONSUMER_READY:
      value = (uint64_t)slp_ready_is(t->sample, c);
      add_name(t, row->name, c, NULL, NULL);
      break;
    case PER_CONSUMER_INFO: add_name(t, row->name, c, "version", sloop_version()); break;
    case PER_CONSUMER_ERRORS: add_errors(t, row, c); return;
    case PER_TABLE:
      memcpy(&value, (const char *)&c->table + row->at, sizeof value);
      if (value == UINT64_MAX) return;
      add_name(t, row->name, c, NULL, NULL);
      break;
    case PER_TABLE_LEASES:
    case PER_TABLE_WORKERS:
    case PER_TABLE_LAGS: add_counts(t, row, c); return;
    case PER_PROGRAM:
      if (!row->value(t, NULL, &value)) return;
      slp_buf_addf(t->out, "%s ", row->name);
      break;
    case PER_SHARD:
    case PER_SHARD_STATE:
    default:
      if (!row->value(t, shard, &value)) return;
      add_labels(t, row->name, c);
      add_label(t->out, "shard", slp_sample_text(t->sample, shard->id), ',');
      if (row->kind == PER_SHARD_STATE) add_label(t->out, "state", sloop_shard_state_name(shard->state), ',');
      slp_buf_add_z(t->out, "} ");
      break;
  }
  add_value(t->out, value, row->decimals);
}

/* ---- the whole text ------------------------------------------------------------------------------------ */
void slp_metrics_text_begin(slp_metrics_text *t, const slp_sample *sample, const slp_metrics_own *own,
                            slp_buf *out) {
  *t = (slp_metrics_text){.sample = sample, .own = *own, .out = out};
}

static void add_stat_head(slp_buf *b, const stat_row *row) {
  char name[80];
  const char *base = base_unit(row->unit), *unknown = strstr(row->meaning, "; UINT64_MAX");
  slp_str help = {row->meaning, unknown ? (size_t)(unknown - row->meaning) : strlen(row->meaning)};
  const char *unit = strncmp(row->unit, "1/1000 ", 7) == 0 ? "units" : row->unit;
  slp_metrics_text_name(row->name, row->unit, name);
  add_head(b, name, is_level(row->name) ? "gauge" : "counter", help, *base ? base : unit);
}

/* Moves t to the next line: of the next consumer or shard, or the first line of the next family. */
static void move_to_next_line(slp_metrics_text *t, other_kind kind) {
  const slp_sample *s = t->sample;
  int shards = kind == PER_SHARD || kind == PER_SHARD_STATE;
  if (shards && t->shard + 1 < s->shards_n) {
    t->shard++;
  } else if (!shards && kind != PER_PROGRAM && t->consumer + 1 < s->consumers_n) {
    t->consumer++;
  } else {
    t->family++;
    t->consumer = t->shard = 0;
  }
}

static void write_stat(slp_metrics_text *t, const stat_row *row) {
  if (t->consumer == 0) add_stat_head(t->out, row);
  if (t->sample->consumers_n) add_stat(t, row, &t->sample->consumers[t->consumer]);
  move_to_next_line(t, PER_CONSUMER_INFO);
}

static int any_errors(const slp_sample *s) {
  for (size_t i = 0; i < s->consumers_n; i++)
    for (size_t k = 0; k < SLP_FAILURES; k++)
      if (s->consumers[i].failed_as[k]) return 1;
  return 0;
}

static void write_other(slp_metrics_text *t, const other_row *row) {
  const slp_sample *s = t->sample;
  uint64_t value;
  int first = t->consumer == 0 && t->shard == 0;
  int any = is_per_shard(row)                  ? s->shards_n > 0
            : row->kind == PER_CONSUMER_ERRORS ? any_errors(s)
            : row->kind == PER_PROGRAM         ? row->value(t, NULL, &value)
                                               : s->consumers_n > 0;
  if (first && any) add_head(t->out, row->name, row->type, slp_str_of(row->help), "");
  if (is_per_shard(row) && any) /* leaves out consumers without shards */
    while (t->shard >= s->consumers[t->consumer].shards_end) t->consumer++;
  if (any)
    add_other(t, row, row->kind == PER_PROGRAM ? NULL : &s->consumers[t->consumer],
              is_per_shard(row) ? &s->shards[t->shard] : NULL);
  move_to_next_line(t, row->kind);
}

/* Returns 1 if the family is on this page. If all consumers are known only from their lease tables, few
 * families have a meaning, and some exist only then. */
static int is_on_page(const slp_metrics_text *t) {
  int of_tables = t->sample->of_tables;
  if (t->family < SLP_COUNT(stats)) {
    size_t at = stats[t->family].at;
    return !of_tables || at == offsetof(sloop_stats_t, behind_ms_now) ||
           at == offsetof(sloop_stats_t, behind_unknown_ms_now);
  }
  const other_row *row = &others[t->family - SLP_COUNT(stats)];
  if (!of_tables) return !is_per_table(row);
  return is_per_table(row) || row->kind == PER_CONSUMER_INFO || row->value == get_shard_behind ||
         row->value == get_shard_epoch;
}

int slp_metrics_text_write(slp_metrics_text *t, size_t lines_max) {
  for (; t->family < FAMILIES; lines_max--) {
    if (lines_max == 0) return SLP_MORE;
    if (!is_on_page(t)) {
      t->family++;
      continue;
    }
    if (t->family < SLP_COUNT(stats))
      write_stat(t, &stats[t->family]);
    else
      write_other(t, &others[t->family - SLP_COUNT(stats)]);
    if (slp_buf_failed(t->out)) return slp_buf_failed(t->out);
  }
  return 0;
}
