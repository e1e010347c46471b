/* valve_story.h - one consumer's story on real sockets: the sandbox's stream of a parent and two children is read
 * to its tip through a valve that spoils one moment, and the reader's promises are judged. Many run beside
 * each other in one loop. */
#ifndef SLP_TEST_VALVE_STORY_H
#define SLP_TEST_VALVE_STORY_H

#include <sloop_admin.h>
#include <sloop_sandbox.h>

#include "wire/valve.h"

#define STORY_RECORDS 7
#define STORY_SHARDS 3 /* 0, and the two it was split into */

/* The sandbox that all workers read from. */
typedef struct story_world {
  uv_loop_t *loop;
  sloop_sandbox_t *box;
  uint16_t box_port;
  uint8_t shard_of[STORY_RECORDS];
  char seq[STORY_RECORDS][130];
  uint32_t tables; /* handed out: each story with leases has its own */
} story_world;

void story_world_open(story_world *w, uv_loop_t *loop);
void story_world_close(story_world *w);

/* A sentence that failures were told with, digits taken out. */
typedef struct story_said {
  char text[200];
  uint64_t times;
} story_said;
#define STORY_SAID_MAX 128
typedef struct story_book {
  story_said said[STORY_SAID_MAX];
  size_t n;
  uint64_t retries;
} story_book;

typedef enum { STORY_READS, STORY_STOPS, STORY_CLOSES, STORY_ASKS, STORY_CLEARS, STORY_IS_DONE } story_phase;

/* A worker, from open to close. */
typedef struct story_life {
  struct story *of;
  uint8_t got[STORY_RECORDS];
  int8_t last[STORY_SHARDS]; /* record */
  uint8_t taken[STORY_SHARDS], at_tip;
  uint64_t epoch[STORY_SHARDS];
  size_t got_n;
  int stop_status;
} story_life;

typedef struct story_plan {
  uint8_t leased;      /* worker "a" reads a part and stops, "b" reads the rest, then the table is asked */
  uint8_t short_waits; /* for the answer that is spoilt: the real limits are 10 and 30 s */
  uint8_t may_end;     /* what was answered may be taken for a refusal */
  valve_fault fault;
} story_plan;

typedef struct story {
  story_world *world; /* NULL: none is told */
  story_book *book;
  story_plan plan;
  valve v;
  sloop_t *s;
  story_phase phase;
  int at; /* which life */
  story_life lives[2];
  size_t live_bytes;
  uint64_t begun_ms;
  uint32_t hurried;
  char table[32];
  char ended[200]; /* why it ended early, when it may */
  char bad[400];   /* "" so far */
} story;

/* st must not move, and is done when st->phase says so. */
void story_begin(story *st, story_world *w, story_book *book, const story_plan *plan);
/* For a timer of the loop: ends what is not done after so many calls. Calls, not time: a loop that does not
 * get to run is not the story's fault. */
void story_hurry(story *st, uint32_t calls_max);
/* Once more: name, and text without its digits. */
void story_write_down(story_book *b, const char *name, const char *text);
void story_book_print(const story_book *b);

#endif
