/* store.h - where leases are kept, as lease/ sees it: rows of named values in a table. Rows are read by key
 * or by prefix, and written one at a time under a condition. store/ implements this interface with DynamoDB,
 * SQLite and memory. A schema (schema.h) knows what the rows mean.
 *
 * The caller owns each request. It must live until on_done was called, in a later turn, or until `cancel` has
 * returned. on_done is called exactly once, unless the request was cancelled. */
#ifndef SLP_LEASE_STORE_H
#define SLP_LEASE_STORE_H

#include "base/buf.h"
#include "base/fail.h"
#include "base/mem.h"
#include "host/host.h"

/* ---- rows ----------------------------------------------------------------------------------------- */
typedef enum slp_val_kind {
  SLP_VAL_NONE, /* the attribute does not exist */
  SLP_VAL_S,    /* text */
  SLP_VAL_N,    /* a number as decimal text, at most 38 digits */
  SLP_VAL_B,    /* bytes, at most 400 KB */
  SLP_VAL_SS,   /* a set of texts, never empty, sorted */
  SLP_VAL_BOOL, /* n is 1 for true, 0 for false */
  SLP_VAL_NULL,
  /* a value of another kind. s: its JSON in DynamoDB's form, such as {"L":[]}, which may be written back */
  SLP_VAL_OTHER
} slp_val_kind;

typedef struct slp_val {
  slp_val_kind kind;
  slp_str s;            /* S, N, B, OTHER: the text or bytes */
  const slp_str *items; /* SS: the members */
  size_t n;             /* SS: number of members; BOOL: the value */
} slp_val;

typedef struct slp_attr {
  slp_str name;
  slp_val val;
} slp_attr;

typedef struct slp_row { /* what a row points to belongs to the object that the row came from */
  const slp_attr *attrs; /* includes the attributes of the key; in no particular order */
  size_t n;
} slp_row;

/* Returns the value of an attribute, never NULL; its kind is SLP_VAL_NONE if the row has no such
 * attribute. */
const slp_val *slp_row_get(const slp_row *row, slp_str name);
/* returns the text of an S or N; {NULL,0} if the attribute is absent or of another kind */
slp_str slp_row_text(const slp_row *row, slp_str name);
/* Returns the value of a number as a whole number; `otherwise` if the attribute is absent or not a whole
 * number. */
int64_t slp_row_int(const slp_row *row, slp_str name, int64_t otherwise);

typedef struct slp_row_key {
  slp_str hash, range; /* the key of a row; range is {NULL,0} in a table without range keys */
} slp_row_key;

/* ---- tables ---------------------------------------------------------------------------------------- */
typedef struct slp_table_spec { /* describes a table; its keys are of type S */
  const char *name;
  const char *hash_name;
  const char *range_name; /* NULL: the table has no range key */
  /* 1: the store never creates this table, and a table that does not exist counts as empty */
  uint8_t optional;
  /* Writes into `to` which layouts have a table with these keys; "": no known layout has. Used in the message
   * that a table has wrong keys. NULL: the message does not say. */
  void (*whose)(const char *hash, const char *range, char *to, size_t size);
} slp_table_spec;

/* ---- conditions and updates ------------------------------------------------------------------------- */
typedef enum slp_test {
  SLP_TEST_THERE, /* the attribute exists */
  /* the attribute must not exist */
  SLP_TEST_ABSENT,
  /* The tests below compare the attribute with `val`: S and B by bytes, N by value. If the attribute is
   * absent or of another kind than `val`, they all fail, except NE. */
  SLP_TEST_EQ,
  SLP_TEST_NE, /* not equal; it also passes if the attribute is absent or of another kind, as in DynamoDB */
  SLP_TEST_LT,
  SLP_TEST_LE,
  SLP_TEST_GT,
  SLP_TEST_GE
} slp_test;

typedef struct slp_atom {
  slp_str name;
  slp_test test;
  slp_val val;
  /* 1: it is enough if this test or the next one holds. Groups of tests that are joined in this way must all
   * hold. */
  uint8_t or_next;
} slp_atom;

typedef enum slp_change_kind {
  SLP_SET,
  SLP_SET_IF_ABSENT,
  SLP_ADD_N,   /* adds to a number; an absent attribute counts as 0 */
  SLP_ADD_SS,  /* adds members to a set; an absent attribute counts as empty */
  SLP_DROP_SS, /* removes members from a set; a set that becomes empty is removed */
  SLP_REMOVE
} slp_change_kind;

typedef struct slp_change {
  slp_str name;
  slp_change_kind kind;
  slp_val val;
} slp_change;

/* ---- requests ---------------------------------------------------------------------------------------- */
typedef struct slp_store_req {
  /* Called exactly once with the answer, in a later turn. */
  void (*on_done)(struct slp_store_req *rq);
  /* in: the longest time for one try, or for waiting until a locked file is free, in ms; 0: 10000 */
  uint32_t ms_max;
  /* in: 0: the table of leases; n: another table, by its number in the schema (slp_schema.side_table) */
  uint8_t table;
  /* in, 1: the caller spaces and repeats its requests itself. So the store answers at once if a request is
   * throttled, instead of repeating it. */
  uint8_t paced;
  slp_fail fail; /* out: class SLP_FINE: the request succeeded; otherwise why it failed */
  /* out, monotonic time: when the first try was sent, and when the answer came. sent_us is never later than
   * the real sending, because a proof of life counts from sent_us. */
  uint64_t sent_us, done_us;
  void *impl;    /* only the store uses it; NULL before and after the request */
  slp_event ev;  /* for the store */
} slp_store_req; /* a request must be all zero before its first use */

/* Rows, with the memory that holds everything they point to. The rows of an answer are valid until
 * slp_store_rows_free, or until the request is used again. */
typedef struct slp_store_rows {
  slp_mem *mem;  /* the allocator for rows that are added */
  slp_row *rows; /* owned, with everything that the rows point to */
  size_t n, cap;
  size_t bytes;                  /* total size of all blocks */
  struct slp_rows_block *blocks; /* owned; the newest first */
} slp_store_rows;
void slp_store_rows_init(slp_store_rows *rows, slp_mem *mem);
/* Frees all rows. Afterwards `rows` is empty and can be used again. */
void slp_store_rows_free(slp_store_rows *rows);
/* For stores: returns zeroed memory that is freed with the rows; NULL: no memory. */
void *slp_store_rows_get(slp_store_rows *rows, size_t bytes);
/* Returns a copy of s that is freed with the rows; .p is NULL without memory. */
slp_str slp_store_rows_text(slp_store_rows *rows, slp_str s);
/* slp_store_rows_val copies a value, slp_store_rows_copy adds a copy of a row; both copy everything that the
 * value or row points to. slp_store_rows_add adds a row whose attributes belong to `rows` already. Each
 * returns 0 or SLP_ENOMEM. */
int slp_store_rows_val(slp_store_rows *rows, const slp_val *from, slp_val *ret);
int slp_store_rows_copy(slp_store_rows *rows, const slp_row *from);
int slp_store_rows_add(slp_store_rows *rows, const slp_attr *attrs, size_t n);
/* Moves all rows of `from` to the end of `to`. Returns 0, or SLP_ENOMEM and moves none. */
int slp_store_rows_join(slp_store_rows *to, slp_store_rows *from);
/* Moves all rows of `from` to `to`, which must be empty. Their memory still belongs to the allocator of
 * `from`; slp_store_rows_free(to) gives it back to that allocator. */
void slp_store_rows_move(slp_store_rows *to, slp_store_rows *from);

/* A request that creates the table if it does not exist, waits until it can be used, and checks its keys. */
typedef struct slp_store_prepare {
  slp_store_req rq;
  uint8_t create; /* in, 0: a missing table is not created, and the request fails with SLP_GONE */
  /* out: 1: the table was created */
  uint8_t created;
} slp_store_prepare;

/* A request that reads up to 100 rows by their keys. The answer has only rows that exist. If a key is given
 * several times, its row is in the answer at least once. */
typedef struct slp_store_get {
  slp_store_req rq;
  const slp_row_key *keys; /* in */
  size_t keys_n;
  uint8_t consistent;
  slp_store_rows out;
  slp_buf at; /* where a throttled request with `paced` continues; see slp_store_list.at */
} slp_store_get;

/* Most bytes of rows that a list may return, and most pages that it may have; otherwise it fails. A hundred
 * thousand leases take about half of the bytes. Lists that are read at the same time share the limit. */
#define SLP_STORE_LIST_BYTES_MAX (256u * 1024 * 1024)
#define SLP_STORE_LIST_PAGES_MAX 10000u

/* limits of one list; all zero: the list is read alone, and may have the most bytes */
typedef struct slp_store_bound {
  uint64_t bytes_max; /* bytes that all rows may take that the caller holds; 0: SLP_STORE_LIST_BYTES_MAX */
  /* bytes of rows from earlier lists that the caller still holds; they count against bytes_max */
  uint64_t before;
  /* how many lists are read at the same time, this one included; 0: only this one */
  uint32_t at_once;
} slp_store_bound;
static inline uint32_t slp_store_share(const slp_store_bound *b) { return b->at_once ? b->at_once : 1; }
static inline uint64_t slp_store_bytes_max(const slp_store_bound *b) {
  return b->bytes_max ? b->bytes_max : SLP_STORE_LIST_BYTES_MAX;
}
/* Returns how many bytes of rows the list with this bound may still return. */
static inline uint64_t slp_store_bytes_left(const slp_store_bound *b) {
  uint64_t most = slp_store_bytes_max(b);
  return (b->before < most ? most - b->before : 0) / slp_store_share(b);
}

/* A request that reads every row with this hash key and a range key that begins with `prefix`. If the table
 * has no range keys, it reads every row of the table. */
typedef struct slp_store_list {
  slp_store_req rq;
  slp_str hash, prefix; /* in */
  uint8_t consistent;
  slp_store_bound bound; /* in */
  slp_store_rows out;
  /* For a request with `paced`; otherwise zero. If a page after the first one is throttled, `out` keeps the
   * rows that have come. The store writes here where to continue when the same request is sent again. Empty:
   * at the first page. */
  slp_buf at;
} slp_store_list;

typedef enum slp_write_kind {
  SLP_WRITE_UPDATE, /* changes some attributes of a row, or creates the row */
  SLP_WRITE_PUT,    /* replaces the whole row; all changes are SLP_SET */
  SLP_WRITE_DELETE  /* removes the row, if it exists */
} slp_write_kind;

typedef enum slp_written {
  /* No answer came, or the answer does not say whether the write was made: it may have happened, or may still
   * happen. But if fail.class is THROTTLE, GONE, AUTH, ACCESS or REFUSED, it has not happened and will
   * not. */
  SLP_WRITTEN_NOT_SURE,
  SLP_WRITTEN_YES,
  SLP_WRITTEN_REFUSED /* the condition did not hold, so nothing was written */
} slp_written;

typedef struct slp_store_write {
  slp_store_req rq;
  slp_row_key key; /* in */
  slp_write_kind kind;
  /* in: the condition, tests that must all hold; when_n 0: none, the write is always made */
  const slp_atom *when;
  size_t when_n;
  const slp_change *changes; /* in */
  size_t changes_n;
  /* in, 1: a heartbeat: sent before all requests that wait, and tried only once */
  uint8_t urgent;
  slp_written written; /* out: what became of the write; with YES and REFUSED, fail.class is SLP_FINE */
  /* out: the row, if it is known. YES: the row after an update. REFUSED: the row that refused the write.
   * Empty if the row does not exist, or if image_known is 0. */
  slp_store_rows image;
  /* out, 0: the store does not know the row: after a put or a delete, and after REFUSED if the server did not
   * return the row. A caller that needs the row must read it. */
  uint8_t image_known;
} slp_store_write;

/* what requests have cost by DynamoDB's rules, in thousandths of units, as the server reported it */
typedef struct slp_store_cost {
  uint64_t write_units, read_units, write_calls, read_calls, throttles;
} slp_store_cost;

/* ---- a store ------------------------------------------------------------------------------------------- */
typedef struct slp_store slp_store;
typedef struct slp_store_ops {
  void (*prepare)(slp_store *s, slp_store_prepare *rq);
  void (*get)(slp_store *s, slp_store_get *rq);
  void (*list)(slp_store *s, slp_store_list *rq);
  void (*write)(slp_store *s, slp_store_write *rq);
  /* ends the request: on_done is not called; a write may still happen */
  void (*cancel)(slp_store *s, slp_store_req *rq);
  void (*close)(slp_store *s); /* frees the store; no request may be under way */
  /* returns what requests have cost; NULL: the store counts it in slp_store.cost */
  slp_store_cost (*cost)(slp_store *s);
} slp_store_ops;

struct slp_store {
  const slp_store_ops *ops;
  slp_store_cost cost;
};

static inline slp_store_cost slp_store_cost_of(slp_store *s) {
  return s->ops->cost ? s->ops->cost(s) : s->cost;
}

/* For stores: the request has its answer; makes on_done run in a later turn. */
void slp_store_answer(slp_host *h, slp_store_req *rq);

#endif
