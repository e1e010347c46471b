/* lease_words.c - turns the facts of a lease table into words for people. */
#include "cli/lease_words.h"

#include "base/buf.h"
#include "cli/people_lines.h"
#include "program/shown_time.h"

#include <sloop.h>
#include <sloop_admin.h>
#include <stdarg.h>
#include <stdio.h>

slp_lease_mood slp_lease_mood_of(const sloop_lease_t *l) {
  if (l->position.kind == SLOOP_AT_END) return SLP_LEASE_IS_ENDED;
  if (l->parked) return SLP_LEASE_IS_PARKED;
  if (l->refused_n && l->state == SLOOP_LEASE_FREE) return SLP_LEASE_IS_REFUSED;
  if (l->state == SLOOP_LEASE_FREE) return SLP_LEASE_IS_FREE;
  if (l->state == SLOOP_LEASE_OWNER_DEAD) return SLP_LEASE_IS_DEAD;
  /* The row may have a claim of another worker. It does not change the state, because the owner keeps the
   * lease if the claim lapses. */
  return SLP_LEASE_IS_OWNED;
}

slp_lease_mood slp_lease_mood_in(const sloop_lease_t *l, const sloop_leases_t *all) {
  slp_lease_mood mood = slp_lease_mood_of(l);
  const sloop_worker_t *owner = mood == SLP_LEASE_IS_DEAD ? slp_lease_worker(all, l->owner) : NULL;
  return owner && !owner->dead ? SLP_LEASE_IS_SILENT : mood;
}

const char *slp_lease_mood_word(slp_lease_mood mood) {
  static const char *const words[SLP_LEASE_MOODS] = {
      [SLP_LEASE_IS_DEAD] = "dead",     [SLP_LEASE_IS_SILENT] = "silent",   [SLP_LEASE_IS_FREE] = "free",
      [SLP_LEASE_IS_PARKED] = "parked", [SLP_LEASE_IS_REFUSED] = "refused", [SLP_LEASE_IS_OWNED] = "owned",
      [SLP_LEASE_IS_ENDED] = "ended"};
  return words[mood];
}

void slp_worker_id(const char *instance, char out[SLP_WORKER_ID]) {
  const char *dot = strrchr(instance, '.');
  int most = SLP_WORKER_ID - 1;
  snprintf(out, SLP_WORKER_ID, "%.*s",
           dot ? (int)slp_min_u64((uint64_t)(dot - instance), (uint64_t)most) : most,
           *instance ? instance : "-");
}

const sloop_worker_t *slp_lease_worker(const sloop_leases_t *all, const char *instance) {
  size_t from = 0, to = all->workers_n; /* workers are sorted by name, so this is a binary search */
  while (from < to) {
    size_t middle = from + (to - from) / 2;
    int c = strcmp(instance, all->workers[middle]->worker);
    if (c == 0) return all->workers[middle];
    if (c < 0)
      to = middle;
    else
      from = middle + 1;
  }
  return NULL;
}

/* Returns the lag in a row, plus the time since the row was written. Returns -1 if the lag or the time is not
 * known. */
static int64_t aged_ms(int64_t told_ms, int64_t written_at_ms, int64_t now_ms) {
  if (told_ms < 0 || written_at_ms < 0) return -1;
  return slp_add_i64(told_ms, slp_max_i64(now_ms - written_at_ms, 0));
}

slp_lease_lag slp_worker_lag_of(const sloop_worker_t *w, int64_t now_ms) {
  if (w->dead || w->drained) return (slp_lease_lag){-1, 0};
  /* A worker writes its row every third of a lease. A lag of 0 stays 0 until the next row is overdue. Any
   * other lag is taken to grow until a new row states another lag. */
  if (w->behind_ms == 0 && now_ms - w->written_at_ms <= (int64_t)w->lease_ms / 2)
    return (slp_lease_lag){0, 0};
  int64_t most_ms = aged_ms(w->behind_ms, w->written_at_ms, now_ms);
  return (slp_lease_lag){most_ms, most_ms > 0};
}

/* Returns the lag that sloop_admin_lag() has found by reading the shard at the lease's position, or -1 if
 * there is no such lag. If records were found, the oldest of them has been waiting since that reading, so the
 * time since then is added. If none were found, the lag stays 0. */
static int64_t read_ms(const sloop_lease_t *l, int64_t now_ms) {
  if (l->lag != SLOOP_LAG_READ) return -1;
  return l->read_behind_ms ? aged_ms(l->read_behind_ms, l->read_at_ms, now_ms) : 0;
}

const char *slp_lease_lost_word(const sloop_lease_t *l) {
  switch (l->lag) {
    case SLOOP_LAG_TRIMMED: return "trimmed";
    case SLOOP_LAG_GONE: return "gone";
    case SLOOP_LAG_REFUSED: return "refused";
    default: return NULL;
  }
}

const char *slp_lease_lag_word(const sloop_lease_t *l, slp_lease_lag lag) {
  const char *lost = slp_lease_lost_word(l);
  switch (l->lag) {
    case SLOOP_LAG_READ: return "read";
    case SLOOP_LAG_FAILED: return "failed";
    case SLOOP_LAG_UNPROVEN: return "unproven";
    case SLOOP_LAG_OUT_OF_TIME: return "out_of_time";
    case SLOOP_LAG_NO_POSITION: return "no_position";
    default: break;
  }
  if (lost) return lost;
  if (slp_lease_mood_of(l) == SLP_LEASE_IS_ENDED) return "ended";
  return lag.ms < 0 ? "unknown" : "told";
}

slp_lease_lag slp_lease_lag_of(const sloop_lease_t *l, const sloop_leases_t *all, int64_t now_ms) {
  return slp_lease_lag_by(l, *l->owner ? slp_lease_worker(all, l->owner) : NULL, now_ms);
}

slp_lease_lag slp_lease_lag_by(const sloop_lease_t *l, const sloop_worker_t *owner, int64_t now_ms) {
  slp_lease_mood mood = slp_lease_mood_of(l);
  if (l->lag != SLOOP_LAG_UNASKED) return (slp_lease_lag){read_ms(l, now_ms), 0};
  if (mood != SLP_LEASE_IS_OWNED) /* no worker reads the shard, so its lag is not known */
    return (slp_lease_lag){mood == SLP_LEASE_IS_ENDED ? 0 : -1, 0};
  int64_t own_ms = aged_ms(l->behind_ms, l->written_at_ms, now_ms);
  slp_lease_lag worst = owner ? slp_worker_lag_of(owner, now_ms) : (slp_lease_lag){-1, 0};
  /* 1: the lease's row was written after the owner's row, and has a lag above 0 */
  int later = owner && l->behind_ms > 0 && l->written_at_ms > owner->written_at_ms;
  if (worst.ms >= 0 && !later && (own_ms < 0 || worst.ms <= own_ms)) return worst;
  return (slp_lease_lag){own_ms, own_ms > 0};
}

const char *slp_worker_word(const sloop_worker_t *w, int64_t now_ms) {
  if (w->dead) return w->leaving ? "left" : "dead";
  if (w->leaving) return "leaving";
  if (w->written_at_ms < 0) return w->leads ? "leads" : "owns";
  if (now_ms - w->written_at_ms > (int64_t)w->lease_ms) return "silent";
  if (w->drained) return "drained";
  return w->leads ? "leads" : "works";
}

int slp_lease_is_nobody(const sloop_leases_t *l, const char *app, const char *stream,
                        char line[SLP_LEASE_NOBODY]) {
  if (l->leases_n || l->workers_n || l->bad_rows_n || (l->passed_over && *l->passed_over)) return 0;
  snprintf(line, SLP_LEASE_NOBODY, "there is no application %.100s that reads %.100s", app, stream);
  return 1;
}

/* Returns 1 if it is not known where reading of the shard will begin: the row contains no position, and this
 * command was given no -o. Without -o the position of a lease without one is "latest", so any other position
 * comes from -o. */
int slp_lease_begin_is_untold(const sloop_lease_t *l) {
  return l->begin_untold && l->position.kind == SLOOP_LATEST;
}

void slp_lease_position_text(const sloop_lease_t *l, char out[200]) {
  char at[SLP_SHOWN_TIME];
  slp_shown_time(l->position.at_ms, 0, 1, at);
  if (slp_lease_begin_is_untold(l))
    snprintf(out, 200, "as -o says");
  else if (l->position.kind == SLOOP_AT_TIME)
    snprintf(out, 200, "time %s", at);
  else
    slp_position_text(&l->position, out);
}

void slp_position_text(const sloop_position_t *p, char out[200]) {
  const char *at = p->kind == SLOOP_AT_SEQ ? "at" : "after";
  /* 1: the position is after all records with this sequence number, so no sub-sequence number is shown */
  int whole = p->kind == SLOOP_AFTER_SEQ && p->sub == UINT32_MAX;
  out[0] = 0;
  switch (p->kind) {
    case SLOOP_OLDEST: snprintf(out, 200, "oldest"); return;
    case SLOOP_LATEST: snprintf(out, 200, "latest"); return;
    case SLOOP_AT_TIME: snprintf(out, 200, "time:%lld", (long long)p->at_ms); return;
    case SLOOP_AT_END: snprintf(out, 200, "end"); return;
    case SLOOP_AT_SEQ:
    case SLOOP_AFTER_SEQ:
      if (p->sub && !whole)
        snprintf(out, 200, "%s %s sub %llu", at, p->seq, (unsigned long long)p->sub);
      else
        snprintf(out, 200, "%s %s", at, p->seq);
      return;
    case SLOOP_AT_TOKEN: return;
  }
}

void slp_lease_say(slp_buf *b, const char *fmt, ...) {
  char line[1024];
  va_list ap;
  va_start(ap, fmt);
  int n = vsnprintf(line, sizeof line, fmt, ap);
  va_end(ap);
  SLP_CHECK(n >= 0);
  size_t before = b->n;
  if (slp_say_to(b, "%s", line) == SLP_ELIMIT) slp_buf_cut(b, before);
}

/* The units in which a length of time is shown. A unit is used from the length `least` on. */
static const struct {
  int64_t ms, least;
  const char *unit;
} units[] = {{86400000, 172800000, "d"}, {3600000, 7200000, "h"}, {60000, 120000, "m"}, {1000, 1000, "s"}};

static size_t unit_of(int64_t ms) {
  size_t i = 0;
  while (i < SLP_COUNT(units) && ms < units[i].least) i++;
  return i;
}

static int64_t unit_ms_of(int64_t ms) {
  size_t i = unit_of(ms);
  return i < SLP_COUNT(units) ? units[i].ms : 1;
}

void slp_span_text(int64_t ms, char out[24]) {
  size_t i = unit_of(ms);
  if (ms < 0)
    snprintf(out, 24, "-");
  else if (i < SLP_COUNT(units))
    snprintf(out, 24, "%lld%s", (long long)(ms / units[i].ms), units[i].unit);
  else
    snprintf(out, 24, ms ? "%lldms" : "0", (long long)ms);
}

void slp_age_text(int64_t at_ms, int64_t now_ms, char out[24]) {
  slp_span_text(at_ms < 0 ? -1 : slp_max_i64(now_ms - at_ms, 0), out);
}

void slp_lag_text(int64_t ms, char out[24]) {
  if (ms)
    slp_span_text(ms, out);
  else
    snprintf(out, 24, "tip");
}

/* Returns the lag, rounded up to the unit in which it will be shown, so that the text is still a true upper
 * bound. */
static int64_t rounded_up(int64_t ms) {
  int64_t unit = unit_ms_of(ms);
  return ms < 0 ? ms : slp_add_i64(ms, unit - 1) / unit * unit;
}

void slp_lease_lag_text(slp_lease_lag lag, char out[24]) {
  char text[24];
  slp_lag_text(lag.at_most ? rounded_up(lag.ms) : lag.ms, text);
  snprintf(out, 24, "%s%.22s", lag.at_most ? "<" : "", text);
}

void slp_rate_text(int64_t bytes, char out[24]) {
  if (bytes < 0)
    snprintf(out, 24, "-");
  else if (bytes < 1000)
    snprintf(out, 24, bytes ? "%lldB" : "0", (long long)bytes);
  else if (bytes < 1000000)
    snprintf(out, 24, "%lldkB", (long long)(bytes / 1000));
  else
    snprintf(out, 24, "%lldMB", (long long)(bytes / 1000000));
}
