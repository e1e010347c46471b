/* manager_news.h - what a service manager (program/notify.h) is told of a command: that it is ready, that its
 * loop runs, what it does, and that it stops. app.c owns it and calls it on each tick.
 *
 * The command is ready when each of its consumers has joined its application or, without leases, knows the
 * shards of its stream. A mode without consumers says itself that it is ready (`serves` of slp_app). */
#ifndef SLP_CLI_MANAGER_NEWS_H
#define SLP_CLI_MANAGER_NEWS_H

#include "program/notify.h"

#include <sloop.h>

#define SLP_NEWS_TEXT 240

typedef struct slp_manager_news {
  slp_notify *notify; /* borrowed; NULL: no manager listens, and every function does nothing */
  uint8_t ready;      /* 1: the manager knows that the command is ready */
  uint8_t stopping;   /* 1: the manager knows that the command stops */
  uint64_t fed_us;    /* when the watchdog was last fed; 0: it was not */
  uint64_t told_us;   /* when the manager was last told what the command does; 0: it was not */
  char told[SLP_NEWS_TEXT];
  /* Collected during one tick: how many consumers were started, how many of them are not ready, how many are
   * stopping; sums over all of them; the last error of one that is not ready or is stopping. */
  uint32_t started_n, waiting_n, stopping_n;
  sloop_stats_t sum;
  char error[SLP_NEWS_TEXT / 2];
} slp_manager_news;

/* Collects, for this tick, a consumer that was started.
 * joined: with leases, 1 once the worker was registered; without leases -1.
 * error: the last error as a line, or "". */
void slp_manager_news_look(slp_manager_news *m, const sloop_stats_t *now, int joined, int stopping,
                           const char *error);
/* Must be called at the end of each tick. Sends what the manager does not know yet, and feeds its watchdog.
 * serves: 1 if the command has no consumers and does its work. goes_on: 1 if the command does not end when
 * all of its consumers have stopped. */
void slp_manager_news_tick(slp_manager_news *m, uint64_t now_us, int serves, int goes_on);
/* Tells that the command stops. */
void slp_manager_news_stop(slp_manager_news *m);

#endif
