/* requests.c - requests of the user about shards with leases: to save what is acknowledged; to save a chosen
 * position (a naming, see naming.h); to hand a shard over; and to read a shard again from its saved
 * position. */
#include "base/list.h"
#include "base/mem.h"
#include "core/consumer.h"
#include "core/core.h"
#include "core/leases.h"
#include "core/life.h"
#include "core/lineage.h"
#include "core/mark.h"
#include "core/order.h"
#include "core/position.h"
#include "core/progress.h"
#include "core/report.h"
#include "core/shard_inside.h"
#include "core/standing.h"
#include "host/host.h"
#include "lease/fleet.h"
#include "lease/lease.h"
#include "lease/leased_consumer.h"
#include "lease/leased_inside.h"
#include "lease/naming.h"

#include <sloop.h>

/* ---- saving positions ------------------------------------------------------------------------------- */

/* If the consumer has ended by itself, and the report of that is still due, posts ev again and returns 1. */
static int tells_of_end_first(slp_leased *ld, slp_event *ev) {
  if (!ld->end_status || !slp_report_pending(ld->c)) return 0;
  slp_post(slp_leased_host(ld), ev);
  return 1;
}

static void on_save_event(slp_event *ev) {
  slp_leased *ld = SLP_OWNER(ev, slp_leased, save_ev);
  sloop_cb cb = ld->save_cb;
  void *arg = ld->save_arg;
  if (!ld->save_done) return;
  if (tells_of_end_first(ld, ev)) return;
  ld->save_done = 0;
  ld->save_cb = NULL;
  cb(ld->c->handle, ld->save_status, arg);
}

static void ignore_save_result(sloop_t *s, int status, void *arg) {
  (void)s;
  (void)status;
  (void)arg;
}

static void on_saved(void *arg) {
  slp_leased *ld = arg;
  if (!ld->save_cb || ld->save_done) return; /* the consumer has ended by itself, and the user knows that */
  ld->save_done = 1;
  ld->save_status = 0;
  slp_post(slp_leased_host(ld), &ld->save_ev);
}

int slp_leased_save(slp_consumer *c, const char *shard, sloop_cb cb, void *arg) {
  slp_leased *ld = slp_leased_by(c);
  if (!ld || !ld->fleet || ld->left || ld->save_cb || slp_leased_is_named(c) || c->life != SLP_LIFE_RUNNING)
    return SLOOP_ESTATE;
  if (shard && !slp_lineage_get(c, slp_str_of(shard))) return SLOOP_ENOSHARD;
  if (slp_fleet_save(ld->fleet, slp_str_of(shard), on_saved, ld)) return SLOOP_ESTATE;
  ld->save_cb = cb ? cb : ignore_save_result;
  ld->save_arg = arg;
  return 0;
}

int slp_leased_save_take(slp_consumer *c, sloop_cb *ret_cb, void **ret_arg) {
  slp_leased *ld = slp_leased_by(c);
  if (!ld || !ld->save_cb) return 0;
  *ret_cb = ld->save_cb;
  *ret_arg = ld->save_arg;
  ld->save_cb = NULL;
  ld->save_done = 0;
  return 1;
}

/* ---- positions that the user chooses ------------------------------------------------------------------- */

static int is_sent(void *arg, slp_str shard) {
  slp_leased *ld = arg;
  return slp_namings_have(&ld->c->namings, SLP_NAMING_SENT, shard);
}

static int is_here(void *arg, slp_str shard) {
  slp_leased *ld = arg;
  return slp_lineage_get(ld->c, shard) || slp_leased_reopening(ld, shard);
}

static void on_named_saved(void *arg) {
  slp_leased *ld = arg;
  slp_namings_written(&ld->c->namings, is_here, ld);
  slp_post(slp_leased_host(ld), &ld->named_ev);
}

/* If no other save is under way, writes all waiting namings (positions that the user chose) in one save. */
static void write_namings(slp_leased *ld) {
  slp_list *all = &ld->c->namings;
  slp_str any = {NULL, 0};
  if (!ld->fleet || slp_namings_have(all, SLP_NAMING_SENT, any)) return;
  if (!slp_namings_have(all, SLP_NAMING_WAITS, any)) return;
  slp_namings_move(all, SLP_NAMING_WAITS, SLP_NAMING_SENT);
  if (slp_fleet_save_each(ld->fleet, is_sent, ld, on_named_saved, ld))
    /* another save is under way; when it is done, write_namings is called again */
    slp_namings_move(all, SLP_NAMING_SENT, SLP_NAMING_WAITS);
}

static void on_named_event(slp_event *ev) {
  slp_leased *ld = SLP_OWNER(ev, slp_leased, named_ev);
  slp_consumer *c = ld->c;
  slp_naming told;
  if (tells_of_end_first(ld, ev)) return;
  write_namings(ld);
  if (!slp_namings_take(&c->namings, 1, c->mem, &told)) return;
  slp_post(slp_leased_host(ld), &ld->named_ev);
  if (told.cb) told.cb(c->handle, told.status, told.arg);
}

/* Checks whether the user may choose a position for the shard. Returns 0 and the shard, otherwise an
 * error. */
static int may_name(slp_consumer *c, const char *shard, slp_leased **ret_ld, slp_shard **ret_s) {
  slp_leased *ld = *ret_ld = slp_leased_by(c);
  if (!ld || !ld->fleet || ld->left || !slp_leased_is_named(c) || c->life != SLP_LIFE_RUNNING)
    return SLOOP_ESTATE;
  *ret_s = slp_lineage_get(c, slp_str_of(shard));
  return *ret_s ? 0 : SLOOP_ENOSHARD;
}

/* Returns 1 if the user's position may be written: it is not after the position in the row, or this worker
 * has read a record with its sequence number. A sequence number of another stream must not get into the row,
 * because the service would refuse it to every later owner. */
static int may_be_written(const slp_shard *s, const slp_position *to) {
  const slp_position *saved = s->lease.named.kind ? &s->lease.named : &s->lease.from;
  return slp_position_cmp(to, saved) <= 0 || slp_has_taken_number(&s->at, slp_mark_seq(&to->mark));
}

int slp_leased_name(slp_consumer *c, const char *shard, const slp_position *where, sloop_cb cb, void *arg) {
  slp_leased *ld;
  slp_shard *s;
  slp_position to = *where;
  int r = may_name(c, shard, &ld, &s), ends = to.kind == SLP_POSITION_END;
  if (r) return r;
  if (ends && s->lease.end < SLP_END_TOLD) return SLOOP_ESTATE;
  slp_mark_canonical(&to.mark, c->source->number_digits_min);
  if (!ends && !may_be_written(s, &to)) return SLOOP_EOPTION;
  /* the fleet writes the end of a shard by itself, so a request to save it is done at once */
  r = slp_namings_add(&c->namings, c->mem, s->id, ends ? SLP_NAMING_OVER : SLP_NAMING_WAITS, cb, arg);
  if (r) return r;
  s->lease.progress_us = slp_now_us(slp_leased_host(ld));
  if (ends) {
    if (s->lease.end == SLP_END_TOLD) slp_leased_move_end(s, SLP_END_NAMED);
  } else if (slp_position_cmp(&to, &s->lease.named) > 0) {
    s->lease.named = to;
  }
  slp_fleet_progressed(ld->fleet, s->id);
  slp_post(slp_leased_host(ld), &ld->named_ev);
  return 0;
}

int slp_leased_naming_take(slp_consumer *c, sloop_cb *ret_cb, void **ret_arg) {
  slp_naming told;
  if (!slp_namings_take(&c->namings, 0, c->mem, &told)) return 0;
  *ret_cb = told.cb;
  *ret_arg = told.arg;
  return 1;
}

int slp_leased_hand_over(slp_consumer *c, const char *shard) {
  slp_leased *ld;
  slp_shard *s;
  int r = may_name(c, shard, &ld, &s);
  if (r) return r;
  if (s->lease.drain != SLP_DRAIN_OFFERED) return SLOOP_ESTATE;
  slp_leased_let_go(s);
  return 0;
}

/* ---- slp_leased_rewind: reading a shard again --------------------------------------------------------- */

/* if the shard could not be opened again, the next try is made after this time */
#define REOPEN_AGAIN_US 200000

/* Opens the shard again. Returns 0 if the shard is open or gone; otherwise an error, and the caller tries
 * again later. */
static int reopen_shard(slp_leased *ld, slp_reopening *r) {
  slp_consumer *c = ld->c;
  slp_str id = {r->shard, r->shard_n};
  slp_shard *s = slp_lineage_get(c, id);
  if (!r->retired && (!s || s->lease.drain)) return 0;
  if (!r->retired) {
    if (s->opened_told) slp_report_shard(c, s, SLOOP_SHARD_REPOSITIONED);
    r->held_us = slp_progress_held_us(s);
    r->paused = s->paused;
    r->paused_all = c->paused_all;
    slp_leased_retire(s);
    r->retired = 1;
  }
  int bad = slp_leased_open(&ld->processor, id, r->epoch, &r->from);
  if (bad) return bad;
  s = slp_lineage_get(c, id);
  s->lease.held_us = r->held_us;
  /* A new shard is paused if all shards are. If the user has paused or resumed all shards since this one was
   * removed, it stays like that. Otherwise the shard gets back its own state: the user may have resumed this
   * shard alone. */
  if (s->paused != r->paused && c->paused_all == r->paused_all) slp_consumer_pause(c, r->shard, r->paused);
  return 0;
}

static void on_reopen(slp_timer *t) {
  slp_leased *ld = SLP_OWNER(t, slp_leased, reopen);
  slp_list again;
  slp_list_init(&again);
  for (slp_list *it; !ld->left && (it = slp_list_first(&ld->reopenings));) {
    slp_reopening *r = SLP_OWNER(it, slp_reopening, link);
    int bad = reopen_shard(ld, r);
    slp_list_remove(it);
    if (bad)
      slp_list_add_last(&again, it);
    else
      slp_free(ld->c->mem, r);
  }
  for (slp_list *it; (it = slp_list_pop(&again));) {
    slp_list_add_last(&ld->reopenings, it);
    slp_timer_set_reserved(slp_leased_host(ld), &ld->reopen,
                           slp_after_us(slp_now_us(slp_leased_host(ld)), REOPEN_AGAIN_US));
  }
  slp_leased_go_on(ld->c);
}

int slp_leased_rewind(slp_consumer *c, const char *shard) {
  slp_leased *ld;
  slp_shard *s;
  int r = may_name(c, shard, &ld, &s);
  if (r) return r;
  if (s->lease.drain || s->lease.end == SLP_END_NAMED) return SLOOP_ESTATE;
  if (slp_leased_reopening(ld, s->id)) return 0;
  slp_reopening *o = slp_zalloc(c->mem, sizeof *o + s->id.n + 1);
  if (!o) return SLP_ENOMEM;
  o->epoch = s->name->epoch;
  o->from = s->lease.named.kind ? s->lease.named : s->lease.from;
  o->shard_n = s->id.n;
  memcpy(o->shard, s->id.p, s->id.n);
  slp_list_add_last(&ld->reopenings, &o->link);
  s->lease.rewinds = 1;
  slp_order_update(s);
  slp_timer_set_reserved(slp_leased_host(ld), &ld->reopen, slp_now_us(slp_leased_host(ld)));
  return 0;
}

/* ---- creating and freeing --------------------------------------------------------------------------- */

void slp_leased_requests_init(slp_leased *ld) {
  ld->reopen = (slp_timer){.at_us = UINT64_MAX, .run = on_reopen};
  slp_list_init(&ld->reopenings);
  ld->save_ev.run = on_save_event;
  ld->named_ev.run = on_named_event;
}

void slp_leased_requests_end(slp_leased *ld, int status) {
  ld->end_status = status;
  if (ld->save_cb && !ld->save_done) {
    ld->save_done = 1;
    ld->save_status = status;
    slp_post(slp_leased_host(ld), &ld->save_ev);
  }
  slp_namings_end(&ld->c->namings, status);
  slp_post(slp_leased_host(ld), &ld->named_ev);
}

void slp_leased_requests_free(slp_leased *ld) {
  slp_timer_clear(slp_leased_host(ld), &ld->reopen);
  slp_unpost(&ld->save_ev);
  slp_unpost(&ld->named_ev);
  for (slp_list *it; (it = slp_list_pop(&ld->reopenings));)
    slp_free(ld->c->mem, SLP_OWNER(it, slp_reopening, link));
}
