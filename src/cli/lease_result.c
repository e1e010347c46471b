/* lease_result.c - puts the result of a change of leases into words. */
#include "cli/lease_result.h"

#include "base/buf.h"
#include "cli/lease_words.h"

#include <sloop.h>
#include <sloop_admin.h>
#include <stdio.h>

#define LINES_MAX 100u /* the most leases that get a line each */

typedef struct page { /* the output, and the status of the change */
  slp_buf *b;
  int status;
} page;

static void say_done(page *p, const sloop_change_t *c) {
  char to[200], was[200];
  slp_position_text(&c->to, to);
  slp_position_text(&c->was, was);
  if (*to)
    slp_lease_say(p->b, "%s: set to %s; it was at %s", c->shard, to, was);
  else
    slp_lease_say(p->b, "%s: released%s%s%s; its position stays %s", c->shard,
                  *c->was_owner ? ", taken from " : "", c->was_owner,
                  c->was_parked ? ", no longer parked" : "", was);
}

static void say_change(page *p, const sloop_change_t *c) {
  switch (c->kind) {
    case SLOOP_CHANGE_DONE: say_done(p, c); return;
    case SLOOP_CHANGE_WAS_SO: slp_lease_say(p->b, "%s: no change was needed", c->shard); return;
    case SLOOP_CHANGE_FREE: slp_lease_say(p->b, "%s: free for other workers", c->shard); return;
    case SLOOP_CHANGE_UNOWNED: slp_lease_say(p->b, "%s already has no owner", c->shard); return;
    case SLOOP_CHANGE_ENDED:
      slp_lease_say(p->b, "%s was read to its end: there is nothing to release", c->shard);
      return;
    case SLOOP_CHANGE_NO_LEASE:
      slp_lease_say(p->b, "%s has no lease that can be read: there is nothing to release", c->shard);
      return;
    case SLOOP_CHANGE_CONFLICT:
      /* SLOOP_ELEASE: at every try, another write had changed the row first. Any other status comes with an
       * error that is printed elsewhere. */
      slp_lease_say(p->b, "%s: not changed%s", c->shard,
                    p->status == SLOOP_ELEASE ? ": its row kept changing" : "");
      return;
    case SLOOP_CHANGE_NO_ROW:
      slp_lease_say(p->b, "%s: not changed: it has no row that can be read", c->shard);
      return;
    case SLOOP_CHANGE_POSITION:
      slp_lease_say(p->b, "%s: not changed: rows of this layout can't store that position%s", c->shard,
                    c->to.kind == SLOOP_OLDEST || c->to.kind == SLOOP_LATEST || c->to.kind == SLOOP_AT_TIME
                        ? "; -o says where a shard starts: give the same -o here and to each worker"
                        : "");
      return;
    case SLOOP_CHANGE_TAKEN:
      slp_lease_say(p->b, "%s: not changed: a worker has taken it in the meantime", c->shard);
      return;
    case SLOOP_CHANGE_UNKNOWN:
      slp_lease_say(p->b,
                    "%s: not known whether it was changed, because the table has not answered; see --leases",
                    c->shard);
      return;
  }
  slp_lease_say(p->b, "%s: outcome %d, which this program does not know", c->shard, (int)c->kind);
}

static void say_changes(page *p, const sloop_admin_result_t *r) {
  for (size_t i = 0; i < r->changes_n && i < LINES_MAX; i++) say_change(p, r->changes[i]);
  if (r->changes_n > LINES_MAX) slp_lease_say(p->b, "and %zu more", r->changes_n - LINES_MAX);
}

static void say_eviction(page *p, const sloop_admin_result_t *r) {
  static const char *const was[] = {[SLOOP_EVICTION_DONE] = "is evicted",
                                    [SLOOP_EVICTION_WAS_SO] = "was evicted already",
                                    [SLOOP_EVICTION_HAD_LEFT] = "has left already"};
  if (r->eviction > 0 && (size_t)r->eviction < SLP_COUNT(was))
    slp_lease_say(p->b, "worker %s %s", r->worker, was[r->eviction]);
}

static void say_what_follows(page *p, const sloop_admin_result_t *r) {
  if (r->eviction != SLOOP_EVICTION_NONE && !r->changes_n) slp_lease_say(p->b, "it had no lease");
  if (r->eviction == SLOOP_EVICTION_DONE)
    slp_lease_say(
        p->b,
        "if it is alive, it notices at its next heartbeat, within about %u ms, and registers again; until "
        "then it may deliver records that others also read, and its checkpoints are refused",
        (unsigned)(r->worker_lease_ms / 2));
  for (size_t i = 0; i < r->unfinished_parents_n; i++)
    slp_lease_say(p->b, "its parent %s is not read to its end: it comes first", r->unfinished_parents[i]);
  for (size_t i = 0; i < r->children_ahead_n; i++)
    slp_lease_say(p->b, "its child %s is not reset: it is read at the same time, from its own position",
                  r->children_ahead[i]);
  if (r->unlisted_n)
    slp_lease_say(p->b, "%zu leases of shards that are no longer listed were not changed", r->unlisted_n);
  if (r->missing_n)
    slp_lease_say(p->b,
                  "%zu listed shards have no lease that can be read; a missing one is created with the "
                  "application's starting position",
                  r->missing_n);
  if (p->status && r->evicted_n)
    slp_lease_say(p->b, "%zu worker%s evicted for this change, or may be, and register%s again", r->evicted_n,
                  r->evicted_n == 1 ? " is" : "s are", r->evicted_n == 1 ? "s" : "");
  if (r->bad_rows_n) slp_lease_say(p->b, "%zu rows are invalid and were ignored", r->bad_rows_n);
}

void slp_lease_done_so_far(const sloop_admin_result_t *r, const char *done, char out[200]) {
  size_t so = 0, unknown = 0;
  if (!r) {
    snprintf(out, 200, "all, some or none of the change may be made; see --leases");
    return;
  }
  for (size_t i = 0; i < r->changes_n; i++) {
    sloop_change_kind_t kind = r->changes[i]->kind;
    so += kind == SLOOP_CHANGE_DONE || kind == SLOOP_CHANGE_WAS_SO || kind == SLOOP_CHANGE_FREE ||
          kind == SLOOP_CHANGE_UNOWNED;
    unknown += kind == SLOOP_CHANGE_UNKNOWN;
  }
  if (r->eviction != SLOOP_EVICTION_NONE)
    snprintf(out, 200, "the worker is evicted");
  else if (!r->changes_n)
    snprintf(out, 200, "nothing was changed");
  else if (unknown)
    snprintf(out, 200,
             "%zu of %zu leases are %s, and %zu more may be; run the same command again to continue", so,
             r->changes_n, done, unknown);
  else
    snprintf(out, 200, "%zu of %zu leases are %s; run the same command again to continue", so, r->changes_n,
             done);
}

int slp_lease_result(slp_buf *b, int status, const sloop_admin_result_t *r) {
  page p = {b, status};
  say_eviction(&p, r);
  say_changes(&p, r);
  say_what_follows(&p, r);
  return slp_buf_failed(b);
}
