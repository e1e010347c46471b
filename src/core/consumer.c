/* consumer.c - the life of one consumer: what stream is it, which shards has it, read, stop.
 *
 *   OPEN -> DESCRIBING -> LISTING -> RUNNING -> STOPPING -> STOPPED
 *              |             |          |
 *              +-------------+----------+--> FAILED (a fatal error was told)      any --> freed
 *
 * What can't be put right by waiting (no such stream, access refused, no identity) is fatal only at first
 * contact; once the stream has answered, everything is tried again for ever: a server must survive a bad
 * hour. */
#include "core/consumer.h"

#include "core/seek.h"

#include <stdlib.h>

static void list_now(slp_consumer *c);

/* A fleet that can't be used any more is told while the consumer stops, and after, too. */
#define BIT(life) (1u << (life))
static const unsigned allowed[] = {
    [SLP_LIFE_OPEN] = BIT(SLP_LIFE_DESCRIBING) | BIT(SLP_LIFE_CLOSING),
    [SLP_LIFE_DESCRIBING] =
        BIT(SLP_LIFE_LISTING) | BIT(SLP_LIFE_STOPPING) | BIT(SLP_LIFE_FAILED) | BIT(SLP_LIFE_CLOSING),
    [SLP_LIFE_LISTING] =
        BIT(SLP_LIFE_RUNNING) | BIT(SLP_LIFE_STOPPING) | BIT(SLP_LIFE_FAILED) | BIT(SLP_LIFE_CLOSING),
    [SLP_LIFE_RUNNING] = BIT(SLP_LIFE_STOPPING) | BIT(SLP_LIFE_FAILED) | BIT(SLP_LIFE_CLOSING),
    [SLP_LIFE_STOPPING] = BIT(SLP_LIFE_STOPPED) | BIT(SLP_LIFE_FAILED) | BIT(SLP_LIFE_CLOSING),
    [SLP_LIFE_STOPPED] = BIT(SLP_LIFE_FAILED) | BIT(SLP_LIFE_CLOSING),
    [SLP_LIFE_FAILED] =
        BIT(SLP_LIFE_FAILED) | BIT(SLP_LIFE_STOPPING) | BIT(SLP_LIFE_STOPPED) | BIT(SLP_LIFE_CLOSING),
    [SLP_LIFE_CLOSING] = BIT(SLP_LIFE_CLOSING),
};

void slp_consumer_move(slp_consumer *c, slp_life to) {
  SLP_CHECK(allowed[c->life] & BIT(to));
  c->life = to;
}

/* ---- failing ----------------------------------------------------------------------------------------- */

static void let_shards_go(slp_consumer *c) {
  size_t at = 0;
  slp_shard *s;
  while ((s = slp_map_each(&c->shards, &at))) {
    slp_reader_stop(s);
    slp_queue_leave(s);
    slp_queue_drop(s);
  }
  slp_deliver_soon(c->engine); /* joined consumers are not held back by it any more */
  slp_engine_pump(c->engine);
}

static void cancel_own_calls(slp_consumer *c) {
  if (c->describing.out) c->source->ops->cancel(c->source, &c->describing.rq.rq);
  if (c->listing.out) c->source->ops->cancel(c->source, &c->listing.rq.rq);
  c->describing.out = c->listing.out = 0;
  slp_timer_clear(c->engine->host, &c->timer);
}

void slp_consumer_fatal(slp_consumer *c, const slp_fail *f) {
  cancel_own_calls(c);
  let_shards_go(c);
  slp_consumer_move(c, SLP_LIFE_FAILED);
  slp_seek_cancel(c, f->code);
  slp_report_error(c, f, NULL, 1, c->fails + 1, UINT64_MAX);
}

/* Describe or list failed: again later, or never. */
static void own_call_failed(slp_consumer *c, const slp_fail *f) {
  if (!c->started_from && c->life != SLP_LIFE_OPEN && slp_class_lasts(f->class)) {
    slp_consumer_fatal(c, f);
    return;
  }
  c->fails++;
  if (f->class == SLP_THROTTLE) c->counts.throttles++;
  uint64_t wait = slp_pace_backoff_us(c->fails, f->class == SLP_THROTTLE,
                                      (uint32_t)slp_random_below(c->engine->host, 1000));
  if (f->class != SLP_THROTTLE || c->fails % 5 == 0) slp_report_error(c, f, NULL, 0, c->fails, wait / 1000);
  slp_timer_set_reserved(c->engine->host, &c->timer, slp_after_us(slp_now_us(c->engine->host), wait));
}

/* ---- describing -------------------------------------------------------------------------------------- */

static void describe_now(slp_consumer *c);
static void tell_user_listing(slp_consumer *c, const slp_fail *f);

void slp_consumer_learn_time(slp_consumer *c, const slp_src_req *rq) {
  int64_t date_ms = rq->date_ms;
  if (date_ms < 0 && (c->service.known || rq->fail.class != SLP_FINE)) return;
  /* A server without a Date header: our own clock must do. */
  if (date_ms < 0) date_ms = slp_wall_ms(c->engine->host) / 1000 * 1000;
  slp_svctime_learn(&c->service, date_ms, rq->sent_us, rq->done_us);
}

static int replace_text(slp_consumer *c, char **text, const char *by) {
  if (!by[0]) return 0;
  char *copy = slp_strdup(c->mem, slp_str_of(by));
  if (!copy) return SLP_ENOMEM;
  slp_free(c->mem, *text);
  *text = copy;
  return 0;
}

static void on_described(slp_src_req *rq) {
  slp_src_describe *d = SLP_OWNER(rq, slp_src_describe, rq);
  slp_consumer *c = SLP_OWNER(d, slp_consumer, describing.rq);
  slp_fail f = rq->fail;
  c->describing.out = 0;
  slp_consumer_learn_time(c, rq);
  if (f.class == SLP_FINE && !d->ready)
    slp_fail_set(&f, SLP_BUSY, SLOOP_ESTREAMBUSY, "the stream is not ready yet");
  /* A token that names the stream in another way could not be read again. */
  if (f.class == SLP_FINE && (replace_text(c, &c->stream, d->name) || replace_text(c, &c->arn, d->arn)))
    slp_fail_set(&f, SLP_NOMEM, SLP_ENOMEM, "no memory for the stream's name");
  if (f.class != SLP_FINE) {
    own_call_failed(c, &f);
    if (c->life == SLP_LIFE_FAILED) tell_user_listing(c, &f);
    return;
  }
  c->retention_ms = d->retention_ms;
  c->created_ms = d->created_ms;
  c->fails = 0;
  if (c->leases) {
    c->leases->ops->described(c->leases);
    if (c->listing.cb && c->life == SLP_LIFE_LISTING) list_now(c);
    return;
  }
  slp_consumer_move(c, SLP_LIFE_LISTING);
  list_now(c);
}

static void describe_by(slp_consumer *c, void (*on_done)(slp_src_req *rq)) {
  memset(&c->describing.rq, 0, sizeof c->describing.rq);
  c->describing.rq.rq.on_done = on_done;
  c->describing.out = 1;
  c->source->ops->describe(c->source, &c->describing.rq);
}

static void describe_now(slp_consumer *c) { describe_by(c, on_described); }

/* ---- listing ----------------------------------------------------------------------------------------- */

/* A listing may name children before their parents. Marked are the shards that are new. */
static void count_children(slp_consumer *c) {
  size_t at = 0;
  slp_shard *s;
  while ((s = slp_map_each(&c->shards, &at)))
    if (s->marked) s->lineage.children_n = 0;
  for (at = 0; (s = slp_map_each(&c->shards, &at));) {
    for (int i = 0; i < 2; i++) {
      slp_shard *p = slp_lineage_parent(s, i);
      if (p && p->marked) p->lineage.children_n++;
    }
  }
}

/* New shards that the start leaves out; and what descends from them alone is left out with them. */
static void leave_out(slp_consumer *c) {
  for (int again = 1; again;) {
    again = 0;
    size_t at = 0;
    slp_shard *s;
    while ((s = slp_map_each(&c->shards, &at))) {
      if (!s->marked || !slp_lineage_wanted(s) || slp_start_wants(c, s)) continue;
      slp_start_skip(s);
      again = 1;
    }
  }
}

/* A listing tells of a reshard only when it is done, and may itself be of a moment ago. */
#define OPEN_SLACK_MS 10000

static void note_open(slp_consumer *c) {
  int64_t ms = slp_svctime_low_ms(&c->service, c->listing.us);
  size_t at = 0;
  slp_shard *s;
  while (ms != INT64_MIN && (s = slp_map_each(&c->shards, &at)))
    if (s->lineage.listed && !s->lineage.listed_closed && !s->lineage.children_n &&
        s->at.open_ms != INT64_MIN)
      s->at.open_ms = slp_max_i64(s->at.open_ms, ms - OPEN_SLACK_MS);
}

int slp_consumer_take_listing(slp_consumer *c) {
  size_t at = 0;
  slp_shard *s;
  int r = 0;
  while ((s = slp_map_each(&c->shards, &at))) s->lineage.listed = s->marked = 0;
  for (size_t i = 0; !r && i < c->listing.rq.shards_n; i++) {
    const slp_shard_desc *d = &c->listing.rq.shards[i];
    s = slp_lineage_get(c, d->id);
    if (!s) {
      s = slp_lineage_add(c, d->id, d->parent, d->adjacent_parent);
      if (s) s->marked = 1;
      if (s && SLP_MUTANT(pause_forgets_leased)) s->paused = c->paused_all;
    }
    if (s) {
      s->lineage.listed = 1;
      s->lineage.listed_closed = d->seq_end.p != NULL;
    } else {
      r = SLP_ENOMEM;
    }
  }
  count_children(c);
  note_open(c);
  if (c->started_from) leave_out(c);
  return r;
}

/* The first listing says whether the start makes sense. */
static void start_shards(slp_consumer *c) {
  slp_fail f = {0};
  if (slp_start_shards(c, c->start_position, &f)) {
    slp_consumer_fatal(c, &f);
    return;
  }
  slp_start_tell_losses(c, c->start_position);
  c->started_from = 1;
  slp_consumer_move(c, SLP_LIFE_RUNNING);
}

static void list_again(slp_consumer *c) {
  uint64_t span = c->o->list_ms / 5 + 1;
  slp_consumer_list_soon(c, c->o->list_ms - c->o->list_ms / 10 + slp_random_below(c->engine->host, span));
}

static void on_listed(slp_src_req *rq) {
  slp_src_list *l = SLP_OWNER(rq, slp_src_list, rq);
  slp_consumer *c = SLP_OWNER(l, slp_consumer, listing.rq);
  slp_fail f = rq->fail;
  c->listing.out = 0;
  slp_consumer_learn_time(c, rq);
  int reading = c->life == SLP_LIFE_LISTING || c->life == SLP_LIFE_RUNNING;
  if (f.class == SLP_FINE && reading && !c->leases && slp_consumer_take_listing(c))
    slp_fail_set(&f, SLP_NOMEM, SLP_ENOMEM, "no memory for the list of shards");
  if (f.class == SLP_FINE && reading) {
    c->fails = 0;
    c->listing.done = c->listing.begun;
    slp_report_log(c, SLOOP_LOG_DEBUG, "list: shards=%u took_ms=%u", (unsigned)l->shards_n,
                   (unsigned)((rq->done_us - rq->sent_us) / 1000));
    if (!c->started_from && !c->leases) start_shards(c);
  }
  if (c->leases && c->life == SLP_LIFE_RUNNING) c->leases->ops->listed(c->leases, &f);
  if (f.class == SLP_FINE && c->life == SLP_LIFE_RUNNING) {
    size_t at = 0;
    slp_shard *s;
    while ((s = slp_map_each(&c->shards, &at))) slp_reader_listed(s);
    if (c->leases) { /* lists when the fleet asks */
      slp_consumer_check(c);
    } else {
      slp_lineage_open_ready(c);
      slp_lineage_forget(c);
      list_again(c);
      slp_seek_listed(c);
      slp_consumer_check(c);
    }
  } else if (f.class != SLP_FINE && reading) {
    own_call_failed(c, &f);
  }
  if (c->listing.wanted && c->life == SLP_LIFE_RUNNING) slp_consumer_list_soon(c, 0);
  tell_user_listing(c, &f); /* last: the callback may do anything */
}

static void send_list(slp_consumer *c) {
  memset(&c->listing.rq, 0, sizeof c->listing.rq);
  c->listing.rq.rq.on_done = on_listed;
  c->listing.out = 1;
  c->source->ops->list(c->source, &c->listing.rq);
}

/* By whole seconds, as leases tell streams apart: encodings round the rest as they like. */
static int made_again(const slp_consumer *c, const slp_src_describe *d) {
  return d->created_ms >= 0 && d->created_ms / 1000 != c->created_ms / 1000;
}

/* A stream that was deleted and made again has the old one's shards by name, and other leases. */
static void on_described_again(slp_src_req *rq) {
  slp_src_describe *d = SLP_OWNER(rq, slp_src_describe, rq);
  slp_consumer *c = SLP_OWNER(d, slp_consumer, describing.rq);
  c->describing.out = 0;
  slp_consumer_learn_time(c, rq);
  if (rq->fail.class == SLP_FINE && c->life == SLP_LIFE_RUNNING && made_again(c, d)) {
    slp_fail f = {0};
    slp_fail_set(
        &f, SLP_GONE, SLOOP_ENOSTREAM,
        "stream %.200s was deleted and made again; what is known of the old one means nothing in it. "
        "Start anew to read it",
        c->stream);
    c->leases->ops->end(c->leases, &f);
    return;
  }
  send_list(c); /* whatever hinders us hinders that too, and is told there */
}

/* Streams of tables have a name for each life; leases of a stream of Kinesis hang on when it was made. */
static int may_be_another(const slp_consumer *c) {
  return c->leases && c->life == SLP_LIFE_RUNNING && c->created_ms >= 0 && c->source->anchors_by_time;
}

static void list_now(slp_consumer *c) {
  if (c->listing.out || c->describing.out) return;
  c->listing.wanted = 0;
  c->listing.begun++;
  c->listing.us = slp_now_us(c->engine->host);
  if (may_be_another(c))
    describe_by(c, on_described_again);
  else
    send_list(c);
}

/* The sooner of two wishes wins; a listing under way is too old for whoever asks now. */
void slp_consumer_list_soon(slp_consumer *c, uint64_t in_ms) {
  if (c->life != SLP_LIFE_RUNNING) return;
  if (c->listing.out || c->describing.out) {
    c->listing.wanted = 1;
    return;
  }
  uint64_t at_us = slp_after_us(slp_now_us(c->engine->host), in_ms * 1000);
  if (c->timer.at_us > at_us) slp_timer_set_reserved(c->engine->host, &c->timer, at_us);
}

static void on_timer(slp_timer *t) {
  slp_consumer *c = SLP_OWNER(t, slp_consumer, timer);
  if (c->life == SLP_LIFE_DESCRIBING) {
    describe_now(c);
  } else {
    list_now(c);
  }
}

/* ---- the user's own listing -------------------------------------------------------------------------- */

static const char *text_or_empty(slp_buf *texts, slp_str s) {
  if (!s.n) return "";
  char *at = texts->p + texts->n;
  slp_buf_add(texts, s.p, s.n);
  slp_buf_add_char(texts, 0);
  return at;
}

static int by_id(const void *a, const void *b) {
  return strcmp((*(const sloop_shard_t *const *)a)->id, (*(const sloop_shard_t *const *)b)->id);
}

/* Everything in one block of texts and two arrays; the callback is the last act. */
static void tell_user_listing(slp_consumer *c, const slp_fail *f) {
  if (!c->listing.cb) return;
  sloop_list_cb cb = c->listing.cb;
  void *arg = c->listing.cb_arg;
  slp_mem *mem = slp_mem_hold(c->mem);
  size_t n = f->class == SLP_FINE ? c->listing.rq.shards_n : 0, bytes = 1;
  c->listing.cb = NULL;
  for (size_t i = 0; i < n; i++) {
    const slp_shard_desc *d = &c->listing.rq.shards[i];
    bytes += d->id.n + d->parent.n + d->adjacent_parent.n + d->hash_start.n + d->hash_end.n + d->seq_start.n +
             d->seq_end.n + 7;
  }
  slp_buf texts;
  slp_buf_init(&texts, mem, SIZE_MAX / 2);
  sloop_shard_t *shards = slp_zalloc_n(mem, n ? n : 1, sizeof *shards);
  const sloop_shard_t **sorted = slp_zalloc_n(mem, n ? n : 1, sizeof(const sloop_shard_t *));
  int r = shards && sorted && slp_buf_reserve(&texts, bytes) == 0 ? f->code : SLP_ENOMEM;
  for (size_t i = 0; r == 0 && i < n; i++) {
    const slp_shard_desc *d = &c->listing.rq.shards[i];
    shards[i] = (sloop_shard_t){text_or_empty(&texts, d->id),
                                text_or_empty(&texts, d->parent),
                                text_or_empty(&texts, d->adjacent_parent),
                                text_or_empty(&texts, d->hash_start),
                                text_or_empty(&texts, d->hash_end),
                                text_or_empty(&texts, d->seq_start),
                                text_or_empty(&texts, d->seq_end),
                                d->seq_end.p != NULL};
    sorted[i] = &shards[i];
  }
  if (r == 0 && n) qsort(sorted, n, sizeof(const sloop_shard_t *), by_id);
  sloop_error_t e = {r,
                     0,
                     f->http_status,
                     1,
                     UINT64_MAX,
                     f->aws_code,
                     f->request_id,
                     "",
                     r == SLP_ENOMEM ? "no memory for the list of shards" : f->message};
  cb(c->handle, r, r ? NULL : sorted, r ? 0 : n, r ? &e : NULL, arg);
  slp_free(mem, sorted);
  slp_free(mem, shards);
  slp_buf_free(&texts);
  slp_mem_drop(mem);
}

int slp_consumer_list(slp_consumer *c, sloop_list_cb cb, void *arg) {
  if (c->listing.cb || c->life >= SLP_LIFE_STOPPING || !cb) return SLOOP_ESTATE;
  c->listing.cb = cb;
  c->listing.cb_arg = arg;
  /* While describing, the first listing follows by itself; one under way will do. */
  int follows = c->life == SLP_LIFE_DESCRIBING || (c->life == SLP_LIFE_LISTING && !c->leases);
  if (!follows) list_now(c);
  return 0;
}

/* ---- what has become true? --------------------------------------------------------------------------- */

int slp_consumer_at_tip(const slp_consumer *c) {
  if (c->leases && (c->sum.open_n == 0 || c->suspended)) return 0; /* it knows of nothing */
  if (c->sum.going_n) return 0; /* what was given back of it goes along, and the user is not told yet */
  return c->life == SLP_LIFE_RUNNING && c->sum.tip_n == c->sum.open_n && c->sum.waiting_n == 0 &&
         c->sum.queued_n == 0 && (c->sum.batches_out == 0 || SLP_MUTANT(tip_while_out));
}

void slp_consumer_check(slp_consumer *c) {
  if (!slp_consumer_at_tip(c)) {
    c->tip_told = 0;
  } else if (!c->tip_told) {
    c->tip_told = (uint8_t)slp_report_tip(c);
  }
  if (c->life != SLP_LIFE_STOPPING) return;
  int waits = c->sum.batches_out > 0 && !SLP_MUTANT(stop_gives_up_early);
  if (c->leases) {
    if (slp_now_us(c->engine->host) >= c->stop.wait_us) waits = 0;
    waits |= !c->leases->ops->left(c->leases);
  }
  if (!waits) slp_post(c->engine->host, &c->stop.ev);
}

/* ---- stopping ---------------------------------------------------------------------------------------- */

static void stopped(slp_consumer *c, int status) {
  sloop_cb cb = c->stop.cb;
  slp_timer_clear(c->engine->host, &c->stop.timer);
  slp_timer_clear(c->engine->host, &c->stats_timer);
  slp_unpost(&c->stop.ev);
  slp_consumer_move(c, SLP_LIFE_STOPPED);
  c->stop.cb = NULL;
  if (cb) cb(c->handle, status, c->stop.arg);
}

static void on_stop_event(slp_event *ev) {
  slp_consumer *c = SLP_OWNER(ev, slp_consumer, stop.ev);
  /* Callbacks that are due already come first. */
  if (c->notices.n) {
    slp_post(c->engine->host, &c->stop.ev);
    return;
  }
  if (c->listing.cb) {
    slp_fail f = {0};
    slp_fail_set(&f, SLP_CANCELED, SLP_ECANCELED, "the consumer was stopped");
    slp_post(c->engine->host, &c->stop.ev);
    tell_user_listing(c, &f);
    return;
  }
  if (slp_seek_pending(c)) {
    slp_post(c->engine->host, &c->stop.ev);
    return;
  }
  int late = (c->sum.batches_out && !SLP_MUTANT(stop_while_out)) ||
             (c->leases && (!c->leases->ops->left(c->leases) || c->leases->ops->undone(c->leases)));
  stopped(c, late ? SLP_ETIMEDOUT : 0);
}

static void on_stop_timer(slp_timer *t) {
  slp_consumer *c = SLP_OWNER(t, slp_consumer, stop.timer);
  slp_post(c->engine->host, &c->stop.ev);
}

static void arm_stop(slp_consumer *c, uint64_t limit_ms) {
  slp_host *h = c->engine->host;
  uint64_t at_us = limit_ms > UINT64_MAX / 1000 ? UINT64_MAX : slp_after_us(slp_now_us(h), limit_ms * 1000);
  if (at_us != UINT64_MAX) slp_timer_set_reserved(h, &c->stop.timer, at_us);
}

/* With leases there is something to be written when the last batch is back, or was waited for. */
#define LEAVE_MS_MIN 2000u

int slp_consumer_stop(slp_consumer *c, uint64_t limit_ms, sloop_cb cb, void *arg) {
  slp_host *h = c->engine->host;
  if (c->life == SLP_LIFE_OPEN || c->life >= SLP_LIFE_STOPPING) {
    if (c->life != SLP_LIFE_FAILED) return SLOOP_ESTATE;
  }
  cancel_own_calls(c);
  if (!c->leases || c->life == SLP_LIFE_FAILED) let_shards_go(c);
  slp_consumer_move(c, SLP_LIFE_STOPPING);
  slp_seek_cancel(c, SLP_ECANCELED);
  c->stop.cb = cb;
  c->stop.arg = arg;
  if (c->leases) { /* it writes what is acknowledged and gives its leases away, then stop_ev is posted */
    uint64_t hard_ms = slp_max_u64(limit_ms, LEAVE_MS_MIN);
    uint64_t leave_ms = slp_min_u64(limit_ms, hard_ms - slp_min_u64(hard_ms / 4, LEAVE_MS_MIN));
    c->stop.wait_us = slp_after_us(slp_now_us(h), slp_min_u64(leave_ms, UINT64_MAX / 1000) * 1000);
    c->leases->ops->leave(c->leases, leave_ms);
    arm_stop(c, hard_ms);
    slp_consumer_check(c);
    return 0;
  }
  if (c->sum.batches_out == 0 || limit_ms == 0) {
    slp_post(h, &c->stop.ev);
    return 0;
  }
  arm_stop(c, limit_ms);
  return 0;
}

/* ---- the rest of the life ---------------------------------------------------------------------------- */

static void stats_later(slp_consumer *c) {
  uint64_t now = slp_now_us(c->engine->host);
  slp_timer_set_reserved(c->engine->host, &c->stats_timer,
                         slp_after_us(now, (uint64_t)c->o->stats_ms * 1000));
}

static void on_stats_timer(slp_timer *t) {
  slp_consumer *c = SLP_OWNER(t, slp_consumer, stats_timer);
  stats_later(c);
  if (c->on_stats_due) c->on_stats_due(c);
}

/* Reserved, because it must not fail later: timer, stop_timer, stats_timer, and telling a fatal error. */
#define TIMERS 3
static int reserve(slp_consumer *c) {
  int r = slp_report_reserve(c);
  if (!r) r = slp_host_reserve_timers(c->engine->host, TIMERS);
  return r;
}

int slp_consumer_new(slp_consumer **ret, slp_engine *e, slp_source *source, sloop_t *handle,
                     const sloop_opts_t *o, slp_start_position *start_position) {
  slp_consumer *c = SLP_NEW(e->mem, slp_consumer);
  if (!c) return SLP_ENOMEM;
  c->engine = e;
  c->mem = e->mem;
  c->stream = slp_strdup(e->mem, slp_str_of(o->stream));
  if (!c->stream || reserve(c)) {
    slp_report_unreserve(c);
    slp_free(e->mem, c->stream);
    slp_free(e->mem, c);
    return SLP_ENOMEM;
  }
  c->source = source;
  c->start_position = start_position;
  c->handle = handle;
  c->o = o;
  c->retention_ms = -1;
  slp_map_init(&c->shards, e->mem);
  slp_list_init(&c->notices.all);
  slp_seek_init(c);
  c->notices.ev.run = slp_report_run;
  c->stop.ev.run = on_stop_event;
  c->timer = (slp_timer){.at_us = UINT64_MAX, .run = on_timer};
  c->stop.timer = (slp_timer){.at_us = UINT64_MAX, .run = on_stop_timer};
  c->stats_timer = (slp_timer){.at_us = UINT64_MAX, .run = on_stats_timer};
  slp_list_add_last(&e->consumers, &c->link);
  *ret = c;
  return 0;
}

int slp_consumer_start(slp_consumer *c) {
  if (c->life != SLP_LIFE_OPEN) return SLOOP_ESTATE;
  slp_consumer_move(c, SLP_LIFE_DESCRIBING);
  if (c->o->stats_ms) stats_later(c);
  describe_now(c);
  return 0;
}

void slp_consumer_silence(slp_consumer *c) {
  slp_host *h = c->engine->host;
  cancel_own_calls(c);
  let_shards_go(c);
  slp_timer_clear(h, &c->stop.timer);
  slp_timer_clear(h, &c->stats_timer);
  slp_unpost(&c->stop.ev);
  slp_unpost(&c->seek.ev);
  if (c->leases) c->leases->ops->free(c->leases);
  slp_report_drop(c);
  c->listing.cb = NULL;
  slp_consumer_move(c, SLP_LIFE_CLOSING);
}

void slp_consumer_free(slp_consumer *c) {
  if (!c) return;
  slp_engine *e = c->engine;
  slp_consumer_silence(c);
  size_t at = 0;
  slp_shard *s;
  slp_batches_orphan(e, c);
  while ((s = slp_map_each(&c->shards, &at))) {
    slp_queue_orphan(s);
    slp_deliver_forget(s);
  }
  slp_lineage_free_map(&c->shards);
  slp_seek_free(c);
  slp_list_remove(&c->link);
  c->source->ops->close(c->source);
  if (!SLP_MUTANT(start_position_leaks)) slp_start_position_free(c->start_position);
  slp_report_unreserve(c);
  slp_host_unreserve_timers(e->host, TIMERS);
  slp_free(c->mem, c->stream);
  slp_free(c->mem, c->arn);
  slp_free(c->mem, c);
  slp_deliver_soon(e); /* joined consumers are not held back by it any more */
  slp_engine_pump(e);
}

static void set_paused(slp_shard *s, int on) {
  if (s->paused == on) return;
  s->paused = (uint8_t)on;
  slp_queue_put_in_order(s);
  if (!on) slp_reader_poke(s);
}

int slp_consumer_pause(slp_consumer *c, const char *shard, int on) {
  slp_shard *s;
  if (c->life >= SLP_LIFE_STOPPING) return SLOOP_ESTATE;
  if (shard) {
    s = slp_lineage_get(c, slp_str_of(shard));
    if (!s) return SLOOP_ENOSHARD;
    set_paused(s, on);
  } else {
    c->paused_all = (uint8_t)on;
    size_t at = 0;
    while ((s = slp_map_each(&c->shards, &at))) set_paused(s, on);
  }
  slp_deliver_soon(c->engine);
  slp_engine_pump(c->engine);
  return 0;
}

void slp_consumer_stats(slp_consumer *c, slp_counts *out) {
  int64_t worst = c->sum.open_n ? -1 : 0;
  int unknown = c->life < SLP_LIFE_RUNNING, no_tip = unknown;
  uint64_t now_us = slp_now_us(c->engine->host), asked_us = now_us;
  size_t at = 0;
  slp_shard *s;
  while ((s = slp_map_each(&c->shards, &at))) {
    if (!slp_reader_is_reading(s)) continue;
    if (s->lag.behind_ms < 0) unknown = 1;
    worst = slp_max_i64(worst, s->lag.behind_ms);
    /* A shard that is paused, or waits for a parent that is, hands over nothing. */
    if (s->paused || !slp_queue_in_order(s)) continue;
    if (!s->reader.at_tip) no_tip = 1;
    asked_us = slp_min_u64(asked_us, s->reader.tip_asked_us);
  }
  *out = c->counts;
  out->buffered_bytes_now = c->engine->budget.used - c->engine->calls.spare_bytes;
  out->buffered_bytes_peak = c->engine->budget.peak;
  out->shards_now = c->sum.open_n;
  out->batches_now = c->sum.batches_out;
  out->behind_ms_now = unknown || worst < 0 ? UINT64_MAX : (uint64_t)worst;
  out->heartbeat_age_ms_now = UINT64_MAX;
  if (c->leases) c->leases->ops->stats(c->leases, out);
  out->tip_now = c->sum.tip_n;
  out->tip_age_ms_now = no_tip ? UINT64_MAX : (now_us - asked_us) / 1000;
}

void slp_consumer_each(slp_consumer *c, void (*each)(const sloop_shard_stats_t *, void *arg), void *arg) {
  size_t at = 0;
  slp_shard *s;
  while ((s = slp_map_each(&c->shards, &at))) {
    if (!slp_reader_is_reading(s)) continue;
    sloop_shard_stats_t st = {s->name->shard,     s->name->epoch, s->lag.behind_ms,
                              s->queue.unacked_n, s->paused,      s->reader.at_tip};
    each(&st, arg);
  }
}
