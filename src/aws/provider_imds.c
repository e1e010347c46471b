/* provider_imds.c - keys of the role that an EC2 machine has. */
#include "aws/aws.h"
#include "aws/aws_impl.h"
#include "aws/fetch.h"
#include "aws/imds.h"
#include "aws/provider.h"
#include "base/buf.h"
#include "base/mem.h"
#include "host/host.h"

#include <stdio.h>

#define ROLES "latest/meta-data/iam/security-credentials/"
/* How long expired keys are still used, plus a random time between the two JITTER values, as in botocore. The
 * metadata service can be hours late with new keys, and AWS's services then still accept the expired keys. */
#define EXTRA_MS (15 * 60 * 1000)
#define EXTRA_JITTER_MIN_MS (2 * 60 * 1000)
#define EXTRA_JITTER_MAX_MS (10 * 60 * 1000)

typedef struct machine {
  /* the provider in the chain. `inner` receives what the metadata service answers, and `p` passes this answer
   * on */
  slp_provider p;
  slp_provider inner;
  slp_host *h;
  slp_imds imds;
  char path[256];
  uint8_t named; /* 1: the role is known, and its keys were requested */
} machine;

static void on_inner(slp_provider *inner, const slp_keys_answer *answer) {
  machine *m = inner->owner;
  if (answer->outcome == SLP_KEYS_FOUND) {
    slp_aws_keys keys = *answer->keys;
    int64_t now = slp_wall_ms(m->h);
    uint64_t jitter = slp_random_below(m->h, EXTRA_JITTER_MAX_MS - EXTRA_JITTER_MIN_MS + 1);
    if (keys.expires_at_ms <= now)
      keys.expires_at_ms = now + EXTRA_MS + EXTRA_JITTER_MIN_MS + (int64_t)jitter;
    keys.outlives = 1;
    slp_keys_found(&m->p, &keys);
  } else {
    m->p.answered(&m->p, answer);
  }
}

/* Builds the path of the role's keys. The first line of the answer is the role's name, which becomes part of
 * a URL, so its characters are checked. Returns 0 or SLP_EBADDATA. */
static int role_path(machine *m) {
  slp_str role = slp_buf_str(&m->imds.fetch.answer);
  size_t n = 0;
  while (n < role.n && role.p[n] != '\n' && role.p[n] != '\r') {
    char c = role.p[n++];
    int fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               slp_str_has(SLP_STR("_+=,.@-"), c);
    if (!fine) return SLP_EBADDATA;
  }
  if (!n || n > 64 + 64) return SLP_EBADDATA;
  snprintf(m->path, sizeof m->path, ROLES "%.*s", (int)n, role.p);
  return 0;
}

static void end_machine_attempt(machine *m) {
  slp_imds_end(&m->imds);
  m->named = 0;
}

static void on_document(slp_imds *imds, slp_imds_result result) {
  machine *m = SLP_OWNER(imds, machine, imds);
  static const slp_keys_json form = {.token_name = "Token", .must_expire = 1};
  char who[200];
  int asked_role = !m->named && (imds->has_token || imds->without_token);
  if (result == SLP_IMDS_FINE && !m->named) {
    if (role_path(m)) {
      slp_keys_broken(&m->p, "instance metadata at %.120s names no role for this machine", imds->base);
      end_machine_attempt(m);
      return;
    }
    m->named = 1;
    slp_imds_get(imds, m->path);
    return;
  }
  snprintf(who, sizeof who, "instance metadata at %.120s: the answer", imds->base);
  if (result == SLP_IMDS_FINE)
    slp_keys_from_json(&m->inner, &imds->fetch.answer, &form, who);
  else if (result == SLP_IMDS_STARVED)
    slp_keys_starved(&m->p);
  else if (result == SLP_IMDS_BROKEN)
    slp_keys_failed(&m->p, slp_fetch_passes(&imds->fetch), imds->fetch.http.status, "%s%s", imds->why,
                    asked_role && imds->fetch.http.status == 404 ? " (this machine has no role)" : "");
  else
    slp_keys_nothing(&m->p);
  end_machine_attempt(m);
}

static void begin_machine_attempt(slp_provider *p, int fresh) {
  machine *m = SLP_OWNER(p, machine, p);
  (void)fresh;
  end_machine_attempt(m);
  slp_imds_get(&m->imds, ROLES);
}

static void cancel_machine_attempt(slp_provider *p) { end_machine_attempt(SLP_OWNER(p, machine, p)); }

static void machine_free(slp_provider *p) {
  machine *m = SLP_OWNER(p, machine, p);
  end_machine_attempt(m);
  slp_free(m->h->mem, m);
}

slp_provider *slp_provider_imds(slp_aws *aws) {
  slp_host *h = aws->h;
  machine *m = SLP_NEW(h->mem, machine);
  if (!m) return NULL;
  *m = (machine){.p = {.what = "the machine",
                       .begin = begin_machine_attempt,
                       .cancel = cancel_machine_attempt,
                       .free = machine_free},
                 .inner = {.answered = on_inner},
                 .h = h};
  m->inner.owner = m;
  slp_imds_init(&m->imds, h, aws->getenv_fn, aws->getenv_ctx, &aws->profiles.profile);
  m->p.secrets = m->inner.secrets = &m->imds.fetch.secrets;
  m->imds.on_done = on_document;
  return &m->p;
}
