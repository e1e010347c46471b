/* api/metrics_server.c: addresses, routes, pages in slices and clients that leave, on a host whose peers are
 * calls of this file. Real sockets: process/metrics.py. */
#include "api/metrics_server.h"

#include "aws_fake_host.h"
#include "scarce.h"

static fake_host f;
static slp_mem *mem;
static slp_metrics_server server;
static slp_host_ops ops;
static int closed, samples, sample_fails, unready;
static size_t shards_n;

/* ---- peers --------------------------------------------------------------------------------------------- */
typedef struct peer_state {
  slp_served rq;
  int answered, dropped, status, close;
  char type[100], allow[40], *body;
} peer_state;
static peer_state peer, crowd[12];
static char listening_at[64];
static int listen_fails;

static int fake_listen(slp_host *h, slp_listener *l, const char *address, uint16_t port) {
  (void)h;
  snprintf(listening_at, sizeof listening_at, "%s %u", address, (unsigned)port);
  if (listen_fails) return -EADDRINUSE;
  l->port = port ? port : 4321;
  return 0;
}
static slp_event closed_ev;
static slp_listener *closing;
static void on_closed_ev(slp_event *ev) {
  (void)ev;
  if (peer.rq.on_gone && !peer.answered && !peer.dropped) peer.rq.on_gone(&peer.rq);
  closing->on_closed(closing);
}
static void fake_listen_close(slp_listener *l) {
  closing = l;
  closed_ev.run = on_closed_ev;
  slp_post(l->host, &closed_ev);
}
static void fake_serve(slp_served *rq, const slp_serve_answer *a) {
  peer_state *p = SLP_OWNER(rq, peer_state, rq);
  CHECK(!p->answered && !p->dropped && !rq->on_gone);
  if (!a) {
    p->dropped = 1;
    return;
  }
  p->answered = 1;
  p->status = a->status;
  p->close = a->close;
  for (size_t i = 0; i < a->headers_n; i++) {
    slp_str value = a->headers[i].value;
    if (slp_str_is(a->headers[i].name, "Content-Type")) fake_keep(p->type, sizeof p->type, value);
    if (slp_str_is(a->headers[i].name, "Allow")) fake_keep(p->allow, sizeof p->allow, value);
  }
  slp_buf taken = {0};
  slp_buf_move(&taken, a->body);
  free(p->body);
  p->body = strdup(slp_buf_z(&taken));
  slp_buf_free(&taken);
}

static int sample(void *arg, slp_sample *into, int with_shards) {
  CHECK(arg == &f);
  samples++;
  if (sample_fails) return SLP_ENOMEM;
  sloop_stats_t stats = {.records = 3};
  int r = slp_sample_add(into, "", "orders", "", unready ? SLP_READING_STOPPED : SLP_READING_RUNNING, &stats);
  for (size_t i = 0; i < shards_n && with_shards && !r; i++)
    r = slp_sample_add_shard(into, &(sloop_shard_stats_t){.shard = "s"});
  return r;
}
static void own(void *arg, slp_metrics_own *ret) {
  CHECK(arg == &f);
  *ret = (slp_metrics_own){1, 5, 0};
}
static void on_closed(slp_metrics_server *s) {
  CHECK(s == &server);
  closed++;
}

static scarce memory = {.left = -1};
static void begin(void) {
  char why[160] = "";
  mem = slp_mem_new(scarce_alloc, &memory);
  fake_init(&f, mem);
  ops = fake_ops;
  ops.listen = fake_listen;
  ops.listen_close = fake_listen_close;
  ops.serve = fake_serve;
  f.h.ops = &ops;
  server = (slp_metrics_server){.sample = sample, .own = own, .on_closed = on_closed, .arg = &f};
  CHECK_INT(slp_metrics_server_open(&server, &f.h, "127.0.0.1:0", why), 0);
}
static void end(void) {
  slp_metrics_server_close(&server);
  CHECK_INT(closed, 0);
  fake_run(&f, 1000);
  CHECK_INT(closed, 1);
  free(peer.body);
  fake_end(&f, mem);
}
static void ask(const char *method, const char *path) {
  free(peer.body);
  memset(&peer, 0, sizeof peer);
  peer.rq =
      (slp_served){.listener = &server.listener, .method = slp_str_of(method), .path = slp_str_of(path)};
  server.listener.on_request(&server.listener, &peer.rq);
}
static int get(const char *path) {
  ask("GET", path);
  fake_run(&f, 1000000);
  CHECK_INT(peer.answered, 1);
  CHECK_INT(peer.close, 1);
  return peer.status;
}

TEST(routes) {
  begin();
  CHECK_STR(server.url, "http://127.0.0.1:4321");
  CHECK_INT(get("/healthz"), 200);
  CHECK_STR(peer.body, "alive\n");
  CHECK_STR(peer.type, "text/plain; charset=utf-8");
  CHECK_INT(samples, 0);
  CHECK_INT(get("/ready?x=1"), 200);
  CHECK_STR(peer.body, "ready\n");
  unready = 1;
  CHECK_INT(get("/ready"), 503);
  CHECK_STR(peer.body, "orders: stopped\n");
  CHECK_INT(get("/healthz"), 200); /* alive all the same */
  CHECK_INT(get("/metrics"), 200);
  CHECK_STR(peer.type, "text/plain; version=0.0.4; charset=utf-8");
  CHECK(strstr(peer.body, "\nsloop_records_total{stream=\"orders\"} 3\n"));
  CHECK(strstr(peer.body, "\nsloop_ready{stream=\"orders\"} 0\n"));
  CHECK(strstr(peer.body, "\nsloop_cloudwatch_data_total 5\n"));
  static const char *const wrong[] = {"/", "/metric", "/metrics/", "/Metrics",
                                      "?", "*",       "//metrics", "/metrics%00"};
  for (size_t i = 0; i < SLP_COUNT(wrong); i++) CHECK_INT(get(wrong[i]), 404);
  static const char *const methods[] = {"POST", "DELETE", "get", "OPTIONS"};
  for (size_t i = 0; i < SLP_COUNT(methods); i++) {
    ask(methods[i], "/metrics");
    CHECK_INT(peer.status, 405);
    CHECK_STR(peer.allow, "GET, HEAD");
  }
  ask("HEAD", "/ready");
  CHECK_INT(peer.status, 503);
  end();
}

TEST(a_large_page_is_written_in_slices) {
  begin();
  shards_n = 5000;
  f.tick_us = 400; /* a slice uses up a turn */
  ask("GET", "/metrics");
  CHECK_INT(peer.answered, 0);
  int turns = 0;
  for (; !peer.answered; turns++) {
    CHECK(turns < 1000);
    slp_host_turn(&f.h);
  }
  CHECK(turns > 20);
  CHECK_INT(peer.status, 200);
  size_t n = 0;
  for (const char *at = peer.body; (at = strstr(at, "\nsloop_shard_paused{")); at++) n++;
  CHECK_INT(n, 5000);
  f.tick_us = 0;
  end();
}

TEST(a_client_that_leaves_takes_its_page_with_it) {
  begin();
  shards_n = 5000;
  f.tick_us = 400;
  ask("GET", "/metrics");
  slp_host_turn(&f.h);
  f.tick_us = 0;
  CHECK(peer.rq.on_gone);
  peer.rq.on_gone(&peer.rq);
  peer.dropped = 1;
  fake_run(&f, 1000000);
  CHECK_INT(get("/healthz"), 200);
  end();
}

TEST(not_more_than_eight_pages_at_once) {
  begin();
  for (size_t i = 0; i < SLP_COUNT(crowd); i++) {
    crowd[i].rq =
        (slp_served){.listener = &server.listener, .method = SLP_STR("GET"), .path = SLP_STR("/metrics")};
    server.listener.on_request(&server.listener, &crowd[i].rq);
    CHECK_INT(crowd[i].status, i < 8 ? 0 : 503);
  }
  CHECK_STR(crowd[8].body, "too many pages are being written\n");
  CHECK_INT(get("/ready"), 200); /* the others have run too */
  for (size_t i = 0; i < SLP_COUNT(crowd); i++) {
    CHECK_INT(crowd[i].status, i < 8 ? 200 : 503);
    free(crowd[i].body);
  }
  CHECK_INT(get("/metrics"), 200);
  end();
}

TEST(closing_under_a_page) {
  begin();
  shards_n = 5000;
  ask("GET", "/metrics");
  end();
}

TEST(no_memory) {
  begin();
  sample_fails = 1;
  CHECK_INT(get("/metrics"), 503);
  CHECK_INT(get("/ready"), 503);
  CHECK_INT(get("/healthz"), 200);
  end();
}

TEST(no_memory_at_any_moment) {
  begin();
  shards_n = 300;
  for (long n = 0, full = 0; !full; n++) {
    ask("GET", "/healthz"); /* frees the answer before */
    fake_run(&f, 1000000);
    memory.left = n;
    ask("GET", "/metrics");
    fake_run(&f, 1000000);
    memory.left = -1;
    CHECK(peer.answered || peer.dropped);
    CHECK(peer.dropped || peer.status == 200 || peer.status == 503);
    full = peer.status == 200 && !peer.dropped;
    CHECK(!full || n > 8);
    CHECK_INT(server.pages_n, 0);
  }
  end();
}

/* "ADDRESS PORT", or what is wrong. */
static const char *address(const char *listen) {
  static char text[200];
  char a[SLP_METRICS_ADDRESS_MAX];
  uint16_t port;
  if (slp_metrics_address_read(listen, a, &port, text) == 0)
    snprintf(text, sizeof text, "%s %u", a, (unsigned)port);
  return text;
}
TEST(addresses) {
  CHECK_STR(address("127.0.0.1:9100"), "127.0.0.1 9100");
  CHECK_STR(address("0.0.0.0:0"), "0.0.0.0 0");
  CHECK_STR(address(":65535"), "0.0.0.0 65535");
  CHECK_STR(address("localhost:1"), "127.0.0.1 1");
  CHECK_STR(address("[::1]:9100"), "::1 9100");
  CHECK_STR(address("[fe80::1:2:3:4:5:6]:9"), "fe80::1:2:3:4:5:6 9");
  static const char *const wrong[] = {"",
                                      "9100",
                                      "127.0.0.1",
                                      "127.0.0.1:",
                                      "127.0.0.1:65536",
                                      "127.0.0.1:-1",
                                      "::1:9",
                                      "[::1]",
                                      "a:b:1",
                                      "h:9x",
                                      "h: 9",
                                      "[0000:0000:0000:0000:0000:0000:0000:0000:0000:0000]:1"};
  for (size_t i = 0; i < SLP_COUNT(wrong); i++)
    if (!strstr(address(wrong[i]), "it must be ADDRESS:PORT"))
      CHECK_FAIL("%s: %s", wrong[i], address(wrong[i]));
}

TEST(what_can_t_be_listened_on_is_named) {
  char why[160];
  begin();
  listen_fails = 1;
  slp_metrics_server other = {.sample = sample, .own = own, .on_closed = on_closed, .arg = &f};
  CHECK_INT(slp_metrics_server_open(&other, &f.h, "[::1]:80", why), -EADDRINUSE);
  CHECK(strstr(why, "can't listen on [::1]:80: "));
  CHECK_STR(listening_at, "::1 80");
  end();
}
