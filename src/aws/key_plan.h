/* key_plan.h - plans how a profile gets its keys: where the first keys come from, and which roles are then
 * assumed, one after the other. Pure; compared with botocore in tests. */
#ifndef SLP_AWS_KEY_PLAN_H
#define SLP_AWS_KEY_PLAN_H

#include "aws/profile.h"

typedef enum {
  SLP_BASE_CREDENTIALS, /* keys in the credentials file */
  SLP_BASE_CONFIG,      /* keys in the config file */
  SLP_BASE_PROCESS,
  SLP_BASE_WEB,
  SLP_BASE_SSO,
  SLP_BASE_LOGIN,
  SLP_BASE_ENV, /* this and the next two: values of credential_source */
  SLP_BASE_CONTAINER,
  SLP_BASE_IMDS
} slp_base_kind;

#define SLP_KEY_PLAN_ROLES_MAX (SLP_PROFILE_SOURCES_MAX + 1)

typedef struct slp_key_plan {
  slp_base_kind base;
  const slp_profile *from; /* the profile that names the base; points into `profiles` */
  const slp_profile *roles[SLP_KEY_PLAN_ROLES_MAX]; /* the last one is assumed first */
  size_t roles_n;
  char why[300];
} slp_key_plan;

/* Makes a plan for profiles that were loaded without an error. Returns 0; SLP_ENOENT if the profile names no
 * credentials; or SLP_EBADDATA if it names some that can't work, and `why` says so. */
int slp_key_plan_make(slp_key_plan *plan, const slp_profiles *profiles);

#endif
