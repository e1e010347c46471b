/* fleet_refused.c - the service refuses the position of a shard, whoever asks: no fleet of any layout takes such a
 * lease again and again. SCENE_TRACE=1 prints what happens. */
#define CHECK_SECONDS 300
#include "story/fleet_world.h"

#include <inttypes.h>
#include <sys/wait.h>
#include <unistd.h>

static const fw_layout *layout;
static fw_world *refused_world(uint64_t seed, int shards) { return fw_new_of(seed, shards, layout); }
#define WORLD refused_world
#include "story/fleet_play.h"

#define WORKERS 3
/* A try, one more for each worker whose clock is ahead by more than the first span, and those of spans that grow:
 * after 60, 180 and 420 s. */
#define AT_ONCE_MAX 2
#define TEN_MINUTES_MAX 7

static int is_saved(fw_world *w) { return w->pos[1].kind == SLP_POSITION_AFTER && fw_owner_of(w, 1) >= 0; }
static int is_read(fw_world *w) { return w->shards[1].unread_us == UINT64_MAX; }

static void most(fw_world *w, uint64_t n) {
  if (w->refusals > n)
    fw_wrong(w, "S10 rate: a shard that is refused was tried %" PRIu64 " times", w->refusals);
  fine(w);
}

/* Its owner dies, and the service refuses it to whoever goes on. */
static fw_world *with_a_refused_shard(void) {
  fw_world *w = world(2);
  start(w, WORKERS);
  until(w, 600 * FW_S, is_saved);
  w->refuses[1] = 1;
  fw_kill(w, fw_owner_of(w, 1));
  return w;
}

static void refused(void) {
  fw_world *w = with_a_refused_shard();
  for (int i = 0; i < 600 && !w->refusals; i++) run(w, FW_S);
  CHECK(w->refusals > 0);
  run(w, 25 * FW_S);
  most(w, AT_ONCE_MAX);
  int told = tell_shut(w, 0, 1); /* where nobody leads, two may take themselves for the first for a while */
  CHECK(layout ? told >= 1 : told == 1);
  run(w, 575 * FW_S);
  most(w, TEN_MINUTES_MAX);
  CHECK(w->refusals > 1); /* it is tried again */
  w->refuses[1] = 0;
  until(w, 800 * FW_S, is_read);
  run(w, 90 * FW_S); /* until who tells of it has read the rows again */
  CHECK_INT(tell_shut(w, 0, 0), 0);
  fw_free(w);
}

static const fw_layout *const layouts[] = {
    NULL, &fw_layout_kcl, &fw_layout_vmware, &fw_layout_kinsumer, &fw_layout_motorway, &fw_layout_kcl_rb};

TEST(a_refused_position_is_tried_seldom_whoever_tries_in_every_layout) {
  for (size_t i = 0; i < SLP_COUNT(layouts); i++) {
    layout = layouts[i];
    for (seed = 1; seed <= 4; seed++) refused();
  }
}

/* As an operator's command writes it. */
TEST(a_position_that_was_set_anew_is_read_before_the_back_off_is_over) {
  layout = NULL;
  for (seed = 1; seed <= 6; seed++) {
    fw_world *w = with_a_refused_shard();
    char row[48], number[24];
    for (int i = 0; i < 60 && !w->refusals; i++) run(w, FW_S);
    run(w, 5 * FW_S);
    snprintf(row, sizeof row, "l/%s", w->shards[1].id);
    CHECK(strlen(fw_row(w, row, "refused")) > 0);
    snprintf(number, sizeof number, "%llu", strtoull(fw_row(w, row, "epoch"), NULL, 10) + 1);
    fw_operator_set(w, row, "pos", "0:oldest");
    fw_operator_number(w, row, "epoch", number);
    snprintf(row, sizeof row, "w/%s", w->nodes[leader(w)]->id);
    snprintf(number, sizeof number, "%llu", strtoull(fw_row(w, row, "pv"), NULL, 10) + 1);
    fw_operator_number(w, row, "pv", number);
    until(w, 15 * FW_S, is_read);
    CHECK_INT(tell_shut(w, 0, 0), 0);
    finish(w);
  }
}

/* ---- planted mistakes -------------------------------------------------------------------------- */

/* fleet_refused --part "refused FIRST LAST": that scene with each of these seeds, for test/swarm/mutants_hunt.py. */
static int play(const char *part) {
  unsigned first = 0, last = 0, wrong = 0;
  if (sscanf(part, "refused %u %u", &first, &last) != 2) return 2;
  for (seed = first; seed <= last; seed++) {
    int status = 0;
    printf("seed %" PRIu64 "\n", seed);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
      dup2(STDOUT_FILENO, STDERR_FILENO);
      alarm(CHECK_SECONDS);
      layout = layouts[seed % SLP_COUNT(layouts)];
      refused();
      exit(0);
    }
    waitpid(pid, &status, 0);
    wrong += status != 0;
  }
  return wrong ? 1 : 0;
}
CHECK_PART(play)
