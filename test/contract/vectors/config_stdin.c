/* config_stdin.c - resolves the configurations it reads the way a consumer does, so that botocore's view of
 * the same files and variables can be compared. A line: service-number profile credentials-file config-file
 * (variable value)*; a profile of '-' is none, a file of '-' does not exist. Answer: two lines, "url region"
 * or "error why", and "key-id secret token account" or "error why", each word in hex. */
#include "aws/aws_impl.h"
#include "aws/endpoint.h"
#include "base/num.h"

#include "unit/aws_fake_host.h"
#include "hex_lines.h"

enum { SERVICE, PROFILE, CREDENTIALS, CONFIG, VARIABLES };

static void on_wait(slp_wait *wait) { (void)wait; }

static void put_error(const char *why) {
  printf("error ");
  hex_put(why, strlen(why));
  putchar('\n');
}

static void resolve_url(slp_profiles *profiles, fake_host *f, slp_svc svc) {
  slp_endpoint e;
  slp_fail fail;
  slp_endpoint_wish wish = {
      .svc = svc, .getenv_fn = fake_getenv, .getenv_ctx = f, .profile = &profiles->profile};
  slp_fail_clear(&fail);
  if (profiles->error) {
    put_error(profiles->why);
  } else if (slp_endpoint_resolve(&wish, &e, &fail)) {
    put_error(fail.message);
  } else {
    hex_put(e.url, strlen(e.url));
    putchar(' ');
    hex_put(e.region, strlen(e.region));
    putchar('\n');
  }
}

static void resolve_keys(slp_creds *creds, fake_host *f) {
  slp_sign_keys keys;
  slp_fail fail;
  uint64_t serial;
  slp_wait wait = {.run = on_wait};
  if (slp_creds_get(creds, slp_wall_ms(&f->h), &keys, &serial, &fail) == SLP_CREDS_WAIT) {
    slp_creds_await(creds, &wait);
    fake_run(f, 1000);
  }
  if (slp_creds_get(creds, slp_wall_ms(&f->h), &keys, &serial, &fail) != SLP_CREDS_READY) {
    put_error(fail.message);
    return;
  }
  hex_put(keys.key_id.p, keys.key_id.n);
  putchar(' ');
  hex_put(keys.secret.p, keys.secret.n);
  putchar(' ');
  hex_put(keys.token.p, keys.token.n);
  putchar(' ');
  hex_put(keys.account.p, keys.account.n);
  putchar('\n');
}

static void one_case(hex_line *l) {
  static fake_host f;
  fake_pair env[FIELDS_MAX / 2 + 3], files[3] = {{NULL, NULL}};
  size_t env_n = 0, files_n = 0;
  uint64_t svc = 0;
  slp_profiles profiles;
  slp_wait wait = {.run = on_wait};
  slp_mem *mem = slp_mem_new(NULL, NULL);
  const char *profile = l->field[PROFILE].n ? l->field[PROFILE].p : NULL;
  CHECK_INT(slp_parse_u64(l->field[SERVICE], &svc), 0);
  CHECK(svc < SLP_SVCS);
  env[env_n++] = (fake_pair){"HOME", "/h"};
  env[env_n++] = (fake_pair){"AWS_EC2_METADATA_DISABLED", "true"};
  for (size_t i = VARIABLES; i + 1 < l->n; i += 2)
    env[env_n++] = (fake_pair){l->field[i].p, l->field[i + 1].p};
  env[env_n] = (fake_pair){NULL, NULL};
  if (l->field[CREDENTIALS].n) files[files_n++] = (fake_pair){"/h/.aws/credentials", l->field[CREDENTIALS].p};
  if (l->field[CONFIG].n) files[files_n++] = (fake_pair){"/h/.aws/config", l->field[CONFIG].p};
  fake_init(&f, mem);
  f.env = env;
  f.files = files;
  slp_profiles_init(&profiles, &f.h, fake_getenv, &f, profile);
  slp_aws *aws = NULL;
  char why[160];
  slp_aws_options o = {.profile = profile, .getenv_fn = fake_getenv, .getenv_ctx = &f};
  CHECK_INT(slp_aws_new(&aws, &f.h, &o, why), 0);
  slp_profiles_load(&profiles, &wait);
  fake_run(&f, 1000);
  resolve_url(&profiles, &f, (slp_svc)svc);
  resolve_keys(aws->creds, &f);
  slp_aws_drop(aws);
  slp_profiles_close(&profiles);
  fake_end(&f, mem);
}

int main(void) {
  hex_line l = {NULL, 0, {{NULL, 0}}, 0};
  while (hex_line_read(&l, stdin)) one_case(&l);
  return 0;
}
