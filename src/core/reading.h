/* reading.h - the state of a shard's reading, and when the shard wants to call next.
 *
 *            start                go              answer
 *   IDLE ----------> WAITING* ----------> LOCATING* ----> WAITING
 *                     ^   |  go
 *                     |   +-------------> FETCHING* --+-- page, next iterator ---------> WAITING
 *                     |                               +-- no next, children with parents -> ENDED
 *                     |                               +-- no next, but new records -------> WAITING
 *                     |                               +-- no next, nothing new -----------> CHECKING*
 *                     +--- the listing says open, or closed for the first time ---------- CHECKING
 *                          closed for the second time and all children, or gone twice ---> ENDED
 *   LOCATING --> CHECKING: the service does not know the shard
 *   CHECKING --> CHECKING: a later listing may still show the children, or the shard itself (await.h)
 *   any state --> GONE: the shard was stopped
 *   ENDED --> WAITING: fetched records had to be dropped because the budget is spent, and are read again
 *
 * * marks states that end when something outside happens: a timer, an answer, a listing. "start", "go" and
 * "next" stand for start_reading of order.c, slp_reader_go and the page's next iterator.
 *
 * WAITING ends when three conditions hold: the pace timer has run out, the queue has room for a page, and the
 * engine has a free call and bytes in the budget. reader.c makes the calls and decides what the answers
 * mean. */
#ifndef SLP_CORE_READING_H
#define SLP_CORE_READING_H

#include "base/fail.h"
#include "core/core.h"
#include "core/reading_part.h"

/* A subscription brings an event about every five seconds, an empty event if there are no records (Developer
 * Guide, SubscribeToShardEvent). If no event comes for SLP_READING_EVENT_US, the subscription may be dead,
 * and counts as not answered. */
#define SLP_READING_EVENT_US 10000000u

void slp_reading_init(slp_shard *s);
/* The only function that changes the state. Ends the process if the change is not allowed. */
void slp_reading_move(slp_shard *s, slp_reader_state to);
slp_reader_state slp_reading_state(const slp_shard *s);
/* Returns 1 if reading of the shard was started, and the shard has neither ended nor been given up. */
int slp_reading_is_on(const slp_shard *s);
int slp_reading_is_over(const slp_shard *s); /* returns 1 if the shard was read to its end, or given up */

/* Changes the state to WAITING. The next call is made at at_us, or later if the shard must wait for room in
 * the queue or the budget. */
void slp_reading_wait(slp_shard *s, uint64_t at_us);
/* To be called when there may be room in the queue or the budget again, or when a pause has ended. Checks
 * whether s may call now. */
void slp_reading_poke(slp_shard *s);
/* To be called when other shards wait for s, which is at its tip: s makes its next call as soon as the
 * service allows, and not only after poll_ms. */
void slp_reading_hurry(slp_shard *s);
/* In state WAITING: sets the earliest time of the next call to now. */
void slp_reading_at_once(slp_shard *s);
/* Returns 1 if s is in slp_calls.want: s wants to call, and waits until pump.c allows it. */
int slp_reading_wants_call(const slp_shard *s);
/* Moves s from slp_calls.want to slp_calls.later. The pump calls slp_reading_poke when s may fetch ahead. */
void slp_reading_call_later(slp_shard *s);
void slp_reading_unwant_call(slp_shard *s); /* s does not want to call any more, until slp_reading_poke */
void slp_reading_call_off(slp_shard *s);    /* s does not want to call any more; stops its timer */

void slp_reading_sent(slp_shard *s); /* to be called when a call of s begins, for an iterator or a page */
/* Returns when the last call of s was begun. */
uint64_t slp_reading_sent_us(const slp_shard *s);
/* to be called when a call begins that is made only to learn how far behind a paused shard is */
void slp_reading_peeks(slp_shard *s);
/* To be called when a call brought nothing of use. (slp_reading_refused calls it for calls that failed.) */
void slp_reading_failed(slp_shard *s);
void slp_reading_refused(slp_shard *s, const slp_fail *f); /* to be called when a call failed; f says why */
/* Returns since when calls have failed, for any reason; 0: the last call did not fail. *ret_error: the name
 * of the last failure. */
uint64_t slp_reading_fails_since_us(const slp_shard *s, const char **ret_error);
/* Returns when the call that showed the last change of at_tip was begun. */
uint64_t slp_reading_tip_since_us(const slp_shard *s);
/* Returns since when s has wanted to call and could not. (The budget has no bytes for the call, or
 * in_flight_max calls are in flight.) 0: s does not want to call. */
uint64_t slp_reading_held_up_since_us(const slp_shard *s);
/* Returns 1 if the service refused the last call because another reader has a subscription to the shard. */
int slp_reading_is_busy(const slp_shard *s);
/* To be called when a page came: forgets that calls have failed. */
void slp_reading_fine(slp_shard *s);
void slp_reading_forgive(slp_shard *s); /* if calls have failed, counts them as failing only from now on */
/* Returns since when calls have failed for reasons other than throttling; 0: they have not. */
uint64_t slp_reading_failing_since_us(const slp_shard *s);
/* Returns since when the call of s has failed, or has not been answered. UINT64_MAX: the other shards must
 * wait for s without a limit, because s brings earlier records. late: 1 if the next record of s will be late
 * in any case. Then a backlog of s is no reason to wait for s. */
uint64_t slp_reading_silent_since_us(const slp_shard *s, int late);

void slp_reading_set_tip(slp_shard *s, int at_tip);
int slp_reading_at_tip(const slp_shard *s);
uint64_t slp_reading_tip_asked_us(const slp_shard *s);
void slp_reading_set_behind(slp_shard *s, int behind);
/* Returns 1 if the last call succeeded and did not find s at its tip. Then the next call ends soon, and
 * brings records. */
int slp_reading_brings_more(const slp_shard *s);

#endif
