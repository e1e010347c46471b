/* oom_metrics.c - a consumer with metrics: pages asked for over HTTP and data told to CloudWatch. Whoever
 * asks is answered: with the page, or with status 503. */
#include "fault/oom_reader.h"

#include <stdio.h>

#include "swarm/inside.h"

typedef struct scene {
  oom_run *run;
  slp_host_ops ops;
  slp_listener *listener;
  slp_event closed_ev, ask_ev;
  slp_served rq;
  const char *path;
  int status; /* of the answer; 0: none yet */
  size_t answer_n;
  uint64_t puts; /* calls of CloudWatch */
  void (*serve)(void *arg, const slp_sim_ask *ask, slp_sim_reply *reply);
  void *serve_arg;
} scene;
static scene *here; /* the functions of a host are not given one */

/* ---- a listener without sockets ------------------------------------------------------------------------ */
static int op_listen(slp_host *h, slp_listener *l, const char *address, uint16_t port) {
  (void)h, (void)address, (void)port;
  l->port = 9100;
  here->listener = l;
  return 0;
}

static void run_closed(slp_event *ev) {
  (void)ev;
  slp_listener *l = here->listener;
  here->listener = NULL;
  if (here->rq.on_gone) here->rq.on_gone(&here->rq);
  here->rq.on_gone = NULL;
  if (l->on_closed) l->on_closed(l);
}

static void op_listen_close(slp_listener *l) {
  here->closed_ev.run = run_closed;
  slp_post(l->host, &here->closed_ev);
}

static void op_serve(slp_served *rq, const slp_serve_answer *a) {
  (void)rq;
  if (here->status) oom_bad(here->run, "two answers to one request");
  here->status = a ? a->status : -1;
  here->rq.on_gone = NULL;
  if (!a || !a->body) return;
  here->answer_n = a->body->n;
  slp_buf_free(a->body);
}

static void run_ask(slp_event *ev) {
  (void)ev;
  if (here->listener) here->listener->on_request(here->listener, &here->rq);
}

static void ask(oom_reader *x, const char *path) {
  if (!here->listener) return;
  here->rq = (slp_served){.listener = here->listener, .method = SLP_STR("GET"), .path = slp_str_of(path)};
  here->status = 0;
  here->answer_n = 0;
  here->ask_ev.run = run_ask;
  slp_post(x->host, &here->ask_ev);
  oom_reader_pass(x, 200);
  if (here->status == -1)
    oom_answer(x->run, path, SLP_ENOMEM, 0); /* not even for an answer */
  else if (here->status != 200 && here->status != 503)
    oom_bad(x->run, "%s answered %d", path, here->status);
  if (here->status == 200 && strcmp(path, "/metrics") == 0 && here->answer_n < 2000)
    oom_bad(x->run, "a page of %zu bytes", here->answer_n);
  if (here->status == 503 && strcmp(path, "/metrics") == 0) oom_answer(x->run, path, SLP_ENOMEM, 0);
}

/* ---- CloudWatch ---------------------------------------------------------------------------------------- */
static void serve(void *arg, const slp_sim_ask *rq, slp_sim_reply *reply) {
  scene *c = arg;
  slp_str target = slp_sim_ask_header(rq, "x-amz-target");
  if (!target.n || !memmem(target.p, target.n, "PutMetricData", 13)) {
    c->serve(c->serve_arg, rq, reply);
    return;
  }
  c->puts++;
  reply->status = 200;
  snprintf(reply->content_type, sizeof reply->content_type, "application/x-amz-json-1.0");
}

static const char *environment(void *ctx, const char *name) {
  (void)ctx;
  return strcmp(name, "AWS_ENDPOINT_URL_CLOUDWATCH") == 0 ? "http://cloudwatch.sim" : NULL;
}

static void live(oom_reader *x, slp_known_stream *s) {
  sloop_metrics_t *m = NULL;
  sloop_metrics_opts_t o;
  char why[160];
  if (oom_reader_open(x)) return;
  sloop_metrics_opts_init(&o);
  o.listen = "127.0.0.1:9100";
  o.cloudwatch = "Shop";
  o.cloudwatch_ms = 1000;
  int rc = sloop_metrics_open(&m, x->s, &o, why, sizeof why);
  oom_answer(x->run, "metrics", rc, 0);
  if ((rc == 0) != (m != NULL)) oom_bad(x->run, "metrics: %d, and %s", rc, m ? "some" : "none");
  if (oom_reader_begin(x)) return;
  for (int i = 0; i < 3; i++) {
    ask(x, "/metrics");
    ask(x, "/ready");
    oom_reader_pass(x, 700);
  }
  slp_world_put_many(x->world, s, 10, 50);
  x->marks->n = x->world->ids;
  if (x->run->way != OOM_FOREVER) oom_reader_read_all(x, 180000);
  if (x->fatal) oom_answer(x->run, "on_error", x->fatal, 0);
  oom_reader_pass(x, 3000);
  if (m && x->run->way != OOM_FOREVER && !x->fatal && !here->puts)
    oom_bad(x->run, "CloudWatch was told nothing");
  oom_reader_stop(x, 1000);
}

static void play(oom_run *r, const void *how) {
  oom_marks marks = {.n = 0};
  scene c = {.run = r};
  (void)how;
  here = &c;
  slp_world *w = oom_world(r, NULL);
  slp_known_stream *s = slp_world_stream(w, "orders", 3);
  slp_world_put_many(w, s, 30, 50);
  marks.n = w->ids;
  c.serve = w->sim->serve;
  c.serve_arg = w->sim->serve_arg;
  slp_sim_serve(w->sim, serve, &c);
  oom_reader x;
  oom_reader_init(&x, r, w, "orders", &marks, oom_mem(r));
  x.outside.getenv_fn = environment;
  c.ops = *x.host->ops;
  c.ops.listen = op_listen;
  c.ops.listen_close = op_listen_close;
  c.ops.serve = op_serve;
  x.host->ops = &c.ops;
  r->armed = 1;
  live(&x, s);
  r->armed = 0;
  oom_reader_end(&x);
  if (!r->bad[0]) slp_world_free(w);
}

const oom_story oom_metrics_stories[] = {{"metrics", play, NULL}, {NULL, NULL, NULL}};
