/* old.c - a program of the first header (sloop_0_1.h), run with a library whose structs have grown.
 * usage: old STREAM RECORDS; prints payloads like print.c, and at the end whether it saw what it must. Behind each
 * struct that it lends to the library stand bytes which no library may read or change. */
#include "sloop_0_1.h"
#include <stdio.h>
#include <string.h>
#include <uv.h>

#define GUARD 0xa5
typedef struct {
  sloop_opts_t o;
  unsigned char behind[512];
} opts_room;
typedef struct {
  sloop_stats_t st;
  unsigned char behind[512];
} stats_room;
typedef struct {
  sloop_creds_t c;
  unsigned char behind[512];
} creds_room;
static unsigned long expected, seen, listed, shards_seen, stats_calls, creds_calls, wrong;

static void whole(const unsigned char *behind, size_t n, const char *what) {
  size_t i;
  for (i = 0; i < n; i++)
    if (behind[i] != GUARD) {
      wrong++;
      fprintf(stderr, "the library wrote behind %s\n", what);
      return;
    }
}
static void must(int holds, const char *what) {
  if (holds) return;
  wrong++;
  fprintf(stderr, "wrong: %s\n", what);
}
static void on_listed(sloop_t *s, int status, const sloop_shard_t *const *shards, size_t n,
                      const sloop_error_t *e, void *arg) {
  size_t i;
  (void)s, (void)e, (void)arg;
  must(status == 0, "the list of shards");
  for (i = 0; i < n; i++) {
    must(strncmp(shards[i]->id, "shardId-", 8) == 0, "a shard's id");
    must(i == 0 || strcmp(shards[i - 1]->id, shards[i]->id) < 0, "the shards' order");
    must(shards[i]->closed == 0, "an open shard");
  }
  listed = (unsigned long)n;
}
static void each(const sloop_shard_stats_t *shard, void *arg) {
  (void)arg;
  must(strncmp(shard->shard, "shardId-", 8) == 0 && !shard->paused, "a shard's statistics");
}
static void on_closed(sloop_t *s, int status, void *arg) { (void)s, (void)status, (void)arg; }
static void finish(sloop_t *s) {
  stats_room room;
  memset(&room, GUARD, sizeof room);
  sloop_stats_get(s, &room.st, sizeof room.st);
  whole(room.behind, sizeof room.behind, "sloop_stats_t");
  must(room.st.records == expected, "records counted");
  must(room.st.dead_letters == 0, "the last statistic");
  sloop_shard_stats_each(s, each, NULL);
  sloop_close(s, on_closed, NULL);
}
static void on_batch(sloop_t *s, sloop_batch_t *batch, void *arg) {
  size_t i, n = sloop_batch_count(batch);
  (void)arg;
  for (i = 0; i < n; i++) {
    const sloop_record_t *r = sloop_batch_at(batch, i);
    must(r->whole.len == 0 && r->attempt == 1 && r->flags == 0, "a record");
    fwrite(r->data.base, 1, r->data.len, stdout);
    putchar('\n');
  }
  seen += (unsigned long)n;
  sloop_batch_done(batch, n);
  if (seen == expected && listed) finish(s);
}
static void on_shard(sloop_t *s, const sloop_shard_event_t *e, void *arg) {
  (void)s, (void)arg;
  shards_seen += e->kind == SLOOP_SHARD_OPENED && strncmp(e->shard, "shardId-", 8) == 0;
}
static void on_stats(sloop_t *s, const sloop_stats_t *st, void *arg) {
  (void)s, (void)arg;
  stats_calls++;
  must(st->records <= expected && st->dead_letters == 0, "statistics that were told");
}
static void on_error(sloop_t *s, const sloop_error_t *e, void *arg) {
  (void)s, (void)arg;
  wrong++;
  fprintf(stderr, "%s: %s\n", sloop_err_name(e->code), e->message);
}
static void creds(sloop_t *s, sloop_creds_req_t *rq, void *arg) {
  creds_room room;
  (void)s, (void)arg;
  memset(&room, GUARD, sizeof room);
  sloop_creds_init(&room.c);
  whole(room.behind, sizeof room.behind, "sloop_creds_t");
  room.c.access_key = "EXAMPLE";
  room.c.secret_key = "example";
  creds_calls++;
  sloop_creds_done(rq, 0, &room.c, NULL);
}
int main(int argc, char **argv) {
  uv_loop_t *loop = uv_default_loop();
  static opts_room room;
  sloop_t *s;
  char why[200] = "";
  if (argc != 3 || sscanf(argv[2], "%lu", &expected) != 1) return 2;
  memset(&room, GUARD, sizeof room);
  sloop_opts_init(&room.o);
  whole(room.behind, sizeof room.behind, "sloop_opts_t");
  must(room.o.size == sizeof room.o && room.o.weight == 1 && !room.o.on_lease, "the defaults");
  room.o.stream = argv[1];
  room.o.start.kind = SLOOP_OLDEST;
  room.o.stats_ms = 1;
  room.o.creds = creds;
  room.o.on_batch = on_batch;
  room.o.on_shard = on_shard;
  room.o.on_stats = on_stats;
  room.o.on_error = on_error;
  if (sloop_open(&s, loop, &room.o, why, sizeof why)) return fprintf(stderr, "open: %s\n", why), 2;
  must(sloop_start(s) == 0 && sloop_list(s, on_listed, NULL) == 0, "start and list");
  uv_run(loop, UV_RUN_DEFAULT);
  must(seen == expected && listed > 0 && shards_seen == listed && creds_calls > 0, "all of it");
  must(stats_calls > 0, "on_stats");
  fflush(stdout);
  fprintf(stderr, "%s with %s\n", wrong ? "not as it was" : "as it was", sloop_version());
  return wrong || uv_loop_close(loop) ? 1 : 0;
}
