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
  slp_imds_init(&m, &f.h, fake_getenv, &f);
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
