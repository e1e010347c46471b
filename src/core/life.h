/* life.h - the states of a consumer, and when a stop is over. (life.c, consumer.c)
 *
 *   OPEN -> DESCRIBING -> LISTING -> RUNNING -> STOPPING -> STOPPED
 *              |             |                     ^  ^
 *              +-------------+---------------------+  +-- FAILED
 *
 *   any state but OPEN and CLOSING --> FAILED (a fatal error was reported); also FAILED --> STOPPED
 *   any state --> CLOSING, then the consumer is freed */
#ifndef SLP_CORE_LIFE_H
#define SLP_CORE_LIFE_H

#include "core/core.h"
#include "host/host.h"

#include <sloop.h>

typedef enum slp_life {
  SLP_LIFE_OPEN,       /* created, and not started */
  SLP_LIFE_DESCRIBING, /* waits for the first description of the stream */
  SLP_LIFE_LISTING,    /* waits for the first listing */
  SLP_LIFE_RUNNING,    /* the shards are known and read */
  /* waits until the user has given all batches back and, with leases, until the leases are given up */
  SLP_LIFE_STOPPING,
  SLP_LIFE_STOPPED, /* the stop is over */
  SLP_LIFE_FAILED,  /* a fatal error was reported, and the consumer has stopped by itself */
  SLP_LIFE_CLOSING  /* no callback is made any more; the consumer is freed soon */
} slp_life;

typedef struct slp_stop {
  sloop_cb cb; /* the user's callback for the end of the stop */
  void *arg;
  slp_timer timer; /* runs when the time limit of the stop is over */
  /* with leases: from this time on the stop does not wait for batches that the user holds */
  uint64_t wait_us;
  slp_event ev;  /* ends the stop: its handler makes the callback */
  int fatal;     /* the code of the fatal error that ended the stop; 0: there was none */
  uint8_t asked; /* 1: the user has asked for the stop; a consumer is stopped once */
} slp_stop;

/* The only function that changes c->life. Ends the process if the change is not allowed. */
void slp_consumer_move(slp_consumer *c, slp_life to);
/* Returns 1 while records of joined consumers must wait for the first listing of c, because c may have the
 * earliest record. Returns 0 for a paused consumer, and for one with leases, which gets its shards from a
 * fleet. */
int slp_consumer_is_yet_to_list(const slp_consumer *c);
/* To be called when the last record, batch or lease of c may be finished. If all shards are at their tip,
 * reports that to the user. If a stop has nothing left to wait for, ends the stop. */
void slp_consumer_check(slp_consumer *c);

#endif
