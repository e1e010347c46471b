/* await.c - makes a shard wait for a listing of the stream that shows shards which must exist: after its last
 * record the shard's children, otherwise the shard itself. A listing may lack them for a while, because it
 * shows a split or merge later than pages of records do. Only reader.c calls these functions, in the state
 * SLP_READER_CHECKING. */
#include "core/await.h"

#include "base/fail.h"
#include "core/await_part.h"
#include "core/consumer_inside.h"
#include "core/engine_inside.h"
#include "core/lag.h"
#include "core/lineage.h"
#include "core/listing.h"
#include "core/position.h"
#include "core/reading.h"
#include "core/report.h"
#include "core/shard_inside.h"
#include "core/standing.h"
#include "host/host.h"

#include <sloop.h>

/* While a shard waits, the stream is listed AWAITS_SOON times at intervals of AGAIN_US, then at intervals of
 * AGAIN_LATER_US. */
#define AGAIN_US 1000000u
#define AGAIN_LATER_US 5000000u
#define AWAITS_SOON 10u
/* The wait is reported to the user after TELL_US, and then every TELL_AGAIN_US. */
#define TELL_US 5000000u
#define TELL_AGAIN_US 60000000u
/* Once the service has said for SETTLED_US that no shard is being split or merged, the listings are believed:
 * a shard that they lack does not exist. */
#define SETTLED_US 30000000u

static uint64_t now_us(const slp_shard *s) { return slp_now_us(s->consumer->engine->host); }

static void report_missing_shards(slp_shard *s, const char *what, uint64_t wait_us) {
  int reshards = slp_listing_status(s->consumer) == SLP_STREAM_RESHARDS;
  uint64_t told = s->await.told_us;
  slp_fail f = {0};
  if (now_us(s) < (told ? told + TELL_AGAIN_US : slp_reading_failing_since_us(s) + TELL_US)) return;
  s->await.told_us = now_us(s);
  slp_fail_set(&f, SLP_BUSY, SLOOP_ESTREAMBUSY, "%s%s; listing again", what,
               reshards ? ", and the stream is being resharded" : "");
  slp_report_error(s->consumer, &f, s, 0, s->await.n, wait_us / 1000);
}

int slp_await_may_be_listed(const slp_shard *s) {
  return slp_lineage_is_new(s) && !slp_has_taken(&s->at) && s->at.start.kind == SLP_POSITION_OLDEST &&
         !slp_lineage_has_children(s) && !slp_listing_has_later(s->consumer, s->id);
}

int slp_await_listing(slp_shard *s, const char *what) {
  slp_consumer *c = s->consumer;
  slp_stream_state status = slp_listing_status(c);
  if (status == SLP_STREAM_RESHARDS) s->await.settled_us = 0;
  if (status == SLP_STREAM_SETTLED && !s->await.settled_us) s->await.settled_us = now_us(s);
  if (s->await.settled_us && now_us(s) - s->await.settled_us >= SETTLED_US) return 0;
  uint64_t wait_us = ++s->await.n <= AWAITS_SOON ? AGAIN_US : AGAIN_LATER_US;
  slp_lag_forget(s); /* children that are not listed yet may hold records, so the lag is unknown */
  slp_listing_want_status(c);
  slp_listing_soon(c, wait_us / 1000);
  report_missing_shards(s, what, wait_us);
  return 1;
}

void slp_await_tell_in_vain(slp_shard *s) {
  slp_fail f = {0};
  slp_fail_set(&f, SLP_BUSY, SLOOP_EPROTO,
               "is read to its end, but the stream, which is not being resharded, has listed no children of "
               "it for %u s; it counts as the last shard",
               SETTLED_US / 1000000);
  slp_report_error(s->consumer, &f, s, 0, s->await.n, UINT64_MAX);
}

uint32_t slp_await_listings(const slp_shard *s) { return s->await.n; }
void slp_await_forget(slp_shard *s) { s->await = (slp_await){0}; }
