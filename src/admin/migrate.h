/* migrate.h - copies the positions of a stream from a lease table or a token (the source) to a lease table or
 * a token (the target). Each table has its own command (command.h). The command that writes the target starts
 * when the command that reads the source has ended. */
#ifndef SLP_ADMIN_MIGRATE_H
#define SLP_ADMIN_MIGRATE_H

#include "admin/command.h"
#include "base/fail.h"
#include "base/mem.h"
#include "core/source.h"
#include "host/host.h"
#include "lease/schema.h"
#include "lease/store.h"

#include <sloop_admin.h>

typedef struct slp_migrate slp_migrate;

typedef struct slp_migrate_side {
  int (*open)(void *ctx, const slp_src_describe *d, slp_store **ret_store, slp_schema **ret_schema,
              slp_fail *f); /* opens the table, as in slp_admin_opts; NULL: this side is a token */
  void *ctx;
  slp_str token;   /* if `from` is a token, the token; copied */
  uint8_t several; /* 1: the table may have rows of other streams too */
  /* for `from`, 1: workers may use the table meanwhile; their checkpoints are copied as they are */
  uint8_t in_use;
} slp_migrate_side;

typedef struct slp_migrate_opts {
  slp_host *host;
  slp_source *source; /* borrowed */
  slp_migrate_side from, to;
  /* lease_ms, `apply` and `whole` mean the same as in slp_admin_opts */
  uint32_t lease_ms;
  uint8_t apply;
  uint8_t whole; /* 1: the stream has no aggregates */
  /* called exactly once, from an event, unless the copy is stopped; may free m */
  void (*on_done)(slp_migrate *m, void *arg);
  void *arg;
} slp_migrate_opts;

/* Starts a copy at once. At least one side must be a table. Returns 0 or SLP_ENOMEM. */
int slp_migrate_new(slp_migrate **ret, slp_mem *mem, const slp_migrate_opts *o);
/* Stops the copy before it is done, as slp_admin_stop does. Afterwards slp_migrate_told returns what was done
 * before the stop. */
void slp_migrate_stop(slp_migrate *m);
void slp_migrate_free(slp_migrate *m); /* stops the copy if it still runs, and frees it; NULL is allowed */

/* The results of the next functions are valid from on_done until m is freed. */
const slp_fail *slp_migrate_fail(const slp_migrate *m);
slp_admin_why slp_migrate_reason_of(const slp_migrate *m);
/* returns 1 if the command of the target has failed, 0 if that of the source */
int slp_migrate_at_target(const slp_migrate *m);
/* returns NULL if the copy failed before any position was known */
const sloop_migration_t *slp_migrate_told(const slp_migrate *m);

#endif
