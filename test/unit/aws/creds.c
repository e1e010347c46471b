/* creds.c - where keys are found, which half configurations are refused, and when keys are renewed. */
#include <sloop.h>

#include "aws/aws_impl.h"

#include "aws_fake_host.h"

static fake_host f;
static slp_mem *mem;
static slp_aws *aws;
static slp_creds *creds;
static int woken;

static void on_wait(slp_wait *wait) {
  (void)wait;
  woken++;
}

static void open_chain(const fake_pair *env, const fake_pair *files, const char *profile) {
  mem = slp_mem_new(NULL, NULL);
  fake_init(&f, mem);
  f.env = env;
  f.files = files;
  char why[160];
  slp_aws_options o = {.profile = profile, .getenv_fn = fake_getenv, .getenv_ctx = &f};
  CHECK_INT(slp_aws_new(&aws, &f.h, &o, why), 0);
  creds = aws->creds;
}

TEST(a_profile_s_name_has_a_limit) {
  char name[129], why[160] = "";
  memset(name, 'p', 128);
  name[128] = 0;
  mem = slp_mem_new(NULL, NULL);
  fake_init(&f, mem);
  slp_aws_options o = {.profile = name, .getenv_fn = fake_getenv, .getenv_ctx = &f};
  CHECK_INT(slp_aws_new(&aws, &f.h, &o, why), SLOOP_EOPTION);
  CHECK_STR(why, "profile: the name is longer than 127 bytes");
  fake_end(&f, mem);
}

static void close_chain(void) {
  slp_aws_drop(aws);
  fake_end(&f, mem);
}

typedef struct row {
  const char *what;
  fake_pair env[6];
  const char *credentials, *config, *profile;
  const char *want; /* "key/secret/token", or a word of the message after '!' */
} row;

#define ENV_HOME \
  {"HOME", "/h"}, { "AWS_EC2_METADATA_DISABLED", "true" }
#define KEYS(id) "aws_access_key_id = " id "\naws_secret_access_key = S" id "\n"
static const row rows[] = {
    {"env",
     {ENV_HOME, {"AWS_ACCESS_KEY_ID", "A"}, {"AWS_SECRET_ACCESS_KEY", "B"}, {"AWS_SESSION_TOKEN", "C"}},
     "[default]\n" KEYS("F"),
     NULL,
     NULL,
     "A/B/C"},
    {"old token name",
     {ENV_HOME, {"AWS_ACCESS_KEY_ID", "A"}, {"AWS_SECRET_ACCESS_KEY", "B"}, {"AWS_SECURITY_TOKEN", "C"}},
     NULL,
     NULL,
     NULL,
     "A/B/C"},
    {"empty is unset",
     {ENV_HOME, {"AWS_ACCESS_KEY_ID", ""}, {"AWS_SECRET_ACCESS_KEY", ""}},
     "[default]\n" KEYS("F"),
     NULL,
     NULL,
     "F/SF/"},
    {"id without secret",
     {ENV_HOME, {"AWS_ACCESS_KEY_ID", "A"}},
     "[default]\n" KEYS("F"),
     NULL,
     NULL,
     "!AWS_SECRET_ACCESS_KEY is not"},
    {"secret without id",
     {ENV_HOME, {"AWS_SECRET_ACCESS_KEY", "A"}},
     "[default]\n" KEYS("F"),
     NULL,
     NULL,
     "!AWS_ACCESS_KEY_ID is not"},
    {"web identity",
     {ENV_HOME, {"AWS_WEB_IDENTITY_TOKEN_FILE", "/t"}},
     "[default]\n" KEYS("F"),
     NULL,
     NULL,
     "!AWS_ROLE_ARN is not"},
    {"line break in a key",
     {ENV_HOME, {"AWS_ACCESS_KEY_ID", "A\r\nX: y"}, {"AWS_SECRET_ACCESS_KEY", "B"}},
     NULL,
     NULL,
     NULL,
     "!characters"},
    {"bad expiry",
     {ENV_HOME,
      {"AWS_ACCESS_KEY_ID", "A"},
      {"AWS_SECRET_ACCESS_KEY", "B"},
      {"AWS_CREDENTIAL_EXPIRATION", "soon"}},
     NULL,
     NULL,
     NULL,
     "!AWS_CREDENTIAL_EXPIRATION"},
    {"expired",
     {ENV_HOME,
      {"AWS_ACCESS_KEY_ID", "A"},
      {"AWS_SECRET_ACCESS_KEY", "B"},
      {"AWS_CREDENTIAL_EXPIRATION", "2026-01-01T00:00:00Z"}},
     NULL,
     NULL,
     NULL,
     "!expired already"},
    {"no home",
     {{"AWS_EC2_METADATA_DISABLED", "true"}},
     "[default]\n" KEYS("F"),
     NULL,
     NULL,
     "!no credentials: set AWS_ACCESS_KEY_ID"},
    {"credentials before config",
     {ENV_HOME},
     "[default]\n" KEYS("F"),
     "[default]\n" KEYS("G"),
     NULL,
     "F/SF/"},
    {"config alone", {ENV_HOME}, NULL, "[default]\n" KEYS("G") "aws_session_token=T=T\n", NULL, "G/SG/T=T"},
    {"AWS_PROFILE",
     {ENV_HOME, {"AWS_PROFILE", "p"}},
     "[default]\n" KEYS("F") "[p]\n" KEYS("P"),
     NULL,
     NULL,
     "P/SP/"},
    {"profile option before AWS_PROFILE",
     {ENV_HOME, {"AWS_PROFILE", "p"}},
     NULL,
     "[profile \"q\"]\n" KEYS("Q") "[profile p]\n" KEYS("P"),
     "q",
     "Q/SQ/"},
    {"upper case keys",
     {ENV_HOME},
     "[default]\nAWS_Access_Key_ID: U\naws_secret_access_KEY = S#x ;y\n",
     NULL,
     NULL,
     "U/S#x ;y/"},
    {"unknown profile",
     {ENV_HOME, {"AWS_PROFILE", "nope"}},
     "[default]\n" KEYS("F"),
     NULL,
     NULL,
     "!profile nope is not"},
    {"half in credentials",
     {ENV_HOME},
     "[default]\naws_access_key_id = A\n",
     "[default]\n" KEYS("G"),
     NULL,
     "!no aws_secret_access_key"},
    {"id and secret in two files",
     {ENV_HOME},
     "[default]\naws_secret_access_key = A\n",
     "[default]\naws_access_key_id = A\n",
     NULL,
     "!no aws_access_key_id"},
    {"role",
     {ENV_HOME},
     "[default]\n" KEYS("F"),
     "[default]\nrole_arn = arn:x\nsource_profile = b\n",
     NULL,
     "!source_profile b does not exist"},
    {"sso without a role is no source of keys",
     {ENV_HOME},
     "[default]\n" KEYS("F"),
     "[default]\nsso_session = x\n",
     NULL,
     "F/SF/"},
    {"nothing but half an sso",
     {ENV_HOME},
     NULL,
     "[default]\nsso_session = x\n",
     NULL,
     "!sso_account_id is missing"},
    {"process after credentials",
     {ENV_HOME},
     "[default]\n" KEYS("F"),
     "[default]\ncredential_process = x\n",
     NULL,
     "F/SF/"},
    {"process before config keys",
     {ENV_HOME},
     NULL,
     "[default]\ncredential_process = x\n" KEYS("G"),
     NULL,
     "!credential_process"},
    {"both defaults: the later stands alone",
     {ENV_HOME},
     NULL,
     "[default]\n" KEYS("G") "aws_session_token = T\n[profile default]\n" KEYS("H"),
     NULL,
     "H/SH/"},
    {"unreadable file that nobody named", {ENV_HOME}, "\x01", "[default]\n" KEYS("G"), NULL, "G/SG/"},
    {"unreadable file of a chosen profile",
     {ENV_HOME, {"AWS_PROFILE", "default"}},
     "\x01",
     "[default]\n" KEYS("G"),
     NULL,
     "!can't read /h/.aws/credentials"},
    {"broken file", {ENV_HOME}, "[default]\nthis is no line\n", NULL, NULL, "!/h/.aws/credentials: line 2"},
    {"files named by variables",
     {ENV_HOME, {"AWS_CONFIG_FILE", "~/.aws/credentials"}},
     "[profile x]\n[default]\n" KEYS("F"),
     NULL,
     NULL,
     "F/SF/"},
};

TEST(the_chain_finds_keys_or_says_what_is_wrong) {
  for (size_t i = 0; i < SLP_COUNT(rows); i++) {
    const row *w = &rows[i];
    fake_pair files[3] = {{NULL, NULL}};
    size_t n = 0;
    if (w->credentials) {
      files[n++] = (fake_pair){"/h/.aws/credentials", w->credentials[0] == 1 ? NULL : w->credentials};
    }
    if (w->config) files[n++] = (fake_pair){"/h/.aws/config", w->config};
    open_chain(w->env, files, w->profile);
    slp_sign_keys keys;
    slp_fail fail;
    uint64_t serial = 0;
    slp_wait wait = {.run = on_wait};
    char got[500] = "";
    CHECK_INT(slp_creds_get(creds, slp_wall_ms(&f.h), &keys, &serial, &fail), SLP_CREDS_WAIT);
    woken = 0;
    slp_creds_await(creds, &wait);
    fake_run(&f, 1000);
    CHECK_INT(woken, 1);
    slp_creds_state state = slp_creds_get(creds, slp_wall_ms(&f.h), &keys, &serial, &fail);
    if (state == SLP_CREDS_READY) {
      snprintf(got, sizeof got, "%.*s/%.*s/%.*s", (int)keys.key_id.n, keys.key_id.p, (int)keys.secret.n,
               keys.secret.p, (int)keys.token.n, keys.token.n ? keys.token.p : "");
    } else {
      CHECK_INT(state, SLP_CREDS_FAILED);
      CHECK_INT(fail.class, SLP_AUTH);
      snprintf(got, sizeof got, "!%s", fail.message);
    }
    int ok =
        w->want[0] == '!' ? got[0] == '!' && strstr(got, w->want + 1) != NULL : strcmp(got, w->want) == 0;
    if (!ok) CHECK_FAIL("%s: got \"%s\", not \"%s\"", w->what, got, w->want);
    /* The message says what is wrong and shows no secret. */
    if (got[0] == '!' && (strstr(got, "SF") || strstr(got, "SG")))
      CHECK_FAIL("%s: secret in \"%s\"", w->what, got);
    close_chain();
  }
}

/* ---- renewal ------------------------------------------------------------------------------------------- */
static int asked, quiet;
static int64_t life_ms, says_ms; /* says_ms: told as the time they expire at; 0: by life_ms */
static int64_t offset_ms;        /* how far ahead the service's clock is thought to be */
static char why[320];            /* it failed */
static slp_provider *user;
static int fail_next;

static void ask(void *arg) {
  (void)arg;
  asked++;
  if (quiet) return;
  char id[20];
  snprintf(id, sizeof id, "K%d", asked);
  int64_t at_ms = says_ms ? says_ms : life_ms < 0 ? SLP_KEYS_NEVER : slp_wall_ms(&f.h) + life_ms;
  slp_aws_keys keys = {slp_str_of(id), SLP_STR("s"), {NULL, 0}, at_ms};
  slp_provider_user_done(user, fail_next ? -1 : 0, &keys, "not now");
}

static void open_user(int64_t life) {
  mem = slp_mem_new(NULL, NULL);
  fake_init(&f, mem);
  creds = slp_creds_new(&f.h);
  user = slp_provider_user(&f.h, ask, NULL);
  CHECK_INT(slp_creds_add(creds, user), 0);
  asked = quiet = fail_next = 0;
  life_ms = life;
  says_ms = offset_ms = 0;
}

static void close_user(void) {
  slp_creds_free(creds);
  fake_end(&f, mem);
}

/* The key id in force, "wait" or "fail". */
static const char *look(void) {
  static char id[20];
  slp_sign_keys keys;
  slp_fail fail;
  uint64_t serial;
  switch (slp_creds_get(creds, slp_wall_ms(&f.h) + offset_ms, &keys, &serial, &fail)) {
    case SLP_CREDS_READY: snprintf(id, sizeof id, "%.*s", (int)keys.key_id.n, keys.key_id.p); return id;
    case SLP_CREDS_WAIT: return "wait";
    case SLP_CREDS_FAILED: snprintf(why, sizeof why, "%s", fail.message); return "fail";
  }
  return "?";
}

static void pass_minutes(uint64_t minutes) { f.mono_us += minutes * 60000000; }

TEST(keys_are_renewed_15_minutes_before_they_expire_while_the_old_ones_serve) {
  open_user(3600000);
  CHECK_STR(look(), "wait");
  fake_run(&f, 1000);
  CHECK_STR(look(), "K1");
  pass_minutes(44);
  CHECK_STR(look(), "K1");
  fake_run(&f, 1000);
  CHECK_INT(asked, 1);
  pass_minutes(2);
  CHECK_STR(look(), "K1"); /* served, and asked in the background */
  fake_run(&f, 1000);
  CHECK_INT(asked, 2);
  CHECK_STR(look(), "K2");
  close_user();
}

TEST(from_10_minutes_before_calls_wait_and_a_failure_keeps_the_old_keys_until_they_die) {
  open_user(3600000);
  look();
  fake_run(&f, 1000);
  pass_minutes(51);
  fail_next = 1;
  CHECK_STR(look(), "wait");
  fake_run(&f, 1000);
  CHECK_STR(look(), "K1");
  fake_run(&f, 1000);
  CHECK_INT(asked, 2); /* not again at once */
  pass_minutes(10);
  CHECK_STR(look(), "wait"); /* dead now */
  fake_run(&f, 1000);
  CHECK_STR(look(), "fail");
  fail_next = 0;
  pass_minutes(2);
  CHECK_STR(look(), "wait");
  fake_run(&f, 1000);
  CHECK_STR(look(), "K4");
  close_user();
}

TEST(short_lived_keys_are_used_for_half_of_their_life) {
  open_user(300000);
  look();
  fake_run(&f, 1000);
  for (int i = 0; i < 2; i++) {
    CHECK_STR(look(), "K1");
    fake_run(&f, 1000);
    pass_minutes(1);
  }
  CHECK_INT(asked, 1);
  pass_minutes(1);
  look();
  fake_run(&f, 1000);
  CHECK_INT(asked, 2);
  close_user();
}

TEST(keys_that_expire_at_once_do_not_spin) {
  open_user(1);
  slp_wait wait = {.run = on_wait};
  woken = 0;
  for (int i = 0; i < 100; i++) {
    if (strcmp(look(), "wait") == 0) slp_creds_await(creds, &wait);
    fake_run(&f, 10000); /* 1 s in all */
    f.mono_us += 10000;
  }
  CHECK(asked <= 3);
  slp_wait_cancel(&wait);
  close_user();
}

TEST(refused_keys_are_fetched_once_for_all_who_used_them) {
  open_user(-1);
  look();
  fake_run(&f, 1000);
  CHECK_INT(slp_creds_refused(creds, 1), 1);
  CHECK_INT(slp_creds_refused(creds, 1), 1); /* the same attempt */
  CHECK_STR(look(), "wait");
  fake_run(&f, 1000);
  CHECK_INT(asked, 2);
  CHECK_INT(slp_creds_refused(creds, 1), 1); /* newer ones are there */
  CHECK_STR(look(), "K2");
  CHECK_INT(asked, 2);
  CHECK_INT(slp_creds_refused(creds, 2), 0); /* fetched a moment ago */
  pass_minutes(1);
  CHECK_INT(slp_creds_refused(creds, 2), 1);
  fake_run(&f, 1000);
  CHECK_STR(look(), "K3");
  close_user();
}

TEST(a_lost_answer_is_not_asked_for_twice_but_taken_when_it_comes) {
  open_user(-1);
  quiet = 1;
  look();
  fake_run(&f, 61000000);
  CHECK_STR(look(), "fail");
  pass_minutes(1);
  CHECK_STR(look(), "wait");
  fake_run(&f, 1000);
  CHECK_INT(asked, 1);
  slp_aws_keys keys = {SLP_STR("LATE"), SLP_STR("s"), {NULL, 0}, SLP_KEYS_NEVER};
  slp_provider_user_done(user, 0, &keys, NULL);
  fake_run(&f, 1000);
  CHECK_STR(look(), "LATE");
  close_user();
}

TEST(no_time_is_never_but_never_and_one_before_1970_has_passed) {
  static const int64_t past[] = {INT64_MIN, INT64_MIN + 1, -1000000000000, -2, -1, 1};
  for (size_t i = 0; i < SLP_COUNT(past); i++) {
    open_user(0);
    says_ms = past[i];
    look();
    fake_run(&f, 1000);
    CHECK_STR(look(), "fail");
    if (!strstr(why, "the credentials of the creds callback have expired already, 176732"))
      CHECK_FAIL("%s", why);
    close_user();
  }
  static const int64_t later[] = {INT64_MAX, INT64_MAX - 1, SLP_KEYS_NEVER, SLP_KEYS_NEVER - 1};
  for (size_t i = 0; i < SLP_COUNT(later); i++) {
    open_user(0);
    says_ms = later[i];
    look();
    fake_run(&f, 1000);
    pass_minutes(1000000);
    CHECK_STR(look(), "K1");
    fake_run(&f, 1000);
    CHECK_INT(asked, 1);
    close_user();
  }
}

/* Which of the two clocks is wrong the service alone can say, so a call must go out. */
TEST(keys_that_live_by_the_machine_s_clock_are_used_whatever_the_service_s_is_thought_to_be) {
  open_user(6 * 3600000);
  look();
  fake_run(&f, 1000);
  CHECK_STR(look(), "K1");
  offset_ms = INT64_C(73) * 365 * 86400 * 1000;
  CHECK_STR(look(), "wait");
  fake_run(&f, 1000);
  for (int i = 0; i < 50; i++) { /* 5 s in all */
    const char *id = look();
    CHECK(id[0] == 'K' || strcmp(id, "wait") == 0);
    fake_run(&f, 1000);
    f.mono_us += 100000;
  }
  CHECK(asked <= 7); /* about once a second */
  fail_next = 1;
  f.mono_us += 1000000;
  look();
  fake_run(&f, 1000);
  CHECK(look()[0] == 'K');
  fail_next = 0;
  f.mono_us += 60000000;
  look();
  fake_run(&f, 1000);
  int before = asked;
  offset_ms = 0; /* and they are renewed when it is time */
  CHECK(look()[0] == 'K');
  pass_minutes(340);
  CHECK(look()[0] == 'K');
  fake_run(&f, 1000);
  CHECK_INT(asked, before);
  pass_minutes(7);
  CHECK(look()[0] == 'K');
  fake_run(&f, 1000);
  CHECK_INT(asked, before + 1);
  pass_minutes(500);
  fail_next = 1;
  CHECK_STR(look(), "wait"); /* dead by either clock */
  fake_run(&f, 1000);
  CHECK_STR(look(), "fail");
  close_user();
}

TEST(a_machine_whose_clock_is_years_behind_renews_keys_by_the_service_s) {
  const int64_t years = INT64_C(16) * 365 * 86400 * 1000;
  open_user(years + 3600000);
  offset_ms = years;
  look();
  fake_run(&f, 1000);
  pass_minutes(44);
  CHECK_STR(look(), "K1");
  fake_run(&f, 1000);
  CHECK_INT(asked, 1);
  pass_minutes(2);
  CHECK_STR(look(), "K1");
  fake_run(&f, 1000);
  CHECK_STR(look(), "K2");
  close_user();
}
