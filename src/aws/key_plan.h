/* key_plan.h - plans how a profile gets its keys: which source has the first keys (the base), and which roles
 * are assumed with them, one after the other. Does no I/O. Tests compare the plans with botocore's. */
#ifndef SLP_AWS_KEY_PLAN_H
#define SLP_AWS_KEY_PLAN_H

#include "aws/profile.h"

typedef enum {
  SLP_BASE_CREDENTIALS, /* keys are in the credentials file */
  SLP_BASE_CONFIG,      /* keys are in the config file */
  SLP_BASE_PROCESS,
  SLP_BASE_WEB,
  SLP_BASE_SSO,
  SLP_BASE_LOGIN,
  SLP_BASE_ENV, /* ENV and the next two are the values of credential_source */
  SLP_BASE_CONTAINER,
  SLP_BASE_IMDS
} slp_base_kind;

#define SLP_KEY_PLAN_ROLES_MAX (SLP_PROFILE_SOURCES_MAX + 1)

typedef struct slp_key_plan {
  slp_base_kind base;
  const slp_profile
      *from; /* the profile that has the keys with which the chain of roles begins; points into `profiles` */
  const slp_profile *roles[SLP_KEY_PLAN_ROLES_MAX]; /* the roles to assume; the last one is assumed first */
  size_t roles_n;
  char why[300];
} slp_key_plan;

/* Makes a plan for profiles that were loaded without an error. Returns 0, or SLP_ENOENT if the profile has no
 * credentials. Returns SLP_EBADDATA if its credentials can't work; the reason is in plan->why. */
int slp_key_plan_make(slp_key_plan *plan, const slp_profiles *profiles);

#endif
