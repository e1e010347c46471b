/* life.h - the states of a consumer, and when a stop is over. (life.c, consumer.c)
 *
 *   OPEN -> DESCRIBING -> LISTING -> RUNNING -> STOPPING -> STOPPED
 *              |             |                     ^  ^
 *              +-------------+---------------------+  +-- FAILED
 *
 *   any but OPEN and CLOSING --> FAILED (a fatal error was told); FAILED --> STOPPED as well
 *   any --> CLOSING, then freed */
#ifndef SLP_CORE_LIFE_H
#define SLP_CORE_LIFE_H

#include "host/host.h"
#include <sloop.h>

typedef struct slp_consumer slp_consumer;

typedef enum slp_life {
  SLP_LIFE_OPEN, /* not started */
  SLP_LIFE_DESCRIBING,
  SLP_LIFE_LISTING, /* the first listing */
  SLP_LIFE_RUNNING,
  SLP_LIFE_STOPPING, /* waits for batches */
  SLP_LIFE_STOPPED,
  SLP_LIFE_FAILED, /* stopped by itself: a fatal error was reported */
  SLP_LIFE_CLOSING
} slp_life;

typedef struct slp_stop {
  sloop_cb cb;
  void *arg;
  slp_timer timer;
  uint64_t wait_us; /* with leases: batches that are out are waited for until then */
  slp_event ev;
} slp_stop;

void slp_consumer_move(slp_consumer *c, slp_life to); /* the one place that changes c->life */
/* Its first record may be the first of all that are joined, as soon as its shards are known. A paused one, or
 * one that gets shards from a fleet, is not waited for. */
int slp_consumer_is_yet_to_list(const slp_consumer *c);
/* Something came to its end: tells the tip when it is reached, and posts the end of a stop that waits for
 * nothing any more. */
void slp_consumer_check(slp_consumer *c);

#endif
