/* oom_fleet.c - a fleet of three, one of them with memory that fails: one allocation, or all from one on. It ends
 * well or with clean trouble: nothing is lost or read by two (the judge of story/fleet_world.h), the others go
 * on, all memory comes back. Workers come and go meanwhile, shards split and merge, answers are lost.
 *
 *   oom_fleet                       a part of all places; SLOOP_TEST_FULL=1: all of them
 *   oom_fleet once|forever N        one run, with everything that happens on standard error */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/num.h"
#include "story/fleet_world.h"

#define PART 60 /* places of an ordinary run */

typedef struct failing {
  uint64_t asked, fail_at; /* fail_at 0: never */
  int64_t live;
  uint8_t forever, armed;
} failing;

static void *failing_alloc(void *ctx, void *p, size_t was, size_t want) {
  failing *f = ctx;
  (void)was;
  if (want == 0) {
    f->live -= p != NULL;
    free(p);
    return NULL;
  }
  f->asked += f->armed;
  if (f->armed && f->fail_at && (f->asked == f->fail_at || (f->forever && f->asked > f->fail_at)))
    return NULL;
  f->live += p == NULL;
  return realloc(p, want);
}

static int at_rest(fw_world *w) {
  fw_reap(w);
  return fw_all_read(w) && fw_settled(w);
}

/* The first worker leads and is the one whose memory fails; those that come after it have their own. */
static fw_world *begin(failing *f, int trace, void (*print)(void *arg, const char *line)) {
  fw_world *w = fw_new(5, 3);
  if (trace) slp_sim_on_trace(w->sim, print, NULL);
  w->node_alloc = failing_alloc;
  w->node_ctx = f;
  fw_start(w, 0, "w0", 0);
  w->node_alloc = NULL;
  f->armed = 1;
  return w;
}

static void play(fw_world *w, failing *f) {
  fw_run(w, 4 * FW_S);
  fw_start(w, 1, "w1", 0);
  fw_run(w, 3 * FW_S);
  fw_start(w, 2, "w2", 0);
  fw_split(w, 0);
  w->faults.unanswered_ppm = 30000;
  fw_run(w, 5 * FW_S);
  w->faults.unanswered_ppm = 0;
  fw_leave(w, 1, 2000);
  fw_merge(w, 1, 2);
  fw_run(w, 5 * FW_S);
  fw_reap(w);
  if (w->nodes[0] && f->fail_at % 2) /* whatever its state: it leaves, or dies */
    fw_leave(w, 0, 2000);
  else
    fw_kill(w, 0);
  fw_run(w, 8 * FW_S);
  f->armed = 0;
  fw_reap(w);
  w->producing = 0;
  if (w->complaint[0]) return;
  if (w->nodes[0] && f->forever) fw_kill(w, 0);
  if (!fw_until(w, 100 * FW_S, at_rest)) fw_wrong(w, "it does not come to rest");
}

static void print_line(void *arg, const char *line) {
  (void)arg;
  fprintf(stderr, "%s\n", line);
}

static uint64_t run(uint64_t fail_at, int forever, int trace, char bad[400]) {
  failing f = {.fail_at = fail_at, .forever = (uint8_t)forever};
  fw_world *w = begin(&f, trace, print_line);
  play(w, &f);
  snprintf(bad, 400, "%s", w->complaint);
  f.armed = 0;
  if (bad[0]) return f.asked;
  fw_free(w);
  if (f.live) snprintf(bad, 400, "%" PRId64 " blocks never came back", f.live);
  return f.asked;
}

/* In a process of its own, so that a crash tells where it was. */
static int run_apart(uint64_t n, int forever) {
  fflush(stdout);
  pid_t pid = fork();
  if (pid == 0) {
    char bad[400];
    alarm(60);
    run(n, forever, 0, bad);
    if (bad[0]) printf("  %s\n", bad);
    fflush(stdout);
    _exit(bad[0] != 0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return 0;
  if (WIFSIGNALED(status)) printf("  ended by signal %d\n", WTERMSIG(status));
  printf("BROKEN again: oom_fleet %s %" PRIu64 "\n", forever ? "forever" : "once", n);
  return 1;
}

int main(int argc, char **argv) {
  char bad[400];
  uint64_t n;
  int broken = 0, runs = 0;
  const char *full = getenv("SLOOP_TEST_FULL");
  if (argc == 3 && slp_parse_u64(slp_str_of(argv[2]), &n) == 0) {
    run(n, strcmp(argv[1], "forever") == 0, 1, bad);
    printf("%s\n", bad[0] ? bad : "fine");
    return bad[0] != 0;
  }
  if (argc > 1) {
    fprintf(stderr, "usage: %s [once|forever N]\n", argv[0]);
    return 2;
  }
  uint64_t all = run(0, 0, 0, bad);
  if (bad[0]) {
    printf("BROKEN without any failure: %s\n", bad);
    return 1;
  }
  uint64_t step = full && strcmp(full, "1") == 0 ? 1 : all / PART + 1;
  for (n = 1; n <= all; n += step, runs++) broken += run_apart(n, 0) + run_apart(n, 1);
  printf("%" PRIu64 " allocations, %d places tried; %d broken\n", all, runs, broken);
  return broken ? 1 : 0;
}
