/* batches.c - the functions of sloop.h that an application calls for a batch. */
#include "core/batch.h"

#include <sloop.h>

size_t sloop_batch_count(const sloop_batch_t *b) { return b->n; }

const sloop_record_t *sloop_batch_at(const sloop_batch_t *b, size_t index) {
  SLP_CHECK(index < b->n);
  return &b->recs[index];
}

int64_t sloop_batch_behind_ms(const sloop_batch_t *b) { return b->behind_ms; }

int sloop_batch_owned(sloop_batch_t *b, size_t index) { return slp_batch_owned(b, index); }

void sloop_batch_set_data(sloop_batch_t *b, void *data) { b->user = data; }

void *sloop_batch_data(const sloop_batch_t *b) { return b->user; }

void sloop_batch_ack(sloop_batch_t *b, size_t index) { slp_batch_ack(b, index); }

void sloop_batch_done(sloop_batch_t *b, size_t acked) { slp_batch_done(b, acked); }
