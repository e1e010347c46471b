/* providers.c - where keys come from: the environment, the profile files, the user's callback. */
#include "aws/creds.h"

#include "codec/date.h"

#include <stdio.h>

/* ---- environment -----------------------------------------------------------------------------------------
 */
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
  int64_t expires_at_ms = -1;
  (void)fresh; /* the environment is read each time */
  if (!key_id && !secret) {
    if (env(e, "AWS_WEB_IDENTITY_TOKEN_FILE")) {
      slp_creds_broken(p->creds,
                       "AWS_WEB_IDENTITY_TOKEN_FILE is set, but web identity is not supported yet: set "
                       "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY");
      return;
    }
    slp_creds_nothing(p->creds);
    return;
  }
  if (!key_id || !secret) {
    slp_creds_broken(p->creds, "%s is set, but %s is not",
                     key_id ? "AWS_ACCESS_KEY_ID" : "AWS_SECRET_ACCESS_KEY",
                     key_id ? "AWS_SECRET_ACCESS_KEY" : "AWS_ACCESS_KEY_ID");
    return;
  }
  if (!token) token = env(e, "AWS_SECURITY_TOKEN"); /* its name before 2014 */
  if (expires && slp_date_parse_iso(slp_str_of(expires), &expires_at_ms)) {
    slp_creds_broken(p->creds, "AWS_CREDENTIAL_EXPIRATION is not a time like 2026-01-02T03:04:05Z");
    return;
  }
  slp_creds_found(p->creds,
                  &(slp_aws_keys){slp_str_of(key_id), slp_str_of(secret), slp_str_of(token), expires_at_ms});
}

static void env_free(slp_provider *p) {
  env_provider *e = SLP_OWNER(p, env_provider, p);
  slp_free(e->h->mem, e);
}

slp_provider *slp_provider_env(slp_host *h, slp_getenv_fn getenv_fn, void *getenv_ctx) {
  env_provider *e = SLP_NEW(h->mem, env_provider);
  if (!e) return NULL;
  *e = (env_provider){
      .p = {.begin = env_begin, .free = env_free}, .h = h, .getenv_fn = getenv_fn, .getenv_ctx = getenv_ctx};
  return &e->p;
}

/* ---- profile files ---------------------------------------------------------------------------------------
 */
typedef struct profile_provider {
  slp_provider p;
  slp_host *h;
  slp_profiles *profiles;
  slp_wait wait;
} profile_provider;

/* Kinds that botocore prefers to keys in the same profile, so keys must not be used in their place. */
static const char *unsupported(const slp_profile *p) {
  if (slp_profile_get(p, SLP_PROFILE_ROLE_ARN)) return "role_arn";
  if (slp_profile_get(p, SLP_PROFILE_WEB_IDENTITY)) return "web_identity_token_file";
  if (slp_profile_get(p, SLP_PROFILE_SSO_SESSION)) return "sso_session";
  if (slp_profile_get(p, SLP_PROFILE_SSO_START_URL)) return "sso_start_url";
  return NULL;
}

/* Keys of one file, never an id of one and a secret of the other. 1: answered. */
static int keys_of_file(slp_provider *p, const char *profile_name, char *const *values, const char *file) {
  const char *key_id = values[SLP_PROFILE_KEY_ID], *secret = values[SLP_PROFILE_SECRET];
  const char *token = values[SLP_PROFILE_OLD_TOKEN]; /* botocore looks for this name first */
  int has_id = key_id && key_id[0], has_secret = secret && secret[0];
  if (!has_id && !has_secret) return 0;
  if (!has_id || !has_secret) {
    slp_creds_broken(p->creds, "profile %s in ~/.aws/%s has %s but no %s", profile_name, file,
                     has_id ? "aws_access_key_id" : "aws_secret_access_key",
                     has_id ? "aws_secret_access_key" : "aws_access_key_id");
    return 1;
  }
  if (!token) token = values[SLP_PROFILE_TOKEN];
  slp_creds_found(p->creds, &(slp_aws_keys){slp_str_of(key_id), slp_str_of(secret), slp_str_of(token), -1});
  return 1;
}

static void profile_answer(profile_provider *pp) {
  const slp_profiles *all = pp->profiles;
  const slp_profile *profile = &all->profile;
  slp_creds *creds = pp->p.creds;
  if (all->error == SLP_ENOMEM) {
    slp_creds_starved(creds);
    return;
  }
  if (all->error) {
    slp_creds_broken(creds, "%s", all->why);
    return;
  }
  const char *kind = unsupported(profile);
  if (!kind) {
    if (keys_of_file(&pp->p, all->name, profile->in_credentials, "credentials")) return;
    if (slp_profile_get(profile, SLP_PROFILE_LOGIN_SESSION)) kind = "login_session";
    if (slp_profile_get(profile, SLP_PROFILE_PROCESS)) kind = "credential_process";
  }
  if (kind) {
    slp_creds_broken(creds,
                     "profile %s uses %s, which is not supported yet: set AWS_ACCESS_KEY_ID and "
                     "AWS_SECRET_ACCESS_KEY",
                     all->name, kind);
    return;
  }
  if (keys_of_file(&pp->p, all->name, profile->in_config, "config")) return;
  slp_creds_nothing(creds);
}

static void profile_loaded(slp_wait *wait) { profile_answer(SLP_OWNER(wait, profile_provider, wait)); }

static void profile_begin(slp_provider *p, int fresh) {
  profile_provider *pp = SLP_OWNER(p, profile_provider, p);
  if (pp->profiles->loaded && !pp->profiles->loading && !pp->profiles->error && !fresh)
    profile_answer(pp);
  else
    slp_profiles_load(pp->profiles, &pp->wait);
}

static void profile_cancel(slp_provider *p) { slp_wait_cancel(&SLP_OWNER(p, profile_provider, p)->wait); }

static void profile_free(slp_provider *p) {
  profile_provider *pp = SLP_OWNER(p, profile_provider, p);
  slp_wait_cancel(&pp->wait);
  slp_free(pp->h->mem, pp);
}

slp_provider *slp_provider_profile(slp_host *h, slp_profiles *profiles) {
  profile_provider *pp = SLP_NEW(h->mem, profile_provider);
  if (!pp) return NULL;
  *pp = (profile_provider){.p = {.begin = profile_begin, .cancel = profile_cancel, .free = profile_free},
                           .h = h,
                           .profiles = profiles,
                           .wait = {.run = profile_loaded}};
  return &pp->p;
}

/* ---- the user's callback ---------------------------------------------------------------------------------
 */
typedef struct user_provider {
  slp_provider p;
  slp_host *h;
  void (*ask)(void *arg);
  void *arg;
  uint8_t asked; /* and not answered: not asked again, whatever became of that attempt */
} user_provider;

static void user_begin(slp_provider *p, int fresh) {
  user_provider *u = SLP_OWNER(p, user_provider, p);
  (void)fresh;
  if (u->asked) return;
  u->asked = 1;
  u->ask(u->arg);
}

static void user_free(slp_provider *p) {
  user_provider *u = SLP_OWNER(p, user_provider, p);
  slp_free(u->h->mem, u);
}

slp_provider *slp_provider_user(slp_host *h, void (*ask)(void *arg), void *arg) {
  user_provider *u = SLP_NEW(h->mem, user_provider);
  if (!u) return NULL;
  *u = (user_provider){.p = {.begin = user_begin, .free = user_free}, .h = h, .ask = ask, .arg = arg};
  return &u->p;
}

void slp_provider_user_done(slp_provider *p, int error, const slp_aws_keys *keys, const char *why) {
  user_provider *u = SLP_OWNER(p, user_provider, p);
  if (!u->asked) return;
  u->asked = 0;
  if (!error && keys)
    slp_creds_found(p->creds, keys);
  else
    slp_creds_broken(p->creds, "the creds callback gave none: %s",
                     why && why[0] ? why : "it did not say why");
}
