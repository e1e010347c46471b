/* endpoints_stdin.c - the public endpoint of a service: a line is service-number, region, "1" for FIPS, "1"
 * for dual stack, account_id_endpoint_mode, X-Amz-Target, the ARN that the request names, the keys' account, each
 * in hex; the answer is the URL that the call goes to. */
#include "aws/endpoint.h"
#include "base/num.h"

#include "check.h"
#include "hex_lines.h"

typedef struct flags {
  int fips, dualstack;
  const char *mode;
} flags;

static const char *env_of(void *ctx, const char *name) {
  const flags *f = ctx;
  if (f->fips && strcmp(name, "AWS_USE_FIPS_ENDPOINT") == 0) return "true";
  if (f->dualstack && strcmp(name, "AWS_USE_DUALSTACK_ENDPOINT") == 0) return "true";
  if (strcmp(name, "AWS_ACCOUNT_ID_ENDPOINT_MODE") == 0) return f->mode;
  return NULL;
}

static void put_url(const slp_endpoint_wish *wish, hex_line *l) {
  slp_endpoint e;
  slp_fail fail;
  char host[SLP_ACCOUNT_HOST_MAX];
  slp_fail_clear(&fail);
  int r = slp_endpoint_resolve(wish, &e, &fail);
  if (!r) r = slp_endpoint_account_host(&e, wish->svc, l->field[5], l->field[6], l->field[7], host, &fail);
  if (r < 0)
    puts(fail.message);
  else if (r)
    printf("https://%s/\n", host);
  else
    puts(e.url);
}

int main(void) {
  hex_line l = {NULL, 0, {{NULL, 0}}, 0};
  while (hex_line_read(&l, stdin)) {
    uint64_t svc = 0;
    flags f = {slp_str_is(l.field[2], "1"), slp_str_is(l.field[3], "1"), l.field[4].p};
    CHECK_INT(l.n, 8);
    CHECK_INT(slp_parse_u64(l.field[0], &svc), 0);
    CHECK(svc < SLP_SVCS);
    slp_endpoint_wish wish = {
        .svc = (slp_svc)svc, .region = l.field[1].p, .getenv_fn = env_of, .getenv_ctx = &f};
    put_url(&wish, &l);
  }
  return 0;
}
