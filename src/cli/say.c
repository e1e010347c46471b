/* say.c - diagnostics on standard error. */
#include "cli/say.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/clean.h"
#include "host/program.h"

static const char prefix[] = "stream-tail: ";

static void say(uint32_t wait_ms, const char *fmt, va_list args) {
  char line[1024];
  size_t at = sizeof prefix - 1;
  memcpy(line, prefix, at);
  int n = vsnprintf(line + at, sizeof line - at, fmt, args);
  if (n < 0) return;
  size_t end = at + (size_t)n;
  if (end > sizeof line - 1) end = sizeof line - 1;
  end = at + slp_clean(line + at, end - at);
  line[end++] = '\n';
  /* A failure of standard error itself can't be reported anywhere. */
  (void)slp_program_write(2, (slp_str){line, end}, wait_ms);
}

void slp_say(const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  say(1000, fmt, args);
  va_end(args);
}

void slp_say_if_room(const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  say(0, fmt, args);
  va_end(args);
}
