/* stream_scan.c - finds new streams that match the patterns of the command line. */
#include "cli/stream_scan.h"

#include "api/find_streams.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/states.h"
#include "cli/app.h"
#include "cli/args.h"
#include "cli/consumer_run.h"
#include "cli/list_streams.h"
#include "cli/matched_streams.h"
#include "cli/people_lines.h"
#include "cli/stream_pattern.h"
#include "cli/trouble_lines.h"
#include "program/program.h"
#include "source/stream_name.h"

#include <sloop.h>

#define HURRY_US UINT64_C(1000000) /* the least time between the beginnings of two listings */

static void move(slp_stream_scan *scan, slp_scan_state to) {
  static const slp_set allowed[] = {
      [SLP_SCAN_OFF] = SLP_BIT(SLP_SCAN_WAITS) | SLP_BIT(SLP_SCAN_OFF),
      [SLP_SCAN_WAITS] = SLP_BIT(SLP_SCAN_LISTS) | SLP_BIT(SLP_SCAN_OFF),
      [SLP_SCAN_LISTS] = SLP_BIT(SLP_SCAN_WAITS) | SLP_BIT(SLP_SCAN_OFF),
  };
  SLP_MOVE(allowed, scan->state, to);
  if (to == SLP_SCAN_LISTS) return;
  slp_find_free(scan->find);
  scan->find = NULL;
}

static void wait_for_next(slp_stream_scan *scan) {
  move(scan, SLP_SCAN_WAITS);
  scan->next_us = slp_program_mono_us() + scan->finder.app->args->streams_ms * UINT64_C(1000);
}

/* Reports that the streams could not be listed. Reports it once, and again only after a listing has
 * succeeded. */
static void tell_failed(slp_stream_scan *scan, const slp_fail *f) {
  char why[SLP_TOLD_LINE];
  sloop_error_t e = slp_error_of_fail(f);
  if (scan->failing || scan->finder.app->args->quiet) return;
  scan->failing = 1;
  slp_error_line(&e, why, sizeof why);
  slp_say_if_room("the streams can't be listed, so new ones are not found; tried again every %u s: %s",
                  scan->finder.app->args->streams_ms / 1000u, why);
}

/* Called for args->streams[at] if it is listed. Returns 1 if the command no longer reads it because it is
 * gone, and the listed stream is a new one with the same name. A deleted stream is still listed for a while.
 * So a listed stream counts as new if a listing in between did not have it, or if a long time has passed.
 * Time alone does not count for a stream that could never be read. */
static int is_anew(slp_stream_scan *scan, size_t at) {
  uint64_t wait_us = scan->finder.app->args->streams_ms * UINT64_C(2000);
  if (!scan->places[at].gone_us || !scan->is_free(scan, at)) return 0;
  return scan->places[at].unlisted ||
         (scan->places[at].answered && slp_program_mono_us() - scan->places[at].gone_us >= wait_us);
}

/* Returns the index in args->streams at which the listed stream is to be read. That is its old index if the
 * stream was deleted and made again; or else the end, or the index of a stream that is gone. Returns
 * SLP_ARGS_STREAMS_MAX if the stream is read already; or with *ret_full 1 if there is no free index. */
static size_t place_for(slp_stream_scan *scan, const char *name, int *ret_full) {
  const slp_args *a = scan->finder.app->args;
  *ret_full = 0;
  for (size_t i = 0; i < a->streams_n; i++) {
    if (strcmp(a->streams[i], name) != 0) continue;
    scan->places[i].listed = 1;
    return is_anew(scan, i) ? i : SLP_ARGS_STREAMS_MAX;
  }
  if (a->streams_n < SLP_ARGS_STREAMS_MAX) return a->streams_n;
  for (size_t i = 0; i < a->streams_n; i++)
    if (scan->places[i].unlisted && scan->is_free(scan, i)) return i;
  *ret_full = 1;
  return SLP_ARGS_STREAMS_MAX;
}

static void take_match(slp_stream_scan *scan, const char *name, const char *pattern) {
  int full, quiet = scan->finder.app->args->quiet;
  size_t at = place_for(scan, name, &full);
  if (!scan->takes_new) return;
  if (at < SLP_ARGS_STREAMS_MAX) {
    scan->places[at].gone_us = 0;
    scan->places[at].unlisted = 0;
    scan->places[at].listed = 1;
    if (scan->read_new(scan, at, name) == 0 && !quiet)
      slp_say_if_room("%s: a new stream that matches %s; reading it from its oldest record", name, pattern);
  } else if (full && !scan->full) {
    scan->full = 1;
    slp_say_if_room(
        "%s: a new stream that matches %s is not read, because %d are read already; another command can",
        name, pattern, SLP_ARGS_STREAMS_MAX);
  }
}

void slp_stream_scan_gone(slp_stream_scan *scan, size_t at, int answered) {
  scan->places[at].gone_us = slp_program_mono_us();
  scan->places[at].answered = answered != 0;
}

/* Called after a complete listing. Stops reading the streams that it did not have, if they are known to be
 * gone. */
static void leave_unlisted(slp_stream_scan *scan) {
  const slp_args *a = scan->finder.app->args;
  for (size_t i = 0; i < a->streams_n && scan->state != SLP_SCAN_OFF; i++) {
    if (!a->found[i] || scan->places[i].listed) continue;
    if (!scan->places[i].gone_us && scan->is_gone(scan, i)) {
      if (!a->quiet) slp_say_if_room("%s: the stream was deleted, and is read no more", a->streams[i]);
      slp_stream_scan_gone(scan, i, 1);
    }
    if (scan->places[i].gone_us) scan->places[i].unlisted = 1;
  }
}

static void on_names(slp_find *f, const char *const *names, size_t n, void *arg) {
  slp_stream_scan *scan = arg;
  const slp_args *a = scan->finder.app->args;
  slp_stream_pattern p;
  slp_buf name;
  char why[200];
  (void)f;
  slp_buf_init(&name, scan->finder.app->mem, 4096);
  for (size_t i = 0; i < a->patterns_n; i++) {
    if (slp_stream_pattern_read(a->patterns[i], &p, why)) continue; /* args.c has checked it */
    for (size_t k = 0; k < n && scan->state == SLP_SCAN_LISTS; k++) {
      slp_buf_clear(&name);
      if (slp_stream_pattern_takes(&p, names[k], &name) && !slp_buf_failed(&name))
        take_match(scan, slp_buf_z(&name), a->patterns[i]);
    }
  }
  slp_buf_free(&name);
}

static void on_done(slp_find *f, const slp_fail fails[SLP_FIND_SERVICES], void *arg) {
  slp_stream_scan *scan = arg;
  int complete = 1;
  (void)f;
  for (int i = 0; i < SLP_FIND_SERVICES; i++) {
    if (fails[i].class == SLP_FINE) continue;
    tell_failed(scan, &fails[i]);
    complete = 0;
  }
  wait_for_next(scan);
  if (!complete) return;
  scan->failing = 0;
  scan->listed_ms = scan->begun_ms;
  leave_unlisted(scan);
}

int slp_stream_scan_open(slp_stream_scan *scan, slp_app *app) {
  sloop_opts_t o;
  char room[SLP_STREAM_ARN_MAX + 1];
  slp_listing_opts(app->args, room, &o);
  /* No new stream is read with -e, which is about the streams of the start; or if the time of --until is
   * past, because no later stream has records from before it. */
  const slp_args *a = app->args;
  scan->takes_new = !a->until_tip && !(a->until_given && a->until_ms <= slp_program_wall_ms());
  int r = slp_cli_consumer_open_idle(&scan->finder, app, &o);
  if (!r) wait_for_next(scan);
  app->goes_on = !r && scan->takes_new;
  return r;
}

void slp_stream_scan_tick(slp_stream_scan *scan) {
  slp_find_calls calls = {.on_names = on_names, .on_done = on_done};
  if (scan->state == SLP_SCAN_OFF) return;
  slp_cli_consumer_tick(&scan->finder);
  if (scan->state != SLP_SCAN_WAITS || slp_program_mono_us() < scan->next_us) return;
  slp_matched_skips(scan->finder.app->args, &calls);
  scan->begun_ms = slp_program_wall_ms();
  scan->begun_us = slp_program_mono_us();
  for (size_t i = 0; i < SLP_ARGS_STREAMS_MAX; i++) scan->places[i].listed = 0;
  move(scan, SLP_SCAN_LISTS);
  if (slp_find_new(&scan->find, scan->finder.s, &calls, scan) != 0) wait_for_next(scan);
}

int slp_stream_scan_until(slp_stream_scan *scan, int64_t until_ms) {
  uint64_t soon_us = scan->begun_us + HURRY_US;
  if (!scan->takes_new || scan->listed_ms > until_ms) return 1;
  if (slp_program_wall_ms() > until_ms && scan->state == SLP_SCAN_WAITS && scan->next_us > soon_us)
    scan->next_us = soon_us;
  return 0;
}

void slp_stream_scan_close(slp_stream_scan *scan) {
  move(scan, SLP_SCAN_OFF);
  if (scan->finder.app) scan->finder.app->goes_on = 0;
  slp_cli_consumer_close(&scan->finder);
}
