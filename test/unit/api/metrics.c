/* api/metrics.c: options, members that come and go, and every order of closing, on a host without a network.
 * metrics_*.c and process/metrics.py test the content of pages and of calls to CloudWatch. */
#include "api/open.h"

#include "aws_fake_host.h"
#include "scarce.h"

static fake_host f;
static slp_mem *mem;
static slp_host_ops ops;
static sloop_t *first, *second;
static int closed, listeners, listen_error;
static scarce memory;

/* ---- listening without a network ----------------------------------------------------------------------- */
typedef struct closing {
  slp_event ev;
  slp_listener *l;
} closing;
static closing ends[8];

static int fake_listen(slp_host *h, slp_listener *l, const char *address, uint16_t port) {
  (void)h, (void)address;
  if (listen_error) return listen_error;
  l->port = port ? port : 4321;
  listeners++;
  return 0;
}
static void on_listener_closed(slp_event *ev) {
  slp_listener *l = SLP_OWNER(ev, closing, ev)->l;
  SLP_OWNER(ev, closing, ev)->l = NULL;
  listeners--;
  l->on_closed(l);
}
static void fake_listen_close(slp_listener *l) {
  for (size_t i = 0; i < SLP_COUNT(ends); i++) {
    if (ends[i].l) continue;
    ends[i] = (closing){{.run = on_listener_closed}, l};
    slp_post(l->host, &ends[i].ev);
    return;
  }
  CHECK_FAIL("too many listeners");
}
static char page[100000];
static void fake_serve(slp_served *rq, const slp_serve_answer *a) {
  (void)rq;
  slp_buf taken = {0};
  CHECK_INT(a->status, 200);
  slp_buf_move(&taken, a->body);
  snprintf(page, sizeof page, "%s", slp_buf_z(&taken));
  slp_buf_free(&taken);
}

static void fake_ref(slp_host *h, int on) { (void)h, (void)on; }

static void on_batch(sloop_t *s, sloop_batch_t *b, void *arg) {
  (void)s, (void)arg;
  sloop_batch_done(b, 0);
}
static sloop_t *consumer(const char *stream, sloop_t *join) {
  char why[160];
  sloop_t *s;
  sloop_opts_t o;
  sloop_opts_init(&o);
  o.stream = stream;
  o.join = join;
  o.on_batch = on_batch;
  if (slp_open_on(&f.h, mem, &(slp_outside){.getenv_fn = fake_getenv, .getenv_ctx = &f}, &s, &o, why))
    CHECK_FAIL("%s", why);
  return s;
}
static void begin(void) {
  memory.left = -1;
  mem = slp_mem_new(scarce_alloc, &memory);
  fake_init(&f, mem);
  ops = fake_ops;
  ops.listen = fake_listen;
  ops.listen_close = fake_listen_close;
  ops.serve = fake_serve;
  ops.ref = fake_ref;
  f.h.ops = &ops;
  first = consumer("first", NULL);
  second = consumer("second", first);
}
static void on_closed(sloop_t *s, int status, void *arg) {
  (void)s, (void)status, (void)arg;
  closed++;
}
static void end(void) {
  if (first) sloop_close(first, on_closed, NULL);
  if (second) sloop_close(second, on_closed, NULL);
  fake_run(&f, 1000000);
  CHECK_INT(closed, 2);
  CHECK_INT(listeners, 0);
  fake_end(&f, mem);
}
static sloop_metrics_opts_t opts(const char *listen, const char *cloudwatch) {
  sloop_metrics_opts_t o;
  sloop_metrics_opts_init(&o);
  o.listen = listen;
  o.cloudwatch = cloudwatch;
  return o;
}
static sloop_metrics_t *metrics(sloop_t *s, const char *listen, const char *cloudwatch) {
  sloop_metrics_opts_t o = opts(listen, cloudwatch);
  char why[160];
  sloop_metrics_t *m;
  if (sloop_metrics_open(&m, s, &o, why, sizeof why)) CHECK_FAIL("%s", why);
  CHECK_STR(why, "");
  return m;
}

static void refused(const sloop_metrics_opts_t *o, int code, const char *says) {
  char why[160];
  sloop_metrics_t *m = (sloop_metrics_t *)&closed;
  CHECK_INT(sloop_metrics_open(&m, first, o, why, sizeof why), code);
  CHECK(m == NULL);
  if (!strstr(why, says)) CHECK_FAIL("\"%s\" does not say %s", why, says);
  CHECK_INT(sloop_metrics_open(&m, first, o, NULL, 0), code);
}
TEST(options) {
  begin();
  sloop_metrics_opts_t o = opts(NULL, NULL);
  CHECK_INT(o.cloudwatch_ms, 60000);
  refused(&o, SLOOP_EOPTION, "neither listen nor cloudwatch is given");
  o = opts("127.0.0.1", NULL);
  refused(&o, SLOOP_EOPTION, "ADDRESS:PORT");
  o = opts(NULL, "AWS/x");
  refused(&o, SLOOP_EOPTION, "AWS/ is reserved");
  o = opts(NULL, "x");
  o.cloudwatch_ms = 999;
  refused(&o, SLOOP_EOPTION, "at least 1000");
  o = opts("127.0.0.1:1", NULL);
  o.size = 0;
  refused(&o, SLOOP_EOPTION, "sloop_metrics_opts_init");
  refused(NULL, SLOOP_EOPTION, "options");
  o = opts("127.0.0.1:1", "x");
  listen_error = -EADDRINUSE;
  refused(&o, -EADDRINUSE, "can't listen on 127.0.0.1:1: ");
  listen_error = 0;
  o = opts(NULL, "x");
  o.cloudwatch_set = "kcl";
  refused(&o, SLOOP_EOPTION, "cloudwatch_set: kcl is not one of sloop, motorway");
  o = opts(NULL, NULL);
  o.cloudwatch_set = "sloop"; /* has no namespace of its own */
  refused(&o, SLOOP_EOPTION, "neither listen nor cloudwatch is given");
  o.cloudwatch_set = "motorway"; /* has one */
  sloop_metrics_t *m;
  CHECK_INT(sloop_metrics_open(&m, first, &o, NULL, 0), 0);
  CHECK_STR(sloop_metrics_url(m), "");
  o = opts(NULL, NULL);
  o.size = offsetof(sloop_metrics_opts_t, cloudwatch_set); /* a program of 0.1 */
  o.set_of_0_1 = 1;
  CHECK_INT(sloop_metrics_open(&m, first, &o, NULL, 0), 0);
  end();
}

TEST(options_of_an_older_program) {
  begin();
  sloop_metrics_opts_t o = opts("127.0.0.1:0", NULL);
  memset(&o.cloudwatch, 0x55, sizeof o - offsetof(sloop_metrics_opts_t, cloudwatch));
  o.size = offsetof(sloop_metrics_opts_t, cloudwatch);
  sloop_metrics_t *m;
  CHECK_INT(sloop_metrics_open(&m, first, &o, NULL, 0), 0);
  CHECK_STR(sloop_metrics_url(m), "http://127.0.0.1:4321");
  struct {
    sloop_metrics_opts_t o;
    char newer[64];
  } large;
  memset(&large, 0x55, sizeof large);
  sloop_metrics_opts_init_sized(&large.o, sizeof large);
  CHECK_INT(large.o.size, sizeof large.o);
  CHECK(!large.o.listen && large.o.cloudwatch_ms == 60000);
  CHECK_INT(large.newer[0], 0);
  end();
}

static slp_listener *listener; /* of the metrics that were opened last */
static int note_listener(slp_host *h, slp_listener *l, const char *address, uint16_t port) {
  listener = l;
  return fake_listen(h, l, address, port);
}
static const char *look(void) {
  slp_served rq = {.listener = listener, .method = SLP_STR("GET"), .path = SLP_STR("/metrics")};
  page[0] = 0;
  listener->on_request(listener, &rq);
  for (int i = 0; i < 100 && !page[0]; i++) slp_host_turn(&f.h);
  return page;
}
TEST(members_come_and_go) {
  begin();
  ops.listen = note_listener;
  sloop_metrics_t *m = metrics(first, "127.0.0.1:0", NULL);
  CHECK(strstr(look(), "sloop_ready{stream=\"first\"} 0"));
  CHECK(!strstr(page, "\"second\""));
  CHECK_INT(sloop_metrics_add(m, second), 0);
  CHECK_INT(sloop_metrics_add(m, second), 0); /* once is enough */
  CHECK(strstr(look(), "sloop_ready{stream=\"second\"} 0"));
  CHECK(!strstr(page, "consumer="));
  sloop_close(second, on_closed, NULL);
  CHECK_INT(sloop_metrics_add(m, second), SLOOP_ESTATE);
  CHECK(!strstr(look(), "\"second\""));
  second = NULL;
  fake_run(&f, 1000000);
  CHECK_INT(closed, 1);
  closed = 0;
  CHECK(strstr(look(), "first") && !strstr(page, "\"second\""));
  sloop_t *stranger = consumer("stranger", NULL); /* another family */
  CHECK_INT(sloop_metrics_add(m, stranger), SLOOP_EOPTION);
  sloop_close(stranger, NULL, NULL);
  second = consumer("third", first);
  CHECK_INT(sloop_metrics_add(m, second), 0);
  CHECK(strstr(look(), "third"));
  end();
}

TEST(closed_before_the_consumer) {
  begin();
  sloop_metrics_t *both = metrics(first, "127.0.0.1:0", "x"), *none = metrics(second, NULL, "x");
  CHECK_INT(listeners, 1);
  sloop_metrics_close(both);
  sloop_metrics_close(both);
  sloop_metrics_close(none);
  sloop_metrics_close(NULL);
  fake_run(&f, 1000000);
  CHECK_INT(listeners, 0);
  metrics(first, "127.0.0.1:0", NULL); /* again */
  end();
}

TEST(closed_in_the_same_breath) {
  begin();
  sloop_metrics_t *m = metrics(first, "127.0.0.1:0", NULL);
  sloop_metrics_close(m);
  end();
}

TEST(closed_by_the_consumer) {
  begin();
  metrics(first, "127.0.0.1:0", "x");
  metrics(first, "127.0.0.1:0", NULL);
  metrics(second, "127.0.0.1:0", NULL);
  metrics(first, NULL, "y");
  CHECK_INT(listeners, 3);
  sloop_close(first, on_closed, NULL);
  first = NULL;
  fake_run(&f, 1000000);
  CHECK_INT(closed, 1);
  CHECK_INT(listeners, 1); /* second's lives on */
  end();
}

TEST(no_memory_at_any_moment) {
  for (long n = 0;; n++) {
    closed = 0;
    begin();
    sloop_metrics_opts_t o = opts("127.0.0.1:0", "My/Space");
    sloop_metrics_t *m;
    char why[160];
    memory.left = n;
    int r = sloop_metrics_open(&m, first, &o, why, sizeof why);
    if (!r) r = sloop_metrics_add(m, second);
    memory.left = -1;
    CHECK(r == 0 || r == SLP_ENOMEM);
    end();
    if (!r) {
      CHECK(n >= 3);
      return;
    }
  }
}
