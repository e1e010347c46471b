/* loss.c - what is told of a loss: where the gap begins and ends. */
#include "core/core.h"
#include "core/loss.h"

/* Returns the place behind which records are missing. */
static const slp_mark *begin_of_gap(const slp_shard *s) {
  if (s->at.idle.seq_n) return &s->at.idle;
  if (!slp_has_taken(&s->at) && s->at.start.kind == SLP_POSITION_AT) return &s->at.start.mark;
  return &s->at.last;
}

void slp_loss_tell(slp_shard *s, const slp_page *next, int certain, const char *message) {
  const slp_mark *from = begin_of_gap(s);
  const slp_rec *first = next && next->recs_n ? &next->recs[0] : NULL;
  slp_report_loss(s->consumer, &(slp_loss){.shard = s->id,
                                           .from = slp_mark_seq(from),
                                           .to = first ? slp_rec_seq(next, first) : SLP_STR(""),
                                           .since_ms = from->seq_n ? from->arrived_ms : -1,
                                           .until_ms = first ? first->arrived_ms : -1,
                                           .certain = certain,
                                           .message = message});
}
