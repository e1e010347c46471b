/* position.c - where a consumer stands, and moving it. */
#include "api/open.h"

int sloop_save(sloop_t *s, char *buf, size_t *len) {
  return s->closing ? SLOOP_ESTATE : slp_consumer_save(s->consumer, buf, len);
}

int sloop_move(sloop_t *s, const sloop_position_t *to, sloop_cb cb, void *arg) {
  (void)s, (void)to, (void)cb, (void)arg;
  return SLOOP_ESTATE;
}
