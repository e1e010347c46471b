/* produce_listing.h - keeps the listing of a stream's shards fresh while records are put (--aggregate).
 *
 *   STALE ---> ASKED ---> LISTED
 *     ^          |          |
 *     +----------+----------+   it failed, or an answer shows that the stream was resharded */
#ifndef SLP_CLI_PRODUCE_LISTING_H
#define SLP_CLI_PRODUCE_LISTING_H

#include "cli/consumer_run.h"
#include "cli/produce_shards.h"
#include "host/host.h"

typedef enum slp_put_listing_state {
  SLP_PUT_LISTING_STALE, /* the listing is missing or out of date; ListShards is called at `at_us` or later */
  SLP_PUT_LISTING_ASKED,
  SLP_PUT_LISTING_LISTED
} slp_put_listing_state;

typedef struct slp_put_listing {
  slp_put_listing_state state;
  slp_host *host;             /* borrowed */
  slp_cli_consumer *consumer; /* borrowed; open while a listing is asked for */
  slp_put_shards *shards;     /* borrowed; filled by each listing */
  uint64_t at_us;
  uint32_t fails; /* how many listings in a row have failed, or were of no use */
  /* Called in a turn when the state is no longer ASKED. why: a failure that lasts; NULL: there is none. */
  void (*on_answer)(struct slp_put_listing *l, const char *why);
  void *user;
} slp_put_listing;

/* Asks for a listing if one is due. Returns when to call this function again; UINT64_MAX: on_answer will be
 * called, or the shards are listed. */
uint64_t slp_put_listing_ask(slp_put_listing *l);
/* Says that the listing is out of date. The next listing is asked for at once, or after a pause if `fails` is
 * not 0. */
void slp_put_listing_forget(slp_put_listing *l);

#endif
