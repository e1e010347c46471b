/* wire.h - one loop, one host, one server and some calls, for the tests of host/ on real sockets. */
#ifndef SLP_TEST_WIRE_H
#define SLP_TEST_WIRE_H

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <uv.h>

#include "check.h"
#include "host/host.h"
#include "program/process.h"
#include "sloop.h"

typedef struct wire {
  slp_mem *mem;
  uv_loop_t *loop;
  slp_host *h;
  int host_closed;
} wire;

static inline uint64_t wire_us(void) {
  struct timespec ts;
  clock_gettime(CLOCK_MONOTONIC, &ts);
  return (uint64_t)ts.tv_sec * 1000000u + (uint64_t)ts.tv_nsec / 1000u;
}

static inline void wire_open_with(wire *w, const slp_uv_options *o) {
  memset(w, 0, sizeof *w);
  w->mem = slp_mem_new(NULL, NULL);
  w->loop = slp_loop_new(w->mem);
  CHECK(w->loop);
  CHECK_INT(slp_uv_host_new(&w->h, w->loop, w->mem, o), 0);
}
static inline void wire_open(wire *w) { wire_open_with(w, NULL); }

static inline void wire_host_closed(slp_host *h, void *arg) {
  (void)h;
  ((wire *)arg)->host_closed = 1;
}

/* Closes the host in whatever state it is, and proves that nothing is left. */
static inline void wire_close(wire *w) {
  if (w->h) slp_host_close(w->h, wire_host_closed, w);
  w->h = NULL;
  uv_run(w->loop, UV_RUN_DEFAULT);
  CHECK(w->host_closed);
  CHECK_INT(slp_loop_free(w->mem, w->loop), 0);
  CHECK_INT(w->mem->live_blocks, 0);
  slp_mem_drop(w->mem);
}

/* Runs the loop until *flag, at most so long. 1: it came. */
static inline int wire_until(wire *w, const int *flag, uint64_t ms) {
  uint64_t end = wire_us() + ms * 1000;
  while (!*flag && wire_us() < end) uv_run(w->loop, UV_RUN_NOWAIT);
  return *flag;
}
#define WIRE_UNTIL(w, flag)                                                               \
  do {                                                                                    \
    if (!wire_until((w), (flag), 10000)) CHECK_FAIL("waited 10 s in vain for %s", #flag); \
  } while (0)

typedef struct wire_call {
  slp_http http;
  slp_buf body;
  char url[128];
  int done; /* how often on_done ran */
} wire_call;

static inline void wire_call_done(slp_http *http) { SLP_OWNER(http, wire_call, http)->done++; }

static inline void wire_call_make(wire_call *c, wire *w, const char *scheme, uint16_t port,
                                  const char *path) {
  memset(c, 0, sizeof *c);
  slp_buf_init(&c->body, w->mem, 64 << 20);
  snprintf(c->url, sizeof c->url, "%s://127.0.0.1:%u%s", scheme, port, path);
  c->http.method = "POST";
  c->http.url = c->url;
  c->http.body = SLP_STR("{}");
  c->http.into = &c->body;
  c->http.on_done = wire_call_done;
}

static inline void wire_call_again(wire_call *c) {
  slp_buf_clear(&c->body);
  c->done = 0;
}
static inline void wire_call_run(wire_call *c, wire *w) {
  slp_http_send(w->h, &c->http);
  WIRE_UNTIL(w, &c->done);
  CHECK_INT(c->done, 1);
}

/* A raw listening socket on loopback; *port is set. */
static inline int wire_raw_listen(uint16_t *port, int backlog) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t n = sizeof a;
  CHECK(fd >= 0);
  CHECK_INT(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
  CHECK_INT(listen(fd, backlog), 0);
  CHECK_INT(getsockname(fd, (struct sockaddr *)&a, &n), 0);
  *port = ntohs(a.sin_port);
  return fd;
}

static inline int wire_raw_connect(uint16_t port) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in a = {
      .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(port)};
  CHECK_INT(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
  return fd;
}

/* ---- a server in a process of its own, written with plain blocking calls ---------------------- */
typedef struct wire_child {
  pid_t pid;
  uint16_t port;
} wire_child;

/* `serve` gets the listening socket; when it returns, the child ends. It also ends with its parent. */
static inline wire_child wire_child_start(void (*serve)(int listener, void *arg), void *arg) {
  wire_child c;
  int fd = wire_raw_listen(&c.port, 64);
  fflush(NULL);
  c.pid = fork();
  CHECK(c.pid >= 0);
  if (c.pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_IGN);
    serve(fd, arg);
    _exit(0);
  }
  close(fd);
  return c;
}
static inline void wire_child_stop(wire_child *c) {
  kill(c->pid, SIGKILL);
  waitpid(c->pid, NULL, 0);
}

/* Reads one whole request into out (NUL-ended). Its length; 0: the peer left. */
static inline size_t wire_read_request(int fd, char *out, size_t room) {
  size_t n = 0, want = 0;
  for (;;) {
    out[n] = 0;
    char *end = strstr(out, "\r\n\r\n"), *length = strcasestr(out, "content-length:");
    if (end) {
      want = (size_t)(end + 4 - out) + (length && length < end ? strtoul(length + 15, NULL, 10) : 0);
      if (n >= want) return n;
    }
    ssize_t k = read(fd, out + n, room - 1 - n);
    if (k <= 0) return 0;
    n += (size_t)k;
  }
}
static inline void wire_write(int fd, const char *p, size_t n) {
  while (n) {
    ssize_t k = write(fd, p, n);
    if (k <= 0) return;
    p += k;
    n -= (size_t)k;
  }
}
static inline void wire_reset(int fd) {
  struct linger hard = {1, 0};
  setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
  close(fd);
}

#endif
