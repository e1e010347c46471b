/* provider_profile.c - roles: the keys that sign each request, chains, circles, and every way to fail. */
#include "aws_sources.h"

#define COMMON \
  {"HOME", "/h"}, {"AWS_REGION", "eu-west-1"}, { "AWS_EC2_METADATA_DISABLED", "true" }
#define XML(tag) STS_XML("AssumeRole", tag, SOON)
static const fake_pair env[] = {COMMON, {"AWS_PROFILE", "a"}, {NULL, NULL}};

static void with(const fake_pair *variables, const char *config, const char *credentials,
                 void (*script)(void), const char *want) {
  const fake_pair files[] = {
      {"/h/.aws/config", config}, {credentials ? "/h/.aws/credentials" : "/none", credentials}, {NULL, NULL}};
  sources_once(variables, files, script, want);
}

static void one(void) { fake_script(&f, 200, XML("1")); }
static void two(void) {
  fake_script(&f, 200, XML("1"));
  fake_script(&f, 200, XML("2"));
}

#define SIGNED_BY(i, id) \
  CHECK(strstr(f.sent[i].authorization, "Credential=" id "/20260102/eu-west-1/sts/") != NULL)

TEST(a_role_with_the_keys_of_another_profile) {
  with(env,
       "[profile a]\nrole_arn = arn:a\nsource_profile = b\nexternal_id = e/1\nrole_session_name = me\n"
       "duration_seconds = 900\n",
       "[b]\naws_access_key_id = KB\naws_secret_access_key = SB\n", one, "ASIA1/s+1/=/t+1");
  CHECK_STR(f.sent[0].url, "https://sts.eu-west-1.amazonaws.com/");
  CHECK_STR(f.sent[0].body,
            "Action=AssumeRole&Version=2011-06-15&RoleArn=arn%3Aa&RoleSessionName=me&ExternalId=e%2F1&"
            "DurationSeconds="
            "900");
  SIGNED_BY(0, "KB");
  CHECK_STR(f.sent[0].token, "");
}

TEST(a_chain_of_roles_from_the_far_end) {
  with(
      env,
      "[profile a]\nrole_arn = arn:a\nsource_profile = b\n[profile b]\nrole_arn = arn:b\nsource_profile = c\n"
      "[profile c]\naws_access_key_id = KC\naws_secret_access_key = SC\naws_session_token = TC\n",
      NULL, two, "ASIA2/s+2/=/t+2");
  CHECK(strstr(f.sent[0].body, "RoleArn=arn%3Ab&") != NULL);
  SIGNED_BY(0, "KC");
  CHECK_STR(f.sent[0].token, "TC");
  CHECK(strstr(f.sent[1].body, "RoleArn=arn%3Aa&") != NULL);
  SIGNED_BY(1, "ASIA1");
  CHECK_STR(f.sent[1].token, "t+1");
}

TEST(a_profile_may_use_its_own_keys_and_a_sources_keys_come_before_its_role) {
  with(env,
       "[profile a]\nrole_arn = arn:a\nsource_profile = a\naws_access_key_id = KA\naws_secret_access_key = "
       "SA\n",
       NULL, one, "ASIA1/s+1/=/t+1");
  SIGNED_BY(0, "KA");
  with(
      env,
      "[profile a]\nrole_arn = arn:a\nsource_profile = b\n[profile b]\nrole_arn = arn:b\nsource_profile = a\n"
      "aws_access_key_id = KB\naws_secret_access_key = SB\n",
      NULL, one, "ASIA1/s+1/=/t+1");
  SIGNED_BY(0, "KB");
}

TEST(keys_of_the_environment_and_of_the_container_for_a_role) {
  static const fake_pair keyed[] = {
      COMMON, {"AWS_ACCESS_KEY_ID", "KE"}, {"AWS_SECRET_ACCESS_KEY", "SE"}, {NULL, NULL}};
  static const fake_pair container[] = {
      COMMON, {"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/c"}, {NULL, NULL}};
  const char *config = "[profile a]\nrole_arn = arn:a\ncredential_source = Environment\n";
  const fake_pair files[] = {{"/h/.aws/config", config}, {NULL, NULL}};
  sources_open(keyed, files, "a");
  one();
  sources_expect("ASIA1/s+1/=/t+1");
  SIGNED_BY(0, "KE");
  sources_close();
  const fake_pair of_container[] = {
      {"/h/.aws/config", "[profile a]\nrole_arn = arn:a\ncredential_source = EcsContainer\n"}, {NULL, NULL}};
  sources_open(container, of_container, "a");
  fake_script(&f, 200,
              "{\"AccessKeyId\":\"KC\",\"SecretAccessKey\":\"B\",\"Token\":\"C\",\"Expiration\":\"" SOON
              "\"}");
  one();
  sources_expect("ASIA1/s+1/=/t+1");
  SIGNED_BY(1, "KC");
  sources_close();
}

TEST(a_process_gives_keys_for_a_role) {
  static const fake_program program = {
      .out = "{\"Version\":1,\"AccessKeyId\":\"KP\",\"SecretAccessKey\":\"S\"}"};
  const fake_pair files[] = {
      {"/h/.aws/config",
       "[profile a]\nrole_arn = arn:a\nsource_profile = p\n[profile p]\ncredential_process = tool x\n"},
      {NULL, NULL}};
  sources_open(env, files, NULL);
  f.program = &program;
  one();
  sources_expect("ASIA1/s+1/=/t+1");
  SIGNED_BY(0, "KP");
  CHECK_STR(f.argv, "<tool><x>");
  sources_close();
}

TEST(what_can_not_work_is_told_with_profile_and_file) {
  static const struct {
    const char *config, *want;
  } rows[] = {
      {"[profile a]\nrole_arn = r\n", "!profile a (/h/.aws/config): role_arn needs a source_profile"},
      {"[profile a]\nrole_arn = r\nsource_profile = b\ncredential_source = Environment\n",
       "!exclude each other"},
      {"[profile a]\nrole_arn = r\ncredential_source = environment\n",
       "!credential_source environment is none of"},
      {"[profile a]\nrole_arn = r\ncredential_source = Environment\n", "!Environment has no credentials"},
      {"[profile a]\nrole_arn = r\ncredential_source = EcsContainer\n", "!EcsContainer has no credentials"},
      {"[profile a]\nrole_arn = r\nsource_profile = b\n", "!source_profile b does not exist"},
      {"[profile a]\nrole_arn = r\nsource_profile = b\n[profile b]\nregion = x\n",
       "!source_profile b has no credentials"},
      {"[profile a]\nrole_arn = r\nsource_profile = a\n", "!source_profile a leads back to itself"},
      {"[profile a]\nrole_arn = r\nsource_profile = b\n[profile b]\nrole_arn = s\nsource_profile = a\n",
       "!profile b (/h/.aws/config): source_profile a leads back to itself"},
      {"[profile a]\nrole_arn = r\nsource_profile = b\nmfa_serial = m\n[profile b]\naws_access_key_id = K\n"
       "aws_secret_access_key = S\n",
       "!profile a (/h/.aws/config): there is no terminal to ask for the code of its mfa_serial: start it "
       "behind "
       "eval \"$(aws configure export-credentials --profile a --format env)\""},
      {"[profile a]\nweb_identity_token_file = /t\n", "!needs a role_arn"},
      {"[profile a]\nlogin_session = x\n", "!nobody is signed in: run aws login --profile a"},
      {"[profile a]\nsso_account_id = 1\nsso_session = s\nsso_role_name = x\n",
       "!no section [sso-session s]"},
      {"[profile a]\nsso_account_id = 1\nsso_session = s\nsso_role_name = x\n[sso-session "
       "s]\nsso_start_url=u\n",
       "!sso_region is missing in its sso-session section"},
      {"[profile a]\nsso_account_id = 1\nsso_role_name = x\nsso_region = r\n", "!sso_start_url is missing"},
      {"[profile a]\nsso_account_id = 1\nsso_start_url = u\n", "!sso_role_name is missing"},
      {"[profile a]\nrole_arn = r\nsource_profile = b\n[profile b]\naws_access_key_id = K\n",
       "!profile b in /h/.aws/config has aws_access_key_id but no aws_secret_access_key"},
  };
  for (size_t i = 0; i < SLP_COUNT(rows); i++) with(env, rows[i].config, NULL, NULL, rows[i].want);
}

TEST(as_many_roles_as_botocore_would_never_see) {
  char config[2000] = "[profile a]\nrole_arn = r\nsource_profile = p0\n";
  for (int i = 0; i < 12; i++) {
    size_t n = strlen(config);
    snprintf(config + n, sizeof config - n, "[profile p%d]\nrole_arn = r\nsource_profile = p%d\n", i, i + 1);
  }
  with(env, config, NULL, NULL, "!roles lead on from here");
}

#define ERROR_XML(code, text) \
  "<ErrorResponse><Error><Code>" code "</Code><Message>" text "</Message></Error></ErrorResponse>"
static void denied(void) { fake_script(&f, 403, ERROR_XML("AccessDenied", "User: KB is not authorized")); }
static void throttled(void) {
  fake_script(&f, 400, ERROR_XML("Throttling", "Rate exceeded"));
  fake_script(&f, 503, "");
  one();
}
static void wrong_clock(void) {
  fake_answer *a = fake_script(&f, 403, ERROR_XML("SignatureDoesNotMatch", "Signature expired"));
  a->date_off_ms = 3600000 - 1800000;
  one();
}

TEST(the_services_refusals) {
  const char *config = "[profile a]\nrole_arn = arn:a\nsource_profile = b\n";
  const char *credentials = "[b]\naws_access_key_id = KB\naws_secret_access_key = SESAME\n";
  with(env, config, credentials, denied,
       "!profile a (/h/.aws/config): AssumeRole of arn:a: AccessDenied: User: KB is not");
  with(env, config, credentials, throttled, "ASIA1/s+1/=/t+1");
  with(env, config, credentials, wrong_clock, "ASIA1/s+1/=/t+1");
  CHECK_STR(f.sent[1].date, "20260102T033405Z");
}

TEST(tries_of_sts_are_a_setting) {
  static const fake_pair twice[] = {COMMON, {"AWS_PROFILE", "a"}, {"AWS_MAX_ATTEMPTS", "2"}, {NULL, NULL}};
  const fake_pair files[] = {
      {"/h/.aws/config", "[profile a]\nrole_arn = arn:a\nsource_profile = b\n"},
      {"/h/.aws/credentials", "[b]\naws_access_key_id = KB\naws_secret_access_key = SB\n"},
      {NULL, NULL}};
  sources_open(twice, files, NULL);
  for (int i = 0; i < 2; i++) fake_script(&f, 500, "");
  sources_expect("~AssumeRole");
  sources_close();
}

TEST(keys_are_renewed_from_the_first_on_and_the_files_read_again) {
  const char *config = "[profile a]\nrole_arn = arn:a\nsource_profile = b\n";
  const fake_pair before[] = {
      {"/h/.aws/config", config},
      {"/h/.aws/credentials", "[b]\naws_access_key_id = K1\naws_secret_access_key = S\n"},
      {NULL, NULL}};
  const fake_pair after[] = {
      {"/h/.aws/config", config},
      {"/h/.aws/credentials", "[b]\naws_access_key_id = K2\naws_secret_access_key = S\n"},
      {NULL, NULL}};
  sources_open(env, before, NULL);
  two();
  sources_expect("ASIA1/s+1/=/t+1");
  f.files = after;
  f.mono_us += 46 * 60000000ull;
  CHECK_STR(sources_look(), "ASIA1/s+1/=/t+1");
  fake_run(&f, 1000000);
  CHECK_STR(sources_look(), "ASIA2/s+2/=/t+2");
  SIGNED_BY(1, "K2");
  sources_close();
}

TEST(a_source_that_is_gone_gives_way_to_nobody_else) {
  static const fake_pair variables[] = {
      {"HOME", "/h"}, {"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/c"}, {NULL, NULL}};
  const fake_pair before[] = {
      {"/h/.aws/credentials", "[default]\naws_access_key_id = K\naws_secret_access_key = S\n"}, {NULL, NULL}};
  sources_open(variables, before, NULL);
  sources_expect("K/S/");
  f.files = NULL;
  CHECK_INT(slp_creds_refused(aws->creds, 1), 1);
  fake_run(&f, 1000000); /* the container is not asked: no answer is scripted */
  CHECK_STR(sources_look(), "K/S/");
  sources_close();
}

TEST(no_keys_stay_where_only_settings_are_read) {
  const fake_pair files[] = {
      {"/h/.aws/config", "[profile a]\nregion = eu-west-1\naws_session_token = SESAME\n"},
      {"/h/.aws/credentials", "[a]\naws_access_key_id = K\naws_secret_access_key = SESAME\n"},
      {NULL, NULL}};
  slp_wait wait = {.run = NULL};
  slp_fail fail;
  sources_open(env, files, NULL);
  CHECK_INT(slp_aws_endpoint(aws, SLP_SVC_KINESIS, &wait, &fail), SLP_MORE);
  slp_wait_cancel(&wait);
  fake_run(&f, 1000000);
  CHECK_INT(slp_aws_endpoint(aws, SLP_SVC_KINESIS, &wait, &fail), 0);
  CHECK_STR(slp_profile_get(&aws->profiles.profile, SLP_PROFILE_REGION), "eu-west-1");
  CHECK(!slp_profile_get(&aws->profiles.profile, SLP_PROFILE_SECRET));
  CHECK(!slp_profile_get(&aws->profiles.profile, SLP_PROFILE_TOKEN));
  sources_expect("K/SESAME/");
  sources_close();
}

static void process_and_role(void) {
  static const fake_program program = {
      .out = "{\"Version\":1,\"AccessKeyId\":\"KP\",\"SecretAccessKey\":\"S\"}"};
  f.program = &program;
  one();
}

TEST(every_failing_allocation_is_told_and_leaks_nothing) {
  const fake_pair files[] = {
      {"/h/.aws/config",
       "[profile a]\nrole_arn = arn:a\nsource_profile = p\n[profile p]\ncredential_process = tool x\n"},
      {NULL, NULL}};
  sources_oom(env, files, process_and_role);
}

TEST(a_profile_that_is_not_there_and_one_whose_name_only_begins_like_it) {
#define TEN "1234567890"
#define LONG TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN "1234567"
  static const fake_pair elsewhere[] = {
      COMMON, {"AWS_PROFILE", "a"}, {"AWS_CONFIG_FILE", "/etc/aws.conf"}, {NULL, NULL}};
  static const fake_pair longer[] = {COMMON, {"AWS_PROFILE", LONG "8"}, {NULL, NULL}};
  with(elsewhere, "", "", NULL, "!profile a is not in /h/.aws/credentials or /etc/aws.conf");
  with(longer, "", "[" LONG "]\naws_access_key_id = K\naws_secret_access_key = S\n", NULL,
       "!the name is longer than 127 bytes");
}

/* Two hours ahead: by our own clock the keys would expire before they arrive. */
TEST(keys_are_judged_by_the_clock_that_their_own_question_corrected) {
  const fake_pair files[] = {
      {"/h/.aws/config", "[profile a]\nrole_arn = arn:a\nsource_profile = b\n"},
      {"/h/.aws/credentials", "[b]\naws_access_key_id = KB\naws_secret_access_key = SB\n"},
      {NULL, NULL}};
  sources_open(env, files, NULL);
  f.wall_off_ms = 2 * 3600000;
  fake_script(&f, 403, "<ErrorResponse><Error><Code>RequestExpired</Code></Error></ErrorResponse>")
      ->date_off_ms = -f.wall_off_ms;
  one();
  sources_expect("ASIA1/s+1/=/t+1");
  CHECK_STR(f.sent[1].date, "20260102T030405Z");
  sources_close();
}

static const fake_program program_that_tells = {
    .out = "{\"Version\":1,\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"B\",\"AccountId\":\"444444444444\"}"};
static const fake_program program = {.out =
                                         "{\"Version\":1,\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"B\"}"};
static void container_tells(void) {
  fake_script(&f, 200,
              "{\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"B\",\"Token\":\"C\",\"Expiration\":\"" SOON
              "\",\"AccountId\":\"555555555555\"}");
}

/* As botocore 1.44.8 has it, but that what is no number counts as not told. */
TEST(the_account_is_told_by_each_source_that_knows_it) {
#define KEYS_OF(account) "aws_access_key_id = K\naws_secret_access_key = S\naws_account_id = " account "\n"
  static const struct {
    fake_pair variable[2];
    const char *config, *credentials;
    void (*script)(void);
    const fake_program *program;
    const char *want;
  } rows[] = {
      {{{"AWS_ACCOUNT_ID", "9"}}, "", "[a]\n" KEYS_OF("333333333333"), NULL, NULL, "333333333333"},
      {{{NULL, NULL}}, "[profile a]\n" KEYS_OF("3"), "", NULL, NULL, "3"},
      {{{NULL, NULL}}, "[profile a]\naws_account_id = 3\n", "[a]\n" KEYS_OF("my account"), NULL, NULL, ""},
      {{{NULL, NULL}}, "", "[a]\n" KEYS_OF("1234567890123"), NULL, NULL, ""},
      {{{NULL, NULL}},
       "[profile a]\ncredential_process = x\naws_account_id = 3\n",
       "",
       NULL,
       &program_that_tells,
       "444444444444"},
      {{{NULL, NULL}}, "[profile a]\ncredential_process = x\naws_account_id = 3\n", "", NULL, &program, "3"},
      {{{NULL, NULL}},
       "[profile a]\nrole_arn = r\nsource_profile = a\n" KEYS_OF("3"),
       "",
       one,
       NULL,
       "222222222222"},
      {{{"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/v2"}},
       "[profile a]\nregion = x\n",
       "",
       container_tells,
       NULL,
       "555555555555"},
  };
  for (size_t i = 0; i < SLP_COUNT(rows); i++) {
    const fake_pair variables[] = {{"HOME", "/h"},       {"AWS_REGION", "eu-west-1"},
                                   {"AWS_PROFILE", "a"}, {"AWS_EC2_METADATA_DISABLED", "true"},
                                   rows[i].variable[0],  {NULL, NULL}};
    const fake_pair files[] = {
        {"/h/.aws/config", rows[i].config}, {"/h/.aws/credentials", rows[i].credentials}, {NULL, NULL}};
    sources_open(variables, files, NULL);
    f.program = rows[i].program;
    if (rows[i].script) rows[i].script();
    sources_ask();
    if (strcmp(sources_account(), rows[i].want) != 0)
      CHECK_FAIL("row %zu: %s, not %s", i, sources_account(), rows[i].want);
    sources_close();
  }
}

TEST(the_account_of_the_environments_keys) {
  static const fake_pair variables[] = {{"AWS_ACCESS_KEY_ID", "A"},
                                        {"AWS_SECRET_ACCESS_KEY", "B"},
                                        {"AWS_ACCOUNT_ID", "666666666666"},
                                        {NULL, NULL}};
  sources_open(variables, NULL, NULL);
  sources_expect("A/B/");
  CHECK_STR(sources_account(), "666666666666");
  sources_close();
}

static void secret_roles(void) {
  static char first[6000];
  snprintf(first, sizeof first,
           "<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>ASIA1</AccessKeyId>"
           "<SecretAccessKey>SESAME</SecretAccessKey><SessionToken>%s</SessionToken><Expiration>" SOON
           "</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>",
           SESAMES_100 SESAMES_100 SESAMES_100 SESAMES_100 SESAMES_100 SESAMES_100 SESAMES_10 SESAMES_10
               SESAMES_10 SESAMES_10 SESAMES_10 SESAMES_10);
  fake_script(&f, 200, first);
  fake_script(&f, 200, XML("SESAME"));
}

/* Tokens just short of the sizes that buffers double at. */
TEST(what_was_secret_is_wiped_before_its_memory_is_given_back) {
  const fake_pair files[] = {
      {"/h/.aws/config",
       "[profile a]\nrole_arn = arn:a\nsource_profile = b\n[profile b]\nrole_arn = arn:b\nsource_profile = "
       "c\n"},
      {"/h/.aws/credentials",
       "[c]\naws_access_key_id = KC\naws_secret_access_key = SESAME\naws_session_token = " SESAMES_100
           SESAMES_100 SESAMES_100 SESAMES_10 SESAMES_10 SESAMES_10 "\n"},
      {NULL, NULL}};
  sources_wiped(env, files, secret_roles);
}

TEST(a_file_may_begin_with_a_byte_order_mark) {
  with(env, "", "\xEF\xBB\xBF[a]\naws_access_key_id = K\naws_secret_access_key = S\n", NULL, "K/S/");
  with(env, "\xEF\xBB\xBF[profile a]\naws_access_key_id = K\naws_secret_access_key = S\n", NULL, NULL,
       "K/S/");
  with(env, "[profile a]\nrole_arn = arn:a\nsource_profile = b\n",
       "\xEF\xBB\xBF[b]\naws_access_key_id = KB\naws_secret_access_key = SB\n", one, "ASIA1/s+1/=/t+1");
}
