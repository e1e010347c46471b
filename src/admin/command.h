/* command.h - one command of an operator, which reads or changes the rows of a fleet. The command has its own
 * requests, store and schema. So it works before a consumer starts, and also while a consumer runs, because
 * it never touches that consumer's objects.
 *
 * A command judges owners as a worker does. It takes a lease only from an owner that is proven dead. The
 * proof is a row marked as evicted, or silence for the length of a lease that the command watched itself. No
 * proof is needed if the operator names a worker, or uses `force`. Every write has a condition. If a write is
 * refused because its row has changed, the command reads the rows again. Results are data and reasons; the
 * command-line program makes the text for people. */
#ifndef SLP_ADMIN_COMMAND_H
#define SLP_ADMIN_COMMAND_H

#include "admin/positions.h"
#include "lease/schema.h"
#include "base/buf.h"
#include "core/source.h"
#include <sloop.h>

typedef struct slp_admin slp_admin;

typedef enum slp_admin_task {
  SLP_ADMIN_LEASES,  /* shows all rows */
  SLP_ADMIN_LAG,     /* shows all rows, and how far each shard is behind */
  SLP_ADMIN_EXPLAIN, /* tells why one shard is read, or why it is not read */
  SLP_ADMIN_RELEASE, /* takes a lease from its owner, or evicts a worker */
  SLP_ADMIN_RESET,   /* sets the position of one lease, or of all leases */
  SLP_ADMIN_SURVEY,  /* reads the position of every shard from a table that no worker uses at the time */
  SLP_ADMIN_IMPORT   /* creates rows for given positions */
} slp_admin_task;

typedef struct slp_admin_opts {
  slp_host *host;
  slp_source *source; /* borrowed; the command calls its describe, list, locate and fetch */
  int (*open)(void *ctx, const slp_src_describe *d, slp_store **ret_store, slp_schema **ret_schema,
              /* opens the table as a consumer of the fleet would; the command then owns the store and the
               * schema */
              slp_fail *f);
  void *ctx;
  uint32_t lease_ms; /* how long to watch an owner whose row does not tell the length of its lease */
  slp_admin_task task;
  /* RELEASE: a shard or a worker. RESET: a shard, or empty for all shards. EXPLAIN: a shard. Copied */
  slp_str name;
  /* RESET: the new position; LATEST becomes the present time if rows of the schema can hold a time */
  slp_position to;
  /* RESET: 1: evict a living owner at once, without waiting for a proof that the owner is dead. */
  uint8_t force;
  uint32_t limit_ms; /* LAG: the time limit for reading shards; not 0 */
  /* IMPORT: the positions to write; the caller keeps them valid until the command is freed */
  slp_placed_list placed;
  slp_str token;   /* IMPORT: a token to take the positions from, instead of `placed`; .p NULL: none */
  uint8_t apply;   /* IMPORT: 1: write the rows; 0: only find out what would be written */
  uint8_t several; /* IMPORT: 1: the table may also hold rows of other streams */
  /* IMPORT: 1: the stream has no aggregates, so "after sub-record 0" means after the whole record */
  uint8_t whole;
  /* Called from an event, never after on_done: try number `tries` of a request has failed, and the request is
   * sent again after wait_us. */
  void (*on_again)(void *arg, const slp_fail *f, uint32_t tries, uint64_t wait_us);
  void (*on_done)(slp_admin *a, void *arg); /* called once, from an event; may free the command */
  void *arg;
} slp_admin_opts;

/* What the command found or did. Only the member of the command's task is set. The member is NULL if the
 * command failed, or was stopped, before it had an answer. */
typedef struct slp_admin_answer {
  const sloop_leases_t *leases;
  const sloop_explanation_t *explanation;
  const sloop_admin_result_t *result; /* RELEASE, RESET; may be set although the command failed */
} slp_admin_answer;

/* Starts a command at once. Returns SLP_ENOMEM if there is no memory. */
int slp_admin_new(slp_admin **ret, slp_mem *mem, const slp_admin_opts *o);
/* Stops a command before it is done. Afterwards none of its requests is in flight, and on_done is not called.
 * A write that was already sent may still take effect. The answer of a stopped RELEASE or RESET reports the
 * changes made so far. `a` may be NULL here and in slp_admin_free. */
void slp_admin_stop(slp_admin *a);
/* Returns what the command has cost so far in the lease table. */
slp_store_cost slp_admin_cost(const slp_admin *a);
void slp_admin_free(slp_admin *a); /* stops the command if it still runs, and frees it */

/* Why a command failed. */
typedef enum slp_admin_reason {
  SLP_ADMIN_TOLD, /* the failed request gives the reason: see slp_admin_fail */
  SLP_ADMIN_NO_MEMORY,
  SLP_ADMIN_STREAM_BUSY,
  SLP_ADMIN_NO_TABLE, /* slp_admin_fail has the store's message */
  SLP_ADMIN_OWNED, /* `name`: a shard whose owner is alive. Nothing was changed, except perhaps by IMPORT */
  SLP_ADMIN_SOME_UNCHANGED, /* `left` of `all` leases could not be changed as asked */
  SLP_ADMIN_NOT_EVICTED,    /* `name`: a worker whose row changed before each try to evict it */
  SLP_ADMIN_NO_SUCH_NAME,   /* `name`: the name of neither a lease nor a worker */
  SLP_ADMIN_NO_SUCH_SHARD,  /* `name`: a shard that is not listed and has no lease */
  SLP_ADMIN_NO_SUCH_LEASE,  /* `name`: a shard without a row */
  SLP_ADMIN_BAD_LEASE,      /* `name`: a listed shard whose row is missing or can't be read */
  SLP_ADMIN_UNLISTED,       /* `name`: a shard that the stream does not list any more */
  SLP_ADMIN_NO_LEASES,
  /* `name`: a shard for which the service does not know the position; slp_admin_fail has the service's
   * message */
  SLP_ADMIN_REFUSED_POSITION,
  SLP_ADMIN_NO_TIMES, /* rows of this schema can't hold a time */
  SLP_ADMIN_WORKS,    /* `owner`: a living worker, which may have no lease */
  /* `name`: the text of a row that says that the fleet's rules are changing, or that is in unknown words */
  SLP_ADMIN_CHANGING,
  SLP_ADMIN_OTHER_STREAM, /* `name`: the stream that the token was made for */
  SLP_ADMIN_NOTHING_LEFT, /* every shard is read to its end, and a token can't express that */
  /* `left` rows are in the way; `all` not 0: IMPORT had written rows before it saw them */
  SLP_ADMIN_IN_THE_WAY
} slp_admin_reason;

typedef struct slp_admin_why {
  slp_admin_reason reason;
  /* The command's task. */
  slp_admin_task task;
  const char *stream, *schema; /* "" if not known yet */
  slp_str name, owner;
  size_t left, all;
  size_t unknown; /* SOME_UNCHANGED: the number of leases, out of `left`, whose write got no answer */
  uint8_t wrote;  /* IMPORT: 1: a write was sent to the table */
  /* IMPORT: how many rows are known to be created, and how many positions are to become rows */
  size_t made, placed;
} slp_admin_why;

/* The results of the functions below are valid from on_done until the command is freed. */
const slp_fail *slp_admin_fail(const slp_admin *a); /* class SLP_FINE: the command succeeded */
slp_admin_why slp_admin_reason_of(const slp_admin *a);
/* SURVEY, IMPORT: the positions, sorted by shard */
const slp_placed_list *slp_admin_placed(const slp_admin *a);
/* SURVEY: writes the positions as a token. Returns SLP_ENOMEM, or SLOOP_ELEASE if every shard is read to its
 * end. */
int slp_placed_token(slp_admin *a, slp_buf *text);

/* IMPORT: the state of each position in `placed`. If a position has the state DIFFERS or a later one of this
 * list, IMPORT writes no more rows. */
typedef enum slp_import_row {
  SLP_IMPORT_MISSING, /* the row is not written yet */
  SLP_IMPORT_SENT,
  SLP_IMPORT_MADE,
  SLP_IMPORT_THERE,   /* the row existed already, with the same position */
  SLP_IMPORT_DIFFERS, /* the row exists, but has another position */
  SLP_IMPORT_PARKED,
  SLP_IMPORT_BAD,     /* the source's row of this position can't be read */
  SLP_IMPORT_NO_TIME, /* the position is "from a time on", but the source's row does not tell the time */
  /* the position says where reading is to begin, which rows of this schema can't hold; each worker must be
   * given it as an option */
  SLP_IMPORT_START,
  SLP_IMPORT_POSITION,   /* rows of this schema can't hold the position */
  SLP_IMPORT_EXTRA,      /* only in slp_import_odd: a row of a shard that is not in `placed` */
  SLP_IMPORT_BAD_TARGET, /* only in slp_import_odd: a row that can't be read */
  SLP_IMPORT_FOREIGN     /* only in slp_import_odd: a row of a kind that this schema does not know */
} slp_import_row;
typedef struct slp_import_odd { /* a row of the target table that is in the way */
  slp_import_row what;
  slp_str name;
  const char *why;
  slp_position position;
} slp_import_odd;
/* the state of placed[at]; *ret_to: the position for its row */
slp_import_row slp_import_row_of(const slp_admin *a, size_t at, slp_position *ret_to);
/* returns the row number `at` that is in the way; NULL: there is no such row */
const slp_import_odd *slp_import_odd_of(const slp_admin *a, size_t at);
/* Returns how many positions and rows are in the way. */
size_t slp_import_problems(const slp_admin *a);
int slp_import_begun(const slp_admin *a); /* 1: IMPORT has compared the rows with the positions */
int slp_import_wrote(const slp_admin *a);
/* Never NULL; its members may be NULL. */
const slp_admin_answer *slp_admin_answered(const slp_admin *a);

#endif
