/* Calls cut off at every stage of their life: cancelled, paused, timed out, or the whole host closed. */
#include "wire.h"
#include "scarce.h"

/* The server child's behaviour on each of its connections. */
typedef enum { ANSWER, SILENT, HALF, SLOW } manner;
typedef struct plan {
  manner manner;
  size_t body_n;
} plan;

static void answer_all(int fd, const plan *p) {
  static char rq[65536], block[65536];
  char head[100];
  memset(block, 'x', sizeof block);
  while (wire_read_request(fd, rq, sizeof rq)) {
    int n = snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", p->body_n);
    if (p->manner == SILENT) continue;
    wire_write(fd, head, (size_t)n);
    for (size_t left = p->body_n; left;) {
      size_t k = left < sizeof block ? left : sizeof block;
      if (p->manner == HALF && left <= p->body_n / 2) break;
      if (p->manner == SLOW) poll(NULL, 0, 20);
      wire_write(fd, block, k);
      left -= k;
    }
  }
  _exit(0);
}

static void serve(int listener, void *arg) {
  signal(SIGCHLD, SIG_IGN);
  for (;;) {
    int fd = accept(listener, NULL, NULL);
    if (fork() == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      answer_all(fd, arg);
    }
    close(fd);
  }
}

/* ---- stages -------------------------------------------------------------------------------------- */
typedef enum { JUST_SENT, QUEUED, CONNECTING, WAITING, IN_BODY, PAUSED, DONE_NOT_TOLD, STAGES } stage;
static const manner manner_of[STAGES] = {ANSWER, SILENT, ANSWER, SILENT, HALF, ANSWER, ANSWER};

static int never_grow(slp_http *call, size_t more) {
  (void)call;
  (void)more;
  return 0;
}

/* A port that accepts nothing any more: its queue is full. */
typedef struct blackhole {
  int listener, in[8];
  uint16_t port;
} blackhole;
static void blackhole_open(blackhole *b) {
  b->listener = wire_raw_listen(&b->port, 0);
  for (size_t i = 0; i < SLP_COUNT(b->in); i++) {
    b->in[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct sockaddr_in a = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(b->port)};
    (void)!connect(b->in[i], (struct sockaddr *)&a, sizeof a);
  }
}
static void blackhole_close(blackhole *b) {
  for (size_t i = 0; i < SLP_COUNT(b->in); i++) close(b->in[i]);
  close(b->listener);
}

static void run_for(wire *w, uint64_t ms) {
  for (uint64_t end = wire_us() + ms * 1000; wire_us() < end;) uv_run(w->loop, UV_RUN_NOWAIT);
}

static void reach(wire *w, wire_call *c, stage at) {
  switch (at) {
    case JUST_SENT:
    case QUEUED:
    case DONE_NOT_TOLD:
    case STAGES: break;
    case CONNECTING:
    case WAITING: run_for(w, 30); break;
    case IN_BODY:
      while (c->body.n < 400000) uv_run(w->loop, UV_RUN_NOWAIT);
      break;
    case PAUSED:
      while (!c->http.length_known) uv_run(w->loop, UV_RUN_NOWAIT);
      run_for(w, 30);
      break;
  }
  CHECK(!c->done);
  if (at != DONE_NOT_TOLD) CHECK_INT(slp_host_turns(w->h)->http_in_flight, 1);
}

static void one_stage(stage at, int close_host) {
  plan p = {manner_of[at], 1000000};
  blackhole hole;
  slp_uv_options o = {.in_flight_max = at == QUEUED ? 1 : 0};
  wire w;
  wire_open_with(&w, &o);
  wire_child server = wire_child_start(serve, &p);
  wire_call c, first;
  blackhole_open(&hole);
  wire_call_make(&first, &w, "http", server.port, "/");
  wire_call_make(&c, &w, "http", at == CONNECTING ? hole.port : server.port, "/");
  if (at == PAUSED) c.http.may_grow = never_grow;
  if (at == DONE_NOT_TOLD) c.http.url = "nonsense";
  if (at == QUEUED) slp_http_send(w.h, &first.http);
  slp_http_send(w.h, &c.http);
  reach(&w, &c, at);
  if (at == QUEUED) CHECK_INT(slp_host_turns(w.h)->http_queued, 1);
  if (close_host) {
    slp_host_close(w.h, wire_host_closed, &w);
    w.h = NULL;
  } else {
    slp_http_cancel(w.h, &c.http);
    slp_http_cancel(w.h, &c.http); /* not in flight any more: fine */
    slp_http_cancel(w.h, &first.http);
    CHECK_INT(slp_host_turns(w.h)->http_in_flight, 0);
    CHECK_INT(slp_host_turns(w.h)->http_queued, 0);
  }
  slp_buf_free(&c.body);
  slp_buf_free(&first.body);
  /* From here on nobody may look at the calls, and on_done would be a jump to nowhere. */
  memset(&c, 0xee, sizeof c);
  memset(&first, 0xee, sizeof first);
  if (w.h) run_for(&w, 20);
  wire_close(&w);
  blackhole_close(&hole);
  wire_child_stop(&server);
}

TEST(cancel_at_every_stage) {
  for (stage at = 0; at < STAGES; at++) one_stage(at, 0);
}
TEST(close_at_every_stage) {
  for (stage at = 0; at < STAGES; at++) one_stage(at, 1);
}

static wire *closing_wire;
static void close_from_inside(slp_http *http) {
  wire_call_done(http);
  slp_host_close(closing_wire->h, wire_host_closed, closing_wire);
  closing_wire->h = NULL;
}
TEST(close_from_inside_on_done) {
  plan p = {ANSWER, 10};
  wire w;
  wire_open(&w);
  wire_child server = wire_child_start(serve, &p);
  wire_call c[20];
  closing_wire = &w;
  for (size_t i = 0; i < SLP_COUNT(c); i++) {
    wire_call_make(&c[i], &w, "http", server.port, "/");
    if (i == 7) c[i].http.on_done = close_from_inside;
    slp_http_send(w.h, &c[i].http);
  }
  uv_run(w.loop, UV_RUN_DEFAULT);
  CHECK_INT(c[7].done, 1);
  for (size_t i = 0; i < SLP_COUNT(c); i++) slp_buf_free(&c[i].body);
  wire_close(&w);
  wire_child_stop(&server);
}
TEST(a_host_that_never_ran_closes) {
  wire w;
  wire_open(&w);
  wire_close(&w);
}

/* ---- pausing ------------------------------------------------------------------------------------- */
typedef struct paused_call {
  wire_call c;
  size_t allowed; /* body bytes allowed so far */
  int asked_in_vain;
} paused_call;
static int grow_if_allowed(slp_http *http, size_t more) {
  paused_call *p = SLP_OWNER(http, paused_call, c.http);
  if (p->c.body.n + more <= p->allowed) return 1;
  p->asked_in_vain++;
  return 0;
}

TEST(time_spent_paused_is_not_the_servers) {
  plan p = {ANSWER, 8 << 20};
  wire w;
  wire_open(&w);
  wire_child server = wire_child_start(serve, &p);
  paused_call pc;
  memset(&pc, 0, sizeof pc);
  wire_call_make(&pc.c, &w, "http", server.port, "/");
  pc.c.http.may_grow = grow_if_allowed;
  pc.c.http.total_ms_max = 400;
  pc.allowed = 1 << 20;
  slp_http_send(w.h, &pc.c.http);
  while (!pc.asked_in_vain) uv_run(w.loop, UV_RUN_NOWAIT);
  slp_http_resume(w.h, &pc.c.http); /* to no avail: it pauses again */
  run_for(&w, 700);
  CHECK_INT(pc.c.done, 0);
  CHECK(pc.c.body.n <= pc.allowed);
  CHECK(pc.asked_in_vain >= 2);
  pc.allowed = SIZE_MAX;
  slp_http_resume(w.h, &pc.c.http);
  slp_http_resume(w.h, &pc.c.http);
  CHECK_INT(pc.c.done, 0); /* never from inside */
  WIRE_UNTIL(&w, &pc.c.done);
  CHECK_STR(pc.c.http.error_text, "");
  CHECK_INT(pc.c.body.n, 8 << 20);
  CHECK(pc.c.body.cap == 8 << 20);
  for (size_t i = 0; i < pc.c.body.n; i++) CHECK(pc.c.body.p[i] == 'x');
  slp_buf_free(&pc.c.body);
  wire_close(&w);
  wire_child_stop(&server);
}

TEST(many_pauses_lose_nothing) {
  plan p = {ANSWER, 3000001};
  wire w;
  wire_open(&w);
  wire_child server = wire_child_start(serve, &p);
  static paused_call pc[16];
  for (size_t i = 0; i < SLP_COUNT(pc); i++) {
    wire_call_make(&pc[i].c, &w, "http", server.port, "/");
    pc[i].c.http.may_grow = grow_if_allowed;
    slp_http_send(w.h, &pc[i].c.http);
  }
  uint64_t end = wire_us() + 20000000;
  for (size_t left = SLP_COUNT(pc), turn = 0; left && wire_us() < end; turn++) {
    uv_run(w.loop, UV_RUN_NOWAIT);
    left = 0;
    for (size_t i = 0; i < SLP_COUNT(pc); i++) {
      if (pc[i].c.done) continue;
      left++;
      if (!pc[i].asked_in_vain) continue;
      pc[i].asked_in_vain = 0;
      pc[i].allowed += 50000 + 1000 * (turn % 97);
      slp_http_resume(w.h, &pc[i].c.http);
    }
  }
  for (size_t i = 0; i < SLP_COUNT(pc); i++) {
    CHECK_INT(pc[i].c.done, 1);
    CHECK_STR(pc[i].c.http.error_text, "");
    CHECK_INT(pc[i].c.body.n, 3000001);
    slp_buf_free(&pc[i].c.body);
  }
  wire_close(&w);
  wire_child_stop(&server);
}

/* ---- limits of time ------------------------------------------------------------------------------ */
static void times_out(manner m, size_t body_n, const char *text) {
  plan p = {m, body_n};
  char want[160];
  wire w;
  wire_open(&w);
  wire_child server = wire_child_start(serve, &p);
  wire_call c;
  wire_call_make(&c, &w, "http", server.port, "/");
  c.http.total_ms_max = 200;
  uint64_t from = wire_us();
  wire_call_run(&c, &w);
  uint64_t took = wire_us() - from;
  snprintf(want, sizeof want, text, (unsigned)server.port);
  CHECK_STR(c.http.error_text, want);
  CHECK_INT(c.http.error, UV_ETIMEDOUT);
  CHECK(took >= 200000 && took < 1000000);
  slp_buf_free(&c.body);
  wire_close(&w);
  wire_child_stop(&server);
}
TEST(an_answer_has_a_limit_of_time) {
  times_out(SILENT, 10, "no answer from 127.0.0.1:%u within 200 ms");
  times_out(SLOW, 10 << 20, "answer not complete from 127.0.0.1:%u within 200 ms");
}

TEST(a_connection_has_a_limit_of_time_and_the_loop_goes_on) {
  blackhole hole;
  char want[100];
  blackhole_open(&hole);
  wire w;
  wire_open(&w);
  wire_call c;
  wire_call_make(&c, &w, "http", hole.port, "/");
  c.http.connect_ms_max = 300;
  uint64_t from = wire_us(), longest = 0;
  slp_http_send(w.h, &c.http);
  while (!c.done) {
    uint64_t before = wire_us();
    uv_run(w.loop, UV_RUN_NOWAIT);
    longest = slp_max_u64(longest, wire_us() - before);
    CHECK(before - from < 5000000);
  }
  uint64_t took = wire_us() - from;
  snprintf(want, sizeof want, "no connection to 127.0.0.1:%u within 300 ms", (unsigned)hole.port);
  CHECK_STR(c.http.error_text, want);
  CHECK_INT(c.http.error, UV_ETIMEDOUT);
  CHECK(took >= 290000 && took < 2000000); /* on a busy machine; without a limit of its own it takes 4 s */
  CHECK(longest < 150000);                 /* a blocking connect would be 300 ms */
  wire_close(&w);
  blackhole_close(&hole);
}

/* ---- many at once -------------------------------------------------------------------------------- */
typedef struct held {
  slp_served *rq[400];
  size_t n, most, served;
} held;
static held holding;
static void hold(slp_listener *l, slp_served *rq) {
  (void)l;
  holding.rq[holding.n++] = rq;
  if (holding.n > holding.most) holding.most = holding.n;
}
static void let_go(size_t n) {
  slp_serve_answer a = {.status = 200, .date_ms = -1, .cut_after = SIZE_MAX};
  while (n-- && holding.n) {
    slp_serve(holding.rq[--holding.n], &a);
    holding.served++;
  }
}

TEST(three_hundred_calls_take_sixteen_connections) {
  static wire_call c[300];
  slp_uv_options o = {.in_flight_max = 16};
  wire w;
  wire_open_with(&w, &o);
  slp_listener l = {.on_request = hold};
  CHECK_INT(slp_listen(w.h, &l, "127.0.0.1", 0), 0);
  for (size_t i = 0; i < SLP_COUNT(c); i++) {
    wire_call_make(&c[i], &w, "http", l.port, "/");
    slp_http_send(w.h, &c[i].http);
  }
  CHECK_INT(slp_host_turns(w.h)->http_in_flight, 16);
  CHECK_INT(slp_host_turns(w.h)->http_queued, 284);
  while (holding.n < 16) uv_run(w.loop, UV_RUN_NOWAIT);
  /* The other lane is not held up by this one. */
  wire_call urgent;
  wire_call_make(&urgent, &w, "http", l.port, "/urgent");
  urgent.http.lane = SLP_LANE_CONTROL;
  slp_http_send(w.h, &urgent.http);
  while (holding.n < 17) uv_run(w.loop, UV_RUN_NOWAIT);
  CHECK(slp_str_is(holding.rq[16]->path, "/urgent"));
  let_go(1);
  WIRE_UNTIL(&w, &urgent.done);
  CHECK_INT(urgent.http.error, 0);
  size_t done = 0;
  for (uint64_t end = wire_us() + 20000000; done < SLP_COUNT(c) && wire_us() < end;) {
    let_go(5);
    uv_run(w.loop, UV_RUN_NOWAIT);
    done = 0;
    for (size_t i = 0; i < SLP_COUNT(c); i++) done += (size_t)c[i].done;
  }
  CHECK_INT(done, 300);
  for (size_t i = 0; i < SLP_COUNT(c); i++) {
    CHECK_INT(c[i].http.error, 0);
    CHECK_INT(c[i].http.status, 200);
  }
  CHECK(holding.most <= 17);
  CHECK_INT(holding.served, 301);
  CHECK_INT(slp_host_turns(w.h)->connections_opened, 17);
  slp_listen_close(&l, NULL);
  wire_close(&w);
}

/* Waiting for a free place is not the server's time. */
TEST(time_in_the_queue_does_not_count) {
  slp_uv_options o = {.in_flight_max = 1};
  wire w;
  wire_open_with(&w, &o);
  slp_listener l = {.on_request = hold};
  CHECK_INT(slp_listen(w.h, &l, "127.0.0.1", 0), 0);
  wire_call a, b;
  wire_call_make(&a, &w, "http", l.port, "/a");
  wire_call_make(&b, &w, "http", l.port, "/b");
  a.http.total_ms_max = 2000;
  b.http.total_ms_max = 300;
  slp_http_send(w.h, &a.http);
  slp_http_send(w.h, &b.http);
  run_for(&w, 400);
  CHECK_INT(b.done, 0);
  let_go(1);
  WIRE_UNTIL(&w, &a.done);
  while (holding.n == 0) uv_run(w.loop, UV_RUN_NOWAIT);
  let_go(1);
  WIRE_UNTIL(&w, &b.done);
  CHECK_STR(b.http.error_text, "");
  CHECK(b.http.sent_us >= a.http.done_us);
  wire_close(&w);
}

TEST(an_idle_host_sleeps_and_may_let_the_loop_end) {
  plan p = {ANSWER, 10};
  wire w;
  wire_open(&w);
  wire_child server = wire_child_start(serve, &p);
  wire_call c;
  wire_call_make(&c, &w, "http", server.port, "/");
  wire_call_run(&c, &w);
  slp_buf_free(&c.body);
  uint64_t turns = slp_host_turns(w.h)->turns;
  uv_timer_t timer;
  uv_timer_init(w.loop, &timer);
  struct timespec before, after;
  uint64_t rounds = 0;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
  for (uint64_t end = wire_us() + 200000; wire_us() < end; rounds++) {
    uv_timer_start(&timer, (uv_timer_cb)(void *)uv_timer_stop, 50, 0);
    uv_run(w.loop, UV_RUN_ONCE);
  }
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
  CHECK(rounds < 20);
  CHECK(slp_host_turns(w.h)->turns - turns < 5);
  slp_host_ref(w.h, 0);
  uv_timer_stop(&timer);
  uv_run(w.loop, UV_RUN_DEFAULT); /* a kept connection and a listening lane do not hold it */
  uv_close((uv_handle_t *)&timer, NULL);
  wire_close(&w);
  wire_child_stop(&server);
}

/* ---- memory that runs out -------------------------------------------------------------------------- */
static void serve_hello(slp_listener *l, slp_served *rq) {
  slp_buf b;
  slp_buf_init(&b, l->host->mem, 1000);
  if (slp_buf_add_z(&b, "hello")) {
    slp_serve_drop(rq);
    return;
  }
  slp_serve_answer a = {.status = 200, .body = &b, .date_ms = -1, .cut_after = SIZE_MAX};
  slp_serve(rq, &a);
}
/* Every allocation of a host, a server and two calls fails once: each call still answers, with the right
 * bytes or an error, and everything comes back. */
TEST(every_allocation_fails_once) {
  int whole = 0;
  for (long n = 0; !whole; n++) {
    CHECK(n < 200);
    scarce f = {.left = -1, .once = 1};
    wire w;
    memset(&w, 0, sizeof w);
    w.mem = slp_mem_new(scarce_alloc, &f);
    w.loop = slp_loop_new(w.mem);
    f.left = n;
    int r = slp_uv_host_new(&w.h, w.loop, w.mem, NULL);
    CHECK(r == 0 || r == SLP_ENOMEM);
    if (r == 0) {
      slp_listener l = {.on_request = serve_hello};
      wire_call c[2];
      r = slp_listen(w.h, &l, "127.0.0.1", 0);
      CHECK(r == 0 || r == SLP_ENOMEM);
      whole = r == 0;
      for (size_t i = 0; r == 0 && i < SLP_COUNT(c); i++) {
        wire_call_make(&c[i], &w, "http", l.port, "/");
        c[i].http.total_ms_max = 300; /* a connection nobody could accept for want of memory */
        wire_call_run(&c[i], &w);
        if (c[i].http.error) whole = 0;
        if (c[i].http.error) CHECK(c[i].http.error_text[0]);
        if (!c[i].http.error) CHECK_MEM(c[i].body.p, c[i].body.n, "hello", 5);
        slp_buf_free(&c[i].body);
      }
      slp_host_close(w.h, wire_host_closed, &w);
    } else {
      w.host_closed = 1;
    }
    if (f.failed) whole = 0; /* go on */
    CHECK(n > 0 || !whole);
    w.h = NULL;
    f.left = -1;
    wire_close(&w);
  }
}

/* Memory that is looked through: what lives, and what is given back. Every block moves when it grows. */
#define SECRET "SESAME"
typedef struct watched {
  void *p[400];
  size_t n[400];
} watched;

static void *watched_alloc(void *ctx, void *p, size_t was, size_t want) {
  watched *all = ctx;
  size_t i = 0;
  void *moved = want ? calloc(1, want) : NULL; /* all of it is looked at */
  if (moved && p) memcpy(moved, p, was < want ? was : want);
  if (p && memmem(p, was, SECRET, sizeof SECRET - 1)) CHECK_FAIL("%zu bytes were freed with a secret", was);
  while (i < SLP_COUNT(all->p) && all->p[i] != p) i++;
  CHECK(i < SLP_COUNT(all->p));
  all->p[i] = moved;
  all->n[i] = want;
  free(p);
  return moved;
}

static int tells_secret(const watched *all) {
  for (size_t i = 0; i < SLP_COUNT(all->p); i++)
    if (all->p[i] && memmem(all->p[i], all->n[i], SECRET, sizeof SECRET - 1)) return 1;
  return 0;
}

/* A head holds signature and session token. Transfers are used again, and wait for that for minutes. */
TEST(nothing_of_a_head_stays_when_its_call_is_over) {
  static char large[3000];
  memset(large, 'x', sizeof large - 1);
  memcpy(large + 2000, SECRET, sizeof SECRET - 1);
  slp_http_header small[] = {{SLP_STR("Authorization"), SLP_STR(SECRET)}};
  slp_http_header many[] = {{SLP_STR("X-One"), SLP_STR(SECRET)}, {SLP_STR("X-Two"), slp_str_of(large)}};
  slp_http_header unusable[] = {{SLP_STR("X-One"), SLP_STR(SECRET)}, {SLP_STR("X-Two"), SLP_STR("a\nb")}};
  static watched all;
  plan plans[] = {{ANSWER, 10}, {SILENT, 0}};
  for (int k = 0; k < 2; k++) {
    wire w = {.mem = slp_mem_new(watched_alloc, &all)};
    w.loop = slp_loop_new(w.mem);
    CHECK_INT(slp_uv_host_new(&w.h, w.loop, w.mem, NULL), 0);
    wire_child server = wire_child_start(serve, &plans[k]);
    wire_call c[4];
    for (size_t i = 0; i < SLP_COUNT(c); i++) {
      wire_call_make(&c[i], &w, "http", server.port, "/");
      c[i].http.headers = i == 3 ? unusable : i == 1 ? many : small;
      c[i].http.headers_n = i == 3 || i == 1 ? 2 : 1;
      c[i].http.total_ms_max = 300;
      slp_http_send(w.h, &c[i].http);
      if (i == 0 && k == 1) CHECK(tells_secret(&all)); /* the test can see it */
      if (i == 2)
        slp_http_cancel(w.h, &c[i].http);
      else
        WIRE_UNTIL(&w, &c[i].done);
      if (i != 2) CHECK_INT(c[i].http.error == 0, k == 0 && i < 2);
      CHECK(!tells_secret(&all));
      slp_buf_free(&c[i].body);
    }
    wire_call_make(&c[0], &w, "http", server.port, "/");
    c[0].http.headers = many;
    c[0].http.headers_n = SLP_COUNT(many);
    slp_http_send(w.h, &c[0].http); /* and closed with one on its way */
    wire_close(&w);
    wire_child_stop(&server);
  }
}

/* The listening queue of a server that dies: no event is lost, no handle left. */
TEST(a_server_killed_under_load) {
  plan p = {ANSWER, 2000000};
  wire w;
  wire_open(&w);
  wire_child server = wire_child_start(serve, &p);
  static wire_call c[40];
  for (size_t i = 0; i < SLP_COUNT(c); i++) {
    wire_call_make(&c[i], &w, "http", server.port, "/");
    c[i].http.total_ms_max = 3000;
    slp_http_send(w.h, &c[i].http);
  }
  while (c[3].body.n < 100000) uv_run(w.loop, UV_RUN_NOWAIT);
  wire_child_stop(&server); /* its children follow */
  for (size_t i = 0; i < SLP_COUNT(c); i++) {
    WIRE_UNTIL(&w, &c[i].done);
    CHECK(c[i].http.error ? c[i].http.error_text[0] != 0 : c[i].body.n == 2000000);
    slp_buf_free(&c[i].body);
  }
  wire_close(&w);
}

/* A timer of the host that sets itself again. */
typedef struct again {
  slp_timer timer;
  slp_host *h;
  int left;
} again;

static void on_again(slp_timer *t) {
  again *a = SLP_OWNER(t, again, timer);
  if (--a->left) CHECK_INT(slp_timer_set(a->h, t, slp_now_us(a->h) + 5000), 0);
}
/* A program that has a loop of its own waits until libuv's descriptor is ready, or as long as
 * uv_backend_timeout() says. From libuv 1.45 on timers run at the end of a round, behind the handles that run
 * the turn. */
TEST(a_foreign_loop_is_told_of_what_a_timer_left_to_do) {
  wire w;
  wire_open(&w);
  again a = {.timer = {.run = on_again}, .h = w.h, .left = 20};
  CHECK_INT(slp_timer_set(w.h, &a.timer, slp_now_us(w.h) + 5000), 0);
  while (a.left) {
    struct pollfd fd = {.fd = uv_backend_fd(w.loop), .events = POLLIN};
    uv_run(w.loop, UV_RUN_NOWAIT);
    if (!a.left) break;
    int ms = uv_backend_timeout(w.loop);
    CHECK(ms >= 0); /* else nothing would run the timer */
    poll(&fd, 1, ms);
  }
  wire_close(&w);
}
