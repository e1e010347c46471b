/* aws.c - creates and frees one identity in one region, and puts its chain of providers together. */
#include "aws/aws.h"

#include "aws/aws_impl.h"
#include "aws/creds.h"
#include "aws/endpoint.h"
#include "aws/imds.h"
#include "aws/profile.h"
#include "aws/provider.h"
#include "aws/sigv4.h"
#include "base/mem.h"
#include "host/host.h"

#include <sloop.h>
#include <stdio.h>
#include <stdlib.h>

const char *slp_process_getenv(void *ctx, const char *name) {
  (void)ctx;
  return getenv(name);
}

static void ask_user(void *arg) {
  slp_aws *aws = arg;
  aws->ask_user(aws->ask_user_ctx, aws);
}

static void aws_free(slp_aws *aws) {
  slp_mem *mem = aws->h->mem;
  slp_creds_free(aws->creds); /* first, because its providers use members of aws that are freed below */
  slp_profiles_close(&aws->profiles);
  slp_imds_end(&aws->machine);
  for (int i = 0; i < SLP_SVCS; i++) slp_signer_free(aws->signer[i]);
  slp_free(mem, aws->region);
  slp_free(mem, aws->endpoint);
  slp_free(mem, aws->lease_endpoint);
  slp_free(mem, aws->profile);
  slp_free(mem, aws->stream_arn);
  slp_free(mem, aws->user_agent);
  slp_free(mem, aws->ca_bundle);
  slp_free(mem, aws);
}

static int copy_option(slp_mem *mem, char **to, const char *from) {
  if (!from || !from[0]) return 0;
  *to = slp_strdup(mem, slp_str_of(from));
  return *to ? 0 : SLP_ENOMEM;
}

int slp_aws_options_check(const slp_aws_options *o, char why[160]) {
  slp_endpoint scratch;
  if (o->region && o->region[0] && !slp_region_valid(slp_str_of(o->region))) {
    snprintf(why, 160, "region %.80s: not a name like us-east-1", o->region);
    return SLOOP_EOPTION;
  }
  const char *urls[] = {o->endpoint, o->lease_endpoint};
  for (size_t i = 0; i < SLP_COUNT(urls); i++) {
    int r = urls[i] && urls[i][0] ? slp_endpoint_parse_url(&scratch, slp_str_of(urls[i]), why) : 0;
    if (r) return r;
  }
  if (o->profile && strlen(o->profile) > 127) {
    snprintf(why, 160, "profile: the name is longer than 127 bytes");
    return SLOOP_EOPTION;
  }
  return 0;
}

/* Creates the chain of sources that are asked for credentials, in order. If an option names a profile, the
 * profile comes before the environment, as in botocore. If the user gave a callback, it is the only
 * source. */
static int make_chain(slp_aws *aws) {
  slp_host *h = aws->h;
  aws->creds = slp_creds_new(h);
  if (!aws->creds) return SLP_ENOMEM;
  if (aws->ask_user) {
    aws->user = slp_provider_user(h, ask_user, aws);
    return slp_creds_add(aws->creds, aws->user);
  }
  int r = 0;
  if (!aws->profile) {
    r = slp_creds_add(aws->creds, slp_provider_env(h, aws->getenv_fn, aws->getenv_ctx));
    if (!r) r = slp_creds_add(aws->creds, slp_provider_web(aws, NULL));
  }
  if (!r) r = slp_creds_add(aws->creds, slp_provider_profile(aws));
  if (!r) r = slp_creds_add(aws->creds, slp_provider_container(h, aws->getenv_fn, aws->getenv_ctx));
  return r ? r : slp_creds_add(aws->creds, slp_provider_imds(aws));
}

int slp_aws_new(slp_aws **ret, slp_host *h, const slp_aws_options *o, char why[160]) {
  int r = slp_aws_options_check(o, why);
  if (r) return r;
  snprintf(why, 160, "no memory");
  slp_aws *aws = SLP_NEW(h->mem, slp_aws);
  if (!aws) return SLP_ENOMEM;
  aws->h = h;
  aws->holds = 1;
  aws->ask_user = o->creds;
  aws->ask_user_ctx = o->creds_ctx;
  aws->waits = o->waits;
  aws->waits_ctx = o->waits_ctx;
  aws->getenv_fn = o->getenv_fn ? o->getenv_fn : slp_process_getenv;
  aws->getenv_ctx = o->getenv_ctx;
  aws->wire = o->wire;
  r = copy_option(h->mem, &aws->region, o->region);
  if (!r) r = copy_option(h->mem, &aws->endpoint, o->endpoint);
  if (!r) r = copy_option(h->mem, &aws->lease_endpoint, o->lease_endpoint);
  if (!r) r = copy_option(h->mem, &aws->profile, o->profile);
  if (!r) r = copy_option(h->mem, &aws->stream_arn, o->stream_arn);
  if (!r) r = copy_option(h->mem, &aws->user_agent, o->user_agent);
  aws->ca_bundle_given = o->ca_bundle && o->ca_bundle[0];
  slp_aws_settings_init(aws);
  if (!r) r = make_chain(aws);
  if (r) {
    aws_free(aws);
    return r;
  }
  why[0] = 0;
  *ret = aws;
  return 0;
}

void slp_aws_hold(slp_aws *aws) { aws->holds++; }

void slp_aws_drop(slp_aws *aws) {
  if (!aws) return;
  SLP_CHECK(aws->holds > 0);
  if (--aws->holds == 0) aws_free(aws);
}

void slp_aws_keys_done(slp_aws *aws, int error, const slp_aws_keys *keys, const char *why) {
  if (aws->user) slp_provider_user_done(aws->user, error, keys, why);
}

const slp_aws_stats *slp_aws_stats_of(const slp_aws *aws) { return &aws->stats; }
