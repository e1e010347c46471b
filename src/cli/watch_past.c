/* watch_past.c - stores what --watch remembers from poll to poll. */
#include "cli/watch_past.h"

#include "base/hash.h"
#include "base/mem.h"
#include "cli/lease_words.h"
#include "cli/shard_numbers.h"

#include <sloop_admin.h>

void slp_watch_past_init(slp_watch_past *p, slp_mem *mem) {
  memset(p, 0, sizeof *p);
  slp_names_init(&p->shards, mem);
  slp_names_init(&p->workers, mem);
}

void slp_watch_past_free(slp_watch_past *p) {
  slp_free(p->shards.mem, p->each);
  slp_free(p->shards.mem, p->lives);
  p->each = NULL;
  p->lives = NULL;
  slp_names_free(&p->shards);
  slp_names_free(&p->workers);
}

static slp_watch_shard *shard_of(slp_watch_past *p, const char *name, uint32_t *ret_number) {
  uint32_t number = slp_names_number(&p->shards, name);
  if (number == UINT32_MAX) return NULL;
  if (number >= p->each_cap) {
    uint32_t cap = p->each_cap ? p->each_cap * 2 : 64;
    while (cap <= number) cap *= 2;
    slp_watch_shard *each = slp_realloc(p->shards.mem, p->each, cap * sizeof *each);
    if (!each) return NULL;
    for (uint32_t i = p->each_cap; i < cap; i++) each[i] = (slp_watch_shard){.owner = UINT32_MAX};
    p->each = each;
    p->each_cap = cap;
  }
  *ret_number = number;
  return &p->each[number];
}

static slp_watch_worker *life_of(slp_watch_past *p, uint32_t number) {
  if (number >= p->lives_cap) {
    uint32_t cap = p->lives_cap ? p->lives_cap * 2 : 64;
    while (cap <= number) cap *= 2;
    slp_watch_worker *lives = slp_realloc(p->shards.mem, p->lives, cap * sizeof *lives);
    if (!lives) return NULL;
    memset(lives + p->lives_cap, 0, (cap - p->lives_cap) * sizeof *lives);
    p->lives = lives;
    p->lives_cap = cap;
  }
  return &p->lives[number];
}

/* Returns a hash of what the owner of a lease writes into its row. */
static uint64_t sign_of(const slp_watch_past *p, const sloop_lease_t *l) {
  const char *seq = l->position.seq ? l->position.seq : "";
  return slp_hash(&p->shards.key, slp_str_of(seq)) ^ (l->epoch * UINT64_C(0x9E3779B97F4A7C15)) ^
         (uint64_t)l->written_at_ms;
}

/* If the row of the lease has changed (its epoch, time or position), its owner is alive, and now_ms is stored
 * as the time at which this was seen. A new owner does not count as alive yet. */
static int note_life(slp_watch_past *p, slp_watch_shard *s, const sloop_lease_t *l, uint32_t owner_before,
                     uint64_t now_ms) {
  uint64_t sign = sign_of(p, l);
  slp_watch_worker *life = *l->owner ? life_of(p, s->owner) : NULL;
  if (*l->owner && !life) return SLP_ENOMEM;
  if (life && !life->first_ms) life->first_ms = now_ms;
  if (life && s->owner == owner_before && sign != s->sign) life->moved_ms = now_ms;
  s->sign = sign;
  return 0;
}

const char *slp_watch_past_word(slp_watch_past *p, const sloop_worker_t *w, uint64_t now_ms,
                                int64_t wall_ms) {
  const char *word = slp_worker_word(w, wall_ms);
  uint32_t number = strcmp(word, "owns") == 0 ? slp_names_find(&p->workers, w->worker) : UINT32_MAX;
  if (number >= p->lives_cap) return word;
  const slp_watch_worker *life = &p->lives[number];
  if (life->moved_ms && now_ms - life->moved_ms <= w->lease_ms) return "works";
  return now_ms - slp_max_u64(life->first_ms, life->moved_ms) > w->lease_ms ? "silent" : "owns";
}

/* Stores the owner of the shard's lease. Also stores a move if the last owner was another worker. A lease
 * that was free and went back to its last owner has not moved. */
static int note_owner(slp_watch_past *p, slp_watch_shard *s, uint32_t number, const char *owner,
                      uint64_t now_ms) {
  if (!*owner) return 0;
  uint32_t now = slp_names_number(&p->workers, owner);
  if (now == UINT32_MAX) return SLP_ENOMEM;
  if (s->owner != UINT32_MAX && s->owner != now)
    p->moves[p->moves_n++ % SLP_WATCH_MOVES] = (slp_watch_move){now_ms, number, s->owner, now};
  s->owner = now;
  return 0;
}

int slp_watch_past_add(slp_watch_past *p, const sloop_leases_t *leases, uint64_t now_ms, int64_t wall_ms) {
  for (size_t i = 0; i < leases->leases_n; i++) {
    const sloop_lease_t *l = leases->leases[i];
    uint32_t number = 0;
    slp_watch_shard *s = shard_of(p, l->shard, &number);
    uint32_t before = s ? s->owner : UINT32_MAX;
    if (!s || note_owner(p, s, number, l->owner, now_ms) != 0 || note_life(p, s, l, before, now_ms) != 0)
      return SLP_ENOMEM;
    s->lags[s->polls++ % SLP_WATCH_POLLS] = slp_lease_lag_of(l, leases, wall_ms).ms;
  }
  return 0;
}

const slp_watch_move *slp_watch_past_move(const slp_watch_past *p, uint32_t i) {
  if (i >= p->moves_n || i >= SLP_WATCH_MOVES) return NULL;
  return &p->moves[(p->moves_n - 1 - i) % SLP_WATCH_MOVES];
}

uint32_t slp_watch_past_moves(const slp_watch_past *p, uint64_t now_ms) {
  uint32_t n = 0;
  for (const slp_watch_move *m; (m = slp_watch_past_move(p, n)) && now_ms - m->at_ms < SLP_WATCH_MINUTE_MS;)
    n++;
  return n;
}

int64_t slp_watch_past_lag(slp_watch_past *p, const char *shard, uint32_t back) {
  uint32_t number = slp_names_find(&p->shards, shard);
  if (number == UINT32_MAX || number >= p->each_cap) return -1;
  const slp_watch_shard *s = &p->each[number];
  if (back >= SLP_WATCH_POLLS || back >= s->polls) return -1;
  return s->lags[(s->polls - 1 - back) % SLP_WATCH_POLLS];
}
