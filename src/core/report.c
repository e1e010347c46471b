/* report.c - makes all callbacks to the user except those for records. A callback may do anything, even close
 * the consumer, so none is made in the middle of a change. Instead a notice, which says what callback to
 * make, is added to a list. An event handler makes one callback per run, and does nothing after the
 * callback. */
#include "core/report.h"

#include "base/clean.h"
#include "base/fail.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/mutant.h"
#include "core/consumer_inside.h"
#include "core/engine_inside.h"
#include "core/life.h"
#include "core/shard_inside.h"
#include "core/source.h"
#include "host/host.h"

#include <sloop.h>
#include <stdarg.h>
#include <stdio.h>

/* When there are NOTICES_MAX notices, each new one drops the oldest log line or non-fatal error. */
#define NOTICES_MAX 1024

typedef enum { NOTICE_ERROR, NOTICE_SHARD, NOTICE_LOSS, NOTICE_TIP, NOTICE_LOG, NOTICE_LEASE } notice_kind;

/* A notice: says which callback to make, with copies of its arguments. */
typedef struct notice {
  /* in slp_notices.all */
  slp_list link;
  slp_list spare; /* in slp_notices.spare, if the notice may be dropped; otherwise in no list */
  notice_kind kind;
  int code, fatal, http_status, certain;
  uint32_t attempt;
  uint64_t retry_in_ms;
  sloop_shard_event_kind_t what;
  sloop_log_level_t level;
  sloop_lease_event_kind_t lease;
  uint64_t epoch;
  int64_t since_ms, until_ms;
  const char *text[4]; /* point into `bytes` */
  char bytes[];
} notice;

/* Drops the oldest notice that may be dropped, because there are NOTICES_MAX of them. So a user who has
 * blocked the event loop for long still gets the newest notices. */
static void make_room(slp_consumer *c) {
  slp_list *it = slp_list_pop(&c->notices.spare);
  if (!it) return;
  notice *n = SLP_OWNER(it, notice, spare);
  slp_list_remove(&n->link);
  slp_free(c->mem, n);
  c->notices.n--;
  c->notices.lost++;
}

/* Bytes for the texts of an error: its message of at most LINE_MAX_N bytes, the two names in slp_fail, a
 * shard's id of up to 128 characters, and four NULs. */
#define LINE_MAX_N 640
#define ERROR_TEXT_MAX \
  (LINE_MAX_N + sizeof(((slp_fail *)0)->aws_code) + sizeof(((slp_fail *)0)->request_id) + 128 + 4)

/* Returns memory for a notice with this many bytes of texts. For a fatal error it returns the reserved block
 * if there is no memory. */
static notice *block_for(slp_consumer *c, int fatal, size_t bytes) {
  notice *n = slp_zalloc(c->mem, sizeof *n + bytes);
  if (n || !fatal || !c->notices.fatal || bytes > ERROR_TEXT_MAX) return n;
  n = c->notices.fatal;
  c->notices.fatal = NULL;
  return n;
}

static notice *add_notice(slp_consumer *c, notice_kind kind, int fatal, const slp_str text[4]) {
  if (c->notices.n >= NOTICES_MAX) make_room(c);
  size_t bytes = 4;
  for (int i = 0; i < 4; i++) bytes += text[i].n;
  notice *n = block_for(c, fatal, bytes);
  if (!n) {
    c->notices.lost++; /* a later callback tells the user how many notices were dropped */
    return NULL;
  }
  n->kind = kind;
  char *p = n->bytes;
  for (int i = 0; i < 4; i++) {
    n->text[i] = p;
    if (text[i].n) memcpy(p, text[i].p, text[i].n);
    /* the user may print these texts, so control characters and passwords are removed */
    p += slp_clean(p, text[i].n);
    *p++ = 0;
  }
  slp_list_add_last(&c->notices.all, &n->link);
  if (kind == NOTICE_LOG || (kind == NOTICE_ERROR && !fatal)) slp_list_add_last(&c->notices.spare, &n->spare);
  c->notices.n++;
  slp_post(c->engine->host, &c->notices.ev);
  return n;
}

static slp_str id_of(const slp_shard *s) { return s ? s->id : SLP_STR(""); }

void slp_report_error(slp_consumer *c, const slp_fail *f, const slp_shard *s, int fatal, uint32_t attempt,
                      uint64_t retry_in_ms) {
  if (!c->o->on_error) return;
  char line[LINE_MAX_N];
  snprintf(line, sizeof line, "%s%s%s", s ? s->name->shard : "", s ? ": " : "", f->message);
  notice *n = add_notice(
      c, NOTICE_ERROR, fatal,
      (slp_str[4]){slp_str_of(f->aws_code), slp_str_of(f->request_id), id_of(s), slp_str_of(line)});
  if (!n) return;
  n->code = f->code;
  n->fatal = fatal;
  n->http_status = f->http_status;
  n->attempt = attempt;
  n->retry_in_ms = retry_in_ms;
}

void slp_report_shard(slp_consumer *c, const slp_shard *s, sloop_shard_event_kind_t what) {
  if (!c->o->on_shard) return;
  notice *n = add_notice(c, NOTICE_SHARD, 0, (slp_str[4]){s->id, {0}, {0}, {0}});
  if (n) n->what = what;
}

void slp_report_loss(slp_consumer *c, const slp_loss *loss) {
  c->counts.losses++;
  slp_report_log(
      c, SLOOP_LOG_WARN, "shard: loss: %s shard=%.*s from=%.*s to=%.*s since_ms=%lld until_ms=%lld",
      loss->message, (int)loss->shard.n, loss->shard.p, (int)loss->from.n, loss->from.n ? loss->from.p : "",
      (int)loss->to.n, loss->to.n ? loss->to.p : "", (long long)loss->since_ms, (long long)loss->until_ms);
  if (!c->o->on_loss) return;
  notice *n = add_notice(c, NOTICE_LOSS, 0,
                         (slp_str[4]){loss->shard, loss->from, loss->to, slp_str_of(loss->message)});
  if (!n) return;
  n->certain = loss->certain;
  n->since_ms = loss->since_ms;
  n->until_ms = loss->until_ms;
}

void slp_report_lease(slp_consumer *c, sloop_lease_event_kind_t what, slp_str shard, slp_str worker,
                      slp_str text, uint64_t epoch) {
  if (!c->o->on_lease) return;
  notice *n = add_notice(c, NOTICE_LEASE, 0, (slp_str[4]){shard, worker, text, {0}});
  if (!n) return;
  n->lease = what;
  n->epoch = epoch;
}

/* Returns 1 if every shard is at its tip, no record is left to hand out, and the user holds no batch: then
 * the consumer is at its tip. */
static int at_tip(const slp_consumer *c) {
  /* with leases: a worker that reads no shards can't know the tip */
  if (c->leases && (c->sum.open_n == 0 || c->suspended)) return 0;
  /* Shards whose lease is being given up may still have records, and the user was not told yet that another
   * worker will read them. */
  if (c->sum.going_n) return 0;
  return c->life == SLP_LIFE_RUNNING && c->sum.tip_n == c->sum.open_n && c->sum.waiting_n == 0 &&
         c->sum.queued_n == 0 && (c->sum.batches_out == 0 || SLP_MUTANT(tip_while_out));
}

void slp_report_tip(slp_consumer *c) {
  if (!at_tip(c)) {
    c->tip_told = 0;
  } else if (!c->tip_told) {
    /* if there is no memory for the notice, tip_told stays 0, so it is tried again later */
    c->tip_told = !c->o->on_tip || add_notice(c, NOTICE_TIP, 0, (slp_str[4]){{0}, {0}, {0}, {0}}) != NULL;
  }
}

void slp_report_log(slp_consumer *c, sloop_log_level_t level, const char *fmt, ...) {
  if (!c->o->on_log || level > c->o->log_level) return;
  char line[512];
  va_list args;
  va_start(args, fmt);
  vsnprintf(line, sizeof line, fmt, args);
  va_end(args);
  notice *n = add_notice(c, NOTICE_LOG, 0, (slp_str[4]){slp_str_of(line), {0}, {0}, {0}});
  if (n) n->level = level;
}

void slp_report_news(slp_consumer *c) {
  slp_source *source = c->source;
  slp_fail f = {0};
  int news = source->news;
  source->news = SLP_NEWS_NONE;
  if (news == SLP_NEWS_GOOD) slp_report_log(c, SLOOP_LOG_INFO, "%s", source->told);
  if (news == SLP_NEWS_WARNING) slp_report_log(c, SLOOP_LOG_WARN, "%s", source->told);
  if (news != SLP_NEWS_TROUBLE) return;
  slp_fail_set(&f, SLP_TRANSIENT, SLOOP_EPROTO, "%s", source->told);
  slp_report_error(c, &f, NULL, 0, 1, source->news_retry_ms);
}

static void make_notice_callback(slp_consumer *c, const notice *n) {
  const sloop_opts_t *o = c->o;
  switch (n->kind) {
    case NOTICE_ERROR: {
      sloop_error_t e = {n->code,    n->fatal,   n->http_status, n->attempt, n->retry_in_ms,
                         n->text[0], n->text[1], n->text[2],     n->text[3]};
      o->on_error(c->handle, &e, o->arg);
      return;
    }
    case NOTICE_SHARD: {
      sloop_shard_event_t e = {n->what, n->text[0]};
      o->on_shard(c->handle, &e, o->arg);
      return;
    }
    case NOTICE_LOSS: {
      sloop_loss_t l = {n->text[0], n->text[1], n->text[2], n->certain, n->text[3], n->since_ms, n->until_ms};
      o->on_loss(c->handle, &l, o->arg);
      return;
    }
    case NOTICE_TIP:
      /* A batch may have been handed out since the notice was added. Then no callback is made now; the tip is
       * reported when it is reached again. */
      if (at_tip(c))
        o->on_tip(c->handle, o->arg);
      else
        c->tip_told = 0;
      return;
    case NOTICE_LEASE: {
      sloop_lease_event_t e = {n->lease, n->text[0], n->text[1], n->text[2], n->epoch};
      o->on_lease(c->handle, &e, o->arg);
      return;
    }
    case NOTICE_LOG:
      if (o->on_log) o->on_log(c->handle, n->level, n->text[0], o->arg);
      return;
  }
}

static void run_next_notice(slp_event *ev) {
  slp_consumer *c = SLP_OWNER(ev, slp_consumer, notices.ev);
  if (c->notices.lost && c->o->on_log) {
    /* uses no allocated memory, because there may be none */
    char line[60];
    snprintf(line, sizeof line, "report: %u notices were lost", c->notices.lost);
    c->notices.lost = 0;
    slp_post(c->engine->host, &c->notices.ev);
    c->o->on_log(c->handle, SLOOP_LOG_WARN, line, c->o->arg);
    return;
  }
  slp_list *it = slp_list_pop(&c->notices.all);
  if (!it) return;
  c->notices.n--;
  if (!slp_list_empty(&c->notices.all)) slp_post(c->engine->host, &c->notices.ev);
  notice *n = SLP_OWNER(it, notice, link);
  slp_list_remove(&n->spare);
  slp_mem *mem = slp_mem_hold(c->mem);
  make_notice_callback(c, n); /* the callback may free c */
  slp_free(mem, n);
  slp_mem_drop(mem);
}

void slp_report_drop(slp_consumer *c) {
  slp_list *it;
  while ((it = slp_list_pop(&c->notices.all))) slp_free(c->mem, SLP_OWNER(it, notice, link));
  slp_list_init(&c->notices.spare);
  c->notices.n = 0;
  slp_unpost(&c->notices.ev);
}

int slp_report_pending(const slp_consumer *c) { return c->notices.n > 0; }

int slp_report_init(slp_consumer *c) {
  slp_list_init(&c->notices.all);
  slp_list_init(&c->notices.spare);
  c->notices.ev.run = run_next_notice;
  c->notices.fatal = slp_zalloc(c->mem, sizeof(notice) + ERROR_TEXT_MAX);
  return c->notices.fatal ? 0 : SLP_ENOMEM;
}

void slp_report_free(slp_consumer *c) {
  slp_free(c->mem, c->notices.fatal);
  c->notices.fatal = NULL;
}
