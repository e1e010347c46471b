/* position.c - where a consumer stands, and moving it. */
#include "api/open.h"
#include "core/seek.h"

int sloop_save(sloop_t *s, char *buf, size_t *len) {
  return s->closing || s->o.app ? SLOOP_ESTATE : slp_consumer_save(s->consumer, buf, len);
}

int sloop_seek(sloop_t *s, const sloop_position_t *to, sloop_cb cb, void *arg) {
  if (!to) return SLOOP_EOPTION;
  return s->closing || s->o.app ? SLOOP_ESTATE : slp_consumer_seek(s->consumer, to, cb, arg);
}
