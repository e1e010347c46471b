/* produce_listing.h - keeps the listing of a stream's shards up to date while records are put (--aggregate).
 *
 *   STALE ---> ASKED ---> LISTED
 *     ^          |          |
 *     +----------+----------+   the listing failed, or an answer shows that the stream was resharded */
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
  slp_cli_consumer *consumer; /* borrowed; must be open when a listing is requested */
  slp_put_shards *shards;     /* borrowed; filled by each listing */
  uint64_t at_us;
  /* how many listings in a row have failed, or lacked a shard that an answer of PutRecords names */
  uint32_t fails;
  /* Called from the event loop when a listing has ended, so that the state is no longer ASKED. why: a failure
   * that ends the command; NULL: there is none. */
  void (*on_answer)(struct slp_put_listing *l, const char *why);
  void *user;
} slp_put_listing;

/* Requests a listing if one is due. Returns the time to call this function again; UINT64_MAX: on_answer will
 * be called, or the shards are listed. */
uint64_t slp_put_listing_ask(slp_put_listing *l);
/* Marks the listing as out of date. The next listing may be requested at once, or after a pause if `fails` is
 * not 0. */
void slp_put_listing_forget(slp_put_listing *l);

#endif
