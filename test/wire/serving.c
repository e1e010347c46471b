/* The HTTP server of host/ against raw sockets and against libcurl. */
#include "wire.h"

/* ---- a server that does what the path says --------------------------------------------------------- */
typedef struct world {
  wire w;
  slp_listener l;
  slp_served *held[64];
  size_t held_n;
  int gone, closed, requests;
} world;
static world o;

static void on_gone(slp_served *rq) {
  for (size_t i = 0; i < o.held_n; i++)
    if (o.held[i] == rq) o.held[i] = NULL;
  o.gone++;
}

static void serve(slp_served *rq, int status, slp_str text, size_t cut_after, int close_after) {
  slp_buf b;
  slp_buf_init(&b, o.w.mem, 1 << 30);
  CHECK_INT(slp_buf_add_str(&b, text), 0);
  slp_http_header h = {SLP_STR("X-Test"), SLP_STR("yes")};
  slp_serve_answer a = {.status = status,
                        .headers = &h,
                        .headers_n = 1,
                        .body = &b,
                        .date_ms = 1767323045000,
                        .cut_after = cut_after,
                        .close = (uint8_t)close_after};
  slp_serve(rq, &a);
  CHECK(b.p == NULL);
}

static void on_request(slp_listener *l, slp_served *rq) {
  CHECK(l == &o.l);
  o.requests++;
  if (slp_str_is(rq->path, "/hold") || slp_str_is(rq->path, "/hold-deaf")) {
    o.held[o.held_n++] = rq;
    if (slp_str_is(rq->path, "/hold")) rq->on_gone = on_gone;
  } else if (slp_str_is(rq->path, "/drop")) {
    slp_serve_drop(rq);
  } else if (slp_str_is(rq->path, "/close")) {
    serve(rq, 200, SLP_STR("bye"), SIZE_MAX, 1);
  } else if (slp_str_is(rq->path, "/none")) {
    serve(rq, 204, SLP_STR(""), SIZE_MAX, 0);
  } else if (rq->path.n > 8 && memcmp(rq->path.p, "/status/", 8) == 0) {
    serve(rq, (int)strtoul(rq->path.p + 8, NULL, 10), SLP_STR(""), SIZE_MAX, 1);
  } else if (rq->path.n > 5 && memcmp(rq->path.p, "/cut/", 5) == 0) {
    serve(rq, 200, SLP_STR("0123456789"), strtoul(rq->path.p + 5, NULL, 10), 0);
  } else if (rq->path.n > 5 && memcmp(rq->path.p, "/big/", 5) == 0) {
    size_t n = strtoul(rq->path.p + 5, NULL, 10);
    char *big = malloc(n);
    for (size_t i = 0; i < n; i++) big[i] = (char)(i % 251);
    serve(rq, 200, (slp_str){big, n}, SIZE_MAX, 0);
    free(big);
  } else {
    serve(rq, 200, rq->body.n ? rq->body : rq->header(rq, "x-echo"), SIZE_MAX, 0);
  }
}

static void open_world(void) {
  memset(&o, 0, sizeof o);
  wire_open(&o.w);
  o.l = (slp_listener){.on_request = on_request, .body_max = 1000000};
  CHECK_INT(slp_listen(o.w.h, &o.l, "127.0.0.1", 0), 0);
  CHECK(o.l.port != 0);
}
static void on_closed(slp_listener *l) {
  CHECK(l == &o.l);
  o.closed++;
}
static void close_world(void) {
  slp_listen_close(&o.l, on_closed);
  CHECK_INT(o.closed, 0);
  WIRE_UNTIL(&o.w, &o.closed);
  wire_close(&o.w);
  CHECK_INT(o.closed, 1);
}

static void run_for(uint64_t ms) {
  for (uint64_t end = wire_us() + ms * 1000; wire_us() < end;) uv_run(o.w.loop, UV_RUN_NOWAIT);
}

/* ---- a client of plain bytes ---------------------------------------------------------------------- */
static int client(void) {
  int fd = wire_raw_connect(o.l.port);
  fcntl(fd, F_SETFL, O_NONBLOCK);
  return fd;
}
static void say(int fd, const char *p, size_t n) {
  while (n) {
    ssize_t k = write(fd, p, n);
    if (k < 0 && errno != EAGAIN) return;
    if (k > 0) p += k, n -= (size_t)k;
    uv_run(o.w.loop, UV_RUN_NOWAIT);
  }
}
static void say_z(int fd, const char *z) { say(fd, z, strlen(z)); }

static char heard[1 << 20];
static size_t heard_n;
/* Until n bytes came, or the connection ended (1: by FIN, -1: by RST). */
static int hear(int fd, size_t n) {
  heard_n = 0;
  for (uint64_t end = wire_us() + 10000000; heard_n < n && wire_us() < end;) {
    ssize_t k = read(fd, heard + heard_n, sizeof heard - 1 - heard_n);
    if (k == 0) break;
    if (k < 0 && errno != EAGAIN) break;
    if (k > 0) heard_n += (size_t)k;
    uv_run(o.w.loop, UV_RUN_NOWAIT);
    if (heard_n >= n) break;
    char c;
    ssize_t left = recv(fd, &c, 1, MSG_PEEK);
    if (left == 0) {
      heard[heard_n] = 0;
      return 1;
    }
    if (left < 0 && errno == ECONNRESET) {
      heard[heard_n] = 0;
      return -1;
    }
  }
  heard[heard_n] = 0;
  return 0;
}
#define DATE "Date: Fri, 02 Jan 2026 03:04:05 GMT\r\n"
#define OK_HEAD(n) \
  "HTTP/1.1 200 OK\r\nX-Test: yes\r\n" DATE "Content-Length: " n "\r\nConnection: keep-alive\r\n\r\n"

static void expect(int fd, const char *answer) {
  hear(fd, strlen(answer));
  CHECK_STR(heard, answer);
}

TEST(answers_byte_for_byte) {
  open_world();
  int fd = client();
  say_z(fd, "GET / HTTP/1.1\r\nX-Echo: hello\r\n\r\n");
  expect(fd, OK_HEAD("5") "hello");
  say_z(fd, "HEAD / HTTP/1.1\r\nX-Echo: hello\r\n\r\n");
  expect(fd, OK_HEAD("5"));
  say_z(fd, "POST /none HTTP/1.1\r\nContent-Length: 0\r\n\r\n");
  expect(fd, "HTTP/1.1 204 No Content\r\nX-Test: yes\r\n" DATE "Connection: keep-alive\r\n\r\n");
  say_z(fd, "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
  expect(fd, OK_HEAD("5") "abcde");
  say_z(fd, "GET /close HTTP/1.1\r\n\r\n");
  CHECK_INT(hear(fd, SIZE_MAX), 1);
  CHECK(strstr(heard, "Connection: close\r\n\r\nbye"));
  close(fd);
  fd = client();
  say_z(fd, "GET / HTTP/1.0\r\n\r\n");
  CHECK_INT(hear(fd, SIZE_MAX), 1);
  CHECK(strstr(heard, "Connection: close\r\n\r\n"));
  close(fd);
  close_world();
}

TEST(every_status_has_its_words) {
  static const char *const lines[] = {
      "204 No Content",          "304 Not Modified",      "403 Forbidden",
      "404 Not Found",           "429 Too Many Requests", "500 Internal Server Error",
      "503 Service Unavailable", "504 Gateway Timeout",   "299 Answer"};
  open_world();
  for (size_t i = 0; i < SLP_COUNT(lines); i++) {
    char request[80];
    snprintf(request, sizeof request, "GET /status/%.3s HTTP/1.1\r\nHost: h\r\n\r\n", lines[i]);
    int fd = client();
    say_z(fd, request);
    CHECK_INT(hear(fd, SIZE_MAX), 1);
    CHECK(strncmp(heard, "HTTP/1.1 ", 9) == 0);
    CHECK_MEM(heard + 9, strlen(lines[i]), lines[i], strlen(lines[i]));
    CHECK_MEM(heard + 9 + strlen(lines[i]), 2, "\r\n", 2);
    close(fd);
  }
  close_world();
}

TEST(a_request_byte_by_byte) {
  open_world();
  int fd = client();
  const char *rq = "POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello";
  for (const char *p = rq; *p; p++) {
    CHECK_INT(o.requests, 0);
    say(fd, p, 1);
    run_for(1);
  }
  expect(fd, OK_HEAD("5") "hello");
  close(fd);
  close_world();
}

TEST(a_thousand_requests_in_one_go) {
  open_world();
  int fd = client();
  static char all[200000], want[400000];
  size_t n = 0, m = 0;
  for (int i = 0; i < 1000; i++) {
    n += (size_t)snprintf(all + n, sizeof all - n, "POST / HTTP/1.1\r\nContent-Length: 4\r\n\r\n%04d", i);
    m += (size_t)snprintf(want + m, sizeof want - m, OK_HEAD("4") "%04d", i);
  }
  say(fd, all, n);
  hear(fd, m);
  CHECK_MEM(heard, heard_n, want, m);
  close(fd);
  close_world();
}

TEST(continue_is_said_when_asked_for) {
  open_world();
  int fd = client();
  say_z(fd, "POST / HTTP/1.1\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
  expect(fd, "HTTP/1.1 100 Continue\r\n\r\n");
  say_z(fd, "hello");
  expect(fd, OK_HEAD("5") "hello");
  /* not when the body is there already */
  say_z(fd, "POST / HTTP/1.1\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\nhello");
  expect(fd, OK_HEAD("5") "hello");
  close(fd);
  close_world();
}

static void refused(const char *start, size_t flood, const char *status) {
  int fd = client();
  static char x[100000];
  memset(x, 'a', sizeof x);
  say_z(fd, start);
  for (size_t n = 0; n < flood; n += sizeof x) say(fd, x, sizeof x);
  int end = hear(fd, SIZE_MAX);
  if (end != 1 || strncmp(heard + 9, status, 3) != 0 || !strstr(heard, "Connection: close"))
    CHECK_FAIL("end %d, heard: %s", end, heard);
  close(fd);
}
TEST(what_cannot_be_read_is_refused_and_the_answer_arrives) {
  open_world();
  refused("NONSENSE\r\n\r\n", 0, "400");
  refused("GET / HTTP/3.0\r\n\r\n", 0, "505");
  refused("POST / HTTP/1.1\r\nContent-Length: 1000001\r\n\r\n", 1000001, "413");
  refused("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nfffff\r\n", 0, "413");
  refused("GET / HTTP/1.1\r\nX: ", 300000, "431");
  refused("POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", 0, "501");
  CHECK_INT(o.requests, 0);
  close_world();
}

#define LARGE 400000
static int large_request(const char *path, size_t sent) {
  static char x[LARGE];
  char head[100];
  int fd = client();
  memset(x, 'a', sizeof x);
  snprintf(head, sizeof head, "POST %s HTTP/1.1\r\nContent-Length: %d\r\n\r\n", path, LARGE);
  say_z(fd, head);
  say(fd, x, sent);
  run_for(20);
  return fd;
}
static void expect_503(int fd) {
  CHECK_INT(hear(fd, SIZE_MAX), 1);
  CHECK(strncmp(heard, "HTTP/1.1 503 ", 13) == 0 && strstr(heard, "Connection: close"));
  close(fd);
}
static void expect_small(void) {
  int fd = client();
  say_z(fd, "POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nsmall");
  expect(fd, OK_HEAD("5") "small");
  close(fd);
}

TEST(requests_take_so_much_memory_together_and_the_one_that_needs_more_is_refused) {
  static char rest[LARGE / 4];
  open_world();
  o.l.requests_bytes_max = 2 * LARGE;
  int first = large_request("/", LARGE - sizeof rest); /* is not there whole */
  expect_503(large_request("/", LARGE));
  expect_503(large_request("/", LARGE / 2));
  expect_small();
  memset(rest, 'a', sizeof rest);
  say(first, rest, sizeof rest); /* has its place */
  hear(first, LARGE);
  CHECK(strncmp(heard, "HTTP/1.1 200 ", 13) == 0);
  close(first);
  run_for(20);
  int second = large_request("/hold", LARGE); /* is not answered */
  for (int turns = 0; !o.held_n && turns < 1000; turns++) run_for(1);
  CHECK_INT(o.held_n, 1);
  expect_503(large_request("/", LARGE));
  expect_small();
  serve(o.held[0], 200, SLP_STR("at last"), SIZE_MAX, 0);
  expect(second, OK_HEAD("7") "at last");
  int third = large_request("/", LARGE);
  hear(third, LARGE);
  CHECK(strncmp(heard, "HTTP/1.1 200 ", 13) == 0);
  close(second);
  close(third);
  close_world();
}

TEST(cuts_reset_after_exactly_so_many_bytes) {
  open_world();
  size_t whole = strlen(OK_HEAD("10")) + 10;
  for (size_t k = 0; k <= whole + 5; k++) {
    char rq[100];
    int fd = client();
    snprintf(rq, sizeof rq, "GET /cut/%zu HTTP/1.1\r\n\r\n", k);
    say_z(fd, rq);
    CHECK_INT(hear(fd, SIZE_MAX), -1);
    CHECK_INT(heard_n, k < whole ? k : whole);
    close(fd);
  }
  int fd = client();
  say_z(fd, "GET /drop HTTP/1.1\r\n\r\n");
  CHECK(hear(fd, SIZE_MAX) != 0);
  CHECK_INT(heard_n, 0);
  close(fd);
  close_world();
}

TEST(answers_may_come_later_and_in_any_order) {
  open_world();
  int fd[8];
  for (int i = 0; i < 8; i++) {
    fd[i] = client();
    say_z(fd[i], "GET /hold HTTP/1.1\r\n\r\n");
  }
  while (o.held_n < 8) uv_run(o.w.loop, UV_RUN_NOWAIT);
  for (int i = 7; i >= 0; i--) serve(o.held[i], 200, SLP_STR("x"), SIZE_MAX, 0);
  for (int i = 0; i < 8; i++) {
    expect(fd[i], OK_HEAD("1") "x");
    close(fd[i]);
  }
  CHECK_INT(o.gone, 0);
  close_world();
}

TEST(a_peer_that_leaves_is_told_to_who_asked) {
  open_world();
  int a = client(), b = client(), c = client();
  say_z(a, "GET /hold HTTP/1.1\r\n\r\n");
  say_z(b, "GET /hold-deaf HTTP/1.1\r\n\r\n");
  say_z(c, "GET /hold HTTP/1.1\r\n\r\n");
  while (o.held_n < 3) uv_run(o.w.loop, UV_RUN_NOWAIT);
  close(a);
  close(b);
  wire_reset(c);
  while (o.gone < 2) uv_run(o.w.loop, UV_RUN_NOWAIT);
  run_for(20);
  CHECK_INT(o.gone, 2);
  /* nobody told the deaf one: its request is still valid */
  slp_served *deaf = NULL;
  for (int i = 0; i < 3; i++)
    if (o.held[i]) deaf = o.held[i];
  CHECK(deaf);
  serve(deaf, 200, SLP_STR("too late"), SIZE_MAX, 0);
  close_world();
}

TEST(closing_with_requests_outstanding) {
  open_world();
  int fd[4];
  for (int i = 0; i < 4; i++) {
    fd[i] = client();
    say_z(fd[i], i % 2 ? "GET /hold HTTP/1.1\r\n\r\n" : "GET /hold-deaf HTTP/1.1\r\n\r\n");
  }
  while (o.held_n < 4) uv_run(o.w.loop, UV_RUN_NOWAIT);
  close_world();
  CHECK_INT(o.gone, 2);
  for (int i = 0; i < 4; i++) close(fd[i]);
}

TEST(the_host_closes_under_an_open_server) {
  open_world();
  int fd[6];
  for (int i = 0; i < 6; i++) fd[i] = client();
  say_z(fd[0], "GET /hold HTTP/1.1\r\n\r\n");
  say_z(fd[1], "GET /hold-deaf HTTP/1.1\r\n\r\n");
  say_z(fd[2], "GET /big/30000000 HTTP/1.1\r\n\r\n"); /* being written, nobody reads */
  say_z(fd[3], "POST / HTTP/1.1\r\nContent-Length: 100\r\n\r\nabc");
  say_z(fd[4], "GET /close HTTP/1.1\r\n\r\n"); /* lingering */
  while (o.held_n < 2) uv_run(o.w.loop, UV_RUN_NOWAIT);
  run_for(20);
  wire_close(&o.w);
  CHECK_INT(o.gone, 0);
  CHECK_INT(o.closed, 0);
  for (int i = 0; i < 6; i++) close(fd[i]);
}

TEST(a_listener_closing_when_the_host_closes) {
  open_world();
  int fd = client();
  say_z(fd, "GET /hold HTTP/1.1\r\n\r\n");
  while (o.held_n < 1) uv_run(o.w.loop, UV_RUN_NOWAIT);
  slp_listen_close(&o.l, on_closed);
  slp_listen_close(&o.l, on_closed); /* already closing: fine */
  wire_close(&o.w);
  CHECK_INT(o.closed, 0);
  close(fd);
}

TEST(a_port_in_use_and_a_bad_address_are_errors) {
  open_world();
  slp_listener other = {.on_request = on_request};
  CHECK_INT(slp_listen(o.w.h, &other, "127.0.0.1", o.l.port), UV_EADDRINUSE);
  CHECK_INT(slp_listen(o.w.h, &other, "localhost", 0), UV_EINVAL);
  CHECK_INT(slp_listen(o.w.h, &other, "192.0.2.1", 0), UV_EADDRNOTAVAIL);
  slp_listen_close(&other, on_closed); /* never opened: fine */
  close_world();
}

TEST(a_slow_reader_gets_everything) {
  open_world();
  int fd = client();
  say_z(fd, "GET /big/20000000 HTTP/1.1\r\n\r\n");
  size_t got = 0, head = 0;
  static char part[70000];
  for (uint64_t end = wire_us() + 20000000; got < 20000000 && wire_us() < end;) {
    uv_run(o.w.loop, UV_RUN_NOWAIT);
    ssize_t k = read(fd, part, sizeof part);
    if (k <= 0) continue;
    char *p = part;
    if (!head) {
      p = strstr(part, "\r\n\r\n") + 4;
      head = 1;
      k -= p - part;
    }
    for (ssize_t i = 0; i < k; i++, got++)
      if ((unsigned char)p[i] != got % 251) CHECK_FAIL("wrong byte at %zu", got);
  }
  CHECK_INT(got, 20000000);
  close(fd);
  close_world();
}

/* The peer has ended it, and nothing came. */
static int ended_unheard(int fd) {
  uint64_t began = wire_us();
  hear(fd, SIZE_MAX);
  return heard_n == 0 && wire_us() - began < 5000000;
}

/* No client may keep a connection for ever: not by silence, not by an endless request, not by reading
 * nothing. */
TEST(an_old_connection_is_closed_whatever_it_does) {
  open_world();
  o.l.conn_ms_max = 1000;
  int silent = client(), endless = client(), deaf = client(), waits = client();
  say_z(waits, "GET /hold HTTP/1.1\r\n\r\n");
  say_z(endless, "GET / HTTP/1.1\r\nX-Slow: ");
  say_z(deaf, "GET /big/30000000 HTTP/1.1\r\n\r\n");
  WIRE_UNTIL(&o.w, &o.requests);
  CHECK_INT(o.gone, 0);
  WIRE_UNTIL(&o.w, &o.gone); /* its request was told to be gone */
  CHECK(ended_unheard(silent));
  CHECK(ended_unheard(endless));
  CHECK(ended_unheard(waits));
  run_for(200);
  size_t got = 0; /* of what was in the kernel's buffers */
  do got += (hear(deaf, sizeof heard - 1), heard_n);
  while (heard_n);
  CHECK(got < 30000000);
  int fd = client(); /* others are served as before */
  say_z(fd, "GET / HTTP/1.1\r\nX-Echo: hello\r\n\r\n");
  expect(fd, OK_HEAD("5") "hello");
  close(silent), close(endless), close(deaf), close(waits), close(fd);
  close_world();
}

TEST(beyond_the_limit_the_oldest_that_asks_nothing_is_closed) {
  open_world();
  o.l.conns_max = 3;
  int fd[6];
  for (int i = 0; i < 6; i++) {
    fd[i] = client();
    run_for(60);
  }
  for (int i = 0; i < 6; i++) {
    if (i >= 3) say_z(fd[i], "GET / HTTP/1.1\r\nX-Echo: hello\r\n\r\n");
    if (i >= 3)
      expect(fd[i], OK_HEAD("5") "hello");
    else
      CHECK(ended_unheard(fd[i]));
  }
  for (int i = 0; i < 6; i++) close(fd[i]);
  close_world();
}

/* All of them are accepted before anything is read: it was closed for those that came behind it, though its
 * request was there and theirs were not. */
TEST(a_flood_does_not_push_out_who_asked_before_it) {
  open_world();
  o.l.conns_max = 16;
  for (int leave = 0; leave < 2; leave++) {
    int probe = client(), fd[100];
    CHECK(write(probe, "GET / HTTP/1.1\r\nX-Echo: hello\r\n\r\n", 34) == 34);
    for (int i = 0; i < 100; i++) {
      fd[i] = client();
      if (leave) close(fd[i]);
    }
    expect(probe, OK_HEAD("5") "hello");
    close(probe);
    for (int i = 0; i < 100 && !leave; i++) close(fd[i]);
  }
  close_world();
}

/* A probe beside 200 peers that say nothing, or half a request, is answered at once, whatever comes first. */
TEST(silent_peers_shut_nobody_out) {
  open_world();
  o.l.conns_max = 64;
  o.l.request_ms_max = 1000;
  int fd[200];
  for (int i = 0; i < 200; i++) {
    fd[i] = client();
    if (i % 2) say_z(fd[i], "GET / HTTP/1.1\r\nX-Half: ");
    if (i % 50) continue;
    int probe = client();
    uint64_t asked = wire_us();
    say_z(probe, "GET / HTTP/1.1\r\nX-Echo: hello\r\n\r\n");
    expect(probe, OK_HEAD("5") "hello");
    CHECK(wire_us() - asked < 2000000);
    close(probe);
  }
  int probe = client();
  say_z(probe, "GET / HTTP/1.1\r\nX-Echo: hello\r\n\r\n");
  expect(probe, OK_HEAD("5") "hello");
  close(probe);
  run_for(1200); /* and what never asks is gone */
  for (int i = 0; i < 200; i++) {
    CHECK(ended_unheard(fd[i]));
    close(fd[i]);
  }
  close_world();
}

/* The connection `kept` sends each request in time, and is closed only when it sends no more. The connection
 * `slow` never ends its request, and is closed. Returns 0 if this process itself was too late to send a
 * request in time, 1 otherwise. */
static int a_kept_and_a_slow_one(void) {
  int in_time = 1;
  open_world();
  o.l.request_ms_max = 600;
  int slow = client(), kept = client();
  for (int i = 0; i < 3 && in_time; i++) { /* each request has its own time */
    uint64_t idle_since = wire_us();
    run_for(400);
    say_z(kept, "GET / HTTP/1.1\r\nX-Echo: hello\r\n\r\n");
    hear(kept, strlen(OK_HEAD("5") "hello"));
    in_time = wire_us() - idle_since < 550000;
    if (in_time) CHECK_STR(heard, OK_HEAD("5") "hello");
    if (i < 1) say_z(slow, "GET / HT");
  }
  if (in_time) {
    CHECK(ended_unheard(slow));
    run_for(800);
    CHECK(ended_unheard(kept));
  }
  close(slow), close(kept);
  close_world();
  return in_time;
}
TEST(a_request_may_take_so_long_and_no_longer) {
  int tries = 0;
  while (!a_kept_and_a_slow_one()) CHECK(++tries < 20);
}

TEST(libcurl_and_this_server_agree) {
  open_world();
  wire_call c;
  wire_call_make(&c, &o.w, "http", o.l.port, "/");
  char *large = malloc(1000000);
  for (size_t i = 0; i < 1000000; i++) large[i] = (char)(i % 241);
  const char *methods[] = {"POST", "PUT", "DELETE", "GET", "HEAD", "POST"};
  slp_http_header echo[] = {{SLP_STR("X-Echo"), SLP_STR("e")}, {SLP_STR("X-Empty"), SLP_STR("")}};
  c.http.headers = echo;
  c.http.headers_n = 2;
  for (size_t i = 0; i < SLP_COUNT(methods); i++) {
    size_t n = i == 0 || i == 5 ? 1000000 : i == 1 ? 5 : 0;
    wire_call_again(&c);
    c.http.method = methods[i];
    c.http.body = (slp_str){large, n};
    wire_call_run(&c, &o.w);
    CHECK_STR(c.http.error_text, "");
    CHECK_INT(c.http.status, 200);
    CHECK_INT(c.http.date_ms, 1767323045000);
    CHECK_INT(c.http.reused, i > 0);
    if (n)
      CHECK_MEM(c.body.p, c.body.n, large, n);
    else
      CHECK_INT(c.body.n, i != 4);
  }
  free(large);
  slp_buf_free(&c.body);
  close_world();
}

/* Large answers are taken in slices (curl_transfer.c): nothing is lost at the seams, alone or together. */
TEST(large_answers_arrive_whole) {
  static wire_call c[6];
  open_world();
  for (size_t round = 0; round < 3; round++) {
    size_t n = 9000001 + round * 262144;
    for (size_t i = 0; i < SLP_COUNT(c); i++) {
      wire_call_make(&c[i], &o.w, "http", o.l.port, "");
      snprintf(c[i].url, sizeof c[i].url, "http://127.0.0.1:%u/big/%zu", (unsigned)o.l.port, n + i);
      slp_http_send(o.w.h, &c[i].http);
    }
    for (size_t i = 0; i < SLP_COUNT(c); i++) {
      WIRE_UNTIL(&o.w, &c[i].done);
      CHECK_STR(c[i].http.error_text, "");
      CHECK_INT(c[i].body.n, n + i);
      for (size_t k = 0; k < n + i; k++)
        if ((unsigned char)c[i].body.p[k] != k % 251) CHECK_FAIL("wrong byte at %zu", k);
      slp_buf_free(&c[i].body);
    }
  }
  close_world();
}

TEST(ipv6_loopback) {
  open_world();
  slp_listener six = {.on_request = on_request};
  int r = slp_listen(o.w.h, &six, "::1", 0);
  if (r == 0) slp_listen_close(&six, NULL);
  CHECK(r == 0 || r == UV_EADDRNOTAVAIL || r == UV_EAFNOSUPPORT);
  close_world();
}
