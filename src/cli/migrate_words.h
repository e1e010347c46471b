/* migrate_words.h - turns the result of a migration into lines of text for people. */
#ifndef SLP_CLI_MIGRATE_WORDS_H
#define SLP_CLI_MIGRATE_WORDS_H

#include "base/buf.h"
#include "sloop_admin.h"

/* Appends a line for each shard, and a line for each row that prevents the migration. Returns 0, or the error
 * of b. */
int slp_migrate_lines(slp_buf *b, const sloop_migration_t *m);
/* Appends the last line about a migration that was ended early: how many positions were copied. Appends
 * nothing if no write of a position was sent to the target. Returns 0, or the error of b. */
int slp_migrate_cut_off(slp_buf *b, const sloop_migration_t *m);
/* Appends the last line about a migration that succeeded: how many positions were copied, and how many the
 * target had already. dry: 1 if --write was not given, so nothing was copied. */
int slp_migrate_sum(slp_buf *b, const sloop_migration_t *m, int dry);

#endif
