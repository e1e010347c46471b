/* admin_handle.c - an operator's handle: opened without on_batch, closed at any moment with each request answered
 * once, and never a consumer that reads. */
#include "api/open.h"

#include <uv.h>

#include "check.h"

static uv_loop_t loop;
static sloop_admin_t *handle;
static char said[200]; /* "ECANCELED closed " of what was called, in its order */
static int arg_of_options;

static void *word(const char *text) { return (void *)(uintptr_t)text; }
static void say(const char *what) {
  size_t n = strlen(said);
  snprintf(said + n, sizeof said - n, "%s ", what);
}
static void on_closed(sloop_admin_t *h, void *arg) {
  CHECK(h == handle);
  say(arg);
}
static void on_leases(sloop_admin_t *h, int status, const sloop_leases_t *l, const sloop_error_t *e,
                      void *arg) {
  CHECK(h == handle);
  CHECK((l == NULL) == (status != 0) && (e != NULL) == (status != 0));
  CHECK(!arg || arg == handle);
  say(sloop_err_name(status));
  if (arg) sloop_admin_close(arg, on_closed, word("closed"));
}
static void on_error(sloop_t *s, const sloop_error_t *e, void *arg) {
  (void)e;
  CHECK(arg == &arg_of_options && sloop_arg(s) == arg && sloop_loop(s) == &loop);
}
static void on_log(sloop_t *s, sloop_log_level_t level, const char *line, void *arg) {
  (void)level, (void)line;
  on_error(s, NULL, arg);
}

static sloop_opts_t opts(void) {
  sloop_opts_t o;
  sloop_opts_init(&o);
  o.stream = "orders";
  o.app = "shop";
  o.store = "memory";
  o.region = "eu-west-1";
  o.endpoint = "http://127.0.0.1:1"; /* nobody listens */
  o.arg = &arg_of_options;
  o.on_error = on_error;
  o.on_log = on_log;
  return o;
}

static void begin(void) {
  CHECK_INT(setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE", 1), 0);
  CHECK_INT(setenv("AWS_SECRET_ACCESS_KEY", "secret", 1), 0);
  CHECK_INT(uv_loop_init(&loop), 0);
  said[0] = 0;
}
static void end(void) {
  uv_run(&loop, UV_RUN_DEFAULT);
  CHECK_INT(uv_loop_close(&loop), 0);
}

TEST(what_is_wrong_with_options_is_told) {
  char why[160] = "";
  sloop_opts_t o = opts();
  begin();
  handle = (sloop_admin_t *)&o;
  CHECK_INT(sloop_admin_open(&handle, &loop, NULL, why, sizeof why), SLOOP_EOPTION);
  CHECK_STR(why, "options (use sloop_opts_init) is missing");
  CHECK(!handle);
  CHECK_INT(sloop_admin_open(&handle, NULL, &o, why, sizeof why), SLOOP_EOPTION);
  CHECK_STR(why, "loop is missing");
  o.stream = NULL;
  CHECK_INT(sloop_admin_open(&handle, &loop, &o, why, sizeof why), SLOOP_EOPTION);
  CHECK(strstr(why, "stream"));
  o = opts();
  o.schema = "none";
  CHECK_INT(sloop_admin_open(&handle, &loop, &o, NULL, 0), SLOOP_EOPTION);
  CHECK(!handle);
  end();
}

TEST(it_is_closed_after_its_request_is_answered) {
  for (int turns = 0; turns < 6; turns++) {
    sloop_opts_t o = opts();
    begin();
    o.retrieval = SLOOP_RETRIEVAL_PUSH; /* ignored, or the lag would be refused */
    CHECK_INT(sloop_admin_open(&handle, &loop, &o, NULL, 0), 0);
    CHECK_INT(sloop_admin_lag(handle, 0, on_leases, NULL), 0);
    CHECK_INT(sloop_admin_leases(handle, on_leases, NULL), SLOOP_ESTATE); /* one at a time */
    for (int i = 0; i < turns; i++) uv_run(&loop, UV_RUN_NOWAIT);
    CHECK_STR(said, "");
    sloop_admin_close(handle, on_closed, word("closed"));
    sloop_admin_close(handle, on_closed, word("again")); /* does nothing */
    CHECK_INT(sloop_admin_leases(handle, on_leases, NULL), SLOOP_ESTATE);
    CHECK_STR(said, "");
    end();
    CHECK_STR(said, "ECANCELED closed ");
  }
  begin();
  sloop_admin_close(NULL, on_closed, word("nothing"));
  sloop_opts_t o = opts();
  CHECK_INT(sloop_admin_open(&handle, &loop, &o, NULL, 0), 0);
  sloop_admin_close(handle, NULL, NULL);
  end();
  CHECK_STR(said, "");
}

/* Each handle has a request of its own, and the loop is kept by an open one. */
TEST(two_handles_at_once) {
  sloop_admin_t *other;
  sloop_opts_t o = opts();
  begin();
  CHECK_INT(sloop_admin_open(&other, &loop, &o, NULL, 0), 0);
  CHECK_INT(sloop_admin_open(&handle, &loop, &o, NULL, 0), 0);
  CHECK_INT(sloop_admin_leases(handle, on_leases, handle), 0);
  sloop_admin_close(other, NULL, NULL);
  for (int i = 0; i < 4; i++) uv_run(&loop, UV_RUN_NOWAIT);
  CHECK(uv_loop_alive(&loop));
  sloop_admin_close(handle, on_closed, word("closed"));
  end();
  CHECK_STR(said, "ECANCELED closed ");
}

/* The consumer of a handle is nothing that starts. */
TEST(its_consumer_does_not_start) {
  sloop_opts_t o = opts();
  begin();
  CHECK_INT(sloop_admin_open(&handle, &loop, &o, NULL, 0), 0);
  CHECK(handle->s && sloop_admin_of(handle->s) == handle);
  CHECK_INT(sloop_start(handle->s), SLOOP_ESTATE);
  CHECK_INT(sloop_stop(handle->s, 0, NULL, NULL), SLOOP_ESTATE);
  sloop_admin_close(handle, on_closed, word("closed"));
  end();
  CHECK_STR(said, "closed ");
}

static void on_batch(sloop_t *s, sloop_batch_t *b, void *arg) {
  (void)s, (void)arg;
  sloop_batch_done(b, 0);
}
static void on_consumer_closed(sloop_t *s, int status, void *arg) {
  CHECK(sloop_admin_of(s) == handle);
  CHECK_INT(status, 0);
  say(arg);
}

/* The handle of a consumer is closed with it, and by nothing else. */
TEST(the_handle_of_a_consumer) {
  sloop_opts_t o = opts();
  sloop_t *s;
  begin();
  o.on_batch = on_batch;
  CHECK_INT(sloop_open(&s, &loop, &o, NULL, 0), 0);
  handle = sloop_admin_of(s);
  sloop_admin_close(handle, on_closed, word("alone"));
  CHECK_INT(sloop_admin_leases(handle, on_leases, NULL), 0);
  sloop_close(s, on_consumer_closed, word("consumer"));
  CHECK_INT(sloop_admin_leases(handle, on_leases, NULL), SLOOP_ESTATE);
  sloop_admin_close(handle, on_closed, word("alone"));
  end();
  CHECK_STR(said, "ECANCELED consumer ");
}
