/* plan_stdin.c - how a profile comes to its keys: a line is profile, credentials file, config file in hex;
 * the answer is one expression in hex, "none", or "error". ROLE(arn,external id,session,seconds)<SOURCE,
 * where the innermost source is keys, P process, W web identity, S SSO, L login, E environment, C container, I
 * machine. */
#include "aws/key_plan.h"

#include "unit/aws_fake_host.h"
#include "hex_lines.h"

static void on_wait(slp_wait *wait) { (void)wait; }

static const char *get(const slp_profile *p, slp_profile_key key) {
  const char *value = slp_profile_get(p, key);
  return value ? value : "-";
}

static void put_base(slp_buf *b, const slp_key_plan *plan) {
  const slp_profile *p = plan->from;
  switch (plan->base) {
    case SLP_BASE_CREDENTIALS: slp_buf_add_z(b, p->in_credentials[SLP_PROFILE_KEY_ID]); break;
    case SLP_BASE_CONFIG: slp_buf_add_z(b, p->in_config[SLP_PROFILE_KEY_ID]); break;
    case SLP_BASE_PROCESS: slp_buf_addf(b, "P %s", get(p, SLP_PROFILE_PROCESS)); break;
    case SLP_BASE_WEB:
      slp_buf_addf(b, "W %s %s %s", get(p, SLP_PROFILE_ROLE_ARN), get(p, SLP_PROFILE_WEB_IDENTITY),
                   get(p, SLP_PROFILE_ROLE_SESSION_NAME));
      break;
    case SLP_BASE_SSO:
      slp_buf_addf(
          b, "S %s %s %s", get(p, SLP_PROFILE_SSO_ACCOUNT_ID), get(p, SLP_PROFILE_SSO_ROLE_NAME),
          slp_profile_get(p, SLP_PROFILE_SSO_SESSION) ? p->session_region : get(p, SLP_PROFILE_SSO_REGION));
      break;
    case SLP_BASE_LOGIN: slp_buf_addf(b, "L %s", get(p, SLP_PROFILE_LOGIN_SESSION)); break;
    case SLP_BASE_ENV: slp_buf_add_z(b, "E"); break;
    case SLP_BASE_CONTAINER: slp_buf_add_z(b, "C"); break;
    case SLP_BASE_IMDS: slp_buf_add_z(b, "I"); break;
  }
}

static void put_plan(slp_mem *mem, const slp_key_plan *plan) {
  slp_buf b;
  slp_buf_init(&b, mem, 65536);
  for (size_t i = 0; i < plan->roles_n; i++) {
    const slp_profile *p = plan->roles[i];
    slp_buf_addf(&b, "ROLE(%s,%s,%s,%s)<", get(p, SLP_PROFILE_ROLE_ARN), get(p, SLP_PROFILE_EXTERNAL_ID),
                 get(p, SLP_PROFILE_ROLE_SESSION_NAME), get(p, SLP_PROFILE_DURATION_SECONDS));
  }
  put_base(&b, plan);
  hex_put(b.p, b.n);
  putchar('\n');
  slp_buf_free(&b);
}

static void one_case(const hex_line *l) {
  static fake_host f;
  static const fake_pair env[] = {{"HOME", "/h"}, {NULL, NULL}};
  const fake_pair files[] = {
      {"/h/.aws/credentials", l->field[1].p}, {"/h/.aws/config", l->field[2].p}, {NULL, NULL}};
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_profiles profiles;
  slp_key_plan plan;
  slp_wait wait = {.run = on_wait};
  fake_init(&f, mem);
  f.env = env;
  f.files = files;
  slp_profiles_init(&profiles, &f.h, fake_getenv, &f, l->field[0].p);
  slp_profiles_load(&profiles, &wait);
  fake_run(&f, 1000);
  int r = profiles.error ? SLP_EBADDATA : slp_key_plan_make(&plan, &profiles);
  if (!r)
    put_plan(mem, &plan);
  else if (r == SLP_ENOENT)
    puts("none");
  else
    printf("error %s\n", profiles.error ? profiles.why : plan.why);
  slp_profiles_close(&profiles);
  fake_end(&f, mem);
}

int main(void) {
  hex_line l = {NULL, 0, {{NULL, 0}}, 0};
  while (hex_line_read(&l, stdin)) one_case(&l);
  return 0;
}
