/* progress.c - prints the progress line. */
#include "cli/progress.h"

#include <stdio.h>

#include "cli/say.h"
#include "host/program.h"

#define SOON_MS 5000u /* so long the first answers may take */

static void show_behind(const sloop_stats_t *now, char out[40]) {
  uint64_t ms = now->behind_ms_now, unknown_ms = now->behind_unknown_ms_now;
  if (ms == UINT64_MAX && (unknown_ms == UINT64_MAX || unknown_ms < SOON_MS))
    snprintf(out, 40, "lag not known yet");
  else if (ms == UINT64_MAX)
    snprintf(out, 40, "lag not known for %llu s", (unsigned long long)(unknown_ms / 1000));
  else if (ms == 0)
    snprintf(out, 40, "at the tip");
  else if (ms < 10000)
    snprintf(out, 40, "%llu ms behind", (unsigned long long)ms);
  else
    snprintf(out, 40, "%llu s behind", (unsigned long long)(ms / 1000));
}

int slp_progress_due(slp_progress *p, const slp_args *args) {
  if (!args->verbose || args->quiet) return 0;
  uint64_t now_us = slp_program_mono_us();
  uint64_t every_us = (args->opts.stats_ms ? args->opts.stats_ms : 1000u) * UINT64_C(1000);
  if (!p->at_us) p->at_us = now_us;
  return now_us - p->at_us >= every_us;
}

void slp_progress_show(slp_progress *p, const sloop_stats_t *now) {
  uint64_t now_us = slp_program_mono_us();
  double seconds = (double)(now_us - p->at_us) / 1e6;
  char behind[40];
  show_behind(now, behind);
  slp_say_if_room("%llu shards %s, %s, %.0f records/s, %.2f MB/s, %llu throttles",
                  (unsigned long long)now->shards_now, now->pushed_now ? "pushed" : "polled", behind,
                  (double)(now->records - p->before.records) / seconds,
                  (double)(now->payload_bytes - p->before.payload_bytes) / seconds / 1e6,
                  (unsigned long long)(now->throttles - p->before.throttles));
  p->before = *now;
  p->at_us = now_us;
}

void slp_progress_tick(slp_progress *p, slp_cli_consumer *c) {
  sloop_stats_t now;
  if (!slp_progress_due(p, c->app->args)) return;
  slp_cli_consumer_stats(c, &now);
  slp_progress_show(p, &now);
}

void slp_progress_end(const slp_args *args, const sloop_stats_t *at_end) {
  if (!args->verbose || args->quiet) return;
  slp_say("%llu records, %.2f MB, %llu late, %llu calls, %llu throttles, %llu losses",
          (unsigned long long)at_end->records, (double)at_end->payload_bytes / 1e6,
          (unsigned long long)at_end->late, (unsigned long long)at_end->calls,
          (unsigned long long)at_end->throttles, (unsigned long long)at_end->losses);
}

void slp_progress_add(sloop_stats_t *sum, const sloop_stats_t *one) {
  sum->records += one->records;
  sum->payload_bytes += one->payload_bytes;
  sum->late += one->late;
  sum->calls += one->calls;
  sum->throttles += one->throttles;
  sum->losses += one->losses;
  sum->shards_now += one->shards_now;
  sum->pushed_now |= one->pushed_now;
  sum->behind_ms_now = slp_max_u64(sum->behind_ms_now, one->behind_ms_now);
  if (one->behind_unknown_ms_now != UINT64_MAX)
    sum->behind_unknown_ms_now = slp_max_u64(sum->behind_unknown_ms_now, one->behind_unknown_ms_now);
}
