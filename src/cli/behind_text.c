/* behind_text.c - writes how far a consumer is behind. */
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
