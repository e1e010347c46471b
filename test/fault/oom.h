/* oom.h - a story is played again and again, each time with another allocation of the library failing: once,
 * or for ever after. It must end well or with a clean lack of memory; all memory comes back; and a life after
 * it, with memory, reads all that was not acknowledged before. */
#ifndef SLP_TEST_OOM_H
#define SLP_TEST_OOM_H

#include "base/mem.h"
#include "swarm/world.h"

typedef enum { OOM_ONCE, OOM_A_WHILE, OOM_FOREVER, OOM_WAYS } oom_way;

typedef struct oom_run {
  slp_mem *mem;            /* of the world; never fails */
  uint64_t asked, fail_at; /* allocations while armed; fail_at 0: none fails */
  int64_t live;            /* blocks */
  uint64_t first_us;       /* when the first one failed, of virtual time; 0: none did */
  const slp_sim *sim;
  oom_way way;
  uint8_t armed, trace;
  uint8_t silent; /* set by the story: not all was read, and there was no memory to say even so */
  uint8_t clean;  /* set by the story: it was told that there is no memory */
  char bad[500];  /* the first thing that is wrong */
} oom_run;

/* The library's, one hold. Fails while r->armed. */
slp_mem *oom_mem(oom_run *r);
void oom_bad(oom_run *r, const char *fmt, ...) SLP_PRINTF(2, 3);
/* Under failing memory every answer is success, lack of memory, or `also` (0: nothing else). */
void oom_answer(oom_run *r, const char *what, int code, int also);
slp_world *oom_world(oom_run *r, const sloop_sandbox_opts_t *o);

typedef struct oom_story {
  const char *name; /* NULL: the end of a list */
  void (*play)(oom_run *r, const void *how);
  const void *how;
} oom_story;
extern const oom_story oom_read_stories[], oom_changes_stories[], oom_admin_stories[], oom_metrics_stories[],
    oom_keys_stories[];

#endif
