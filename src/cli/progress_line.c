/* progress_line.c - collects what the progress line of -v shows, and prints the line. */
#include "cli/progress_line.h"

#include "cli/args.h"
#include "cli/behind_text.h"
#include "cli/consumer_run.h"
#include "cli/people_lines.h"
#include "program/program.h"

#include <sloop.h>
#include <stdio.h>

int slp_progress_due(slp_progress *p, const slp_args *args) {
  if (!args->verbose || args->quiet) return 0;
  uint64_t now_us = slp_program_mono_us();
  uint64_t every_us = (args->opts.stats_ms ? args->opts.stats_ms : 1000u) * UINT64_C(1000);
  if (!p->at_us) p->at_us = now_us;
  return now_us - p->at_us >= every_us;
}

/* a shard that waits for less time than this is not shown as waiting, because short waits are ordinary */
#define STANDS_MS 2000

static void look_at(const sloop_shard_stats_t *shard, void *arg) {
  slp_progress *p = arg;
  int waits = shard->state == SLOOP_SHARD_WAITS_FOR_YOU || shard->state == SLOOP_SHARD_WAITS_FOR_ANOTHER;
  if ((unsigned)shard->state >= SLP_COUNT(p->standing) || (waits && shard->state_ms < STANDS_MS)) return;
  slp_standing *of = &p->standing[shard->state];
  if (of->n++ && shard->state_ms <= of->ms) return;
  of->ms = shard->state_ms;
  snprintf(of->error, sizeof of->error, "%s", shard->error);
}

void slp_progress_look(slp_progress *p, sloop_t *s) {
  if (s) sloop_shard_stats_each(s, look_at, p);
}

/* Writes how many shards are in a state that the user should know of, for example ", 2 failing for 45 s:
 * AccessDeniedException, 1 paused". */
static void add_standing(const slp_progress *p, char *out, size_t size) {
  static const char *const words[SLP_COUNT(p->standing)] = {
      [SLOOP_SHARD_FAILS] = "failing",
      [SLOOP_SHARD_IS_GIVEN_UP] = "given up",
      [SLOOP_SHARD_WAITS_FOR_YOU] = "waiting for their records to be acknowledged",
      [SLOOP_SHARD_WAITS_FOR_ANOTHER] = "waiting for another shard",
      [SLOOP_SHARD_IS_SUSPENDED] = "suspended",
      [SLOOP_SHARD_IS_PAUSED] = "paused",
      [SLOOP_SHARD_IS_PARKED] = "parked",
      [SLOOP_SHARD_IS_REFUSED] = "refused by the service",
      [SLOOP_SHARD_WAITS_FOR_PARENT] = "waiting for their parents"};
  size_t n = 0;
  out[0] = 0;
  for (size_t i = 0; i < SLP_COUNT(words); i++) {
    const slp_standing *of = &p->standing[i];
    if (!words[i] || !of->n || n + 160 > size) continue;
    n += (size_t)snprintf(out + n, size - n, ", %zu %s", of->n, words[i]);
    if (of->ms >= 0) n += (size_t)snprintf(out + n, size - n, " for %lld s", (long long)(of->ms / 1000));
    if (of->error[0]) n += (size_t)snprintf(out + n, size - n, ": %s", of->error);
  }
}

void slp_progress_show(slp_progress *p, const sloop_stats_t *now) {
  uint64_t now_us = slp_program_mono_us();
  double seconds = (double)(now_us - p->at_us) / 1e6;
  char behind[SLP_BEHIND_TEXT], standing[700], shards[SLP_RETRIEVAL_TEXT];
  add_standing(p, standing, sizeof standing);
  memset(p->standing, 0, sizeof p->standing);
  slp_behind_text(now, behind);
  slp_retrieval_text(now, shards);
  slp_say_if_room("%s, %s, %.0f records/s, %.2f MB/s, %llu throttles%s", shards, behind,
                  (double)(now->records - p->before.records) / seconds,
                  (double)(now->payload_bytes - p->before.payload_bytes) / seconds / 1e6,
                  (unsigned long long)(now->throttles - p->before.throttles), standing);
  p->before = *now;
  p->at_us = now_us;
}

void slp_progress_tick(slp_progress *p, slp_cli_consumer *c) {
  sloop_stats_t now, sum = {0};
  if (!slp_progress_due(p, c->app->args)) return;
  slp_cli_consumer_stats(c, &now);
  slp_progress_add(&sum, &now);
  slp_progress_look(p, c->s);
  slp_progress_show(p, &sum);
}

void slp_progress_end(const slp_args *args, const sloop_stats_t *at_end) {
  if (!args->verbose || args->quiet) return;
  slp_say("%llu records, %.2f MB, %llu late, %llu calls, %llu throttles, %llu losses",
          (unsigned long long)at_end->records, (double)at_end->payload_bytes / 1e6,
          (unsigned long long)at_end->late, (unsigned long long)at_end->calls,
          (unsigned long long)at_end->throttles, (unsigned long long)at_end->losses);
}

void slp_progress_add_past(sloop_stats_t *sum, const sloop_stats_t *one) {
  sum->records += one->records;
  sum->payload_bytes += one->payload_bytes;
  sum->late += one->late;
  sum->calls += one->calls;
  sum->throttles += one->throttles;
  sum->losses += one->losses;
}

void slp_progress_add(sloop_stats_t *sum, const sloop_stats_t *one) {
  slp_progress_add_past(sum, one);
  slp_retrieval_add(sum, one);
  sum->behind_ms_now = slp_max_u64(sum->behind_ms_now, one->behind_ms_now);
  if (one->behind_unknown_ms_now != UINT64_MAX)
    sum->behind_unknown_ms_now = slp_max_u64(sum->behind_unknown_ms_now, one->behind_unknown_ms_now);
}
