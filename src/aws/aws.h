/* aws.h - one identity in one region: its credentials, signing keys, endpoints, clock offset and retry
 * settings. All services of a consumer share it, and so do consumers that are joined. Creating it does no
 * I/O.
 *
 * Keys, in all of aws/: the credentials of an identity, which are an access key id, a secret key, and maybe a
 * session token. An op (ops.h) is one typed call to a service. */
#ifndef SLP_AWS_AWS_H
#define SLP_AWS_AWS_H

#include "aws/classify.h"
#include "aws/ops.h"
#include "host/host.h"

typedef enum {
  SLP_SVC_KINESIS,
  SLP_SVC_DYNAMODB,
  SLP_SVC_STREAMS,
  SLP_SVC_STS,
  SLP_SVC_CLOUDWATCH,
  SLP_SVC_SSO,      /* the portal that returns keys for a signed-in user */
  SLP_SVC_SSO_OIDC, /* renews the token of a signed-in user */
  SLP_SVC_SIGNIN,   /* renews the session of `aws login` */
  SLP_SVC_GLUE,     /* Glue's Schema Registry; only stream-tail uses it */
  SLP_SVC_LEASES,   /* the DynamoDB that has a fleet's lease table */
  SLP_SVCS
} slp_svc;
typedef enum { SLP_WIRE_AUTO, SLP_WIRE_CBOR, SLP_WIRE_JSON } slp_wire;

/* Returns the value of an environment variable, or NULL. The simulator and the tests pass a function of their
 * own. The code of aws/ never caches a result. */
typedef const char *(*slp_getenv_fn)(void *ctx, const char *name);
/* reads the environment of this process; ctx is not used */
const char *slp_process_getenv(void *ctx, const char *name);

/* An expiry time for keys that do not expire. It is later than any time that a service sends, and far enough
 * from INT64_MAX that arithmetic with it can't overflow. */
#define SLP_KEYS_NEVER (INT64_MAX / 2)
typedef struct slp_aws_keys {    /* keys from the user's callback; copied */
  slp_str key_id, secret, token; /* token is absent for permanent keys */
  int64_t expires_at_ms;         /* SLP_KEYS_NEVER or later: never; negative: long ago */
  /* 1: expired keys are still used until newer keys come, because the source of the keys may be unreachable
   * for hours */
  uint8_t outlives;
  slp_str account; /* the number of the account; absent if the source of the keys does not have it */
} slp_aws_keys;

typedef struct slp_aws slp_aws;
/* Asks the user for credentials. The user must call slp_aws_keys_done, at once or later. */
typedef void (*slp_aws_creds_fn)(void *ctx, slp_aws *aws);

/* Tells the user what a call is waiting for, as text. */
typedef void (*slp_aws_waits_fn)(void *ctx, const char *text);

typedef struct slp_aws_options {
  /* NULL: the region of stream_arn, AWS_REGION, AWS_DEFAULT_REGION, the profile or the machine */
  const char *region;
  /* The URL for Kinesis, DynamoDB and DynamoDB Streams. If it is NULL, and for every other service: the URL
   * in AWS_ENDPOINT_URL_<SERVICE>, AWS_ENDPOINT_URL or the profile, otherwise the public host. */
  const char *endpoint;
  const char *lease_endpoint; /* the URL for SLP_SVC_LEASES; NULL: the member `endpoint` */
  const char *profile;        /* a profile's name; NULL: AWS_PROFILE, AWS_DEFAULT_PROFILE, or "default" */
  const char *stream_arn;     /* an ARN or NULL; its region has priority over the environment */
  /* the CA bundle that the host was given; NULL: AWS_CA_BUNDLE, then the profile's ca_bundle */
  const char *ca_bundle;
  /* NULL: keys come from the environment, web identity, profile, container or machine */
  slp_aws_creds_fn creds;
  void *creds_ctx;
  slp_aws_waits_fn waits; /* called when a slow credential_process keeps calls waiting; NULL: not called */
  void *waits_ctx;
  slp_getenv_fn getenv_fn; /* where environment variables are read; NULL: slp_process_getenv */
  void *getenv_ctx;
  slp_wire wire;
  const char *user_agent;
} slp_aws_options;

/* Checks region, endpoint, lease_endpoint and profile. Returns 0, or SLOOP_EOPTION and why. */
int slp_aws_options_check(const slp_aws_options *o, char why[160]);
/* Creates an identity and copies what it needs of o. Returns 0, or SLOOP_EOPTION or SLP_ENOMEM with a
 * sentence in `why`. Files are read, and the region is found, only when the first call to a service is made.
 * If a file is unreadable or no region is found, that call fails with SLP_AUTH or SLP_REFUSED, and its
 * message says what to set. */
int slp_aws_new(slp_aws **ret, slp_host *h, const slp_aws_options *o, char why[160]);
/* Takes a reference. */
void slp_aws_hold(slp_aws *aws);
/* Drops a reference. The last drop frees the identity and wipes its secrets; no op may be in flight then. */
void slp_aws_drop(slp_aws *aws);
/* Answers a call of slp_aws_creds_fn. Must be called exactly once for each such call, with `error` 0 and
 * keys, or with a negative code and a reason in `why`. */
void slp_aws_keys_done(slp_aws *aws, int error, const slp_aws_keys *keys, const char *why);

typedef struct slp_aws_stats {
  uint64_t calls, retries, throttles, bytes_in, bytes_out, cbor_refused, clock_fixes, creds_refreshes;
  uint64_t failed;                  /* how many tries failed; a call may make several tries */
  uint64_t failed_as[SLP_FAILURES]; /* how many tries failed with the error number i (slp_failure_number) */
} slp_aws_stats;
/* Returns the counters of all calls of this identity; they live as long as aws. */
const slp_aws_stats *slp_aws_stats_of(const slp_aws *aws);

/* Creates the table of functions that send ops to Kinesis. It holds a reference on aws. Returns 0 or
 * SLP_ENOMEM. */
int slp_kinesis_new(slp_ops **ret, slp_aws *aws);
void slp_kinesis_free(slp_ops *ops); /* frees the functions; no op may be in flight */
/* Creates the table of functions that send ops to DynamoDB Streams. It holds a reference on aws. A listing
 * needs the stream's ARN. Returns 0 or SLP_ENOMEM. */
int slp_streams_new(slp_ops **ret, slp_aws *aws);
void slp_streams_free(slp_ops *ops); /* frees the functions; no op may be in flight */

#endif
