/* profile.h - parses one profile of ~/.aws/credentials and ~/.aws/config (without I/O), and loads both files
 * once for all callers that wait for them. */
#ifndef SLP_AWS_PROFILE_H
#define SLP_AWS_PROFILE_H

#include "aws/aws.h"
#include "base/buf.h"
#include "base/list.h"
#include "base/mem.h"
#include "host/host.h"

typedef enum slp_profile_key {
  SLP_PROFILE_KEY_ID,
  SLP_PROFILE_SECRET,
  SLP_PROFILE_TOKEN,
  SLP_PROFILE_OLD_TOKEN, /* aws_security_token, the name of the token before 2014 */
  SLP_PROFILE_ACCOUNT,   /* the account to which the keys belong */
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
  SLP_PROFILE_METADATA_URL, /* this key and all after it are settings for imds.h */
  SLP_PROFILE_METADATA_URL_MODE,
  SLP_PROFILE_METADATA_V1_DISABLED,
  SLP_PROFILE_METADATA_TIMEOUT,
  SLP_PROFILE_METADATA_TRIES,
  SLP_PROFILE_KEYS
} slp_profile_key;

/* A profile may take its keys from another one (source_profile), and so on. At most this many profiles are
 * followed. */
#define SLP_PROFILE_SOURCES_MAX 8

typedef struct slp_profile {
  slp_mem *mem;
  char name[128];
  /* borrowed; for messages; the paths of the credentials and the config file */
  const char *path[2];
  uint8_t found;                          /* 1: a file has a section for this profile */
  char *in_config[SLP_PROFILE_KEYS];      /* owned; values of the config file; NULL: not set */
  char *in_credentials[SLP_PROFILE_KEYS]; /* owned; values of the credentials file; NULL: not set */
  char *service_endpoint[SLP_SVCS];       /* owned; from the services section that the profile names */
  uint8_t services_found;                 /* 1: the services section that the profile names exists */
  char *session_region, *session_url;     /* owned; from the sso-session section that the profile names */
  uint8_t session_found;
} slp_profile;

void slp_profile_init(slp_profile *p, slp_mem *mem);
void slp_profile_free(slp_profile *p); /* wipes the profile and leaves it empty */
/* Returns the value of a setting, or NULL if it is not set. If both files have a value, returns that of the
 * credentials file, as in botocore. */
const char *slp_profile_get(const slp_profile *p, slp_profile_key key);
/* Returns 1 if `value` is `lower`, which is in lower case; the case of `value` does not matter. Returns 0 if
 * `value` is NULL. */
int slp_setting_is(const char *value, const char *lower);
/* Returns the name of the setting in the files, such as "role_arn". */
const char *slp_profile_key_name(slp_profile_key key);
/* Returns the path of the file that has the value of `key`, for messages. */
const char *slp_profile_where(const slp_profile *p, slp_profile_key key);
/* Reads the profile `name` from the texts of both files. Returns 0, SLP_ENOMEM, or SLP_EBADDATA. Then
 * *ret_bad_file (0: credentials, 1: config) and *ret_line say where the text is wrong. */
int slp_profile_parse(slp_profile *p, slp_str credentials, slp_str config, slp_str name, int *ret_bad_file,
                      uint32_t *ret_line);

/* ---- loading ------------------------------------------------------------------------------------------- */
typedef struct slp_wait { /* a caller that waits for something; `run` is called once, in a turn */
  slp_list link;
  void (*run)(struct slp_wait *wait);
} slp_wait;
/* Appends `wait` to the callers in `waiting`. A wait can be in one list only. */
void slp_wait_add(slp_list *waiting, slp_wait *wait);
/* Removes `wait` from its list, if it is in one. Its `run` will not be called. */
void slp_wait_cancel(slp_wait *wait);
void slp_wait_run_all(slp_list *waiting); /* runs all that wait now; a `run` may wait again */

typedef struct slp_profile_file {
  slp_file file;
  struct slp_profiles *owner;
  slp_buf path, text;
  uint8_t reading;
  uint8_t named; /* 1: an environment variable has the path of the file, so it is not the default path */
} slp_profile_file;

typedef struct slp_profiles {
  slp_host *h;
  slp_getenv_fn getenv_fn;
  void *getenv_ctx;
  const char *chosen;        /* from an option; NULL: AWS_PROFILE, AWS_DEFAULT_PROFILE, or "default" */
  slp_profile_file files[2]; /* 0: the credentials file, 1: the config file */
  uint8_t loading, loaded;
  slp_event ev;
  slp_list waiting;
  /* The members from here to `why` are valid after a load. */
  slp_profile profile;
  /* The chain of profiles that begins with the source_profile of `profile`. Each element is the
   * source_profile of the element before it. The chain ends when a profile repeats. */
  slp_profile sources[SLP_PROFILE_SOURCES_MAX];
  size_t sources_n;
  char name[128];
  uint8_t explicit_name; /* 1: the user chose the profile */
  uint8_t name_too_long; /* 1: the profile's name is too long to be looked for */
  int error;             /* 0: `profile` is valid, but empty if no file has its section */
  char why[300];
} slp_profiles;

void slp_profiles_init(slp_profiles *p, slp_host *h, slp_getenv_fn getenv_fn, void *getenv_ctx,
                       const char *chosen);
void slp_profiles_close(slp_profiles *p); /* no caller may be waiting for p */
/* Returns 1 if an option or the environment chooses a profile. */
int slp_profiles_chosen(const slp_profiles *p);
/* Reads the files, even if they were read before. `wait` runs when they are read. There is one load at a
 * time, however many callers wait. */
void slp_profiles_load(slp_profiles *p, slp_wait *wait);
/* After a load: writes what the files contained, such as "no ~/.aws/credentials, ...", for messages. */
#define SLP_PROFILES_LOOKED 130
void slp_profiles_looked(slp_profiles *p, char looked[SLP_PROFILES_LOOKED]);
/* Wipes the keys in the profile. Called by an owner that needs only the profile's other settings. */
void slp_profiles_forget_keys(slp_profiles *p);
/* Wipes everything that was read. p can be used again after another load. */
void slp_profiles_forget(slp_profiles *p);

#endif
