/* aws_impl.h - inside of slp_aws; for files of aws/ only. */
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
      *user_agent; /* the options' texts; owned; NULL: not given */
  slp_aws_creds_fn ask_user;
  void *ask_user_ctx;
  slp_aws_waits_fn waits;
  void *waits_ctx;
  slp_getenv_fn getenv_fn;
  void *getenv_ctx;
  slp_wire wire;

  slp_profiles profiles;   /* for settings; the providers of keys read the files for themselves */
  uint8_t settings_known;  /* the next two members are valid */
  uint32_t tries_max;      /* AWS_MAX_ATTEMPTS and the like; 0: not set */
  char *ca_bundle;         /* the profile's; NULL: the host knows better; owned */
  uint8_t ca_bundle_given; /* by option: neither environment nor profile matters */
  slp_imds machine;        /* gives the region */
  slp_list machine_waiting;
  uint8_t machine_asked, machine_answered;
  char machine_region[64];      /* "": it has none */
  slp_creds *creds;             /* owned */
  slp_provider *user;           /* in creds' chain; NULL: no callback */
  slp_signer *signer[SLP_SVCS]; /* owned; made at first use: each keeps the day's key of its service */
  slp_endpoint endpoints[SLP_SVCS];
  uint8_t endpoint_known[SLP_SVCS];
  int64_t
      clock_offset_ms; /* the service's time minus our wall clock; 0 until a refused signature showed it */
  slp_aws_stats stats;
};

/* The time to sign with. */
int64_t slp_aws_now_ms(const slp_aws *aws);
/* The earlier of that and the machine's own time. The service's was learned from one answer, which may have
 * been wrong, and only another refused call can show that. So nothing that lives by one of the two is held to
 * have expired: the call goes out, and the service judges. */
int64_t slp_aws_early_ms(const slp_aws *aws);
/* 0: aws->endpoints[svc] is valid. SLP_MORE: profile files must be read first: `wait` runs then, ask again.
 * Else f says what is wrong. */
int slp_aws_endpoint(slp_aws *aws, slp_svc svc, slp_wait *wait, slp_fail *f);
/* The same for a service that lives in a region of its own (signing in). After slp_aws_endpoint or a load of
 * `profile`; nothing is kept. */
int slp_aws_endpoint_in(slp_aws *aws, slp_svc svc, const char *region, const slp_profile *profile,
                        slp_endpoint *ret, slp_fail *f);
/* Puts the URL of `path`, which begins with a slash, at the endpoint that slp_aws_endpoint_in() finds into
 * `url`. Returns 0; SLP_ENOMEM or SLP_ELIMIT, as slp_buf_add(); or another code, and `f` is set. */
int slp_aws_url_in(slp_aws *aws, slp_svc svc, const char *region, const slp_profile *profile,
                   const char *path, slp_buf *url, slp_fail *f);
slp_signer *slp_aws_signer(slp_aws *aws, slp_svc svc); /* NULL: no memory */

#endif
