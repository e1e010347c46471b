/* endpoint.h - finds the region and the URL of a service from options, environment, profile, ARN and
 * partitions. Pure. */
#ifndef SLP_AWS_ENDPOINT_H
#define SLP_AWS_ENDPOINT_H

#include "aws/profile.h"

typedef struct slp_endpoint {
  char url[640];  /* scheme://host[:port]/path */
  char host[300]; /* as in the Host header: lower case, with a port only if it is not the scheme's default */
  char path[256]; /* the path to sign; at least "/" */
  char region[64];
  const char *sign_as; /* the service's name in signatures; static */
  uint8_t tls, loopback;
  /* Hosts of accounts are ACCOUNT.HOST.REGION.SUFFIX; for Kinesis HOST begins with "data-" or "control-".
   * NULL: there are none, or the user does not want them. Static. */
  const char *account_host, *account_suffix;
  uint8_t account_required; /* a call must not be sent to a host without an account */
} slp_endpoint;

/* Room for the longest host of an account: an account has 12 digits and a region at most 63 bytes. */
#define SLP_ACCOUNT_HOST_MAX 160

typedef struct slp_endpoint_wish {
  slp_svc svc;
  const char *region; /* of the options, or NULL */
  const char *url;
  const char *arn;
  slp_getenv_fn getenv_fn;
  void *getenv_ctx;
  const slp_profile *profile;    /* NULL: not read */
  const char *region_of_machine; /* used if nothing else names a region; NULL: not known */
} slp_endpoint_wish;

const char *slp_svc_config_name(slp_svc svc); /* such as "dynamodb_streams", for [services] sections */
/* Returns 1 if the answer depends on the profile files. */
int slp_endpoint_needs_profile(const slp_endpoint_wish *wish);
/* Returns 0, or SLOOP_EOPTION with f (class SLP_REFUSED) saying what is missing or wrong and what to set. */
int slp_endpoint_resolve(const slp_endpoint_wish *wish, slp_endpoint *ret, slp_fail *f);
/* Takes a URL apart. Returns 0, or SLOOP_EOPTION with a sentence in `why`. */
int slp_endpoint_parse_url(slp_endpoint *e, slp_str url, char why[160]);
int slp_region_valid(slp_str region);
/* Returns 1 for a pseudo-region, which asks for FIPS endpoints by its name, and gives the real region:
 * "us-west-2" for "us-west-2-fips" and "fips-us-west-2". Other valid regions are copied. */
int slp_region_real(slp_str region, char ret[64]);
/* Returns 1 if anything but the machine names a region. */
int slp_endpoint_region_named(const slp_endpoint_wish *wish);
/* Returns 1 for "localhost" and numeric addresses of the loopback interface; IPv6 without brackets. */
int slp_host_is_loopback(slp_str host);
/* Returns a part of arn:PARTITION:SERVICE:REGION:ACCOUNT:...; {NULL,0} if there is none. */
typedef enum { SLP_ARN_PARTITION = 1, SLP_ARN_SERVICE, SLP_ARN_REGION, SLP_ARN_ACCOUNT } slp_arn_part;
slp_str slp_arn_field(slp_str arn, slp_arn_part part);
slp_str slp_arn_region(slp_str arn);
int slp_account_valid(slp_str account); /* digits only, at most 12 */
/* Writes the host that serves one account: the account of `arn`, which the request names, or that of the
 * keys. `target` is the call's X-Amz-Target. Returns 1 if there is such a host, 0 if the call goes to
 * e->host, or SLOOP_EOPTION with f set if the user requires account hosts and there is none. */
int slp_endpoint_account_host(const slp_endpoint *e, slp_svc svc, slp_str target, slp_str arn,
                              slp_str keys_account, char ret_host[SLP_ACCOUNT_HOST_MAX], slp_fail *f);

#endif
