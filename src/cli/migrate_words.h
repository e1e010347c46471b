/* migrate_words.h - what a migration does, or would do, for a person. */
#ifndef SLP_CLI_MIGRATE_WORDS_H
#define SLP_CLI_MIGRATE_WORDS_H

#include "base/buf.h"
#include "sloop.h"

/* A line for every shard and every row that is in the way. 0, or the error that the buffer has. */
int slp_migrate_lines(slp_buf *b, const sloop_migration_t *m);
/* The last line of one that ended early: how far it came, when anything was sent. */
int slp_migrate_cut_off(slp_buf *b, const sloop_migration_t *m);
/* The last line: how many, and whether anything was written. dry: nothing was to be. */
int slp_migrate_sum(slp_buf *b, const sloop_migration_t *m, int dry);

#endif
