/* standing.h - where a shard begins, and how far it was taken into its queue. start.c sets it by the start
 * position, lineage.c by the shard's parents; reader.c and queue.c bring it forward, and save.c tells it. */
#ifndef SLP_CORE_STANDING_H
#define SLP_CORE_STANDING_H

#include "core/position.h"
#include "core/svctime.h"

typedef struct slp_standing {
  slp_position start;    /* where the first iterator goes */
  slp_mark last;         /* the last record taken, or only passed over. No number: none was taken */
  slp_mark idle;         /* behind that record: nothing came up to here. No number: there is no such place */
  int64_t tail_time;     /* its key time, or the floor */
  int64_t not_before_ms; /* what arrived before is passed over; INT64_MIN: nothing is */
  slp_moment anchor;     /* LATEST: when its first iterator was asked for: a token made while nothing came
                            begins at this time */
  slp_moment open;       /* LATEST: when it was surely open: its children hold nothing older */
  uint8_t anchored;      /* LATEST: there was that first iterator */
  uint8_t from_oldest;   /* the record to go on from is not kept: what is kept and known is passed over */
  uint8_t came;          /* records came since the iterator was asked for */
  uint8_t after_last;    /* the iterator was asked for AT the last record taken: skip that one */
  uint8_t gap;           /* slp_gap, of loss.h */
  int64_t quiet_ms;      /* until when the first empty answer showed that nothing came; 0: there was none */
  uint8_t idle_old;      /* it was asked for behind `idle`, since which records may have been removed */
} slp_standing;

static inline int slp_has_taken(const slp_standing *at) { return at->last.seq_n > 0; }
/* Returns 1 when `number` is not before the first record taken, as far as that one is known, nor behind the
 * last. */
static inline int slp_has_taken_number(const slp_standing *at, slp_str number) {
  if (!slp_has_taken(at) || slp_num_cmp(number, slp_mark_seq(&at->last)) > 0) return 0;
  return at->start.kind != SLP_POSITION_AT || slp_num_cmp(number, slp_mark_seq(&at->start.mark)) >= 0;
}

#endif
