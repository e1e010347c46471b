/* oom_admin.c - an operator without memory: looks at the leases of a worker that died, has one explained,
 * releases a shard and the worker, resets all. What it changes is right or left alone: a worker after it
 * reads everything that it must. */
#include "fault/oom_reader.h"

#include <stdio.h>

typedef struct how_admin {
  const char *schema;
} how_admin;

typedef struct admin {
  oom_reader x;
  uint8_t told;
  int status;
  size_t leases_n;
} admin;

static void is_told(admin *d, int status, int all_there, const sloop_error_t *e) {
  if (d->told) oom_bad(d->x.run, "an operator was answered twice");
  if ((status != 0) != (e != NULL) || (!status && !all_there))
    oom_bad(d->x.run, "success without an answer, or a failure without its error");
  slp_sim_trace(d->x.world->sim, "operator: %d %s", status, e ? e->message : "");
  d->told = 1;
  d->status = status;
}

/* An answer is whole, or there is none. */
static void on_result(sloop_admin_t *s, int status, const sloop_admin_result_t *r, const sloop_error_t *e,
                      void *arg) {
  int whole = r != NULL;
  (void)s;
  for (size_t i = 0; r && i < r->changes_n; i++)
    whole = whole && r->changes[i]->kind && *r->changes[i]->shard;
  if (r && !whole) oom_bad(((admin *)arg)->x.run, "a change of no shard was told");
  is_told(arg, status, whole, e);
}

static void on_explanation(sloop_admin_t *s, int status, const sloop_explanation_t *x, const sloop_error_t *e,
                           void *arg) {
  (void)s;
  if (x && (!x->why || !*x->shard.shard)) oom_bad(((admin *)arg)->x.run, "no reason was told, or no shard");
  is_told(arg, status, x != NULL, e);
}

static void on_leases(sloop_admin_t *s, int status, const sloop_leases_t *l, const sloop_error_t *e,
                      void *arg) {
  admin *d = arg;
  (void)s;
  is_told(d, status, l != NULL, e);
  if ((status == 0) != (l != NULL)) oom_bad(d->x.run, "leases without success, or success without leases");
  if (l && l->bad_rows_n) oom_bad(d->x.run, "a row makes no sense: %s", l->bad_rows[0]);
  d->leases_n = l ? l->leases_n : 0;
}

/* 1: it was done. The watching of an owner may take as long as its lease. */
static int wait_for(admin *d, const char *what, int rc) {
  oom_answer(d->x.run, what, rc, 0);
  if (rc) return 0;
  for (int t = 0; t < 1200 && !d->told; t++) oom_reader_pass(&d->x, 100);
  if (!d->told) oom_bad(d->x.run, "%s was never answered", what);
  oom_answer(d->x.run, what, d->status, 0);
  d->told = 0;
  return d->status == 0;
}

/* A worker that takes all leases, reads all and dies without a word; its instance. */
static void live_and_die(oom_run *r, slp_world *w, const how_admin *how, oom_marks *marks, char worker[130]) {
  oom_reader x;
  oom_reader_init(&x, r, w, "orders", marks, oom_mem(r));
  x.opts.app = "billing";
  x.opts.schema = how->schema;
  x.opts.worker = "w1";
  if (oom_reader_begin(&x) == 0) oom_reader_read_all(&x, 60000);
  oom_reader_pass(&x, 6000); /* checkpoints */
  snprintf(worker, 130, "%s", x.worker);
  oom_reader_end(&x);
}

/* 1: all is to be read again. */
static int operate(admin *d, const char *worker) {
  sloop_position_t oldest = {.kind = SLOOP_OLDEST};
  oom_reader *x = &d->x;
  if (oom_reader_open(x)) return 0;
  if (wait_for(d, "leases", sloop_admin_leases(sloop_admin_of(x->s), on_leases, d)) && d->leases_n != 2)
    oom_bad(x->run, "%zu leases", d->leases_n);
  (void)wait_for(d, "explain",
                 sloop_admin_explain(sloop_admin_of(x->s), "shardId-000000000001", on_explanation, d));
  (void)wait_for(d, "release",
                 sloop_admin_release(sloop_admin_of(x->s), "shardId-000000000000", on_result, d));
  (void)wait_for(d, "release of a worker", sloop_admin_release(sloop_admin_of(x->s), worker, on_result, d));
  return wait_for(d, "reset", sloop_admin_reset(sloop_admin_of(x->s), NULL, &oldest, 0, on_result, d));
}

static void play(oom_run *r, const void *arg) {
  const how_admin *how = arg;
  oom_marks marks = {.n = 0};
  char worker[130];
  slp_world *w = oom_world(r, NULL);
  slp_known_stream *s = slp_world_stream(w, "orders", 2);
  slp_world_put_many(w, s, 40, 50);
  marks.n = w->ids;
  live_and_die(r, w, how, &marks, worker);
  admin d = {.told = 0};
  oom_reader_init(&d.x, r, w, "orders", &marks, oom_mem(r));
  d.x.opts.app = "billing";
  d.x.opts.schema = how->schema;
  r->armed = 1;
  int again = operate(&d, worker);
  r->armed = 0;
  oom_reader_end(&d.x);
  if (r->bad[0]) return;
  oom_reader next;
  if (again) memset(marks.done, 0, sizeof marks.done);
  oom_reader_init(&next, r, w, "orders", &marks, oom_mem(r));
  next.opts.app = "billing";
  next.opts.schema = how->schema;
  slp_world_put_many(w, s, 10, 50);
  marks.n = w->ids;
  if (oom_reader_begin(&next) == 0) oom_reader_read_all(&next, 180000);
  oom_reader_end(&next);
  if (!r->bad[0]) slp_world_free(w);
}

static const how_admin sloop = {NULL}, kcl = {"kcl"};
const oom_story oom_admin_stories[] = {
    {"admin", play, &sloop}, {"admin_kcl", play, &kcl}, {NULL, NULL, NULL}};
