/* schema.h - how a fleet's rows are laid out in a table, as lease/ sees it. A schema is one file in store/ or
 * guest/. It reads rows, and turns an operation into one conditional write. If its workers live and share
 * leases in another way than the protocol of this room, it names a strategy of its own. PROTOCOL.md has the
 * rows, the conditions and the reasons for them. */
#ifndef SLP_LEASE_SCHEMA_H
#define SLP_LEASE_SCHEMA_H

#include "base/buf.h"
#include "base/mem.h"
#include "base/states.h"
#include "codec/page.h"
#include "core/position.h"
#include "lease/lease_types.h"
#include "lease/store.h"

#define SLP_INCARNATION_N 16 /* length of an incarnation; a worker's instance is "id.incarnation" */
#define SLP_WORKER_ID_MAX 64

/* ---- rows as they were read ---------------------------------------------------------------------------- */
/* In the next structs, strings point into the row from which they were read. {NULL, 0} means that the row
 * does not have the attribute. */
typedef enum slp_row_kind {
  SLP_ROW_OTHER, /* not a row of this application: it is left as it is, and not reported to the user */
  /* a row of this application, by its key, but damaged or of a newer format: it is left as it is, and
   * reported to the user */
  SLP_ROW_BAD,
  SLP_ROW_LEASE,
  SLP_ROW_WORKER,
  SLP_ROW_LEADERSHIP,
  SLP_ROW_ASSIGNMENT,
  SLP_ROW_ELSEWHERE, /* a lease of another stream of the application; it counts only for fair shares */
  SLP_ROW_BESIDE     /* a row of this application that only the layout itself knows (slp_schema.hint) */
} slp_row_kind;

typedef struct slp_lease_row {
  slp_str shard;
  slp_str owner; /* the instance that owns the lease; absent: the lease is free */
  /* Changes whenever the owner changes, and only grows. In guest layouts where each lease has a counter, the
   * epoch is that counter. Where leases expire at a time, the epoch is that time in nanoseconds since
   * 1970. */
  uint64_t epoch;
  slp_position position;
  /* the instance that asked the owner for the lease, or that a leader chose as the next owner; absent:
   * none */
  slp_str claim;
  /* the version of the assignment that made the claimant ask for the lease */
  uint64_t claim_version;
  /* for layouts with both kinds of claims. 1: the claimant asked by itself; 0: a leader chose it */
  uint8_t claim_asks;
  slp_str parents[2];
  slp_str hash_start, hash_end;
  slp_str avoid;      /* the instance that gave the lease up because the shard made no progress */
  int64_t avoid_ms;   /* when that instance gave the lease up, by its own clock; -1: the row does not say */
  uint32_t refused_n; /* how many times in a row the service refused this position; see refused.h */
  int64_t refused_ms; /* when the service last refused this position, by the clock of the worker that asked */
  /* 1: the shard is parked: no worker reads it until an operator releases its lease */
  uint8_t parked;
  /* 1: the shard is parked by an operator's pause, so its owner has to give it up */
  uint8_t paused;
  /* 1: the row has no position, so reading begins where the options of the worker or command say */
  uint8_t begin_untold;
  /* 1: the owner has saved nothing yet, so the next owner would read all records again. Only in some
   * layouts. */
  uint8_t unsaved;
  /* when the owner last wrote the row, in ms since 1970 by the owner's clock; -1: the row does not say */
  int64_t wall_ms;
  int64_t behind_ms;  /* how far the shard was behind its tip at wall_ms; -1: the row does not say */
  int64_t rate_bytes; /* bytes handed out a second, on average; -1: the row does not say */
  /* incarnation of the worker that wrote the row last, and the serial number of that write */
  slp_str op;
  /* If not 0, a program that does not share leases has this lease, or had it. That program changes this
   * number with each of its writes. */
  uint64_t stranger;
} slp_lease_row;

/* The hold of an application: while it is on, no worker reads, by an operator's order (hold.h). */
typedef struct slp_hold {
  uint64_t version; /* grows by one each time an operator switches the hold on or off; 0: never */
  uint8_t on;
} slp_hold;

typedef struct slp_worker_row {
  slp_str id, incarnation; /* id and incarnation of the worker; its instance is "id.incarnation" */
  uint64_t counter;
  uint32_t lease_ms;
  uint8_t leaving;
  uint8_t older; /* 1: the worker's program is too old to find the leases under their partition keys */
  /* the instance that evicted this worker, or this worker itself if it left; absent: the worker may still
   * renew its leases */
  slp_str gone;
  uint32_t held, weight;
  uint64_t changes; /* the change counter; other workers raise it to notify this worker */
  /* the version of the hold (slp_hold) that this incarnation obeys; 0: it has written none, or its program
   * knows no hold */
  uint64_t hold_version;
  int64_t wall_ms, behind_ms, rate_bytes;
  slp_str host;
} slp_worker_row;

/* Splits an instance, "id.incarnation", into its two parts. Returns 1 if it has that form, 0 otherwise. */
int slp_instance_split(slp_str instance, slp_str *ret_id, slp_str *ret_incarnation);
/* Returns 1 if leases may be given to this worker: it is neither evicted nor leaving, and its program
 * finds the leases. */
static inline int slp_worker_takes(const slp_worker_row *w) { return !w->gone.n && !w->leaving && !w->older; }

/* Most partition keys over which the leases may be spread. Leases are spread because a table serves each
 * partition key only up to a number of requests a second. */
#define SLP_SPREAD_KEYS_MAX 64u
typedef struct slp_spread {
  /* over how many partition keys leases are spread; 0 or 1: all leases are under the first key, with the rows
   * of workers and of leadership */
  uint32_t keys;
  /* if there are several keys: how many neighbouring shards share a key; 0: the hash of a shard's id
   * decides */
  uint32_t block;
} slp_spread;
static inline int slp_is_spread(const slp_spread *s) { return s->keys > 1; }
static inline int slp_spread_same(const slp_spread *a, const slp_spread *b) {
  return slp_is_spread(a) ? a->keys == b->keys && a->block == b->block : !slp_is_spread(b);
}

typedef struct slp_leadership_row {
  slp_str owner; /* the instance that leads; absent: no worker leads */
  uint64_t epoch;
  /* where the fleet began to read: OLDEST or TIME. LATEST was replaced by the time at which the fleet
   * began. */
  slp_position start;
  uint32_t format;
  /* how the application's leases are spread; set when the row is created, and never changed */
  slp_spread spread;
  slp_hold hold;
  /* with hold.on: the operator that switched the hold on, and when, in ms since 1970 by the operator's clock;
   * -1: the row does not say */
  slp_str hold_by;
  int64_t hold_ms;
} slp_leadership_row;

typedef struct slp_assignment_row {
  slp_str worker;
  uint64_t version;
  slp_str set; /* the assigned shards, coded; slp_shard_set_next reads them */
  /* shards that leaving workers have proposed for this worker, and that the leader has not yet added to
   * `set` */
  const slp_str *plus;
  size_t plus_n;
  /* how many leases the whole fleet has, as its leader counted; 0: the row does not say */
  uint64_t leases;
  slp_hold hold; /* the hold (slp_hold) as the leader knew it */
} slp_assignment_row;

/* ---- any row ------------------------------------------------------------------------------------------- */

typedef struct slp_parsed_row {
  slp_row_kind kind;
  slp_row_key key;
  const char *why; /* with SLP_ROW_BAD: why the row can't be used; static text */
  uint8_t foreign; /* with SLP_ROW_BAD, 1: the row shows that the table belongs to another system */
  /* with SLP_ROW_BAD, 1: the row is a lease, but under another partition key than schema.spread says */
  uint8_t astray;
  union {
    /* the shard or worker in the row's key; the structs of all rows that have such a name begin with it */
    slp_str name;
    slp_lease_row lease;
    slp_worker_row worker;
    slp_leadership_row leadership;
    slp_assignment_row assignment;
  } u;
} slp_parsed_row;

/* What a row of the kind SLP_ROW_BESIDE shows of the fleet's workers (slp_schema.hint). */
typedef struct slp_row_hint {
  /* 1: the fleet is changing where its rows are or how its workers share leases, or the row can't be
   * understood. So the positions may be in other rows than those of the leases. */
  uint8_t unsettled;
  slp_str word; /* with `unsettled`: the text in the row that says so */
  /* The worker that writes this row again and again, to show that it lives; absent: the row is not written in
   * that way. The next two members are for such a row. */
  slp_str worker;
  int64_t wall_s;  /* when that worker last wrote the row, in seconds since 1970 by its own clock */
  uint32_t dead_s; /* the worker is dead if it has not written the row for this time */
} slp_row_hint;

/* ---- operations ---------------------------------------------------------------------------------------- */
typedef enum slp_operation_kind {
  SLP_OPERATION_REGISTER,
  SLP_OPERATION_HEARTBEAT,
  SLP_OPERATION_EVICT,
  SLP_OPERATION_LEAVE,
  SLP_OPERATION_NOTIFY,
  SLP_OPERATION_REAP,
  SLP_OPERATION_LEAD,
  SLP_OPERATION_RESIGN,
  SLP_OPERATION_HOLD, /* switches the hold of the application on or off, for an operator */
  SLP_OPERATION_ASSIGN,
  SLP_OPERATION_PROPOSE,
  SLP_OPERATION_UNASSIGN, /* removes the assignment row of a worker whose own row was removed */
  SLP_OPERATION_CREATE,
  SLP_OPERATION_TAKE,
  SLP_OPERATION_RETAKE,
  SLP_OPERATION_CHECKPOINT,
  SLP_OPERATION_CLAIM,
  SLP_OPERATION_TRANSFER,
  SLP_OPERATION_RELEASE,
  SLP_OPERATION_END,
  SLP_OPERATION_REMOVE,
  SLP_OPERATION_RESET,
  /* marks a lease, so that no worker reads its shard, or removes the mark; for an operator */
  SLP_OPERATION_PAUSE,
  SLP_OPERATIONS /* how many there are; a layout numbers operations of its own from here */
} slp_operation_kind;

/* what a layout writes with an operation besides what slp_operation says; only the layout knows it */
typedef struct slp_operation_extra slp_operation_extra;

/* What a write should do. Members that the kind of operation does not need are zero. */
typedef struct slp_operation {
  slp_operation_kind kind;
  /* This worker's instance, "id.incarnation". The write stores it in the row as the owner or the claimant, or
   * as the worker that made the change. */
  slp_str me;
  /* The worker whose row is written: its id, and the incarnation in that row as it was read; for this
   * worker's own row its own incarnation. */
  slp_str id, incarnation;
  /* REGISTER, 1: there is a row with this id, and its incarnation, incarnation_before, is evicted */
  uint8_t over_tombstone;
  slp_str incarnation_before;
  /* HEARTBEAT: the new counter. EVICT: the counter that was read; SLP_ANY_COUNTER: any counter, for an
   * operator. */
  uint64_t counter;
  uint32_t lease_ms, held, weight;
  int64_t behind_ms, rate_bytes, wall_ms;
  slp_str host;
  slp_str shard; /* the shard of the lease, in every operation on a lease */
  slp_str owner; /* TAKE, CLAIM, LEAD, RESET: the owner that was read; absent: none */
  /* The claim that was read. For TAKE; in layouts where a leader chooses the next owner, for every write. */
  slp_str claim;
  uint8_t claim_asks; /* claim_asks of the row that was read; used with `claim` */
  uint64_t epoch;     /* the epoch that was read, or that this worker holds: of the lease or of leadership */
  uint64_t epoch_after; /* the epoch that the row gets; 0: one more than before */
  uint64_t epoch_first; /* CREATE: the first epoch of the row; not 0 if the row existed before */
  uint8_t owns;         /* CREATE, 1: this worker owns the new row at once, as if a TAKE had followed */
  /* CREATE, CHECKPOINT, TRANSFER, RELEASE, RESET: the new position. TAKE: the position that was read. END:
   * the shard's last record, if it is known. */
  slp_position position;
  /* CHECKPOINT, TRANSFER, RELEASE: the position as the row spells it, if that is not the canonical text
   * (slp_mark.row_n); otherwise NONE. RESET: the position that was read, however it is spelled. */
  slp_position odd;
  slp_position start; /* LEAD: where the fleet begins to read; written only if the row has no start yet */
  slp_spread spread;  /* LEAD: how leases are spread, if the row is created; otherwise zeros */
  slp_str to;         /* TRANSFER: the new owner */
  /* incarnation and serial number; stored in the row so that people see who wrote it, and read by no
   * program */
  slp_str op;
  /* ASSIGN: the version of the assignment. CLAIM: the version of the assignment that makes this worker ask
   * for the lease. */
  uint64_t version;
  uint64_t leases; /* ASSIGN: number of leases of the whole fleet */
  /* ASSIGN, HEARTBEAT: the hold that this worker knows. HOLD: the version that was read, and what the hold
   * becomes; `version` is the new version. PAUSE: hold.on, 1: the lease is marked; 0: the mark is removed. */
  slp_hold hold;
  slp_str set; /* ASSIGN: the coded set of shards */
  /* ASSIGN: the proposals that `set` now has, so that they are removed. PROPOSE: the proposed shards. END:
   * the child shards. */
  const slp_str *shards;
  size_t shards_n;
  slp_str parents[2], hash_start, hash_end, seq_start; /* for CREATE */
  /* RELEASE. avoid_me, 1: the lease is not to come back to this worker soon (slp_lease_row.avoid). park, 1:
   * the shard is parked. */
  uint8_t avoid_me, park;
  /* RELEASE: how many times in a row the service has refused the position; 0: it has not */
  uint32_t refused_n;
  /* HEARTBEAT, 1: the write also corrects the format in the worker's row, because the worker registered with
   * a wrong one */
  uint8_t tells_format;
  const slp_operation_extra *extra; /* NULL: nothing */
} slp_operation;
#define SLP_ANY_COUNTER UINT64_MAX
/* Returns the epoch that the row has after the write i. */
static inline uint64_t slp_epoch_after(const slp_operation *i) {
  return i->epoch_after ? i->epoch_after : i->epoch + 1;
}

/* A write while a schema builds it: its conditions, its changes, and their texts. */
#define SLP_ROW_REQUEST_ATOMS 8
#define SLP_ROW_REQUEST_CHANGES 16
typedef struct slp_row_request {
  slp_store_write *write; /* the write that is built; its members key, kind, when and changes are set */
  slp_atom atoms[SLP_ROW_REQUEST_ATOMS];
  slp_change changes[SLP_ROW_REQUEST_CHANGES];
  slp_buf texts; /* owned; its room is reserved at once, because texts in it are pointed to */
  /* texts that slp_schema_write_row adds: `note` for the `refused` attribute, the next member for `clear` */
  char note[192];
  char clear[160];
  slp_str *items; /* owned; the members of sets */
  size_t items_n;
} slp_row_request;
/* Sets up a request that builds `write`. The caller keeps the members of `write` that belong to the request
 * and the answer. A slp_row_request must not move in memory, because the write points into it. */
void slp_row_request_init(slp_row_request *d, slp_mem *mem, slp_store_write *write);
void slp_row_request_free(slp_row_request *d);
/* For schemas: begins to build a write, with room for text_bytes bytes of text and `items` members of sets.
 * Returns 0 or SLP_ENOMEM. */
int slp_row_request_begin(slp_row_request *d, slp_write_kind kind, size_t text_bytes, size_t items);
/* The values that the next functions, up to slp_row_request_set, return are valid as long as the request. */
slp_str slp_row_request_text(slp_row_request *d, const char *fmt, ...) SLP_PRINTF(2, 3);
slp_str slp_row_request_copy(slp_row_request *d, slp_str s);
slp_val slp_row_request_s(slp_row_request *d, slp_str s);
slp_val slp_row_request_n(slp_row_request *d, uint64_t n);
/* Returns a set with these members. They may come in any order, and several times; n is at least 1. */
slp_val slp_row_request_set(slp_row_request *d, const slp_str *items, size_t n);
void slp_row_request_when(slp_row_request *d, const char *name, slp_test test, slp_val val, int or_next);
void slp_row_request_change(slp_row_request *d, const char *name, slp_change_kind kind, slp_val val);

/* ---- a schema ------------------------------------------------------------------------------------------ */
/* Returned by slp_schema.form: which form the keys of the rows have, judged from all rows together. For
 * layouts that applications of several streams share. */
typedef struct slp_table_form {
  char refused[310]; /* why no worker should work with these rows, and what to do; "": the rows can be used */
  char passed[230];  /* which rows are left as they are, because they belong to other streams; "": none */
} slp_table_form;

/* the leases of a table, and the shards of the stream that a command is about */
typedef struct slp_stream_check {
  const slp_lease_row *leases;
  size_t leases_n;
  const slp_shard_desc *shards; /* sorted by id */
  size_t shards_n;
  /* 1: the command corrects positions that are too old, and skips rows of shards that the stream does not
   * have. So neither kind of row is taken as a proof that the leases belong to another stream. */
  uint8_t corrects;
} slp_stream_check;

typedef struct slp_schema slp_schema;
struct slp_schema {
  const char *name;
  const char *refused; /* name of the attribute `refused` (refused.h) in this layout; NULL: rows have none */
  const char *clear;   /* name of the attribute `clear` (clear.h) in this layout; NULL: rows have none */
  /* how workers of this layout live and share leases; NULL: slp_strategy_native */
  const slp_strategy *strategy;
  /* 1: a position in a row has no index inside an aggregate, so only whole aggregates are saved */
  uint8_t whole_records;
  /* 1: a row can say that no record has the position's number, and since when no record has come (an idle
   * mark) */
  uint8_t idle_places;
  slp_set operations; /* of slp_operation_kind: the operations that the layout has */
  /* The least number of digits of the stream's sequence numbers (slp_source.number_digits_min). Set by the
   * code that opens the schema. */
  unsigned number_digits_min;
  slp_spread fresh; /* how a new application spreads its leases */
  /* how an older version of this program spread the leases of a new application; zeros: it did not spread
   * them */
  slp_spread fresh_before;
  /* How this application spreads its leases, as its rows show. Set by the code that has read the rows
   * (spread.h). */
  slp_spread spread;
  /* Sets *ret to the description of the table of leases. name: the name that the user chose for the table. */
  void (*table)(slp_schema *s, const char *name, slp_table_spec *ret);
  /* Describes the n-th table that the layout has besides the table of leases; n counts from 1. Returns 1, or
   * 0 if there is no such table. Requests name the table by n (slp_store_req.table). NULL: there are no other
   * tables. */
  int (*side_table)(slp_schema *s, uint8_t n, slp_table_spec *ret);
  /* Returns the hash key and the prefix of the range key of all rows of this application and stream, except
   * spread leases. The texts belong to the schema. */
  void (*scope)(slp_schema *s, slp_str *ret_hash, slp_str *ret_prefix);
  /* Returns the hash key and the prefix of the rows of all streams that have, or had, this stream's name.
   * NULL: `scope` includes the rows of an earlier stream, or rows do not say to which stream they belong. */
  void (*former)(slp_schema *s, slp_str *ret_hash, slp_str *ret_prefix);
  /* Returns the hash key and the prefix of the n-th further partition key with leases, n from 1 to
   * spread.keys - 1. Its texts are appended to `room`. Returns 0 or SLP_ENOMEM. NULL: leases are never
   * spread. */
  int (*lease_key)(slp_schema *s, uint32_t n, slp_buf *room, slp_row_key *ret);
  /* Returns under which partition key the lease of a shard is, from 0 to spread.keys - 1. NULL if lease_key
   * is NULL. */
  uint32_t (*lease_key_of)(const slp_schema *s, slp_str shard);
  /* Decides from all rows which form the keys of this stream's rows have. Called before any other function
   * reads or creates a row. NULL: there is only one form. */
  void (*form)(slp_schema *s, const slp_store_rows *rows, slp_table_form *ret);
  /* Returns 1 if the leases are proven to belong to another stream; `why` then says which row proves it, and
   * what to do. NULL: the rows have the name of their stream. `form` may set or clear this member. */
  int (*is_other_streams)(const slp_stream_check *c, char *why, size_t size);
  /* reads one row; called only by slp_schema_read_row */
  void (*read)(slp_schema *s, const slp_row *row, slp_parsed_row *ret);
  /* Reads what a row of the kind SLP_ROW_BESIDE shows of the fleet's workers, for commands. Sets *ret to
   * zeros if the row shows nothing, or is of another kind. NULL: the layout has no such rows. */
  void (*hint)(slp_schema *s, const slp_row *row, slp_row_hint *ret);
  /* Builds the key of one row: i->kind says which kind of row, i->id or i->shard which one. The request holds
   * its texts. Returns 0 or SLP_ENOMEM. */
  int (*key)(slp_schema *s, slp_row_request *d, const slp_operation *i, slp_row_key *ret);
  /* Builds the write of an operation. Returns 0, SLP_ENOMEM, or SLP_EINVAL if the layout has no such
   * operation. */
  int (*write)(slp_schema *s, slp_row_request *d, const slp_operation *i);
  void (*free)(slp_schema *s);
};

/* Reads a row, and brings the position of a lease into the form that the service accepts (core/mark.h). The
 * only caller of slp_schema.read. */
void slp_schema_read_row(slp_schema *s, const slp_row *row, slp_parsed_row *ret);
/* Builds the write of an operation, and adds the attributes of refused.h and clear.h. The only caller of
 * slp_schema.write. */
int slp_schema_write_row(slp_schema *s, slp_row_request *d, const slp_operation *i);

/* Returns how leases are spread, as all rows under the first partition key show it (spread_rule.c). */
slp_spread slp_spread_of_rows(slp_schema *schema, const slp_store_rows *rows);

#endif
