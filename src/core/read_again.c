/* read_again.c - cancels a shard's call, or drops its fetched records, so that they are asked for again
 * later. */
#include "base/buf.h"
#include "base/mem.h"
#include "base/probe.h"
#include "core/calls.h"
#include "core/consumer_inside.h"
#include "core/lag.h"
#include "core/lineage.h"
#include "core/order.h"
#include "core/pace.h"
#include "core/pages.h"
#include "core/queue.h"
#include "core/reader.h"
#include "core/reading.h"
#include "core/reading_part.h"
#include "core/shard_inside.h"

void slp_reader_call_off(slp_shard *s) {
  slp_consumer *c = s->consumer;
  slp_reading_call_off(s);
  if (s->reader.locating) {
    c->source->ops->cancel(c->source, &s->reader.locating->rq.rq);
    slp_buf_free(&s->reader.locating->rq.cursor);
    slp_free(c->mem, s->reader.locating);
    s->reader.locating = NULL;
    slp_calls_over(s);
  }
  if (slp_reading_state(s) == SLP_READER_FETCHING && s->reader.page) {
    c->source->ops->cancel(c->source, &s->reader.fetch.rq);
    slp_calls_over(s);
  }
  slp_pages_back(c->engine, s->reader.page);
  s->reader.page = NULL;
  slp_calls_give(s);
}

void slp_reader_ask_less(slp_shard *s) {
  SLP_CHECK(slp_reading_state(s) == SLP_READER_FETCHING);
  SLP_PROBE("reader: a call is given up for a smaller one");
  slp_reader_call_off(s);
  slp_pace_shrink(&s->reader.pace);
  slp_reading_wait(s, 0);
}

static int may_read_again(const slp_shard *s) {
  slp_reader_state state = slp_reading_state(s);
  return state == SLP_READER_WAITING || state == SLP_READER_LOCATING || state == SLP_READER_FETCHING ||
         (state == SLP_READER_ENDED && slp_lineage_is_listed(s));
}

static void read_again(slp_shard *s) {
  slp_reader_state state = slp_reading_state(s);
  slp_reader_call_off(s);
  slp_buf_clear(&s->reader.cursor);
  s->at.after_last = 0;
  slp_lag_forget(s);
  if (state == SLP_READER_ENDED) s->consumer->sum.open_n++; /* the shard's children wait for it again */
  if (state != SLP_READER_WAITING) slp_reading_move(s, SLP_READER_WAITING);
  slp_order_update(s);
  slp_reading_at_once(s);
}

int slp_reader_rewind(slp_shard *s) {
  if (!may_read_again(s) || !slp_queue_rewind(s)) return 0;
  SLP_PROBE("reader: pages are forgotten, to be read again");
  read_again(s);
  return 1;
}

int slp_reader_shorten(slp_shard *s, uint64_t bytes) {
  if (!may_read_again(s) || !slp_queue_shorten(s, bytes)) return 0;
  SLP_PROBE("reader: the end of what was fetched is forgotten, to be read again");
  read_again(s);
  return 1;
}
