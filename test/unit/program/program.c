/* program.c - clocks of the program, writing to a descriptor that may be full, and a child that is this
 * program once more. */
#include "program/program.h"

#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <unistd.h>

#include "check.h"

static slp_mem *mem;
static slp_buf line;
static slp_own_child child;

static void start(const char *part) {
  const char *argv[] = {"child", "--part", part, NULL};
  mem = slp_mem_new(NULL, NULL);
  slp_buf_init(&line, mem, 100);
  CHECK_INT(slp_own_child_start(&child, argv), 0);
}

static void end(void) {
  slp_own_child_end(&child);
  CHECK_INT(child.pid, -1);
  CHECK_INT(child.in_fd, -1);
  CHECK_INT(child.out_fd, -1);
  slp_buf_free(&line);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

/* The parts that the child plays, until its standard input ends. */
static int play(const char *part) {
  char c;
  if (strcmp(part, "short") == 0) return 0;
  if (strcmp(part, "talk") == 0) {
    for (int i = 0; i < 3000; i++) putchar('x'); /* longer than any line that is looked for */
    puts("\nurl\nurl=here\nmore");
    fflush(stdout);
  }
  while (read(0, &c, 1) == 1) continue;
  if (strcmp(part, "stay") == 0)
    for (;;) pause();
  return 0;
}
CHECK_PART(play)

/* poll() says that a terminal may be written when one byte fits, and write() then waits until all of it does. */
TEST(a_terminal_that_nobody_reads_is_given_up_in_time) {
  static char text[100000];
  int master, slave;
  for (size_t i = 0; i < sizeof text; i++) text[i] = i % 37 == 36 ? '\n' : 'x';
  CHECK_INT(openpty(&master, &slave, NULL, NULL, NULL), 0);
  alarm(20);
  for (size_t i = 0; i < 3; i++) {
    uint64_t begun_us = slp_program_mono_us();
    CHECK_INT(slp_program_write(slave, (slp_str){text + i * 1000, 90000 + i}, 200), SLP_ETIMEDOUT);
    uint64_t took_us = slp_program_mono_us() - begun_us;
    CHECK(took_us >= 190000 && took_us < 3000000);
  }
  CHECK(!(fcntl(slave, F_GETFL) & O_NONBLOCK)); /* others share its flags */
  CHECK_INT(fcntl(master, F_SETFL, O_NONBLOCK), 0);
  while (read(master, text, sizeof text) > 0) CHECK(text[0] == 'x' || text[0] == '\r' || text[0] == '\n');
  CHECK_INT(slp_program_write(slave, SLP_STR("y"), 200), 0);
}

TEST(the_line_looked_for_is_found_among_others) {
  start("talk");
  CHECK_INT(slp_own_child_wait_line(&child, "url=", 20000, &line), 0);
  CHECK_MEM(line.p, line.n, "here", 4);
  slp_buf_clear(&line);
  CHECK_INT(slp_own_child_wait_line(&child, "url=", 50, &line), SLP_ETIMEDOUT);
  CHECK_INT(line.n, 0);
  CHECK(slp_own_child_cpu_us(&child) > 0);
  end();
  CHECK_INT(slp_own_child_cpu_us(&child), 0);
}

TEST(a_child_that_says_nothing_and_ends) {
  start("short");
  CHECK_INT(slp_own_child_wait_line(&child, "url=", 20000, &line), SLP_ENOENT);
  end();
}

TEST(a_child_that_does_not_end_is_killed) {
  start("stay");
  int pid = child.pid;
  uint64_t from = slp_program_mono_us();
  end();
  uint64_t took = slp_program_mono_us() - from;
  CHECK(took >= 2000000 && took < 10000000);
  CHECK(kill(pid, 0) != 0); /* and nothing of it is left */
}

TEST(time_goes_on_and_work_takes_some) {
  uint64_t mono = slp_program_mono_us(), cpu = slp_program_cpu_us();
  volatile unsigned n = 0;
  while (slp_program_cpu_us() - cpu < 20000) n++;
  CHECK(slp_program_mono_us() > mono);
  CHECK(slp_program_wall_ms() > INT64_C(1700000000000));
  CHECK(slp_program_peak_bytes() > 100000);
}

TEST(what_has_no_room_in_time_is_lost) {
  int fds[2];
  char bytes[4096] = {0};
  CHECK_INT(pipe(fds), 0);
  CHECK_INT(slp_program_write(fds[1], (slp_str){bytes, sizeof bytes}, 1000), 0);
  CHECK_INT(fcntl(fds[1], F_SETPIPE_SZ, 4096), 4096);
  uint64_t from = slp_program_mono_us();
  CHECK_INT(slp_program_write(fds[1], (slp_str){bytes, sizeof bytes}, 100), SLP_ETIMEDOUT);
  CHECK(slp_program_mono_us() - from >= 100000);
  slp_program_ignore_signal(SIGPIPE);
  close(fds[0]);
  CHECK(slp_program_write(fds[1], (slp_str){bytes, 1}, 1000) < 0);
}

TEST(a_closed_standard_descriptor_becomes_one_that_fails) {
  char c = 'x';
  close(0);
  slp_program_fill_standard();
  CHECK(fcntl(0, F_GETFD) >= 0);
  CHECK(read(0, &c, 1) < 0);
}
