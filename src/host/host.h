/* host.h - THE SEAM: all that core, aws, source, store and sandbox ever see of the world: two
 * clocks, timers, randomness, HTTP out, HTTP in, files, child processes, and a queue of events. The uv host
 * (host/uv_host.c) implements it on libuv and curl; the simulator implements it on virtual time.
 *
 * Rules:
 *  - Everything runs on one thread.
 *  - An implementation never calls `run`, `on_done`, `on_request`... from inside a function of
 *    this file: it posts an event, and the turn queue runs it. The exceptions are marked
 *    PURE: they may be called from deep inside the transport, must not call back into the host,
 *    and only read and change their own object.
 *  - A turn runs at most SLP_TURN_EVENTS_MAX events or about SLP_TURN_US of work, then lets the
 *    loop go round. Work that takes longer posts itself again.
 *  - Monotonic time is in microseconds (_us), is read once per turn and kept; wall time is in
 *    Unix milliseconds (_ms) and is good for signatures and stamps only. */
#ifndef SLP_HOST_HOST_H
#define SLP_HOST_HOST_H

#include "base/buf.h"
#include "base/fail.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/quota.h"

/* A turn takes no further event when it ran so many, or for so long. An event may take as long again and
 * more: it may be a transfer's share of bytes, or the end of a page whose memory goes back to the system. */
#define SLP_TURN_EVENTS_MAX 256
#define SLP_TURN_US 500

typedef struct slp_host slp_host;

/* ---- events: "do this in a turn, not now" -------------------------------------------------- */
typedef struct slp_event {
  slp_list link;                     /* linked while posted */
  void (*run)(struct slp_event *ev); /* the event is loose again before it runs */
} slp_event;
void slp_post(slp_host *h, slp_event *ev); /* posting a posted event does nothing: FIFO */
void slp_unpost(slp_event *ev);            /* loose is fine */

/* ---- time ----------------------------------------------------------------------------------- */
uint64_t slp_now_us(slp_host *h);         /* monotonic; the same during one turn, until refreshed */
uint64_t slp_now_refresh_us(slp_host *h); /* reads the clock again; only moves forward. The transport does
                                             so when it stamps sent_us and done_us: neither is ever ahead of
                                             slp_now_us() */
int64_t slp_wall_ms(slp_host *h);         /* Unix time; may jump */

typedef struct slp_timer {
  uint64_t at_us;                       /* UINT64_MAX: not armed */
  uint64_t order;                       /* equal deadlines fire in the order they were set */
  size_t slot;                          /* place in the heap + 1; 0: not armed */
  void (*run)(struct slp_timer *timer); /* disarmed before it runs; may set itself again */
} slp_timer;
/* Moves it when armed. at_us in the past means the next turn. SLP_ENOMEM: not armed. */
int slp_timer_set(slp_host *h, slp_timer *t, uint64_t at_us);
void slp_timer_clear(slp_host *h, slp_timer *t);

/* ---- randomness: seeded from the system in production, from the seed in the simulator ------- */
uint64_t slp_random(slp_host *h);
/* Uniform in [0, below); 0 when below is 0. */
uint64_t slp_random_below(slp_host *h, uint64_t below);

/* ---- calls that a service counts for a whole account ------------------------------------------ */
/* Returns when a call of that kind may be sent, now or later (base/quota.h). All hosts of a process share the
 * limit, on whatever threads they run. */
uint64_t slp_host_quota_take(slp_host *h, slp_str kind, uint32_t a_second);
void slp_host_quota_refused(slp_host *h, slp_str kind); /* the service has refused one: too many */

/* ---- where it runs --------------------------------------------------------------------------- */
/* This machine's name ("" when it has none; cut when longer) and this process's number. */
void slp_host_where(slp_host *h, char name[65], uint32_t *pid);

/* ---- HTTP out ------------------------------------------------------------------------------- */
/* A call of one lane never waits for a call of another. LEASES: heartbeats. PUSH: answers that go on for
 * minutes, so it has room for very many calls. */
typedef enum { SLP_LANE_PAGES, SLP_LANE_CONTROL, SLP_LANE_LEASES, SLP_LANE_PUSH, SLP_LANES } slp_lane;
typedef struct slp_http_header {
  slp_str name, value;
} slp_http_header;

typedef struct slp_http {
  /* The caller fills these in; all pointers are borrowed until on_done has run or cancel
   * has returned. Zero the struct first. */
  slp_lane lane;
  const char *method; /* "POST" */
  const char *url;    /* http:// or https://; no redirect is ever followed */
  const slp_http_header *headers;
  size_t headers_n; /* Host, Content-Length are added by the transport */
  slp_str body;
  uint32_t connect_ms_max; /* 0: 4000 */
  uint32_t total_ms_max;   /* from sending to the last byte, waiting for a connection excluded. 0: 30000 */
  uint8_t once;            /* 1: a write with a condition; must not reach the server twice by itself */
  uint8_t no_proxy;        /* 1: never through a proxy (metadata servers) */
  const char *ca_bundle;   /* file of certificates to trust; NULL: the host's */
  slp_buf *into;           /* the answer's body is appended here; its max is the cap (SLOOP_ETOOBIG) */
  /* PURE. May the body grow by `more` bytes? 0: pause the transfer until slp_http_resume().
   * NULL: always. */
  int (*may_grow)(struct slp_http *call, size_t more);
  /* PURE. Some of the body is in `into`, where its bytes are still in the CPU's cache; status, length and
   * head are known. May read what is there and change it in its place. NULL: nobody asks. */
  void (*on_piece)(struct slp_http *call);
  void (*on_done)(struct slp_http *call); /* from the turn queue, once; not after a cancel */
  /* Not NULL: `into` is looked at while it grows. Called from the turn queue, after bytes came; status and
   * head are known then. The caller may take bytes off, and exchange the buffer's memory, but not its
   * maximum. */
  void (*on_more)(struct slp_http *call);

  /* The answer, set before on_done. */
  int error; /* 0, UV_E* (-errno), SLOOP_EREMOTE, SLOOP_ETOOBIG, SLOOP_ETLS, SLOOP_EPROXY */
  /* What went wrong, with host and port; no secrets. Without an error: where an answer came from that is not
   * 200 or that is a text for people, and by which proxy. */
  char error_text[256];
  int status;            /* 0: no answer */
  int64_t date_ms;       /* the Date header, whole seconds as ms; -1: none or unreadable */
  uint64_t sent_us;      /* when the transport started this try (the clock as read then) */
  uint64_t done_us;      /* when the last byte was in */
  uint8_t reused;        /* went out on a connection that was used before */
  uint64_t length;       /* of the body, as announced; UINT64_MAX: it was not */
  uint8_t length_known;  /* Content-Length or chunked: a cut body would have been an error */
  char content_type[80]; /* lower case, without parameters */
  char error_type[160];  /* x-amzn-errortype, raw */
  char request_id[80];   /* x-amzn-requestid */
  uint32_t crc32;        /* x-amz-crc32 */
  uint8_t crc32_given;
  uint64_t retry_after_ms; /* x-amz-retry-after; 0: none */

  /* Private to the transport. */
  slp_event ev, more;
  slp_list link;
  void *transfer;
} slp_http;

/* Always calls on_done, also when the call can't even start. */
void slp_http_send(slp_host *h, slp_http *call);
/* From here on on_done will not run and nothing of the call is touched again. The call may have ended
 * already. */
void slp_http_cancel(slp_host *h, slp_http *call);
/* Continues a transfer that may_grow paused. */
void slp_http_resume(slp_host *h, slp_http *call);

/* ---- HTTP in (sandbox, metrics) ------------------------------------------------------------- */
typedef struct slp_listener slp_listener;
typedef struct slp_served slp_served;

typedef struct slp_serve_answer slp_serve_answer;

/* How a request is answered. The host answers those that it has read; one who reads requests out of a raw
 * connection answers those. */
typedef struct slp_serve_ops {
  void (*serve)(slp_served *rq, const slp_serve_answer *answer); /* NULL: slp_serve_drop */
  void (*begin)(slp_served *rq, const slp_serve_answer *answer);
  int (*more)(slp_served *rq, slp_str bytes);
  void (*end)(slp_served *rq);
} slp_serve_ops;

/* A request being served. Valid until slp_serve() was called for it, or on_gone ran. */
struct slp_served {
  slp_listener *listener;
  const slp_serve_ops *by; /* NULL: the host */
  slp_str method, path;    /* path with query */
  slp_str body;
  /* Value of a request header, name in lower case; {NULL,0} when absent. */
  slp_str (*header)(slp_served *rq, const char *name);
  void (*on_gone)(slp_served *rq); /* set it to hear that the peer left before the answer; from the
                                      turn queue; rq is invalid afterwards */
  void (*on_sent)(slp_served *rq); /* of an answer that goes on: all bytes given went out; from the turn
                                      queue. NULL: nobody asks */
  size_t waiting;                  /* of an answer that goes on: bytes given that did not go out yet */
  void *user;                      /* the server's own */
};
struct slp_serve_answer {
  int status;
  const slp_http_header *headers; /* copied. Content-Length, Date, Connection are added */
  size_t headers_n;
  slp_buf *body;    /* moved out of the caller's buf; NULL: empty */
  int64_t date_ms;  /* what the Date header says; -1: now */
  size_t cut_after; /* SIZE_MAX: whole. Else: send only so many bytes of head+body,
                       then reset the connection */
  uint8_t close;    /* close the connection after the answer */
};
/* Answers, at once or later; the request is invalid afterwards. */
void slp_serve(slp_served *rq, const slp_serve_answer *answer);
/* Drops the connection without an answer, or in the middle of one that goes on. */
void slp_serve_drop(slp_served *rq);
/* Begins an answer whose end is not known: its head, and its body as the first piece. The request stays
 * valid until slp_serve_end, slp_serve_drop or on_gone. `cut_after` and `close` do not count. */
void slp_serve_begin(slp_served *rq, const slp_serve_answer *answer);
/* Sends on. SLP_ENOMEM: nothing of it was taken. The bytes are copied. */
int slp_serve_more(slp_served *rq, slp_str bytes);
void slp_serve_end(slp_served *rq); /* once all went out the connection is free; the request is invalid */

/* A connection that began with the listener's preface: its bytes are the user's. Valid until slp_raw_close()
 * was called for it, or on_gone ran. on_raw sets the three functions; the turn queue calls them. */
typedef struct slp_raw {
  slp_listener *listener;
  void (*on_bytes)(struct slp_raw *raw, slp_str bytes); /* the preface comes first */
  void (*on_written)(struct slp_raw *raw);              /* what slp_raw_write() was given went out */
  void (*on_gone)(struct slp_raw *raw);                 /* the connection has ended */
  size_t held; /* the user's: bytes that its requests take, as counted in requests_bytes_max */
  void *user;
} slp_raw;
void slp_raw_write(slp_raw *raw, slp_buf *bytes); /* moved out. Not again before on_written */
void slp_raw_read(slp_raw *raw, int on);          /* 0: no on_bytes until 1, and the peer has to wait */
/* May `more` bytes be held beside what all requests of the listener take? */
int slp_raw_has_room(slp_raw *raw, size_t more);
typedef enum {
  SLP_RAW_NOW,    /* what the kernel has still goes out */
  SLP_RAW_LINGER, /* once the peer has read all that was written, or after a second */
  SLP_RAW_RESET   /* resets it when the kernel has sent what it has */
} slp_raw_end;
void slp_raw_close(slp_raw *raw, slp_raw_end how);

struct slp_listener {
  void (*on_request)(slp_listener *l, slp_served *rq); /* from the turn queue */
  void (*on_closed)(slp_listener *l);                  /* set by slp_listen_close */
  uint16_t port;                                       /* the real one after slp_listen */
  size_t body_max;                                     /* larger requests get 413; 0: 16 MiB */
  /* Connections beyond: the oldest that asks nothing is closed; beyond eight times as many, the oldest. 0: no
   * limit. */
  size_t conns_max;
  /* Memory of all requests that are not there whole or not answered, but for the first 64 KiB of each: one
   * that would need more gets 503. 0: no limit. */
  size_t requests_bytes_max;
  uint32_t conn_ms_max;    /* a connection is closed when it is that old; 0: no limit */
  uint32_t request_ms_max; /* or when a request is not there whole after so long; 0: no limit */
  slp_str preface;         /* a connection that begins with these bytes is raw; empty: none is */
  void (*on_raw)(slp_listener *l, slp_raw *raw);
  void *impl;
  slp_host *host; /* set by slp_listen */
};
/* address "127.0.0.1" or "::1"; port 0: any free one. 0 or UV_E*. */
int slp_listen(slp_host *h, slp_listener *l, const char *address, uint16_t port);
/* Closes every connection; on_closed (may be NULL) comes later, then the memory is the caller's. A request
 * not yet answered: its on_gone runs before on_closed; without on_gone it is invalid from here on. */
void slp_listen_close(slp_listener *l, void (*on_closed)(slp_listener *l));

/* ---- files (profiles, tokens): read whole, off the loop ------------------------------------- */
/* A read of a pipe fails with SLP_FILE_PIPE_LATE when the pipe has not ended within SLP_FILE_PIPE_MS. That
 * is not ETIMEDOUT, which a file of a network file system may give. A pipe gives its bytes only once, so
 * the host keeps them for later reads of the same pipe, within bounds (uv_file.c). */
#define SLP_FILE_PIPE_MS 10000u
#define SLP_FILE_PIPE_LATE (-ETIME)
typedef struct slp_file {
  const char *path;                       /* borrowed until done */
  size_t bytes_max;                       /* larger: SLP_E2BIG */
  slp_buf *into;                          /* the content is appended */
  int error;                              /* 0 or UV_E* */
  void (*on_done)(struct slp_file *file); /* from the turn queue; not after a cancel */
  slp_event ev;
  void *impl;
} slp_file;
void slp_file_read(slp_host *h, slp_file *file);
void slp_file_cancel(slp_host *h, slp_file *file);

/* ---- work off the loop (SQLite) -------------------------------------------------------------- */
/* The work of one owner, done one piece at a time. Zero it first. It must live until the last piece of its
 * work has answered or was freed. */
typedef struct slp_work_line {
  slp_list waiting; /* slp_work.link */
  struct slp_work *running;
} slp_work_line;

#define SLP_WORK_ROOM 192
typedef struct slp_work {
  slp_work_line *line;
  uint8_t urgent;                         /* before those that wait and are not */
  uint8_t always;                         /* runs even when it is cancelled (closing a file) */
  void (*run)(struct slp_work *work);     /* on another thread: touches what the work owns, and no host */
  void (*on_done)(struct slp_work *work); /* from the turn queue, once; not after a cancel */
  void (*on_left)(
      struct slp_work *work); /* after a cancel, once: nobody runs it any more; maybe from inside the
                                 cancel, maybe when the host is closing: frees, and nothing else */
  slp_event ev;
  slp_list link;
  void *impl;
  _Alignas(16) char room[SLP_WORK_ROOM]; /* the implementation's: sending can't fail */
} slp_work;
void slp_work_send(slp_host *h, slp_work *work);
void slp_work_cancel(slp_host *h, slp_work *work); /* silence but for on_left; work not sent is fine, then
                                                      there is none */

/* ---- child processes (credential_process) --------------------------------------------------- */
#define SLP_CHILD_SAID_MAX 1048576u /* bytes of standard error */
typedef struct slp_child {
  const char *const *argv; /* NULL at the end; [0] is looked for in PATH; no shell. Borrowed until done */
  uint32_t total_ms_max;   /* 0: 60000; then it is killed, and whatever it started */
  slp_buf *into;           /* its standard output is appended; the max is the cap (SLP_E2BIG) */
  char said[160];          /* the last line it wrote to standard error, or what is wrong with the program */
  uint32_t slow_ms;        /* 0: on_slow is never called */
  /* It has run for slow_ms; and then, once a second at most, when it has written another line to standard
   * error, or the beginning of one, which is in `said`. In a turn. */
  void (*on_slow)(struct slp_child *child);
  /* 0, or why there is no exit status: UV_E* of starting it, SLP_ETIMEDOUT, SLP_E2BIG, SLP_ELIMIT (it wrote
   * more than SLP_CHILD_SAID_MAX to standard error), ... */
  int error;
  int status;                               /* its exit status */
  int signal;                               /* or which signal ended it; 0: none */
  void (*on_done)(struct slp_child *child); /* from the turn queue, once; not after a cancel */
  slp_event ev;
  void *impl;
} slp_child;
/* Standard input is empty and there is no terminal. Always answers by on_done. */
void slp_spawn(slp_host *h, slp_child *child);
void slp_spawn_cancel(slp_host *h, slp_child *child); /* kills it; a child not running is fine */

/* ---- what turns cost ------------------------------------------------------------------------ */
/* Buckets of CPU time: one for each of 0..15 us, then 16 to a power of two, so that a bucket is at most 1/16
 * wide of what it holds; the last one holds everything from 65 s on. */
#define SLP_TURN_BUCKETS 368
typedef struct slp_turn_stats {
  uint64_t turns;
  uint64_t cpu_us_max;               /* the longest turn, CPU time of this thread */
  uint64_t hold_us_max;              /* the longest our code held the loop, callbacks of the user
                                        included, wall time */
  uint64_t cpu_us[SLP_TURN_BUCKETS]; /* how many turns fell into each bucket */
  uint64_t http_in_flight, http_queued;
  uint64_t connections_opened;
  uint64_t http_replays;         /* requests libcurl sent a second time by itself (never `once` ones) */
  uint64_t http_replays_stopped; /* of `once` calls: ended with UV_ECONNRESET instead */
} slp_turn_stats;
const slp_turn_stats *slp_host_turns(slp_host *h);
/* The CPU time (us) that a share p (0..1) of all turns stayed at or under; an upper bound of its bucket. */
uint64_t slp_host_turn_us_at(slp_host *h, double p);

/* ---- the host itself ------------------------------------------------------------------------- */
typedef struct slp_host_ops {
  uint64_t (*mono_us)(slp_host *h);
  uint64_t (*cpu_us)(slp_host *h); /* CPU time of this thread; the simulator returns 0 */
  int64_t (*wall_ms)(slp_host *h);
  uint64_t (*random)(slp_host *h);
  void (*where)(slp_host *h, char name[65], uint32_t *pid);
  /* The quotas of the process; nobody else changes them until `quotas_back`. NULL: calls have no limit. */
  slp_quotas *(*quotas)(slp_host *h);
  void (*quotas_back)(slp_host *h);
  /* Run a turn at_us at the latest; 0: as soon as possible; UINT64_MAX: only when something
   * happens. Replaces the wish before. */
  void (*wake)(slp_host *h, uint64_t at_us);
  void (*http_send)(slp_host *h, slp_http *call);
  void (*http_cancel)(slp_host *h, slp_http *call);
  void (*http_resume)(slp_host *h, slp_http *call);
  int (*listen)(slp_host *h, slp_listener *l, const char *address, uint16_t port);
  void (*listen_close)(slp_listener *l);
  void (*serve)(slp_served *rq, const slp_serve_answer *answer);
  void (*serve_begin)(slp_served *rq, const slp_serve_answer *answer);
  int (*serve_more)(slp_served *rq, slp_str bytes);
  void (*serve_end)(slp_served *rq);
  void (*raw_write)(slp_raw *raw, slp_buf *bytes);
  void (*raw_read)(slp_raw *raw, int on);
  int (*raw_has_room)(slp_raw *raw, size_t more);
  void (*raw_close)(slp_raw *raw, slp_raw_end how);
  void (*file_read)(slp_host *h, slp_file *file);
  void (*file_cancel)(slp_host *h, slp_file *file);
  void (*work_send)(slp_host *h, slp_work *work);
  void (*work_cancel)(slp_host *h, slp_work *work);
  void (*spawn)(slp_host *h, slp_child *child);
  void (*spawn_cancel)(slp_host *h, slp_child *child);
  void (*ref)(slp_host *h, int on); /* keeps the loop alive (1, the default) or not (0) */
  void (*close)(slp_host *h);       /* everything of the caller is cancelled; calls
                                       slp_host_closed() on a later turn of the loop */
} slp_host_ops;

struct slp_host {
  const slp_host_ops *ops;
  slp_mem *mem; /* owns a reference */
  /* The turn queue and the timer heap; private to host.c. */
  slp_list ready;
  slp_timer **timers;
  size_t timers_n, timers_cap;
  size_t timers_reserved; /* places kept free for slp_timer_set_reserved */
  uint64_t timers_order;
  uint64_t now_us;
  uint8_t in_turn, closing;
  slp_turn_stats turns;
  void (*on_closed)(slp_host *h, void *arg);
  void *on_closed_arg;
};
/* For implementations: set up the common part (takes a hold of mem; `wake` may be called at once after);
 * run one turn; tell that closing is over: calls on_closed and drops the hold. Only then the
 * implementation frees its own memory, under a hold of its own. */
void slp_host_init(slp_host *h, const slp_host_ops *ops, slp_mem *mem);
void slp_host_turn(slp_host *h);
void slp_host_closed(slp_host *h);
/* Reserves n places in the timer heap, so that as many timers can always be set; and gives them back. */
int slp_host_reserve_timers(slp_host *h, size_t n);
void slp_host_unreserve_timers(slp_host *h, size_t n); /* those timers are cleared */
void slp_timer_set_reserved(slp_host *h, slp_timer *t, uint64_t at_us);
/* Ends the host. Every call, listener, file and timer must be done, cancelled or cleared before;
 * posted events are dropped. on_closed comes on a later turn and is the last thing; the host is
 * freed after it. */
void slp_host_close(slp_host *h, void (*on_closed)(slp_host *h, void *arg), void *arg);
void slp_host_ref(slp_host *h, int on);

/* ---- the uv host (host/uv_host.c) ------------------------------------------------------------ */
struct uv_loop_s;
typedef struct slp_uv_options {
  const char *ca_bundle;  /* file; NULL: what libcurl reports as its own. CAPATH is always off */
  const char *user_agent; /* NULL: "sloop/VERSION" */
  uint32_t in_flight_max; /* transfers per lane; 0: 128 */
  char *why;              /* NULL, or room for 160: says what could not be made, where the code does not */
} slp_uv_options;
/* SLP_ENOMEM, UV_E*, or SLOOP_EOPTION when libcurl has no asynchronous resolver or no TLS. */
int slp_uv_host_new(slp_host **ret, struct uv_loop_s *loop, slp_mem *mem, const slp_uv_options *o);

#endif
