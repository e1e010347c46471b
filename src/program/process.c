/* process.c - a program's own loop, signals, ticks, non-blocking standard output, and the end of its standard
 * input. */
#include "program/process.h"

#include "base/buf.h"
#include "base/list.h"
#include "base/mem.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#define IN_PIECE 4096
#define PUSH_MAX ((size_t)1 << 20)

/* ---- the loop -------------------------------------------------------------------------------- */
/* libuv ends the process if it can't make its pipe for signals, which the first loop of a process needs. How
 * many descriptors it takes before depends on its version and the kernel: 1.44 takes one for epoll, 1.45 two
 * rings of io_uring besides, 1.50 one ring. With the pipe that is five at most. A process that has fewer than
 * LOOP_DESCRIPTORS could not read a stream. */
#define LOOP_DESCRIPTORS 8

/* Returns 1 if LOOP_DESCRIPTORS descriptors are free. */
static int has_descriptors_left(void) {
  int fds[LOOP_DESCRIPTORS], n = 2;
  if (uv_pipe(fds, 0, 0)) return 0;
  while (n < LOOP_DESCRIPTORS && (fds[n] = fcntl(fds[0], F_DUPFD_CLOEXEC, 0)) >= 0) n++;
  for (int i = 0; i < n; i++) close(fds[i]);
  return n == LOOP_DESCRIPTORS;
}

struct uv_loop_s *slp_loop_new(slp_mem *mem) {
  /* A write to a peer that is gone must not end the program. libcurl is configured not to change signals, and
   * neither OpenSSL nor libuv prevent SIGPIPE. The library leaves SIGPIPE to its user, as sloop.h says. */
  signal(SIGPIPE, SIG_IGN);
  uv_loop_t *loop = SLP_NEW(mem, uv_loop_t);
  if (loop && (!has_descriptors_left() || uv_loop_init(loop))) {
    slp_free(mem, loop);
    loop = NULL;
  }
  return loop;
}

void slp_loop_run(struct uv_loop_s *loop) { uv_run(loop, UV_RUN_DEFAULT); }

int slp_loop_free(slp_mem *mem, struct uv_loop_s *loop) {
  int r = uv_loop_close(loop);
  if (r == 0) slp_free(mem, loop);
  return r;
}

int slp_is_terminal(int fd) { return isatty(fd); }

/* ---- signals --------------------------------------------------------------------------------- */
struct slp_signals {
  slp_mem *mem;
  void (*on_signal)(void *arg, int number);
  void *arg;
  size_t n, open_n;
  uv_signal_t *each;
};

static void on_signal(uv_signal_t *handle, int number) {
  slp_signals *s = handle->data;
  s->on_signal(s->arg, number);
}

static void on_signal_closed(uv_handle_t *handle) {
  slp_signals *s = handle->data;
  if (--s->open_n > 0) return;
  slp_free(s->mem, s->each);
  slp_free(s->mem, s);
}

slp_signals *slp_signals_new(slp_mem *mem, struct uv_loop_s *loop, const int *numbers, size_t n,
                             void (*on_signal_cb)(void *arg, int number), void *arg) {
  slp_signals *s = SLP_NEW(mem, slp_signals);
  if (s) s->each = slp_zalloc_n(mem, n ? n : 1, sizeof *s->each);
  if (!s || !s->each) {
    slp_free(mem, s);
    return NULL;
  }
  s->mem = mem;
  s->on_signal = on_signal_cb;
  s->arg = arg;
  size_t started = 0;
  for (; started < n; started++) {
    uv_signal_t *handle = &s->each[started];
    if (uv_signal_init(loop, handle)) break;
    handle->data = s;
    s->n++;
    s->open_n++;
    uv_unref((uv_handle_t *)handle);
    if (uv_signal_start(handle, on_signal, numbers[started])) break;
  }
  if (started == n) return s;
  slp_signals_close(s);
  return NULL;
}

void slp_signals_close(slp_signals *s) {
  if (!s) return;
  if (s->n == 0) {
    slp_free(s->mem, s->each);
    slp_free(s->mem, s);
    return;
  }
  for (size_t i = 0; i < s->n; i++) uv_close((uv_handle_t *)&s->each[i], on_signal_closed);
}

/* ---- ticks ----------------------------------------------------------------------------------- */
struct slp_ticker {
  uv_timer_t timer;
  slp_mem *mem;
  void (*on_tick)(void *arg);
  void *arg;
};

static void on_tick(uv_timer_t *timer) {
  slp_ticker *t = timer->data;
  t->on_tick(t->arg);
}

static void on_ticker_closed(uv_handle_t *handle) {
  slp_ticker *t = handle->data;
  slp_free(t->mem, t);
}

slp_ticker *slp_ticker_new(slp_mem *mem, struct uv_loop_s *loop, uint64_t every_ms,
                           void (*on_tick_cb)(void *arg), void *arg) {
  slp_ticker *t = SLP_NEW(mem, slp_ticker);
  if (!t) return NULL;
  if (every_ms == 0) every_ms = 1; /* with a repeat of 0, libuv's timer would fire only once */
  t->mem = mem;
  t->on_tick = on_tick_cb;
  t->arg = arg;
  uv_timer_init(loop, &t->timer);
  t->timer.data = t;
  uv_unref((uv_handle_t *)&t->timer);
  /* updates the loop's clock; otherwise the first tick could come too early, because the loop's time may be
   * old */
  uv_update_time(loop);
  uv_timer_start(&t->timer, on_tick, every_ms, every_ms);
  return t;
}

void slp_ticker_close(slp_ticker *t) {
  if (t) uv_close((uv_handle_t *)&t->timer, on_ticker_closed);
}

/* ---- output ---------------------------------------------------------------------------------- */
typedef struct piece {
  slp_list link;
  slp_buf bytes;
  size_t done; /* bytes of this piece that were written already */
} piece;

struct slp_out {
  slp_mem *mem;
  uv_poll_t poll; /* watches pipes, sockets and terminals: active while bytes wait, or while `full` is 1 */
  uv_idle_t idle; /* active until on_event was called */
  void (*on_event)(void *arg);
  void *arg;
  int fd, flags;  /* flags: the flags of fd that must be restored; -1: they were not changed */
  uint8_t own_fd; /* 1: fd is the terminal, opened once more for this program alone */
  uint8_t polled, closing;
  uint8_t full;  /* 1: slp_out_some found no room, so on_event must be called when there is room */
  size_t open_n; /* number of libuv handles that are not closed yet */
  int error;
  slp_list pieces; /* pieces that wait to be written, oldest first */
  size_t waiting;  /* bytes in `pieces` that are not written yet */
};

static void out_arm(slp_out *o, int on);

static void out_drop_all(slp_out *o) {
  slp_list *node;
  while ((node = slp_list_pop(&o->pieces))) {
    piece *p = SLP_OWNER(node, piece, link);
    slp_buf_free(&p->bytes);
    slp_free(o->mem, p);
  }
  o->waiting = 0;
}

static void on_out_idle(uv_idle_t *idle) {
  slp_out *o = idle->data;
  uv_idle_stop(idle);
  o->on_event(o->arg);
}

/* Makes the loop call on_event, which must not be called from inside slp_out_write. */
static void out_tell(slp_out *o) { uv_idle_start(&o->idle, on_out_idle); }

static void out_failed(slp_out *o, int error) {
  o->error = error;
  out_drop_all(o);
  out_arm(o, 0);
  out_tell(o);
}

/* Writes until all pieces are written, the descriptor takes no more, or PUSH_MAX bytes were written, so that
 * the loop can do other work. */
static void out_push(slp_out *o) {
  slp_list *node;
  size_t wrote = 0;
  while ((node = slp_list_first(&o->pieces))) {
    piece *p = SLP_OWNER(node, piece, link);
    while (p->done < p->bytes.n) {
      if (o->polled && wrote >= PUSH_MAX) {
        out_arm(o, 1);
        return;
      }
      ssize_t n = write(o->fd, p->bytes.p + p->done, slp_min_u64(p->bytes.n - p->done, PUSH_MAX));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) && o->polled) {
        out_arm(o, 1);
        return;
      }
      if (n < 0) {
        out_failed(o, uv_translate_sys_error(errno));
        return;
      }
      p->done += (size_t)n;
      wrote += (size_t)n;
      o->waiting -= (size_t)n;
    }
    slp_list_remove(&p->link);
    slp_buf_free(&p->bytes);
    slp_free(o->mem, p);
  }
  out_arm(o, 0);
  out_tell(o);
}

static void on_out_poll(uv_poll_t *poll, int status, int events) {
  slp_out *o = poll->data;
  /* not used: if a pipe's reader has left (POLLERR), libuv 1.44 reports UV_EBADF, but write() returns the
   * right error */
  (void)status;
  (void)events;
  if (!slp_list_empty(&o->pieces)) {
    out_push(o);
    return;
  }
  o->full = 0;
  o->on_event(o->arg);
  if (!o->full) out_arm(o, 0);
}

static void out_arm(slp_out *o, int on) {
  if (!o->polled || o->closing) return;
  if (on)
    uv_poll_start(&o->poll, UV_WRITABLE, on_out_poll);
  else
    uv_poll_stop(&o->poll);
}

static int can_be_polled(int fd) {
  struct stat st;
  if (fstat(fd, &st)) return 0;
  return S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) || (S_ISCHR(st.st_mode) && isatty(fd));
}

slp_out *slp_out_new(slp_mem *mem, struct uv_loop_s *loop, int fd, void (*on_event)(void *arg), void *arg) {
  slp_out *o = SLP_NEW(mem, slp_out);
  if (!o) return NULL;
  o->mem = mem;
  o->fd = fd;
  o->on_event = on_event;
  o->arg = arg;
  slp_list_init(&o->pieces);
  o->flags = -1;
  if (can_be_polled(fd)) {
    /* uv_poll_init sets the open file to non-blocking for every process that shares it: for the shell on the
     * same terminal too, and for good if this process is killed. So a terminal is opened once more, for this
     * process alone. slp_out_close restores the flags of pipes and sockets. */
    char name[256];
    int own = isatty(fd) && ttyname_r(fd, name, sizeof name) == 0
                  ? open(name, O_WRONLY | O_NOCTTY | O_CLOEXEC)
                  : -1;
    if (own >= 0) {
      o->fd = own;
      o->own_fd = 1;
    } else {
      o->flags = fcntl(fd, F_GETFL);
    }
    o->polled = uv_poll_init(loop, &o->poll, o->fd) == 0;
    o->poll.data = o;
    o->open_n += o->polled;
  }
  uv_idle_init(loop, &o->idle);
  o->idle.data = o;
  o->open_n++;
  return o;
}

int slp_out_write(slp_out *o, slp_buf *b) {
  if (o->error) return o->error;
  if (b->n == 0) return 0;
  piece *p = SLP_NEW(o->mem, piece);
  if (!p) return UV_ENOMEM;
  slp_buf_move(&p->bytes, b);
  int first = slp_list_empty(&o->pieces);
  slp_list_add_last(&o->pieces, &p->link);
  o->waiting += p->bytes.n;
  if (first) out_push(o);
  return o->error;
}

int64_t slp_out_some(slp_out *o, const char *p, size_t n) {
  SLP_CHECK(slp_list_empty(&o->pieces));
  if (o->error) return o->error;
  ssize_t wrote;
  do wrote = write(o->fd, p, slp_min_u64(n, PUSH_MAX));
  while (wrote < 0 && errno == EINTR);
  if (wrote >= 0) return wrote;
  if ((errno == EAGAIN || errno == EWOULDBLOCK) && o->polled) {
    o->full = 1;
    out_arm(o, 1);
    return 0;
  }
  out_failed(o, uv_translate_sys_error(errno));
  return o->error;
}

void slp_out_wake(slp_out *o) {
  if (!o->closing) out_tell(o);
}

size_t slp_out_waiting_bytes(const slp_out *o) { return o->waiting; }
int slp_out_error(const slp_out *o) { return o->error; }

/* Checks by poll() whether the reader has left; poll() then reports an error of the pipe. uv_poll is not used
 * for this, because libuv would report the error again in every turn. */
void slp_out_look(slp_out *o) {
  struct pollfd p = {.fd = o->fd, .events = 0};
  if (!o->polled || o->closing || o->error) return;
  if (poll(&p, 1, 0) > 0 && p.revents & (POLLERR | POLLHUP)) out_failed(o, UV_EPIPE);
}

static void on_out_closed(uv_handle_t *handle) {
  slp_out *o = handle->data;
  if (--o->open_n == 0) slp_free(o->mem, o);
}

void slp_out_close(slp_out *o) {
  if (!o || o->closing) return;
  o->closing = 1;
  out_drop_all(o);
  if (o->polled) uv_close((uv_handle_t *)&o->poll, on_out_closed);
  if (o->flags >= 0) fcntl(o->fd, F_SETFL, o->flags);
  if (o->own_fd) close(o->fd);
  uv_close((uv_handle_t *)&o->idle, on_out_closed);
}

/* ---- the end of standard input ---------------------------------------------------------------- */
struct slp_in_end {
  slp_mem *mem;
  uv_poll_t poll;
  uv_idle_t idle; /* reads files and /dev/null, which can't be polled, a piece in each turn */
  void (*on_end)(void *arg);
  void *arg;
  int fd;
  uint8_t polled, closing, told;
  size_t open_n;
};

static void in_ended(slp_in_end *e) {
  if (e->told) return;
  e->told = 1;
  if (e->polled) uv_poll_stop(&e->poll);
  uv_idle_stop(&e->idle);
  e->on_end(e->arg);
}

static void in_read(slp_in_end *e) {
  char scratch[IN_PIECE];
  /* A read could block: the descriptor is in blocking mode, and another process that shares it may have read
   * the bytes already. */
  struct pollfd ready = {.fd = e->fd, .events = POLLIN};
  if (poll(&ready, 1, 0) == 0) return;
  ssize_t n = read(e->fd, scratch, sizeof scratch);
  if (n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK))) return;
  in_ended(e); /* a failed read ends the input too, because no more input will come then */
}

static void on_in_poll(uv_poll_t *poll, int status, int events) {
  (void)status;
  (void)events;
  in_read(poll->data);
}

static void on_in_idle(uv_idle_t *idle) { in_read(idle->data); }

slp_in_end *slp_in_end_new(slp_mem *mem, struct uv_loop_s *loop, int fd, void (*on_end)(void *arg),
                           void *arg) {
  slp_in_end *e = SLP_NEW(mem, slp_in_end);
  if (!e) return NULL;
  e->mem = mem;
  e->fd = fd;
  e->on_end = on_end;
  e->arg = arg;
  uv_idle_init(loop, &e->idle);
  e->idle.data = e;
  e->open_n = 1;
  if (can_be_polled(fd)) {
    int flags = fcntl(fd, F_GETFL);
    e->polled = uv_poll_init(loop, &e->poll, fd) == 0;
    /* Restores at once the flags that other processes expect; see slp_out_new. */
    if (flags >= 0) fcntl(fd, F_SETFL, flags);
    e->poll.data = e;
    e->open_n += e->polled;
  }
  if (!e->polled || uv_poll_start(&e->poll, UV_READABLE | UV_DISCONNECT, on_in_poll))
    uv_idle_start(&e->idle, on_in_idle);
  return e;
}

static void on_in_closed(uv_handle_t *handle) {
  slp_in_end *e = handle->data;
  if (--e->open_n == 0) slp_free(e->mem, e);
}

void slp_in_end_close(slp_in_end *e) {
  if (!e || e->closing) return;
  e->closing = e->told = 1;
  if (e->polled) uv_close((uv_handle_t *)&e->poll, on_in_closed);
  uv_close((uv_handle_t *)&e->idle, on_in_closed);
}
