/* herd_swarm.c - plays herds, one a seed, and says which seed broke which promise.
 *
 *   herd_swarm [--seeds N] [--from M]     N seeds from M on (500 from 1)
 *   herd_swarm --seed S [--trace] [--shard ID]   one, here, with everything that happens (to one shard)
 *   --without A,B     faults that are taken out; --only A,B: all others are
 *   --workers N, --shards N, --phase MS, --backlog N     instead of what is drawn
 *   --bytes, --typed, --sloop, --kcl, --vmware-go-kcl, --motorway, --kcl-rb, --kinesis, --changes
 *   --named           rows of the KCL name their stream, as those of a MultiStreamTracker do (bytes, Kinesis)
 *   --commands        an operator gives commands about leases meanwhile
 *   --drain           an operator drains the application, and lets it go on (schema sloop)
 *   --times           a table's stream finds times (AT_TIMESTAMP)
 *   --push            records are pushed wherever that can be (typed, Kinesis)
 *   --dead-push       and no subscription ever brings one, with retrieval auto
 *   --hash            a line for each seed: its number and the hash of all that happened
 *   --twice           each seed is played twice, and must be the same; else every 25th is
 *   --no-shrink       a seed that fails is told as it is
 *   --file F          seeds that once failed: lines of options, '#' and why
 *
 * A child plays, so that an abort is a finding too. A seed that fails is made smaller for as long as it
 * breaks the same rule, and the line that plays it again is printed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/num.h"
#include "base/probe.h"
#include "cpu.h"
#include "swarm/herd.h"
#include "swarm/share.h"

#define SECONDS_A_SEED 120
#define SLOW_KEPT 5
#define TWICE_EVERY 25 /* of many seeds so many are played a second time */
#define PROBES_MAX 512

typedef struct request {
  uint64_t from, seeds;
  hd_wish wish;
  const char *shard, *file;
  uint8_t one, trace, hash, twice, no_shrink;
  uint8_t of_file; /* one of many, whose sums are printed together */
} request;

typedef struct sums { /* shared with the child that plays */
  uint64_t at;        /* the seed at hand */
  uint64_t seeds, virtual_ms, events, records, repeats, overlaps, rows, calls, ownerships, lives, broken;
  uint64_t faults[HF_N], with[HF_N]; /* happened; seeds that had it on */
  struct {
    uint64_t seed, ms;
  } slow[SLOW_KEPT];
  uint64_t twice;
  uint64_t probes[PROBES_MAX], probed_in[PROBES_MAX]; /* times; seeds */
  hd_verdict last;                                    /* of the seed that failed */
} sums;

static const char *program;

/* ---- one seed ------------------------------------------------------------------------------------------ */
static void tell(const char *line) { printf("  %s\n", line); }

static void print_line(void *arg, const char *line) {
  const char *shard = arg;
  if (!shard || strstr(line, shard)) fprintf(stderr, "%s\n", line);
}

static hd_rule play_seed(const request *q, uint64_t seed, const hd_wish *wish, int quiet, hd_verdict *v) {
  hd_plan plan;
  hd_plan_draw(&plan, seed, wish);
  plan.unhashed = !q->twice && !q->hash;
  hd_play(&plan, v, quiet ? NULL : tell, q->trace && !quiet ? print_line : NULL, (void *)(uintptr_t)q->shard);
  if (!v->rule && q->twice) {
    uint64_t first = v->trace_hash;
    hd_play(&plan, v, NULL, NULL, NULL);
    if (v->trace_hash != first) {
      v->rule = HD_S13_SAME;
      snprintf(v->text, sizeof v->text, "two runs of one seed differ: %" PRIx64 ", %" PRIx64, first,
               v->trace_hash);
      if (!quiet) tell(v->text);
    }
  }
  return v->rule;
}

/* ---- places that are seldom reached -------------------------------------------------------------------- */
#ifdef SLP_MUTANTS
static void add_probes(sums *s) {
  size_t i = 0;
  for (slp_probe *p = __start_slp_probes; p < __stop_slp_probes && i < PROBES_MAX; p++, i++) {
    s->probes[i] += p->times;
    s->probed_in[i] += p->times > 0;
    p->times = 0;
  }
}

static void print_probes(const sums *s) {
  size_t i = 0;
  printf("places (times, in seeds):\n");
  for (slp_probe *p = __start_slp_probes; p < __stop_slp_probes && i < PROBES_MAX; p++, i++)
    printf("  %12" PRIu64 " %8" PRIu64 "  %s\n", s->probes[i], s->probed_in[i], p->name);
}
#else
static void add_probes(sums *s) { (void)s; }
static void print_probes(const sums *s) { (void)s; }
#endif

static void note_slow(sums *s, uint64_t seed, uint64_t ms) {
  size_t least = 0;
  for (size_t i = 1; i < SLOW_KEPT; i++)
    if (s->slow[i].ms < s->slow[least].ms) least = i;
  if (ms > s->slow[least].ms) {
    s->slow[least].seed = seed;
    s->slow[least].ms = ms;
  }
}

static void add_up(sums *s, const request *q, uint64_t seed, const hd_verdict *v) {
  hd_plan plan;
  hd_plan_draw(&plan, seed, &q->wish);
  s->seeds++;
  s->virtual_ms += v->virtual_ms;
  s->events += v->events;
  s->records += v->records;
  s->repeats += v->repeats;
  s->overlaps += v->overlaps;
  s->rows += v->rows;
  s->calls += v->calls;
  s->ownerships += v->ownerships;
  s->lives += v->lives;
  for (size_t i = 0; i < HF_N; i++) {
    s->faults[i] += v->faults[i];
    s->with[i] += plan.rate[i] > 0;
  }
}

/* ---- making a failure smaller -------------------------------------------------------------------------- */
/* Played in a child; -1: it ended by a signal. */
static int rule_of(const request *q, uint64_t seed, const hd_wish *wish, sums *shared) {
  fflush(stdout);
  pid_t pid = fork();
  if (pid == 0) {
    sim_compute_at_most(SECONDS_A_SEED);
    if (!freopen("/dev/null", "w", stderr)) _exit(0);
    (void)play_seed(q, seed, wish, 1, &shared->last);
    _exit(shared->last.rule ? 1 : 0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  if (WIFSIGNALED(status)) return -1;
  return WEXITSTATUS(status) ? (int)shared->last.rule : 0;
}

static int try_it(const request *q, uint64_t seed, hd_wish *best, const hd_wish *smaller, int rule,
                  sums *shared) {
  if (memcmp(best, smaller, sizeof *best) == 0 || rule_of(q, seed, smaller, shared) != rule) return 0;
  *best = *smaller;
  return 1;
}

static void shrink(const request *q, uint64_t seed, hd_wish *best, int rule, sums *shared) {
  for (int again = 1; again;) {
    again = 0;
    hd_plan plan;
    for (size_t f = 0; f < HF_N; f++) {
      hd_wish w = *best;
      hd_plan_draw(&plan, seed, best);
      if (!plan.rate[f]) continue;
      w.without |= UINT64_C(1) << f;
      again |= try_it(q, seed, best, &w, rule, shared);
    }
    hd_plan_draw(&plan, seed, best);
    hd_wish w = *best;
    if (plan.workers > 1) w.workers = plan.workers - 1;
    again |= try_it(q, seed, best, &w, rule, shared);
    w = *best;
    if (plan.shards > 1) w.shards = plan.shards / 2;
    again |= try_it(q, seed, best, &w, rule, shared);
    w = *best;
    if (plan.phase_ms > 2000) w.phase_ms = plan.phase_ms * 3 / 4;
    again |= try_it(q, seed, best, &w, rule, shared);
    w = *best;
    if (plan.backlog > 0) w.backlog = plan.backlog / 2;
    again |= try_it(q, seed, best, &w, rule, shared);
  }
}

static void print_wish(uint64_t seed, const hd_wish *w) {
  int first = 1;
  printf("  again: %s --seed %" PRIu64, program, seed);
  for (size_t f = 0; f < HF_N; f++) {
    if (!(w->without >> f & 1)) continue;
    printf("%s%s", first ? " --without " : ",", hd_fault_name((hd_fault)f));
    first = 0;
  }
  if (w->workers != UINT32_MAX) printf(" --workers %u", w->workers);
  if (w->shards != UINT32_MAX) printf(" --shards %u", w->shards);
  if (w->phase_ms != UINT32_MAX) printf(" --phase %u", w->phase_ms);
  if (w->backlog != UINT32_MAX) printf(" --backlog %u", w->backlog);
  if (w->seam >= 0) printf(w->seam ? " --typed" : " --bytes");
  if (w->push) printf(w->push > 1 ? " --dead-push" : " --push");
  if (w->named) printf(" --named");
  if (w->commands) printf(" --commands");
  if (w->drain) printf(" --drain");
  if (w->times) printf(" --times");
  if (w->schema >= 0) printf(" --%s", hd_names_of[w->schema].schema);
  if (w->source >= 0) printf(w->source ? " --changes" : " --kinesis");
  printf("\n");
  fflush(stdout);
}

static void tell_failure(const request *q, uint64_t seed, int rule, sums *shared) {
  hd_wish best = q->wish;
  printf("seed %" PRIu64 ": %s\n", seed, rule < 0 ? "ended by a signal" : hd_rule_name((hd_rule)rule));
  print_wish(seed, &best);
  if (q->no_shrink) return;
  shrink(q, seed, &best, rule, shared);
  printf("  smaller, as long as it breaks the same:\n");
  print_wish(seed, &best);
  fflush(stdout);
  pid_t pid = fork(); /* and its story */
  if (pid == 0) {
    sim_compute_at_most(SECONDS_A_SEED);
    (void)play_seed(q, seed, &best, 0, &shared->last);
    fflush(stdout);
    _exit(0);
  }
  waitpid(pid, NULL, 0);
}

/* ---- many seeds ---------------------------------------------------------------------------------------- */
static void play_in_child(const request *q, uint64_t from, uint64_t to, sums *s) {
  for (uint64_t seed = from; seed < to; seed++) {
    s->at = seed;
    sim_compute_at_most(SECONDS_A_SEED);
    uint64_t before = cpu_us();
    hd_verdict v;
    request one = *q;
    one.twice |= seed % TWICE_EVERY == 0 && !q->hash && !q->of_file;
    s->twice += one.twice;
    hd_rule rule = play_seed(&one, seed, &q->wish, 1, &v);
    s->last = v;
    if (rule) _exit(1);
    if (q->hash) printf("%" PRIu64 " %016" PRIx64 "\n", seed, v.trace_hash);
    note_slow(s, seed, (cpu_us() - before) / 1000);
    add_up(s, q, seed, &v);
    add_probes(s);
  }
  fflush(stdout);
  _exit(0);
}

static void print_sums(const sums *s) {
  printf("%" PRIu64 " herds, %.1f virtual hours, %" PRIu64 " lives, %" PRIu64 " tenancies, %" PRIu64
         " records, %" PRIu64 " repeats, %" PRIu64 " overlaps, %" PRIu64 " versions of rows, %" PRIu64
         " calls, %" PRIu64 " events; %" PRIu64 " broken\n",
         s->seeds, (double)s->virtual_ms / 3.6e6, s->lives, s->ownerships, s->records, s->repeats,
         s->overlaps, s->rows, s->calls, s->events, s->broken);
  printf("faults (times, in seeds):");
  for (size_t i = 0; i < HF_N; i++)
    printf(" %s %" PRIu64 "/%" PRIu64, hd_fault_name((hd_fault)i), s->faults[i], s->with[i]);
  printf("\nplayed twice %" PRIu64 "; slowest (ms of CPU):", s->twice);
  for (size_t i = 0; i < SLOW_KEPT; i++)
    if (s->slow[i].ms) printf(" %" PRIu64 ": %" PRIu64, s->slow[i].seed, s->slow[i].ms);
  printf("\n");
}

static int play_many(const request *q, sums *s) {
  uint64_t next = q->from, to = q->from + q->seeds;
  while (next < to && s->broken < 10) {
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) play_in_child(q, next, to, s);
    int status = 0;
    waitpid(pid, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) break;
    uint64_t seed = s->at;
    s->broken++;
    tell_failure(q, seed, WIFSIGNALED(status) ? -1 : (int)s->last.rule, s);
    next = seed + 1;
  }
  if (q->hash || q->of_file) return s->broken ? 1 : 0;
  print_sums(s);
  print_probes(s);
  return s->broken ? 1 : 0;
}

static int play_one(const request *q, sums *s) {
  hd_verdict v;
  hd_rule rule = play_seed(q, q->from, &q->wish, 0, &v);
  if (q->hash) {
    printf("%" PRIu64 " %016" PRIx64 "\n", q->from, v.trace_hash);
  } else {
    add_up(s, q, q->from, &v);
    s->broken = rule != 0;
    print_sums(s);
  }
  return rule ? 1 : 0;
}

/* ---- the command line ---------------------------------------------------------------------------------- */
static int read_faults(const char *list, uint64_t *bits) {
  while (*list) {
    char name[40];
    size_t n = strcspn(list, ",");
    if (n >= sizeof name) return -1;
    memcpy(name, list, n);
    name[n] = 0;
    hd_fault f = hd_fault_of(name);
    if (f == HF_N) return -1;
    *bits |= UINT64_C(1) << f;
    list += n + (list[n] == ',');
  }
  return 0;
}

static int number_of(const char *text, uint64_t *to) {
  return text ? slp_parse_u64(slp_str_of(text), to) : -1;
}

static hd_schema schema_of(const char *name) {
  size_t i = 0;
  while (i < HD_SCHEMAS && strcmp(hd_names_of[i].schema, name) != 0) i++;
  return (hd_schema)i;
}

static int read_args(request *q, int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    const char *a = argv[i], *next = i + 1 < argc ? argv[i + 1] : NULL;
    uint64_t n = 0, bits = 0;
    if (strcmp(a, "--trace") == 0)
      q->trace = 1;
    else if (strcmp(a, "--hash") == 0)
      q->hash = 1;
    else if (strcmp(a, "--twice") == 0)
      q->twice = 1;
    else if (strcmp(a, "--no-shrink") == 0)
      q->no_shrink = 1;
    else if (strcmp(a, "--bytes") == 0)
      q->wish.seam = 0;
    else if (strcmp(a, "--push") == 0)
      q->wish.push = 1;
    else if (strcmp(a, "--dead-push") == 0)
      q->wish.push = 2;
    else if (strcmp(a, "--named") == 0)
      q->wish.named = 1;
    else if (strcmp(a, "--commands") == 0)
      q->wish.commands = 1;
    else if (strcmp(a, "--drain") == 0)
      q->wish.drain = 1;
    else if (strcmp(a, "--times") == 0)
      q->wish.times = 1;
    else if (strcmp(a, "--typed") == 0)
      q->wish.seam = 1;
    else if (strncmp(a, "--", 2) == 0 && schema_of(a + 2) < HD_SCHEMAS)
      q->wish.schema = (int)schema_of(a + 2);
    else if (strcmp(a, "--kinesis") == 0)
      q->wish.source = 0;
    else if (strcmp(a, "--changes") == 0)
      q->wish.source = 1;
    else if (!next)
      return -1;
    else if (i++, strcmp(a, "--shard") == 0)
      q->shard = next;
    else if (strcmp(a, "--file") == 0)
      q->file = next;
    else if (strcmp(a, "--without") == 0 && read_faults(next, &bits) == 0)
      q->wish.without |= bits;
    else if (strcmp(a, "--only") == 0 && read_faults(next, &bits) == 0)
      q->wish.without |= ~bits;
    else if (number_of(next, &n))
      return -1;
    else if (strcmp(a, "--seeds") == 0)
      q->seeds = sim_share(n);
    else if (strcmp(a, "--from") == 0)
      q->from = n;
    else if (strcmp(a, "--seed") == 0)
      q->from = n, q->one = 1;
    else if (strcmp(a, "--workers") == 0)
      q->wish.workers = (uint32_t)n;
    else if (strcmp(a, "--shards") == 0)
      q->wish.shards = (uint32_t)n;
    else if (strcmp(a, "--phase") == 0)
      q->wish.phase_ms = (uint32_t)n;
    else if (strcmp(a, "--backlog") == 0)
      q->wish.backlog = (uint32_t)n;
    else
      return -1;
  }
  int fits = (q->wish.workers == UINT32_MAX || (q->wish.workers >= 1 && q->wish.workers <= HD_WORKERS_MAX)) &&
             (q->wish.shards == UINT32_MAX || (q->wish.shards >= 1 && q->wish.shards <= 64));
  return fits ? 0 : -1;
}

static void request_none(request *q) {
  *q = (request){.from = 1, .seeds = 500};
  hd_wish_none(&q->wish);
}

/* Seeds that once failed, for ever. The file is closed before any is played: a child that exits would move the
 * place in it. */
static int play_file(const char *path, sums *s) {
  static char all[1 << 20];
  char *words[64], *rest = NULL;
  FILE *f = fopen(path, "r");
  if (!f) {
    perror(path);
    return 2;
  }
  size_t size = fread(all, 1, sizeof all - 1, f);
  all[size] = 0;
  fclose(f);
  if (size == sizeof all - 1) {
    fprintf(stderr, "%s: too large\n", path);
    return 2;
  }
  for (char *line = strtok_r(all, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
    request q;
    int n = 1;
    line[strcspn(line, "#")] = 0;
    for (char *w = strtok(line, " "); w && n < 64; w = strtok(NULL, " ")) words[n++] = w;
    if (n == 1) continue;
    request_none(&q);
    if (read_args(&q, n, words) || !q.one) {
      fprintf(stderr, "%s: a line is not understood\n", path);
      return 2;
    }
    q.seeds = 1;
    q.no_shrink = 1;
    q.of_file = 1;
    (void)play_many(&q, s);
  }
  print_sums(s);
  return s->broken ? 1 : 0;
}

int main(int argc, char **argv) {
  request q;
  program = argv[0];
  request_none(&q);
  if (read_args(&q, argc, argv)) {
    fprintf(stderr, "usage: %s [--seeds N] [--from M] | --seed S [--trace] [--shard ID]; see herd_swarm.c\n",
            program);
    return 2;
  }
  sums *s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (s == MAP_FAILED) return 2;
  memset(s, 0, sizeof *s);
  if (q.file) return play_file(q.file, s);
  return q.one ? play_one(&q, s) : play_many(&q, s);
}
