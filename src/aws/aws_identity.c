/* aws_identity.c - what calls and providers use of an identity: the service's time, the signers, the settings
 * that all services share, and the endpoints. The file calls no provider and sends no call. */
#include "aws/aws.h"
#include "aws/aws_impl.h"
#include "aws/endpoint.h"
#include "aws/hide.h"
#include "aws/imds.h"
#include "aws/profile.h"
#include "aws/retry.h"
#include "aws/sigv4.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/list.h"
#include "base/mem.h"
#include "host/host.h"

#include <sloop.h>

int64_t slp_aws_now_ms(const slp_aws *aws) { return slp_wall_ms(aws->h) + aws->clock_offset_ms; }
int64_t slp_aws_early_ms(const slp_aws *aws) {
  return slp_wall_ms(aws->h) + slp_min_i64(aws->clock_offset_ms, 0);
}

slp_signer *slp_aws_signer(slp_aws *aws, slp_svc svc) {
  if (!aws->signer[svc]) aws->signer[svc] = slp_signer_new(aws->h->mem);
  return aws->signer[svc];
}

/* ---- settings shared by all services ------------------------------------------------------------------- */

static const char *setting(const slp_aws *aws, const char *variable, slp_profile_key key) {
  const char *value = aws->getenv_fn(aws->getenv_ctx, variable);
  return value && value[0] ? value : slp_profile_get(&aws->profiles.profile, key);
}

/* Reads the settings that are the same for all services. The profile must be loaded. Returns 0, or an error
 * with f set. */
static int settle_settings(slp_aws *aws, slp_fail *f) {
  char why[160];
  if (aws->settings_known) return 0;
  if (slp_retry_tries(setting(aws, "AWS_RETRY_MODE", SLP_PROFILE_RETRY_MODE),
                      setting(aws, "AWS_MAX_ATTEMPTS", SLP_PROFILE_MAX_ATTEMPTS), &aws->tries_max, why)) {
    return slp_fail_set(f, SLP_REFUSED, SLOOP_EOPTION, "%s", why);
  }
  const char *bundle = aws->getenv_fn(aws->getenv_ctx, "AWS_CA_BUNDLE");
  /* 1: an option or AWS_CA_BUNDLE names a bundle; the host got it when it was created, so the profile's
   * bundle is not used */
  int given = aws->ca_bundle_given || (bundle && bundle[0]);
  bundle = given ? NULL : slp_profile_get(&aws->profiles.profile, SLP_PROFILE_CA_BUNDLE);
  if (bundle && !aws->ca_bundle) {
    aws->ca_bundle = slp_strdup(aws->h->mem, slp_str_of(bundle));
    if (!aws->ca_bundle) return slp_fail_set(f, SLP_NOMEM, SLP_ENOMEM, "no memory");
  }
  aws->settings_known = 1;
  return 0;
}

static void on_machine(slp_imds *m, slp_imds_result result) {
  slp_aws *aws = SLP_OWNER(m, slp_aws, machine);
  slp_str region = slp_buf_str(&m->fetch.answer);
  aws->machine_answered = result != SLP_IMDS_STARVED;
  aws->machine_asked = 0;
  /* The region becomes part of host names, which messages contain. So a region that contains a secret is not
   * used. */
  if (result == SLP_IMDS_FINE && region.n < sizeof aws->machine_region && slp_region_valid(region) &&
      !slp_secret_in(&m->fetch.secrets, region))
    memcpy(aws->machine_region, region.p, region.n);
  slp_imds_end(m);
  slp_wait_run_all(&aws->machine_waiting);
}

void slp_aws_settings_init(slp_aws *aws) {
  slp_profiles_init(&aws->profiles, aws->h, aws->getenv_fn, aws->getenv_ctx, aws->profile);
  slp_imds_init(&aws->machine, aws->h, aws->getenv_fn, aws->getenv_ctx, &aws->profiles.profile);
  aws->machine.on_done = on_machine;
  slp_list_init(&aws->machine_waiting);
}

/* Asks the machine's metadata service for the region. Returns 0 if the service has answered, even if it knows
 * no region. Returns SLP_MORE if `wait` will run. */
static int ask_machine(slp_aws *aws, slp_wait *wait) {
  if (aws->machine_answered) return 0;
  slp_wait_add(&aws->machine_waiting, wait);
  if (aws->machine_asked) return SLP_MORE;
  aws->machine_asked = 1;
  slp_imds_get(&aws->machine, "latest/meta-data/placement/region");
  return SLP_MORE;
}

/* Decides whether a call fails because a profile file can't be read. Returns 0 if the call does not need the
 * file (`needed` is 0), otherwise an error with f set. A lack of memory is always an error. */
static int profile_failed(slp_aws *aws, int needed, slp_fail *f) {
  if (aws->profiles.error == SLP_ENOMEM) {
    aws->profiles.loaded = 0;
    return slp_fail_set(f, SLP_NOMEM, SLP_ENOMEM, "no memory");
  }
  if (!needed) return 0;
  /* makes the next call read the file again, because the user may have repaired it */
  aws->profiles.loaded = 0;
  return slp_fail_set(f, SLP_REFUSED, SLOOP_EOPTION, "%s", aws->profiles.why);
}

/* Returns the URL that the options give for this service, or NULL. The option `endpoint` is only for the
 * stream's services. It is not used for STS and other services that give keys. An interface endpoint of
 * Kinesis does not serve these, and a local server in place of Kinesis should not get proofs of identity. */
static const char *url_for(const slp_aws *aws, slp_svc svc) {
  if (svc == SLP_SVC_LEASES && aws->lease_endpoint) return aws->lease_endpoint;
  int serves_streams =
      svc == SLP_SVC_KINESIS || svc == SLP_SVC_DYNAMODB || svc == SLP_SVC_STREAMS || svc == SLP_SVC_LEASES;
  return serves_streams ? aws->endpoint : NULL;
}

static slp_endpoint_wish make_wish(const slp_aws *aws, slp_svc svc) {
  return (slp_endpoint_wish){.svc = svc,
                             .region = aws->region,
                             .url = url_for(aws, svc),
                             .arn = aws->stream_arn,
                             .getenv_fn = aws->getenv_fn,
                             .getenv_ctx = aws->getenv_ctx};
}

int slp_aws_endpoint(slp_aws *aws, slp_svc svc, slp_wait *wait, slp_fail *f) {
  if (aws->endpoint_known[svc]) return 0;
  slp_endpoint_wish wish = make_wish(aws, svc);
  int needed = slp_endpoint_needs_profile(&wish) || slp_profiles_chosen(&aws->profiles);
  if (!aws->profiles.loaded || aws->profiles.loading) {
    slp_profiles_load(&aws->profiles, wait);
    return SLP_MORE;
  }
  slp_profiles_forget_keys(&aws->profiles);
  int r = aws->profiles.error ? profile_failed(aws, needed, f) : 0;
  if (!r) r = settle_settings(aws, f);
  if (r) return r;
  wish.profile = &aws->profiles.profile;
  if (!slp_endpoint_region_named(&wish) && ask_machine(aws, wait)) return SLP_MORE;
  wish.region_of_machine = aws->machine_region;
  r = slp_endpoint_resolve(&wish, &aws->endpoints[svc], f);
  if (r == 0)
    aws->endpoint_known[svc] = 1;
  else
    /* makes the next call read the file again, because the missing setting may have been added */
    aws->profiles.loaded = 0;
  return r;
}

/* Finds the endpoint, in the region `region`, of a service that is called to sign in. slp_aws_endpoint or a
 * load of `profile` must have succeeded before. The endpoint is returned only in *ret, not stored in aws. */
static int find_endpoint_in(slp_aws *aws, slp_svc svc, const char *region, const slp_profile *profile,
                            slp_endpoint *ret, slp_fail *f) {
  slp_endpoint_wish wish = make_wish(aws, svc);
  wish.region = region;
  wish.profile = profile;
  return slp_endpoint_resolve(&wish, ret, f);
}

int slp_aws_url_in(slp_aws *aws, slp_svc svc, const char *region, const slp_profile *profile,
                   const char *path, slp_buf *url, slp_fail *f) {
  slp_endpoint e;
  slp_fail_clear(f);
  if (find_endpoint_in(aws, svc, region, profile, &e, f)) return f->code;
  size_t n = strlen(e.url);
  slp_buf_clear(url);
  slp_buf_add(url, e.url, e.url[n - 1] == '/' ? n - 1 : n);
  return slp_buf_add_z(url, path);
}
