/* The outcomes of HTTP calls for answers that are whole, cut at every byte, reset, too large, slow, sent
 * twice. */
#include "wire.h"

/* ---- cut at every byte ------------------------------------------------------------------------ */
typedef struct cut_plan {
  const char *answer;
  int reset;
} cut_plan;

/* A request for /k gets the first k bytes. */
static void serve_cut(int listener, void *arg) {
  const cut_plan *plan = arg;
  static char rq[4096];
  for (;;) {
    int fd = accept(listener, NULL, NULL);
    if (wire_read_request(fd, rq, sizeof rq)) { /* else it is a second connection, which `once` gave up */
      size_t k = (size_t)strtoul(strchr(rq, '/') + 1, NULL, 10);
      wire_write(fd, plan->answer, k);
      if (plan->reset && k < strlen(plan->answer)) {
        wire_reset(fd);
        continue;
      }
    }
    close(fd);
  }
}

static void cut(const char *answer, int reset, int length_known) {
  cut_plan plan = {answer, reset};
  wire w;
  wire_open(&w);
  wire_child server = wire_child_start(serve_cut, &plan);
  size_t head = (size_t)(strstr(answer, "\r\n\r\n") + 4 - answer), n = strlen(answer);
  wire_call c;
  wire_call_make(&c, &w, "http", server.port, "/");
  c.http.once = 1; /* else libcurl may take a second connection for a cut at 0 */
  for (size_t k = 0; k <= n; k++) {
    uint64_t stopped = slp_host_turns(w.h)->http_replays_stopped;
    snprintf(c.url, sizeof c.url, "http://127.0.0.1:%u/%zu", (unsigned)server.port, k);
    wire_call_again(&c);
    wire_call_run(&c, &w);
    /* From 8.22 on libcurl trusts a connection that was idle for less than a second. So libcurl sends this call
     * on the connection whose last answer was cut in its head, and `once` ends the call. */
    if (slp_host_turns(w.h)->http_replays_stopped > stopped) {
      CHECK_INT(c.http.error, UV_ECONNRESET);
      wire_call_again(&c);
      wire_call_run(&c, &w);
    }
    /* libcurl does not wait for the very last LF of a chunked answer; the body is whole by then. */
    int whole = k == n || (strstr(answer, "chunked") && k == n - 1 && !c.http.error) ||
                (!length_known && !reset && k >= head);
    if (whole != (c.http.error == 0))
      CHECK_FAIL("cut at %zu: error %d %s", k, c.http.error, c.http.error_text);
    if (whole) CHECK_INT(c.http.length_known, length_known);
    if (whole) CHECK_INT(c.http.status, 200);
    if (!whole) CHECK(c.http.error_text[0]);
  }
  slp_buf_free(&c.body);
  wire_child_stop(&server);
  wire_close(&w);
}

TEST(an_answer_with_a_length_cut_at_every_byte) {
  cut("HTTP/1.1 200 OK\r\nContent-Length: 20\r\nConnection: close\r\n\r\n01234567890123456789", 0, 1);
}
TEST(an_answer_with_a_length_reset_at_every_byte) {
  cut("HTTP/1.1 200 OK\r\nContent-Length: 20\r\nConnection: close\r\n\r\n01234567890123456789", 1, 1);
}
TEST(a_chunked_answer_cut_at_every_byte) {
  cut("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;x\r\n world\r\n0\r\n\r\n", 0, 1);
}
/* Here nobody can know; so the caller is told that nobody can. */
TEST(an_answer_without_a_length_cut_at_every_byte) {
  cut("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n01234567890123456789", 0, 0);
}

/* ---- scripts: one fixed answer after another --------------------------------------------------- */
typedef struct script {
  const char *answers[8]; /* NULL: close without an answer */
  int keep;               /* answers go out on one connection until a NULL closes it */
} script;

static void serve_script(int listener, void *arg) {
  const script *s = arg;
  static char rq[4 << 20];
  int fd = -1;
  for (size_t i = 0; i < SLP_COUNT(s->answers); i++) {
    if (fd < 0) fd = accept(listener, NULL, NULL);
    while (!wire_read_request(fd, rq, sizeof rq)) {
      close(fd);
      fd = accept(listener, NULL, NULL);
    }
    if (strcasestr(rq, "\r\nexpect:")) _exit(9);
    if (s->answers[i]) wire_write(fd, s->answers[i], strlen(s->answers[i]));
    if (!s->answers[i] || !s->keep) {
      close(fd);
      fd = -1;
    }
  }
}

TEST(the_head_is_read) {
  script s = {{"HTTP/1.1 100 Continue\r\nx-amzn-RequestId: interim\r\n\r\n"
               "HTTP/1.1 400 Bad Request\r\nContent-Type: Application/X-AMZ-JSON-1.1; charset=utf-8\r\n"
               "x-amzn-ErrorType: com.amazonaws.kinesis#ExpiredIteratorException:http://x/\r\n"
               "X-AMZN-REQUESTID:  abc-123 \r\nx-amz-crc32: 4294967295\r\nx-amz-retry-after: 250\r\n"
               "Date: Fri, 02 Jan 2026 03:04:05 GMT\r\nContent-Length: 2\r\n\r\n{}",
               "HTTP/1.1 200 OK\r\nDate: yesterday\r\nx-amz-crc32: 4294967296\r\nContent-Length: 0\r\n\r\n"},
              1};
  wire w;
  wire_open(&w);
  wire_child server = wire_child_start(serve_script, &s);
  wire_call c;
  wire_call_make(&c, &w, "http", server.port, "/");
  wire_call_run(&c, &w);
  CHECK_INT(c.http.error, 0);
  CHECK_INT(c.http.status, 400);
  CHECK_STR(c.http.content_type, "application/x-amz-json-1.1");
  CHECK_STR(c.http.error_type, "com.amazonaws.kinesis#ExpiredIteratorException:http://x/");
  CHECK_STR(c.http.request_id, "abc-123");
  CHECK_INT(c.http.crc32_given, 1);
  CHECK_INT(c.http.crc32, 4294967295u);
  CHECK_INT(c.http.retry_after_ms, 250);
  CHECK_INT(c.http.date_ms, 1767323045000);
  CHECK_INT(c.http.reused, 0);
  CHECK(c.http.sent_us > 0 && c.http.done_us >= c.http.sent_us && c.http.done_us <= wire_us());
  CHECK_MEM(c.body.p, c.body.n, "{}", 2);
  wire_call_again(&c);
  wire_call_run(&c, &w);
  CHECK_INT(c.http.error, 0);
  CHECK_INT(c.http.reused, 1);
  CHECK_INT(c.http.date_ms, -1);
  CHECK_INT(c.http.crc32_given, 0);
  CHECK_STR(c.http.request_id, "");
  CHECK_STR(c.http.error_type, "");
  CHECK_INT(slp_host_turns(w.h)->connections_opened, 1);
  slp_buf_free(&c.body);
  wire_child_stop(&server);
  wire_close(&w);
}

TEST(a_large_request_goes_without_expect) {
  script s = {{"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"}, 1};
  wire w;
  wire_open(&w);
  wire_child server = wire_child_start(serve_script, &s);
  wire_call c;
  wire_call_make(&c, &w, "http", server.port, "/");
  char *large = calloc(1, 3 << 20);
  memset(large, 'x', 3 << 20);
  c.http.body = (slp_str){large, 3 << 20};
  wire_call_run(&c, &w);
  CHECK_INT(c.http.error, 0);
  free(large);
  slp_buf_free(&c.body);
  wire_child_stop(&server);
  wire_close(&w);
}

/* The text names host and port and says what happened. */
static void fails(const char *answer, int error, const char *text) {
  script s = {{answer, answer}, 0};
  char want[160];
  wire w;
  wire_open(&w);
  wire_child server = wire_child_start(serve_script, &s);
  wire_call c;
  wire_call_make(&c, &w, "http", server.port, "/");
  wire_call_run(&c, &w);
  snprintf(want, sizeof want, text, (unsigned)server.port);
  CHECK_STR(c.http.error_text, want);
  CHECK_INT(c.http.error, error);
  slp_buf_free(&c.body);
  wire_child_stop(&server);
  wire_close(&w);
}
TEST(failures_are_told_in_a_sentence) {
  fails(NULL, UV_ECONNRESET, "127.0.0.1:%u closed the connection without an answer");
  fails("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab", SLOOP_EREMOTE,
        "answer of 127.0.0.1:%u was cut short");
  fails("\x15\x03\x03", SLOOP_EREMOTE, "127.0.0.1:%u does not answer in HTTP (is it an https port?)");
  fails("SSH-2.0-x\r\n", SLOOP_EREMOTE, "127.0.0.1:%u does not answer in HTTP (is it an https port?)");
}

TEST(a_refused_connection_is_told_at_once) {
  uint16_t port;
  int fd = wire_raw_listen(&port, 1); /* so that the port is ours ... */
  close(fd);                          /* ... and closed */
  wire w;
  wire_open(&w);
  wire_call c;
  wire_call_make(&c, &w, "http", port, "/");
  uint64_t from = wire_us();
  wire_call_run(&c, &w);
  char want[100];
  snprintf(want, sizeof want, "connection to 127.0.0.1:%u refused", (unsigned)port);
  CHECK_STR(c.http.error_text, want);
  CHECK_INT(c.http.error, UV_ECONNREFUSED);
  CHECK(wire_us() - from < 1000000);
  wire_close(&w);
}

TEST(calls_that_cannot_be_made_still_answer) {
  wire w;
  wire_open(&w);
  const char *urls[] = {"", "127.0.0.1:1/", "ftp://127.0.0.1/", "file:///etc/passwd", "http://"};
  for (size_t i = 0; i < SLP_COUNT(urls); i++) {
    wire_call c;
    wire_call_make(&c, &w, "http", 1, "/");
    c.http.url = urls[i];
    wire_call_run(&c, &w);
    CHECK_INT(c.http.error, UV_EINVAL);
    CHECK(c.http.error_text[0]);
  }
  slp_http_header bad[] = {{SLP_STR("X"), SLP_STR("a\r\nY: b")},
                           {SLP_STR("X:Y"), SLP_STR("a")},
                           {SLP_STR("X"), {"a\0b", 3}},
                           {SLP_STR(""), SLP_STR("a")},
                           {SLP_STR("X Y"), SLP_STR("a")}};
  for (size_t i = 0; i < SLP_COUNT(bad); i++) {
    wire_call c;
    wire_call_make(&c, &w, "http", 1, "/");
    c.http.headers = &bad[i];
    c.http.headers_n = 1;
    wire_call_run(&c, &w);
    CHECK_INT(c.http.error, UV_EINVAL);
  }
  wire_call c;
  wire_call_make(&c, &w, "http", 1, "/");
  c.http.method = "BAD METHOD";
  wire_call_run(&c, &w);
  CHECK_INT(c.http.error, UV_EINVAL);
  CHECK_INT(slp_host_turns(w.h)->connections_opened, 0);
  wire_close(&w);
}

/* ---- the cap ------------------------------------------------------------------------------------ */
static void capped(const char *answer, size_t max, int error, size_t took) {
  script s = {{answer, answer}, 0};
  wire w;
  wire_open(&w);
  wire_child server = wire_child_start(serve_script, &s);
  wire_call c;
  wire_call_make(&c, &w, "http", server.port, "/");
  slp_buf_init(&c.body, w.mem, max);
  slp_buf_add(&c.body, "##", 2); /* appended, not replaced */
  wire_call_run(&c, &w);
  CHECK_INT(c.http.error, error);
  CHECK_INT(c.body.n, took + 2);
  CHECK(c.body.cap <= max);
  slp_buf_free(&c.body);
  wire_child_stop(&server);
  wire_close(&w);
}
TEST(a_body_never_outgrows_its_buffer) {
  capped("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n01234567", 10, 0, 8);
  capped("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n012345678", 10, SLOOP_ETOOBIG, 0);
  capped("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999\r\n\r\n012345678", 10, SLOOP_ETOOBIG, 0);
  capped("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n01234567\r\n0\r\n\r\n", 10, 0, 8);
  capped("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n012345678\r\n0\r\n\r\n", 10,
         SLOOP_ETOOBIG, 0);
  capped("HTTP/1.1 200 OK\r\n\r\n012345678", 10, SLOOP_ETOOBIG, 0);
}

/* ---- pieces ------------------------------------------------------------------------------------- */
static size_t pieces_n, piece_bytes;
static uint64_t piece_length;

static void on_piece(slp_http *http) {
  pieces_n++;
  CHECK_INT(http->status, 200);
  CHECK_STR(http->content_type, "a/b");
  CHECK(http->into->n > piece_bytes); /* it is in the buffer already */
  piece_bytes = http->into->n;
  piece_length = http->length;
  if (http->length != UINT64_MAX) CHECK(http->into->cap >= http->length);
}

static void in_pieces(const char *head, uint64_t length) {
  char answer[200];
  snprintf(answer, sizeof answer, "HTTP/1.1 200 OK\r\nContent-Type: a/b\r\n%s", head);
  script s = {{answer, answer}, 0};
  wire w;
  wire_open(&w);
  wire_child server = wire_child_start(serve_script, &s);
  wire_call c;
  wire_call_make(&c, &w, "http", server.port, "/");
  c.http.on_piece = on_piece;
  pieces_n = piece_bytes = 0;
  wire_call_run(&c, &w);
  CHECK_INT(c.http.error, 0);
  CHECK(pieces_n > 0);
  CHECK_INT(piece_bytes, 8);
  CHECK(piece_length == length);
  slp_buf_free(&c.body);
  wire_child_stop(&server);
  wire_close(&w);
}
TEST(pieces_are_told_with_the_head_and_a_length_that_can_be_trusted) {
  in_pieces("Content-Length: 8\r\n\r\n01234567", 8);
  in_pieces("\r\n01234567", UINT64_MAX);
  in_pieces("Transfer-Encoding: chunked\r\n\r\n8\r\n01234567\r\n0\r\n\r\n", UINT64_MAX);
  in_pieces("Transfer-Encoding: chunked\r\nContent-Length: 8\r\n\r\n8\r\n01234567\r\n0\r\n\r\n", UINT64_MAX);
  in_pieces("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n01234567\r\n0\r\n\r\n", UINT64_MAX);
}

/* ---- the silent replay -------------------------------------------------------------------------- */
/* A kept connection that swallows its second request and closes. Then everything is answered. Each
 * request seen is counted on a pipe. */
typedef struct replay {
  int count_fd;
} replay;
static void serve_replay(int listener, void *arg) {
  const replay *r = arg;
  static const char ok[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
  static char rq[4096];
  int fd = accept(listener, NULL, NULL);
  for (int i = 0; i < 2; i++) {
    if (!wire_read_request(fd, rq, sizeof rq)) _exit(9);
    wire_write(r->count_fd, "1", 1);
    if (i == 0) wire_write(fd, ok, strlen(ok));
  }
  close(fd);
  for (;;) {
    fd = accept(listener, NULL, NULL);
    while (wire_read_request(fd, rq, sizeof rq)) {
      wire_write(r->count_fd, "1", 1);
      wire_write(fd, ok, strlen(ok));
    }
    close(fd);
  }
}
static void replayed(int once) {
  int p[2];
  CHECK_INT(pipe2(p, O_NONBLOCK), 0);
  replay r = {p[1]};
  wire w;
  wire_open(&w);
  wire_child server = wire_child_start(serve_replay, &r);
  wire_call c;
  wire_call_make(&c, &w, "http", server.port, "/");
  c.http.once = (uint8_t)once;
  wire_call_run(&c, &w);
  CHECK_INT(c.http.error, 0);
  wire_call_again(&c);
  wire_call_run(&c, &w);
  char seen[16];
  const slp_turn_stats *t = slp_host_turns(w.h);
  CHECK_INT(c.http.error, once ? UV_ECONNRESET : 0);
  CHECK_INT(read(p[0], seen, sizeof seen), once ? 2 : 3);
  CHECK_INT(t->http_replays, !once);
  CHECK_INT(t->http_replays_stopped, once);
  if (once) CHECK(strstr(c.http.error_text, "not sent again"));
  /* and the next call works again */
  wire_call_again(&c);
  wire_call_run(&c, &w);
  CHECK_INT(c.http.error, 0);
  slp_buf_free(&c.body);
  wire_child_stop(&server);
  wire_close(&w);
}
TEST(a_request_on_a_dying_connection_is_sent_again_and_counted) { replayed(0); }
TEST(a_conditional_write_is_never_sent_again) { replayed(1); }

/* ---- proxies ------------------------------------------------------------------------------------ */
static void serve_proxy(int listener, void *arg) {
  static char rq[4096], answer[5000];
  (void)arg;
  for (;;) {
    int fd = accept(listener, NULL, NULL);
    if (wire_read_request(fd, rq, sizeof rq)) {
      *strchr(rq, '\r') = 0;
      snprintf(answer, sizeof answer, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n%s",
               strlen(rq), rq);
      wire_write(fd, answer, strlen(answer));
    }
    close(fd);
  }
}
static void asks(wire *w, const char *host, uint16_t port, int no_proxy, const char *line) {
  wire_call c;
  wire_call_make(&c, w, "http", port, "/p");
  snprintf(c.url, sizeof c.url, "http://%s:%u/p", host, (unsigned)port);
  c.http.no_proxy = (uint8_t)no_proxy;
  wire_call_run(&c, w);
  CHECK_STR(c.http.error_text, "");
  CHECK_STR(slp_buf_z(&c.body), line);
  slp_buf_free(&c.body);
}
TEST(proxies_of_the_environment_are_for_others) {
  wire w;
  wire_open(&w);
  wire_child proxy = wire_child_start(serve_proxy, NULL), server = wire_child_start(serve_proxy, NULL);
  char url[64], line[100];
  snprintf(url, sizeof url, "http://127.0.0.1:%u", (unsigned)proxy.port);
  setenv("http_proxy", url, 1);
  unsetenv("no_proxy");
  unsetenv("NO_PROXY");
  asks(&w, "127.0.0.1", server.port, 0, "POST /p HTTP/1.1");
  asks(&w, "localhost", server.port, 0, "POST /p HTTP/1.1");
  /* 0.0.0.0 reaches this machine too, but by its name it is somebody else */
  asks(&w, "0.0.0.0", server.port, 1, "POST /p HTTP/1.1");
  snprintf(line, sizeof line, "POST http://0.0.0.0:%u/p HTTP/1.1", (unsigned)server.port);
  asks(&w, "0.0.0.0", server.port, 0, line);
  setenv("no_proxy", "0.0.0.0", 1);
  asks(&w, "0.0.0.0", server.port, 0, "POST /p HTTP/1.1");
  wire_child_stop(&server);
  wire_child_stop(&proxy);
  wire_close(&w);
}
