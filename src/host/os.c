/* os.c - pipes, sockets, files and processes, as Linux, macOS and FreeBSD have them. */
#include "host/os.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#ifdef __linux__
#include <linux/sockios.h>
#include <sys/prctl.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#else
#include <sys/param.h>
#include <sys/mount.h>
#endif
#ifdef __FreeBSD__
#include <sys/procctl.h>
#endif

#if !defined __linux__ /* a header of Linux declares it; none of macOS and FreeBSD does */
extern char **environ;
#endif

#ifdef __APPLE__
static int set_flags(int fd, int nonblocking) {
  if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0) return -errno;
  return nonblocking && fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) < 0 ? -errno : 0;
}
#endif

int slp_os_pipe(int fds[2]) {
#ifdef __APPLE__
  if (pipe(fds)) return -errno;
  int r = set_flags(fds[0], 0);
  if (!r) r = set_flags(fds[1], 0);
  if (r) {
    close(fds[0]);
    close(fds[1]);
    fds[0] = fds[1] = -1;
  }
  return r;
#else
  return pipe2(fds, O_CLOEXEC) ? -errno : 0;
#endif
}

int slp_os_socket(int family, int type, int protocol) {
#ifdef __APPLE__
  int fd = socket(family, type, protocol), r = fd < 0 ? 0 : set_flags(fd, 1);
  if (r) {
    close(fd);
    errno = -r;
    return -1;
  }
  return fd;
#else
  return socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
#endif
}

int slp_os_unsent(int fd) {
  int n = 0;
#if defined(__linux__)
  return ioctl(fd, SIOCOUTQ, &n) ? -1 : n;
#elif defined(__FreeBSD__)
  return ioctl(fd, FIONWRITE, &n) ? -1 : n;
#else
  socklen_t size = sizeof n;
  return getsockopt(fd, SOL_SOCKET, SO_NWRITE, &n, &size) ? -1 : n;
#endif
}

struct timespec slp_os_changed(const struct stat *st) {
#ifdef __APPLE__
  return st->st_mtimespec;
#else
  return st->st_mtim;
#endif
}

int slp_os_identify(int fd, slp_os_identity *ret) {
  *ret = (slp_os_identity){.born = {0}};
  if (fstat(fd, &ret->st)) return -errno;
#if defined(__linux__)
  struct statx more;
  if (statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &more)) return -errno;
  ret->born = (struct timespec){.tv_sec = more.stx_btime.tv_sec, .tv_nsec = (long)more.stx_btime.tv_nsec};
#elif defined(__FreeBSD__)
  ret->born = ret->st.st_birthtim;
#else
  ret->born = ret->st.st_birthtimespec;
#endif
  return 0;
}

int slp_os_same_file(const slp_os_identity *a, const slp_os_identity *b) {
  return a->st.st_dev == b->st.st_dev && a->st.st_ino == b->st.st_ino && a->born.tv_sec == b->born.tv_sec &&
         a->born.tv_nsec == b->born.tv_nsec;
}

/* The numbers are from statfs(2) and the kernel's include/uapi/linux/magic.h. */
int slp_os_is_remote_type(uint64_t type) {
  static const uint32_t remote[] = {0x6969 /* nfs */,      0x517b /* smb */,        0xff534d42 /* cifs */,
                                    0xfe534d42 /* smb2 */, 0x5346414f /* afs */,    0x6b414653 /* kafs */,
                                    0x00c36400 /* ceph */, 0x0bd00bd0 /* lustre */, 0x47504653 /* gpfs */,
                                    0x01021997 /* 9p */,   0x73757245 /* coda */,   0x564c /* ncp */};
  for (size_t i = 0; i < sizeof remote / sizeof *remote; i++) {
    if ((uint32_t)type == remote[i]) return 1;
  }
  return 0;
}

int slp_os_is_remote(const char *path) {
  struct statfs fs;
  if (statfs(path, &fs)) return 0;
#ifdef __linux__
  return slp_os_is_remote_type((uint64_t)fs.f_type);
#else
  return !(fs.f_flags & MNT_LOCAL);
#endif
}

int slp_os_own_program(char *path, size_t room) {
#ifdef __linux__ /* also works when the file was replaced or deleted */
  snprintf(path, room, "/proc/self/exe");
  return 0;
#else
  return uv_exepath(path, &room);
#endif
}

int slp_os_terminal_path(int fd, char *path, size_t room) {
#ifdef __linux__ /* also works when /dev does not have the terminal, as in a container */
  snprintf(path, room, "/proc/self/fd/%d", fd);
  return 0;
#else
  return -ttyname_r(fd, path, room);
#endif
}

char **slp_os_environment(void) { return environ; }

int slp_os_close_others_at_exec(void) {
#ifdef SYS_close_range
  const unsigned close_on_exec = 4; /* 4 is CLOSE_RANGE_CLOEXEC, which Linux has from 5.11 on */
  if (syscall(SYS_close_range, 3u, UINT_MAX, close_on_exec) == 0) return 1;
#endif
  return 0;
}

uint64_t slp_os_cpu_us(int pid) {
#ifdef __APPLE__
  (void)pid;
  return 0;
#else
  clockid_t clock;
  struct timespec t;
  if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t)) return 0;
  return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
#endif
}

void slp_os_die_with_parent(void) {
#if defined(__linux__)
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#elif defined(__FreeBSD__)
  int number = SIGKILL;
  procctl(P_PID, 0, PROC_PDEATHSIG_CTL, &number);
#endif
}
