/* provider_sso.c - the sign-in cache, renewing its token, the portal, and every way to fail. */
#include "aws_sources.h"

#define COMMON \
  {"HOME", "/h"}, {"AWS_REGION", "eu-west-1"}, { "AWS_EC2_METADATA_DISABLED", "true" }
static const fake_pair env[] = {COMMON, {"AWS_PROFILE", "a"}, {NULL, NULL}};
#define CONFIG                                                                                    \
  "[profile a]\nsso_session = my sso\nsso_account_id = 123456789012\nsso_role_name = Read Only\n" \
  "[sso-session \"my sso\"]\nsso_region = us-west-2\nsso_start_url = https://x.awsapps.com/start\n"
#define LEGACY                                                                         \
  "[profile a]\nsso_start_url = https://x.awsapps.com/start\nsso_region = us-west-2\n" \
  "sso_account_id = 123456789012\nsso_role_name = R\n"
/* sha1sum of "my sso" and of the start URL */
#define CACHE "/h/.aws/sso/cache/b3902c2d49b36c95af74dedb0f77c5828749e230.json"
#define LEGACY_CACHE "/h/.aws/sso/cache/3947de8b16688092197fa616c34e01335f21d256.json"
#define TOKEN(expires) "{\"accessToken\":\"SESAME\",\"expiresAt\":\"" expires "\""
#define RENEWABLE                                                                       \
  ",\"refreshToken\":\"RSESAME\",\"clientId\":\"c\\\"1\",\"clientSecret\":\"CSESAME\"," \
  "\"registrationExpiresAt\":\""                                                        \
  "2026-03-01T00:00:00Z\""
#define KEYS                                                                                            \
  "{\"roleCredentials\":{\"accessKeyId\":\"A\",\"secretAccessKey\":\"BSESAME\",\"sessionToken\":\"C\"," \
  "\"expiration\":1767326645000}}"
#define LATER "2026-01-02T08:00:00Z"
#define ALMOST "2026-01-02T03:09:00Z" /* 5 minutes are left */
#define PAST "2026-01-02T03:00:00Z"

static void with(const char *config, const char *cache_path, const char *cache, void (*script)(void),
                 const char *want) {
  const fake_pair files[] = {{"/h/.aws/config", config}, {cache ? cache_path : "/none", cache}, {NULL, NULL}};
  sources_open(env, files, NULL);
  if (script) script();
  sources_expect(want);
  if (want[0] == '!') CHECK(!strstr(sources_look(), "SESAME"));
  sources_close();
}

static void good(void) { fake_script(&f, 200, KEYS); }

TEST(a_token_that_lives_goes_to_the_portal) {
  with(CONFIG, CACHE, TOKEN(LATER) RENEWABLE "}", good, "A/BSESAME/C");
  CHECK_STR(
      f.sent[0].url,
      "https://portal.sso.us-west-2.amazonaws.com/federation/credentials?role_name=Read%20Only&account_id="
      "123456789012");
  CHECK_STR(f.sent[0].method, "GET");
  CHECK_STR(f.sent[0].bearer, "SESAME");
  CHECK_STR(f.sent[0].authorization, "");
}

TEST(a_profile_without_a_session_and_an_old_way_to_write_the_time) {
  with(LEGACY, LEGACY_CACHE, TOKEN("2026-01-02T08:00:00UTC") "}", good, "A/BSESAME/C");
}

TEST(the_account_is_that_of_the_profile) {
  const fake_pair files[] = {{"/h/.aws/config", CONFIG}, {CACHE, TOKEN(LATER) "}"}, {NULL, NULL}};
  sources_open(env, files, NULL);
  good();
  sources_expect("A/BSESAME/C");
  CHECK_STR(sources_account(), "123456789012");
  sources_close();
}

static void renews(void) {
  fake_script(
      &f, 200,
      "{\"accessToken\":\"NEWSESAME\",\"expiresIn\":28800,\"refreshToken\":\"R2\",\"tokenType\":\"B\"}");
  good();
}

TEST(an_old_token_is_renewed_and_the_new_one_kept) {
  const fake_pair files[] = {{"/h/.aws/config", CONFIG}, {CACHE, TOKEN(PAST) RENEWABLE "}"}, {NULL, NULL}};
  sources_open(env, files, NULL);
  renews();
  sources_expect("A/BSESAME/C");
  CHECK_STR(f.sent[0].url, "https://oidc.us-west-2.amazonaws.com/token");
  CHECK_STR(f.sent[0].method, "POST");
  CHECK_STR(f.sent[0].type, "application/json");
  CHECK_STR(f.sent[0].body,
            "{\"grantType\":\"refresh_token\",\"clientId\":\"c\\\"1\",\"clientSecret\":\"CSESAME\","
            "\"refreshToken\":"
            "\"RSESAME\"}");
  CHECK_STR(f.sent[1].bearer, "NEWSESAME");
  fake_script(&f, 200,
              "{\"roleCredentials\":{\"accessKeyId\":\"A2\",\"secretAccessKey\":\"B\",\"sessionToken\":\"C\","
              "\"expiration\":1767336645000}}");
  f.mono_us += 46 * 60000000ull;
  CHECK_STR(sources_look(), "A/BSESAME/C");
  fake_run(&f, 1000000);
  CHECK_STR(sources_look(), "A2/B/C");
  CHECK_STR(f.sent[2].bearer, "NEWSESAME"); /* not renewed again */
  sources_close();
}

TEST(who_signs_in_anew_is_taken_before_our_renewal_for_the_one_before) {
  const fake_pair files[] = {{"/h/.aws/config", CONFIG}, {CACHE, TOKEN(PAST) RENEWABLE "}"}, {NULL, NULL}};
  const fake_pair anew[] = {{"/h/.aws/config", CONFIG},
                            {CACHE, "{\"accessToken\":\"OTHER\",\"expiresAt\":\"" LATER "\"}"},
                            {NULL, NULL}};
  sources_open(env, files, NULL);
  renews(); /* lives longer than the new one */
  sources_expect("A/BSESAME/C");
  f.files = anew;
  good();
  f.mono_us += 46 * 60000000ull;
  CHECK_STR(sources_look(), "A/BSESAME/C");
  fake_run(&f, 1000000);
  CHECK_STR(f.sent[2].bearer, "OTHER");
  sources_close();
}

static void renewal_fails(void) { fake_script(&f, 400, "{\"error\":\"invalid_grant\"}"); }
static void renewal_fails_then_good(void) {
  renewal_fails();
  good();
}
static void renewal_is_slowed_down(void) {
  fake_script(&f, 400, "{\"error\":\"slow_down\"}")->error_type = "SlowDownException:http://internal/";
  renews();
}
static void all_fails(void) {
  for (int i = 0; i < 3; i++) fake_script(&f, 503, "");
}
static void unauthorized(void) {
  fake_script(&f, 401, "{\"message\":\"Session token not found or invalid\"}");
}
static void forbidden(void) { fake_script(&f, 403, "{\"message\":\"No access\"}"); }
static void throttled(void) {
  fake_script(&f, 429, "");
  good();
}
static void garbage(void) { fake_script(&f, 200, "<html>"); }
static void half(void) { fake_script(&f, 200, "{\"roleCredentials\":{\"accessKeyId\":\"A\"}}"); }

TEST(failures_say_what_to_run) {
#define RUN ": run aws sso login --profile a"
  static const struct {
    const char *cache;
    void (*script)(void);
    const char *want;
  } rows[] = {
      {TOKEN(ALMOST) RENEWABLE "}", renewal_fails_then_good, "A/BSESAME/C"},
      {TOKEN(LATER) "}", throttled, "A/BSESAME/C"},
      {TOKEN(PAST) RENEWABLE "}", renewal_is_slowed_down, "A/BSESAME/C"},
      {TOKEN(PAST) RENEWABLE "}", all_fails,
       "~the sign-in has expired and can't be renewed just now: status 503"},
      {TOKEN(LATER) "}", all_fails, "~no keys for role Read Only of account 123456789012: status 503"},
      {NULL, NULL, "!profile a (/h/.aws/config): nobody is signed in" RUN},
      {TOKEN(PAST) "}", NULL, "!the sign-in has expired" RUN},
      {TOKEN(PAST) ",\"refreshToken\":\"r\",\"clientId\":\"c\",\"clientSecret\":\"s\","
                   "\"registrationExpiresAt\":\"" PAST "\"}",
       NULL, "!the sign-in has expired" RUN},
      {TOKEN(PAST) RENEWABLE "}", renewal_fails, "!has expired and could not be renewed" RUN},
      {TOKEN(LATER) "}", unauthorized, "!not accepted any more" RUN},
      {TOKEN(LATER) "}", forbidden, "!no keys for role Read Only of account 123456789012: status 403"},
      {TOKEN(LATER) "}", garbage, "!holds no keys"},
      {TOKEN(LATER) "}", half, "!holds no keys (secretAccessKey)"},
      {"SESAME", NULL, "!can't use " CACHE},
      {"{}", NULL, "!lacks accessToken"},
      {"{\"accessToken\":\"SESAME\"}", NULL, "!lacks expiresAt"},
      {TOKEN("SESAME") "}", NULL, "!not a time"},
      {"{\"accessToken\":\"SES\\r\\nAME\",\"expiresAt\":\"" LATER "\"}", NULL, "!characters"},
  };
  for (size_t i = 0; i < SLP_COUNT(rows); i++)
    with(CONFIG, CACHE, rows[i].cache, rows[i].script, rows[i].want);
}

/* The time of keys is a number here, so it may be any. */
TEST(keys_that_expired_before_1970_are_no_keys) {
  static const struct {
    const char *expiration, *want;
  } rows[] = {{"-9223372036854775808", "!have expired already"},
              {"-9e18", "!have expired already"},
              {"-1", "!have expired already"},
              {"0", "!have expired already"},
              {"1e300", "!holds no keys"},
              {"9223372036854775807", "A/B/C"}};
  const fake_pair files[] = {{"/h/.aws/config", CONFIG}, {CACHE, TOKEN(LATER) "}"}, {NULL, NULL}};
  for (size_t i = 0; i < SLP_COUNT(rows); i++) {
    char text[200];
    snprintf(text, sizeof text,
             "{\"roleCredentials\":{\"accessKeyId\":\"A\",\"secretAccessKey\":\"B\",\"sessionToken\":\"C\","
             "\"expiration\":%s}}",
             rows[i].expiration);
    sources_open(env, files, NULL);
    fake_script(&f, 200, text);
    sources_expect(rows[i].want);
    sources_close();
  }
}

TEST(a_token_that_lives_by_the_machine_s_clock_is_used_whatever_the_service_s_is_thought_to_be) {
  static const struct {
    const char *cache, *want;
  } rows[] = {{TOKEN(LATER) "}", "A/BSESAME/C"},
              {TOKEN(LATER) RENEWABLE "}", "A/BSESAME/C"},
              {TOKEN(PAST) "}", "!the sign-in has expired"}};
  for (size_t i = 0; i < SLP_COUNT(rows); i++) {
    const fake_pair files[] = {{"/h/.aws/config", CONFIG}, {CACHE, rows[i].cache}, {NULL, NULL}};
    sources_open(env, files, NULL);
    aws->clock_offset_ms = INT64_C(73) * 365 * 86400 * 1000;
    if (rows[i].want[0] != '!') good();
    sources_expect(rows[i].want);
    sources_close();
  }
}

TEST(configured_endpoints) {
  static const fake_pair named[] = {COMMON,
                                    {"AWS_PROFILE", "a"},
                                    {"AWS_ENDPOINT_URL_SSO", "http://localhost:1/p"},
                                    {"AWS_ENDPOINT_URL_SSO_OIDC", "http://localhost:2/"},
                                    {NULL, NULL}};
  const fake_pair files[] = {{"/h/.aws/config", CONFIG}, {CACHE, TOKEN(PAST) RENEWABLE "}"}, {NULL, NULL}};
  sources_once(named, files, renews, "A/BSESAME/C");
  CHECK_STR(f.sent[0].url, "http://localhost:2/token");
  CHECK_STR(f.sent[1].url,
            "http://localhost:1/p/federation/credentials?role_name=Read%20Only&account_id=123456789012");
}

TEST(without_a_home_there_is_no_sign_in) {
  static const fake_pair homeless[] = {{"AWS_CONFIG_FILE", "/c"},   {"AWS_SHARED_CREDENTIALS_FILE", "/s"},
                                       {"AWS_REGION", "eu-west-1"}, {"AWS_EC2_METADATA_DISABLED", "true"},
                                       {"AWS_PROFILE", "a"},        {NULL, NULL}};
  static const fake_pair files[] = {{"/c", CONFIG "sso_registration_scopes = sso:account:access\n"},
                                    {NULL, NULL}};
  sources_once(homeless, files, NULL, "!HOME is not set, so there is no sign-in to be found");
}

TEST(a_portal_that_hangs_is_left_after_the_deadline) {
  const fake_pair files[] = {{"/h/.aws/config", CONFIG}, {CACHE, TOKEN(LATER) "}"}, {NULL, NULL}};
  sources_open(env, files, NULL);
  fake_script(&f, 0, "")->hang = 1;
  sources_expect("~within 300 seconds");
  sources_close();
}

TEST(every_failing_allocation_is_told_and_leaks_nothing) {
  const fake_pair files[] = {{"/h/.aws/config", CONFIG}, {CACHE, TOKEN(PAST) RENEWABLE "}"}, {NULL, NULL}};
  sources_oom(env, files, renews);
}

TEST(what_was_secret_is_wiped_before_its_memory_is_given_back) {
  const fake_pair files[] = {{"/h/.aws/config", CONFIG}, {CACHE, TOKEN(PAST) RENEWABLE "}"}, {NULL, NULL}};
  sources_wiped(env, files, renews);
}
