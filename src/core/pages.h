/* pages.h - recycled pages. */
#ifndef SLP_CORE_PAGES_H
#define SLP_CORE_PAGES_H

#include "base/list.h"
#include "codec/page.h"

typedef struct slp_engine slp_engine;

typedef struct slp_pages { /* of an engine */
  slp_list spares;         /* they count in the budget until it is needed */
  uint64_t bytes;
} slp_pages;

void slp_pages_init(slp_engine *e);
slp_page *slp_pages_new(slp_engine *e, uint64_t expected_bytes); /* recycled or new; NULL: no memory */
void slp_pages_back(slp_engine *e, slp_page *page);              /* NULL is fine */
void slp_pages_drop(slp_engine *e);                              /* the budget needs what they hold */
uint64_t slp_pages_held(const slp_engine *e); /* bytes of the budget in use, recycled pages left out */

#endif
