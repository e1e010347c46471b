/* provider_container.c - where the container's keys may come from, the token, and every way to fail. */
#include "aws_sources.h"

#define HOME \
  {"HOME", "/h"}, { "AWS_EC2_METADATA_DISABLED", "true" }
#define KEYS                                                                                \
  "{\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"B\",\"Token\":\"C\",\"Expiration\":\"" SOON \
  "\",\"RoleArn\":\"r\"}"

static void good(void) { fake_script(&f, 200, KEYS); }

TEST(ecs_and_a_token_of_the_environment) {
  static const fake_pair env[] = {HOME,
                                  {"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/v2/credentials/1?x=y"},
                                  {"AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://example.com/"},
                                  {"AWS_CONTAINER_AUTHORIZATION_TOKEN", "Basic abc"},
                                  {NULL, NULL}};
  sources_once(env, NULL, good, "A/B/C");
  CHECK_STR(f.sent[0].url, "http://169.254.170.2/v2/credentials/1?x=y");
  CHECK_STR(f.sent[0].method, "GET");
  CHECK_STR(f.sent[0].authorization, "Basic abc");
  CHECK_STR(f.sent[0].accept, "application/json");
  CHECK_INT(f.sent[0].no_proxy, 1);
  CHECK_INT(f.sent[0].total_ms_max, 2000);
}

TEST(eks_reads_its_token_file_each_time) {
  static const fake_pair env[] = {
      HOME,
      {"AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://169.254.170.23/v1/credentials"},
      {"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "/t"},
      {"AWS_CONTAINER_AUTHORIZATION_TOKEN", "not this one"},
      {NULL, NULL}};
  static const fake_pair before[] = {{"/t", "first"}, {NULL, NULL}},
                         after[] = {{"/t", "second"}, {NULL, NULL}};
  sources_open(env, before, NULL);
  good();
  good();
  sources_expect("A/B/C");
  f.files = after;
  CHECK_INT(slp_creds_refused(aws->creds, 1), 1);
  fake_run(&f, 1000000);
  CHECK_STR(f.sent[0].authorization, "first");
  CHECK_STR(f.sent[1].authorization, "second");
  sources_close();
}

TEST(plain_http_only_from_near_by) {
  static const struct {
    const char *url, *want;
  } rows[] = {{"http://127.0.0.1:9001/x", "A/B/C"},
              {"http://localhost/x", "A/B/C"},
              {"http://[::1]:1/x", "A/B/C"},
              {"http://169.254.170.2/x", "A/B/C"},
              {"http://[fd00:ec2::23]/v1", "A/B/C"},
              {"https://keys.example.com/x", "A/B/C"},
              {"http://keys.example.com/x", "!plain http"},
              {"http://127.0.0.1.example.com/x", "!plain http"},
              {"http://169.254.169.254/x", "!plain http"},
              {"http://127.0.0.1@example.com/x", "!AWS_CONTAINER_CREDENTIALS_FULL_URI"},
              {"file:///x", "!AWS_CONTAINER_CREDENTIALS_FULL_URI"},
              {"http://127.0.0.1/a b", "!characters"},
              {"http://127.0.0.1/a\r\nX: y", "!characters"}};
  for (size_t i = 0; i < SLP_COUNT(rows); i++) {
    const fake_pair env[] = {HOME, {"AWS_CONTAINER_CREDENTIALS_FULL_URI", rows[i].url}, {NULL, NULL}};
    sources_once(env, NULL, rows[i].want[0] == '!' ? NULL : good, rows[i].want);
    if (rows[i].want[0] != '!') CHECK_STR(f.sent[0].url, rows[i].url);
  }
}

TEST(a_token_that_no_header_takes) {
  static char token[9000];
  memset(token, 'x', sizeof token - 1);
  const fake_pair env[] = {HOME,
                           {"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/v2"},
                           {"AWS_CONTAINER_AUTHORIZATION_TOKEN", token},
                           {NULL, NULL}};
  sources_once(env, NULL, NULL, "!AWS_CONTAINER_AUTHORIZATION_TOKEN or the path of its file is too long");
}

TEST(tokens_that_would_forge_a_header_are_refused) {
  static const fake_pair in_env[] = {HOME,
                                     {"AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://localhost/x"},
                                     {"AWS_CONTAINER_AUTHORIZATION_TOKEN", "SESAME\r\nHost: z"},
                                     {NULL, NULL}};
  static const fake_pair in_file[] = {HOME,
                                      {"AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://localhost/x"},
                                      {"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "/t"},
                                      {NULL, NULL}};
  static const fake_pair files[] = {{"/t", "SESAME\n"}, {NULL, NULL}};
  sources_once(in_env, NULL, NULL, "!line break");
  sources_once(in_file, files, NULL, "!line break");
  sources_once(in_file, NULL, NULL, "!can't read /t of AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
}

static void refuses(void) { fake_script(&f, 403, "SESAME"); }
static void fails(void) {
  for (int i = 0; i < 3; i++) fake_script(&f, 500, "");
}
static void recovers(void) {
  fake_script(&f, 503, "");
  fake_script(&f, 0, "")->error = SLP_ETIMEDOUT;
  good();
}
static void garbage(void) { fake_script(&f, 200, "<html>SESAME</html>"); }
static void empty(void) { fake_script(&f, 200, ""); }
static void endless(void) { fake_script(&f, 200, "SESAME")->error = SLOOP_ETOOBIG; }
static void endless_refusal(void) { fake_script(&f, 403, "SESAME")->error = SLOOP_ETOOBIG; }
static void endless_outage(void) {
  for (int i = 0; i < 3; i++) fake_script(&f, 503, "SESAME")->error = SLOOP_ETOOBIG;
}
static void cut(void) {
  for (int i = 0; i < 3; i++) fake_script(&f, 200, "SESAME")->error = -ECONNRESET;
}
static void short_of_token(void) {
  fake_script(&f, 200, "{\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"SESAME\",\"Expiration\":\"" SOON "\"}");
}
static void without_end(void) {
  fake_script(&f, 200, "{\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"SESAME\",\"Token\":\"C\"}");
}
static void bad_end(void) {
  fake_script(&f, 200,
              "{\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"B\",\"Token\":\"C\",\"Expiration\":\"soon\"}");
}
static void expired(void) {
  fake_script(&f, 200,
              "{\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"B\",\"Token\":\"C\",\"Expiration\":\"2026-01-"
              "01T00:00:00Z\"}");
}
static void error_in_200(void) { fake_script(&f, 200, "{\"Code\":\"Denied\",\"Message\":\"no such task\"}"); }

TEST(failures_end_the_chain_and_tell_no_secret) {
  static const fake_pair env[] = {
      HOME, {"AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://localhost/x"}, {NULL, NULL}};
  static const struct {
    void (*script)(void);
    const char *want;
  } rows[] = {{recovers, "A/B/C"},
              {refuses, "!from http://localhost/x (AWS_CONTAINER_CREDENTIALS_FULL_URI): status 403"},
              {fails, "~status 500"},
              {garbage, "!is not what it should be"},
              {empty, "!is empty"},
              {endless, "!fake failure"},
              {endless_refusal, "!fake failure"},
              {endless_outage, "~fake failure"},
              {cut, "~fake failure"},
              {short_of_token, "!lacks Token"},
              {without_end, "!lacks Expiration"},
              {bad_end, "!not a time"},
              {expired, "!expired already"},
              {error_in_200, "!is an error: Denied no such task"}};
  for (size_t i = 0; i < SLP_COUNT(rows); i++) {
    sources_once(env, NULL, rows[i].script, rows[i].want);
  }
}

TEST(a_server_that_hangs_is_left_after_the_deadline) {
  static const fake_pair env[] = {
      HOME, {"AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://localhost/x"}, {NULL, NULL}};
  sources_open(env, NULL, NULL);
  fake_script(&f, 0, "")->hang = 1; /* not even the transport's deadline ends it */
  sources_expect("~within 60 seconds");
  CHECK_INT(f.cancelled_n, 1);
  sources_close();
}

TEST(every_failing_allocation_is_told_and_leaks_nothing) {
  static const fake_pair env[] = {
      HOME,
      {"AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://169.254.170.23/v1/credentials"},
      {"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "/t"},
      {NULL, NULL}};
  static const fake_pair files[] = {{"/t", "token"}, {NULL, NULL}};
  sources_oom(env, files, good);
}

static void secret_keys(void) {
  fake_script(&f, 200,
              "{\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"SESAME\",\"Token\":\"" SESAMES_10
              "\",\"Expiration\":\"" SOON "\"}");
}

TEST(what_was_secret_is_wiped_before_its_memory_is_given_back) {
  static const fake_pair env[] = {
      HOME,
      {"AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://169.254.170.23/v1/credentials"},
      {"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "/t"},
      {NULL, NULL}};
  static const fake_pair files[] = {{"/t", SESAMES_10}, {NULL, NULL}};
  sources_wiped(env, files, secret_keys);
}
