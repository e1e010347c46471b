/* aws.h - one identity in one region: credentials, signing, endpoints, clock offset, retry budget. All
 * services of a consumer, and joined consumers, share it. Creating it does no I/O. */
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
  SLP_SVC_SSO,      /* the portal that gives keys to a signed-in user */
  SLP_SVC_SSO_OIDC, /* renews that user's token */
  SLP_SVC_SIGNIN,   /* renews the session of `aws login` */
  SLP_SVC_GLUE,     /* for Glue's Schema Registry; only stream-tail uses it */
  SLP_SVC_LEASES,   /* the DynamoDB with a fleet's table */
  SLP_SVCS
} slp_svc;
typedef enum { SLP_WIRE_AUTO, SLP_WIRE_CBOR, SLP_WIRE_JSON } slp_wire;

/* Reads an environment variable. The simulator and tests pass their own function. aws/ never caches a
 * result. */
typedef const char *(*slp_getenv_fn)(void *ctx, const char *name);
const char *slp_process_getenv(void *ctx, const char *name); /* reads the process's environment */

/* Later than any time that a service means, but far enough from INT64_MAX that computing with it can't
 * overflow. */
#define SLP_KEYS_NEVER (INT64_MAX / 2)
typedef struct slp_aws_keys {    /* what a credentials callback hands over; copied */
  slp_str key_id, secret, token; /* token may be absent */
  int64_t expires_at_ms;         /* from SLP_KEYS_NEVER on: never; below 0: long ago */
  /* still used after it expired if there are no newer keys, because their source may be unreachable for
   * long */
  uint8_t outlives;
  slp_str account; /* the account's number, if the source tells it; otherwise absent */
} slp_aws_keys;

typedef struct slp_aws slp_aws;
/* Asks the user for credentials. The user answers with slp_aws_keys_done(), at once or later. */
typedef void (*slp_aws_creds_fn)(void *ctx, slp_aws *aws);

/* Tells the user what a call waits for. */
typedef void (*slp_aws_waits_fn)(void *ctx, const char *text);

typedef struct slp_aws_options {
  const char *region; /* NULL: from stream_arn, AWS_REGION, AWS_DEFAULT_REGION, the profile, or the machine */
  /* for Kinesis, DynamoDB and its streams. NULL, and for other services: AWS_ENDPOINT_URL_<SERVICE>,
   * AWS_ENDPOINT_URL, the profile's, or the public host */
  const char *endpoint;
  const char *lease_endpoint; /* for SLP_SVC_LEASES; NULL: the same as endpoint */
  const char *profile;        /* NULL: AWS_PROFILE, AWS_DEFAULT_PROFILE, or "default" */
  const char *stream_arn;     /* an ARN or NULL; its region is preferred to the environment's */
  /* the one that the host was given; NULL: AWS_CA_BUNDLE, then the profile's ca_bundle */
  const char *ca_bundle;
  slp_aws_creds_fn creds; /* NULL: environment, web identity, profile, container, machine */
  void *creds_ctx;
  slp_aws_waits_fn waits; /* NULL: the user is not told */
  void *waits_ctx;
  slp_getenv_fn getenv_fn; /* NULL: the process's environment */
  void *getenv_ctx;
  slp_wire wire;
  const char *user_agent;
} slp_aws_options;

/* Makes an identity and copies what it needs. On failure (SLOOP_EOPTION, SLP_ENOMEM) `why` gets a sentence.
 * Unreadable files and a missing region are found only by the first call, which then fails with SLP_AUTH or
 * SLP_REFUSED and a message that says what to set. */
int slp_aws_new(slp_aws **ret, slp_host *h, const slp_aws_options *o, char why[160]);
void slp_aws_hold(slp_aws *aws);
/* no op may be in flight when the last reference goes; frees it and wipes secrets */
void slp_aws_drop(slp_aws *aws);
/* Answers a call of slp_aws_creds_fn, exactly once: `error` 0 and keys, or a negative code and `why`. */
void slp_aws_keys_done(slp_aws *aws, int error, const slp_aws_keys *keys, const char *why);

typedef struct slp_aws_stats {
  uint64_t calls, retries, throttles, bytes_in, bytes_out, cbor_refused, clock_fixes, creds_refreshes;
  uint64_t failed;                  /* tries that failed */
  uint64_t failed_as[SLP_FAILURES]; /* the same by slp_failure_number() */
} slp_aws_stats;
const slp_aws_stats *slp_aws_stats_of(const slp_aws *aws);

/* Makes the table of ops for Kinesis. Holds a reference on aws. */
int slp_kinesis_new(slp_ops **ret, slp_aws *aws);
void slp_kinesis_free(slp_ops *ops); /* no op may be in flight */
/* Does the same for DynamoDB Streams. Its listings need the stream's ARN. */
int slp_streams_new(slp_ops **ret, slp_aws *aws);
void slp_streams_free(slp_ops *ops);

#endif
