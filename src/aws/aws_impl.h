/* aws_impl.h - the inside of slp_aws, for files of aws/ only. */
#ifndef SLP_AWS_AWS_IMPL_H
#define SLP_AWS_AWS_IMPL_H

#include "aws/creds.h"
#include "aws/endpoint.h"
#include "aws/imds.h"
#include "aws/sigv4.h"

struct slp_aws {
  slp_host *h;
  uint32_t holds;
  char *region, *endpoint, *lease_endpoint, *profile, *stream_arn,
      *user_agent; /* the texts of the options; owned; NULL: not given */
  slp_aws_creds_fn ask_user;
  void *ask_user_ctx;
  slp_aws_waits_fn waits;
  void *waits_ctx;
  slp_getenv_fn getenv_fn;
  void *getenv_ctx;
  slp_wire wire;

  slp_profiles profiles;   /* for settings; the providers of keys read the files themselves */
  uint8_t settings_known;  /* the next two members are valid */
  uint32_t tries_max;      /* AWS_MAX_ATTEMPTS and the like; 0: not set */
  char *ca_bundle;         /* the profile's; NULL: the host has one, or there is none; owned */
  uint8_t ca_bundle_given; /* given by an option, so environment and profile do not matter */
  slp_imds machine;        /* asked for the region */
  slp_list machine_waiting;
  uint8_t machine_asked, machine_answered;
  char machine_region[64]; /* "": not known, or the machine has none */
  slp_creds *creds;        /* owned */
  slp_provider *user;      /* in the chain of creds; NULL: the user gave no callback */
  /* owned; made at first use; each keeps its service's signing key of the day */
  slp_signer *signer[SLP_SVCS];
  slp_endpoint endpoints[SLP_SVCS];
  uint8_t endpoint_known[SLP_SVCS];
  /* the service's time minus our wall clock; 0 until a refused signature has shown it */
  int64_t clock_offset_ms;
  slp_aws_stats stats;
};

/* Returns the time to sign with. */
int64_t slp_aws_now_ms(const slp_aws *aws);
/* Returns the earlier of that and the machine's own time. The service's time was learnt from one answer,
 * which may have been wrong, and only another refused call can show that. So keys that are valid by one of
 * the two times are not treated as expired; the call is sent, and the service decides. */
int64_t slp_aws_early_ms(const slp_aws *aws);
/* Returns 0 if aws->endpoints[svc] is valid, SLP_MORE if profile files must be read first (`wait` runs then;
 * call again), or an error with f set. */
int slp_aws_endpoint(slp_aws *aws, slp_svc svc, slp_wait *wait, slp_fail *f);
/* Does the same for a service in another region (for signing in), after slp_aws_endpoint or a load of
 * `profile`. Nothing is kept. */
int slp_aws_endpoint_in(slp_aws *aws, slp_svc svc, const char *region, const slp_profile *profile,
                        slp_endpoint *ret, slp_fail *f);
/* Puts a URL into `url`: the endpoint that slp_aws_endpoint_in() finds, followed by `path`, which begins with
 * a slash. Returns 0; SLP_ENOMEM or SLP_ELIMIT, like slp_buf_add(); or another code with f set. */
int slp_aws_url_in(slp_aws *aws, slp_svc svc, const char *region, const slp_profile *profile,
                   const char *path, slp_buf *url, slp_fail *f);
slp_signer *slp_aws_signer(slp_aws *aws, slp_svc svc); /* NULL: no memory */

#endif
