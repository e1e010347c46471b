/* seek.c - moves a running consumer to another position. The steps of a seek:
 *   1. A new listing is asked for. New shards with the new positions are built from that listing; the old
 *      shards stay.
 *   2. If the new shards can't be built, they are freed, and reading of the old shards continues.
 *   3. Otherwise the old shards are freed at once, with all records that were fetched. The user keeps the
 *      batches, but acknowledging their records has no effect any more.
 *   4. The user's callback is made, and then reading of the new shards starts. */
#include "core/seek.h"

#include "base/fail.h"
#include "base/list.h"
#include "base/map.h"
#include "base/mem.h"
#include "core/batch.h"
#include "core/consumer_inside.h"
#include "core/deliver.h"
#include "core/engine_inside.h"
#include "core/life.h"
#include "core/lineage.h"
#include "core/listing.h"
#include "core/order.h"
#include "core/queue.h"
#include "core/reader.h"
#include "core/report.h"
#include "core/shard_inside.h"
#include "core/start.h"
#include "host/host.h"

#include <sloop.h>

/* A seek whose callback is still to be made. */
typedef struct moving {
  /* in slp_seek.moves, oldest first; of several seeks only the newest is carried out */
  slp_list link;
  slp_start_position *start_position; /* owned; NULL once the consumer has taken it over */
  sloop_cb cb;
  void *arg;
  uint64_t serial; /* number of the first listing that is new enough for this seek */
  int status;      /* the result, given to cb */
  /* over, 1: the seek has ended, so cb must be called. done, 1: the seek succeeded, so the consumer was
   * moved. */
  uint8_t over, done;
} moving;

static moving *first_of(const slp_consumer *c) {
  slp_list *it = slp_list_first(&c->seek.moves);
  return it ? SLP_OWNER(it, moving, link) : NULL;
}

static void moving_free(slp_consumer *c, moving *m) {
  slp_list_remove(&m->link);
  slp_start_position_free(m->start_position);
  slp_free(c->mem, m);
}

/* Makes the callback of seek m come in a later turn, with this status. */
static void end_seek_later(slp_consumer *c, moving *m, int status) {
  m->over = 1;
  m->status = status;
  slp_post(c->engine->host, &c->seek.ev);
}

/* ---- the old shards are freed ------------------------------------------------------------------------ */

static void retire_shard(slp_consumer *c, slp_shard *s) {
  if (s->opened_told) slp_report_shard(c, s, SLOOP_SHARD_REPOSITIONED);
  slp_reader_stop(s);
  slp_order_leave(s);
  slp_queue_detach(s, &c->detached);
}

static void retire_old_shards(slp_consumer *c, slp_map *old) {
  size_t at = 0;
  slp_shard *s;
  slp_batches_forget_shards(c);
  while ((s = slp_map_each(old, &at))) retire_shard(c, s);
  slp_lineage_free_map(old);
  SLP_CHECK(c->sum.open_n == 0 && c->sum.tip_n == 0 && c->sum.waiting_n == 0 && c->sum.queued_n == 0);
}

/* ---- the new shards are built ------------------------------------------------------------------------ */

/* Pauses each new shard whose old shard, the one with the same id, was paused. */
static void keep_pauses(slp_consumer *c, const slp_map *old) {
  size_t at = 0;
  slp_shard *s;
  while ((s = slp_map_each(&c->shards, &at))) {
    const slp_shard *was = slp_map_get(old, s->id);
    if (!was) continue;
    s->paused = was->paused;
    s->paused_us = was->paused_us;
  }
}

/* Replaces the shards of c by new ones. Returns 0 if that succeeded: *old then has the old shards, and
 * *old_waiting_n says how many of them waited to be read. Otherwise nothing has changed, and f says why. */
static int build_new_shards(slp_consumer *c, slp_start_position *start_position, slp_map *old,
                            uint32_t *old_waiting_n, slp_fail *f) {
  *old = c->shards;
  *old_waiting_n = c->sum.waiting_n;
  slp_map_init(&c->shards, c->mem);
  c->sum.waiting_n = 0;
  c->started_from = 0;
  int r = slp_start_take_listing(c);
  if (r) slp_fail_set(f, SLP_NOMEM, r, "no memory to move");
  if (!r) r = slp_start_shards(c, start_position, f);
  c->started_from = 1;
  if (!r) return 0;
  slp_lineage_free_map(&c->shards);
  c->shards = *old;
  c->sum.waiting_n = *old_waiting_n;
  return r;
}

static void carry_out(slp_consumer *c, moving *m) {
  slp_fail f = {0};
  slp_map old;
  uint32_t old_waiting_n;
  if (build_new_shards(c, m->start_position, &old, &old_waiting_n, &f)) {
    slp_report_error(c, &f, NULL, 0, 1, UINT64_MAX);
    end_seek_later(c, m, f.code);
    return;
  }
  uint32_t new_waiting_n = c->sum.waiting_n;
  keep_pauses(c, &old);
  c->sum.waiting_n = old_waiting_n;
  retire_old_shards(c, &old);
  c->sum.waiting_n = new_waiting_n;
  slp_start_position_free(c->start_position);
  c->start_position = m->start_position;
  m->start_position = NULL;
  m->done = 1;
  c->tip_told = 0;
  slp_deliver_anew(c->engine);
  slp_start_tell_losses(c, c->start_position);
  end_seek_later(c, m, 0);
  slp_deliver_soon(c->engine); /* joined consumers may have waited for records of a shard that is freed now */
  slp_pump_soon(c->engine);
}

void slp_seek_listed(slp_consumer *c) {
  if (slp_list_empty(&c->seek.moves)) return;
  moving *m = SLP_OWNER(c->seek.moves.prev, moving, link);
  if (m->over) return;
  if (slp_listing_done(c) < m->serial) {
    slp_listing_soon(c, 0);
    return;
  }
  carry_out(c, m);
}

/* ---- the user's callback ----------------------------------------------------------------------------- */

static void on_event(slp_event *ev) {
  slp_consumer *c = SLP_OWNER(ev, slp_consumer, seek.ev);
  moving *m = first_of(c);
  if (!m || !m->over) return;
  if (slp_report_pending(c)) { /* callbacks that were due before the seek's callback are made first */
    slp_post(c->engine->host, &c->seek.ev);
    return;
  }
  sloop_cb cb = m->cb;
  void *arg = m->arg;
  int status = m->status, done = m->done;
  moving_free(c, m);
  slp_post(c->engine->host, &c->seek.ev);
  if (done && c->life == SLP_LIFE_RUNNING) {
    slp_order_open_ready(c);
    slp_consumer_check(c);
  }
  if (cb) cb(c->handle, status, arg);
}

void slp_seek_cancel(slp_consumer *c, int status) {
  SLP_LIST_EACH(&c->seek.moves, it) {
    moving *m = SLP_OWNER(it, moving, link);
    if (!m->over) end_seek_later(c, m, status);
  }
}

int slp_seek_pending(const slp_consumer *c) { return !slp_list_empty(&c->seek.moves); }

int slp_seek_take(slp_consumer *c, sloop_cb *ret_cb, void **ret_arg) {
  moving *m = first_of(c);
  if (!m) return 0;
  *ret_cb = m->cb;
  *ret_arg = m->arg;
  moving_free(c, m);
  return 1;
}

/* ---- asking for a seek ------------------------------------------------------------------------------- */

static int start_position_of(slp_consumer *c, const sloop_position_t *to, slp_start_position **ret) {
  char why[160] = "";
  int r = slp_start_position_new(ret, c->mem, to, why);
  if (r != SLOOP_ETOKEN) return r;
  slp_fail f = {0};
  slp_fail_set(&f, SLP_REFUSED, r, "%s", why);
  slp_report_error(c, &f, NULL, 0, 1, UINT64_MAX);
  return r;
}

int slp_consumer_seek(slp_consumer *c, const sloop_position_t *to, sloop_cb cb, void *arg) {
  slp_start_position *start_position = NULL;
  if (c->life == SLP_LIFE_OPEN || c->life > SLP_LIFE_RUNNING) return SLOOP_ESTATE;
  int r = start_position_of(c, to, &start_position);
  if (r) return r;
  moving *m = SLP_NEW(c->mem, moving);
  if (!m) {
    slp_start_position_free(start_position);
    return SLP_ENOMEM;
  }
  slp_seek_cancel(c, SLP_ECANCELED);
  m->start_position = start_position;
  m->cb = cb;
  m->arg = arg;
  m->serial = slp_listing_next(c);
  slp_list_add_last(&c->seek.moves, &m->link);
  slp_listing_soon(c, 0);
  return 0;
}

void slp_seek_init(slp_consumer *c) {
  slp_list_init(&c->seek.moves);
  slp_list_init(&c->detached);
  c->seek.ev.run = on_event;
}

void slp_seek_silence(slp_consumer *c) { slp_unpost(&c->seek.ev); }

void slp_seek_free(slp_consumer *c) {
  moving *m;
  slp_seek_silence(c);
  while ((m = first_of(c))) moving_free(c, m);
  slp_queue_forget(&c->detached);
}
