/* assignment.c - reads this worker's assignment row, and marks the leases in it as assigned to this
 * worker. */
#include "lease/assignment.h"

#include "host/host.h"
#include "lease/assignment_part.h"
#include "lease/context.h"
#include "lease/due.h"
#include "lease/fleet_inside.h"
#include "lease/fleet_opts.h"
#include "lease/hold.h"
#include "lease/lease.h"
#include "lease/read.h"
#include "lease/schema.h"
#include "lease/shard_set.h"
#include "lease/worker_life.h"

/* after a failed read, the assignment row is read again after this time */
#define AGAIN_US 200000

static void assign_one(slp_fleet *f, slp_str shard) {
  slp_lease *l = slp_lease_make(f, shard);
  if (l) slp_lease_assign(l);
  /* no memory. A text longer than SLP_SHARD_ID_MAX is no shard id, and is ignored. */
  else if (shard.n <= SLP_SHARD_ID_MAX)
    f->assignment.short_of = 1;
}

/* Marks the leases in the row's coded set as assigned. Returns 0, or a negative error if the set is
 * damaged. */
static int assign_set(slp_fleet *f, slp_str set) {
  slp_shard_set_reader r;
  slp_str id;
  int more;
  slp_shard_set_begin(&r, set);
  while ((more = slp_shard_set_next(&r, &id)) == 1) assign_one(f, id);
  return more;
}

/* To be called when every lease in the assignment row was marked by assign_one. Leases without a mark are no
 * longer assigned to this worker. keep, 1: the row could be read only in part, so leases without a mark stay
 * as they were. */
static void unassign_other_leases(slp_fleet *f, int keep) {
  size_t at = 0;
  for (slp_lease *l; (l = slp_lease_each(f, &at));) slp_lease_assigned(l, keep);
}

/* Reads the rows of assigned leases again whose shards this worker believes to be read to their ends. An
 * operator may have set the position of such a lease back, perhaps before the leader had seen the end. */
static void doubt_ends(slp_fleet *f) {
  size_t at = 0;
  for (slp_lease *l; (l = slp_lease_each(f, &at));) slp_lease_doubt_end(l);
}

static void take_assignment(slp_fleet *f, const slp_assignment_row *row) {
  for (size_t i = 0; i < row->plus_n; i++) assign_one(f, row->plus[i]);
  int bad = assign_set(f, row->set);
  if (bad)
    slp_fleet_tell(f, SLP_FLEET_BAD_ROW, (slp_str){NULL, 0}, 0,
                   "the assignment of %.*s: its set of shards is damaged", (int)row->worker.n, row->worker.p);
  unassign_other_leases(f, bad);
  doubt_ends(f);
  slp_leases_set_version(f, row->version);
  slp_leases_of_fleet(f, row->leases);
  slp_hold_heard(f, &row->hold);
}

void slp_assignment_saw(slp_fleet *f, const slp_assignment_row *row) {
  if (!slp_worker_lives(f) || row->version <= slp_leases_version(f)) return;
  f->assignment.saw_us = slp_now_refresh_us(f->h);
  take_assignment(f, row);
}

static void read_assignment_later(slp_fleet *f, uint64_t us) {
  f->assignment.again = 1;
  slp_poll_soon(f, slp_fleet_now(f) + us);
}

static void row_read(slp_read *r) {
  slp_fleet *f = r->f;
  slp_parsed_row row;
  if (!r->came) {
    read_assignment_later(f, slp_fleet_jitter(f, AGAIN_US, 20));
    return;
  }
  /* The read was sent before slp_assignment_saw took in a row, so its answer may be older than the row that
   * was taken in. */
  if (r->rq->sent_us <= f->assignment.saw_us) {
    read_assignment_later(f, 0);
    return;
  }
  slp_read_one(r, &row);
  if (row.kind == SLP_ROW_ASSIGNMENT) {
    take_assignment(f, &row.u.assignment);
  } else if (row.kind == SLP_ROW_BAD) {
    slp_fleet_bad_row(f, (slp_str){NULL, 0}, &row.key, row.why);
  } else {
    unassign_other_leases(f, 0);
    slp_leases_set_version(f, 0);
  }
  if (f->assignment.again)
    slp_assignment_read(f);
  else if (f->assignment.short_of)
    read_assignment_later(f, slp_fleet_jitter(f, AGAIN_US, 20));
}

void slp_assignment_read(slp_fleet *f) {
  slp_assignment *a = &f->assignment;
  if (!slp_worker_lives(f)) return;
  a->again = a->read.busy;
  if (a->again) return;
  if (slp_read_row(&a->read, SLP_OPERATION_ASSIGN, f->o.worker, 1, row_read))
    read_assignment_later(f, AGAIN_US);
  else
    a->short_of = 0;
}

void slp_assignment_retry(slp_fleet *f) {
  if (f->assignment.again && !f->assignment.read.busy) slp_assignment_read(f);
}

void slp_assignment_init(slp_fleet *f) {
  slp_read_init(&f->assignment.read, f, "the assignment of this worker", 3);
}

void slp_assignment_stop(slp_fleet *f) {
  slp_read_stop(&f->assignment.read);
  f->assignment.again = 0;
}

void slp_assignment_free(slp_fleet *f) { slp_read_free(&f->assignment.read); }
