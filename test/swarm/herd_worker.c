/* herd_worker.c - a program that uses the library in a herd: a process of its own host and memory, whose
 * callbacks the oracle hears first, and which treats its batches as the plan says. */
#include "api/open.h"
#include "cli/lease_explain.h"
#include "cli/lease_result.h"
#include "swarm/herd.h"
#include "swarm/typed.h"

#include <inttypes.h>
#include <stdio.h>

#include "swarm/inside.h"
#include "core/consumer_inside.h"

#define CALL(l, ...)                   \
  do {                                 \
    hd_enter((l)->hw->o, (l)->number); \
    __VA_ARGS__;                       \
    hd_leave((l)->hw->o, (l)->number); \
  } while (0)

static slp_sim *sim_of(const hd_life *l) { return l->hw->w->sim; }

/* ---- batches ------------------------------------------------------------------------------------------ */
typedef struct later_done {
  hd_life *life;
  uint64_t serial;
} later_done;

/* Its batch is NULL: it was given back meanwhile. */
static hd_held take_held(hd_life *l, uint64_t serial) {
  hd_held none = {NULL, 0, 0};
  for (size_t i = 0; i < l->held_n; i++) {
    if (l->held[i].serial != serial) continue;
    hd_held h = l->held[i];
    l->held[i] = l->held[--l->held_n];
    return h;
  }
  return none;
}

/* Chance of the user's own faults, from the life's own stream. */
static int manner(hd_life *l, hd_fault f) {
  const hd_world *hw = l->hw;
  if (hw->healed || !hd_chance(&l->random, hw->plan->rate[f])) return 0;
  l->hw->faults[f]++;
  return 1;
}

static void ack_one(hd_life *l, sloop_batch_t *b, size_t i) {
  hd_acked(l->hw->o, l->number, b, i);
  CALL(l, sloop_batch_ack(b, i));
}

/* early: every so many-th record was acknowledged before. */
static void finish_with(hd_life *l, sloop_batch_t *b, size_t early) {
  hd_world *hw = l->hw;
  size_t n = sloop_batch_count(b), acked = n;
  memset(hw->flags, 0, n);
  for (size_t i = 0; early && i < n; i += early) hw->flags[i] = 1;
  if (manner(l, HF_give_back)) acked = (size_t)hd_between(&l->random, 0, n);
  if (manner(l, HF_singly)) { /* in any order */
    size_t step = (size_t)hd_between(&l->random, 1, n), at = 0;
    for (size_t i = 0; i < n; i++, at = (at + step) % n) {
      if (acked < n && hd_heads(&l->random)) continue;
      hw->flags[at] = 1;
      ack_one(l, b, at);
    }
    if (acked == n)
      for (size_t i = 0; i < n; i++) ack_one(l, b, i); /* some a second time: as often as one likes */
    acked = acked == n ? n : 0;
  }
  memset(hw->flags, 1, acked);
  hd_done(hw->o, l->number, b, hw->flags, n);
  CALL(l, sloop_batch_done(b, acked));
}

static void run_done(void *arg) {
  later_done *d = arg;
  hd_life *l = d->life;
  slp_mem *mem = l->hw->mem;
  if (!l->dead && sim_of(l)->now_us < slp_sim_frozen_until(l->host)) { /* nothing of it runs */
    slp_sim_at(sim_of(l), slp_sim_frozen_until(l->host) + 1, run_done, d);
    return;
  }
  hd_held h = take_held(l, d->serial);
  if (h.batch) finish_with(l, h.batch, h.early);
  slp_free(mem, d);
}

static void keep_for_a_while(hd_life *l, sloop_batch_t *b) {
  hd_world *hw = l->hw;
  later_done *d = SLP_NEW(hw->mem, later_done);
  SLP_CHECK(d && l->held_n < HD_BUFFERED_MAX);
  *d = (later_done){l, ++hw->serials};
  hd_held *h = &l->held[l->held_n++];
  *h = (hd_held){b, d->serial, 0};
  if (manner(l, HF_singly)) h->early = (size_t)hd_between(&l->random, 1, 4);
  for (size_t i = 0; h->early && i < sloop_batch_count(b); i += h->early) ack_one(l, b, i);
  slp_sim_at(sim_of(l), hd_now(hw) + hd_between(&l->random, 1, hw->plan->hold_us_max), run_done, d);
}

static void see(hd_life *l, const sloop_record_t *r, hd_seen *to) {
  /* seq is not NUL-ended; nobody keeps it */
  static const size_t room = 130;
  char *seq = slp_alloc(l->hw->mem, room);
  SLP_CHECK(seq);
  snprintf(seq, room, "%.*s", (int)r->seq.len, r->seq.base);
  *to = (hd_seen){
      .shard = r->shard,
      .seq = seq,
      .sub = (uint32_t)r->sub,
      .attempt = r->attempt,
      .flags = r->flags,
      .epoch = r->epoch,
      .content = hd_content(l->hw, (slp_str){r->key.base, r->key.len}, (slp_str){r->data.base, r->data.len}),
      .bytes = r->data.len};
}

static void on_batch(sloop_t *s, sloop_batch_t *b, void *arg) {
  hd_life *l = arg;
  hd_world *hw = l->hw;
  size_t n = sloop_batch_count(b);
  (void)s;
  if (n > hw->plan->o.batch_records_max) {
    hd_break(hw->o, HD_P5_BUDGET, sloop_batch_at(b, 0)->shard, "a batch of %zu records", n);
    n = hw->plan->o.batch_records_max;
  }
  for (size_t i = 0; i < n; i++) {
    see(l, sloop_batch_at(b, i), &hw->seen[i]);
    const hd_seen *r = &hw->seen[i];
    slp_sim_trace(sim_of(l), "w%d#%zu record %s %s.%u at %" PRId64 " epoch %" PRIu64 " flags %u", l->slot,
                  l->number, r->shard, r->seq, r->sub, sloop_batch_at(b, i)->arrived_at_ms, r->epoch,
                  r->flags);
    slp_sim_fold_number(sim_of(l), r->content);
  }
  slp_sim_trace(sim_of(l), "w%d#%zu batch of %zu from %s %s epoch %" PRIu64, l->slot, l->number, n,
                hw->seen[0].shard, hw->seen[0].seq, hw->seen[0].epoch);
  for (size_t i = 0, at; i < n; i++) {
    if (i && hw->seen[i].shard == hw->seen[i - 1].shard) continue;
    if ((at = hd_shard_of(hw, hw->seen[i].shard)) != SIZE_MAX) hw->shards[at].read_us = hd_now(hw);
  }
  l->handed += n;
  l->handed_us = hd_now(hw);
  hd_on_batch(hw->o, l->number, b, hw->seen, n);
  for (size_t i = 0; i < n; i++) slp_free(hw->mem, (char *)(uintptr_t)hw->seen[i].seq);
  if (l->block_us) {
    uint64_t us = l->block_us;
    l->block_us = 0;
    hd_stands(l->hw->o, l->number, us);
    l->depth++;
    slp_sim_block(l->host, us);
    l->depth--;
  }
  if (hw->plan->hold_us_max && !hw->healed && l->held_n < HD_BUFFERED_MAX)
    keep_for_a_while(l, b);
  else
    finish_with(l, b, 0);
}

/* The batches that a process leaves behind; after its end it only frees. */
static void let_all_go(hd_life *l) {
  while (l->held_n) {
    const hd_held *h = &l->held[--l->held_n];
    sloop_batch_t *b = h->batch;
    size_t n = sloop_batch_count(b);
    memset(l->hw->flags, 0, n);
    for (size_t i = 0; h->early && i < n; i += h->early) l->hw->flags[i] = 1;
    hd_done(l->hw->o, l->number, b, l->hw->flags, n);
    CALL(l, sloop_batch_done(b, 0));
  }
}

/* ---- the other callbacks ------------------------------------------------------------------------------- */
static void on_shard(sloop_t *s, const sloop_shard_event_t *e, void *arg) {
  hd_life *l = arg;
  (void)s;
  slp_sim_trace(sim_of(l), "w%d#%zu shard %s %d", l->slot, l->number, e->shard, (int)e->kind);
  hd_on_shard(l->hw->o, l->number, e->shard, e->kind);
}
static void on_tip(sloop_t *s, void *arg) {
  hd_life *l = arg;
  (void)s;
  hd_on_tip(l->hw->o, l->number);
}
static void on_loss(sloop_t *s, const sloop_loss_t *loss, void *arg) {
  hd_life *l = arg;
  (void)s;
  slp_sim_trace(sim_of(l), "w%d#%zu loss %s: %s", l->slot, l->number, loss->shard, loss->message);
  hd_on_loss(l->hw->o, l->number, loss);
}

static void run_again(void *arg) {
  hd_life *l = arg;
  if (!l->dead) hd_kill(l, 1);
}

static void on_error(sloop_t *s, const sloop_error_t *e, void *arg) {
  hd_life *l = arg;
  (void)s;
  snprintf(l->last_error, sizeof l->last_error, "%s %s", sloop_err_name(e->code), e->message);
  slp_sim_trace(sim_of(l), "w%d#%zu error %s%s: %s", l->slot, l->number, e->fatal ? "fatal " : "",
                sloop_err_name(e->code), e->message);
  hd_on_error(l->hw->o, l->number, e);
  if (!e->fatal) return;
  l->failed = 1; /* whoever looks after it starts it again */
  slp_sim_at(sim_of(l), hd_now(l->hw) + hd_between(&l->random, HD_S, 5 * HD_S), run_again, l);
}
static void on_dead_letter(sloop_t *s, const sloop_record_t *r, void *arg) {
  hd_life *l = arg;
  hd_seen seen;
  (void)s;
  see(l, r, &seen);
  slp_sim_trace(sim_of(l), "w%d#%zu dead letter %s %s", l->slot, l->number, seen.shard, seen.seq);
  hd_on_dead_letter(l->hw->o, l->number, &seen);
  slp_free(l->hw->mem, (char *)(uintptr_t)seen.seq);
}
static void on_stats(sloop_t *s, const sloop_stats_t *st, void *arg) {
  hd_life *l = arg;
  (void)s;
  hd_on_any(l->hw->o, l->number, "on_stats");
  hd_stats(l->hw->o, l->number, st);
}
static void on_log(sloop_t *s, sloop_log_level_t level, const char *line, void *arg) {
  hd_life *l = arg;
  (void)s;
  hd_on_any(l->hw->o, l->number, "on_log");
  slp_sim_trace(sim_of(l), "w%d#%zu log %d %s", l->slot, l->number, (int)level, line);
}
static void on_lease(sloop_t *s, const sloop_lease_event_t *e, void *arg) {
  hd_life *l = arg;
  (void)s;
  slp_sim_trace(sim_of(l), "w%d#%zu lease %s %s epoch %" PRIu64 ": %s", l->slot, l->number,
                sloop_lease_event_name(e->kind), e->shard, e->epoch, e->text);
  if (e->kind == SLOOP_LEASE_TAKEN || e->kind == SLOOP_LEASE_LOST || e->kind == SLOOP_LEASE_RELEASED)
    l->moved++;
  size_t at = e->kind == SLOOP_LEASE_RELEASED && strncmp(e->text, "parked", 6) == 0
                  ? hd_shard_of(l->hw, e->shard)
                  : SIZE_MAX;
  if (at != SIZE_MAX) l->hw->shards[at].kept = 1;
  const char *dot = e->kind == SLOOP_LEASE_JOINED ? strrchr(e->worker, '.') : NULL;
  if (dot) snprintf(l->boot, sizeof l->boot, "%s", dot + 1);
  if (e->kind == SLOOP_LEASE_EVICTED && hd_runs_by_its_row(l->hw, l->boot))
    hd_break(l->hw->o, HD_S12_CONTRACT, "", "w%d#%zu: told that it was evicted, and it was not", l->slot,
             l->number);
  hd_on_lease(l->hw->o, l->number, e);
}

/* ---- keys ---------------------------------------------------------------------------------------------- */
#define KEY "AKIDSIM"

void hd_revoke_keys(hd_life *l, uint64_t no_others_us) {
  l->key_revoked = l->key;
  l->no_keys_us = hd_now(l->hw) + no_others_us;
  slp_sim_trace(sim_of(l), "w%d#%zu keys up to %u are refused", l->slot, l->number, l->key_revoked);
}

uint32_t hd_key_of(const slp_sim_ask *ask) {
  slp_str auth = slp_sim_ask_header(ask, "authorization");
  const char *p = auth.n ? memmem(auth.p, auth.n, KEY, strlen(KEY)) : NULL;
  uint32_t n = 0;
  for (p = p ? p + strlen(KEY) : NULL; p && p < auth.p + auth.n && *p >= '0' && *p <= '9'; p++)
    n = n * 10 + (uint32_t)(*p - '0');
  return n;
}

/* New ones, or none, or for a while those that were refused. */
static void answer_creds(hd_life *l, sloop_creds_req_t *rq) {
  char name[24] = KEY;
  sloop_creds_t keys = {.size = sizeof keys, .access_key = name, .secret_key = "secret", .expires_at_ms = -1};
  const hd_plan *p = l->hw->plan;
  uint64_t now = hd_now(l->hw);
  int none = now < l->no_keys_us && !l->hw->healed;
  if (none && hd_heads(&l->random)) {
    CALL(l, sloop_creds_done(rq, SLOOP_EREMOTE, NULL, "the vault is shut"));
    return;
  }
  if (p->rate[HF_keys] && !none) {
    l->key++;
    l->key_dies_us = p->keys_ms ? now + (uint64_t)p->keys_ms * 1000 : 0;
  }
  if (l->key_dies_us)
    keys.expires_at_ms = slp_world_ms(l->hw->w) + ((int64_t)l->key_dies_us - (int64_t)now) / 1000;
  if (p->rate[HF_keys]) snprintf(name, sizeof name, KEY "%u", l->key);
  CALL(l, sloop_creds_done(rq, 0, &keys, NULL));
}

typedef struct later_creds {
  hd_life *life;
  sloop_creds_req_t *request;
} later_creds;
static void run_creds(void *arg) {
  later_creds *c = arg;
  slp_mem *mem = c->life->hw->mem;
  answer_creds(c->life, c->request); /* also after the close: exactly once */
  slp_free(mem, c);
}
static void creds(sloop_t *s, sloop_creds_req_t *rq, void *arg) {
  hd_life *l = arg;
  (void)s;
  hd_on_any(l->hw->o, l->number, "creds");
  if (!l->hw->plan->creds_later) {
    answer_creds(l, rq);
    return;
  }
  later_creds *c = SLP_NEW(l->hw->mem, later_creds);
  SLP_CHECK(c);
  *c = (later_creds){l, rq};
  slp_sim_at(sim_of(l), hd_now(l->hw) + 50000, run_creds, c);
}

/* ---- what a program asks for --------------------------------------------------------------------------- */
static void on_saved(sloop_t *s, int status, void *arg) {
  hd_life *l = arg;
  (void)s;
  hd_on_answer(l->hw->o, l->number, "checkpoint", status);
}
static void on_listed(sloop_t *s, int status, const sloop_shard_t *const *shards, size_t n,
                      const sloop_error_t *e, void *arg) {
  hd_life *l = arg;
  (void)s, (void)shards, (void)n, (void)e;
  hd_on_answer(l->hw->o, l->number, "list", status);
}
static void on_leases(sloop_admin_t *s, int status, const sloop_leases_t *t, const sloop_error_t *e,
                      void *arg) {
  hd_life *l = arg;
  (void)s, (void)t, (void)e;
  hd_on_answer(l->hw->o, l->number, "leases", status);
}
/* The story has it in the words of stream-tail. */
static void is_told(hd_life *l, int status, slp_buf *words) {
  slp_sim_trace(sim_of(l), "w%d#%zu is told %d: %s", l->slot, l->number, status, slp_buf_z(words));
  slp_buf_free(words);
  hd_on_answer(l->hw->o, l->number, "admin", status);
}
static void on_released(sloop_admin_t *s, int status, const sloop_admin_result_t *r, const sloop_error_t *e,
                        void *arg) {
  hd_life *l = arg;
  slp_buf words;
  (void)s, (void)e;
  slp_buf_init(&words, l->hw->mem, 1 << 20);
  if (r) (void)slp_lease_result(&words, status, r);
  is_told(l, status, &words);
}
static void on_explained(sloop_admin_t *s, int status, const sloop_explanation_t *x, const sloop_error_t *e,
                         void *arg) {
  hd_life *l = arg;
  slp_buf words;
  (void)s, (void)e;
  slp_buf_init(&words, l->hw->mem, 1 << 20);
  if (x) (void)slp_lease_explain(&words, x);
  is_told(l, status, &words);
}

sloop_stats_t hd_stats_of(hd_life *l) {
  sloop_stats_t st;
  memset(&st, 0, sizeof st);
  CALL(l, sloop_stats_get(l->s, &st, sizeof st));
  hd_stats(l->hw->o, l->number, &st);
  return st;
}

void hd_save_all(hd_life *l) { CALL(l, (void)sloop_checkpoint(l->s, NULL, on_saved, l)); }

void hd_release_parked(hd_life *l) {
  for (size_t i = 0; i < l->hw->shards_n; i++) {
    if (!l->hw->shards[i].parked) continue;
    CALL(l, (void)sloop_admin_release(sloop_admin_of(l->s), l->hw->shards[i].id, on_released,
                                      l)); /* one at a time */
    return;
  }
}

int hd_keeps_parked(const hd_life *l) {
  const char *me = sloop_worker(l->s);
  for (size_t i = 0; me && i < l->hw->shards_n; i++)
    if (l->hw->shards[i].kept && strcmp(l->hw->shards[i].owner, me) == 0) return 1;
  return 0;
}

void hd_ask_something(hd_life *l, uint64_t *r) {
  hd_world *hw = l->hw;
  const char *shard = hw->shards[hd_between(r, 0, hw->shards_n - 1)].id;
  char token[4000];
  size_t n = sizeof token;
  switch (hd_between(r, 0, 6)) {
    case 0: hd_save_all(l); break;
    case 1: CALL(l, (void)sloop_checkpoint(l->s, shard, on_saved, l)); break;
    case 2: CALL(l, (void)sloop_list(l->s, on_listed, l)); break;
    case 3: CALL(l, (void)sloop_admin_leases(sloop_admin_of(l->s), on_leases, l)); break;
    case 4: CALL(l, (void)sloop_admin_explain(sloop_admin_of(l->s), shard, on_explained, l)); break;
    case 5: CALL(l, (void)sloop_token(l->s, token, &n)); break;
    default: (void)hd_stats_of(l);
  }
}

void hd_toggle_pause(hd_life *l, uint64_t *r) {
  hd_world *hw = l->hw;
  const char *shard = hd_heads(r) ? NULL : hw->shards[hd_between(r, 0, hw->shards_n - 1)].id;
  int rc;
  CALL(l, rc = sloop_pause(l->s, shard));
  if (rc) return;
  l->paused = 1;
  hd_paused(hw->o, l->number, shard, 1);
}

void hd_resume_all(hd_life *l) {
  int rc;
  if (!l->paused) return;
  CALL(l, rc = sloop_resume(l->s, NULL));
  if (rc) return;
  l->paused = 0;
  hd_paused(l->hw->o, l->number, NULL, 0);
}

/* ---- life and death ------------------------------------------------------------------------------------ */
static const char *no_environment(void *ctx, const char *name) {
  (void)ctx, (void)name;
  return NULL;
}

static void run_birth(void *arg) {
  hd_life *old = arg;
  hd_world *hw = old->hw;
  if (!hw->at[old->slot] && !hw->ending) hd_live(hw, old->slot, hd_one_in(&old->random, 4));
}

/* The end of a process: its memory is looked at, and its place is free. */
static void run_end(void *arg) {
  hd_life *l = arg;
  hd_world *hw = l->hw;
  if (l->joined) hw->twin->at[l->slot] = NULL;
  hd_memory_back(hw->o, l->number, l->mem->live_bytes);
  slp_mem_drop(l->mem);
  l->mem = NULL;
  hw->at[l->slot] = NULL;
  if (l->again_us != UINT64_MAX) slp_sim_at(hw->w->sim, hd_now(hw) + l->again_us, run_birth, l);
}

/* It does nothing in circles: its turns are for something. */
static void judge_turns(hd_life *l) {
  slp_sim_host_stats st = slp_sim_stats(l->host);
  uint64_t seconds = (hd_now(l->hw) - l->born_us) / HD_S + 1, consumers = l->joined ? 2 : 1;
  uint64_t handed = l->handed + (l->joined ? l->joined->handed : 0);
  uint64_t most = (3000 + seconds * 100) * consumers + st.calls * 20 + handed * 4;
  if (st.turns > most)
    hd_break(l->hw->o, HD_S10_RATE, "",
             "w%d#%zu took %" PRIu64 " turns in %" PRIu64 " s with %" PRIu64 " calls and %" PRIu64 " records",
             l->slot, l->number, st.turns, seconds, st.calls, handed);
  if (st.in_flight_peak > (uint64_t)l->opts.in_flight_max + 200)
    hd_break(l->hw->o, HD_S11_BOUNDS, "", "w%d#%zu had %" PRIu64 " calls out", l->slot, l->number,
             st.in_flight_peak);
}

static void run_burial(void *arg) {
  hd_life *l = arg, *other = l->joined;
  if (l->depth || (other && (other->depth || !other->closed))) { /* its callback is not over yet */
    slp_sim_at(sim_of(l), hd_now(l->hw) + 1000, run_burial, l);
    return;
  }
  let_all_go(l);
  if (other) {
    let_all_go(other);
    other->host = NULL;
  }
  judge_turns(l);
  slp_host_close(l->host, NULL, NULL);
  l->host = NULL;
  slp_sim_at(sim_of(l), hd_now(l->hw) + 3 * HD_S, run_end, l); /* what it waited for comes meanwhile */
}

static void on_closed(sloop_t *s, int status, void *arg) {
  hd_life *l = arg;
  (void)s, (void)status;
  hd_on_closed(l->hw->o, l->number);
  hd_died(l->hw->o, l->number);
  l->closed = 1;
  l->s = NULL;
  if (!l->first) slp_sim_at(sim_of(l), hd_now(l->hw), run_burial, l);
}

static void close_one(hd_life *l) {
  l->dead = l->closing = 1;
  hd_closing(l->hw->o, l->number);
  CALL(l, sloop_close(l->s, on_closed, l));
}

void hd_kill(hd_life *l, uint64_t again_us) {
  if (l->first) l = l->first; /* a process ends as a whole */
  if (l->closing) return;
  slp_sim_trace(sim_of(l), "w%d#%zu is killed", l->slot, l->number);
  l->again_us = again_us;
  slp_sim_thaw(l->host);
  if (!l->joined) {
    close_one(l);
    return;
  }
  l->dead = l->joined->dead = 1;
  close_one(l->joined);
  close_one(l);
}

static void on_stopped(sloop_t *s, int status, void *arg) {
  hd_life *l = arg;
  (void)s;
  slp_sim_trace(sim_of(l), "w%d#%zu stopped: %d", l->slot, l->number, status);
  l->stopped = 1;
  hd_on_stopped(l->hw->o, l->number, status);
  const hd_life *other = l->first ? l->first : l->joined;
  if (!l->closing && (!other || other->stopped)) hd_kill(l, l->again_us);
}

static void stop_one(hd_life *l, uint64_t limit_ms, uint64_t again_us) {
  int rc;
  slp_sim_trace(sim_of(l), "w%d#%zu is to stop", l->slot, l->number);
  l->again_us = again_us;
  hd_stopping(l->hw->o, l->number);
  l->stopping = 1;
  hd_look_who_left(l->hw);
  CALL(l, rc = sloop_stop(l->s, limit_ms, on_stopped, l));
  if (rc) hd_break(l->hw->o, HD_S12_CONTRACT, "", "sloop_stop says %d", rc);
  l->stopping = 1;
}

void hd_stop(hd_life *l, uint64_t limit_ms, uint64_t again_us) {
  stop_one(l, limit_ms, again_us);
  if (l->joined && !l->joined->stopping && !l->closing) stop_one(l->joined, limit_ms, again_us);
}

static void set_options(hd_life *l) {
  const hd_plan *p = l->hw->plan;
  sloop_opts_t *o = &l->opts;
  *o = p->o;
  o->stream = hd_stream_name(l->hw);
  o->region = "us-east-1";
  o->endpoint = SLP_ENDPOINT;
  o->app = "billing";
  o->worker = l->hw->ids[l->slot];
  o->schema = hd_names_of[p->schema].schema;
  o->start.at_ms = p->o.start.kind == SLOOP_AT_TIME ? l->hw->start_ms : 0;
  o->weight = p->weight[l->slot];
  o->arg = l;
  o->log_level = SLOOP_LOG_INFO;
  o->on_batch = on_batch;
  o->on_shard = on_shard;
  o->on_tip = on_tip;
  o->on_loss = on_loss;
  o->on_error = on_error;
  o->on_stats = on_stats;
  o->on_log = on_log;
  o->on_lease = on_lease;
  o->on_dead_letter = on_dead_letter;
  o->creds = creds;
}

static hd_life *life_new(hd_world *hw, int slot) {
  hd_life *l = SLP_NEW(hw->mem, hd_life);
  SLP_CHECK(l && !hw->at[slot]);
  if (hw->lives_n == hw->lives_cap) {
    hw->lives = slp_doubled(hw->mem, hw->lives, &hw->lives_cap, 16, sizeof(hd_life *));
    SLP_CHECK(hw->lives);
  }
  hw->lives[hw->lives_n++] = l;
  hw->at[slot] = l;
  l->hw = hw;
  l->born_us = hd_now(hw);
  l->slot = slot;
  l->again_us = UINT64_MAX;
  return l;
}

static void open_one(hd_life *l) {
  hd_world *hw = l->hw;
  char why[160];
  int rc;
  l->number = hd_born(hw->o, hw->ids[l->slot]);
  hd_weighs(hw->o, l->number, hw->plan->weight[l->slot]);
  set_options(l);
  if (l->first) l->opts.join = l->first->s;
  slp_sim_trace(hw->w->sim, "w%d#%zu begins as %s", l->slot, l->number, hw->ids[l->slot]);
  slp_outside outside = {.getenv_fn = no_environment};
  if (hw->typed) outside = slp_typed_outside(hw->typed, l->host);
  outside.leases_a_key = hw->plan->leases_a_key;
  CALL(l, rc = slp_open_on(l->host, l->mem, &outside, &l->s, &l->opts, why));
  if (rc) {
    fprintf(stderr, "slp_open_on: %s\n", why);
    SLP_CHECK(!"a plan's options must be right");
  }
  if (!hw->plan->times) l->s->consumer->source->finds_seconds = 0;
}

static void start_one(hd_life *l) {
  int rc;
  CALL(l, rc = sloop_start(l->s));
  if (rc) hd_break(l->hw->o, HD_S12_CONTRACT, "", "sloop_start says %d", rc);
}

/* The consumer of the second stream in the process of l, which is opened and not started. */
static void live_joined(hd_life *l) {
  hd_world *twin = l->hw->twin;
  memcpy(twin->ids[l->slot], l->hw->ids[l->slot], sizeof twin->ids[0]);
  hd_life *other = l->joined = life_new(twin, l->slot);
  other->first = l;
  other->mem = l->mem;
  other->random = l->random ^ UINT64_C(0x510e527fade682d1);
  other->host = l->host;
  other->host_number = l->host_number;
  open_one(other);
  SLP_CHECK(other->number == l->number);
  hd_joins(twin->o, other->number, l->hw->o, l->number);
}

hd_life *hd_live(hd_world *hw, int slot, int new_id) {
  hd_life *l = life_new(hw, slot);
  uint32_t birth = hw->born[slot]++;
  if (new_id) snprintf(hw->ids[slot], sizeof hw->ids[slot], "w%d-%u", slot, birth);
  l->mem = slp_mem_new(NULL, NULL);
  l->random = hw->plan->seed * 31 + (uint64_t)slot * 1009 + birth;
  slp_sim_clock clock = hw->plan->clock[slot];
  if (hw->healed) clock.drift_ppm = 0;
  l->host = slp_sim_host_new(hw->w->sim, l->mem, &clock);
  l->host_number = slp_sim_host_number(l->host);
  open_one(l);
  if (hw->twin) live_joined(l);
  start_one(l);
  if (l->joined) start_one(l->joined);
  return l;
}
