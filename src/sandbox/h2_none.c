/* h2_none.c - for builds without nghttp2: the port speaks HTTP/1.1 only. */
#include "base/list.h"
#include "host/host.h"
#include "sandbox/h2.h"

void slp_h2_offer(slp_h2 *all, slp_listener *l) {
  (void)l;
  slp_list_init(&all->conns);
}

void slp_h2_stop(slp_h2 *all) { SLP_CHECK(slp_list_empty(&all->conns)); }
