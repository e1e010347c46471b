/* keys.c - reads keys from /dev/tty. Descriptors 0 to 2 are not used for this, because the shell and other
 * programs share their flags. */
#include "program/keys.h"

#include "base/mem.h"
#include "host/terminal.h"

#include <unistd.h>
#include <uv.h>

#define PIECE 256

struct slp_keys {
  uv_poll_t poll;
  slp_mem *mem;
  int fd;
  void (*on_keys)(void *arg, const char *p, size_t n);
  void *arg;
};

static void on_readable(uv_poll_t *poll, int status, int events) {
  slp_keys *k = poll->data;
  char piece[PIECE];
  (void)events;
  /* in the background a read would stop the process */
  if (status < 0 || !slp_terminal_is_foreground(k->fd)) {
    uv_poll_stop(&k->poll);
    return;
  }
  ssize_t n = read(k->fd, piece, sizeof piece);
  if (n > 0)
    k->on_keys(k->arg, piece, (size_t)n);
  else if (n == 0)
    uv_poll_stop(&k->poll); /* the terminal is gone */
}

slp_keys *slp_keys_new(slp_mem *mem, struct uv_loop_s *loop,
                       void (*on_keys)(void *arg, const char *p, size_t n), void *arg) {
  slp_keys *k = SLP_NEW(mem, slp_keys);
  if (!k) return NULL;
  k->mem = mem;
  k->on_keys = on_keys;
  k->arg = arg;
  k->fd = slp_terminal_keys_open(1);
  if (k->fd < 0 || uv_poll_init(loop, &k->poll, k->fd)) {
    if (k->fd >= 0) close(k->fd);
    slp_free(mem, k);
    return NULL;
  }
  k->poll.data = k;
  uv_unref((uv_handle_t *)&k->poll);
  return k;
}

int slp_keys_begin(slp_keys *k) {
  return slp_terminal_keys_begin(k->fd) == 0 && uv_poll_start(&k->poll, UV_READABLE, on_readable) == 0;
}

void slp_keys_end(slp_keys *k) {
  uv_poll_stop(&k->poll);
  slp_terminal_keys_end();
}

static void on_closed(uv_handle_t *handle) {
  slp_keys *k = handle->data;
  close(k->fd);
  slp_free(k->mem, k);
}

void slp_keys_close(slp_keys *k) {
  if (!k) return;
  slp_keys_end(k);
  uv_close((uv_handle_t *)&k->poll, on_closed);
}
