/* lease_table.c - prints leases and workers, as a table or as JSON lines. */
#include "cli/lease_table.h"

#include "base/buf.h"
#include "cli/columns.h"
#include "cli/lease_words.h"
#include "cli/record_formats.h"
#include "codec/json_write.h"

#include <sloop_admin.h>
#include <stdio.h>

static const slp_column of_leases[] = {{"SHARD", 8, 0},     {"STATE", 0, 0}, {"OWNER", 12, 0},
                                       {"POSITION", 12, 0}, {"AGE", 0, 1},   {"LAG", 0, 1}};
static const slp_column of_workers[] = {{"WORKER", 12, 0}, {"STATE", 0, 0}, {"HELD", 0, 1}, {"WEIGHT", 0, 1},
                                        {"LAG", 0, 1},     {"RATE", 0, 1},  {"SEEN", 0, 1}, {"HOST", 8, 0}};

static const char *or_dash(const char *z) { return *z ? z : "-"; }

/* Adds a cell with a worker's instance. In a narrow table the cell has only the worker's id: the instance
 * without its last dot and the part after that dot. That part differs between several lives of one worker and
 * means nothing to people. */
static void add_instance(slp_columns *c, const char *instance, size_t width) {
  const char *dot = strrchr(instance, '.');
  char id[SLP_CELL_BYTES_MAX];
  if (width && dot)
    snprintf(id, sizeof id, "%.*s", (int)slp_min_u64((uint64_t)(dot - instance), sizeof id - 1), instance);
  slp_columns_add(c, width && dot ? id : or_dash(instance));
}

static const char *state_word(const sloop_lease_t *l, int leased, const sloop_leases_t *all) {
  return leased ? slp_lease_mood_word(slp_lease_mood_in(l, all)) : "unleased";
}

static const char *word_by_row(const void *now_ms, const sloop_worker_t *w) {
  return slp_worker_word(w, *(const int64_t *)now_ms);
}

static void add_lease(slp_columns *c, const sloop_lease_t *l, int leased, const sloop_leases_t *all,
                      int64_t now_ms, size_t width) {
  char age[24], lag[24], position[200];
  const char *lost = slp_lease_lost_word(l);
  slp_lease_position_text(l, position);
  slp_age_text(l->written_at_ms, now_ms, age);
  slp_lease_lag_text(slp_lease_lag_of(l, all, now_ms), lag);
  slp_columns_add(c, slp_shard_short(l->shard));
  slp_columns_add(c, state_word(l, leased, all));
  add_instance(c, l->owner, width);
  slp_columns_add(c, or_dash(position));
  slp_columns_add(c, age);
  slp_columns_add(c, slp_lease_mood_of(l) == SLP_LEASE_IS_ENDED ? "-" : lost ? lost : lag);
}

static void add_worker(slp_columns *c, const sloop_worker_t *w, int64_t now_ms, size_t width,
                       const char *word) {
  char held[24], weight[24], lag[24], rate[24], seen[24];
  snprintf(held, sizeof held, "%u", (unsigned)w->held);
  snprintf(weight, sizeof weight, "%u", (unsigned)w->weight);
  slp_lease_lag_text(slp_worker_lag_of(w, now_ms), lag);
  slp_rate_text(w->rate_bytes, rate);
  slp_age_text(w->written_at_ms, now_ms, seen);
  const char *const cells[] = {word, held, weight, lag, rate, seen, or_dash(w->host)};
  add_instance(c, w->worker, width);
  for (size_t i = 0; i < SLP_COUNT(cells); i++) slp_columns_add(c, cells[i]);
}

/* Returns 1 if all workers that live have stopped reading. */
static int is_drained(const sloop_leases_t *l) {
  for (size_t i = 0; i < l->workers_n; i++)
    if (!l->workers[i]->dead && !l->workers[i]->drained) return 0;
  return l->draining;
}

int slp_lease_sum(slp_buf *b, const sloop_leases_t *l) {
  size_t counts[SLP_LEASE_MOODS] = {0}, some = 0;
  for (size_t i = 0; i < l->leases_n; i++) counts[slp_lease_mood_in(l->leases[i], l)]++;
  slp_buf_addf(b, "%zu lease%s", l->leases_n, l->leases_n == 1 ? "" : "s");
  for (int i = 0; i < SLP_LEASE_MOODS; i++)
    if (counts[i])
      slp_buf_addf(b, "%s %zu %s", some++ ? "," : ":", counts[i], slp_lease_mood_word((slp_lease_mood)i));
  if (l->unleased_n)
    slp_buf_addf(b, "; %zu shard%s without one", l->unleased_n, l->unleased_n == 1 ? "" : "s");
  if (l->draining) slp_buf_add_z(b, is_drained(l) ? "; drained, until --undrain" : "; draining");
  return slp_buf_failed(b);
}

/* the lags of all shards, summed up */
typedef struct lag_sum {
  slp_lease_lag worst; /* the largest lag; worst.ms is -1 if no lag is known */
  /* unknown: number of shards whose lag is not known. lost: number of shards from whose position reading
   * can't go on */
  size_t unknown, lost;
} lag_sum;

static void count_lag(lag_sum *sum, const sloop_lease_t *l, const sloop_leases_t *all, int64_t now_ms) {
  slp_lease_lag lag = slp_lease_lag_of(l, all, now_ms);
  if (lag.ms > sum->worst.ms) sum->worst = lag;
  if (slp_lease_lost_word(l))
    sum->lost++;
  else
    sum->unknown += lag.ms < 0;
}

static lag_sum lag_sum_of(const sloop_leases_t *l, int64_t now_ms) {
  lag_sum sum = {.worst = {-1, 0}};
  for (size_t i = 0; i < l->leases_n; i++) count_lag(&sum, l->leases[i], l, now_ms);
  for (size_t i = 0; i < l->unleased_n; i++) count_lag(&sum, l->unleased[i], l, now_ms);
  return sum;
}

int slp_worker_sum(slp_buf *b, const sloop_leases_t *l, int64_t now_ms,
                   const char *(*word_of)(const void *, const sloop_worker_t *), const void *arg) {
  size_t gone = 0, untold = 0;
  lag_sum sum = lag_sum_of(l, now_ms);
  for (size_t i = 0; i < l->workers_n; i++) {
    const char *word = word_of(arg, l->workers[i]);
    untold += strcmp(word, "owns") == 0;
    gone += strcmp(word, "silent") == 0 || strcmp(word, "dead") == 0;
  }
  slp_buf_addf(b, "%zu worker%s", l->workers_n, l->workers_n == 1 ? "" : "s");
  if (gone) slp_buf_addf(b, ", %zu dead or silent", gone);
  if (untold)
    slp_buf_addf(b, ", %zu known only from leases: no row says whether %s", untold,
                 untold == 1 ? "it is alive" : "they are alive");
  char lag[24];
  slp_lease_lag_text(sum.worst, lag);
  if (sum.worst.ms > 0) slp_buf_addf(b, "; the furthest is %s behind", lag);
  if (sum.worst.ms == 0 && !sum.unknown && !sum.lost) slp_buf_add_z(b, "; all at the tip");
  if (sum.lost) slp_buf_addf(b, "; %zu that can't be continued", sum.lost);
  if (sum.unknown) slp_buf_addf(b, "; %zu of unknown lag", sum.unknown);
  return slp_buf_failed(b);
}

/* ---- why a lag is not known --------------------------------------------------------------------------- */

#define NAMES_MAX 10u /* the most shards that a line lists */

static const struct {
  sloop_lag_t lag;
  const char *text;
} reasons[] = {
    {SLOOP_LAG_TRIMMED,
     "trimmed: the position is older than the stream's retention; records after it may be lost"},
    {SLOOP_LAG_GONE, "gone: the stream no longer has this shard; its unread records are lost"},
    {SLOOP_LAG_REFUSED, "refused: the service refuses the position"},
    {SLOOP_LAG_FAILED, "of unknown lag: the shard could not be read"},
    {SLOOP_LAG_UNPROVEN, "of unknown lag: no answer had records, and none proved the tip"},
    {SLOOP_LAG_OUT_OF_TIME, "of unknown lag: not read, because the time was up (--timeout gives more)"},
    {SLOOP_LAG_NO_POSITION, "of unknown lag: the starting position is not known (give -o)"},
};

/* Returns the i-th shard of the table and the listing together: first the shards with a lease, then those
 * without. */
static const sloop_lease_t *shard_at(const sloop_leases_t *l, size_t i) {
  return i < l->leases_n ? l->leases[i] : l->unleased[i - l->leases_n];
}

/* Adds a line about the shards whose lag is not known for the reason with the index `reason`. Adds nothing if
 * there are no such shards. */
static void add_reason(slp_buf *b, const sloop_leases_t *l, size_t reason, size_t width) {
  slp_buf line;
  const char *error = "";
  size_t n = 0;
  slp_buf_init(&line, b->mem, 1 << 16);
  slp_buf_add_z(&line, reasons[reason].text);
  for (size_t i = 0; i < l->leases_n + l->unleased_n; i++) {
    const sloop_lease_t *one = shard_at(l, i);
    if (one->lag != reasons[reason].lag) continue;
    if (!*error && one->lag_error) error = one->lag_error;
    if (n < NAMES_MAX) slp_buf_addf(&line, "%s%s", n ? ", " : ": ", slp_shard_short(one->shard));
    n++;
  }
  if (n > NAMES_MAX) slp_buf_addf(&line, " and %zu more", n - NAMES_MAX);
  if (n && *error) slp_buf_addf(&line, " (%s)", error);
  if (n) {
    slp_elide(b, slp_buf_z(&line), width > 20 ? width : SLP_CELL_BYTES_MAX);
    slp_buf_add_char(b, '\n');
  }
  slp_buf_free(&line);
}

static int is_unlisted(const sloop_leases_t *l) { return l->unlisted && *l->unlisted; }

static void add_reasons(slp_buf *b, const sloop_leases_t *l, size_t width) {
  for (size_t i = 0; i < SLP_COUNT(reasons); i++) add_reason(b, l, i, width);
  if (!is_unlisted(l)) return;
  slp_buf_add_z(b, "it is not known whether some shards have no lease: ");
  slp_elide(b, l->unlisted, SLP_CELL_BYTES_MAX);
  slp_buf_add_char(b, '\n');
}

static int passed_over(const sloop_leases_t *l) { return l->passed_over && *l->passed_over; }

int slp_lease_table(slp_buf *b, const sloop_leases_t *l, int64_t now_ms, size_t width) {
  return slp_lease_table_with(b, l, now_ms, width, word_by_row, &now_ms);
}

int slp_lease_table_with(slp_buf *b, const sloop_leases_t *l, int64_t now_ms, size_t width,
                         const char *(*word_of)(const void *, const sloop_worker_t *), const void *arg) {
  slp_columns c;
  slp_columns_init(&c, b->mem, of_leases, SLP_COUNT(of_leases));
  for (size_t i = 0; i < l->leases_n; i++) add_lease(&c, l->leases[i], 1, l, now_ms, width);
  for (size_t i = 0; i < l->unleased_n; i++) add_lease(&c, l->unleased[i], 0, l, now_ms, width);
  slp_columns_show(&c, b, width);
  slp_columns_free(&c);
  slp_columns_init(&c, b->mem, of_workers, SLP_COUNT(of_workers));
  for (size_t i = 0; i < l->workers_n; i++)
    add_worker(&c, l->workers[i], now_ms, width, word_of(arg, l->workers[i]));
  slp_buf_add_char(b, '\n');
  slp_columns_show(&c, b, width);
  slp_columns_free(&c);
  slp_buf_add_char(b, '\n');
  for (size_t i = 0; i < l->bad_rows_n; i++) {
    slp_buf_add_z(b, "bad row: ");
    slp_elide(b, l->bad_rows[i], width > 20 ? width - 9 : SLP_CELL_BYTES_MAX);
    slp_buf_add_char(b, '\n');
  }
  if (passed_over(l)) {
    slp_elide(b, l->passed_over, SLP_CELL_BYTES_MAX);
    slp_buf_add_char(b, '\n');
  }
  add_reasons(b, l, width);
  slp_lease_sum(b, l);
  slp_buf_add_char(b, '\n');
  slp_worker_sum(b, l, now_ms, word_of, arg);
  return slp_buf_add_char(b, '\n');
}

/* ---- JSON ------------------------------------------------------------------------------------- */

static void begin_json_line(slp_jw *w, const char *stream) {
  slp_jw_object(w, NULL);
  slp_jw_z_or_null(w, "stream", stream);
}

static void end_json_line(slp_jw *w) {
  slp_jw_object_end(w);
  slp_buf_add_char(w->b, '\n');
}

static void lease_json(slp_buf *b, const char *stream, const sloop_lease_t *l, int leased,
                       const sloop_leases_t *all, int64_t now_ms) {
  slp_lease_lag lag = slp_lease_lag_of(l, all, now_ms);
  slp_jw w = {.b = b, .one_line = 1};
  char position[200] = "";
  if (!slp_lease_begin_is_untold(l)) slp_position_text(&l->position, position);
  begin_json_line(&w, stream);
  slp_jw_z_or_null(&w, leased ? "shard" : "unleased", l->shard);
  slp_jw_z(&w, "state", state_word(l, leased, all));
  slp_jw_z_or_null(&w, "owner", l->owner);
  slp_jw_z_or_null(&w, "claim", l->claim);
  slp_jw_u64(&w, "epoch", l->epoch);
  slp_jw_z_or_null(&w, "position", position);
  slp_jw_i64_or_null(&w, "written_at", l->written_at_ms);
  slp_jw_i64_or_null(&w, "behind_ms", lag.ms);
  slp_jw_bool(&w, "parked", l->parked);
  if (l->refused_n) slp_jw_i64_or_null(&w, "refused_until", l->refused_until_ms);
  slp_jw_array(&w, "parents");
  for (size_t i = 0; i < SLP_COUNT(l->parents); i++)
    if (*l->parents[i]) slp_jw_z(&w, NULL, l->parents[i]);
  slp_jw_array_end(&w);
  slp_jw_bool(&w, "behind_at_most", lag.at_most);
  slp_jw_z(&w, "lag", slp_lease_lag_word(l, lag));
  if (l->lag_error && *l->lag_error) slp_jw_z(&w, "lag_error", l->lag_error);
  end_json_line(&w);
}

static void worker_json(slp_buf *b, const char *stream, const sloop_worker_t *k, int64_t now_ms) {
  slp_lease_lag lag = slp_worker_lag_of(k, now_ms);
  slp_jw w = {.b = b, .one_line = 1};
  begin_json_line(&w, stream);
  slp_jw_z_or_null(&w, "worker", k->worker);
  slp_jw_z(&w, "state", slp_worker_word(k, now_ms));
  slp_jw_bool(&w, "leads", k->leads);
  slp_jw_i64_or_null(&w, "held", k->held);
  slp_jw_i64_or_null(&w, "weight", k->weight);
  slp_jw_i64_or_null(&w, "lease_ms", k->lease_ms);
  slp_jw_u64(&w, "counter", k->counter);
  slp_jw_i64_or_null(&w, "written_at", k->written_at_ms);
  slp_jw_i64_or_null(&w, "behind_ms", lag.ms);
  slp_jw_i64_or_null(&w, "rate_bytes", k->rate_bytes);
  slp_jw_z_or_null(&w, "host", k->host);
  slp_jw_bool(&w, "behind_at_most", lag.at_most);
  end_json_line(&w);
}

int slp_lease_json(slp_buf *b, const char *stream, const sloop_leases_t *l, int64_t now_ms) {
  for (size_t i = 0; i < l->leases_n; i++) lease_json(b, stream, l->leases[i], 1, l, now_ms);
  for (size_t i = 0; i < l->unleased_n; i++) lease_json(b, stream, l->unleased[i], 0, l, now_ms);
  for (size_t i = 0; i < l->workers_n; i++) worker_json(b, stream, l->workers[i], now_ms);
  for (size_t i = 0; i < l->bad_rows_n; i++) {
    slp_jw w = {.b = b, .one_line = 1};
    begin_json_line(&w, stream);
    slp_jw_z_or_null(&w, "bad_row", l->bad_rows[i]);
    end_json_line(&w);
  }
  if (passed_over(l)) {
    slp_jw w = {.b = b, .one_line = 1};
    begin_json_line(&w, stream);
    slp_jw_z(&w, "passed_over", l->passed_over);
    end_json_line(&w);
  }
  if (l->draining) {
    slp_jw w = {.b = b, .one_line = 1};
    begin_json_line(&w, stream);
    slp_jw_z(&w, "drain", is_drained(l) ? "drained" : "draining");
    slp_jw_z_or_null(&w, "by", l->drained_by);
    slp_jw_i64_or_null(&w, "since", l->drained_at_ms);
    end_json_line(&w);
  }
  if (is_unlisted(l)) {
    slp_jw w = {.b = b, .one_line = 1};
    begin_json_line(&w, stream);
    slp_jw_z(&w, "unlisted", l->unlisted);
    end_json_line(&w);
  }
  return slp_buf_failed(b);
}
