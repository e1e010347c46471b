/* lease_table.h - prints what --leases shows. All functions return 0, or the buffer's error. now_ms: the
 * present Unix time. */
#ifndef SLP_CLI_LEASE_TABLE_H
#define SLP_CLI_LEASE_TABLE_H

#include "base/buf.h"
#include "sloop_admin.h"

/* Writes leases, workers, bad rows and a summary, in lines of at most `width` characters; width 0: no
 * limit. */
int slp_lease_table(slp_buf *b, const sloop_leases_t *l, int64_t now_ms, size_t width);
/* Writes the same table, but takes the word for a worker's state from word_of instead of slp_worker_word().
 * `arg` is the first argument of word_of. */
int slp_lease_table_with(slp_buf *b, const sloop_leases_t *l, int64_t now_ms, size_t width,
                         const char *(*word_of)(const void *arg, const sloop_worker_t *), const void *arg);
/* Writes what slp_lease_table() writes, as JSON lines. Each line is an object. The name of its first member
 * says what the object is about: "shard", "unleased", "worker", "bad_row", "passed_over" or "unlisted". */
int slp_lease_json(slp_buf *b, const char *stream, const sloop_leases_t *l, int64_t now_ms);
/* Writes the number of leases in each state, such as "4 leases: 1 free, 3 owned". */
int slp_lease_sum(slp_buf *b, const sloop_leases_t *l);
/* Writes a summary of the workers, such as "2 workers, 1 dead or silent; the furthest is 12s behind".
 * word_of: see slp_lease_table_with(). */
int slp_worker_sum(slp_buf *b, const sloop_leases_t *l, int64_t now_ms,
                   const char *(*word_of)(const void *arg, const sloop_worker_t *), const void *arg);

#endif
