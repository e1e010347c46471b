/* standing.h - the position of a shard: where its reading begins, and up to which record it was taken into
 * its queue. start.c sets these fields from the start position, order.c from the shard's parents. reader.c
 * and queue.c move them forward, and save.c writes them into a token. */
#ifndef SLP_CORE_STANDING_H
#define SLP_CORE_STANDING_H

#include "base/num.h"
#include "core/mark.h"
#include "core/position.h"
#include "core/svctime.h"

typedef struct slp_standing {
  slp_position start; /* the position for which the shard's first iterator is asked for */
  slp_mark last; /* the last record that was taken into the queue or passed over; seq_n 0: there was none */
  /* an idle mark (mark.idle) after `last`, with no record between them; seq_n 0: there is none */
  slp_mark idle;
  /* order time of `last`; if there is no `last`, the earliest order time that a record may get */
  int64_t tail_time;
  int64_t not_before_ms; /* records that arrived before this time are passed over; INT64_MIN: none are */
  /* If reading starts at LATEST: when the shard's first iterator was asked for. While no record comes,
   * `anchor` is raised to the time until which no record has come. A token written before the first record
   * starts the shard at `anchor`. */
  slp_moment anchor;
  /* if reading starts at LATEST: a time at which the shard was surely open for writes, so that its children
   * have no older records */
  slp_moment open;
  uint8_t anchored; /* 1: reading starts at LATEST, and the first iterator has come */
  /* 1: the service no longer keeps the record from which to continue. So reading begins at the oldest record,
   * and records taken before are passed over. */
  uint8_t from_oldest;
  uint8_t came; /* 1: a record has come since the last iterator was asked for */
  /* 1: the last iterator was asked for AT `last`, so the next page begins with that record */
  uint8_t after_last;
  uint8_t gap; /* whether records are missing before the next record; an slp_gap, see loss.h */
  /* the first empty answer showed that no record had come after `last` until this time; 0: there was no such
   * answer */
  int64_t quiet_ms;
  /* 1: the last iterator was asked for AFTER `idle`, and `idle` is so old that records after it may be
   * gone */
  uint8_t idle_old;
} slp_standing;

static inline int slp_has_taken(const slp_standing *at) { return at->last.seq_n > 0; }
/* Returns 1 if the record with this sequence number was surely taken: the number is not above that of the
 * last record taken and, if the number of the first record taken is known, not below that. */
static inline int slp_has_taken_number(const slp_standing *at, slp_str number) {
  if (!slp_has_taken(at) || slp_num_cmp(number, slp_mark_seq(&at->last)) > 0) return 0;
  return at->start.kind != SLP_POSITION_AT || slp_num_cmp(number, slp_mark_seq(&at->start.mark)) >= 0;
}

#endif
