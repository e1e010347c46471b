/* repeat.h - the rule for everything that is done again: pages of one answer, and what is begun anew each
 * time that it ended. A service may answer whatever it likes; what it costs is bounded. Pure: times come from
 * the caller. */
#ifndef SLP_BASE_REPEAT_H
#define SLP_BASE_REPEAT_H

#include "base/base.h"

/* ---- pages --------------------------------------------------------------------------------------------- */
/* So many pages follow each other at once, the others at 100 a second, over all loops that run at once for
 * one answer; after a page that brought nothing the wait doubles, up to SLP_PAGING_VAIN_US, and so many of
 * these in a row end it. */
#define SLP_PAGING_AT_ONCE 32u
#define SLP_PAGING_GAP_US 10000u
#define SLP_PAGING_VAIN_US 640000u
#define SLP_PAGING_VAIN_MAX 16u

typedef struct slp_paging { /* a loop over the pages of one answer */
  uint32_t pages_max;
  uint64_t bytes_max; /* of what is kept; four times as much may be read for it */
  uint64_t read;      /* bytes */
  uint32_t share;   /* of so many loops that run at once for one answer it is one: 1, where nobody sets it */
  uint32_t n, vain; /* pages; those in a row that brought nothing */
  uint32_t looked;  /* those whose token was looked at */
  uint64_t token;   /* hash of one that was given: a token that comes again meets it, ... */
  uint32_t mark;    /* ... as it is replaced at page 1, 2, 4, 8 and so on (Brent's way to find a cycle) */
} slp_paging;

void slp_paging_begin(slp_paging *p, uint32_t pages_max, uint64_t bytes_max);
/* A page of so many bytes came that brought so many news, and the token of the next one; kept: bytes, of all
 * pages. A token of NULL need not move: an empty page may say that the listing goes on from where it was. 0:
 * after *ret_wait_us the next page may be asked for. SLP_ELIMIT: it ends here, and why says so. */
int slp_paging_next(slp_paging *p, slp_str token, size_t bytes, size_t news, uint64_t kept,
                    uint64_t *ret_wait_us, char why[160]);

/* ---- what is begun anew -------------------------------------------------------------------------------- */
/* The first few times come at once; those that follow closely wait, twice as long each time, from least_us up
 * to most_us. A quiet time of 4 * most_us makes it new. */
#define SLP_PACED_AT_ONCE 3u

typedef struct slp_paced {
  uint64_t last_us;
  uint32_t n; /* times that followed closely */
} slp_paced;

/* When it may be done that is to be done at at_us: at_us or later. */
uint64_t slp_paced_us(const slp_paced *p, uint64_t at_us, uint64_t least_us, uint64_t most_us);
void slp_paced_done(slp_paced *p, uint64_t now_us, uint64_t most_us); /* it is done now */

#endif
