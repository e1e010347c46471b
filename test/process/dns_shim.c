/* dns_shim.c - preloaded into a program under test: answers for names that end in ".sloop.test" come from
 * SLOOP_DNS instead of the network. SLOOP_DNS is a list of steps, one a lookup, the last for ever:
 *   ADDRESS[+ADDRESS...]   these IPv4 addresses, in this order
 *   nx                     no such name
 *   again                  the name server failed
 *   stall=SECONDS          no answer for so long, then `again`
 * Steps are separated by commas. SLOOP_DNS_LOG names a file that gets one byte a lookup. */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef int (*lookup_fn)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
static atomic_int lookups;

static int is_ours(const char *name) {
  static const char end[] = ".sloop.test";
  size_t n = name ? strlen(name) : 0, m = sizeof end - 1;
  return n > m && strcmp(name + n - m, end) == 0;
}

static void note(void) {
  const char *path = getenv("SLOOP_DNS_LOG");
  int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
  if (fd < 0) return;
  if (write(fd, ".", 1) != 1) abort();
  close(fd);
}

/* The step of this lookup, NUL-ended. */
static void step_of(int number, char *out, size_t room) {
  const char *at = getenv("SLOOP_DNS");
  if (!at) at = "nx";
  for (; number > 0; number--) {
    const char *comma = strchr(at, ',');
    if (!comma) break;
    at = comma + 1;
  }
  snprintf(out, room, "%.*s", (int)strcspn(at, ","), at);
}

static int answer(char *step, const char *service, const struct addrinfo *hints, struct addrinfo **ret,
                  lookup_fn real) {
  struct addrinfo *first = NULL, **end = &first, want = {0};
  if (hints) want = *hints;
  if (want.ai_family == AF_INET6) return EAI_NONAME;
  want.ai_flags = AI_NUMERICHOST;
  want.ai_family = AF_INET;
  want.ai_socktype = SOCK_STREAM;
  char *rest = NULL;
  for (char *address = strtok_r(step, "+", &rest); address; address = strtok_r(NULL, "+", &rest)) {
    int err = real(address, service, &want, end); /* glibc's freeaddrinfo frees such a joined list */
    if (err) return err;
    while (*end) end = &(*end)->ai_next;
  }
  *ret = first;
  return first ? 0 : EAI_NONAME;
}

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **ret) {
  lookup_fn real = (lookup_fn)dlsym(RTLD_NEXT, "getaddrinfo");
  char step[256];
  if (!is_ours(name)) return real(name, service, hints, ret);
  step_of(atomic_fetch_add(&lookups, 1), step, sizeof step);
  note();
  if (strcmp(step, "nx") == 0) return EAI_NONAME;
  if (strcmp(step, "again") == 0) return EAI_AGAIN;
  if (strncmp(step, "stall=", 6) == 0) {
    struct timespec t = {atol(step + 6), 0};
    while (nanosleep(&t, &t)) continue;
    return EAI_AGAIN;
  }
  return answer(step, service, hints, ret, real);
}
