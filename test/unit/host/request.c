/* The request reader: whole, byte by byte, and on everything it must refuse. */
#include "check.h"
#include "host/http_request.h"

static slp_mem *mem;

typedef struct result {
  slp_request rq;
  slp_buf in;
  int r;
} result;

static void read_in_pieces(result *t, slp_str text, size_t piece, size_t body_max) {
  slp_request_begin(&t->rq);
  slp_buf_init(&t->in, mem, 1 << 20);
  t->r = SLP_MORE;
  for (size_t at = 0; at < text.n && t->r == SLP_MORE; at += piece) {
    size_t n = text.n - at < piece ? text.n - at : piece;
    CHECK_INT(slp_buf_add(&t->in, text.p + at, n), 0);
    t->r = slp_request_read(&t->rq, &t->in, body_max);
  }
}

static void refused(const char *text, int status) {
  slp_str s = slp_str_of(text);
  for (size_t piece = 1; piece <= s.n; piece += piece < 5 ? 1 : 7) {
    result t;
    read_in_pieces(&t, s, piece, 100);
    if (t.r != SLP_EBADDATA || t.rq.status != status)
      CHECK_FAIL("result %d status %d, not %d, for: %s", t.r, t.rq.status, status, text);
    slp_buf_free(&t.in);
  }
}

static void taken(const char *text, const char *method, const char *path, const char *body, int keep_alive) {
  slp_str s = slp_str_of(text);
  for (size_t piece = 1; piece <= s.n; piece++) {
    result t;
    read_in_pieces(&t, s, piece, 100);
    if (t.r) CHECK_FAIL("result %d status %d for pieces of %zu of: %s", t.r, t.rq.status, piece, text);
    CHECK_MEM(t.in.p + t.rq.method_at, t.rq.method_n, method, strlen(method));
    CHECK_MEM(t.in.p + t.rq.path_at, t.rq.path_n, path, strlen(path));
    CHECK_MEM(t.in.p + t.rq.head_n, t.rq.body_n, body, strlen(body));
    CHECK_INT(t.rq.keep_alive, keep_alive);
    CHECK(t.rq.end <= s.n);
    slp_buf_free(&t.in);
  }
}

TEST(good_requests) {
  mem = slp_mem_new(NULL, NULL);
  taken("GET / HTTP/1.1\r\nHost: x\r\n\r\n", "GET", "/", "", 1);
  taken("\r\n\r\nGET /a?b=c HTTP/1.1\r\n\r\n", "GET", "/a?b=c", "", 1);
  taken("GET / HTTP/1.0\r\n\r\n", "GET", "/", "", 0);
  taken("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "GET", "/", "", 1);
  taken("GET / HTTP/1.1\nConnection: CLOSE\n\n", "GET", "/", "", 0);
  taken("GET http://h:1/p?q HTTP/1.1\r\nHost: h\r\n\r\n", "GET", "/p?q", "", 1);
  taken("POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello", "POST", "/", "hello", 1);
  taken("POST / HTTP/1.1\r\nContent-Length:5\r\nContent-Length: 5 \r\n\r\nhello", "POST", "/", "hello", 1);
  taken("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", "POST", "/", "hello",
        1);
  taken(
      "POST / HTTP/1.1\r\ntransfer-encoding: Chunked\r\n\r\n3;x=y\r\nabc\r\nA\r\n0123456789\r\n1 "
      "\r\n!\r\n000\r\n"
      "Trailer: t\r\n\r\n",
      "POST", "/", "abc0123456789!", 1);
  taken("PUT /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "PUT", "/x", "", 1);
}

TEST(headers_are_found_by_lower_case_name) {
  mem = slp_mem_new(NULL, NULL);
  result t;
  slp_str s = SLP_STR(
      "POST / HTTP/1.1\r\nX-Amz-Target:  A.B\t\r\nEmpty:\r\nx-amz-target: second\r\nExpect: "
      "100-Continue\r\n\r\n");
  read_in_pieces(&t, s, s.n, 0);
  CHECK_INT(t.r, 0);
  slp_str v = slp_request_header(&t.rq, &t.in, "x-amz-target");
  CHECK_MEM(v.p, v.n, "A.B", 3);
  v = slp_request_header(&t.rq, &t.in, "empty");
  CHECK(v.p && v.n == 0);
  CHECK(!slp_request_header(&t.rq, &t.in, "x-amz").p);
  CHECK_INT(t.rq.expects_continue, 1);
  slp_buf_free(&t.in);
}

TEST(the_next_request_starts_where_this_one_ends) {
  mem = slp_mem_new(NULL, NULL);
  result t;
  slp_str s = SLP_STR("POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\nabGET / HTTP/1.1\r\n\r\n");
  read_in_pieces(&t, s, s.n, 10);
  CHECK_INT(t.r, 0);
  CHECK_MEM(t.in.p + t.rq.end, t.in.n - t.rq.end, "GET / HTTP/1.1\r\n\r\n", 18);
  slp_buf_free(&t.in);
}

TEST(bad_requests) {
  mem = slp_mem_new(NULL, NULL);
  refused("GET /\r\n\r\n", 400);
  refused("GET / HTTP/2.0\r\n\r\n", 505);
  refused("GET / FTP/1.1\r\n\r\n", 400);
  refused("G@T / HTTP/1.1\r\n\r\n", 400);
  refused(" GET / HTTP/1.1\r\n\r\n", 400);
  refused("GET  HTTP/1.1\r\n\r\n", 400);
  refused("GET / HTTP/1.1\r\nname value\r\n\r\n", 400);
  refused("GET / HTTP/1.1\r\nname : value\r\n\r\n", 400);
  refused("GET / HTTP/1.1\r\n: value\r\n\r\n", 400);
  refused("GET / HTTP/1.1\r\na: b\r\n folded\r\n\r\n", 400);
  refused("GET / HTTP/1.1\r\na: b\x01\r\n\r\n", 400);
  refused("POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400);
  refused("POST / HTTP/1.1\r\nContent-Length: +1\r\n\r\n", 400);
  refused("POST / HTTP/1.1\r\nContent-Length: 1, 1\r\n\r\n", 400);
  refused("POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400);
  refused("POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", 400);
  refused("POST / HTTP/1.1\r\nContent-Length: 101\r\n\r\n", 413);
  refused("POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400);
  refused("POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", 501);
  refused("POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501);
  refused("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400);
  refused("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", 400);
  refused("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n\r\n", 400);
  refused("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", 400);
  refused("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n65\r\n", 413);
  refused("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n", 413);
  refused("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n", 400);
}

/* Chunked, with a line of n bytes in it: as an extension of a chunk's size, or behind the last chunk. */
static void long_line(int trailer, size_t n, int status) {
  static char text[20000];
  size_t at = (size_t)snprintf(text, sizeof text, "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n%s",
                               trailer ? "0\r\nT:" : "0;");
  memset(text + at, 'x', n);
  at += n;
  memcpy(text + at, "\r\n\r\n", 5);
  for (size_t piece = 1; piece <= 2 * strlen(text); piece *= 3) { /* to the end: all at once */
    result t;
    read_in_pieces(&t, slp_str_of(text), piece, 100);
    if (t.r != (status ? SLP_EBADDATA : 0) || (status && t.rq.status != status))
      CHECK_FAIL("%zu bytes in pieces of %zu: result %d status %d, not %d", n, piece, t.r, t.rq.status,
                 status);
    slp_buf_free(&t.in);
  }
}
TEST(long_lines_of_chunks_are_refused_however_they_come) {
  mem = slp_mem_new(NULL, NULL);
  long_line(0, 200, 0);
  long_line(0, 300, 400);
  long_line(1, 8000, 0);
  long_line(1, 9000, 431);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

TEST(large_heads_are_refused) {
  mem = slp_mem_new(NULL, NULL);
  result t;
  static char text[200000];
  /* one endless line */
  memset(text, 'a', sizeof text);
  text[3] = ' ';
  text[4] = '/';
  read_in_pieces(&t, (slp_str){text, sizeof text}, 1000, 100);
  CHECK_INT(t.r, SLP_EBADDATA);
  CHECK_INT(t.rq.status, 431);
  CHECK(t.in.n < SLP_REQUEST_HEAD_MAX + 2000);
  slp_buf_free(&t.in);
  /* too many fields */
  size_t n = (size_t)snprintf(text, sizeof text, "GET / HTTP/1.1\r\n");
  for (int i = 0; i <= SLP_REQUEST_HEADERS_MAX; i++)
    n += (size_t)snprintf(text + n, sizeof text - n, "h%d: v\r\n", i);
  read_in_pieces(&t, (slp_str){text, n}, n, 100);
  CHECK_INT(t.r, SLP_EBADDATA);
  CHECK_INT(t.rq.status, 431);
  slp_buf_free(&t.in);
}
