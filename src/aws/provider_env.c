/* provider_env.c - keys in environment variables. */
#include "aws/aws.h"
#include "aws/provider.h"
#include "base/mem.h"
#include "codec/date.h"
#include "host/host.h"

typedef struct env_provider {
  slp_provider p;
  slp_host *h;
  slp_getenv_fn getenv_fn;
  void *getenv_ctx;
} env_provider;

static const char *env(const env_provider *e, const char *name) {
  const char *value = e->getenv_fn(e->getenv_ctx, name);
  return value && value[0] ? value : NULL;
}

static void env_begin(slp_provider *p, int fresh) {
  env_provider *e = SLP_OWNER(p, env_provider, p);
  const char *key_id = env(e, "AWS_ACCESS_KEY_ID"), *secret = env(e, "AWS_SECRET_ACCESS_KEY");
  const char *token = env(e, "AWS_SESSION_TOKEN"), *expires = env(e, "AWS_CREDENTIAL_EXPIRATION");
  int64_t expires_at_ms = SLP_KEYS_NEVER;
  (void)fresh; /* the environment is read in each attempt */
  if (!key_id && !secret) {
    slp_keys_nothing(p);
    return;
  }
  if (!key_id || !secret) {
    slp_keys_broken(p, "%s is set, but %s is not", key_id ? "AWS_ACCESS_KEY_ID" : "AWS_SECRET_ACCESS_KEY",
                    key_id ? "AWS_SECRET_ACCESS_KEY" : "AWS_ACCESS_KEY_ID");
    return;
  }
  if (!token) token = env(e, "AWS_SECURITY_TOKEN"); /* the name of the variable before 2014 */
  if (expires && slp_date_parse_iso(slp_str_of(expires), &expires_at_ms)) {
    slp_keys_broken(p, "AWS_CREDENTIAL_EXPIRATION is not a time like 2026-01-02T03:04:05Z");
    return;
  }
  slp_aws_keys keys = {.key_id = slp_str_of(key_id),
                       .secret = slp_str_of(secret),
                       .token = slp_str_of(token),
                       .expires_at_ms = expires_at_ms,
                       .account = slp_str_of(env(e, "AWS_ACCOUNT_ID"))};
  slp_keys_found(p, &keys);
}

static void env_free(slp_provider *p) {
  env_provider *e = SLP_OWNER(p, env_provider, p);
  slp_free(e->h->mem, e);
}

slp_provider *slp_provider_env(slp_host *h, slp_getenv_fn getenv_fn, void *getenv_ctx) {
  env_provider *e = SLP_NEW(h->mem, env_provider);
  if (!e) return NULL;
  *e = (env_provider){.p = {.what = "the environment", .begin = env_begin, .free = env_free},
                      .h = h,
                      .getenv_fn = getenv_fn,
                      .getenv_ctx = getenv_ctx};
  return &e->p;
}
