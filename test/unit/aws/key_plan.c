/* key_plan.c - the order within a profile; test/contract/vectors compares random files with botocore. */
#include "aws/key_plan.h"

#include "aws_fake_host.h"

static fake_host f;
static slp_mem *mem;
static slp_profiles profiles;
static slp_key_plan plan;

static void on_wait(slp_wait *wait) { (void)wait; }

static int make(const char *credentials, const char *config) {
  static const fake_pair env[] = {{"HOME", "/h"}, {NULL, NULL}};
  const fake_pair files[] = {{"/h/.aws/credentials", credentials}, {"/h/.aws/config", config}, {NULL, NULL}};
  slp_wait wait = {.run = on_wait};
  mem = slp_mem_new(NULL, NULL);
  fake_init(&f, mem);
  f.env = env;
  f.files = files;
  slp_profiles_init(&profiles, &f.h, fake_getenv, &f, "a");
  slp_profiles_load(&profiles, &wait);
  fake_run(&f, 1000);
  CHECK_STR(profiles.why, "");
  return slp_key_plan_make(&plan, &profiles);
}

static void end(void) {
  slp_profiles_close(&profiles);
  fake_end(&f, mem);
}

#define KEYS "aws_access_key_id = K\naws_secret_access_key = S\n"

TEST(of_all_that_one_profile_may_name_the_first_counts) {
  static const struct {
    const char *credentials, *config;
    slp_base_kind want;
  } rows[] = {
      {"[a]\n" KEYS, "[profile a]\nweb_identity_token_file = /t\nrole_arn = r\nsource_profile = a\n",
       SLP_BASE_WEB},
      {"[a]\n" KEYS,
       "[profile a]\nsso_account_id = 1\nsso_role_name = r\nsso_region = x\nsso_start_url = u\n",
       SLP_BASE_SSO},
      {"[a]\n" KEYS, "[profile a]\ncredential_process = x\n" KEYS, SLP_BASE_CREDENTIALS},
      {"", "[profile a]\ncredential_process = x\n" KEYS, SLP_BASE_PROCESS},
      {"", "[profile a]\nsso_session = s\n" KEYS, SLP_BASE_CONFIG},
  };
  for (size_t i = 0; i < SLP_COUNT(rows); i++) {
    CHECK_INT(make(rows[i].credentials, rows[i].config), 0);
    CHECK_INT(plan.base, rows[i].want);
    CHECK_INT(plan.roles_n, 0);
    CHECK(plan.from == &profiles.profile);
    end();
  }
}

TEST(roles_are_listed_from_the_last_to_the_first) {
  CHECK_INT(make("[c]\n" KEYS,
                 "[profile a]\nrole_arn = ra\nsource_profile = b\n"
                 "[profile b]\nrole_arn = rb\nsource_profile = c\n"),
            0);
  CHECK_INT(plan.roles_n, 2);
  CHECK_STR(plan.roles[0]->name, "a");
  CHECK_STR(plan.roles[1]->name, "b");
  CHECK_STR(plan.from->name, "c");
  CHECK_INT(plan.base, SLP_BASE_CREDENTIALS);
  end();
}

TEST(nothing_and_nonsense) {
  CHECK_INT(make("", "[profile a]\nregion = x\n"), SLP_ENOENT);
  end();
  CHECK_INT(make("",
                 "[profile a]\nsso_account_id = 1\nsso_role_name = r\nsso_session = s\nsso_region = x\n"
                 "[sso-session s]\nsso_region = y\nsso_start_url = u\n"),
            SLP_EBADDATA);
  CHECK_STR(plan.why, "profile a (/h/.aws/config): its sso_region is not that of its sso-session section");
  end();
}
