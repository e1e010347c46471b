/* endpoints_stdin.c - the public endpoint of a service: a line is service-number, region, "1" for FIPS, "1"
 * for dual stack, each in hex; the answer is its URL. */
#include "aws/endpoint.h"
#include "base/num.h"

#include "check.h"
#include "hex_lines.h"

typedef struct flags {
  int fips, dualstack;
} flags;

static const char *env_of(void *ctx, const char *name) {
  const flags *f = ctx;
  if (f->fips && strcmp(name, "AWS_USE_FIPS_ENDPOINT") == 0) return "true";
  if (f->dualstack && strcmp(name, "AWS_USE_DUALSTACK_ENDPOINT") == 0) return "true";
  return NULL;
}

int main(void) {
  hex_line l = {NULL, 0, {{NULL, 0}}, 0};
  while (hex_line_read(&l, stdin)) {
    uint64_t svc = 0;
    flags f = {slp_str_is(l.field[2], "1"), slp_str_is(l.field[3], "1")};
    slp_endpoint e;
    slp_fail fail;
    slp_fail_clear(&fail);
    CHECK_INT(slp_parse_u64(l.field[0], &svc), 0);
    CHECK(svc < SLP_SVCS);
    slp_endpoint_wish wish = {
        .svc = (slp_svc)svc, .region = l.field[1].p, .getenv_fn = env_of, .getenv_ctx = &f};
    puts(slp_endpoint_resolve(&wish, &e, &fail) ? fail.message : e.url);
  }
  return 0;
}
