/* aws_impl.h - the members of slp_aws, which only files of aws/ may use. */
#ifndef SLP_AWS_AWS_IMPL_H
#define SLP_AWS_AWS_IMPL_H

#include "aws/aws.h"
#include "aws/creds.h"
#include "aws/endpoint.h"
#include "aws/imds.h"
#include "aws/profile.h"
#include "aws/provider.h"
#include "aws/sigv4.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/list.h"
#include "host/host.h"

struct slp_aws {
  slp_host *h;
  uint32_t holds;
  char *region, *endpoint, *lease_endpoint, *profile, *stream_arn,
      *user_agent; /* owned copies of the options; NULL: not given */
  slp_aws_creds_fn ask_user;
  void *ask_user_ctx;
  slp_aws_waits_fn waits;
  void *waits_ctx;
  slp_getenv_fn getenv_fn;
  void *getenv_ctx;
  slp_wire wire;

  slp_profiles profiles;  /* used for settings; the providers of keys read the files themselves */
  uint8_t settings_known; /* 1: tries_max and ca_bundle are valid */
  uint32_t tries_max;     /* the limit from AWS_MAX_ATTEMPTS and the like; 0: not set */
  /* owned; the profile's ca_bundle; NULL: the profile has none, or the host was given another bundle */
  char *ca_bundle;
  uint8_t ca_bundle_given; /* 1: an option gave the CA bundle, so environment and profile do not matter */
  slp_imds machine;        /* asked for the region of this machine */
  slp_list machine_waiting;
  uint8_t machine_asked, machine_answered;
  char machine_region[64]; /* "": the region is not known, or the machine has none */
  slp_creds *creds;        /* owned */
  /* the provider for the user's callback, in the chain of creds; NULL: there is no callback */
  slp_provider *user;
  /* Owned; a signer is created at its first use. Each keeps its service's signing key of the day. */
  slp_signer *signer[SLP_SVCS];
  slp_endpoint endpoints[SLP_SVCS];
  uint8_t endpoint_known[SLP_SVCS];
  /* The service's clock minus this machine's clock. 0 until the service refused a signature and its answer
   * showed the difference. */
  int64_t clock_offset_ms;
  slp_aws_stats stats;
};

/* ---- aws_identity.c -------------------------------------------------------------------------------- */
/* Prepares aws to read profiles and to ask the machine's metadata service. The options must have been copied
 * into aws before. */
void slp_aws_settings_init(slp_aws *aws);
/* Returns the service's time, which requests are signed with. */
int64_t slp_aws_now_ms(const slp_aws *aws);
/* Returns slp_aws_now_ms() or the machine's own time, whichever is earlier. The service's time was learnt
 * from a single answer. If that answer was wrong, only another refused call can show it. So keys are treated
 * as expired only if they have expired by both times; otherwise the call is sent, and the service decides. */
int64_t slp_aws_early_ms(const slp_aws *aws);
/* Finds the endpoint of a service. Returns 0 if aws->endpoints[svc] is valid, or an error with f set. Returns
 * SLP_MORE if files must be read or the machine must be asked first: `wait` then runs, and the function must
 * be called again. */
int slp_aws_endpoint(slp_aws *aws, slp_svc svc, slp_wait *wait, slp_fail *f);
/* Writes a URL into `url`: the endpoint of a service in the region `region`, followed by `path`, which begins
 * with a slash. slp_aws_endpoint or a load of `profile` must have succeeded before. Returns 0. Returns
 * SLP_ENOMEM or SLP_ELIMIT, like slp_buf_add(), or another code with f set. */
int slp_aws_url_in(slp_aws *aws, slp_svc svc, const char *region, const slp_profile *profile,
                   const char *path, slp_buf *url, slp_fail *f);
slp_signer *slp_aws_signer(slp_aws *aws, slp_svc svc); /* returns NULL if there is no memory */

#endif
