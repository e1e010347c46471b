/* endpoint.c - the rules for regions and endpoints, as in botocore 1.44.8: its partitions.json and its
 * endpoint rule sets. test/contract/vectors compares these rules with botocore's. */
#include "aws/endpoint.h"

#include "aws/aws.h"
#include "aws/profile.h"
#include "base/fail.h"
#include "codec/digits.h"
#include "codec/uri.h"

#include <sloop.h>
#include <stdio.h>

typedef struct service {
  const char *host; /* the first part of a host name; ".region.suffix" follows */
  const char *fips_host;
  const char *sign_as;
  const char *env; /* the environment variable AWS_ENDPOINT_URL_... of the service */
} service;

static const service services[SLP_SVCS] = {
    [SLP_SVC_KINESIS] = {"kinesis", "kinesis-fips", "kinesis", "AWS_ENDPOINT_URL_KINESIS"},
    [SLP_SVC_DYNAMODB] = {"dynamodb", "dynamodb-fips", "dynamodb", "AWS_ENDPOINT_URL_DYNAMODB"},
    [SLP_SVC_STREAMS] = {"streams.dynamodb", "streams.dynamodb-fips", "dynamodb",
                         "AWS_ENDPOINT_URL_DYNAMODB_STREAMS"},
    [SLP_SVC_STS] = {"sts", "sts-fips", "sts", "AWS_ENDPOINT_URL_STS"},
    [SLP_SVC_CLOUDWATCH] = {"monitoring", "monitoring-fips", "monitoring", "AWS_ENDPOINT_URL_CLOUDWATCH"},
    [SLP_SVC_SSO] = {"portal.sso", "portal.sso-fips", "awsssoportal", "AWS_ENDPOINT_URL_SSO"},
    [SLP_SVC_LEASES] = {"dynamodb", "dynamodb-fips", "dynamodb", "AWS_ENDPOINT_URL_DYNAMODB"},
    [SLP_SVC_SSO_OIDC] = {"oidc", "oidc-fips", "sso-oauth", "AWS_ENDPOINT_URL_SSO_OIDC"},
    [SLP_SVC_SIGNIN] = {"signin", "signin-fips", "signin", "AWS_ENDPOINT_URL_SIGNIN"},
    [SLP_SVC_GLUE] = {"glue", "glue-fips", "glue", "AWS_ENDPOINT_URL_GLUE"},
};

typedef struct partition {
  /* region names of the partition begin with this; "" matches every region, so it is in the last row */
  const char *region_starts;
  const char *suffix, *dualstack_suffix;
  const char *signin; /* the part of a sign-in host after "REGION.signin." */
} partition;

/* The first row whose prefix matches is used, so longer prefixes come first. A region that no prefix matches
 * is in the commercial partition. */
static const partition partitions[] = {
    {"us-isob-", "sc2s.sgov.gov", "api.aws.scloud", "sc2shome.sgov.gov"},
    {"us-isof-", "csp.hci.ic.gov", "api.aws.hci.ic.gov", "csphome.hci.ic.gov"},
    {"eu-isoe-", "cloud.adc-e.uk", "api.cloud-aws.adc-e.uk", "csphome.adc-e.uk"},
    {"us-iso-", "c2s.ic.gov", "api.aws.ic.gov", "c2shome.ic.gov"},
    {"us-gov-", "amazonaws.com", "api.aws", "amazonaws-us-gov.com"},
    {"eusc-", "amazonaws.eu", "api.amazonwebservices.eu", "amazonaws-eusc.eu"},
    {"cn-", "amazonaws.com.cn", "api.amazonwebservices.com.cn", "amazonaws.cn"},
    {"", "amazonaws.com", "api.aws", "aws.amazon.com"},
};

static const char *env(const slp_endpoint_wish *wish, const char *name) {
  const char *value = wish->getenv_fn(wish->getenv_ctx, name);
  return value && value[0] ? value : NULL;
}

static const char *from_profile(const slp_endpoint_wish *wish, slp_profile_key key) {
  return wish->profile ? slp_profile_get(wish->profile, key) : NULL;
}

/* Returns 1 if the setting is "true" in the environment. If the environment does not have it, the profile's
 * value is used. */
static int is_on(const slp_endpoint_wish *wish, const char *name, slp_profile_key key) {
  const char *value = env(wish, name);
  return slp_setting_is(value ? value : from_profile(wish, key), "true");
}

static int is_alnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Returns 1 if the region is a single DNS label. It becomes part of a host name and of a signature, so
 * nothing else is accepted. */
int slp_region_valid(slp_str region) {
  if (region.n == 0 || region.n > 63 || !is_alnum(region.p[0]) || !is_alnum(region.p[region.n - 1])) return 0;
  for (size_t i = 0; i < region.n; i++) {
    if (!is_alnum(region.p[i]) && region.p[i] != '-') return 0;
  }
  return 1;
}

/* Copies `region`, and leaves out each occurrence of `part`. */
static void copy_without(char to[64], const char *region, const char *part) {
  size_t n = 0, part_n = strlen(part);
  while (*region) {
    if (strncmp(region, part, part_n) == 0)
      region += part_n;
    else
      to[n++] = *region++;
  }
  to[n] = 0;
}

int slp_region_real(slp_str region, char ret[64]) {
  char given[64] = "", half[64] = "";
  SLP_CHECK(region.n < sizeof given);
  memcpy(given, region.p, region.n);
  given[region.n] = 0;
  copy_without(half, given, "fips-");
  copy_without(ret, half, "-fips");
  return strlen(ret) < region.n;
}

slp_str slp_arn_field(slp_str arn, slp_arn_part part) {
  size_t field = 0, from = 0;
  if (arn.n < 4 || memcmp(arn.p, "arn:", 4) != 0) return (slp_str){NULL, 0};
  for (size_t i = 0; i < arn.n; i++) {
    if (arn.p[i] != ':') continue;
    if (++field == (size_t)part) from = i + 1;
    if (field == (size_t)part + 1) return i > from ? (slp_str){arn.p + from, i - from} : (slp_str){NULL, 0};
  }
  return (slp_str){NULL, 0};
}

slp_str slp_arn_region(slp_str arn) { return slp_arn_field(arn, SLP_ARN_REGION); }

int slp_account_valid(slp_str account) {
  return account.n > 0 && account.n <= 12 && slp_all_digits(account.p, account.n);
}

/* ---- URLs
 * ------------------------------------------------------------------------------------------------ */
static int bad_url(char why[160], slp_str url, const char *what) {
  /* a URL with a user name or a password is refused, and the message must not contain either of them */
  size_t secret = url.n;
  while (secret > 0 && url.p[secret - 1] != '@') secret--;
  slp_str shown = {url.p + secret, url.n - secret};
  snprintf(why, 160, "endpoint %s%.*s: %s", secret ? "...@" : "", (int)(shown.n < 90 ? shown.n : 90), shown.p,
           what);
  return SLOOP_EOPTION;
}

/* Returns 1 if the path consists of characters that need no encoding, and has no part that a client would
 * remove, such as "..". */
static int path_valid(slp_str path) {
  for (size_t i = 0; i < path.n; i++) {
    char c = path.p[i];
    if (!is_alnum(c) && !slp_str_has(SLP_STR("-._~/"), c)) return 0;
    if (c != '/') continue;
    slp_str rest = {path.p + i + 1, path.n - i - 1};
    if (rest.n && rest.p[0] == '/') return 0;
    if (rest.n && rest.p[0] == '.' && (rest.n == 1 || rest.p[1] == '/')) return 0;
    if (rest.n > 1 && rest.p[0] == '.' && rest.p[1] == '.' && (rest.n == 2 || rest.p[2] == '/')) return 0;
  }
  return 1;
}

/* Returns 1 if the host consists of exactly four numbers. "127.0.0.1.example.com" is a name, not an
 * address. */
static int is_ipv4(slp_str host) {
  size_t dots = 0, digits = 0;
  for (size_t i = 0; i < host.n; i++) {
    char c = host.p[i];
    if (c == '.' && digits) {
      dots++;
      digits = 0;
    } else if (c >= '0' && c <= '9' && digits < 3) {
      digits++;
    } else {
      return 0;
    }
  }
  return dots == 3 && digits > 0;
}

int slp_host_is_loopback(slp_str host) {
  if (slp_str_is(host, "localhost") || slp_str_is(host, "::1")) return 1;
  return host.n > 4 && memcmp(host.p, "127.", 4) == 0 && is_ipv4(host);
}

static int ends_with(slp_str s, const char *end) {
  size_t n = strlen(end);
  return s.n > n && memcmp(s.p + s.n - n, end, n) == 0;
}

/* Returns 1 if the host serves queues and no streams: kinesis-queues.REGION.SUFFIX,
 * ACCOUNT.data-kinesis-queues.REGION.SUFFIX (botocore 1.44.8, rule set of kinesis) or sqs.REGION.SUFFIX, each
 * with or without "-fips". */
static int is_host_of_queues(const char *host) {
  int amazons = 0;
  for (size_t i = 0; i < SLP_COUNT(partitions); i++)
    amazons |= ends_with(slp_str_of(host), partitions[i].suffix) ||
               ends_with(slp_str_of(host), partitions[i].dualstack_suffix);
  for (const char *label = host; amazons && *label; label += *label == '.') {
    slp_str s = {label, strcspn(label, ".")};
    label += s.n;
    if (ends_with(s, "-fips")) s.n -= strlen("-fips");
    if (slp_str_is(s, "sqs") || slp_str_is(s, "kinesis-queues") || ends_with(s, "-kinesis-queues")) return 1;
  }
  return 0;
}

/* The host in the signature must be equal to the header Host. So the URL is built again from its parts: with
 * the host in lower case, and without a port that the header would omit. */
int slp_endpoint_parse_url(slp_endpoint *e, slp_str url, char why[160]) {
  slp_uri u;
  const char *what = "";
  char host[260];
  if (slp_uri_parse(url, &u, &what)) return bad_url(why, url, what);
  if (u.host.n > 253) return bad_url(why, url, "the host name is longer than 253 characters");
  if (u.path.n >= sizeof e->path || !path_valid(u.path)) return bad_url(why, url, "its path can't be used");
  snprintf(host, sizeof host, u.ipv6 ? "[%.*s]" : "%.*s", (int)u.host.n, u.host.p);
  for (char *c = host; *c; c++) {
    if (*c >= 'A' && *c <= 'Z') *c = (char)(*c + 32);
  }
  if (is_host_of_queues(host)) return bad_url(why, url, "serves queues, not streams: name the stream's");
  e->tls = u.tls;
  slp_str bare = slp_str_of(host);
  if (u.ipv6) bare = (slp_str){host + 1, bare.n - 2};
  e->loopback = slp_host_is_loopback(bare) != 0;
  if (u.port == (u.tls ? 443 : 80))
    snprintf(e->host, sizeof e->host, "%s", host);
  else
    snprintf(e->host, sizeof e->host, "%s:%u", host, (unsigned)u.port);
  snprintf(e->path, sizeof e->path, "%.*s", (int)u.path.n, u.path.p);
  snprintf(e->url, sizeof e->url, "%s://%s%s", u.tls ? "https" : "http", e->host, e->path);
  return 0;
}

/* ---- rules --------------------------------------------------------------------------------------------- */
static slp_str find_region(const slp_endpoint_wish *wish) {
  if (wish->region && wish->region[0]) return slp_str_of(wish->region);
  if (wish->arn) {
    slp_str region = slp_arn_region(slp_str_of(wish->arn));
    if (region.n) return region;
  }
  const char *region = env(wish, "AWS_REGION");
  /* botocore does not read AWS_REGION, only AWS_DEFAULT_REGION; here both are read */
  if (!region) region = env(wish, "AWS_DEFAULT_REGION");
  if (!region) region = from_profile(wish, SLP_PROFILE_REGION);
  return slp_str_of(region);
}

int slp_endpoint_region_named(const slp_endpoint_wish *wish) { return find_region(wish).n > 0; }

/* Returns the URL that the user configured, or NULL. If the profile names a [services] section that does not
 * exist, *ret_missing is its name. The caller then fails, because a call to the public service would surprise
 * the user. */
static const char *find_url(const slp_endpoint_wish *wish, const char **ret_missing) {
  *ret_missing = NULL;
  if (wish->url && wish->url[0]) return wish->url;
  if (is_on(wish, "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", SLP_PROFILE_IGNORE_ENDPOINTS)) return NULL;
  const char *url = env(wish, services[wish->svc].env);
  if (!url) url = env(wish, "AWS_ENDPOINT_URL");
  if (url || !wish->profile) return url;
  const char *section = from_profile(wish, SLP_PROFILE_SERVICES);
  if (section && !wish->profile->services_found) *ret_missing = section;
  url = wish->profile->service_endpoint[wish->svc];
  return url && url[0] ? url : from_profile(wish, SLP_PROFILE_ENDPOINT);
}

int slp_endpoint_needs_profile(const slp_endpoint_wish *wish) {
  slp_endpoint_wish bare = *wish;
  const char *missing;
  bare.profile = NULL;
  /* The profile is needed even if only the URL is missing: a public host depends on settings such as
   * use_fips_endpoint. */
  return !find_region(&bare).n || !find_url(&bare, &missing);
}

static const partition *partition_of(const char *region) {
  const partition *p = partitions;
  while (strncmp(region, p->region_starts, strlen(p->region_starts)) != 0) p++;
  return p;
}

/* ---- hosts of accounts --------------------------------------------------------------------------------- */
typedef enum { PREFERRED, DISABLED, REQUIRED, NO_MODE } account_mode;

static account_mode mode_of(const slp_endpoint_wish *wish, const char **ret_text) {
  static const char *const names[] = {
      [PREFERRED] = "preferred", [DISABLED] = "disabled", [REQUIRED] = "required"};
  const char *text = env(wish, "AWS_ACCOUNT_ID_ENDPOINT_MODE");
  if (!text) text = from_profile(wish, SLP_PROFILE_ACCOUNT_MODE);
  *ret_text = text;
  if (!text) return PREFERRED;
  for (size_t i = 0; i < SLP_COUNT(names); i++) {
    if (slp_setting_is(text, names[i])) return (account_mode)i;
  }
  return NO_MODE;
}

static int is_one_of(const char *region, const char *const *names) {
  for (; *names; names++) {
    if (strcmp(region, *names) == 0) return 1;
  }
  return 0;
}

/* Returns the middle part of an account's host, or NULL if the service has no such hosts in the region. The
 * rules are those of botocore 1.44.8: Kinesis has such hosts in all partitions except two, DynamoDB has none
 * with FIPS, and DynamoDB Streams has none in two regions. */
static const char *account_host_of(slp_svc svc, const char *region, const partition *p, int fips) {
  static const char *const elsewhere[] = {"us-gov-east-1", "us-gov-west-1", "cn-north-1", "cn-northwest-1",
                                          NULL};
  static const char *const without_streams[] = {"me-central-1", "me-south-1", NULL};
  const char *starts = p->region_starts;
  int commercial = !*starts;
  switch (svc) {
    case SLP_SVC_KINESIS:
      if (strcmp(starts, "us-iso-") == 0 || strcmp(starts, "us-isob-") == 0) return NULL;
      return fips ? "kinesis-fips" : "kinesis";
    case SLP_SVC_DYNAMODB:
    case SLP_SVC_LEASES: return !fips && (commercial || is_one_of(region, elsewhere)) ? "ddb" : NULL;
    case SLP_SVC_STREAMS:
      if (!commercial && strcmp(starts, "us-gov-") != 0 && strcmp(starts, "cn-") != 0) return NULL;
      if (is_one_of(region, without_streams)) return NULL;
      return fips ? "streams-ddb-fips" : "streams-ddb";
    case SLP_SVC_STS:
    case SLP_SVC_CLOUDWATCH:
    case SLP_SVC_SSO:
    case SLP_SVC_SSO_OIDC:
    case SLP_SVC_SIGNIN:
    case SLP_SVC_GLUE:
    case SLP_SVCS: break;
  }
  return NULL;
}

static int has_accounts(slp_svc svc) {
  return svc == SLP_SVC_KINESIS || svc == SLP_SVC_DYNAMODB || svc == SLP_SVC_LEASES || svc == SLP_SVC_STREAMS;
}

/* Sets the account_ members of a public endpoint. Fails with f set if the user requires hosts of accounts and
 * there are none. */
static int find_account_hosts(const slp_endpoint_wish *wish, slp_endpoint *e, int fips, int dualstack,
                              account_mode mode, slp_fail *f) {
  const partition *p = partition_of(e->region);
  if (mode == DISABLED || !has_accounts(wish->svc)) return 0;
  e->account_host = account_host_of(wish->svc, e->region, p, fips);
  e->account_suffix = dualstack ? p->dualstack_suffix : p->suffix;
  e->account_required = mode == REQUIRED;
  if (e->account_host || mode != REQUIRED) return 0;
  return slp_fail_set(
      f, SLP_REFUSED, SLOOP_EOPTION,
      "account_id_endpoint_mode is required, and %s has no endpoints of accounts in %s%s: set "
      "AWS_ACCOUNT_ID_ENDPOINT_MODE=preferred",
      services[wish->svc].sign_as, e->region, fips ? " with FIPS" : "");
}

static int is_of_data(slp_str target) {
  static const char *const calls[] = {".GetRecords", ".GetShardIterator", ".SubscribeToShard"};
  for (size_t i = 0; i < SLP_COUNT(calls); i++) {
    if (ends_with(target, calls[i])) return 1;
  }
  return 0;
}

/* Returns the account of an ARN in the request, or {NULL, 0}. For DynamoDB, an ARN of another region does not
 * count. */
static slp_str account_in(slp_str arn, const slp_endpoint *e) {
  slp_str account = slp_arn_field(arn, SLP_ARN_ACCOUNT), region = slp_arn_region(arn);
  if (!slp_account_valid(account) || !slp_str_is(slp_arn_field(arn, SLP_ARN_SERVICE), e->sign_as))
    return (slp_str){NULL, 0};
  if (strcmp(e->sign_as, "dynamodb") == 0 && !slp_str_is(region, e->region)) return (slp_str){NULL, 0};
  return account;
}

int slp_endpoint_account_host(const slp_endpoint *e, slp_svc svc, slp_str target, slp_str arn,
                              slp_str keys_account, char ret_host[SLP_ACCOUNT_HOST_MAX], slp_fail *f) {
  if (!e->account_host) return 0;
  slp_str account = account_in(arn, e);
  if (!account.n) account = keys_account;
  if (!account.n && e->account_required) {
    return slp_fail_set(
        f, SLP_REFUSED, SLOOP_EOPTION,
        "account_id_endpoint_mode is required, and neither the keys nor an ARN tell the account: "
        "set AWS_ACCOUNT_ID, or aws_account_id in the profile");
  }
  if (!account.n) return 0;
  const char *kind = svc != SLP_SVC_KINESIS ? "" : is_of_data(target) ? "data-" : "control-";
  snprintf(ret_host, SLP_ACCOUNT_HOST_MAX, "%.*s.%s%s.%s.%s", (int)account.n, account.p, kind,
           e->account_host, e->region, e->account_suffix);
  return 1;
}

/* Writes the host of the sign-in service, whose name follows other rules than the hosts of all other
 * services. Returns 1 if the host was written, and 0 if the general rule applies. */
static int signin_host(slp_endpoint *e, const partition *p, int fips, int dualstack) {
  int gov = strcmp(p->region_starts, "us-gov-") == 0;
  if (dualstack || (fips && !gov)) return 0;
  if (!fips)
    snprintf(e->host, sizeof e->host, "%s.signin.%s", e->region, p->signin);
  else if (strcmp(e->region, "us-gov-west-1") == 0)
    snprintf(e->host, sizeof e->host, "signin-fips.%s", p->signin);
  else
    snprintf(e->host, sizeof e->host, "%s.signin-fips.%s", e->region, p->signin);
  return 1;
}

static void public_url(const slp_endpoint_wish *wish, slp_endpoint *e, int fips, int dualstack) {
  const service *s = &services[wish->svc];
  const partition *p = partition_of(e->region);
  const char *host = fips ? s->fips_host : s->host;
  int gov = strcmp(p->region_starts, "us-gov-") == 0;
  /* In GovCloud, FIPS hosts have the same names as other hosts elsewhere. The exceptions are Glue, and all
   * dual-stack hosts except CloudWatch's. */
  if (gov && (!dualstack || wish->svc == SLP_SVC_CLOUDWATCH) && wish->svc != SLP_SVC_GLUE) host = s->host;
  if (wish->svc == SLP_SVC_STREAMS && dualstack) host = fips ? "streams-dynamodb-fips" : "streams-dynamodb";
  if (wish->svc != SLP_SVC_SIGNIN || !signin_host(e, p, fips, dualstack))
    snprintf(e->host, sizeof e->host, "%s.%s.%s", host, e->region,
             dualstack ? p->dualstack_suffix : p->suffix);
  snprintf(e->url, sizeof e->url, "https://%s/", e->host);
  snprintf(e->path, sizeof e->path, "/");
  e->tls = 1;
}

int slp_endpoint_resolve(const slp_endpoint_wish *wish, slp_endpoint *ret, slp_fail *f) {
  slp_endpoint e = {.sign_as = services[wish->svc].sign_as};
  char why[160];
  slp_str region = find_region(wish);
  if (!region.n && wish->region_of_machine) region = slp_str_of(wish->region_of_machine);
  if (!region.n) {
    return slp_fail_set(f, SLP_REFUSED, SLOOP_EOPTION,
                        "no region: set AWS_REGION, or region in ~/.aws/config, or give the stream's ARN");
  }
  int is_name = slp_region_valid(region), pseudo = is_name && slp_region_real(region, e.region);
  if (!is_name || !slp_region_valid(slp_str_of(e.region))) {
    return slp_fail_set(f, SLP_REFUSED, SLOOP_EOPTION,
                        "region %.*s is not one: set AWS_REGION to a name like us-east-1",
                        (int)(region.n < 80 ? region.n : 80), region.p);
  }
  int fips = pseudo || is_on(wish, "AWS_USE_FIPS_ENDPOINT", SLP_PROFILE_FIPS);
  int dualstack = is_on(wish, "AWS_USE_DUALSTACK_ENDPOINT", SLP_PROFILE_DUALSTACK);
  const char *missing = NULL, *url = find_url(wish, &missing), *mode_text = NULL;
  account_mode mode = mode_of(wish, &mode_text);
  if (mode == NO_MODE) {
    return slp_fail_set(f, SLP_REFUSED, SLOOP_EOPTION, "%s %.40s is none of preferred, disabled, required",
                        env(wish, "AWS_ACCOUNT_ID_ENDPOINT_MODE") ? "AWS_ACCOUNT_ID_ENDPOINT_MODE"
                                                                  : "the profile's account_id_endpoint_mode",
                        mode_text);
  }
  if (missing) {
    return slp_fail_set(f, SLP_REFUSED, SLOOP_EOPTION,
                        "the profile names [services %.80s], which ~/.aws/config lacks", missing);
  }
  if (url && pseudo) {
    return slp_fail_set(f, SLP_REFUSED, SLOOP_EOPTION,
                        "a custom endpoint and the region %.*s exclude each other: set the region to %s",
                        (int)region.n, region.p, e.region);
  }
  if (url && (fips || dualstack)) {
    return slp_fail_set(f, SLP_REFUSED, SLOOP_EOPTION,
                        "a custom endpoint and a %s endpoint exclude each other: unset one of them",
                        fips ? "FIPS" : "dual-stack");
  }
  if (!url) {
    public_url(wish, &e, fips, dualstack);
    int r = find_account_hosts(wish, &e, fips, dualstack, mode, f);
    if (r) return r;
  } else if (slp_endpoint_parse_url(&e, slp_str_of(url), why)) {
    return slp_fail_set(f, SLP_REFUSED, SLOOP_EOPTION, "%s", why);
  }
  *ret = e;
  return 0;
}
