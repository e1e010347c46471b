/* http_request.c - reads HTTP/1.x requests. It is strict where two readers could find different ends of a
 * request (RFC 9112 section 6), because the next request starts there. */
#include "host/http_request.h"

#include "base/buf.h"
#include "base/num.h"

#define CHUNK_LINE_MAX 256
#define TRAILER_MAX 8192

enum { REQUEST_LINE, FIELDS, BODY, CHUNK_SIZE, CHUNK_DATA, CHUNK_END, TRAILER, COMPLETE };

void slp_request_begin(slp_request *rq) {
  /* The table of fields is not cleared, because only its first fields_n rows are valid. */
  memset(rq, 0, offsetof(slp_request, fields));
}

static int refuse_request_with(slp_request *rq, int status) {
  rq->status = status;
  return SLP_EBADDATA;
}

static int is_token(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         (c && strchr("!#$%&'*+-.^_`|~", c));
}

static int is_text(const char *p, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (((unsigned char)p[i] < 0x20 && p[i] != '\t') || p[i] == 0x7f) return 0;
  return 1;
}

/* Takes the next line, without its line end. Returns 1, with rq->at behind the line; 0: the line is not
 * complete yet. */
static int take_line(slp_request *rq, const slp_buf *in, slp_str *line) {
  const char *from = in->p + rq->at, *end = memchr(from, '\n', in->n - rq->at);
  if (!end) return 0;
  size_t n = (size_t)(end - from);
  rq->at += n + 1;
  if (n && from[n - 1] == '\r') n--;
  *line = (slp_str){from, n};
  return 1;
}

/* Removes "http://host" from the front of the path. Clients send the host there to a proxy, but servers must
 * accept it too. */
static void path_only(slp_request *rq, const char *p) {
  const char *path = p + rq->path_at;
  if (rq->path_n < 7 || memcmp(path, "http://", 7) != 0) return;
  const char *slash = memchr(path + 7, '/', rq->path_n - 7);
  if (!slash) return;
  rq->path_n -= (uint32_t)(slash - path);
  rq->path_at += (uint32_t)(slash - path);
}

static int request_line(slp_request *rq, const char *p, slp_str line) {
  size_t method_n = 0, i;
  while (method_n < line.n && is_token(line.p[method_n])) method_n++;
  if (!method_n || method_n > 32 || method_n == line.n || line.p[method_n] != ' ')
    return refuse_request_with(rq, 400);
  for (i = method_n + 1; i < line.n && (unsigned char)line.p[i] > ' ' && line.p[i] != 0x7f;) i++;
  if (i == method_n + 1 || i == line.n || line.p[i] != ' ') return refuse_request_with(rq, 400);
  slp_str version = {line.p + i + 1, line.n - i - 1};
  if (version.n != 8 || memcmp(version.p, "HTTP/", 5) != 0) return refuse_request_with(rq, 400);
  rq->version_1_0 = (uint8_t)slp_str_is(version, "HTTP/1.0");
  if (!rq->version_1_0 && !slp_str_is(version, "HTTP/1.1")) return refuse_request_with(rq, 505);
  rq->keep_alive = !rq->version_1_0;
  rq->method_at = (uint32_t)(line.p - p);
  rq->method_n = (uint32_t)method_n;
  rq->path_at = rq->method_at + (uint32_t)method_n + 1;
  rq->path_n = (uint32_t)(i - method_n - 1);
  path_only(rq, p);
  return 0;
}

static int text_is(slp_str s, const char *lower_case) {
  if (s.n != strlen(lower_case)) return 0;
  for (size_t i = 0; i < s.n; i++)
    if ((s.p[i] >= 'A' && s.p[i] <= 'Z' ? s.p[i] | 0x20 : s.p[i]) != lower_case[i]) return 0;
  return 1;
}

/* Handles the header fields that the transport itself needs. Returns 0, or SLP_EBADDATA with rq->status
 * set. */
static int field_counts(slp_request *rq, slp_str name, slp_str value) {
  if (slp_str_is(name, "content-length")) {
    uint64_t n;
    if (slp_parse_u64(value, &n)) return refuse_request_with(rq, 400);
    if (rq->length_given && rq->want != n) return refuse_request_with(rq, 400);
    rq->length_given = 1;
    rq->want = n;
  } else if (slp_str_is(name, "transfer-encoding")) {
    if (rq->chunked) return refuse_request_with(rq, 400);
    if (!text_is(value, "chunked")) return refuse_request_with(rq, 501);
    rq->chunked = 1;
  } else if (slp_str_is(name, "connection")) {
    if (text_is(value, "close")) rq->keep_alive = 0;
    if (text_is(value, "keep-alive")) rq->keep_alive = 1;
  } else if (slp_str_is(name, "expect")) {
    if (text_is(value, "100-continue")) rq->expects_continue = 1;
  }
  return 0;
}

static int field_line(slp_request *rq, char *p, slp_str line) {
  size_t name_n = 0, from = (size_t)(line.p - p);
  while (name_n < line.n && is_token(line.p[name_n])) {
    char *c = p + from + name_n++;
    if (*c >= 'A' && *c <= 'Z') *c |= 0x20;
  }
  if (!name_n || name_n == line.n || line.p[name_n] != ':') return refuse_request_with(rq, 400);
  size_t at = name_n + 1, end = line.n;
  while (at < end && (line.p[at] == ' ' || line.p[at] == '\t')) at++;
  while (end > at && (line.p[end - 1] == ' ' || line.p[end - 1] == '\t')) end--;
  if (!is_text(line.p + at, end - at)) return refuse_request_with(rq, 400);
  if (rq->fields_n == SLP_REQUEST_HEADERS_MAX) return refuse_request_with(rq, 431);
  rq->fields[rq->fields_n++] =
      (slp_request_field){(uint32_t)from, (uint32_t)name_n, (uint32_t)(from + at), (uint32_t)(end - at)};
  return field_counts(rq, (slp_str){line.p, name_n}, (slp_str){line.p + at, end - at});
}

static int head_complete(slp_request *rq, size_t body_max) {
  rq->head_n = rq->at;
  /* A request with both Transfer-Encoding and Content-Length is refused, because a proxy and a server could
   * disagree about where it ends. Transfer-Encoding in HTTP/1.0 is refused too, because HTTP/1.0 does not
   * define it. */
  if (rq->chunked && (rq->length_given || rq->version_1_0)) return refuse_request_with(rq, 400);
  if (rq->want > body_max) return refuse_request_with(rq, 413);
  rq->step = rq->chunked ? CHUNK_SIZE : BODY;
  return 0;
}

static int read_head(slp_request *rq, slp_buf *in, size_t body_max) {
  slp_str line;
  while (rq->step <= FIELDS) {
    int whole = in->n > rq->at && take_line(rq, in, &line);
    if ((whole ? rq->at : in->n) > SLP_REQUEST_HEAD_MAX) return refuse_request_with(rq, 431);
    if (!whole) return SLP_MORE;
    int r = 0;
    if (rq->step == REQUEST_LINE) {
      if (line.n == 0) continue; /* RFC 9112 2.2: an empty line before a request is skipped */
      r = request_line(rq, in->p, line);
      rq->step = FIELDS;
    } else if (line.n == 0) {
      r = head_complete(rq, body_max);
    } else {
      r = field_line(rq, in->p, line);
    }
    if (r) return r;
  }
  return 0;
}

static int chunk_size(slp_request *rq, slp_str line, size_t body_max) {
  uint64_t n = 0;
  size_t i = 0;
  for (; i < line.n; i++) {
    char c = line.p[i];
    int digit = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
    if (digit < 0) break;
    if (n > UINT32_MAX) return refuse_request_with(rq, 413);
    n = n * 16 + (uint64_t)digit;
  }
  if (i == 0 || (i < line.n && line.p[i] != ';' && line.p[i] != ' ' && line.p[i] != '\t'))
    return refuse_request_with(rq, 400);
  if (n > body_max - rq->body_n) return refuse_request_with(rq, 413);
  rq->want = n;
  rq->step = n ? CHUNK_DATA : TRAILER;
  return 0;
}

static void chunk_data(slp_request *rq, slp_buf *in) {
  size_t n = (size_t)slp_min_u64(rq->want, in->n - rq->at);
  memmove(in->p + rq->head_n + rq->body_n, in->p + rq->at, n);
  rq->body_n += n;
  rq->at += n;
  rq->want -= n;
  if (rq->want == 0) rq->step = CHUNK_END;
}

static int read_chunks(slp_request *rq, slp_buf *in, size_t body_max) {
  while (rq->step != COMPLETE) {
    if (rq->step == CHUNK_DATA) {
      if (rq->at == in->n) return SLP_MORE;
      chunk_data(rq, in);
      continue;
    }
    slp_str line;
    size_t from = rq->at;
    int whole = in->n > rq->at && take_line(rq, in, &line), r = 0;
    /* The limit is checked for a complete line too, because the result must not depend on the pieces in which
     * the bytes arrived. */
    size_t line_n = (whole ? rq->at : in->n) - from;
    if (rq->step == TRAILER && line_n > TRAILER_MAX - rq->trailer_n) return refuse_request_with(rq, 431);
    if (rq->step != TRAILER && line_n > CHUNK_LINE_MAX) return refuse_request_with(rq, 400);
    if (!whole) return SLP_MORE;
    if (rq->step == CHUNK_SIZE) {
      r = chunk_size(rq, line, body_max);
    } else if (rq->step == CHUNK_END) {
      if (line.n) return refuse_request_with(rq, 400);
      rq->step = CHUNK_SIZE;
    } else if (line.n == 0) {
      rq->step = COMPLETE;
    } else {
      rq->trailer_n += line_n;
    }
    if (r) return r;
  }
  rq->end = rq->at;
  return 0;
}

int slp_request_read(slp_request *rq, slp_buf *in, size_t body_max) {
  int r = read_head(rq, in, body_max);
  if (r) return r;
  if (rq->chunked) return read_chunks(rq, in, body_max);
  if (in->n - rq->head_n < rq->want) return SLP_MORE;
  rq->body_n = (size_t)rq->want;
  rq->end = rq->head_n + rq->body_n;
  rq->step = COMPLETE;
  return 0;
}

slp_str slp_request_header(const slp_request *rq, const slp_buf *in, const char *name) {
  size_t n = strlen(name);
  for (size_t i = 0; i < rq->fields_n; i++) {
    const slp_request_field *f = &rq->fields[i];
    if (f->name_n == n && memcmp(in->p + f->name, name, n) == 0)
      return (slp_str){in->p + f->value, f->value_n};
  }
  return (slp_str){NULL, 0};
}
