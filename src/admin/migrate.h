/* migrate.h - copies the positions of a stream from rows or a token to rows or a token. Each table is read,
 * and written, by a command of its own (admin.h), one after the other. */
#ifndef SLP_ADMIN_MIGRATE_H
#define SLP_ADMIN_MIGRATE_H

#include "admin/admin.h"

typedef struct slp_migrate slp_migrate;

typedef struct slp_migrate_side {
  int (*open)(void *ctx, const slp_src_describe *d, slp_store **ret_store, slp_schema **ret_schema,
              slp_fail *f); /* NULL: this side is a token */
  void *ctx;
  slp_str token;   /* of `from`; copied */
  uint8_t several; /* rows of other streams may be in the table */
} slp_migrate_side;

typedef struct slp_migrate_opts {
  slp_host *host;
  slp_source *source; /* borrowed */
  slp_migrate_side from, to;
  /* As in slp_admin_opts, and so the next two. */
  uint32_t lease_ms;
  uint8_t apply;
  uint8_t whole;                              /* the stream has no aggregates */
  void (*on_done)(slp_migrate *m, void *arg); /* called once, from an event; may free m */
  void *arg;
} slp_migrate_opts;

/* Starts at once. One side at least must be rows. SLP_ENOMEM. */
int slp_migrate_new(slp_migrate **ret, slp_mem *mem, const slp_migrate_opts *o);
/* Stops the copy before it is done, as slp_admin_stop does. slp_migrate_told then has what was done until
 * now. */
void slp_migrate_stop(slp_migrate *m);
void slp_migrate_free(slp_migrate *m); /* stops it, if it runs; NULL is allowed */

/* The results below are valid after on_done, as long as m lives. */
const slp_fail *slp_migrate_fail(const slp_migrate *m);
slp_admin_why slp_migrate_reason_of(const slp_migrate *m);
int slp_migrate_at_target(const slp_migrate *m); /* 1: the target's side has failed */
/* NULL: it failed before there was anything to tell */
const sloop_migration_t *slp_migrate_told(const slp_migrate *m);

#endif
