/* provider_user.c - keys from the user's callback. */
#include "aws/aws.h"
#include "aws/provider.h"
#include "base/mem.h"
#include "host/host.h"

typedef struct user_provider {
  slp_provider p;
  slp_host *h;
  void (*ask)(void *arg);
  void *arg;
  /* 1: the callback was called and has not answered yet; until then no attempt calls it again */
  uint8_t asked;
} user_provider;

static void user_begin(slp_provider *p, int fresh) {
  user_provider *u = SLP_OWNER(p, user_provider, p);
  (void)fresh;
  if (u->asked) return;
  u->asked = 1;
  u->ask(u->arg);
}

static void user_free(slp_provider *p) {
  user_provider *u = SLP_OWNER(p, user_provider, p);
  slp_free(u->h->mem, u);
}

slp_provider *slp_provider_user(slp_host *h, void (*ask)(void *arg), void *arg) {
  user_provider *u = SLP_NEW(h->mem, user_provider);
  if (!u) return NULL;
  *u = (user_provider){.p = {.what = "the creds callback", .begin = user_begin, .free = user_free},
                       .h = h,
                       .ask = ask,
                       .arg = arg};
  return &u->p;
}

void slp_provider_user_done(slp_provider *p, int error, const slp_aws_keys *keys, const char *why) {
  user_provider *u = SLP_OWNER(p, user_provider, p);
  if (!u->asked) return;
  u->asked = 0;
  if (!error && keys)
    slp_keys_found(p, keys);
  else if (error == SLP_ENOMEM)
    slp_keys_starved(p);
  else
    slp_keys_broken(p, "the creds callback gave none: %s", why && why[0] ? why : "it did not say why");
}
