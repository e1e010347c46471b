/* mode.c - by which rules the workers of an application go. Its rows are read first; a worker that can't go
 * by them does not join, and has written nothing. */
#include "lease/mode.h"

#include "lease/fleet_inside.h"

#include <stdio.h>

#define RETRY_US 300000

static const slp_str nothing = {NULL, 0};

#define BIT(kind) (1u << (kind))
static const unsigned allowed[] = {
    [SLP_MODE_UNKNOWN] = BIT(SLP_MODE_TAKE) | BIT(SLP_MODE_LED),
    [SLP_MODE_TAKE] = BIT(SLP_MODE_LED),
    [SLP_MODE_LED] = BIT(SLP_MODE_TAKE),
};

static void move(slp_fleet *f, slp_mode_kind to) {
  SLP_CHECK(allowed[f->mode.kind] & BIT(to));
  f->mode.kind = to;
}

int slp_mode_is(const slp_fleet *f, slp_mode_kind kind) { return f->mode.kind == kind; }

/* ---- what the rows say ------------------------------------------------------------------------------- */

static void saw_version(slp_mode_seen *seen, int beside, const slp_version_row *v) {
  seen->there[beside] = 1;
  seen->version[beside] = v->is;
  snprintf(seen->word[beside], sizeof seen->word[beside], "%.*s", (int)v->word.n, v->word.n ? v->word.p : "");
}

static void see(slp_fleet *f, uint8_t table, const slp_parsed_row *row) {
  slp_mode_seen *seen = &f->mode.seen;
  if (row->kind == SLP_ROW_VERSION) {
    saw_version(seen, table != 0, &row->u.version);
  } else if (row->kind == SLP_ROW_PLACES) {
    seen->places_there = 1;
    seen->places = row->u.places.is;
  }
}

/* The table whose row counts. After a move of the rows into one table the old one may be there still. */
static int place_of_version(const slp_mode_seen *seen) {
  int in_one = seen->places_there && seen->places == SLP_PLACES_ONE && seen->there[0];
  return seen->there[1] && !in_one;
}

static const char *name_of_table(slp_fleet *f, int beside, slp_table_spec *spec) {
  if (beside && f->schema->side_table(f->schema, 1, spec)) return spec->name;
  return "the lease table";
}

static void fail(slp_fleet *f, const char *why) {
  slp_table_spec spec;
  const slp_mode_seen *seen = &f->mode.seen;
  int beside = place_of_version(seen);
  slp_life_move(f, SLP_WORKER_OUT);
  slp_fleet_tell(f, SLP_FLEET_FAILED, nothing, 0,
                 "the application belongs to Amazon's KCL 3 (row Migration3.0 in %s: cv is \"%s\"): %s",
                 name_of_table(f, beside, &spec), seen->word[beside], why);
}

/* ---- joining ----------------------------------------------------------------------------------------- */

static void read_next(slp_fleet *f);

static void decide(slp_fleet *f) {
  const slp_mode_seen *seen = &f->mode.seen;
  int beside = place_of_version(seen);
  slp_version is = seen->there[beside] ? seen->version[beside] : SLP_VERSION_TAKE;
  if (is == SLP_VERSION_UNKNOWN) {
    fail(f, "this version of it is not known here");
  } else if (is == SLP_VERSION_LED) {
    move(f, SLP_MODE_LED);
    fail(f, "workers here can join KCL 2 only, nothing was written");
  } else {
    move(f, SLP_MODE_TAKE);
    slp_worker_begins(f);
  }
}

static void table_read(slp_read *r) {
  slp_fleet *f = r->f;
  slp_parsed_row row;
  if (!r->came) {
    slp_fleet_timer(f, &f->mode.timer, slp_fleet_now(f) + slp_fleet_jitter(f, RETRY_US, 50));
    return;
  }
  while (slp_read_next(r, &row)) see(f, f->mode.table, &row);
  if (!f->mode.table) {
    decide(f);
    return;
  }
  f->mode.table--;
  read_next(f);
}

/* The tables beside the leases first, from the last. */
static void read_next(slp_fleet *f) {
  slp_mode *m = &f->mode;
  if (m->table)
    slp_read_side(&m->read, m->table, table_read);
  else
    slp_read_all(&m->read, 1, table_read);
}

static void read_all(slp_fleet *f) {
  slp_table_spec spec;
  f->mode.seen = (slp_mode_seen){.places = SLP_PLACES_UNKNOWN};
  f->mode.table = 0;
  while (f->schema->side_table && f->schema->side_table(f->schema, (uint8_t)(f->mode.table + 1), &spec))
    f->mode.table++;
  read_next(f);
}

void slp_mode_begin(slp_fleet *f) {
  if (f->schema->versions) {
    read_all(f);
    return;
  }
  move(f, SLP_MODE_TAKE);
  slp_worker_begins(f);
}

static void run(slp_timer *t) { read_all(SLP_OWNER(t, slp_fleet, mode.timer)); }

/* ---- birth and death --------------------------------------------------------------------------------- */

void slp_mode_init(slp_fleet *f) {
  slp_read_init(&f->mode.read, f, "rows", 0);
  slp_fleet_timer_init(&f->mode.timer, run);
}

void slp_mode_stop(slp_fleet *f) {
  slp_read_stop(&f->mode.read);
  slp_timer_clear(f->h, &f->mode.timer);
}

void slp_mode_free(slp_fleet *f) { slp_read_free(&f->mode.read); }
