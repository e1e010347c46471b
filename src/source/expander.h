/* expander.h - expands the aggregates of a page, a slice a turn. */
#ifndef SLP_SOURCE_EXPANDER_H
#define SLP_SOURCE_EXPANDER_H

#include "codec/kpl.h"
#include "host/host.h"

typedef struct slp_expander slp_expander;
struct slp_expander {
  slp_list link;                                 /* the owner's, while it is idle */
  void *arg;                                     /* the owner's */
  void (*on_done)(slp_expander *x, int verdict); /* from the turn queue, not after a stop: 0; SLP_ENOMEM: the
                                                    page is as it was */
  /* Private. */
  slp_host *h;
  slp_kpl *kpl;
  slp_hash_range range;
  slp_event slice;
};

slp_expander *slp_expander_new(slp_host *h); /* for many pages, one at a time. NULL: no memory */
void slp_expander_free(slp_expander *x);
/* The expander owns the page until on_done. range: copied; NULL: not known. */
void slp_expander_begin(slp_expander *x, slp_page *page, const slp_hash_range *range);
void slp_expander_stop(slp_expander *x); /* on_done will not run; the page is as it was. Idle is fine */

#endif
