/* consumer.c - the life of one consumer: describes the stream, lists its shards, starts reading, stops.
 *
 * Some failures do not pass by waiting: the stream does not exist, access is refused, no credentials are
 * found. Until the first listing has succeeded, such a failure ends the consumer. Afterwards every failed
 * call is repeated for ever, because a server must survive an hour in which its services fail. */
#include "core/ahead.h"
#include "core/consumer.h"

#include "base/fail.h"
#include "base/list.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/mutant.h"
#include "codec/page.h"
#include "core/batch.h"
#include "core/budget.h"
#include "core/consumer_inside.h"
#include "core/desc.h"
#include "core/engine_inside.h"
#include "core/lag.h"
#include "core/leases.h"
#include "core/life.h"
#include "core/lineage.h"
#include "core/listing.h"
#include "core/mark.h"
#include "core/order.h"
#include "core/pace.h"
#include "core/pages.h"
#include "core/position.h"
#include "core/progress.h"
#include "core/queue.h"
#include "core/reader.h"
#include "core/reading.h"
#include "core/reading_part.h"
#include "core/report.h"
#include "core/seek.h"
#include "core/shard_inside.h"
#include "core/source.h"
#include "core/start.h"
#include "core/tally.h"
#include "host/host.h"
#include "host/op.h"

#include <sloop.h>
#include <stdlib.h>

static void list_now(slp_consumer *c);

/* ---- failing ----------------------------------------------------------------------------------------- */

/* Stops reading all shards of c, and drops the fetched records that the user does not hold. */
static void let_shards_go(slp_consumer *c) {
  size_t at = 0;
  slp_shard *s;
  while ((s = slp_map_each(&c->shards, &at))) {
    slp_reader_stop(s);
    slp_order_leave(s);
    slp_queue_drop(s);
  }
  slp_deliver_soon(c->engine); /* records of joined consumers may have waited for records of c */
  slp_pump_soon(c->engine);
}

void slp_consumer_fatal(slp_consumer *c, const slp_fail *f) {
  int stopping = c->life == SLP_LIFE_STOPPING;
  slp_listing_cancel(c);
  let_shards_go(c);
  slp_consumer_move(c, SLP_LIFE_FAILED);
  slp_report_error(c, f, NULL, 1, c->fails + 1, UINT64_MAX);
  /* The user's pending callbacks come after the report, with the code of f. */
  slp_seek_cancel(c, f->code);
  slp_listing_end(c, f);
  if (stopping) {
    c->stop.fatal = f->code;
    slp_post(c->engine->host, &c->stop.ev);
  }
}

/* To be called when a describe or list call of c succeeded. */
static void own_call_was_fine(slp_consumer *c) {
  c->fails = 0;
  c->failing_since_us = 0;
}

/* Handles a failed describe or list call: makes the call be repeated later, or stops the consumer with a
 * fatal error. */
static void own_call_failed(slp_consumer *c, const slp_fail *f) {
  if (!c->started_from && c->life != SLP_LIFE_OPEN && slp_class_lasts(f->class)) {
    slp_consumer_fatal(c, f);
    return;
  }
  c->fails++;
  if (f->class == SLP_THROTTLE)
    c->counts.throttles++;
  else if (!c->failing_since_us)
    c->failing_since_us = slp_now_us(c->engine->host);
  uint64_t wait = slp_pace_backoff_us(c->fails, f->class == SLP_THROTTLE,
                                      (uint32_t)slp_random_below(c->engine->host, 1000));
  /* If several calls in a row are throttled, only the second and every fifth are reported to the user. A
   * single throttled call is normal; a second one means that throttling lasts for seconds. */
  if (f->class != SLP_THROTTLE || c->fails == 2 || c->fails % 5 == 0)
    slp_report_error(c, f, NULL, 0, c->fails, wait / 1000);
  slp_report_log(c, SLOOP_LOG_DEBUG, "%s: call failed class=%s try=%u wait_ms=%u",
                 c->life == SLP_LIFE_DESCRIBING ? "describe" : "list", slp_class_name(f->class), c->fails,
                 (unsigned)(wait / 1000));
  slp_timer_set_reserved(c->engine->host, &c->timer, slp_after_us(slp_now_us(c->engine->host), wait));
}

/* ---- changes of the stream ---------------------------------------------------------------------------- */

/* A Kinesis stream is described again every LOOK_US, because its retention may have changed, or the stream
 * may have been deleted and created again. If another describe or list call is in flight at that time, the
 * description comes LOOK_SOON_US later. The stream of a DynamoDB table needs no such description: its name is
 * never used again, and all such streams have the same retention. */
#define LOOK_US UINT64_C(600000000)
#define LOOK_SOON_US UINT64_C(10000000)

/* Sets the timer for the next regular description of the stream to `us` from now. */
static void look_in(slp_consumer *c, uint64_t us) {
  slp_host *h = c->engine->host;
  if (c->source->anchors_by_time) slp_timer_set_reserved(h, &c->look_timer, slp_after_us(slp_now_us(h), us));
}

static void look_later(slp_consumer *c) { look_in(c, LOOK_US); }

/* Remembers the new retention of the stream, and warns of each shard whose records may now be removed before
 * they are read. */
static void learn_retention(slp_consumer *c, int64_t kept_ms) {
  size_t at = 0;
  int64_t before_ms = c->retention_ms;
  if (kept_ms < 0 || kept_ms == before_ms) return;
  c->retention_ms = kept_ms;
  slp_report_log(c, SLOOP_LOG_WARN, "list: the stream keeps records for %lld hours now; before: %lld",
                 (long long)(kept_ms / 3600000), (long long)(before_ms / 3600000));
  for (slp_shard *s; (s = slp_map_each(&c->shards, &at));)
    if (slp_reading_is_on(s)) slp_lag_kept_for(s);
}

/* Returns 1 if d describes a stream that was created at another time than the stream that this consumer
 * reads. Compares whole seconds, because services encode the fraction of the second differently. */
static int made_again(const slp_consumer *c, const slp_src_describe *d) {
  return c->created_ms >= 0 && d->created_ms >= 0 && d->created_ms / 1000 != c->created_ms / 1000;
}

/* Stops the consumer with a fatal error, because its stream was deleted and another one was created under the
 * same name. The shards of the new stream have the same names. So old positions and leases would be applied
 * to the new shards, where they mean nothing. */
static void end_of_old_stream(slp_consumer *c) {
  slp_fail f = {0};
  slp_fail_set(&f, SLP_GONE, SLOOP_ENOSTREAM,
               "stream %.200s was deleted and created again; positions in the old one are not valid in it. "
               "Start again to read it",
               c->stream);
  if (c->leases)
    c->leases->ops->end(c->leases, &f);
  else
    slp_consumer_fatal(c, &f);
}

/* ---- describing -------------------------------------------------------------------------------------- */

/* Replaces *text by a copy of `by`, unless `by` is empty. Returns 0 or SLP_ENOMEM. */
static int replace_text(slp_consumer *c, char **text, const char *by) {
  if (!by[0]) return 0;
  char *copy = slp_strdup(c->mem, slp_str_of(by));
  if (!copy) return SLP_ENOMEM;
  slp_free(c->mem, *text);
  *text = copy;
  return 0;
}

static void on_described(slp_op *rq) {
  slp_consumer *c = slp_listing_described(rq);
  const slp_src_describe *d = slp_listing_stream(c);
  slp_fail f = rq->fail;
  if (f.class == SLP_FINE && !d->ready)
    slp_fail_set(&f, SLP_BUSY, SLOOP_ESTREAMBUSY, "the stream is not ready yet");
  /* If there is no memory for the stream's name or ARN, the description counts as failed, because a token
   * without them could not be read again. */
  if (f.class == SLP_FINE && (replace_text(c, &c->stream, d->name) || replace_text(c, &c->arn, d->arn)))
    slp_fail_set(&f, SLP_NOMEM, SLP_ENOMEM, "no memory for the stream's name");
  if (f.class != SLP_FINE) {
    own_call_failed(c, &f);
    return;
  }
  c->retention_ms = d->retention_ms;
  c->created_ms = d->created_ms;
  own_call_was_fine(c);
  look_later(c);
  /* Logs whether records are pushed or polled. The entry is a warning if the user preferred push, but this
   * consumer polls. */
  if (c->source->told[0])
    slp_report_log(c, c->source->pushes ? SLOOP_LOG_INFO : SLOOP_LOG_WARN, "%s", c->source->told);
  if (c->leases) {
    c->leases->ops->described(c->leases);
    if (slp_listing_is_asked(c) && c->life == SLP_LIFE_LISTING) list_now(c);
    return;
  }
  slp_consumer_move(c, SLP_LIFE_LISTING);
  list_now(c);
}

/* ---- listing ----------------------------------------------------------------------------------------- */

/* Starts reading after the first listing. Stops the consumer with a fatal error if the start position does
 * not fit that listing. */
static void start_shards(slp_consumer *c) {
  slp_fail f = {0};
  if (slp_start_shards(c, c->start_position, &f)) {
    slp_consumer_fatal(c, &f);
    return;
  }
  slp_start_tell_losses(c, c->start_position);
  c->started_from = 1;
  slp_consumer_move(c, SLP_LIFE_RUNNING);
  slp_deliver_soon(c->engine); /* records of joined consumers may have waited for this listing */
}

/* Makes the next regular listing come list_ms from now, give or take a tenth. */
static void list_again(slp_consumer *c) {
  uint64_t span = c->o->list_ms / 5 + 1;
  slp_listing_soon(c, c->o->list_ms - c->o->list_ms / 10 + slp_random_below(c->engine->host, span));
}

/* Refuses a listing in which a shard is its own ancestor, because neither that shard nor its descendants
 * would ever be read. */
static void check_listing(slp_consumer *c, slp_fail *f) {
  size_t n;
  const slp_shard_desc *rows = slp_listing_rows(c, &n), *own;
  if (slp_descs_circle(c->mem, rows, n, &own))
    slp_fail_set(f, SLP_NOMEM, SLP_ENOMEM, "no memory for the list of shards");
  else if (own)
    slp_fail_set(f, SLP_TRANSIENT, SLOOP_EPROTO, "shard %.*s of %.100s is listed as its own ancestor",
                 (int)slp_min_u64(own->id.n, 128), own->id.p, c->stream);
}

/* ---- a stream that takes no more records ------------------------------------------------------------- */

static int is_ended(const slp_consumer *c) { return c->life == SLP_LIFE_RUNNING && slp_listing_ended(c); }

/* Returns 1 if the stream takes no more records, every record of it was read, and the user holds no batch.
 * With leases returns 0, because a worker does not know what other workers still have to read. */
static int all_is_read(const slp_consumer *c) {
  const slp_tally *t = &c->sum;
  return is_ended(c) && !c->leases && !slp_seek_pending(c) && !t->open_n && !t->waiting_n && !t->going_n &&
         !t->queued_n && !t->batches_out;
}

/* Returns 1 if the user may be told that the stream takes no more records: with leases at once, otherwise
 * when everything is read. */
static int may_tell_end(const slp_consumer *c) { return c->leases ? is_ended(c) : all_is_read(c); }

/* Reports to the user that the stream takes no more records. Without this report nothing would explain why no
 * record comes, because no call fails. what: which of the reports in slp_told_end; more: the rest of the
 * message. */
static void tell_end(slp_consumer *c, slp_told_end what, const char *more) {
  slp_fail f = {0};
  if (!slp_listing_may_tell(c, what)) return;
  slp_fail_set(&f, SLP_BUSY, SLOOP_ESTREAMBUSY,
               "the stream of table %.200s is disabled: it takes no more records%s", c->stream, more);
  slp_report_error(c, &f, NULL, 0, 1, c->o->list_ms);
}

/* Begins the listing that was asked for while a description was in flight, if there was such a request. */
static void after_description(slp_consumer *c) {
  if (slp_listing_is_asked(c) && c->life == SLP_LIFE_RUNNING)
    list_now(c);
  else if (slp_listing_is_wanted(c))
    slp_listing_soon(c, 0);
}

/* Stops the consumer with a fatal error: the old stream is read to its end, and the table now has another
 * stream. */
static void has_another(slp_consumer *c) {
  slp_fail f = {0};
  slp_fail_set(&f, SLP_GONE, SLOOP_ENOSTREAM,
               "table %.200s has another stream now, and nothing is left to read in the old one. Start again "
               "to read it",
               c->stream);
  slp_consumer_fatal(c, &f);
}

static void on_latest(slp_op *rq) {
  slp_consumer *c = slp_listing_described(rq);
  const char *arn = slp_listing_stream(c)->arn;
  int another = rq->fail.class == SLP_FINE && arn[0] && c->arn && strcmp(arn, c->arn) != 0;
  if (another && all_is_read(c)) {
    has_another(c);
    return;
  }
  if (another && may_tell_end(c))
    tell_end(c, SLP_TOLD_ANOTHER,
             "; the table has another stream now: restart the workers when every lease is at its end, and "
             "they read it");
  else if (may_tell_end(c))
    tell_end(c, SLP_TOLD_END, rq->fail.class == SLP_GONE ? "; the table has no stream now" : "");
  if (!c->leases) list_again(c);
  after_description(c);
}

/* Returns 1 if the service may be asked now whether the table has another stream. Once the end of the stream
 * was reported to the user, it may be asked at most twice in list_ms. Otherwise a user who lists in a loop
 * would use up the account's calls. */
static int latest_is_due(const slp_consumer *c) {
  uint64_t again_us = slp_after_us(slp_listing_latest_us(c), (uint64_t)c->o->list_ms * 500);
  return slp_listing_told(c) == SLP_TOLD_NOTHING || slp_now_us(c->engine->host) >= again_us;
}

/* Asks the service whether the table has another stream. Called after each listing that succeeded, and after
 * each listing that failed because the stream is gone: the service removes a disabled stream one day after
 * its end. */
static void look_for_another(slp_consumer *c, const slp_fail *of_listing) {
  if (of_listing->class != SLP_FINE && of_listing->class != SLP_GONE) return;
  /* If records must be read again, for example after a seek back, the end of the stream must also be reported
   * again after them. */
  if (is_ended(c) && !c->leases && !all_is_read(c)) slp_listing_forget_told(c);
  if (may_tell_end(c) && slp_listing_told(c) < SLP_TOLD_ANOTHER && latest_is_due(c))
    slp_listing_describe_latest(c, on_latest);
}

/* ---- the first listing, page by page ----------------------------------------------------------------- */

/* Returns 1 if shards may be read before the first listing is complete. A page of a listing has at most 100
 * shards of a table's stream, and an account gets ten such pages a second, so thousands of shards take
 * seconds. If reading starts at the oldest record, a shard can be read as soon as its parents are listed and
 * read. No record is handed out before the listing is complete, because a later page may show a shard with
 * earlier records. */
static int may_begin_early(const slp_consumer *c) {
  int alone =
      /* c is the only consumer in the list, so no joined consumer waits for this listing */
      c->engine->consumers.next == c->engine->consumers.prev;
  return alone && c->life == SLP_LIFE_LISTING && !c->leases && !c->started_from && !c->o->shards_n &&
         c->engine->order == SLOOP_ORDER_TIME && c->source->names_no_children &&
         slp_start_is_oldest(c->start_position);
}

/* Handles one page of a listing that is not the last page. */
static void on_part(slp_src_list *l) {
  slp_consumer *c = slp_listing_of(l);
  size_t at = 0;
  slp_shard *s;
  if (c->leases) c->leases->ops->listed_part(c->leases);
  if (!may_begin_early(c)) return;
  slp_lineage_take_part(c);
  while ((s = slp_map_each(&c->shards, &at))) slp_reader_listed(s);
  slp_order_open_ready(c);
}

/* Reports to the user the ends of shards that were read to their end before the first listing was
 * complete. */
static void tell_early_ends(slp_consumer *c) {
  size_t at = 0;
  slp_shard *s;
  while ((s = slp_map_each(&c->shards, &at)))
    if (slp_reading_state(s) == SLP_READER_ENDED && slp_queue_all_acked(s)) slp_reader_told_end(s);
}

static void on_listed(slp_op *rq) {
  slp_consumer *c = slp_listing_listed(rq);
  slp_fail f = rq->fail;
  size_t rows_n;
  (void)slp_listing_rows(c, &rows_n);
  slp_report_news(c);
  if (f.class == SLP_FINE) check_listing(c, &f);
  int reading = c->life == SLP_LIFE_LISTING || c->life == SLP_LIFE_RUNNING, first = !c->started_from;
  if (f.class == SLP_FINE && reading && !c->leases && slp_start_take_listing(c))
    slp_fail_set(&f, SLP_NOMEM, SLP_ENOMEM, "no memory for the list of shards");
  if (f.class == SLP_FINE && reading) {
    own_call_was_fine(c);
    slp_listing_took(c);
    slp_report_log(c, SLOOP_LOG_DEBUG, "list: shards=%u took_ms=%u", (unsigned)rows_n,
                   (unsigned)((rq->done_us - rq->sent_us) / 1000));
    if (!c->started_from && !c->leases) start_shards(c);
  }
  if (c->leases && c->life == SLP_LIFE_RUNNING) c->leases->ops->listed(c->leases, &f);
  if (f.class == SLP_FINE && c->life == SLP_LIFE_RUNNING) {
    size_t at = 0;
    slp_shard *s;
    int barred = 0;
    while ((s = slp_map_each(&c->shards, &at))) {
      slp_reader_listed(s);
      barred |= slp_lineage_is_barred(s);
    }
    if (c->leases) { /* with leases lease/ asks for the next listing, and decides which shards are read */
      slp_consumer_check(c);
    } else {
      /* reading of a shard may have begun before the listing showed that the shard's parent was given up */
      if (barred) slp_reader_bar_kin(c);
      slp_order_open_ready(c);
      slp_order_forget(c);
      list_again(c);
      if (first) tell_early_ends(c);
      slp_seek_listed(c);
      slp_consumer_check(c);
    }
  } else if (f.class != SLP_FINE && reading) {
    own_call_failed(c, &f);
  }
  look_for_another(c, &f);
  if (slp_listing_is_wanted(c) && c->life == SLP_LIFE_RUNNING) slp_listing_soon(c, 0);
  /* If the consumer has ended by itself, slp_listing_end tells the user in a later turn. This must be the
   * last step, because the user's callback may even free c. */
  if (c->life != SLP_LIFE_FAILED) slp_listing_tell(c, &f);
}

static void on_described_again(slp_op *rq) {
  slp_consumer *c = slp_listing_described(rq);
  if (rq->fail.class == SLP_FINE) slp_listing_take_status(c, slp_listing_stream(c)->reshards);
  if (rq->fail.class == SLP_FINE && c->life == SLP_LIFE_RUNNING && made_again(c, slp_listing_stream(c))) {
    end_of_old_stream(c);
    return;
  }
  if (rq->fail.class == SLP_FINE) learn_retention(c, slp_listing_stream(c)->retention_ms);
  /* if the description failed, the listing will fail too and report the failure */
  slp_listing_send(c, on_listed, NULL);
}

static int has_given_up(const slp_consumer *c) {
  size_t at = 0;
  for (slp_shard *s; (s = slp_map_each(&c->shards, &at));)
    if (slp_reading_state(s) == SLP_READER_GONE) return 1;
  return 0;
}

/* Returns 1 if it must be checked whether the stream was deleted and created again under the same name. Only
 * Kinesis allows that, and only the time of creation distinguishes the two streams. With leases each listing
 * needs the check, because the leases may belong to the old stream. Without leases only a listing after a
 * shard was given up needs it, because the service refuses positions of the old stream. */
static int may_be_another(const slp_consumer *c) {
  int told_by_time = c->life == SLP_LIFE_RUNNING && c->created_ms >= 0 && c->source->anchors_by_time;
  return told_by_time && (c->leases || has_given_up(c));
}

/* Begins a listing. A description comes first if the consumer must learn whether the stream is still the same
 * one, or whether shards are being split or merged. */
static void list_now(slp_consumer *c) {
  if (!slp_listing_begin(c)) return;
  if (may_be_another(c) || slp_listing_wants_status(c))
    slp_listing_describe(c, on_described_again);
  else
    slp_listing_send(c, on_listed, c->leases || may_begin_early(c) ? on_part : NULL);
}

static void on_looked(slp_op *rq) {
  slp_consumer *c = slp_listing_described(rq);
  const slp_src_describe *d = slp_listing_stream(c);
  int fine = rq->fail.class == SLP_FINE;
  if (fine && c->life == SLP_LIFE_RUNNING && made_again(c, d)) {
    end_of_old_stream(c);
    return;
  }
  if (fine) learn_retention(c, d->retention_ms);
  after_description(c);
}

/* Describes the stream again, unless another describe or list call is in flight. A failure of this
 * description is not reported: if it lasts, the calls that read records fail too and report it. */
static void on_look(slp_timer *t) {
  slp_consumer *c = SLP_OWNER(t, slp_consumer, look_timer);
  int busy = slp_listing_is_busy(c);
  if (c->life >= SLP_LIFE_STOPPING) return;
  look_in(c, busy ? LOOK_SOON_US : LOOK_US);
  if (!busy && c->life == SLP_LIFE_RUNNING) slp_listing_describe_latest(c, on_looked);
}

static void on_timer(slp_timer *t) {
  slp_consumer *c = SLP_OWNER(t, slp_consumer, timer);
  c->counts.retries += c->fails > 0;
  if (c->life == SLP_LIFE_DESCRIBING) {
    slp_listing_describe(c, on_described);
  } else if (slp_listing_asks_latest(c)) {
    slp_listing_soon(c, 0); /* the listing comes when the description that is in flight is answered */
  } else {
    list_now(c);
  }
}

int slp_consumer_list(slp_consumer *c, sloop_list_cb cb, void *arg) {
  if (c->life >= SLP_LIFE_STOPPING) return SLOOP_ESTATE;
  int r = slp_listing_ask(c, cb, arg);
  if (r) return r;
  /* `follows` is 1 if a listing comes anyway. In DESCRIBING a listing follows the description. In LISTING a
   * listing is in flight already, except with leases: then lease/ begins the first listing. */
  int follows = c->life == SLP_LIFE_DESCRIBING || (c->life == SLP_LIFE_LISTING && !c->leases);
  if (!follows) list_now(c);
  return 0;
}

/* ---- stopping ---------------------------------------------------------------------------------------- */

/* Ends the stop: makes the user's callback of the stop, with this status. */
static void finish_stop(slp_consumer *c, int status) {
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
  /* the callbacks that are due already are made before the callback that ends the stop */
  if (slp_report_pending(c)) {
    slp_post(c->engine->host, &c->stop.ev);
    return;
  }
  if (slp_listing_is_asked(c)) {
    slp_fail f = {0};
    slp_fail_set(&f, SLP_CANCELED, SLP_ECANCELED, "the consumer was stopped");
    slp_post(c->engine->host, &c->stop.ev);
    slp_listing_tell(c, &f);
    return;
  }
  if (slp_seek_pending(c)) {
    slp_post(c->engine->host, &c->stop.ev);
    return;
  }
  if (c->stop.fatal) { /* nothing more is written, so it is no use to wait for batches */
    finish_stop(c, c->stop.fatal);
    return;
  }
  int late = (c->sum.batches_out && !SLP_MUTANT(stop_while_out)) ||
             (c->leases && (!c->leases->ops->left(c->leases) || c->leases->ops->undone(c->leases)));
  finish_stop(c, late ? SLP_ETIMEDOUT : 0);
}

static void on_stop_timer(slp_timer *t) {
  slp_consumer *c = SLP_OWNER(t, slp_consumer, stop.timer);
  slp_post(c->engine->host, &c->stop.ev);
}

/* Sets a timer that ends the stop after limit_ms, even if the user still holds batches, or leases are not
 * given up yet. */
static void arm_stop(slp_consumer *c, uint64_t limit_ms) {
  slp_host *h = c->engine->host;
  uint64_t at_us = limit_ms > UINT64_MAX / 1000 ? UINT64_MAX : slp_after_us(slp_now_us(h), limit_ms * 1000);
  if (at_us != UINT64_MAX) slp_timer_set_reserved(h, &c->stop.timer, at_us);
}

/* With leases a stop may take at least this long, even if the user sets a shorter limit. Checkpoints and rows
 * are written only after the last batch has come back, or when the time for batches is over. */
#define LEAVE_MS_MIN 2000u

int slp_consumer_stop(slp_consumer *c, uint64_t limit_ms, sloop_cb cb, void *arg) {
  slp_host *h = c->engine->host;
  int may_stop = c->life == SLP_LIFE_FAILED || (c->life != SLP_LIFE_OPEN && c->life < SLP_LIFE_STOPPING);
  if (!may_stop || c->stop.asked) return SLOOP_ESTATE;
  c->stop.asked = 1;
  slp_listing_cancel(c);
  if (!c->leases || c->life == SLP_LIFE_FAILED) let_shards_go(c);
  slp_consumer_move(c, SLP_LIFE_STOPPING);
  slp_seek_cancel(c, SLP_ECANCELED);
  c->stop.cb = cb;
  c->stop.arg = arg;
  /* writes the acknowledged positions and gives the leases away; lease/ then posts stop.ev */
  if (c->leases) {
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

/* ---- opening, closing, pausing, statistics ----------------------------------------------------------- */

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

/* Reserves memory for what must not fail later: the report of a fatal error, and the TIMERS timers of a
 * consumer (timer, look_timer, stop.timer, stats_timer). */
#define TIMERS 4
static int reserve_notices_and_timers(slp_consumer *c) {
  int r = slp_report_init(c);
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
  if (!c->stream || reserve_notices_and_timers(c)) {
    slp_report_free(c);
    slp_free(e->mem, c->stream);
    slp_free(e->mem, c);
    return SLP_ENOMEM;
  }
  c->source = source;
  c->start_position = start_position;
  c->handle = handle;
  c->o = o;
  c->retention_ms = -1;
  slp_ahead_init(&c->ahead);
  slp_map_init(&c->shards, e->mem);
  slp_seek_init(c);
  slp_list_init(&c->namings);
  slp_list_init(&c->candidates);
  c->stop.ev.run = on_stop_event;
  c->timer = (slp_timer){.at_us = UINT64_MAX, .run = on_timer};
  c->look_timer = (slp_timer){.at_us = UINT64_MAX, .run = on_look};
  c->stop.timer = (slp_timer){.at_us = UINT64_MAX, .run = on_stop_timer};
  c->stats_timer = (slp_timer){.at_us = UINT64_MAX, .run = on_stats_timer};
  slp_list_add_last(&e->consumers, &c->link);
  *ret = c;
  return 0;
}

int slp_consumer_start(slp_consumer *c) {
  if (c->life != SLP_LIFE_OPEN) return SLOOP_ESTATE;
  slp_consumer_move(c, SLP_LIFE_DESCRIBING);
  c->started_us = slp_now_us(c->engine->host);
  if (c->o->stats_ms) stats_later(c);
  slp_listing_describe(c, on_described);
  return 0;
}

void slp_consumer_silence(slp_consumer *c) {
  slp_host *h = c->engine->host;
  slp_listing_cancel(c);
  let_shards_go(c);
  slp_timer_clear(h, &c->stop.timer);
  slp_timer_clear(h, &c->stats_timer);
  slp_timer_clear(h, &c->look_timer);
  slp_unpost(&c->stop.ev);
  slp_seek_silence(c);
  if (c->leases) c->leases->ops->free(c->leases);
  slp_report_drop(c);
  slp_listing_forget(c);
  slp_consumer_move(c, SLP_LIFE_CLOSING);
}

void slp_consumer_free(slp_consumer *c) {
  if (!c) return;
  slp_engine *e = c->engine;
  slp_consumer_silence(c);
  size_t at = 0;
  slp_shard *s;
  slp_batches_orphan(e, c);
  while ((s = slp_map_each(&c->shards, &at))) slp_queue_orphan(s);
  slp_lineage_free_map(&c->shards);
  slp_listing_forget_rows(c);
  slp_seek_free(c);
  slp_list_remove(&c->link);
  c->source->ops->close(c->source);
  if (!SLP_MUTANT(start_position_leaks)) slp_start_position_free(c->start_position);
  slp_report_free(c);
  slp_host_unreserve_timers(e->host, TIMERS);
  slp_free(c->mem, c->stream);
  slp_free(c->mem, c->arn);
  slp_free(c->mem, c);
  slp_deliver_soon(e); /* records of joined consumers may have waited for records of c */
  slp_pump_soon(e);
}

static void set_paused(slp_shard *s, int on) {
  if (s->paused == on) return;
  s->paused = (uint8_t)on;
  s->paused_us = slp_now_us(s->consumer->engine->host);
  slp_order_update(s);
  slp_reading_poke(s); /* a paused shard is asked too, now and then, even if it has many records */
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
  slp_pump_soon(c->engine);
  return 0;
}

static uint64_t ms_or_none(int64_t ms) { return ms < 0 ? UINT64_MAX : (uint64_t)ms; }

/* Returns since when the consumer reads nothing. Before RUNNING that is the time of slp_consumer_start,
 * afterwards the time when c->life last changed. */
static uint64_t idle_since_us(const slp_consumer *c) {
  return c->life < SLP_LIFE_RUNNING && c->started_us ? c->started_us : c->life_us;
}

/* Adds to `out` what lease/ knows. If a shard is parked, or the service refuses its position, the total lag
 * is unknown, because no worker reads that shard. */
static void add_leases(slp_consumer *c, slp_counts *out) {
  slp_shut_sum shut;
  c->leases->ops->stats(c->leases, out);
  c->leases->ops->shut(c->leases, &shut, NULL, NULL);
  out->parked_now = shut.parked_n;
  out->refused_now = shut.refused_n;
  if (!shut.parked_n && !shut.refused_n) return;
  uint64_t unknown_ms = out->behind_unknown_ms_now == UINT64_MAX ? 0 : out->behind_unknown_ms_now;
  out->behind_ms_now = UINT64_MAX;
  out->behind_unknown_ms_now = slp_max_u64(unknown_ms, (uint64_t)slp_max_i64(shut.longest_ms, 0));
}

void slp_consumer_stats(slp_consumer *c, slp_counts *out) {
  int no_tip = c->life < SLP_LIFE_RUNNING;
  uint64_t now_us = slp_now_us(c->engine->host), asked_us = now_us;
  slp_progress_sum all;
  size_t at = 0;
  slp_shard *s;
  slp_progress_of_all(c, &all);
  if (c->life == SLP_LIFE_RUNNING && !c->sum.open_n && all.unknown_ms < 0)
    /* no shard is being read, and no lag is unknown, so no record is left to read */
    all.behind_ms = slp_max_i64(all.behind_ms, 0);
  else if (!c->sum.open_n && all.behind_ms < 0)
    all.unknown_ms = (int64_t)((now_us - idle_since_us(c)) / 1000);
  while ((s = slp_map_each(&c->shards, &at))) {
    /* no_tip becomes 1 if a shard is not at its tip. Shards that hand out no records, because they or their
     * parents are paused, do not count. */
    if (!slp_reading_is_on(s) || s->paused || !slp_order_is_in(s)) continue;
    if (!slp_reading_at_tip(s)) no_tip = 1;
    asked_us = slp_min_u64(asked_us, slp_reading_tip_asked_us(s));
  }
  *out = c->counts;
  out->buffered_bytes_now = slp_pages_held(c->engine);
  out->buffered_bytes_peak = slp_budget_peak(&c->engine->budget);
  out->shards_now = c->sum.open_n;
  out->batches_now = c->sum.batches_out;
  out->behind_ms_now = ms_or_none(all.behind_ms);
  out->behind_unknown_ms_now = ms_or_none(all.unknown_ms);
  out->acked_age_ms_now = ms_or_none(all.acked_age_ms);
  out->heartbeat_age_ms_now = UINT64_MAX;
  if (c->leases) add_leases(c, out);
  out->pushed_now = (uint64_t)(c->source->pushes != 0);
  out->listings_failed_now = c->life == SLP_LIFE_LISTING || c->life == SLP_LIFE_RUNNING ? c->fails : 0;
  out->tip_now = all.tip_n;
  out->tip_age_ms_now = no_tip ? UINT64_MAX : (now_us - asked_us) / 1000;
}

/* The user's function that slp_consumer_each calls for each shard, and its argument. */
typedef struct visit {
  void (*each)(const sloop_shard_stats_t *, void *arg);
  void *arg;
} visit;

/* Calls v->each with the statistics of a shard that this consumer does not read. */
static void tell_unread(visit *v, const char *shard, sloop_shard_state_t state, int64_t ms,
                        const char *other) {
  sloop_shard_stats_t st = {.shard = shard,
                            .behind_ms = -1,
                            .state = state,
                            .state_ms = ms,
                            .acked_age_ms = -1,
                            .other = other,
                            .error = ""};
  v->each(&st, v->arg);
}

static void tell_shut(const slp_shut_lease *lease, void *arg) {
  tell_unread(arg, lease->shard, lease->state, lease->ms, lease->parent);
}

/* If s waits to be read, returns a parent of s that is being read; otherwise NULL. */
static const slp_shard *waited_for_parent(const slp_shard *s) {
  if (slp_reading_state(s) != SLP_READER_IDLE || !slp_lineage_wanted(s)) return NULL;
  for (int i = 0; i < 2; i++) {
    const slp_shard *p = slp_lineage_parent(s, i);
    if (p && slp_reading_is_on(p)) return p;
  }
  return NULL;
}

static void each_unread(slp_consumer *c, visit *v) {
  size_t at = 0;
  slp_shut_sum sum;
  for (slp_shard *s; (s = slp_map_each(&c->shards, &at));) {
    const slp_shard *parent = waited_for_parent(s);
    if (parent) tell_unread(v, s->name->shard, SLOOP_SHARD_WAITS_FOR_PARENT, -1, parent->name->shard);
  }
  if (c->leases) c->leases->ops->shut(c->leases, &sum, tell_shut, v);
}

void slp_consumer_each(slp_consumer *c, void (*each)(const sloop_shard_stats_t *, void *arg), void *arg) {
  size_t at = 0;
  slp_shard *s;
  while ((s = slp_map_each(&c->shards, &at))) {
    slp_progress progress;
    if (!slp_progress_is_told(s)) continue;
    slp_progress_of(s, &progress);
    char seq[SLP_SEQ_MAX + 1];
    sloop_shard_stats_t st = {.shard = s->name->shard,
                              .epoch = s->name->epoch,
                              .behind_ms = progress.behind_ms,
                              .unacked = slp_queue_unacked_n(s),
                              .paused = s->paused,
                              .at_tip = progress.at_tip,
                              .state = progress.state,
                              .fails = progress.fails,
                              .state_ms = progress.state_ms,
                              .acked_age_ms = progress.acked_age_ms,
                              .other = progress.other ? progress.other->name->shard : "",
                              .error = progress.error};
    if (c->leases) slp_position_tell(&s->lease.from, &st.from, seq);
    each(&st, arg);
  }
  each_unread(c, &(visit){each, arg});
}
