/* aws_sources.h - the whole chain of credential sources over the fake host: what is set and answered, what
 * comes out. */
#ifndef SLP_TEST_AWS_SOURCES_H
#define SLP_TEST_AWS_SOURCES_H

#include "aws/aws_impl.h"
#include "sloop.h"

#include "aws_fake_host.h"
#include "scarce.h"

static fake_host f;
static slp_mem *mem;
static slp_aws *aws;

static inline void sources_open(const fake_pair *env, const fake_pair *files, const char *profile) {
  char why[160];
  mem = slp_mem_new(NULL, NULL);
  fake_init(&f, mem);
  f.env = env;
  f.files = files;
  slp_aws_options o = {.profile = profile, .getenv_fn = fake_getenv, .getenv_ctx = &f};
  CHECK_INT(slp_aws_new(&aws, &f.h, &o, why), 0);
}

static inline void sources_close(void) {
  slp_aws_drop(aws);
  CHECK_INT(f.answered_n, f.answers_n); /* the whole script was played */
  fake_end(&f, mem);
}

/* "id/secret/token" in force, "!message" when there are none, "~message" when they can't be had just now, "wait" while they are on their way. */
static inline const char *sources_look(void) {
  static char got[700];
  slp_sign_keys keys;
  slp_fail fail;
  uint64_t serial;
  switch (slp_creds_get(aws->creds, slp_aws_now_ms(aws), &keys, &serial, &fail)) {
    case SLP_CREDS_WAIT: return "wait";
    case SLP_CREDS_FAILED:
      if (fail.class != SLP_NOMEM) CHECK_INT(fail.code, SLOOP_EAUTH);
      snprintf(got, sizeof got, "%c%s", fail.class == SLP_TRANSIENT ? '~' : '!', fail.message);
      return got;
    case SLP_CREDS_READY: break;
  }
  snprintf(got, sizeof got, "%.*s/%.*s/%.*s", (int)keys.key_id.n, keys.key_id.p, (int)keys.secret.n,
           keys.secret.p, (int)keys.token.n, keys.token.n ? keys.token.p : "");
  return got;
}

/* Whose the keys in force are; "": not known. */
static inline const char *sources_account(void) {
  static char got[70];
  slp_sign_keys keys;
  slp_fail fail;
  uint64_t serial;
  CHECK_INT(slp_creds_get(aws->creds, slp_aws_now_ms(aws), &keys, &serial, &fail), SLP_CREDS_READY);
  snprintf(got, sizeof got, "%.*s", (int)keys.account.n, keys.account.n ? keys.account.p : "");
  return got;
}

/* Asks, and lets at most so much time pass. */
static inline const char *sources_ask_for(uint64_t us) {
  CHECK_STR(sources_look(), "wait");
  fake_run(&f, us);
  return sources_look();
}
static inline const char *sources_ask(void) { return sources_ask_for(400000000); }

static inline void sources_expect(const char *want) {
  const char *got = sources_ask();
  int fails = want[0] == '!' || want[0] == '~';
  int same = fails ? got[0] == want[0] && strstr(got, want + 1) != NULL : strcmp(got, want) == 0;
  if (!same) CHECK_FAIL("got \"%s\", not \"%s\"", got, want);
}

/* Runs a chain from opening to closing; answers are scripted by `script` (may be NULL). */
static inline void sources_once(const fake_pair *env, const fake_pair *files, void (*script)(void),
                                const char *want) {
  sources_open(env, files, NULL);
  if (script) script();
  sources_expect(want);
  sources_close();
}

/* ---- memory -------------------------------------------------------------------------------------------- */
/* Makes an attempt with the n-th allocation and all after it failing. 1: there were keys at its end. */
static inline int sources_story(const fake_pair *env, const fake_pair *files, void (*script)(void), long n) {
  char why[160];
  int fine = 0;
  scarce memory = {.left = n};
  mem = slp_mem_new(scarce_alloc, &memory);
  if (!mem) return 0;
  fake_init(&f, mem);
  f.env = env;
  f.files = files;
  script();
  slp_aws_options o = {.getenv_fn = fake_getenv, .getenv_ctx = &f};
  if (slp_aws_new(&aws, &f.h, &o, why) == 0) {
    slp_sign_keys keys;
    slp_fail fail = {.class = SLP_FINE};
    uint64_t serial;
    slp_creds_state state = SLP_CREDS_WAIT;
    for (int turns = 0; turns < 300 && state == SLP_CREDS_WAIT; turns++) { /* even if no timer could be set */
      state = slp_creds_get(aws->creds, slp_wall_ms(&f.h), &keys, &serial, &fail);
      f.mono_us += 300000;
      slp_host_turn(&f.h);
    }
    fine = state == SLP_CREDS_READY;
    if (!fine && fail.class != SLP_NOMEM)
      CHECK_FAIL("%ld: %d %s: %s", n, (int)state, slp_class_name(fail.class), fail.message);
    slp_aws_drop(aws);
  }
  fake_end(&f, mem);
  return fine;
}

static inline void sources_oom(const fake_pair *env, const fake_pair *files, void (*script)(void)) {
  long n = 0;
  while (!sources_story(env, files, script, n)) CHECK(++n < 1000);
  CHECK(n > 20);
}

/* ---- wiping -------------------------------------------------------------------------------------------- */
/* Every block moves when it grows, and none is given back with a secret in it. */
static inline void *sources_searching(void *ctx, void *p, size_t was, size_t want) {
  void *moved = want ? calloc(1, want) : NULL; /* all of it is looked at */
  (void)ctx;
  if (moved && p) memcpy(moved, p, was < want ? was : want);
  if (p && memmem(p, was, "SESAME", 6)) CHECK_FAIL("a block of %zu bytes was freed with a secret in it", was);
  free(p);
  return moved;
}

/* Makes an attempt; memory that contains SESAME is secret. */
static inline void sources_wiped(const fake_pair *env, const fake_pair *files, void (*script)(void)) {
  char why[160];
  mem = slp_mem_new(sources_searching, NULL);
  fake_init(&f, mem);
  f.env = env;
  f.files = files;
  slp_aws_options o = {.getenv_fn = fake_getenv, .getenv_ctx = &f};
  CHECK_INT(slp_aws_new(&aws, &f.h, &o, why), 0);
  script();
  const char *got = sources_ask();
  if (strchr("!~", got[0]) || !strstr(got, "SESAME")) CHECK_FAIL("no keys: %s", got);
  sources_close();
}
#define SESAMES_10 "SESAMESESAMESESAMESESAMESESAMESESAMESESAMESESAMESESAMESESAME"
#define SESAMES_100                                                                                  \
  SESAMES_10 SESAMES_10 SESAMES_10 SESAMES_10 SESAMES_10 SESAMES_10 SESAMES_10 SESAMES_10 SESAMES_10 \
      SESAMES_10

#define STS_XML(action, tag, expires)                                                                 \
  "<" action "Response xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><" action                  \
  "Result>"                                                                                           \
  "<Credentials><AccessKeyId>ASIA" tag "</AccessKeyId><SecretAccessKey>s+" tag                        \
  "/=</SecretAccessKey><SessionToken>t&#43;" tag "</SessionToken><Expiration>" expires                \
  "</Expiration></Credentials><AssumedRoleUser><Arn>arn:aws:sts::222222222222:assumed-role/r/s</Arn>" \
  "</AssumedRoleUser></" action "Result></" action "Response>"
#define SOON "2026-01-02T04:04:05Z" /* an hour after FAKE_WALL_MS */

#endif
