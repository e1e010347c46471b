/* profile.h - parses one profile of ~/.aws/credentials and ~/.aws/config (pure), and loads both files once
 * for all callers that wait. */
#ifndef SLP_AWS_PROFILE_H
#define SLP_AWS_PROFILE_H

#include "aws/aws.h"

typedef enum slp_profile_key {
  SLP_PROFILE_KEY_ID,
  SLP_PROFILE_SECRET,
  SLP_PROFILE_TOKEN,
  SLP_PROFILE_OLD_TOKEN, /* aws_security_token, the name before 2014 */
  SLP_PROFILE_ACCOUNT,   /* the account of the keys */
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
  SLP_PROFILE_METADATA_URL, /* from here on: the settings of imds.h */
  SLP_PROFILE_METADATA_URL_MODE,
  SLP_PROFILE_METADATA_V1_DISABLED,
  SLP_PROFILE_METADATA_TIMEOUT,
  SLP_PROFILE_METADATA_TRIES,
  SLP_PROFILE_KEYS
} slp_profile_key;

/* At most this many profiles are followed from one to the next by source_profile. */
#define SLP_PROFILE_SOURCES_MAX 8

typedef struct slp_profile {
  slp_mem *mem;
  char name[128];
  const char *path[2];                    /* of the credentials and the config file, for messages; borrowed */
  uint8_t found;                          /* there is a section with its name */
  char *in_config[SLP_PROFILE_KEYS];      /* owned; NULL: not set */
  char *in_credentials[SLP_PROFILE_KEYS]; /* owned */
  char *service_endpoint[SLP_SVCS];       /* owned; from the services section that it names */
  uint8_t services_found;                 /* that section exists */
  char *session_region, *session_url;     /* owned; from the sso-session section that it names */
  uint8_t session_found;
} slp_profile;

void slp_profile_init(slp_profile *p, slp_mem *mem);
void slp_profile_free(slp_profile *p); /* wipes it and makes it empty again */
/* Returns the value that counts: the credentials file's before the config file's, as in botocore. NULL: not
 * set. */
const char *slp_profile_get(const slp_profile *p, slp_profile_key key);
/* compares without regard to case; NULL is never equal */
int slp_setting_is(const char *value, const char *lower);
const char *slp_profile_key_name(slp_profile_key key);
/* Returns the file that has the value of `key`, for messages. */
const char *slp_profile_where(const slp_profile *p, slp_profile_key key);
/* Reads the section `name` from both texts. Returns 0, SLP_ENOMEM, or SLP_EBADDATA with *ret_bad_file (0
 * credentials, 1 config) and the line. */
int slp_profile_parse(slp_profile *p, slp_str credentials, slp_str config, slp_str name, int *ret_bad_file,
                      uint32_t *ret_line);

/* ---- loading ------------------------------------------------------------------------------------------- */
typedef struct slp_wait { /* a caller that waits; `run` is called once, in a turn */
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
  uint8_t named; /* an environment variable names the file */
} slp_profile_file;

typedef struct slp_profiles {
  slp_host *h;
  slp_getenv_fn getenv_fn;
  void *getenv_ctx;
  const char *chosen;        /* of an option; NULL: AWS_PROFILE, AWS_DEFAULT_PROFILE, "default" */
  slp_profile_file files[2]; /* 0: credentials, 1: config */
  uint8_t loading, loaded;
  slp_event ev;
  slp_list waiting;
  /* Valid after a load: */
  slp_profile profile;
  /* the profiles that source_profile leads to, until one repeats */
  slp_profile sources[SLP_PROFILE_SOURCES_MAX];
  size_t sources_n;
  char name[128];
  uint8_t explicit_name; /* the user chose the profile */
  uint8_t name_too_long; /* too long to be looked for */
  int error;             /* 0: profile is valid, but may be empty */
  char why[300];
} slp_profiles;

void slp_profiles_init(slp_profiles *p, slp_host *h, slp_getenv_fn getenv_fn, void *getenv_ctx,
                       const char *chosen);
void slp_profiles_close(slp_profiles *p); /* nothing may wait for p then */
/* returns 1 if an option or the environment names a profile */
int slp_profiles_chosen(const slp_profiles *p);
/* Reads the files, again if they were read before. `wait` runs when that is done. There is one load at a
 * time, however many callers wait. */
void slp_profiles_load(slp_profiles *p, slp_wait *wait);
/* After a load, says what was found in both files, such as "no ~/.aws/credentials, ...". */
#define SLP_PROFILES_LOOKED 130
void slp_profiles_looked(slp_profiles *p, char looked[SLP_PROFILES_LOOKED]);
/* Wipes the keys among the settings, for an owner that needs only settings. */
void slp_profiles_forget_keys(slp_profiles *p);
/* Wipes everything that was read; another load is needed to use it again. */
void slp_profiles_forget(slp_profiles *p);

#endif
