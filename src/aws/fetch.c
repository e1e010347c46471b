/* fetch.c - sends the request, waits between tries, and wipes the answer. */
#include "aws/fetch.h"

#include "aws/classify.h"
#include "aws/hide.h"
#include "aws/provider.h"
#include "aws/retry.h"
#include "base/buf.h"
#include "base/fail.h"
#include "host/host.h"

#include <sloop.h>
#include <stdio.h>

#define CONNECT_MS_MAX 4000u

static void send_fetch_try(slp_fetch *f);
static void on_timer(slp_timer *timer) { send_fetch_try(SLP_OWNER(timer, slp_fetch, timer)); }

void slp_fetch_init(slp_fetch *f, slp_host *h) {
  *f = (slp_fetch){.h = h, .timer = {.run = on_timer, .at_us = UINT64_MAX}};
  slp_buf_init(&f->answer, h->mem, SLP_FETCH_BODY_MAX);
}

void slp_fetch_clear(slp_fetch *f) {
  slp_secret_free(&f->answer);
  f->secrets = (slp_secrets){{{NULL, 0}}};
}

static int is_public(slp_str header) {
  return slp_str_is(header, "Accept") || slp_str_is(header, "Content-Type") ||
         slp_str_is(header, "X-aws-ec2-metadata-token-ttl-seconds");
}

static void note_secrets(slp_fetch *f) {
  size_t n = 0;
  f->secrets = (slp_secrets){{{NULL, 0}}};
  for (size_t i = 0; i < SLP_COUNT(f->body_secrets); i++) f->secrets.of[n++] = f->body_secrets[i];
  for (size_t i = 0; i < f->headers_n; i++) {
    if (is_public(f->headers[i].name)) continue;
    SLP_CHECK(n < SLP_SECRETS_MAX);
    f->secrets.of[n++] = f->headers[i].value;
  }
}

static void finish_fetch(slp_fetch *f) {
  f->busy = 0;
  /* Hides secrets now, because the owner quotes these texts and may cut them; half a secret would no longer
   * be recognised. */
  slp_hide_text(&f->secrets, f->http.error_text, strlen(f->http.error_text));
  slp_hide_text(&f->secrets, f->http.error_type, strlen(f->http.error_type));
  f->on_done(f);
}

/* Returns 1 if another try may help. An answer that exceeds the size limit can't contain credentials; its
 * status decides, as for a complete answer. */
static int worth_another_try(const slp_http *http) {
  if (http->error && http->error != SLOOP_ETOOBIG)
    return !slp_fails_again(http->error) && http->error != SLP_ENOMEM;
  if (!http->status) return 0; /* status 0 without an error means that nothing was sent */
  slp_class class = slp_classify_type(http->error_type, http->status);
  return http->status != 200 && (class == SLP_THROTTLE || class == SLP_TRANSIENT);
}

static void on_answer(slp_http *http) {
  slp_fetch *f = SLP_OWNER(http, slp_fetch, http);
  if (f->tries < f->tries_max && worth_another_try(http)) {
    /* Waits as long as after a throttled call, because whole fleets ask these servers at the same moment. */
    uint64_t wait = slp_retry_wait_us(SLP_THROTTLE, f->tries, slp_random(f->h), 0);
    if (slp_timer_set(f->h, &f->timer, slp_after_us(slp_now_us(f->h), wait)) == 0) return;
  }
  finish_fetch(f);
}

static void send_fetch_try(slp_fetch *f) {
  slp_secret_clear(&f->answer);
  f->tries++;
  f->http = (slp_http){.lane = SLP_LANE_CONTROL,
                       .method = f->method,
                       .url = f->url,
                       .headers = f->headers,
                       .headers_n = f->headers_n,
                       .body = f->body,
                       .connect_ms_max = (uint32_t)slp_min_u64(f->total_ms_max, CONNECT_MS_MAX),
                       .total_ms_max = f->total_ms_max,
                       .no_proxy = f->no_proxy,
                       .ca_bundle = f->ca_bundle,
                       .into = &f->answer,
                       .on_done = on_answer,
                       .date_ms = -1};
  slp_http_send(f->h, &f->http);
}

static void on_starved(slp_event *ev) {
  slp_http *http = SLP_OWNER(ev, slp_http, ev);
  finish_fetch(SLP_OWNER(http, slp_fetch, http));
}

void slp_fetch_send(slp_fetch *f) {
  SLP_CHECK(!f->busy);
  f->busy = 1;
  f->tries = 0;
  note_secrets(f);
  slp_secret_clear(&f->answer);
  if (slp_secret_room(&f->answer)) {
    f->http = (slp_http){.error = SLP_ENOMEM, .ev = {.run = on_starved}};
    slp_post(f->h, &f->http.ev);
    return;
  }
  send_fetch_try(f);
}

void slp_fetch_cancel(slp_fetch *f) {
  if (f->busy) {
    slp_http_cancel(f->h, &f->http);
    slp_unpost(&f->http.ev);
  }
  slp_timer_clear(f->h, &f->timer);
  f->busy = 0;
  slp_fetch_clear(f);
}

int slp_fetch_passes(const slp_fetch *f) { return worth_another_try(&f->http); }

/* If a body has no error name and no text, it may be anything, even keys. So a body is quoted only if it is
 * meant for people. */
const char *slp_fetch_trouble(slp_fetch *f, char room[SLP_FETCH_TROUBLE]) {
  static const char unreadable[] = "unreadable answer with ";
  slp_bad_answer bad = {.status = f->http.status,
                        .error_type = f->http.error_type,
                        .request_id = "",
                        .body = slp_buf_str(&f->answer),
                        .secrets = f->secrets};
  slp_fail fail;
  slp_remedy remedy;
  if (f->http.error) return f->http.error_text[0] ? f->http.error_text : "no memory";
  int for_people = bad.body.n && strncmp(f->http.content_type, "text/", 5) == 0;
  slp_classify(&bad, &fail, &remedy);
  slp_hide_fail(&f->secrets, &fail);
  int is_read = strncmp(fail.message, unreadable, sizeof unreadable - 1) != 0;
  if (f->http.status == 200 || (!is_read && !for_people))
    snprintf(room, SLP_FETCH_TROUBLE, "status %d", f->http.status);
  else if (!is_read)
    /* leaves out the text `unreadable` at the start of the message; the rest begins with the status */
    snprintf(room, SLP_FETCH_TROUBLE, "%.280s", fail.message + sizeof unreadable - 1);
  else
    snprintf(room, SLP_FETCH_TROUBLE, "status %d: %s%s%.180s", f->http.status, fail.aws_code,
             fail.aws_code[0] ? ": " : "", fail.message);
  return room;
}
