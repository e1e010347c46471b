/* peer_model.c - the processes of a model: their lives, their clocks, and the shards that they read. */
#include "peer_model.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct later { /* something that a worker does then */
  struct later *next;
  pm_worker *k;
  void (*fn)(pm_worker *k, uint64_t serial);
  uint64_t serial;
} later;

struct pm_fleet {
  const peer_system *system;
  fw_world *w;
  pm_worker *workers[PM_WORKERS];
  int n;
  uint64_t serials, cycles;
  later *laters; /* all that ever were, freed at the end */
};

void *pm_open(const peer_system *s, fw_world *w) {
  pm_fleet *m = calloc(1, sizeof *m);
  SLP_CHECK(m);
  m->system = s;
  m->w = w;
  return m;
}

static void drop_holds(pm_worker *k) {
  while (k->holds_n) pm_let_go(k, k->holds[k->holds_n - 1]);
}

void pm_close(void *arg) {
  pm_fleet *m = arg;
  for (int i = 0; i < m->n; i++) {
    pm_worker *k = m->workers[i];
    drop_holds(k);
    free(k->own);
    free(k);
  }
  while (m->laters) {
    later *l = m->laters;
    m->laters = l->next;
    free(l);
  }
  free(m);
}

/* ---- lives ------------------------------------------------------------------------------------------ */

int pm_start(void *arg, const char *name) {
  pm_fleet *m = arg;
  const pm_rules *rules = m->system->rules;
  SLP_CHECK(m->n < PM_WORKERS);
  pm_worker *k = calloc(1, sizeof *k);
  SLP_CHECK(k);
  k->own = calloc(1, rules->own_size + 1);
  SLP_CHECK(k->own);
  k->m = m;
  k->w = m->w;
  k->number = m->n;
  snprintf(k->name, sizeof k->name, "%s", name);
  k->alive = 1;
  k->skew_ms = (int64_t)slp_sim_random_below(m->w->sim, 2 * (uint64_t)m->system->skew_ms + 1) -
               (int64_t)m->system->skew_ms;
  m->workers[m->n++] = k;
  slp_sim_trace(m->w->sim, "%s (%s) starts", name, m->system->name);
  rules->start(k);
  return k->number;
}

void pm_gone(pm_worker *k) {
  slp_sim_trace(k->w->sim, "%s is gone", k->name);
  k->alive = 0;
  drop_holds(k);
}

void pm_kill(void *arg, int worker) { pm_gone(((pm_fleet *)arg)->workers[worker]); }

void pm_stop(void *arg, int worker) {
  pm_fleet *m = arg;
  pm_worker *k = m->workers[worker];
  if (k->stopping) return;
  slp_sim_trace(m->w->sim, "%s is to stop", k->name);
  k->stopping = 1;
  m->system->rules->stop(k);
}

void pm_freeze(void *arg, int worker, uint64_t us) {
  pm_fleet *m = arg;
  pm_worker *k = m->workers[worker];
  slp_sim_trace(m->w->sim, "%s is frozen for %.1f s", k->name, (double)us / 1e6);
  k->frozen_until_us = fw_now(m->w) + us;
}

int pm_alive(const void *arg, int worker) {
  const pm_fleet *m = arg;
  return worker < m->n && m->workers[worker]->alive;
}

int pm_runs(const void *arg, const char *name) {
  const pm_fleet *m = arg;
  for (int i = 0; i < m->n; i++) {
    const pm_worker *k = m->workers[i];
    if (k->alive && k->frozen_until_us <= fw_now(m->w) && strcmp(k->name, name) == 0) return 1;
  }
  return 0;
}

const void *pm_own(const void *arg, int worker) { return ((const pm_fleet *)arg)->workers[worker]->own; }
uint64_t pm_cycles(const void *arg) { return ((const pm_fleet *)arg)->cycles; }

/* ---- time ------------------------------------------------------------------------------------------- */

static void run_later(void *arg) {
  later *l = arg;
  pm_worker *k = l->k;
  if (k->w->over || !k->alive) return;
  if (k->frozen_until_us > fw_now(k->w)) { /* what was due meanwhile comes in any order */
    slp_sim_at(k->w->sim, k->frozen_until_us + slp_sim_random_below(k->w->sim, 20000), run_later, l);
    return;
  }
  l->fn(k, l->serial);
}

void pm_in(pm_worker *k, uint64_t us, void (*fn)(pm_worker *k, uint64_t serial), uint64_t serial) {
  later *l = calloc(1, sizeof *l);
  SLP_CHECK(l);
  *l = (later){k->m->laters, k, fn, serial};
  k->m->laters = l;
  slp_sim_at(k->w->sim, fw_now(k->w) + us, run_later, l);
}

int64_t pm_wall_us(const pm_worker *k) {
  return slp_sim_unix_ms(k->w->sim) * 1000 + (int64_t)(fw_now(k->w) % 1000) + k->skew_ms * 1000;
}

uint64_t pm_random(pm_worker *k, uint64_t low, uint64_t high) {
  return slp_sim_random_between(k->w->sim, low, high);
}

void pm_shuffle(pm_worker *k, int *items, int n) {
  for (int i = n - 1; i > 0; i--) {
    int at = (int)pm_random(k, 0, (uint64_t)i), was = items[i];
    items[i] = items[at];
    items[at] = was;
  }
}

/* ---- leases and records ----------------------------------------------------------------------------- */

pm_hold *pm_take_up(pm_worker *k, int shard, uint64_t done) {
  pm_hold *h = calloc(1, sizeof *h);
  SLP_CHECK(h && !pm_held(k, shard));
  h->own = calloc(1, k->m->system->rules->hold_size + 1);
  SLP_CHECK(h->own);
  h->shard = shard;
  h->serial = ++k->m->serials;
  h->done = h->saved = done;
  h->next = done + 1;
  k->holds[k->holds_n++] = h;
  slp_sim_trace(k->w->sim, "%s takes up %s at %llu", k->name, k->w->shards[shard].id,
                (unsigned long long)h->next);
  return h;
}

void pm_let_go(pm_worker *k, pm_hold *h) {
  for (int i = 0; i < k->holds_n; i++) {
    if (k->holds[i] != h) continue;
    k->holds[i] = k->holds[--k->holds_n];
    k->m->cycles++;
    free(h->own);
    free(h);
    return;
  }
}

pm_hold *pm_held(pm_worker *k, int shard) {
  for (int i = 0; i < k->holds_n; i++)
    if (k->holds[i]->shard == shard) return k->holds[i];
  return NULL;
}

pm_hold *pm_hold_by(pm_worker *k, uint64_t serial) {
  for (int i = 0; i < k->holds_n; i++)
    if (k->holds[i]->serial == serial) return k->holds[i];
  return NULL;
}

int pm_read(pm_worker *k, pm_hold *h, uint64_t most, void (*then)(pm_worker *k, uint64_t serial)) {
  fw_shard *s = &k->w->shards[h->shard];
  uint64_t to = slp_min_u64(s->records, h->next + most - 1);
  if (h->busy || to < h->next) return 0;
  if (h->next <= s->handed) s->repeats += slp_min_u64(s->handed, to) - h->next + 1;
  if (h->next > s->acked + 1 && h->next > s->handed + 1)
    fw_wrong(k->w, "S2 order: %s skips records of %s", k->name, s->id);
  if (to > s->handed) s->handed = to;
  h->next = to + 1;
  h->busy = 1;
  pm_in(k, pm_random(k, k->w->user_us_min, k->w->user_us_max), then, h->serial);
  return 1;
}

pm_hold *pm_done(pm_worker *k, uint64_t serial) {
  pm_hold *h = pm_hold_by(k, serial);
  if (!h) return NULL;
  fw_shard *s = &k->w->shards[h->shard];
  h->busy = 0;
  h->done = h->next - 1;
  if (h->done > s->acked) s->acked = h->done;
  return h;
}

int pm_at_end(const pm_worker *k, const pm_hold *h) {
  const fw_shard *s = &k->w->shards[h->shard];
  return s->closed && !h->busy && h->done >= s->records;
}
