/* oom.c - every allocation of a story fails once, and every allocation from some moment on fails: the story
 * ends well or with a clean error, no promise is broken, close always works, and all memory comes back.
 *
 *   oom                                  all of it
 *   oom once|forever STORY N             one run, with everything that happens on standard error */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/num.h"
#include "sim/user.h"

typedef struct failing {
  uint64_t asked, fail_at; /* fail_at 0: never */
  uint8_t forever;
} failing;

static void *failing_alloc(void *ctx, void *p, size_t was, size_t want) {
  failing *f = ctx;
  (void)was;
  if (want == 0) {
    free(p);
    return NULL;
  }
  f->asked++;
  if (f->fail_at && (f->asked == f->fail_at || (f->forever && f->asked > f->fail_at))) return NULL;
  return realloc(p, want);
}

typedef struct outcome {
  char bad[500];
  uint64_t asked;
} outcome;

static const struct {
  const char *name;
  sloop_wire_kind wire;
  sloop_order_kind order;
  sloop_start_kind start;
  const char *app; /* with leases */
} stories[] = {{"cbor", SLOOP_WIRE_CBOR, SLOOP_ORDER_TIME, SLOOP_OLDEST, NULL},
               {"json", SLOOP_WIRE_JSON, SLOOP_ORDER_SHARD, SLOOP_OLDEST, NULL},
               {"auto", SLOOP_WIRE_AUTO, SLOOP_ORDER_TIME, SLOOP_LATEST, NULL},
               {"leases", SLOOP_WIRE_JSON, SLOOP_ORDER_SHARD, SLOOP_OLDEST, "billing"}};

static void print_line(void *arg, const char *line) { fprintf(arg, "%s\n", line); }

static void trouble(slp_world *w) {
  slp_world_faults(
      w,
      "1 ListShards * throttle\n1 GetRecords * expired\n1 GetRecords * html\n1 GetRecords * throttle\n"
      "1 GetRecords * status 500\n1 GetShardIterator * error ResourceNotFoundException:400\n");
}

static void wait_s(slp_user *u, uint64_t s) { slp_world_pass(u->world, s * 1000); }

/* 0: open and started. */
static int begin(slp_user *u) {
  int rc = slp_user_open(u);
  if (rc) {
    if (rc != SLP_ENOMEM) slp_oracle_bad(u->oracle, "open said %d: %s", rc, u->why);
    if (u->s) slp_oracle_bad(u->oracle, "open failed and gave a consumer");
    return rc;
  }
  slp_oracle_on_start(u->judged);
  SLP_CALL(u->oracle, rc = sloop_start(u->s));
  if (rc && rc != SLP_ENOMEM) slp_oracle_bad(u->oracle, "start said %d", rc);
  return rc;
}

/* Each may fail for lack of memory, and then nothing has changed. */
static void move_about(slp_user *u) {
  (void)slp_user_save(u);
  for (int i = 0; i < 2; i++) {
    sloop_position_t to = {.kind = i ? SLOOP_OLDEST : SLOOP_AT_TOKEN, .token = i ? NULL : u->token};
    if (!i && !u->token) continue;
    int rc = slp_user_move(u, &to);
    if (rc && rc != SLP_ENOMEM && rc != SLOOP_ESTATE) slp_oracle_bad(u->oracle, "move said %d", rc);
    wait_s(u, 2);
    if (rc == 0 && u->move_told && u->move_status && u->move_status != SLP_ENOMEM)
      slp_oracle_bad(u->oracle, "move told %d", u->move_status);
  }
}

static void play(slp_user *u, slp_known_stream *s, const failing *f) {
  slp_world *w = u->world;
  if (begin(u)) return;
  wait_s(u, 2);
  slp_world_put_many(w, s, 20, 50);
  trouble(w);
  wait_s(u, 3);
  (void)slp_world_split(w, s, 0);
  slp_user_list(u);
  wait_s(u, 2);
  slp_world_put_many(w, s, 20, 50);
  slp_user_pause(u, s->shards[1].id);
  wait_s(u, 2);
  slp_user_resume(u, s->shards[1].id);
  slp_user_stats(u);
  move_about(u);
  wait_s(u, 2);
  u->manners.give_back_ppm = 0;
  slp_world_faults(w, NULL);
  if (!f->forever && !u->judged->failed && !slp_user_catch_up(u, 180000) && !u->oracle->bad[0]) {
    char why[200] = "";
    slp_oracle_all_read(u->judged, why, sizeof why);
    slp_oracle_bad(u->oracle, "one failed allocation and then not all was read: %s", why);
  }
  slp_user_stop(u, 1000);
  wait_s(u, u->opts.app ? 3 : 2);
  if (u->judged->stop_pending) slp_oracle_bad(u->oracle, "stop was never told");
}

static void run(size_t story, uint64_t fail_at, int forever, int trace, outcome *ret) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  failing f = {0};
  slp_mem *lib_mem = slp_mem_new(failing_alloc, &f);
  slp_user u;
  slp_world *w = slp_world_new(mem, 7, NULL);
  if (trace) slp_sim_on_trace(w->sim, print_line, stderr);
  slp_known_stream *s = slp_world_stream(w, "orders", 2);
  slp_world_put_many(w, s, 30, 50);
  slp_world_put_aggregate(w, s, 70, 20);
  slp_world_put_aggregate(w, s, 3, 20);
  slp_user_init_mem(&u, w, s, lib_mem);
  u.opts.wire = stories[story].wire;
  u.opts.order = stories[story].order;
  u.opts.start = stories[story].start;
  u.opts.app = stories[story].app;
  u.opts.batch_records_max = 10;
  u.opts.stats_ms = 500;
  u.opts.poll_ms = 500;
  u.manners = (slp_manners){
      .hold_us_min = 100, .hold_us_max = 300000, .give_back_ppm = 300000, .ack_singly_ppm = 300000};
  u.oracle->memory_fails = fail_at > 0;
  f.asked = 0;
  f.fail_at = fail_at;
  f.forever = (uint8_t)forever;
  play(&u, s, &f);
  slp_user_finish(&u);
  slp_user_leave(&u);
  slp_sim_run(w->sim, slp_sim_now_us(w->sim) + UINT64_C(300000000), NULL, NULL);
  if (lib_mem->live_blocks) slp_oracle_bad(u.oracle, "%zu blocks never came back", lib_mem->live_blocks);
  if (slp_sim_hosts_alive(w->sim)) slp_oracle_bad(u.oracle, "the host never closed");
  snprintf(ret->bad, sizeof ret->bad, "%s", u.oracle->bad);
  ret->asked = f.asked;
  if (ret->bad[0]) return;
  slp_user_free(&u);
  slp_world_free(w);
  slp_mem_drop(mem);
}

/* A range in a process of its own, so that a crash tells where it was. */
static int run_range(size_t story, uint64_t from, uint64_t to, int forever) {
  int bad = 0;
  for (uint64_t n = from; n <= to; n++) {
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
      outcome o;
      alarm(60);
      run(story, n, forever, 0, &o);
      if (o.bad[0]) printf("  %s\n", o.bad);
      fflush(stdout);
      _exit(o.bad[0] != 0);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
    if (WIFSIGNALED(status)) printf("  ended by signal %d\n", WTERMSIG(status));
    printf("BROKEN again: oom %s %s %" PRIu64 "\n", forever ? "forever" : "once", stories[story].name, n);
    bad++;
  }
  return bad;
}

int main(int argc, char **argv) {
  uint64_t n;
  outcome o;
  int bad = 0;
  if (argc == 4 && slp_parse_u64(slp_str_of(argv[3]), &n) == 0) {
    for (size_t i = 0; i < SLP_COUNT(stories); i++) {
      if (strcmp(argv[2], stories[i].name)) continue;
      run(i, n, strcmp(argv[1], "forever") == 0, 1, &o);
      printf("%s\n", o.bad[0] ? o.bad : "fine");
      return o.bad[0] != 0;
    }
  }
  if (argc > 1) {
    fprintf(stderr, "usage: %s [once|forever STORY N]\n", argv[0]);
    return 2;
  }
  for (size_t i = 0; i < SLP_COUNT(stories); i++) {
    run(i, 0, 0, 0, &o);
    if (o.bad[0]) {
      printf("BROKEN without any failure: %s: %s\n", stories[i].name, o.bad);
      return 1;
    }
    int once = run_range(i, 1, o.asked, 0), forever = run_range(i, 1, o.asked, 1);
    printf("%s: %" PRIu64 " allocations; %d broken when one fails, %d when all from one on fail\n",
           stories[i].name, o.asked, once, forever);
    bad += once + forever;
  }
  return bad ? 1 : 0;
}
