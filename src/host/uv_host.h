/* uv_host.h - the inside of the uv host, shared by the files of host/ that touch libuv and curl. */
#ifndef SLP_HOST_UV_HOST_H
#define SLP_HOST_UV_HOST_H

#include "base/buf.h"
#include "base/list.h"
#include "base/mem.h"
#include "host/host.h"
#include "host/proxy.h"

#include <curl/curl.h>
#include <uv.h>

typedef struct slp_uv_host slp_uv_host;

/* A lane: a libcurl multi handle, and the calls that wait for a place in it. */
typedef struct slp_curl_lane {
  slp_uv_host *u;
  CURLM *multi;
  /* lane_act() of curl_http.c, which passes a socket that is ready to curl. Never called inside curl's
   * callbacks. */
  void (*act)(struct slp_curl_lane *lane, curl_socket_t fd, int events);
  slp_list waiting; /* slp_http.link of calls that wait for a place, oldest first */
  slp_list running; /* slp_http.link of calls whose transfers run */
  /* sockets by their descriptors; an element is NULL if its descriptor is no socket of curl */
  struct slp_curl_socket **sockets;
  size_t sockets_n;
  slp_list idle;                   /* slp_transfer.link of transfers that are not in use */
  uint32_t running_n, running_max; /* running_n: calls in flight; running_max: the most that may be */
  slp_timer timer;                 /* runs when curl's timeout is due, at the time that curl asked for */
  slp_event kick;                  /* runs curl's timeout now, because curl asked for "now" */
  uint32_t kicks_in_row; /* how often in a row curl asked for "now" inside the kick, see curl_http.c */
  uint32_t starts;       /* transfers added since the last kick */
  /* number of the latest call into curl; each call is one event, so bytes of different events get different
   * numbers */
  uint32_t acts;
  int socket_error;  /* errno of the last attempt to open a socket; 0: it succeeded */
  size_t body_usual; /* moving average of the length of an answer's body */
  uint8_t kicking;   /* 1: lane_timeout() is running */
} slp_curl_lane;

struct slp_uv_host {
  slp_host host; /* first member, so that both structs have the same address */
  uv_loop_t *loop;
  uv_timer_t timer;     /* fires at the nearest deadline */
  uv_prepare_t prepare; /* before the poll: runs a turn if one is due */
  uv_check_t check; /* after the poll: runs a turn if one is due; the only handle that keeps the loop alive */
  uv_idle_t idle;   /* active while a turn is due, so that the poll does not sleep */
  uint8_t due;      /* 1: a turn is due: the timer fired, or wake() asked for one now */
  uint8_t closing;
  /* how many handles, requests and jobs of libuv still point to the host, which must not be freed before */
  size_t holds;

  uint64_t random_pool[64]; /* random numbers from the system; the first random_left are unused */
  size_t random_left;

  CURLSH *share; /* cache of host names and TLS sessions, for all lanes */
  slp_curl_lane lanes[SLP_LANES];
  uint8_t curl_ready; /* 1: curl_global_init was done */
  uint8_t multiplex;  /* 1: this libcurl may carry several PUSH calls on one HTTP/2 connection */
  char *ca_file, *ca_path, *user_agent;

  slp_list listeners; /* open listeners, see uv_listen.c */
  slp_list files;     /* reads of files that are not done, see uv_file.c */
  slp_list pipes;     /* the bytes that were read from pipes, see uv_file.c */
  slp_list children;  /* jobs of uv_spawn.c that have not ended */
  int64_t date_ms;    /* the time that date_text shows, in ms; a whole second */
  char date_text[30];
};

static inline slp_uv_host *slp_uv_of(slp_host *h) { return (slp_uv_host *)(void *)h; }

/* Returns 1 if calls of the lane may share a connection by HTTP/2. */
static inline int slp_curl_lane_multiplexes(const slp_curl_lane *lane) {
  return lane->u->multiplex && lane == &lane->u->lanes[SLP_LANE_PUSH];
}

/* An object that libuv may still call back counts as one hold of the host: slp_uv_hold() adds it, and
 * slp_uv_drop() removes it. The host is freed when it is closing and no hold is left. So an object must not
 * use the host after slp_uv_drop(). */
void slp_uv_hold(slp_uv_host *u);
void slp_uv_drop(slp_uv_host *u);
void slp_uv_release(slp_uv_host *u); /* frees the host at once, whatever its holds are */

/* Defined in curl_http.c: */
int slp_curl_open(slp_uv_host *u, const slp_uv_options *o);
void slp_curl_close(slp_uv_host *u); /* cancels every call; may be called after slp_curl_open failed, too */
void slp_curl_send(slp_host *h, slp_http *call);
void slp_curl_cancel(slp_host *h, slp_http *call);
void slp_curl_resume(slp_host *h, slp_http *call);
/* Returns 1 if calls whose answers last minutes may share a connection. version and features are values of
 * curl_version_info(). */
int slp_curl_may_multiplex(unsigned version, int features);
/* Defined in curl_socket.c, which makes libuv watch the sockets for which curl waits: */
int slp_curl_sockets_multi(slp_curl_lane *lane); /* sets the options of lane->multi */
int slp_curl_sockets_easy(slp_curl_lane *lane, CURL *easy);
void slp_curl_sockets_close(slp_curl_lane *lane); /* must be called after curl_multi_cleanup */

/* In curl_text.c: slp_curl_explain turns a CURLcode into an error code of this library, which it returns, and
 * one sentence. `detail` is curl's error buffer. */
#define SLP_WHERE_MAX 208
typedef struct slp_curl_failure {
  CURLcode rc;
  const char *detail;
  const char *ca_file;
  int https;
  long os_errno;
  uint32_t connect_ms;
  const slp_proxy *proxy; /* the call's proxy; NULL: none */
  long connect_code;      /* the proxy's status for CONNECT; 0: there was no answer, or no CONNECT */
  long proxy_schemes;     /* CURLAUTH_* that the proxy asked for with 407 */
  int connected;          /* 1: libcurl says that TCP was connected (to the proxy, if there is one) */
  int sent;               /* 1: the request was sent */
  int reads_head;         /* 1: the request was sent, and the answer's head is not complete */
  slp_mem *mem;           /* used to find out whether memory can be allocated at all */
} slp_curl_failure;
int slp_curl_explain(char *text, size_t room, slp_str url, const slp_curl_failure *f);
/* Explains the status by which a proxy refused a call. Returns SLOOP_EPROXY: the proxy would refuse the same
 * call again; UV_EHOSTUNREACH: a later call may succeed. */
int slp_refused_by_proxy(char *text, size_t room, slp_str url, const slp_proxy *p, int status, long schemes);
/* Writes where a call goes: "HOST:PORT", or "HOST:PORT through the proxy HOST:PORT (VARIABLE)". */
void slp_where(slp_str url, const slp_proxy *proxy, char out[SLP_WHERE_MAX]);
/* Writes "host:port" of a URL, never its user or password. The port is the scheme's if the URL has none. */
void slp_url_place(slp_str url, char *out, size_t room);

/* Defined in uv_listen.c: */
int slp_uv_listen(slp_host *h, slp_listener *l, const char *address, uint16_t port);
void slp_uv_listen_close(slp_listener *l);
void slp_uv_serve(slp_served *rq, const slp_serve_answer *answer);
void slp_uv_serve_begin(slp_served *rq, const slp_serve_answer *answer);
int slp_uv_serve_more(slp_served *rq, slp_str bytes);
void slp_uv_serve_end(slp_served *rq);
void slp_uv_listen_close_all(slp_uv_host *u);

/* Defined in uv_raw.c: */
void slp_uv_raw_write(slp_raw *raw, slp_buf *bytes);
void slp_uv_raw_read(slp_raw *raw, int on);
int slp_uv_raw_has_room(slp_raw *raw, size_t more);
void slp_uv_raw_close(slp_raw *raw, slp_raw_end how);

/* Defined in uv_file.c: */
void slp_uv_file_read(slp_host *h, slp_file *file);
void slp_uv_file_cancel(slp_host *h, slp_file *file);
void slp_uv_file_close_all(slp_uv_host *u);

/* Defined in uv_work.c: */
/* Makes as many threads as libuv's pool will need, and ends them again. Returns 0; UV_EAGAIN or UV_ENOMEM:
 * they can't be made, and `why` (may be NULL) explains it. */
int slp_uv_threads_check(char why[160]);
void slp_uv_work_send(slp_host *h, slp_work *work);
void slp_uv_work_cancel(slp_host *h, slp_work *work);

/* Defined in uv_spawn.c: */
void slp_uv_spawn(slp_host *h, slp_child *child);
void slp_uv_spawn_cancel(slp_host *h, slp_child *child);
void slp_uv_spawn_close_all(slp_uv_host *u);

#endif
