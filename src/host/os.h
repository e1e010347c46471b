/* os.h - what Linux, macOS and FreeBSD do in different ways. No other file asks which system this is. */
#ifndef SLP_HOST_OS_H
#define SLP_HOST_OS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

/* Makes a pipe whose ends exec closes. Returns 0 or -errno. */
int slp_os_pipe(int fds[2]);
/* Returns a non-blocking socket that exec closes, or -1 with errno. */
int slp_os_socket(int family, int type, int protocol);
/* Returns how many bytes the kernel has still to send, or -1 if it does not say. */
int slp_os_unsent(int fd);
/* Returns the time at which the content of the file changed. */
struct timespec slp_os_changed(const struct stat *st);

/* Identifies a file: a later file may have the same number, but not the same time of birth. */
typedef struct slp_os_identity {
  struct stat st;
  struct timespec born; /* 0 if the file system does not know it */
} slp_os_identity;
/* Returns 0 or -errno. */
int slp_os_identify(int fd, slp_os_identity *ret);
int slp_os_same_file(const slp_os_identity *a, const slp_os_identity *b);

/* Returns 1 if the path is on a file system that is reached over a network. */
int slp_os_is_remote(const char *path);
/* For tests: returns 1 if `type`, f_type of Linux's statfs(2), is such a file system. */
int slp_os_is_remote_type(uint64_t type);

/* Finds the path by which this program can be started once more. Returns 0 or -errno. */
int slp_os_own_program(char *path, size_t room);
/* Finds a path by which the terminal of fd can be opened once more. Returns 0 or -errno. */
int slp_os_terminal_path(int fd, char *path, size_t room);
char **slp_os_environment(void);
/* Has exec close all descriptors but 0, 1 and 2. Returns 1, or 0 if the system has no call for that. For a
 * child after fork. */
int slp_os_close_others_at_exec(void);
/* Returns the CPU time of another process in microseconds, or 0 if the system does not tell. */
uint64_t slp_os_cpu_us(int pid);
/* Has the kernel kill this process when its parent dies, on systems that can. For a child after fork. */
void slp_os_die_with_parent(void);

#endif
