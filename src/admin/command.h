/* command.h - one command of an operator, which reads or changes the rows of a fleet. A command has its own
 * requests, store and schema, and never touches the objects of a consumer. So it works before a consumer
 * starts, and while one runs.
 *
 * A command judges owners as a worker does. It takes a lease only from an owner that is proven dead: the
 * owner's row is marked as evicted, or the command itself has seen no sign of life for the length of a lease.
 * No proof is needed if the operator names a worker, or uses `force`. Every write has a condition. If a write
 * is refused because its row has changed, the command reads the rows again.
 *
 * Results are data and reasons; the command-line program makes the text for people. */
#ifndef SLP_ADMIN_COMMAND_H
#define SLP_ADMIN_COMMAND_H

#include "admin/positions.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/mem.h"
#include "core/position.h"
#include "core/source.h"
#include "host/host.h"
#include "lease/schema.h"
#include "lease/store.h"

#include <sloop_admin.h>

typedef struct slp_admin slp_admin;

typedef enum slp_admin_task {
  SLP_ADMIN_LEASES,  /* shows all rows */
  SLP_ADMIN_LAG,     /* shows all rows, and how far each shard is behind its tip */
  SLP_ADMIN_EXPLAIN, /* says why one shard is read, or why it is not */
  SLP_ADMIN_RELEASE, /* takes a lease from its owner, or evicts a worker */
  SLP_ADMIN_RESET,   /* sets the position of one lease, or of all leases */
  SLP_ADMIN_PAUSE,   /* stops the reading of one shard until a later PAUSE allows it again */
  SLP_ADMIN_DRAIN,   /* makes all workers stop reading until a later DRAIN allows it again */
  /* reads the position of every shard; no worker may use the table meanwhile, unless in_use is 1 */
  SLP_ADMIN_SURVEY,
  SLP_ADMIN_IMPORT /* creates rows for given positions */
} slp_admin_task;

typedef struct slp_admin_opts {
  slp_host *host;
  slp_source *source; /* borrowed; the command calls its functions describe, list, locate and fetch */
  /* Opens the table as a consumer of the fleet would. The command then owns the store and the schema. */
  int (*open)(void *ctx, const slp_src_describe *d, slp_store **ret_store, slp_schema **ret_schema,
              slp_fail *f);
  void *ctx;
  uint32_t lease_ms; /* in ms: how long to watch an owner whose row does not state the length of its lease */
  slp_admin_task task;
  /* Copied. RELEASE: a shard or a worker. RESET: a shard, or empty for all shards. EXPLAIN, PAUSE: a
   * shard. */
  slp_str name;
  /* RESET: the new position. If rows of the schema can hold a time, LATEST becomes the present time. */
  slp_position to;
  /* RESET, 1: evict a living owner at once; 0: wait until the owner is proven dead */
  uint8_t force;
  /* LAG: the time limit for reading shards, in ms; not 0. DRAIN, PAUSE: how long to wait, in ms, until the
   * workers have stopped. */
  uint32_t limit_ms;
  uint8_t hold_on; /* DRAIN, PAUSE, 1: the workers stop; 0: they may read again */
  /* IMPORT: the positions to write; the caller must keep them until the command is freed */
  slp_placed_list placed;
  slp_str token;   /* IMPORT: a token that has the positions, instead of `placed`; .p NULL: none */
  uint8_t apply;   /* IMPORT, 1: write the rows; 0: only find out what would be written */
  uint8_t several; /* IMPORT, 1: the table may have rows of other streams too */
  uint8_t in_use;  /* SURVEY, 1: workers may use the table meanwhile; 0: SURVEY fails if a worker lives */
  /* IMPORT, 1: the stream has no aggregates, so a position after a record with sub 0 means after the whole
   * record */
  uint8_t whole;
  /* Called from an event, never after on_done: try number `tries` of a request has failed, and the request is
   * sent again after wait_us. */
  void (*on_again)(void *arg, const slp_fail *f, uint32_t tries, uint64_t wait_us);
  /* called exactly once, from an event, unless the command is stopped; may free the command */
  void (*on_done)(slp_admin *a, void *arg);
  void *arg;
} slp_admin_opts;

/* What the command has found or done. Only the member of the command's task is set. It is NULL if the command
 * failed or was stopped before it had an answer. */
typedef struct slp_admin_answer {
  const sloop_leases_t *leases;
  const sloop_explanation_t *explanation;
  /* RELEASE, RESET, PAUSE: the changes; may be set even if the command failed */
  const sloop_admin_result_t *result;
  const sloop_drain_t *drain; /* DRAIN; may be set even if the command failed */
} slp_admin_answer;

/* Starts a command at once. Returns 0 or SLP_ENOMEM. */
int slp_admin_new(slp_admin **ret, slp_mem *mem, const slp_admin_opts *o);
/* Stops a command before it is done. Afterwards none of its requests is under way, and on_done is not called.
 * A write that was already sent may still change the table. The answer of a RELEASE or RESET then has the
 * changes made so far. `a` may be NULL here and in slp_admin_free. */
void slp_admin_stop(slp_admin *a);
/* Returns what the command's requests to the lease table have cost so far. */
slp_store_cost slp_admin_cost(const slp_admin *a);
void slp_admin_free(slp_admin *a); /* stops the command if it still runs, and frees it */

/* Why a command failed. */
typedef enum slp_admin_reason {
  /* the message of slp_admin_fail says everything, so the other members of slp_admin_why are not needed */
  SLP_ADMIN_TOLD,
  SLP_ADMIN_NO_MEMORY,
  SLP_ADMIN_STREAM_BUSY,
  SLP_ADMIN_NO_TABLE, /* the table does not exist; slp_admin_fail has the store's message */
  SLP_ADMIN_OWNED,    /* `name`: a shard whose owner lives. Nothing was changed, except perhaps by IMPORT. */
  SLP_ADMIN_SOME_UNCHANGED, /* `left` of `all` leases could not be changed as the operator asked */
  /* `name`: a worker that could not be evicted: the command tried several times, and the rows still did not
   * show the eviction */
  SLP_ADMIN_NOT_EVICTED,
  /* `name`: the name that the operator gave; it is neither a shard with a lease nor a worker */
  SLP_ADMIN_NO_SUCH_NAME,
  SLP_ADMIN_NO_SUCH_SHARD, /* `name`: a shard that the stream does not list, and that has no lease */
  SLP_ADMIN_NO_SUCH_LEASE, /* `name`: a shard without a row */
  SLP_ADMIN_BAD_LEASE,     /* `name`: a listed shard whose row is missing or can't be read */
  SLP_ADMIN_UNLISTED,      /* `name`: a shard that the stream does not list any more */
  SLP_ADMIN_NO_LEASES,
  /* `name`: a shard; the service does not know the position that the operator gave for it. slp_admin_fail has
   * the service's message. */
  SLP_ADMIN_REFUSED_POSITION,
  SLP_ADMIN_NO_TIMES, /* rows of this schema can't hold a time */
  SLP_ADMIN_WORKS,    /* `owner`: a worker that lives, perhaps without a lease, so the table is in use */
  /* `name`: the text of a row that says that the fleet's rules are changing, or that can't be understood */
  SLP_ADMIN_CHANGING,
  SLP_ADMIN_OTHER_STREAM, /* `name`: the stream for which the token was made */
  SLP_ADMIN_NO_HOLD, /* rows of this schema can't say that an application is drained, or a shard paused */
  /* DRAIN, PAUSE: the row to be changed kept changing, so that every write of this command was refused */
  SLP_ADMIN_NOT_SWITCHED,
  SLP_ADMIN_STILL_READS_IT, /* PAUSE: `owner` has not given up shard `name` in time; the pause stays */
  SLP_ADMIN_STILL_READ,     /* DRAIN: `left` workers have not stopped in time; the drain stays */
  SLP_ADMIN_NOTHING_LEFT,   /* every shard is read to its end, which a token can't express */
  /* `left` rows or positions keep IMPORT from writing. `all` not 0: IMPORT had written rows before it saw
   * them. */
  SLP_ADMIN_IN_THE_WAY
} slp_admin_reason;

typedef struct slp_admin_why {
  slp_admin_reason reason;
  /* The command's task. */
  slp_admin_task task;
  const char *stream, *schema; /* the stream and the schema of the command; "" if not known yet */
  slp_str name, owner;
  size_t left, all;
  size_t unknown; /* SOME_UNCHANGED: for how many of the `left` leases no answer came to the write */
  uint8_t wrote;  /* IMPORT, 1: at least one write was sent to the table */
  /* IMPORT: how many rows were surely created; how many positions there are to write */
  size_t made, placed;
} slp_admin_why;

/* The results of the next functions are valid from on_done until the command is freed. */
const slp_fail *slp_admin_fail(const slp_admin *a); /* why the command failed; class SLP_FINE: it succeeded */
slp_admin_why slp_admin_reason_of(const slp_admin *a);
/* SURVEY, IMPORT: returns the positions, sorted by shard */
const slp_placed_list *slp_admin_placed(const slp_admin *a);
/* SURVEY: writes the positions as a token. Returns 0, SLP_ENOMEM, or SLOOP_ELEASE if every shard is read to
 * its end. */
int slp_placed_token(slp_admin *a, slp_buf *text);

/* IMPORT: what became of one position in `placed`. If any position is DIFFERS, or has a state further down in
 * this list, IMPORT writes no more rows. */
typedef enum slp_import_row {
  SLP_IMPORT_MISSING, /* the row is not written yet */
  SLP_IMPORT_SENT,
  SLP_IMPORT_MADE,
  SLP_IMPORT_THERE,   /* the row existed before, with the same position */
  SLP_IMPORT_DIFFERS, /* the row exists, but has another position */
  SLP_IMPORT_PARKED,
  SLP_IMPORT_BAD, /* the row that the position comes from can't be read */
  /* the position is a time, but the row that the position comes from does not say which */
  SLP_IMPORT_NO_TIME,
  /* The position is a start (the oldest record, a time, or from now on), and rows of this schema can't hold
   * such a position. Each worker must get the start as an option instead. */
  SLP_IMPORT_START,
  SLP_IMPORT_POSITION,   /* rows of this schema can't hold this position */
  SLP_IMPORT_EXTRA,      /* only in slp_import_odd: a row of a shard that is not in `placed` */
  SLP_IMPORT_BAD_TARGET, /* only in slp_import_odd: a row that can't be read */
  SLP_IMPORT_FOREIGN     /* only in slp_import_odd: a row of a kind that this schema does not have */
} slp_import_row;
typedef struct slp_import_odd { /* a row of the table that keeps IMPORT from writing */
  slp_import_row what;
  slp_str name;
  const char *why;
  slp_position position;
} slp_import_odd;
/* Returns what became of placed[at]. *ret_to: the position for its row. */
slp_import_row slp_import_row_of(const slp_admin *a, size_t at, slp_position *ret_to);
/* returns the row number `at`, from 0, of those that keep IMPORT from writing; NULL: there are fewer */
const slp_import_odd *slp_import_odd_of(const slp_admin *a, size_t at);
/* Returns how many positions and rows keep IMPORT from writing. */
size_t slp_import_problems(const slp_admin *a);
int slp_import_begun(const slp_admin *a); /* returns 1 if IMPORT has compared the rows with the positions */
int slp_import_wrote(const slp_admin *a);
/* Returns the answer; never NULL, but its members may be. */
const slp_admin_answer *slp_admin_answered(const slp_admin *a);

#endif
