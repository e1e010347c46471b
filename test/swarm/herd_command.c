/* herd_command.c - an operator who gives commands about leases, each from a process of its own that reads
 * nothing: the rows are looked at, leases and workers released, positions set. What a command says is told the
 * judge. One command at a time. */
#include "swarm/herd.h"

#include "api/open.h"
#include "cli/lease_result.h"
#include "swarm/inside.h"
#include "swarm/typed.h"
#include "core/consumer_inside.h"

#include <stdio.h>

typedef enum { LOOK, RELEASE_SHARD, RELEASE_WORKER, RESET_SHARD, RESET_ALL, COMMANDS } command;

struct hd_commander {
  hd_world *hw;
  slp_mem *mem;
  slp_host *host;
  sloop_t *s;
  uint64_t began_us;
  size_t host_number;
};

static const char *no_environment(void *ctx, const char *name) {
  (void)ctx, (void)name;
  return NULL;
}

static void creds(sloop_t *s, sloop_creds_req_t *rq, void *arg) {
  sloop_creds_t keys = {
      .size = sizeof keys, .access_key = "AKIDOPERATOR", .secret_key = "secret", .expires_at_ms = -1};
  (void)s, (void)arg;
  sloop_creds_done(rq, 0, &keys, NULL);
}

static void on_batch(sloop_t *s, sloop_batch_t *b, void *arg) {
  (void)s, (void)arg;
  sloop_batch_done(b, 0);
}

/* ---- its end ------------------------------------------------------------------------------------------- */

static void run_end(void *arg) {
  hd_commander *op = arg;
  hd_world *hw = op->hw;
  if (op->mem->live_bytes)
    hd_break(hw->o, HD_P10_MEMORY, "", "a command has ended, and %zu bytes are not back",
             op->mem->live_bytes);
  slp_mem_drop(op->mem);
  slp_free(hw->mem, op);
}

static void on_closed(sloop_t *s, int status, void *arg) {
  hd_commander *op = arg;
  (void)s, (void)status;
  op->hw->commander = NULL;
  slp_host_close(op->host, NULL, NULL);
  slp_sim_at(op->hw->w->sim, hd_now(op->hw) + 3 * HD_S, run_end, op);
}

static void is_over(hd_commander *op) { sloop_close(op->s, on_closed, op); }

void hd_command_stop(hd_world *hw) {
  if (hw->commander && !hw->commander->s->closing) is_over(hw->commander);
}

/* ---- what it is told ----------------------------------------------------------------------------------- */

static void on_leases(sloop_admin_t *s, int status, const sloop_leases_t *t, const sloop_error_t *e,
                      void *arg) {
  hd_commander *op = arg;
  (void)s;
  slp_sim_trace(op->hw->w->sim, "the operator is told %d: %zu leases %s", status, t ? t->leases_n : 0,
                e ? e->message : "");
  if (t) hd_told_leases(op->hw->o, t);
  if (status != SLP_ECANCELED) is_over(op);
}

static void on_changed(sloop_admin_t *s, int status, const sloop_admin_result_t *r, const sloop_error_t *e,
                       void *arg) {
  hd_commander *op = arg;
  slp_buf words;
  (void)s;
  slp_buf_init(&words, op->hw->mem, 1 << 20);
  if (r) (void)slp_lease_result(&words, status, r);
  slp_sim_trace(op->hw->w->sim, "the operator is told %d %s: %s", status, e ? e->message : "",
                slp_buf_z(&words));
  slp_buf_free(&words);
  if (status == SLP_ECANCELED) return;
  hd_told_changes(op->hw->o, status, r, e ? e->message : "");
  is_over(op);
}

/* ---- its beginning ------------------------------------------------------------------------------------- */

static sloop_position_t somewhere(const hd_world *hw, uint64_t *r) {
  static const sloop_position_kind_t kinds[] = {SLOOP_OLDEST, SLOOP_LATEST, SLOOP_AT_TIME};
  sloop_position_t to = {.kind = kinds[hd_between(r, 0, 2)]};
  /* The judge can't tell what a reader of other layouts makes of "latest"; they hold no times. */
  if (hw->plan->schema != HD_SLOOP) to.kind = SLOOP_OLDEST;
  if (to.kind == SLOOP_AT_TIME) to.at_ms = slp_world_ms(hw->w) - (int64_t)hd_between(r, 0, 30000);
  return to;
}

static int give(hd_commander *op, uint64_t *r) {
  const hd_world *hw = op->hw;
  const char *shard = hw->shards[hd_between(r, 0, hw->shards_n - 1)].id;
  const char *worker = hw->ids[hd_between(r, 0, hw->plan->workers - 1)];
  sloop_position_t to = somewhere(hw, r);
  int force = hd_heads(r);
  command what = (command)hd_between(r, 0, COMMANDS - 1);
  slp_sim_trace(hw->w->sim, "the operator: command %d %s %s to %d force %d", (int)what, shard, worker,
                (int)to.kind, force);
  switch (what) {
    case LOOK: return sloop_admin_leases(sloop_admin_of(op->s), on_leases, op);
    case RELEASE_SHARD: return sloop_admin_release(sloop_admin_of(op->s), shard, on_changed, op);
    case RELEASE_WORKER: return sloop_admin_release(sloop_admin_of(op->s), worker, on_changed, op);
    case RESET_SHARD: return sloop_admin_reset(sloop_admin_of(op->s), shard, &to, force, on_changed, op);
    default: return sloop_admin_reset(sloop_admin_of(op->s), NULL, &to, force, on_changed, op);
  }
}

sloop_t *hd_operator_open(hd_world *hw, slp_mem *mem, slp_host **ret_host, void *arg) {
  char why[160];
  sloop_t *s;
  slp_sim_clock clock = {0};
  *ret_host = slp_sim_host_new(hw->w->sim, mem, &clock);
  sloop_opts_t o = hw->plan->o;
  o.stream = hd_stream_name(hw);
  o.region = "us-east-1";
  o.endpoint = SLP_ENDPOINT;
  o.app = "billing";
  o.worker = "operator";
  o.schema = hd_names_of[hw->plan->schema].schema;
  o.start.at_ms = o.start.kind == SLOOP_AT_TIME ? hw->start_ms : 0;
  o.retrieval = SLOOP_RETRIEVAL_POLL;
  o.stats_ms = 0;
  o.on_retry = SLOOP_RETRY_REDELIVER;
  o.arg = arg;
  o.on_batch = on_batch;
  o.creds = creds;
  slp_outside outside = {.getenv_fn = no_environment};
  if (hw->typed) outside = slp_typed_outside(hw->typed, *ret_host);
  outside.leases_a_key = hw->plan->leases_a_key;
  SLP_CHECK(slp_open_on(*ret_host, mem, &outside, &s, &o, why) == 0);
  if (!hw->plan->times) s->consumer->source->finds_seconds = 0;
  return s;
}

void hd_command_give(hd_world *hw, uint64_t *r) {
  if (hw->commander) return;
  hd_commander *op = SLP_NEW(hw->mem, hd_commander);
  SLP_CHECK(op);
  op->hw = hw;
  op->mem = slp_mem_new(NULL, NULL);
  op->s = hd_operator_open(hw, op->mem, &op->host, op);
  op->host_number = slp_sim_host_number(op->host);
  op->began_us = hd_now(hw);
  hw->commander = op;
  hd_command(hw->o);
  if (give(op, r)) is_over(op);
}

int hd_command_sent(const hd_world *hw, const slp_sim_ask *ask) {
  const hd_commander *op = hw->commander;
  return op && ask->from_number == op->host_number && ask->sent_us >= op->began_us;
}
