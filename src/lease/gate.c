/* gate.c - spaces the requests of one worker so that they stay within the capacity of the lease table
 * (gate.h). */
#include "lease/gate.h"

#define GAP_LEAST_US UINT64_C(10000) /* if the gap becomes shorter than this, the gate opens */
/* the gap after the first refused request */
#define GAP_FIRST_US UINT64_C(20000)
/* after a refused request, no request is sent for about this time or longer */
#define PAUSE_US UINT64_C(200000)
/* the longest gap */
#define GAP_MOST_US UINT64_C(5000000)
/* Each request that is served shortens the gap by at least 1/SERVED_PART of it. Long gaps shrink faster. */
#define SERVED_PART 16
/* A gap shorter than BURST_US often comes from a burst of requests that is over, so such a gap shrinks
 * faster. With each STREAK requests served in a row the fraction 1/SERVED_PART doubles, at most DOUBLED_MOST
 * times, to a half. */
#define BURST_US UINT64_C(200000)
#define STREAK 8
#define DOUBLED_MOST 3
/* in ms^2; the greater FAIR is, the slower long gaps shrink (see shrink_gap()) */
#define FAIR UINT64_C(4000000)

/* Returns a random time between 3/4 and 5/4 of the gap. dice: a random number. */
static uint64_t random_gap_us(uint64_t gap_us, uint64_t dice) {
  return gap_us - gap_us / 4 + dice % (gap_us / 2 + 1);
}

/* Shortens the gap after a request was served. The rate of requests, 1 / gap, grows by the same amount each
 * second, however high it is. Each refusal lowers the rate by a third. So workers that share a table reach
 * equal rates, and a worker with a long gap recovers soon. */
static void shrink_gap(slp_gate *g) {
  uint64_t gap_ms = g->gap_us / 1000, fair_us = g->gap_us * FAIR / (FAIR + gap_ms * gap_ms);
  uint32_t doubled = g->gap_us < BURST_US ? g->served_n / STREAK : 0;
  g->gap_us = slp_min_u64(fair_us, g->gap_us - g->gap_us / (SERVED_PART >> doubled));
  g->served_n += g->served_n < STREAK * DOUBLED_MOST;
  if (g->gap_us < GAP_LEAST_US) g->gap_us = g->next_us = 0;
}

/* A time without requests that is as long as the gap counts as one request served, because this worker left
 * that capacity to other workers. Each gap is shorter than the one before, so the loop is short. */
static void shrink_by_idle_time(slp_gate *g, uint64_t now_us) {
  while (g->gap_us && now_us - g->next_us >= g->gap_us) {
    g->next_us += g->gap_us;
    shrink_gap(g);
  }
}

int slp_gate_passes(slp_gate *g, uint64_t now_us, uint64_t dice) {
  if (g->gap_us && now_us < g->next_us) return 0;
  shrink_by_idle_time(g, now_us);
  g->next_us = slp_after_us(now_us, random_gap_us(g->gap_us, dice));
  return 1;
}

void slp_gate_refused(slp_gate *g, uint64_t sent_us, uint64_t now_us, uint64_t dice) {
  if (g->gap_us && sent_us <= g->changed_us) return;
  g->gap_us = slp_min_u64(slp_max_u64(g->gap_us + g->gap_us / 2, GAP_FIRST_US), GAP_MOST_US);
  g->next_us =
      slp_max_u64(g->next_us, slp_after_us(now_us, random_gap_us(slp_max_u64(g->gap_us, PAUSE_US), dice)));
  g->changed_us = now_us;
  g->served_n = 0;
}

void slp_gate_served(slp_gate *g) {
  if (g->gap_us) shrink_gap(g);
}
