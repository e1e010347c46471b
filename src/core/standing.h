/* standing.h - where a shard begins, and how far it was taken into its queue. start.c sets it from the start
 * position, lineage.c from the shard's parents. reader.c and queue.c bring it forward, and save.c writes
 * it. */
#ifndef SLP_CORE_STANDING_H
#define SLP_CORE_STANDING_H

#include "core/position.h"
#include "core/svctime.h"

typedef struct slp_standing {
  slp_position start;    /* where the first iterator is asked for */
  slp_mark last;         /* the last record taken, or passed over; no number: there is none */
  slp_mark idle;         /* a place behind `last` up to which nothing came; no number: there is none */
  int64_t tail_time;     /* key time of `last`, or the least possible one */
  int64_t not_before_ms; /* records that arrived before are passed over; INT64_MIN: none are */
  /* LATEST: when its first iterator was asked for. A token made while nothing came begins at this time. */
  slp_moment anchor;
  slp_moment open;  /* LATEST: when it was surely open, so that its children hold nothing older */
  uint8_t anchored; /* 1: LATEST, and its first iterator was asked for */
  /* 1: the record to go on from is gone: reads from the oldest, passing over known records */
  uint8_t from_oldest;
  uint8_t came;       /* 1: records came since the iterator was asked for */
  uint8_t after_last; /* 1: the iterator was asked for AT the last record taken, which must be skipped */
  uint8_t gap;        /* slp_gap, see loss.h */
  int64_t quiet_ms;   /* until when the first empty answer showed that nothing came; 0: there was none */
  /* 1: the iterator was asked for behind `idle`, and records since then may have been removed */
  uint8_t idle_old;
} slp_standing;

static inline int slp_has_taken(const slp_standing *at) { return at->last.seq_n > 0; }
/* Returns 1 if `number` is not before the first record taken, as far as that one is known, and not behind the
 * last. */
static inline int slp_has_taken_number(const slp_standing *at, slp_str number) {
  if (!slp_has_taken(at) || slp_num_cmp(number, slp_mark_seq(&at->last)) > 0) return 0;
  return at->start.kind != SLP_POSITION_AT || slp_num_cmp(number, slp_mark_seq(&at->start.mark)) >= 0;
}

#endif
