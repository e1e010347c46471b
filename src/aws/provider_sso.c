/* provider_sso.c - keys for a user who signed in with `aws sso login`. The token of the sign-in is read from
 * the AWS tools' cache file, and renewed if it is old and can be renewed. It is then sent to the portal,
 * which returns keys.
 *
 * The cache file is not changed, because it belongs to the AWS tools. A renewed token is kept in memory until
 * the file has a new token. */
#include "aws/aws.h"
#include "aws/aws_impl.h"
#include "aws/fetch.h"
#include "aws/limits.h"
#include "aws/profile.h"
#include "aws/provider.h"
#include "aws/sso_cache.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/mem.h"
#include "codec/fields.h"
#include "codec/json.h"
#include "codec/json_write.h"
#include "codec/uri.h"
#include "host/err.h"
#include "host/host.h"

#include <stdio.h>

#define TRIES 3
#define FILE_MAX 65536u
#define TOKEN_MAX 65536u
#define REQUEST_MAX (256u * 1024)
/* botocore renews a token when the token has less than this time left. */
#define RENEW_MS (15 * 60 * 1000)
#define MS_MAX 120000u

typedef struct sso {
  slp_provider p;
  slp_aws *aws;
  const slp_profile *const *from;
  char where[200];
  char profile_name[128];
  slp_file file;
  /* path and text of the cache file; `token` points into `text`, or into `renewed` after a renewal */
  slp_buf path, text;
  slp_sso_token token;
  slp_buf renewed;  /* access token and refresh token of a renewal by this provider */
  size_t renewed_n; /* length of the access token in `renewed` */
  int64_t renewed_expires_ms;
  /* The token's expiry in the cache file when the file was last read. If it has changed, the user has signed
   * in again. */
  int64_t cached_expires_ms;
  slp_fetch fetch;
  slp_buf url, request, bearer;
  char *region, *account, *role; /* owned; used during one attempt */
  uint8_t reading, with_session;
} sso;

static void clear_sso_attempt(sso *s) {
  slp_mem *mem = s->aws->h->mem;
  if (s->reading) slp_file_cancel(s->aws->h, &s->file);
  s->reading = 0;
  slp_fetch_cancel(&s->fetch);
  slp_secret_free(&s->text);
  slp_secret_free(&s->request);
  slp_secret_free(&s->bearer);
  slp_free(mem, s->region);
  slp_free(mem, s->account);
  slp_free(mem, s->role);
  s->region = s->account = s->role = NULL;
}

static void answer_sso_starved(sso *s) {
  slp_keys_starved(&s->p);
  clear_sso_attempt(s);
}

static void sign_in_again(sso *s, const char *what) {
  slp_keys_broken(&s->p, "%.170s: %s: run aws sso login --profile %.60s", s->where, what, s->profile_name);
  clear_sso_attempt(s);
}

static int64_t now_ms(const sso *s) { return slp_aws_now_ms(s->aws); }

/* Builds the URL: the service's endpoint followed by `path`. Returns 0 with the URL in s->url. Otherwise
 * answers with the reason and returns an error. */
static int find_url(sso *s, slp_svc svc, const char *path) {
  slp_fail f;
  int r = slp_aws_url_in(s->aws, svc, s->region, *s->from, path, &s->url, &f);
  if (r && f.message[0]) {
    slp_keys_broken(&s->p, "%.170s: %.120s", s->where, f.message);
    clear_sso_attempt(s);
  } else if (r) {
    answer_sso_starved(s);
  }
  return r;
}

static void send_sso_request(sso *s, const char *method, void (*on_done)(slp_fetch *f)) {
  slp_fetch *f = &s->fetch;
  f->method = method;
  f->url = slp_buf_z(&s->url);
  f->total_ms_max = SLP_CONTROL_MS_MAX;
  f->tries_max = s->aws->tries_max ? s->aws->tries_max : TRIES;
  f->ca_bundle = s->aws->ca_bundle;
  f->on_done = on_done;
  slp_fetch_send(f);
}

/* ---- the portal ---------------------------------------------------------------------------------------- */
static void on_keys(slp_fetch *f) {
  sso *s = SLP_OWNER(f, sso, fetch);
  slp_field fields[] = {
      {"accessKeyId", {0}}, {"secretAccessKey", {0}}, {"sessionToken", {0}}, {"expiration", {0}}};
  const char *why = "";
  char room[SLP_FETCH_TROUBLE];
  slp_aws_keys keys = {.expires_at_ms = SLP_KEYS_NEVER};
  if (f->http.error == SLP_ENOMEM) {
    answer_sso_starved(s);
    return;
  }
  if (!f->http.error && f->http.status == 401) {
    sign_in_again(s, "the sign-in is not accepted any more");
    return;
  }
  if (f->http.error || f->http.status != 200) {
    slp_keys_failed(&s->p, slp_fetch_passes(f), f->http.status,
                    "%.120s: no keys for role %.40s of account %.20s: %.120s", s->where, s->role, s->account,
                    slp_fetch_trouble(f, room));
    clear_sso_attempt(s);
    return;
  }
  int r = slp_fields_read(f->answer.p, f->answer.n, "roleCredentials", fields, SLP_COUNT(fields), &why);
  for (size_t i = 0; i < SLP_COUNT(fields) && !r; i++) {
    if (fields[i].text.n) continue;
    why = fields[i].name;
    r = SLP_EBADDATA;
  }
  if (!r) r = slp_decimal_scaled(fields[3].text, 0, &keys.expires_at_ms);
  if (r) {
    slp_keys_broken(&s->p, "%.170s: the portal's answer holds no keys (%s)", s->where, why);
  } else {
    keys.key_id = fields[0].text;
    keys.secret = fields[1].text;
    keys.token = fields[2].text;
    keys.account = slp_str_of(s->account);
    slp_keys_found(&s->p, &keys);
  }
  clear_sso_attempt(s);
}

static void ask_portal(sso *s, slp_str access) {
  slp_secret_clear(&s->bearer);
  slp_secret_room(&s->bearer);
  if (slp_buf_add_str(&s->bearer, access)) {
    answer_sso_starved(s);
    return;
  }
  for (size_t i = 0; i < s->bearer.n; i++) {
    if ((unsigned char)s->bearer.p[i] <= 0x20 || (unsigned char)s->bearer.p[i] >= 0x7f) {
      sign_in_again(s, "the cached token holds characters that no token has");
      return;
    }
  }
  if (find_url(s, SLP_SVC_SSO, "/federation/credentials?role_name=")) return;
  slp_uri_put_encoded(&s->url, slp_str_of(s->role), 0);
  slp_buf_add_z(&s->url, "&account_id=");
  if (slp_uri_put_encoded(&s->url, slp_str_of(s->account), 0)) {
    answer_sso_starved(s);
    return;
  }
  s->fetch.body = (slp_str){NULL, 0};
  s->fetch.headers_n = 0;
  s->fetch.headers[s->fetch.headers_n++] =
      (slp_http_header){SLP_STR("x-amz-sso_bearer_token"), slp_buf_str(&s->bearer)};
  send_sso_request(s, "GET", on_keys);
}

/* ---- renewing the token -------------------------------------------------------------------------------- */
/* Uses the present token if it is still valid. Otherwise answers that the user must sign in. */
static void without_renewal(sso *s, const char *why) {
  if (s->token.expires_ms > slp_aws_early_ms(s->aws))
    ask_portal(s, s->token.access);
  else
    sign_in_again(s, why);
}

static int keep_renewed(sso *s, slp_str access, slp_str refresh, int64_t expires_ms) {
  slp_buf copy;
  slp_buf_init(&copy, s->aws->h->mem, access.n + refresh.n + 1);
  slp_secret_room(&copy);
  slp_buf_add_str(&copy, access);
  int r = slp_buf_add_str(&copy, refresh);
  if (r) {
    slp_secret_free(&copy);
    return r;
  }
  slp_secret_free(&s->renewed);
  slp_buf_move(&s->renewed, &copy);
  s->renewed_n = access.n;
  s->renewed_expires_ms = expires_ms;
  return 0;
}

static void use_renewed(sso *s) {
  s->token.access = (slp_str){s->renewed.p, s->renewed_n};
  s->token.refresh = (slp_str){s->renewed.p + s->renewed_n, s->renewed.n - s->renewed_n};
  s->token.expires_ms = s->renewed_expires_ms;
}

/* Stores the secrets that a renewal sends, so that they are hidden in messages. They stay stored after the
 * renewal, because a later answer of the portal could quote them too. */
static void note_secrets(sso *s) {
  s->fetch.body_secrets[0] = s->token.client_secret;
  s->fetch.body_secrets[1] = s->token.refresh;
}

static void renewal_failed(sso *s, slp_fetch *f) {
  char room[SLP_FETCH_TROUBLE];
  int passes = slp_fetch_passes(f) && s->token.expires_ms <= slp_aws_early_ms(s->aws);
  if (passes) {
    slp_keys_failed(&s->p, 1, f->http.status,
                    "%.150s: the sign-in has expired and can't be renewed just now: %.120s", s->where,
                    slp_fetch_trouble(f, room));
    clear_sso_attempt(s);
    return;
  }
  slp_fetch_clear(f);
  without_renewal(s, "the sign-in has expired and could not be renewed");
}

static void on_renewed(slp_fetch *f) {
  sso *s = SLP_OWNER(f, sso, fetch);
  slp_field fields[] = {{"accessToken", {0}}, {"expiresIn", {0}}, {"refreshToken", {0}}};
  const char *why = "";
  int64_t seconds = 0;
  slp_secret_free(&s->request);
  if (f->http.error == SLP_ENOMEM) {
    answer_sso_starved(s);
    return;
  }
  int r = f->http.error || f->http.status != 200 ? SLP_EBADDATA : 0;
  if (!r) r = slp_fields_read(f->answer.p, f->answer.n, NULL, fields, SLP_COUNT(fields), &why);
  if (!r && !fields[0].text.n) r = SLP_EBADDATA;
  if (!r) r = slp_decimal_scaled(fields[1].text, 0, &seconds);
  if (!r && (seconds <= 0 || seconds > 400 * 86400)) r = SLP_EBADDATA;
  if (r) {
    renewal_failed(s, f);
    return;
  }
  /* If the answer has no refresh token, the old refresh token stays valid. */
  slp_str refresh = fields[2].text.n ? fields[2].text : s->token.refresh;
  r = keep_renewed(s, fields[0].text, refresh, now_ms(s) + seconds * 1000);
  slp_fetch_clear(f);
  if (r) {
    answer_sso_starved(s);
    return;
  }
  use_renewed(s);
  note_secrets(s);
  ask_portal(s, s->token.access);
}

static void renew_sso_token(sso *s) {
  slp_buf *b = &s->request;
  if (find_url(s, SLP_SVC_SSO_OIDC, "/token")) return;
  slp_secret_room(b);
  slp_jw w = slp_jw_begin(b);
  slp_jw_z(&w, "grantType", "refresh_token");
  slp_jw_str(&w, "clientId", s->token.client_id);
  slp_jw_str(&w, "clientSecret", s->token.client_secret);
  slp_jw_str(&w, "refreshToken", s->token.refresh);
  if (slp_jw_object_end(&w)) {
    answer_sso_starved(s);
    return;
  }
  s->fetch.body = slp_buf_str(b);
  s->fetch.headers_n = 0;
  s->fetch.headers[s->fetch.headers_n++] =
      (slp_http_header){SLP_STR("Content-Type"), SLP_STR("application/json")};
  send_sso_request(s, "POST", on_renewed);
}

/* ---- the cache ----------------------------------------------------------------------------------------- */
static void on_file(slp_file *file) {
  sso *s = SLP_OWNER(file, sso, file);
  const char *why = "";
  s->reading = 0;
  if (file->error == SLP_ENOMEM) {
    answer_sso_starved(s);
    return;
  }
  if (file->error == SLP_ENOENT) {
    sign_in_again(s, "nobody is signed in");
    return;
  }
  if (file->error || slp_sso_cache_read(s->text.p, s->text.n, &s->token, &why)) {
    slp_keys_broken(&s->p, "%.100s: can't use %.130s: %.60s", s->where, slp_buf_z(&s->path),
                    file->error ? slp_file_why(file->error) : why);
    clear_sso_attempt(s);
    return;
  }
  if (s->token.expires_ms != s->cached_expires_ms) slp_secret_free(&s->renewed);
  s->cached_expires_ms = s->token.expires_ms;
  if (s->renewed.n && s->renewed_expires_ms > s->token.expires_ms) use_renewed(s);
  note_secrets(s);
  const slp_sso_token *t = &s->token;
  int renewable = s->with_session && t->refresh.n && t->client_id.n && t->client_secret.n &&
                  t->client_expires_ms > now_ms(s);
  if (t->expires_ms - now_ms(s) >= RENEW_MS)
    ask_portal(s, t->access);
  else if (renewable)
    renew_sso_token(s);
  else
    without_renewal(s, "the sign-in has expired");
}

static int keep_settings(sso *s, const slp_profile *p, const char *home) {
  slp_mem *mem = s->aws->h->mem;
  const char *session = slp_profile_get(p, SLP_PROFILE_SSO_SESSION);
  const char *region = session ? p->session_region : slp_profile_get(p, SLP_PROFILE_SSO_REGION);
  s->with_session = session != NULL;
  s->region = slp_strdup(mem, slp_str_of(region));
  s->account = slp_strdup(mem, slp_str_of(slp_profile_get(p, SLP_PROFILE_SSO_ACCOUNT_ID)));
  s->role = slp_strdup(mem, slp_str_of(slp_profile_get(p, SLP_PROFILE_SSO_ROLE_NAME)));
  if (!s->region || !s->account || !s->role || slp_secret_room(&s->text)) return SLP_ENOMEM;
  slp_buf_clear(&s->path);
  return slp_sso_cache_path(&s->path, home,
                            session ? session : slp_profile_get(p, SLP_PROFILE_SSO_START_URL));
}

static void begin_sso_attempt(slp_provider *p, int fresh) {
  sso *s = SLP_OWNER(p, sso, p);
  const slp_profile *profile = *s->from;
  const char *home = s->aws->getenv_fn(s->aws->getenv_ctx, "HOME");
  (void)fresh;
  clear_sso_attempt(s);
  snprintf(s->profile_name, sizeof s->profile_name, "%s", profile->name);
  snprintf(s->where, sizeof s->where, "profile %.60s (%.100s)", profile->name,
           slp_profile_where(profile, SLP_PROFILE_SSO_ACCOUNT_ID));
  if (!home || !home[0]) {
    slp_keys_broken(p, "%.170s: HOME is not set, so there is no sign-in to be found", s->where);
    return;
  }
  if (keep_settings(s, profile, home)) {
    answer_sso_starved(s);
    return;
  }
  s->file = (slp_file){
      .path = slp_buf_z(&s->path), .bytes_max = FILE_MAX - 1, .into = &s->text, .on_done = on_file};
  s->reading = 1;
  slp_file_read(s->aws->h, &s->file);
}

static void cancel_sso_attempt(slp_provider *p) { clear_sso_attempt(SLP_OWNER(p, sso, p)); }

static void sso_free(slp_provider *p) {
  sso *s = SLP_OWNER(p, sso, p);
  clear_sso_attempt(s);
  slp_secret_free(&s->renewed);
  slp_buf_free(&s->path);
  slp_buf_free(&s->url);
  slp_free(s->aws->h->mem, s);
}

slp_provider *slp_provider_sso(slp_aws *aws, const slp_profile *const *from) {
  slp_mem *mem = aws->h->mem;
  sso *s = SLP_NEW(mem, sso);
  if (!s) return NULL;
  *s = (sso){
      .p = {.begin = begin_sso_attempt, .cancel = cancel_sso_attempt, .free = sso_free, .ms_max = MS_MAX},
      .aws = aws,
      .from = from};
  slp_fetch_init(&s->fetch, aws->h);
  s->p.secrets = &s->fetch.secrets;
  slp_buf_init(&s->path, mem, 4096);
  slp_buf_init(&s->text, mem, FILE_MAX);
  slp_buf_init(&s->url, mem, 4096);
  slp_buf_init(&s->request, mem, REQUEST_MAX);
  slp_buf_init(&s->bearer, mem, TOKEN_MAX);
  slp_buf_init(&s->renewed, mem, TOKEN_MAX);
  return &s->p;
}
