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
} slp_endpoint;

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
/* arn:partition:service:REGION:account:...; {NULL,0} when there is none. */
slp_str slp_arn_region(slp_str arn);

#endif
