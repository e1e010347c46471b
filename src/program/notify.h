/* notify.h - tells the service manager that has started this program how the program is doing. The manager
 * (systemd, or another one that knows sd_notify) names a socket in NOTIFY_SOCKET, and each message is one
 * datagram. A message is never waited for. */
#ifndef SLP_PROGRAM_NOTIFY_H
#define SLP_PROGRAM_NOTIFY_H

#include "base/base.h"
#include "base/mem.h"

/* What the manager has put into the environment. A member is NULL if the variable is not set. */
typedef struct slp_notify_env {
  const char *socket; /* NOTIFY_SOCKET: the path of a socket; the name of an abstract one begins with '@' */
  const char *watchdog_usec; /* WATCHDOG_USEC: the manager ends a service that is silent for this long */
  const char *watchdog_pid;  /* WATCHDOG_PID: the process that WATCHDOG_USEC is for */
} slp_notify_env;

typedef struct slp_notify slp_notify;

/* Opens a socket for messages. Returns 0, with *ret NULL if env->socket is not set. Returns SLP_EINVAL if the
 * socket is of a kind that this function does not know, -errno or SLP_ENOMEM if none can be opened. */
int slp_notify_open(slp_notify **ret, slp_mem *mem, const slp_notify_env *env);
/* Sends one message: lines such as "READY=1", separated by newlines. Returns 0, or -errno if the message was
 * not sent. -EAGAIN: the manager has not read earlier messages yet. */
int slp_notify_send(slp_notify *n, slp_str lines);
/* Returns after how many microseconds of silence the manager ends the service; 0: it does not. */
uint64_t slp_notify_watchdog_us(const slp_notify *n);
void slp_notify_close(slp_notify *n, slp_mem *mem); /* n may be NULL */

#endif
