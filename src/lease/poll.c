/* fleet_look.c - reading the rows of leases and of their owners, as many as are due in one call; and the one
 * timer of everything that is due of a lease. */
#include "lease/lease.h"

#include "lease/shard_set.h"

#define SLACK_US 50000 /* what is due so soon goes along */
#define NO_MEMORY_US 200000

static void arm(slp_fleet *f) {
  uint64_t at = SLP_NEVER;
  size_t i = 0;
  for (slp_lease *l; (l = slp_map_each(&f->leases, &i));) {
    if (!f->polling) at = slp_min_u64(at, l->poll.row_us);
    at = slp_min_u64(at, l->poll.step_us);
  }
  at = slp_min_u64(at, f->poll_at_us);
  slp_fleet_timer(f, &f->poll_timer, at);
}

void slp_poll_soon(slp_fleet *f, uint64_t at_us) {
  f->poll_at_us = slp_min_u64(f->poll_at_us, at_us);
  if (f->poll_timer.at_us > f->poll_at_us) slp_fleet_timer(f, &f->poll_timer, f->poll_at_us);
}

void slp_lease_poll(slp_lease *l, uint64_t at_us) {
  if (l->poll.row_us <= at_us) return;
  l->poll.row_us = at_us;
  if (!l->f->polling) slp_poll_soon(l->f, at_us);
}

/* ---- asking ------------------------------------------------------------------------------------ */

static int add(slp_fleet *f, slp_lease *l, slp_member *p, uint8_t which) {
  size_t n = f->poll_get.keys_n;
  if (n == SLP_POLL_KEYS) return 0;
  slp_str name = p ? (slp_str){p->id, p->id_n} : which ? l->row.parents[which - 1] : l->shard;
  if (slp_fleet_key(f, p ? SLP_OPERATION_HEARTBEAT : SLP_OPERATION_CHECKPOINT, name, &f->poll_texts,
                    &f->poll_keys[n]))
    return 0;
  f->poll_items[n].lease = l;
  f->poll_items[n].member = p;
  f->poll_items[n].which = which;
  f->poll_get.keys_n = n + 1;
  return 1;
}

static void add_lease(slp_fleet *f, slp_lease *l) {
  if (f->poll_get.keys_n + 3 > SLP_POLL_KEYS) return;
  if (!add(f, l, NULL, 0)) { /* no memory: not at once again */
    l->poll.row_us = slp_fleet_now(f) + NO_MEMORY_US;
    return;
  }
  for (uint8_t k = 1; k <= 2 && l->state == SLP_LEASE_WAITING; k++)
    if (l->row.parents[k - 1].n && l->gate.parents[k - 1] != SLP_PARENT_ENDED) add(f, l, NULL, k);
  l->poll.row_us = SLP_NEVER;
}

static void looked(slp_store_req *rq);

static void ask(slp_fleet *f, uint64_t now) {
  size_t at = 0;
  f->poll_get.keys_n = 0;
  slp_buf_clear(&f->poll_texts);
  /* Reserved once: the keys point into it. */
  slp_str hash, prefix;
  f->schema->scope(f->schema, &hash, &prefix);
  if (slp_buf_reserve(&f->poll_texts, SLP_POLL_KEYS * (hash.n + prefix.n + SLP_SHARD_ID_MAX + 8))) {
    for (slp_lease *l; (l = slp_map_each(&f->leases, &at));)
      if (l->poll.row_us <= now + SLACK_US) l->poll.row_us = now + NO_MEMORY_US;
    return;
  }
  for (slp_member *p; (p = slp_map_each(&f->members, &at)) && f->poll_get.keys_n < SLP_POLL_KEYS / 2;)
    if (p->wanted && add(f, NULL, p, 0)) p->wanted = 0;
  at = 0;
  for (slp_lease *l; (l = slp_map_each(&f->leases, &at));)
    if (l->poll.row_us <= now + SLACK_US) add_lease(f, l);
  if (!f->poll_get.keys_n) return;
  f->stats.reads++;
  f->polling = 1;
  memset(&f->poll_get.rq, 0, sizeof f->poll_get.rq);
  f->poll_get.rq.on_done = looked;
  f->poll_get.rq.ms_max = (uint32_t)slp_max_u64(f->o.lease_ms / 3, 20);
  f->poll_get.keys = f->poll_keys;
  f->poll_get.consistent = 1;
  f->store->ops->get(f->store, &f->poll_get);
}

void slp_polls_run(slp_timer *t) {
  slp_fleet *f = SLP_OWNER(t, slp_fleet, poll_timer);
  uint64_t now = slp_fleet_now(f);
  size_t at = 0;
  f->poll_at_us = SLP_NEVER;
  if (f->assignment_again && !f->assignment_reading) slp_assignment_read(f);
  for (slp_lease *l; (l = slp_map_each(&f->leases, &at));) {
    if (l->poll.step_us > now) continue;
    l->poll.step_us = SLP_NEVER;
    slp_lease_touch(l);
  }
  if (!f->polling) ask(f, now);
  arm(f);
}

/* ---- hearing ----------------------------------------------------------------------------------- */

typedef struct answer { /* each row of it sorted out once */
  slp_parsed_row facts[SLP_POLL_KEYS];
  size_t n,
      next; /* rows mostly come as they were asked for: the search goes on where it found the last one */
} answer;

static void sort_out(slp_fleet *f, answer *a) {
  a->n = a->next = 0;
  for (size_t i = 0; i < f->poll_get.out.n && i < SLP_POLL_KEYS; i++)
    f->schema->read(f->schema, &f->poll_get.out.rows[i], &a->facts[a->n++]);
}

static const slp_parsed_row *row_of_key(answer *a, const slp_row_key *key) {
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
  slp_lease *l = f->poll_items[i].lease;
  uint8_t which = f->poll_items[i].which;
  const slp_parsed_row *row = row_of_key(a, &f->poll_keys[i]);
  if (row && row->kind == SLP_ROW_BAD) {
    if (f->poll_items[i].member) {
      slp_member_saw_bad(f->poll_items[i].member, row);
      return;
    }
    slp_fleet_bad_row(f, l->shard, &row->key, row->why);
    slp_lease_poll(l, slp_fleet_now(f) + 10000000);
    return;
  }
  if (f->poll_items[i].member)
    slp_member_saw(f->poll_items[i].member, row ? &row->u.worker : NULL, 1, &f->poll_get.rq);
  else if (which)
    slp_lease_parent_saw(l, which - 1, row ? &row->u.lease : NULL);
  else
    slp_lease_saw(l, row ? &row->u.lease : NULL, f->poll_get.rq.sent_us, f->poll_get.rq.done_us);
}

static void looked(slp_store_req *rq) {
  slp_fleet *f = SLP_OWNER(SLP_OWNER(rq, slp_store_get, rq), slp_fleet, poll_get);
  f->polling = 0;
  if (!slp_read_came(f, SLP_READ_LEASES, rq)) {
    uint64_t later = slp_fleet_now(f) + slp_fleet_jitter(f, 200000, 20);
    for (size_t i = 0; i < f->poll_get.keys_n; i++) {
      if (f->poll_items[i].lease) slp_lease_poll(f->poll_items[i].lease, later);
      if (f->poll_items[i].member) f->poll_items[i].member->wanted = 1;
      if (f->poll_items[i].member) slp_member_unread(f->poll_items[i].member);
    }
    slp_poll_soon(f, later);
  } else { /* owners first: what is seen of the leases is judged by them */
    answer a;
    sort_out(f, &a);
    for (size_t i = 0; i < f->poll_get.keys_n; i++)
      if (f->poll_items[i].member) hear(f, &a, i);
    for (size_t i = 0; i < f->poll_get.keys_n; i++)
      if (!f->poll_items[i].member) hear(f, &a, i);
  }
  arm(f);
}
