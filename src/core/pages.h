/* pages.h - keeps the memory of large pages for the next calls. */
#ifndef SLP_CORE_PAGES_H
#define SLP_CORE_PAGES_H

#include "base/list.h"
#include "codec/page.h"
#include "core/core.h"

typedef struct slp_pages { /* one per engine */
  slp_list spares; /* pages kept for the next calls; their bytes count in the budget until slp_pages_drop */
  uint64_t bytes;  /* how many bytes all pages in `spares` take */
} slp_pages;

void slp_pages_init(slp_engine *e);
/* returns a kept page, or a new one if none is kept; NULL: no memory */
slp_page *slp_pages_new(slp_engine *e, uint64_t expected_bytes);
/* Gives the page back. Keeps it for the next calls, or frees it: a page far larger than the next ones is
 * freed, and any page while no shard is behind its tip. NULL is fine. */
void slp_pages_back(slp_engine *e, slp_page *page);
/* frees all kept pages, because the budget needs their bytes, or because no shard is behind any more */
void slp_pages_drop(slp_engine *e);
/* returns how many bytes of the budget are in use, not counting those of kept pages */
uint64_t slp_pages_held(const slp_engine *e);

#endif
