/* migrate_words.h - lines of text that tell a person what a migration did or would do. */
#ifndef SLP_CLI_MIGRATE_WORDS_H
#define SLP_CLI_MIGRATE_WORDS_H

#include "base/buf.h"
#include "sloop.h"

/* Appends a line for every shard and for every row that is in the way. Returns 0, or why b failed. */
int slp_migrate_lines(slp_buf *b, const sloop_migration_t *m);
/* Appends the last line of a migration that ended early: how many positions were copied. Appends nothing if
 * nothing was sent to the target. Returns 0, or why b failed. */
int slp_migrate_cut_off(slp_buf *b, const sloop_migration_t *m);
/* Appends the last line of a migration that succeeded: how many positions were copied or are there already.
 * `dry`: --write was not given. Returns 0, or why b failed. */
int slp_migrate_sum(slp_buf *b, const sloop_migration_t *m, int dry);

#endif
