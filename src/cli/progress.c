/* progress.c - prints the progress line. */
#include "cli/progress.h"

#include <stdio.h>

#include "cli/say.h"
#include "host/program.h"

static void show_behind(uint64_t ms, char out[40]) {
  if (ms == UINT64_MAX)
    snprintf(out, 40, "lag not known yet");
  else if (ms == 0)
    snprintf(out, 40, "at the tip");
  else if (ms < 10000)
    snprintf(out, 40, "%llu ms behind", (unsigned long long)ms);
  else
    snprintf(out, 40, "%llu s behind", (unsigned long long)(ms / 1000));
}

void slp_progress_tick(slp_progress *p, slp_cli_consumer *c) {
  const slp_args *args = c->app->args;
  if (!args->verbose || args->quiet) return;
  uint64_t now_us = slp_program_mono_us();
  uint64_t every_us = (args->opts.stats_ms ? args->opts.stats_ms : 1000u) * UINT64_C(1000);
  if (!p->at_us) {
    p->at_us = now_us;
    return;
  }
  if (now_us - p->at_us < every_us) return;
  sloop_stats_t st;
  slp_cli_consumer_stats(c, &st);
  double seconds = (double)(now_us - p->at_us) / 1e6;
  char behind[40];
  show_behind(st.behind_ms_now, behind);
  slp_say_if_room("%llu shards, %s, %.0f records/s, %.2f MB/s, %llu throttles",
                  (unsigned long long)st.shards_now, behind,
                  (double)(st.records - p->before.records) / seconds,
                  (double)(st.payload_bytes - p->before.payload_bytes) / seconds / 1e6,
                  (unsigned long long)(st.throttles - p->before.throttles));
  p->before = st;
  p->at_us = now_us;
}

void slp_progress_end(slp_cli_consumer *c) {
  if (!c->app->args->verbose || c->app->args->quiet) return;
  sloop_stats_t st;
  slp_cli_consumer_stats(c, &st);
  slp_say("%llu records, %.2f MB, %llu late, %llu calls, %llu throttles, %llu losses",
          (unsigned long long)st.records, (double)st.payload_bytes / 1e6, (unsigned long long)st.late,
          (unsigned long long)st.calls, (unsigned long long)st.throttles, (unsigned long long)st.losses);
}
