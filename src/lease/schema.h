/* schema.h - how a fleet's rows are laid out in a table, as lease/ wants it. A schema is one file in
 * store/ or guest/: it reads a row, turns an operation into one conditional write, and names its strategy
 * where workers live and share otherwise than by the protocol of this room.
 * The rows, conditions and their reasons: PROTOCOL.md. */
#ifndef SLP_LEASE_SCHEMA_H
#define SLP_LEASE_SCHEMA_H

#include "core/position.h"
#include "lease/store.h"

#define SLP_INCARNATION_N 16 /* a worker's instance is "id.incarnation" */
#define SLP_WORKER_ID_MAX 64

/* ---- rows, read ---------------------------------------------------------------------------------------- */
/* Strings point into the row they were read from. {NULL, 0}: absent. */
typedef enum slp_row_kind {
  SLP_ROW_OTHER, /* not ours: left alone, and not told */
  SLP_ROW_BAD,   /* ours by its key, but damaged or of a newer format: left alone, and told */
  SLP_ROW_LEASE,
  SLP_ROW_WORKER,
  SLP_ROW_LEADERSHIP,
  SLP_ROW_ASSIGNMENT,
  SLP_ROW_ELSEWHERE, /* a lease of another stream of the application; it only counts for fair shares */
  SLP_ROW_VERSION,   /* which rules the application's workers follow */
  SLP_ROW_PLACES,    /* which table has the rows that are not leases */
  SLP_ROW_LOCK,      /* held by a leader of another system */
  SLP_ROW_LOAD       /* what a worker tells that leader about itself */
} slp_row_kind;

typedef struct slp_lease_row {
  slp_str shard;
  slp_str owner; /* an instance; absent: the lease is free */
  /* counts owners. Schemas with a counter for each lease: that counter. Schemas with a time at which a lease
   * runs out: that time, in nanoseconds since 1970 */
  uint64_t epoch;
  slp_position position;
  /* the instance that asked the owner for the lease, or that a leader named as the next owner */
  slp_str claim;
  /* the version of the assignment for which the claim was made */
  uint64_t claim_version;
  uint8_t claim_asks; /* if rows have both kinds of claims: 1: the claimant asked */
  slp_str parents[2];
  slp_str hash_start, hash_end;
  slp_str avoid;      /* the instance that gave the lease up for lack of progress */
  int64_t avoid_ms;   /* when it did, by its own clock; -1: not told */
  uint32_t refused_n; /* how often in a row the service refused this position; see refused.h */
  int64_t refused_ms; /* when it last refused, by the clock of the worker that asked */
  uint8_t parked;
  uint8_t begin_untold; /* the row has no position: it begins where the options of workers and commands say */
  /* 1: the owner has saved nothing yet, so the next owner would read all records again. Only some schemas
   * tell it */
  uint8_t unsaved;
  int64_t wall_ms;    /* when the owner last wrote, by the owner's clock; -1: not told */
  int64_t behind_ms;  /* how far the shard was behind then; -1: not told */
  int64_t rate_bytes; /* bytes handed out in a second, on average; -1: not told */
  slp_str op;         /* incarnation and serial number of the last write */
  /* Not 0: a program that does not share leases has or had this lease. It changes this number with each of
   * its writes. */
  uint64_t stranger;
} slp_lease_row;

typedef struct slp_worker_row {
  slp_str id, incarnation; /* the instance is "id.incarnation" */
  uint64_t counter;
  uint32_t lease_ms;
  uint8_t leaving;
  uint8_t older; /* its program is too old to find the leases where they are */
  slp_str gone;  /* the worker that evicted it; absent: it is not evicted */
  uint32_t held, weight;
  uint64_t changes; /* raised by others to notify this worker of changes */
  int64_t wall_ms, behind_ms, rate_bytes;
  slp_str host;
} slp_worker_row;

/* Splits an instance, "id.incarnation". Returns 1 if it has that form. */
int slp_instance_split(slp_str instance, slp_str *ret_id, slp_str *ret_incarnation);
/* Returns 1 if leases may be given to this worker: it is neither evicted nor leaving, and its program finds
 * them. */
static inline int slp_worker_takes(const slp_worker_row *w) { return !w->gone.n && !w->leaving && !w->older; }

/* How many partition keys the leases may be spread over. A table serves each key only up to a limit a
 * second. */
#define SLP_SPREAD_KEYS_MAX 64u
typedef struct slp_spread {
  /* 0, 1: all leases are under the first key, together with the rows of workers and of leadership */
  uint32_t keys;
  /* If there are several keys: how many neighbouring shards share one; 0: the hash of a shard's id
   * decides. */
  uint32_t block;
} slp_spread;
static inline int slp_is_spread(const slp_spread *s) { return s->keys > 1; }
static inline int slp_spread_same(const slp_spread *a, const slp_spread *b) {
  return slp_is_spread(a) ? a->keys == b->keys && a->block == b->block : !slp_is_spread(b);
}

typedef struct slp_leadership_row {
  slp_str owner; /* absent: nobody leads */
  uint64_t epoch;
  slp_position start; /* where the fleet began: OLDEST or TIME; LATEST was turned into a time once */
  uint32_t format;
  slp_spread spread; /* fixed when the row is created, for as long as the application lives */
} slp_leadership_row;

typedef struct slp_assignment_row {
  slp_str worker;
  uint64_t version;
  slp_str set;         /* coded; see slp_shard_set_next */
  const slp_str *plus; /* proposals that the leader has not yet merged into the set */
  size_t plus_n;
  uint64_t leases; /* of the whole fleet, as the leader counted them; 0: not told */
} slp_assignment_row;

/* ---- rows of fleets whose leader belongs to another system --------------------------------------------- */

typedef enum slp_version {
  SLP_VERSION_UNKNOWN, /* a word that this program does not know, or none that can be read */
  SLP_VERSION_TAKE,    /* every worker takes leases for itself */
  SLP_VERSION_UPGRADE, /* the same, and each worker tells its load; a leader comes when all of them do */
  SLP_VERSION_LED      /* a leader assigns */
} slp_version;

typedef struct slp_version_row {
  slp_str name; /* the row's key */
  slp_str word; /* as it is in the row */
  slp_version is;
} slp_version_row;

typedef enum slp_places {
  SLP_PLACES_UNKNOWN,
  SLP_PLACES_APART, /* each kind of row has its own table */
  SLP_PLACES_MOVING,
  SLP_PLACES_ONE /* everything is in the table of leases */
} slp_places;

typedef struct slp_places_row {
  slp_str name;
  slp_str word;
  slp_places is;
} slp_places_row;

typedef struct slp_lock_row {
  slp_str name;
  slp_str owner;
  slp_str version;   /* changes with each sign of life of its owner */
  uint64_t lease_ms; /* after this long without a change another worker may take the lock */
  uint8_t released;
} slp_lock_row;

typedef struct slp_load_row {
  slp_str worker;
  int64_t wall_s; /* when the worker wrote it, by its own clock */
  uint8_t cpu;    /* 1: it tells how busy the worker's processor is */
} slp_load_row;

typedef struct slp_parsed_row {
  slp_row_kind kind;
  slp_row_key key;
  const char *why; /* BAD: what is wrong with the row; static text */
  uint8_t foreign; /* BAD: the table belongs to another system */
  uint8_t astray;  /* BAD: a lease under another key than schema.spread says */
  union {
    slp_str name; /* the shard or worker that the key names: the first member of each row that has one */
    slp_lease_row lease;
    slp_worker_row worker;
    slp_leadership_row leadership;
    slp_assignment_row assignment;
    slp_version_row version;
    slp_places_row places;
    slp_lock_row lock;
    slp_load_row load;
  } u;
} slp_parsed_row;

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
  SLP_OPERATION_ASSIGN,
  SLP_OPERATION_PROPOSE,
  SLP_OPERATION_UNASSIGN, /* removes the assignment row of a worker whose row was removed */
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
  SLP_OPERATION_RENEW,    /* only where each lease has its own proof of life */
  SLP_OPERATION_PUBLISH,  /* writes this worker's load, for a leader of another system */
  SLP_OPERATION_WITHDRAW, /* removes that row */
  SLP_OPERATION_UNCLAIM,  /* withdraws a claim of this worker that it no longer wants */
  SLP_OPERATIONS
} slp_operation_kind;

typedef struct slp_operation { /* members that the kind does not need stay zero */
  slp_operation_kind kind;
  slp_str me; /* this worker's instance, "id.incarnation" */
  /* of the worker row that is written; the incarnation as it was read, or this worker's */
  slp_str id, incarnation;
  uint8_t over_tombstone; /* REGISTER: incarnation_before is of an evicted row */
  slp_str incarnation_before;
  /* HEARTBEAT: the new one. EVICT: the one that was read (SLP_ANY_COUNTER: any, for an operator) */
  uint64_t counter;
  uint32_t lease_ms, held, weight;
  int64_t behind_ms, rate_bytes, wall_ms;
  slp_str host;
  slp_str shard; /* for every operation on a lease */
  slp_str owner; /* TAKE, CLAIM, LEAD, RESET: as it was read; absent: free */
  /* as it was read: for TAKE; where a leader of another system names the next owner, for every write */
  slp_str claim;
  uint8_t claim_asks;   /* as it was read, like claim */
  uint64_t epoch;       /* of the lease or of leadership, as read or held */
  uint64_t epoch_after; /* the epoch that the write sets; 0: one more */
  uint64_t epoch_first; /* CREATE: 0, or the first epoch of a row that is created again */
  uint8_t owns;         /* CREATE: this worker owns the row from the start, as if TAKE had followed */
  /* CREATE, CHECKPOINT, TRANSFER, RELEASE, RESET; TAKE: as it was read; END: the last record, if known */
  slp_position position;
  /* CHECKPOINT, TRANSFER, RELEASE: the position as the row spells it, if that is not the canonical text
   * (slp_mark.row_n); otherwise NONE. RESET: as it was read, whatever its text */
  slp_position odd;
  slp_position start; /* LEAD: the fleet's start, set if the row has none */
  slp_spread spread;  /* LEAD: used if the row is created; otherwise zeros */
  slp_str to;         /* TRANSFER */
  slp_str op;
  uint64_t version; /* ASSIGN: its version. CLAIM: the version of the assignment that wants the lease */
  uint64_t leases;  /* ASSIGN: leases of the whole fleet */
  slp_str set;      /* ASSIGN */
  /* ASSIGN: the proposals that `set` now includes. PROPOSE: proposals. END: the children */
  const slp_str *shards;
  size_t shards_n;
  slp_str parents[2], hash_start, hash_end, seq_start; /* CREATE */
  uint8_t avoid_me, park;                              /* RELEASE */
  uint32_t refused_n; /* RELEASE: how often the service has refused the position */
  /* HEARTBEAT: the row's format is corrected, because this worker registered with a wrong one */
  uint8_t tells_format;
  uint8_t table;              /* PUBLISH, WITHDRAW: which table, see slp_store_req */
  uint8_t tells_rate;         /* RENEW, CHECKPOINT, END: rate_bytes is the lease's, and should be written */
  const uint32_t *cpu_millis; /* PUBLISH: thousandths of a percent, the newest last */
  size_t cpu_n;               /* 0: the load is not told */
} slp_operation;
#define SLP_ANY_COUNTER UINT64_MAX
/* Returns the epoch that the row has after the write. */
static inline uint64_t slp_epoch_after(const slp_operation *i) {
  return i->epoch_after ? i->epoch_after : i->epoch + 1;
}

/* A write while it is put together: its conditions, changes and texts. */
#define SLP_ROW_REQUEST_ATOMS 8
#define SLP_ROW_REQUEST_CHANGES 16
typedef struct slp_row_request {
  slp_store_write *write; /* the fields key, kind, when and changes are filled in */
  slp_atom atoms[SLP_ROW_REQUEST_ATOMS];
  slp_change changes[SLP_ROW_REQUEST_CHANGES];
  slp_buf texts;  /* owned; its size is reserved once, so that texts never move */
  char note[192]; /* for slp_schema_write_row, as is `clear` */
  char clear[160];
  slp_str *items; /* owned; members of sets */
  size_t items_n;
} slp_row_request;
/* The request and answer fields of `write` stay the caller's. A slp_row_request must not move. */
void slp_row_request_init(slp_row_request *d, slp_mem *mem, slp_store_write *write);
void slp_row_request_free(slp_row_request *d);
/* For schemas: begins a write with room for that many bytes of text and items of sets. Returns 0 or
 * SLP_ENOMEM. */
int slp_row_request_begin(slp_row_request *d, slp_write_kind kind, size_t text_bytes, size_t items);
/* its result lives as long as the request */
slp_str slp_row_request_text(slp_row_request *d, const char *fmt, ...) SLP_PRINTF(2, 3);
slp_str slp_row_request_copy(slp_row_request *d, slp_str s);
slp_val slp_row_request_s(slp_row_request *d, slp_str s);
slp_val slp_row_request_n(slp_row_request *d, uint64_t n);
slp_val slp_row_request_set(slp_row_request *d, const slp_str *items,
                            size_t n); /* items must be sorted, each once, and n at least 1 */
void slp_row_request_when(slp_row_request *d, const char *name, slp_test test, slp_val val, int or_next);
void slp_row_request_change(slp_row_request *d, const char *name, slp_change_kind kind, slp_val val);

/* ---- a schema ------------------------------------------------------------------------------------------ */
/* What all rows together say, in layouts that several kinds of applications share. */
typedef struct slp_table_form {
  char refused[310]; /* why nobody should work with these rows, and what to do; "": they are understood */
  char passed[230];  /* which rows are left alone because they are other streams'; "": none */
} slp_table_form;

typedef struct slp_strategy slp_strategy;
typedef struct slp_schema slp_schema;
struct slp_schema {
  const char *name;
  const char *refused; /* the attribute that holds the note of refused.h */
  const char *clear;   /* the attribute that holds the note of clear.h; NULL: rows of this layout have none */
  const slp_strategy *strategy; /* strategy.h; NULL: the native way */
  uint8_t whole_records;  /* a row has no place inside an aggregate: only what is done as a whole is saved */
  uint8_t idle_places;    /* a row can say that no record has the number, and since when nothing came */
  uint8_t tells_no_start; /* a row of which nothing is saved begins where each worker's options say */
  uint8_t unnamed;     /* rows do not name their stream; where both may be (form): those of this one do not */
  uint8_t versions;    /* rows may say that other rules hold: they are read before anything is written */
  uint32_t operations; /* bits of slp_operation_kind it has */
  unsigned number_digits_min; /* of the stream, as slp_source has it: set by whoever opens the schema */
  slp_spread fresh;           /* of an application that begins */
  slp_spread fresh_before;    /* likewise, by the rules of a former version; zeros: none */
  slp_spread spread;          /* of this one, as its rows have it: set by whoever has read them (spread.h) */
  void (*table)(slp_schema *s, const char *name, slp_table_spec *ret);
  /* Describes the n-th table beside the table of leases, from 1. Returns 0 if there are no more. Requests
   * name it by that number (slp_store_req.table). NULL: there is none. */
  int (*side_table)(slp_schema *s, uint8_t n, slp_table_spec *ret);
  /* Returns the hash key and the prefix of all rows of this application and stream that are not spread.
   * Borrowed from the schema. */
  void (*scope)(slp_schema *s, slp_str *ret_hash, slp_str *ret_prefix);
  /* Returns the same for all streams that have or had this stream's name. NULL: rows of an earlier stream are
   * in `scope` too, or do not say that they are of one. */
  void (*former)(slp_schema *s, slp_str *ret_hash, slp_str *ret_prefix);
  /* Returns the same for the n-th further key with leases, n from 1 to spread.keys - 1. The texts are
   * appended to `room`. Returns 0 or SLP_ENOMEM. NULL: leases are never spread. */
  int (*lease_key)(slp_schema *s, uint32_t n, slp_buf *room, slp_row_key *ret);
  /* Returns under which key the lease of a shard is, from 0 to spread.keys - 1. NULL if lease_key is. */
  uint32_t (*lease_key_of)(const slp_schema *s, slp_str shard);
  /* Decides from all rows how those of this stream are named, before any row is read or created. NULL: there
   * is only one way. */
  void (*form)(slp_schema *s, const slp_store_rows *rows, slp_table_form *ret);
  void (*read)(slp_schema *s, const slp_row *row, slp_parsed_row *ret);
  /* Builds the key of one row. The operation says which kind, and which id or shard. The request holds the
   * texts. */
  int (*key)(slp_schema *s, slp_row_request *d, const slp_operation *i, slp_row_key *ret);
  /* Builds the write of an operation. Returns 0, SLP_ENOMEM, or SLP_EINVAL if the schema has no such
   * operation. */
  int (*write)(slp_schema *s, slp_row_request *d, const slp_operation *i);
  void (*free)(slp_schema *s);
};

/* Reads a row, and brings the position of a lease into the form that the service knows (core/mark.h). Only
 * this calls slp_schema.read. */
void slp_schema_read_row(slp_schema *s, const slp_row *row, slp_parsed_row *ret);
/* Builds the write of an operation, and adds the note of refused.h. Only this calls slp_schema.write. */
int slp_schema_write_row(slp_schema *s, slp_row_request *d, const slp_operation *i);

/* Returns how leases are spread, judged by all rows under the first key: spread_rule.c. */
slp_spread slp_spread_of_rows(slp_schema *schema, const slp_store_rows *rows);

#endif
