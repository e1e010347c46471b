/* sts.c - the query protocol of STS (API version 2011-06-15): the request is a form, the answer is XML. */
#include "aws/sts.h"

#include "aws/aws.h"
#include "aws/aws_impl.h"
#include "aws/call.h"
#include "aws/classify.h"
#include "aws/endpoint.h"
#include "aws/limits.h"
#include "aws/provider.h"
#include "base/buf.h"
#include "base/fail.h"
#include "codec/date.h"
#include "codec/uri.h"
#include "codec/xml.h"
#include "host/host.h"

#include <sloop.h>
#include <stdio.h>

#define TRIES 3
/* Room for the form: a web token may have 20,000 characters, and each of them may take three bytes. */
#define FORM_MAX (64u * 1024 + 4096)
#define ANSWER_MAX (64u * 1024)
#define TEXT_MAX (32u * 1024)

static void on_body(slp_call *c, int begin);
static void on_call_done(slp_call *c);

void slp_sts_init(slp_sts *s, slp_aws *aws) {
  *s = (slp_sts){.role_arn = NULL};
  slp_call_init(&s->call, aws);
  slp_buf_init(&s->body, aws->h->mem, FORM_MAX);
  slp_buf_init(&s->answer, aws->h->mem, ANSWER_MAX);
  slp_buf_init(&s->text, aws->h->mem, TEXT_MAX);
}

const char *slp_sts_action(const slp_sts *s) {
  return s->web_token.p ? "AssumeRoleWithWebIdentity" : "AssumeRole";
}

/* Returns 1 if the failure may pass by itself. Returns 0 also for a complete answer with status 200 and no
 * keys, and for an answer too large to have keys. Such answers do not come from STS, so the address is wrong
 * and stays wrong. */
int slp_sts_passes(const slp_sts *s) {
  const slp_fail *f = &s->call.fail;
  const slp_http *http = &s->call.http;
  if ((f->class != SLP_THROTTLE && f->class != SLP_TRANSIENT) || slp_fails_again(f->code)) return 0;
  if (http->error == SLOOP_ETOOBIG) return http->status == 429 || http->status >= 500;
  return http->error || http->status != 200;
}

static void wipe_sts_secrets(slp_sts *s) {
  slp_secret_free(&s->body);
  slp_secret_free(&s->answer);
  slp_secret_free(&s->text);
}

void slp_sts_cancel(slp_sts *s) {
  slp_call_cancel(&s->call);
  wipe_sts_secrets(s);
}

void slp_sts_free(slp_sts *s) {
  slp_sts_cancel(s);
  slp_call_free(&s->call);
}

/* ---- the request
 * ----------------------------------------------------------------------------------------- */
static void put_form_parameter(slp_buf *b, const char *name, slp_str value) {
  if (!value.p) return;
  slp_buf_addf(b, "&%s=", name);
  slp_uri_put_encoded(b, value, 0);
}

static int put_form(slp_sts *s) {
  char session[64];
  /* The time makes sessions distinguishable in the logs of AWS. Session names need not be unique. */
  snprintf(session, sizeof session, "sloop-%lld", (long long)(slp_aws_now_ms(s->call.aws) / 1000));
  slp_buf_addf(&s->body, "Action=%s&Version=2011-06-15", slp_sts_action(s));
  put_form_parameter(&s->body, "RoleArn", slp_str_of(s->role_arn));
  put_form_parameter(&s->body, "RoleSessionName", slp_str_of(s->session ? s->session : session));
  put_form_parameter(&s->body, "ExternalId", slp_str_of(s->external_id));
  put_form_parameter(&s->body, "DurationSeconds", slp_str_of(s->duration_s));
  put_form_parameter(&s->body, "SerialNumber", slp_str_of(s->mfa_serial));
  put_form_parameter(&s->body, "TokenCode", slp_str_of(s->mfa_code));
  put_form_parameter(&s->body, "WebIdentityToken", s->web_token);
  return slp_buf_failed(&s->body);
}

void slp_sts_send(slp_sts *s) {
  slp_call *c = &s->call;
  wipe_sts_secrets(s);
  s->keys = s->ready = (slp_aws_keys){.expires_at_ms = SLP_KEYS_NEVER};
  int r = slp_secret_room(&s->body);
  if (!r) r = slp_secret_room(&s->answer);
  if (!r) r = slp_secret_room(&s->text);
  if (!r) r = put_form(s);
  c->svc = SLP_SVC_STS;
  c->lane = SLP_LANE_CONTROL;
  c->content_type = SLP_STR("application/x-www-form-urlencoded; charset=utf-8");
  c->target = (slp_str){NULL, 0};
  c->body = slp_buf_str(&s->body);
  c->into = &s->answer;
  c->total_ms_max = SLP_CONTROL_MS_MAX;
  c->tries_max = TRIES;
  c->anonymous = s->web_token.p != NULL;
  c->secret = s->web_token.p ? s->web_token : slp_str_of(s->mfa_code);
  c->keys = s->web_token.p ? NULL : &s->sign_with;
  c->on_body = on_body;
  c->on_done = on_call_done;
  if (r)
    slp_call_refuse(c, r == SLP_ENOMEM ? SLP_NOMEM : SLP_REFUSED, r == SLP_ENOMEM ? r : SLOOP_EREFUSED,
                    r == SLP_ENOMEM ? "no memory" : "the request is too long");
  else
    slp_call_send(c);
}

/* ---- the answer ---------------------------------------------------------------------------------------- */
static int take_credential_element(slp_sts *s, const char *name, slp_str *ret) {
  char path[160];
  size_t from = s->text.n;
  snprintf(path, sizeof path, "%sResponse/%sResult/Credentials/%s", slp_sts_action(s), slp_sts_action(s),
           name);
  int r = slp_xml_text(slp_buf_str(&s->answer), path, &s->text);
  *ret = (slp_str){s->text.p + from, s->text.n - from};
  return r;
}

/* Returns the account of the role's session, or {NULL, 0} if the answer does not have it. */
static slp_str account_of_role(slp_sts *s) {
  slp_str arn;
  char path[160];
  size_t from = s->text.n;
  snprintf(path, sizeof path, "%sResponse/%sResult/AssumedRoleUser/Arn", slp_sts_action(s),
           slp_sts_action(s));
  int r = slp_xml_text(slp_buf_str(&s->answer), path, &s->text);
  arn = (slp_str){s->text.p + from, s->text.n - from};
  return r ? (slp_str){NULL, 0} : slp_arn_field(arn, SLP_ARN_ACCOUNT);
}

static void on_body(slp_call *c, int begin) {
  (void)begin;
  slp_sts *s = SLP_OWNER(c, slp_sts, call);
  slp_str expires;
  slp_buf_clear(&s->text);
  int r = take_credential_element(s, "AccessKeyId", &s->ready.key_id);
  if (!r) r = take_credential_element(s, "SecretAccessKey", &s->ready.secret);
  if (!r) r = take_credential_element(s, "SessionToken", &s->ready.token);
  if (!r) r = take_credential_element(s, "Expiration", &expires);
  if (!r) r = slp_date_parse_iso(expires, &s->ready.expires_at_ms);
  if (!r) s->ready.account = account_of_role(s);
  if (r)
    slp_call_bad(c, SLP_TRANSIENT, SLOOP_EREMOTE, "the answer holds no credentials");
  else
    slp_call_good(c);
}

static void on_call_done(slp_call *c) {
  slp_sts *s = SLP_OWNER(c, slp_sts, call);
  if (c->fail.class == SLP_FINE) s->keys = s->ready;
  slp_secret_free(&s->body);
  slp_secret_free(&s->answer);
  s->on_done(s);
}
