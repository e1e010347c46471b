/* endpoint.h - finds the region and the URL of a service: options, environment, profile, ARN, partitions.
 * Pure. */
#ifndef SLP_AWS_ENDPOINT_H
#define SLP_AWS_ENDPOINT_H

#include "aws/profile.h"

typedef struct slp_endpoint {
  char url[640];  /* scheme://host[:port]/path */
  char host[300]; /* as the Host header says it: lower case, port only when it is not the scheme's own */
  char path[256]; /* the path to sign; at least "/" */
  char region[64];
  const char *sign_as; /* service name in signatures; static */
  uint8_t tls, loopback;
  /* The hosts of accounts: ACCOUNT.HOST.REGION.SUFFIX, where HOST of Kinesis has "data-" or "control-" before
   * it. NULL: there are none, or the user wants none. All static. */
  const char *account_host, *account_suffix;
  uint8_t account_required; /* a call without an account's host must not be sent */
} slp_endpoint;

/* Holds the longest host of an account: an account has 12 digits, and a region at most 63 bytes. */
#define SLP_ACCOUNT_HOST_MAX 160

typedef struct slp_endpoint_wish {
  slp_svc svc;
  const char *region; /* options, or NULL */
  const char *url;
  const char *arn;
  slp_getenv_fn getenv_fn;
  void *getenv_ctx;
  const slp_profile *profile;    /* NULL: not read */
  const char *region_of_machine; /* when nothing else names one; NULL: not known */
} slp_endpoint_wish;

const char *slp_svc_config_name(slp_svc svc); /* "dynamodb_streams": in services sections */
/* Does the answer depend on the profile files? */
int slp_endpoint_needs_profile(const slp_endpoint_wish *wish);
/* 0; or SLOOP_EOPTION and f says what is missing or wrong and what to set (class SLP_REFUSED). */
int slp_endpoint_resolve(const slp_endpoint_wish *wish, slp_endpoint *ret, slp_fail *f);
/* Takes an URL apart. 0, or SLOOP_EOPTION with a sentence. */
int slp_endpoint_parse_url(slp_endpoint *e, slp_str url, char why[160]);
int slp_region_valid(slp_str region);
/* The region behind a pseudo-region: "us-west-2" of "us-west-2-fips" and "fips-us-west-2", which ask for FIPS
 * endpoints by the region's name; other valid regions are copied. Returns 1 if it was a pseudo-region. */
int slp_region_real(slp_str region, char ret[64]);
/* Does anything but the machine name a region? */
int slp_endpoint_region_named(const slp_endpoint_wish *wish);
/* "localhost" or a numeric address of the loopback interface; IPv6 without brackets. */
int slp_host_is_loopback(slp_str host);
/* arn:PARTITION:SERVICE:REGION:ACCOUNT:...; {NULL,0} when there is none. */
typedef enum { SLP_ARN_PARTITION = 1, SLP_ARN_SERVICE, SLP_ARN_REGION, SLP_ARN_ACCOUNT } slp_arn_part;
slp_str slp_arn_field(slp_str arn, slp_arn_part part);
slp_str slp_arn_region(slp_str arn);
int slp_account_valid(slp_str account); /* digits only, at most 12 */
/* Writes the host that serves one account: that of `arn`, which the request names, else that of the keys.
 * `target` is the call's X-Amz-Target. Returns 1 if there is such a host, 0 if the call goes to e->host, or
 * SLOOP_EOPTION when the user requires an account's host, and f says what to set. */
int slp_endpoint_account_host(const slp_endpoint *e, slp_svc svc, slp_str target, slp_str arn,
                              slp_str keys_account, char ret_host[SLP_ACCOUNT_HOST_MAX], slp_fail *f);

#endif
