/* people_lines.c - writes lines for people. Every text from outside passes through slp_clean here, which
 * replaces control characters, so that the text can't control a terminal. */
#include "cli/people_lines.h"

#include "base/buf.h"
#include "base/clean.h"
#include "cli/exit.h"
#include "program/program.h"

#include <errno.h>
#include <signal.h>
#include <sloop.h>
#include <stdarg.h>
#include <stdio.h>

#define WAIT_MS 1000
#define TEXT_MAX 1024 /* bytes of a line, with its newline */

static const char prefix[] = "stream-tail: ";
static uint32_t left_ms = WAIT_MS; /* how long slp_say() may still wait */
static uint8_t hurries;            /* 1: slp_say_hurry was called, so the program is ending */
static uint64_t dropped;           /* number of lines dropped since the last line that was written */

static int write_people_line(uint32_t wait_ms, const char *fmt, va_list args) {
  char text[TEXT_MAX + 120];
  size_t at = 0;
  if (dropped)
    at = (size_t)snprintf(text, 120, "%s%llu line%s skipped here: standard error was full\n", prefix,
                          (unsigned long long)dropped, dropped == 1 ? " is" : "s are");
  memcpy(text + at, prefix, sizeof prefix - 1);
  char *line = text + at + sizeof prefix - 1;
  size_t room = TEXT_MAX - (sizeof prefix - 1);
  int n = vsnprintf(line, room, fmt, args);
  if (n < 0) return 0;
  size_t end = slp_clean(line, (size_t)n < room ? (size_t)n : room - 1);
  line[end++] = '\n';
  /* a failure of standard error itself can't be reported anywhere */
  int r = slp_program_write(2, (slp_str){text, (size_t)(line - text) + end}, wait_ms);
  dropped = r ? dropped + 1 : 0;
  return r;
}

/* Updates left_ms after a write that began at since_us and returned r. */
static void update_wait_left(uint64_t since_us, int r) {
  uint64_t took_ms = (slp_program_mono_us() - since_us + 999) / 1000;
  if (hurries)
    left_ms -= (uint32_t)slp_min_u64(left_ms, took_ms);
  else
    left_ms = r ? 0 : WAIT_MS;
}

void slp_say(const char *fmt, ...) {
  va_list args;
  uint64_t began_us = slp_program_mono_us();
  va_start(args, fmt);
  update_wait_left(began_us, write_people_line(left_ms, fmt, args));
  va_end(args);
}

void slp_say_as_it_is(slp_str text) {
  uint64_t began_us = slp_program_mono_us();
  update_wait_left(began_us, slp_program_write(2, text, left_ms));
}

void slp_say_if_room(const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  (void)write_people_line(0, fmt, args);
  va_end(args);
}

void slp_say_hurry(uint32_t ms) {
  hurries = 1;
  left_ms = (uint32_t)slp_min_u64(left_ms, ms);
}

int slp_say_to(slp_buf *b, const char *fmt, ...) {
  size_t from = b->n;
  va_list args;
  va_start(args, fmt);
  int n = vsnprintf(NULL, 0, fmt, args);
  va_end(args);
  if (n < 0) return slp_buf_fail(b, SLP_EINVAL);
  if (slp_buf_reserve(b, (size_t)n + 1)) return slp_buf_failed(b);
  va_start(args, fmt);
  vsnprintf(b->p + from, (size_t)n + 1, fmt, args);
  va_end(args);
  b->n += slp_clean(b->p + from, (size_t)n);
  return slp_buf_add_char(b, '\n');
}

int slp_print(slp_buf *b, int bad) {
  int error = 0;
  slp_program_ignore_signal(SIGPIPE);
  if (!bad && (fwrite(slp_buf_str(b).p, 1, b->n, stdout) != b->n || fflush(stdout) != 0)) error = errno;
  slp_buf_free(b);
  if (!bad && (!error || error == EPIPE)) return SLP_EXIT_FINE;
  slp_say("cannot write to standard output: %s", bad ? sloop_strerror(bad) : strerror(error));
  return SLP_EXIT_FAILED;
}
