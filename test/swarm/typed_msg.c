/* typed_msg.c - values laid into messages and read out of them. */
#include "swarm/typed_inside.h"

#include "base/little.h"

#include "sloop.h"

#include <stdio.h>

static uint64_t sum_of(const char *p, size_t n) { /* as FNV-1a, but of words */
  uint64_t h = UINT64_C(1469598103934665603), word;
  for (; n >= sizeof word; p += sizeof word, n -= sizeof word) {
    memcpy(&word, p, sizeof word);
    h = (h ^ slp_little_u64(word)) * UINT64_C(1099511628211);
  }
  for (; n; p++, n--) h = (h ^ (unsigned char)*p) * UINT64_C(1099511628211);
  return h;
}

void slp_msg_u64(slp_buf *b, uint64_t v) {
  v = slp_little_u64(v);
  SLP_CHECK(slp_buf_add(b, &v, sizeof v) == 0);
}

void slp_msg_str(slp_buf *b, slp_str s) {
  slp_msg_u64(b, s.n);
  if (s.n) SLP_CHECK(slp_buf_add(b, s.p, s.n) == 0);
}

void slp_msg_val(slp_buf *b, const slp_val *v) {
  slp_msg_u64(b, (uint64_t)v->kind);
  slp_msg_str(b, v->s);
  slp_msg_u64(b, v->n);
  for (size_t i = 0; v->kind == SLP_VAL_SS && i < v->n; i++) slp_msg_str(b, v->items[i]);
}

void slp_msg_rows(slp_buf *b, const slp_store_rows *rows) {
  slp_msg_u64(b, rows->n);
  for (size_t i = 0; i < rows->n; i++) {
    slp_msg_u64(b, rows->rows[i].n);
    for (size_t k = 0; k < rows->rows[i].n; k++) {
      slp_msg_str(b, rows->rows[i].attrs[k].name);
      slp_msg_val(b, &rows->rows[i].attrs[k].val);
    }
  }
}

void slp_msg_begin(slp_buf *b) {
  slp_msg_u64(b, 0);
  slp_msg_u64(b, 0);
}

void slp_msg_seal(slp_buf *b) {
  uint64_t head[2] = {slp_little_u64(b->n - sizeof head), 0};
  head[1] = slp_little_u64(sum_of(b->p + sizeof head, b->n - sizeof head));
  memcpy(b->p, head, sizeof head);
}

slp_msg slp_msg_of(slp_str s) { return (slp_msg){s.p, s.p ? s.p + s.n : s.p, 0}; }

int slp_msg_open(slp_msg *m) {
  uint64_t n = slp_msg_take_u64(m), sum = slp_msg_take_u64(m);
  return m->bad || n != (uint64_t)(m->end - m->p) || sum != sum_of(m->p, (size_t)n);
}

uint64_t slp_msg_take_u64(slp_msg *m) {
  uint64_t v = 0;
  if ((size_t)(m->end - m->p) < sizeof v) {
    m->bad = 1;
    return 0;
  }
  memcpy(&v, m->p, sizeof v);
  m->p += sizeof v;
  return slp_little_u64(v);
}

slp_str slp_msg_take_str(slp_msg *m) {
  uint64_t n = slp_msg_take_u64(m);
  if (m->bad || n > (uint64_t)(m->end - m->p)) {
    m->bad = 1;
    return (slp_str){NULL, 0};
  }
  slp_str s = {n ? m->p : NULL, (size_t)n};
  m->p += n;
  return s;
}

int slp_msg_take_val(slp_msg *m, slp_store_rows *arena, slp_val *ret) {
  slp_val v = {.kind = (slp_val_kind)slp_msg_take_u64(m)};
  v.s = slp_msg_take_str(m);
  v.n = (size_t)slp_msg_take_u64(m);
  if (v.kind == SLP_VAL_SS) {
    slp_str *items = slp_store_rows_get(arena, (v.n + 1) * sizeof *items);
    if (!items) return SLP_ENOMEM;
    for (size_t i = 0; i < v.n; i++) items[i] = slp_msg_take_str(m);
    v.items = items;
  }
  return slp_store_rows_val(arena, &v, ret);
}

int slp_msg_take_rows(slp_msg *m, slp_store_rows *rows) {
  for (uint64_t n = slp_msg_take_u64(m); n && !m->bad; n--) {
    size_t attrs_n = (size_t)slp_msg_take_u64(m);
    slp_attr *attrs = slp_store_rows_get(rows, (attrs_n + 1) * sizeof *attrs);
    if (!attrs) return SLP_ENOMEM;
    for (size_t k = 0; k < attrs_n && !m->bad; k++) {
      attrs[k].name = slp_store_rows_text(rows, slp_msg_take_str(m));
      if (!attrs[k].name.p || slp_msg_take_val(m, rows, &attrs[k].val)) return SLP_ENOMEM;
    }
    if (slp_store_rows_add(rows, attrs, attrs_n)) return SLP_ENOMEM;
  }
  return 0;
}

/* Within five seconds of the one before, as SubscribeToShard answers it. */
static void another_subscription(slp_fail *f) {
  slp_fail_set(f, SLP_BUSY, SLOOP_EREMOTE, "another subscription");
  snprintf(f->aws_code, sizeof f->aws_code, "ResourceInUseException");
}

slp_class slp_typed_failure(const slp_http *http, slp_fail *f) {
  slp_fail_clear(f);
  f->http_status = http->status;
  if (http->error == SLP_ENOMEM)
    slp_fail_set(f, SLP_NOMEM, http->error, "%s", http->error_text);
  else if (http->error)
    slp_fail_set(f, SLP_TRANSIENT, http->error, "%s", http->error_text);
  else if (http->status >= 500)
    slp_fail_set(f, SLP_TRANSIENT, SLOOP_EREMOTE, "status %d", http->status);
  else if (strcmp(http->error_type, "throttled") == 0)
    slp_fail_set(f, SLP_THROTTLE, SLOOP_EREMOTE, "throttled");
  else if (strcmp(http->error_type, "in use") == 0)
    another_subscription(f);
  else if (strcmp(http->error_type, "expired") == 0)
    slp_fail_set(f, SLP_EXPIRED, SLOOP_EREMOTE, "expired");
  else if (strcmp(http->error_type, "trimmed") == 0)
    slp_fail_set(f, SLP_TRIMMED, SLOOP_ETRIMMED, "trimmed");
  else if (strcmp(http->error_type, "unknown") == 0)
    slp_fail_set(f, SLP_GONE, SLOOP_EREMOTE, "no such thing");
  else if (http->status != 200)
    slp_fail_set(f, SLP_REFUSED, SLOOP_EREMOTE, "status %d", http->status);
  if (strcmp(http->error_type, "ValidationException") == 0)
    snprintf(f->aws_code, sizeof f->aws_code, "%.79s", http->error_type);
  return f->class;
}
