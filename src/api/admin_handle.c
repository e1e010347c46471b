/* admin_handle.c - opens and closes an operator's handle. A handle is the member `admin` of a consumer.
 * Either the application has opened the consumer, or sloop_admin_open() has opened it for the handle alone;
 * then it never starts. */
#include "api/open.h"
#include "base/base.h"

#include <sloop.h>
#include <sloop_admin.h>

static void give_back(sloop_t *s, sloop_batch_t *b, void *arg) {
  (void)s, (void)arg;
  sloop_batch_done(b, 0);
}

/* Fills `own` with the caller's options, but without the options that concern reading. */
static void options_of_handle(const sloop_opts_t *o, sloop_opts_t *own) {
  sloop_opts_init(own);
  memcpy(own, o, slp_min_u64(o->size, sizeof *own));
  own->size = slp_min_u64(o->size, sizeof *own);
  own->on_batch = give_back; /* never called; set because sloop_open() refuses options without on_batch */
  own->on_shard = NULL;
  own->on_tip = NULL;
  own->on_loss = NULL;
  own->on_stats = NULL;
  own->on_lease = NULL;
  own->retrieval = SLOOP_RETRIEVAL_POLL; /* sloop_admin_lag() works only with a consumer that polls */
}

int sloop_admin_open(sloop_admin_t **out, struct uv_loop_s *loop, const sloop_opts_t *o, char *why,
                     size_t why_size) {
  sloop_opts_t own;
  sloop_t *s;
  int is_set_up = o && o->size >= sizeof o->size;
  *out = NULL;
  sloop_opts_init(&own);
  if (is_set_up) options_of_handle(o, &own);
  uint8_t several = own.join && own.join->family ? own.join->family->several : 0;
  int r = sloop_open(&s, loop, is_set_up ? &own : NULL, why, why_size);
  if (r) return r;
  /* A handle reads no stream, so it does not make the rows of the consumer that it joins name theirs. */
  s->family->several = several;
  s->admin.alone = 1;
  *out = &s->admin;
  return 0;
}

sloop_admin_t *sloop_admin_of(sloop_t *s) { return &s->admin; }

static void on_closed(sloop_t *s, int status, void *arg) {
  (void)status, (void)arg;
  if (s->admin.closed_cb) s->admin.closed_cb(&s->admin, s->admin.closed_arg);
}

void sloop_admin_close(sloop_admin_t *a, sloop_admin_closed_cb cb, void *arg) {
  if (!a || !a->alone || a->s->closing) return;
  a->closed_cb = cb;
  a->closed_arg = arg;
  sloop_close(a->s, on_closed, NULL);
}
