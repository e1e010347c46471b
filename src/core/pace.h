/* pace.h - pure: when may a shard be asked again, how much to ask for, and how long to back off. */
#ifndef SLP_CORE_PACE_H
#define SLP_CORE_PACE_H

#include "base/base.h"

typedef struct slp_pace {
  uint32_t limit;     /* records to ask for next */
  uint32_t rec_bytes; /* the largest record seen lately, as it lies in memory */
  uint32_t empties;   /* empty pages in a row that brought the shard no nearer to its tip */
  uint32_t fails;     /* failed calls in a row */
  uint32_t gap_us;    /* between calls, at least; found by being throttled. 0: it was not */
  uint64_t sent_us;   /* when the last call for a page began */
  uint64_t hasty_us;  /* when one last began less than the floor after another; 0: none did */
  uint8_t seen;       /* a page came */
  uint8_t idle;       /* the last page was empty */
} slp_pace;

#define SLP_PACE_FIRST_LIMIT 500
/* The service allows 5 GetRecords calls a second and shard (API_GetRecords.html, read 2026-11). An
 * endpoint that throttled once is asked no faster, even when behind. */
#define SLP_PACE_FLOOR_US 200000
/* A source that tells no lag is at its tip after so many empty pages in a row. Records of other shards wait
 * until then, so a shard from which nothing has come yet is asked for them at once: so many are allowed. */
#define SLP_PACE_EMPTIES_AT_TIP 5

void slp_pace_init(slp_pace *p);
/* Learns from a page: its records, and the largest of them in bytes. nearer: it brought the shard nearer to
 * its tip, as the watermark moved or the service says that less is left. */
void slp_pace_page(slp_pace *p, uint32_t records, uint32_t largest_bytes, int full, int nearer,
                   uint32_t limit_max);
/* Bytes to reserve for the next call, at most share_max, and the limit that goes with it. */
uint64_t slp_pace_reserve(const slp_pace *p, uint64_t share_max, uint64_t page_max, uint32_t *ret_limit);
/* A call was given up because its answer outgrew the budget: a single record tells how large they are. */
void slp_pace_shrink(slp_pace *p);
/* A call for a page begins; floor: it was waited for. */
void slp_pace_sent(slp_pace *p, uint64_t now_us, int floor);
/* The service counts the calls of a second. So long those that were made in haste, behind full pages, count
 * against the next: what is refused until then says nothing of the gap, and is refused again if it asks
 * sooner. 0: none was made in haste. */
uint64_t slp_pace_haste_over_us(const slp_pace *p);
/* A page was refused, and the call before it was answered: there were too many calls, and they come an
 * eighth farther apart. What is refused after that came later than any gap asks for, and says nothing of it:
 * minutes of that would slow a shard for an hour. Each page that is answered takes a 2048th of it back, so
 * about 1 of 240 calls finds out whether it goes faster by now. */
#define SLP_PACE_GAP_US_MAX 2000000
void slp_pace_throttled(slp_pace *p);
/* Wait until the next call, from the sending of the last one: nothing after a full page (the floor, once
 * learned), the floor while behind, else the poll period, which is not below the floor unless it was asked
 * for; and never less than the gap. random in [0, 1000). */
uint64_t slp_pace_wait_us(const slp_pace *p, int full, int behind, uint32_t poll_ms, int floor,
                          uint32_t random);
/* How much later than that it may be, to go with others: until the poll period is over, or a 40th of it after
 * that; and not at all while there is more to read. */
uint64_t slp_pace_slack_us(uint64_t wait_us, int full, int behind, uint32_t poll_ms);
/* After the first refusal of a page: the gap, and up to a quarter more. */
uint64_t slp_pace_gap_wait_us(const slp_pace *p, uint32_t random);
/* Full jitter: a random part of 1 s doubling to 20 s (throttled) or 200 ms doubling to 20 s (failed), and at
 * least a fifth of that, so that bad luck is no hot loop. attempt is 1 for the first failure. */
uint64_t slp_pace_backoff_us(uint32_t attempt, int throttled, uint32_t random);

#endif
