/* fetch.c - tries, waits, and that answers are wiped. */
#include "aws/fetch.h"

#include "aws_fake_host.h"
#include "sloop.h"

static fake_host f;
static slp_mem *mem;
static slp_fetch fetch;
static int done;

static void on_done(slp_fetch *x) {
  CHECK(x == &fetch);
  done++;
}

static void open_it(uint32_t tries) {
  mem = slp_mem_new(NULL, NULL);
  fake_init(&f, mem);
  slp_fetch_init(&fetch, &f.h);
  fetch.method = "GET";
  fetch.url = "http://localhost/x";
  fetch.total_ms_max = 2000;
  fetch.tries_max = tries;
  fetch.no_proxy = 1;
  fetch.on_done = on_done;
  done = 0;
}

static void run(void) {
  slp_fetch_send(&fetch);
  CHECK_INT(done, 0); /* never inside the call */
  fake_run(&f, 600000000);
  CHECK_INT(done, 1);
}

static void end(void) {
  slp_fetch_cancel(&fetch);
  CHECK_INT(f.answered_n, f.answers_n);
  fake_end(&f, mem);
}

TEST(an_answer_is_an_answer_whatever_its_status) {
  open_it(3);
  fake_script(&f, 404, "no");
  run();
  CHECK_INT(fetch.http.status, 404);
  CHECK_MEM(fetch.answer.p, fetch.answer.n, "no", 2);
  CHECK_INT(f.sent[0].no_proxy, 1);
  char room[SLP_FETCH_TROUBLE];
  CHECK_STR(slp_fetch_trouble(&fetch, room), "status 404");
  end();
}

/* The words for an answer that brings no keys. */
static void tells(int status, const char *type, const char *body, const char *want) {
  char room[SLP_FETCH_TROUBLE];
  open_it(1);
  fake_script(&f, status, body)->content_type = type;
  run();
  CHECK_STR(slp_fetch_trouble(&fetch, room), want);
  end();
}

TEST(the_reason_that_an_answer_gives_is_told) {
  static const char json[] = "application/json";
  tells(403, json, "{\"code\":\"AccessDenied\",\"message\":\"who are you?\"}",
        "status 403: AccessDenied: who are you?");
  tells(400, json, "{\"Code\":\"InvalidTokenException\",\"Message\":\"not valid\"}",
        "status 400: InvalidTokenException: not valid");
  tells(401, json, "{\"message\":\"Session token not found\"}", "status 401: Session token not found");
  tells(404, "text/plain", "no such role\n", "status 404: no such role ");
  tells(500, json, "", "status 500");
  /* a body that is no error of a known form may hold keys */
  tells(500, json, "{\"SecretAccessKey\":\"SESAME\"}", "status 500");
  tells(404, json, "SESAME", "status 404");
}

TEST(a_reason_that_repeats_what_was_sent_hides_it) {
  char room[SLP_FETCH_TROUBLE];
  open_it(1);
  fetch.headers[0] = (slp_http_header){SLP_STR("Authorization"), SLP_STR("token-of-this-task")};
  fetch.headers_n = 1;
  fake_script(&f, 403, "{\"code\":\"Denied\",\"message\":\"bad token-of-this-task\"}");
  run();
  CHECK_STR(slp_fetch_trouble(&fetch, room), "status 403: Denied: bad ******************");
  end();
}

TEST(a_proxy_that_refuses_is_not_asked_again) {
  open_it(3);
  fake_script(&f, 0, "")->error = SLOOP_EPROXY;
  run();
  CHECK_INT(fetch.http.error, SLOOP_EPROXY);
  CHECK_INT(slp_fetch_passes(&fetch), 0);
  end();
}

TEST(what_may_pass_is_tried_again_with_waits_between) {
  open_it(4);
  fake_script(&f, 500, "");
  fake_script(&f, 429, "");
  fake_script(&f, 0, "")->error = -ECONNRESET;
  fake_script(&f, 200, "fine");
  run();
  CHECK_INT(fetch.http.status, 200);
  CHECK(f.sent[3].at_us - f.sent[0].at_us < 7000000); /* ceilings of 1, 2 and 4 s */
  end();
}

TEST(tries_end) {
  open_it(2);
  fake_script(&f, 503, "");
  fake_script(&f, 503, "");
  run();
  CHECK_INT(fetch.http.status, 503);
  end();
  open_it(3); /* a certificate does not get better */
  fake_script(&f, 0, "")->error = SLOOP_ETLS;
  run();
  CHECK_INT(fetch.http.error, SLOOP_ETLS);
  end();
}

TEST(cancelled_in_every_state) {
  open_it(2);
  slp_fetch_cancel(&fetch);
  fake_script(&f, 200, "")->hang = 1;
  slp_fetch_send(&fetch);
  fake_run(&f, 1000000);
  slp_fetch_cancel(&fetch); /* in flight */
  fake_script(&f, 500, "");
  slp_fetch_send(&fetch);
  slp_host_turn(&f.h);
  slp_fetch_cancel(&fetch); /* between tries */
  fake_run(&f, 60000000);
  CHECK_INT(done, 0);
  CHECK(fetch.answer.p == NULL);
  end();
}
