/* valve_crowd.h - many stories beside each other in one loop, so that their waits overlap. */
#ifndef SLP_TEST_VALVE_CROWD_H
#define SLP_TEST_VALVE_CROWD_H

#include "valve_story.h"

typedef struct crowd {
  int leased;
  story_book book;
  /* The next story's plan; 0: there is none. */
  int (*next)(struct crowd *c, story_plan *ret);
  void (*done)(struct crowd *c, const story *st);
} crowd;

/* All there are, in rounds with a sandbox of their own each. */
void crowd_run(crowd *c);
/* Plays one story alone and prints it on standard output. free() it. */
story *crowd_one(const story_plan *plan, story_book *book);
/* The operation of the exchange that was spoilt; or "". */
const char *crowd_spoilt_op(const story *st);
const char *crowd_name(int leased); /* "plain", "leased" */
/* SLOOP_TEST_SEED, or the time. Printed. */
uint64_t crowd_seed(void);
/* Makes the test independent of this machine's user. */
void crowd_alone(void);

#endif
