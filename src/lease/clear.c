/* clear.c - writes and reads the `clear` attribute of a lease's row (clear.h). */
#include "lease/clear.h"

#include "base/num.h"
#include "core/mark.h"
#include "core/position.h"

#include <stdio.h>

size_t slp_clear_write(const slp_position *p, char out[SLP_CLEAR_TEXT]) {
  const slp_mark *m = &p->mark;
  if (p->kind != SLP_POSITION_AFTER || m->idle || !m->seq_n || m->clear_ms <= 0) return 0;
  int n = snprintf(out, SLP_CLEAR_TEXT, "%lld:%.*s", (long long)m->clear_ms, (int)m->seq_n, m->seq);
  SLP_CHECK(n > 0 && n < SLP_CLEAR_TEXT);
  return (size_t)n;
}

void slp_clear_read(slp_str text, slp_position *p) {
  const char *colon = text.n ? memchr(text.p, ':', text.n) : NULL;
  uint64_t ms;
  if (p->kind != SLP_POSITION_AFTER || p->mark.idle || !colon) return;
  slp_str number = {colon + 1, text.n - (size_t)(colon + 1 - text.p)};
  if (slp_parse_u64((slp_str){text.p, (size_t)(colon - text.p)}, &ms) || ms > INT64_MAX / 2) return;
  if (!slp_num_valid(number) || slp_num_cmp(number, slp_mark_seq(&p->mark)) != 0) return;
  p->mark.clear_ms = (int64_t)ms;
}
