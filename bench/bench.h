/* bench.h - the common parts of the benchmarks: pinned child processes, a sandbox in a process of its own,
 * the bare libcurl client that is the floor, and small statistics.
 *
 * Every figure is taken in a fresh child process, so that memory and CPU time belong to one run only. The
 * client is pinned to the first CPU this process may use and the server to the second. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>
#include <sloop.h>
#include <sloop_sandbox.h>

#define BENCH_ROUNDS_MAX 15

/* ---- the machine ---- */
typedef struct bench_cpus {
  int client, server; /* equal when only one CPU may be used: said in the output */
} bench_cpus;
bench_cpus bench_cpus_find(void);
void bench_pin(int cpu);
double bench_clock_s(clockid_t id);
double bench_wall_s(void);      /* monotonic */
double bench_cpu_s(void);       /* of this process, user and system */
uint64_t bench_rss_bytes(void); /* of this process, now */
uint64_t bench_rss_peak_bytes(void);

/* ---- children ---- */
/* Runs fn in a pinned child and hands back what it left in *result. A child that dies, or is not done in
 * limit_s, ends the benchmark with a line that says so. */
void bench_child(int cpu, unsigned limit_s, void (*fn)(const void *job, void *result), const void *job,
                 void *result, size_t result_size);
/* The same in two steps, for children that run side by side. */
typedef struct bench_started {
  pid_t pid;
  int said; /* what the result comes by */
  void *result;
  size_t result_size;
} bench_started;
bench_started bench_child_start(int cpu, unsigned limit_s, void (*fn)(const void *job, void *result),
                                const void *job, void *result, size_t result_size);
void bench_child_end(bench_started *child);
void bench_read_whole(int fd, void *to, size_t n, const char *who); /* exactly n bytes, or the end */

/* ---- the sandbox, in a process of its own ---- */
typedef struct bench_stream { /* name NULL ends a list */
  const char *name;
  uint32_t shards;
  uint64_t records; /* a shard; 0: an ordinary stream without any */
  uint32_t record_bytes;
  uint64_t records_per_second; /* a shard; 0: all there from the beginning */
} bench_stream;
typedef struct bench_server {
  pid_t pid;
  int life;     /* the server ends when this closes */
  char url[64]; /* http://127.0.0.1:PORT */
} bench_server;
void bench_server_start(bench_server *s, int cpu, const bench_stream *streams);
double bench_server_cpu_s(const bench_server *s);
void bench_server_stop(bench_server *s);

/* ---- the floor: curl multi + socket action on libuv, nothing else ---- */
typedef struct bench_floor_job {
  const char *url, *stream;
  uint32_t transfers; /* at once; transfer i reads shard i over and over from its oldest record */
  uint32_t shards;
  uint32_t limit; /* records asked for */
  uint64_t pages; /* in all */
  int cbor;
  const char *ca_file; /* trusted for https; NULL: plain */
  uint32_t per_second; /* requests begun in a second, evenly; 0: the next as soon as one has ended */
} bench_floor_job;
typedef struct bench_read { /* the resources that a reader of pages used */
  double wall_s, cpu_s;
  uint64_t bytes, pages, records;
  uint64_t hash;          /* over the records, whatever their order; the floor does not look at records */
  uint64_t payload_bytes; /* counted by the callback that only counts */
  uint64_t turn_us_p999, turn_us_max, late, buffered_bytes_peak;
  uint64_t rss_peak;
} bench_read;
void bench_floor(const void *job /* bench_floor_job */, void *result /* bench_read */);

/* ---- the consumer: sloop.h as a user would use it ---- */
typedef struct bench_sloop_job {
  const char *url, *stream;
  int cbor;
  uint32_t fetch_records_max; /* 0: the library's default */
  uint64_t records;           /* stop after so many */
  int push;                   /* by a subscription for each shard, which are always JSON */
  const char *ca_file;        /* as above */
  int looks;                  /* the callback looks at each record, for `hash`; or else it only counts */
  int by_shard;               /* SLOOP_ORDER_SHARD */
  int acks;                   /* acknowledges record by record, and then gives the batch back */
} bench_sloop_job;
void bench_sloop(const void *job /* bench_sloop_job */, void *result /* bench_read */);
/* Options every benchmark uses: credentials by callback, oldest, errors to standard error. */
void bench_sloop_options(sloop_opts_t *o, const char *url, const char *stream, int cbor);
void bench_sloop_push(sloop_opts_t *o); /* records are pushed, to a consumer of this process */
uint64_t bench_record_hash(const sloop_record_t *r);
/* For sloop_opts_t.alloc with alloc_ctx = a bench_heap: counts what the library holds. */
typedef struct bench_heap {
  uint64_t live, peak;
} bench_heap;
void *bench_alloc(void *ctx, void *p, size_t was, size_t want);
/* sloop_open and sloop_start, or the end of the process. */
sloop_t *bench_sloop_begin(struct uv_loop_s *loop, const sloop_opts_t *o);

/* ---- figures ---- */
typedef struct bench_spread {
  double median, min, max;
} bench_spread;
bench_spread bench_spread_of(const double *values, size_t n);
/* "1.23 (1.20 to 1.31)" into a buffer of the caller; returns it. */
const char *bench_spread_text(char out[64], bench_spread s, int decimals);
__attribute__((noreturn, format(printf, 1, 2))) void bench_die(const char *fmt, ...);
/* The options every benchmark takes: nothing, or --small. Anything else: usage and exit 2. */
int bench_small(int argc, char **argv, const char *what);
uint64_t bench_mix(uint64_t x); /* spreads bits; also the source of repeatable data */

#endif
