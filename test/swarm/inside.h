/* inside.h - what world.c and host.c of the simulator share and nobody else needs. */
#ifndef SLP_TEST_SWARM_INSIDE_H
#define SLP_TEST_SWARM_INSIDE_H

#include "swarm/host.h"

typedef void (*slp_sim_fn)(void *arg, uint64_t tag);

typedef struct slp_sim_event {
  uint64_t at_us, tie, order;
  slp_sim_fn run;
  void (*plain)(void *arg); /* instead of run, for slp_sim_at */
  void *arg;
  uint64_t tag;
} slp_sim_event;

struct slp_sim_shell; /* a host's part that outlives it: old events may still point here */
struct slp_sim_call;

struct slp_sim {
  slp_mem *mem; /* held */
  uint64_t now_us;
  int64_t unix_start_ms;
  uint64_t seed, world_random, net_random, tie_random;
  slp_sim_event *heap;
  size_t heap_n, heap_cap;
  uint64_t order, events_run;
  uint64_t trace_hash;
  uint8_t unhashed; /* nobody asks for trace_hash */
  void (*on_trace)(void *arg, const char *line);
  void *on_trace_arg;
  slp_sim_net net;
  void (*serve)(void *arg, const slp_sim_ask *ask, slp_sim_reply *reply);
  void *serve_arg;
  struct slp_sim_shell *shells; /* all ever made */
  slp_list calls, files;        /* all not yet forgotten */
  uint64_t paused_look_us;      /* how often the time limit of a paused answer is looked at */
  size_t hosts_made, hosts_alive;
  uint64_t longest_call_us;          /* of those that were answered */
  struct slp_sim_shell *blocked[64]; /* whose callbacks take long, one within the other */
  size_t blocked_n;
  uint64_t (*cpu_us)(void); /* NULL: turns take no time */
};

uint64_t slp_sim_draw(uint64_t *state); /* splitmix64 */
uint64_t slp_sim_draw_between(uint64_t *state, uint64_t low, uint64_t high);
void slp_sim_push(slp_sim *sim, uint64_t at_us, slp_sim_fn run, void *arg, uint64_t tag);
void slp_sim_forget_hosts(slp_sim *sim); /* host.c's part of slp_sim_free */

#endif
