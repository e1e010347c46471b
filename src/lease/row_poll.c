/* row_poll.c - reads the rows of leases and of their owners when they are due (row_poll.h). */
#include "lease/row_poll.h"

#include "base/buf.h"
#include "host/host.h"
#include "lease/assignment.h"
#include "lease/context.h"
#include "lease/due.h"
#include "lease/fleet_inside.h"
#include "lease/lease.h"
#include "lease/lease_part.h"
#include "lease/members.h"
#include "lease/members_part.h"
#include "lease/read.h"
#include "lease/row_poll_part.h"
#include "lease/schema.h"
#include "lease/shard_set.h"
#include "lease/store.h"

#define SLACK_US 50000 /* rows that will be due within this time are read by the same request */
/* if there was no memory to ask for a row, it is due again after this time */
#define NO_MEMORY_US 200000
/* a lease in WAITING needs at most this many keys: its own row and the rows of two parents */
#define LEASE_KEYS 3

/* Sets the timer to the earliest time at which a row must be read, or slp_lease_step must run for a lease. */
static void set_row_poll_timer(slp_fleet *f) {
  uint64_t at = SLP_NEVER;
  size_t i = 0;
  for (slp_lease *l; (l = slp_lease_each(f, &i));) {
    if (!f->poll.read.busy) at = slp_min_u64(at, l->poll.row_us);
    at = slp_min_u64(at, l->poll.step_us);
  }
  slp_due_arm(f, at);
}

/* ---- the request ------------------------------------------------------------------------------- */

static int add_polled_row(slp_fleet *f, slp_lease *l, slp_member *p, uint8_t which) {
  slp_polls *poll = &f->poll;
  if (poll->n == poll->most) return 0;
  slp_str name = p ? slp_member_id(p) : which ? l->row.parents[which - 1] : l->shard;
  if (slp_fleet_key(f, p ? SLP_OPERATION_HEARTBEAT : SLP_OPERATION_CHECKPOINT, name, &poll->read.text,
                    &poll->keys[poll->n]))
    return 0;
  poll->items[poll->n++] = (slp_poll_item){l, p, which};
  return 1;
}

static void add_lease(slp_fleet *f, slp_lease *l) {
  if (f->poll.n + (l->state == SLP_LEASE_WAITING ? LEASE_KEYS : 1) > f->poll.most) return;
  if (!add_polled_row(f, l, NULL, 0)) { /* no memory: the row is asked for a little later */
    l->poll.row_us = slp_fleet_now(f) + NO_MEMORY_US;
    return;
  }
  for (uint8_t k = 1; k <= 2 && l->state == SLP_LEASE_WAITING; k++)
    if (l->row.parents[k - 1].n && l->gate.parents[k - 1] != SLP_PARENT_ENDED) add_polled_row(f, l, NULL, k);
  l->poll.row_us = SLP_NEVER;
}

static void on_polled_rows_read(slp_read *r);

static void ask_for_due_rows(slp_fleet *f, uint64_t now) {
  slp_polls *poll = &f->poll;
  size_t at = 0;
  slp_str hash, prefix;
  poll->n = 0;
  poll->most = slp_max_u64(slp_reads_at_once(f, SLP_POLL_KEYS), LEASE_KEYS);
  slp_buf_clear(&poll->read.text);
  f->schema->scope(f->schema, &hash, &prefix);
  /* The room is reserved at once, because keys point into it, so it must not move. */
  if (slp_buf_reserve(&poll->read.text, SLP_POLL_KEYS * (hash.n + prefix.n + SLP_SHARD_ID_MAX + 24))) {
    for (slp_lease *l; (l = slp_lease_each(f, &at));)
      if (l->poll.row_us <= now + SLACK_US) l->poll.row_us = now + NO_MEMORY_US;
    return;
  }
  for (slp_member *p; (p = slp_member_each(f, &at)) && poll->n < poll->most / 2;)
    if (p->wanted && add_polled_row(f, NULL, p, 0)) p->wanted = 0;
  at = 0;
  for (slp_lease *l; (l = slp_lease_each(f, &at));)
    if (l->poll.row_us <= now + SLACK_US) add_lease(f, l);
  if (!poll->n) return;
  slp_due_reading(f, 1);
  slp_read_keys(&poll->read, poll->keys, poll->n, on_polled_rows_read);
}

void slp_polls_run(slp_timer *t) {
  slp_fleet *f = SLP_OWNER(t, slp_fleet, due.timer);
  uint64_t now = slp_fleet_now(f);
  size_t at = 0;
  slp_due_fired(f);
  slp_assignment_retry(f);
  for (slp_lease *l; (l = slp_lease_each(f, &at));) {
    if (l->poll.step_us > now) continue;
    l->poll.step_us = SLP_NEVER;
    slp_lease_touch(l);
  }
  if (!f->poll.read.busy) ask_for_due_rows(f, now);
  set_row_poll_timer(f);
}

/* ---- the answer -------------------------------------------------------------------------------- */

typedef struct answer { /* the rows of an answer, each parsed once */
  slp_parsed_row rows[SLP_POLL_KEYS];
  size_t n;
  /* where the next search for a row begins, because rows mostly come in the order of their keys */
  size_t next;
} answer;

static const slp_parsed_row *row_of_key(answer *a, const slp_row_key *key) {
  for (size_t k = 0; k < a->n; k++) {
    size_t i = a->next + k < a->n ? a->next + k : a->next + k - a->n;
    const slp_row_key *have = &a->rows[i].key;
    if (!slp_str_eq(have->range, key->range) || !slp_str_eq(have->hash, key->hash)) continue;
    a->next = i + 1 < a->n ? i + 1 : 0;
    return &a->rows[i];
  }
  return NULL;
}

static void hear_member(slp_fleet *f, slp_member *p, const slp_parsed_row *row) {
  if (row && row->kind == SLP_ROW_BAD)
    slp_member_saw_bad(p, row);
  else
    slp_member_saw(p, row ? &row->u.worker : NULL, 1, f->poll.read.rq);
}

static void hear_lease(slp_fleet *f, slp_lease *l, uint8_t which, const slp_parsed_row *row) {
  const slp_store_req *rq = f->poll.read.rq;
  if (row && row->kind == SLP_ROW_BAD) {
    slp_fleet_bad_row(f, l->shard, &row->key, row->why);
    slp_lease_poll(l, slp_fleet_now(f) + 10000000);
  } else if (which) {
    slp_lease_parent_saw(l, which - 1, row ? &row->u.lease : NULL);
  } else {
    slp_lease_saw(l, row ? &row->u.lease : NULL, rq->sent_us, rq->done_us);
  }
}

static void hear_polled_rows(slp_fleet *f) {
  slp_polls *poll = &f->poll;
  answer a;
  a.n = a.next = 0;
  while (a.n < SLP_POLL_KEYS && slp_read_next(&poll->read, &a.rows[a.n])) a.n++;
  /* The rows of owners come first, because whether an owner lives decides what the rows of leases mean. */
  for (size_t i = 0; i < poll->n; i++)
    if (poll->items[i].member) hear_member(f, poll->items[i].member, row_of_key(&a, &poll->keys[i]));
  for (size_t i = 0; i < poll->n; i++)
    if (poll->items[i].lease)
      hear_lease(f, poll->items[i].lease, poll->items[i].which, row_of_key(&a, &poll->keys[i]));
}

/* Called when a request has failed. Makes all rows of the request due again, a little later. */
static void ask_later(slp_fleet *f) {
  uint64_t at_us = slp_fleet_now(f) + slp_fleet_jitter(f, 200000, 20);
  for (size_t i = 0; i < f->poll.n; i++) {
    slp_member *p = f->poll.items[i].member;
    if (f->poll.items[i].lease) slp_lease_poll(f->poll.items[i].lease, at_us);
    if (!p) continue;
    p->wanted = 1;
    slp_member_unread(p);
  }
  slp_poll_soon(f, at_us);
}

static void on_polled_rows_read(slp_read *r) {
  slp_due_reading(r->f, 0);
  if (r->came)
    hear_polled_rows(r->f);
  else
    ask_later(r->f);
  set_row_poll_timer(r->f);
}

void slp_polls_forget_leases(slp_fleet *f) {
  if (!f->poll.read.busy) slp_leases_forget(f);
}

void slp_polls_forget(slp_fleet *f, slp_str leader) {
  if (!f->poll.read.busy) slp_members_forget(f, leader);
  slp_polls_forget_leases(f);
}

void slp_polls_init(slp_fleet *f) { slp_read_init(&f->poll.read, f, "leases", 3); }
void slp_polls_stop(slp_fleet *f) { slp_read_stop(&f->poll.read); }
void slp_polls_free(slp_fleet *f) { slp_read_free(&f->poll.read); }
