/* provider_profile.c - keys of a profile. Follows the plan (key_plan.h): gets the first keys, then assumes
 * one role after the other. */
#include "aws/ask_code.h"
#include "aws/aws.h"
#include "aws/aws_impl.h"
#include "aws/key_plan.h"
#include "aws/profile.h"
#include "aws/provider.h"
#include "aws/sigv4.h"
#include "aws/sts.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/mem.h"
#include "host/err.h"

#include <stdio.h>

/* Enough for a process or a sign-in and some roles after it, or for a code that the user types. */
#define MS_MAX 300000u

enum { PROCESS, WEB, SSO, LOGIN, ENV, CONTAINER, IMDS, BASES };

typedef struct profile_provider {
  slp_provider p;
  slp_aws *aws;
  /* owned; not the profiles of aws, because another owner could load those again during an attempt */
  slp_profiles profiles;
  slp_wait wait;
  slp_key_plan plan;
  slp_provider *bases[BASES]; /* owned */
  slp_provider *asked;        /* the provider of first keys that is being asked; NULL: none */
  slp_sts sts;
  char who[140];
  slp_code_ask *asking; /* the question for an MFA code; NULL: no code is being asked for */
  char code[SLP_CODE_MAX];
  slp_buf source; /* the keys with which a role is assumed: id, secret, token, one after the other */
} profile_provider;

static void clear_profile_attempt(profile_provider *pp) {
  slp_wait_cancel(&pp->wait);
  if (pp->asked && pp->asked->cancel) pp->asked->cancel(pp->asked);
  pp->asked = NULL;
  slp_sts_cancel(&pp->sts);
  slp_code_ask_leave(pp->asking);
  pp->asking = NULL;
  slp_wipe(pp->code, sizeof pp->code);
  slp_secret_free(&pp->source);
  if (!pp->profiles.loading) slp_profiles_forget(&pp->profiles);
}

/* ---- roles --------------------------------------------------------------------------------------------- */
static void got_keys(profile_provider *pp, const slp_aws_keys *keys);

static void on_sts(slp_sts *sts) {
  profile_provider *pp = SLP_OWNER(sts, profile_provider, sts);
  const slp_profile *role = pp->plan.roles[pp->plan.roles_n - 1];
  const slp_fail *fail = &sts->call.fail;
  if (fail->class == SLP_FINE) {
    pp->plan.roles_n--;
    got_keys(pp, &sts->keys);
    return;
  }
  if (fail->class == SLP_NOMEM)
    slp_keys_starved(&pp->p);
  else
    slp_keys_failed(&pp->p, slp_sts_passes(sts), fail->http_status,
                    "profile %.40s (%.50s): AssumeRole of %.60s: %s%s%.220s", role->name,
                    slp_profile_where(role, SLP_PROFILE_ROLE_ARN), sts->role_arn, fail->aws_code,
                    fail->aws_code[0] ? ": " : "", fail->message);
  clear_profile_attempt(pp);
}

/* Copies the keys with which the next call is signed, because `keys` is valid only while the answer is
 * handled. */
static int keep_source(profile_provider *pp, const slp_aws_keys *keys) {
  slp_buf copy;
  slp_buf_init(&copy, pp->aws->h->mem, keys->key_id.n + keys->secret.n + keys->token.n + 1);
  slp_secret_room(&copy);
  slp_buf_add_str(&copy, keys->key_id);
  slp_buf_add_str(&copy, keys->secret);
  int r = slp_buf_add_str(&copy, keys->token);
  if (r) {
    slp_secret_free(&copy);
    return r;
  }
  slp_secret_free(&pp->source);
  slp_buf_move(&pp->source, &copy);
  const char *at = pp->source.p;
  pp->sts.sign_with = (slp_sign_keys){{at, keys->key_id.n},
                                      {at + keys->key_id.n, keys->secret.n},
                                      {at + keys->key_id.n + keys->secret.n, keys->token.n}};
  return 0;
}

static void on_code(void *arg, int error, const char *code) {
  profile_provider *pp = arg;
  const slp_profile *role = pp->plan.roles[pp->plan.roles_n - 1];
  if (!error) snprintf(pp->code, sizeof pp->code, "%s", code);
  slp_code_ask_leave(pp->asking);
  pp->asking = NULL;
  if (!error && pp->code[0]) {
    pp->sts.mfa_code = pp->code;
    slp_sts_send(&pp->sts);
    return;
  }
  slp_keys_broken(&pp->p, "profile %.60s (%.100s): no code of mfa_serial was entered (%.60s)", role->name,
                  slp_profile_where(role, SLP_PROFILE_MFA_SERIAL),
                  error ? slp_file_why(error) : "the line is empty");
  clear_profile_attempt(pp);
}

/* Asks the user for the code when all else is ready, because a code is valid for only half a minute. */
static void send_with_code(profile_provider *pp) {
  pp->asking = slp_code_ask_begin(pp->aws->h, pp->sts.mfa_serial, on_code, pp);
  if (pp->asking) return;
  slp_keys_starved(&pp->p);
  clear_profile_attempt(pp);
}

static void assume_last_role(profile_provider *pp, const slp_aws_keys *keys) {
  const slp_profile *role = pp->plan.roles[pp->plan.roles_n - 1];
  if (!keys->key_id.n || !keys->secret.n) {
    slp_keys_broken(&pp->p, "profile %.60s: the keys to assume its role with are not complete", role->name);
    clear_profile_attempt(pp);
    return;
  }
  if (keep_source(pp, keys)) {
    slp_keys_starved(&pp->p);
    clear_profile_attempt(pp);
    return;
  }
  pp->sts.role_arn = slp_profile_get(role, SLP_PROFILE_ROLE_ARN);
  pp->sts.session = slp_profile_get(role, SLP_PROFILE_ROLE_SESSION_NAME);
  pp->sts.external_id = slp_profile_get(role, SLP_PROFILE_EXTERNAL_ID);
  pp->sts.duration_s = slp_profile_get(role, SLP_PROFILE_DURATION_SECONDS);
  pp->sts.mfa_serial = slp_profile_get(role, SLP_PROFILE_MFA_SERIAL);
  pp->sts.mfa_code = NULL;
  pp->sts.on_done = on_sts;
  if (pp->sts.mfa_serial)
    send_with_code(pp);
  else
    slp_sts_send(&pp->sts);
}

static void got_keys(profile_provider *pp, const slp_aws_keys *keys) {
  if (pp->plan.roles_n) {
    assume_last_role(pp, keys);
    return;
  }
  slp_keys_found(&pp->p, keys);
  clear_profile_attempt(pp);
}

/* ---- the first keys ------------------------------------------------------------------------------------ */
static void on_base(slp_provider *base, const slp_keys_answer *answer) {
  profile_provider *pp = base->owner;
  if (pp->asked != base) return;
  pp->asked = NULL;
  slp_aws_keys keys = answer->keys ? *answer->keys : (slp_aws_keys){.expires_at_ms = SLP_KEYS_NEVER};
  /* A program's answer may lack the account, but the profile may have it. */
  if (!keys.account.n && pp->plan.base == SLP_BASE_PROCESS)
    keys.account = slp_str_of(slp_profile_get(pp->plan.from, SLP_PROFILE_ACCOUNT));
  switch (answer->outcome) {
    case SLP_KEYS_FOUND: got_keys(pp, &keys); return;
    case SLP_KEYS_BROKEN:
    case SLP_KEYS_FAILED:
      slp_keys_failed(&pp->p, answer->outcome == SLP_KEYS_FAILED, answer->http_status, "%s", answer->why);
      break;
    case SLP_KEYS_STARVED: slp_keys_starved(&pp->p); break;
    case SLP_KEYS_NOTHING:
      slp_keys_broken(&pp->p, "profile %.60s (%.100s): its credential_source %.40s has no credentials",
                      pp->plan.from->name, slp_profile_where(pp->plan.from, SLP_PROFILE_CREDENTIAL_SOURCE),
                      slp_profile_get(pp->plan.from, SLP_PROFILE_CREDENTIAL_SOURCE));
      break;
  }
  clear_profile_attempt(pp);
}

static void ask_base(profile_provider *pp, int which) {
  pp->asked = pp->bases[which];
  pp->asked->begin(pp->asked, 1);
}

static void written_keys(profile_provider *pp, char *const *values) {
  const char *token = values[SLP_PROFILE_OLD_TOKEN]; /* botocore prefers this name of the token */
  if (!token) token = values[SLP_PROFILE_TOKEN];
  slp_aws_keys keys = {slp_str_of(values[SLP_PROFILE_KEY_ID]),
                       slp_str_of(values[SLP_PROFILE_SECRET]),
                       slp_str_of(token),
                       SLP_KEYS_NEVER,
                       0,
                       slp_str_of(values[SLP_PROFILE_ACCOUNT])};
  got_keys(pp, &keys);
}

static void start_plan(profile_provider *pp) {
  switch (pp->plan.base) {
    case SLP_BASE_CREDENTIALS: written_keys(pp, pp->plan.from->in_credentials); break;
    case SLP_BASE_CONFIG: written_keys(pp, pp->plan.from->in_config); break;
    case SLP_BASE_PROCESS: ask_base(pp, PROCESS); break;
    case SLP_BASE_WEB: ask_base(pp, WEB); break;
    case SLP_BASE_SSO: ask_base(pp, SSO); break;
    case SLP_BASE_LOGIN: ask_base(pp, LOGIN); break;
    case SLP_BASE_ENV: ask_base(pp, ENV); break;
    case SLP_BASE_CONTAINER: ask_base(pp, CONTAINER); break;
    case SLP_BASE_IMDS: ask_base(pp, IMDS); break;
  }
}

/* If a role needs an MFA code and there is no terminal to ask for it, answers BROKEN and returns 1. This is
 * checked before any request is sent. */
static int lacks_terminal(profile_provider *pp) {
  for (size_t i = 0; i < pp->plan.roles_n; i++) {
    const slp_profile *role = pp->plan.roles[i];
    if (!slp_profile_get(role, SLP_PROFILE_MFA_SERIAL) || slp_codes_can_be_asked()) continue;
    slp_keys_broken(
        &pp->p,
        "profile %.40s (%.70s): there is no terminal to ask for the code of its mfa_serial: start it "
        "behind eval \"$(aws configure export-credentials --profile %.40s --format env)\"",
        role->name, slp_profile_where(role, SLP_PROFILE_MFA_SERIAL), pp->profiles.name);
    return 1;
  }
  return 0;
}

static void on_loaded(slp_wait *wait) {
  profile_provider *pp = SLP_OWNER(wait, profile_provider, wait);
  if (pp->profiles.error == SLP_ENOMEM) {
    slp_keys_starved(&pp->p);
  } else if (pp->profiles.error) {
    slp_keys_broken(&pp->p, "%s", pp->profiles.why);
  } else {
    int r = slp_key_plan_make(&pp->plan, &pp->profiles);
    snprintf(pp->who, sizeof pp->who, "profile %s", pp->profiles.name);
    pp->p.what = pp->who;
    if (!r && !lacks_terminal(pp)) {
      start_plan(pp);
      return;
    }
    if (!r) {
      clear_profile_attempt(pp);
      return;
    }
    char looked[SLP_PROFILES_LOOKED];
    slp_profiles_looked(&pp->profiles, looked);
    if (r == SLP_ENOENT)
      slp_keys_nothing_in(&pp->p, looked);
    else
      slp_keys_broken(&pp->p, "%s", pp->plan.why);
  }
  clear_profile_attempt(pp);
}

/* Reads the files in each attempt, because the keys in them may have been rotated. */
static void begin_profile_attempt(slp_provider *p, int fresh) {
  profile_provider *pp = SLP_OWNER(p, profile_provider, p);
  (void)fresh;
  clear_profile_attempt(pp);
  slp_profiles_load(&pp->profiles, &pp->wait);
}

static void cancel_profile_attempt(slp_provider *p) {
  clear_profile_attempt(SLP_OWNER(p, profile_provider, p));
}

static void profile_free(slp_provider *p) {
  profile_provider *pp = SLP_OWNER(p, profile_provider, p);
  clear_profile_attempt(pp);
  for (int i = 0; i < BASES; i++) {
    if (pp->bases[i]) pp->bases[i]->free(pp->bases[i]);
  }
  slp_sts_free(&pp->sts);
  slp_profiles_close(&pp->profiles);
  slp_free(pp->aws->h->mem, pp);
}

static int make_bases(profile_provider *pp) {
  slp_aws *aws = pp->aws;
  slp_host *h = aws->h;
  pp->bases[PROCESS] = slp_provider_process(aws, &pp->plan.from);
  pp->bases[WEB] = slp_provider_web(aws, &pp->plan.from);
  pp->bases[SSO] = slp_provider_sso(aws, &pp->plan.from);
  pp->bases[LOGIN] = slp_provider_login(aws, &pp->plan.from);
  pp->bases[ENV] = slp_provider_env(h, aws->getenv_fn, aws->getenv_ctx);
  pp->bases[CONTAINER] = slp_provider_container(h, aws->getenv_fn, aws->getenv_ctx);
  pp->bases[IMDS] = slp_provider_imds(aws);
  for (int i = 0; i < BASES; i++) {
    if (!pp->bases[i]) return SLP_ENOMEM;
    pp->bases[i]->owner = pp;
    pp->bases[i]->answered = on_base;
  }
  return 0;
}

slp_provider *slp_provider_profile(slp_aws *aws) {
  profile_provider *pp = SLP_NEW(aws->h->mem, profile_provider);
  if (!pp) return NULL;
  *pp = (profile_provider){.p = {.what = "the profile",
                                 .begin = begin_profile_attempt,
                                 .cancel = cancel_profile_attempt,
                                 .free = profile_free,
                                 .ms_max = MS_MAX},
                           .aws = aws,
                           .wait = {.run = on_loaded}};
  slp_profiles_init(&pp->profiles, aws->h, aws->getenv_fn, aws->getenv_ctx, aws->profile);
  slp_sts_init(&pp->sts, aws);
  slp_buf_init(&pp->source, aws->h->mem, 65536);
  if (!make_bases(pp)) return &pp->p;
  profile_free(&pp->p);
  return NULL;
}
