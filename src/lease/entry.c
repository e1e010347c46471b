/* entry.c - the table is looked at before anything is written. A row without what each row of the layout has
 * says that it is another system's. Rows that a program has written which shares with nobody are looked at
 * again for a while: when they change it runs, and no worker joins it. */
#include "lease/entry.h"

#include "lease/fleet_inside.h"

#define RETRY_US 300000
#define LOOK_US 1000000
#define IDLE_US 5000000 /* such a program takes what is free once a second, and gives it up again */

static void look_in(slp_fleet *f, uint64_t us) { slp_fleet_timer(f, &f->entry.timer, slp_fleet_now(f) + us); }

static void refuse(slp_fleet *f, slp_str row, const char *why) {
  slp_life_move(f, SLP_WORKER_OUT);
  slp_common_name_leave(f);
  slp_fleet_tell(f, SLP_FLEET_FAILED, (slp_str){NULL, 0}, 0, "schema %s: row %.*s of the table: %s",
                 f->schema->name, (int)row.n, row.p, why);
}

/* 1: a stranger has written it since the last look. */
static int has_changed(slp_fleet *f, const slp_lease_row *l, uint64_t done_us) {
  slp_seen_shard *seen = slp_seen_of(f, l->shard);
  slp_sign sign = {.counter = l->stranger};
  if (!seen) return 0;
  int known = seen->silence.reads && seen->silence.last.counter;
  return slp_silence_saw(&seen->silence, &sign, done_us, 0) && known && l->stranger;
}

static void looked(slp_read *r) {
  slp_fleet *f = r->f;
  slp_entry *e = &f->entry;
  slp_parsed_row row;
  int strangers = 0;
  if (!r->came) {
    look_in(f, slp_fleet_jitter(f, RETRY_US, 50));
    return;
  }
  e->owned = 0;
  while (slp_read_next(r, &row)) {
    if (row.kind == SLP_ROW_BAD && row.foreign) {
      refuse(f, row.key.hash, row.why);
      return;
    }
    if (row.kind != SLP_ROW_LEASE) continue;
    if (has_changed(f, &row.u.lease, r->rq->done_us)) {
      refuse(f, row.key.hash,
             "a worker of the other system is at work here, which takes what others hold: stop it first");
      return;
    }
    strangers |= row.u.lease.stranger != 0;
    e->owned |= row.u.lease.stranger && row.u.lease.owner.n;
  }
  uint64_t now = slp_fleet_now(f), lease_us = slp_fleet_lease_us(f);
  if (!e->since_us) e->since_us = now;
  uint64_t watch_us = !strangers ? 0 : e->owned ? slp_max_u64(lease_us, IDLE_US) : IDLE_US;
  if (now - e->since_us < watch_us)
    look_in(f, slp_min_u64(LOOK_US, watch_us - (now - e->since_us)));
  else
    e->then(f);
}

static void run(slp_timer *t) {
  slp_fleet *f = SLP_OWNER(t, slp_fleet, entry.timer);
  slp_read_all(&f->entry.read, 1, looked);
}

void slp_entry_begin(slp_fleet *f, void (*then)(slp_fleet *f)) {
  f->entry.then = then;
  f->entry.since_us = 0;
  slp_read_all(&f->entry.read, 1, looked);
}

/* ---- birth and death --------------------------------------------------------------------------------- */

void slp_entry_init(slp_fleet *f) {
  slp_read_init(&f->entry.read, f, "the lease table", 0);
  slp_fleet_timer_init(&f->entry.timer, run);
}

void slp_entry_stop(slp_fleet *f) {
  slp_read_stop(&f->entry.read);
  slp_timer_clear(f->h, &f->entry.timer);
}

void slp_entry_free(slp_fleet *f) { slp_read_free(&f->entry.read); }
