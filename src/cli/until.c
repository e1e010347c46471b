/* until.c - keeps track of the shards that have passed a point in time. */
#include "cli/until.h"

#include "base/mem.h"
#include "cli/shard_numbers.h"

#include <sloop.h>

/* The clock of this machine and the clock of the service are assumed to differ by at most this. */
#define CLOCKS_MS 1000

enum { NOT_READ, OPEN, PASSED };

void slp_until_init(slp_until *u, slp_mem *mem, int64_t at_ms) {
  *u = (slp_until){.mem = mem, .at_ms = at_ms};
  slp_names_init(&u->names, mem);
}

void slp_until_free(slp_until *u) {
  if (!u->mem) return;
  slp_names_free(&u->names);
  slp_free(u->mem, u->state);
  slp_free(u->mem, u->round);
  u->state = NULL;
  u->round = NULL;
}

static int make_room(slp_until *u, uint32_t number) {
  uint32_t cap = u->state_cap ? u->state_cap * 2 : 64;
  while (cap <= number) cap *= 2;
  uint8_t *state = slp_realloc(u->mem, u->state, cap);
  if (!state) return SLP_ENOMEM;
  u->state = state;
  uint32_t *round = slp_realloc(u->mem, u->round, cap * sizeof *round);
  if (!round) return SLP_ENOMEM;
  u->round = round;
  memset(state + u->state_cap, NOT_READ, cap - u->state_cap);
  memset(round + u->state_cap, 0, (cap - u->state_cap) * sizeof *round);
  u->state_cap = cap;
  return 0;
}

static uint8_t *state_of(slp_until *u, const char *shard) {
  uint32_t number = slp_names_number(&u->names, shard);
  if (number == UINT32_MAX || (number >= u->state_cap && make_room(u, number))) return NULL;
  return &u->state[number];
}

static void change_shard_state(slp_until *u, uint8_t *state, uint8_t to) {
  if (*state != NOT_READ) u->open_n--;
  if (*state == PASSED) u->passed_n--;
  *state = to;
  if (to != NOT_READ) u->open_n++;
  if (to == PASSED) u->passed_n++;
}

int slp_until_shard(slp_until *u, const char *shard, sloop_shard_event_kind_t what) {
  uint8_t *state = state_of(u, shard);
  if (!state) return SLP_ENOMEM;
  if (what == SLOOP_SHARD_OPENED && *state == NOT_READ) change_shard_state(u, state, OPEN);
  if (what == SLOOP_SHARD_ENDED || what == SLOOP_SHARD_STOPPED || what == SLOOP_SHARD_LOST ||
      what == SLOOP_SHARD_RELEASED)
    change_shard_state(u, state, NOT_READ);
  return 0;
}

int slp_until_passed(slp_until *u, const char *shard, int64_t arrived_at_ms) {
  uint8_t *state = state_of(u, shard);
  if (!state) return SLP_ENOMEM;
  if (*state == PASSED) return 1;
  /* If the time of arrival is not known, arrived_at_ms is -1, and the record counts as earlier. */
  if (arrived_at_ms < u->at_ms) return 0;
  change_shard_state(u, state, PASSED);
  return 1;
}

void slp_until_begin_round(slp_until *u) { u->rounds_n++; }

int slp_until_next(slp_until *u, const char *shard, int64_t arrived_at_ms) {
  uint8_t *state = state_of(u, shard);
  if (!state) return SLP_ENOMEM;
  uint32_t *round = &u->round[state - u->state];
  if (*round == u->rounds_n) return 0;
  *round = u->rounds_n;
  return slp_until_passed(u, shard, arrived_at_ms);
}

int slp_until_all_passed(const slp_until *u, const sloop_stats_t *now) {
  /* A shard for which the service has not answered yet is not in open_n. But while there is such a shard,
   * tip_age_ms_now is UINT64_MAX, because the age of its tip is not known. */
  return u->open_n > 0 && u->passed_n == u->open_n && now->tip_age_ms_now != UINT64_MAX;
}

/* Returns 1 if all shards are at their tips, and each tip was found by a call that was sent after TIME.
 * The tip of an earlier call does not count, because records from before TIME may have arrived after that
 * call. */
static int is_settled(const slp_until *u, const sloop_stats_t *now, int at_tip, int64_t wall_ms) {
  if (now->tip_age_ms_now == UINT64_MAX || now->batches_now > 0 || (!at_tip && now->shards_now == 0))
    return 0;
  int64_t over_ms = wall_ms - (u->at_ms + CLOCKS_MS);
  return over_ms >= 0 && (uint64_t)over_ms >= now->tip_age_ms_now;
}

int slp_until_quiet(slp_until *u, const sloop_stats_t *now, int at_tip, int64_t wall_ms, uint64_t mono_us,
                    uint64_t quiet_ms) {
  int settled = is_settled(u, now, at_tip, wall_ms);
  if (!settled || now->records != u->before.records || now->retries != u->before.retries ||
      !u->quiet_since_us) {
    u->before = *now;
    u->quiet_since_us = settled ? mono_us : 0;
    return settled && quiet_ms == 0;
  }
  return mono_us - u->quiet_since_us >= quiet_ms * 1000u;
}
