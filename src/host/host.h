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
#include "base/list.h"
#include "base/mem.h"
#include "base/quota.h"

/* A turn begins no further event after this many events, or after this time. A single event may take longer,
 * for example a transfer's share of bytes, or freeing a large page. */
#define SLP_TURN_EVENTS_MAX 256
#define SLP_TURN_US 500

typedef struct slp_host slp_host;

/* ---- events: "do this in a turn, not now" -------------------------------------------------- */
typedef struct slp_event {
  slp_list link;                     /* links the event into the turn queue while it is posted */
  void (*run)(struct slp_event *ev); /* called in a turn; the event may be posted again then */
} slp_event;
/* Posts the event; does nothing if it is posted already. Events run in the order in which they were
 * posted. */
void slp_post(slp_host *h, slp_event *ev);
void slp_unpost(slp_event *ev); /* does nothing if the event is not posted */

/* ---- time ----------------------------------------------------------------------------------- */
uint64_t slp_now_us(slp_host *h); /* monotonic; the same during one turn, until refreshed */
/* Reads the monotonic clock again, and returns it; it only moves forward. The transport calls this to set
 * sent_us and done_us, so that neither is ever ahead of slp_now_us(). */
uint64_t slp_now_refresh_us(slp_host *h);
int64_t slp_wall_ms(slp_host *h); /* Unix time in ms; may jump when the clock is set */

typedef struct slp_timer {
  uint64_t at_us; /* deadline; UINT64_MAX: not armed */
  /* increases with each setting: of timers with equal deadlines, the timer set first runs first */
  uint64_t order;
  size_t slot; /* index in the heap + 1; 0: not armed */
  /* Called in a turn. The timer is not armed then, and may be set again. */
  void (*run)(struct slp_timer *timer);
} slp_timer;
/* Arms the timer, or moves it if it is armed. at_us in the past means the next turn. Returns 0, or
 * SLP_ENOMEM: the timer is not armed. */
int slp_timer_set(slp_host *h, slp_timer *t, uint64_t at_us);
/* Disarms the timer. Does nothing if it is not armed. */
void slp_timer_clear(slp_host *h, slp_timer *t);

/* ---- randomness: seeded from the system in production, from the seed in the simulator ------- */
uint64_t slp_random(slp_host *h);
/* Returns a number uniform in [0, below); 0 if below is 0. */
uint64_t slp_random_below(slp_host *h, uint64_t below);

/* ---- calls that a service counts for a whole account ------------------------------------------ */
/* Reserves a place for one call under the account's limit for calls of this kind. Returns the time at which
 * the call may be sent: now or later (base/quota.h). All hosts of a process share the limit, on whatever
 * threads they run. */
uint64_t slp_host_quota_take(slp_host *h, slp_str kind, uint32_t a_second);
/* Records that the service has refused a call of this kind, because the limit of the account was exceeded. */
void slp_host_quota_refused(slp_host *h, slp_str kind);

/* ---- the machine and the process ------------------------------------------------------------- */
/* Gets this machine's name (cut to 64 characters; "" if it has none) and the id of this process. */
void slp_host_where(slp_host *h, char name[65], uint32_t *pid);

/* ---- HTTP out ------------------------------------------------------------------------------- */
/* Each lane has its own queue, so a call never waits for a call of another lane. LEASES is for heartbeats.
 * PUSH is for answers that last minutes, so it has room for very many calls. */
typedef enum { SLP_LANE_PAGES, SLP_LANE_CONTROL, SLP_LANE_LEASES, SLP_LANE_PUSH, SLP_LANES } slp_lane;
typedef struct slp_http_header {
  slp_str name, value;
} slp_http_header;

typedef struct slp_http {
  /* The caller fills these in; all pointers are borrowed until on_done has run or cancel
   * has returned. Zero the struct first. */
  slp_lane lane;
  const char *method; /* method of the request, such as "POST" */
  const char *url;    /* http:// or https://; no redirect is ever followed */
  const slp_http_header *headers;
  size_t headers_n; /* headers of the caller; the transport adds Host and Content-Length */
  slp_str body;
  uint32_t connect_ms_max; /* limit for making a connection; 0: 4000 */
  /* Limit from the start of the transfer to the last byte; waiting in the lane's queue, and pauses, do not
   * count. 0: 30000. */
  uint32_t total_ms_max;
  uint8_t once;          /* 1: a conditional write: the transport must not repeat it by itself */
  uint8_t no_proxy;      /* 1: the call must not go through a proxy (metadata servers) */
  const char *ca_bundle; /* file of certificates to trust; NULL: the host's */
  /* the answer's body is appended here; a body longer than its max fails with SLOOP_ETOOBIG */
  slp_buf *into;
  /* PURE. Returns 1 if the body may grow by `more` bytes, or 0 to pause the transfer until slp_http_resume().
   * NULL: it always may. */
  int (*may_grow)(struct slp_http *call, size_t more);
  /* PURE. Called when a piece of the body was appended to `into`, and its bytes are still in the CPU's cache.
   * Status, length and headers are set. May read the bytes in `into`, and change them in place. NULL: not
   * called. */
  void (*on_piece)(struct slp_http *call);
  void (*on_done)(struct slp_http *call); /* called from the turn queue, once; not after a cancel */
  /* For callers that read `into` while it grows. Called from the turn queue, after bytes were appended.
   * Status and headers are set. May remove bytes, and exchange the buffer's memory, but not change its
   * maximum. NULL: not called. */
  void (*on_more)(struct slp_http *call);

  /* The answer, set before on_done. */
  int error; /* 0, UV_E* (-errno), SLOOP_EREMOTE, SLOOP_ETOOBIG, SLOOP_ETLS, SLOOP_EPROXY */
  /* If `error` is not 0: what went wrong, with host and port, and no secrets. Otherwise, if the status is not
   * 200 or the content type is text/...: the host, and the proxy, from which the answer may have come. */
  char error_text[256];
  int status;            /* HTTP status of the answer; 0: no answer */
  int64_t date_ms;       /* the header Date as Unix time in ms, a whole second; -1: none or unreadable */
  uint64_t sent_us;      /* when the transport started the transfer, monotonic clock */
  uint64_t done_us;      /* when the last byte had arrived, monotonic clock */
  uint8_t reused;        /* 1: the request went out on a connection that was used before */
  uint64_t length;       /* announced length of the body; UINT64_MAX: none was announced */
  uint8_t length_known;  /* 1: Content-Length or chunked, so a body that is cut short is an error */
  char content_type[80]; /* the header Content-Type in lower case, without parameters */
  char error_type[160];  /* the header x-amzn-errortype, unchanged; "": none */
  char request_id[80];   /* the header x-amzn-requestid, unchanged; "": none */
  uint32_t crc32;        /* the header x-amz-crc32; valid if crc32_given is 1 */
  uint8_t crc32_given;
  uint64_t retry_after_ms; /* the header x-amz-retry-after; 0: none */

  /* Used only by the transport. */
  slp_event ev, more;
  slp_list link;
  void *transfer;
} slp_http;

/* Sends the call. on_done always comes, even if the call can't start. */
void slp_http_send(slp_host *h, slp_http *call);
/* Cancels the call: on_done will not run, and nothing of the call is touched again. May be called after the
 * call has ended, too. */
void slp_http_cancel(slp_host *h, slp_http *call);
/* Continues a transfer that may_grow paused. */
void slp_http_resume(slp_host *h, slp_http *call);

/* ---- HTTP in (sandbox, metrics) ------------------------------------------------------------- */
typedef struct slp_listener slp_listener;
typedef struct slp_served slp_served;

typedef struct slp_serve_answer slp_serve_answer;

/* The functions that answer a request. For a request that the host has read, they are the host's own
 * functions. Code that reads requests out of a raw connection (slp_raw) supplies functions for these
 * requests. */
typedef struct slp_serve_ops {
  /* implements slp_serve(), or slp_serve_drop() if answer is NULL */
  void (*serve)(slp_served *rq, const slp_serve_answer *answer);
  void (*begin)(slp_served *rq, const slp_serve_answer *answer); /* implements slp_serve_begin() */
  int (*more)(slp_served *rq, slp_str bytes);                    /* implements slp_serve_more() */
  void (*end)(slp_served *rq);                                   /* implements slp_serve_end() */
} slp_serve_ops;

/* A request that was received. Valid until its answer is complete (slp_serve, slp_serve_end), slp_serve_drop
 * was called, or on_gone ran. */
struct slp_served {
  slp_listener *listener;
  const slp_serve_ops *by; /* the functions that answer this request; NULL: the host's */
  slp_str method, path;    /* path: with its query */
  slp_str body;
  /* Returns the value of a request header; `name` must be in lower case. {NULL,0}: there is no such
   * header. */
  slp_str (*header)(slp_served *rq, const char *name);
  /* May be set by whoever answers the request. Called from the turn queue if the peer left before the answer
   * was complete; rq is invalid afterwards. */
  void (*on_gone)(slp_served *rq);
  /* Called from the turn queue when all bytes given to slp_serve_begin and slp_serve_more were sent. NULL:
   * not called. */
  void (*on_sent)(slp_served *rq);
  size_t waiting; /* bytes given to slp_serve_begin and slp_serve_more, not sent yet */
  void *user;     /* belongs to whoever answers the request */
};
struct slp_serve_answer {
  int status;
  const slp_http_header *headers; /* copied; the host adds Content-Length, Date and Connection */
  size_t headers_n;
  slp_buf *body;   /* its content is taken out of the caller's buffer; NULL: no body */
  int64_t date_ms; /* the time in the header Date; -1: now */
  /* SIZE_MAX: the whole answer is sent. Otherwise the connection is reset after cut_after bytes of head and
   * body. */
  size_t cut_after;
  uint8_t close; /* 1: the connection is closed after the answer */
};
/* Answers the request, at once or later; rq is invalid afterwards. */
void slp_serve(slp_served *rq, const slp_serve_answer *answer);
/* Closes the connection without an answer, or in the middle of an answer that slp_serve_begin began. */
void slp_serve_drop(slp_served *rq);
/* Begins an answer whose length is not known: sends its head, and its body as the first piece. The request
 * stays valid until slp_serve_end, slp_serve_drop or on_gone. `cut_after` and `close` are ignored. */
void slp_serve_begin(slp_served *rq, const slp_serve_answer *answer);
/* Sends a further piece of an answer that slp_serve_begin has begun; the bytes are copied. Returns 0, or
 * SLP_ENOMEM: none of them will be sent. */
int slp_serve_more(slp_served *rq, slp_str bytes);
/* ends an answer that slp_serve_begin has begun; rq is invalid afterwards */
void slp_serve_end(slp_served *rq);

/* A connection that began with the listener's preface. Its bytes go to the listener's user as they are. Valid
 * until slp_raw_close() was called for it, or on_gone ran. slp_listener.on_raw must set the three functions,
 * which the turn queue calls. */
typedef struct slp_raw {
  slp_listener *listener;
  /* called with bytes that have come; the first ones are the preface */
  void (*on_bytes)(struct slp_raw *raw, slp_str bytes);
  /* called when all bytes given to slp_raw_write() were sent */
  void (*on_written)(struct slp_raw *raw);
  void (*on_gone)(struct slp_raw *raw); /* called when the connection has ended */
  /* set by the listener's user: memory of requests that it has read from this connection, counted in
   * requests_bytes_max */
  size_t held;
  void *user;
} slp_raw;
/* Sends the bytes, and takes the content out of `bytes`. Must not be called again before on_written. */
void slp_raw_write(slp_raw *raw, slp_buf *bytes);
/* on 0: on_bytes is not called, so that the peer has to wait; on 1: it is called again */
void slp_raw_read(slp_raw *raw, int on);
/* Returns 1 if requests may take `more` bytes in addition to what all requests of the listener take now. */
int slp_raw_has_room(slp_raw *raw, size_t more);
typedef enum {
  SLP_RAW_NOW,    /* closes at once; the kernel still sends what it has */
  SLP_RAW_LINGER, /* closes when the peer has read all that was written, or after a second */
  SLP_RAW_RESET   /* resets the connection when the kernel has sent what it has */
} slp_raw_end;
void slp_raw_close(slp_raw *raw, slp_raw_end how);

struct slp_listener {
  /* called from the turn queue when a request is complete */
  void (*on_request)(slp_listener *l, slp_served *rq);
  void (*on_closed)(slp_listener *l); /* the callback that was given to slp_listen_close */
  uint16_t port;                      /* set by slp_listen: the port on which the listener listens */
  size_t body_max;                    /* a request with a larger body gets 413; 0: 16 MiB */
  /* If this many connections are open, a new connection replaces the oldest idle one: no request of it is
   * being answered, and it has no unread bytes. If none is idle, up to eight times as many connections are
   * accepted. Then a new connection replaces the oldest that is being answered. 0: no limit. */
  size_t conns_max;
  /* The most memory of all requests that are incomplete or unanswered; the first 64 KiB of each request do
   * not count. A request that would need more gets 503. 0: no limit. */
  size_t requests_bytes_max;
  uint32_t conn_ms_max;    /* a connection of this age is closed; 0: no limit */
  uint32_t request_ms_max; /* a connection whose request takes longer is closed; 0: no limit */
  slp_str preface;         /* a connection that begins with these bytes is raw; empty: none is */
  void (*on_raw)(slp_listener *l, slp_raw *raw); /* called when a raw connection has begun */
  void *impl;
  slp_host *host; /* set by slp_listen */
};
/* Listens. address: "127.0.0.1" or "::1". port 0: any free port. Returns 0 or UV_E*. */
int slp_listen(slp_host *h, slp_listener *l, const char *address, uint16_t port);
/* Closes the listener and all its connections. on_closed (may be NULL) comes later; from then on the host
 * does not use l. If a request was not answered, its on_gone runs before on_closed; without on_gone the
 * request is invalid from here on. */
void slp_listen_close(slp_listener *l, void (*on_closed)(slp_listener *l));

/* ---- files (profiles, tokens): read whole, off the loop ------------------------------------- */
/* Reading a pipe fails with SLP_FILE_PIPE_LATE if the pipe has not ended within SLP_FILE_PIPE_MS. The code is
 * not ETIMEDOUT, because reading from a network file system may fail with ETIMEDOUT. A pipe gives its bytes
 * only once, so the host keeps them for later reads of the same pipe, within bounds (uv_file.c). */
#define SLP_FILE_PIPE_MS 10000u
#define SLP_FILE_PIPE_LATE (-6003)
typedef struct slp_file {
  const char *path;                       /* borrowed until on_done has run */
  size_t bytes_max;                       /* limit of the file's size; a larger file fails with SLP_E2BIG */
  slp_buf *into;                          /* the content of the file is appended here */
  int error;                              /* out: 0, or UV_E* */
  void (*on_done)(struct slp_file *file); /* called from the turn queue; not after a cancel */
  slp_event ev;
  void *impl;
} slp_file;
/* Reads the file, or the pipe. on_done always comes, even if it can't be opened, unless the read is
 * cancelled. */
void slp_file_read(slp_host *h, slp_file *file);
/* Cancels the read: on_done will not run. Does nothing if the read has ended. */
void slp_file_cancel(slp_host *h, slp_file *file);

/* ---- work off the loop (SQLite) -------------------------------------------------------------- */
/* The queue in which one owner's work waits; one piece of it runs at a time. Zero it first. It must live
 * until each piece of its work has ended with on_done or on_left. */
typedef struct slp_work_line {
  slp_list waiting;         /* slp_work.link of work that has not begun */
  struct slp_work *running; /* the piece that runs now; NULL: none */
} slp_work_line;

#define SLP_WORK_ROOM 192
typedef struct slp_work {
  slp_work_line *line;
  uint8_t urgent; /* 1: runs before waiting work that is not urgent */
  uint8_t always; /* 1: runs even if it is cancelled, because it must happen (closing a file) */
  /* Runs on another thread. May touch only what the work owns, and no host. */
  void (*run)(struct slp_work *work);
  void (*on_done)(struct slp_work *work); /* called from the turn queue, once; not after a cancel */
  /* Called once after a cancel, when no thread runs the work any more: maybe from inside slp_work_cancel,
   * maybe when the host is closing. Must only free memory. */
  void (*on_left)(struct slp_work *work);
  slp_event ev;
  slp_list link;
  void *impl;
  /* memory for the implementation, so that slp_work_send can't fail for lack of it */
  _Alignas(16) char room[SLP_WORK_ROOM];
} slp_work;
/* Puts the work into its queue. on_done always comes, unless the work is cancelled. */
void slp_work_send(slp_host *h, slp_work *work);
/* Cancels the work: on_done will not be called. on_left is called instead, unless the work was never sent. */
void slp_work_cancel(slp_host *h, slp_work *work);

/* ---- child processes (credential_process) --------------------------------------------------- */
#define SLP_CHILD_SAID_MAX 1048576u /* the most bytes of standard error that a child may write */
typedef struct slp_child {
  /* the program and its arguments; ends with NULL. [0] is looked for in PATH; no shell. Borrowed until
   * done */
  const char *const *argv;
  uint32_t total_ms_max; /* the child is killed after this, with all that it started; 0: 60000 */
  slp_buf *into;         /* the child's standard output is appended; max is the limit (SLP_E2BIG) */
  char said[160];        /* the child's last line of standard error, or why the program can't start */
  uint32_t slow_ms;      /* after how many ms on_slow is called; 0: never */
  /* Called in a turn, when the child has run for slow_ms. From then on the host looks once a second for new
   * text on standard error. It calls on_slow for each new line (at most the last eight), and for a line that
   * is not complete yet; `said` is that line. */
  void (*on_slow)(struct slp_child *child);
  /* 0, or why there is no exit status: UV_E* of starting the child, SLP_ETIMEDOUT, SLP_E2BIG, SLP_ELIMIT (the
   * child wrote more than SLP_CHILD_SAID_MAX to standard error), ... */
  int error;
  int status;                               /* the child's exit status */
  int signal;                               /* the signal that ended the child; 0: none */
  void (*on_done)(struct slp_child *child); /* called from the turn queue, once; not after a cancel */
  slp_event ev;
  void *impl;
} slp_child;
/* Runs the child. Its standard input is empty, and it has no terminal. on_done always comes, even if the
 * child can't be started. */
void slp_spawn(slp_host *h, slp_child *child);
void slp_spawn_cancel(slp_host *h, slp_child *child); /* kills the child; does nothing if it does not run */

/* ---- statistics of turns -------------------------------------------------------------------- */
/* Buckets of CPU time: one for each of 0..15 us, then 16 for each power of two, so that no bucket is wider
 * than 1/16 of its values. The last one holds everything from 65 s on. */
#define SLP_TURN_BUCKETS 368
typedef struct slp_turn_stats {
  uint64_t turns;
  uint64_t cpu_us_max; /* CPU time of the longest turn */
  /* The longest time that one turn held the loop, with the user's callbacks in it; wall time. */
  uint64_t hold_us_max;
  uint64_t cpu_us[SLP_TURN_BUCKETS];    /* number of turns in each bucket */
  uint64_t http_in_flight, http_queued; /* calls in flight, and calls that wait in the lanes' queues */
  uint64_t connections_opened;
  uint64_t http_replays; /* requests that libcurl has repeated by itself (never of a call with `once`) */
  /* Calls with `once` whose request libcurl wanted to repeat; each ended with UV_ECONNRESET. */
  uint64_t http_replays_stopped;
} slp_turn_stats;
const slp_turn_stats *slp_host_turns(slp_host *h);
/* Returns the CPU time (us) that a share p (0..1) of all turns did not exceed, as the upper bound of a
 * bucket. */
uint64_t slp_host_turn_us_at(slp_host *h, double p);

/* ---- the host itself ------------------------------------------------------------------------- */
typedef struct slp_host_ops {
  uint64_t (*mono_us)(slp_host *h);
  uint64_t (*cpu_us)(slp_host *h); /* CPU time of this thread; the simulator returns 0 */
  int64_t (*wall_ms)(slp_host *h);
  uint64_t (*random)(slp_host *h);
  void (*where)(slp_host *h, char name[65], uint32_t *pid);
  /* Returns the quotas of the process, locked: nobody else changes them until `quotas_back`. NULL: calls have
   * no limit. */
  slp_quotas *(*quotas)(slp_host *h);
  void (*quotas_back)(slp_host *h);
  /* Requests a turn at at_us at the latest; 0: as soon as possible; UINT64_MAX: only when something happens.
   * Replaces the time that was requested before. */
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
  void (*ref)(slp_host *h, int on); /* on 1 (the default): the host keeps the loop alive; 0: it does not */
  /* The user must have cancelled everything. Calls slp_host_closed() on a later turn of the loop. */
  void (*close)(slp_host *h);
} slp_host_ops;

struct slp_host {
  const slp_host_ops *ops;
  slp_mem *mem; /* a reference is held */
  /* The turn queue and the timer heap; private to host.c. */
  slp_list ready;
  slp_timer **timers;
  size_t timers_n, timers_cap;
  size_t timers_reserved; /* places in the heap that are kept free for slp_timer_set_reserved */
  uint64_t timers_order;
  uint64_t now_us; /* the monotonic time, read once in each turn */
  uint8_t in_turn, closing;
  slp_turn_stats turns;
  void (*on_closed)(slp_host *h, void *arg);
  void *on_closed_arg;
};
/* For implementations:
 *   slp_host_init    sets up the common part, and takes a reference to mem; `wake` may be called from then on
 *   slp_host_turn    runs one turn
 *   slp_host_closed ends the closing: calls on_closed, and drops the reference. Only then the implementation
 *                    frees its own memory, by a reference of its own */
void slp_host_init(slp_host *h, const slp_host_ops *ops, slp_mem *mem);
void slp_host_turn(slp_host *h);
void slp_host_closed(slp_host *h);
/* Reserves n places in the timer heap, so that n timers can always be set. Returns 0 or SLP_ENOMEM. */
int slp_host_reserve_timers(slp_host *h, size_t n);
/* Gives n places back. The timers in them must be cleared. */
void slp_host_unreserve_timers(slp_host *h, size_t n);
/* Sets a timer that has a reserved place, which can't fail. */
void slp_timer_set_reserved(slp_host *h, slp_timer *t, uint64_t at_us);
/* Ends the host. Every call, listener, file and timer must be done, cancelled or cleared before; posted
 * events are dropped. on_closed is called on a later turn, as the last callback; the host is freed after
 * it. */
void slp_host_close(slp_host *h, void (*on_closed)(slp_host *h, void *arg), void *arg);
/* on 1 (the default): the host keeps its loop alive; on 0: it does not. */
void slp_host_ref(slp_host *h, int on);

/* ---- the uv host (host/uv_host.c) ------------------------------------------------------------ */
struct uv_loop_s;
typedef struct slp_uv_options {
  /* File of certificates to trust; NULL: the file, or else the directory, of libcurl's build. */
  const char *ca_bundle;
  const char *user_agent; /* the header User-Agent; NULL: "sloop/VERSION" */
  uint32_t in_flight_max; /* the most calls in flight in each lane but PUSH; 0: 128 */
  /* NULL, or room for 160 characters: gets the reason of a failure whose code does not show it */
  char *why;
} slp_uv_options;
/* Returns 0, SLP_ENOMEM, UV_E*, or SLOOP_EOPTION if libcurl has no asynchronous resolver or no TLS. */
int slp_uv_host_new(slp_host **ret, struct uv_loop_s *loop, slp_mem *mem, const slp_uv_options *o);

#endif
