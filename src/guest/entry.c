/* entry.c - before a worker joins a table and writes to it, reads the whole table and decides whether the
 * worker may join.
 *
 *   - If a row lacks the attributes that each row of the layout has, the table belongs to another system.
 *   - If the rows do not name their stream, they are compared with the stream's shards.
 *   - If rows are of a program that does not share leases (slp_lease_row.stranger), they are watched for a
 *     while. If they change, that program is running, and the worker does not join. */
#include "guest/entry.h"

#include "base/states.h"
#include "guest/common_name.h"
#include "guest/guest.h"
#include "guest/other_stream.h"
#include "host/host.h"
#include "lease/context.h"
#include "lease/fleet_opts.h"
#include "lease/lease_types.h"
#include "lease/read.h"
#include "lease/schema.h"
#include "lease/seen.h"
#include "lease/shard_listing.h"
#include "lease/silence.h"
#include "lease/worker_life.h"

#include <stdio.h>

#define RETRY_US 300000 /* how long to wait after a read or a listing that failed */
#define LOOK_US 1000000 /* the time between two reads of the table */
/* The rows of a program that does not share leases are watched for this time. Such a program takes free
 * leases once a second, and gives them up again. */
#define IDLE_US 5000000
/* if this many successive listings fail, the worker joins without a listing */
#define UNLISTED_MAX 3
/* if this many listings lack the shard of a row, the row belongs to another stream; one listing may be some
 * seconds late */
#define DOUBTS_MAX 3

static const slp_str nothing = {NULL, 0};

static void look_in(slp_fleet *f, uint64_t us) {
  slp_fleet_timer(f, &slp_guest_of(f)->entry.timer, slp_fleet_now(f) + us);
}

/* ---- staying out of the fleet ------------------------------------------------------------------------ */

static void keep_out(slp_fleet *f, const char *why) {
  slp_life_move(f, SLP_WORKER_OUT);
  slp_common_name_leave(f);
  slp_fleet_tell(f, SLP_FLEET_FAILED, nothing, 0, "schema %s: %s", f->schema->name, why);
}

static void keep_out_for_row(slp_fleet *f, slp_str row, const char *why) {
  char text[400];
  snprintf(text, sizeof text, "row %.*s of the table: %s", (int)slp_min_u64(row.n, 128), row.p, why);
  keep_out(f, text);
}

/* ---- the shards of the stream ------------------------------------------------------------------------ */

static const slp_set allowed[] = {
    [SLP_ENTRY_UNLISTED] = SLP_BIT(SLP_ENTRY_ASKED),
    [SLP_ENTRY_ASKED] = SLP_BIT(SLP_ENTRY_LISTED) | SLP_BIT(SLP_ENTRY_UNLISTED) | SLP_BIT(SLP_ENTRY_GIVEN_UP),
    [SLP_ENTRY_LISTED] = SLP_BIT(SLP_ENTRY_UNLISTED),
    [SLP_ENTRY_GIVEN_UP] = 0,
};

static void move(slp_fleet *f, slp_entry_listing to) {
  slp_entry *e = &slp_guest_of(f)->entry;
  SLP_MOVE(allowed, e->listing, to);
}

static void ask_listing(slp_fleet *f) {
  move(f, SLP_ENTRY_ASKED);
  slp_fleet_list(f);
}

void slp_entry_listed(slp_fleet *f, int ok) {
  slp_entry *e = &slp_guest_of(f)->entry;
  if (e->listing != SLP_ENTRY_ASKED || !slp_worker_is(f, SLP_WORKER_JOINING)) return;
  if (ok) {
    move(f, SLP_ENTRY_LISTED);
  } else if (++e->unlisted_n < UNLISTED_MAX) {
    move(f, SLP_ENTRY_UNLISTED);
  } else {
    move(f, SLP_ENTRY_GIVEN_UP);
    slp_fleet_tell(f, SLP_FLEET_TROUBLE, nothing, 0,
                   "the stream could not be listed, so it is not known whether these rows are its own");
  }
  look_in(f, ok ? 0 : RETRY_US);
}

/* Decides from the listing whether the rows belong to another stream. Returns 1 if they do; the worker then
 * does not join. Also returns 1 if this must be decided again later. */
static int is_other_streams(slp_fleet *f, slp_other_stream *o) {
  slp_entry *e = &slp_guest_of(f)->entry;
  char text[400];
  if (slp_other_stream_proven(o, e->doubts >= DOUBTS_MAX, text, sizeof text)) {
    keep_out(f, text);
    return 1;
  }
  if (!o->beyond) return 0;
  e->doubts++;
  move(f, SLP_ENTRY_UNLISTED);
  look_in(f, 2 * LOOK_US);
  return 1;
}

/* ---- reading the rows -------------------------------------------------------------------------------- */

/* Returns 1 if a program that does not share leases has written this row since the table was last read. */
static int has_changed(slp_fleet *f, const slp_lease_row *l, uint64_t done_us) {
  slp_seen_shard *seen = slp_seen_of(f, l->shard);
  slp_sign sign = {.counter = l->stranger};
  if (!seen) return 0;
  int known = slp_guest_seen_of(seen)->silence.reads && slp_guest_seen_of(seen)->silence.last.counter;
  return slp_silence_saw(&slp_guest_seen_of(seen)->silence, &sign, done_us, 0) && known && l->stranger;
}

typedef struct sight { /* what one read of the table has shown */
  size_t leases;
  int strangers; /* 1: the rows show a program that does not share leases (slp_lease_row.stranger) */
  slp_other_stream other;
} sight;

/* Looks at the row of one lease. Returns 1 if the worker does not join because of this row. */
static int see_lease(slp_read *r, sight *s, const slp_parsed_row *row) {
  slp_fleet *f = r->f;
  const slp_lease_row *l = &row->u.lease;
  const slp_listed *listed = slp_listed_get(f, l->shard);
  if (l->stranger && has_changed(f, l, r->rq->done_us)) {
    keep_out_for_row(
        f, row->key.hash,
        "a worker of the other system runs here and takes leases that others hold: stop it first");
    return 1;
  }
  s->leases++;
  s->strangers |= l->stranger != 0;
  slp_guest_of(f)->entry.owned |= l->stranger && l->owner.n;
  if (slp_guest_of(f)->entry.listing == SLP_ENTRY_LISTED)
    slp_other_stream_saw(&s->other, l, listed ? &listed->desc : NULL);
  return 0;
}

static int see_all(slp_read *r, sight *s) {
  slp_fleet *f = r->f;
  slp_parsed_row row;
  size_t at = 0;
  if (slp_guest_of(f)->entry.listing == SLP_ENTRY_LISTED)
    for (slp_listed *d; (d = slp_listed_each(f, &at));) slp_other_stream_newest(&s->other, d->desc.id);
  while (slp_read_next(r, &row)) {
    if (row.kind == SLP_ROW_BAD && row.foreign) {
      keep_out_for_row(f, row.key.hash, row.why);
      return 1;
    }
    if (row.kind == SLP_ROW_LEASE && see_lease(r, s, &row)) return 1;
  }
  return 0;
}

/* Decides in which form this worker's rows will have the stream's name. Returns 1 if the worker does not join
 * because of the names in the rows. */
static int see_form(slp_read *r, slp_table_form *ret) {
  slp_fleet *f = r->f;
  ret->refused[0] = ret->passed[0] = 0;
  if (f->schema->form) f->schema->form(f->schema, r->rows, ret);
  if (ret->refused[0]) keep_out(f, ret->refused);
  return ret->refused[0] != 0;
}

static void on_entry_table_read(slp_read *r) {
  slp_fleet *f = r->f;
  slp_entry *e = &slp_guest_of(f)->entry;
  slp_table_form form;
  sight s = {0};
  if (!r->came) {
    look_in(f, slp_fleet_jitter(f, RETRY_US, 50));
    return;
  }
  e->owned = 0;
  if (see_form(r, &form) || see_all(r, &s)) return;
  if (s.leases && f->schema->is_other_streams && e->listing == SLP_ENTRY_UNLISTED) {
    ask_listing(f);
    return;
  }
  if (e->listing == SLP_ENTRY_LISTED && is_other_streams(f, &s.other)) return;
  uint64_t now = slp_fleet_now(f), lease_us = slp_fleet_lease_us(f);
  if (!e->since_us) e->since_us = now;
  uint64_t watch_us = !s.strangers ? 0 : e->owned ? slp_max_u64(lease_us, IDLE_US) : IDLE_US;
  if (now - e->since_us < watch_us) {
    look_in(f, slp_min_u64(LOOK_US, watch_us - (now - e->since_us)));
    return;
  }
  if (form.passed[0]) slp_fleet_tell(f, SLP_FLEET_TROUBLE, nothing, 0, "%s", form.passed);
  e->then(f);
}

static void on_entry_timer(slp_timer *t) {
  slp_fleet *f = SLP_OWNER(t, slp_guest, entry.timer)->f;
  slp_read_all(&slp_guest_of(f)->entry.read, 1, on_entry_table_read);
}

void slp_entry_begin(slp_fleet *f, void (*then)(slp_fleet *f)) {
  slp_guest_of(f)->entry.then = then;
  slp_guest_of(f)->entry.since_us = 0;
  slp_read_all(&slp_guest_of(f)->entry.read, 1, on_entry_table_read);
}

/* ---- creating and freeing ---------------------------------------------------------------------------- */

void slp_entry_init(slp_fleet *f) {
  slp_read_init(&slp_guest_of(f)->entry.read, f, "the lease table", 0);
  slp_fleet_timer_init(&slp_guest_of(f)->entry.timer, on_entry_timer);
}

void slp_entry_stop(slp_fleet *f) {
  slp_read_stop(&slp_guest_of(f)->entry.read);
  slp_timer_clear(f->h, &slp_guest_of(f)->entry.timer);
}

void slp_entry_free(slp_fleet *f) { slp_read_free(&slp_guest_of(f)->entry.read); }
