/* sim.c - the simulator's world: virtual time, the heap of events, seeded chance, the trace. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/little.h"
#include "base/mutant.h"
#include "swarm/inside.h"

/* 2027-01-15T08:00:00Z: some plain moment, far from every boundary a date could trip over. */
#define NEVER_US (UINT64_C(1) << 60)
#define UNIX_START_MS INT64_C(1800000000000)

/* Steele, Lea, Flood: "Fast splittable pseudorandom number generators" (2014), the mixing constants. */
uint64_t slp_sim_draw(uint64_t *state) {
  uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

uint64_t slp_sim_draw_between(uint64_t *state, uint64_t low, uint64_t high) {
  if (high <= low) return low;
  uint64_t span = high - low + 1;
  uint64_t drawn = slp_sim_draw(state);
  return span ? low + drawn % span : drawn;
}

/* In a build with planted mistakes: which of them is at work. */
static void choose_mutant(void) {
#ifdef SLP_MUTANTS
  slp_mutant = getenv("SLOOP_MUTANT");
#endif
}

slp_sim *slp_sim_new(slp_mem *mem, uint64_t seed) {
  choose_mutant();
  slp_sim *sim = SLP_NEW(mem, slp_sim);
  SLP_CHECK(sim);
  sim->mem = slp_mem_hold(mem);
  sim->seed = seed;
  uint64_t split = seed;
  sim->world_random = slp_sim_draw(&split);
  sim->net_random = slp_sim_draw(&split);
  sim->tie_random = slp_sim_draw(&split);
  sim->unix_start_ms = UNIX_START_MS;
  sim->paused_look_us = 1000;
  sim->trace_hash = UINT64_C(0xcbf29ce484222325);
  sim->net = (slp_sim_net){
      .latency_us_min = 1000, .latency_us_max = 5000, .piece_bytes_min = 65536, .piece_bytes_max = 65536};
  slp_list_init(&sim->calls);
  slp_list_init(&sim->files);
  return sim;
}

void slp_sim_free(slp_sim *sim) {
  if (!sim) return;
  SLP_CHECK(sim->hosts_alive == 0);
  slp_sim_forget_hosts(sim);
  slp_mem *mem = sim->mem;
  slp_free(mem, sim->heap);
  slp_free(mem, sim);
  slp_mem_drop(mem);
}

uint64_t slp_sim_now_us(const slp_sim *sim) { return sim->now_us; }
int64_t slp_sim_unix_ms(const slp_sim *sim) { return sim->unix_start_ms + (int64_t)(sim->now_us / 1000); }
uint64_t slp_sim_events(const slp_sim *sim) { return sim->events_run; }
slp_sim_net *slp_sim_network(slp_sim *sim) { return &sim->net; }
void slp_sim_measure(slp_sim *sim, uint64_t (*cpu_us)(void)) { sim->cpu_us = cpu_us; }
size_t slp_sim_hosts_alive(const slp_sim *sim) { return sim->hosts_alive; }
uint64_t slp_sim_longest_call_us(const slp_sim *sim) { return sim->longest_call_us; }

uint64_t slp_sim_random_between(slp_sim *sim, uint64_t low, uint64_t high) {
  return slp_sim_draw_between(&sim->world_random, low, high);
}
uint64_t slp_sim_random_below(slp_sim *sim, uint64_t below) {
  return below ? slp_sim_draw_between(&sim->world_random, 0, below - 1) : 0;
}
int slp_sim_chance(slp_sim *sim, uint32_t ppm) { return slp_sim_random_below(sim, 1000000) < ppm; }

void slp_sim_serve(slp_sim *sim, void (*serve)(void *arg, const slp_sim_ask *ask, slp_sim_reply *reply),
                   void *arg) {
  sim->serve = serve;
  sim->serve_arg = arg;
}

/* ---- the heap --------------------------------------------------------------------------------- */
static int before(const slp_sim_event *a, const slp_sim_event *b) {
  if (a->at_us != b->at_us) return a->at_us < b->at_us;
  if (a->tie != b->tie) return a->tie < b->tie;
  return a->order < b->order;
}

static void add_event(slp_sim *sim, slp_sim_event ev) {
  if (sim->heap_n == sim->heap_cap) {
    sim->heap_cap = sim->heap_cap ? sim->heap_cap * 2 : 256;
    sim->heap = slp_realloc(sim->mem, sim->heap, sim->heap_cap * sizeof *sim->heap);
    SLP_CHECK(sim->heap);
  }
  if (ev.at_us < sim->now_us) ev.at_us = sim->now_us;
  ev.tie = slp_sim_draw(&sim->tie_random);
  ev.order = sim->order++;
  size_t i = sim->heap_n++;
  for (; i > 0 && before(&ev, &sim->heap[(i - 1) / 2]); i = (i - 1) / 2)
    sim->heap[i] = sim->heap[(i - 1) / 2];
  sim->heap[i] = ev;
}

static slp_sim_event take_event(slp_sim *sim) {
  slp_sim_event first = sim->heap[0];
  slp_sim_event last = sim->heap[--sim->heap_n];
  size_t i = 0;
  for (size_t child; (child = 2 * i + 1) < sim->heap_n; i = child) {
    if (child + 1 < sim->heap_n && before(&sim->heap[child + 1], &sim->heap[child])) child++;
    if (!before(&sim->heap[child], &last)) break;
    sim->heap[i] = sim->heap[child];
  }
  if (sim->heap_n) sim->heap[i] = last;
  return first;
}

void slp_sim_push(slp_sim *sim, uint64_t at_us, slp_sim_fn run, void *arg, uint64_t tag) {
  add_event(sim, (slp_sim_event){.at_us = at_us, .run = run, .arg = arg, .tag = tag});
}

void slp_sim_at(slp_sim *sim, uint64_t at_us, void (*fn)(void *arg), void *arg) {
  add_event(sim, (slp_sim_event){.at_us = at_us, .plain = fn, .arg = arg});
}

int slp_sim_step(slp_sim *sim) {
  if (sim->heap_n == 0) return 0;
  slp_sim_event ev = take_event(sim);
  if (ev.at_us > sim->now_us) sim->now_us = ev.at_us; /* reading a clock takes time, so it may be late */
  sim->events_run++;
  if (ev.plain)
    ev.plain(ev.arg);
  else
    ev.run(ev.arg, ev.tag);
  return 1;
}

int slp_sim_run(slp_sim *sim, uint64_t until_us, int (*enough)(void *arg), void *arg) {
  for (;;) {
    if (enough && enough(arg)) return 1;
    if (sim->heap_n == 0 || sim->heap[0].at_us > until_us) {
      if (sim->now_us < until_us && until_us < NEVER_US) sim->now_us = until_us;
      return 0;
    }
    slp_sim_step(sim);
  }
}

/* ---- the trace --------------------------------------------------------------------------------- */
void slp_sim_trace(slp_sim *sim, const char *fmt, ...) {
  if (sim->unhashed && !sim->on_trace) return;
  char line[512];
  int n =
      snprintf(line, sizeof line, "%" PRIu64 ".%06" PRIu64 " ", sim->now_us / 1000000, sim->now_us % 1000000);
  va_list args;
  va_start(args, fmt);
  vsnprintf(line + n, sizeof line - (size_t)n, fmt, args);
  va_end(args);
  for (const char *c = line; *c; c++) /* FNV-1a */
    sim->trace_hash = (sim->trace_hash ^ (uint8_t)*c) * UINT64_C(0x100000001b3);
  if (sim->on_trace) sim->on_trace(sim->on_trace_arg, line);
}

void slp_sim_fold(slp_sim *sim, const void *p, size_t n) {
  if (sim->unhashed) return;
  const uint8_t *at = p;
  uint64_t h = sim->trace_hash ^ n;
  for (; n >= 8; at += 8, n -= 8) {
    uint64_t word;
    memcpy(&word, at, 8);
    h = (h ^ slp_little_u64(word)) * UINT64_C(0x9e3779b97f4a7c15);
    h ^= h >> 29;
  }
  for (; n > 0; n--) h = (h ^ *at++) * UINT64_C(0x100000001b3);
  sim->trace_hash = h;
}

void slp_sim_fold_number(slp_sim *sim, uint64_t number) {
  uint64_t bytes = slp_little_u64(number);
  slp_sim_fold(sim, &bytes, sizeof bytes);
}

uint64_t slp_sim_trace_hash(const slp_sim *sim) {
  SLP_CHECK(!sim->unhashed);
  return sim->trace_hash;
}

void slp_sim_leave_unhashed(slp_sim *sim) { sim->unhashed = 1; }

void slp_sim_on_trace(slp_sim *sim, void (*on_trace)(void *arg, const char *line), void *arg) {
  sim->on_trace = on_trace;
  sim->on_trace_arg = arg;
}
