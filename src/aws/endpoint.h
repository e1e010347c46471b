/* endpoint.h - finds the region and the URL of a service from options, environment, profile, ARN and AWS's
 * partitions. The functions do no I/O. */
#ifndef SLP_AWS_ENDPOINT_H
#define SLP_AWS_ENDPOINT_H

#include "aws/aws.h"
#include "aws/profile.h"
#include "base/fail.h"

typedef struct slp_endpoint {
  char url[640]; /* scheme://host[:port]/path */
  /* value of the header Host: in lower case; with a port only if it is not the default of the scheme */
  char host[300];
  char path[256]; /* the path of the URL, which is signed; at least "/" */
  char region[64];
  const char *sign_as; /* the service's name in signatures; a static text */
  uint8_t tls, loopback;
  /* An account can have a host of its own: ACCOUNT.HOST.REGION.SUFFIX. account_host is HOST and
   * account_suffix is SUFFIX, both static texts. For Kinesis, "data-" or "control-" stands before HOST. Both
   * NULL: the service has no such hosts, or the user does not want them. */
  const char *account_host, *account_suffix;
  uint8_t account_required; /* 1: a call must be sent to the host of an account, or fail */
} slp_endpoint;

/* Room for the longest host of an account: an account has 12 digits, and a region at most 63 bytes. */
#define SLP_ACCOUNT_HOST_MAX 160

typedef struct slp_endpoint_wish {
  slp_svc svc;
  const char *region; /* the region from the options, or NULL */
  const char *url;
  const char *arn;
  slp_getenv_fn getenv_fn;
  void *getenv_ctx;
  const slp_profile *profile; /* the loaded profile; NULL: the profile was not read */
  /* the region of this machine, used if no other source gives a region; NULL: not known */
  const char *region_of_machine;
} slp_endpoint_wish;

/* Returns 1 if the endpoint depends on the profile files. */
int slp_endpoint_needs_profile(const slp_endpoint_wish *wish);
/* Finds the endpoint. Returns 0, or SLOOP_EOPTION with f set (class SLP_REFUSED); f says what is missing or
 * wrong, and what to set. */
int slp_endpoint_resolve(const slp_endpoint_wish *wish, slp_endpoint *ret, slp_fail *f);
/* Splits a URL into the members of e. Returns 0, or SLOOP_EOPTION with a sentence in `why`. */
int slp_endpoint_parse_url(slp_endpoint *e, slp_str url, char why[160]);
/* Returns 1 if the region is a single DNS label. */
int slp_region_valid(slp_str region);
/* Returns 1 for a pseudo-region such as "us-west-2-fips" or "fips-us-west-2", whose name asks for FIPS
 * endpoints; ret is then the real region, "us-west-2". Returns 0 for any other valid region, and copies it to
 * ret. */
int slp_region_real(slp_str region, char ret[64]);
/* Returns 1 if an option, the environment, the profile or the ARN gives the region, so that the machine's
 * metadata service need not be asked. */
int slp_endpoint_region_named(const slp_endpoint_wish *wish);
/* Returns 1 for "localhost" and for addresses of the loopback interface. An IPv6 address has no brackets
 * here. */
int slp_host_is_loopback(slp_str host);
/* Returns a part of an ARN, arn:PARTITION:SERVICE:REGION:ACCOUNT:..., or {NULL,0} if the ARN does not have
 * it. */
typedef enum { SLP_ARN_PARTITION = 1, SLP_ARN_SERVICE, SLP_ARN_REGION, SLP_ARN_ACCOUNT } slp_arn_part;
slp_str slp_arn_field(slp_str arn, slp_arn_part part);
slp_str slp_arn_region(slp_str arn);
int slp_account_valid(slp_str account); /* returns 1 for 1 to 12 digits */
/* Writes the host that serves one account. The account is that of `arn`, an ARN in the request, or else
 * keys_account, the account of the keys. `target` is the call's X-Amz-Target. Returns 1 if there is such a
 * host, and 0 if the call goes to e->host. Returns SLOOP_EOPTION with f set if the user requires hosts of
 * accounts and there is none. */
int slp_endpoint_account_host(const slp_endpoint *e, slp_svc svc, slp_str target, slp_str arn,
                              slp_str keys_account, char ret_host[SLP_ACCOUNT_HOST_MAX], slp_fail *f);

#endif
