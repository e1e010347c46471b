/* hex_lines.h - how the Python side talks to the programs here: a line is one case, its fields are hex, '-'
 * is an empty field. */
#ifndef SLP_TEST_HEX_LINES_H
#define SLP_TEST_HEX_LINES_H

#include "base/base.h"

#include <stdio.h>
#include <stdlib.h>

#define FIELDS_MAX 200

typedef struct hex_line {
  char *line;
  size_t cap;
  slp_str field[FIELDS_MAX]; /* decoded in place, NUL-ended */
  size_t n;
} hex_line;

static inline int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  fprintf(stderr, "not a hex digit: %c\n", c);
  exit(2);
}

/* 0 at the end of the input. */
static inline int hex_line_read(hex_line *l, FILE *in) {
  ssize_t got = getline(&l->line, &l->cap, in);
  l->n = 0;
  if (got <= 0) {
    free(l->line);
    l->line = NULL;
    return 0;
  }
  char *from = l->line;
  while (*from && *from != '\n') {
    if (l->n == FIELDS_MAX) exit(2);
    char *start = from, *to = from;
    if (*from == '-') from++;
    while (*from && *from != ' ' && *from != '\n') {
      *to++ = (char)(hex_digit(from[0]) << 4 | hex_digit(from[1]));
      from += 2;
    }
    if (*from == ' ') from++;
    l->field[l->n++] = (slp_str){start, (size_t)(to - start)};
    /* The NUL may fall on the separator, or on the field's own digits: never on what is still to be read. */
    if (to < from) *to = 0;
  }
  return 1;
}

static inline void hex_put(const char *p, size_t n) {
  if (n == 0) putchar('-');
  for (size_t i = 0; i < n; i++) printf("%02x", (unsigned)(unsigned char)p[i]);
}

#endif
