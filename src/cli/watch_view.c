/* watch_view.c - lays out what --watch shows. */
#include "cli/watch_view.h"

#include "base/buf.h"
#include "base/mem.h"
#include "cli/columns.h"
#include "cli/lease_table.h"
#include "cli/lease_words.h"
#include "cli/record_formats.h"
#include "cli/watch_past.h"

#include <sloop_admin.h>
#include <stdio.h>
#include <stdlib.h>

#define LEAST_MS 100     /* a lag below this has no bar */
#define MOST_MS 86400000 /* a lag of this or more has a full bar */
#define MOVES_SHOWN 4

/* ---- bars ------------------------------------------------------------------------------------- */

/* Returns log2(v) in 64ths. It is interpolated linearly between powers of two, which is precise enough for
 * a bar. */
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

static size_t characters(slp_str s) {
  size_t n = 0;
  for (size_t i = 0; i < s.n; i++) n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
  return n;
}

/* Ends the line that began at offset `from`. Cuts the line to the width of the page. */
static void end_line(page *p, size_t from) {
  p->used++;
  if (slp_buf_failed(p->b)) return;
  slp_str line = {p->b->p + from, p->b->n - from};
  while (characters(line) > p->columns) line.n--;
  p->b->n = from + line.n;
  if (p->used < p->rows) slp_buf_add_char(p->b, '\n');
}

static uint32_t room(const page *p) { return p->rows - p->used; }

static void add_line(page *p, const char *text) {
  if (!room(p)) return;
  size_t from = p->b->n;
  slp_buf_add_z(p->b, text);
  end_line(p, from);
}

/* Appends `gap`, then the text in a column that is `width` characters wide. `right`: the text is aligned
 * to the right. */
static void add_field(slp_buf *b, const char *gap, const char *text, size_t width, int right) {
  size_t n = slp_min_u64(strlen(text), width);
  slp_buf_add_z(b, gap);
  if (right) add_times(b, " ", (uint32_t)(width - n));
  slp_elide(b, text, width);
  if (!right) add_times(b, " ", (uint32_t)(width - n));
}

/* ---- shards ----------------------------------------------------------------------------------- */

typedef struct layout {
  uint32_t shard, owner, bar, spark; /* widths of columns in characters; 0: the column is not shown */
} layout;

#define FIXED_COLUMNS 29 /* width of the columns for state, lag and age, with the gaps */

static layout layout_of(const slp_watch_news *n, uint32_t columns) {
  size_t shard = 5, owner = 5;
  for (size_t i = 0; i < n->leases->leases_n; i++) {
    char id[80];
    slp_worker_id(n->leases->leases[i]->owner, id);
    shard = slp_max_u64(shard, strlen(slp_shard_short(n->leases->leases[i]->shard)));
    owner = slp_max_u64(owner, strlen(id));
  }
  uint32_t rest = columns > FIXED_COLUMNS ? columns - FIXED_COLUMNS : 0;
  layout y = {.bar = rest >= 30 ? rest / 5 : 0, .spark = rest >= 20 ? rest / 4 : 0};
  if (y.bar > 20) y.bar = 20;
  y.shard = (uint32_t)slp_min_u64(shard, slp_max_u64(5, rest / 5));
  uint32_t taken = y.shard + y.bar + y.spark;
  y.owner = (uint32_t)slp_min_u64(owner, rest > taken ? rest - taken : 0);
  taken += y.owner;
  /* the bars of past lags get all of the width that is left */
  if (y.spark && rest > taken) y.spark += rest - taken;
  if (y.spark > SLP_WATCH_POLLS) y.spark = SLP_WATCH_POLLS;
  return y;
}

static void shard_titles(page *p, const layout *y) {
  size_t from = p->b->n;
  if (!room(p)) return;
  add_field(p->b, "", "SHARD", y->shard, 0);
  add_field(p->b, "  STATE   ", "OWNER", y->owner, 0);
  slp_buf_add_z(p->b, "    AGE     LAG");
  add_field(p->b, y->bar ? "  " : "", "100ms..1d", y->bar, 0);
  add_field(p->b, y->spark ? "  " : "", "PAST", y->spark, 0);
  end_line(p, from);
}

static void shard_line(page *p, const slp_watch_news *n, const layout *y, const sloop_lease_t *l, int utf8) {
  size_t from = p->b->n;
  char id[80], age[24], lag[24];
  slp_lease_mood mood = slp_lease_mood_in(l, n->leases);
  slp_lease_lag now = slp_lease_lag_of(l, n->leases, n->wall_ms);
  if (mood == SLP_LEASE_IS_ENDED) now.ms = -1;
  slp_worker_id(l->owner, id);
  slp_age_text(l->written_at_ms, n->wall_ms, age);
  slp_lease_lag_text(now, lag);
  add_field(p->b, "", slp_shard_short(l->shard), y->shard, 0);
  add_field(p->b, "  ", slp_lease_mood_word(mood), 6, 0);
  add_field(p->b, "  ", id, y->owner, 0);
  add_field(p->b, "  ", age, 5, 1);
  add_field(p->b, "  ", lag, 6, 1);
  if (y->bar) slp_buf_add_z(p->b, "  ");
  add_bar(p->b, now.ms, y->bar, utf8);
  if (y->spark) slp_buf_add_z(p->b, "  ");
  add_spark(p->b, n->past, l->shard, y->spark, utf8);
  end_line(p, from);
}

typedef struct ranked {
  const sloop_lease_t *lease;
  slp_lease_mood mood;
  int64_t lag_ms;
} ranked;

/* Compares two leases for sorting by urgency: leases in trouble first, then the greatest lag, and last the
 * shards that were read to their end. */
static int compare(const void *va, const void *vb) {
  const ranked *a = va, *b = vb;
  int ea = a->mood >= SLP_LEASE_IS_OWNED ? (int)a->mood : -1,
      eb = b->mood >= SLP_LEASE_IS_OWNED ? (int)b->mood : -1;
  if (ea != eb) return ea < eb ? -1 : 1;
  if (a->mood != b->mood) return a->mood < b->mood ? -1 : 1;
  if (a->lag_ms != b->lag_ms) return a->lag_ms > b->lag_ms ? -1 : 1;
  return strcmp(a->lease->shard, b->lease->shard);
}

/* Writes one line that sums up the leases for which there are no lines. */
static void rest_line(page *p, const ranked *rest, size_t n) {
  char line[160], lag[24], behind[48] = "", unknown[48] = "";
  int64_t worst_ms = -1;
  size_t ended = 0, unknown_n = 0;
  for (size_t i = 0; i < n; i++) {
    worst_ms = slp_max_i64(worst_ms, rest[i].lag_ms);
    ended += rest[i].mood == SLP_LEASE_IS_ENDED;
    unknown_n += rest[i].mood != SLP_LEASE_IS_ENDED && rest[i].lag_ms < 0;
  }
  slp_lease_lag_text((slp_lease_lag){worst_ms, 1}, lag);
  if (worst_ms > 0)
    snprintf(behind, sizeof behind, ", at most %s behind", lag + 1);
  else if (!unknown_n)
    snprintf(behind, sizeof behind, ", none behind");
  if (unknown_n) snprintf(unknown, sizeof unknown, ", %zu of unknown lag", unknown_n);
  snprintf(line, sizeof line, "and %zu more%s%s; %zu of them at their end", n, behind, unknown, ended);
  add_line(p, line);
}

static void add_shards(page *p, const slp_watch_news *n, uint32_t lines, int utf8) {
  size_t all = n->leases->leases_n;
  layout y = layout_of(n, p->columns);
  shard_titles(p, &y);
  if (all <= lines) { /* sorted by id, so that each lease stays on its line from poll to poll */
    for (size_t i = 0; i < all; i++) shard_line(p, n, &y, n->leases->leases[i], utf8);
    return;
  }
  ranked *r = slp_zalloc_n(p->b->mem, all, sizeof *r);
  if (!r) {
    slp_buf_fail(p->b, SLP_ENOMEM);
    return;
  }
  for (size_t i = 0; i < all; i++) {
    const sloop_lease_t *l = n->leases->leases[i];
    r[i] = (ranked){l, slp_lease_mood_in(l, n->leases), slp_lease_lag_of(l, n->leases, n->wall_ms).ms};
  }
  qsort(r, all, sizeof *r, compare);
  size_t shown = lines ? lines - 1 : 0;
  for (size_t i = 0; i < shown; i++) shard_line(p, n, &y, r[i].lease, utf8);
  if (lines) rest_line(p, r + shown, all - shown);
  slp_free(p->b->mem, r);
}

/* ---- workers ---------------------------------------------------------------------------------- */

static const char *word_by_past(const void *news, const sloop_worker_t *w) {
  const slp_watch_news *n = news;
  return slp_watch_past_word(n->past, w, n->now_ms, n->wall_ms);
}

static void worker_line(page *p, const slp_watch_news *n, const sloop_worker_t *w, uint32_t name) {
  size_t from = p->b->n;
  char id[80], lag[24], rate[24], seen[24];
  slp_worker_id(w->worker, id);
  slp_lease_lag_text(slp_worker_lag_of(w, n->wall_ms), lag);
  slp_rate_text(w->rate_bytes, rate);
  slp_age_text(w->written_at_ms, n->wall_ms, seen);
  add_field(p->b, "", id, name, 0);
  slp_buf_addf(p->b, "  %-7s  %5u  %6s  %7s  %5s  ", word_by_past(n, w), (unsigned)w->held, lag, rate, seen);
  slp_elide(p->b, *w->host ? w->host : "-", 40);
  end_line(p, from);
}

static void add_workers(page *p, const slp_watch_news *n, uint32_t lines) {
  size_t name = 6, all = n->leases->workers_n;
  for (size_t i = 0; i < all; i++) {
    char id[80];
    slp_worker_id(n->leases->workers[i]->worker, id);
    name = slp_max_u64(name, strlen(id));
  }
  name = slp_min_u64(name, slp_max_u64(6, p->columns / 3));
  char title[200];
  snprintf(title, sizeof title, "%-*s  STATE     HELD     LAG   RATE/s   SEEN  HOST", (int)name, "WORKER");
  add_line(p, title);
  size_t shown = all <= lines ? all : lines ? lines - 1 : 0;
  for (size_t i = 0; i < shown; i++) worker_line(p, n, n->leases->workers[i], (uint32_t)name);
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
  if (!room(p)) return;
  clock_of(n, n->wall_ms, clock);
  snprintf(right, sizeof right, "%s, every %us", clock, (unsigned)(n->every_ms / 1000));
  size_t width = p->columns > strlen(right) + 2 ? p->columns - strlen(right) - 2 : p->columns;
  slp_buf name;
  slp_buf_init(&name, p->b->mem, 1 << 16);
  if (slp_buf_addf(&name, "%s for %s%s%s", n->stream, n->app, n->retrieval ? ", " : "",
                   n->retrieval ? n->retrieval : ""))
    slp_buf_fail(p->b, slp_buf_failed(&name));
  add_field(p->b, "", slp_buf_z(&name), width, 0);
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
  for (size_t i = 0; i < SLP_COUNT(sums) && room(p); i++) {
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
  for (uint32_t i = 0; i < lines && room(p); i++) {
    const slp_watch_move *m = slp_watch_past_move(n->past, i);
    size_t from = p->b->n;
    if (!m) return;
    move_text(p->b, n, m);
    end_line(p, from);
  }
}

int slp_watch_screen(slp_buf *b, const slp_watch_news *n, uint32_t columns, uint32_t rows, int utf8) {
  page p = {b, columns, rows, 0};
  /* 9 lines are always used: the title, three lines of sums, a blank line, the titles of the shards'
   * columns, a blank line, the titles of the workers' columns, and the last line. */
  uint32_t free_rows = rows > 9 ? rows - 9 : 0, moves = 0, moves_want = 0;
  while (moves_want < MOVES_SHOWN && slp_watch_past_move(n->past, moves_want)) moves_want++;
  uint32_t workers = (uint32_t)slp_min_u64(n->leases->workers_n, free_rows / 3);
  uint32_t shards = (uint32_t)slp_min_u64(n->leases->leases_n, free_rows - workers);
  workers = (uint32_t)slp_min_u64(n->leases->workers_n, free_rows - shards);
  if (free_rows - shards - workers > 1) /* if moves are shown, a blank line comes before them */
    moves = (uint32_t)slp_min_u64(moves_want, free_rows - shards - workers - 1);
  add_title(&p, n);
  add_sums(&p, n);
  add_line(&p, "");
  add_shards(&p, n, shards, utf8);
  add_line(&p, "");
  add_workers(&p, n, workers);
  if (moves) add_line(&p, "");
  add_moves(&p, n, moves);
  while (room(&p) > 1) add_line(&p, "");
  add_line(&p, "Ctrl-C ends");
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
