/* imds.c - gets the session token, uses version 1 of the service if version 2 is not available, and
 * interprets answers. */
#include "aws/imds.h"

#include "aws/aws.h"
#include "aws/fetch.h"
#include "aws/hide.h"
#include "aws/profile.h"
#include "aws/provider.h"
#include "base/buf.h"
#include "base/num.h"
#include "codec/uri.h"
#include "host/host.h"

#include <stdio.h>

#define TOKEN_PATH "latest/api/token"
#define TOKEN_SECONDS "21600"
#define TOKEN_MAX 1024

static const char *env(const slp_imds *m, const char *name) {
  const char *value = m->getenv_fn(m->getenv_ctx, name);
  return value && value[0] ? value : NULL;
}

/* Returns a setting of the environment or, if the environment does not have it, of the profile. *ret_name,
 * unless ret_name is NULL, is the name of the setting in the place where it was found. */
static const char *setting(const slp_imds *m, const char *variable, slp_profile_key key,
                           const char **ret_name) {
  const char *value = env(m, variable), *name = variable;
  if (!value && m->profile) {
    value = slp_profile_get(m->profile, key);
    if (value && !value[0]) value = NULL;
    if (value) name = slp_profile_key_name(key);
  }
  if (ret_name) *ret_name = name;
  return value;
}

static void on_ev(slp_event *ev) {
  slp_imds *m = SLP_OWNER(ev, slp_imds, ev);
  m->on_done(m, m->result);
}

static void on_fetched(slp_fetch *f);

void slp_imds_init(slp_imds *m, slp_host *h, slp_getenv_fn getenv_fn, void *getenv_ctx,
                   const slp_profile *profile) {
  *m = (slp_imds){
      .h = h, .getenv_fn = getenv_fn, .getenv_ctx = getenv_ctx, .profile = profile, .ev = {.run = on_ev}};
  slp_fetch_init(&m->fetch, h);
  slp_buf_init(&m->token, h->mem, TOKEN_MAX);
}

void slp_imds_end(slp_imds *m) {
  slp_unpost(&m->ev);
  slp_fetch_cancel(&m->fetch);
  slp_secret_free(&m->token);
  m->has_token = m->without_token = 0;
}

static void tell_later(slp_imds *m, slp_imds_result result) {
  m->result = result;
  slp_post(m->h, &m->ev);
}

/* Returns the value of a setting that is a number; a larger number is reduced to `most`. Returns `otherwise`
 * if the setting is missing, not a number, or 0. */
static uint32_t read_number_setting(const slp_imds *m, const char *variable, slp_profile_key key,
                                    uint32_t otherwise, uint32_t most) {
  uint64_t n;
  const char *value = setting(m, variable, key, NULL);
  if (!value || slp_parse_u64(slp_str_of(value), &n) || n == 0) return otherwise;
  return (uint32_t)slp_min_u64(n, most);
}

/* Finds the URL of the service. Returns 0, or an error if the user's URL is not valid. */
static int find_base(slp_imds *m) {
  const char *name, *what = "";
  const char *given = setting(m, "AWS_EC2_METADATA_SERVICE_ENDPOINT", SLP_PROFILE_METADATA_URL, &name);
  const char *mode =
      setting(m, "AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE", SLP_PROFILE_METADATA_URL_MODE, NULL);
  int ipv6 = slp_setting_is(mode, "ipv6");
  slp_uri uri;
  m->configured = given != NULL;
  if (!given) given = ipv6 ? "http://[fd00:ec2::254]/" : "http://169.254.169.254/";
  size_t n = strlen(given);
  int r = n + 2 > sizeof m->base ? SLP_EBADDATA : slp_uri_parse(slp_str_of(given), &uri, &what);
  if (r) {
    snprintf(m->why, sizeof m->why, "%s %.100s: %s", name, given, what[0] ? what : "too long");
    return r;
  }
  snprintf(m->base, sizeof m->base, "%s%s", given, given[n - 1] == '/' ? "" : "/");
  return 0;
}

static void send_imds_request(slp_imds *m, const char *method, const char *path) {
  slp_fetch *f = &m->fetch;
  int token = strcmp(method, "PUT") == 0;
  snprintf(m->url, sizeof m->url, "%s%s", m->base, path);
  f->method = method;
  f->url = m->url;
  f->no_proxy = 1;
  f->headers_n = 0;
  if (token) {
    f->headers[f->headers_n++] =
        (slp_http_header){SLP_STR("X-aws-ec2-metadata-token-ttl-seconds"), SLP_STR(TOKEN_SECONDS)};
  } else if (m->has_token) {
    f->headers[f->headers_n++] =
        (slp_http_header){SLP_STR("X-aws-ec2-metadata-token"), slp_buf_str(&m->token)};
  }
  f->total_ms_max =
      read_number_setting(m, "AWS_METADATA_SERVICE_TIMEOUT", SLP_PROFILE_METADATA_TIMEOUT, 1, 60) * 1000;
  f->tries_max =
      read_number_setting(m, "AWS_METADATA_SERVICE_NUM_ATTEMPTS", SLP_PROFILE_METADATA_TRIES, 1, 20);
  f->on_done = on_fetched;
  slp_fetch_send(f);
}

void slp_imds_get(slp_imds *m, const char *path) {
  m->why[0] = 0;
  if (slp_setting_is(env(m, "AWS_EC2_METADATA_DISABLED"), "true")) {
    tell_later(m, SLP_IMDS_DISABLED);
    return;
  }
  if (strlen(path) >= sizeof m->path || find_base(m)) {
    if (!m->why[0]) snprintf(m->why, sizeof m->why, "the metadata service names a role that is too long");
    tell_later(m, SLP_IMDS_BROKEN);
    return;
  }
  memcpy(m->path, path, strlen(path) + 1);
  if (m->has_token || m->without_token)
    send_imds_request(m, "GET", m->path);
  else
    send_imds_request(m, "PUT", TOKEN_PATH);
}

/* ---- answers ------------------------------------------------------------------------------------------- */
static void end_imds_as_broken(slp_imds *m, const char *what) {
  char room[SLP_FETCH_TROUBLE],
      /* `what`: the kind of document, for messages; it may contain the name of a role, which comes from the
       * service */
      said[sizeof m->path];
  snprintf(said, sizeof said, "%s", what);
  slp_hide_text(&m->fetch.secrets, said, strlen(said));
  snprintf(m->why, sizeof m->why, "instance metadata at %.70s: %.100s: %.100s", m->base, said,
           slp_fetch_trouble(&m->fetch, room));
  slp_hide(&m->fetch.secrets, m->why);
  m->on_done(m, SLP_IMDS_BROKEN);
}

static void no_answer(slp_imds *m) {
  if (m->fetch.http.error == SLP_ENOMEM) {
    m->on_done(m, SLP_IMDS_STARVED);
    return;
  }
  snprintf(m->why, sizeof m->why, "instance metadata: %.200s", m->fetch.http.error_text);
  slp_hide(&m->fetch.secrets, m->why);
  m->on_done(m, m->configured ? SLP_IMDS_BROKEN : SLP_IMDS_SILENT);
}

static int is_sendable_token(slp_str s) {
  for (size_t i = 0; i < s.n; i++) {
    if (s.p[i] <= 0x20 || s.p[i] >= 0x7f) return 0;
  }
  return s.n > 0;
}

/* Handles the answer to the PUT for a token. Inside a container the answer may not arrive (a hop limit of 1),
 * and some services do not know tokens. In both cases, the documents are fetched without a token. */
static void on_token(slp_imds *m) {
  const slp_http *http = &m->fetch.http;
  slp_str token = slp_buf_str(&m->fetch.answer);
  if (!http->error && http->status == 200 && token.n <= TOKEN_MAX && is_sendable_token(token)) {
    slp_secret_room(&m->token);
    if (slp_buf_add_str(&m->token, token)) {
      slp_secret_free(&m->token);
      m->on_done(m, SLP_IMDS_STARVED);
      return;
    }
    m->has_token = 1;
    send_imds_request(m, "GET", m->path);
    return;
  }
  int refused = !http->error && (http->status == 403 || http->status == 404 || http->status == 405);
  if (!refused && http->error != SLP_ETIMEDOUT) {
    if (http->error)
      no_answer(m);
    else
      end_imds_as_broken(m, "no session token");
    return;
  }
  const char *name;
  if (slp_setting_is(setting(m, "AWS_EC2_METADATA_V1_DISABLED", SLP_PROFILE_METADATA_V1_DISABLED, &name),
                     "true")) {
    char room[100];
    snprintf(room, sizeof room, "no session token, and %s forbids to continue without one", name);
    if (http->error)
      no_answer(m);
    else
      end_imds_as_broken(m, room);
    return;
  }
  m->without_token = 1;
  send_imds_request(m, "GET", m->path);
}

static void on_fetched(slp_fetch *f) {
  slp_imds *m = SLP_OWNER(f, slp_imds, fetch);
  if (!m->has_token && !m->without_token)
    on_token(m);
  else if (f->http.error)
    no_answer(m);
  else if (f->http.status != 200)
    end_imds_as_broken(m, m->path);
  else
    m->on_done(m, SLP_IMDS_FINE);
}
