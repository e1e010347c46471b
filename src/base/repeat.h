/* repeat.h - bounds repeated work: a loop over the pages of one answer (slp_paging), and work that is started
 * again each time it has ended (slp_paced). Whatever a service answers, the bytes, pages and calls a second
 * stay bounded. Pure: the caller passes the time. */
#ifndef SLP_BASE_REPEAT_H
#define SLP_BASE_REPEAT_H

#include "base/base.h"

/* ---- pages --------------------------------------------------------------------------------------------- */
/* The first SLP_PAGING_AT_ONCE pages of an answer are asked for without a wait. Later pages are asked for at
 * 100 a second, counted over all loops that run in parallel for the answer. After a page without anything new
 * the wait doubles, up to SLP_PAGING_VAIN_US. SLP_PAGING_VAIN_MAX such pages in a row end the loop. */
#define SLP_PAGING_AT_ONCE 32u
#define SLP_PAGING_GAP_US 10000u
#define SLP_PAGING_VAIN_US 640000u
#define SLP_PAGING_VAIN_MAX 16u

typedef struct slp_paging { /* a loop over the pages of one answer */
  uint32_t pages_max;       /* the loop ends after this many pages */
  uint64_t bytes_max;       /* the most bytes that the caller may keep; four times as many may be read */
  uint64_t read;            /* bytes read so far */
  uint32_t share;   /* number of loops that run in parallel for the answer; 1 unless the caller sets it */
  uint32_t n, vain; /* n: pages so far; vain: pages in a row without anything new */
  uint32_t looked;  /* number of tokens that slp_paging_next() has compared so far */
  /* A cycle of tokens is found by Brent's algorithm. token: hash of an earlier token, with which each new
   * token is compared. It is replaced by the 1st, 2nd, 4th, 8th token and so on. mark: number of the token
   * that replaces it next. */
  uint64_t token;
  uint32_t mark;
} slp_paging;

void slp_paging_begin(slp_paging *p, uint32_t pages_max, uint64_t bytes_max);
/* To be called when a page has come. bytes: length of the page. token: the key of the next page. news: number
 * of new entries in the page. kept: bytes that the caller keeps of all pages so far. A token with p NULL is
 * not compared: the caller passes it for an empty page, whose next key may be the same as before. Returns 0:
 * the next page may be asked for after *ret_wait_us; SLP_ELIMIT: the loop ends here, and `why` explains
 * it. */
int slp_paging_next(slp_paging *p, slp_str token, size_t bytes, size_t news, uint64_t kept,
                    uint64_t *ret_wait_us, char why[160]);

/* ---- work that restarts -------------------------------------------------------------------------------- */
/* The first SLP_PACED_AT_ONCE runs of the work are not delayed. Later runs wait, each twice as long as the
 * one before, from least_us up to most_us. A run more than 4 * most_us after the one before counts as the
 * first again. */
#define SLP_PACED_AT_ONCE 3u

typedef struct slp_paced {
  uint64_t last_us; /* time of the last run of the work */
  uint32_t n;       /* runs of the work since the last long pause */
} slp_paced;

/* Returns when the work, which the caller wants to run at at_us, may run: at_us or later. */
uint64_t slp_paced_us(const slp_paced *p, uint64_t at_us, uint64_t least_us, uint64_t most_us);
/* to be called when the work runs: remembers now_us as the time of the last run */
void slp_paced_done(slp_paced *p, uint64_t now_us, uint64_t most_us);

#endif
