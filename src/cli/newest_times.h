/* newest_times.h - keeps the arrival times of the N newest of any number of records, which may come in any
 * order. For -n and -o -N. */
#ifndef SLP_CLI_NEWEST_TIMES_H
#define SLP_CLI_NEWEST_TIMES_H

#include "base/mem.h"

typedef struct slp_newest_times {
  slp_mem *mem;   /* borrowed */
  int64_t *times; /* owned; a heap: no time is earlier than times[0] */
  size_t n, cap;
  size_t wanted; /* N */
  uint64_t seen; /* how many records were added */
  /* number of records that arrived at the time times[0] and are not in `times`, because N other records are
   * newer or were added before */
  uint64_t ties;
} slp_newest_times;

void slp_newest_times_init(slp_newest_times *t, slp_mem *mem, size_t wanted);
void slp_newest_times_free(slp_newest_times *t);
/* Forgets all records. */
void slp_newest_times_clear(slp_newest_times *t);
/* Adds a record by its arrival time. Returns 0 or SLP_ENOMEM. */
int slp_newest_times_add(slp_newest_times *t, int64_t at_ms);

#endif
