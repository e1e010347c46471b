/* crowd.h - many stories beside each other in one loop, so that their waits overlap. */
#ifndef SLP_TEST_CROWD_H
#define SLP_TEST_CROWD_H

#include "story.h"

typedef struct crowd {
  int leased;
  story_book book;
  /* The next story's plan; 0: there is none. */
  int (*next)(struct crowd *c, story_plan *ret);
  void (*done)(struct crowd *c, const story *st);
} crowd;

/* All there are, in rounds with a sandbox of their own each. */
void crowd_run(crowd *c);
/* One story, alone, told on standard output. free() it. */
story *crowd_one(const story_plan *plan, story_book *book);
/* What the exchange that was spoilt asked for; or "". */
const char *crowd_spoilt_op(const story *st);
const char *crowd_name(int leased); /* "plain", "leased" */
/* SLOOP_TEST_SEED, or the time. Printed. */
uint64_t crowd_seed(void);
/* Nothing of this machine's user plays a part. */
void crowd_alone(void);

#endif
