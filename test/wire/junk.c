/* The outcomes of HTTP calls for answers that are not valid HTTP: each has one outcome, named here; the call
 * after it is answered properly, nothing is requested twice, and nothing is sent to another place. */
#include "junk.h"
#include "valve.h"
#include "wire.h"

static void serve_good(slp_listener *l, slp_served *rq) {
  slp_buf b;
  slp_buf_init(&b, l->host->mem, 100);
  CHECK_INT(slp_buf_add_z(&b, "good"), 0);
  CHECK(!rq->header(rq, "cookie").p && !rq->header(rq, "upgrade").p);
  slp_serve_answer a = {.status = 200, .body = &b, .date_ms = -1, .cut_after = SIZE_MAX};
  slp_serve(rq, &a);
}

static int valves_closed;
static void on_valve_closed(valve *v) {
  (void)v;
  valves_closed++;
}

typedef struct place {
  wire w;
  slp_listener good, elsewhere;
  valve v;
  wire_call c;
  int strays; /* requests that came elsewhere */
} place;

static place *here;
static void serve_stray(slp_listener *l, slp_served *rq) {
  (void)l;
  here->strays++;
  slp_serve_drop(rq);
}

static void place_open(place *x, const valve_fault *f) {
  memset(x, 0, sizeof *x);
  here = x;
  wire_open(&x->w);
  x->good.on_request = serve_good;
  x->elsewhere.on_request = serve_stray;
  CHECK_INT(slp_listen(x->w.h, &x->good, "127.0.0.1", 0), 0);
  CHECK_INT(slp_listen(x->w.h, &x->elsewhere, "127.0.0.1", 0), 0);
  valve_open(&x->v, x->w.loop, x->good.port, f);
  wire_call_make(&x->c, &x->w, "http", x->v.port, "/");
}

static void place_close(place *x) {
  slp_buf_free(&x->c.body);
  valves_closed = 0;
  valve_close(&x->v, on_valve_closed);
  WIRE_UNTIL(&x->w, &valves_closed);
  slp_listen_close(&x->good, NULL);
  slp_listen_close(&x->elsewhere, NULL);
  wire_close(&x->w);
}

static slp_str with_port(slp_str say, uint16_t port) {
  static char text[400];
  const char *at = memchr(say.p, '@', say.n);
  if (!at) return say;
  int n = snprintf(text, sizeof text, "%.*s%u%.*s", (int)(at - say.p), say.p, port,
                   (int)(say.p + say.n - at - 1), at + 1);
  return (slp_str){text, (size_t)n};
}

static int judge_row(const junk *j, int show) {
  place x;
  place_open(&x, &(valve_fault){
                     .what = VALVE_SAY, .then = j->then, .then_ms = 1, .keep = !j->close, .early = j->early});
  x.v.fault.say = with_port(j->say, x.elsewhere.port);
  static slp_http_header secret = {{"Authorization", 13}, {"AWS4-HMAC-SHA256 x", 18}};
  x.c.http.headers = &secret;
  x.c.http.headers_n = 1;
  x.c.http.once = 1;
  x.c.http.total_ms_max = 1000; /* some of them wait for more that never comes */
  wire_call_run(&x.c, &x.w);
  const slp_http *h = &x.c.http;
  char body[200];
  snprintf(body, sizeof body, "%.*s", (int)x.c.body.n, x.c.body.p ? x.c.body.p : "");
  const char *said = h->error ? h->error_text : body;
  int fine = h->error == j->error && h->status == j->status &&
             (h->error ? strstr(said, j->text) != NULL : strcmp(said, j->text) == 0);
  if (!fine || show)
    printf("%s %s: error %d status %d \"%.160s\"\n", fine ? "    " : "NOT ", j->name, h->error, h->status,
           said);
  int bad = !fine;
  wire_call_again(&x.c);
  if (j->then.n)
    for (uint64_t end = wire_us() + 20000; wire_us() < end;) uv_run(x.w.loop, UV_RUN_NOWAIT);
  x.c.http.once = 0;
  wire_call_run(&x.c, &x.w);
  if (h->error || h->status != 200 || x.c.body.n != 4 || memcmp(x.c.body.p, "good", 4) != 0) {
    printf("NOT  %s: the next call: error %d status %d %s \"%.*s\"\n", j->name, h->error, h->status,
           h->error_text, (int)x.c.body.n, x.c.body.p ? x.c.body.p : "");
    bad = 1;
  }
  if (x.v.exchanges != 2 || x.strays) {
    printf("NOT  %s: %u requests, %d elsewhere\n", j->name, x.v.exchanges, x.strays);
    bad = 1;
  }
  place_close(&x);
  return bad;
}

TEST(each_has_its_outcome) {
  int bad = 0;
  for (size_t i = 0; i < SLP_COUNT(junks); i++) bad += judge_row(&junks[i], getenv("JUNK_SHOW") != NULL);
  CHECK_INT(bad, 0);
}

/* ---- heads of every size ---------------------------------------------------------------------------- */
typedef struct big {
  size_t each, n; /* bytes of a header, and how many of them */
} big;
static void serve_big(int listener, void *arg) {
  const big *b = arg;
  static char rq[4096], header[200 << 10];
  for (;;) {
    int fd = accept(listener, NULL, NULL);
    if (wire_read_request(fd, rq, sizeof rq)) {
      wire_write(fd, OK, strlen(OK));
      for (size_t i = 0; i < b->n; i++) {
        memset(header, 'v', b->each);
        memcpy(header, "X-A: ", 5);
        memcpy(header + b->each - 2, "\r\n", 2);
        wire_write(fd, header, b->each);
      }
      wire_write(fd, TWO, strlen(TWO));
    }
    close(fd);
  }
}
/* Heads and trailers of 256 KiB in all are taken, and lines of 100 KiB; more is refused, and held by nobody. */
static void judge_big(size_t each, size_t n, int error) {
  big b = {each, n};
  wire w;
  wire_open(&w);
  wire_child server = wire_child_start(serve_big, &b);
  wire_call c;
  wire_call_make(&c, &w, "http", server.port, "/");
  wire_call_run(&c, &w);
  if (c.http.error != error)
    CHECK_FAIL("%zu headers of %zu: %d %s", n, each, c.http.error, c.http.error_text);
  if (error)
    CHECK(c.http.error_text[0]);
  else
    CHECK_MEM(c.body.p, c.body.n, "{}", 2);
  slp_buf_free(&c.body);
  wire_child_stop(&server);
  wire_close(&w);
}
TEST(large_heads) {
  judge_big(64 << 10, 1, 0);
  judge_big(1000, 64, 0);
  judge_big(64 << 10, 3, 0);
  judge_big(150 << 10, 1, SLOOP_EREMOTE);
  judge_big(64 << 10, 16, SLOOP_EREMOTE);
}

/* ---- heads and trailers without an end --------------------------------------------------------------- */
#define CHUNKED OK "Transfer-Encoding: chunked\r\n\r\n"
#define TOO_MANY "headers of more than 262144 bytes from 127.0.0.1:%u"
#define LONG_LINE "head or trailer of 127.0.0.1:%u has a line that is too long"
typedef struct endless {
  const char *begin, *again, *text; /* text: in the sentence */
} endless;
static const endless endlesses[] = {
    {"HTTP/1.1 2", "HTTP/1.1 2", LONG_LINE},
    {OK "X-A: ", "x", LONG_LINE},
    {OK, "X-A: b\r\n", TOO_MANY},
    {OK, "a:\n", TOO_MANY},
    {"", "HTTP/1.1 100 Continue\r\n\r\n", TOO_MANY},
    {"", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", TOO_MANY},
    {CHUNKED "2\r\n{}\r\n0\r\n", "X-A: b\r\n", TOO_MANY},
    {CHUNKED "2\r\n{}\r\n0\r\n", "a:\r\n", TOO_MANY},
    {CHUNKED "0\r\n", "X-A: b\r\n", TOO_MANY},
    {"HTTP/1.1 400 Bad\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "X-A: b\r\n", TOO_MANY},
    {CHUNKED "2\r\n{}\r\n0\r\nX-A: ", "x", LONG_LINE},
};
static void serve_endless(int listener, void *arg) {
  const endless *e = arg;
  static char rq[4096], many[64 << 10];
  size_t each = strlen(e->again), n = 0;
  for (; n + each <= sizeof many; n += each) memcpy(many + n, e->again, each);
  for (;;) {
    int fd = accept(listener, NULL, NULL);
    if (wire_read_request(fd, rq, sizeof rq)) {
      wire_write(fd, e->begin, strlen(e->begin));
      while (write(fd, many, n) > 0) {
      }
    }
    close(fd);
  }
}
TEST(heads_and_trailers_without_an_end_are_refused_soon_and_told_as_what_they_are) {
  for (size_t i = 0; i < SLP_COUNT(endlesses); i++) {
    endless e = endlesses[i];
    char want[200];
    wire w;
    wire_open(&w);
    wire_child server = wire_child_start(serve_endless, &e);
    wire_call c;
    wire_call_make(&c, &w, "http", server.port, "/");
    c.http.total_ms_max = 5000;
    wire_call_run(&c, &w);
    snprintf(want, sizeof want, e.text, (unsigned)server.port);
    if (c.http.error != SLOOP_EREMOTE || strcmp(c.http.error_text, want) != 0)
      CHECK_FAIL("%s%s...: %d \"%s\", not \"%s\"", e.begin, e.again, c.http.error, c.http.error_text, want);
    slp_buf_free(&c.body);
    wire_child_stop(&server);
    wire_close(&w);
  }
}

/* ---- answers to a request that is still on its way -------------------------------------------------- */
static void serve_early(int listener, void *arg) {
  static char rq[4096], rest[64 << 10];
  for (;;) {
    static const char no[] = "HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}";
    int fd = accept(listener, NULL, NULL);
    ssize_t n = read(fd, rq, sizeof rq);
    if (n > 0) wire_write(fd, no, strlen(no));
    if (*(int *)arg) wire_reset(fd);
    if (*(int *)arg) continue;
    shutdown(fd, SHUT_WR);
    while (read(fd, rest, sizeof rest) > 0) {
    }
    close(fd);
  }
}
static void early(int reset) {
  wire w;
  wire_open(&w);
  wire_child server = wire_child_start(serve_early, &reset);
  wire_call c;
  wire_call_make(&c, &w, "http", server.port, "/");
  char *large = calloc(1, 3 << 20);
  c.http.body = (slp_str){large, 3 << 20};
  for (int i = 0; i < 20; i++) {
    wire_call_again(&c);
    wire_call_run(&c, &w);
    int answered = c.http.error == 0 && c.http.status == 413 && c.body.n == 2;
    if (!answered && !(reset && (c.http.error == UV_ECONNRESET || c.http.error == UV_EPIPE)))
      CHECK_FAIL("error %d status %d %s", c.http.error, c.http.status, c.http.error_text);
  }
  free(large);
  slp_buf_free(&c.body);
  wire_child_stop(&server);
  wire_close(&w);
}
TEST(a_large_request_refused_on_its_way) { early(0); }
TEST(a_large_request_refused_and_reset_on_its_way) { early(1); }

/* ---- a kept connection closes as the next request goes out ------------------------------------------ */
static void serve_short(int listener, void *arg) {
  static char rq[4096];
  unsigned seed = 1;
  for (;;) {
    char answer[5000];
    int fd = accept(listener, NULL, NULL);
    /* So many answers, then gone a moment after the last. */
    for (int left = 1 + rand_r(&seed) % 3; left > 0 && wire_read_request(fd, rq, sizeof rq); left--) {
      wire_write(*(int *)arg, "1", 1);
      const char *number = strstr(rq, "\r\n\r\n") + 4;
      snprintf(answer, sizeof answer, OK "Content-Length: %zu\r\n\r\n%s", strlen(number), number);
      wire_write(fd, answer, strlen(answer));
    }
    usleep((unsigned)rand_r(&seed) % 300);
    close(fd);
  }
}
/* Every call has its own answer, or is told to have been on a kept connection that was lost (the caller may
 * send it again); one that must not be sent twice never came twice. */
static void race(int once) {
  int p[2], failed = 0, again = 0;
  char number[16], seen[64];
  CHECK_INT(pipe2(p, O_NONBLOCK), 0);
  wire w;
  wire_open(&w);
  wire_child server = wire_child_start(serve_short, &p[1]);
  wire_call c;
  wire_call_make(&c, &w, "http", server.port, "/");
  c.http.once = (uint8_t)once;
  for (int i = 0; i < 1500; i++) {
    c.http.body = (slp_str){number, (size_t)snprintf(number, sizeof number, "%d", i)};
    wire_call_again(&c);
    wire_call_run(&c, &w);
    ssize_t came = read(p[0], seen, sizeof seen);
    if (c.http.error) {
      if (c.http.error != UV_ECONNRESET || !(once || c.http.reused))
        CHECK_FAIL("%d %s", c.http.error, c.http.error_text);
      CHECK(came <= 1 || !once);
      failed++;
    } else {
      CHECK_MEM(c.body.p, c.body.n, number, c.http.body.n);
      CHECK(came >= 1 && (came == 1 || !once));
      again += came > 1;
    }
  }
  const slp_turn_stats *t = slp_host_turns(w.h);
  printf("     1500 calls: %" PRIu64 " connections, %" PRIu64 " sent again, %" PRIu64
         " not sent again, %d failed, "
         "%d came twice\n",
         t->connections_opened, t->http_replays, t->http_replays_stopped, failed, again);
  slp_buf_free(&c.body);
  wire_child_stop(&server);
  wire_close(&w);
}
TEST(idle_connections_close_under_requests) { race(0); }
TEST(idle_connections_close_under_conditional_writes) { race(1); }
