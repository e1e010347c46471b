/* gate.c - spaces the requests of one worker by what the lease table grants. */
#include "lease/gate.h"

#define GAP_LEAST_US UINT64_C(10000) /* a shorter one is none */
#define GAP_FIRST_US UINT64_C(20000)
#define PAUSE_US UINT64_C(200000) /* after a refusal, at least */
#define GAP_MOST_US UINT64_C(5000000)
/* A request that is served takes at least such a part off the gap, and the more the longer it is. */
#define SERVED_PART 16
/* A shorter gap was often widened by a burst that is over. There every STREAK requests that are served in a
 * row double the part, to half of the gap at most. */
#define BURST_US UINT64_C(200000)
#define STREAK 8
#define DOUBLED_MOST 3
#define FAIR UINT64_C(4000000)

/* Between three and five quarters of the gap. */
static uint64_t uneven(uint64_t gap_us, uint64_t dice) {
  return gap_us - gap_us / 4 + dice % (gap_us / 2 + 1);
}

/* The rate grows by the same amount each second, whatever it is, and is cut by a part at each refusal. So
 * workers that share a table come to equal rates, and one whose gap has become long is soon back. */
static void shrink(slp_gate *g) {
  uint64_t gap_ms = g->gap_us / 1000, fair_us = g->gap_us * FAIR / (FAIR + gap_ms * gap_ms);
  uint32_t doubled = g->gap_us < BURST_US ? g->served_n / STREAK : 0;
  g->gap_us = slp_min_u64(fair_us, g->gap_us - g->gap_us / (SERVED_PART >> doubled));
  g->served_n += g->served_n < STREAK * DOUBLED_MOST;
  if (g->gap_us < GAP_LEAST_US) g->gap_us = g->next_us = 0;
}

/* Each gap of idle time counts as a request that was served: what this worker did not ask for was left to the
 * table. The gap shrinks by a part each time, so the loop is short. */
static void shrink_by_idle_time(slp_gate *g, uint64_t now_us) {
  while (g->gap_us && now_us - g->next_us >= g->gap_us) {
    g->next_us += g->gap_us;
    shrink(g);
  }
}

int slp_gate_passes(slp_gate *g, uint64_t now_us, uint64_t dice) {
  if (g->gap_us && now_us < g->next_us) return 0;
  shrink_by_idle_time(g, now_us);
  g->next_us = slp_after_us(now_us, uneven(g->gap_us, dice));
  return 1;
}

void slp_gate_refused(slp_gate *g, uint64_t sent_us, uint64_t now_us, uint64_t dice) {
  if (g->gap_us && sent_us <= g->changed_us) return;
  g->gap_us = slp_min_u64(slp_max_u64(g->gap_us + g->gap_us / 2, GAP_FIRST_US), GAP_MOST_US);
  g->next_us = slp_max_u64(g->next_us, slp_after_us(now_us, uneven(slp_max_u64(g->gap_us, PAUSE_US), dice)));
  g->changed_us = now_us;
  g->served_n = 0;
}

void slp_gate_served(slp_gate *g) {
  if (g->gap_us) shrink(g);
}
