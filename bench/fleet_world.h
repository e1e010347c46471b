/* fleet_world.h - a stream and the workers of one fleet in virtual time: the real engine over a table of
 * fleet_table.h, with a reader that has no records but positions. */
#ifndef BENCH_FLEET_WORLD_H
#define BENCH_FLEET_WORLD_H

#include "fleet_table.h"

#define FLEET_S UINT64_C(1000000) /* a second of virtual time */

typedef struct fleet_world fleet_world;

#define FLEET_SEED 11 /* of every run that asks for no other */

/* checkpoint_ms 0: no shard moves on. A world lives as long as the process. */
fleet_world *fleet_world_new(uint32_t shards, uint32_t checkpoint_ms, uint64_t seed);
fleet_table *fleet_world_table(fleet_world *w);

void fleet_world_start(fleet_world *w, uint64_t within_us); /* a worker more, at a moment in that time */
void fleet_world_leave(fleet_world *w, uint32_t worker);
void fleet_world_kill(fleet_world *w, uint32_t worker);
uint32_t fleet_world_leader(fleet_world *w);
uint32_t fleet_world_follower(fleet_world *w); /* one that lives and does not lead */
void fleet_world_double(fleet_world *w);       /* every open shard ends in two children, within 10 s */

void fleet_world_pass(fleet_world *w, uint64_t us);
/* Until every open shard is read and no worker that lives has two more than another: seconds; -1: not within
 * that time. */
double fleet_world_until_balanced(fleet_world *w, uint64_t most_us);

typedef struct fleet_world_told {
  double unread_s_max; /* the longest that a shard was not read between two owners, or from its making */
  double unread_s_all; /* the same, summed over shards */
  uint64_t losses;     /* leases lost, and workers suspended or evicted, that live */
  uint32_t shards_open, workers;
  double leader_cpu_s;   /* CPU of the worker that leads */
  uint64_t leader_bytes; /* memory that it holds now, and the most of it */
  uint64_t leader_bytes_peak;
} fleet_world_told;
fleet_world_told fleet_world_tell(fleet_world *w);
void fleet_world_clear(fleet_world *w); /* counts begin anew, the table's too */

#endif
