/* oom_changes.c - a table's changes through rollovers, with and without leases, and on from the token or
 * the leases. */
#include "fault/oom_table.h"

typedef struct how_changes {
  const char *app, *schema;
} how_changes;

static void trouble(slp_world *w) {
  slp_world_faults(w,
                   "1 GetRecords * throttle\n1 GetRecords * expired\n1 DescribeStream * status 500\n"
                   "1 GetShardIterator * html\n");
}

/* The token so far, in the world's memory; NULL: none. */
static char *save(oom_reader *x) {
  size_t len = 0;
  char *token;
  int rc = sloop_token(x->s, NULL, &len);
  if (rc != SLP_ENOBUFS) {
    oom_answer(x->run, "save", rc, SLOOP_ESTATE);
    return NULL;
  }
  token = slp_alloc(x->world->mem, len);
  SLP_CHECK(token);
  rc = sloop_token(x->s, token, &len);
  oom_answer(x->run, "save", rc, 0);
  if (rc == 0) return token;
  slp_free(x->world->mem, token);
  return NULL;
}

static void live(oom_reader *x) {
  slp_world *w = x->world;
  if (oom_reader_begin(x)) return;
  oom_reader_pass(x, 2000);
  trouble(w);
  oom_table_write(w, x->marks, 20);
  oom_reader_pass(x, 2000);
  SLP_CHECK(slp_box_roll(w->box, slp_world_ms(w), OOM_TABLE, 1) == 0);
  oom_table_write(w, x->marks, 20);
  oom_reader_pass(x, 8000);
  slp_world_faults(w, NULL);
  if (x->run->way != OOM_FOREVER) oom_reader_read_all(x, 180000);
  if (x->fatal) oom_answer(x->run, "on_error", x->fatal, 0);
}

static void read_on(oom_run *r, slp_world *w, const how_changes *how, const oom_marks *before,
                    const char *token) {
  oom_reader next;
  oom_marks marks = *before;
  if (!how->app && !token) memset(marks.done, 0, sizeof marks.done); /* from the oldest */
  oom_reader_init(&next, r, w, "dynamodb:" OOM_TABLE, &marks, oom_mem(r));
  next.opts.app = how->app;
  next.opts.schema = how->schema;
  if (!how->app && token) next.opts.start.kind = SLOOP_AT_TOKEN;
  next.opts.start.token = token;
  oom_table_write(w, &marks, 5);
  if (oom_reader_begin(&next) == 0) oom_reader_read_all(&next, 180000);
  oom_reader_end(&next);
}

static void play(oom_run *r, const void *arg) {
  const how_changes *how = arg;
  oom_marks marks = {.n = 0};
  char *token = NULL;
  slp_world *w = oom_table_world(r);
  oom_table_write(w, &marks, 30);
  oom_reader x;
  oom_reader_init(&x, r, w, "dynamodb:" OOM_TABLE, &marks, oom_mem(r));
  x.opts.app = how->app;
  x.opts.schema = how->schema;
  r->armed = 1;
  live(&x);
  if (x.s && how->app) oom_reader_stop(&x, 1000);
  if (x.s && !how->app) token = save(&x);
  r->armed = 0;
  oom_reader_end(&x);
  if (!r->bad[0]) read_on(r, w, how, &marks, token);
  slp_free(w->mem, token);
  if (!r->bad[0]) slp_world_free(w);
}

static const how_changes plain = {NULL, NULL}, leases = {"billing", NULL}, kcl = {"billing", "kcl"};
const oom_story oom_changes_stories[] = {{"changes", play, &plain},
                                         {"changes_leases", play, &leases},
                                         {"changes_kcl", play, &kcl},
                                         {NULL, NULL, NULL}};
