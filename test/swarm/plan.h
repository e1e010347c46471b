/* plan.h - one random world of the swarm: what is drawn from a seed, and the run of it. */
#ifndef SLP_TEST_SWARM_PLAN_H
#define SLP_TEST_SWARM_PLAN_H

#include "swarm/user.h"

typedef struct slp_plan {
  uint64_t seed;
  uint32_t shards, backlog, backlog_gap_us, record_bytes, put_gap_us, reshards, pauses, freezes, jumps,
      scripts, downs;
  uint32_t phase_ms;
  uint32_t trims, early;
  uint32_t saves, kills, moves, stops;
  uint8_t stop_first, close_early, big_records, list_too;
  uint8_t aggregates; /* half of what is put is packed into some */
  uint8_t timeless;   /* the source can't find a time: what is older is read, and passed over */
  sloop_sandbox_opts_t box;
  slp_sim_net net;
  slp_sim_clock clock;
  slp_manners manners;
  sloop_opts_t opts; /* only what differs from the default is copied, see plan.c */
  uint8_t creds_later;
  uint8_t typed; /* over typed calls instead of bytes; not drawn */
} slp_plan;

typedef struct slp_verdict {
  char bad[600]; /* "": every promise was kept */
  uint64_t trace_hash, records, again, late, events, virtual_ms, calls, errors, ended;
} slp_verdict;

void slp_plan_draw(slp_plan *p, uint64_t seed);
void slp_plan_print(const slp_plan *p, char *to, size_t n);
void slp_plan_drive(const slp_plan *p, slp_verdict *ret, void (*on_trace)(void *arg, const char *line),
                    void *arg);

#endif
