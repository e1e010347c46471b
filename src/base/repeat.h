/* repeat.h - bounds everything that is done again: pages of one answer, and what begins again each time it
 * has ended. A service may answer whatever it likes; what that costs is bounded. Pure: times come from the
 * caller. */
#ifndef SLP_BASE_REPEAT_H
#define SLP_BASE_REPEAT_H

#include "base/base.h"

/* ---- pages --------------------------------------------------------------------------------------------- */
/* The first SLP_PAGING_AT_ONCE pages of an answer follow each other at once. The others come at 100 a second,
 * over all loops that run at once for the answer. After a page that brought nothing the wait doubles, up to
 * SLP_PAGING_VAIN_US; SLP_PAGING_VAIN_MAX such pages in a row end the loop. */
#define SLP_PAGING_AT_ONCE 32u
#define SLP_PAGING_GAP_US 10000u
#define SLP_PAGING_VAIN_US 640000u
#define SLP_PAGING_VAIN_MAX 16u

typedef struct slp_paging { /* a loop over the pages of one answer */
  uint32_t pages_max;       /* the most pages */
  uint64_t bytes_max;       /* the most bytes kept; four times as many may be read for them */
  uint64_t read;            /* bytes read so far */
  uint32_t share;           /* how many such loops run at once for one answer; 1 if nobody sets it */
  uint32_t n, vain;         /* n: pages; vain: pages in a row that brought nothing */
  uint32_t looked;          /* pages whose token was looked at */
  /* Finds a cycle of tokens as Brent does. token: hash of one that was given; a token that comes again meets
   * it, since it is replaced at page 1, 2, 4, 8 and so on. mark: the page that replaces it next. */
  uint64_t token;
  uint32_t mark;
} slp_paging;

void slp_paging_begin(slp_paging *p, uint32_t pages_max, uint64_t bytes_max);
/* To be called when a page has come: `bytes` long, with so many news, and the token of the next page. kept:
 * bytes kept of all pages. A token of NULL is not checked: an empty page may say that the listing goes on
 * from where it was. Returns 0: the next page may be asked for after *ret_wait_us; SLP_ELIMIT: the loop ends
 * here, and why says so. */
int slp_paging_next(slp_paging *p, slp_str token, size_t bytes, size_t news, uint64_t kept,
                    uint64_t *ret_wait_us, char why[160]);

/* ---- what begins again --------------------------------------------------------------------------------- */
/* The first few times come at once. Those that follow closely wait, twice as long each time, from least_us up
 * to most_us. After a quiet time of 4 * most_us the next time counts as the first. */
#define SLP_PACED_AT_ONCE 3u

typedef struct slp_paced {
  uint64_t last_us; /* when it was last done */
  uint32_t n;       /* how many times followed closely */
} slp_paced;

/* Returns when a thing may be done that is wanted at at_us: at_us or later. */
uint64_t slp_paced_us(const slp_paced *p, uint64_t at_us, uint64_t least_us, uint64_t most_us);
void slp_paced_done(slp_paced *p, uint64_t now_us, uint64_t most_us); /* notes that the thing is done now */

#endif
