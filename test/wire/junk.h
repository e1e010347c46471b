/* junk.h - answers that are not what HTTP says, and what a call makes of each. */
#ifndef SLP_TEST_JUNK_H
#define SLP_TEST_JUNK_H

#include <sloop.h>
#include <uv.h>

#include "base/base.h"

typedef struct junk {
  const char *name;
  slp_str say, then; /* then: what the server says a moment later */
  int error, status;
  const char *text; /* in error_text, or when there is no error the body */
  uint8_t close, early;
} junk;

#define OK "HTTP/1.1 200 OK\r\n"
#define TWO "Content-Length: 2\r\n\r\n{}"
#define Z(literal) SLP_STR(literal)

/* In say "@" is the port of a place that nothing may come to. */
static const junk junks[] = {
#include "junk_rows.h"
};

#endif
