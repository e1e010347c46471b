/* lag.c - how far a shard is behind its tip. Kinesis says so with every page; where the service does not, the
 * age of the newest record read stands for it, and at the tip the lag is 0. */
#include "core/core.h"

/* A shard's lag is told once when it passes the first share of the stream's retention, and again only after
 * it fell below the second. */
#define FAR_BEHIND_PERCENT 80
#define NEAR_AGAIN_PERCENT 70

int64_t slp_lag_of_page(const slp_shard *s, const slp_page *page) {
  const slp_consumer *c = s->consumer;
  if (c->source->tells_behind) return page->behind_ms;
  int64_t now_ms = slp_svctime_low_ms(&c->service, slp_now_us(c->engine->host));
  if (page->recs_n == 0 || page->latest_ms < 0 || now_ms == INT64_MIN) return -1;
  return slp_max_i64(now_ms - page->latest_ms, 0);
}

static void warn(slp_shard *s) {
  slp_consumer *c = s->consumer;
  slp_fail f = {0};
  slp_fail_set(&f, SLP_TRANSIENT, SLOOP_EBEHIND,
               "reading is %lld minutes behind, and the stream keeps %lld: records may go unread",
               (long long)(s->lag.behind_ms / 60000), (long long)(c->retention_ms / 60000));
  slp_report_error(c, &f, s, 0, 1, UINT64_MAX);
}

void slp_lag_note(slp_shard *s, int64_t behind_ms) {
  int64_t kept_ms = s->consumer->retention_ms;
  s->lag.behind_ms = behind_ms;
  if (kept_ms <= 0 || behind_ms < 0) return;
  if (!s->lag.warned && behind_ms > kept_ms / 100 * FAR_BEHIND_PERCENT) {
    s->lag.warned = 1;
    warn(s);
  } else if (s->lag.warned && behind_ms < kept_ms / 100 * NEAR_AGAIN_PERCENT) {
    s->lag.warned = 0;
  }
}

void slp_lag_note_page(slp_shard *s, int64_t told_ms, int at_tip) {
  if (told_ms >= 0) {
    slp_lag_note(s, told_ms);
  } else if (s->consumer->source->tells_behind) {
    slp_lag_note(s, -1);
  } else if (at_tip) {
    slp_lag_note(s, 0);
  }
}

int64_t slp_lag_ms(const slp_shard *s) { return s->lag.behind_ms; }
void slp_lag_forget(slp_shard *s) { s->lag.behind_ms = -1; }
