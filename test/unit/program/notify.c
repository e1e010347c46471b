/* notify.c - datagrams to a service manager: which sockets are understood, and which watchdog is for us. */
#include "program/notify.h"

#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "check.h"

static slp_mem *mem;

/* Binds a socket as a manager does. name[0] '@': an abstract one. */
static int manager_socket(const char *name) {
  struct sockaddr_un at = {.sun_family = AF_UNIX};
  size_t n = strlen(name);
  memcpy(at.sun_path, name, n);
  if (name[0] == '@') at.sun_path[0] = 0;
  int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  CHECK_INT(bind(fd, (struct sockaddr *)&at, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n)), 0);
  return fd;
}

static void check_message(int fd, const char *want) {
  char got[100];
  ssize_t n = recv(fd, got, sizeof got - 1, 0);
  CHECK(n >= 0);
  got[n > 0 ? n : 0] = 0;
  CHECK_STR(got, want);
}

static void check_socket(const char *name) {
  slp_notify *n;
  int fd = manager_socket(name);
  CHECK_INT(slp_notify_open(&n, mem, &(slp_notify_env){.socket = name}), 0);
  CHECK_INT(slp_notify_send(n, SLP_STR("READY=1\nSTATUS=here")), 0);
  check_message(fd, "READY=1\nSTATUS=here");
  CHECK_INT(slp_notify_watchdog_us(n), 0);
  close(fd);
  CHECK_INT(slp_notify_send(n, SLP_STR("WATCHDOG=1")), -ECONNREFUSED);
  slp_notify_close(n, mem);
}

static void end(void) {
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

TEST(paths_and_abstract_names) {
  char path[80], abstract[80], longest[sizeof((struct sockaddr_un *)0)->sun_path];
  mem = slp_mem_new(NULL, NULL);
  snprintf(path, sizeof path, "/tmp/sloop-notify-%d", (int)getpid());
  snprintf(abstract, sizeof abstract, "@sloop-notify-%d", (int)getpid());
  memset(longest, 'x', sizeof longest);
  snprintf(longest, sizeof longest, "@sloop-notify-%d", (int)getpid());
  longest[strlen(longest)] = 'x';
  longest[sizeof longest - 1] = 0;
  check_socket(path);
  unlink(path);
  check_socket(abstract);
  check_socket(longest);
  end();
}

TEST(no_manager_and_sockets_that_are_not_understood) {
  static const char *const bad[] = {"@", "/", "relative", "vsock:2:1234", "[::1]:80"};
  char too_long[sizeof((struct sockaddr_un *)0)->sun_path + 1];
  slp_notify *n;
  mem = slp_mem_new(NULL, NULL);
  CHECK_INT(slp_notify_open(&n, mem, &(slp_notify_env){.watchdog_usec = "1000"}), 0);
  CHECK(!n);
  CHECK_INT(slp_notify_open(&n, mem, &(slp_notify_env){.socket = ""}), 0);
  CHECK(!n);
  for (size_t i = 0; i < SLP_COUNT(bad); i++) {
    CHECK_INT(slp_notify_open(&n, mem, &(slp_notify_env){.socket = bad[i]}), SLP_EINVAL);
    CHECK(!n);
  }
  memset(too_long, 'x', sizeof too_long);
  too_long[0] = '/';
  too_long[sizeof too_long - 1] = 0;
  CHECK_INT(slp_notify_open(&n, mem, &(slp_notify_env){.socket = too_long}), SLP_EINVAL);
  slp_notify_close(NULL, mem);
  end();
}

static uint64_t watchdog_of(const char *usec, const char *pid) {
  slp_notify *n;
  CHECK_INT(slp_notify_open(&n, mem, &(slp_notify_env){"/nowhere/notify", usec, pid}), 0);
  uint64_t us = slp_notify_watchdog_us(n);
  CHECK_INT(slp_notify_send(n, SLP_STR("WATCHDOG=1")), -ENOENT);
  slp_notify_close(n, mem);
  return us;
}

TEST(a_watchdog_is_for_the_process_that_is_named) {
  char me[20], other[20];
  mem = slp_mem_new(NULL, NULL);
  snprintf(me, sizeof me, "%d", (int)getpid());
  snprintf(other, sizeof other, "%d", (int)getpid() + 1);
  CHECK_INT(watchdog_of("30000000", me), 30000000);
  CHECK_INT(watchdog_of("30000000", NULL), 30000000);
  CHECK_INT(watchdog_of("30000000", other), 0);
  CHECK_INT(watchdog_of("30000000", "me"), 0);
  CHECK_INT(watchdog_of("soon", me), 0);
  CHECK_INT(watchdog_of(NULL, me), 0);
  end();
}

/* A manager that does not read makes no call wait. */
TEST(a_manager_that_does_not_read) {
  slp_notify *n;
  char name[80];
  int r = 0;
  mem = slp_mem_new(NULL, NULL);
  snprintf(name, sizeof name, "@sloop-notify-%d", (int)getpid());
  int fd = manager_socket(name);
  CHECK_INT(slp_notify_open(&n, mem, &(slp_notify_env){.socket = name}), 0);
  for (int i = 0; i < 1000000 && !r; i++) r = slp_notify_send(n, SLP_STR("READY=1"));
  CHECK_INT(r, -EAGAIN);
  check_message(fd, "READY=1");
  CHECK_INT(slp_notify_send(n, SLP_STR("READY=1")), 0);
  slp_notify_close(n, mem);
  close(fd);
  end();
}
