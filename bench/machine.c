/* machine.c - the benchmarks' view of the machine: CPUs, clocks, memory, child processes, and medians. */
#include "bench.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void bench_die(const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  fputs("bench: ", stderr);
  vfprintf(stderr, fmt, args);
  fputc('\n', stderr);
  va_end(args);
  exit(1);
}

int bench_small(int argc, char **argv, const char *what) {
  if (argc == 1) return 0;
  if (argc == 2 && strcmp(argv[1], "--small") == 0) return 1;
  fprintf(stderr, "usage: %s [--small]\n%s\n", argv[0], what);
  exit(2);
}

bench_cpus bench_cpus_find(void) {
  cpu_set_t set;
  bench_cpus cpus = {0, 0};
  int found = 0;
  if (sched_getaffinity(0, sizeof set, &set)) bench_die("sched_getaffinity: %s", strerror(errno));
  for (int i = 0; i < CPU_SETSIZE && found < 2; i++) {
    if (!CPU_ISSET(i, &set)) continue;
    if (found++ == 0) cpus.client = i;
    cpus.server = i;
  }
  if (found < 2) fputs("bench: only one CPU to use: client and server share it\n", stderr);
  return cpus;
}

void bench_pin(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (sched_setaffinity(0, sizeof set, &set)) bench_die("sched_setaffinity: %s", strerror(errno));
}

double bench_clock_s(clockid_t id) {
  struct timespec t;
  if (clock_gettime(id, &t)) bench_die("clock_gettime: %s", strerror(errno));
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double bench_wall_s(void) { return bench_clock_s(CLOCK_MONOTONIC); }

double bench_cpu_s(void) { return bench_clock_s(CLOCK_PROCESS_CPUTIME_ID); }

uint64_t bench_rss_bytes(void) {
  FILE *f = fopen("/proc/self/statm", "r");
  unsigned long long all = 0, resident = 0;
  if (!f) return 0;
  if (fscanf(f, "%llu %llu", &all, &resident) != 2) resident = 0;
  fclose(f);
  return (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* VmHWM and not ru_maxrss: the latter is inherited from the parent over fork. */
uint64_t bench_rss_peak_bytes(void) {
  FILE *f = fopen("/proc/self/status", "r");
  char line[256];
  unsigned long long kib = 0;
  if (!f) return 0;
  while (fgets(line, sizeof line, f))
    if (sscanf(line, "VmHWM: %llu kB", &kib) == 1) break;
  fclose(f);
  return (uint64_t)kib * 1024;
}

void bench_read_whole(int fd, void *to, size_t n, const char *who) {
  char *p = to;
  while (n) {
    ssize_t got = read(fd, p, n);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) bench_die("%s ended without its result", who);
    p += got;
    n -= (size_t)got;
  }
}

static void write_whole(int fd, const void *from, size_t n) {
  const char *p = from;
  while (n) {
    ssize_t put = write(fd, p, n);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) exit(1);
    p += put;
    n -= (size_t)put;
  }
}

bench_started bench_child_start(int cpu, unsigned limit_s, void (*fn)(const void *job, void *result),
                                const void *job, void *result, size_t result_size) {
  int ends[2];
  if (pipe(ends)) bench_die("pipe: %s", strerror(errno));
  fflush(NULL);
  pid_t pid = fork();
  if (pid < 0) bench_die("fork: %s", strerror(errno));
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_IGN);
    close(ends[0]);
    bench_pin(cpu);
    alarm(limit_s);
    memset(result, 0, result_size);
    fn(job, result);
    write_whole(ends[1], result, result_size);
    exit(0);
  }
  close(ends[1]);
  return (bench_started){pid, ends[0], result, result_size};
}

void bench_child_end(bench_started *child) {
  int status = 0;
  bench_read_whole(child->said, child->result, child->result_size, "a client process");
  close(child->said);
  while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR) continue;
  if (!WIFEXITED(status) || WEXITSTATUS(status)) bench_die("a client process failed at its end");
}

void bench_child(int cpu, unsigned limit_s, void (*fn)(const void *job, void *result), const void *job,
                 void *result, size_t result_size) {
  bench_started child = bench_child_start(cpu, limit_s, fn, job, result, result_size);
  bench_child_end(&child);
}

/* ---- figures --------------------------------------------------------------------------------- */
static int smaller_first(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

bench_spread bench_spread_of(const double *values, size_t n) {
  double sorted[BENCH_ROUNDS_MAX];
  if (n == 0 || n > BENCH_ROUNDS_MAX) bench_die("%zu rounds", n);
  memcpy(sorted, values, n * sizeof *values);
  qsort(sorted, n, sizeof *sorted, smaller_first);
  double middle = n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
  return (bench_spread){middle, sorted[0], sorted[n - 1]};
}

const char *bench_spread_text(char out[64], bench_spread s, int decimals) {
  snprintf(out, 64, "%.*f (%.*f to %.*f)", decimals, s.median, decimals, s.min, decimals, s.max);
  return out;
}

void *bench_alloc(void *ctx, void *p, size_t was, size_t want) {
  bench_heap *heap = ctx;
  if (!want) {
    free(p);
    heap->live -= was;
    return NULL;
  }
  void *got = realloc(p, want);
  if (!got) return NULL;
  heap->live += want - was;
  if (heap->live > heap->peak) heap->peak = heap->live;
  return got;
}

/* The finaliser of MurmurHash3's 64-bit form (public domain constants). */
uint64_t bench_mix(uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdu;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53u;
  return x ^ (x >> 33);
}
