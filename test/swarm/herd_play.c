/* herd_play.c - one seed: a first phase full of trouble, then everything is healed and must come to rest with
 * every record read and every lease at its place; then all stop, and nothing may be left. */
#include "swarm/herd.h"

#include <inttypes.h>
#include <stdio.h>

#include "swarm/inside.h"

#define STORY_LINES 300
#define ZOMBIE_US (60 * HD_S)
#define REMADE_US \
  (120 * HD_S) /* so long the leader has to make a row that was deleted (sloop(7)); children wait */
#define WATCHDOG_US \
  (120 * HD_S) /* while calls get lost: each is given up after 30 s, and one may be all there are */
#define OLD_CALLS_US (60 * HD_S) /* after healing: calls that nobody answered are given up, and made again */
#define BACKLOG_GAP_US_MAX 20000
#define STOP_MS 30000

static int broken(void *arg) {
  hd_ask_all(arg, 0);
  return hd_world_broken(arg, NULL) != HD_NO_RULE;
}

/* 0: a rule is broken. */
static int pass(hd_world *hw, uint64_t us) { return !slp_sim_run(hw->w->sim, hd_now(hw) + us, broken, hw); }

/* ---- what goes on all the time ------------------------------------------------------------------------- */
static void run_put(void *arg) {
  hd_world *hw = arg;
  if (hw->healed) return;
  hd_put_some(hw);
  slp_sim_at(hw->w->sim, hd_now(hw) + hd_between(&hw->puts_random, 1, 2 * (uint64_t)hw->plan->put_gap_us),
             run_put, hw);
}

static uint64_t read_last(const hd_world *hw) {
  uint64_t last = 0;
  for (size_t i = 0; hw && i < hw->shards_n; i++) last = slp_max_u64(last, hw->shards[i].read_us);
  return last;
}

/* In order of time what was read waits for shards that have older records to bring; of both streams, for
 * consumers that are joined hand out in one order. */
static int others_come_first(const hd_world *hw) {
  uint64_t last = slp_max_u64(read_last(hw), read_last(hw->main ? hw->main : hw->twin));
  return hw->plan->o.order == SLOOP_ORDER_TIME && hd_now(hw) - last < 30 * HD_S; /* an outage is shorter */
}

/* What was fetched of other shards fills the budget, and is given to a user who keeps every batch for a
 * while. */
static int user_is_slow(const hd_world *hw) {
  uint64_t last = 0;
  for (size_t i = 0; i < hw->lives_n; i++) last = slp_max_u64(last, hw->lives[i]->handed_us);
  return hw->plan->hold_us_max && !hw->healed && hd_now(hw) - last < 30 * HD_S;
}

static uint64_t zombie_us(const hd_world *hw) {
  const hd_world *main = hw->main ? hw->main : hw;
  return !hw->healed ? WATCHDOG_US : main->faults[HF_drop_row] ? REMADE_US : ZOMBIE_US;
}

/* Owned, and nobody asks for its records. Whoever reads a shard at its tip goes on asking. */
static void look_for_zombies(hd_world *hw, hd_rule rule) {
  uint64_t now = hd_now(hw);
  if (others_come_first(hw) || user_is_slow(hw)) return;
  for (size_t i = 0; i < hw->shards_n; i++) {
    const hd_place *s = &hw->shards[i];
    uint64_t since = hd_readable_us(hw->o, i);
    if (s->closed || !s->owned_us || s->parked || s->kept || since == UINT64_MAX) continue;
    uint64_t trouble_us = hw->main ? hw->main->trouble_us : hw->trouble_us;
    since = slp_max_u64(since, slp_max_u64(slp_max_u64(s->owned_us, s->read_us), trouble_us));
    if (hw->healed) since = slp_max_u64(since, hw->end_us);
    if (now - since > zombie_us(hw))
      hd_break(hw->o, rule, s->id, "owned, and not read for %" PRIu64 " s", (now - since) / HD_S);
  }
}

static void run_look(void *arg) {
  hd_world *hw = arg;
  if (hw->ending || broken(hw)) return;
  for (size_t i = 0; i < HD_WORKERS_MAX; i++)
    if (hd_runs(hw->at[i]) && !hw->at[i]->depth) {
      (void)hd_stats_of(hw->at[i]);
      hd_ask_ready(hw->at[i]);
    }
  if (hw->healed && hw->plan->o.checkpoint_ms == 0)
    for (size_t i = 0; i < HD_WORKERS_MAX; i++)
      if (hd_runs(hw->at[i])) hd_save_all(hw->at[i]);
  for (size_t i = 0; hw->healed && i < HD_WORKERS_MAX; i++)
    if (hd_runs(hw->at[i])) {
      hd_release_parked(hw->at[i]);
      break;
    }
  for (size_t i = 0; hw->healed && i < HD_WORKERS_MAX; i++)
    if (hd_runs(hw->at[i]) && hd_keeps_parked(hw->at[i])) hd_stop(hw->at[i], STOP_MS, HD_S);
  look_for_zombies(hw, hw->healed ? HD_L3_NO_ZOMBIE : HD_L4_WATCHDOG);
  slp_sim_at(hw->w->sim, hd_now(hw) + HD_S, run_look, hw);
}

typedef struct later_live {
  hd_world *hw;
  int slot;
} later_live;
static void run_live(void *arg) {
  later_live *l = arg;
  if (!l->hw->at[l->slot] && !l->hw->ending) (void)hd_live(l->hw, l->slot, 0);
  slp_free(l->hw->mem, l);
}

static void start_all(hd_world *hw) {
  uint64_t now = hd_now(hw), half = (uint64_t)hw->plan->phase_ms * 500, random = hw->plan->seed ^ 99;
  for (uint32_t i = 0; i < hw->plan->workers; i++) {
    later_live *l = SLP_NEW(hw->mem, later_live);
    SLP_CHECK(l);
    *l = (later_live){hw, (int)i};
    slp_sim_at(hw->w->sim, i == 0 ? now : now + hd_log_between(&random, 1, half), run_live, l);
  }
}

/* ---- the phases ---------------------------------------------------------------------------------------- */
static uint64_t fill(hd_world *hw) {
  const hd_plan *p = hw->plan;
  for (uint32_t i = 0; i < p->backlog; i++) {
    hd_put_some(hw);
    (void)pass(hw, slp_min_u64(p->put_gap_us / 2, BACKLOG_GAP_US_MAX));
  }
  return hd_now(hw);
}

static int trouble(hd_world *hw) {
  hw->end_us = hd_now(hw) + (uint64_t)hw->plan->phase_ms * 1000;
  if (hw->twin) hw->twin->end_us = hw->end_us;
  hd_nemesis_begin(hw);
  start_all(hw);
  if (hw->plan->put_gap_us) run_put(hw);
  run_look(hw);
  if (hw->twin && hw->plan->put_gap_us) run_put(hw->twin);
  if (hw->twin) run_look(hw->twin);
  return !slp_sim_run(hw->w->sim, hw->end_us, broken, hw);
}

static size_t running(hd_world *hw, size_t lives[HD_WORKERS_MAX]) {
  size_t n = 0;
  for (size_t i = 0; i < HD_WORKERS_MAX; i++)
    if (hd_runs(hw->at[i])) lives[n++] = hw->at[i]->number;
  return n;
}

static uint64_t moves(const hd_world *hw) {
  uint64_t sum = 0;
  for (size_t i = 0; i < hw->lives_n; i++) sum += hw->lives[i]->moved;
  return hw->twin ? sum + moves(hw->twin) : sum;
}

/* Some are read again: by who has them next, or from a place that was put back. */
static uint64_t handed_out(const hd_world *hw) {
  return hd_count(hw->o, "records") + (hw->twin ? handed_out(hw->twin) : 0);
}

/* What comes before a start that is still to come is read and passed over. */
static int passes_over(const hd_world *hw) {
  return hw->plan->o.start.kind == SLOOP_AT_TIME && hw->start_ms > slp_world_ms(hw->w);
}

/* What is told of the reading is that all is well. */
static int is_well(const hd_world *hw) {
  return !passes_over(hw) && !hw->plan->rate[HF_dead_push] && hd_now(hw) >= hw->healed_us + OLD_CALLS_US;
}

/* A shard at its tip is asked once in poll_ms, or a tenth earlier. */
#define POLLS_BESIDES 8 /* until it is known to be at its tip, and by who has it next */

static void begin_rest(hd_world *hw) {
  hw->w->rest_us = hd_now(hw);
  for (size_t i = 0; hw->stream && i < hw->stream->shards_n; i++) hw->stream->shards[i].rest_polls = 0;
}

static void judge_polls(hd_world *hw, uint64_t us) {
  uint64_t most = us / (hw->plan->o.poll_ms * UINT64_C(850)) + POLLS_BESIDES;
  for (size_t i = 0; hw->stream && i < hw->stream->shards_n; i++) {
    const slp_known_shard *s = &hw->stream->shards[i];
    if (s->rest_polls > most)
      hd_break(hw->o, HD_S10_RATE, s->id,
               "at rest it is asked %" PRIu64 " times in %" PRIu64 " ms, not every %u ms", s->rest_polls,
               us / 1000, hw->plan->o.poll_ms);
  }
}

/* A worker that gave a shard up does not get it back for ten minutes. */
static uint64_t avoided(const hd_world *hw) {
  for (size_t i = 0; i < hw->shards_n; i++)
    if (hw->shards[i].avoids) return 600 * HD_S;
  return hw->twin ? avoided(hw->twin) : 0;
}

/* Lists, audits, back-offs and time limits are a minute or half of one; a worker that others took for dead,
 * or that looks for one who is, waits for leases. For so long nothing may come forward. */
static uint64_t patience(const hd_world *hw) {
  const hd_plan *p = hw->plan;
  return 300 * HD_S + avoided(hw) + (uint64_t)p->o.lease_ms * 30000 + (uint64_t)p->o.handover_ms * 4000 +
         (uint64_t)p->o.list_ms * 2000;
}

static size_t left_to_read(const hd_world *hw) {
  return hw ? hd_left_to_read(hw->o) + left_to_read(hw->twin) : 0;
}
static size_t open_shards(const hd_world *hw) {
  size_t n = hw && hw->twin ? open_shards(hw->twin) : 0;
  for (size_t i = 0; i < hw->shards_n; i++) n += !hw->shards[i].closed;
  return n;
}

/* How long so many records may take. A user who is healed holds nothing: what bounds the reading is the
 * worker's budget. In order by time the shard that comes next is waited for, so one worker may have all
 * leases and one shard come after the other; a shard is asked five times a second. A page's share of the
 * budget is such that each shard can have two (core/reader.c:slp_reader_reserve); a record is taken to be
 * as large as the largest, in base64, with what stands beside it (core/pace.c). What was fetched too far
 * ahead may be dropped and fetched again: of five pages two are counted. A pushed event is as large as the
 * service makes it; where no two of them fit, each may bring the one record that comes next in the order by time,
 * and the rest of it is dropped for that of another shard, which takes a new subscription, of which there is one
 * a second. */
#define PAGE_SHARE_MIN UINT64_C(16384)
#define PUSHED_EVENT_MAX UINT64_C(1048576)
#define RECORD_BESIDES 300
static uint64_t reading_us(const hd_world *hw, size_t records) {
  const hd_plan *p = hw->plan;
  uint64_t share = p->o.buffered_bytes_max / slp_max_u64(4, 2 * (uint64_t)open_shards(hw));
  uint64_t fit =
      slp_max_u64(share, PAGE_SHARE_MIN) / (p->record_bytes + p->record_bytes / 3 + RECORD_BESIDES);
  int one_event = p->rate[HF_push] && p->o.buffered_bytes_max < 2 * PUSHED_EVENT_MAX;
  if (one_event && p->o.order == SLOOP_ORDER_TIME && open_shards(hw) > 1) return records * HD_S;
  uint64_t page = slp_max_u64(1, slp_min_u64(fit, p->o.fetch_records_max));
  return records / (2 * page) * HD_S;
}

static int come_to_rest(hd_world *hw) {
  size_t left = left_to_read(hw), lives[HD_WORKERS_MAX], n;
  uint64_t began = hd_now(hw), forward = began, end = began + patience(hw) + reading_us(hw, left);
  char why[2][300] = {"", ""};
  for (;;) {
    n = running(hw, lives);
    if (!n) {
      for (size_t i = 0; i < HD_WORKERS_MAX; i++)
        if (!hw->at[i] && i < hw->plan->workers) (void)hd_live(hw, (int)i, 1);
    }
    int read = n && hd_all_read(hw->o, why[0], sizeof why[0]);
    int even = n && hd_balanced(hw->o, lives, n, why[1], sizeof why[1]);
    if (hw->twin) {
      read = read && hd_all_read(hw->twin->o, why[0], sizeof why[0]);
      even = even && hd_balanced(hw->twin->o, lives, n, why[1], sizeof why[1]);
    }
    if (read && even) {
      uint64_t before = moves(hw), had = handed_out(hw);
      uint64_t us = 2 * (uint64_t)hw->plan->o.lease_ms * 1000;
      begin_rest(hw);
      if (!pass(hw, us)) return 0;
      if (moves(hw) == before && handed_out(hw) == had) {
        if (!passes_over(hw)) judge_polls(hw, us);
        if (is_well(hw)) hd_ask_all(hw, 1);
        return !broken(hw);
      }
    }
    size_t before = left;
    left = left_to_read(hw);
    if (left < before) forward = hd_now(hw);
    /* No position goes back (S8). It grows by a shard that is a child from now on, since its parent has a
     * row: all of it is to be read, and not only what came after its "latest". */
    if (left > before) end += reading_us(hw, left - before);
    if (hd_now(hw) >= forward + patience(hw) || (!read && hd_now(hw) >= end)) {
      hd_break(hw->o, read ? HD_L2_BALANCED : HD_L1_ALL_READ, "",
               "healed for %" PRIu64 " s, nothing came forward for %" PRIu64 " s: %s",
               (hd_now(hw) - began) / HD_S, (hd_now(hw) - forward) / HD_S,
               !read  ? why[0]
               : even ? "leases go on moving"
                      : why[1]);
      return 0;
    }
    if (!pass(hw, HD_S / 2)) return 0;
  }
}

static int all_gone(void *arg) {
  hd_world *hw = arg;
  if (broken(hw)) return 1;
  for (size_t i = 0; i < HD_WORKERS_MAX; i++)
    if (hw->at[i]) return 0;
  return 1;
}

static int stop_all(hd_world *hw) {
  hw->ending = 1;
  if (hw->twin) hw->twin->ending = 1;
  hd_command_stop(hw);
  hd_drain_stop(hw);
  for (size_t i = 0; i < HD_WORKERS_MAX; i++)
    if (hd_runs(hw->at[i])) hd_stop(hw->at[i], STOP_MS, UINT64_MAX);
  if (!slp_sim_run(hw->w->sim, hd_now(hw) + 2 * STOP_MS * UINT64_C(1000), all_gone, hw))
    hd_break(hw->o, HD_P8_STOPPED, "", "not all have stopped");
  if (broken(hw)) return 0;
  (void)pass(hw, 60 * HD_S); /* what travels still arrives */
  if (slp_sim_hosts_alive(hw->w->sim) > (hw->typed != NULL))
    hd_break(hw->o, HD_S11_BOUNDS, "", "a host is left");
  return !broken(hw);
}

static void judge_calm(hd_world *hw) {
  uint64_t repeats = hd_count(hw->o, "repeats");
  if (hd_plan_calm(hw->plan) && hw->plan->schema == HD_SLOOP && repeats)
    hd_break(hw->o, HD_S9_REPEATS, "", "%" PRIu64 " repeats though nothing went wrong", repeats);
}

/* ---- the story ----------------------------------------------------------------------------------------- */
static void tell_line(void *arg, const char *text) {
  void (*tell)(const char *line) = *(void (**)(const char *))arg;
  tell(text);
}

static void tell_all(hd_world *hw, const hd_verdict *v, void (*tell)(const char *line)) {
  char line[2400];
  snprintf(line, sizeof line, "BROKEN %s: %s", hd_rule_name(v->rule), v->text);
  tell(line);
  int n = snprintf(line, sizeof line, "plan ");
  hd_plan_print(hw->plan, line + n, sizeof line - (size_t)n);
  tell(line);
  const hd_oracle *o = hd_broken(hw->o, NULL) || !hw->twin ? hw->o : hw->twin->o;
  const char *shard = hd_broken_shard(o);
  if (!shard[0]) return;
  snprintf(line, sizeof line, "what happened to %s:", shard);
  tell(line);
  hd_story(o, shard, STORY_LINES, tell_line, &tell);
}

void hd_play(const hd_plan *p, hd_verdict *v, void (*tell)(const char *line),
             void (*print)(void *arg, const char *line), void *arg) {
  memset(v, 0, sizeof *v);
  hd_world *hw = hd_world_new(p, print, arg);
  uint64_t began = fill(hw);
  int fine = trouble(hw);
  hd_nemesis_end(hw);
  fine = fine && come_to_rest(hw);
  fine = fine && stop_all(hw);
  if (fine) judge_calm(hw);
  const char *text;
  v->rule = hd_world_broken(hw, &text);
  if (v->rule) snprintf(v->text, sizeof v->text, "at %.3f s: %s", (double)hd_now(hw) / 1e6, text);
  v->trace_hash = hw->plan->unhashed ? 0 : slp_sim_trace_hash(hw->w->sim);
  v->virtual_ms = (hd_now(hw) - began) / 1000;
  v->events = slp_sim_events(hw->w->sim);
  v->records = hd_count(hw->o, "records");
  v->repeats = hd_count(hw->o, "repeats");
  v->overlaps = hd_count(hw->o, "overlaps");
  v->rows = hd_count(hw->o, "rows");
  v->ownerships = hd_count(hw->o, "tenancies");
  v->calls = hw->w->calls;
  v->lives = hw->lives_n;
  memcpy(v->faults, hw->faults, sizeof v->faults);
  if (v->rule && tell) tell_all(hw, v, tell);
  if (fine) hd_world_free(hw); /* what is left of a broken run is not worth taking apart */
}
