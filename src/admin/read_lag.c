/* read_lag.c - finds out how far a shard is behind its tip, if no living worker reports it. Each such shard
 * is read at its position, where a worker that took its lease now would begin. Nothing is written to the
 * table, and no record is kept.
 *
 * The cost is limited by five numbers: shards that are read at the same time; readings that begin in a
 * second; pages and tries for each shard; and a total time. The readings begin with a random shard, so that
 * if the time is not enough for all shards, the next command reads others. */
#include "admin/command_inside.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/num.h"
#include "codec/page.h"
#include "core/mark.h"
#include "core/pace.h"
#include "core/position.h"
#include "core/source.h"
#include "core/svctime.h"
#include "host/host.h"
#include "host/op.h"

#include <sloop.h>
#include <sloop_admin.h>
#include <stdio.h>

#define AT_ONCE_MAX 64u
/* instead of AT_ONCE_MAX for Kinesis, where a page of two records may have 20 MiB */
#define AT_ONCE_OF_LARGE 16u
#define BEGIN_GAP_US 5000u
/* least time between two pages of a shard: Kinesis allows five calls a second for each */
#define PAGE_GAP_US SLP_PACE_FLOOR_US
#define PAGES_MAX 12u
#define TRIES_MAX 4u
#define CURSOR_MAX 4096u
/* readings may begin only in this first part of the time limit, in percent; the rest is for readings to
 * end */
#define BEGIN_PERCENT 80

typedef struct reading { /* the reading of one shard; an element of `places` */
  slp_admin *admin;
  slp_lag_entry *entry; /* NULL: this element of `places` is not in use */
  slp_timer timer;      /* runs at the next try, or when the next page may be asked for */
  slp_src_locate locate;
  slp_src_fetch fetch;
  slp_page *page;
  slp_buf cursor; /* the iterator of the next page; empty: an iterator must be asked for */
  /* tries: how many have failed. pages: how many came. empties: how many of the last pages in a row were
   * empty. */
  uint32_t tries, pages, empties;
  /* 1: an iterator was refused, and another one was asked for */
  uint8_t relocated;
  uint8_t met; /* 1: a page with records has come */
  /* 1: the stream does not keep the position any more, so the shard is read from its oldest record */
  uint8_t from_oldest;
  char error[SLP_LAGS_WORDS]; /* the error's name and message, of the last try that failed */
} reading;

struct slp_lags {
  /* first: index of the entry of slp_admin.lag that is read first. begun: how many entries were taken up so
   * far. out: how many shards are being read now. */
  size_t first, begun, out;
  uint64_t begin_us, end_us; /* no reading begins after begin_us; all of them end at end_us */
  uint64_t next_us;          /* no reading begins before this time */
  /* an error that every reading would get, such as a call that is not allowed. Then no other shard is tried.
   * NULL: there was none. In `keep` */
  const char *for_all;
  /* pace: runs at next_us. end: runs at end_us. */
  slp_timer pace, end;
  uint8_t reserved;
  /* how many of `places` may be in use: fewer if records may be large */
  size_t places_n;
  reading places[AT_ONCE_MAX];
};

static void begin_more_readings(slp_admin *a);

static uint64_t now_us(const slp_admin *a) { return slp_now_us(a->o.host); }

/* ---- one shard ----------------------------------------------------------------------------------------- */

static void close_reading(reading *r) {
  slp_admin *a = r->admin;
  slp_timer_clear(a->o.host, &r->timer);
  a->o.source->ops->cancel(a->o.source, &r->locate.rq);
  a->o.source->ops->cancel(a->o.source, &r->fetch.rq);
  slp_buf_free(&r->locate.cursor);
  slp_buf_free(&r->cursor);
  slp_page_free(r->page);
  r->page = NULL;
  r->entry = NULL;
}

static void settle_reading(reading *r, sloop_lag_t lag, int64_t behind_ms, const char *error) {
  slp_admin *a = r->admin;
  slp_lag_entry *e = r->entry;
  e->lag = lag;
  e->behind_ms = behind_ms;
  e->at_ms = slp_wall_ms(a->o.host);
  if (*error) e->error = slp_admin_text(a, slp_str_of(error));
  close_reading(r);
  a->lags->out--;
}

static void finish_reading(reading *r, sloop_lag_t lag, int64_t behind_ms, const char *error) {
  slp_admin *a = r->admin;
  settle_reading(r, lag, behind_ms, error);
  begin_more_readings(a);
}

static void again_in(reading *r, uint64_t us) {
  slp_timer_set_reserved(r->admin->o.host, &r->timer, slp_after_us(now_us(r->admin), us));
}

static void try_again(reading *r, const slp_fail *f) {
  uint32_t random = (uint32_t)slp_random_below(r->admin->o.host, 1000);
  if (++r->tries >= TRIES_MAX)
    finish_reading(r, SLOOP_LAG_FAILED, -1, r->error);
  else
    again_in(r, slp_pace_backoff_us(r->tries, f->class == SLP_THROTTLE, random));
}

static void locate_entry(reading *r);

/* Called when the stream does not keep the position any more. An owner that may live may have read further
 * than its row says. Its lag is then measured from the oldest record that the stream keeps. */
static void on_trimmed(reading *r) {
  if (!r->entry->may_live || r->from_oldest) {
    finish_reading(r, SLOOP_LAG_TRIMMED, -1, "");
    return;
  }
  r->from_oldest = 1;
  locate_entry(r);
}

/* Ends this reading after an error that every reading would get. No other reading is begun. */
static void give_up_all(reading *r) {
  slp_admin *a = r->admin;
  if (!a->lags->for_all) a->lags->for_all = slp_admin_text(a, slp_str_of(r->error));
  finish_reading(r, SLOOP_LAG_FAILED, -1, r->error);
}

void slp_lags_words(const slp_fail *f, char out[SLP_LAGS_WORDS]) {
  const char *name = *f->aws_code && !strstr(f->message, f->aws_code) ? f->aws_code : "";
  snprintf(out, SLP_LAGS_WORDS, "%.80s%s%.320s", name, *name && *f->message ? ": " : "", f->message);
}

static void on_reading_failed(reading *r, const slp_fail *f) {
  int had_cursor = r->cursor.n > 0;
  slp_lags_words(f, r->error);
  slp_buf_clear(&r->cursor);
  switch (f->class) {
    case SLP_GONE: finish_reading(r, SLOOP_LAG_GONE, -1, ""); return;
    case SLP_TRIMMED: on_trimmed(r); return;
    case SLP_AUTH:
    case SLP_ACCESS: give_up_all(r); return;
    case SLP_REFUSED:
      if (f->aws_code[0] && (!had_cursor || r->relocated)) {
        finish_reading(r, SLOOP_LAG_REFUSED, -1, r->error);
        return;
      }
      /* perhaps the service refused only the iterator, so another iterator is asked for */
      r->relocated = (uint8_t)had_cursor;
      break;
    case SLP_FINE:
    case SLP_THROTTLE:
    case SLP_TRANSIENT:
    case SLP_EXPIRED:
    case SLP_BUSY:
    case SLP_CANCELED:
    case SLP_NOMEM: break;
  }
  try_again(r, f);
}

static void no_memory(reading *r) {
  slp_fail f = {0};
  slp_fail_set(&f, SLP_NOMEM, SLP_ENOMEM, "no memory");
  on_reading_failed(r, &f);
}

static void learn_time(slp_admin *a, const slp_op *rq) {
  if (rq->date_ms >= 0) slp_svctime_learn(&a->service, rq->date_ms, rq->sent_us, rq->done_us);
}

/* ---- what a page says ---------------------------------------------------------------------------------- */

/* Returns 1 if the iterator is asked for AT the last record that was read, as in core/reader.c. If another
 * record comes first, or none, the stream does not keep that record any more. (An idle mark is no record:
 * only its age can show whether the stream keeps what followed it.) */
static int is_located_at(const slp_position *p) {
  return p->kind == SLP_POSITION_AT || (p->kind == SLP_POSITION_AFTER && !p->mark.idle);
}

/* Returns 1 if a record as old as the mark must still be in the stream, or if the mark's time is not
 * known. */
static int is_young(const slp_admin *a, const slp_mark *m) {
  int64_t kept_ms = a->describe.retention_ms;
  return kept_ms <= 0 || m->arrived_ms < 0 || m->arrived_ms > slp_admin_service_ms(a) - kept_ms;
}

/* Returns 1 if the position is the sequence number with which the shard begins. No record has it, but reading
 * may begin there. */
static int is_beginning(const slp_admin *a, const slp_lag_entry *e) {
  const slp_admin_shard *s = slp_admin_listed(a, e->shard);
  return s && s->seq_start.n && slp_num_cmp(s->seq_start, slp_mark_seq(&e->position.mark)) == 0;
}

static int is_tip(const reading *r);

/* Returns 1 if the page shows that the stream does not keep the position any more. */
static int is_passed(const reading *r) {
  const slp_position *p = &r->entry->position;
  size_t n = r->page->recs_n;
  if (r->from_oldest) return 1;
  if (r->met || (!n && !is_tip(r))) return 0;
  if (!is_located_at(p)) return p->kind == SLP_POSITION_AFTER && !is_young(r->admin, &p->mark);
  if (is_beginning(r->admin, r->entry)) return 0;
  return !n || slp_num_cmp(slp_rec_seq(r->page, &r->page->recs[0]), slp_mark_seq(&p->mark)) > 0;
}

/* Returns 1 if records were lost: the stream does not keep them, and the owner has not read them. But a
 * living owner may have read further than its row says. On an idle shard the record in its row may expire
 * while nothing is lost. So a living owner has lost records only if the oldest record that waits for it is
 * older than half of the retention time. */
static int is_lost(const reading *r, int64_t behind_ms) {
  int64_t kept_ms = r->admin->describe.retention_ms;
  if (!is_passed(r)) return 0;
  return !r->entry->may_live || (kept_ms > 0 && behind_ms > kept_ms / 2);
}

/* Rounds a row's time down to the precision of the times that the service stamps on records. Workers round
 * the time at which they begin in the same way. */
static int64_t stamp_of(const slp_source *s, int64_t at_ms) {
  return s->anchors_by_time || at_ms < 0 ? at_ms : at_ms - at_ms % 1000;
}

/* Returns 1 if the record still waits to be read, because it is at the position or after it. */
static int record_still_waits(const reading *r, const slp_rec *rec) {
  const slp_position *p = &r->entry->position;
  slp_str seq = slp_rec_seq(r->page, rec);
  if (rec->flags & SLP_REC_EMPTY) return 0;
  if (p->kind == SLP_POSITION_TIME)
    return rec->arrived_ms < 0 || rec->arrived_ms >= stamp_of(r->admin->o.source, p->at_ms);
  if (p->kind == SLP_POSITION_AFTER) return slp_mark_side(&p->mark, seq, rec->sub) > 0;
  return p->kind != SLP_POSITION_AT || slp_mark_side(&p->mark, seq, rec->sub) >= 0;
}

/* Returns the first record of the page that waits to be read; NULL: none does. */
static const slp_rec *first_that_waits(const reading *r) {
  for (size_t i = 0; i < r->page->recs_n; i++)
    if (record_still_waits(r, &r->page->recs[i])) return &r->page->recs[i];
  return NULL;
}

/* Returns how far the shard is behind its tip in ms, at least 1, because a record waits. -1: neither the
 * record nor the service states a time. */
static int64_t behind_of(const reading *r, const slp_rec *rec) {
  int64_t age = -1;
  if (rec->arrived_ms >= 0) age = slp_max_i64(slp_admin_service_ms(r->admin) - rec->arrived_ms, 1);
  return slp_max_i64(age, r->page->behind_ms > 0 ? r->page->behind_ms : -1);
}

/* Called for a page on which no record waits to be read. Returns 1 if none waits after this page either. */
static int is_tip(const reading *r) {
  const slp_page *p = r->page;
  if (p->behind_ms == 0 || !p->next.n) return 1;
  if (p->behind_ms > 0 || p->recs_n) return 0;
  return r->entry->position.kind == SLP_POSITION_LATEST || r->empties >= SLP_PACE_EMPTIES_AT_TIP;
}

static void next_page(reading *r) {
  slp_buf_clear(&r->cursor);
  if (slp_buf_add_str(&r->cursor, r->page->next))
    no_memory(r);
  else
    again_in(r, PAGE_GAP_US);
}

/* Learns from a page how far the shard is behind, or asks for the next page. */
static void judge_lag_page(reading *r) {
  const slp_rec *rec = first_that_waits(r);
  int64_t behind_ms = rec ? behind_of(r, rec) : r->page->behind_ms;
  r->pages++;
  r->empties = r->page->recs_n ? 0 : r->empties + 1;
  if (is_lost(r, behind_ms))
    finish_reading(r, SLOOP_LAG_TRIMMED, -1, "");
  else if (!rec && is_tip(r))
    finish_reading(r, SLOOP_LAG_READ, 0, "");
  else if (behind_ms >= 0)
    finish_reading(r, SLOOP_LAG_READ, behind_ms, "");
  else if (rec || r->pages >= PAGES_MAX)
    finish_reading(r, SLOOP_LAG_UNPROVEN, -1, "");
  else {
    r->met |= r->page->recs_n > 0;
    next_page(r);
  }
}

/* ---- calls --------------------------------------------------------------------------------------------- */

static void on_fetched(slp_op *rq) {
  reading *r = SLP_OWNER(SLP_OWNER(rq, slp_src_fetch, rq), reading, fetch);
  slp_fail f = rq->fail;
  learn_time(r->admin, rq);
  if (f.class == SLP_FINE)
    judge_lag_page(r);
  else
    on_reading_failed(r, &f);
}

static size_t known_children(slp_src_fetch *f, slp_shard_desc *rows, size_t max) {
  const slp_admin *a = SLP_OWNER(f, reading, fetch)->admin;
  size_t n = 0;
  for (size_t i = 0; i < a->shards_n && n < max; i++) {
    const slp_admin_shard *s = &a->shards[i];
    if (!slp_str_eq(s->parents[0], f->shard) && !slp_str_eq(s->parents[1], f->shard)) continue;
    rows[n++] = (slp_shard_desc){.id = s->id, .parent = s->parents[0], .adjacent_parent = s->parents[1]};
  }
  return n;
}

static uint32_t records_wanted(const reading *r) {
  const slp_source *s = r->admin->o.source;
  if (r->entry->position.kind == SLP_POSITION_TIME && !slp_source_finds_times(s)) return s->fetch_records_max;
  return is_located_at(&r->entry->position) ? 2 : 1;
}

static void fetch_lag_page(reading *r) {
  slp_source *s = r->admin->o.source;
  if (r->page)
    slp_page_reset(r->page);
  else
    r->page = slp_page_new(r->admin->mem);
  if (!r->page) {
    no_memory(r);
    return;
  }
  r->fetch = (slp_src_fetch){.rq = {.on_done = on_fetched},
                             .shard = r->entry->shard,
                             .cursor = slp_buf_str(&r->cursor),
                             .limit = records_wanted(r),
                             .known_children = known_children,
                             .page = r->page};
  s->ops->fetch(s, &r->fetch);
}

static void on_located(slp_op *rq) {
  reading *r = SLP_OWNER(SLP_OWNER(rq, slp_src_locate, rq), reading, locate);
  slp_fail f = rq->fail;
  int bad = f.class == SLP_FINE && slp_buf_add_str(&r->cursor, slp_buf_str(&r->locate.cursor));
  learn_time(r->admin, rq);
  slp_buf_free(&r->locate.cursor);
  if (f.class == SLP_FINE && !bad && !r->cursor.n)
    slp_fail_set(&f, SLP_TRANSIENT, SLOOP_EPROTO, "the service gave an empty iterator");
  if (bad)
    no_memory(r);
  else if (f.class != SLP_FINE)
    on_reading_failed(r, &f);
  else
    fetch_lag_page(r);
}

static void locate_entry(reading *r) {
  slp_source *s = r->admin->o.source;
  slp_src_locate *l = &r->locate;
  *l = (slp_src_locate){.rq = {.on_done = on_located}, .shard = r->entry->shard, .from = r->entry->position};
  if (is_located_at(&l->from)) l->from.kind = SLP_POSITION_AT;
  if (r->from_oldest) l->from.kind = SLP_POSITION_OLDEST;
  if (l->from.kind == SLP_POSITION_TIME && !slp_source_finds_times(s)) l->from.kind = SLP_POSITION_OLDEST;
  if (l->from.kind == SLP_POSITION_TIME) l->from.at_ms = stamp_of(s, l->from.at_ms);
  slp_buf_init(&l->cursor, r->admin->mem, CURSOR_MAX);
  s->ops->locate(s, l);
}

static void go_on(slp_timer *t) {
  reading *r = SLP_OWNER(t, reading, timer);
  if (r->cursor.n)
    fetch_lag_page(r);
  else
    locate_entry(r);
}

/* ---- all shards ---------------------------------------------------------------------------------------- */

static reading *free_place(slp_lags *l) {
  for (size_t i = 0; i < l->places_n; i++)
    if (!l->places[i].entry) return &l->places[i];
  return NULL;
}

/* Returns the next shard to read. Shards without a position are left out. NULL: there are no more. */
static slp_lag_entry *next_entry(slp_admin *a) {
  slp_lags *l = a->lags;
  while (l->begun < a->lag.n) {
    slp_lag_entry *e = &a->lag.all[(l->first + l->begun++) % a->lag.n];
    if (e->lag != SLOOP_LAG_NO_POSITION) return e;
  }
  return NULL;
}

static void begin_entry_reading(slp_admin *a, reading *r, slp_lag_entry *e) {
  *r = (reading){.admin = a, .entry = e, .timer = {.at_us = UINT64_MAX, .run = go_on}};
  slp_buf_init(&r->cursor, a->mem, CURSOR_MAX);
  a->lags->out++;
  locate_entry(r);
}

static void fail_the_rest(slp_admin *a) {
  slp_lag_entry *e;
  while ((e = next_entry(a))) {
    e->lag = SLOOP_LAG_FAILED;
    e->error = a->lags->for_all;
  }
}

static void finish_lags(slp_admin *a) {
  slp_timer_clear(a->o.host, &a->lags->pace);
  slp_timer_clear(a->o.host, &a->lags->end);
  slp_admin_leases(a);
}

static void begin_more_readings(slp_admin *a) {
  slp_lags *l = a->lags;
  uint64_t now = now_us(a);
  reading *r;
  if (l->for_all) fail_the_rest(a);
  while (l->begun < a->lag.n && now < l->begin_us && (r = free_place(l))) {
    if (now < l->next_us) {
      slp_timer_set_reserved(a->o.host, &l->pace, l->next_us);
      return;
    }
    slp_lag_entry *e = next_entry(a);
    if (!e) break;
    l->next_us = slp_max_u64(l->next_us, now) + BEGIN_GAP_US;
    begin_entry_reading(a, r, e);
  }
  if (!l->out && (l->begun == a->lag.n || now >= l->begin_us)) finish_lags(a);
}

static void on_pace(slp_timer *t) { begin_more_readings(SLP_OWNER(t, slp_lags, pace)->places[0].admin); }

static void on_end(slp_timer *t) {
  slp_lags *l = SLP_OWNER(t, slp_lags, end);
  slp_admin *a = l->places[0].admin;
  for (size_t i = 0; i < l->places_n; i++) {
    reading *r = &l->places[i];
    if (r->entry) settle_reading(r, SLOOP_LAG_FAILED, -1, *r->error ? r->error : "no answer in time");
  }
  begin_more_readings(a);
}

void slp_lags_measure(slp_admin *a) {
  slp_lags *l = a->lags;
  uint64_t now = now_us(a), limit_us = (uint64_t)a->o.limit_ms * 1000;
  l->begin_us = slp_after_us(now, limit_us / 100 * BEGIN_PERCENT);
  l->end_us = slp_after_us(now, limit_us);
  l->next_us = now;
  l->first = a->lag.n ? (size_t)slp_random_below(a->o.host, a->lag.n) : 0;
  slp_timer_set_reserved(a->o.host, &l->end, l->end_us);
  begin_more_readings(a);
}

void slp_lags_find(slp_admin *a) {
  slp_lags *l = a->lags = SLP_NEW(a->mem, slp_lags);
  if (l) {
    l->places_n = a->o.source->tells_behind ? AT_ONCE_OF_LARGE : AT_ONCE_MAX;
    l->places[0].admin = a;
    l->pace = (slp_timer){.at_us = UINT64_MAX, .run = on_pace};
    l->end = (slp_timer){.at_us = UINT64_MAX, .run = on_end};
    l->reserved = slp_host_reserve_timers(a->o.host, l->places_n + 2) == 0;
  }
  if (!l || !l->reserved) {
    slp_admin_no_memory(a);
    return;
  }
  slp_lags_choose(a);
  if (a->starved)
    slp_admin_no_memory(a);
  else if (a->lag.n)
    slp_admin_move(a, SLP_ADMIN_MEASURING);
  else
    slp_admin_leases(a);
}

void slp_lags_free(slp_admin *a) {
  slp_lags *l = a->lags;
  if (!l) return;
  for (size_t i = 0; i < l->places_n; i++)
    if (l->places[i].entry) close_reading(&l->places[i]);
  slp_timer_clear(a->o.host, &l->pace);
  slp_timer_clear(a->o.host, &l->end);
  if (l->reserved) slp_host_unreserve_timers(a->o.host, l->places_n + 2);
  slp_free(a->mem, l);
  a->lags = NULL;
}
