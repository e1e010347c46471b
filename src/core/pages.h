/* pages.h - recycles pages: keeps the memory of large bodies for the next calls. */
#ifndef SLP_CORE_PAGES_H
#define SLP_CORE_PAGES_H

#include "base/list.h"
#include "codec/page.h"

typedef struct slp_engine slp_engine;

typedef struct slp_pages { /* one per engine */
  slp_list spares;         /* recycled pages; their bytes count in the budget until it needs them */
  uint64_t bytes;          /* bytes of all spares */
} slp_pages;

void slp_pages_init(slp_engine *e);
slp_page *slp_pages_new(slp_engine *e, uint64_t expected_bytes); /* recycled or new; NULL: no memory */
void slp_pages_back(slp_engine *e, slp_page *page);              /* NULL is fine */
/* frees the spares, because the budget needs their bytes */
void slp_pages_drop(slp_engine *e);
uint64_t slp_pages_held(const slp_engine *e); /* bytes of the budget in use, spares left out */

#endif
