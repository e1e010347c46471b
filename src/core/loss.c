/* loss.c - finds records that were lost, and reports them to the user. loss.h explains clear_ms, the time
 * until which the records after a mark are accounted for. */
#include "core/loss.h"

#include "base/mutant.h"
#include "base/num.h"
#include "base/probe.h"
#include "codec/page.h"
#include "core/consumer_inside.h"
#include "core/engine_inside.h"
#include "core/lag.h"
#include "core/mark.h"
#include "core/position.h"
#include "core/report.h"
#include "core/shard_inside.h"
#include "core/standing.h"
#include "core/svctime.h"
#include "host/host.h"

#include <sloop.h>

#define ANSWER_MS_MAX 30000 /* no answer of a service takes longer than this */
/* A service may show a record only some time after it arrived. So an empty answer says nothing about records
 * that arrived in the last SHOWN_LATE_MS. */
#define SHOWN_LATE_MS 60000
/* Each move of a mark's clear_ms costs a write of the lease's row. So clear_ms moves by at least a STEPS-th
 * of the stream's retention, and by STEP_MS_MIN or more; if the retention is not known, by STEP_MS or
 * more. */
#define STEPS 24
#define STEP_MS_MIN 600000
#define STEP_MS 3600000

static const char removed[] = "records were removed from the stream before they were read";
static const char maybe[] =
    "the stream no longer keeps the record to continue from; records after it may be missing";

/* Returns m->clear_ms; -1: not known. A clear_ms in the future counts as not known, because rows and tokens
 * may contain anything. */
static int64_t clear_until_ms(const slp_shard *s, const slp_mark *m) {
  const slp_consumer *c = s->consumer;
  int64_t now_ms = slp_svctime_high_ms(&c->service, slp_now_us(c->engine->host));
  return m->clear_ms > 0 && m->clear_ms <= now_ms ? m->clear_ms : -1;
}

/* Returns the time until which every record is read or reported as lost; -1: not known. It is the arrival
 * time of the mark's record or, if that is later, the mark's clear_ms. */
static int64_t known_until_ms(const slp_shard *s, const slp_mark *m) {
  return m->seq_n ? slp_max_i64(clear_until_ms(s, m), m->arrived_ms) : -1;
}

/* ---- reporting a loss -------------------------------------------------------------------------------- */

/* Returns the mark after which records may be missing: the idle mark, or else the last record taken, or else
 * the record where reading is to start. */
static const slp_mark *begin_of_gap(const slp_shard *s) {
  if (s->at.idle.seq_n) return &s->at.idle;
  if (!slp_has_taken(&s->at) && s->at.start.kind == SLP_POSITION_AT) return &s->at.start.mark;
  return &s->at.last;
}

void slp_loss_tell(slp_shard *s, const slp_page *next, int certain, const char *message) {
  const slp_mark *from = begin_of_gap(s);
  const slp_rec *first = next && next->recs_n ? &next->recs[0] : NULL;
  s->at.gap = SLP_GAP_NONE;
  s->at.after_last = 0;
  slp_report_loss(s->consumer, &(slp_loss){.shard = s->id,
                                           .from = slp_mark_seq(from),
                                           .to = first ? slp_rec_seq(next, first) : SLP_STR(""),
                                           .since_ms = known_until_ms(s, from),
                                           .until_ms = first ? first->arrived_ms : -1,
                                           .certain = certain,
                                           .message = message});
}

/* ---- finding ------------------------------------------------------------------------------------------ */

int slp_loss_is_young(const slp_shard *s, const slp_mark *m) {
  const slp_consumer *c = s->consumer;
  int64_t now_ms = slp_svctime_low_ms(&c->service, slp_now_us(c->engine->host));
  return m->seq_n > 0 && c->retention_ms > 0 && m->arrived_ms >= 0 && now_ms != INT64_MIN &&
         m->arrived_ms > now_ms - c->retention_ms;
}

/* Returns 1 if every record between the mark and the next record that the service keeps was read, or was
 * reported as lost. first_ms: when that next record arrived; -1: it is not known. */
static int is_accounted(const slp_shard *s, const slp_mark *m, int64_t first_ms) {
  int64_t clear_ms = clear_until_ms(s, m);
  if (clear_ms < 0) return 0;
  if (first_ms >= 0 && first_ms <= clear_ms) return 1;
  slp_mark clear = *m;
  clear.arrived_ms = clear_ms;
  /* The mark's record is gone because of its age alone if it is too old to be kept, but records after
   * clear_ms are not. Then nothing is missing. If a record is gone although it is young enough to be kept, it
   * was removed on purpose, perhaps with others. */
  return !slp_loss_is_young(s, m) && slp_loss_is_young(s, &clear);
}

/* Returns 1 if the aggregate of the last record taken was not read to its end. The other records of the
 * aggregate are gone then, which proves a loss. (That the last record taken is itself gone proves nothing.
 * is_certain_before has another proof.) */
static int is_cut(const slp_shard *s) { return SLP_MUTANT(removed_is_lost) || s->at.last.part; }

/* Returns 1 if the last answer said that more records waited in the shard. */
static int had_more(const slp_shard *s) {
  return s->consumer->source->tells_behind && slp_lag_told_ms(s) > 0;
}

/* Returns 1 if records were certainly lost between the last record taken and the record with which reading
 * continues. first_ms: when that later record arrived; -1: not known. */
static int is_certain_before(const slp_shard *s, int64_t first_ms) {
  int64_t told_ms = slp_svctime_low_ms(&s->consumer->service, slp_lag_told_us(s));
  int came_later = first_ms >= 0 && told_ms != INT64_MIN && first_ms > told_ms + ANSWER_MS_MAX;
  return is_cut(s) || (had_more(s) && came_later);
}

int slp_loss_trimmed(slp_shard *s, const char *message) {
  if (s->consumer->o->on_trimmed == SLOOP_TRIMMED_STOP) {
    slp_loss_tell(s, NULL, is_cut(s), message);
    return 1;
  }
  if (is_accounted(s, &s->at.last, -1))
    SLP_PROBE("loss: the record is not kept, and nothing came behind it");
  else
    s->at.gap = is_cut(s) || had_more(s) ? SLP_GAP_CERTAIN : SLP_GAP_MAYBE;
  return 0;
}

/* Returns 1 if the page's first record comes after the record that was asked for, and the records between
 * them are neither read nor reported as lost. */
static int begins_behind(const slp_shard *s, const slp_page *page) {
  const slp_mark *wanted = slp_has_taken(&s->at) ? &s->at.last : &s->at.start.mark;
  int64_t first_ms = page->recs[0].arrived_ms;
  /* No record has the sequence number of an idle mark. So only the arrival time of the page's first record
   * can show a gap after it. */
  if (s->at.idle_old) return first_ms < 0 || first_ms > s->at.idle.arrived_ms;
  if (slp_has_taken(&s->at) ? !s->at.after_last : s->at.start.kind != SLP_POSITION_AT) return 0;
  if (slp_num_cmp(slp_rec_seq(page, &page->recs[0]), slp_mark_seq(wanted)) <= 0) return 0;
  return !is_accounted(s, wanted, first_ms);
}

/* Returns the mark after which records are missing. The mark's clear_ms is moved to the arrival time of the
 * page's first record. So a later run of the program that starts from this mark does not report the same gap
 * again. */
static slp_mark told_until(const slp_shard *s, const slp_page *page) {
  slp_mark m = *begin_of_gap(s);
  int64_t first_ms = page->recs[0].arrived_ms;
  int can_hold = !m.idle || s->consumer->idle_places || !s->consumer->leases;
  if (!m.seq_n || first_ms < 0 || !can_hold) return (slp_mark){.seq_n = 0};
  /* reading starts AT the mark's record, so that record is lost too, with its whole aggregate */
  if (!slp_has_taken(&s->at) && !m.idle) m.sub = UINT32_MAX;
  if (m.idle)
    m.arrived_ms = slp_max_i64(m.arrived_ms, first_ms);
  else
    m.clear_ms = slp_max_i64(clear_until_ms(s, &m), first_ms);
  return m;
}

int slp_loss_before(slp_shard *s, const slp_page *page, int known, slp_mark *ret_behind) {
  ret_behind->seq_n = 0;
  if (page->recs_n == 0) return 0;
  if (s->at.from_oldest) {
    slp_gap gap = (slp_gap)s->at.gap;
    s->at.gap = SLP_GAP_NONE;
    /* The page has the record that was asked for, so the service kept it, and nothing is lost. */
    if (gap == SLP_GAP_NONE || known) return 0;
    int certain = gap == SLP_GAP_CERTAIN && is_certain_before(s, page->recs[0].arrived_ms);
    slp_loss_tell(s, page, certain, certain ? removed : maybe);
  } else if (begins_behind(s, page) && !SLP_MUTANT(gap_untold)) {
    int certain = is_certain_before(s, page->recs[0].arrived_ms);
    slp_loss_tell(s, page, certain, certain ? removed : maybe);
  } else {
    return 0;
  }
  *ret_behind = told_until(s, page);
  return 1;
}

/* ---- without a next record ----------------------------------------------------------------------------- */

/* Returns by how many ms at least clear_ms is moved at a time. Each move costs a write of the lease's row. */
static int64_t step_ms(const slp_consumer *c) {
  return c->retention_ms > 0 ? slp_max_i64(c->retention_ms / STEPS, STEP_MS_MIN) : STEP_MS;
}

/* Returns 1 if the service shows no record of the shard at all, not even the one that was asked for. Then
 * later records may have been removed too. */
static int finds_nothing(const slp_shard *s, int64_t now_ms) {
  const slp_mark *m = &s->at.last;
  if (!s->at.after_last || s->at.came || !slp_has_taken(&s->at) || is_accounted(s, m, -1)) return 0;
  /* A loss that was reported less than STEP_MS_MIN ago is not reported again. Otherwise a reader that is
   * restarted often would report a loss each time. */
  int64_t clear_ms = clear_until_ms(s, m);
  return clear_ms < 0 || now_ms == INT64_MIN || now_ms - clear_ms >= STEP_MS_MIN;
}

int slp_loss_end(slp_shard *s) {
  slp_consumer *c = s->consumer;
  int64_t now_ms = slp_svctime_low_ms(&c->service, slp_now_us(c->engine->host));
  int certain = s->at.gap == SLP_GAP_CERTAIN;
  if (s->at.gap == SLP_GAP_NONE && (c->source->pushes || !finds_nothing(s, now_ms))) return 0;
  slp_loss_tell(s, NULL, certain, certain ? removed : maybe);
  if (now_ms > clear_until_ms(s, &s->at.last)) s->at.last.clear_ms = now_ms;
  return 1;
}

int slp_loss_note_quiet(slp_shard *s, int64_t behind_ms, uint64_t asked_us, int at_tip) {
  slp_consumer *c = s->consumer;
  int64_t now_ms = slp_svctime_low_ms(&c->service, asked_us);
  /* 1: the user wants reading to stop at a gap; only the next record will show whether there is one */
  int stops = c->o->on_trimmed == SLOOP_TRIMMED_STOP;
  if (at_tip && (s->at.gap || (behind_ms == 0 && !stops)) && slp_loss_end(s)) return 1;
  if (!slp_has_taken(&s->at) || s->at.idle.seq_n || now_ms == INT64_MIN || s->at.gap) return 0;
  /* a lag that reaches back before 1970 is a mistake, so it proves nothing */
  if (behind_ms < 0 || behind_ms > now_ms) return 0;
  int64_t clear_ms = now_ms - behind_ms - SHOWN_LATE_MS;
  if (s->at.quiet_ms <= 0) s->at.quiet_ms = clear_ms;
  int64_t known_ms = known_until_ms(s, &s->at.last);
  if (known_ms <= 0) known_ms = s->at.quiet_ms;
  if (clear_ms - known_ms < step_ms(c)) return 0;
  SLP_PROBE("loss: a shard is clear until later");
  s->at.last.clear_ms = clear_ms;
  return 1;
}
