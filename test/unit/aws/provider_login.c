/* provider_login.c - the cache of `aws login`, its renewal, and every way to fail. The cache is in a folder of its own,
 * where it is locked and written; what is read comes from the fake host. */
#include "aws_sources.h"
#include "host/own_file.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* printf arn:aws:iam::1:user/u | sha256sum */
#define NAME "67fcf3f2fd37910c1381354667b2fb8dd4682d8b3c07f8b0cc637999d065e74d.json"
#define CONFIG "[profile a]\nlogin_session = arn:aws:iam::1:user/u\n"
/* Made with openssl 3.0: ecparam -name prime256v1 -genkey */
#define PEM                                                             \
  "-----BEGIN EC PRIVATE KEY-----\\n"                                   \
  "MHcCAQEEILus5TAHbFiV3bpEaKDPC7FhBvLV/TYMmRHcwy/8QsezoAoGCCqGSM49\\n" \
  "AwEHoUQDQgAEcXv2j3POt8zAOMInSVYwxP7KrJEeKxjo8QxwIJ0L62CRdLDXMC/C\\n" \
  "U4PQ2JS0G7R2FxOcSjvo9tcHeFGuL5OkaQ==\\n"                             \
  "-----END EC PRIVATE KEY-----\\n"
#define KEYS(left)                                                                                 \
  "\"accessToken\":{\"accessKeyId\":\"A\",\"secretAccessKey\":\"BSESAME\",\"sessionToken\":\"C\"," \
  "\"accountId\":"                                                                                 \
  "\"123456789012\",\"expiresAt\":\"" left "\"}"
#define TO_RENEW \
  "\"clientId\":\"i\",\"refreshToken\":\"RSESAME\",\"dpopKey\":\"" PEM "\",\"signInRegion\":\"us-west-2\""
#define CACHE(left) "{" KEYS(left) "," TO_RENEW "}"
#define LATER "2026-01-02T03:09:06Z"  /* 5 minutes and a second are left */
#define ALMOST "2026-01-02T03:09:05Z" /* 5 minutes are left */
#define PAST "2026-01-02T03:00:00Z"
#define RENEWED                                                                                         \
  "{\"accessToken\":{\"accessKeyId\":\"A2\",\"secretAccessKey\":\"B2SESAME\",\"sessionToken\":\"C2\"}," \
  "\"expiresIn\""                                                                                       \
  ":900,\"refreshToken\":\"R2SESAME\",\"tokenType\":\"aws_sigv4\"}"

static char folder[20], path[120];

static void begin(void) {
  snprintf(folder, sizeof folder, "/tmp/login-XXXXXX");
  CHECK(mkdtemp(folder) != NULL);
  snprintf(path, sizeof path, "%s/" NAME, folder);
}

/* The real file, which is written; "" when there is none. */
static const char *written(void) {
  static char text[4000];
  FILE *file = fopen(path, "r");
  text[0] = 0;
  if (!file) return text;
  text[fread(text, 1, sizeof text - 1, file)] = 0;
  fclose(file);
  return text;
}

static void end(void) {
  unlink(path);
  CHECK_INT(rmdir(folder), 0); /* no lock and no half of a file stays */
}

static const char *ask(const char *config, const char *cache, void (*script)(void)) {
  static fake_pair env[6], files[4];
  env[0] = (fake_pair){"HOME", "/h"};
  env[1] = (fake_pair){"AWS_PROFILE", "a"};
  env[2] = (fake_pair){"AWS_LOGIN_CACHE_DIRECTORY", folder};
  env[3] = (fake_pair){"AWS_REGION", "eu-west-1"};
  env[4] = (fake_pair){"AWS_EC2_METADATA_DISABLED", "true"};
  files[0] = (fake_pair){"/h/.aws/config", config};
  files[1] = (fake_pair){cache ? path : "/none", cache};
  sources_open(env, files, NULL);
  if (script) script();
  const char *got = sources_ask();
  if (got[0] == '!' || got[0] == '~') CHECK(!strstr(got, "SESAME"));
  return got;
}

static void with(const char *cache, void (*script)(void), const char *want) {
  begin();
  const char *got = ask(CONFIG, cache, script);
  int fails = want[0] == '!' || want[0] == '~';
  if (fails ? got[0] != want[0] || !strstr(got, want + 1) : strcmp(got, want) != 0)
    CHECK_FAIL("got \"%s\", not \"%s\"", got, want);
  sources_close();
  end();
}

TEST(keys_that_live_are_used_and_nothing_is_asked) {
  begin();
  CHECK_STR(ask(CONFIG, CACHE(LATER), NULL), "A/BSESAME/C");
  CHECK_STR(sources_account(), "123456789012");
  CHECK_INT(f.sent_n, 0);
  CHECK_STR(written(), "");
  sources_close();
  end();
  with("{" KEYS(LATER) "}", NULL, "A/BSESAME/C"); /* what only a renewal needs may be missing */
}

static void good(void) { fake_script(&f, 200, RENEWED); }

TEST(old_keys_are_renewed_and_the_cache_is_written_anew) {
  begin();
  CHECK_STR(ask(CONFIG, CACHE(ALMOST), good), "A2/B2SESAME/C2");
  CHECK_STR(f.sent[0].url, "https://us-west-2.signin.aws.amazon.com/v1/token");
  CHECK_STR(f.sent[0].method, "POST");
  CHECK_STR(f.sent[0].type, "application/json");
  CHECK_STR(f.sent[0].authorization, "");
  CHECK_STR(f.sent[0].body,
            "{\"clientId\":\"i\",\"grantType\":\"refresh_token\",\"refreshToken\":\"RSESAME\"}");
  CHECK(strlen(f.sent[0].proof) > 300);
  CHECK(strstr(written(), "\"refreshToken\":\"R2SESAME\"") &&
        strstr(written(), "\"dpopKey\":\"-----BEGIN EC"));
  CHECK(strstr(written(), "\"accountId\":\"123456789012\",\"expiresAt\":\"2026-01-02T03:19:05Z\"") != NULL);
  CHECK_STR(sources_account(), "123456789012");
  sources_close();
  end();
}

static void refused(const char *error) {
  static char body[100];
  snprintf(body, sizeof body, "{\"error\":\"%s\",\"message\":\"RSESAME\"}", error);
  fake_script(&f, 400, body)->error_type = "AccessDeniedException:http://internal/";
}
static void expired(void) { refused("TOKEN_EXPIRED"); }
static void changed(void) { refused("USER_CREDENTIALS_CHANGED"); }
static void no_right(void) { refused("INSUFFICIENT_PERMISSIONS"); }
static void unknown(void) { refused("SOMETHING"); }
static void throttled(void) {
  for (int i = 0; i < 3; i++) fake_script(&f, 429, "{\"error\":\"rate_exceeded\",\"message\":\"slower\"}");
}
static void silent(void) {
  for (int i = 0; i < 3; i++) fake_script(&f, 0, "")->error = SLP_ETIMEDOUT;
}
static void garbage(void) { fake_script(&f, 200, "<html>SESAME"); }
static void half(void) { fake_script(&f, 200, "{\"accessToken\":{\"accessKeyId\":\"A\"}}"); }

#define RUN ": run aws login --profile a"

TEST(failures_name_the_reason_and_the_line_that_works) {
  with(NULL, NULL, "!nobody is signed in" RUN);
  with("{}", NULL, "!it lacks accessKeyId" RUN);
  with("SESAME", NULL, "!" NAME);
  with(CACHE(PAST), expired, "!profile a (/h/.aws/config): the session has expired" RUN);
  with(CACHE(PAST), changed, "!the session ended when the user's password was changed" RUN);
  with(CACHE(PAST), no_right, "!no right to renew the session (signin:CreateOAuth2Token)" RUN);
  with(CACHE(PAST), unknown, "!it could not be renewed: status 400: AccessDeniedException");
  with(CACHE(PAST), throttled, "~the session has expired and can't be renewed just now: status 429");
  with(CACHE(PAST), silent, "~can't be renewed just now: fake failure");
  with(CACHE(PAST), garbage, "!the answer to its renewal makes no sense");
  with(CACHE(PAST), half, "!the answer to its renewal lacks secretAccessKey" RUN);
  with("{" KEYS(PAST) "}", NULL, "!it has expired, and its cache lacks clientId" RUN);
  with("{" KEYS(PAST) ",\"clientId\":\"i\",\"refreshToken\":\"r\",\"dpopKey\":\"k\"}", NULL,
       "!no key of P-256");
}

/* A renewal that fails costs nothing while the old keys live. */
TEST(keys_serve_until_their_end) {
  with(CACHE(ALMOST), expired, "A/BSESAME/C");
  with(CACHE(ALMOST), throttled, "A/BSESAME/C");
  with(CACHE(ALMOST), garbage, "A/BSESAME/C");
}

TEST(without_a_folder_to_write_nothing_is_asked) {
  begin();
  CHECK_INT(rmdir(folder), 0); /* the fake host reads the file all the same */
  const char *got = ask(CONFIG, CACHE(PAST), NULL);
  if (!strstr(got, "its cache can't be written (no such file or directory)" RUN) &&
      !strstr(got, "its cache can't be written (No such file or directory)" RUN))
    CHECK_FAIL("%s", got);
  CHECK_INT(f.sent_n, 0);
  sources_close();
}

/* The cache can't be written, and its renewed content is larger than 64 KiB: the next renewal goes on from it. */
TEST(a_large_cache_that_could_not_be_written_is_gone_on_from) {
  static char cache[65536];
  static const char tail[] = "\"}";
  const struct rlimit small = {1000, RLIM_INFINITY};
  size_t n = (size_t)snprintf(cache, sizeof cache, "{" KEYS(PAST) "," TO_RENEW ",\"idToken\":\"");
  memset(cache + n, 'x', sizeof cache - 3 - n);
  memcpy(cache + sizeof cache - 1 - sizeof tail, tail, sizeof tail);
  begin();
  signal(SIGXFSZ, SIG_IGN);
  CHECK_INT(setrlimit(RLIMIT_FSIZE, &small), 0);
  static const fake_pair env[] = {
      {"HOME", "/h"}, {"AWS_PROFILE", "a"}, {"AWS_LOGIN_CACHE_DIRECTORY", folder}, {NULL, NULL}};
  const fake_pair files[] = {{"/h/.aws/config", CONFIG}, {path, cache}, {NULL, NULL}};
  sources_open(env, files, NULL);
  good();
  good();
  CHECK_STR(sources_ask_for(1000000), "A2/B2SESAME/C2");
  f.mono_us += UINT64_C(1000000000);
  sources_look();
  fake_run(&f, UINT64_C(1000000));
  CHECK_STR(sources_look(), "A2/B2SESAME/C2");
  CHECK_INT(f.sent_n, 2);
  CHECK(strstr(f.sent[1].body, "\"refreshToken\":\"R2SESAME\""));
  CHECK_STR(written(), "");
  sources_close();
  end();
}

TEST(a_process_that_renews_is_waited_for) {
  slp_own_file *other = NULL;
  begin();
  slp_mem *m = slp_mem_new(NULL, NULL);
  CHECK_INT(slp_own_file_open(m, path, &other), 0);
  const fake_pair env[] = {
      {"HOME", "/h"}, {"AWS_PROFILE", "a"}, {"AWS_LOGIN_CACHE_DIRECTORY", folder}, {NULL, NULL}};
  const fake_pair old[] = {{"/h/.aws/config", CONFIG}, {path, CACHE(PAST)}, {NULL, NULL}};
  const fake_pair anew[] = {{"/h/.aws/config", CONFIG}, {path, CACHE(LATER)}, {NULL, NULL}};
  sources_open(env, old, NULL);
  CHECK_STR(sources_ask_for(1000000), "wait");
  f.files = anew;
  fake_run(&f, 1000000);
  CHECK_STR(sources_look(), "A/BSESAME/C");
  CHECK_INT(f.sent_n, 0);
  sources_close();
  slp_own_file_close(other);
  slp_mem_drop(m);
  end();
}

TEST(a_process_that_keeps_the_lock_is_told) {
  slp_own_file *other = NULL;
  begin();
  slp_mem *m = slp_mem_new(NULL, NULL);
  CHECK_INT(slp_own_file_open(m, path, &other), 0);
  const char *got = ask(CONFIG, CACHE(PAST), NULL);
  if (!strstr(got, "another process has its cache and does not renew it" RUN)) CHECK_FAIL("%s", got);
  sources_close();
  slp_own_file_close(other);
  slp_mem_drop(m);
  end();
}

TEST(it_is_left_in_every_state) {
  for (uint64_t us = 0; us < 40; us++) { /* each turn takes one */
    begin();
    const fake_pair env[] = {
        {"HOME", "/h"}, {"AWS_PROFILE", "a"}, {"AWS_LOGIN_CACHE_DIRECTORY", folder}, {NULL, NULL}};
    const fake_pair files[] = {{"/h/.aws/config", CONFIG}, {path, CACHE(PAST)}, {NULL, NULL}};
    sources_open(env, files, NULL);
    good();
    sources_look();
    for (uint64_t turn = 0; turn < us; turn++) slp_host_turn(&f.h);
    slp_aws_drop(aws);
    fake_end(&f, mem);
    CHECK(!written()[0] || strstr(written(), "R2SESAME"));
    end();
  }
}

TEST(what_was_secret_is_wiped_before_its_memory_is_given_back) {
  begin();
  const fake_pair env[] = {
      {"HOME", "/h"}, {"AWS_PROFILE", "a"}, {"AWS_LOGIN_CACHE_DIRECTORY", folder}, {NULL, NULL}};
  const fake_pair files[] = {{"/h/.aws/config", CONFIG}, {path, CACHE(PAST)}, {NULL, NULL}};
  sources_wiped(env, files, good);
  end();
}

TEST(every_failing_allocation_ends_the_attempt) {
  begin();
  const fake_pair env[] = {
      {"HOME", "/h"}, {"AWS_PROFILE", "a"}, {"AWS_LOGIN_CACHE_DIRECTORY", folder}, {NULL, NULL}};
  const fake_pair files[] = {{"/h/.aws/config", CONFIG}, {path, CACHE(PAST)}, {NULL, NULL}};
  sources_oom(env, files, good);
  end();
}
