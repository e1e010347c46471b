/* provider_web.c - keys for a token of another identity provider, by AssumeRoleWithWebIdentity of STS (EKS
 * service accounts, CI systems). The file with the token is read in each attempt, because the token
 * rotates. */
#include "aws/aws_impl.h"
#include "aws/profile.h"
#include "aws/provider.h"
#include "aws/sts.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/mem.h"
#include "host/err.h"
#include "host/host.h"

#include <stdio.h>

#define TOKEN_MAX 20000u /* the most bytes of a token: STS API reference, WebIdentityToken */
/* Enough for reading the file and three tries of the call. */
#define MS_MAX 120000u

typedef struct web {
  slp_provider p;
  slp_aws *aws;
  const slp_profile *const *from; /* NULL: settings are read from the environment */
  char where[200];                /* names the place of the settings, for messages */
  char *role_arn, *session;       /* owned; used during one attempt */
  slp_buf path, token;
  slp_file file;
  slp_sts sts;
  uint8_t reading;
} web;

static const char *env(const web *w, const char *name) {
  const char *value = w->aws->getenv_fn(w->aws->getenv_ctx, name);
  return value && value[0] ? value : NULL;
}

static void clear_web_attempt(web *w) {
  slp_mem *mem = w->aws->h->mem;
  if (w->reading) slp_file_cancel(w->aws->h, &w->file);
  w->reading = 0;
  slp_sts_cancel(&w->sts);
  slp_secret_free(&w->token);
  slp_free(mem, w->role_arn);
  slp_free(mem, w->session);
  w->role_arn = w->session = NULL;
}

static void on_sts(slp_sts *sts) {
  web *w = SLP_OWNER(sts, web, sts);
  const slp_fail *fail = &sts->call.fail;
  if (fail->class == SLP_NOMEM)
    slp_keys_starved(&w->p);
  else if (fail->class != SLP_FINE)
    slp_keys_failed(&w->p, slp_sts_passes(sts), fail->http_status, "%.100s: %s of %.60s: %s%s%.220s",
                    w->where, slp_sts_action(sts), w->role_arn, fail->aws_code, fail->aws_code[0] ? ": " : "",
                    fail->message);
  else
    slp_keys_found(&w->p, &sts->keys);
  clear_web_attempt(w);
}

static void on_file(slp_file *file) {
  web *w = SLP_OWNER(file, web, file);
  w->reading = 0;
  while (w->token.n && (w->token.p[w->token.n - 1] == '\n' || w->token.p[w->token.n - 1] == '\r'))
    w->token.n--;
  if (file->error == SLP_ENOMEM) {
    slp_keys_starved(&w->p);
    clear_web_attempt(w);
    return;
  }
  if (file->error || !w->token.n) {
    const char *what = file->error == SLP_E2BIG ? "too large for a token" : slp_file_why(file->error);
    slp_keys_broken(&w->p, "%.170s: the token in %.100s: %s", w->where, slp_buf_z(&w->path),
                    file->error ? what : "the file is empty");
    clear_web_attempt(w);
    return;
  }
  w->sts.role_arn = w->role_arn;
  w->sts.session = w->session;
  w->sts.web_token = slp_buf_str(&w->token);
  w->sts.on_done = on_sts;
  slp_sts_send(&w->sts);
}

typedef struct web_settings {
  const char *file, *role_arn, *session;
} web_settings;

static web_settings find_web_settings(web *w) {
  const slp_profile *p = w->from ? *w->from : NULL;
  if (!p) {
    snprintf(w->where, sizeof w->where, "AWS_WEB_IDENTITY_TOKEN_FILE");
    return (web_settings){env(w, "AWS_WEB_IDENTITY_TOKEN_FILE"), env(w, "AWS_ROLE_ARN"),
                          env(w, "AWS_ROLE_SESSION_NAME")};
  }
  snprintf(w->where, sizeof w->where, "profile %.60s (%.100s)", p->name,
           slp_profile_where(p, SLP_PROFILE_WEB_IDENTITY));
  return (web_settings){slp_profile_get(p, SLP_PROFILE_WEB_IDENTITY),
                        slp_profile_get(p, SLP_PROFILE_ROLE_ARN),
                        slp_profile_get(p, SLP_PROFILE_ROLE_SESSION_NAME)};
}

static int keep_web_settings(web *w, const web_settings *s) {
  slp_mem *mem = w->aws->h->mem;
  slp_buf_clear(&w->path);
  w->role_arn = slp_strdup(mem, slp_str_of(s->role_arn));
  if (s->session) w->session = slp_strdup(mem, slp_str_of(s->session));
  if (!w->role_arn || (s->session && !w->session)) return SLP_ENOMEM;
  if (slp_secret_room(&w->token)) return SLP_ENOMEM;
  return slp_buf_add_z(&w->path, s->file);
}

static void begin_web_attempt(slp_provider *p, int fresh) {
  web *w = SLP_OWNER(p, web, p);
  (void)fresh;
  clear_web_attempt(w);
  web_settings s = find_web_settings(w);
  if (!s.file) {
    slp_keys_nothing(p);
    return;
  }
  if (!s.role_arn) {
    slp_keys_broken(p, "AWS_WEB_IDENTITY_TOKEN_FILE is set, but AWS_ROLE_ARN is not");
    return;
  }
  int r = keep_web_settings(w, &s);
  if (r == SLP_ENOMEM) {
    slp_keys_starved(p);
    return;
  }
  if (r) {
    slp_keys_broken(p, "%.170s: the path of the token's file is too long", w->where);
    return;
  }
  w->file =
      (slp_file){.path = slp_buf_z(&w->path), .bytes_max = TOKEN_MAX, .into = &w->token, .on_done = on_file};
  w->reading = 1;
  slp_file_read(w->aws->h, &w->file);
}

static void cancel_web_attempt(slp_provider *p) { clear_web_attempt(SLP_OWNER(p, web, p)); }

static void web_free(slp_provider *p) {
  web *w = SLP_OWNER(p, web, p);
  clear_web_attempt(w);
  slp_sts_free(&w->sts);
  slp_buf_free(&w->path);
  slp_free(w->aws->h->mem, w);
}

slp_provider *slp_provider_web(slp_aws *aws, const slp_profile *const *from) {
  web *w = SLP_NEW(aws->h->mem, web);
  if (!w) return NULL;
  *w = (web){.p = {.what = "AWS_WEB_IDENTITY_TOKEN_FILE",
                   .begin = begin_web_attempt,
                   .cancel = cancel_web_attempt,
                   .free = web_free,
                   .ms_max = MS_MAX},
             .aws = aws,
             .from = from};
  slp_buf_init(&w->path, aws->h->mem, 4096);
  slp_buf_init(&w->token, aws->h->mem, TOKEN_MAX);
  slp_sts_init(&w->sts, aws);
  return &w->p;
}
