/* position.c - converts between the positions of sloop.h and those of core, and compares positions in a
 * shard. */
#include "core/position.h"

#include "base/num.h"
#include "core/mark.h"

#include <sloop.h>

slp_position slp_position_of(const sloop_position_t *to) {
  slp_position ret = {.kind = SLP_POSITION_NONE};
  switch (to->kind) {
    case SLOOP_OLDEST: ret.kind = SLP_POSITION_OLDEST; break;
    case SLOOP_LATEST: ret.kind = SLP_POSITION_LATEST; break;
    case SLOOP_AT_TIME:
      ret.kind = SLP_POSITION_TIME;
      ret.at_ms = to->at_ms;
      break;
    case SLOOP_AT_SEQ:
    case SLOOP_AFTER_SEQ:
      ret.kind = to->kind == SLOOP_AT_SEQ ? SLP_POSITION_AT : SLP_POSITION_AFTER;
      slp_mark_set(&ret.mark, slp_seq_fit(slp_str_of(to->seq)), (uint32_t)to->sub, -1);
      break;
    case SLOOP_AT_END: ret.kind = SLP_POSITION_END; break;
    case SLOOP_AT_TOKEN: break;
  }
  return ret;
}

void slp_position_tell(const slp_position *p, sloop_position_t *ret, char seq[SLP_SEQ_MAX + 1]) {
  *ret = (sloop_position_t){.at_ms = 0};
  switch (p->kind) {
    case SLP_POSITION_NONE: break;
    case SLP_POSITION_OLDEST: ret->kind = SLOOP_OLDEST; break;
    case SLP_POSITION_LATEST: ret->kind = SLOOP_LATEST; break;
    case SLP_POSITION_TIME:
      ret->kind = SLOOP_AT_TIME;
      ret->at_ms = p->at_ms;
      break;
    case SLP_POSITION_END: ret->kind = SLOOP_AT_END; break;
    case SLP_POSITION_AT:
    case SLP_POSITION_AFTER:
      ret->kind = p->kind == SLP_POSITION_AT ? SLOOP_AT_SEQ : SLOOP_AFTER_SEQ;
      memcpy(seq, p->mark.seq, p->mark.seq_n);
      seq[p->mark.seq_n] = 0;
      ret->seq = seq;
      ret->sub = p->mark.sub;
      break;
  }
}

static int rank_of_position(const slp_position *s) {
  switch (s->kind) {
    case SLP_POSITION_NONE: return 0;
    case SLP_POSITION_OLDEST:
    case SLP_POSITION_LATEST:
    case SLP_POSITION_TIME: return 1;
    case SLP_POSITION_AT:
    case SLP_POSITION_AFTER: return 2;
    case SLP_POSITION_END: return 3;
  }
  return 0;
}

int slp_position_cmp(const slp_position *a, const slp_position *b) {
  int c = rank_of_position(a) - rank_of_position(b);
  if (c || rank_of_position(a) != 2) return c;
  c = slp_num_cmp(slp_mark_seq(&a->mark), slp_mark_seq(&b->mark));
  if (c) return c;
  /* left, right: how many records of the aggregate come before the position. AT the record with sub 2 is the
   * same position as AFTER the record with sub 1. */
  uint64_t left = (uint64_t)a->mark.sub + (a->kind == SLP_POSITION_AFTER);
  uint64_t right = (uint64_t)b->mark.sub + (b->kind == SLP_POSITION_AFTER);
  /* The position AFTER all records with a number, and an idle mark with the same number, both have sub
   * UINT32_MAX. The idle mark counts as later. */
  left += a->mark.idle;
  right += b->mark.idle;
  if (left != right || !a->mark.idle) return left < right ? -1 : left > right;
  return (a->mark.arrived_ms > b->mark.arrived_ms) - (a->mark.arrived_ms < b->mark.arrived_ms);
}

int slp_position_ahead(const slp_position *a, const slp_position *b) {
  int c = slp_position_cmp(a, b);
  if (c || rank_of_position(a) != 2) return c > 0;
  return slp_max_i64(a->mark.clear_ms, 0) > slp_max_i64(b->mark.clear_ms, 0);
}

int slp_position_same(const slp_position *a, const slp_position *b) {
  int at_record = rank_of_position(a) == 2 && rank_of_position(b) == 2;
  if (!at_record && a->kind != b->kind) return 0;
  return slp_position_cmp(a, b) == 0 && (a->kind != SLP_POSITION_TIME || a->at_ms == b->at_ms);
}

const char *slp_position_name(slp_position_kind kind) {
  switch (kind) {
    case SLP_POSITION_OLDEST: return "oldest";
    case SLP_POSITION_LATEST: return "latest";
    case SLP_POSITION_TIME: return "at-time";
    case SLP_POSITION_AT: return "at-seq";
    case SLP_POSITION_AFTER: return "after-seq";
    case SLP_POSITION_NONE:
    case SLP_POSITION_END: break;
  }
  return "?";
}
