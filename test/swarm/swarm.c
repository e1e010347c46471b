/* swarm.c - plays random worlds, one a seed, each in a process of its own, and says which seed broke a
 * promise.
 *
 *   swarm                      200 seeds from 1 on, every tenth twice to see that a seed is a run
 *   swarm --seeds A..B         those seeds
 *   swarm --seeds A..B --enough N   until so many of them broke a promise
 *   swarm ... --typed          over typed calls, typed.h
 *   swarm --seed S [--trace]   one seed, here; with everything that happens, on standard error */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/num.h"
#include "swarm/plan.h"
#include "swarm/share.h"

#define SECONDS_A_SEED 120

static uint8_t typed;

static void print_line(void *arg, const char *line) { fprintf(arg, "%s\n", line); }

#define BROKEN_N 400
/* The first broken rule of a seed is kept where it outlives a crash that follows. */
static void keep_broken(void *arg, const char *line) {
  char *broken = arg;
  const char *at = strstr(line, "BROKEN: ");
  if (at && !broken[0]) snprintf(broken, BROKEN_N, "%s", at + 8);
}

/* 0: fine. broken: NULL, or room for what broke. */
static int play_seed(uint64_t seed, int trace, int twice, int tell, char *broken) {
  slp_plan plan;
  slp_verdict v, second;
  slp_plan_draw(&plan, seed);
  plan.typed = typed;
  if (broken)
    slp_plan_drive(&plan, &v, keep_broken, broken);
  else
    slp_plan_drive(&plan, &v, trace ? print_line : NULL, stderr);
  if (!v.bad[0] && twice) {
    slp_plan_drive(&plan, &second, NULL, NULL);
    if (second.trace_hash != v.trace_hash)
      snprintf(v.bad, sizeof v.bad, "S13 same: two runs of one seed differ: %" PRIx64 ", %" PRIx64,
               v.trace_hash, second.trace_hash);
  }
  if (tell || v.bad[0])
    printf("seed %" PRIu64 ": %" PRIu64 " records, %" PRIu64 " again, %" PRIu64 " late, %" PRIu64
           " calls, %" PRIu64 " errors, %" PRIu64 " ends, %" PRIu64 " events, %" PRIu64
           " virtual s, trace %016" PRIx64 "\n",
           seed, v.records, v.again, v.late, v.calls, v.errors, v.ended, v.events, v.virtual_ms / 1000,
           v.trace_hash);
  if (v.bad[0]) {
    char text[1200];
    slp_plan_print(&plan, text, sizeof text);
    printf("  BROKEN %s\n  plan %s\n", v.bad, text);
  }
  fflush(stdout);
  return v.bad[0] != 0;
}

static int play_many(uint64_t from, uint64_t to, uint64_t enough, const char *program) {
  uint64_t broken = 0, told = 0;
  char *before = mmap(NULL, BROKEN_N, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (before == MAP_FAILED) return 2;
  for (uint64_t seed = from; seed <= to && told < enough; seed++) {
    before[0] = 0;
    pid_t pid = fork();
    if (pid == 0) {
      sim_compute_at_most(SECONDS_A_SEED);
      _exit(play_seed(seed, 0, seed % 10 == 0, 0, before));
    }
    int status = 0;
    waitpid(pid, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
    broken++;
    told += WIFEXITED(status) || before[0];
    if (WIFSIGNALED(status)) {
      printf("seed %" PRIu64 ": ended by signal %d\n", seed, WTERMSIG(status));
      if (before[0]) printf("  BROKEN before that: %s\n", before);
    }
    printf("  again: %s --seed %" PRIu64 " --trace%s\n", program, seed, typed ? " --typed" : "");
    fflush(stdout);
  }
  printf("%" PRIu64 " seeds, %" PRIu64 " broken\n", to - from + 1, broken);
  return broken ? 1 : 0;
}

int main(int argc, char **argv) {
  uint64_t from = 1, to = 200, enough = UINT64_MAX, seed;
  if (argc > 1 && strcmp(argv[argc - 1], "--typed") == 0) {
    typed = 1;
    argc--;
  }
  if (argc >= 3 && strcmp(argv[1], "--seed") == 0 && slp_parse_u64(slp_str_of(argv[2]), &seed) == 0)
    return play_seed(seed, argc > 3 && strcmp(argv[3], "--trace") == 0, 0, 1, NULL);
  if (argc == 5 && strcmp(argv[3], "--enough") == 0 && slp_parse_u64(slp_str_of(argv[4]), &enough) == 0)
    argc = 3;
  if (argc == 3 && strcmp(argv[1], "--seeds") == 0) {
    const char *dots = strstr(argv[2], "..");
    if (dots && slp_parse_u64((slp_str){argv[2], (size_t)(dots - argv[2])}, &from) == 0 &&
        slp_parse_u64(slp_str_of(dots + 2), &to) == 0 && from <= to)
      return play_many(from, from + sim_share(to - from + 1) - 1, enough, argv[0]);
  }
  if (argc > 1) {
    fprintf(stderr, "usage: %s [--seeds A..B [--enough N] | --seed S [--trace]]\n", argv[0]);
    return 2;
  }
  return play_many(from, from + sim_share(to - from + 1) - 1, enough, argv[0]);
}
