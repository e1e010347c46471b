/* oom_reader.h - a plain program in a simulated world: reads, acknowledges everything a moment later, and marks
 * what it was done with. Records are numbered: a stream's by swarm/world.c, a table's changes by their key. */
#ifndef SLP_TEST_OOM_READER_H
#define SLP_TEST_OOM_READER_H

#include "api/open.h"
#include "fault/oom.h"

#define OOM_NUMBERS_MAX 1024
#define OOM_READER_SHARDS 32

typedef struct oom_marks {
  uint64_t n;                    /* records are 1 to n */
  uint8_t done[OOM_NUMBERS_MAX]; /* acknowledged; in a life after another: or handed over */
} oom_marks;

typedef struct oom_reader {
  oom_run *run;
  slp_world *world;
  oom_marks *marks;
  slp_mem *mem; /* one hold, taken over */
  slp_host *host;
  sloop_opts_t opts;   /* to be changed before oom_reader_begin */
  slp_outside outside; /* its environment: empty */
  sloop_t *s;
  int fatal; /* the code of a fatal error, or 0 */
  uint8_t started, closing, closed, stopped;
  uint64_t batches, out;
  struct {
    char id[130];
    uint64_t epoch, last;
  } shards[OOM_READER_SHARDS];
  char worker[130];
} oom_reader;

/* On a host of its own. */
void oom_reader_init(oom_reader *x, oom_run *r, slp_world *w, const char *stream, oom_marks *marks,
                     slp_mem *mem);
int oom_reader_open(oom_reader *x);
int oom_reader_begin(oom_reader *x); /* and starts, unless x->s is open already */
void oom_reader_pass(oom_reader *x, uint64_t ms);
/* Lets time pass until all of marks is done, at most so long; then it is wrong, unless it failed for lack of
 * memory. */
void oom_reader_read_all(oom_reader *x, uint64_t ms);
int oom_reader_has_read_all(const oom_reader *x);
void oom_reader_stop(oom_reader *x, uint64_t limit_ms); /* and waits for it */
void oom_reader_end(oom_reader *x);                     /* closes, and everything of it is gone */

#endif
