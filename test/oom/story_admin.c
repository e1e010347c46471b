/* story_admin.c - an operator without memory: looks at the leases of a worker that died, has one explained,
 * releases a shard and the worker, resets all. What it changes is right or left alone: a worker after it
 * reads everything that it must. */
#include "oom/reader.h"

#include <stdio.h>

typedef struct how_desk {
  const char *schema;
} how_desk;

typedef struct admin {
  oom_reader x;
  uint8_t told;
  int status;
  size_t leases_n;
} admin;

static void on_text(sloop_t *s, int status, const char *text, const sloop_error_t *e, void *arg) {
  admin *d = arg;
  (void)s;
  if (d->told) oom_bad(d->x.run, "an operator was answered twice");
  if (!text || (status != 0) != (e != NULL))
    oom_bad(d->x.run, "an answer without a text, or without its error");
  slp_sim_trace(d->x.world->sim, "operator: %d %s %s", status, text ? text : "", e ? e->message : "");
  d->told = 1;
  d->status = status;
}

static void on_leases(sloop_t *s, int status, const sloop_leases_t *l, const sloop_error_t *e, void *arg) {
  admin *d = arg;
  on_text(s, status, "", e, arg);
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
static void live_and_die(oom_run *r, slp_world *w, const how_desk *how, oom_marks *marks, char worker[130]) {
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
  if (wait_for(d, "leases", sloop_admin_leases(x->s, on_leases, d)) && d->leases_n != 2)
    oom_bad(x->run, "%zu leases", d->leases_n);
  (void)wait_for(d, "explain", sloop_admin_explain(x->s, "shardId-000000000001", on_text, d));
  (void)wait_for(d, "release", sloop_admin_release(x->s, "shardId-000000000000", on_text, d));
  (void)wait_for(d, "release of a worker", sloop_admin_release(x->s, worker, on_text, d));
  return wait_for(d, "reset", sloop_admin_reset(x->s, NULL, &oldest, 0, on_text, d));
}

static void play(oom_run *r, const void *arg) {
  const how_desk *how = arg;
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

static const how_desk sloop = {NULL}, kcl = {"kcl"};
const oom_story oom_desk_stories[] = {{"desk", play, &sloop}, {"desk_kcl", play, &kcl}, {NULL, NULL, NULL}};
