/* admin.h - one command of an operator, which reads or changes the rows of a fleet. It has its own requests,
 * store and schema. So it works before a consumer starts and beside one that runs, whose objects it never
 * touches.
 *
 * A command judges owners as a worker does. It takes a lease only from an owner that is proven dead. The
 * proof is a row marked as evicted, or a whole lease of silence that the command watched itself. No proof is
 * needed if the operator names a worker, or uses `force`. Every write has a condition; a row that has changed
 * meanwhile is read again. Results are data and reasons: the text for people is made by the command-line
 * program. */
#ifndef SLP_ADMIN_ADMIN_H
#define SLP_ADMIN_ADMIN_H

#include "admin/placed.h"
#include "lease/schema.h"
#include "base/buf.h"
#include "core/source.h"
#include <sloop.h>

typedef struct slp_admin slp_admin;

typedef enum slp_admin_task {
  SLP_ADMIN_LEASES,  /* shows all rows */
  SLP_ADMIN_LAG,     /* shows all rows, and how far behind each shard is */
  SLP_ADMIN_EXPLAIN, /* tells why one shard is read, or is not */
  SLP_ADMIN_RELEASE, /* takes a lease from its owner, or evicts a worker */
  SLP_ADMIN_RESET,   /* sets the position of one lease, or of all */
  SLP_ADMIN_SURVEY,  /* reads the position of every shard from a table that nobody works with */
  SLP_ADMIN_IMPORT   /* makes rows of positions that come from elsewhere */
} slp_admin_task;

typedef struct slp_admin_opts {
  slp_host *host;
  slp_source *source; /* borrowed; asked for its description and its listing */
  int (*open)(void *ctx, const slp_src_describe *d, slp_store **ret_store, slp_schema **ret_schema,
              /* opens the table, as for a consumer of the fleet; the command owns both afterwards */
              slp_fail *f);
  void *ctx;
  uint32_t lease_ms; /* how long to watch an owner whose row does not tell the length of its lease */
  slp_admin_task task;
  slp_str name;    /* a shard; RELEASE: a shard or a worker; RESET: a shard, or empty for all. Copied */
  slp_position to; /* RESET: the new position; LATEST becomes a time where rows can hold one */
  /* RESET: evict a living owner, and do not wait for a proof that it is dead. */
  uint8_t force;
  uint32_t limit_ms;      /* LAG: the time for reading shards; not 0 */
  slp_placed_list placed; /* IMPORT: the positions to write; they outlive the command */
  slp_str token;          /* IMPORT: a token to take them from instead; .p NULL: none */
  uint8_t apply;          /* IMPORT: 0: only find out what would be done */
  uint8_t several;        /* IMPORT: rows of other streams may be in the table */
  /* IMPORT: the stream has no aggregates, so "behind sub-record 0" means behind the whole record */
  uint8_t whole;
  /* Called from an event, never after on_done: the tries-th try of a request failed, and the next one is sent
   * after wait_us. */
  void (*on_again)(void *arg, const slp_fail *f, uint32_t tries, uint64_t wait_us);
  void (*on_done)(slp_admin *a, void *arg); /* called once, from an event; may free the command */
  void *arg;
} slp_admin_opts;

/* What the command found or did. Only the member of its task is set. NULL: the command failed, or was stopped
 * before it knew. */
typedef struct slp_admin_answer {
  const sloop_leases_t *leases;
  const sloop_explanation_t *explanation;
  const sloop_admin_result_t *result; /* RELEASE, RESET; may be set beside a failure */
} slp_admin_answer;

/* Starts a command at once. SLP_ENOMEM. */
int slp_admin_new(slp_admin **ret, slp_mem *mem, const slp_admin_opts *o);
/* Stops a command before it is done. Nothing of it is in flight afterwards, and on_done is not called; but a
 * write that was sent may still happen. The answer then tells what was done until now. NULL is allowed here
 * and in slp_admin_free. */
void slp_admin_stop(slp_admin *a);
void slp_admin_free(slp_admin *a); /* stops the command, if it runs, and frees it */

/* Why a command failed. */
typedef enum slp_admin_reason {
  SLP_ADMIN_TOLD, /* the request that failed tells it: see slp_admin_fail */
  SLP_ADMIN_NO_MEMORY,
  SLP_ADMIN_STREAM_BUSY,
  SLP_ADMIN_NO_TABLE, /* slp_admin_fail has the store's text */
  SLP_ADMIN_OWNED, /* `name`: a shard whose owner is alive. Nothing was changed, except perhaps by IMPORT */
  SLP_ADMIN_SOME_UNCHANGED, /* `left` of `all` leases are not as they should be */
  SLP_ADMIN_NOT_EVICTED,    /* `name`: a worker whose row kept changing */
  SLP_ADMIN_NO_SUCH_NAME,   /* `name`: neither a lease nor a worker */
  SLP_ADMIN_NO_SUCH_SHARD,  /* `name`: a shard that is neither listed nor leased */
  SLP_ADMIN_NO_SUCH_LEASE,  /* `name`: a shard without a row */
  SLP_ADMIN_BAD_LEASE,      /* `name`: a listed shard whose row is missing or can't be read */
  SLP_ADMIN_UNLISTED,       /* `name`: a shard that the stream does not list any more */
  SLP_ADMIN_NO_LEASES,
  /* `name`: a shard in which the service does not know the position; slp_admin_fail has its text */
  SLP_ADMIN_REFUSED_POSITION,
  SLP_ADMIN_NO_TIMES, /* rows of this schema can't hold a time */
  SLP_ADMIN_WORKS,    /* `owner`: a living worker, which may have no lease */
  /* `name`: the text of a row which says that the rules of the fleet are changing, or are unknown */
  SLP_ADMIN_CHANGING,
  SLP_ADMIN_OTHER_STREAM, /* `name`: the stream that the token was made for */
  SLP_ADMIN_NOTHING_LEFT, /* every shard is read to its end, which a token can't say */
  /* `left` rows are in the way; `all` not 0: something had been written before they were seen */
  SLP_ADMIN_IN_THE_WAY
} slp_admin_reason;

typedef struct slp_admin_why {
  slp_admin_reason reason;
  /* The command's task. */
  slp_admin_task task;
  const char *stream, *schema; /* "" before they are known */
  slp_str name, owner;
  size_t left, all;
  size_t unknown;      /* SOME_UNCHANGED: how many of `left` got a write without an answer */
  uint8_t wrote;       /* IMPORT: something was sent to the table */
  size_t made, placed; /* IMPORT: rows that are known to be made, and positions that are to become rows */
} slp_admin_why;

/* The results below are valid after on_done, as long as the command lives. */
const slp_fail *slp_admin_fail(const slp_admin *a); /* class SLP_FINE: the command succeeded */
slp_admin_why slp_admin_reason_of(const slp_admin *a);
const slp_placed_list *slp_admin_placed(const slp_admin *a); /* SURVEY, IMPORT */
/* SURVEY: writes the positions as a token. SLP_ENOMEM; SLOOP_ELEASE: every shard is read to its end. */
int slp_placed_token(slp_admin *a, slp_buf *text);

/* IMPORT: what becomes of each position in `placed`. If any row is DIFFERS or a later value, nothing more is
 * written. */
typedef enum slp_import_row {
  SLP_IMPORT_MISSING, /* to be written */
  SLP_IMPORT_SENT,
  SLP_IMPORT_MADE,
  SLP_IMPORT_THERE,   /* the row existed already, with the same position */
  SLP_IMPORT_DIFFERS, /* the row exists, with another position */
  SLP_IMPORT_PARKED,
  SLP_IMPORT_BAD,     /* the row that the position comes from can't be read */
  SLP_IMPORT_NO_TIME, /* the position is "from a time on", and its row does not tell the time */
  /* the position is a start, which rows of this schema do not hold: each worker must be given it as an
   * option */
  SLP_IMPORT_START,
  SLP_IMPORT_POSITION,   /* rows of this schema can't hold the position */
  SLP_IMPORT_EXTRA,      /* in slp_import_odd: a row of a shard that is not in `placed` */
  SLP_IMPORT_BAD_TARGET, /* in slp_import_odd: a row that can't be read */
  SLP_IMPORT_FOREIGN     /* in slp_import_odd: a row of a kind that this schema does not know */
} slp_import_row;
typedef struct slp_import_odd { /* a row in the target table that is in the way */
  slp_import_row what;
  slp_str name;
  const char *why;
  slp_position position;
} slp_import_odd;
slp_import_row slp_import_row_of(const slp_admin *a, size_t at, slp_position *ret_to); /* of placed[at] */
const slp_import_odd *slp_import_odd_of(const slp_admin *a, size_t at);                /* NULL: no more */
size_t slp_import_problems(const slp_admin *a);
int slp_import_begun(const slp_admin *a); /* 1: the rows were compared with the positions */
int slp_import_wrote(const slp_admin *a);
const slp_admin_answer *slp_admin_answered(const slp_admin *a);

#endif
