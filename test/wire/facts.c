/* Facts about libcurl and libuv that host/ is built on, run: when one of these fails after an upgrade, look
 * for the sentence in src/host that relies on it. */
#include <curl/curl.h>

#include "wire.h"

static size_t swallow(char *p, size_t size, size_t n, void *arg) {
  (void)p;
  (void)arg;
  return size * n;
}
static int count_requests(void *arg, char *a, char *b, int c, int d) {
  (void)a, (void)b, (void)c, (void)d;
  ++*(int *)arg;
  return CURL_PREREQFUNC_OK;
}
static CURL *easy(uint16_t port) {
  char url[64];
  CURL *e = curl_easy_init();
  CHECK(e);
  snprintf(url, sizeof url, "http://127.0.0.1:%u/", (unsigned)port);
  curl_easy_setopt(e, CURLOPT_URL, url);
  curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, swallow);
  curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(e, CURLOPT_POSTFIELDS, "x");
  return e;
}

static const char ok[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

TEST(curl_resolves_off_the_thread_and_speaks_tls) {
  const curl_version_info_data *v = curl_version_info(CURLVERSION_NOW);
  CHECK(v->features & CURL_VERSION_ASYNCHDNS);
  CHECK(v->features & CURL_VERSION_SSL);
  CHECK(v->version_num >= 0x075800); /* 7.88 */
  CHECK(v->cainfo || v->capath);
}

/* host/curl_transfer.c counts them. */
static void serve_twice_then_die(int listener, void *arg) {
  static char rq[4096];
  (void)arg;
  int fd = accept(listener, NULL, NULL);
  if (wire_read_request(fd, rq, sizeof rq)) wire_write(fd, ok, strlen(ok));
  (void)!wire_read_request(fd, rq, sizeof rq);
  close(fd);
  fd = accept(listener, NULL, NULL);
  if (wire_read_request(fd, rq, sizeof rq)) wire_write(fd, ok, strlen(ok));
  pause();
}
TEST(curl_repeats_a_post_by_itself_and_the_prereq_callback_sees_it) {
  wire_child s = wire_child_start(serve_twice_then_die, NULL);
  int requests = 0;
  CURL *e = easy(s.port);
  curl_easy_setopt(e, CURLOPT_PREREQFUNCTION, count_requests);
  curl_easy_setopt(e, CURLOPT_PREREQDATA, &requests);
  CHECK_INT(curl_easy_perform(e), CURLE_OK);
  CHECK_INT(requests, 1);
  CHECK_INT(curl_easy_perform(e), CURLE_OK);
  CHECK_INT(requests, 3);
  curl_easy_cleanup(e);
  wire_child_stop(&s);
}

static void serve_text(int listener, void *arg) {
  static char rq[4096];
  for (;;) {
    int fd = accept(listener, NULL, NULL);
    if (wire_read_request(fd, rq, sizeof rq)) wire_write(fd, arg, strlen(arg));
    close(fd);
  }
}
static CURLcode fetch(const char *answer) {
  char *copy = strdup(answer);
  wire_child s = wire_child_start(serve_text, copy);
  CURL *e = easy(s.port);
  CURLcode rc = curl_easy_perform(e);
  curl_easy_cleanup(e);
  wire_child_stop(&s);
  free(copy);
  return rc;
}
TEST(which_cuts_curl_notices) {
  CHECK_INT(fetch("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab"), CURLE_PARTIAL_FILE);
  CHECK_INT(fetch("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n"), CURLE_PARTIAL_FILE);
  CHECK_INT(fetch(""), CURLE_GOT_NOTHING);
  /* and which it does not: so length_known, and head_complete */
  CHECK_INT(fetch("HTTP/1.1 200 OK\r\n\r\nab"), CURLE_OK);
  CHECK_INT(fetch("HTTP/1.1 200 OK\r\nContent-Len"), CURLE_OK);
}

/* host/curl_socket.c treats a negative status as an error on the socket and starts the handle again. */
static int poll_status, poll_calls;
static void on_poll(uv_poll_t *p, int status, int events) {
  (void)p;
  (void)events;
  poll_status = status;
  poll_calls++;
}
TEST(a_refused_connection_is_a_negative_poll_status_and_stops_the_handle) {
  uint16_t port;
  int closed = wire_raw_listen(&port, 1);
  close(closed);
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  struct sockaddr_in a = {
      .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(port)};
  (void)!connect(fd, (struct sockaddr *)&a, sizeof a);
  uv_loop_t loop;
  uv_poll_t p;
  uv_loop_init(&loop);
  uv_poll_init(&loop, &p, fd);
  uv_poll_start(&p, UV_WRITABLE, on_poll);
  for (int i = 0; i < 100 && !poll_calls; i++) uv_run(&loop, UV_RUN_ONCE);
  CHECK(poll_calls == 1);
  if (poll_status < 0) CHECK(!uv_is_active((uv_handle_t *)&p));
  uv_close((uv_handle_t *)&p, NULL);
  uv_run(&loop, UV_RUN_DEFAULT);
  CHECK_INT(uv_loop_close(&loop), 0);
  close(fd);
}

/* host/uv_host.c: a delay names an absolute millisecond of the clock the host reads. */
static void on_timer(uv_timer_t *t) { *(uint64_t *)t->data = wire_us(); }
TEST(uv_now_and_the_monotonic_clock_have_one_zero) {
  uv_loop_t loop;
  uv_timer_t t;
  uint64_t fired = 0;
  uv_loop_init(&loop);
  uv_timer_init(&loop, &t);
  t.data = &fired;
  uint64_t now_ms = wire_us() / 1000;
  CHECK(uv_now(&loop) <= now_ms + 1 && uv_now(&loop) + 20 > now_ms);
  poll(NULL, 0, 60); /* the cached time is old now */
  uint64_t at_ms = wire_us() / 1000 + 50;
  uv_timer_start(&t, on_timer, at_ms - uv_now(&loop), 0);
  uv_run(&loop, UV_RUN_DEFAULT);
  CHECK(fired >= at_ms * 1000 && fired < at_ms * 1000 + 500000);
  uv_close((uv_handle_t *)&t, NULL);
  uv_run(&loop, UV_RUN_DEFAULT);
  CHECK_INT(uv_loop_close(&loop), 0);
}

/* host/uv_host.c: what a poll callback posts runs in the same round: prepare, poll, check. */
static char order[16];
static size_t order_n;
static void on_prepare(uv_prepare_t *h) { (void)h, order[order_n++] = 'p'; }
static void on_check(uv_check_t *h) { (void)h, order[order_n++] = 'c'; }
static void on_readable(uv_poll_t *p, int status, int events) {
  (void)status, (void)events;
  order[order_n++] = 'r';
  uv_poll_stop(p);
}
TEST(check_follows_the_poll_in_the_same_round) {
  int p[2];
  uv_loop_t loop;
  uv_prepare_t prepare;
  uv_check_t check;
  uv_poll_t readable;
  CHECK_INT(pipe(p), 0);
  CHECK_INT(write(p[1], "x", 1), 1);
  uv_loop_init(&loop);
  uv_prepare_init(&loop, &prepare);
  uv_check_init(&loop, &check);
  uv_poll_init(&loop, &readable, p[0]);
  uv_prepare_start(&prepare, on_prepare);
  uv_check_start(&check, on_check);
  uv_poll_start(&readable, UV_READABLE, on_readable);
  uv_run(&loop, UV_RUN_NOWAIT);
  CHECK_MEM(order, order_n, "prc", 3);
  uv_close((uv_handle_t *)&prepare, NULL);
  uv_close((uv_handle_t *)&check, NULL);
  uv_close((uv_handle_t *)&readable, NULL);
  uv_run(&loop, UV_RUN_DEFAULT);
  CHECK_INT(uv_loop_close(&loop), 0);
}

/* host/curl_transfer.c relies on these; that they have the effect wanted is in tls.c and names.c. */
TEST(options_that_must_exist) {
  CURL *e = curl_easy_init();
  CHECK_INT(curl_easy_setopt(e, CURLOPT_CAPATH, NULL), CURLE_OK);
  CHECK_INT(curl_easy_setopt(e, CURLOPT_CA_CACHE_TIMEOUT, 86400L), CURLE_OK);
  CHECK_INT(curl_easy_setopt(e, CURLOPT_QUICK_EXIT, 1L), CURLE_OK);
  curl_easy_cleanup(e);
}
