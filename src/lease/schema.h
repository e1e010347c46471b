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
  SLP_ROW_OTHER, /* none of ours: left alone, silently */
  SLP_ROW_BAD,   /* ours by its key, but damaged or of a newer format: left alone, and named */
  SLP_ROW_LEASE,
  SLP_ROW_WORKER,
  SLP_ROW_LEADERSHIP,
  SLP_ROW_ASSIGNMENT,
  SLP_ROW_ELSEWHERE, /* a lease of another stream of the application: it counts in fair shares, that is all */
  SLP_ROW_VERSION,   /* by which rules the application's workers go */
  SLP_ROW_PLACES,    /* which table has the rows beside the leases */
  SLP_ROW_LOCK,      /* a leader of another system holds it */
  SLP_ROW_LOAD       /* what a worker tells such a leader of itself */
} slp_row_kind;

typedef struct slp_lease_row {
  slp_str shard;
  slp_str owner;  /* an instance; absent: free */
  uint64_t epoch; /* counts owners; schemas with a counter a lease: that counter; with a time at which it runs
                     out: that, in nanoseconds since 1970 */
  slp_position position;
  slp_str claim; /* who asked its owner for it, or is named as the next owner by a leader */
  uint64_t claim_version;
  uint8_t claim_asks; /* where rows have both kinds: it asked */
  slp_str parents[2];
  slp_str hash_start, hash_end;
  slp_str avoid;      /* the instance that gave it up for lack of progress */
  int64_t avoid_ms;   /* when that was, by that one's clock; -1: not told */
  uint32_t refused_n; /* how often in a row the service refused to read from this position; refused.h */
  int64_t refused_ms; /* when it did last, by that worker's clock */
  uint8_t parked;
  uint8_t begin_untold; /* the row tells no position: it begins where workers and commands are told to */
  uint8_t
      unsaved; /* its owner has saved nothing yet, where rows tell: the next one would read all of it again */
  int64_t wall_ms;    /* when its owner last wrote, by its owner's clock; -1: not told */
  int64_t behind_ms;  /* how far the lease was behind then; -1: not told */
  int64_t rate_bytes; /* handed out of it in a second, on average; -1: not told */
  slp_str op;         /* incarnation and serial of the last write */
  uint64_t stranger;  /* a program that shares with nobody has it, or had: another number with each of its
                         writes. 0: none has */
} slp_lease_row;

typedef struct slp_worker_row {
  slp_str id, incarnation; /* the instance is "id.incarnation" */
  uint64_t counter;
  uint32_t lease_ms;
  uint8_t leaving;
  uint8_t older; /* its program is of a version that would look for leases where they are not */
  slp_str gone;  /* who evicted it; absent: nobody */
  uint32_t held, weight;
  uint64_t changes; /* raised to notify this worker of changes */
  int64_t wall_ms, behind_ms, rate_bytes;
  slp_str host;
} slp_worker_row;

/* 1: id and incarnation of an instance, "id.incarnation". */
int slp_instance_split(slp_str instance, slp_str *ret_id, slp_str *ret_incarnation);
/* It is neither evicted nor leaving, and finds them: leases may go to it. */
static inline int slp_worker_takes(const slp_worker_row *w) { return !w->gone.n && !w->leaving && !w->older; }

/* Under how many partition keys the rows of leases lie. A table serves one key only so much in a second. */
#define SLP_SPREAD_KEYS_MAX 64u
typedef struct slp_spread {
  uint32_t keys; /* 0, 1: all are under the first key, with the rows of workers and leadership */
  /* Of several keys: so many neighbouring shards share one; 0: the hash of a shard's name says which. */
  uint32_t block;
} slp_spread;
static inline int slp_is_spread(const slp_spread *s) { return s->keys > 1; }
static inline int slp_spread_same(const slp_spread *a, const slp_spread *b) {
  return slp_is_spread(a) ? a->keys == b->keys && a->block == b->block : !slp_is_spread(b);
}

typedef struct slp_leadership_row {
  slp_str owner; /* absent: nobody leads */
  uint64_t epoch;
  slp_position start; /* the fleet's first position: OLDEST or TIME. LATEST became a time once */
  uint32_t format;
  slp_spread spread; /* settled when the row was made, for as long as the application lives */
} slp_leadership_row;

typedef struct slp_assignment_row {
  slp_str worker;
  uint64_t version;
  slp_str set;         /* coded, see slp_shard_set_next */
  const slp_str *plus; /* proposals, not folded in yet */
  size_t plus_n;
  uint64_t leases; /* of the whole fleet, as the leader counted them; 0: not told */
} slp_assignment_row;

/* ---- rows of fleets whose leader is not of ours ------------------------------------------------------- */

typedef enum slp_version {
  SLP_VERSION_UNKNOWN, /* a word that this program does not know, or none that can be read */
  SLP_VERSION_TAKE,    /* every worker takes for itself */
  SLP_VERSION_UPGRADE, /* the same, and each tells its load: a leader comes when all do */
  SLP_VERSION_LED      /* a leader assigns */
} slp_version;

typedef struct slp_version_row {
  slp_str name; /* the row's key */
  slp_str word; /* as it stands in the row */
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
  slp_str version;   /* another one with each sign of life of its owner */
  uint64_t lease_ms; /* so long without one, and another worker may have it */
  uint8_t released;
} slp_lock_row;

typedef struct slp_load_row {
  slp_str worker;
  int64_t wall_s; /* when it told, by its own clock */
  uint8_t cpu;    /* it tells how busy its processor is */
} slp_load_row;

typedef struct slp_parsed_row {
  slp_row_kind kind;
  slp_row_key key;
  const char *why; /* BAD: what is wrong; static */
  uint8_t foreign; /* BAD: the table is another system's */
  uint8_t astray;  /* BAD: a lease under another key than where schema.spread says that it lies */
  union {
    slp_str name; /* the shard or worker that the key names: the first member of every row that has one */
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
  SLP_OPERATION_UNASSIGN, /* the assignment row of a reaped worker goes */
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
  SLP_OPERATION_RENEW,    /* only where every lease is proven by itself */
  SLP_OPERATION_PUBLISH,  /* this worker's load, for a leader of another system */
  SLP_OPERATION_WITHDRAW, /* that row goes */
  SLP_OPERATION_UNCLAIM,  /* a claim of mine that I want no more */
  SLP_OPERATIONS
} slp_operation_kind;

typedef struct slp_operation { /* what is not needed stays zero */
  slp_operation_kind kind;
  slp_str me;              /* my instance, "id.incarnation" */
  slp_str id, incarnation; /* the worker row meant; incarnation as read, or mine */
  uint8_t over_tombstone;  /* REGISTER: incarnation_before is that of an evicted row */
  slp_str incarnation_before;
  uint64_t counter; /* HEARTBEAT: the new one; EVICT: as seen (SLP_ANY_COUNTER: any, for an operator) */
  uint32_t lease_ms, held, weight;
  int64_t behind_ms, rate_bytes, wall_ms;
  slp_str host;
  slp_str shard; /* of every operation on a lease */
  slp_str owner; /* TAKE, CLAIM, LEAD, RESET: as read; absent: free */
  slp_str claim; /* as read, of TAKE; where a leader of another system names the next owner, of every write */
  uint8_t claim_asks;    /* likewise */
  uint64_t epoch;        /* of a lease or of leadership, as read or held */
  uint64_t epoch_after;  /* what the write makes of it; 0: one more */
  uint64_t epoch_first;  /* CREATE: 0, or where a row made again begins */
  uint8_t owns;          /* CREATE: the row is mine from its beginning, as if TAKE had followed */
  slp_position position; /* CREATE, CHECKPOINT, TRANSFER, RELEASE, RESET; TAKE: as read; END: its last
                            record, if known */
  slp_position odd;   /* CHECKPOINT, TRANSFER, RELEASE: as the row had it, when that text is not the canonical
                            one (slp_mark.row_n); else NONE. RESET: as read, whatever its text */
  slp_position start; /* LEAD: the fleet's start, set when nobody had */
  slp_spread spread;  /* LEAD: where the row is made; else zeros */
  slp_str to;         /* TRANSFER */
  slp_str op;
  uint64_t version;      /* ASSIGN: version; CLAIM: the assignment that wants it */
  uint64_t leases;       /* ASSIGN: of the whole fleet */
  slp_str set;           /* ASSIGN */
  const slp_str *shards; /* ASSIGN: proposals merged into the set; PROPOSE: proposals; END: children */
  size_t shards_n;
  slp_str parents[2], hash_start, hash_end, seq_start; /* CREATE */
  uint8_t avoid_me, park;                              /* RELEASE */
  uint32_t refused_n;         /* RELEASE: the service refused the position so often */
  uint8_t tells_format;       /* HEARTBEAT: the row is by other rules than it says */
  uint8_t table;              /* PUBLISH, WITHDRAW: which one, see slp_store_req */
  uint8_t tells_rate;         /* RENEW, CHECKPOINT, END: rate_bytes is the lease's, and is to be written */
  const uint32_t *cpu_millis; /* PUBLISH: thousandths of a percent, the newest last */
  size_t cpu_n;               /* 0: it does not tell */
} slp_operation;
#define SLP_ANY_COUNTER UINT64_MAX
/* The epoch that a row has once the write is in. */
static inline uint64_t slp_epoch_after(const slp_operation *i) {
  return i->epoch_after ? i->epoch_after : i->epoch + 1;
}

/* A write being made: its conditions, changes and texts. */
#define SLP_ROW_REQUEST_ATOMS 8
#define SLP_ROW_REQUEST_CHANGES 16
typedef struct slp_row_request {
  slp_store_write *write; /* key, kind, when, changes are filled in */
  slp_atom atoms[SLP_ROW_REQUEST_ATOMS];
  slp_change changes[SLP_ROW_REQUEST_CHANGES];
  slp_buf texts;  /* owned; reserved once, so that it never moves */
  char note[192]; /* slp_schema_write's own, as the next one */
  char clear[160];
  slp_str *items; /* owned; of sets */
  size_t items_n;
} slp_row_request;
/* `write`'s request and answer fields stay the caller's. A request must not move. */
void slp_row_request_init(slp_row_request *d, slp_mem *mem, slp_store_write *write);
void slp_row_request_free(slp_row_request *d);
/* For schemas. Begins a write that will need at most so many bytes of text and items of sets: SLP_ENOMEM. */
int slp_row_request_begin(slp_row_request *d, slp_write_kind kind, size_t text_bytes, size_t items);
slp_str slp_row_request_text(slp_row_request *d, const char *fmt, ...)
    SLP_PRINTF(2, 3); /* lives with the request */
slp_str slp_row_request_copy(slp_row_request *d, slp_str s);
slp_val slp_row_request_s(slp_row_request *d, slp_str s);
slp_val slp_row_request_n(slp_row_request *d, uint64_t n);
slp_val slp_row_request_set(slp_row_request *d, const slp_str *items,
                            size_t n); /* sorted, without doubles; n >= 1 */
void slp_row_request_when(slp_row_request *d, const char *name, slp_test test, slp_val val, int or_next);
void slp_row_request_change(slp_row_request *d, const char *name, slp_change_kind kind, slp_val val);

/* ---- a schema ------------------------------------------------------------------------------------------ */
/* What all rows together say, where the same table may be that of several kinds of application. */
typedef struct slp_table_form {
  char refused[310]; /* why nobody is to work with these rows, and what to do; "": they are understood */
  char passed[230];  /* which rows are left alone, for they are of other streams; "": there are none */
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
  /* The n-th table beside the table of leases, from 1; 0: there are no more. Requests name it by that number
   * (slp_store_req.table). NULL: there is none. */
  int (*side_table)(slp_schema *s, uint8_t n, slp_table_spec *ret);
  /* The hash key and prefix of everything of this application and stream, borrowed from the schema; of what
   * is not spread, where leases are. */
  void (*scope)(slp_schema *s, slp_str *ret_hash, slp_str *ret_prefix);
  /* The same of all streams that have or had this one's name; texts borrowed from the schema. NULL: rows
   * of an earlier one are in `scope`, or do not say that they are. */
  void (*former)(slp_schema *s, slp_str *ret_hash, slp_str *ret_prefix);
  /* The same of the n-th key beside it that has leases, n from 1 to spread.keys - 1; the texts are added to
   * `room`. SLP_ENOMEM. NULL: leases are never spread. */
  int (*lease_key)(slp_schema *s, uint32_t n, slp_buf *room, slp_row_key *ret);
  /* Which of them the lease of a shard lies under, from 0 to spread.keys - 1. NULL where lease_key is. */
  uint32_t (*lease_key_of)(const slp_schema *s, slp_str shard);
  /* Decides from all rows how those of this stream are named, before any of them is read or made. NULL: there
   * is one way only. */
  void (*form)(slp_schema *s, const slp_store_rows *rows, slp_table_form *ret);
  void (*read)(slp_schema *s, const slp_row *row, slp_parsed_row *ret);
  /* The key of one row: the operation says which kind, id or shard which. texts of the request hold it. */
  int (*key)(slp_schema *s, slp_row_request *d, const slp_operation *i, slp_row_key *ret);
  /* The write of an operation. 0, SLP_ENOMEM, SLP_EINVAL (this schema has no such operation). */
  int (*write)(slp_schema *s, slp_row_request *d, const slp_operation *i);
  void (*free)(slp_schema *s);
};

/* Reads a row, with the position of a lease in the form that the service knows (core/mark.h). Only this calls
 * the schema's own read. */
void slp_schema_read_row(slp_schema *s, const slp_row *row, slp_parsed_row *ret);
/* The write of an operation, as slp_schema.write has it, with the note of refused.h. Only this calls that. */
int slp_schema_write_row(slp_schema *s, slp_row_request *d, const slp_operation *i);

/* How the leases are spread, by all rows under the first key: spread_rule.c. */
slp_spread slp_spread_of_rows(slp_schema *schema, const slp_store_rows *rows);

#endif
