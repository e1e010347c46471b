/* reader.c - asks for iterators and pages, and decides what an answer means: more to come, the end of the
 * shard, or a mistake of the service. reading.h draws the states. The queue gets only complete and valid
 * pages. */
#include "core/reader.h"

#include "base/buf.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/mutant.h"
#include "base/num.h"
#include "base/probe.h"
#include "codec/page.h"
#include "core/await.h"
#include "core/budget.h"
#include "core/calls.h"
#include "core/consumer_inside.h"
#include "core/delay.h"
#include "core/engine_inside.h"
#include "core/lag.h"
#include "core/leases.h"
#include "core/life.h"
#include "core/lineage.h"
#include "core/lineage_part.h"
#include "core/listing.h"
#include "core/loss.h"
#include "core/mark.h"
#include "core/merge.h"
#include "core/order.h"
#include "core/pace.h"
#include "core/pages.h"
#include "core/position.h"
#include "core/queue.h"
#include "core/reader_part.h"
#include "core/reading.h"
#include "core/reading_part.h"
#include "core/report.h"
#include "core/shard_inside.h"
#include "core/source.h"
#include "core/standing.h"
#include "core/start.h"
#include "core/svctime.h"
#include "host/host.h"
#include "host/op.h"

#include <sloop.h>

/* the most bytes that an iterator may have; iterators of the services have at most 512 */
#define CURSOR_MAX 4096u

static slp_host *host_of(const slp_shard *s) { return s->consumer->engine->host; }
static uint32_t random_below_1000(slp_shard *s) { return (uint32_t)slp_random_below(host_of(s), 1000); }

/* ---- failing ------------------------------------------------------------------------------------------ */

/* Makes the same call again after a wait, because the failure should pass. Every fifth throttled call in a
 * row is reported to the user. */
static void again_later(slp_shard *s, const slp_fail *f) {
  slp_consumer *c = s->consumer;
  uint64_t now = slp_now_us(host_of(s));
  int throttled = f->class == SLP_THROTTLE, of_page = slp_reading_state(s) == SLP_READER_FETCHING;
  s->reader.pace.fails++;
  int first = throttled && of_page && s->reader.pace.fails == 1;
  uint64_t haste_over_us = slp_pace_haste_over_us(&s->reader.pace);
  int hasty = first && slp_reading_sent_us(s) < haste_over_us;
  if (first && !hasty) slp_pace_throttled(&s->reader.pace);
  slp_reading_refused(s, f);
  if (throttled) {
    c->counts.throttles++;
    c->floor_learned = 1;
  }
  uint64_t wait =
      slp_pace_backoff_us(s->reader.pace.fails, throttled || f->class == SLP_AUTH || f->class == SLP_ACCESS,
                          random_below_1000(s));
  if (first) wait = slp_pace_gap_wait_us(&s->reader.pace, random_below_1000(s));
  if (hasty && haste_over_us > now) wait = slp_max_u64(wait, haste_over_us - now);
  wait = slp_max_u64(wait, slp_min_u64(f->retry_after_us, 5000000));
  if (!throttled || s->reader.pace.fails % 5 == 0)
    slp_report_error(c, f, s, 0, s->reader.pace.fails, wait / 1000);
  slp_report_log(c, SLOOP_LOG_DEBUG, "shard: call failed shard=%s class=%s try=%u wait_ms=%u", s->name->shard,
                 slp_class_name(f->class), s->reader.pace.fails, (unsigned)(wait / 1000));
  /* Even a retry must not call faster than the service allows. */
  slp_reading_wait(s, slp_max_u64(slp_after_us(now, wait), slp_reading_sent_us(s) + SLP_PACE_FLOOR_US));
  slp_deliver_soon(c->engine); /* deliver.c may have to set the failing shard aside */
}

/* Gives the shard up, even one that was read to its end and has unacknowledged records. */
static void stop_for_good(slp_shard *s) {
  slp_reader_stop(s);
  slp_reading_move(s, SLP_READER_GONE);
}

/* Stops a shard that was started and whose parent was given up: no more of it is read or handed out. */
static void stop_barred_shard(slp_shard *s) {
  if (s->ended_told) { /* the shard itself is finished, but its children must not be read */
    slp_lineage_set(s, SLP_SELECT_STOPPED);
    return;
  }
  stop_for_good(s);
  slp_order_leave(s);
  slp_queue_drop(s);
  if (s->opened_told) slp_report_shard(s->consumer, s, SLOOP_SHARD_STOPPED);
}

/* Parents come first, so that a shard that was not started is barred before its children, which may be read
 * already. */
void slp_reader_bar_kin(slp_consumer *c) {
  for (slp_shard *s = slp_lineage_ordered(c, SLP_PARENTS_FIRST); s; s = slp_lineage_next(s)) {
    if (!slp_lineage_wanted(s)) continue;
    int idle = slp_reading_state(s) == SLP_READER_IDLE, barred = slp_lineage_parent_barred(s);
    if (idle && barred) slp_lineage_set(s, SLP_SELECT_BARRED);
    if (!idle && (barred || SLP_MUTANT(strangers_stop))) stop_barred_shard(s);
  }
  slp_deliver_soon(c->engine); /* other shards may have waited for a barred shard, or for the bytes it held */
  slp_pump_soon(c->engine);
}

/* Gives the shard up after a failure that will not pass: no more of it is read, and none of its children.
 * Records in memory are still handed out. */
static void give_up(slp_shard *s, const slp_fail *f) {
  slp_consumer *c = s->consumer;
  slp_report_error(c, f, s, 0, s->reader.pace.fails + 1, UINT64_MAX);
  /* the listing shows if the stream is the same */
  if (c->leases || f->class == SLP_REFUSED) slp_listing_soon(c, 0);
  slp_reading_refused(s, f);
  stop_for_good(s);
  slp_order_take_back(s);
  slp_report_shard(c, s, SLOOP_SHARD_STOPPED);
  slp_reader_bar_kin(c);
  slp_order_update(s);
  slp_deliver_soon(c->engine);
  /* If records are gone, an operator must decide what to do. Other failures may concern only this worker. */
  if (c->leases)
    c->leases->ops->hopeless(c->leases, s,
                             f->class == SLP_TRIMMED   ? SLP_HOPELESS_PARK
                             : f->class == SLP_REFUSED ? SLP_HOPELESS_REFUSED
                                                       : SLP_HOPELESS_HERE);
  slp_consumer_check(c);
}

void slp_reader_give_up(slp_shard *s, const slp_fail *f) {
  if (slp_reading_state(s) == SLP_READER_GONE) /* SLOOP_SHARD_STOPPED was reported already */
    slp_report_error(s->consumer, f, s, 0, 1, UINT64_MAX);
  else
    give_up(s, f);
  slp_order_leave(s);
  slp_queue_drop(s);
}

/* To be called when the service no longer keeps the record where reading is to continue. Continues at the
 * oldest record, unless the user wants reading to stop at losses. */
static void on_position_trimmed(slp_shard *s, const slp_fail *f) {
  if (slp_loss_trimmed(s, f->message)) {
    give_up(s, f);
    return;
  }
  s->at.from_oldest = 1;
  s->at.idle.seq_n = 0;
  slp_buf_clear(&s->reader.cursor);
  again_later(s, f);
}

/* Asks for a listing that shows what an answer means: the shard has ended, is gone, or the answer was wrong.
 * unknown: 1 if the service said that it does not know the shard. */
static void ask_listing(slp_shard *s, int unknown) {
  slp_reading_move(s, SLP_READER_CHECKING);
  s->reader.unknown = (uint8_t)unknown;
  s->reader.check_serial = slp_listing_next(s->consumer);
  slp_reading_failed(s);
  /* A listing in flight may show the children; if it does not, slp_reader_listed asks for another. */
  if (unknown || !s->consumer->source->names_no_children || !slp_listing_is_out(s->consumer))
    slp_listing_soon(s->consumer, 0);
  slp_deliver_soon(s->consumer->engine);
}

static void on_call_failed(slp_shard *s, const slp_fail *f) {
  switch (f->class) {
    case SLP_EXPIRED:
      SLP_PROBE("reader: the iterator has expired");
      s->consumer->counts.iterators_renewed++;
      slp_buf_clear(&s->reader.cursor);
      if (s->reader.lost_us) {
        SLP_PROBE("reader: a fresh iterator has expired too");
        again_later(s, f);
        return;
      }
      s->reader.lost_us = slp_max_u64(slp_now_us(s->consumer->engine->host) - slp_reading_sent_us(s), 1);
      slp_reading_wait(s, 0);
      return;
    case SLP_GONE:
      SLP_PROBE("reader: the service does not know the shard");
      ask_listing(s, 1);
      return;
    case SLP_TRIMMED: on_position_trimmed(s, f); return;
    case SLP_REFUSED:
      if (!f->aws_code[0]) { /* no AWS error name: a proxy may have refused the call, and not the service */
        again_later(s, f);
        return;
      }
      if (s->reader.cursor.n && !s->reader.relocated) { /* perhaps only the iterator is bad */
        SLP_PROBE("reader: refused, perhaps for the iterator");
        s->reader.relocated = 1;
        slp_buf_clear(&s->reader.cursor);
        again_later(s, f);
        return;
      }
      give_up(s, f);
      return;
    case SLP_FINE:
    case SLP_THROTTLE:
    case SLP_TRANSIENT:
    case SLP_BUSY:
    case SLP_AUTH:
    case SLP_ACCESS:
    case SLP_CANCELED:
    case SLP_NOMEM: again_later(s, f); return;
  }
}

/* ---- finding the place ------------------------------------------------------------------------------ */

/* Sets the position for a shard that started at "latest": the time of the shard's first iterator. If the
 * service can't give an iterator for a time in ms, reading begins earlier, and older records are passed
 * over. */
static void choose_anchor(slp_shard *s, slp_src_locate *rq) {
  if (s->consumer->source->anchors_by_time) {
    rq->from.kind = SLP_POSITION_TIME;
    rq->from.at_ms = slp_max_i64(slp_svctime_moment_ms(&s->consumer->service, &s->at.anchor), 0);
    rq->since_us = s->at.anchor.us;
    return;
  }
  s->at.not_before_ms = slp_max_i64(s->at.not_before_ms, slp_start_time(s->consumer, slp_lineage_anchor(s)));
  rq->from = slp_start_place(s);
}

static void choose_place(slp_shard *s, slp_src_locate *rq) {
  rq->from = s->at.start;
  if (SLP_MUTANT(at_is_after) && s->at.start.kind == SLP_POSITION_AT) rq->from.kind = SLP_POSITION_AFTER;
  if (s->at.idle.seq_n) {
    rq->from.kind = SLP_POSITION_AFTER;
    rq->from.mark = s->at.idle;
  } else if (s->at.start.kind == SLP_POSITION_LATEST && !slp_has_taken(&s->at)) {
    if (s->at.anchored && !SLP_MUTANT(latest_twice)) choose_anchor(s, rq);
  } else if (s->at.from_oldest) {
    rq->from.kind = SLP_POSITION_OLDEST;
  } else if (slp_has_taken(&s->at)) {
    /* AT, not AFTER: if the first record that comes is not the last one taken, records are gone. */
    rq->from.kind = SLP_POSITION_AT;
    rq->from.mark = s->at.last;
  }
}

static void on_located(slp_op *rq) {
  slp_src_locate *l = SLP_OWNER(rq, slp_src_locate, rq);
  slp_shard *s = (SLP_OWNER(l, slp_locating, rq))->shard;
  slp_locating *box = s->reader.locating;
  int64_t begun_ms = box->begun_ms;
  slp_fail f = rq->fail;
  s->reader.locating = NULL;
  slp_calls_over(s);
  slp_listing_learn_time(s->consumer, rq);
  if (f.class == SLP_FINE) {
    if (l->from.kind == SLP_POSITION_LATEST) {
      s->at.anchor = (slp_moment){slp_listing_served_ms(s->consumer, rq, begun_ms), rq->sent_us};
      s->at.anchored = 1;
    }
    int idle = s->at.idle.seq_n > 0;
    s->at.idle_old = idle && !slp_loss_is_young(s, &s->at.idle);
    s->at.after_last = slp_has_taken(&s->at) && !s->at.from_oldest && !idle;
    s->at.came = 0;
    slp_buf_clear(&s->reader.cursor);
    if (l->cursor.n == 0) {
      slp_fail_set(&f, SLP_TRANSIENT, SLOOP_EPROTO, "the service gave an empty iterator");
      /* l->cursor is not too long */
    } else if (slp_buf_add_str(&s->reader.cursor, slp_buf_str(&l->cursor))) {
      slp_fail_set(&f, SLP_NOMEM, SLP_ENOMEM, "no memory for an iterator");
    }
  }
  slp_buf_free(&l->cursor);
  slp_free(s->consumer->mem, box);
  if (f.class != SLP_FINE) {
    on_call_failed(s, &f);
    return;
  }
  if (!s->opened_told) {
    s->opened_told = 1;
    slp_report_shard(s->consumer, s, SLOOP_SHARD_OPENED);
  }
  slp_reading_wait(s, 0); /* if calls have failed before, they count as failing until a page comes */
}

uint32_t slp_reader_fails(const slp_shard *s) { return s->reader.pace.fails; }
uint64_t slp_reader_lost_us(const slp_shard *s) { return s->reader.lost_us; }
uint32_t slp_reader_unlisted(const slp_shard *s) { return slp_await_listings(s) + s->reader.unlisted_n; }

static void ask_for_iterator(slp_shard *s) {
  slp_consumer *c = s->consumer;
  if (!s->reader.cursor.mem) { /* the first call for this shard */
    slp_buf_init(&s->reader.cursor, c->mem, CURSOR_MAX);
    slp_pace_init(&s->reader.pace);
  }
  slp_locating *box = SLP_NEW(c->mem, slp_locating);
  slp_reading_move(s, SLP_READER_LOCATING);
  slp_reading_sent(s);
  if (!box) {
    slp_fail f = {0};
    slp_fail_set(&f, SLP_NOMEM, SLP_ENOMEM, "no memory to ask for an iterator");
    slp_calls_over(s);
    again_later(s, &f);
    return;
  }
  s->reader.locating = box;
  box->shard = s;
  box->rq.rq.on_done = on_located;
  box->rq.shard = s->id;
  box->begun_ms = slp_svctime_sure_ms(&c->service, slp_now_us(c->engine->host));
  slp_buf_init(&box->rq.cursor, c->mem, CURSOR_MAX);
  choose_place(s, &box->rq);
  slp_report_log(c, SLOOP_LOG_DEBUG, "fetch: iterator shard=%s place=%s seq=%.*s", s->name->shard,
                 slp_position_name(box->rq.from.kind), (int)box->rq.from.mark.seq_n, box->rq.from.mark.seq);
  c->source->ops->locate(c->source, &box->rq);
}

/* ---- fetching ------------------------------------------------------------------------------------------ */

#define SHARE_BYTES_MIN (16u * 1024) /* a shard's share of the budget is never less */

uint64_t slp_reader_reserve(slp_shard *s, uint32_t *ret_limit) {
  if (s->reader.cursor.n == 0) return 0; /* no bytes: the answer with an iterator is small */
  slp_source *source = s->consumer->source;
  slp_engine *e = s->consumer->engine;
  uint32_t limit;
  /* No record can be handed out before every shard has a page. So each shard gets a share of the budget that
   * lets the pages of all shards fit in together. */
  uint64_t share = slp_budget_max(&e->budget) / slp_max_u64(4, 2 * (uint64_t)slp_merge_count(&e->merge));
  share = slp_min_u64(share, slp_calls_page_worth(s, &s->reader.fetch));
  uint64_t bytes = slp_pace_reserve(&s->reader.pace, slp_max_u64(share, SHARE_BYTES_MIN),
                                    source->fetch_bytes_max + source->fetch_bytes_max / 2, &limit);
  uint64_t most = slp_min_u64(s->consumer->o->fetch_records_max, source->fetch_records_max);
  uint32_t buffered_most = s->consumer->o->buffered_records_per_shard_max, unacked_n = slp_queue_unacked_n(s);
  if (buffered_most) most = slp_min_u64(most, buffered_most > unacked_n ? buffered_most - unacked_n : 1);
  *ret_limit = (uint32_t)slp_min_u64(limit, s->paused ? 1 : most);
  /* A subscription may bring nothing for a long time, so no bytes are reserved for it. Its bytes are taken
   * from the budget as they arrive. */
  return source->pushes ? 0 : bytes;
}

static void on_fetched(slp_op *rq);

static int may_grow(slp_src_fetch *f, size_t more) {
  return slp_calls_grow(SLP_OWNER(f, slp_shard, reader.fetch), f->page->body.n + more);
}

static size_t known_children(slp_src_fetch *f, slp_shard_desc *rows, size_t max) {
  return slp_lineage_children(SLP_OWNER(f, slp_shard, reader.fetch), rows, max);
}

static void ask_for_page(slp_shard *s, uint64_t bytes, uint32_t limit) {
  slp_consumer *c = s->consumer;
  slp_reading_move(s, SLP_READER_FETCHING);
  slp_reading_sent(s);
  slp_pace_sent(&s->reader.pace, slp_reading_sent_us(s), c->floor_learned);
  s->reader.peeking = s->paused;
  if (s->reader.peeking) slp_reading_peeks(s);
  s->reader.page = slp_pages_new(c->engine, bytes);
  if (!s->reader.page) {
    slp_fail f = {0};
    slp_fail_set(&f, SLP_NOMEM, SLP_ENOMEM, "no memory for a page");
    slp_calls_over(s);
    slp_calls_give(s);
    again_later(s, &f);
    return;
  }
  if (c->engine->order == SLOOP_ORDER_TIME) s->reader.page->focus = *slp_merge_focus_now(&c->engine->merge);
  slp_src_fetch *f = &s->reader.fetch;
  memset(f, 0, sizeof *f);
  f->rq.on_done = on_fetched;
  f->shard = s->id;
  f->cursor = slp_buf_str(&s->reader.cursor);
  f->limit = limit;
  f->anew = s->reader.silent_end && c->source->pushes;
  f->may_grow = may_grow;
  f->known_children = known_children;
  f->page = s->reader.page;
  c->source->ops->fetch(c->source, f);
}

uint64_t slp_reader_listens_since_us(const slp_shard *s) {
  slp_source *source = s->consumer->source;
  int listens = source->pushes && slp_reading_state(s) == SLP_READER_FETCHING && slp_lag_told_ms(s) == 0 &&
                !slp_calls_is_stalled(s) && source->ops->is_listening(source, &s->reader.fetch);
  return listens ? slp_after_us(slp_reading_sent_us(s), SLP_READER_SETTLES_US) : UINT64_MAX;
}

void slp_reader_resume(slp_shard *s) {
  s->consumer->source->ops->resume(s->consumer->source, &s->reader.fetch);
}

void slp_reader_go(slp_shard *s, uint64_t bytes, uint32_t limit) {
  if (s->reader.cursor.n) {
    ask_for_page(s, bytes, limit);
  } else {
    ask_for_iterator(s);
  }
}

/* ---- a page came ------------------------------------------------------------------------------------- */

typedef struct page_facts {
  uint32_t n, largest;       /* records, an aggregate counted as one; bytes of the largest */
  int full;                  /* 1: more records wait in the shard after the page */
  int64_t behind_ms, lag_ms; /* the lag that the page states, -1: none; slp_lag_of_page */
  uint64_t sent_us;
} page_facts;

/* Compares the page's last record with the last one taken. Returns -1: it comes first, 0: the same, 1:
 * later. */
static int last_side(const slp_shard *s, const slp_page *page) {
  const slp_rec *r = &page->recs[page->recs_n - 1];
  return slp_mark_side(&s->at.last, slp_rec_seq(page, r), r->sub);
}

/* Returns 1 if the page brings only the record or aggregate after which reading is to continue. */
static int only_the_known(const slp_shard *s, const slp_page *page) {
  return page->recs_n > 0 && slp_has_taken(&s->at) && s->at.after_last && last_side(s, page) <= 0;
}

static page_facts facts_of(const slp_shard *s, const slp_page *page) {
  page_facts p = {.n = (uint32_t)page->recs_n - page->extra_n, /* here an aggregate counts as one record */
                  .largest = page->largest_bytes,
                  .behind_ms = page->behind_ms,
                  .lag_ms = slp_lag_of_page(s, page),
                  .sent_us = s->reader.fetch.rq.sent_us};
  p.full = p.n > 0 && (p.n >= s->reader.fetch.limit ||
                       s->reader.fetch.body_bytes >= s->consumer->source->fetch_bytes_full);
  if (s->consumer->source->pushes) p.full = 0; /* a push brings every record there is */
  if (only_the_known(s, page)) p.n = 0;
  return p;
}

/* Learns how long a pushed record takes to come. Uses only events that did not wait unread. After a pause, or
 * on a new subscription, records come that were stored long before, so their delay shows nothing. */
static void learn_delay(slp_shard *s) {
  const slp_src_fetch *f = &s->reader.fetch;
  const slp_page *page = s->reader.page;
  if (!f->follows || !page->recs_n || slp_lag_told_ms(s) != 0 ||
      f->rq.done_us < slp_reading_sent_us(s) + SLP_READER_SETTLES_US)
    return;
  slp_delay_learn(&s->consumer->delay, page->recs[0].arrived_ms, page->recs[page->recs_n - 1].arrived_ms,
                  f->rq.done_us);
}

/* Raises the watermark: no record still to come can precede it. Returns 1 if it moved. */
static int advance_watermark(slp_shard *s, const page_facts *p) {
  const slp_key *mark = slp_queue_watermark(s), before = *mark;
  int64_t now_ms = slp_svctime_low_ms(&s->consumer->service, p->sent_us);
  int at_tip = p->behind_ms == 0 && !p->full;
  if (slp_has_taken(&s->at))
    slp_queue_set_watermark(s, s->at.tail_time, slp_mark_seq(&s->at.last), s->at.last.sub);
  /* At the tip of a closed shard the watermark stays, because the children may hold records older than the
   * answer. (kinesalite answers once with lag 0 before a shard ends.) After some empty pages it moves,
   * because a closed shard that never ends would hold back other shards for ever. */
  int closed = slp_lineage_is_closed(s) || slp_lineage_has_children(s);
  if (closed && s->reader.pace.empties + 1 < SLP_PACE_EMPTIES_AT_TIP) now_ms = INT64_MIN;
  if (now_ms != INT64_MIN) {
    if (at_tip)
      slp_queue_set_watermark(s, now_ms + (SLP_MUTANT(merge_before_bound) ? 1500 : 0), SLP_STR(""), 0);
    if (p->n == 0 && p->behind_ms > 0 && p->behind_ms < now_ms)
      slp_queue_set_watermark(s, now_ms - p->behind_ms, SLP_STR(""), 0);
    if (p->n == 0 && p->behind_ms < 0 && s->reader.pace.empties + 1 >= SLP_PACE_EMPTIES_AT_TIP)
      slp_queue_set_watermark(s, now_ms, SLP_STR(""), 0);
  }
  return before.time != mark->time || before.seq.n != mark->seq.n;
}

static void all_is_well(slp_shard *s) {
  slp_reading_fine(s);
  slp_await_forget(s);
  s->reader.lost_us = s->reader.relocated = 0;
}

static void note_page(slp_shard *s, const page_facts *p) {
  slp_consumer *c = s->consumer;
  int moved = advance_watermark(s, p), nearer = p->behind_ms > 0 && slp_lag_told_ms(s) > p->behind_ms;
  slp_pace_page(&s->reader.pace, p->n, p->largest, p->full, (moved && p->behind_ms > 0) || nearer,
                c->o->fetch_records_max);
  all_is_well(s);
  s->reader.unlisted_n = s->reader.end_claims = 0;
  slp_reading_set_behind(s, p->full || p->behind_ms > 0);
  slp_reading_set_tip(s,
                      p->n == 0 && (p->behind_ms == 0 || s->reader.pace.empties >= SLP_PACE_EMPTIES_AT_TIP));
  slp_lag_note_page(s, p->lag_ms, p->sent_us, slp_reading_at_tip(s));
  if (p->n == 0 && (p->behind_ms == 0 || SLP_MUTANT(empty_is_until_now)) && !slp_has_taken(&s->at) &&
      s->at.anchored) {
    const slp_op *rq = &s->reader.fetch.rq;
    slp_moment seen = {slp_listing_served_ms(c, rq, INT64_MIN), rq->sent_us};
    slp_svctime_raise(&c->service, &s->at.anchor, seen); /* no record came until the time `seen` */
  }
}

/* A new idle mark (mark.idle) must be this much later than the one before, because it costs a write of the
 * lease's row. An idle mark serves only to show, after a restart, that the next record follows without a
 * gap. */
#define IDLE_STEP_MS 600000

/* Keeps the position that an empty pushed event states as an idle mark. Reading can continue after the idle
 * mark, even if the service no longer keeps the last record. place: the position. */
static void note_idle(slp_shard *s, slp_str place, const page_facts *p) {
  slp_consumer *c = s->consumer;
  int64_t now_ms = slp_svctime_low_ms(&c->service, p->sent_us);
  const slp_mark *before = s->at.idle.seq_n ? &s->at.idle : &s->at.last;
  if (!c->source->pushes || p->n || now_ms == INT64_MIN || s->at.idle_old) return;
  /* a lag that reaches back before 1970 is a mistake */
  if (p->behind_ms < 0 || p->behind_ms > now_ms) return;
  if (place.n > SLP_SEQ_MAX || !slp_num_valid(place)) return;
  int64_t at_ms = now_ms - p->behind_ms;
  if (before->seq_n) {
    int side = slp_num_cmp(place, slp_mark_seq(before));
    if (side < 0 || (side == 0 && !before->idle)) return;
    if (before->arrived_ms >= 0 && at_ms - before->arrived_ms < IDLE_STEP_MS) return;
  }
  slp_mark_set(&s->at.idle, place, UINT32_MAX, slp_max_i64(at_ms, 0));
  s->at.idle.idle = 1;
  SLP_PROBE("reader: a place where nothing came is kept");
  if (c->leases && slp_queue_all_acked(s)) c->leases->ops->settled(c->leases, s, 1);
}

/* Takes s->reader.page into the shard's queue. Returns 0, or an error that was handled already. */
static int admit_page(slp_shard *s, const slp_op *rq) {
  slp_page *page = s->reader.page;
  uint32_t aggregates_n = page->aggregates_n;
  int r = slp_queue_admit(s, page, rq->sent_us, slp_svctime_high_ms(&s->consumer->service, rq->done_us));
  slp_fail f = {0};
  if (r == SLP_ENOMEM) {
    slp_pages_back(s->consumer->engine, page);
    s->reader.page = NULL;
    slp_calls_give(s);
    slp_fail_set(&f, SLP_NOMEM, SLP_ENOMEM, "no memory to take a page in");
    again_later(s, &f);
    return r;
  }
  s->reader.page = NULL;
  if (r == 0) s->consumer->counts.aggregates += aggregates_n;
  if (r == SLOOP_ETRIMMED) {
    slp_fail_set(&f, SLP_TRIMMED, r, "records are missing; the shard is not read any further");
    give_up(s, &f);
  } else if (r) {
    slp_fail_set(&f, SLP_REFUSED, SLOOP_EPROTO,
                 "sequence numbers went back behind %.*s; the shard is not read any further",
                 (int)s->at.last.seq_n, s->at.last.seq);
    give_up(s, &f);
  }
  return r;
}

static void add_children(slp_shard *s, const slp_page *page) {
  slp_consumer *c = s->consumer;
  if (c->leases) {
    c->leases->ops->children(c->leases, s, page->children, page->children_n);
    return;
  }
  for (size_t i = 0; i < page->children_n; i++) {
    const slp_shard_desc *d = &page->children[i];
    if (slp_lineage_get(c, d->id)) continue;
    slp_shard *child = slp_lineage_add(c, d->id, d->parent, d->adjacent_parent);
    if (!child) {
      slp_listing_soon(c, 1000); /* no memory for this child; the listing will show it again */
      continue;
    }
    slp_lineage_learn_keys(child, d);
    if (slp_lineage_is_barred(child)) slp_reader_bar_kin(c);
    if (SLP_MUTANT(child_at_latest)) child->at.start.kind = SLP_POSITION_LATEST;
    if (slp_lineage_lacks_parent(child)) {
      SLP_PROBE("reader: a child whose other parent is not known");
      slp_listing_soon(c, 0);
    }
  }
}

/* Lets the source free what it keeps for the shard. */
static void tell_source_to_forget(slp_shard *s) {
  const slp_source_ops *ops = s->consumer->source->ops;
  if (ops->leave) ops->leave(s->consumer->source, s->id);
}

static void end_shard_reading(slp_shard *s) {
  slp_consumer *c = s->consumer;
  (void)slp_loss_end(s);
  tell_source_to_forget(s);
  slp_reading_set_tip(s, 0);
  slp_reading_set_behind(s, 0);
  slp_lag_forget(s); /* no page will state the lag any more */
  slp_reading_move(s, SLP_READER_ENDED);
  SLP_CHECK(c->sum.open_n > 0);
  c->sum.open_n--;
  slp_order_take_back(s);
  slp_buf_free(&s->reader.cursor);
  slp_report_log(c, SLOOP_LOG_INFO, "shard: read to its end shard=%s", s->name->shard);
  if (slp_queue_all_acked(s) || SLP_MUTANT(end_told_early)) slp_reader_told_end(s);
  slp_order_open_children(s);
  slp_order_update(s);
  slp_deliver_soon(c->engine);
  slp_consumer_check(c);
}

void slp_reader_told_end(slp_shard *s) {
  /* With leases, another worker may have to read the shard again, until the shard's end is written to the
   * lease table. */
  if (s->consumer->leases) return;
  slp_reader_kept_end(s);
}

void slp_reader_kept_end(slp_shard *s) {
  if (slp_reading_state(s) != SLP_READER_ENDED || s->ended_told || s->consumer->life != SLP_LIFE_RUNNING)
    return;
  s->ended_told = 1;
  s->consumer->counts.shards_ended++;
  slp_report_shard(s->consumer, s, SLOOP_SHARD_ENDED);
}

static void drop_page(slp_shard *s) {
  slp_pages_back(s->consumer->engine, s->reader.page);
  s->reader.page = NULL;
  slp_calls_give(s);
}

/* Takes a complete page after which more may come. next: the page's next iterator; if it is empty, a new
 * iterator is asked for. */
static void take_page(slp_shard *s, slp_str next) {
  slp_consumer *c = s->consumer;
  page_facts p = facts_of(s, s->reader.page);
  learn_delay(s);
  slp_buf cursor;
  slp_buf_init(&cursor, c->mem, CURSOR_MAX);
  slp_fail f = {0};
  int r = slp_buf_add_str(&cursor, next);
  if (r) {
    if (r == SLP_ENOMEM)
      slp_fail_set(&f, SLP_NOMEM, r, "no memory for an iterator");
    else
      slp_fail_set(&f, SLP_TRANSIENT, SLOOP_EPROTO,
                   "the next iterator has more than %u bytes: %zu; asking again", CURSOR_MAX, next.n);
    slp_buf_free(&cursor);
    drop_page(s);
    again_later(s, &f);
    return;
  }
  if (admit_page(s, &s->reader.fetch.rq)) {
    slp_buf_free(&cursor);
    return;
  }
  slp_buf_free(&s->reader.cursor);
  slp_buf_move(&s->reader.cursor, &cursor);
  note_page(s, &p);
  note_idle(s, slp_buf_str(&s->reader.cursor), &p);
  if (!p.n &&
      slp_loss_note_quiet(s, c->source->pushes ? -1 : p.behind_ms, p.sent_us, slp_reading_at_tip(s)) &&
      c->clear_places && slp_queue_all_acked(s))
    c->leases->ops->settled(c->leases, s, 1);
  if (!next.n) p.full = 0; /* without a next iterator, don't hurry: the page may be faulty */
  int seeks_tip = p.behind_ms < 0 && !slp_reading_at_tip(s), behind = p.full || p.behind_ms > 0 || seeks_tip;
  behind |= slp_pace_confirms_tip(&s->reader.pace, p.n, p.full, p.behind_ms);
  int full = p.full || (seeks_tip && next.n && !p.n && !slp_has_taken(&s->at)); /* SLP_PACE_EMPTIES_AT_TIP */
  uint64_t wait =
      slp_pace_wait_us(&s->reader.pace, full, behind, c->o->poll_ms, c->floor_learned, random_below_1000(s));
  uint64_t at_us = slp_after_us(s->reader.fetch.rq.sent_us, wait);
  if (p.full) slp_calls_learn_trip(s, &s->reader.fetch.rq, wait);
  uint64_t slack_us = slp_pace_slack_us(wait, p.full, behind, c->o->poll_ms);
  if (slack_us) at_us = slp_meet_at(&c->engine->polls, at_us, slp_after_us(at_us, slack_us));
  slp_reading_wait(s, c->source->pushes ? 0 : at_us);
  if (slp_order_take_back(s)) SLP_PROBE("reader: a shard set aside is back");
  slp_order_update(s);
  slp_deliver_soon(c->engine);
  slp_consumer_check(c);
}

static void last_page(slp_shard *s) {
  page_facts p = facts_of(s, s->reader.page);
  /* adds the children first, because `admit` may free the page, which has the children's ids */
  add_children(s, s->reader.page);
  if (admit_page(s, &s->reader.fetch.rq)) return;
  note_page(s, &p);
  end_shard_reading(s);
}

static void bad_answer(slp_shard *s, const char *what) {
  slp_fail f = {0};
  slp_fail_set(&f, SLP_TRANSIENT, SLOOP_EPROTO, "%s; asking again", what);
  drop_page(s);
  again_later(s, &f);
}

static int brings_news(const slp_shard *s, const slp_page *page) {
  return page->recs_n > 0 && !slp_queue_knows(s, page, &page->recs[page->recs_n - 1]);
}

/* Handles a page of a paused shard. The page's first record shows how far the shard is behind; no record of
 * the page is taken. */
static void handle_peeked_page(slp_shard *s) {
  slp_page *page = s->reader.page;
  if (!slp_has_taken(&s->at) &&
      s->at.start.kind != SLP_POSITION_AT) { /* from now on the shard starts at this record */
    s->at.start.kind = SLP_POSITION_AT;
    slp_mark_rec(&s->at.start.mark, page, &page->recs[0]);
    /* A new subscription that begins at "latest" would miss this record. */
    if (s->consumer->source->pushes) slp_buf_clear(&s->reader.cursor);
  }
  all_is_well(s);
  s->reader.pace.fails = 0;
  slp_lag_note_peek(s, page, slp_reading_sent_us(s));
  slp_reading_set_tip(s, 0);
  if (SLP_MUTANT(pause_leaks_budget)) slp_calls_settle(s, slp_calls_reserved(s));
  drop_page(s);
  slp_reading_wait(s, slp_after_us(slp_reading_sent_us(s), SLP_PACE_FLOOR_US));
  slp_consumer_check(s->consumer);
}

/* Returns 1 if a pushed shard has ended although no event said so: the subscription began when the shard was
 * known to be closed, and its first event has no records. An older subscription proves nothing: its event may
 * have waited in the connection since before the listing. */
static int ends_in_silence(slp_shard *s) {
  const slp_src_fetch *f = &s->reader.fetch;
  int closed = slp_lineage_is_closed(s) || slp_lineage_has_children(s);
  if (closed && f->anew && !f->page->recs_n && f->page->behind_ms == 0) return 1;
  s->reader.silent_end = (uint8_t)(f->still && closed);
  if (f->still && !closed) slp_listing_soon(s->consumer, 0);
  return 0;
}

/* A closed shard counts as ended after this many answers without more records, because one such answer may be
 * wrong. */
#define END_CLAIMS 2u

static void end_with_children(slp_shard *s);

/* Returns 1 if the page names all children of the shard. If one of the shards that it names can't be a child,
 * returns 0, and the listing must show the children. */
static int names_children(slp_shard *s, const slp_page *page) {
  if (!page->children_n) return 0;
  if (!page->children_bad && slp_lineage_may_have(s, page->children, page->children_n))
    return slp_lineage_are_all_children(s, page->children, page->children_n);
  slp_report_log(s->consumer, SLOOP_LOG_WARN,
                 "shard: the page names children that can't be, the listing is asked for them shard=%s",
                 s->name->shard);
  return 0;
}

static void judge_fetched_page(slp_shard *s) {
  slp_page *page = s->reader.page;
  if (!page->next.n && !page->children_n && !page->records_given) {
    SLP_PROBE("reader: neither records nor a next iterator");
    bad_answer(s, "the answer has neither records nor a next iterator");
  } else if (page->next.n && page->children_n) {
    SLP_PROBE("reader: a next iterator and children");
    bad_answer(s, "the answer has both a next iterator and children");
  } else if (page->next.n && ends_in_silence(s)) {
    SLP_PROBE("reader: ended, as the listing says, though no event did");
    drop_page(s);
    s->reader.end_claims = END_CLAIMS;
    end_with_children(s);
  } else if (page->next.n) {
    take_page(s, page->next);
  } else if (names_children(s, page) || SLP_MUTANT(null_iterator_is_end)) {
    last_page(s);
  } else if (brings_news(s, page)) {
    SLP_PROBE("reader: records, and neither iterator nor children");
    take_page(s, (slp_str){NULL, 0}); /* only an answer without new records can mean the end */
  } else {
    SLP_PROBE("reader: the listing is asked whether it has ended");
    drop_page(s);
    ask_listing(s, 0);
  }
}

static void on_fetched(slp_op *rq) {
  slp_src_fetch *fetch = SLP_OWNER(rq, slp_src_fetch, rq);
  slp_shard *s = SLP_OWNER(fetch, slp_shard, reader.fetch);
  slp_consumer *c = s->consumer;
  slp_calls_over(s);
  slp_report_news(c);
  slp_listing_learn_time(c, rq);
  if (rq->fail.class != SLP_FINE) {
    slp_fail f = rq->fail;
    drop_page(s);
    on_call_failed(s, &f);
    return;
  }
  c->counts.pages++;
  s->at.came |= s->reader.page->recs_n > 0;
  c->counts.page_bytes += fetch->body_bytes;
  slp_report_log(c, SLOOP_LOG_DEBUG, "fetch: page shard=%s records=%u bytes=%u behind_ms=%lld took_ms=%u",
                 s->name->shard, (unsigned)s->reader.page->recs_n, (unsigned)fetch->body_bytes,
                 (long long)s->reader.page->behind_ms, (unsigned)((rq->done_us - rq->sent_us) / 1000));
  if (s->reader.peeking && s->reader.page->recs_n > 0 && !only_the_known(s, s->reader.page)) {
    SLP_PROBE("reader: paused, and looks how far behind it is");
    handle_peeked_page(s);
  } else {
    judge_fetched_page(s);
  }
}

/* ---- the listing answered ----------------------------------------------------------------------------- */

static void ended_by_listing(slp_shard *s, int gone) {
  if (gone) slp_loss_tell(s, NULL, 0, "the shard is no longer listed; records not yet read are lost");
  if (s->consumer->leases) { /* the listing that shows the end of the shard also shows its children */
    slp_shard_desc children[8];
    size_t n = slp_listing_children(s->consumer, s->id, children, SLP_COUNT(children));
    s->consumer->leases->ops->children(s->consumer->leases, s, children, n);
  }
  end_shard_reading(s);
}

/* Ends a shard that was read to its end and is listed as closed. While the stream still takes records, first
 * waits until the shard's children are listed, because they have the records that follow. */
static void end_with_children(slp_shard *s) {
  slp_consumer *c = s->consumer;
  if (slp_lineage_has_all_children(s) || slp_listing_ended(c)) {
    ended_by_listing(s, 0);
    return;
  }
  if (slp_reading_state(s) != SLP_READER_CHECKING) ask_listing(s, 0);
  SLP_PROBE("reader: read to its end, and its children are not listed yet");
  s->reader.check_serial = slp_listing_next(c);
  if (slp_await_listing(s, "is read to its end, but its children are not listed yet")) return;
  slp_await_tell_in_vain(s);
  ended_by_listing(s, 0);
}

static void not_listed(slp_shard *s) {
  slp_consumer *c = s->consumer;
  s->reader.check_serial = slp_listing_next(c);
  if (slp_await_may_be_listed(s) && !slp_listing_ended(c) &&
      slp_await_listing(s, "will be read from its beginning, but is not listed yet"))
    return;
  if (++s->reader.unlisted_n >= 2) {
    SLP_PROBE("reader: not listed any more");
    ended_by_listing(s, s->reader.unknown);
    return;
  }
  slp_listing_soon(c, 1000);
}

void slp_reader_listed(slp_shard *s) {
  slp_consumer *c = s->consumer;
  slp_fail f = {0};
  if (slp_reading_state(s) != SLP_READER_CHECKING) return;
  /* If the source sets names_no_children, a page without a next iterator ends the shard for certain. Then any
   * listing may show the children, even one that began before that page. */
  int certain = c->source->names_no_children && !s->reader.unknown;
  if (s->reader.check_serial > slp_listing_done(c) && !(certain && slp_lineage_has_all_children(s))) {
    if (certain) slp_listing_soon(c, 0);
    return;
  }
  if (!slp_lineage_is_listed(s)) {
    not_listed(s);
    return;
  }
  s->reader.unlisted_n = 0;
  if (s->reader.unknown) {
    slp_fail_set(&f, SLP_TRANSIENT, SLOOP_EREMOTE,
                 "the service did not know the shard, but lists it; asking again");
    slp_buf_clear(&s->reader.cursor);
  } else if (certain || slp_lineage_is_closed(s) || slp_lineage_has_children(s)) {
    if (certain) s->reader.end_claims = END_CLAIMS;
    if (s->reader.end_claims < END_CLAIMS) s->reader.end_claims++;
    if (s->reader.end_claims == END_CLAIMS) {
      SLP_PROBE("reader: ended, as the listing says too");
      end_with_children(s);
    } else {
      slp_reading_wait(s, slp_reading_sent_us(s) + SLP_PACE_FLOOR_US);
    }
    return;
  } else {
    slp_fail_set(&f, SLP_TRANSIENT, SLOOP_EPROTO,
                 "no next iterator, but the shard is listed open; asking again");
  }
  again_later(s, &f);
}

/* ---- life -------------------------------------------------------------------------------------------- */

void slp_reader_stop(slp_shard *s) {
  slp_reader_state state = slp_reading_state(s);
  if (state == SLP_READER_GONE) return;
  slp_reader_call_off(s);
  tell_source_to_forget(s);
  slp_buf_free(&s->reader.cursor);
  slp_reading_set_behind(s, 0);
  if (slp_lineage_wanted(s)) slp_lineage_set(s, SLP_SELECT_STOPPED);
  if (slp_reading_is_on(s)) s->consumer->sum.open_n--;
  if (state != SLP_READER_ENDED) slp_reading_move(s, SLP_READER_GONE);
}
