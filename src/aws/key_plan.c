/* key_plan.c - the order in which the sources of a profile are used, as in botocore (credentials.py, 1.44.8):
 *   1. a role, 2. web identity, 3. SSO, 4. keys in the credentials file, 5. a session of `aws login`,
 *   6. a process, 7. keys in the config file.
 *
 * If another profile takes its keys from this profile (source_profile), there is one difference: a profile's
 * own keys come before its role. */
#include "aws/key_plan.h"

#include "aws/profile.h"

#include <stdarg.h>
#include <stdio.h>

static const char *get(const slp_profile *p, slp_profile_key key) { return slp_profile_get(p, key); }

/* Sets plan->why to "profile NAME (FILE): ...", where FILE is the file that has `key`. Returns
 * SLP_EBADDATA. */
SLP_PRINTF(4, 5)
static int explain_bad_profile(slp_key_plan *plan, const slp_profile *p, slp_profile_key key, const char *fmt,
                               ...) {
  va_list args;
  size_t n = (size_t)snprintf(plan->why, sizeof plan->why, "profile %.60s (%.100s): ", p->name,
                              slp_profile_where(p, key));
  va_start(args, fmt);
  if (n < sizeof plan->why) vsnprintf(plan->why + n, sizeof plan->why - n, fmt, args);
  va_end(args);
  return SLP_EBADDATA;
}

static int has_static_keys(const slp_profile *p) {
  return get(p, SLP_PROFILE_KEY_ID) || get(p, SLP_PROFILE_SECRET);
}

static int is_role(const slp_profile *p) {
  return get(p, SLP_PROFILE_ROLE_ARN) && !get(p, SLP_PROFILE_WEB_IDENTITY);
}

/* Looks for key id and secret key in one file. An id is never combined with a secret of the other file.
 * Returns 1 if the file has both, 0 if it has neither, and SLP_EBADDATA if it has only one of them. */
static int keys_in(slp_key_plan *plan, const slp_profile *p, int config) {
  char *const *values = config ? p->in_config : p->in_credentials;
  const char *id = values[SLP_PROFILE_KEY_ID], *secret = values[SLP_PROFILE_SECRET];
  int has_id = id && id[0], has_secret = secret && secret[0];
  if (has_id && has_secret) return 1;
  if (!has_id && !has_secret) return 0;
  snprintf(plan->why, sizeof plan->why, "profile %.60s in %.100s has %s but no %s", p->name,
           p->path[config] ? p->path[config] : "~/.aws",
           has_id ? "aws_access_key_id" : "aws_secret_access_key",
           has_id ? "aws_secret_access_key" : "aws_access_key_id");
  return SLP_EBADDATA;
}

static int sso_complete(slp_key_plan *plan, const slp_profile *p) {
  static const slp_profile_key wanted[] = {SLP_PROFILE_SSO_ACCOUNT_ID, SLP_PROFILE_SSO_ROLE_NAME};
  const char *session = get(p, SLP_PROFILE_SSO_SESSION);
  slp_profile_key key = session ? SLP_PROFILE_SSO_SESSION : SLP_PROFILE_SSO_START_URL;
  for (size_t i = 0; i < SLP_COUNT(wanted); i++) {
    if (!get(p, wanted[i]))
      return explain_bad_profile(plan, p, key, "%s is missing", slp_profile_key_name(wanted[i]));
  }
  if (session && !p->session_found)
    return explain_bad_profile(plan, p, key, "there is no section [sso-session %.60s]", session);
  if (session ? !p->session_region : !get(p, SLP_PROFILE_SSO_REGION))
    return explain_bad_profile(plan, p, key, "sso_region is missing%s",
                               session ? " in its sso-session section" : "");
  if (session ? !p->session_url : !get(p, SLP_PROFILE_SSO_START_URL))
    return explain_bad_profile(plan, p, key, "sso_start_url is missing%s",
                               session ? " in its sso-session section" : "");
  return 0;
}

static int is_set_differently(const char *in_profile, const char *in_session) {
  return in_profile && in_session && strcmp(in_profile, in_session) != 0;
}

/* Fails if the profile and its sso-session section give different values for the same setting. */
static int sso_agrees(slp_key_plan *plan, const slp_profile *p) {
  int region = is_set_differently(get(p, SLP_PROFILE_SSO_REGION), p->session_region);
  if (!region && !is_set_differently(get(p, SLP_PROFILE_SSO_START_URL), p->session_url)) return 0;
  return explain_bad_profile(plan, p, SLP_PROFILE_SSO_SESSION,
                             "its %s is not that of its sso-session section",
                             region ? "sso_region" : "sso_start_url");
}

static int set_plan_base(slp_key_plan *plan, const slp_profile *p, slp_base_kind kind) {
  plan->base = kind;
  plan->from = p;
  return 0;
}

/* Finds the source of a profile's own keys. Its role is not considered. Returns 0, SLP_ENOENT or
 * SLP_EBADDATA. */
static int own_keys(slp_key_plan *plan, const slp_profile *p) {
  if (get(p, SLP_PROFILE_WEB_IDENTITY)) {
    if (!get(p, SLP_PROFILE_ROLE_ARN))
      return explain_bad_profile(plan, p, SLP_PROFILE_WEB_IDENTITY,
                                 "web_identity_token_file needs a role_arn beside it");
    return set_plan_base(plan, p, SLP_BASE_WEB);
  }
  if (get(p, SLP_PROFILE_SSO_ACCOUNT_ID) || get(p, SLP_PROFILE_SSO_ROLE_NAME)) {
    int r = sso_complete(plan, p);
    if (!r && get(p, SLP_PROFILE_SSO_SESSION)) r = sso_agrees(plan, p);
    return r ? r : set_plan_base(plan, p, SLP_BASE_SSO);
  }
  int r = keys_in(plan, p, 0);
  if (r) return r < 0 ? r : set_plan_base(plan, p, SLP_BASE_CREDENTIALS);
  if (get(p, SLP_PROFILE_LOGIN_SESSION)) return set_plan_base(plan, p, SLP_BASE_LOGIN);
  if (get(p, SLP_PROFILE_PROCESS)) return set_plan_base(plan, p, SLP_BASE_PROCESS);
  r = keys_in(plan, p, 1);
  if (r) return r < 0 ? r : set_plan_base(plan, p, SLP_BASE_CONFIG);
  if (get(p, SLP_PROFILE_SSO_SESSION) || get(p, SLP_PROFILE_SSO_START_URL)) return sso_complete(plan, p);
  return SLP_ENOENT;
}

/* Sets the base of the plan from the value of credential_source, which is case-sensitive. */
static int from_outside(slp_key_plan *plan, const slp_profile *p, const char *source) {
  static const struct {
    const char *name;
    slp_base_kind kind;
  } sources[] = {{"Environment", SLP_BASE_ENV},
                 {"Ec2InstanceMetadata", SLP_BASE_IMDS},
                 {"EcsContainer", SLP_BASE_CONTAINER}};
  for (size_t i = 0; i < SLP_COUNT(sources); i++) {
    if (strcmp(source, sources[i].name) == 0) return set_plan_base(plan, p, sources[i].kind);
  }
  return explain_bad_profile(
      plan, p, SLP_PROFILE_CREDENTIAL_SOURCE,
      "credential_source %.60s is none of Environment, Ec2InstanceMetadata, EcsContainer", source);
}

/* Returns the loaded profile of that name, or NULL. */
static const slp_profile *find(const slp_profiles *all, const char *name) {
  if (strcmp(name, all->profile.name) == 0) return &all->profile;
  for (size_t i = 0; i < all->sources_n; i++) {
    if (strcmp(name, all->sources[i].name) == 0) return &all->sources[i];
  }
  return NULL;
}

static int is_role_in_plan(const slp_key_plan *plan, const slp_profile *p) {
  for (size_t i = 0; i < plan->roles_n; i++) {
    if (plan->roles[i] == p) return 1;
  }
  return 0;
}

static int check_role(slp_key_plan *plan, const slp_profile *p) {
  const char *source = get(p, SLP_PROFILE_SOURCE_PROFILE);
  const char *outside = get(p, SLP_PROFILE_CREDENTIAL_SOURCE);
  if (source && outside)
    return explain_bad_profile(plan, p, SLP_PROFILE_ROLE_ARN,
                               "source_profile and credential_source exclude each other");
  if (!source && !outside)
    return explain_bad_profile(plan, p, SLP_PROFILE_ROLE_ARN,
                               "role_arn needs a source_profile or a credential_source");
  return 0;
}

/* Follows the source of a role. *ret is the next role, or NULL if the base was found. */
static int follow_role_source(slp_key_plan *plan, const slp_profiles *all, const slp_profile *role,
                              const slp_profile **ret) {
  const char *name = get(role, SLP_PROFILE_SOURCE_PROFILE);
  *ret = NULL;
  if (!name) return from_outside(plan, role, get(role, SLP_PROFILE_CREDENTIAL_SOURCE));
  const slp_profile *source = find(all, name);
  if (!source)
    return explain_bad_profile(plan, role, SLP_PROFILE_SOURCE_PROFILE, "more than %d roles lead on from here",
                               SLP_KEY_PLAN_ROLES_MAX);
  if (!source->found)
    return explain_bad_profile(plan, role, SLP_PROFILE_SOURCE_PROFILE,
                               "its source_profile %.60s does not exist", name);
  if (is_role_in_plan(plan, source) && !(source == role && has_static_keys(source)))
    return explain_bad_profile(plan, role, SLP_PROFILE_SOURCE_PROFILE,
                               "source_profile %.60s leads back to itself", name);
  if (is_role(source) && !has_static_keys(source)) {
    *ret = source;
    return 0;
  }
  int r = own_keys(plan, source);
  if (r == SLP_ENOENT)
    return explain_bad_profile(plan, role, SLP_PROFILE_SOURCE_PROFILE,
                               "its source_profile %.60s has no credentials", name);
  return r;
}

int slp_key_plan_make(slp_key_plan *plan, const slp_profiles *profiles) {
  *plan = (slp_key_plan){.from = NULL};
  const slp_profile *p = &profiles->profile;
  if (!is_role(p)) return own_keys(plan, p);
  while (p) {
    int r = check_role(plan, p);
    if (r) return r;
    SLP_CHECK(plan->roles_n < SLP_KEY_PLAN_ROLES_MAX);
    plan->roles[plan->roles_n++] = p;
    r = follow_role_source(plan, profiles, p, &p);
    if (r) return r;
  }
  return 0;
}
