/* aws.h - one identity in one region: credentials, signing, endpoints, clock offset, retry budget.
 * Shared by all services of a consumer family (and by joined consumers). Opening does no I/O. */
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
  SLP_SVC_SSO,      /* the portal that gives keys for a signed-in user */
  SLP_SVC_SSO_OIDC, /* renews that user's token */
  SLP_SVC_SIGNIN,   /* renews the session of `aws login` */
  SLP_SVC_GLUE,     /* its Schema Registry; asked by stream-tail alone */
  SLP_SVC_LEASES,   /* the DynamoDB that a fleet's table is in */
  SLP_SVCS
} slp_svc;
typedef enum { SLP_WIRE_AUTO, SLP_WIRE_CBOR, SLP_WIRE_JSON } slp_wire;

/* Reads environment variables; the simulator and tests give their own. Never cached by aws/. */
typedef const char *(*slp_getenv_fn)(void *ctx, const char *name);
const char *slp_process_getenv(void *ctx, const char *name); /* the process's own */

/* Far behind any time that a service means, and far enough from the ends of its type to be reckoned with. */
#define SLP_KEYS_NEVER (INT64_MAX / 2)
typedef struct slp_aws_keys {    /* what a creds callback hands over; copied */
  slp_str key_id, secret, token; /* token may be absent */
  int64_t expires_at_ms;         /* from SLP_KEYS_NEVER on: never; below 0: long ago */
  uint8_t
      outlives; /* used after that when there are no newer ones: their source may be unreachable for long */
  slp_str account; /* the account's number, where their source tells it; absent: not known */
} slp_aws_keys;

typedef struct slp_aws slp_aws;
/* Asks the user for credentials; the answer is slp_aws_keys_done(), at once or later. */
typedef void (*slp_aws_creds_fn)(void *ctx, slp_aws *aws);

/* Tells the user what is waited for. */
typedef void (*slp_aws_waits_fn)(void *ctx, const char *text);

typedef struct slp_aws_options {
  const char *region;   /* NULL: from stream_arn, AWS_REGION, AWS_DEFAULT_REGION, the profile, the machine */
  const char *endpoint; /* of Kinesis, DynamoDB and its streams; NULL, and the other services:
                           AWS_ENDPOINT_URL_<SERVICE>, AWS_ENDPOINT_URL, the profile's, the public host */
  const char *lease_endpoint; /* of SLP_SVC_LEASES; NULL: as endpoint */
  const char *profile;        /* NULL: AWS_PROFILE, AWS_DEFAULT_PROFILE, "default" */
  const char *stream_arn;     /* NULL or an ARN: its region comes before the environment's */
  const char *ca_bundle;      /* what the host was given; NULL: AWS_CA_BUNDLE, then the profile's ca_bundle */
  slp_aws_creds_fn creds;     /* NULL: environment, web identity, profile, container, machine */
  void *creds_ctx;
  slp_aws_waits_fn waits; /* NULL: nobody is told */
  void *waits_ctx;
  slp_getenv_fn getenv_fn; /* NULL: the process's */
  void *getenv_ctx;
  slp_wire wire;
  const char *user_agent;
} slp_aws_options;

/* Copies what it needs. `why` gets a sentence on failure (SLOOP_EOPTION, SLP_ENOMEM). Files and
 * missing regions are only found out by the first call, which then fails with SLP_AUTH or SLP_REFUSED
 * and a message that says what to set. */
int slp_aws_new(slp_aws **ret, slp_host *h, const slp_aws_options *o, char why[160]);
void slp_aws_hold(slp_aws *aws);
void slp_aws_drop(slp_aws *aws); /* no op may be in flight when the last hold goes; frees, wipes secrets */
/* Answers a slp_aws_creds_fn call, exactly once: error 0 and keys, or a negative code and why. */
void slp_aws_keys_done(slp_aws *aws, int error, const slp_aws_keys *keys, const char *why);

typedef struct slp_aws_stats {
  uint64_t calls, retries, throttles, bytes_in, bytes_out, cbor_refused, clock_fixes, creds_refreshes;
  uint64_t failed;                  /* calls, each try */
  uint64_t failed_as[SLP_FAILURES]; /* by slp_failure_number() */
} slp_aws_stats;
const slp_aws_stats *slp_aws_stats_of(const slp_aws *aws);

/* The Kinesis service as a table of ops. Holds aws. */
int slp_kinesis_new(slp_ops **ret, slp_aws *aws);
void slp_kinesis_free(slp_ops *ops); /* no op in flight */
/* The same for DynamoDB Streams. It has no position SLP_ITER_AT_TIME (SLP_REFUSED); listings need the
 * stream's ARN. */
int slp_streams_new(slp_ops **ret, slp_aws *aws);
void slp_streams_free(slp_ops *ops);

#endif
