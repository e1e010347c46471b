/* pace.h - decides when a shard may be asked again, how much to ask for, and how long to wait after failures.
 * The caller passes the time and random numbers. */
#ifndef SLP_CORE_PACE_H
#define SLP_CORE_PACE_H

#include <stdint.h>

typedef struct slp_pace {
  uint32_t limit;     /* how many records the next call asks for */
  uint32_t rec_bytes; /* bytes that the largest record seen lately takes in memory */
  uint32_t empties;   /* empty pages in a row that did not bring the shard nearer to its tip */
  uint32_t fails;     /* calls in a row that failed */
  /* Least time between two calls for a page, in us. Learned when the service throttles; 0: it never
   * throttled. */
  uint32_t gap_us;
  uint64_t sent_us; /* when the last call for a page began */
  /* when a call was last begun less than SLP_PACE_FLOOR_US after the call before it; 0: never */
  uint64_t hasty_us;
  uint8_t seen;     /* 1: a page has come */
  uint8_t idle;     /* 1: the last page had no records */
  uint8_t tip_seen; /* 1: a page has come after which, by the lag it states, nothing was left to read */
  uint8_t calls_n;  /* calls for a page so far, at most UINT8_MAX */
} slp_pace;

/* How many records a call asks for while no page has come yet. Few, because they may be large: only the first
 * page shows how many fit into a page of the size that is wanted. A shard with fewer records than that needs
 * no call more, because its page is not full. */
#define SLP_PACE_FIRST_LIMIT 8
/* the least number of records that later calls ask for, if that many fit */
#define SLP_PACE_LEAST_LIMIT 500
/* The service allows 5 GetRecords calls per second and shard (API_GetRecords.html, read 2026-11). Once an
 * endpoint has throttled, calls for a shard stay this far apart, even if the shard is behind. */
#define SLP_PACE_FLOOR_US 200000
/* If the service does not state the lag, a shard counts as being at its tip after this many empty pages in a
 * row. Records of other shards wait until then. So a shard that has brought no record yet is asked for these
 * pages without a pause: the service allows that many calls a second. */
#define SLP_PACE_EMPTIES_AT_TIP 5

void slp_pace_init(slp_pace *p);
/* Learns from a page. records: how many it has; largest_bytes: size of the largest; full: 1 if more records
 * wait in the shard; nearer: 1 if the page brought the shard nearer to its tip, because the watermark moved
 * or the stated lag is less; limit_max: the most records that a call may ask for. */
void slp_pace_page(slp_pace *p, uint32_t records, uint32_t largest_bytes, int full, int nearer,
                   uint32_t limit_max);
/* Returns how many bytes to reserve for the next call: at most share_max, the shard's share of the budget,
 * and at most page_max. *ret_limit: how many records that call is to ask for. */
uint64_t slp_pace_reserve(const slp_pace *p, uint64_t share_max, uint64_t page_max, uint32_t *ret_limit);
/* To be called when a call was cancelled because its answer outgrew the budget. Makes the next call ask for a
 * single record, which shows how large records are. */
void slp_pace_shrink(slp_pace *p);
/* To be called when a call for a page begins. floor: 1 if calls keep SLP_PACE_FLOOR_US apart, because the
 * service has throttled. */
void slp_pace_sent(slp_pace *p, uint64_t now_us, int floor);
/* A call is hasty if it is made less than SLP_PACE_FLOOR_US after the call before it, as after full pages.
 * The service counts the calls of the last second. Returns the time at which it no longer counts a hasty
 * call; 0: no call was hasty. Until then a throttled call says nothing about gap_us, and another call would
 * be throttled too. */
uint64_t slp_pace_haste_over_us(const slp_pace *p);
/* To be called when a call for a page is throttled although the call before it succeeded: calls came too
 * often. Makes gap_us an eighth longer. Must not be called for further throttled calls in a row. Such calls
 * came later than any gap demands, so they say nothing about the gap; and minutes of them would slow the
 * shard down for an hour. Each page that comes makes gap_us a 2048th shorter again, so about 1 of 240 calls
 * tests whether the service allows more by now. */
#define SLP_PACE_GAP_US_MAX 2000000
void slp_pace_throttled(slp_pace *p);
/* To be called for each page. Returns 1 if the shard should be asked again after SLP_PACE_FLOOR_US, although
 * the page states that nothing is left to read. Only an empty page shows that a shard is at its tip, and a
 * job that ends there would otherwise wait poll_ms for it. Returns 1 at most once for each shard: after the
 * first page that reaches the tip, if it has records, and if the service then counts no more than
 * SLP_PACE_CALLS_A_SECOND calls in any second. full: 1 if more records wait; behind_ms: the lag that the page
 * states, -1: none. */
#define SLP_PACE_CALLS_A_SECOND 5
int slp_pace_confirms_tip(slp_pace *p, uint32_t records, int full, int64_t behind_ms);
/* Returns the wait between the sending of the last call and the next call. The wait is at least gap_us, and
 * otherwise:
 *   before any page:  0
 *   after a full page:  0; SLP_PACE_FLOOR_US once the service has throttled
 *   while the shard is behind its tip:  SLP_PACE_FLOOR_US, or poll_ms if that is less
 *   at the tip:  poll_ms less up to a tenth, but at least SLP_PACE_FLOOR_US unless poll_ms is less than that
 * floor: 1 if the service has throttled. random: from 0 to 999. */
uint64_t slp_pace_wait_us(const slp_pace *p, int full, int behind, uint32_t poll_ms, int floor,
                          uint32_t random);
/* wait_us: what slp_pace_wait_us returned. Returns how much longer the call may wait in order to be sent
 * together with calls for other shards: until poll_ms is over or, if wait_us is not less than poll_ms, a 40th
 * of poll_ms, at most 5 ms. Returns 0 while the shard has more to read. */
uint64_t slp_pace_slack_us(uint64_t wait_us, int full, int behind, uint32_t poll_ms);
/* Returns the wait after a call for a page was throttled for the first time: gap_us, and up to a quarter
 * more. */
uint64_t slp_pace_gap_wait_us(const slp_pace *p, uint32_t random);
/* Returns a random wait after a failed call. Its maximum is 1 s (throttled) or 200 ms (other failures) after
 * the first failure, and doubles with each further one up to 20 s. The wait is at least a fifth of the
 * maximum, so that bad luck can't make the caller loop without a pause. attempt: 1 for the first failure.
 * random: from 0 to 999. */
uint64_t slp_pace_backoff_us(uint32_t attempt, int throttled, uint32_t random);

/* ---- polls that go out together ----------------------------------------------------------------------- */

/* A poll is a call that asks a shard for records. If the event loop must wake up for a single poll, that poll
 * costs twice as much as one of several that are sent together. So if a shard may be asked at any time
 * between two moments, it is asked at the same time as another shard. */
#define SLP_MEET_PLACES 64u
/* The most polls that go out at one moment: as many calls as one run of the pump starts (STARTS_PER_EVENT).
 * More polls would hold up the loop, and need more connections. */
#define SLP_MEET_MOST 8u

typedef struct slp_meet { /* all zero: no poll is planned */
  struct {
    uint64_t at_us; /* a moment at which polls go out */
    uint32_t n;     /* how many polls go out at that moment */
    /* The entry for a time is found by dividing the time by PLACE_US. A later time with the same entry
     * replaces the earlier one. */
  } places[SLP_MEET_PLACES];
} slp_meet;

/* Plans a poll and returns its time, from from_us to until_us: the first planned moment that has room for
 * another poll or, if there is none, from_us. */
uint64_t slp_meet_at(slp_meet *m, uint64_t from_us, uint64_t until_us);

#endif
