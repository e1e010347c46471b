/* lease_table.c - prints leases. */
#include "cli/lease_table.h"

#include <stdio.h>

#include "cli/columns.h"
#include "cli/lease_words.h"
#include "cli/show.h"
#include "codec/json.h"

static const slp_column of_leases[] = {{"SHARD", 8, 0},     {"STATE", 0, 0}, {"OWNER", 12, 0},
                                       {"POSITION", 12, 0}, {"AGE", 0, 1},   {"LAG", 0, 1}};
static const slp_column of_workers[] = {{"WORKER", 12, 0}, {"STATE", 0, 0}, {"HELD", 0, 1}, {"WEIGHT", 0, 1},
                                        {"LAG", 0, 1},     {"RATE", 0, 1},  {"SEEN", 0, 1}, {"HOST", 8, 0}};

static const char *or_dash(const char *z) { return *z ? z : "-"; }

/* Where there is little room, a worker's id is enough; what tells its lives apart is not for people. */
static int add_instance(slp_columns *c, const char *instance, size_t width) {
  const char *dot = strrchr(instance, '.');
  char id[SLP_CELL_BYTES_MAX];
  if (!width || !dot) return slp_columns_add(c, or_dash(instance));
  snprintf(id, sizeof id, "%.*s", (int)slp_min_u64((uint64_t)(dot - instance), sizeof id - 1), instance);
  return slp_columns_add(c, id);
}

static int add_lease(slp_columns *c, const sloop_lease_t *l, const sloop_leases_t *all, int64_t now_ms,
                     size_t width) {
  char age[24], lag[24];
  slp_lease_mood mood = slp_lease_mood_of(l);
  slp_age_text(l->written_at_ms, now_ms, age);
  slp_lag_text(slp_lease_lag_ms(l, all), lag);
  int bad = slp_columns_add(c, slp_shard_short(l->shard));
  if (!bad) bad = slp_columns_add(c, slp_lease_mood_word(mood));
  if (!bad) bad = add_instance(c, l->owner, width);
  if (!bad) bad = slp_columns_add(c, or_dash(l->position));
  if (!bad) bad = slp_columns_add(c, age);
  return bad ? bad : slp_columns_add(c, mood == SLP_LEASE_IS_ENDED ? "-" : lag);
}

static int add_worker(slp_columns *c, const sloop_worker_t *w, int64_t now_ms, size_t width) {
  char held[24], weight[24], lag[24], rate[24], seen[24];
  snprintf(held, sizeof held, "%u", (unsigned)w->held);
  snprintf(weight, sizeof weight, "%u", (unsigned)w->weight);
  slp_lag_text(w->behind_ms, lag);
  slp_rate_text(w->rate_bytes, rate);
  slp_age_text(w->written_at_ms, now_ms, seen);
  const char *const cells[] = {slp_worker_word(w, now_ms), held, weight, lag, rate, seen, or_dash(w->host)};
  int bad = add_instance(c, w->worker, width);
  for (size_t i = 0; i < SLP_COUNT(cells) && !bad; i++) bad = slp_columns_add(c, cells[i]);
  return bad;
}

int slp_lease_sum(slp_buf *b, const sloop_leases_t *l) {
  size_t counts[SLP_LEASE_MOODS] = {0}, some = 0;
  for (size_t i = 0; i < l->leases_n; i++) counts[slp_lease_mood_of(&l->leases[i])]++;
  int bad = slp_buf_addf(b, "%zu lease%s", l->leases_n, l->leases_n == 1 ? "" : "s");
  for (int i = 0; i < SLP_LEASE_MOODS && !bad; i++)
    if (counts[i])
      bad =
          slp_buf_addf(b, "%s %zu %s", some++ ? "," : ":", counts[i], slp_lease_mood_word((slp_lease_mood)i));
  return bad;
}

int slp_worker_sum(slp_buf *b, const sloop_leases_t *l, int64_t now_ms) {
  size_t gone = 0, unknown = 0;
  int64_t worst_ms = -1;
  for (size_t i = 0; i < l->leases_n; i++) {
    int64_t lag_ms = slp_lease_lag_ms(&l->leases[i], l);
    worst_ms = slp_max_i64(worst_ms, lag_ms);
    unknown += lag_ms < 0;
  }
  for (size_t i = 0; i < l->workers_n; i++) {
    const char *word = slp_worker_word(&l->workers[i], now_ms);
    gone += strcmp(word, "silent") == 0 || strcmp(word, "dead") == 0;
  }
  int bad = slp_buf_addf(b, "%zu worker%s", l->workers_n, l->workers_n == 1 ? "" : "s");
  if (!bad && gone) bad = slp_buf_addf(b, ", %zu dead or silent", gone);
  char lag[24];
  slp_span_text(worst_ms, lag);
  if (!bad && worst_ms > 0) bad = slp_buf_addf(b, "; the furthest is %s behind", lag);
  if (!bad && worst_ms == 0 && !unknown) bad = slp_buf_add_z(b, "; all at the tip");
  return bad || !unknown ? bad : slp_buf_addf(b, "; %zu of unknown lag", unknown);
}

int slp_lease_table(slp_buf *b, const sloop_leases_t *l, int64_t now_ms, size_t width) {
  slp_columns c;
  slp_columns_init(&c, b->mem, of_leases, SLP_COUNT(of_leases));
  int bad = 0;
  for (size_t i = 0; i < l->leases_n && !bad; i++) bad = add_lease(&c, &l->leases[i], l, now_ms, width);
  if (!bad) bad = slp_columns_show(&c, b, width);
  slp_columns_free(&c);
  slp_columns_init(&c, b->mem, of_workers, SLP_COUNT(of_workers));
  for (size_t i = 0; i < l->workers_n && !bad; i++) bad = add_worker(&c, &l->workers[i], now_ms, width);
  if (!bad) bad = slp_buf_add_char(b, '\n');
  if (!bad) bad = slp_columns_show(&c, b, width);
  slp_columns_free(&c);
  if (!bad) bad = slp_buf_add_char(b, '\n');
  for (size_t i = 0; i < l->bad_rows_n && !bad; i++) {
    bad = slp_buf_add_z(b, "bad row: ");
    if (!bad) bad = slp_elide(b, l->bad_rows[i], width > 20 ? width - 9 : SLP_CELL_BYTES_MAX);
    if (!bad) bad = slp_buf_add_char(b, '\n');
  }
  if (!bad) bad = slp_lease_sum(b, l);
  if (!bad) bad = slp_buf_add_char(b, '\n');
  if (!bad) bad = slp_worker_sum(b, l, now_ms);
  return bad ? bad : slp_buf_add_char(b, '\n');
}

/* ---- JSON ------------------------------------------------------------------------------------- */

static int add_name(slp_buf *b, const char *name) {
  return slp_buf_addf(b, "%s\"%s\":", b->p[b->n - 1] == '{' ? "" : ",", name);
}

static int add_text(slp_buf *b, const char *name, const char *value) {
  int bad = add_name(b, name);
  if (bad) return bad;
  return *value ? slp_json_put_line_string(b, slp_str_of(value)) : slp_buf_add_z(b, "null");
}

/* < 0: it is not known. */
static int add_number(slp_buf *b, const char *name, int64_t value) {
  int bad = add_name(b, name);
  if (bad) return bad;
  return value < 0 ? slp_buf_add_z(b, "null") : slp_buf_add_i64(b, value);
}

static int begin(slp_buf *b, const char *stream) {
  int bad = slp_buf_add_char(b, '{');
  return bad ? bad : add_text(b, "stream", stream);
}

static int add_parents(slp_buf *b, const sloop_lease_t *l) {
  int bad = slp_buf_add_z(b, ",\"parents\":[");
  for (size_t i = 0, some = 0; i < SLP_COUNT(l->parents) && !bad; i++) {
    if (!*l->parents[i]) continue;
    if (some++) bad = slp_buf_add_char(b, ',');
    if (!bad) bad = slp_json_put_line_string(b, slp_str_of(l->parents[i]));
  }
  return bad ? bad : slp_buf_add_char(b, ']');
}

static int lease_json(slp_buf *b, const char *stream, const sloop_lease_t *l, const sloop_leases_t *all) {
  int bad = begin(b, stream);
  if (!bad) bad = add_text(b, "shard", l->shard);
  if (!bad) bad = add_text(b, "state", slp_lease_mood_word(slp_lease_mood_of(l)));
  if (!bad) bad = add_text(b, "owner", l->owner);
  if (!bad) bad = add_text(b, "claim", l->claim);
  if (!bad) bad = slp_buf_addf(b, ",\"epoch\":%llu", (unsigned long long)l->epoch);
  if (!bad) bad = add_text(b, "position", l->position);
  if (!bad) bad = add_number(b, "written_at", l->written_at_ms);
  if (!bad) bad = add_number(b, "behind_ms", slp_lease_lag_ms(l, all));
  if (!bad) bad = slp_buf_add_z(b, l->parked ? ",\"parked\":true" : ",\"parked\":false");
  if (!bad) bad = add_parents(b, l);
  return bad ? bad : slp_buf_add_z(b, "}\n");
}

static int worker_json(slp_buf *b, const char *stream, const sloop_worker_t *w, int64_t now_ms) {
  int bad = begin(b, stream);
  if (!bad) bad = add_text(b, "worker", w->worker);
  if (!bad) bad = add_text(b, "state", slp_worker_word(w, now_ms));
  if (!bad) bad = slp_buf_addf(b, ",\"leads\":%s", w->leads ? "true" : "false");
  if (!bad) bad = add_number(b, "held", w->held);
  if (!bad) bad = add_number(b, "weight", w->weight);
  if (!bad) bad = add_number(b, "lease_ms", w->lease_ms);
  if (!bad) bad = slp_buf_addf(b, ",\"counter\":%llu", (unsigned long long)w->counter);
  if (!bad) bad = add_number(b, "written_at", w->written_at_ms);
  if (!bad) bad = add_number(b, "behind_ms", w->behind_ms);
  if (!bad) bad = add_number(b, "rate_bytes", w->rate_bytes);
  if (!bad) bad = add_text(b, "host", w->host);
  return bad ? bad : slp_buf_add_z(b, "}\n");
}

int slp_lease_json(slp_buf *b, const char *stream, const sloop_leases_t *l, int64_t now_ms) {
  int bad = 0;
  for (size_t i = 0; i < l->leases_n && !bad; i++) bad = lease_json(b, stream, &l->leases[i], l);
  for (size_t i = 0; i < l->workers_n && !bad; i++) bad = worker_json(b, stream, &l->workers[i], now_ms);
  for (size_t i = 0; i < l->bad_rows_n && !bad; i++) {
    bad = begin(b, stream);
    if (!bad) bad = add_text(b, "bad_row", l->bad_rows[i]);
    if (!bad) bad = slp_buf_add_z(b, "}\n");
  }
  return bad;
}
