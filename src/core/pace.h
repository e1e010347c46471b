/* pace.h - decides when a shard may be asked again, how much to ask for, and how long to back off. Pure. */
#ifndef SLP_CORE_PACE_H
#define SLP_CORE_PACE_H

#include "base/base.h"

typedef struct slp_pace {
  uint32_t limit;     /* records to ask for next */
  uint32_t rec_bytes; /* bytes in memory of the largest record seen lately */
  uint32_t empties;   /* empty pages in a row that brought the shard no nearer to its tip */
  uint32_t fails;     /* failed calls in a row */
  uint32_t gap_us;    /* least time between calls, learned from throttling; 0: never throttled */
  uint64_t sent_us;   /* when the last call for a page began */
  uint64_t hasty_us;  /* when a call last began less than the floor after another; 0: none did */
  uint8_t seen;       /* 1: a page came */
  uint8_t idle;       /* 1: the last page was empty */
} slp_pace;

#define SLP_PACE_FIRST_LIMIT 500 /* records to ask for until pages have come */
/* The service allows 5 GetRecords calls a second and shard (API_GetRecords.html, read 2026-11). An endpoint
 * that throttled once is asked no faster than this, even when the shard is behind. */
#define SLP_PACE_FLOOR_US 200000
/* If a source tells no lag, a shard is at its tip after this many empty pages in a row. Records of other
 * shards wait until then, so a shard from which nothing has come yet is asked for these pages at once: the
 * service allows that many calls. */
#define SLP_PACE_EMPTIES_AT_TIP 5

void slp_pace_init(slp_pace *p);
/* Learns from a page: the number of its records, and the bytes of the largest. full: more waits behind it.
 * nearer: it brought the shard nearer to its tip, because the watermark moved or the service says that less
 * is left. */
void slp_pace_page(slp_pace *p, uint32_t records, uint32_t largest_bytes, int full, int nearer,
                   uint32_t limit_max);
/* Returns the bytes to reserve for the next call, at most share_max, and the limit that goes with them. */
uint64_t slp_pace_reserve(const slp_pace *p, uint64_t share_max, uint64_t page_max, uint32_t *ret_limit);
/* A call was given up because its answer outgrew the budget. The next call asks for a single record, which
 * tells how large records are. */
void slp_pace_shrink(slp_pace *p);
/* A call for a page begins. floor: calls keep SLP_PACE_FLOOR_US apart, because the service has throttled. */
void slp_pace_sent(slp_pace *p, uint64_t now_us, int floor);
/* Returns until when calls made in haste, behind full pages, count against the next call, because the service
 * counts the calls of a second. A refusal before that says nothing of the gap, and an earlier call would be
 * refused too. 0: no call was made in haste. */
uint64_t slp_pace_haste_over_us(const slp_pace *p);
/* Makes the gap an eighth wider: a page was refused although the call before it was answered, so there were
 * too many calls. Further refusals in a row say nothing, because those calls came later than any gap asks
 * for. Minutes of them would slow a shard for an hour. Each page that is answered takes a 2048th of the gap
 * back, so about 1 of 240 calls finds out whether it goes faster by now. */
#define SLP_PACE_GAP_US_MAX 2000000
void slp_pace_throttled(slp_pace *p);
/* Returns the wait until the next call, counted from the sending of the last one, but never less than the
 * gap:
 *   after a full page: nothing; the floor, once the service has throttled
 *   while behind:      the floor
 *   otherwise:         the poll period, and the floor at least, unless the user asked for less
 * random in [0, 1000). */
uint64_t slp_pace_wait_us(const slp_pace *p, int full, int behind, uint32_t poll_ms, int floor,
                          uint32_t random);
/* Returns how much later than that the call may go, to go with others: until the poll period is over, or by a
 * 40th of the period. 0 while there is more to read. */
uint64_t slp_pace_slack_us(uint64_t wait_us, int full, int behind, uint32_t poll_ms);
/* Returns the wait after the first refusal of a page: the gap, and up to a quarter more. */
uint64_t slp_pace_gap_wait_us(const slp_pace *p, uint32_t random);
/* Returns a back-off with full jitter: a random part of 1 s (throttled) or 200 ms (failed), which doubles up
 * to 20 s. At least a fifth of it is waited, so that bad luck makes no hot loop. attempt is 1 for the first
 * failure. */
uint64_t slp_pace_backoff_us(uint32_t attempt, int throttled, uint32_t random);

#endif
