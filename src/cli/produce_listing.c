/* produce_listing.c - requests the listing of the shards, and again after a failure that may pass. */
#include "cli/produce_listing.h"

#include "base/base.h"
#include "base/states.h"
#include "cli/consumer_run.h"
#include "cli/produce_shards.h"
#include "cli/trouble_lines.h"
#include "host/host.h"

#include <sloop.h>

/* The pause after a failed listing. It is doubled after each failure in a row, PAUSE_DOUBLED times at
 * most. */
#define PAUSE_US UINT64_C(125000)
#define PAUSE_DOUBLED 5u

static const slp_set allowed[] = {
    [SLP_PUT_LISTING_STALE] = SLP_BIT(SLP_PUT_LISTING_ASKED),
    [SLP_PUT_LISTING_ASKED] = SLP_BIT(SLP_PUT_LISTING_STALE) | SLP_BIT(SLP_PUT_LISTING_LISTED),
    [SLP_PUT_LISTING_LISTED] = SLP_BIT(SLP_PUT_LISTING_STALE),
};

static void move(slp_put_listing *l, slp_put_listing_state to) {
  SLP_MOVE(allowed, l->state, to);
  if (to != SLP_PUT_LISTING_STALE) return;
  uint64_t pause_us = l->fails ? PAUSE_US << slp_min_u64(l->fails, PAUSE_DOUBLED) : 0;
  l->at_us = slp_after_us(slp_now_us(l->host), pause_us);
}

/* Returns why no aggregates can be made with this listing; NULL: they can be made. */
static const char *find_fault(const sloop_shard_t *const *shards, size_t n) {
  if (n && shards[0]->placement == SLOOP_PLACED_ANYWHERE)
    return "--aggregate can't be used: the stream's RecordDistributionStrategy is AUTO, so the service "
           "chooses the "
           "shard of an aggregate, where readers leave out records whose keys belong to other shards";
  return NULL;
}

static void on_shards(sloop_t *s, int status, const sloop_shard_t *const *shards, size_t n,
                      const sloop_error_t *error, void *arg) {
  slp_put_listing *l = arg;
  char line[SLP_TOLD_LINE];
  const char *why = NULL;
  (void)s;
  if (l->consumer->stopping) return;
  if (status == 0) {
    why = find_fault(shards, n);
    if (!why && slp_put_shards_take(l->shards, shards, n)) why = "no memory for the list of shards";
    move(l, SLP_PUT_LISTING_LISTED);
  } else {
    l->fails++;
    move(l, SLP_PUT_LISTING_STALE);
    if (!error || !slp_cli_consumer_asks_again(l->consumer, error, l->fails)) {
      slp_cli_consumer_error_line(l->consumer, status, error, line, sizeof line);
      why = line;
    }
  }
  l->on_answer(l, why);
}

uint64_t slp_put_listing_ask(slp_put_listing *l) {
  if (l->state != SLP_PUT_LISTING_STALE) return UINT64_MAX;
  if (l->at_us > slp_now_us(l->host)) return l->at_us;
  if (sloop_list(l->consumer->s, on_shards, l) == 0) {
    move(l, SLP_PUT_LISTING_ASKED);
    return UINT64_MAX;
  }
  return slp_after_us(slp_now_us(l->host), PAUSE_US);
}

void slp_put_listing_forget(slp_put_listing *l) {
  if (l->state == SLP_PUT_LISTING_LISTED) move(l, SLP_PUT_LISTING_STALE);
}
