/* spread.c - finds out, before a worker joins, over how many partition keys the leases are spread. The row of
 * leadership says so. If that row does not exist, the leases under the first key show it. */
#include "lease/spread.h"

#include "base/states.h"
#include "host/host.h"
#include "lease/context.h"
#include "lease/fleet_inside.h"
#include "lease/fleet_opts.h"
#include "lease/read.h"
#include "lease/schema.h"

/* after this time a failed read is tried again */
#define AGAIN_US 200000
/* after this time a row of leadership that can't be read is read again */
#define BAD_US 5000000
/* if the row of leadership was found without an owner longer ago than this, it is read again */
#define LEAD_FRESH_US 30000000

static void leadership_read(slp_read *r);
static void leases_read(slp_read *r);

static void set_spread_timer_in(slp_fleet *f, uint64_t us) {
  slp_fleet_timer(f, &f->spread.timer, slp_after_us(slp_fleet_now(f), us));
}

/* The allowed changes. A worker that has joined never changes its spread, because its leases are under the
 * keys that it knows. */
static const slp_set allowed[] = {
    [SLP_SPREAD_UNKNOWN] = SLP_BIT(SLP_SPREAD_ASSUMED) | SLP_BIT(SLP_SPREAD_KNOWN),
    [SLP_SPREAD_ASSUMED] = SLP_BIT(SLP_SPREAD_KNOWN),
    [SLP_SPREAD_KNOWN] = 0,
};

static void move(slp_fleet *f, slp_spread_state to) { SLP_MOVE(allowed, f->spread.state, to); }

static void set_known_spread(slp_fleet *f, slp_spread spread) {
  move(f, SLP_SPREAD_KNOWN);
  f->schema->spread = spread;
  f->spread.then(f);
}

/* Called when the rows of an earlier stream of this name were read. They are read only while the application
 * has no row of leadership yet. The table has such rows if the stream was deleted and created again under the
 * same name. Their positions are not used, so the user is told about them. */
static void former_read(slp_read *r) {
  slp_fleet *f = r->f;
  slp_table_form form = {.passed = ""};
  if (r->came) f->schema->form(f->schema, r->rows, &form);
  if (form.passed[0]) slp_fleet_tell(f, SLP_FLEET_TROUBLE, (slp_str){NULL, 0}, 0, "%s", form.passed);
  f->spread.then(f);
}

static void assume_spread(slp_fleet *f, slp_spread spread) {
  slp_str hash, prefix;
  move(f, SLP_SPREAD_ASSUMED);
  f->schema->spread = spread;
  if (f->schema->former) {
    f->schema->former(f->schema, &hash, &prefix);
    slp_read_scope(&f->spread.former, hash, prefix, former_read);
  } else {
    f->spread.then(f);
  }
}

static void read_leadership_row(slp_fleet *f) {
  static const slp_str none = {"", 0};
  if (slp_read_row(&f->spread.read, SLP_OPERATION_LEAD, none, 1, leadership_read))
    set_spread_timer_in(f, AGAIN_US);
}

int slp_spread_take_leaderless(slp_fleet *f, slp_leaderless *ret) {
  *ret = f->spread.leaderless;
  f->spread.leaderless.at_us = 0;
  return ret->at_us && slp_fleet_now(f) - ret->at_us < LEAD_FRESH_US;
}

static void note_leaderless(slp_fleet *f, const slp_leadership_row *lead, uint64_t at_us) {
  slp_leaderless *none = &f->spread.leaderless;
  *none = (slp_leaderless){.at_us = lead && lead->owner.n ? 0 : at_us, .there = lead != NULL};
  if (!lead) return;
  none->epoch = lead->epoch;
  none->start = lead->start;
}

static void leadership_read(slp_read *r) {
  slp_fleet *f = r->f;
  slp_parsed_row row;
  slp_read_one(r, &row);
  if (!r->came) {
    set_spread_timer_in(f, slp_fleet_jitter(f, AGAIN_US, 50));
    return;
  }
  if (row.kind == SLP_ROW_BAD) {
    slp_fleet_bad_row(f, (slp_str){NULL, 0}, &row.key, row.why);
    set_spread_timer_in(f, BAD_US);
    return;
  }
  const slp_leadership_row *lead = row.kind == SLP_ROW_LEADERSHIP ? &row.u.leadership : NULL;
  note_leaderless(f, lead, r->rq->done_us);
  if (lead)
    set_known_spread(f, lead->spread);
  else if (!slp_is_spread(&f->schema->fresh))
    assume_spread(f, (slp_spread){.keys = 1});
  else if (slp_read_list(r, SLP_OPERATION_CREATE, 1, leases_read))
    set_spread_timer_in(f, AGAIN_US);
}

static void leases_read(slp_read *r) {
  slp_fleet *f = r->f;
  if (!r->came)
    set_spread_timer_in(f, slp_fleet_jitter(f, AGAIN_US, 50));
  else
    assume_spread(f, slp_spread_of_rows(f->schema, r->rows));
}

void slp_spread_learn(slp_fleet *f, void (*then)(slp_fleet *f)) {
  f->spread.then = then;
  if (f->spread.state != SLP_SPREAD_UNKNOWN)
    then(f);
  else
    read_leadership_row(f);
}

int slp_spread_agrees(slp_fleet *f, const slp_leadership_row *row) {
  if (f->spread.state == SLP_SPREAD_ASSUMED) {
    move(f, SLP_SPREAD_KNOWN);
    f->spread.other = (uint8_t)!slp_spread_same(&f->schema->spread, &row->spread);
    f->schema->spread = row->spread;
  }
  return slp_spread_same(&f->schema->spread, &row->spread);
}

int slp_spread_was_other(const slp_fleet *f) { return f->spread.other; }

void slp_spread_made(slp_fleet *f) {
  if (f->spread.state == SLP_SPREAD_ASSUMED) move(f, SLP_SPREAD_KNOWN);
}

uint64_t slp_spread_used(const slp_fleet *f, uint64_t leases) {
  const slp_spread *s = &f->schema->spread;
  if (!slp_is_spread(s)) return 1;
  return slp_min_u64(slp_max_u64(s->block ? leases / s->block : leases, 1), s->keys);
}

static void on_spread_timer(slp_timer *t) { read_leadership_row(SLP_OWNER(t, slp_fleet, spread.timer)); }

void slp_spread_init(slp_fleet *f) {
  slp_read_init(&f->spread.read, f, "the row of leadership", 0);
  slp_read_init(&f->spread.former, f, "the rows of an earlier stream", 0);
  slp_fleet_timer_init(&f->spread.timer, on_spread_timer);
}

void slp_spread_stop(slp_fleet *f) {
  slp_read_stop(&f->spread.read);
  slp_read_stop(&f->spread.former);
  slp_timer_clear(f->h, &f->spread.timer);
}

void slp_spread_free(slp_fleet *f) {
  slp_read_free(&f->spread.read);
  slp_read_free(&f->spread.former);
}
