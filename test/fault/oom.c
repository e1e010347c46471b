/* oom.c - plays every story (oom.h) with every allocation failing: it alone, all for the next ten seconds,
 * and all from it on.
 *
 *   oom [STORY]                          some allocations of each, other ones by SLOOP_TEST_SEED;
 *                                        SLOOP_TEST_FULL=1: every one
 *   oom once|while|forever STORY N       one run, with everything that happens on standard error */
#include "fault/oom.h"

#include <inttypes.h>
#include <sloop.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/num.h"
#include "swarm/share.h"

#define PART 48 /* failure points of an ordinary run, about, of each story and each way to fail */

static const oom_story *const lists[] = {oom_read_stories, oom_changes_stories, oom_admin_stories,
                                         oom_metrics_stories, oom_keys_stories};

#define WHILE_US UINT64_C(10000000)
static const char *const ways[OOM_WAYS] = {"once", "while", "forever"};

/* ---- what stories use ---------------------------------------------------------------------------------- */
static int fails(oom_run *r) {
  if (!r->armed) return 0;
  uint64_t now = slp_sim_now_us(r->sim) + 1;
  r->asked++;
  if (!r->fail_at || r->asked < r->fail_at) return 0;
  if (!r->first_us) r->first_us = now;
  if (r->way == OOM_ONCE) return r->asked == r->fail_at;
  return r->way == OOM_FOREVER || now < r->first_us + WHILE_US;
}

static void *failing_alloc(void *ctx, void *p, size_t was, size_t want) {
  oom_run *r = ctx;
  (void)was;
  if (want == 0) {
    r->live -= p != NULL;
    free(p);
    return NULL;
  }
  if (fails(r)) return NULL;
  void *got = realloc(p, want);
  SLP_CHECK(got);
  r->live += p == NULL;
  return got;
}

slp_mem *oom_mem(oom_run *r) {
  SLP_CHECK(!r->armed);
  return slp_mem_new(failing_alloc, r);
}

void oom_bad(oom_run *r, const char *fmt, ...) {
  va_list args;
  if (r->bad[0]) return;
  va_start(args, fmt);
  vsnprintf(r->bad, sizeof r->bad, fmt, args);
  va_end(args);
}

void oom_answer(oom_run *r, const char *what, int code, int also) {
  if (code == SLP_ENOMEM)
    r->clean = 1;
  else if (code && code != also)
    oom_bad(r, "%s said %d (%s)", what, code, sloop_err_name(code));
  if (code == SLP_ENOMEM && !r->fail_at) oom_bad(r, "%s said %d, and no memory failed", what, code);
}

static void print_line(void *arg, const char *line) { fprintf(arg, "%s\n", line); }

slp_world *oom_world(oom_run *r, const sloop_sandbox_opts_t *o) {
  slp_world *w = slp_world_new(r->mem, 7, o);
  r->sim = w->sim;
  if (r->trace) slp_sim_on_trace(w->sim, print_line, stderr);
  return w;
}

/* Around where something was wrong once, for ever: n moves a little as the product changes. */
static const struct {
  const char *story;
  oom_way way;
  uint64_t from, to;
} kept[] = {
    {"changes", OOM_ONCE, 32, 46},     /* a token named the stream as its user did, and was refused later */
    {"sqlite", OOM_ONCE, 34, 48},      /* the file's names were lost without the store */
    {"metrics", OOM_A_WHILE, 26, 40}}; /* no memory to ask for keys was told as bad keys */

/* ---- runs ---------------------------------------------------------------------------------------------- */
typedef enum { WORKED, CLEAN, SILENT, BROKEN, ENDS } end_of_run;
static const char *const end_names[ENDS] = {"worked", "said no memory", "could not even say so", "broken"};

static end_of_run run(const oom_story *s, oom_run *r) {
  r->mem = slp_mem_new(NULL, NULL);
  s->play(r, s->how);
  if (r->bad[0]) return BROKEN;
  if (r->live) oom_bad(r, "%" PRId64 " blocks never came back", r->live);
  if (r->mem->live_blocks) oom_bad(r, "the story itself keeps %zu blocks", r->mem->live_blocks);
  slp_mem_drop(r->mem);
  return r->bad[0] ? BROKEN : r->clean ? CLEAN : r->silent ? SILENT : WORKED;
}

/* In a process of its own, so that a crash tells where it was. */
static end_of_run run_apart(const oom_story *s, uint64_t n, oom_way way) {
  fflush(stdout);
  pid_t pid = fork();
  if (pid == 0) {
    oom_run r = {.fail_at = n, .way = way};
    alarm(60);
    end_of_run end = run(s, &r);
    if (r.bad[0]) printf("  %s\n", r.bad);
    fflush(stdout);
    _exit((int)end);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) < BROKEN) return (end_of_run)WEXITSTATUS(status);
  if (WIFSIGNALED(status)) printf("  ended by signal %d\n", WTERMSIG(status));
  printf("BROKEN again: oom %s %s %" PRIu64 "\n", ways[way], s->name, n);
  return BROKEN;
}

/* How far one failure point is from the next: prime, so that it falls out of step with what repeats. */
static uint64_t stride(uint64_t all, uint64_t seed, uint64_t part) {
  const char *full = getenv("SLOOP_TEST_FULL");
  if (full && strcmp(full, "1") == 0) return 1;
  uint64_t p = slp_max_u64(all / part, 2) + seed % 16;
  for (uint64_t d = 2; d * d <= p; d++)
    if (p % d == 0) d = 1, p++;
  return p;
}

static uint64_t number_of(const char *name, uint64_t other) {
  uint64_t n;
  const char *text = getenv(name);
  return text && slp_parse_u64(slp_str_of(text), &n) == 0 ? n : other;
}

/* The number of broken runs. */
static uint64_t play_all(const oom_story *s, uint64_t *points) {
  uint64_t ends[OOM_WAYS][ENDS] = {{0}}, tried = 0, broken = 0, seed = number_of("SLOOP_TEST_SEED", 1);
  oom_run r = {0};
  if (run(s, &r) != WORKED) {
    printf("BROKEN without any failure: %s: %s\n", s->name, r.bad);
    return 1;
  }
  uint64_t step = stride(r.asked, seed, sim_share(PART));
  for (uint64_t n = 1 + seed * 7919 % step; n <= r.asked; n += step, tried++)
    for (int way = 0; way < OOM_WAYS; way++) ends[way][run_apart(s, n, (oom_way)way)]++;
  printf("%-14s %5" PRIu64 " allocations, %5" PRIu64 " tried", s->name, r.asked, tried);
  for (int way = 0; way < OOM_WAYS; way++) {
    printf("; %s:", ways[way]);
    for (int e = 0; e < ENDS; e++) printf("%s %" PRIu64 " %s", e ? "," : "", ends[way][e], end_names[e]);
    broken += ends[way][BROKEN];
  }
  printf("\n");
  *points += OOM_WAYS * tried;
  return broken;
}

static uint64_t play_kept(void) {
  uint64_t broken = 0, points = 0;
  for (size_t k = 0; k < SLP_COUNT(kept); k++)
    for (size_t i = 0; i < SLP_COUNT(lists); i++)
      for (const oom_story *s = lists[i]; s->name; s++)
        for (uint64_t n = kept[k].from; n <= kept[k].to && !strcmp(s->name, kept[k].story); n++, points++)
          broken += run_apart(s, n, kept[k].way) == BROKEN;
  printf("%" PRIu64 " failure points where something once broke, %" PRIu64 " broken\n", points, broken);
  return broken;
}

static int play_one(const oom_story *s, oom_way way, uint64_t n) {
  oom_run r = {.fail_at = n, .way = way, .trace = 1};
  end_of_run end = run(s, &r);
  printf("%s: %s\n", end_names[end], r.bad);
  return end == BROKEN;
}

int main(int argc, char **argv) {
  uint64_t n = 0, points = 0, broken = 0, played = 0;
  int one = argc == 4 && slp_parse_u64(slp_str_of(argv[3]), &n) == 0;
  const char *name = one ? argv[2] : argc == 2 ? argv[1] : NULL;
  oom_way way = OOM_ONCE;
  while (one && way < OOM_WAYS && strcmp(argv[1], ways[way])) way++;
  one &= way < OOM_WAYS;
  for (size_t i = 0; i < SLP_COUNT(lists) && (one || argc <= 2); i++) {
    for (const oom_story *s = lists[i]; s->name; s++) {
      if (name && strcmp(name, s->name)) continue;
      if (one) return play_one(s, way, n);
      broken += play_all(s, &points);
      played++;
    }
  }
  if (!played) {
    fprintf(stderr, "usage: %s [STORY], or %s once|while|forever STORY N\n", argv[0], argv[0]);
    return 2;
  }
  if (!name) broken += play_kept();
  printf("%" PRIu64 " failure points in %" PRIu64 " stories, %" PRIu64 " broken\n", points, played, broken);
  return broken ? 1 : 0;
}
