/* seek_token.c - makes the token of a consumer's positions, and moves a consumer to other positions. */
#include "api/open.h"
#include "core/consumer.h"
#include "core/seek.h"

#include <sloop.h>

void sloop_position_init(sloop_position_t *p, sloop_position_kind_t kind) {
  *p = (sloop_position_t){.kind = kind};
}

int sloop_token(sloop_t *s, char *buf, size_t *len) {
  return s->closing || s->o.app ? SLOOP_ESTATE : slp_consumer_save(s->consumer, buf, len);
}

int sloop_seek(sloop_t *s, const sloop_position_t *to, sloop_cb cb, void *arg) {
  if (s->closing) return SLOOP_ESTATE;
  if (!to) return SLOOP_EOPTION;
  return s->o.app ? SLOOP_ESTATE : slp_consumer_seek(s->consumer, to, cb, arg);
}
