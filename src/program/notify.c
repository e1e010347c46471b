/* notify.c - datagrams to the service manager, as sd_notify(3) describes them. */
#include "program/notify.h"

#include "base/mem.h"
#include "base/num.h"
#include "host/os.h"

#include <errno.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct slp_notify {
  int fd; /* owned */
  struct sockaddr_un to;
  socklen_t to_n;
  uint64_t watchdog_us;
};

/* Reads a number of microseconds. Returns 0 if the text is missing or no number. */
static uint64_t read_number(const char *text) {
  uint64_t number = 0;
  return text && slp_parse_u64(slp_str_of(text), &number) == 0 ? number : 0;
}

/* Fills n->to and n->to_n. Returns SLP_EINVAL for an address that is neither a path nor an abstract name. */
static int take_address(slp_notify *n, const char *socket_name) {
  size_t length = strlen(socket_name);
  int abstract = socket_name[0] == '@';
  if ((socket_name[0] != '/' && !abstract) || length < 2 || length >= sizeof n->to.sun_path)
    return SLP_EINVAL;
  n->to.sun_family = AF_UNIX;
  memcpy(n->to.sun_path, socket_name, length);
  /* the kernel marks an abstract name by a zero byte in front, and its end by the length alone */
  if (abstract) n->to.sun_path[0] = 0;
  n->to_n = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + !abstract);
  return 0;
}

int slp_notify_open(slp_notify **ret, slp_mem *mem, const slp_notify_env *env) {
  *ret = NULL;
  if (!env->socket || !*env->socket) return 0;
  slp_notify *n = SLP_NEW(mem, slp_notify);
  if (!n) return SLP_ENOMEM;
  int r = take_address(n, env->socket);
  n->fd = r ? -1 : slp_os_socket(AF_UNIX, SOCK_DGRAM, 0);
  if (!r && n->fd < 0) r = -errno;
  if (r) {
    slp_free(mem, n);
    return r;
  }
  if (!env->watchdog_pid || read_number(env->watchdog_pid) == (uint64_t)getpid())
    n->watchdog_us = read_number(env->watchdog_usec);
  *ret = n;
  return 0;
}

/* The address is given with each message, so that a manager may make its socket anew. */
int slp_notify_send(slp_notify *n, slp_str lines) {
  ssize_t sent =
      sendto(n->fd, lines.p, lines.n, MSG_NOSIGNAL | MSG_DONTWAIT, (const struct sockaddr *)&n->to, n->to_n);
  return sent < 0 ? -errno : 0;
}

uint64_t slp_notify_watchdog_us(const slp_notify *n) { return n->watchdog_us; }

void slp_notify_close(slp_notify *n, slp_mem *mem) {
  if (!n) return;
  close(n->fd);
  slp_free(mem, n);
}
