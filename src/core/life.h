/* life.h - the states of a consumer, and when a stop is over. (life.c, consumer.c)
 *
 *   OPEN -> DESCRIBING -> LISTING -> RUNNING -> STOPPING -> STOPPED
 *              |             |                     ^  ^
 *              +-------------+---------------------+  +-- FAILED
 *
 *   any but OPEN and CLOSING --> FAILED (a fatal error was told); also FAILED --> STOPPED
 *   any --> CLOSING, then freed */
#ifndef SLP_CORE_LIFE_H
#define SLP_CORE_LIFE_H

#include "host/host.h"
#include <sloop.h>

typedef struct slp_consumer slp_consumer;

typedef enum slp_life {
  SLP_LIFE_OPEN,       /* made, and not started */
  SLP_LIFE_DESCRIBING, /* waits for the first description of the stream */
  SLP_LIFE_LISTING,    /* waits for the first listing */
  SLP_LIFE_RUNNING,    /* the shards are known and read */
  SLP_LIFE_STOPPING,   /* waits until the user gives its batches back */
  SLP_LIFE_STOPPED,    /* the stop is over */
  SLP_LIFE_FAILED,     /* a fatal error was reported, and the consumer stopped by itself */
  SLP_LIFE_CLOSING     /* no callback is made any more; freed soon */
} slp_life;

typedef struct slp_stop {
  sloop_cb cb; /* the user's callback for the end of the stop */
  void *arg;
  slp_timer timer;  /* the limit of the stop */
  uint64_t wait_us; /* with leases: the time until which the stop waits for batches */
  slp_event ev;     /* ends the stop, in a turn */
} slp_stop;

void slp_consumer_move(slp_consumer *c, slp_life to); /* the only place that changes c->life */
/* Returns 1 while joined consumers must wait for the first listing of c, whose records may be the earliest of
 * all. A consumer that is paused, or that gets shards from a fleet, is not waited for. */
int slp_consumer_is_yet_to_list(const slp_consumer *c);
/* Called when something has come to its end. Tells the user when the tip is reached, and posts the end of a
 * stop that waits for nothing more. */
void slp_consumer_check(slp_consumer *c);

#endif
