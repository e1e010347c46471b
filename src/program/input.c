/* input.c - reads a descriptor in pieces: by uv_poll if the descriptor can be polled. Otherwise (a regular
 * file, which is always readable) reads one piece in each turn of the loop. */
#include "program/input.h"

#include "base/mem.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

struct slp_input {
  slp_mem *mem;
  slp_input_user user;
  uv_poll_t poll;
  uv_idle_t idle; /* offers unused bytes again, and reads what can't be polled */
  int fd, error;
  size_t from, to; /* buffer[from, to): read and not used */
  uint8_t own_fd, polled, paused, ended, closing;
  size_t open_n; /* handles that are not closed yet */
  char buffer[SLP_INPUT_PIECE];
};

static void on_poll(uv_poll_t *poll, int status, int events);
static void on_idle(uv_idle_t *idle);

/* Starts the handle that continues reading: the idle handle if there are bytes to offer or the descriptor
 * can't be polled, otherwise the poll handle. Stops the other handle, and both while reading is paused. */
static void arm_next_input(slp_input *in) {
  if (in->closing) return;
  int wants = !in->paused && !in->ended;
  int by_poll = in->polled && in->from == in->to && !in->error;
  if (wants && by_poll && uv_poll_start(&in->poll, UV_READABLE | UV_DISCONNECT, on_poll)) by_poll = 0;
  if (in->polled && !(wants && by_poll)) uv_poll_stop(&in->poll);
  if (wants && !by_poll)
    uv_idle_start(&in->idle, on_idle);
  else
    uv_idle_stop(&in->idle);
}

/* Hands out the unused bytes. Returns 1 if all of them were used. */
static int offer_input_bytes(slp_input *in) {
  in->from += in->user.on_bytes(in->user.arg, in->buffer + in->from, in->to - in->from);
  in->paused = in->from < in->to;
  return !in->paused;
}

static void end_input(slp_input *in) {
  in->ended = 1;
  arm_next_input(in);
  in->user.on_end(in->user.arg, in->error < 0 ? in->error : 0);
}

static void read_piece(slp_input *in) {
  /* A read could block: the descriptor is in blocking mode, and another process that shares it may have read
   * the bytes already. */
  struct pollfd ready = {.fd = in->fd, .events = POLLIN};
  if (in->polled && poll(&ready, 1, 0) == 0) return;
  ssize_t n = read(in->fd, in->buffer, sizeof in->buffer);
  if (n < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK)) return;
  if (n <= 0) {
    in->error = n < 0 ? -errno : 1; /* 1: the end, which is no error */
    return;
  }
  in->from = 0;
  in->to = (size_t)n;
}

static void go_on(slp_input *in) {
  if (in->from == in->to && !in->error) read_piece(in);
  if (in->from < in->to && !offer_input_bytes(in)) {
    arm_next_input(in);
    return;
  }
  if (in->closing) return; /* the user has closed it in on_bytes */
  if (in->error)
    end_input(in);
  else
    arm_next_input(in);
}

static void on_poll(uv_poll_t *poll, int status, int events) {
  (void)status, (void)events;
  go_on(poll->data);
}
static void on_idle(uv_idle_t *idle) { go_on(idle->data); }

static int can_be_polled(int fd) {
  struct stat st;
  if (fstat(fd, &st)) return 0;
  return S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) || (S_ISCHR(st.st_mode) && isatty(fd));
}

/* Opens the path. O_NONBLOCK keeps open() from waiting for the writer of a FIFO. Returns the descriptor or
 * -errno. */
static int open_path(const char *path) {
  struct stat st;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (fd < 0) return -errno;
  if (fstat(fd, &st) == 0 && !S_ISDIR(st.st_mode)) return fd;
  close(fd);
  return -EISDIR;
}

static int is_folder(int fd) {
  struct stat st;
  return fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
}

int slp_input_open(slp_input **ret, slp_mem *mem, struct uv_loop_s *loop, const char *path,
                   const slp_input_user *user) {
  int fd = path ? open_path(path) : STDIN_FILENO;
  if (fd < 0) return fd;
  if (is_folder(fd)) return -EISDIR;
  slp_input *in = SLP_NEW(mem, slp_input);
  if (!in) {
    if (path) close(fd);
    return SLP_ENOMEM;
  }
  in->mem = mem;
  in->user = *user;
  in->fd = fd;
  in->own_fd = path != NULL;
  uv_idle_init(loop, &in->idle);
  in->idle.data = in;
  in->open_n = 1;
  if (can_be_polled(fd)) {
    int flags = fcntl(fd, F_GETFL);
    in->polled = uv_poll_init(loop, &in->poll, fd) == 0;
    /* Other processes share standard input and expect its flags. */
    if (flags >= 0 && !path) fcntl(fd, F_SETFL, flags);
    in->poll.data = in;
    in->open_n += in->polled;
  }
  arm_next_input(in);
  *ret = in;
  return 0;
}

void slp_input_resume(slp_input *in) {
  if (!in->paused) return;
  in->paused = 0;
  arm_next_input(in);
}

slp_str slp_input_unused(const slp_input *in) { return (slp_str){in->buffer + in->from, in->to - in->from}; }

static void on_closed(uv_handle_t *handle) {
  slp_input *in = handle->data;
  if (--in->open_n) return;
  if (in->own_fd) close(in->fd);
  slp_free(in->mem, in);
}

void slp_input_close(slp_input *in) {
  if (!in || in->closing) return;
  in->closing = 1;
  if (in->polled) uv_close((uv_handle_t *)&in->poll, on_closed);
  uv_close((uv_handle_t *)&in->idle, on_closed);
}

int slp_input_is_same_file(const char *path, const char *other) {
  struct stat a, b;
  if (path ? stat(path, &a) : fstat(STDIN_FILENO, &a)) return 0;
  if (other ? stat(other, &b) : fstat(STDIN_FILENO, &b)) return 0;
  return S_ISREG(a.st_mode) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}
