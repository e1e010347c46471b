/* fuzz_token_file.c - files of tokens, for one stream and for three. A token that is given to a stream is a
 * line (or the whole) of the file, is JSON and belongs to the stream, by an expression of its own; no two
 * streams share one; blank lines change nothing; what is refused says why (cli/people_lines.c makes one line of it).
 */
#include "cli/token_file.h"
#include "codec/json.h"

#include <regex.h>

#include "fuzz_file.h"

#define ARN "arn:aws:kinesis:us-east-1:1:stream/orders"

static const char *const streams[] = {"orders", "dynamodb:Music", ARN "-old"};
#define ALL (sizeof streams / sizeof *streams)

/* Whose token it is, as a POSIX expression sees it. */
static int is_of(const char *stream, const char *arn) {
  static const char *const forms[ALL] = {
      "^(arn:[^:]*:kinesis:[^:]*:[^:]*:stream/)?orders$",
      "^(arn:[^:]*:dynamodb:[^:]*:[^:]*:table/Music/stream/|dynamodb:Music$)", "^" ARN "-old($|/stream/)"};
  static regex_t compiled[ALL];
  static int once;
  for (size_t i = 0; i < ALL && !once; i++)
    REQUIRE(regcomp(&compiled[i], forms[i], REG_EXTENDED | REG_NOSUB) == 0);
  once = 1;
  for (size_t i = 0; i < ALL; i++)
    if (streams[i] == stream) return regexec(&compiled[i], arn, 0, NULL, 0) == 0;
  return 0;
}

/* The ARN a token names, by the reader of JSON alone. */
static void check_token(const char *token, const char *stream, int alone) {
  size_t n = strlen(token);
  char *copy = fuzz_copy((const uint8_t *)token, n);
  slp_json j;
  slp_str arn = {NULL, 0};
  slp_json_begin(&j, copy, n);
  REQUIRE(slp_json_next(&j) == SLP_JSON_OBJECT);
  int what;
  while ((what = slp_json_next(&j)) == SLP_JSON_KEY) {
    int is_arn = slp_str_is(j.text, "stream_arn");
    REQUIRE((is_arn ? slp_json_string(&j, &arn) : slp_json_skip(&j)) == 0);
  }
  REQUIRE(what == SLP_JSON_OBJECT_END && slp_json_next(&j) == SLP_JSON_END);
  int belongs = slp_token_belongs(stream, arn);
  REQUIRE(belongs == 1 || (alone && belongs == -1));
  char *z = calloc(1, arn.n + 1);
  REQUIRE(z);
  if (arn.n) memcpy(z, arn.p, arn.n);
  REQUIRE(belongs == -1 || strlen(z) != arn.n || is_of(stream, z));
  free(z);
  free(copy);
}

typedef struct result {
  int r;
  slp_buf text;
  const char *tokens[ALL];
  char why[SLP_TOKEN_WHY];
} result;

static void read_file(result *d, slp_mem *mem, const void *p, size_t n, size_t streams_n) {
  *d = (result){.text = {.mem = mem}};
  d->r = slp_tokens_read(fuzz_file(p, n), streams, streams_n, 0, &d->text, d->tokens, d->why);
  REQUIRE(d->r == 0 || d->r == SLP_EINVAL);
  REQUIRE(d->r == 0 || (d->why[0] && memchr(d->why, 0, sizeof d->why)));
}

static void check(const result *d, size_t n) {
  for (size_t i = 0; i < n && d->r == 0; i++) {
    const char *t = d->tokens[i];
    if (!t) continue;
    REQUIRE(t >= d->text.p && t + strlen(t) <= d->text.p + d->text.n);
    check_token(t, streams[i], n == 1);
    for (size_t k = 0; k < i; k++) REQUIRE(d->tokens[k] != t);
  }
}

static void same(const result *a, const result *b, size_t n) {
  REQUIRE(a->r == b->r);
  for (size_t i = 0; i < n && a->r == 0; i++) {
    REQUIRE(!a->tokens[i] == !b->tokens[i]);
    if (!a->tokens[i]) continue;
    slp_str x = slp_str_of(a->tokens[i]), y = slp_str_of(b->tokens[i]);
    /* Where one token is the whole file, the blank line is part of it. */
    REQUIRE(y.n >= x.n && memcmp(x.p, y.p, x.n) == 0 && strspn(y.p + x.n, "\n") == y.n - x.n);
  }
}

static void with_blank_lines(slp_mem *mem, const result *plain, const uint8_t *data, size_t size, size_t n) {
  result more;
  char *p = malloc(size + 2);
  REQUIRE(p != NULL);
  memcpy(p, data, size);
  memcpy(p + size, "\n\n", 2);
  read_file(&more, mem, p, size + 2, n);
  same(plain, &more, n);
  slp_buf_free(&more.text);
  free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  for (size_t n = 1; n <= ALL; n += ALL - 1) {
    result d;
    read_file(&d, mem, data, size, n);
    check(&d, n);
    /* A NUL at the end of a file may be the beginning of a journal (host/in_place.h), and is cut off there. Behind
     * it, a blank line is no longer behind the text. */
    if (!size || !memchr(data, 0, size)) with_blank_lines(mem, &d, data, size, n);
    slp_buf_free(&d.text);
  }
  REQUIRE(mem->live_blocks == 0);
  slp_mem_drop(mem);
  return 0;
}
