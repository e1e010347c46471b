/* provider_imds.c - the conversation with a machine's metadata service: token, role, keys; and the failure of
 * each. */
#include "aws_sources.h"

#define KEYS                                                                                              \
  "{\"Code\":\"Success\",\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"B\",\"Token\":\"C\",\"Expiration\":" \
  "\"" SOON "\"}"
static const fake_pair bare[] = {{"HOME", "/h"}, {NULL, NULL}};
static const fake_pair own[] = {
    {"HOME", "/h"}, {"AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://localhost:5"}, {NULL, NULL}};

static void good(void) {
  fake_script(&f, 200, "TOKEN1");
  fake_script(&f, 200, "my-role\n");
  fake_script(&f, 200, KEYS);
}

TEST(token_then_role_then_keys) {
  sources_once(bare, NULL, good, "A/B/C");
  CHECK_INT(f.sent_n, 3);
  CHECK_STR(f.sent[0].method, "PUT");
  CHECK_STR(f.sent[0].url, "http://169.254.169.254/latest/api/token");
  CHECK_STR(f.sent[0].ttl, "21600");
  CHECK_STR(f.sent[0].metadata_token, "");
  CHECK_STR(f.sent[1].method, "GET");
  CHECK_STR(f.sent[1].url, "http://169.254.169.254/latest/meta-data/iam/security-credentials/");
  CHECK_STR(f.sent[2].url, "http://169.254.169.254/latest/meta-data/iam/security-credentials/my-role");
  for (int i = 0; i < 3; i++) {
    CHECK_INT(f.sent[i].no_proxy, 1);
    CHECK_INT(f.sent[i].total_ms_max, 1000);
    if (i) CHECK_STR(f.sent[i].metadata_token, "TOKEN1");
    if (i) CHECK_STR(f.sent[i].ttl, "");
  }
}

TEST(address_timeout_and_tries_are_settings) {
  static const fake_pair env[] = {{"AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE", "IPV6"},
                                  {"AWS_METADATA_SERVICE_TIMEOUT", "3"},
                                  {"AWS_METADATA_SERVICE_NUM_ATTEMPTS", "2"},
                                  {NULL, NULL}};
  sources_open(env, NULL, NULL);
  fake_script(&f, 500, "");
  good();
  sources_expect("A/B/C");
  CHECK_STR(f.sent[1].url, "http://[fd00:ec2::254]/latest/api/token");
  CHECK_INT(f.sent[1].total_ms_max, 3000);
  sources_close();
  sources_once(own, NULL, good, "A/B/C");
  CHECK_STR(f.sent[0].url, "http://localhost:5/latest/api/token");
}

static void version_1(void) {
  fake_script(&f, 404, "");
  fake_script(&f, 200, "r");
  fake_script(&f, 200, KEYS);
}
static void slow_token(void) {
  fake_script(&f, 0, "")->error = SLP_ETIMEDOUT;
  fake_script(&f, 200, "r");
  fake_script(&f, 200, KEYS);
}

TEST(version_1_when_there_are_no_tokens_and_nobody_forbids_it) {
  static const fake_pair forbidden[] = {{"AWS_EC2_METADATA_V1_DISABLED", "TRUE"}, {NULL, NULL}};
  sources_once(bare, NULL, version_1, "A/B/C");
  CHECK_STR(f.sent[1].metadata_token, "");
  sources_once(bare, NULL, slow_token, "A/B/C");
  sources_open(forbidden, NULL, NULL);
  fake_script(&f, 404, "");
  sources_expect("!AWS_EC2_METADATA_V1_DISABLED");
  sources_close();
}

static void silent(void) { fake_script(&f, 0, "")->error = -ECONNREFUSED; }
static void silent_twice(void) {
  fake_script(&f, 0, "")->error = SLP_ETIMEDOUT;
  fake_script(&f, 0, "")->error = SLP_ETIMEDOUT;
}
static void bad_request(void) { fake_script(&f, 400, ""); }
static void unauthorized(void) {
  fake_script(&f, 200, "T");
  fake_script(&f, 401, "SESAME");
}
static void no_role(void) {
  fake_script(&f, 200, "T");
  fake_script(&f, 404, "");
}
static void failing(void) {
  fake_script(&f, 200, "T");
  fake_script(&f, 500, "");
}
static void strange_role(void) {
  fake_script(&f, 200, "T");
  fake_script(&f, 200, "../../../etc?x");
}
static void error_in_200(void) {
  fake_script(&f, 200, "T");
  fake_script(&f, 200, "r");
  fake_script(&f, 200,
              "{\"Code\":\"AssumeRoleUnauthorizedAccess\",\"Message\":\"EC2 cannot assume the role\"}");
}
static void forging_token(void) { fake_script(&f, 200, "T\r\nX: y"); }

TEST(failures_are_one_sentence) {
  static const struct {
    const fake_pair *env;
    void (*script)(void);
    const char *want;
  } rows[] = {{bare, silent, "!no credentials: set AWS_ACCESS_KEY_ID"},
              {bare, silent_twice, "!no credentials: set AWS_ACCESS_KEY_ID"},
              {own, silent, "~instance metadata: fake failure"},
              {bare, bad_request, "!no session token: status 400"},
              {bare, unauthorized, "!security-credentials/: status 401"},
              {bare, no_role, "!security-credentials/: status 404 (this machine has no role)"},
              {bare, failing, "~status 500"},
              {bare, strange_role, "!names no role"},
              {bare, error_in_200, "!AssumeRoleUnauthorizedAccess EC2 cannot"},
              {bare, forging_token, "!no session token"}};
  for (size_t i = 0; i < SLP_COUNT(rows); i++) sources_once(rows[i].env, NULL, rows[i].script, rows[i].want);
}

TEST(disabled_means_not_asked) {
  static const fake_pair env[] = {{"AWS_EC2_METADATA_DISABLED", "true"}, {NULL, NULL}};
  static const fake_pair shouted[] = {{"AWS_EC2_METADATA_DISABLED", "TRUE"}, {NULL, NULL}};
  sources_once(env, NULL, NULL, "!no credentials");
  sources_once(shouted, NULL, NULL, "!no credentials");
}

TEST(keys_that_come_expired_are_used_for_a_while) {
  sources_open(bare, NULL, NULL);
  f.wall_off_ms = 2 * 3600000; /* SOON is past */
  good();
  sources_expect("A/B/C");
  f.mono_us += 16 * 60000000ull; /* 17 to 25 minutes were given, and half of them are over */
  fake_script(&f, 0, "")->error = -ECONNREFUSED;
  sources_look();
  fake_run(&f, 1000000);
  CHECK_STR(sources_look(), "A/B/C");
  sources_close();
}

TEST(keys_outlive_their_end_while_the_metadata_service_is_away) {
  sources_open(bare, NULL, NULL);
  good();
  sources_expect("A/B/C");
  f.mono_us += 61 * 60000000ull;
  fake_script(&f, 0, "")->error = -ECONNREFUSED;
  CHECK_STR(sources_ask_for(1000000), "A/B/C");
  f.mono_us += 60000000;
  fake_script(&f, 200, "TOKEN2");
  fake_script(&f, 200, "my-role");
  fake_script(&f, 200,
              "{\"AccessKeyId\":\"A2\",\"SecretAccessKey\":\"B\",\"Token\":\"C\",\"Expiration\":\"2026-01-"
              "02T09:04:05Z\"}");
  CHECK_STR(sources_ask_for(1000000), "A2/B/C");
  sources_close();
}

TEST(a_machine_that_hangs_is_left_after_the_deadline) {
  sources_open(bare, NULL, NULL);
  fake_script(&f, 0, "")->hang = 1;
  sources_expect("~within 60 seconds");
  sources_close();
}

TEST(every_failing_allocation_is_told_and_leaks_nothing) { sources_oom(bare, NULL, good); }

static void secret_keys(void) {
  fake_script(&f, 200, "SESAME");
  fake_script(&f, 200, "my-role\n");
  fake_script(
      &f, 200,
      "{\"Code\":\"Success\",\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"SESAME\",\"Token\":\"" SESAMES_10
      "\",\"Expiration\":\"" SOON "\"}");
}

TEST(what_was_secret_is_wiped_before_its_memory_is_given_back) { sources_wiped(bare, NULL, secret_keys); }
