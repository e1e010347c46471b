/* expander.h - expands the aggregated records of a page, one slice in each turn of the event queue. */
#ifndef SLP_SOURCE_EXPANDER_H
#define SLP_SOURCE_EXPANDER_H

#include "codec/kpl.h"
#include "host/host.h"

typedef struct slp_expander slp_expander;
struct slp_expander {
  slp_list link; /* for the owner: a list of idle expanders */
  void *arg;     /* for the owner */
  /* Called from the event queue, never after slp_expander_stop. `verdict` is 0 or SLP_ENOMEM, which leaves
   * the page unchanged. */
  void (*on_done)(slp_expander *x, int verdict);
  /* Private. */
  slp_host *h;
  slp_kpl *kpl;
  slp_hash_range range;
  slp_event slice;
};

slp_expander *slp_expander_new(slp_host *h); /* Used for many pages, one after the other. NULL: no memory */
void slp_expander_free(slp_expander *x);
/* Expands the aggregates of `page`, which the expander owns until on_done. `range` holds the hash keys of the
 * shard, and is copied; NULL if it is not known. */
void slp_expander_begin(slp_expander *x, slp_page *page, const slp_hash_range *range);
/* on_done will not run, and the page is unchanged. May be called when idle */
void slp_expander_stop(slp_expander *x);

#endif
