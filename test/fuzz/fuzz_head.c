/* fuzz_head.c - the head of an answer, given line by line as libcurl does. Names in capitals and blanks
 * around values change nothing; what stands before the last status line does not count; and what is taken of
 * a line is what a second, naive reading finds in it. */
#include "../../src/host/curl_transfer.c" /* its reader of heads is its own */

#include "fuzz.h"

typedef struct head {
  slp_http call;
  slp_transfer t;
} head;

static void give(head *h, const char *p, size_t n, char *(*alter)(const char *, size_t, size_t *)) {
  memset(h, 0, sizeof *h);
  h->call.date_ms = -1;
  h->t.call = &h->call;
  h->t.length = UINT64_MAX;
  while (n) {
    const char *end = memchr(p, '\n', n);
    size_t line_n = end ? (size_t)(end - p) + 1 : n, given_n = line_n;
    char *line = alter ? alter(p, line_n, &given_n) : fuzz_copy((const uint8_t *)p, line_n);
    REQUIRE(on_header(line, 1, given_n, &h->t) == given_n);
    free(line);
    p += line_n;
    n -= line_n;
  }
}

/* Names in the other case, and blanks before and behind the value. */
static char *altered(const char *p, size_t n, size_t *ret_n) {
  char *line = malloc(n + 5);
  size_t colon = 0, end = n, to = 0;
  REQUIRE(line != NULL);
  while (end && strchr("\r\n \t", p[end - 1]) && p[end - 1]) end--;
  while (colon < end && p[colon] != ':') colon++;
  int field = colon < end && !(n >= 5 && memcmp(p, "HTTP/", 5) == 0);
  for (size_t i = 0; i < n; i++) {
    char c = p[i];
    if (field && i < colon && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))) c = (char)(c ^ 0x20);
    if (field && i == end) line[to++] = '\t';
    line[to++] = c;
    if (field && i == colon) line[to++] = ' ', line[to++] = '\t';
  }
  *ret_n = to;
  return line;
}

static void same(const head *a, const head *b) {
  const slp_http *x = &a->call, *y = &b->call;
  REQUIRE(x->date_ms == y->date_ms && x->length_known == y->length_known && a->t.length == b->t.length);
  REQUIRE(x->crc32_given == y->crc32_given && (!x->crc32_given || x->crc32 == y->crc32));
  REQUIRE(x->retry_after_ms == y->retry_after_ms && a->t.head_complete == b->t.head_complete);
  REQUIRE(strcmp(x->content_type, y->content_type) == 0 && strcmp(x->error_type, y->error_type) == 0);
  REQUIRE(strcmp(x->request_id, y->request_id) == 0);
}

static void bounded(const slp_http *c) {
  REQUIRE(memchr(c->content_type, 0, sizeof c->content_type) &&
          memchr(c->error_type, 0, sizeof c->error_type));
  REQUIRE(memchr(c->request_id, 0, sizeof c->request_id) && c->retry_after_ms <= UINT32_MAX);
  REQUIRE(c->date_ms == -1 || c->date_ms % 1000 == 0);
  for (const char *p = c->content_type; *p; p++) REQUIRE((*p < 'A' || *p > 'Z') && *p != ';' && *p != ' ');
}

/* Where the last status line begins; NULL: there is none. */
static const char *last_status(const char *p, size_t n) {
  const char *found = NULL;
  for (size_t i = 0; i + 5 <= n; i++)
    if ((i == 0 || p[i - 1] == '\n') && memcmp(p + i, "HTTP/", 5) == 0) found = p + i;
  return found;
}

/* The last good value of that name behind `from`: digits, at most `max`. */
static uint64_t naive_number(const char *from, const char *end, const char *name, uint64_t max,
                             uint64_t otherwise) {
  size_t name_n = strlen(name);
  for (const char *line = from; line < end;) {
    const char *stop = memchr(line, '\n', (size_t)(end - line)), *to = stop ? stop : end;
    if ((size_t)(to - line) > name_n && strncasecmp(line, name, name_n) == 0 && line[name_n] == ':') {
      const char *at = line + name_n + 1;
      while (at < to && (*at == ' ' || *at == '\t')) at++;
      while (to > at && strchr(" \t\r", to[-1]) && to[-1]) to--;
      size_t digits = 0;
      uint64_t v = 0;
      int fits = 1;
      for (; at + digits < to && at[digits] >= '0' && at[digits] <= '9'; digits++) {
        fits &= !__builtin_mul_overflow(v, 10, &v);
        fits &= !__builtin_add_overflow(v, at[digits] - '0', &v);
      }
      if (digits && at + digits == to && fits && v <= max) otherwise = v;
    }
    line = stop ? stop + 1 : end;
  }
  return otherwise;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static head whole, other; /* too large for a fuzzer's stack, and zeroed by give() */
  char *p = fuzz_copy(data, size);
  give(&whole, p, size, NULL);
  bounded(&whole.call);
  give(&other, p, size, altered);
  same(&whole, &other);
  const char *from = last_status(p, size), *end = p + size;
  if (from) {
    give(&other, from, (size_t)(end - from), NULL);
    same(&whole, &other);
  }
  if (!from) from = p;
  REQUIRE(whole.call.retry_after_ms == naive_number(from, end, "x-amz-retry-after", UINT32_MAX, 0));
  REQUIRE(whole.t.length == naive_number(from, end, "content-length", UINT64_MAX - 1, UINT64_MAX));
  free(p);
  return 0;
}
