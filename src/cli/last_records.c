/* last_records.c - reads the records of a window of time, from some time until now. Goes on with longer or
 * shorter windows until one has the last N records. */
#include "cli/last_records.h"

#include "base/mem.h"
#include "base/states.h"
#include "cli/app.h"
#include "cli/consumer_run.h"
#include "cli/exit.h"
#include "cli/newest_times.h"
#include "cli/people_lines.h"
#include "cli/search_back.h"
#include "cli/until.h"
#include "program/program.h"
#include "program/shown_time.h"

#include <sloop.h>

/* A window is too dense to be read if it has more than DENSE_TIMES * N records, and more than DENSE_LEAST. */
#define DENSE_TIMES 8u
#define DENSE_LEAST 10000u
/* Two windows begin at least this far apart, because a shard answers only five calls a second of all its
 * readers together. */
#define PACE_US 200000u
#define TELL_US 5000000u /* the user is told once that the search takes longer than this */

static const slp_set allowed[] = {
    [SLP_LAST_IDLE] = SLP_BIT(SLP_LAST_READS) | SLP_BIT(SLP_LAST_ENDED),
    [SLP_LAST_READS] = SLP_BIT(SLP_LAST_PACES) | SLP_BIT(SLP_LAST_CLOSES) | SLP_BIT(SLP_LAST_ENDED),
    [SLP_LAST_PACES] = SLP_BIT(SLP_LAST_CLOSES) | SLP_BIT(SLP_LAST_ENDED),
    [SLP_LAST_CLOSES] = SLP_BIT(SLP_LAST_READS) | SLP_BIT(SLP_LAST_FOUND) | SLP_BIT(SLP_LAST_ENDED),
    [SLP_LAST_FOUND] = 0,
    [SLP_LAST_ENDED] = 0,
};

static void move(slp_last_records *l, slp_last_state to) { SLP_MOVE(allowed, l->state, to); }

static int is_searching(const slp_last_records *l) {
  return l->state == SLP_LAST_READS || l->state == SLP_LAST_CLOSES || l->state == SLP_LAST_PACES;
}

int slp_last_records_is_open(const slp_last_records *l) {
  for (size_t i = 0; i < l->n && l->each; i++)
    if (l->each[i].opened && !l->each[i].consumer.closed) return 1;
  return 0;
}

static void close_all(slp_last_records *l) {
  for (size_t i = 0; i < l->n; i++)
    if (l->each[i].opened) slp_cli_consumer_close(&l->each[i].consumer);
}

void slp_last_records_end(slp_last_records *l) {
  if (!is_searching(l)) return;
  move(l, SLP_LAST_ENDED);
  close_all(l);
}

static void fail_last_search(slp_last_records *l, slp_last_reading *rd, const char *why) {
  slp_cli_consumer_fail(&rd->consumer, SLP_EXIT_FAILED, why);
  slp_last_records_end(l);
}

/* Chooses the next window and returns 1. Returns 0 if no other window is needed, because the present one has
 * N records or has all that there are. */
static int choose_window(slp_last_records *l, int dense) {
  if (dense)
    slp_search_back_nearer(&l->search);
  else if (l->newest.n >= l->newest.wanted || !slp_search_back_further(&l->search))
    return 0;
  return 1;
}

/* Called when the window is read, or is too dense to be read. If another window follows, its consumers stay
 * open until that window may begin, so that the loop goes on running. */
static void finish_window(slp_last_records *l, int dense) {
  l->answered = 1;
  l->more = (uint8_t)choose_window(l, dense);
  move(l, l->more ? SLP_LAST_PACES : SLP_LAST_CLOSES);
  if (!l->more) close_all(l);
  for (size_t i = 0; i < l->n && l->more; i++) (void)sloop_pause(l->each[i].consumer.s, NULL);
}

/* ---- reading a window ------------------------------------------------------------------------ */

typedef struct shards_left { /* result of look_at_shard for all shards of a stream */
  /* 1: some shard is not paused, and is not at its tip or has records that are not acknowledged */
  int reads;
} shards_left;

static void look_at_shard(const sloop_shard_stats_t *shard, void *arg) {
  shards_left *left = arg;
  if (!shard->paused && (shard->behind_ms != 0 || shard->unacked)) left->reads = 1;
}

/* Returns 1 if each shard of the stream is read to the end of the window or to its tip (its newest
 * record). */
static int is_read(const slp_last_records *l, slp_last_reading *rd) {
  shards_left left = {0};
  sloop_stats_t now;
  slp_cli_consumer_stats(&rd->consumer, &now);
  if (!now.pages || now.batches_now) return 0;
  /* A consumer that starts at the oldest record may have read its first shards to their tips before it knows
   * all shards. */
  if (!l->search.at_ms && now.tip_age_ms_now == UINT64_MAX) return 0;
  sloop_shard_stats_each(rd->consumer.s, look_at_shard, &left);
  return !left.reads;
}

static void check_window(slp_last_records *l) {
  if (l->state != SLP_LAST_READS) return;
  for (size_t i = 0; i < l->n; i++) {
    slp_last_reading *rd = &l->each[i];
    if (!rd->done && rd->consumer.s && is_read(l, rd)) rd->done = 1;
    if (!rd->done) return;
  }
  finish_window(l, 0);
}

static void on_batch(slp_cli_consumer *c, sloop_batch_t *b) {
  slp_last_records *l = c->user;
  slp_last_reading *rd = SLP_OWNER(c, slp_last_reading, consumer);
  size_t n = sloop_batch_count(b);
  int bad = 0;
  for (size_t i = 0; i < n && !bad && l->state == SLP_LAST_READS; i++) {
    const sloop_record_t *r = sloop_batch_at(b, i);
    int passed = slp_until_passed(&rd->until, r->shard, r->arrived_at_ms);
    bad = passed < 0 ? passed : slp_newest_times_add(&l->newest, r->arrived_at_ms);
    /* pauses a shard at the end of the window, because a shard that is always written to never reaches its
     * tip */
    if (passed > 0) sloop_pause(rd->consumer.s, r->shard);
  }
  sloop_batch_done(b, n);
  if (bad)
    fail_last_search(l, rd, "no memory to search for the last records");
  else if (l->state == SLP_LAST_READS && l->newest.seen > l->limit && !l->search.whole)
    finish_window(l, 1);
  else
    check_window(l);
}

static void on_tip(slp_cli_consumer *c) {
  slp_last_records *l = c->user;
  SLP_OWNER(c, slp_last_reading, consumer)->done = 1;
  check_window(l);
}

static void on_shard(slp_cli_consumer *c, const char *shard, sloop_shard_event_kind_t what) {
  slp_last_records *l = c->user;
  slp_last_reading *rd = SLP_OWNER(c, slp_last_reading, consumer);
  if (l->state == SLP_LAST_READS && slp_until_shard(&rd->until, shard, what) != 0)
    fail_last_search(l, rd, "no memory to search for the last records");
}

/* ---- from window to window ------------------------------------------------------------------- */

static void on_closed(slp_cli_consumer *c);

/* Called when a consumer was stopped or has failed, but not when close_all closes it. */
static void on_ending(slp_cli_consumer *c) {
  slp_last_records *l = c->user;
  slp_last_records_end(l);
  slp_cli_consumer_close(c);
}

static int open_one(slp_last_records *l, size_t i) {
  slp_last_reading *rd = &l->each[i];
  sloop_opts_t o = l->app->args->opts;
  o.stream = l->streams[i];
  o.order = SLOOP_ORDER_SHARD; /* no shard waits for another, because only arrival times are compared here */
  o.retrieval = SLOOP_RETRIEVAL_POLL;
  o.start =
      (sloop_position_t){.kind = l->search.at_ms ? SLOOP_AT_TIME : SLOOP_OLDEST, .at_ms = l->search.at_ms};
  if (i > 0) o.join = l->each[0].consumer.s;
  rd->consumer = (slp_cli_consumer){.user = l,
                                    .on_batch = on_batch,
                                    .on_tip = on_tip,
                                    .on_shard = on_shard,
                                    .on_ending = on_ending,
                                    .on_closed = on_closed,
                                    .name = l->n > 1 ? l->streams[i] : NULL,
                                    .muted = 1};
  slp_until_free(&rd->until);
  slp_until_init(&rd->until, l->app->mem, l->search.now_ms);
  rd->done = 0;
  int r = slp_cli_consumer_open_idle(&rd->consumer, l->app, &o);
  rd->opened = !r;
  return r;
}

/* Opens the consumers that read the present window. */
static int open_window(slp_last_records *l) {
  int r = 0;
  slp_newest_times_clear(&l->newest);
  l->opened_us = slp_program_mono_us();
  move(l, SLP_LAST_READS);
  for (size_t i = 0; i < l->n; i++) l->each[i].opened = 0;
  for (size_t i = 0; i < l->n && !r; i++) r = open_one(l, i);
  for (size_t i = 0; i < l->n && !r; i++) r = slp_cli_consumer_start(&l->each[i].consumer);
  if (r) slp_last_records_end(l);
  return r;
}

static void find_start(slp_last_records *l) {
  const slp_newest_times *t = &l->newest;
  l->left = t->n;
  l->skip = t->ties;
  l->start_ms = t->n ? t->times[0] : l->search.now_ms;
  move(l, SLP_LAST_FOUND);
}

static void on_closed(slp_cli_consumer *c) {
  slp_last_records *l = c->user;
  if (slp_last_records_is_open(l)) return;
  if (l->state == SLP_LAST_CLOSES && !l->more) {
    find_start(l);
    l->on_found(l);
  } else if (l->state != SLP_LAST_CLOSES || (open_window(l) && !slp_last_records_is_open(l))) {
    l->on_ended(l);
  }
}

int slp_last_records_open(slp_last_records *l, slp_app *app) {
  l->app = app;
  l->begun_us = slp_program_mono_us();
  l->each = slp_zalloc_n(app->mem, l->n, sizeof *l->each);
  if (!l->each) {
    move(l, SLP_LAST_ENDED);
    slp_say("no memory");
    app->exit_code = SLP_EXIT_FAILED;
    return SLP_ENOMEM;
  }
  uint64_t wanted = app->args->last;
  l->limit = slp_max_u64(wanted * DENSE_TIMES, DENSE_LEAST);
  slp_newest_times_init(&l->newest, app->mem, (size_t)wanted);
  slp_search_back_begin(&l->search, slp_program_wall_ms());
  return open_window(l);
}

/* Tells the user once that the search takes long, and at which time the present window begins. */
static void tell_slow(slp_last_records *l) {
  char from[SLP_SHOWN_TIME] = "the oldest record";
  const char *error = "";
  if (l->told || l->app->args->quiet || slp_program_mono_us() - l->begun_us < TELL_US) return;
  l->told = 1;
  for (size_t i = 0; i < l->n && !*error; i++) error = l->each[i].consumer.error;
  if (l->search.at_ms) slp_shown_time(l->search.at_ms, l->app->args->utc, 0, from);
  slp_say_if_room("still searching for the last %llu records, now from %s on%s%s",
                  (unsigned long long)l->app->args->last, from, *error ? "; the last error: " : "", error);
}

void slp_last_records_tick(slp_last_records *l) {
  if (!is_searching(l)) return;
  for (size_t i = 0; i < l->n; i++)
    if (l->each[i].opened && !l->each[i].consumer.closed) slp_cli_consumer_tick(&l->each[i].consumer);
  tell_slow(l);
  if (l->state == SLP_LAST_PACES && slp_program_mono_us() - l->opened_us >= PACE_US) {
    move(l, SLP_LAST_CLOSES);
    close_all(l);
  }
  check_window(l);
}

void slp_last_records_free(slp_last_records *l) {
  for (size_t i = 0; i < l->n && l->each; i++) slp_until_free(&l->each[i].until);
  if (l->app) slp_free(l->app->mem, l->each);
  slp_newest_times_free(&l->newest);
}

slp_cli_consumer *slp_last_records_unanswered(slp_last_records *l) {
  for (size_t i = 0; i < l->n && l->state == SLP_LAST_READS && !l->answered; i++)
    if (l->each[i].opened && !slp_cli_consumer_answered(&l->each[i].consumer)) return &l->each[i].consumer;
  return NULL;
}

int slp_last_records_is_stuck(const slp_last_records *l) {
  int stuck = 0;
  for (size_t i = 0; l->each && i < l->n; i++) {
    if (!l->each[i].opened || l->each[i].consumer.closed) continue;
    if (!slp_cli_consumer_is_stuck(&l->each[i].consumer)) return 0;
    stuck = 1;
  }
  return stuck;
}

/* ---- after the search ------------------------------------------------------------------------ */

void slp_last_records_start(const slp_last_records *l, sloop_position_t *ret) {
  *ret = (sloop_position_t){.kind = SLOOP_AT_TIME, .at_ms = l->start_ms};
  if (l->start_ms < 0) ret->kind = SLOOP_OLDEST; /* the server gives its records no arrival times */
}

int slp_last_records_has(slp_last_records *l, const sloop_record_t *r) {
  /* arrival times within a shard may go back by a little */
  if (l->left && r->arrived_at_ms < l->start_ms) return 0;
  if (l->skip && r->arrived_at_ms <= l->start_ms) {
    l->skip--;
    return 0;
  }
  if (l->left) l->left--;
  return 1;
}

int slp_last_records_over(const slp_last_records *l) { return l->state == SLP_LAST_FOUND && l->left == 0; }
