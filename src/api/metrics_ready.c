/* metrics_ready.c - what makes a consumer not ready. */
#include "api/metrics_ready.h"

#include <stdio.h>

const char *slp_ready_wrong(const slp_sample_consumer *c, int leased) {
  switch (c->reading) {
    case SLP_READING_NOT_STARTED: return "not started";
    case SLP_READING_FINDING: return "its shards are not known yet";
    case SLP_READING_STOPPING: return "stopping";
    case SLP_READING_STOPPED: return "stopped";
    case SLP_READING_FAILED: return "it failed and has stopped by itself";
    case SLP_READING_RUNNING: break;
  }
  if (c->stats.holes_now) return "a part of the stream is not going to be read: there is a hole";
  if (!leased) return NULL;
  if (c->stats.suspended_now) return "suspended: this worker can't prove that it lives";
  return c->stats.joined_now ? NULL : "this worker has not joined its application";
}

int slp_ready(const slp_sample *s, char why[SLP_READY_WHY]) {
  why[0] = 0;
  for (size_t i = 0; i < s->consumers_n; i++) {
    const slp_sample_consumer *c = &s->consumers[i];
    const char *wrong = slp_ready_wrong(c, slp_sample_text(s, c->app)[0] != 0);
    if (!wrong) continue;
    snprintf(why, SLP_READY_WHY, "%.100s: %s", slp_sample_text(s, c->stream), wrong);
    return 0;
  }
  return 1;
}
