/* provider.c - keys in JSON, buffers for secrets, and the two providers that need nobody: environment and
 * callback (creds.c has their rules in the chain). */
#include "aws/provider.h"

#include "aws_fake_host.h"

static char got[500];

static void on_answer(slp_provider *p, const slp_keys_answer *a) {
  (void)p;
  if (a->outcome == SLP_KEYS_FOUND) {
    const slp_aws_keys *k = a->keys;
    snprintf(got, sizeof got, "%.*s/%.*s/%.*s@%lld", (int)k->key_id.n, k->key_id.p, (int)k->secret.n,
             k->secret.p, (int)k->token.n, k->token.n ? k->token.p : "",
             k->expires_at_ms == SLP_KEYS_NEVER ? -1 : (long long)k->expires_at_ms);
  } else {
    snprintf(got, sizeof got, "%d %s", (int)a->outcome, a->why ? a->why : "");
  }
}

static const char *read_json(const char *text, const char *token_name, int must_expire) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_provider p = {.answered = on_answer};
  slp_keys_json form = {.token_name = token_name, .must_expire = must_expire != 0};
  slp_buf body;
  slp_buf_init(&body, mem, 1000);
  slp_buf_add_z(&body, text);
  slp_keys_from_json(&p, &body, &form, "it");
  slp_secret_free(&body);
  slp_mem_drop(mem);
  return got;
}

TEST(keys_in_json) {
#define AB "\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"B\""
  CHECK_STR(read_json("{" AB ",\"Token\":\"C\",\"Expiration\":\"2026-01-02T03:04:05Z\"}", "Token", 1),
            "A/B/C@1767323045000");
  CHECK_STR(read_json("{" AB "}", "SessionToken", 0), "A/B/@-1");
  CHECK_STR(read_json("{" AB ",\"Token\":\"C\"}", "SessionToken", 0), "A/B/@-1");
  CHECK_STR(read_json("{\"Code\":\"Success\"," AB "}", "SessionToken", 0), "A/B/@-1");
  CHECK_STR(read_json("{" AB "}", "Token", 1), "2 it lacks Token");
  CHECK_STR(read_json("{\"SecretAccessKey\":\"B\"}", "Token", 0), "2 it lacks AccessKeyId");
  CHECK_STR(read_json("{\"Code\":\"Failed\",\"Message\":\"m\"}", "Token", 1), "2 it is an error: Failed m");
  CHECK_STR(read_json("", "Token", 1), "2 it is empty");
}

TEST(secrets_have_their_room_at_once_and_are_wiped) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_buf b;
  slp_buf_init(&b, mem, 100);
  CHECK_INT(slp_secret_room(&b), 0);
  const char *at = b.p;
  for (int i = 0; i < 100; i++) CHECK_INT(slp_buf_add_char(&b, 'x'), 0);
  CHECK(b.p == at); /* never moved */
  slp_secret_clear(&b);
  CHECK_INT(b.n, 0);
  for (int i = 0; i < 100; i++) CHECK_INT(at[i], 0);
  slp_secret_free(&b);
  CHECK(!b.p);
  slp_secret_free(&b); /* nothing to wipe is fine */
  slp_mem_drop(mem);
}

TEST(the_environment) {
  static const fake_pair keys[] = {{"AWS_ACCESS_KEY_ID", "A"},
                                   {"AWS_SECRET_ACCESS_KEY", "B"},
                                   {"AWS_CREDENTIAL_EXPIRATION", "2026-01-02T03:04:05Z"},
                                   {NULL, NULL}};
  fake_host f;
  slp_mem *mem = slp_mem_new(NULL, NULL);
  fake_init(&f, mem);
  f.env = keys;
  slp_provider *p = slp_provider_env(&f.h, fake_getenv, &f);
  p->answered = on_answer;
  p->begin(p, 0);
  CHECK_STR(got, "A/B/@1767323045000");
  f.env = NULL;
  p->begin(p, 0);
  CHECK_STR(got, "1 ");
  p->free(p);
  fake_end(&f, mem);
}

static int asked;
static void ask(void *arg) {
  (void)arg;
  asked++;
}

TEST(the_callback_answers_once_and_maybe_later) {
  fake_host f;
  slp_mem *mem = slp_mem_new(NULL, NULL);
  fake_init(&f, mem);
  slp_provider *p = slp_provider_user(&f.h, ask, NULL);
  p->answered = on_answer;
  got[0] = 0;
  p->begin(p, 0);
  p->begin(p, 0); /* it was asked and has not answered */
  CHECK_INT(asked, 1);
  slp_aws_keys keys = {SLP_STR("A"), SLP_STR("B"), {NULL, 0}, SLP_KEYS_NEVER, 0};
  slp_provider_user_done(p, 0, &keys, NULL);
  CHECK_STR(got, "A/B/@-1");
  got[0] = 0;
  slp_provider_user_done(p, 0, &keys, NULL); /* nobody asked */
  CHECK_STR(got, "");
  p->begin(p, 0);
  slp_provider_user_done(p, -1, NULL, NULL);
  CHECK_STR(got, "2 the creds callback gave none: it did not say why");
  p->begin(p, 0);
  slp_provider_user_done(p, SLP_ENOMEM, NULL, "no memory to ask for credentials");
  CHECK_STR(got, "3 "); /* nothing is wrong with the keys */
  p->free(p);
  fake_end(&f, mem);
}
