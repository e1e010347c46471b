/* provider_web.c - web identity of the environment and of profiles: the unsigned question to STS, the
 * token read each time, and every way to fail. */
#include "aws_sources.h"

#define ACTION "AssumeRoleWithWebIdentity"
#define COMMON \
  {"HOME", "/h"}, {"AWS_REGION", "eu-west-1"}, { "AWS_EC2_METADATA_DISABLED", "true" }

static const fake_pair env[] = {COMMON,
                                {"AWS_WEB_IDENTITY_TOKEN_FILE", "/t"},
                                {"AWS_ROLE_ARN", "arn:aws:iam::1:role/x y"},
                                {"AWS_ROLE_SESSION_NAME", "me@home"},
                                {NULL, NULL}};
static const fake_pair files[] = {{"/t", "SESAME.jwt/+=\n"}, {NULL, NULL}};

static void good(void) { fake_script(&f, 200, STS_XML(ACTION, "1", SOON)); }

TEST(the_answer_tells_the_account) {
  sources_open(env, files, NULL);
  good();
  sources_expect("ASIA1/s+1/=/t+1");
  CHECK_STR(sources_account(), "222222222222");
  sources_close();
}

TEST(the_question_is_a_form_and_not_signed) {
  sources_once(env, files, good, "ASIA1/s+1/=/t+1");
  CHECK_STR(f.sent[0].url, "https://sts.eu-west-1.amazonaws.com/");
  CHECK_STR(f.sent[0].method, "POST");
  CHECK_STR(f.sent[0].type, "application/x-www-form-urlencoded; charset=utf-8");
  CHECK_STR(f.sent[0].body,
            "Action=" ACTION
            "&Version=2011-06-15&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fx%20y&RoleSessionName="
            "me%40home&WebIdentityToken=SESAME.jwt%2F%2B%3D");
  CHECK_STR(f.sent[0].authorization, "");
  CHECK_STR(f.sent[0].target, "");
  CHECK_STR(f.sent[0].date, "");
}

/* The option is the stream's: an interface endpoint of Kinesis knows no STS, and must not see the token. */
TEST(the_streams_endpoint_is_not_asked_for_keys) {
  char why[160];
  mem = slp_mem_new(NULL, NULL);
  fake_init(&f, mem);
  f.env = env;
  f.files = files;
  slp_aws_options o = {.endpoint = "https://vpce-1.kinesis.eu-west-1.vpce.amazonaws.com",
                       .getenv_fn = fake_getenv,
                       .getenv_ctx = &f};
  CHECK_INT(slp_aws_new(&aws, &f.h, &o, why), 0);
  good();
  sources_expect("ASIA1/s+1/=/t+1");
  CHECK_STR(f.sent[0].url, "https://sts.eu-west-1.amazonaws.com/");
  slp_wait wait = {.run = NULL};
  slp_fail fail;
  static const struct {
    slp_svc svc;
    const char *host;
  } rows[] = {{SLP_SVC_KINESIS, "vpce-1.kinesis.eu-west-1.vpce.amazonaws.com"},
              {SLP_SVC_DYNAMODB, "vpce-1.kinesis.eu-west-1.vpce.amazonaws.com"},
              {SLP_SVC_STREAMS, "vpce-1.kinesis.eu-west-1.vpce.amazonaws.com"},
              {SLP_SVC_CLOUDWATCH, "monitoring.eu-west-1.amazonaws.com"},
              {SLP_SVC_SSO, "portal.sso.eu-west-1.amazonaws.com"},
              {SLP_SVC_SSO_OIDC, "oidc.eu-west-1.amazonaws.com"}};
  for (size_t i = 0; i < SLP_COUNT(rows); i++) {
    CHECK_INT(slp_aws_endpoint(aws, rows[i].svc, &wait, &fail), 0);
    CHECK_STR(aws->endpoints[rows[i].svc].host, rows[i].host);
  }
  sources_close();
}

static void secret_good(void) { fake_script(&f, 200, STS_XML(ACTION, "SESAME", SOON)); }
TEST(what_was_secret_is_wiped_before_its_memory_is_given_back) { sources_wiped(env, files, secret_good); }

TEST(a_session_name_of_our_own) {
  static const fake_pair unnamed[] = {
      COMMON, {"AWS_WEB_IDENTITY_TOKEN_FILE", "/t"}, {"AWS_ROLE_ARN", "r"}, {NULL, NULL}};
  sources_once(unnamed, files, good, "ASIA1/s+1/=/t+1");
  CHECK(strstr(f.sent[0].body, "&RoleSessionName=sloop-17673230") != NULL);
}

TEST(of_a_profile) {
  static const fake_pair plain[] = {COMMON, {NULL, NULL}};
  static const fake_pair with_profile[] = {
      {"/t", "SESAME"},
      {"/h/.aws/config",
       "[default]\nrole_arn = R\nweb_identity_token_file = /t\nrole_session_name = n\nsource_profile = x\n"},
      {NULL, NULL}};
  sources_once(plain, with_profile, good, "ASIA1/s+1/=/t+1");
  CHECK_STR(f.sent[0].body,
            "Action=" ACTION "&Version=2011-06-15&RoleArn=R&RoleSessionName=n&WebIdentityToken=SESAME");
}

TEST(the_token_is_read_at_every_attempt) {
  static const fake_pair later[] = {{"/t", "second"}, {NULL, NULL}};
  sources_open(env, files, NULL);
  good();
  fake_script(&f, 200, STS_XML(ACTION, "2", SOON));
  sources_expect("ASIA1/s+1/=/t+1");
  f.files = later;
  f.mono_us += 46 * 60000000ull; /* 14 minutes before the end: in the background */
  CHECK_STR(sources_look(), "ASIA1/s+1/=/t+1");
  fake_run(&f, 1000000);
  CHECK_STR(sources_look(), "ASIA2/s+2/=/t+2");
  CHECK(strstr(f.sent[1].body, "WebIdentityToken=second") != NULL);
  sources_close();
}

#define ERROR_XML(code, text)                                                    \
  "<ErrorResponse><Error><Type>Sender</Type><Code>" code "</Code><Message>" text \
  "</Message></Error></ErrorResponse>"
static void refuses(void) { fake_script(&f, 403, ERROR_XML("AccessDenied", "Not authorized to perform it")); }
static void busy_provider(void) {
  fake_script(&f, 400, ERROR_XML("IDPCommunicationError", "try later"));
  good();
}
static void throttles(void) {
  for (int i = 0; i < 3; i++) fake_script(&f, 400, ERROR_XML("Throttling", "Rate exceeded"));
}
static void old_token(void) { fake_script(&f, 400, ERROR_XML("ExpiredTokenException", "Token expired: 1")); }
static void garbage(void) {
  for (int i = 0; i < 3; i++) fake_script(&f, 200, "<html>SESAME");
}
static void half(void) {
  for (int i = 0; i < 3; i++) {
    fake_script(&f, 200,
                "<" ACTION "Response><" ACTION
                "Result><Credentials><AccessKeyId>A</AccessKeyId></Credentials></" ACTION "Result></" ACTION
                "Response>");
  }
}
static void hangs(void) {
  for (int i = 0; i < 3; i++) fake_script(&f, 0, "")->error = SLP_ETIMEDOUT;
}
static void all_fail(int status, int error) {
  for (int i = 0; i < 3; i++) fake_script(&f, status, "<html>SESAME")->error = error;
}
static void endless(void) { all_fail(200, SLOOP_ETOOBIG); }
static void endless_refusal(void) { all_fail(403, SLOOP_ETOOBIG); }
static void endless_outage(void) { all_fail(503, SLOOP_ETOOBIG); }
static void cut(void) { all_fail(200, -ECONNRESET); }

TEST(failures_name_role_and_reason_and_no_token) {
  static const struct {
    void (*script)(void);
    const char *want;
  } rows[] = {
      {busy_provider, "ASIA1/s+1/=/t+1"},
      {refuses, "!AWS_WEB_IDENTITY_TOKEN_FILE: " ACTION " of arn:aws:iam::1:role/x y: AccessDenied: Not"},
      {throttles, "~Throttling: Rate exceeded"},
      {old_token, "!ExpiredTokenException: Token expired"},
      {garbage, "!holds no credentials"},
      {half, "!holds no credentials"},
      {endless, "!fake failure"},
      {endless_refusal, "!fake failure"},
      {endless_outage, "~fake failure"},
      {cut, "~fake failure"},
      {hangs, "~fake failure"}};
  for (size_t i = 0; i < SLP_COUNT(rows); i++) {
    sources_open(env, files, NULL);
    rows[i].script();
    sources_expect(rows[i].want);
    CHECK(!strstr(sources_look(), "SESAME"));
    sources_close();
  }
}

TEST(half_a_configuration) {
  static const fake_pair no_role[] = {COMMON, {"AWS_WEB_IDENTITY_TOKEN_FILE", "/t"}, {NULL, NULL}};
  static const fake_pair empty[] = {{"/t", "\n"}, {NULL, NULL}}, unreadable[] = {{"/t", NULL}, {NULL, NULL}};
  sources_once(no_role, files, NULL, "!AWS_ROLE_ARN is not");
  sources_once(env, NULL, NULL, "!the token in /t: No such file");
  sources_once(env, empty, NULL, "!the token in /t: the file is empty");
  sources_once(env, unreadable, NULL, "!the token in /t: Permission denied");
}

TEST(a_service_that_hangs_is_left_after_the_deadline) {
  sources_open(env, files, NULL);
  fake_script(&f, 0, "")->hang = 1;
  sources_expect("~within ");
  sources_close();
}

TEST(a_path_that_no_file_can_have) {
  static char path[5000];
  memset(path, 'x', sizeof path - 1);
  const fake_pair far[] = {
      COMMON, {"AWS_WEB_IDENTITY_TOKEN_FILE", path}, {"AWS_ROLE_ARN", "r"}, {NULL, NULL}};
  sources_once(far, NULL, NULL, "!the path of the token's file is too long");
}

TEST(keys_of_the_environment_come_first) {
  static const fake_pair both[] = {COMMON,
                                   {"AWS_WEB_IDENTITY_TOKEN_FILE", "/t"},
                                   {"AWS_ROLE_ARN", "r"},
                                   {"AWS_ACCESS_KEY_ID", "A"},
                                   {"AWS_SECRET_ACCESS_KEY", "B"},
                                   {NULL, NULL}};
  sources_once(both, files, NULL, "A/B/");
}

TEST(every_failing_allocation_is_told_and_leaks_nothing) { sources_oom(env, files, good); }
