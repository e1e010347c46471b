/* standing.h - where a shard begins, and up to which record it was taken into its queue. start.c sets this
 * part from the start position, lineage.c from the shard's parents. reader.c and queue.c move it forward, and
 * save.c writes it into a token. */
#ifndef SLP_CORE_STANDING_H
#define SLP_CORE_STANDING_H

#include "core/position.h"
#include "core/svctime.h"

typedef struct slp_standing {
  slp_position start; /* the position for the shard's first iterator */
  slp_mark last; /* the last record that was taken into the queue or passed over; seq_n 0: there is none */
  slp_mark idle; /* an idle mark (mark.idle) after `last`: no record lies between; seq_n 0: there is none */
  int64_t tail_time;     /* order time of `last`; if there is none, the earliest that a record may get */
  int64_t not_before_ms; /* records that arrived before this time are passed over; INT64_MIN: none are */
  /* with LATEST: when the shard's first iterator was asked for. Later, while no record comes, a time up to
   * which none came. A token written before the first record starts the shard at this time. */
  slp_moment anchor;
  /* with LATEST: a time at which the shard was surely open, so that its children have no older records */
  slp_moment open;
  uint8_t anchored; /* 1: with LATEST: the shard's first iterator has come, which set `anchor` */
  /* 1: the record to continue from is gone, so reading begins at the oldest record and passes known records
   * over */
  uint8_t from_oldest;
  uint8_t came; /* 1: a record came since the last iterator was asked for */
  /* 1: the last iterator was asked for AT `last`, so the next page begins with that record again */
  uint8_t after_last;
  uint8_t gap; /* slp_gap: whether records are missing before the next record; see loss.h */
  /* up to this time the first empty answer showed that no record came after `last`; 0: there was no such
   * answer */
  int64_t quiet_ms;
  /* 1: the last iterator was asked for after `idle`, which is so old that records after it may be gone */
  uint8_t idle_old;
} slp_standing;

static inline int slp_has_taken(const slp_standing *at) { return at->last.seq_n > 0; }
/* Returns 1 if the record with this sequence number was surely taken: it is not after the last record taken,
 * and not before the first one, if that one is known. */
static inline int slp_has_taken_number(const slp_standing *at, slp_str number) {
  if (!slp_has_taken(at) || slp_num_cmp(number, slp_mark_seq(&at->last)) > 0) return 0;
  return at->start.kind != SLP_POSITION_AT || slp_num_cmp(number, slp_mark_seq(&at->start.mark)) >= 0;
}

#endif
