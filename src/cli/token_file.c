/* token_file.c - reads files of tokens, and finds the stream that each token belongs to. */
#include "cli/token_file.h"

#include "base/buf.h"
#include "base/mem.h"
#include "codec/json.h"
#include "host/in_place.h"
#include "program/local.h"

#include <errno.h>
#include <stdio.h>

#define TOKEN_FILE_BYTES_MAX (UINT64_C(64) << 20)

static int starts_with(slp_str s, slp_str with) { return s.n >= with.n && memcmp(s.p, with.p, with.n) == 0; }

static slp_str skip_arn_chars(slp_str s, size_t n) { return (slp_str){s.p + n, s.n - n}; }

/* Splits arn:PARTITION:SERVICE:REGION:ACCOUNT:RESOURCE. Returns 1, or 0 if the text has another form. */
static int split_arn(slp_str arn, slp_str *ret_service, slp_str *ret_resource) {
  slp_str part[5];
  for (int i = 0; i < 5; i++) {
    const char *colon = arn.n ? memchr(arn.p, ':', arn.n) : NULL;
    if (!colon) return 0;
    part[i] = (slp_str){arn.p, (size_t)(colon - arn.p)};
    arn = skip_arn_chars(arn, part[i].n + 1);
  }
  *ret_service = part[2];
  *ret_resource = arn;
  return slp_str_is(part[0], "arn");
}

int slp_token_belongs(const char *stream, slp_str arn) {
  slp_str want = slp_str_of(stream), service, resource;
  static const slp_str dynamodb = SLP_STR("dynamodb:"), table = SLP_STR("table/"), of = SLP_STR("/stream/");
  if (slp_str_eq(want, arn)) return 1;
  if (!split_arn(arn, &service, &resource)) return -1;
  if (starts_with(want, SLP_STR("arn:")))
    return starts_with(arn, want) && starts_with(skip_arn_chars(arn, want.n), of);
  if (!starts_with(want, dynamodb)) {
    static const slp_str prefix = SLP_STR("stream/");
    return slp_str_is(service, "kinesis") && starts_with(resource, prefix) &&
           slp_str_eq(skip_arn_chars(resource, prefix.n), want);
  }
  want = skip_arn_chars(want, dynamodb.n);
  if (!slp_str_is(service, "dynamodb") || !starts_with(resource, table)) return 0;
  resource = skip_arn_chars(resource, table.n);
  return starts_with(resource, want) && starts_with(skip_arn_chars(resource, want.n), of);
}

/* Parses a token, and appends its stream_arn to ret_arn. Returns 0, SLP_EBADDATA if the text does not have
 * the form of a token, or SLP_ENOMEM. */
static int read_token(slp_mem *mem, slp_str text, slp_buf *ret_arn) {
  slp_buf copy;
  slp_json j;
  slp_str arn = {0};
  int shards = 0;
  slp_buf_init(&copy, mem, TOKEN_FILE_BYTES_MAX);
  slp_buf_add_str(&copy, text);
  int r = slp_buf_reserve(&copy, 1);
  if (!r) {
    slp_json_begin(&j, copy.p, copy.n);
    if (slp_json_next(&j) != SLP_JSON_OBJECT) r = SLP_EBADDATA;
  }
  while (!r) {
    int token = slp_json_next(&j);
    if (token == SLP_JSON_OBJECT_END) break;
    if (token != SLP_JSON_KEY) r = SLP_EBADDATA;
    if (r) break;
    shards |= slp_str_is(j.text, "shards");
    r = slp_str_is(j.text, "stream_arn") ? slp_json_string(&j, &arn) : slp_json_skip(&j);
  }
  if (!r && (slp_json_next(&j) != SLP_JSON_END || !arn.n || !shards)) r = SLP_EBADDATA;
  if (!r) r = slp_buf_add_str(ret_arn, arn);
  slp_buf_free(&copy);
  return r == SLP_ENOMEM ? r : r ? SLP_EBADDATA : 0;
}

typedef struct reading {
  const char *path;
  const char *const *streams;
  size_t n;
  const char **tokens;
  slp_mem *mem;
  /* 1: a token of a stream that is not among `streams` is ignored; 0: it is an error */
  int others;
  char left_out[SLP_TOKEN_WHY]; /* a message that names an ignored token; "": none was ignored */
} reading;

static int is_blank(const char *p, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (p[i] != ' ' && p[i] != '\t' && p[i] != '\r' && p[i] != '\n') return 0;
  return 1;
}

/* Stores a token as the token of its stream. token[size] must be writable, because it may be set to NUL. */
static int store_token_of_stream(reading *d, char *token, size_t size, unsigned line,
                                 char why[SLP_TOKEN_WHY]) {
  slp_buf arn;
  while (size && is_blank(token + size - 1, 1)) size--; /* removes blanks after the token's closing brace */
  slp_buf_init(&arn, d->mem, TOKEN_FILE_BYTES_MAX);
  int r = read_token(d->mem, (slp_str){token, size}, &arn);
  if (r == SLP_EBADDATA)
    snprintf(why, SLP_TOKEN_WHY, "%.200s: line %u is not a token of --save or of bloop", d->path, line);
  size_t i = d->n;
  if (!r) {
    for (i = 0; i < d->n && slp_token_belongs(d->streams[i], slp_buf_str(&arn)) != 1;) i++;
    /* If there is one stream and the form of the ARN is not known, takes the token for that stream. The
     * library then checks the token. */
    if (i == d->n && d->n == 1 && slp_token_belongs(d->streams[0], slp_buf_str(&arn)) < 0) i = 0;
    if (i == d->n && d->others)
      snprintf(d->left_out, SLP_TOKEN_WHY,
               "%.100s: the position of %.150s is dropped: no such stream is there", d->path,
               slp_buf_z(&arn));
    else if (i == d->n)
      snprintf(why, SLP_TOKEN_WHY, "%.100s: its token belongs to %.150s, which is not %s", d->path,
               slp_buf_z(&arn), d->n == 1 ? "the stream to read" : "among the streams to read");
    else if (d->tokens[i])
      snprintf(why, SLP_TOKEN_WHY, "%.200s: two tokens of %.100s", d->path, d->streams[i]);
  }
  slp_buf_free(&arn);
  if (*why) return SLP_EINVAL;
  if (r || i == d->n) return r;
  token[size] = 0;
  d->tokens[i] = token;
  return 0;
}

static int take_lines(reading *d, slp_buf *text, char why[SLP_TOKEN_WHY]) {
  int r = 0;
  char *p = text->p, *end = p + text->n;
  for (unsigned number = 1; p < end && !r; number++) {
    char *line_end = memchr(p, '\n', (size_t)(end - p));
    if (!line_end) line_end = end;
    if (!is_blank(p, (size_t)(line_end - p)))
      r = store_token_of_stream(d, p, (size_t)(line_end - p), number, why);
    p = line_end + 1;
  }
  return r;
}

/* Returns 1 if the error r is the machine's fault and not the user's, so that the same command may work
 * later. */
static int is_of_the_machine(int r) { return r == -EMFILE || r == -ENFILE || r == -EIO || r == SLP_ENOMEM; }

int slp_tokens_read(const char *path, const char *const *streams, size_t n, int others, slp_buf *text,
                    const char **tokens, char why[SLP_TOKEN_WHY]) {
  reading d = {path, streams, n, tokens, text->mem, others, ""};
  slp_buf arn;
  *why = 0;
  for (size_t i = 0; i < n; i++) tokens[i] = NULL;
  slp_buf_init(text, text->mem, TOKEN_FILE_BYTES_MAX);
  int r = slp_local_read(path, text);
  if (r == SLP_ENOENT) return r;
  if (!r) r = slp_buf_reserve(text, 1);
  if (r) {
    char trouble[SLP_LOCAL_WHY];
    slp_local_explain(path, r, 0, trouble);
    snprintf(why, SLP_TOKEN_WHY, "can't read %.140s: %.200s", path, trouble);
    return is_of_the_machine(r) ? r : SLP_EINVAL;
  }
  /* Cuts off the rest of an interrupted write, with which a file that is written in place may end. */
  slp_str good = slp_in_place_good(slp_buf_str(text));
  if (good.n) memmove(text->p, good.p, good.n);
  slp_buf_cut(text, good.n);
  if (is_blank(text->p, text->n)) {
    snprintf(why, SLP_TOKEN_WHY, "%.200s: it is empty, and not a token of --save or of bloop", path);
    return SLP_EINVAL;
  }
  slp_buf_init(&arn, text->mem, TOKEN_FILE_BYTES_MAX);
  /* the whole file may be a single token on several lines */
  r = read_token(text->mem, slp_buf_str(text), &arn);
  slp_buf_free(&arn);
  if (r == SLP_EBADDATA)
    r = take_lines(&d, text, why);
  else if (!r)
    r = store_token_of_stream(&d, text->p, text->n, 1, why);
  if (r && !*why) snprintf(why, SLP_TOKEN_WHY, "no memory");
  if (!r) memcpy(why, d.left_out, sizeof d.left_out);
  return r;
}
