/* call.c - the state machine of one call (call.h). */
#include "aws/call.h"

#include "aws/aws.h"
#include "aws/aws_impl.h"
#include "aws/classify.h"
#include "aws/creds.h"
#include "aws/endpoint.h"
#include "aws/hide.h"
#include "aws/limits.h"
#include "aws/profile.h"
#include "aws/retry.h"
#include "aws/sigv4.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/mutant.h"
#include "base/probe.h"
#include "base/quota.h"
#include "base/states.h"
#include "codec/crc32.h"
#include "host/host.h"

#include <sloop.h>
#include <stdio.h>

/* Room for the header Authorization: key id, scope, header names and signature take about 300 bytes. For a
 * longer text the buffer grows. */
#define AUTHORIZATION_MAX 1024u
/* How often a call is repeated for this reason: the service refused the time of its signature, but the
 * refusal was read too late to show whether the clock is wrong. */
#define LATE_MAX 3u

static const slp_set allowed[] = {
    [SLP_CALL_IDLE] = SLP_BIT(SLP_CALL_IDLE) | SLP_BIT(SLP_CALL_SETTLING) | SLP_BIT(SLP_CALL_ENDING),
    [SLP_CALL_SETTLING] = SLP_BIT(SLP_CALL_WAITING_SETUP) | SLP_BIT(SLP_CALL_WAITING_KEYS) |
                          SLP_BIT(SLP_CALL_PAUSING) | SLP_BIT(SLP_CALL_SENT) | SLP_BIT(SLP_CALL_ENDING) |
                          SLP_BIT(SLP_CALL_IDLE),
    [SLP_CALL_WAITING_SETUP] = SLP_BIT(SLP_CALL_SETTLING) | SLP_BIT(SLP_CALL_IDLE),
    [SLP_CALL_WAITING_KEYS] = SLP_BIT(SLP_CALL_SETTLING) | SLP_BIT(SLP_CALL_IDLE),
    [SLP_CALL_SENT] = SLP_BIT(SLP_CALL_READING) | SLP_BIT(SLP_CALL_SETTLING) | SLP_BIT(SLP_CALL_PAUSING) |
                      SLP_BIT(SLP_CALL_ENDING) | SLP_BIT(SLP_CALL_IDLE),
    [SLP_CALL_READING] = SLP_BIT(SLP_CALL_IDLE) | SLP_BIT(SLP_CALL_SETTLING) | SLP_BIT(SLP_CALL_PAUSING) |
                         SLP_BIT(SLP_CALL_ENDING),
    [SLP_CALL_PAUSING] = SLP_BIT(SLP_CALL_SETTLING) | SLP_BIT(SLP_CALL_IDLE),
    [SLP_CALL_ENDING] = SLP_BIT(SLP_CALL_IDLE),
};

static void move(slp_call *c, slp_call_state to) { SLP_MOVE(allowed, c->state, to); }

static const slp_set keys_allowed[] = {
    [SLP_CALL_KEYS_FIRST] = SLP_BIT(SLP_CALL_KEYS_FIRST) | SLP_BIT(SLP_CALL_KEYS_REFUSED),
    [SLP_CALL_KEYS_REFUSED] = SLP_BIT(SLP_CALL_KEYS_FIRST) | SLP_BIT(SLP_CALL_KEYS_RENEWED),
    [SLP_CALL_KEYS_RENEWED] = SLP_BIT(SLP_CALL_KEYS_FIRST),
};

static void move_keys(slp_call *c, slp_call_keys to) { SLP_MOVE(keys_allowed, c->keys_are, to); }

static void settle_call_needs(slp_call *c);
static void on_http_done(slp_http *http);

static void on_http_more(slp_http *http) {
  slp_call *c = SLP_OWNER(http, slp_call, http);
  c->on_more(c);
}

static void on_event(slp_event *ev) {
  slp_call *c = SLP_OWNER(ev, slp_call, ev);
  if (c->state == SLP_CALL_READING) {
    c->on_body(c, 0);
    return;
  }
  SLP_CHECK(c->state == SLP_CALL_ENDING);
  move(c, SLP_CALL_IDLE);
  c->on_done(c);
}

static void on_timer(slp_timer *timer) { settle_call_needs(SLP_OWNER(timer, slp_call, timer)); }
static void on_wait(slp_wait *wait) { settle_call_needs(SLP_OWNER(wait, slp_call, wait)); }

void slp_call_init(slp_call *c, slp_aws *aws) {
  *c = (slp_call){.aws = aws,
                  .ev = {.run = on_event},
                  .timer = {.run = on_timer, .at_us = UINT64_MAX},
                  .wait = {.run = on_wait}};
  slp_buf_init(&c->secrets, aws->h->mem, 65536);
}

static void wipe_secrets(slp_call *c) {
  if (c->secrets.p) slp_wipe(c->secrets.p, c->secrets.n);
  slp_buf_clear(&c->secrets);
  c->token_n = c->key_n = 0;
}

slp_secrets slp_call_secrets(const slp_call *c) {
  return (slp_secrets){
      {{c->secrets.p, c->token_n}, {c->key_n ? c->secrets.p + c->token_n : NULL, c->key_n}, c->secret}};
}

/* Called when the answer has been handled. Wipes the secrets, unless the owner still needs them. */
static void done_with_secrets(slp_call *c) {
  if (!c->keeps_secrets) wipe_secrets(c);
}

/* Returns 1 if the call counts in the statistics. Calls to CloudWatch do not count, because publishing the
 * number of throttled calls would cause more of them. Calls to Glue do not count, because they read no
 * stream. */
static unsigned is_of_reading(const slp_call *c) {
  return c->svc != SLP_SVC_CLOUDWATCH && c->svc != SLP_SVC_GLUE;
}

/* Removes secrets from the failure of a try, and counts the failure. Called for each failed try before its
 * message is used. */
static void hide_and_count_failure(slp_call *c) {
  slp_secrets secrets = slp_call_secrets(c);
  slp_hide_fail(&secrets, &c->fail);
  c->aws->stats.failed += is_of_reading(c);
  c->aws->stats.failed_as[slp_failure_number(&c->fail)] += is_of_reading(c);
  done_with_secrets(c);
}

void slp_call_free(slp_call *c) {
  SLP_CHECK(c->state == SLP_CALL_IDLE);
  wipe_secrets(c);
  slp_buf_free(&c->secrets);
}

/* Calls on_done in a later turn: the caller of slp_call_send, which may be on the stack, must not see the
 * call end. */
static void end_later(slp_call *c) {
  move(c, SLP_CALL_ENDING);
  done_with_secrets(c);
  slp_post(c->aws->h, &c->ev);
}

/* Ends a call that could not be signed, because there is no memory or the keys are too long. */
static void end_unsigned(slp_call *c, int r, const slp_sign_keys *keys) {
  slp_fail_clear(&c->fail);
  if (r == SLP_ELIMIT)
    slp_fail_set(&c->fail, SLP_AUTH, SLOOP_EAUTH,
                 "the keys are too long: access key id %zu bytes, secret key %zu, session token %zu",
                 keys->key_id.n, keys->secret.n, keys->token.n);
  else
    slp_fail_set(&c->fail, SLP_NOMEM, SLP_ENOMEM, "no memory");
  end_later(c);
}

/* ---- sending ------------------------------------------------------------------------------------------- */
static void add_header(slp_call *c, size_t *n, slp_str name, slp_str value) {
  SLP_CHECK(*n < SLP_CALL_HEADERS);
  c->headers[(*n)++] = (slp_http_header){name, value};
}

static void note_time(slp_call *c) {
  c->signed_ms = slp_aws_now_ms(c->aws);
  c->signed_wall_ms = slp_wall_ms(c->aws->h);
}

/* Signs the request. The keys are valid only during this call, so everything that the transport borrows is
 * copied into c. */
static int sign_call(slp_call *c, const slp_sign_keys *keys, slp_str host, size_t *ret_headers_n) {
  const slp_endpoint *e = &c->aws->endpoints[c->svc];
  slp_signer *signer = slp_aws_signer(c->aws, c->svc);
  size_t n = 0;
  if (!signer) return SLP_ENOMEM;
  add_header(c, &n, SLP_STR("Content-Type"), c->content_type);
  if (c->target.p) add_header(c, &n, SLP_STR("X-Amz-Target"), c->target);
  slp_sign_request rq = {.method = SLP_STR("POST"),
                         .host = host,
                         .path = slp_str_of(e->path),
                         .query = SLP_STR(""),
                         .headers = c->headers,
                         .headers_n = n,
                         .body = c->body,
                         .region = slp_str_of(e->region),
                         .service = slp_str_of(e->sign_as)};
  wipe_secrets(c);
  note_time(c);
  /* Reserves room for all texts, because a buffer that grows would leave a copy of the token behind. */
  slp_buf_reserve(&c->secrets, keys->token.n + keys->secret.n + AUTHORIZATION_MAX);
  int r = slp_buf_add_str(&c->secrets, keys->token);
  /* the secret key is copied too, so that slp_hide finds it in an answer */
  if (!r) r = slp_buf_add_str(&c->secrets, keys->secret);
  size_t before = c->secrets.n;
  if (!r) r = slp_sign(signer, &rq, keys, c->signed_ms, c->date, &c->secrets);
  if (r) return r;
  c->token_n = keys->token.n;
  c->key_n = keys->secret.n;
  slp_str token = {c->secrets.p, c->token_n};
  slp_str authorization = {c->secrets.p + before, c->secrets.n - before};
  add_header(c, &n, SLP_STR("X-Amz-Date"), slp_str_of(c->date));
  add_header(c, &n, SLP_STR("Authorization"), authorization);
  if (token.n) add_header(c, &n, SLP_STR("X-Amz-Security-Token"), token);
  if (c->aws->user_agent) add_header(c, &n, SLP_STR("User-Agent"), slp_str_of(c->aws->user_agent));
  *ret_headers_n = n;
  return 0;
}

static int leave_unsigned(slp_call *c, size_t *ret_headers_n) {
  *ret_headers_n = 0;
  note_time(c);
  add_header(c, ret_headers_n, SLP_STR("Content-Type"), c->content_type);
  if (c->aws->user_agent) add_header(c, ret_headers_n, SLP_STR("User-Agent"), slp_str_of(c->aws->user_agent));
  return 0;
}

/* Returns the host to sign for. If the account has a host of its own, returns this host and sets account_url.
 * Returns {NULL, 0} with c->fail set if the call can't be sent. */
static slp_str choose_host(slp_call *c, slp_str keys_account) {
  const slp_endpoint *e = &c->aws->endpoints[c->svc];
  const size_t scheme_n = strlen("https://");
  char host[SLP_ACCOUNT_HOST_MAX];
  c->account_url[0] = 0;
  int r = slp_endpoint_account_host(e, c->svc, c->target, c->arn, keys_account, host, &c->fail);
  if (r < 0) return (slp_str){NULL, 0};
  if (!r) return slp_str_of(e->host);
  snprintf(c->account_url, sizeof c->account_url, "https://%s/", host);
  return (slp_str){c->account_url + scheme_n, strlen(host)};
}

static void send_call_request(slp_call *c, const slp_sign_keys *keys) {
  slp_aws *aws = c->aws;
  size_t headers_n = 0;
  slp_str host = choose_host(c, c->anonymous ? (slp_str){NULL, 0} : keys->account);
  if (!host.p) {
    end_later(c);
    return;
  }
  int r = c->anonymous ? leave_unsigned(c, &headers_n) : sign_call(c, keys, host, &headers_n);
  if (r) {
    end_unsigned(c, r, keys);
    return;
  }
  slp_buf_clear(c->into);
  c->begun = 0;
  c->http = (slp_http){.lane = c->lane,
                       .method = "POST",
                       .url = c->account_url[0] ? c->account_url : aws->endpoints[c->svc].url,
                       .headers = c->headers,
                       .headers_n = headers_n,
                       .body = c->body,
                       .total_ms_max = c->total_ms_max,
                       .once = c->once,
                       .ca_bundle = aws->ca_bundle,
                       .into = c->into,
                       .may_grow = c->may_grow,
                       .on_piece = c->on_piece,
                       .on_done = on_http_done,
                       .on_more = c->on_more ? on_http_more : NULL,
                       .date_ms = -1,
                       .length = UINT64_MAX};
  if (!c->free_try) c->tries++;
  c->free_try = 0;
  c->turn_us = 0;
  move(c, SLP_CALL_SENT);
  aws->stats.calls += is_of_reading(c);
  aws->stats.bytes_out += c->body.n;
  slp_http_send(aws->h, &c->http);
}

/* Sends a call that needs no keys of aws: it is not signed, or its owner gave the keys. */
static void send_without_family(slp_call *c) {
  slp_fail_clear(&c->fail);
  send_call_request(c, c->keys);
}

/* Adds to c->fail, in which the service refused the keys, the reason why there are no new keys. With the
 * refusal alone, the user would look for a mistake in keys that worked until now. */
static void tell_why_no_new_keys(slp_call *c) {
  const slp_fail *last = slp_creds_last(c->aws->creds);
  char refusal[sizeof c->fail.message];
  if (last->class == SLP_FINE) return;
  memcpy(refusal, c->fail.message, sizeof refusal);
  slp_fail_set(&c->fail, c->fail.class, c->fail.code, "%.100s No new keys: %.200s", refusal, last->message);
}

/* ---- calls that the service counts for a whole account ------------------------------------------------- */
#define KIND_MAX 512u

static slp_str kind_of(const slp_call *c, char room[KIND_MAX]) {
  int n = snprintf(room, KIND_MAX, "%.300s %.*s %.*s", c->aws->endpoints[c->svc].url, (int)c->target.n,
                   c->target.p, (int)slp_min_u64(c->quota_of.n, 80), c->quota_of.n ? c->quota_of.p : "");
  return (slp_str){room, (size_t)n};
}

/* Reserves a time at which the account's quota lets this call be sent. If an earlier reserved time has passed
 * unused, reserves a new one. Returns 1 if the reserved time is still to come; the timer is then set. Returns
 * 0 if the call may be sent now. */
static int waits_for_turn(slp_call *c) {
  slp_host *h = c->aws->h;
  char room[KIND_MAX];
  uint64_t now = slp_now_us(h);
  if (!c->quota_a_second) return 0;
  if (!c->turn_us || now > c->turn_us + SLP_QUOTA_LATE_US)
    c->turn_us = slp_host_quota_take(h, kind_of(c, room), c->quota_a_second);
  if (c->turn_us <= slp_now_us(h)) return 0;
  /* if there is no memory for the timer, the call is sent at once */
  if (slp_timer_set(h, &c->timer, c->turn_us)) return 0;
  move(c, SLP_CALL_PAUSING);
  return 1;
}

static void settle_call_needs(slp_call *c) {
  slp_aws *aws = c->aws;
  slp_sign_keys keys;
  slp_fail f;
  uint64_t serial = 0;
  slp_fail_clear(&f);
  move(c, SLP_CALL_SETTLING);
  int r = slp_aws_endpoint(aws, c->svc, &c->wait, &f);
  if (r == SLP_MORE) {
    move(c, SLP_CALL_WAITING_SETUP);
    return;
  }
  if (r) {
    c->fail = f;
    end_later(c);
    return;
  }
  if (waits_for_turn(c)) return;
  if (c->keys || c->anonymous) {
    send_without_family(c);
    return;
  }
  switch (slp_creds_get(aws->creds, slp_aws_now_ms(aws), &keys, &serial, &f)) {
    case SLP_CREDS_WAIT:
      move(c, SLP_CALL_WAITING_KEYS);
      slp_creds_await(aws->creds, &c->wait);
      return;
    case SLP_CREDS_FAILED:
      c->fail = f;
      end_later(c);
      return;
    case SLP_CREDS_READY: break;
  }
  aws->stats.creds_refreshes = slp_creds_refreshes(aws->creds);
  if (c->keys_are == SLP_CALL_KEYS_REFUSED && serial == c->serial) {
    tell_why_no_new_keys(c);
    /* c->fail still has the refusal: the attempt for new keys returned the refused keys again */
    end_later(c);
    return;
  }
  if (c->keys_are == SLP_CALL_KEYS_REFUSED) move_keys(c, SLP_CALL_KEYS_RENEWED);
  c->serial = serial;
  slp_fail_clear(&c->fail);
  send_call_request(c, &keys);
}

void slp_call_send(slp_call *c) {
  SLP_CHECK(c->state == SLP_CALL_IDLE);
  slp_fail_clear(&c->fail);
  c->tries = c->throttles = 0;
  c->turn_us = 0;
  c->free_try = c->clock_fixed = c->stale_tried = c->late_tried = 0;
  move_keys(c, SLP_CALL_KEYS_FIRST);
  settle_call_needs(c);
}

void slp_call_refuse(slp_call *c, slp_class class, int code, const char *why) {
  SLP_CHECK(c->state == SLP_CALL_IDLE);
  slp_fail_clear(&c->fail);
  c->tries = 0;
  slp_fail_set(&c->fail, class, code, "%s", why);
  end_later(c);
}

void slp_call_cancel(slp_call *c) {
  if (c->state == SLP_CALL_SENT) slp_http_cancel(c->aws->h, &c->http);
  slp_wait_cancel(&c->wait);
  slp_timer_clear(c->aws->h, &c->timer);
  slp_unpost(&c->ev);
  wipe_secrets(c);
  move(c, SLP_CALL_IDLE);
}

/* ---- the outcome of a try ------------------------------------------------------------------------------ */
static void again_free(slp_call *c) {
  c->free_try = 1;
  settle_call_needs(c);
}

/* Handles a failed try, whose failure is in c->fail: waits for the next try, or ends the call. */
static void retry_or_end_call(slp_call *c) {
  slp_aws *aws = c->aws;
  slp_class class = c->fail.class;
  if (class == SLP_THROTTLE) aws->stats.throttles += is_of_reading(c), c->throttles++;
  /* A throttled request had no effect, so it is sent again even if `once` is set. */
  int repeat = (class == SLP_THROTTLE && !c->paced) ||
               (class == SLP_TRANSIENT && !slp_fails_again(c->fail.code) && !c->once);
  uint32_t tries_max = c->tries_max > 1 && aws->tries_max ? aws->tries_max : c->tries_max;
  if (!repeat || c->tries >= tries_max) {
    end_later(c);
    return;
  }
  uint64_t wait = slp_retry_wait_us(class, c->tries, slp_random(aws->h), c->fail.retry_after_us);
  if (slp_timer_set(aws->h, &c->timer, slp_after_us(slp_now_us(aws->h), wait))) {
    end_later(c);
    return;
  }
  aws->stats.retries += is_of_reading(c);
  move(c, SLP_CALL_PAUSING);
}

static void network_failed(slp_call *c) {
  const slp_http *http = &c->http;
  /* The server closed a reused connection before it answered. Servers close idle connections, so this is no
   * failure of the service, and the call is sent again on a new connection. */
  int stale = http->reused && http->status == 0 && http->error != SLP_ETIMEDOUT && !c->once;
  if (stale && !c->stale_tried) {
    SLP_PROBE("call: sent again, its connection was stale");
    c->stale_tried = 1;
    again_free(c);
    return;
  }
  slp_fail_clear(&c->fail);
  c->fail.http_status = http->status;
  slp_class class = http->error == SLP_ENOMEM ? SLP_NOMEM : SLP_TRANSIENT;
  slp_fail_set(&c->fail, class, http->error, "%s",
               http->error_text[0] ? http->error_text : "the connection failed");
  hide_and_count_failure(c);
  retry_or_end_call(c);
}

/* Corrects the clock offset if the answer's header Date is far from the time of the signature. A Date that
 * came neither over TLS nor from this machine is not used, because it could have been changed on the way.
 * Returns 1 if the offset was corrected. fixed_before 1: the previous answer has just corrected the offset,
 * so it is not corrected again: a service that refuses even its own time would be called for ever. */
static int fix_clock(slp_call *c, int fixed_before) {
  slp_aws *aws = c->aws;
  const slp_endpoint *e = &aws->endpoints[c->svc];
  int64_t date = c->http.date_ms;
  if (fixed_before || date < 0 || SLP_MUTANT(skew_stays) || !(e->tls || e->loopback)) return 0;
  int64_t off = date - c->signed_ms;
  if (off < SLP_CLOCK_SKEW_MS_MIN && off > -SLP_CLOCK_SKEW_MS_MIN) return 0;
  /* Another call may have corrected the offset after this one was signed. Setting it a second time does no
   * harm. */
  aws->clock_offset_ms = SLP_MUTANT(skew_adds_up) ? aws->clock_offset_ms + off : date - slp_wall_ms(aws->h);
  slp_creds_learn_clock(aws->creds, aws->clock_offset_ms);
  SLP_PROBE("call: the clock is set right");
  aws->stats.clock_fixes++;
  c->clock_fixed = 1;
  return 1;
}

/* Returns 1 if too much time has passed since the request was signed, by the wall clock or the monotonic
 * clock. The refusal then does not show whether the clock is wrong. Either the process was stopped, the
 * machine slept, or the clock was set. Then the signature may have been too old when it was sent, and the
 * Date in the answer may be too old as well. */
static int is_read_late(const slp_call *c) {
  int64_t by_clock = slp_wall_ms(c->aws->h) - c->signed_wall_ms;
  uint64_t waited_us = slp_now_us(c->aws->h) - c->http.sent_us;
  return waited_us >= SLP_CLOCK_SKEW_MS_MIN * UINT64_C(1000) || by_clock >= SLP_CLOCK_SKEW_MS_MIN ||
         by_clock <= -SLP_CLOCK_SKEW_MS_MIN;
}

static void answer_failed(slp_call *c, int clock_fixed_before) {
  slp_remedy remedy = SLP_REMEDY_NONE;
  slp_bad_answer bad = {.status = c->http.status,
                        .error_type = c->http.error_type,
                        .request_id = c->http.request_id,
                        .content_type = c->http.content_type,
                        .retry_after_ms = c->http.retry_after_ms,
                        .may_be_cut = !c->http.length_known,
                        .body = slp_buf_str(c->into),
                        .from = c->http.error_text,
                        .secrets = slp_call_secrets(c)};
  slp_classify(&bad, &c->fail, &remedy);
  hide_and_count_failure(c);
  if (c->fail.class == SLP_THROTTLE && c->quota_a_second) {
    char room[KIND_MAX];
    slp_host_quota_refused(c->aws->h, kind_of(c, room));
  }
  if (remedy == SLP_REMEDY_CLOCK && !c->anonymous && c->late_tried < LATE_MAX && is_read_late(c)) {
    SLP_PROBE("call: refused for a time that is long ago");
    c->late_tried++;
    again_free(c);
    return;
  }
  if (remedy == SLP_REMEDY_CLOCK && !c->anonymous && fix_clock(c, clock_fixed_before)) {
    again_free(c);
    return;
  }
  int renewable = !c->keys && !c->anonymous && c->keys_are == SLP_CALL_KEYS_FIRST;
  if (remedy == SLP_REMEDY_KEYS && renewable && slp_creds_refused(c->aws->creds, c->serial)) {
    SLP_PROBE("call: the keys were refused, and are asked for anew");
    move_keys(c, SLP_CALL_KEYS_REFUSED);
    again_free(c);
    return;
  }
  retry_or_end_call(c);
}

static void on_http_done(slp_http *http) {
  slp_call *c = SLP_OWNER(http, slp_call, http);
  SLP_CHECK(c->state == SLP_CALL_SENT);
  int clock_fixed_before = c->clock_fixed;
  c->clock_fixed = 0;
  c->body_n = c->into->n;
  c->sum = 0;
  c->sum_at = 0;
  c->aws->stats.bytes_in += c->body_n;
  if (http->error)
    network_failed(c);
  else if (c->reroute && c->reroute(c))
    again_free(c);
  else if (http->status != 200)
    answer_failed(c, clock_fixed_before);
  else {
    move(c, SLP_CALL_READING);
    c->on_body(c, 1);
  }
}

void slp_call_good(slp_call *c) {
  SLP_CHECK(c->state == SLP_CALL_READING);
  slp_fail_clear(&c->fail);
  done_with_secrets(c);
  move(c, SLP_CALL_IDLE);
  c->on_done(c);
}

void slp_call_bad(slp_call *c, slp_class class, int code, const char *why) {
  SLP_CHECK(c->state == SLP_CALL_READING);
  slp_fail_clear(&c->fail);
  c->fail.http_status = c->http.status;
  memcpy(c->fail.request_id, c->http.request_id, sizeof c->fail.request_id);
  if (c->http.error_text[0]) /* the body is a page of HTML or text, though the status is 200 */
    slp_fail_set(&c->fail, class, code, "%.120s: it is %.40s from %s", why, c->http.content_type,
                 c->http.error_text);
  else
    slp_fail_set(&c->fail, class, code, "%s", why);
  hide_and_count_failure(c);
  retry_or_end_call(c);
}

void slp_call_unreadable(slp_call *c, int r, const char *why) {
  if (r == SLP_ENOMEM)
    slp_call_bad(c, SLP_NOMEM, SLP_ENOMEM, "no memory to read the answer");
  else
    slp_call_bad(c, SLP_TRANSIENT, SLOOP_EPROTO, why);
}

void slp_call_damaged(slp_call *c) {
  slp_call_bad(c, SLP_TRANSIENT, SLOOP_EPROTO, "the answer came damaged: its checksum is wrong");
}

int slp_call_is_damaged(slp_call *c, size_t bytes_max) {
  const slp_http *http = &c->http;
  if (!http->crc32_given) return 0;
  size_t n = (size_t)slp_min_u64(c->body_n - c->sum_at, bytes_max);
  c->sum = slp_crc32_more(c->sum, (slp_str){c->into->p + c->sum_at, n});
  c->sum_at += n;
  return c->sum_at == c->body_n && c->sum != http->crc32;
}

void slp_call_more(slp_call *c) {
  SLP_CHECK(c->state == SLP_CALL_READING);
  slp_post(c->aws->h, &c->ev);
}

void slp_call_again(slp_call *c) {
  SLP_CHECK(c->state == SLP_CALL_READING);
  again_free(c);
}
