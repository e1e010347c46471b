/* profile.h - parses one profile of ~/.aws/credentials and ~/.aws/config (pure), and loads both files once
 * for everybody who waits for them. */
#ifndef SLP_AWS_PROFILE_H
#define SLP_AWS_PROFILE_H

#include "aws/aws.h"

typedef enum slp_profile_key {
  SLP_PROFILE_KEY_ID,
  SLP_PROFILE_SECRET,
  SLP_PROFILE_TOKEN,
  SLP_PROFILE_OLD_TOKEN, /* aws_security_token, the name before 2014 */
  SLP_PROFILE_ACCOUNT,   /* whose the keys are */
  SLP_PROFILE_REGION,
  SLP_PROFILE_ENDPOINT,
  SLP_PROFILE_SERVICES,
  SLP_PROFILE_IGNORE_ENDPOINTS,
  SLP_PROFILE_FIPS,
  SLP_PROFILE_DUALSTACK,
  SLP_PROFILE_ACCOUNT_MODE,
  SLP_PROFILE_CA_BUNDLE,
  SLP_PROFILE_RETRY_MODE,
  SLP_PROFILE_MAX_ATTEMPTS,
  SLP_PROFILE_ROLE_ARN,
  SLP_PROFILE_SOURCE_PROFILE,
  SLP_PROFILE_CREDENTIAL_SOURCE,
  SLP_PROFILE_EXTERNAL_ID,
  SLP_PROFILE_ROLE_SESSION_NAME,
  SLP_PROFILE_DURATION_SECONDS,
  SLP_PROFILE_MFA_SERIAL,
  SLP_PROFILE_WEB_IDENTITY,
  SLP_PROFILE_SSO_SESSION,
  SLP_PROFILE_SSO_START_URL,
  SLP_PROFILE_SSO_REGION,
  SLP_PROFILE_SSO_ACCOUNT_ID,
  SLP_PROFILE_SSO_ROLE_NAME,
  SLP_PROFILE_LOGIN_SESSION,
  SLP_PROFILE_PROCESS,
  SLP_PROFILE_METADATA_URL, /* from here on those of imds.h */
  SLP_PROFILE_METADATA_URL_MODE,
  SLP_PROFILE_METADATA_V1_DISABLED,
  SLP_PROFILE_METADATA_TIMEOUT,
  SLP_PROFILE_METADATA_TRIES,
  SLP_PROFILE_KEYS
} slp_profile_key;

/* The profile that a role's keys are taken from, and so on: at most this many. */
#define SLP_PROFILE_SOURCES_MAX 8

typedef struct slp_profile {
  slp_mem *mem;
  char name[128];
  const char *path[2];                    /* of credentials and config, for messages; borrowed */
  uint8_t found;                          /* some section had its name */
  char *in_config[SLP_PROFILE_KEYS];      /* owned; NULL: not there */
  char *in_credentials[SLP_PROFILE_KEYS]; /* owned */
  char *service_endpoint[SLP_SVCS];       /* owned; from the services section it names */
  uint8_t services_found;                 /* that section exists */
  char *session_region, *session_url;     /* of the sso-session section it names; owned */
  uint8_t session_found;
} slp_profile;

void slp_profile_init(slp_profile *p, slp_mem *mem);
void slp_profile_free(slp_profile *p); /* wipes; back to just initialised */
/* The effective value: the credentials file's before the config file's, as botocore merges them. NULL:
 * none. */
const char *slp_profile_get(const slp_profile *p, slp_profile_key key);
int slp_setting_is(const char *value, const char *lower); /* in any case: "True" is "true"; NULL is nothing */
const char *slp_profile_key_name(slp_profile_key key);
/* The file with the effective value of `key`, for messages. */
const char *slp_profile_where(const slp_profile *p, slp_profile_key key);
/* Reads the section `name` out of both texts. 0, SLP_ENOMEM, or SLP_EBADDATA with *ret_bad_file 0
 * (credentials) or 1 (config) and the line. */
int slp_profile_parse(slp_profile *p, slp_str credentials, slp_str config, slp_str name, int *ret_bad_file,
                      uint32_t *ret_line);

/* ---- loading ------------------------------------------------------------------------------------------- */
typedef struct slp_wait { /* a waiting caller; run once, from the turn queue */
  slp_list link;
  void (*run)(struct slp_wait *wait);
} slp_wait;
void slp_wait_add(slp_list *waiting, slp_wait *wait);
void slp_wait_cancel(slp_wait *wait);
void slp_wait_run_all(slp_list *waiting); /* runs those that wait now; they may wait again */

typedef struct slp_profile_file {
  slp_file file;
  struct slp_profiles *owner;
  slp_buf path, text;
  uint8_t reading;
  uint8_t named; /* an environment variable names it */
} slp_profile_file;

typedef struct slp_profiles {
  slp_host *h;
  slp_getenv_fn getenv_fn;
  void *getenv_ctx;
  const char *chosen;        /* option; NULL: AWS_PROFILE, AWS_DEFAULT_PROFILE, "default" */
  slp_profile_file files[2]; /* 0 credentials, 1 config */
  uint8_t loading, loaded;
  slp_event ev;
  slp_list waiting;
  /* After a load: */
  slp_profile profile;
  slp_profile
      sources[SLP_PROFILE_SOURCES_MAX]; /* the profiles that source_profile leads to, until one repeats */
  size_t sources_n;
  char name[128];
  uint8_t explicit_name; /* the user chose the profile */
  uint8_t name_too_long; /* to be looked for */
  int error;             /* 0: profile is good, maybe empty */
  char why[300];
} slp_profiles;

void slp_profiles_init(slp_profiles *p, slp_host *h, slp_getenv_fn getenv_fn, void *getenv_ctx,
                       const char *chosen);
void slp_profiles_close(slp_profiles *p);       /* nobody waits any more */
int slp_profiles_chosen(const slp_profiles *p); /* 1: option or environment name a profile */
/* Reads (again). `wait` runs when it is done; one load at a time, however many wait. */
void slp_profiles_load(slp_profiles *p, slp_wait *wait);
/* After a load, says what became of both files: "no ~/.aws/credentials, ...". */
#define SLP_PROFILES_LOOKED 130
void slp_profiles_looked(slp_profiles *p, char looked[SLP_PROFILES_LOOKED]);
/* Wipes the keys among the settings, for an owner who needs only settings. */
void slp_profiles_forget_keys(slp_profiles *p);
/* Wipes the text of the profiles; reading it again needs a load. */
void slp_profiles_forget(slp_profiles *p);

#endif
