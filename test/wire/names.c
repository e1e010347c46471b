/* Name look-ups that hang. This program has its own getaddrinfo, which libcurl then uses: it sleeps
 * for names that begin with "stall", and knows "here" as this machine. */
#include <netdb.h>

#include "wire.h"

#define STALL_MS 1500
/* A loop that waits for the resolver is held for a second or more; a busy machine may take some ms from us.
 */
#define LATENCY_US 150000

static struct addrinfo *address(uint32_t ip, uint16_t port) {
  struct addrinfo *a = calloc(1, sizeof *a + sizeof(struct sockaddr_in));
  struct sockaddr_in *in = (struct sockaddr_in *)(void *)(a + 1);
  if (!a) return NULL;
  in->sin_family = AF_INET;
  in->sin_addr.s_addr = ip;
  in->sin_port = port;
  a->ai_family = AF_INET;
  a->ai_socktype = SOCK_STREAM;
  a->ai_addrlen = sizeof *in;
  a->ai_addr = (struct sockaddr *)in;
  return a;
}

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): libc's names are reserved ones */
int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **ret) {
  (void)hints;
  if (strncmp(name, "stall", 5) == 0) {
    struct timespec t = {STALL_MS / 1000, STALL_MS % 1000 * 1000000L};
    nanosleep(&t, NULL);
    return EAI_AGAIN;
  }
  int pair = strncmp(name, "pair", 4) == 0;
  if (!pair && strncmp(name, "here", 4) != 0) return EAI_NONAME;
  uint16_t port = htons((uint16_t)(service ? strtoul(service, NULL, 10) : 0));
  struct addrinfo *a = address(htonl(INADDR_LOOPBACK), port);
  if (!a) return EAI_MEMORY;
  /* Two thirds of the addresses are silent, so that one nearly always comes first, however they are shuffled.
   */
  for (uint32_t i = 2; pair && i <= 3; i++) {
    struct addrinfo *silent = address(htonl(0x7f000000u + i), port);
    if (silent) silent->ai_next = a;
    if (silent) a = silent;
  }
  *ret = a;
  return 0;
}
void freeaddrinfo(struct addrinfo *a) {
  while (a) {
    struct addrinfo *next = a->ai_next;
    free(a);
    a = next;
  }
}
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */

/* Runs until *flag; the longest the loop took for one round. */
static uint64_t run_until(wire *w, const int *flag) {
  uint64_t longest = 0, end = wire_us() + 10000000;
  while (!*flag && wire_us() < end) {
    uint64_t before = wire_us();
    uv_run(w->loop, UV_RUN_NOWAIT);
    longest = slp_max_u64(longest, wire_us() - before);
  }
  CHECK(*flag);
  return longest;
}

static void answer(slp_listener *l, slp_served *rq) {
  (void)l;
  slp_serve_answer a = {.status = 200, .date_ms = -1, .cut_after = SIZE_MAX};
  slp_serve(rq, &a);
}

TEST(a_name_that_is_found_and_one_that_is_not) {
  wire w;
  wire_open(&w);
  slp_listener l = {.on_request = answer};
  CHECK_INT(slp_listen(w.h, &l, "127.0.0.1", 0), 0);
  wire_call c;
  wire_call_make(&c, &w, "http", l.port, "/");
  snprintf(c.url, sizeof c.url, "http://here.example:%u/", (unsigned)l.port);
  wire_call_run(&c, &w);
  CHECK_STR(c.http.error_text, "");
  CHECK_INT(c.http.status, 200);
  wire_call_again(&c);
  snprintf(c.url, sizeof c.url, "http://user:pass@nowhere.example/x");
  wire_call_run(&c, &w);
  CHECK_STR(c.http.error_text, "name of nowhere.example:80 not found");
  CHECK_INT(c.http.error, UV_EAI_NONAME);
  slp_buf_free(&c.body);
  wire_close(&w);
}

TEST(a_name_may_be_missing_twice_and_then_be_found) {
  wire w;
  wire_open(&w);
  slp_listener l = {.on_request = answer};
  CHECK_INT(slp_listen(w.h, &l, "127.0.0.1", 0), 0);
  wire_call c;
  wire_call_make(&c, &w, "http", l.port, "/");
  for (int i = 0; i < 3; i++) {
    snprintf(c.url, sizeof c.url, "http://missing.example:%u/", (unsigned)l.port);
    wire_call_run(&c, &w);
    CHECK_INT(c.http.error, UV_EAI_NONAME);
    wire_call_again(&c);
  }
  snprintf(c.url, sizeof c.url, "http://here.example:%u/", (unsigned)l.port);
  wire_call_run(&c, &w);
  CHECK_INT(c.http.status, 200);
  slp_buf_free(&c.body);
  wire_close(&w);
}

/* A listening socket whose queue is full lets every further connection hang. */
static int deaf_socket(uint32_t ip, uint16_t port, int fill[2]) {
  struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(ip)}};
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  CHECK(bind(fd, (struct sockaddr *)&in, sizeof in) == 0 && listen(fd, 0) == 0);
  for (int i = 0; i < 2; i++) {
    fill[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    (void)connect(fill[i], (struct sockaddr *)&in, sizeof in);
  }
  return fd;
}

/* libcurl 7.88 gives a silent address up after half the time left, but may close the next one's socket at
 * once (seen with strace; another family's address is tried beside it all the same). So the call may fail, in
 * time and clearly; the next try shuffles the addresses anew. */
TEST(a_silent_address_first_ends_within_the_connect_timeout) {
  wire w;
  wire_open(&w);
  slp_listener l = {.on_request = answer};
  CHECK_INT(slp_listen(w.h, &l, "127.0.0.1", 0), 0);
  int fill[2][2], deaf[2];
  for (uint32_t i = 0; i < 2; i++) deaf[i] = deaf_socket(0x7f000002u + i, l.port, fill[i]);
  wire_call c;
  wire_call_make(&c, &w, "http", l.port, "/");
  c.http.connect_ms_max = 4000;
  snprintf(c.url, sizeof c.url, "http://pair.example:%u/", (unsigned)l.port);
  uint64_t began = wire_us();
  wire_call_run(&c, &w);
  CHECK(wire_us() - began < 4500000);
  if (c.http.error) {
    CHECK_INT(c.http.error, UV_ETIMEDOUT);
    CHECK(strstr(c.http.error_text, "no connection to pair.example") != NULL);
  } else {
    CHECK_INT(c.http.status, 200);
  }
  for (int i = 0; i < 2; i++) {
    close(fill[i][0]);
    close(fill[i][1]);
    close(deaf[i]);
  }
  slp_buf_free(&c.body);
  wire_close(&w);
}

TEST(a_hanging_look_up_does_not_hold_the_loop) {
  wire w;
  wire_open(&w);
  slp_listener l = {.on_request = answer};
  CHECK_INT(slp_listen(w.h, &l, "127.0.0.1", 0), 0);
  wire_call hangs, works;
  wire_call_make(&hangs, &w, "http", 80, "/");
  snprintf(hangs.url, sizeof hangs.url, "http://stall.example/");
  hangs.http.connect_ms_max = 300;
  uint64_t from = wire_us();
  slp_http_send(w.h, &hangs.http);
  /* others go on meanwhile */
  wire_call_make(&works, &w, "http", l.port, "/");
  slp_http_send(w.h, &works.http);
  CHECK(run_until(&w, &works.done) < LATENCY_US);
  CHECK_INT(works.http.error, 0);
  CHECK(wire_us() - from < 250000);
  CHECK(run_until(&w, &hangs.done) < LATENCY_US);
  CHECK_STR(hangs.http.error_text, "name of stall.example:80 not resolved within 300 ms");
  CHECK_INT(hangs.http.error, UV_ETIMEDOUT);
  CHECK(wire_us() - from < 1000000);
  slp_buf_free(&works.body);
  wire_close(&w);
  CHECK(wire_us() - from < 1000000); /* nor did closing wait for it */
  poll(NULL, 0, STALL_MS); /* the resolver's thread ends by itself; leak checkers want to see it gone */
}

TEST(cancelling_and_closing_during_a_hanging_look_up) {
  for (int close_host = 0; close_host < 2; close_host++) {
    wire w;
    wire_open(&w);
    wire_call c;
    wire_call_make(&c, &w, "http", 80, "/");
    snprintf(c.url, sizeof c.url, "http://stall%d.example/", close_host);
    slp_http_send(w.h, &c.http);
    uint64_t from = wire_us();
    for (uint64_t end = from + 100000; wire_us() < end;) uv_run(w.loop, UV_RUN_NOWAIT);
    from = wire_us();
    if (!close_host) slp_http_cancel(w.h, &c.http);
    wire_close(&w);
    CHECK(wire_us() - from < LATENCY_US);
  }
  poll(NULL, 0, STALL_MS);
}
