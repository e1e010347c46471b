/* refused.c - writes and reads the `refused` attribute (refused.h), and computes the back-off, for
 * which no worker tries the position again. The attribute:
 *
 *   COUNT:MS:NUMBER     COUNT: refusals in a row. MS: the time of the last one. NUMBER: the position's
 *                       sequence number; empty if the position has none */
#include "lease/refused.h"

#include "base/mutant.h"
#include "base/num.h"
#include "core/mark.h"
#include "core/position.h"
#include "lease/schema.h"

#include <stdio.h>

/* the first back-off; it doubles with each further refusal */
#define SPAN_MS INT64_C(60000)
/* The first back-off for a position without a sequence number. The service has hardly a reason to refuse such
 * a position to everyone. Perhaps it refuses only this worker, so another worker should try soon. */
#define SPAN_SHORT_MS INT64_C(5000)
/* the longest back-off */
#define SPANS_MS_MAX INT64_C(600000)
#define COUNT_MAX 1000u
/* An attribute whose time is further in the future is ignored. AWS accepts no request signed by a clock that
 * is more than five minutes ahead, so no worker's clock is. */
#define AHEAD_MS_MAX INT64_C(900000)

size_t slp_refused_write(const slp_operation *i, char out[SLP_REFUSED_TEXT]) {
  const slp_mark *m = &i->position.mark;
  int n = snprintf(out, SLP_REFUSED_TEXT, "%u:%lld:%.*s", (unsigned)slp_min_u64(i->refused_n, COUNT_MAX),
                   (long long)slp_max_i64(i->wall_ms, 0), (int)m->seq_n, m->seq);
  SLP_CHECK(n > 0 && n < SLP_REFUSED_TEXT);
  return (size_t)n;
}

/* Cuts the number before the next colon off *s. Returns 1, or 0 if there is no such number. */
static int cut_number(slp_str *s, uint64_t *ret) {
  const char *colon = s->n ? memchr(s->p, ':', s->n) : NULL;
  if (!colon || slp_parse_u64((slp_str){s->p, (size_t)(colon - s->p)}, ret)) return 0;
  *s = (slp_str){colon + 1, s->n - (size_t)(colon + 1 - s->p)};
  return 1;
}

void slp_refused_read(slp_str text, slp_lease_row *row) {
  uint64_t n, ms;
  slp_str at = slp_mark_seq(&row->position.mark);
  row->refused_n = 0;
  if (!cut_number(&text, &n) || !cut_number(&text, &ms)) return;
  if (!n || n > COUNT_MAX || ms > INT64_MAX / 2 || row->position.kind == SLP_POSITION_END) return;
  if (text.n ? !slp_num_valid(text) || slp_num_cmp(text, at) != 0 : at.n != 0) return;
  row->refused_n = (uint32_t)n;
  row->refused_ms = (int64_t)ms;
}

/* Returns the back-off after the last refusal that the row shows. */
static int64_t span_ms(const slp_lease_row *row) {
  int64_t span = row->position.mark.seq_n ? SPAN_MS : SPAN_SHORT_MS;
  for (uint32_t i = 1; i < row->refused_n && span < SPANS_MS_MAX; i++) span *= 2;
  return slp_min_i64(span, SPANS_MS_MAX);
}

int64_t slp_refused_until_ms(const slp_lease_row *row) {
  if (!row->refused_n || SLP_MUTANT(refused_is_tried_at_once)) return INT64_MIN;
  return row->refused_ms + span_ms(row);
}

int slp_refused_waits(const slp_lease_row *row, int64_t wall_ms) {
  return wall_ms < slp_refused_until_ms(row) && row->refused_ms < wall_ms + AHEAD_MS_MAX;
}
