/* ahead.h - learns how many bytes are worth fetching before they are needed. The option buffered_bytes_max
 * stays the limit; this is how much of it is used.
 *
 * Bytes fetched earlier than a round trip before the user wants them gain nothing. So what is fetched ahead
 * are twice the bytes that come back from the user during one round trip. Twice, because the pace itself may
 * be limited by what is fetched ahead: then each span doubles it, until the pace grows no more.
 *
 * A round trip lasts from the sending of a call until the first byte of its answer, or until the next call of
 * the same shard is allowed, if that is later. The shortest one counts: a longer one waited for this process
 * or for other answers, and would make the estimate feed itself. */
#ifndef SLP_CORE_AHEAD_H
#define SLP_CORE_AHEAD_H

#include <stdint.h>

/* A page is never planned smaller than this, because each call costs as much CPU as some 100 KB of page. */
#define SLP_AHEAD_PAGE_MIN (512u * 1024)

typedef struct slp_ahead_span {
  uint64_t bytes;   /* bytes of pages that came back acknowledged in the span */
  uint64_t trip_us; /* the shortest round trip of the span; UINT64_MAX: there was none */
  uint64_t long_us; /* how long the span was; 0: it has not ended */
} slp_ahead_span;

typedef struct slp_ahead { /* one per consumer, because the services of joined consumers may differ */
  uint64_t needs;          /* what slp_ahead_needs returns; computed when a round trip was learned */
  uint64_t since_us;       /* when the span `now` began; 0: no page has come yet */
  /* now: the span that is being filled; before: the two spans before it, the later one first */
  slp_ahead_span now, before[2];
} slp_ahead;

void slp_ahead_init(slp_ahead *a);
/* To be called when a page came back from the user, with all its records acknowledged. */
void slp_ahead_came_back(slp_ahead *a, uint64_t bytes);
/* To be called for each page after which more records wait. trip_us: its round trip. Ends a span, if enough
 * time is over. */
void slp_ahead_trip(slp_ahead *a, uint64_t trip_us, uint64_t now_us);
/* Returns twice the bytes that come back during a round trip; 0: not known yet. */
static inline uint64_t slp_ahead_needs(const slp_ahead *a) { return a->needs; }
/* Forgets everything if the last page after which more records waited came more than 20 s before now_us. To
 * be called for all joined consumers when slp_ahead_trip is called for one of them. */
void slp_ahead_forget_old(slp_ahead *a, uint64_t now_us);
/* Returns how many bytes the next page is to have, if `shards` shards bring pages alike. needs: the sum of
 * what slp_ahead_needs returns for all consumers of the engine. */
uint64_t slp_ahead_page(uint64_t needs, uint32_t shards);
/* Returns how many bytes the next page of a shard needs at the shard's own pace: four times what the shard
 * brings during one round trip, so a page is at most four times as large as the one before. One shard may
 * bring nearly all bytes, because its records come before those of the other shards. Then nothing else comes
 * during its round trips. So that these are a quarter of the time, a page takes three times as long to
 * arrive. bytes: size of the shard's last page; since_us: how long ago that page was asked for. */
uint64_t slp_ahead_page_after(const slp_ahead *a, uint64_t bytes, uint64_t since_us);
/* Returns how many bytes may be fetched and not handed out. That is one page for each of `shards` shards, the
 * bytes of `needs`, and at least two pages or a quarter of all pages more. A shard without records may fetch
 * a page in any case. */
uint64_t slp_ahead_most(uint64_t needs, uint32_t shards);

#endif
