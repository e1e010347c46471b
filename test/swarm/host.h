/* host.h - the simulated host: slp_host on virtual time. One heap of events for the whole world, any
 * number of hosts in it, each with clocks of its own; HTTP calls are answered by one function and
 * travel over a network that is slow, loses, cuts and resets as it is told. One seed decides
 * everything, so a run can be played again exactly. */
#ifndef SLP_TEST_SWARM_HOST_H
#define SLP_TEST_SWARM_HOST_H

#include "host/host.h"

typedef struct slp_sim slp_sim;

/* ---- the world ------------------------------------------------------------------------------- */
/* Memory of the simulator itself comes from `mem`; the hosts bring their own, so that failing theirs
 * never fails ours. */
slp_sim *slp_sim_new(slp_mem *mem, uint64_t seed);
void slp_sim_free(slp_sim *sim); /* every host must be closed; events that are left never happen */

uint64_t slp_sim_now_us(const slp_sim *sim); /* true time since the world began */
int64_t slp_sim_unix_ms(const slp_sim *sim); /* true Unix time; hosts see their own idea of it */
/* A number from the world's own stream: for operators, users, faults. Not shared with any host. */
uint64_t slp_sim_random_below(slp_sim *sim, uint64_t below);
uint64_t slp_sim_random_between(slp_sim *sim, uint64_t low, uint64_t high); /* both included */
int slp_sim_chance(slp_sim *sim, uint32_t ppm);

/* Calls fn(arg) at that time. Equal times run in an order the seed decides. */
void slp_sim_at(slp_sim *sim, uint64_t at_us, void (*fn)(void *arg), void *arg);
/* Runs an event. 0: none is left. */
int slp_sim_step(slp_sim *sim);
/* Until enough(arg) is true (returns 1) or time passes until_us (returns 0; with UINT64_MAX: when nothing is
 * left). enough may be NULL. */
int slp_sim_run(slp_sim *sim, uint64_t until_us, int (*enough)(void *arg), void *arg);
uint64_t slp_sim_events(const slp_sim *sim); /* run so far */

/* The trace: everything that happens is folded into one number; two runs of one seed must agree.
 * Others add what they see. When on_trace is set, every line is also handed to it. */
void slp_sim_trace(slp_sim *sim, const char *fmt, ...) SLP_PRINTF(2, 3);
uint64_t slp_sim_trace_hash(const slp_sim *sim);
/* Makes no hash of this run: lines of the trace are made only if on_trace is set. A herd then takes a sixth
 * less time. slp_sim_trace_hash() must not be called. */
void slp_sim_leave_unhashed(slp_sim *sim);
/* Bytes and a number that need no line. The hash is the same whatever the byte order of the processor. */
void slp_sim_fold(slp_sim *sim, const void *p, size_t n);
void slp_sim_fold_number(slp_sim *sim, uint64_t number);
void slp_sim_on_trace(slp_sim *sim, void (*on_trace)(void *arg, const char *line), void *arg);

/* ---- the network and what answers ------------------------------------------------------------ */
typedef struct slp_sim_net {               /* chances in parts per million of all calls */
  uint32_t latency_us_min, latency_us_max; /* each way */
  uint32_t slow_ppm;                       /* the answer takes up to slow_us_max longer */
  uint32_t slow_us_max;
  uint32_t refuse_ppm; /* no connection: nothing reaches the service */
  uint32_t reset_ppm;  /* served, but the connection is reset before the answer */
  uint32_t silent_ppm; /* served, but no answer ever comes: only the time limit ends it */
  uint32_t cut_ppm;    /* the body ends early and the transport knows */
  uint32_t clip_ppm;   /* the body ends early and nobody could know: no length was given */
  uint32_t piece_bytes_min, piece_bytes_max; /* the body comes in pieces of such sizes */
  uint32_t piece_gap_us_max;                 /* between two pieces */
  uint32_t late_ppm;                         /* the request takes up to late_us_max longer */
  uint32_t twice_ppm; /* it comes again, up to late_us_max later; nobody hears the second answer */
  uint32_t late_us_max;
} slp_sim_net;
/* May be changed at any time. The default: 1 to 5 ms, 64 KiB pieces, no faults. */
slp_sim_net *slp_sim_network(slp_sim *sim);

typedef struct slp_sim_ask { /* a request as it reaches the service */
  slp_host *from;            /* NULL: gone since */
  size_t from_number;        /* hosts count from 0 in the order they are made */
  uint64_t sent_us;          /* true time */
  slp_str method, url, authority, path;
  slp_str body;
  const slp_http_header *headers;
  size_t headers_n;
} slp_sim_ask;
/* Value of a header, name in lower case; {NULL, 0} when absent. */
slp_str slp_sim_ask_header(const slp_sim_ask *ask, const char *name);

typedef struct slp_sim_reply { /* zeroed, with body ready, before the function is called */
  int status;
  slp_buf body;
  char content_type[80], error_type[160], request_id[80];
  int64_t date_ms; /* the Date header, any precision (it is cut to seconds); -1: none */
  uint32_t delay_ms;
  size_t cut_after; /* bytes of head and body together; SIZE_MAX: whole */
  int drop;         /* the connection is closed without an answer */
  int silent;       /* nothing is ever heard of it */
} slp_sim_reply;
/* The bytes that a head counts as in cut_after. */
#define SLP_SIM_HEAD_BYTES 160
void slp_sim_serve(slp_sim *sim, void (*serve)(void *arg, const slp_sim_ask *ask, slp_sim_reply *reply),
                   void *arg);

/* ---- hosts ----------------------------------------------------------------------------------- */
typedef struct slp_sim_clock {
  int64_t wall_off_ms;    /* how wrong its Unix time is */
  uint64_t mono_start_us; /* what its monotonic clock shows when it is made */
  int32_t drift_ppm;      /* how much faster its monotonic clock runs */
} slp_sim_clock;
/* NULL: no memory (host_mem may fail). The host frees itself after slp_host_close. */
slp_host *slp_sim_host_new(slp_sim *sim, slp_mem *host_mem, const slp_sim_clock *clock);
void slp_sim_wall_jump(slp_host *h, int64_t ms);
void slp_sim_wall_right(slp_host *h); /* it shows the true time from now on */
/* Nothing of this host runs for so long, then everything due runs at once: SIGSTOP and SIGCONT. */
void slp_sim_freeze(slp_host *h, uint64_t us);
void slp_sim_thaw(slp_host *h);
/* From inside one of the host's callbacks: the callback takes so long. The world goes on meanwhile, only this
 * host does nothing. */
void slp_sim_block(slp_host *h, uint64_t us);
size_t slp_sim_host_number(const slp_host *h);
uint64_t slp_sim_frozen_until(const slp_host *h); /* in the past: it runs */
void slp_sim_drift(slp_host *h, int32_t ppm);     /* from now on its clock runs so */
/* A file that file_read finds; everything else is ENOENT. Both must live as long as the host. */
void slp_sim_file(slp_host *h, const char *path, const char *content);

typedef struct slp_sim_host_stats {
  uint64_t turns;
  uint64_t calls, calls_cancelled;
  uint64_t pauses; /* transfers stopped by may_grow */
  uint64_t in_flight_now, in_flight_peak;
  uint64_t turns_at_once_peak; /* turns in a row within a millisecond of virtual time */
} slp_sim_host_stats;
slp_sim_host_stats slp_sim_stats(const slp_host *h);
/* The CPU time of turns is measured by this clock. Nothing that happens depends on it. */
void slp_sim_measure(slp_sim *sim, uint64_t (*cpu_us)(void));
/* Of all hosts: the longest call that was answered, in true time. */
uint64_t slp_sim_longest_call_us(const slp_sim *sim);
/* Hosts that are made and not yet gone. */
size_t slp_sim_hosts_alive(const slp_sim *sim);

#endif
