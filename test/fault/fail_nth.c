/* fail_nth.c - preloaded into a program under test: the n-th call of one kind fails.
 *
 * The environment says which:
 * - FAIL_CALL: write, fsync, unlink, open, rename, fork, pipe, socket, resolve; those like it are meant too.
 *   alloc: what the program itself asks realloc() for, and so no library
 * - FAIL_NTH: which one, from 1; FAIL_ONWARD=1: and every one after it
 * - FAIL_ERRNO: why, a number; of resolve: what getaddrinfo answers
 * - FAIL_UNDER: only files whose path begins with one of these (A:B)
 * - FAIL_SHORT=1: write: half of the bytes are written first, where there are two or more
 * - FAIL_HANG=1: it does not fail, it never returns
 * - FAIL_LOG: gets a byte for each that failed: it is there when the n-th call was reached
 *
 * A name that ends in ".sloop.test" is 127.0.0.1. */
#undef _FILE_OFFSET_BITS /* open and open64 are two functions here */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long calls;

static long number_in(const char *name) {
  const char *text = getenv(name);
  return text ? atol(text) : 0;
}

static int concerns(const char *path) {
  const char *under = getenv("FAIL_UNDER");
  if (!under) return 1;
  for (size_t n; path && *under; under += n + (under[n] == ':')) {
    n = strcspn(under, ":");
    if (strncmp(path, under, n) == 0) return 1;
  }
  return 0;
}

/* Without a function of ours: those would be counted. */
static void note(void) {
  const char *path = getenv("FAIL_LOG");
  long fd = path ? syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
  if (fd < 0) return;
  if (syscall(SYS_write, fd, ".", 1) != 1) abort();
  syscall(SYS_close, fd);
}

/* 1: this one fails. */
static int fails(const char *call, const char *path) {
  const char *wanted = getenv("FAIL_CALL");
  if (!wanted || strcmp(wanted, call) != 0 || !concerns(path)) return 0;
  long i = atomic_fetch_add(&calls, 1) + 1, n = number_in("FAIL_NTH");
  if (n < 1 || (number_in("FAIL_ONWARD") ? i < n : i != n)) return 0;
  note();
  return 1;
}

static int fd_fails(const char *call, int fd) {
  char link[64], path[4096] = "";
  const char *wanted = getenv("FAIL_CALL");
  if (!wanted || strcmp(wanted, call) != 0) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  if (getenv("FAIL_UNDER") && readlink(link, path, sizeof path - 1) < 0) return 0;
  return fails(call, path);
}

static int refuse(void) {
  while (getenv("FAIL_HANG")) pause();
  errno = (int)number_in("FAIL_ERRNO");
  return -1;
}

#define REAL(ret, name, ...)             \
  typedef ret (*name##_fn)(__VA_ARGS__); \
  name##_fn real = (name##_fn)dlsym(RTLD_NEXT, #name)

/* ---- memory -------------------------------------------------------------------------------------------- */

/* The program's headers lie in the program. */
static int is_programs(const void *caller) {
  Dl_info program, its;
  return dladdr((const void *)getauxval(AT_PHDR), &program) && dladdr(caller, &its) &&
         program.dli_fbase == its.dli_fbase;
}

void *realloc(void *p, size_t n) {
  REAL(void *, realloc, void *, size_t);
  const char *wanted = getenv("FAIL_CALL");
  int meant = wanted && strcmp(wanted, "alloc") == 0 && is_programs(__builtin_return_address(0));
  if (!meant || !fails("alloc", NULL)) return real(p, n);
  errno = ENOMEM;
  return NULL;
}

/* ---- writing ------------------------------------------------------------------------------------------- */
ssize_t write(int fd, const void *p, size_t n) {
  REAL(ssize_t, write, int, const void *, size_t);
  if (!fd_fails("write", fd)) return real(fd, p, n);
  if (number_in("FAIL_SHORT") && n > 1) (void)!real(fd, p, n / 2);
  return refuse();
}

ssize_t pwrite64(int fd, const void *p, size_t n, off64_t at) {
  REAL(ssize_t, pwrite64, int, const void *, size_t, off64_t);
  if (!fd_fails("write", fd)) return real(fd, p, n, at);
  if (number_in("FAIL_SHORT") && n > 1) (void)!real(fd, p, n / 2, at);
  return refuse();
}

ssize_t writev(int fd, const struct iovec *v, int n) {
  REAL(ssize_t, writev, int, const struct iovec *, int);
  return fd_fails("write", fd) ? refuse() : real(fd, v, n);
}

int fsync(int fd) {
  REAL(int, fsync, int);
  return fd_fails("fsync", fd) ? refuse() : real(fd);
}

int fdatasync(int fd) {
  REAL(int, fdatasync, int);
  return fd_fails("fsync", fd) ? refuse() : real(fd);
}

/* ---- names of files ------------------------------------------------------------------------------------ */
int unlink(const char *path) {
  REAL(int, unlink, const char *);
  return fails("unlink", path) ? refuse() : real(path);
}

static mode_t mode_of(int flags, va_list args) {
  return flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
}

int open(const char *path, int flags, ...) {
  REAL(int, open, const char *, int, ...);
  va_list args;
  va_start(args, flags);
  mode_t mode = mode_of(flags, args);
  va_end(args);
  return fails("open", path) ? refuse() : real(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  REAL(int, open64, const char *, int, ...);
  va_list args;
  va_start(args, flags);
  mode_t mode = mode_of(flags, args);
  va_end(args);
  return fails("open", path) ? refuse() : real(path, flags, mode);
}

/* The whole name of what lies in an open folder. */
static const char *in_folder(int folder, const char *name, char path[8192]) {
  char link[64], there[4096] = "";
  if (folder == AT_FDCWD || *name == '/') return name;
  snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
  if (readlink(link, there, sizeof there - 1) < 0) return name;
  snprintf(path, 8192, "%s/%s", there, name);
  return path;
}

int openat(int folder, const char *name, int flags, ...) {
  REAL(int, openat, int, const char *, int, ...);
  char path[8192];
  va_list args;
  va_start(args, flags);
  mode_t mode = mode_of(flags, args);
  va_end(args);
  return fails("open", in_folder(folder, name, path)) ? refuse() : real(folder, name, flags, mode);
}

int openat64(int folder, const char *name, int flags, ...) {
  REAL(int, openat64, int, const char *, int, ...);
  char path[8192];
  va_list args;
  va_start(args, flags);
  mode_t mode = mode_of(flags, args);
  va_end(args);
  return fails("open", in_folder(folder, name, path)) ? refuse() : real(folder, name, flags, mode);
}

int renameat(int from_folder, const char *from, int folder, const char *to) {
  REAL(int, renameat, int, const char *, int, const char *);
  char path[8192];
  return fails("rename", in_folder(folder, to, path)) ? refuse() : real(from_folder, from, folder, to);
}

int rename(const char *from, const char *to) {
  REAL(int, rename, const char *, const char *);
  return fails("rename", to) ? refuse() : real(from, to);
}

/* ---- processes, sockets, names ------------------------------------------------------------------------- */
pid_t fork(void) {
  REAL(pid_t, fork, void);
  return fails("fork", NULL) ? refuse() : real();
}

int pipe2(int fds[2], int flags) {
  REAL(int, pipe2, int *, int);
  return fails("pipe", NULL) ? refuse() : real(fds, flags);
}

int socketpair(int domain, int type, int protocol, int fds[2]) {
  REAL(int, socketpair, int, int, int, int *);
  return fails("pipe", NULL) ? refuse() : real(domain, type, protocol, fds);
}

int socket(int domain, int type, int protocol) {
  REAL(int, socket, int, int, int);
  return fails("socket", NULL) ? refuse() : real(domain, type, protocol);
}

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **ret) {
  REAL(int, getaddrinfo, const char *, const char *, const struct addrinfo *, struct addrinfo **);
  static const char end[] = ".sloop.test";
  size_t n = name ? strlen(name) : 0, m = sizeof end - 1;
  if (n <= m || strcmp(name + n - m, end) != 0) return real(name, service, hints, ret);
  if (hints && hints->ai_family == AF_INET6) return EAI_NONAME;
  if (fails("resolve", NULL)) return (int)number_in("FAIL_ERRNO");
  return real("127.0.0.1", service, hints, ret);
}
