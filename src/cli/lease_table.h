/* lease_table.h - what --leases prints. */
#ifndef SLP_CLI_LEASE_TABLE_H
#define SLP_CLI_LEASE_TABLE_H

#include "base/buf.h"
#include "sloop.h"

/* Leases, workers, bad rows and a sum, at most `width` wide; 0: no limit. now_ms: Unix time. */
int slp_lease_table(slp_buf *b, const sloop_leases_t *l, int64_t now_ms, size_t width);
/* The same; word_of: a worker's state, as slp_worker_word() says it. */
int slp_lease_table_with(slp_buf *b, const sloop_leases_t *l, int64_t now_ms, size_t width,
                         const char *(*word_of)(const void *arg, const sloop_worker_t *), const void *arg);
/* The same as JSON lines: objects with "shard", with "worker", with "bad_row". */
int slp_lease_json(slp_buf *b, const char *stream, const sloop_leases_t *l, int64_t now_ms);
/* "4 leases: 1 free, 3 owned" */
int slp_lease_sum(slp_buf *b, const sloop_leases_t *l);
/* "2 workers, 1 dead or silent; the furthest is 12s behind". word_of: as of slp_lease_table_with(). */
int slp_worker_sum(slp_buf *b, const sloop_leases_t *l, int64_t now_ms,
                   const char *(*word_of)(const void *arg, const sloop_worker_t *), const void *arg);

#endif
