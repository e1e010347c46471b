/* fleet_look.c - reading the rows of leases and of their owners, as many as are due in one call; and the one
 * timer of everything that is due of a lease. */
#include "core/fleet_inside.h"

#include "core/shard_set.h"

#define SLACK_US 50000 /* what is due so soon goes along */
#define NO_MEMORY_US 200000

static void arm(slp_fleet *f) {
  uint64_t at = SLP_NEVER;
  size_t i = 0;
  for (slp_lease *l; (l = slp_map_each(&f->leases, &i));) {
    if (!f->looking) at = slp_min_u64(at, l->look_us);
    at = slp_min_u64(at, l->due_us);
  }
  at = slp_min_u64(at, f->look_at_us);
  slp_fleet_timer(f, &f->look_timer, at);
}

void slp_look_soon(slp_fleet *f, uint64_t at_us) {
  f->look_at_us = slp_min_u64(f->look_at_us, at_us);
  if (f->look_timer.at_us > f->look_at_us) slp_fleet_timer(f, &f->look_timer, f->look_at_us);
}

void slp_lease_look(slp_lease *l, uint64_t at_us) {
  if (l->look_us <= at_us) return;
  l->look_us = at_us;
  if (!l->f->looking) slp_look_soon(l->f, at_us);
}

/* ---- asking ------------------------------------------------------------------------------------ */

static int add(slp_fleet *f, slp_lease *l, slp_peer *p, uint8_t which) {
  size_t n = f->look.keys_n;
  if (n == SLP_LOOK_KEYS) return 0;
  slp_str name = p ? (slp_str){p->id, p->id_n} : which ? l->parents[which - 1] : l->shard;
  if (slp_fleet_key(f, p ? SLP_W2_BEAT : SLP_L4_CHECKPOINT, name, &f->look_texts, &f->look_keys[n])) return 0;
  f->look_items[n].lease = l;
  f->look_items[n].peer = p;
  f->look_items[n].which = which;
  f->look.keys_n = n + 1;
  return 1;
}

static void add_lease(slp_fleet *f, slp_lease *l) {
  if (f->look.keys_n + 3 > SLP_LOOK_KEYS) return;
  if (!add(f, l, NULL, 0)) { /* no memory: not at once again */
    l->look_us = slp_fleet_now(f) + NO_MEMORY_US;
    return;
  }
  for (uint8_t k = 1; k <= 2 && l->state == SLP_WAITING; k++)
    if (l->parents[k - 1].n && !l->parent_ended[k - 1]) add(f, l, NULL, k);
  l->look_us = SLP_NEVER;
}

static void looked(slp_store_req *rq);

static void ask(slp_fleet *f, uint64_t now) {
  size_t at = 0;
  f->look.keys_n = 0;
  slp_buf_clear(&f->look_texts);
  /* Reserved once: the keys point into it. */
  slp_str hash, prefix;
  f->schema->scope(f->schema, &hash, &prefix);
  if (slp_buf_reserve(&f->look_texts, SLP_LOOK_KEYS * (hash.n + prefix.n + SLP_SHARD_ID_MAX + 8))) {
    for (slp_lease *l; (l = slp_map_each(&f->leases, &at));)
      if (l->look_us <= now + SLACK_US) l->look_us = now + NO_MEMORY_US;
    return;
  }
  for (slp_peer *p; (p = slp_map_each(&f->peers, &at)) && f->look.keys_n < SLP_LOOK_KEYS / 2;)
    if (p->wanted && add(f, NULL, p, 0)) p->wanted = 0;
  at = 0;
  for (slp_lease *l; (l = slp_map_each(&f->leases, &at));)
    if (l->look_us <= now + SLACK_US) add_lease(f, l);
  if (!f->look.keys_n) return;
  f->stats.reads++;
  f->looking = 1;
  memset(&f->look.rq, 0, sizeof f->look.rq);
  f->look.rq.on_done = looked;
  f->look.rq.ms_max = (uint32_t)slp_max_u64(f->o.lease_ms / 3, 20);
  f->look.keys = f->look_keys;
  f->look.consistent = 1;
  f->store->ops->get(f->store, &f->look);
}

void slp_looks_run(slp_timer *t) {
  slp_fleet *f = SLP_OWNER(t, slp_fleet, look_timer);
  uint64_t now = slp_fleet_now(f);
  size_t at = 0;
  f->look_at_us = SLP_NEVER;
  if (f->plan_again && !f->plan_reading) slp_plan_read(f);
  for (slp_lease *l; (l = slp_map_each(&f->leases, &at));) {
    if (l->due_us > now) continue;
    l->due_us = SLP_NEVER;
    slp_lease_touch(l);
  }
  if (!f->looking) ask(f, now);
  arm(f);
}

/* ---- hearing ----------------------------------------------------------------------------------- */

typedef struct answer { /* each row of it sorted out once */
  slp_fact facts[SLP_LOOK_KEYS];
  size_t n,
      next; /* rows mostly come as they were asked for: the search goes on where it found the last one */
} answer;

static void sort_out(slp_fleet *f, answer *a) {
  a->n = a->next = 0;
  for (size_t i = 0; i < f->look.out.n && i < SLP_LOOK_KEYS; i++)
    f->schema->read(f->schema, &f->look.out.rows[i], &a->facts[a->n++]);
}

static const slp_fact *fact_of(answer *a, const slp_row_key *key) {
  for (size_t k = 0; k < a->n; k++) {
    size_t i = a->next + k < a->n ? a->next + k : a->next + k - a->n;
    const slp_row_key *have = &a->facts[i].key;
    if (!slp_str_eq(have->range, key->range) || !slp_str_eq(have->hash, key->hash)) continue;
    a->next = i + 1 < a->n ? i + 1 : 0;
    return &a->facts[i];
  }
  return NULL;
}

static void hear(slp_fleet *f, answer *a, size_t i) {
  slp_lease *l = f->look_items[i].lease;
  uint8_t which = f->look_items[i].which;
  const slp_fact *fact = fact_of(a, &f->look_keys[i]);
  if (fact && fact->kind == SLP_FACT_BAD) {
    if (f->look_items[i].peer) {
      slp_peer_saw_bad(f->look_items[i].peer, fact);
      return;
    }
    slp_fleet_bad_row(f, l->shard, fact);
    slp_lease_look(l, slp_fleet_now(f) + 10000000);
    return;
  }
  if (f->look_items[i].peer)
    slp_peer_saw(f->look_items[i].peer, fact ? &fact->u.worker : NULL, 1, &f->look.rq);
  else if (which)
    slp_lease_parent_saw(l, which - 1, fact ? &fact->u.lease : NULL);
  else
    slp_lease_saw(l, fact ? &fact->u.lease : NULL, f->look.rq.sent_us, f->look.rq.done_us);
}

static void looked(slp_store_req *rq) {
  slp_fleet *f = SLP_OWNER(SLP_OWNER(rq, slp_store_get, rq), slp_fleet, look);
  f->looking = 0;
  if (!slp_read_came(f, SLP_READ_LEASES, rq)) {
    uint64_t later = slp_fleet_now(f) + slp_fleet_jitter(f, 200000, 20);
    for (size_t i = 0; i < f->look.keys_n; i++) {
      if (f->look_items[i].lease) slp_lease_look(f->look_items[i].lease, later);
      if (f->look_items[i].peer) f->look_items[i].peer->wanted = 1;
      if (f->look_items[i].peer) slp_peer_unread(f->look_items[i].peer);
    }
    slp_look_soon(f, later);
  } else { /* owners first: what is seen of the leases is judged by them */
    answer a;
    sort_out(f, &a);
    for (size_t i = 0; i < f->look.keys_n; i++)
      if (f->look_items[i].peer) hear(f, &a, i);
    for (size_t i = 0; i < f->look.keys_n; i++)
      if (!f->look_items[i].peer) hear(f, &a, i);
  }
  arm(f);
}
