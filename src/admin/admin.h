/* admin.h - one look of an operator at a fleet's rows, or one change of them. It has requests, a store and a
 * schema of its own, so that it works before a consumer starts and beside one that runs, and touches nothing
 * of that one's fleet.
 *
 * It judges as a worker would: a lease is taken from its owner only when that one is proven dead, by its
 * row's being marked as evicted or by a whole lease of silence that was watched here; unless it is told to
 * use force. Every write has a condition; what was read and has changed meanwhile is read again. What is
 * found out is handed over as data and reasons: the words for people are the command's. */
#ifndef SLP_ADMIN_ADMIN_H
#define SLP_ADMIN_ADMIN_H

#include "admin/placed.h"
#include "lease/schema.h"
#include "base/buf.h"
#include "core/source.h"
#include <sloop.h>

typedef struct slp_admin slp_admin;

typedef enum slp_admin_task {
  SLP_ADMIN_LEASES,  /* all rows */
  SLP_ADMIN_LAG,     /* the same, and how far behind each shard is */
  SLP_ADMIN_EXPLAIN, /* why one shard is read, or is not */
  SLP_ADMIN_RELEASE, /* a lease or a worker */
  SLP_ADMIN_RESET,   /* the position of one lease, or of all */
  SLP_ADMIN_SURVEY,  /* where every shard stands, in a table that nobody works with */
  SLP_ADMIN_IMPORT   /* positions from elsewhere become its rows */
} slp_admin_task;

typedef struct slp_admin_opts {
  slp_host *host;
  slp_source *source; /* borrowed; for its description and its listing */
  int (*open)(void *ctx, const slp_src_describe *d, slp_store **ret_store, slp_schema **ret_schema,
              slp_fail *f); /* as for a fleet's consumer; the command owns both afterwards */
  void *ctx;
  uint32_t lease_ms; /* how long an owner whose row names no lease of its own is watched */
  slp_admin_task task;
  slp_str name;    /* a shard; RELEASE: or a worker; RESET: absent: all. Copied */
  slp_position to; /* RESET; LATEST becomes a time */
  uint8_t force;
  uint32_t limit_ms;      /* LAG: of reading; not 0 */
  slp_placed_list placed; /* IMPORT: of these; they live as long as the command */
  slp_str token;          /* IMPORT: or of this token; .p NULL: none */
  uint8_t apply;          /* IMPORT: 0: only finds out what would be done */
  uint8_t several;        /* IMPORT: rows of other streams may be there */
  uint8_t whole;          /* IMPORT: the stream has no aggregates: behind sub-record 0 is behind its record */
  /* From an event, never after on_done: a request failed for the tries-th time, and is sent again. */
  void (*on_again)(void *arg, const slp_fail *f, uint32_t tries, uint64_t wait_us);
  void (*on_done)(slp_admin *a, void *arg); /* from an event, once; may free it */
  void *arg;
} slp_admin_opts;

typedef struct
    slp_admin_answer { /* of the task's kind, or NULL: it failed, or nothing was done before that */
  const sloop_leases_t *leases;
  const sloop_explanation_t *explanation;
  const sloop_admin_result_t *result; /* RELEASE, RESET; also beside a failure */
} slp_admin_answer;

/* Begins at once. SLP_ENOMEM. */
int slp_admin_new(slp_admin **ret, slp_mem *mem, const slp_admin_opts *o);
/* Ends it before it is done: nothing of it is in flight afterwards, though a write that was sent may still
 * happen, and on_done does not come. Its answer is what was done until then. NULL is fine, as below. */
void slp_admin_stop(slp_admin *a);
void slp_admin_free(slp_admin *a); /* as slp_admin_stop, and it is gone */

/* Why a command failed. */
typedef enum slp_admin_reason {
  SLP_ADMIN_TOLD, /* the request that failed tells it: slp_admin_fail has its words */
  SLP_ADMIN_NO_MEMORY,
  SLP_ADMIN_STREAM_BUSY,
  SLP_ADMIN_NO_TABLE,       /* slp_admin_fail has the store's words */
  SLP_ADMIN_OWNED,          /* name: a shard whose owner is alive; but for IMPORT nothing was changed */
  SLP_ADMIN_SOME_UNCHANGED, /* `left` of `all` leases */
  SLP_ADMIN_NOT_EVICTED,    /* name: a worker whose row kept changing */
  SLP_ADMIN_NO_SUCH_NAME,   /* name: neither a lease nor a worker */
  SLP_ADMIN_NO_SUCH_SHARD,  /* name: neither listed nor leased */
  SLP_ADMIN_NO_SUCH_LEASE,  /* name: a shard without a row */
  SLP_ADMIN_BAD_LEASE,      /* name: a listed shard without a row that can be read */
  SLP_ADMIN_UNLISTED,       /* name: a shard that the stream does not list any more */
  SLP_ADMIN_NO_LEASES,
  SLP_ADMIN_REFUSED_POSITION, /* name: the shard of which the service does not know it; fail has its words */
  SLP_ADMIN_NO_TIMES,         /* rows of this schema hold none */
  SLP_ADMIN_WORKS,            /* owner: a worker without a lease is alive */
  SLP_ADMIN_CHANGING,         /* name: the word by which a row says that other rules hold, or are about to */
  SLP_ADMIN_OTHER_STREAM,     /* name: the stream that the token is of */
  SLP_ADMIN_NOTHING_LEFT,     /* every shard is read to its end: a token can't say that */
  SLP_ADMIN_IN_THE_WAY        /* `left` rows; `all` not 0: something had been written before they came */
} slp_admin_reason;

typedef struct slp_admin_why {
  slp_admin_reason reason;
  slp_admin_task task;
  const char *stream, *schema; /* "" before they are known */
  slp_str name, owner;
  size_t left, all;
  size_t unknown;      /* SOME_UNCHANGED: of those left, so many got a write that was not answered */
  uint8_t wrote;       /* IMPORT: something was sent to the table */
  size_t made, placed; /* IMPORT: so many rows are known to be made, of so many */
} slp_admin_why;

/* After on_done; they live as long as it does. */
const slp_fail *slp_admin_fail(const slp_admin *a); /* class SLP_FINE: all is well */
slp_admin_why slp_admin_reason_of(const slp_admin *a);
const slp_placed_list *slp_admin_placed(const slp_admin *a); /* SURVEY, IMPORT */
/* SURVEY: the same as a token. SLP_ENOMEM; SLOOP_ELEASE: every shard is read to its end. */
int slp_placed_token(slp_admin *a, slp_buf *text);

/* IMPORT: what becomes of each of placed. From DIFFERS on, nothing was written because of it. */
typedef enum slp_import_row {
  SLP_IMPORT_MISSING, /* to be written */
  SLP_IMPORT_SENT,
  SLP_IMPORT_MADE,
  SLP_IMPORT_THERE,   /* it was there, in the same place */
  SLP_IMPORT_DIFFERS, /* it is there, elsewhere */
  SLP_IMPORT_PARKED,
  SLP_IMPORT_BAD,      /* the row it comes from can't be read */
  SLP_IMPORT_NO_TIME,  /* it begins at a time, which its row does not tell */
  SLP_IMPORT_START,    /* rows of this schema do not tell where it begins: each worker has to be given that */
  SLP_IMPORT_POSITION, /* rows of this schema can't hold it */
  SLP_IMPORT_EXTRA,    /* odd: of a shard that is not among them */
  SLP_IMPORT_BAD_TARGET, /* odd: it can't be read */
  SLP_IMPORT_FOREIGN     /* odd: it is nothing that this schema has */
} slp_import_row;
typedef struct slp_import_odd { /* a row of the target that is in the way */
  slp_import_row what;
  slp_str name;
  const char *why;
  slp_position position;
} slp_import_odd;
slp_import_row slp_import_row_of(const slp_admin *a, size_t at, slp_position *ret_to); /* of placed[at] */
const slp_import_odd *slp_import_odd_of(const slp_admin *a, size_t at);                /* NULL: no more */
size_t slp_import_problems(const slp_admin *a);
int slp_import_begun(const slp_admin *a); /* the rows were compared */
int slp_import_wrote(const slp_admin *a);
const slp_admin_answer *slp_admin_answered(const slp_admin *a);

#endif
