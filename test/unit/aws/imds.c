/* imds.c - one conversation: the token is asked for once, and documents after it. provider_imds.c has
 * the failures. */
#include "aws/imds.h"

#include "aws_fake_host.h"

static fake_host f;
static slp_mem *mem;
static slp_imds m;
static int done;
static slp_imds_result last;

static void on_done(slp_imds *x, slp_imds_result result) {
  CHECK(x == &m);
  last = result;
  done++;
}

static void open_it(const fake_pair *env) {
  mem = slp_mem_new(NULL, NULL);
  fake_init(&f, mem);
  f.env = env;
  slp_imds_init(&m, &f.h, fake_getenv, &f, NULL);
  m.on_done = on_done;
  done = 0;
}

static void get(const char *path) {
  int before = done;
  slp_imds_get(&m, path);
  CHECK_INT(done, before); /* never inside the call */
  fake_run(&f, 60000000);
  CHECK_INT(done, before + 1);
}

static void end(void) {
  slp_imds_end(&m);
  CHECK_INT(f.answered_n, f.answers_n);
  fake_end(&f, mem);
}

TEST(one_token_for_all_documents_of_a_conversation) {
  open_it(NULL);
  fake_script(&f, 200, "T1");
  fake_script(&f, 200, "one");
  fake_script(&f, 200, "two");
  get("latest/a");
  CHECK_INT(last, SLP_IMDS_FINE);
  CHECK_MEM(m.fetch.answer.p, m.fetch.answer.n, "one", 3);
  get("latest/b");
  CHECK_STR(f.sent[2].url, "http://169.254.169.254/latest/b");
  CHECK_STR(f.sent[2].metadata_token, "T1");
  slp_imds_end(&m);
  fake_script(&f, 200, "T2");
  fake_script(&f, 200, "three");
  get("latest/c");
  CHECK_STR(f.sent[4].metadata_token, "T2");
  end();
}

TEST(addresses) {
  static const fake_pair slashless[] = {{"AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://localhost:1"},
                                        {NULL, NULL}};
  static const fake_pair wrong[] = {{"AWS_EC2_METADATA_SERVICE_ENDPOINT", "localhost"}, {NULL, NULL}};
  open_it(slashless);
  fake_script(&f, 200, "T");
  fake_script(&f, 200, "x");
  get("latest/a");
  CHECK_STR(f.sent[1].url, "http://localhost:1/latest/a");
  end();
  open_it(wrong);
  get("latest/a");
  CHECK_INT(last, SLP_IMDS_BROKEN);
  CHECK(strstr(m.why, "AWS_EC2_METADATA_SERVICE_ENDPOINT localhost") != NULL);
  end();
}

TEST(a_profile_names_what_the_environment_does_not) {
  static const fake_pair none[] = {{NULL, NULL}};
  static const fake_pair both[] = {{"AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://localhost:1"},
                                   {"AWS_EC2_METADATA_V1_DISABLED", "false"},
                                   {NULL, NULL}};
  static const char text[] =
      "[default]\nec2_metadata_service_endpoint = http://localhost:2/\n"
      "ec2_metadata_v1_disabled = True\nmetadata_service_timeout = 3\n"
      "metadata_service_num_attempts = 2\n";
  for (int i = 0; i < 2; i++) {
    slp_profile profile;
    int file;
    uint32_t line;
    open_it(i ? both : none);
    slp_profile_init(&profile, mem);
    CHECK_INT(slp_profile_parse(&profile, SLP_STR(""), slp_str_of(text), SLP_STR("default"), &file, &line),
              0);
    m.profile = &profile;
    fake_script(&f, 500, "");
    fake_script(&f, 404, "");
    if (i) fake_script(&f, 200, "x");
    get("latest/a");
    CHECK_STR(f.sent[1].url,
              i ? "http://localhost:1/latest/api/token" : "http://localhost:2/latest/api/token");
    CHECK_INT(f.sent[1].total_ms_max, 3000);
    CHECK_INT(last, i ? SLP_IMDS_FINE : SLP_IMDS_BROKEN);
    if (!i)
      CHECK(strstr(m.why, "ec2_metadata_v1_disabled forbids to continue without one: status 404") != NULL);
    slp_profile_free(&profile);
    end();
  }
}

TEST(a_profile_may_name_a_network_of_ipv6) {
  static const fake_pair none[] = {{NULL, NULL}};
  slp_profile profile;
  int file;
  uint32_t line;
  open_it(none);
  slp_profile_init(&profile, mem);
  CHECK_INT(slp_profile_parse(&profile, SLP_STR("[default]\nec2_metadata_service_endpoint_mode = IPv6\n"),
                              SLP_STR(""), SLP_STR("default"), &file, &line),
            0);
  m.profile = &profile;
  fake_script(&f, 200, "T");
  fake_script(&f, 200, "x");
  get("latest/a");
  CHECK_STR(f.sent[0].url, "http://[fd00:ec2::254]/latest/api/token");
  slp_profile_free(&profile);
  end();
}

TEST(ended_in_the_middle_it_is_silent) {
  open_it(NULL);
  fake_script(&f, 200, "")->hang = 1;
  slp_imds_get(&m, "latest/a");
  fake_run(&f, 1000000);
  slp_imds_end(&m);
  fake_run(&f, 60000000);
  CHECK_INT(done, 0);
  end();
}
