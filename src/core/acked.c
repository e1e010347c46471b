/* acked.c - finds the end of a shard's acknowledged prefix: all records up to the first one that is not
 * acknowledged. Tokens and checkpoints say where this prefix ends, so that a later run of the program
 * continues there.
 *
 * The end is not stored but computed from the pages in slp_queue.pages, which has every page with an
 * unacknowledged record. The prefix ends just before the first such record. Records that were passed over
 * count as acknowledged.
 *
 * When reading of the shard stops, its pages are dropped, except the first page that is not fully
 * acknowledged. That page stays, without its body, because only it shows where the prefix ends. */
#include "base/list.h"
#include "base/mutant.h"
#include "codec/page.h"
#include "core/consumer_inside.h"
#include "core/mark.h"
#include "core/queue.h"
#include "core/shard_inside.h"
#include "core/standing.h"

static slp_buffered *buffered_of(slp_list *it) { return SLP_OWNER(it, slp_buffered, link); }

static slp_buffered *first_unfinished(const slp_shard *s) {
  SLP_LIST_EACH(&s->queue.pages, it) {
    if (buffered_of(it)->unacked && !(SLP_MUTANT(token_skips_given_back) && buffered_of(it)->redelivered_n))
      return buffered_of(it);
  }
  return NULL;
}

uint32_t slp_acked_until(const slp_buffered *buffered, uint32_t i) {
  while (i < buffered->n && (buffered->bits[i / 8] >> (i % 8) & 1))
    i += buffered->bits[i / 8] == 0xff ? 8 - i % 8 : 1;
  return (uint32_t)slp_min_u64(i, buffered->n);
}

int slp_acked_next(const slp_shard *s, const slp_buffered **ret_buffered, uint32_t *ret_i) {
  *ret_buffered = first_unfinished(s);
  *ret_i = *ret_buffered ? slp_acked_until(*ret_buffered, 0) : 0;
  return *ret_buffered != NULL;
}

static int is_seq(const slp_buffered *buffered, uint32_t i, slp_str seq) {
  return i < buffered->n && slp_str_eq(slp_rec_seq(buffered->page, &buffered->page->recs[i]), seq);
}

/* Returns i, the index of a record in its page. If the lease table can't store an index inside an aggregate
 * (slp_consumer.whole_records), returns the index of the first record of i's aggregate. */
static uint32_t first_of_aggregate(const slp_buffered *buffered, uint32_t i) {
  const slp_shard *s = buffered->shard;
  if (!s || !s->consumer->whole_records || i >= buffered->n) return i;
  slp_str seq = slp_rec_seq(buffered->page, &buffered->page->recs[i]);
  while (i > 0 && is_seq(buffered, i - 1, seq)) i--;
  return i;
}

void slp_acked_mark(const slp_buffered *buffered, slp_mark *ret) {
  uint32_t i = slp_acked_until(buffered, 0);
  if (buffered->page) i = first_of_aggregate(buffered, i);
  if (buffered->page && i > 0) {
    slp_mark_rec(ret, buffered->page, &buffered->page->recs[i - 1]);
  } else {
    *ret = buffered->prev;
  }
  if (buffered->page && ret->seq_n && is_seq(buffered, i, slp_mark_seq(ret))) ret->part = 1;
}

int slp_acked_place(const slp_shard *s, slp_mark *ret) {
  if (!s->at.idle.seq_n || first_unfinished(s)) return slp_acked_prefix(s, ret);
  *ret = s->at.idle;
  return 1;
}

int slp_acked_prefix(const slp_shard *s, slp_mark *ret) {
  const slp_buffered *buffered = first_unfinished(s);
  if (buffered) {
    slp_acked_mark(buffered, ret);
  } else if (slp_has_taken(&s->at)) {
    *ret = s->at.last;
  } else {
    ret->seq_n = 0;
  }
  return ret->seq_n > 0;
}
