/* kcl3_model.c - see kcl3_model.h. Rows are read and written attribute by attribute, at once; what is decided
 * by one read is written a little later, on the conditions that KCL has. */
#include "kcl3_model.h"

#include "kcl_rows.h"

#include <stdio.h>
#include <stdlib.h>

#define ALIVE_S 60 /* twice the 30 s in which a worker tells its load */
#define STATS_US (30 * FW_S)
#define CLEAN_US (20 * FW_S)
#define NAME KCL_NAME

typedef kcl_row row;

typedef struct held {
  int shard;
  uint64_t counter, good_us, next, saved;
  uint8_t known; /* of its hand-over */
  uint8_t named; /* its children are there, and in its row */
  uint8_t ended; /* read to its end: it is renewed until its row is removed */
  char to[NAME];
  uint64_t over_us; /* when the application is done with what is out */
} held;

typedef struct seen {
  uint64_t counter, since_us, pair_us;
  char owner[NAME], by[NAME];
  uint8_t there;
} seen;

typedef struct worker {
  k3 *m;
  char name[NAME];
  uint8_t alive, leads;
  uint64_t frozen_until_us;
  held held[FW_SHARDS];
  int held_n;
  char lock[64], lock_seen[64];
  uint64_t lock_us, lock_look_us;
  uint64_t runs;
  seen seen[FW_SHARDS];
} worker;

typedef struct order { /* of the leader */
  row was;
  char to[NAME];
  uint8_t hands_over;
} order;

struct k3 {
  fw_world *w;
  worker workers[K3_WORKERS];
  int n;
  order orders[FW_SHARDS];
  int orders_n, orderer;
  uint64_t moves, forced, handed, cycles, serial;
};

static uint64_t failover_us(const k3 *m) { return (uint64_t)m->w->lease_ms * 1000; }
static uint64_t lock_us(const k3 *m) { return 12 * failover_us(m); }
static uint64_t hand_over_us(const k3 *m) { return (uint64_t)m->w->handover_ms * 1000; }
static uint64_t now_of(const k3 *m) { return fw_now(m->w); }
static int64_t wall_s(const k3 *m) { return slp_sim_unix_ms(m->w->sim) / 1000; }
static uint8_t beside(const k3 *m) { return m->w->beside ? 1 : 0; }
static const char *actual(const row *r) { return r->by[0] ? r->by : r->owner; }

/* ---- rows -------------------------------------------------------------------------------------------- */

const char *k3_attr(k3 *m, const char *key, const char *attr) {
  static char out[200];
  uint8_t table = strcmp(key, "Leader") == 0 || strcmp(key, "Migration3.0") == 0 ? beside(m) : 0;
  slp_store_rows rows = pr_get(m->w, table, key);
  out[0] = 0;
  if (rows.n) pr_text(&rows.rows[0], attr, out, sizeof out);
  slp_store_rows_free(&rows);
  return out;
}

/* ---- one worker's leases ------------------------------------------------------------------------------ */

static held *held_of(worker *k, int shard) {
  for (int i = 0; i < k->held_n; i++)
    if (k->held[i].shard == shard) return &k->held[i];
  return NULL;
}

static void let_go(worker *k, held *h) {
  *h = k->held[--k->held_n];
  k->m->cycles++;
}

/* What is due while it is frozen comes later, in any order. 1: so it does, or its process is gone. */
static int not_now(worker *k, void (*fn)(void *arg)) {
  k3 *m = k->m;
  if (m->w->over || !k->alive) return 1;
  if (k->frozen_until_us <= now_of(m)) return 0;
  slp_sim_at(m->w->sim, k->frozen_until_us + slp_sim_random_below(m->w->sim, 20000), fn, k);
  return 1;
}

static void take_up(worker *k, int shard, const row *r) {
  held *h = &k->held[k->held_n++];
  memset(h, 0, sizeof *h);
  h->shard = shard;
  h->counter = r->counter;
  h->good_us = now_of(k->m);
  h->saved = strtoull(r->checkpoint, NULL, 10);
  h->ended = strcmp(r->checkpoint, "SHARD_END") == 0;
  h->next = h->saved + 1;
  slp_sim_trace(k->m->w->sim, "%s takes up %s at %llu", k->name, r->key, (unsigned long long)h->next);
}

/* The condition failed: still its own, with a hand-over that it did not know; or lost. 1: still its own. */
static int still_mine(worker *k, held *h) {
  row is;
  if (!kcl_get(k->m->w, k->m->w->shards[h->shard].id, &is) || is.counter != h->counter ||
      strcmp(is.by, k->name) != 0 || strcmp(is.owner, k->name) == 0)
    return 0;
  if (!h->known) h->over_us = now_of(k->m) + slp_sim_random_between(k->m->w->sim, 0, 3 * FW_S);
  h->known = 1;
  snprintf(h->to, sizeof h->to, "%s", is.owner);
  return 1;
}

static int renew(worker *k, held *h) {
  for (int try = 0; try < 2; try++) {
    pr_write u;
    pr_begin(&u, SLP_WRITE_UPDATE, 0, k->m->w->shards[h->shard].id);
    pr_when_number(&u, "leaseCounter", h->counter);
    if (!h->known) pr_when_text(&u, "checkpointOwner", "");
    pr_set_number(&u, "leaseCounter", h->counter + 1);
    pr_set(&u, "throughputKBps", SLP_VAL_N, "5.000000");
    if (pr_do(k->m->w, &u)) {
      h->counter++;
      h->good_us = now_of(k->m);
      return 1;
    }
    if (h->known || !still_mine(k, h)) return 0;
  }
  return 0;
}

static int save(worker *k, held *h, const char *checkpoint) {
  pr_write u;
  pr_begin(&u, SLP_WRITE_UPDATE, 0, k->m->w->shards[h->shard].id);
  pr_when_number(&u, "leaseCounter", h->counter);
  pr_set_number(&u, "leaseCounter", h->counter + 1);
  pr_set_text(&u, "checkpoint", checkpoint);
  pr_set_number(&u, "checkpointSubSequenceNumber", 0);
  pr_set_number(&u, "ownerSwitchesSinceCheckpoint", 0);
  if (!pr_do(k->m->w, &u)) return 0;
  h->counter++;
  h->good_us = now_of(k->m);
  return 1;
}

static int save_number(worker *k, held *h) {
  char text[32];
  if (h->ended || h->next - 1 <= h->saved) return 1;
  snprintf(text, sizeof text, "%llu", (unsigned long long)(h->next - 1));
  if (!save(k, h, text)) return 0;
  h->saved = h->next - 1;
  return 1;
}

/* The end of a hand-over, by its victim: what the leader does as well, on the same condition. */
static int assign(k3 *m, const row *was, const char *to, int as_leader) {
  pr_write u;
  pr_begin(&u, SLP_WRITE_UPDATE, 0, was->key);
  pr_when_text(&u, "leaseOwner", was->owner);
  pr_when_text(&u, "checkpointOwner", was->by);
  pr_set_text(&u, "leaseOwner", to);
  pr_drop(&u, "checkpointOwner");
  pr_add(&u, "leaseCounter", 1);
  if (as_leader && was->owner[0] && strcmp(was->owner, to) != 0)
    pr_add(&u, "ownerSwitchesSinceCheckpoint", 1);
  return pr_do(m->w, &u);
}

static void hand_over(worker *k, held *h) {
  row was = {.rate = -1};
  snprintf(was.key, sizeof was.key, "%s", k->m->w->shards[h->shard].id);
  snprintf(was.owner, sizeof was.owner, "%s", h->to);
  snprintf(was.by, sizeof was.by, "%s", k->name);
  if (save_number(k, h) && assign(k->m, &was, h->to, 0)) k->m->handed++;
  let_go(k, h);
}

/* Hands out some records; the application is done with them at once. 1: the lease is gone. */
static int read_some(worker *k, held *h) {
  k3 *m = k->m;
  fw_shard *s = &m->w->shards[h->shard];
  if (h->ended || h->known || !kcl_parents_ended(m->w, s)) return 0;
  if (now_of(m) - h->good_us > failover_us(m)) { /* it may not believe in it any more */
    let_go(k, h);
    return 1;
  }
  uint64_t to = slp_min_u64(s->records, h->next + 9);
  if (to >= h->next) {
    if (h->next <= s->handed) s->repeats += slp_min_u64(s->handed, to) - h->next + 1;
    if (h->next > s->acked + 1) fw_wrong(m->w, "S2 order: %s skips records of %s", k->name, s->id);
    if (to > s->handed) s->handed = to;
    if (to > s->acked) s->acked = to;
    h->next = to + 1;
  }
  if (!s->closed || h->next <= s->records || !kcl_may_end(m->w, s)) return 0;
  if (!h->named) {
    for (int i = 0; i < s->kids_n; i++) kcl_make_lease(m->w, s->kids[i], !m->w->beside);
    kcl_name_kids(m->w, h->shard);
    h->named = 1;
    return 0; /* the application is asked */
  }
  if (save(k, h, "SHARD_END")) {
    h->ended = 1;
    return 0;
  }
  let_go(k, h);
  return 1;
}

static void tick(void *arg) {
  worker *k = arg;
  k3 *m = k->m;
  if (not_now(k, tick)) return;
  for (int i = k->held_n - 1; i >= 0; i--)
    if (i < k->held_n) read_some(k, &k->held[i]);
  slp_sim_at(m->w->sim, now_of(m) + FW_S / 5, tick, k);
}

static void renew_all(void *arg) {
  worker *k = arg;
  k3 *m = k->m;
  if (not_now(k, renew_all)) return;
  for (int i = k->held_n - 1; i >= 0; i--) {
    if (i >= k->held_n) continue;
    held *h = &k->held[i];
    if (!renew(k, h)) let_go(k, h);
  }
  slp_sim_at(m->w->sim, now_of(m) + failover_us(m) / 3, renew_all, k);
}

/* Checkpoints, and hand-overs that are due: KCL looks for them every 2 s. */
static void every_second(void *arg) {
  worker *k = arg;
  k3 *m = k->m;
  if (not_now(k, every_second)) return;
  for (int i = k->held_n - 1; i >= 0; i--) {
    if (i >= k->held_n) continue;
    held *h = &k->held[i];
    if (h->known && now_of(m) >= h->over_us)
      hand_over(k, h);
    else if (!save_number(k, h))
      let_go(k, h);
  }
  slp_sim_at(m->w->sim, now_of(m) + FW_S, every_second, k);
}

static void clean(void *arg) {
  worker *k = arg;
  k3 *m = k->m;
  if (not_now(k, clean)) return;
  for (int i = k->held_n - 1; i >= 0; i--) {
    held *h = &k->held[i];
    pr_write u;
    if (!h->ended || !kcl_may_clean(m->w, &m->w->shards[h->shard])) continue;
    pr_begin(&u, SLP_WRITE_DELETE, 0, m->w->shards[h->shard].id);
    pr_do(m->w, &u);
    let_go(k, h);
  }
  slp_sim_at(m->w->sim, now_of(m) + CLEAN_US, clean, k);
}

static void discover(void *arg) {
  worker *k = arg;
  k3 *m = k->m;
  if (not_now(k, discover)) return;
  slp_store_rows l = pr_scan(m->w, 0);
  for (size_t i = 0; i < l.n; i++) {
    row r = kcl_row_of(&l.rows[i]);
    int shard = pr_shard_of(m->w, r.key);
    if (shard < 0 || !kcl_is_lease(&l.rows[i]) || held_of(k, shard)) continue;
    if (strcmp(r.owner, k->name) == 0 && !r.by[0]) take_up(k, shard, &r);
  }
  slp_store_rows_free(&l);
  slp_sim_at(m->w->sim, now_of(m) + failover_us(m), discover, k);
}

static void tell_load(void *arg) {
  worker *k = arg;
  k3 *m = k->m;
  if (not_now(k, tell_load)) return;
  pr_write u;
  pr_begin(&u, SLP_WRITE_UPDATE, m->w->beside ? 2 : 0, k->name);
  pr_set_number(&u, "lut", (uint64_t)wall_s(m));
  pr_set(&u, "sts", SLP_VAL_OTHER, "{\"M\":{}}");
  pr_set(&u, "opr", SLP_VAL_OTHER, "{\"M\":{}}");
  if (!m->w->beside) pr_set_text(&u, "entityType", "WORKER_METRIC_STATS");
  pr_do(m->w, &u);
  slp_sim_at(m->w->sim, now_of(m) + STATS_US, tell_load, k);
}

/* ---- the leader's lock ------------------------------------------------------------------------------- */

static void write_lock(worker *k, const char *was) {
  k3 *m = k->m;
  char rvn[64];
  snprintf(rvn, sizeof rvn, "rvn-%llu", (unsigned long long)++m->serial);
  pr_write u;
  pr_begin(&u, SLP_WRITE_UPDATE, beside(m), "Leader");
  pr_when_text(&u, "recordVersionNumber", was);
  pr_set_text(&u, "ownerName", k->name);
  snprintf(u.texts[u.texts_n], NAME, "%llu", (unsigned long long)(lock_us(m) / 1000));
  pr_set(&u, "leaseDuration", SLP_VAL_S, u.texts[u.texts_n++]);
  pr_set_text(&u, "recordVersionNumber", rvn);
  if (!m->w->beside) pr_set_text(&u, "entityType", "LEADER");
  int done = pr_do(m->w, &u);
  if (done && !k->leads) {
    k->runs = 0;
    memset(k->seen, 0, sizeof k->seen);
    slp_sim_trace(m->w->sim, "%s leads", k->name);
  }
  k->leads = (uint8_t)done;
  snprintf(k->lock, sizeof k->lock, "%s", done ? rvn : "");
}

static void look_at_lock(void *arg) {
  worker *k = arg;
  k3 *m = k->m;
  char there[64];
  if (not_now(k, look_at_lock)) return;
  snprintf(there, sizeof there, "%s", k3_attr(m, "Leader", "recordVersionNumber"));
  if (k->leads || !there[0]) {
    write_lock(k, k->leads ? k->lock : "");
  } else if (strcmp(there, k->lock_seen) != 0) {
    snprintf(k->lock_seen, sizeof k->lock_seen, "%s", there);
    k->lock_us = now_of(m);
  } else if (now_of(m) - k->lock_us > lock_us(m)) {
    write_lock(k, there);
  }
  slp_sim_at(m->w->sim, now_of(m) + lock_us(m) / 4, look_at_lock, k);
}

/* ---- assignment -------------------------------------------------------------------------------------- */

typedef struct candidate { /* a worker that tells its load */
  char name[NAME];
  double load;
} candidate;

typedef struct view {
  worker *k;
  row rows[FW_SHARDS];
  int shards[FW_SHARDS], n;
  uint8_t expired[FW_SHARDS], blocked[FW_SHARDS], pending_over[FW_SHARDS];
  double rate[FW_SHARDS];
  candidate c[K3_WORKERS * 2];
  int c_n;
  double total;
} view;

static candidate *candidate_of(view *v, const char *name) {
  for (int i = 0; i < v->c_n; i++)
    if (strcmp(v->c[i].name, name) == 0) return &v->c[i];
  return NULL;
}

static void view_loads(view *v) {
  k3 *m = v->k->m;
  uint8_t table = m->w->beside ? 2 : 0;
  slp_store_rows l = pr_scan(m->w, table);
  for (size_t i = 0; i < l.n; i++) {
    const slp_row *r = &l.rows[i];
    char entity[40];
    int64_t lut = pr_has(r, "lut") ? (int64_t)pr_number(r, "lut") : -1;
    pr_text(r, "entityType", entity, sizeof entity);
    if (!table && strcmp(entity, "WORKER_METRIC_STATS") != 0) continue;
    if (lut < 0 || wall_s(m) - lut > ALIVE_S || v->c_n == K3_WORKERS * 2) continue;
    v->c[v->c_n].load = 0;
    pr_text(r, table ? "wid" : "leaseKey", v->c[v->c_n++].name, NAME);
  }
  slp_store_rows_free(&l);
}

static void view_leases(view *v) {
  k3 *m = v->k->m;
  uint64_t now = now_of(m);
  double sum = 0;
  int with = 0;
  slp_store_rows l = pr_scan(m->w, 0);
  for (size_t i = 0; i < l.n; i++) {
    row r = kcl_row_of(&l.rows[i]);
    int shard = pr_shard_of(m->w, r.key);
    if (shard < 0 || !kcl_is_lease(&l.rows[i])) continue;
    seen *s = &v->k->seen[shard];
    if (!s->there || s->counter != r.counter) s->since_us = now;
    if (!s->there || strcmp(s->owner, r.owner) != 0 || strcmp(s->by, r.by) != 0) s->pair_us = now;
    s->there = 1;
    s->counter = r.counter;
    snprintf(s->owner, NAME, "%s", r.owner);
    snprintf(s->by, NAME, "%s", r.by);
    v->expired[v->n] = now - s->since_us > failover_us(m) || !actual(&r)[0];
    v->pending_over[v->n] = r.by[0] && now - s->pair_us > hand_over_us(m) + failover_us(m);
    v->blocked[v->n] =
        r.by[0] && !v->expired[v->n] && !v->pending_over[v->n] && strcmp(r.checkpoint, "SHARD_END") != 0;
    if (r.rate >= 0) sum += r.rate, with++;
    v->shards[v->n] = shard;
    v->rows[v->n++] = r;
  }
  slp_store_rows_free(&l);
  for (int i = 0; i < v->n; i++) {
    v->rate[i] = v->rows[i].rate >= 0 ? v->rows[i].rate : with ? sum / with : 1;
    if (strcmp(v->rows[i].checkpoint, "SHARD_END") == 0) v->rate[i] = 0;
    v->total += v->rate[i];
    candidate *c = candidate_of(v, v->rows[i].owner);
    if (c && !v->expired[i]) c->load += v->rate[i];
  }
}

static candidate *least(view *v, const char *but) {
  candidate *best = NULL;
  for (int i = 0; i < v->c_n; i++)
    if (strcmp(v->c[i].name, but) != 0 && (!best || v->c[i].load < best->load)) best = &v->c[i];
  return best;
}

static void give(view *v, int i, candidate *to, int hands_over) {
  k3 *m = v->k->m;
  order *o = &m->orders[m->orders_n++];
  o->was = v->rows[i];
  o->hands_over = (uint8_t)hands_over;
  snprintf(o->to, NAME, "%s", to->name);
  to->load += v->rate[i];
  v->blocked[i] = 1;
}

static void place_expired(view *v) {
  for (int i = 0; i < v->n; i++) {
    if (!(v->expired[i] || v->pending_over[i])) continue;
    candidate *to =
        least(v, v->pending_over[i] || (v->expired[i] && v->rows[i].by[0]) ? "" : actual(&v->rows[i]));
    if (to) give(v, i, to, 0);
  }
}

static double average(const view *v) { return v->c_n ? v->total / v->c_n : 0; }

static void relieve(view *v, candidate *from, double avg) {
  k3 *m = v->k->m;
  double room = 0.6 * (from->load - avg);
  int first = (int)slp_sim_random_below(m->w->sim, (uint64_t)v->n + 1), given = 0;
  for (int pass = 0; pass < 2; pass++) {
    int smallest = -1;
    for (int k = 0; k < v->n; k++) {
      int i = (first + k) % v->n;
      int ended = strcmp(v->rows[i].checkpoint, "SHARD_END") == 0;
      if (strcmp(v->rows[i].owner, from->name) != 0 || v->blocked[i] || v->expired[i] || ended ||
          v->rows[i].by[0])
        continue;
      if (smallest < 0 || v->rate[i] < v->rate[smallest]) smallest = i;
      if (pass || v->rate[i] > room) continue;
      candidate *to = least(v, from->name);
      if (!to || to->load + v->rate[i] > avg) continue;
      room -= v->rate[i];
      from->load -= v->rate[i];
      give(v, i, to, 1);
      given++;
    }
    if (given || !pass || smallest < 0) continue; /* one at least, the smallest */
    candidate *to = least(v, from->name);
    if (to && to->load + v->rate[smallest] <= avg * 1.0001) {
      from->load -= v->rate[smallest];
      give(v, smallest, to, 1);
    }
  }
}

static void balance(view *v) {
  double avg = average(v), most = 0;
  int out = 0, hot = 0;
  for (int i = 0; i < v->c_n; i++) {
    double load = v->c[i].load;
    out |= load > avg * 1.1 || load < avg * 0.9;
    hot |= load >= avg * 1.1;
    if (load > most) most = load;
  }
  if (!out) return;
  for (int i = 0; i < v->c_n; i++) {
    double load = v->c[i].load;
    if (load >= avg * 1.1 || (!hot && load >= most && load > avg)) relieve(v, &v->c[i], avg);
  }
}

static void carry_out(void *arg) {
  k3 *m = arg;
  if (m->w->over || !m->workers[m->orderer].alive) return;
  uint64_t thaws_us = m->workers[m->orderer].frozen_until_us;
  if (thaws_us > now_of(m)) {
    slp_sim_at(m->w->sim, thaws_us + 1, carry_out, m);
    return;
  }
  for (int i = 0; i < m->orders_n; i++) {
    const order *o = &m->orders[i];
    if (!o->hands_over) {
      int forced = o->was.by[0] != 0;
      if (!assign(m, &o->was, o->to, 1)) continue;
      m->forced += (uint64_t)forced;
      m->moves += strcmp(o->was.checkpoint, "SHARD_END") != 0;
      continue;
    }
    pr_write u;
    pr_begin(&u, SLP_WRITE_UPDATE, 0, o->was.key);
    pr_when_text(&u, "leaseOwner", o->was.owner);
    pr_when_text(&u, "checkpointOwner", "");
    pr_set_text(&u, "leaseOwner", o->to);
    pr_set_text(&u, "checkpointOwner", o->was.owner);
    m->moves += (uint64_t)pr_do(m->w, &u);
  }
  m->orders_n = 0;
}

static void lead(void *arg) {
  worker *k = arg;
  k3 *m = k->m;
  if (not_now(k, lead)) return;
  const char *cv = k3_attr(m, "Migration3.0", "cv");
  int by_leader = strncmp(cv, "CLIENT_VERSION_3X", 17) == 0;
  if (k->leads && by_leader && !m->orders_n) {
    view *v = calloc(1, sizeof *v);
    v->k = k;
    view_loads(v);
    view_leases(v);
    if (v->c_n) {
      place_expired(v);
      if (k->runs++ % 3 == 0) balance(v);
    }
    free(v);
    m->orderer = (int)(k - m->workers);
    slp_sim_at(m->w->sim, now_of(m) + slp_sim_random_between(m->w->sim, 1000, 400000), carry_out, m);
  }
  slp_sim_at(m->w->sim, now_of(m) + 2 * failover_us(m), lead, k);
}

/* ---- lives ------------------------------------------------------------------------------------------- */

k3 *k3_new(fw_world *w) {
  k3 *m = calloc(1, sizeof *m);
  m->w = w;
  return m;
}

void k3_free(k3 *m) { free(m); }

void k3_end(k3 *m) {
  fw_free(m->w);
  k3_free(m);
}

/* As its leader does for a new application. */
void k3_make_leases(k3 *m) {
  for (int i = 0; i < m->w->shards_n; i++)
    if (m->w->shards[i].parents[0] < 0) kcl_make_lease(m->w, i, !m->w->beside);
}

int k3_start(k3 *m, const char *name) {
  SLP_CHECK(m->n < K3_WORKERS);
  worker *k = &m->workers[m->n];
  uint64_t now = now_of(m);
  k->m = m;
  snprintf(k->name, sizeof k->name, "%s", name);
  k->alive = 1;
  slp_sim_trace(m->w->sim, "%s (KCL 3) starts", name);
  look_at_lock(k);
  slp_sim_at(m->w->sim, now + FW_S / 10, tick, k);
  slp_sim_at(m->w->sim, now + FW_S / 7, renew_all, k);
  slp_sim_at(m->w->sim, now + FW_S / 3, every_second, k);
  slp_sim_at(m->w->sim, now + FW_S, discover, k);
  slp_sim_at(m->w->sim, now + CLEAN_US, clean, k);
  slp_sim_at(m->w->sim, now + 2 * FW_S, tell_load, k);
  slp_sim_at(m->w->sim, now + 2 * FW_S + 1000, lead, k);
  return m->n++;
}

void k3_kill(k3 *m, int i) {
  slp_sim_trace(m->w->sim, "%s (KCL 3) is killed", m->workers[i].name);
  m->workers[i].alive = m->workers[i].leads = 0;
  while (m->workers[i].held_n) let_go(&m->workers[i], &m->workers[i].held[0]);
  if (m->orderer == i) m->orders_n = 0;
}

/* Everything is saved and dropped; the rows run out. With a hand-over pending KCL removes checkpointOwner, so
 * that the next owner begins. */
void k3_stop(k3 *m, int i) {
  worker *k = &m->workers[i];
  while (k->alive && k->held_n) {
    held *h = &k->held[0];
    row r;
    if (save_number(k, h) && kcl_get(m->w, m->w->shards[h->shard].id, &r) && strcmp(r.by, k->name) == 0) {
      pr_write u;
      pr_begin(&u, SLP_WRITE_UPDATE, 0, r.key);
      pr_when_text(&u, "leaseOwner", r.owner);
      pr_when_text(&u, "checkpointOwner", r.by);
      pr_drop(&u, "checkpointOwner");
      pr_add(&u, "leaseCounter", 1);
      pr_do(m->w, &u);
    }
    let_go(k, h);
  }
  if (k->leads) {
    pr_write u;
    pr_begin(&u, SLP_WRITE_UPDATE, beside(m), "Leader");
    u.w.kind = SLP_WRITE_DELETE;
    pr_when_text(&u, "recordVersionNumber", k->lock);
    pr_do(m->w, &u);
  }
  k3_kill(m, i);
}

void k3_freeze(k3 *m, int i, uint64_t us) {
  slp_sim_trace(m->w->sim, "%s is frozen for %.1f s", m->workers[i].name, (double)us / 1e6);
  m->workers[i].frozen_until_us = now_of(m) + us;
}

int k3_runs(const k3 *m, const char *name) {
  for (int i = 0; i < m->n; i++) {
    const worker *k = &m->workers[i];
    if (k->alive && k->frozen_until_us <= now_of(m) && strcmp(k->name, name) == 0) return 1;
  }
  return 0;
}

int k3_alive(const k3 *m, int i) { return i < m->n && m->workers[i].alive; }
int k3_leads(const k3 *m, int i) { return m->workers[i].leads; }
int k3_held(const k3 *m, int i) {
  int n = 0;
  for (int h = 0; h < m->workers[i].held_n; h++) n += !m->workers[i].held[h].ended;
  return n;
}
uint64_t k3_moves(const k3 *m) { return m->moves; }
uint64_t k3_forced(const k3 *m) { return m->forced; }
uint64_t k3_handed(const k3 *m) { return m->handed; }
uint64_t k3_cycles(const k3 *m) { return m->cycles; }

void k3_version(k3 *m, const char *cv) {
  pr_write u;
  pr_begin(&u, SLP_WRITE_UPDATE, beside(m), "Migration3.0");
  pr_set_text(&u, "cv", cv);
  if (!m->w->beside) pr_set_text(&u, "entityType", "CLIENT_VERSION_MIGRATION");
  pr_do(m->w, &u);
}

const char *k3_owner(k3 *m, int shard) {
  static char out[NAME];
  row r;
  out[0] = 0;
  if (kcl_get(m->w, m->w->shards[shard].id, &r)) snprintf(out, sizeof out, "%s", actual(&r));
  return out;
}
