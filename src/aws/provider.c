/* provider.c - the functions with which providers answer, and the reading of keys from JSON. */
#include "aws/provider.h"

#include "aws/aws.h"
#include "aws/hide.h"
#include "base/buf.h"
#include "base/mem.h"
#include "codec/date.h"
#include "codec/fields.h"

#include <stdarg.h>
#include <stdio.h>

static void tell_keys_outcome(slp_provider *p, slp_keys_outcome outcome, const slp_aws_keys *keys) {
  slp_keys_answer a = {.outcome = outcome, .keys = keys};
  p->answered(p, &a);
}

void slp_keys_found(slp_provider *p, const slp_aws_keys *keys) { tell_keys_outcome(p, SLP_KEYS_FOUND, keys); }
void slp_keys_nothing(slp_provider *p) { tell_keys_outcome(p, SLP_KEYS_NOTHING, NULL); }
void slp_keys_nothing_in(slp_provider *p, const char *looked) {
  slp_keys_answer a = {.outcome = SLP_KEYS_NOTHING, .why = looked};
  p->answered(p, &a);
}
void slp_keys_starved(slp_provider *p) { tell_keys_outcome(p, SLP_KEYS_STARVED, NULL); }

static void answer_why(slp_provider *p, slp_keys_outcome outcome, int http_status, const char *fmt,
                       va_list args) {
  char why[SLP_KEYS_WHY];
  slp_keys_answer a = {.outcome = outcome, .why = why, .http_status = http_status};
  vsnprintf(why, sizeof why, fmt, args);
  if (p->secrets) slp_hide(p->secrets, why);
  p->answered(p, &a);
}

void slp_keys_broken(slp_provider *p, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  answer_why(p, SLP_KEYS_BROKEN, 0, fmt, args);
  va_end(args);
}

void slp_keys_failed(slp_provider *p, int passes, int http_status, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  answer_why(p, passes ? SLP_KEYS_FAILED : SLP_KEYS_BROKEN, http_status, fmt, args);
  va_end(args);
}

/* ---- JSON ---------------------------------------------------------------------------------------------- */
enum { KEY_ID, SECRET, TOKEN, EXPIRATION, CODE, MESSAGE, ACCOUNT, FIELDS };

static const char *missing(const slp_field *fields, const slp_keys_json *form) {
  for (int i = 0; i < (form->must_expire ? CODE : TOKEN); i++) {
    if (!fields[i].text.n) return fields[i].name;
  }
  return NULL;
}

void slp_keys_from_json(slp_provider *p, slp_buf *body, const slp_keys_json *form, const char *who) {
  slp_field fields[FIELDS] = {
      {"AccessKeyId", {0}}, {"SecretAccessKey", {0}}, {form->token_name, {0}}, {"Expiration", {0}},
      {"Code", {0}},        {"Message", {0}},         {"AccountId", {0}}};
  const char *why = "";
  slp_aws_keys keys = {.expires_at_ms = SLP_KEYS_NEVER};
  if (!body->n) {
    slp_keys_broken(p, "%s is empty", who);
    return;
  }
  if (slp_fields_read(body->p, body->n, NULL, fields, FIELDS, &why)) {
    slp_keys_broken(p, "%s is not what it should be: %s", who, why);
    return;
  }
  slp_str code = fields[CODE].text, text = fields[MESSAGE].text;
  if (code.n && !slp_str_is(code, "Success")) {
    if (p->secrets) slp_hide_text(p->secrets, body->p, body->n);
    slp_keys_broken(p, "%s is an error: %.*s %.*s", who, (int)(code.n < 60 ? code.n : 60), code.p,
                    (int)(text.n < 120 ? text.n : 120), text.n ? text.p : "");
    return;
  }
  const char *lacks = missing(fields, form);
  if (lacks) {
    slp_keys_broken(p, "%s lacks %s", who, lacks);
    return;
  }
  if (fields[EXPIRATION].text.n && slp_date_parse_iso(fields[EXPIRATION].text, &keys.expires_at_ms)) {
    slp_keys_broken(p, "%s has an Expiration that is not a time like 2026-01-02T03:04:05Z", who);
    return;
  }
  keys.key_id = fields[KEY_ID].text;
  keys.secret = fields[SECRET].text;
  keys.token = fields[TOKEN].text;
  keys.account = fields[ACCOUNT].text;
  slp_keys_found(p, &keys);
}

/* ---- secrets ------------------------------------------------------------------------------------------- */
int slp_secret_room(slp_buf *b) { return slp_buf_reserve(b, b->max - b->n); }

void slp_secret_clear(slp_buf *b) {
  if (b->p) slp_wipe(b->p, b->cap);
  slp_buf_clear(b);
}

void slp_secret_free(slp_buf *b) {
  slp_secret_clear(b);
  slp_buf_free(b);
}
