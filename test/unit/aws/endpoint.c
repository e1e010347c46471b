/* endpoint.c - region and endpoint rules as a table: what is set, what comes out. */
#include "aws/endpoint.h"

#include "sloop.h"
#include "check.h"

typedef struct setting {
  const char *name, *value;
} setting;
#define SETTINGS_MAX 5

static const char *fake_getenv(void *ctx, const char *name) {
  for (const setting *s = ctx; s->name; s++) {
    if (strcmp(s->name, name) == 0) return s->value;
  }
  return NULL;
}

typedef struct row {
  setting env[SETTINGS_MAX];
  const char *config; /* content of ~/.aws/config; NULL: none */
  slp_svc svc;
  const char *region, *url, *arn; /* options */
  const char *want_url, *want_region,
      *want_host; /* NULL url: refused; want_region is a word of the message then */
} row;

#define KIN SLP_SVC_KINESIS
static const row rows[] = {
    {{{"AWS_REGION", "eu-west-1"}},
     NULL,
     KIN,
     NULL,
     NULL,
     NULL,
     "https://kinesis.eu-west-1.amazonaws.com/",
     "eu-west-1",
     "kinesis.eu-west-1.amazonaws.com"},
    {{{"AWS_REGION", "eu-west-1"}, {"AWS_DEFAULT_REGION", "us-east-2"}},
     NULL,
     KIN,
     "us-west-2",
     NULL,
     NULL,
     "https://kinesis.us-west-2.amazonaws.com/",
     "us-west-2",
     NULL},
    {{{"AWS_DEFAULT_REGION", "us-east-2"}, {"AWS_REGION", ""}},
     NULL,
     KIN,
     NULL,
     NULL,
     NULL,
     "https://kinesis.us-east-2.amazonaws.com/",
     "us-east-2",
     NULL},
    {{{"AWS_REGION", "eu-west-1"}},
     NULL,
     KIN,
     NULL,
     NULL,
     "arn:aws:kinesis:ap-south-1:123456789012:stream/s",
     "https://kinesis.ap-south-1.amazonaws.com/",
     "ap-south-1",
     NULL},
    {{{NULL, NULL}},
     "[default]\nregion = ca-central-1\n",
     KIN,
     NULL,
     NULL,
     NULL,
     "https://kinesis.ca-central-1.amazonaws.com/",
     "ca-central-1",
     NULL},
    {{{NULL, NULL}}, NULL, KIN, NULL, NULL, NULL, NULL, "AWS_REGION", NULL},
    {{{NULL, NULL}}, NULL, KIN, NULL, "http://127.0.0.1:4567", NULL, NULL, "AWS_REGION", NULL},
    {{{NULL, NULL}},
     NULL,
     KIN,
     NULL,
     "http://127.0.0.1:4567",
     "arn:aws:kinesis:us-east-1:1:stream/s",
     "http://127.0.0.1:4567/",
     "us-east-1",
     "127.0.0.1:4567"},
    {{{"AWS_REGION", "bad region/../"}}, NULL, KIN, NULL, NULL, NULL, NULL, "AWS_REGION", NULL},
    /* partitions */
    {{{"AWS_REGION", "cn-north-1"}},
     NULL,
     KIN,
     NULL,
     NULL,
     NULL,
     "https://kinesis.cn-north-1.amazonaws.com.cn/",
     "cn-north-1",
     NULL},
    {{{"AWS_REGION", "us-isob-east-1"}},
     NULL,
     SLP_SVC_STREAMS,
     NULL,
     NULL,
     NULL,
     "https://streams.dynamodb.us-isob-east-1.sc2s.sgov.gov/",
     "us-isob-east-1",
     NULL},
    {{{"AWS_REGION", "xx-new-9"}},
     NULL,
     KIN,
     NULL,
     NULL,
     NULL,
     "https://kinesis.xx-new-9.amazonaws.com/",
     "xx-new-9",
     NULL},
    /* FIPS, dual stack */
    {{{"AWS_REGION", "us-east-1"}, {"AWS_USE_FIPS_ENDPOINT", "true"}},
     NULL,
     KIN,
     NULL,
     NULL,
     NULL,
     "https://kinesis-fips.us-east-1.amazonaws.com/",
     "us-east-1",
     NULL},
    {{{"AWS_REGION", "us-gov-west-1"}, {"AWS_USE_FIPS_ENDPOINT", "TRUE"}},
     NULL,
     KIN,
     NULL,
     NULL,
     NULL,
     "https://kinesis.us-gov-west-1.amazonaws.com/",
     "us-gov-west-1",
     NULL},
    {{{"AWS_REGION", "us-east-1"}, {"AWS_USE_DUALSTACK_ENDPOINT", "true"}},
     NULL,
     SLP_SVC_STREAMS,
     NULL,
     NULL,
     NULL,
     "https://streams-dynamodb.us-east-1.api.aws/",
     "us-east-1",
     NULL},
    {{{"AWS_REGION", "us-east-1"}, {"AWS_USE_FIPS_ENDPOINT", "true"}},
     NULL,
     KIN,
     NULL,
     "http://x",
     NULL,
     NULL,
     "exclude",
     NULL},
    {{{"AWS_REGION", "us-east-1"}, {"AWS_USE_FIPS_ENDPOINT", "false"}},
     "[default]\nuse_fips_endpoint = true\n",
     KIN,
     NULL,
     NULL,
     NULL,
     "https://kinesis.us-east-1.amazonaws.com/",
     "us-east-1",
     NULL},
    /* pseudo-regions */
    {{{"AWS_REGION", "us-west-2-fips"}, {"AWS_USE_FIPS_ENDPOINT", "false"}},
     NULL,
     KIN,
     NULL,
     NULL,
     NULL,
     "https://kinesis-fips.us-west-2.amazonaws.com/",
     "us-west-2",
     NULL},
    {{{NULL, NULL}},
     "[default]\nregion = fips-us-gov-west-1\nuse_dualstack_endpoint = true\n",
     SLP_SVC_STREAMS,
     NULL,
     NULL,
     NULL,
     "https://streams-dynamodb-fips.us-gov-west-1.api.aws/",
     "us-gov-west-1",
     NULL},
    {{{NULL, NULL}}, NULL, KIN, "fips-", NULL, NULL, NULL, "is not one", NULL},
    {{{NULL, NULL}},
     NULL,
     KIN,
     "fips-fips",
     NULL,
     NULL,
     "https://kinesis-fips.fips.amazonaws.com/",
     "fips",
     NULL},
    {{{NULL, NULL}}, NULL, KIN, "x-fips", "http://h", NULL, NULL, "set the region to x", NULL},
    /* configured URLs: service variable, variable, services section, profile */
    {{{"AWS_REGION", "r-1"},
      {"AWS_ENDPOINT_URL", "http://all:1"},
      {"AWS_ENDPOINT_URL_KINESIS", "http://kin:2"}},
     NULL,
     KIN,
     NULL,
     NULL,
     NULL,
     "http://kin:2/",
     "r-1",
     "kin:2"},
    {{{"AWS_REGION", "r-1"},
      {"AWS_ENDPOINT_URL", "http://all:1"},
      {"AWS_ENDPOINT_URL_KINESIS", "http://kin:2"}},
     NULL,
     SLP_SVC_DYNAMODB,
     NULL,
     NULL,
     NULL,
     "http://all:1/",
     "r-1",
     "all:1"},
    {{{"AWS_REGION", "r-1"},
      {"AWS_ENDPOINT_URL", "http://all:1"},
      {"AWS_ENDPOINT_URL_KINESIS", "http://kin:2"}},
     NULL,
     KIN,
     NULL,
     "https://opt",
     NULL,
     "https://opt/",
     "r-1",
     "opt"},
    {{{"AWS_REGION", "r-1"}},
     "[default]\nendpoint_url = http://p:3\nservices = s\n[services s]\nkinesis =\n"
     "  endpoint_url = http://s:4\n",
     KIN,
     NULL,
     NULL,
     NULL,
     "http://s:4/",
     "r-1",
     NULL},
    {{{"AWS_REGION", "r-1"}},
     "[default]\nendpoint_url = http://p:3\nservices = s\n[services s]\ndynamodb =\n"
     "  endpoint_url = http://s:4\n",
     KIN,
     NULL,
     NULL,
     NULL,
     "http://p:3/",
     "r-1",
     NULL},
    {{{"AWS_REGION", "r-1"}, {"AWS_ENDPOINT_URL", "http://all:1"}},
     "[default]\nservices = s\n[services s]\nkinesis =\n"
     "  endpoint_url = http://s:4\n",
     KIN,
     NULL,
     NULL,
     NULL,
     "http://all:1/",
     "r-1",
     NULL},
    {{{"AWS_REGION", "r-1"},
      {"AWS_ENDPOINT_URL", "http://all:1"},
      {"AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true"}},
     "[default]\nendpoint_url = http://p:3\n",
     KIN,
     NULL,
     NULL,
     NULL,
     "https://kinesis.r-1.amazonaws.com/",
     "r-1",
     NULL},
    {{{"AWS_REGION", "r-1"}, {"AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true"}},
     NULL,
     KIN,
     NULL,
     "http://opt",
     NULL,
     "http://opt/",
     "r-1",
     NULL},
};

TEST(rules) {
  for (size_t i = 0; i < SLP_COUNT(rows); i++) {
    const row *w = &rows[i];
    slp_mem *mem = slp_mem_new(NULL, NULL);
    slp_profile profile;
    slp_endpoint e;
    slp_fail f;
    int bad_file = 0;
    uint32_t line = 0;
    slp_fail_clear(&f);
    slp_profile_init(&profile, mem);
    if (w->config) {
      CHECK_INT(slp_profile_parse(&profile, SLP_STR(""), slp_str_of(w->config), SLP_STR("default"), &bad_file,
                                  &line),
                0);
    }
    slp_endpoint_wish wish = {.svc = w->svc,
                              .region = w->region,
                              .url = w->url,
                              .arn = w->arn,
                              .getenv_fn = fake_getenv,
                              .getenv_ctx = (void *)(uintptr_t)w->env,
                              .profile = &profile};
    int r = slp_endpoint_resolve(&wish, &e, &f);
    if (w->want_url) {
      if (r) CHECK_FAIL("row %zu: %s", i, f.message);
      CHECK_STR(e.url, w->want_url);
      CHECK_STR(e.region, w->want_region);
      if (w->want_host) CHECK_STR(e.host, w->want_host);
    } else {
      CHECK_INT(r, SLOOP_EOPTION);
      CHECK_INT(f.class, SLP_REFUSED);
      if (!strstr(f.message, w->want_region))
        CHECK_FAIL("row %zu: \"%s\" lacks %s", i, f.message, w->want_region);
    }
    slp_profile_free(&profile);
    CHECK_INT(mem->live_blocks, 0);
    slp_mem_drop(mem);
  }
}

typedef struct url_row {
  const char *url, *want_url, *want_host, *want_path;
  int tls, loopback;
} url_row;
static const url_row urls[] = {
    {"http://localhost:4566", "http://localhost:4566/", "localhost:4566", "/", 0, 1},
    {"HTTPS://Example.COM:443/", "https://example.com/", "example.com", "/", 1, 0},
    {"http://x:80", "http://x/", "x", "/", 0, 0},
    {"https://x:80", "https://x:80/", "x:80", "/", 1, 0},
    {"http://[::1]:99/a/b", "http://[::1]:99/a/b", "[::1]:99", "/a/b", 0, 1},
    {"http://my_box/gate~way/", "http://my_box/gate~way/", "my_box", "/gate~way/", 0, 0},
    {"ftp://x", NULL, NULL, NULL, 0, 0},
    {"localhost:4566", NULL, NULL, NULL, 0, 0},
    {"", NULL, NULL, NULL, 0, 0},
    {"http://", NULL, NULL, NULL, 0, 0},
    {"http:///x", NULL, NULL, NULL, 0, 0},
    {"http://user:pw@host/", NULL, NULL, NULL, 0, 0},
    {"http://x:0", NULL, NULL, NULL, 0, 0},
    {"http://x:", NULL, NULL, NULL, 0, 0},
    {"http://x:65536", NULL, NULL, NULL, 0, 0},
    {"http://x:8o", NULL, NULL, NULL, 0, 0},
    {"http://x/?a=b", NULL, NULL, NULL, 0, 0},
    {"http://x/../y", NULL, NULL, NULL, 0, 0},
    {"http://x//y", NULL, NULL, NULL, 0, 0},
    {"http://x/%41", NULL, NULL, NULL, 0, 0},
    {"http://x y/", NULL, NULL, NULL, 0, 0},
    {"http://x\r\nh: v/", NULL, NULL, NULL, 0, 0},
    {"http://[::1", NULL, NULL, NULL, 0, 0},
    {"https://kinesis-queues.us-east-1.amazonaws.com", NULL, NULL, NULL, 0, 0},
    {"https://1.data-kinesis-queues-fips.cn-north-1.api.amazonwebservices.com.cn", NULL, NULL, NULL, 0, 0},
    {"https://SQS.us-east-1.amazonaws.com/", NULL, NULL, NULL, 0, 0},
    {"https://vpce-1.sqs.us-east-1.vpce.amazonaws.com", NULL, NULL, NULL, 0, 0},
    {"https://sqs.us-east-1.example.com", "https://sqs.us-east-1.example.com/", "sqs.us-east-1.example.com",
     "/", 1, 0},
    {"https://kinesis-fips.us-east-1.amazonaws.com", "https://kinesis-fips.us-east-1.amazonaws.com/",
     "kinesis-fips.us-east-1.amazonaws.com", "/", 1, 0},
};

TEST(urls_are_taken_apart_or_refused) {
  for (size_t i = 0; i < SLP_COUNT(urls); i++) {
    const url_row *w = &urls[i];
    slp_endpoint e;
    char why[160] = "";
    int r = slp_endpoint_parse_url(&e, slp_str_of(w->url), why);
    if (!w->want_url) {
      if (r != SLOOP_EOPTION) CHECK_FAIL("%s was taken", w->url);
      CHECK(strlen(why) > 10);
      continue;
    }
    if (r) CHECK_FAIL("%s: %s", w->url, why);
    CHECK_STR(e.url, w->want_url);
    CHECK_STR(e.host, w->want_host);
    CHECK_STR(e.path, w->want_path);
    CHECK_INT(e.tls, w->tls);
    CHECK_INT(e.loopback, w->loopback);
  }
}

TEST(the_region_of_an_arn) {
  CHECK(slp_str_is(slp_arn_region(SLP_STR("arn:aws:kinesis:us-east-1:1:stream/a:b")), "us-east-1"));
  CHECK(slp_arn_region(SLP_STR("arn:aws:kinesis::1:stream/a")).p == NULL);
  CHECK(slp_arn_region(SLP_STR("arn:aws:kinesis:us-east-1")).p == NULL);
  CHECK(slp_arn_region(SLP_STR("stream")).p == NULL);
}

TEST(a_password_in_a_url_is_not_repeated) {
  slp_endpoint e;
  char why[160] = "";
  CHECK_INT(slp_endpoint_parse_url(&e, SLP_STR("https://me:hush@h@host:1/"), why), SLOOP_EOPTION);
  CHECK_STR(why, "endpoint ...@host:1/: an endpoint can't have a user name or password");
}
