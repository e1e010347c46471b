/* sloop_admin.h - read and change the leases of an application, as its operator does.
 *
 * Rules that hold for every function here:
 *  - The rules of sloop.h hold here too: about the thread, callbacks, SIGPIPE, strings, structs and enums.
 *  - The least program fills sloop_opts_t, calls sloop_admin_open(), makes one request, and calls
 *    sloop_admin_close() in the callback of that. A program that has a consumer needs no handle of its own:
 *    sloop_admin_of() returns the consumer's.
 *  - A request is a function here that takes a callback, except sloop_admin_close(). A handle has one pending
 *    request; several handles may have one each. A request makes HTTP calls of its own and does not disturb
 *    the reading of a consumer.
 *  - The callback comes once: with status 0 and what was asked for, or with a negative status and the
 *    error. SLOOP_ELEASE: the lease table does not exist (and is not made); UV_ECANCELED: the handle was
 *    closed meanwhile. Besides the codes of sloop.h a status may be SLOOP_EOWNED, SLOOP_ENOWORKER,
 *    SLOOP_EPOSITION and SLOOP_ELEASE.
 *  - Each request returns SLOOP_ESTATE: the handle is closed, another request is pending, or the options have
 *    no app (except where a function says otherwise); SLOOP_EOPTION: cb or a name is missing, or an argument
 *    makes no sense.
 *  - An instance is one life of a worker: see sloop_worker(). A name or a reason that does not exist is "";
 *    a position that does not exist has kind 0. */
#ifndef SLOOP_ADMIN_H
#define SLOOP_ADMIN_H
#include "sloop.h"
#ifdef __cplusplus
extern "C" {
#endif

/* ---- the handle ---------------------------------------------------------------------------------- */
/* All functions here are called on a handle. A program opens one, or uses the one that is a part of a
 * consumer. */

/* One application on one stream, as an operator sees it. */
typedef struct sloop_admin_s sloop_admin_t;
/* Opens a handle for the stream, app, store and schema of the options. on_batch is not needed: no record is
 * ever handed over. Of the callbacks only on_error, on_log and creds are called. They get a sloop_t of the
 * handle's own, on which they may call sloop_arg() and sloop_loop() and nothing else. on_error gets calls
 * that failed and are repeated. An open handle keeps uv_run() going. `retrieval` is ignored. On failure *out
 * is NULL, and why says the reason. Returns what sloop_open() does. */
SLOOP_EXTERN int sloop_admin_open(sloop_admin_t **out, struct uv_loop_s *loop, const sloop_opts_t *o,
                                  char *why, size_t why_size);
/* Returns the handle that is a part of s: with the options, the connections and the credentials of s. It
 * works before sloop_start(), while s runs, after sloop_stop(), and until sloop_close(). The handle is the
 * same each time, never NULL, and lives as long as s. */
SLOOP_EXTERN sloop_admin_t *sloop_admin_of(sloop_t *s);
/* Called when a handle is closed. */
typedef void (*sloop_admin_closed_cb)(sloop_admin_t *, void *arg);
/* Closes a handle of sloop_admin_open() at once. The callback of a pending request comes first, with
 * UV_ECANCELED; a write that was sent may still take effect. cb (may be NULL) is the last callback, on a
 * later turn of the loop; a is gone when it returns. If cb is NULL, a must not be used once this has
 * returned. If a is NULL, was closed before, or is of sloop_admin_of(), this does nothing and does not call
 * cb. */
SLOOP_EXTERN void sloop_admin_close(sloop_admin_t *a, sloop_admin_closed_cb cb, void *arg);

/* ---- the leases and the workers ------------------------------------------------------------------ */
/* What the lease table says about shards and workers, and how far behind a shard is that nobody reads. */

typedef enum {
  SLOOP_LEASE_FREE = 1,      /* nobody owns it, or its owner has left */
  SLOOP_LEASE_OWNED = 2,     /* its owner looks alive, or the table does not tell */
  SLOOP_LEASE_OWNER_DEAD = 3 /* its owner's row is gone, or marked as evicted; or the time for which it was
                                held is over. Or the time in the owner's row is, by our clock, older than the
                                owner's lease_ms plus 30 s: an estimate, since one read can't prove it */
} sloop_lease_state_t;
/* What reading at a lease's position has shown (sloop_admin_lag()). */
typedef enum {
  SLOOP_LAG_UNASKED = 0,     /* nothing was read: its living owner tells the lag, or the shard was read to
                                its end */
  SLOOP_LAG_READ = 1,        /* the lag is read_behind_ms */
  SLOOP_LAG_TRIMMED = 2,     /* the stream does not keep the position any more: records behind it may be
                                lost */
  SLOOP_LAG_GONE = 3,        /* the stream has no such shard any more */
  SLOOP_LAG_REFUSED = 4,     /* the service refuses its position: nobody can go on from there */
  SLOOP_LAG_FAILED = 5,      /* not known: the call failed; lag_error */
  SLOOP_LAG_UNPROVEN = 6,    /* not known: only pages without records came, and none of them proves the tip */
  SLOOP_LAG_OUT_OF_TIME = 7, /* not known: there were too many shards for the time */
  SLOOP_LAG_NO_POSITION = 8  /* not known: nothing says where reading would begin */
} sloop_lag_t;
/* A lease as the table has it. */
typedef struct sloop_lease_s {
  const char *shard;
  const char *owner;         /* the instance that owns it */
  const char *claim;         /* the instance that has asked the owner for it */
  sloop_position_t position; /* AFTER_SEQ with sub 4294967295: behind all records with that number */
  const char *parents[2];
  sloop_lease_state_t state;
  uint64_t epoch;           /* each new owner has a greater one */
  int parked;               /* 1: nobody reads it until sloop_admin_release() */
  int64_t written_at_ms;    /* when the row was written, by its writer's clock; -1: not told */
  int64_t behind_ms;        /* the lag that its owner told when it wrote the position; -1: not told */
  const char *avoid;        /* the instance that gave it up for lack of progress */
  int refused_n;            /* how often in a row the service has refused to read from this position */
  int64_t refused_at_ms;    /* when the service last refused the position, by the clock of the worker that
                               read; -1: it did not */
  int64_t refused_until_ms; /* no worker tries again before this time; -1: it was not refused */
  sloop_lag_t lag;          /* sloop_admin_lag() only */
  int64_t read_behind_ms;   /* READ: how far its position is behind the tip; -1: not known */
  int64_t read_at_ms;       /* when the lag was read, by our clock; -1: it was not */
  const char *lag_error;    /* REFUSED, FAILED: what the service said; else "" */
  int64_t avoid_at_ms;      /* when avoid gave it up, by that worker's clock; -1: not told */
  int begin_untold;         /* 1: the row stores no position. position is then start of the handle's
                               options, and another worker may begin elsewhere */
} sloop_lease_t;
/* A worker as the table has it. Where workers have no rows, it is put together from the leases that name
 * it. */
typedef struct sloop_worker_s {
  const char *worker; /* its instance */
  const char *host;
  uint64_t counter;       /* of its heartbeats */
  uint32_t lease_ms,      /* a worker that is silent for so long is dead */
      held,               /* how many leases it has */
      weight;             /* as in sloop_opts_t */
  int leads, leaving,     /* 0 or 1 */
      dead;               /* 1: evicted, or it has left */
  int64_t written_at_ms,  /* when it wrote its row, by its own clock; -1: not told */
      behind_ms,          /* its lag; -1: not told */
      rate_bytes;         /* the bytes of payload that it hands over in a second; -1: not told */
  const char *evicted_by; /* the instance that evicted it; its own if it has left */
  int drained;            /* 1: it has confirmed that it obeys the present drain, and it has no lease */
} sloop_worker_t;
typedef struct sloop_leases_s {
  const sloop_lease_t *const *leases; /* sorted by shard */
  size_t leases_n;
  const sloop_worker_t *const *workers; /* sorted by name */
  size_t workers_n;
  const char *const *bad_rows; /* rows that make no sense: which, and why */
  size_t bad_rows_n;
  const char *passed_over; /* a text that names rows of other streams, which are left alone; "": there are
                              none */
  const sloop_lease_t *const *unleased; /* sloop_admin_lag() only: shards without a lease whose ancestors were
                                    all read to their end, so that they wait to be read. Only these members
                                    are set: shard, parents, state (FREE), position, lag, read_behind_ms,
                                    read_at_ms and lag_error. A position of kind 0: nothing says where reading
                                    would begin */
  size_t unleased_n;
  const char *unlisted;   /* why the stream's shards are not known; "": they are */
  int draining;           /* 1: the application is drained or being drained: see sloop_admin_drain() */
  const char *drained_by; /* the operator that began the drain; "": nobody */
  int64_t drained_at_ms;  /* when the drain was begun, by that operator's clock; -1: not told */
} sloop_leases_t;
/* Gets the rows; NULL: the request has failed. */
typedef void (*sloop_leases_cb)(sloop_admin_t *, int status, const sloop_leases_t *leases_or_null,
                                const sloop_error_t *error_or_null, void *arg);
/* Reads the rows of this stream and application in the lease table: all of them, once, consistently. */
SLOOP_EXTERN int sloop_admin_leases(sloop_admin_t *a, sloop_leases_cb cb, void *arg);
/* Does what sloop_admin_leases() does, and finds out the lag of each shard for which no living worker tells
 * it. For that the request reads at the shard's position: usually one GetRecords of one or two records. It
 * starts to read at most 200 shards a second. Nothing is handed over or written. A shard that was not read
 * within limit_ms (0: 10 s) is OUT_OF_TIME. The order starts at a random shard, so repeated calls reach all.
 * Returns SLOOP_EOPTION also if the handle is of sloop_admin_of() and `retrieval` is not
 * SLOOP_RETRIEVAL_POLL. */
SLOOP_EXTERN int sloop_admin_lag(sloop_admin_t *a, uint32_t limit_ms, sloop_leases_cb cb, void *arg);

/* ---- why a shard is read, or is not -------------------------------------------------------------- */
/* The one reason that holds for a shard now, and what it waits for. */

typedef enum {
  SLOOP_WHY_READ = 1,          /* its owner is alive and reads it */
  SLOOP_WHY_OWNED = 2,         /* it has an owner; a table without rows of workers can't say whether the owner
                                  lives */
  SLOOP_WHY_ENDED = 3,         /* it was read to its end */
  SLOOP_WHY_PARKED = 4,        /* nobody reads it until sloop_admin_release() */
  SLOOP_WHY_PARENT = 5,        /* waits_for must be read to its end first */
  SLOOP_WHY_FREE = 6,          /* nobody owns it; assigned_to says who takes it next */
  SLOOP_WHY_OWNER_SILENT = 7,  /* its owner has been silent for long; see free_in_ms */
  SLOOP_WHY_OWNER_DEAD = 8,    /* its owner was evicted, left, or came back as another incarnation: the shard
                                  is free now */
  SLOOP_WHY_OWNER_MISSING = 9, /* its owner has no row: the shard is free once other workers have missed that
                                  row for a whole lease */
  SLOOP_WHY_NO_LEASE = 10,     /* the stream lists the shard, and it has no lease yet */
  SLOOP_WHY_BAD_ROW = 11,      /* its row makes no sense: bad_row says why */
  SLOOP_WHY_REFUSED = 12,      /* the service refuses its position; see refused_until_ms of shard.lease */
  SLOOP_WHY_DRAINED = 13       /* the application is drained, and no worker that may live owns it */
} sloop_why_t;
typedef enum {
  SLOOP_LEADER_UNUSED = 0, /* workers of this schema have no leader: each takes what it finds */
  SLOOP_LEADER_ALIVE = 1,  /* the leader lives, according to its row */
  SLOOP_LEADER_NONE = 2,   /* nobody leads */
  SLOOP_LEADER_SILENT = 3, /* the time in the leader's row is older than the leader's lease_ms */
  SLOOP_LEADER_DEAD = 4    /* the leader was evicted or has left; `leader` names the worker that led last */
} sloop_leader_state_t;
/* A shard, as far as stream and table know it. */
typedef struct sloop_shard_lease_s {
  const char *shard;
  int listed, closed;         /* listed 1: the stream lists the shard; closed 1: and lists it as closed */
  const sloop_lease_t *lease; /* NULL: it has none that can be read */
} sloop_shard_lease_t;
typedef struct sloop_explanation_s {
  sloop_why_t why;
  sloop_shard_lease_t shard;
  int64_t read_at_ms;          /* when the table was read, by our clock */
  const sloop_worker_t *owner; /* the row of the lease's owner; NULL: none */
  const char *assigned_to;     /* the instance that it is assigned to; see assigned_silent_ms */
  int64_t free_in_ms;          /* OWNER_SILENT: the shard is free after this time at the latest, if another
                                  worker is alive. With another `why`: 0 */
  const char *bad_row;         /* BAD_ROW: what is wrong with its row */
  const sloop_shard_lease_t *waits_for;      /* PARENT: the parent that is not read to its end; else NULL */
  const sloop_shard_lease_t *waits_for_last; /* waits_for may wait for a parent of its own, and so on: the
                                    last ancestor of this chain, which waits for no other. NULL: that is
                                    waits_for itself */
  const sloop_shard_lease_t *const *parents;
  size_t parents_n;
  const sloop_shard_lease_t *const *children; /* the known children, if it is closed or was read to its end */
  size_t children_n;
  sloop_leader_state_t leader_state;
  const char *leader;              /* its instance */
  size_t workers_alive;            /* workers that are neither evicted, leaving nor silent */
  int epoch_is_counter;            /* 1: every write of a lease increases its epoch, not only a new owner */
  const char *hole_from, *hole_to; /* the first range of hash keys that no lease covers, decimal; "": all are
                                      covered */
  int64_t assigned_silent_ms;      /* how long assigned_to has been silent, if that is longer than its
                                      lease_ms; else 0 */
} sloop_explanation_t;
/* Gets the explanation; NULL: the request has failed. */
typedef void (*sloop_explain_cb)(sloop_admin_t *, int status, const sloop_explanation_t *explanation_or_null,
                                 const sloop_error_t *error_or_null, void *arg);
/* Finds out why a shard is read, or is not. Workers whose rows have old times are first watched for about
 * half a lease. cb gets SLOOP_ENOSHARD if the shard is neither listed nor in the table. */
SLOOP_EXTERN int sloop_admin_explain(sloop_admin_t *a, const char *shard, sloop_explain_cb cb, void *arg);

/* ---- releases and resets ------------------------------------------------------------------------- */
/* Changes of leases: taken from a dead owner or from a worker by name, or set to another position. */

/* What became of one lease. */
typedef enum {
  SLOOP_CHANGE_DONE = 1,     /* it was changed */
  SLOOP_CHANGE_WAS_SO = 2,   /* it needed no change */
  SLOOP_CHANGE_FREE = 3,     /* its owner is evicted, so it is free for others */
  SLOOP_CHANGE_UNOWNED = 4,  /* nothing to release: nobody owns it */
  SLOOP_CHANGE_ENDED = 5,    /* nothing to release: it was read to its end */
  SLOOP_CHANGE_NO_LEASE = 6, /* nothing to release: it has no lease that can be read */
  SLOOP_CHANGE_CONFLICT = 7, /* not changed: its row kept changing, or for the reason that the callback's
                                status gives */
  SLOOP_CHANGE_NO_ROW = 8,   /* not changed: it has no row that can be read */
  SLOOP_CHANGE_POSITION = 9, /* not changed: rows of this schema can't store that position */
  SLOOP_CHANGE_TAKEN = 10,   /* not changed: a worker has taken it meanwhile */
  SLOOP_CHANGE_UNKNOWN = 11  /* a write was sent, and its outcome is not known */
} sloop_change_kind_t;
typedef struct sloop_change_s {
  const char *shard;
  sloop_change_kind_t kind;
  sloop_position_t to;   /* its new position; kind 0: the position stays */
  sloop_position_t was;  /* DONE: its position before */
  const char *was_owner; /* DONE: the instance that it was taken from */
  int was_parked;        /* with DONE, 1: it was parked before */
} sloop_change_t;
typedef enum {
  SLOOP_EVICTION_NONE = 0,    /* no worker was to be evicted by name */
  SLOOP_EVICTION_DONE = 1,    /* the worker is evicted; it learns that by its next heartbeat, within half its
                                 lease_ms */
  SLOOP_EVICTION_WAS_SO = 2,  /* it was evicted before */
  SLOOP_EVICTION_HAD_LEFT = 3 /* it had left by itself */
} sloop_eviction_t;
typedef struct sloop_admin_result_s {
  const sloop_change_t *const *changes; /* leases that were not changed come first */
  size_t changes_n;
  sloop_eviction_t eviction; /* when a worker was released */
  const char *worker;        /* the instance of that worker */
  uint32_t worker_lease_ms;
  size_t unlisted_n;                     /* leases left alone, because the stream no longer lists their
                                    shards */
  size_t missing_n;                      /* listed shards without a lease that can be read */
  size_t bad_rows_n;                     /* rows that make no sense, left alone */
  const char *const *unfinished_parents; /* when one shard was reset: its parents that are read before it */
  size_t unfinished_parents_n;
  const char *const *children_ahead; /* when one shard was reset: its children that were read in part or have
                                        an owner. They are read on from where they stand, beside the shard */
  size_t children_ahead_n;
  size_t evicted_n; /* a reset with force: how many workers were evicted for it, or may have been */
} sloop_admin_result_t;
/* Gets the result. On failure the result says what was changed nevertheless. NULL: nothing was changed, or,
 * with UV_ECANCELED, it is not known whether something was. */
typedef void (*sloop_admin_cb)(sloop_admin_t *, int status, const sloop_admin_result_t *result_or_null,
                               const sloop_error_t *error_or_null, void *arg);
/* Given a shard: takes its lease from an owner that is dead, and unparks the shard. If its owner lives, cb
 * gets SLOOP_EOWNED, and nothing is changed. An owner that is not evicted yet is watched for its lease_ms, so
 * cb may take that long.
 *
 * Given a worker's id or instance: evicts that worker, so that all its leases are free for others. A worker
 * that lives learns that by its next heartbeat, within half a lease, and joins again as another incarnation.
 * Until then it may hand over records that another worker reads already, in a greater epoch; positions that
 * it saves are refused. In schemas without rows of workers each of the worker's leases is taken: the worker
 * learns that when it renews them, and may take them again.
 *
 * cb gets SLOOP_ENOSHARD or SLOOP_ENOWORKER if there is no shard, or no worker, of that name. */
SLOOP_EXTERN int sloop_admin_release(sloop_admin_t *a, const char *shard_or_worker, sloop_admin_cb cb,
                                     void *arg);
/* Sets the position of one shard, or (NULL) of all that have a lease and are still listed. A lease that ended
 * is read again, parents before children. `to` is one of these:
 *
 * SLOOP_OLDEST.
 *
 * SLOOP_LATEST: what arrives from now on, so closed shards with children count as read.
 *
 * SLOOP_AT_TIME: with schema "sloop" only, else cb gets SLOOP_EOPTION.
 *
 * SLOOP_AT_SEQ: for one shard only; to->shard is ignored.
 *
 * If a living worker owns one of the leases, cb gets SLOOP_EOWNED, and nothing is changed. An owner that is
 * not evicted yet is watched for its lease_ms. With force nobody is watched: owners are evicted first, with
 * the consequences described at sloop_admin_release(). For a sequence number the service is first asked for
 * an iterator: if it refuses, cb gets SLOOP_EPOSITION or SLOOP_ETRIMMED, and nothing is changed.
 * SLOOP_ELEASE: some leases could not be changed; SLOOP_ENOSHARD: there is no such lease. */
SLOOP_EXTERN int sloop_admin_reset(sloop_admin_t *a, const char *shard_or_null, const sloop_position_t *to,
                                   int force, sloop_admin_cb cb, void *arg);

/* ---- drains --------------------------------------------------------------------------------------- */
/* An application whose workers all stop reading, and go on later where they stopped. */

typedef struct sloop_drain_s {
  int on;                       /* 1: the application is drained */
  int was_so;                   /* 1: `on` had its value before this request, or another operator gave it that
                                   value */
  const char *by;               /* if on is 1: the operator that began the drain */
  int64_t at_ms;                /* when the drain was begun or ended, by that operator's clock; -1: never */
  size_t workers_n, leases_n;   /* workers that are not evicted; leases that were not read to their end */
  const char *const *waits_for; /* if on is 1: the instances that may still read */
  size_t waits_for_n;
} sloop_drain_t;
/* Gets the state of the drain; NULL: nothing was changed, or that is not known. */
typedef void (*sloop_drain_cb)(sloop_admin_t *, int status, const sloop_drain_t *drain_or_null,
                               const sloop_error_t *error_or_null, void *arg);
/* on 1: drains the application. Its workers stop fetching, wait for the records that are out (at most
 * handover_ms), store their positions and release all leases. They, and workers that start later, keep
 * running and wait. cb comes when no worker reads any more, and none will before the drain is ended. A worker
 * that is silent for its lease_ms is evicted. SLOOP_ELEASE after limit_ms (0: 60 s): the application stays
 * drained, and waits_for has the workers that may still read. Workers of 0.1.0 know no drain and read on.
 *
 * on 0: ends the drain. cb comes at once; workers take their leases in some seconds.
 *
 * With schema "sloop" only, else cb gets SLOOP_EOPTION. */
SLOOP_EXTERN int sloop_admin_drain(sloop_admin_t *a, int on, uint32_t limit_ms, sloop_drain_cb cb, void *arg);
/* on 1: pauses one shard: its owner waits for the records that are out, stores its position and releases the
 * lease, and nobody takes it. cb comes when that is done. on 0: ends the pause, or the parking of a shard
 * that a worker has parked. The result has one change: DONE, WAS_SO or ENDED. SLOOP_ENOSHARD: the shard has
 * no lease; SLOOP_ELEASE after limit_ms (0: 60 s): its owner still reads, and the shard stays paused. With
 * schema "sloop" only, else cb gets SLOOP_EOPTION. */
SLOOP_EXTERN int sloop_admin_pause(sloop_admin_t *a, const char *shard, int on, uint32_t limit_ms,
                                   sloop_admin_cb cb, void *arg);

/* ---- copies of all positions --------------------------------------------------------------------- */
/* All positions are copied from one layout, store or token to another, for an application that moves. */

/* Where the positions of a stream are kept: the leases of an application, or a token. */
typedef struct sloop_place_s {
  size_t size;        /* set by sloop_place_init() */
  const char *app;    /* as in sloop_opts_t, like the next two. NULL: the place is a token */
  const char *store;  /* NULL: "dynamodb" */
  const char *schema; /* NULL: "sloop" */
  int several;        /* with "kcl": 1 if rows name their stream, because the application reads several */
  const char *token;  /* without app: the token to copy from. A token that is written is in
                         sloop_migration_t.token */
  int in_use;         /* for the source. 1: its checkpoints are copied while its workers go on; nothing is
                         written there. 0: the copy is refused while a worker lives */
} sloop_place_t;
#define sloop_place_init(p) sloop_place_init_sized((p), sizeof *(p))
SLOOP_EXTERN void sloop_place_init_sized(sloop_place_t *p, size_t size);
/* What becomes of one shard, or of one row. Kinds from SLOOP_MOVE_DIFFERS on are problems: they are in the
 * way of the copy. */
typedef enum {
  SLOOP_MOVE_TO_DO = 1,       /* it was not copied yet */
  SLOOP_MOVE_DONE = 2,        /* it was copied */
  SLOOP_MOVE_WAS_SO = 3,      /* the target has that position already */
  SLOOP_MOVE_DIFFERS = 4,     /* the target has another position: `to` */
  SLOOP_MOVE_PARKED = 5,      /* it is parked, which no other place can store; sloop_admin_release() ends
                                 that */
  SLOOP_MOVE_BAD_SOURCE = 6,  /* its row in the source makes no sense; `why` says more */
  SLOOP_MOVE_NO_TIME = 7,     /* it begins at a time that its row does not store: give that time as start of
                                 the handle's options */
  SLOOP_MOVE_START = 8,       /* rows of the target do not store where it begins, so give the handle and every
                                 worker of the target the same start option */
  SLOOP_MOVE_POSITION = 9,    /* rows of the target can't store that position */
  SLOOP_MOVE_EXTRA = 10,      /* the target has a row of a shard that the source does not know */
  SLOOP_MOVE_BAD_TARGET = 11, /* a row of the target makes no sense; `why` says more */
  SLOOP_MOVE_FOREIGN = 12     /* a row of the target is of a kind that its schema does not have */
} sloop_move_kind_t;
typedef struct sloop_move_s {
  const char *shard; /* shard id, or the key of a row */
  sloop_move_kind_t kind;
  sloop_position_t from, to; /* as the source has it, and as the target has it or will have it */
  int filled; /* 1: the source does not name the shard. It counts as read to its end if it is an ancestor
                 of shards that are named; else it begins at its oldest record */
  const char *why;
} sloop_move_t;
typedef struct sloop_migration_s {
  const sloop_move_t *const *moves; /* sorted by shard; then rows of the target that are in the way */
  size_t moves_n;
  size_t problems_n; /* moves that are in the way */
  int wrote;         /* 1: something was sent to the target */
  const char *token; /* the token that was made, if the target is one; else "" */
} sloop_migration_t;
/* Gets what was found out or done. found_or_null may be set also with a negative status. */
typedef void (*sloop_migrate_cb)(sloop_admin_t *, int status, const sloop_migration_t *found_or_null,
                                 const sloop_error_t *error_or_null, void *arg);
/* Copies the positions of all shards from one place to another. At most one of the two is a token. Needs no
 * app. With write 0 the request only finds out what would be done. The source stays as it is. Rows of the
 * target are made, and never changed.
 *
 * Both sides are first watched for a lease. If a worker lives on one, nothing is written, and cb gets
 * SLOOP_EOWNED. A source that is in_use is not watched: each checkpoint is copied as it was read, in the
 * order of its partition keys, so what its workers read later is read by the target's workers too. If
 * anything is in the way, nothing is written either, and cb gets SLOOP_ELEASE; the moves say what is in the
 * way. If a worker begins to work while rows are being made, cb gets SLOOP_ELEASE, unless all rows are there
 * by then. A copy that was cut off is completed by calling this again. SLOOP_ETOKEN: the token is damaged or
 * of another stream. Returns SLOOP_EOPTION also if a place is missing, or both are tokens. */
SLOOP_EXTERN int sloop_admin_migrate(sloop_admin_t *a, const sloop_place_t *from, const sloop_place_t *to,
                                     int write, sloop_migrate_cb cb, void *arg);

/* ---- registered consumers ------------------------------------------------------------------------ */
/* Enhanced fan-out reads by registered consumers. They belong to the stream, not to an application. */

typedef enum {
  SLOOP_REGISTERED_CREATING = 1,
  SLOOP_REGISTERED_DELETING,
  SLOOP_REGISTERED_ACTIVE
} sloop_registered_state_t;
/* A registered consumer of a stream, by which enhanced fan-out reads. */
typedef struct sloop_registered_s {
  const char *name, *arn;
  sloop_registered_state_t state;
  int64_t created_at_ms; /* -1: not told */
} sloop_registered_t;
/* Gets n consumers sorted by name and status 0; or a negative status, NULL and the error. */
typedef void (*sloop_registered_cb)(sloop_admin_t *, int status, const sloop_registered_t *const *consumers,
                                    size_t n, const sloop_error_t *error_or_null, void *arg);
/* Lists the consumers registered with the stream. Needs no app. Returns SLOOP_EOPTION also if the stream is
 * of DynamoDB, where there are no such consumers. */
SLOOP_EXTERN int sloop_admin_registered(sloop_admin_t *a, sloop_registered_cb cb, void *arg);
/* Deregisters the consumer of that name, even if somebody reads by it; AWS bills for a consumer until it is
 * deregistered. cb gets one consumer: this one, as it was before. SLOOP_EREFUSED: there is none of that name.
 * Returns what sloop_admin_registered() does; SLOOP_EOPTION also if name is missing or empty. */
SLOOP_EXTERN int sloop_admin_deregister(sloop_admin_t *a, const char *name, sloop_registered_cb cb,
                                        void *arg);

#ifdef __cplusplus
}
#endif
#endif
