/* behind_text.c - writes how far a consumer is behind, and how the records of its shards come. */
#include "cli/behind_text.h"

#include <sloop.h>
#include <stdio.h>

/* The first answers of the service may take this long. Until then, an unknown lag is shown without saying for
 * how long it has been unknown. */
#define SOON_MS 5000u

void slp_behind_text(const sloop_stats_t *now, char out[SLP_BEHIND_TEXT]) {
  uint64_t ms = now->behind_ms_now, unknown_ms = now->behind_unknown_ms_now;
  if (ms == UINT64_MAX && (unknown_ms == UINT64_MAX || unknown_ms < SOON_MS))
    snprintf(out, SLP_BEHIND_TEXT, "lag not known yet");
  else if (ms == UINT64_MAX)
    snprintf(out, SLP_BEHIND_TEXT, "lag not known for %llu s", (unsigned long long)(unknown_ms / 1000));
  else if (ms == 0)
    snprintf(out, SLP_BEHIND_TEXT, "at the tip");
  else if (ms < 10000)
    snprintf(out, SLP_BEHIND_TEXT, "%llu ms behind", (unsigned long long)ms);
  else
    snprintf(out, SLP_BEHIND_TEXT, "%llu s behind", (unsigned long long)(ms / 1000));
}

void slp_retrieval_add(sloop_stats_t *sum, const sloop_stats_t *one) {
  sum->shards_now += one->shards_now;
  if (!one->pushed_now) return;
  sum->pushed_now = (sum->pushed_now | SLP_ANY_PUSHED) + one->shards_now;
}

void slp_retrieval_text(const sloop_stats_t *sum, char out[SLP_RETRIEVAL_TEXT]) {
  uint64_t pushed = sum->pushed_now & (SLP_ANY_PUSHED - 1), all = sum->shards_now;
  if (pushed && pushed < all)
    snprintf(out, SLP_RETRIEVAL_TEXT, "%llu shards, %llu of them pushed", (unsigned long long)all,
             (unsigned long long)pushed);
  else
    snprintf(out, SLP_RETRIEVAL_TEXT, "%llu shards %s", (unsigned long long)all,
             pushed || (!all && sum->pushed_now) ? "pushed" : "polled");
}
