/* expander.h - takes the aggregated records of a page apart (expands them), one slice in each turn of the
 * event queue. */
#ifndef SLP_SOURCE_EXPANDER_H
#define SLP_SOURCE_EXPANDER_H

#include "base/list.h"
#include "codec/kpl.h"
#include "codec/page.h"
#include "host/host.h"

typedef struct slp_expander slp_expander;
struct slp_expander {
  slp_list link; /* for the owner of the expander, who may keep idle ones in a list */
  void *arg;     /* for the owner's use */
  /* Called from the event queue when the page is expanded; never called after slp_expander_stop. verdict: 0,
   * or SLP_ENOMEM; then the page is unchanged. */
  void (*on_done)(slp_expander *x, int verdict);
  /* Private members. */
  slp_host *h;
  slp_kpl *kpl;
  slp_hash_range range;
  slp_event slice;
};

/* Returns an expander, which can be used for many pages, one after the other. NULL: no memory. */
slp_expander *slp_expander_new(slp_host *h);
void slp_expander_free(slp_expander *x);
/* Begins to expand the aggregates of `page`, which the expander owns until on_done. range: the range of hash
 * keys of the shard, which is copied; NULL: it is not known. */
void slp_expander_begin(slp_expander *x, slp_page *page, const slp_hash_range *range);
/* Stops the expansion: on_done will not be called, and the page is unchanged. May be called when nothing
 * is being expanded. */
void slp_expander_stop(slp_expander *x);

#endif
