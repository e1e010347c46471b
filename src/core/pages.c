/* pages.c - keeps the memory of large pages for the next calls; the bytes of kept pages count in the
 * budget. */
#include "core/pages.h"

#include "base/list.h"
#include "base/mem.h"
#include "codec/page.h"
#include "core/ahead.h"
#include "core/budget.h"
#include "core/calls.h"
#include "core/engine_inside.h"

typedef struct spare {
  slp_list link; /* in slp_pages.spares */
  slp_page *page;
  uint64_t bytes;
} spare;

/* Only pages of this size or larger are kept, because malloc is fast for smaller ones. */
#define SPARE_BYTES_MIN (64u * 1024)
/* A page is not kept if it is more than this many times larger than the next pages will be. */
#define LARGER_BY 4

void slp_pages_drop(slp_engine *e) {
  slp_list *it;
  while ((it = slp_list_pop(&e->pages.spares))) {
    spare *sp = SLP_OWNER(it, spare, link);
    slp_budget_give(&e->budget, sp->bytes);
    slp_page_free(sp->page);
    slp_free(e->mem, sp);
  }
  e->pages.bytes = 0;
}

slp_page *slp_pages_new(slp_engine *e, uint64_t expected_bytes) {
  slp_list *it = expected_bytes > SPARE_BYTES_MIN ? slp_list_pop(&e->pages.spares) : NULL;
  if (!it) return slp_page_new(e->mem);
  spare *sp = SLP_OWNER(it, spare, link);
  slp_page *page = sp->page;
  /* from now on these bytes count as part of the reservation of the call that will fill the page */
  slp_budget_give(&e->budget, sp->bytes);
  e->pages.bytes -= sp->bytes;
  slp_free(e->mem, sp);
  return page;
}

void slp_pages_back(slp_engine *e, slp_page *page) {
  if (!page) return;
  uint64_t bytes = slp_page_bytes(page);
  int worth = bytes >= SPARE_BYTES_MIN && e->behind_n &&
              bytes <= LARGER_BY * slp_ahead_page(e->ahead_needs, slp_calls_shards_busy(e)) &&
              e->pages.bytes + bytes <= slp_budget_max(&e->budget) / 4;
  spare *sp = worth && bytes <= slp_budget_free(&e->budget) ? SLP_NEW(e->mem, spare) : NULL;
  if (!sp) {
    slp_page_free(page);
    return;
  }
  slp_budget_force(&e->budget, bytes);
  slp_page_reset(page);
  sp->page = page;
  sp->bytes = bytes;
  e->pages.bytes += bytes;
  slp_list_add_first(&e->pages.spares, &sp->link);
}

uint64_t slp_pages_held(const slp_engine *e) { return slp_budget_used(&e->budget) - e->pages.bytes; }

void slp_pages_init(slp_engine *e) { slp_list_init(&e->pages.spares); }
