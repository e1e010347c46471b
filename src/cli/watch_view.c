/* watch_view.c - lays out what --watch shows. */
#include "cli/watch_view.h"

#include "base/buf.h"
#include "cli/columns.h"
#include "cli/lease_table.h"
#include "cli/lease_words.h"
#include "cli/record_formats.h"
#include "cli/watch_past.h"
#include "cli/watch_rows.h"
#include "cli/watch_style.h"
#include "cli/watch_ui.h"
#include "codec/date.h"

#include <sloop.h>
#include <sloop_admin.h>
#include <stdio.h>

#define LEAST_MS 100     /* a lag below this has no bar */
#define MOST_MS 86400000 /* a lag of this or more has a full bar */
#define MOVES_SHOWN 4
#define WIDE_COLUMNS 110 /* a screen of this width has further columns */
/* how long a dead worker without leases is still shown after its lease has run out */
#define DEAD_SHOWN_MS 60000
#define RED_MS 600000 /* a lag of this or more is red, unless --lag-over gives another limit */

/* ---- bars ------------------------------------------------------------------------------------- */

/* Returns log2(v) in 64ths. Between powers of two the result is interpolated linearly, which is precise
 * enough for a bar. */
static uint32_t log2_64(uint64_t v) {
  uint32_t whole = 0;
  while (v >> (whole + 1)) whole++;
  uint64_t part = whole >= 6 ? v >> (whole - 6) : v << (6 - whole);
  return whole * 64 + (uint32_t)(part - 64);
}

uint32_t slp_watch_bar(int64_t lag_ms, uint32_t full) {
  if (lag_ms < LEAST_MS || full == 0) return 0;
  uint32_t most = log2_64(MOST_MS / LEAST_MS), have = log2_64((uint64_t)lag_ms / LEAST_MS) + 64;
  return (uint32_t)slp_min_u64((uint64_t)have * full / (most + 64) + 1, full);
}

static void add_times(slp_buf *b, const char *text, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) slp_buf_add_z(b, text);
}

static void add_bar(slp_buf *b, int64_t lag_ms, uint32_t width, int utf8) {
  static const char *const eighths[] = {"",
                                        "\xe2\x96\x8f",
                                        "\xe2\x96\x8e",
                                        "\xe2\x96\x8d",
                                        "\xe2\x96\x8c",
                                        "\xe2\x96\x8b",
                                        "\xe2\x96\x8a",
                                        "\xe2\x96\x89"};
  uint32_t eight = slp_watch_bar(lag_ms, width * 8), whole = eight / 8, part = eight % 8;
  if (!utf8) {
    whole = (eight + 7) / 8;
    part = 0;
  }
  add_times(b, utf8 ? "\xe2\x96\x88" : "#", whole);
  slp_buf_add_z(b, eighths[part]);
  add_times(b, " ", width - whole - (part > 0));
}

/* Draws the last lags of a shard as small bars, the newest at the right end. */
static void add_spark(slp_buf *b, slp_watch_past *past, const char *shard, uint32_t width, int utf8) {
  static const char *const blocks[] = {"\xe2\x96\x81", "\xe2\x96\x82", "\xe2\x96\x83", "\xe2\x96\x84",
                                       "\xe2\x96\x85", "\xe2\x96\x86", "\xe2\x96\x87", "\xe2\x96\x88"};
  static const char *const ascii[] = {"_", ".", "-", "=", "+", "*", "%", "#"};
  for (uint32_t i = width; i-- > 0;) {
    int64_t lag_ms = slp_watch_past_lag(past, shard, i);
    uint32_t level = slp_watch_bar(lag_ms, 7);
    slp_buf_add_z(b, lag_ms < 0 ? " " : utf8 ? blocks[level] : ascii[level]);
  }
}

/* ---- lines ------------------------------------------------------------------------------------ */

typedef struct page {
  slp_buf *b;
  uint32_t columns, rows, used; /* used: how many lines were written so far */
} page;

/* Ends the line that began at offset `from`. Cuts the line to the width of the page. */
static void end_line(page *p, size_t from) {
  p->used++;
  if (slp_buf_failed(p->b)) return;
  slp_str line = {p->b->p + from, p->b->n - from};
  while (slp_watch_width(line) > p->columns) line.n--;
  p->b->n = from + line.n;
  if (p->used < p->rows) slp_buf_add_char(p->b, '\n');
}

static uint32_t count_free_rows(const page *p) { return p->rows - p->used; }

static void add_line(page *p, const char *text) {
  if (!count_free_rows(p)) return;
  size_t from = p->b->n;
  slp_buf_add_z(p->b, text);
  end_line(p, from);
}

/* Appends `gap`, then the text in a column that is `width` characters wide. right: 1 to align the text to the
 * right. */
static void add_field(slp_buf *b, const char *gap, const char *text, size_t width, int right) {
  size_t n = slp_min_u64(strlen(text), width);
  slp_buf_add_z(b, gap);
  if (right) add_times(b, " ", (uint32_t)(width - n));
  slp_elide(b, text, width);
  if (!right) add_times(b, " ", (uint32_t)(width - n));
}

/* ---- styles ----------------------------------------------------------------------------------- */

static const char *style_of_mood(slp_lease_mood mood) {
  switch (mood) {
    case SLP_LEASE_IS_DEAD:
    case SLP_LEASE_IS_SILENT:
    case SLP_LEASE_IS_REFUSED: return SLP_STYLE_RED;
    case SLP_LEASE_IS_FREE:
    case SLP_LEASE_IS_PARKED: return SLP_STYLE_YELLOW;
    case SLP_LEASE_IS_ENDED: return SLP_STYLE_FAINT;
    default: return "";
  }
}

/* Returns the style of a lag: red from the limit red_ms on, yellow from a tenth of the limit on. */
static const char *style_of_lag(const slp_watch_news *n, int64_t lag_ms) {
  int64_t red_ms = n->red_ms ? n->red_ms : RED_MS;
  if (lag_ms < 0) return SLP_STYLE_FAINT; /* the lag is not known, or the shard is ended */
  return lag_ms >= red_ms ? SLP_STYLE_RED : lag_ms >= red_ms / 10 ? SLP_STYLE_YELLOW : SLP_STYLE_GREEN;
}

static const char *style_of_worker(const char *word) {
  if (strcmp(word, "dead") == 0 || strcmp(word, "silent") == 0) return SLP_STYLE_RED;
  if (strcmp(word, "leaving") == 0 || strcmp(word, "drained") == 0) return SLP_STYLE_YELLOW;
  if (strcmp(word, "left") == 0) return SLP_STYLE_FAINT;
  return strcmp(word, "leads") == 0 ? SLP_STYLE_BOLD : "";
}

/* Appends a style if this screen has styles (n->ui is set). */
static void add_style(slp_buf *b, const slp_watch_news *n, const char *style) {
  if (n->ui && *style) slp_buf_add_z(b, style);
}

/* Appends a field as add_field does, in a style. */
static void add_styled(slp_buf *b, const slp_watch_news *n, const char *style, const char *gap,
                       const char *text, size_t width, int right) {
  slp_buf_add_z(b, gap);
  add_style(b, n, style);
  add_field(b, "", text, width, right);
  if (*style) add_style(b, n, SLP_STYLE_OFF);
}

/* ---- shards ----------------------------------------------------------------------------------- */

typedef struct layout {
  /* widths of columns in characters; 0: the column is not shown */
  uint32_t shard, owner, bar, spark, upto, epoch, rate, reason;
} layout;

#define UPTO_COLUMNS 11   /* "01-31 23:59" */
#define RATE_COLUMNS 7    /* "OWNER/s" */
#define REASON_COLUMNS 24 /* the least width of the column REASON; a wider screen gives it more */

/* Returns the lease of a shard by binary search, because leases are sorted by shard; NULL: there is none. */
static const sloop_lease_t *lease_of(const sloop_leases_t *all, const char *shard) {
  size_t from = 0, to = all->leases_n;
  while (from < to && *shard) {
    size_t middle = from + (to - from) / 2;
    int c = strcmp(shard, all->leases[middle]->shard);
    if (c == 0) return all->leases[middle];
    if (c < 0)
      to = middle;
    else
      from = middle + 1;
  }
  return NULL;
}

#define FIXED_COLUMNS 29 /* width of the columns for state, lag and age, with the gaps */

/* Appends the reason for a shard's state, as far as the rows of the shard and of its parents show it. Appends
 * nothing for a shard that its owner reads and keeps. */
static void reason_of(slp_buf *b, const slp_watch_news *n, const slp_watch_row *row) {
  const sloop_lease_t *l = row->lease;
  char id[SLP_WORKER_ID], span[24];
  if (row->mood == SLP_LEASE_IS_PARKED) {
    slp_buf_add_z(b, "until --release");
  } else if (row->mood == SLP_LEASE_IS_REFUSED) {
    slp_span_text(slp_max_i64(l->refused_until_ms - n->wall_ms, 0), span);
    slp_buf_addf(b, "position refused %d times, again in %s", l->refused_n, span);
  } else if (row->mood == SLP_LEASE_IS_SILENT || row->mood == SLP_LEASE_IS_DEAD) {
    slp_age_text(row->owner ? row->owner->written_at_ms : -1, n->wall_ms, span);
    slp_buf_addf(b, row->owner ? "owner's last sign %s ago" : "its owner has no row", span);
  } else if (*l->claim && row->mood != SLP_LEASE_IS_ENDED) {
    slp_worker_id(l->claim, id);
    slp_buf_addf(b, "goes to %s", id);
  } else if (row->mood == SLP_LEASE_IS_FREE && n->leases->draining) {
    slp_buf_add_z(b, "drained, until --undrain");
  } else if (row->mood == SLP_LEASE_IS_FREE) {
    for (size_t i = 0; i < SLP_COUNT(l->parents); i++) {
      const sloop_lease_t *parent = lease_of(n->leases, l->parents[i]);
      if (!parent || parent->position.kind == SLOOP_AT_END) continue;
      slp_buf_addf(b, "waits for its parent %s", slp_shard_short(parent->shard));
      return;
    }
  }
  if (!b->n && *l->avoid && row->mood == SLP_LEASE_IS_FREE) {
    slp_worker_id(l->avoid, id);
    slp_buf_addf(b, "given up by %s", id);
  }
}

static layout layout_of(const slp_watch_news *n, uint32_t columns) {
  size_t shard = 5, owner = 5, epoch = 5;
  for (size_t i = 0; i < n->leases->leases_n; i++) {
    const sloop_lease_t *l = n->leases->leases[i];
    char id[SLP_WORKER_ID], number[24];
    slp_worker_id(l->owner, id);
    shard = slp_max_u64(shard, strlen(slp_shard_short(l->shard)));
    owner = slp_max_u64(owner, strlen(id));
    epoch = slp_max_u64(epoch, (size_t)snprintf(number, sizeof number, "%llu", (unsigned long long)l->epoch));
  }
  uint32_t rest = columns > FIXED_COLUMNS ? columns - FIXED_COLUMNS : 0;
  layout y = {.bar = rest >= 30 ? rest / 5 : 0, .spark = rest >= 20 ? rest / 4 : 0};
  if (n->ui && columns >= WIDE_COLUMNS) {
    y.upto = UPTO_COLUMNS;
    y.rate = RATE_COLUMNS;
    y.epoch = (uint32_t)slp_min_u64(epoch, 10);
    y.reason = REASON_COLUMNS + (columns - WIDE_COLUMNS) / 4;
    y.spark = 10;
    rest -= y.upto + y.rate + y.epoch + y.reason + 8; /* 8: the gaps between these columns */
  }
  if (y.bar > 20) y.bar = 20;
  y.shard = (uint32_t)slp_min_u64(shard, slp_max_u64(5, rest / 5));
  uint32_t taken = y.shard + y.bar + y.spark;
  y.owner = (uint32_t)slp_min_u64(owner, rest > taken ? rest - taken : 0);
  taken += y.owner;
  /* the column PAST gets all of the width that is left */
  if (y.spark && rest > taken) y.spark += rest - taken;
  if (y.spark > SLP_WATCH_POLLS) y.spark = SLP_WATCH_POLLS;
  return y;
}

static void shard_titles(page *p, const slp_watch_news *n, const layout *y) {
  size_t from = p->b->n;
  if (!count_free_rows(p)) return;
  add_style(p->b, n, SLP_STYLE_FAINT);
  add_field(p->b, "", "SHARD", y->shard, 0);
  add_field(p->b, "  STATE   ", "OWNER", y->owner, 0);
  slp_buf_add_z(p->b, "    AGE     LAG");
  add_field(p->b, y->upto ? "  " : "", "READ UP TO", y->upto, 0);
  add_field(p->b, y->rate ? "  " : "", "OWNER/s", y->rate, 1);
  add_field(p->b, y->epoch ? "  " : "", "EPOCH", y->epoch, 1);
  add_field(p->b, y->bar ? "  " : "", "100ms..1d", y->bar, 0);
  add_field(p->b, y->spark ? "  " : "", "PAST", y->spark, 0);
  add_field(p->b, y->reason ? "  " : "", "REASON", y->reason, 0);
  end_line(p, from);
}

/* Writes up to which time of arrival a shard is read: the time of the poll minus lag_ms. If that is more than
 * a day ago, writes it with its date. */
static void upto_text(const slp_watch_news *n, int64_t lag_ms, char out[24]) {
  char date[25];
  int64_t at_ms = n->wall_ms - lag_ms;
  snprintf(out, 24, "-");
  if (lag_ms < 0 || at_ms < 0) return;
  slp_date_iso(at_ms + n->local_ms, date); /* 2026-01-31T12:00:00.000Z */
  if (lag_ms < 86400000)
    snprintf(out, 24, "%.8s", date + 11);
  else
    snprintf(out, 24, "%.5s %.5s", date + 5, date + 11);
}

static void add_wide_fields(page *p, const slp_watch_news *n, const layout *y, const slp_watch_row *row,
                            int64_t lag_ms) {
  char upto[24], rate[24], epoch[24];
  upto_text(n, lag_ms, upto);
  slp_rate_text(row->owner && row->mood == SLP_LEASE_IS_OWNED ? row->owner->rate_bytes : -1, rate);
  snprintf(epoch, sizeof epoch, "%llu", (unsigned long long)row->lease->epoch);
  add_field(p->b, "  ", upto, y->upto, 0);
  add_field(p->b, "  ", rate, y->rate, 1);
  add_field(p->b, "  ", epoch, y->epoch, 1);
}

static void shard_line(page *p, const slp_watch_news *n, const layout *y, const slp_watch_row *row,
                       int utf8) {
  size_t from = p->b->n;
  char id[SLP_WORKER_ID], age[24], lag[24];
  const sloop_lease_t *l = row->lease;
  slp_lease_lag now = row->lag;
  if (row->mood == SLP_LEASE_IS_ENDED) now.ms = -1;
  slp_worker_id(l->owner, id);
  slp_age_text(l->written_at_ms, n->wall_ms, age);
  slp_lease_lag_text(now, lag);
  if (n->ui && n->ui->picks && strcmp(n->ui->shard, l->shard) == 0) add_style(p->b, n, SLP_STYLE_REVERSE);
  add_field(p->b, "", slp_shard_short(l->shard), y->shard, 0);
  add_styled(p->b, n, style_of_mood(row->mood), "  ", slp_lease_mood_word(row->mood), 6, 0);
  add_field(p->b, "  ", id, y->owner, 0);
  add_field(p->b, "  ", age, 5, 1);
  add_styled(p->b, n, style_of_lag(n, now.ms), "  ", lag, 6, 1);
  if (y->upto) add_wide_fields(p, n, y, row, now.ms);
  if (y->bar) slp_buf_add_z(p->b, "  ");
  add_style(p->b, n, style_of_lag(n, now.ms));
  add_bar(p->b, now.ms, y->bar, utf8);
  add_style(p->b, n, SLP_STYLE_OFF);
  if (y->spark) slp_buf_add_z(p->b, "  ");
  add_spark(p->b, n->past, l->shard, y->spark, utf8);
  if (y->reason) {
    slp_buf reason;
    slp_buf_init(&reason, p->b->mem, 1 << 12);
    reason_of(&reason, n, row);
    add_styled(p->b, n, style_of_mood(row->mood), "  ", slp_buf_z(&reason), y->reason, 0);
    slp_buf_free(&reason);
  }
  end_line(p, from);
}

/* Writes one line that sums up the rows without a line of their own: the rows before `from`, and from `to`
 * on. */
static void rest_line(page *p, const slp_watch_rows *r, size_t from, size_t to) {
  char line[160], lag[24], behind[48] = "", unknown[48] = "";
  int64_t worst_ms = -1;
  size_t ended = 0, unknown_n = 0;
  for (size_t i = 0; i < r->n; i++) {
    const slp_watch_row *row = &r->row[i];
    if (i >= from && i < to) continue;
    worst_ms = slp_max_i64(worst_ms, row->lag.ms);
    ended += row->mood == SLP_LEASE_IS_ENDED;
    unknown_n += row->mood != SLP_LEASE_IS_ENDED && row->lag.ms < 0;
  }
  slp_lease_lag_text((slp_lease_lag){worst_ms, 1}, lag);
  if (worst_ms > 0)
    snprintf(behind, sizeof behind, ", at most %s behind", lag + 1);
  else if (!unknown_n)
    snprintf(behind, sizeof behind, ", none behind");
  if (unknown_n) snprintf(unknown, sizeof unknown, ", %zu of unknown lag", unknown_n);
  snprintf(line, sizeof line, "and %zu more%s%s; %zu of them at their end", r->n - (to - from), behind,
           unknown, ended);
  add_line(p, line);
}

/* Writes the titles of the shards' columns, and below them the shards in `lines` lines. If there are more
 * shards, the last line sums up those that are not shown. */
static void add_shards(page *p, const slp_watch_news *n, const slp_watch_rows *r, uint32_t lines, int utf8) {
  layout y = layout_of(n, p->columns);
  int all = r->n <= lines;
  size_t shown = all ? r->n : lines ? lines - 1 : 0, from = 0;
  if (n->ui) {
    slp_watch_rows_choose(r, n->ui, shown);
    from = n->ui->top;
  }
  shard_titles(p, n, &y);
  for (size_t i = from; i < from + shown; i++) shard_line(p, n, &y, &r->row[i], utf8);
  if (!all && lines) rest_line(p, r, from, from + shown);
}

/* ---- workers ---------------------------------------------------------------------------------- */

static const char *word_by_past(const void *news, const sloop_worker_t *w) {
  const slp_watch_news *n = news;
  return slp_watch_past_word(n->past, w, n->now_ms, n->wall_ms);
}

/* Returns how many leases a worker has. For a dead worker counts the leases that name it, because its row
 * still has the number of its last heartbeat. */
static uint32_t held_of(const slp_watch_news *n, const sloop_worker_t *w) {
  uint32_t held = 0;
  if (!w->dead) return w->held;
  for (size_t i = 0; i < n->leases->leases_n; i++)
    held += strcmp(n->leases->leases[i]->owner, w->worker) == 0;
  return held;
}

/* Returns 1 if the worker w is no longer shown: no lease names it, and it has left or has been dead for a
 * while. */
static int is_gone(const slp_watch_news *n, const sloop_worker_t *w) {
  if (!n->ui || !w->dead || held_of(n, w)) return 0;
  return w->leaving || n->wall_ms - w->written_at_ms > (int64_t)w->lease_ms + DEAD_SHOWN_MS;
}

static int is_shown(const slp_watch_news *n, const sloop_worker_t *w) {
  char id[SLP_WORKER_ID];
  if (is_gone(n, w)) return 0;
  slp_worker_id(w->worker, id);
  return !n->ui || slp_watch_matches(id, n->ui->filter) ||
         slp_watch_matches(word_by_past(n, w), n->ui->filter) || slp_watch_matches(w->host, n->ui->filter);
}

static size_t workers_shown(const slp_watch_news *n) {
  size_t shown = 0;
  for (size_t i = 0; i < n->leases->workers_n; i++) shown += (size_t)is_shown(n, n->leases->workers[i]);
  return shown;
}

static void worker_line(page *p, const slp_watch_news *n, const sloop_worker_t *w, uint32_t name) {
  size_t from = p->b->n;
  char id[SLP_WORKER_ID], lag[24], rate[24], seen[24], lease[24];
  const char *word = word_by_past(n, w);
  slp_lease_lag now = slp_worker_lag_of(w, n->wall_ms);
  slp_worker_id(w->worker, id);
  slp_lease_lag_text(now, lag);
  slp_rate_text(w->dead ? -1 : w->rate_bytes, rate); /* the rate in a dead worker's row is out of date */
  slp_age_text(w->written_at_ms, n->wall_ms, seen);
  add_field(p->b, "", id, name, 0);
  add_styled(p->b, n, style_of_worker(word), "  ", word, 7, 0);
  slp_buf_addf(p->b, "  %5u", (unsigned)held_of(n, w));
  add_styled(p->b, n, style_of_lag(n, now.ms), "  ", lag, 6, 1);
  slp_buf_addf(p->b, "  %7s  %5s  ", rate, seen);
  if (n->ui && p->columns >= WIDE_COLUMNS) {
    slp_span_text(w->lease_ms, lease);
    slp_buf_addf(p->b, "%5s  %6u  ", lease, (unsigned)w->weight);
  }
  slp_elide(p->b, *w->host ? w->host : "-", 40);
  end_line(p, from);
}

/* Writes the titles of the workers' columns, and below them `lines` lines, beginning with worker number `top`
 * of those for which is_shown() returns 1. */
static void add_workers(page *p, const slp_watch_news *n, uint32_t lines, size_t top) {
  size_t name = 6, all = workers_shown(n), at = 0;
  for (size_t i = 0; i < n->leases->workers_n; i++) {
    char id[SLP_WORKER_ID];
    slp_worker_id(n->leases->workers[i]->worker, id);
    name = slp_max_u64(name, strlen(id));
  }
  name = slp_min_u64(name, slp_max_u64(6, p->columns / 3));
  char title[200];
  if (count_free_rows(p)) {
    size_t from = p->b->n;
    add_style(p->b, n, SLP_STYLE_FAINT);
    slp_buf_addf(p->b, "%-*s  STATE     HELD     LAG   RATE/s   SEEN  %sHOST", (int)name, "WORKER",
                 n->ui && p->columns >= WIDE_COLUMNS ? "LEASE  WEIGHT  " : "");
    end_line(p, from);
  }
  size_t shown = all <= lines ? all : lines ? lines - 1 : 0;
  for (size_t i = 0; i < n->leases->workers_n && at < top + shown; i++) {
    if (!is_shown(n, n->leases->workers[i])) continue;
    if (at++ >= top) worker_line(p, n, n->leases->workers[i], (uint32_t)name);
  }
  if (shown == all || !lines) return;
  snprintf(title, sizeof title, "and %zu more", all - shown);
  add_line(p, title);
}

/* ---- the whole -------------------------------------------------------------------------------- */

static void clock_of(const slp_watch_news *n, int64_t at_ms, char out[16]) {
  int64_t second = (at_ms + n->local_ms) / 1000 % 86400;
  snprintf(out, 16, "%02d:%02d:%02d", (int)(second / 3600), (int)(second / 60 % 60), (int)(second % 60));
}

/* Writes the title "STREAM for APP", with the time at the right end of the line. */
static void add_title(page *p, const slp_watch_news *n) {
  char right[40], clock[16];
  size_t from = p->b->n;
  if (!count_free_rows(p)) return;
  clock_of(n, n->wall_ms, clock);
  snprintf(right, sizeof right, "%s, every %us", clock, (unsigned)(n->every_ms / 1000));
  size_t width = p->columns > strlen(right) + 2 ? p->columns - strlen(right) - 2 : p->columns;
  slp_buf name;
  slp_buf_init(&name, p->b->mem, 1 << 16);
  if (slp_buf_addf(&name, "%s for %s%s%s", n->stream, n->app, n->retrieval ? ", " : "",
                   n->retrieval ? n->retrieval : ""))
    slp_buf_fail(p->b, slp_buf_failed(&name));
  add_styled(p->b, n, SLP_STYLE_BOLD, "", slp_buf_z(&name), width, 0);
  if (width < p->columns) slp_buf_addf(p->b, "  %s", right);
  slp_buf_free(&name);
  end_line(p, from);
}

static void add_news(slp_buf *b, const slp_watch_news *n) {
  uint32_t moves = slp_watch_past_moves(n->past, n->now_ms);
  slp_buf_addf(b, "%u%s move%s in the last minute, %llu throttle%s of the table", (unsigned)moves,
               moves == SLP_WATCH_MOVES ? " or more" : "", moves == 1 ? "" : "s",
               (unsigned long long)n->throttled, n->throttled == 1 ? "" : "s");
}

static void lease_sum(slp_buf *b, const slp_watch_news *n) {
  slp_lease_sum(b, n->leases);
  if (n->leases->bad_rows_n)
    slp_buf_addf(b, "; %zu bad row%s", n->leases->bad_rows_n, n->leases->bad_rows_n == 1 ? "" : "s");
}

static void worker_sum(slp_buf *b, const slp_watch_news *n) {
  slp_worker_sum(b, n->leases, n->wall_ms, word_by_past, n);
}

static void add_sums(page *p, const slp_watch_news *n) {
  static void (*const sums[])(slp_buf * b, const slp_watch_news *n) = {lease_sum, worker_sum, add_news};
  for (size_t i = 0; i < SLP_COUNT(sums) && count_free_rows(p); i++) {
    size_t from = p->b->n;
    sums[i](p->b, n);
    end_line(p, from);
  }
}

static void move_text(slp_buf *b, const slp_watch_news *n, const slp_watch_move *m) {
  char clock[16], from[80], to[80];
  clock_of(n, n->wall_ms - (int64_t)(n->now_ms - m->at_ms), clock);
  slp_worker_id(n->past->workers.name[m->from], from);
  slp_worker_id(n->past->workers.name[m->to], to);
  slp_buf_addf(b, "%s shard %s: ", clock, slp_shard_short(n->past->shards.name[m->shard]));
  slp_elide(b, from, 30);
  slp_buf_add_z(b, " -> ");
  slp_elide(b, to, 30);
}

static void add_moves(page *p, const slp_watch_news *n, uint32_t lines) {
  for (uint32_t i = 0; i < lines && count_free_rows(p); i++) {
    const slp_watch_move *m = slp_watch_past_move(n->past, i);
    size_t from = p->b->n;
    if (!m) return;
    move_text(p->b, n, m);
    end_line(p, from);
  }
}

/* Writes the last line of the screen: the keys that this page has. `rows_n`: how many shards match the
 * filter. */
static void add_keys(page *p, const slp_watch_news *n, size_t rows_n) {
  char line[200], filter[80] = "/ filter";
  const slp_watch_ui *u = n->ui;
  size_t from = p->b->n;
  if (!count_free_rows(p)) return;
  if (u && *u->filter)
    snprintf(filter, sizeof filter, "/%s: %zu of %zu", u->filter, rows_n, n->leases->leases_n);
  if (!u || !u->has_keys)
    snprintf(line, sizeof line, "Ctrl-C ends");
  else if (u->page == SLP_WATCH_TYPING)
    snprintf(line, sizeof line, "/%s_  %zu of %zu shards; Enter keeps it, Esc shows all", u->filter, rows_n,
             n->leases->leases_n);
  else if (u->page == SLP_WATCH_WORKERS)
    snprintf(line, sizeof line, "q quit  ? help  w shards  arrows scroll");
  else if (u->page == SLP_WATCH_WHY)
    snprintf(line, sizeof line, "q quit  ? help  Esc back  arrows scroll");
  else if (u->page == SLP_WATCH_HELP)
    snprintf(line, sizeof line, "q quit; any other key goes back");
  else
    snprintf(line, sizeof line, "q quit  ? help  s sort: %s  %s  Enter why  w workers",
             slp_watch_sort_word(u->sort), filter);
  add_style(p->b, n, SLP_STYLE_FAINT);
  slp_buf_add_z(p->b, line);
  end_line(p, from);
}

static int shows_shards(const slp_watch_ui *u) {
  return !u || u->page == SLP_WATCH_SHARDS || u->page == SLP_WATCH_TYPING;
}

/* Writes shards, workers and moves into the lines that are left, except the last line. */
static void add_lists(page *p, const slp_watch_news *n, slp_watch_rows *r, int utf8) {
  /* 9 lines are always used: the title, three lines of sums, a blank line, the titles of the shards'
   * columns, a blank line, the titles of the workers' columns, and the last line. */
  uint32_t free_rows = p->rows > 9 ? p->rows - 9 : 0, moves = 0, moves_want = 0;
  while (moves_want < MOVES_SHOWN && slp_watch_past_move(n->past, moves_want)) moves_want++;
  size_t workers_n = workers_shown(n);
  uint32_t workers = (uint32_t)slp_min_u64(workers_n, free_rows / 3);
  uint32_t shards = (uint32_t)slp_min_u64(r->n, free_rows - workers);
  workers = (uint32_t)slp_min_u64(workers_n, free_rows - shards);
  if (free_rows - shards - workers > 1) /* if moves are shown, a blank line comes before them */
    moves = (uint32_t)slp_min_u64(moves_want, free_rows - shards - workers - 1);
  slp_watch_sort sort = n->ui ? n->ui->sort : SLP_SORT_URGENT;
  /* rows come sorted by id, so that each lease stays on its line from poll to poll */
  if (sort != SLP_SORT_URGENT || r->n > shards) slp_watch_rows_sort(r, sort);
  add_shards(p, n, r, shards, utf8);
  add_line(p, "");
  add_workers(p, n, workers, 0);
  if (moves) add_line(p, "");
  add_moves(p, n, moves);
}

/* Moves u->top, the first line that is shown of a text or list with n lines, by u->step. `lines` lines are
 * shown at once. Returns u->top. */
static size_t scroll_lines(slp_watch_ui *u, size_t n, size_t lines) {
  int64_t most = n > lines ? (int64_t)(n - lines) : 0, to = (int64_t)u->top + u->step;
  u->step = 0;
  u->top = (size_t)(to < 0 ? 0 : to > most ? most : to);
  return u->top;
}

static void add_workers_page(page *p, const slp_watch_news *n) {
  uint32_t lines = count_free_rows(p) > 2 ? count_free_rows(p) - 2 : 0;
  add_workers(p, n, lines, scroll_lines(n->ui, workers_shown(n), lines ? lines - 1 : 0));
}

/* Returns the length of the first line of `text`, at most `columns` bytes. Breaks a longer line at a blank if
 * possible. */
static size_t line_of(const char *text, size_t columns) {
  size_t n = strcspn(text, "\n"), cut = columns;
  if (n <= columns) return n;
  while (cut > columns / 2 && text[cut] != ' ') cut--;
  return text[cut] == ' ' ? cut : columns;
}

/* Writes the lines of a text that the page shows, broken to its width. Each byte of the text takes one
 * column. */
static void add_text(page *p, slp_watch_ui *u, const char *text) {
  size_t n = 0, width = p->columns ? p->columns : 1,
         lines = count_free_rows(p) > 1 ? count_free_rows(p) - 1 : 0;
  for (const char *at = text; *at; n++) {
    at += line_of(at, width);
    at += *at == '\n' || *at == ' ';
  }
  size_t top = scroll_lines(u, n, lines), i = 0;
  for (const char *at = text; *at && i < top + lines; i++) {
    size_t length = line_of(at, width), from = p->b->n;
    for (size_t k = 0; i >= top && k < length; k++)
      slp_buf_add_char(p->b, at[k] >= 0x20 && at[k] < 0x7f ? at[k] : '?');
    if (i >= top) end_line(p, from);
    at += length;
    at += *at == '\n' || *at == ' ';
  }
}

static const char help_text[] =
    "arrows, j k     choose a shard; PgUp PgDn Home End g G too\n"
    "Enter           why it is read, or is not (--explain)\n"
    "/               only shards and workers with this text: an id, a worker, a\n"
    "                state such as dead; Esc shows all again\n"
    "s               sort by urgency, lag, shard, worker, rate of the owner\n"
    "w               workers alone\n"
    "?               this text\n"
    "q, Ctrl-C       quit; Ctrl-Z stops, fg goes on\n"
    "\n"
    "LAG             how far behind the newest record; < is an upper bound\n"
    "AGE, SEEN       since the row of the shard, of the worker was written\n"
    "100ms..1d       the lag as a bar, from 100 ms to a day, logarithmic\n"
    "PAST            the lags of the last polls, the newest on the right\n"
    "READ UP TO      everything that arrived before is read (wide screens)\n"
    "OWNER/s         bytes a second that the owner hands over, of all its shards\n"
    "\n"
    "Colours: red a lag above --lag-over (10 minutes), a dead or silent owner, a\n"
    "refused position; yellow a tenth of that lag, a free or parked shard.\n"
    "Workers that have left are not shown, nor dead ones without a shard for long.\n";

static void add_why(page *p, const slp_watch_news *n) {
  char line[200];
  snprintf(line, sizeof line, "%s", slp_shard_short(n->ui->shard));
  if (!n->why) {
    slp_buf text;
    slp_buf_init(&text, p->b->mem, 1 << 12);
    slp_buf_addf(&text, "shard %s: asking ...\n", line);
    add_text(p, n->ui, slp_buf_z(&text));
    slp_buf_free(&text);
    return;
  }
  add_text(p, n->ui, n->why);
}

int slp_watch_screen(slp_buf *b, const slp_watch_news *n, uint32_t columns, uint32_t rows, int utf8) {
  page p = {b, columns, rows, 0};
  slp_watch_rows r;
  int bad = slp_watch_rows_make(&r, b->mem, n->leases, n->wall_ms, n->ui);
  if (bad) return bad;
  add_title(&p, n);
  if (shows_shards(n->ui)) add_sums(&p, n);
  add_line(&p, "");
  if (shows_shards(n->ui))
    add_lists(&p, n, &r, utf8);
  else if (n->ui->page == SLP_WATCH_WORKERS)
    add_workers_page(&p, n);
  else if (n->ui->page == SLP_WATCH_WHY)
    add_why(&p, n);
  else
    add_text(&p, n->ui, help_text);
  while (count_free_rows(&p) > 1) add_line(&p, "");
  add_keys(&p, n, r.n);
  slp_watch_rows_free(&r);
  return slp_buf_failed(b);
}

int slp_watch_trouble(slp_buf *b, const char *why, uint32_t columns) {
  size_t from = b->n;
  slp_elide(b, why, SIZE_MAX);
  if (b->n - from > columns) b->n = from + columns;
  return slp_buf_failed(b);
}

int slp_watch_block(slp_buf *b, const slp_watch_news *n) {
  char clock[16];
  clock_of(n, n->wall_ms, clock);
  slp_buf_addf(b, "%s  %s for %s%s%s\n", clock, n->stream, n->app, n->retrieval ? ", " : "",
               n->retrieval ? n->retrieval : "");
  slp_lease_table_with(b, n->leases, n->wall_ms, 0, word_by_past, n);
  add_news(b, n);
  slp_buf_add_char(b, '\n');
  for (uint32_t i = 0; i < slp_watch_past_moves(n->past, n->now_ms) && i < MOVES_SHOWN; i++) {
    move_text(b, n, slp_watch_past_move(n->past, i));
    slp_buf_add_char(b, '\n');
  }
  return slp_buf_add_char(b, '\n');
}
