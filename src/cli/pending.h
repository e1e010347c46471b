/* pending.h - batches whose text is not written yet. A record is acknowledged when the last byte of its text
 * was written, not earlier. */
#ifndef SLP_CLI_PENDING_H
#define SLP_CLI_PENDING_H

#include "base/buf.h"
#include "base/list.h"
#include "sloop.h"

typedef struct slp_pending {
  slp_mem *mem;
  slp_list list; /* oldest first */
} slp_pending;

void slp_pending_init(slp_pending *p, slp_mem *mem);
/* ends[0, n): where the text of each accepted record ends in the output, counted from its beginning. `owner`
 * handed the batch over. SLP_ENOMEM: nothing has happened. */
int slp_pending_add(slp_pending *p, sloop_batch_t *batch, const void *owner, const uint64_t *ends, size_t n);
/* That many bytes of the output are written: gives back the batches that are written to their last record. */
void slp_pending_written(slp_pending *p, uint64_t bytes);
/* Nothing more will be written: gives back all batches, each with its records that were written whole. */
void slp_pending_give_up(slp_pending *p, uint64_t bytes);
int slp_pending_has(const slp_pending *p, const void *owner);

#endif
