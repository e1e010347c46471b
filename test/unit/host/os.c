/* os.c - what each system does in its own way: here, as the system does it that runs the test. */
#include "host/os.h"

#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

TEST(ends_of_a_pipe_are_closed_by_exec_and_block) {
  int fds[2];
  CHECK_INT(slp_os_pipe(fds), 0);
  for (int i = 0; i < 2; i++) {
    CHECK(fcntl(fds[i], F_GETFD) & FD_CLOEXEC);
    CHECK(!(fcntl(fds[i], F_GETFL) & O_NONBLOCK));
    CHECK_INT(close(fds[i]), 0);
  }
}

TEST(a_socket_is_closed_by_exec_and_does_not_block) {
  int fd = slp_os_socket(AF_INET, SOCK_STREAM, 0);
  CHECK(fd >= 0 && (fcntl(fd, F_GETFD) & FD_CLOEXEC) && (fcntl(fd, F_GETFL) & O_NONBLOCK));
  CHECK_INT(close(fd), 0);
  CHECK(slp_os_socket(AF_INET, SOCK_STREAM, 99999) == -1 && errno != 0);
}

TEST(bytes_that_wait_to_be_sent_are_counted) {
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof a;
  static char bytes[1 << 16];
  int listener = socket(AF_INET, SOCK_STREAM, 0), out = socket(AF_INET, SOCK_STREAM, 0);
  CHECK(bind(listener, (struct sockaddr *)&a, sizeof a) == 0 && listen(listener, 1) == 0);
  CHECK(getsockname(listener, (struct sockaddr *)&a, &size) == 0);
  CHECK(connect(out, (struct sockaddr *)&a, sizeof a) == 0);
  CHECK_INT(slp_os_unsent(out), 0);
  CHECK(fcntl(out, F_SETFL, O_NONBLOCK) == 0);
  while (write(out, bytes, sizeof bytes) > 0) { /* until the buffers of both ends are full */
  }
  CHECK(slp_os_unsent(out) > 0);
  CHECK_INT(slp_os_unsent(-1), -1);
  close(out);
  close(listener);
}

TEST(two_pipes_are_two_files) {
  int one[2], two[2];
  slp_os_identity a, b, again;
  CHECK(slp_os_pipe(one) == 0 && slp_os_pipe(two) == 0);
  CHECK(slp_os_identify(one[0], &a) == 0 && slp_os_identify(two[0], &b) == 0);
  CHECK(slp_os_identify(one[0], &again) == 0 && S_ISFIFO(a.st.st_mode));
  CHECK(slp_os_same_file(&a, &again) && !slp_os_same_file(&a, &b));
  again.born.tv_nsec++;
  CHECK(!slp_os_same_file(&a, &again));
  CHECK_INT(slp_os_identify(-1, &a), -EBADF);
}

TEST(file_systems_of_other_machines_are_known) {
  CHECK(slp_os_is_remote_type(0x6969) && slp_os_is_remote_type(0xff534d42) &&
        slp_os_is_remote_type(0x01021997));
  /* statfs gives a signed long on some systems */
  CHECK(slp_os_is_remote_type((uint64_t)(int64_t)(int32_t)0xff534d42));
  CHECK(!slp_os_is_remote_type(0xef53) && !slp_os_is_remote_type(0x01021994)); /* ext4, tmpfs */
  CHECK(!slp_os_is_remote("/nonexistent"));
}

TEST(exec_closes_others_where_the_system_can) {
  int fd = dup(0);
  CHECK(fd > 2 && !(fcntl(fd, F_GETFD) & FD_CLOEXEC));
  if (slp_os_close_others_at_exec()) CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
  CHECK(!(fcntl(1, F_GETFD) & FD_CLOEXEC));
  close(fd);
}

TEST(this_program_can_be_found) {
  char path[4096];
  CHECK_INT(slp_os_own_program(path, sizeof path), 0);
  CHECK_INT(access(path, X_OK), 0);
}
