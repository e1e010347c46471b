/* store.h - where leases are kept, as lease/ sees it: rows of named values in one table. Rows are read by key
 * or by prefix, and written one at a time under a condition. store/ implements the interface over DynamoDB,
 * SQLite and memory. A schema (schema.h) knows what the rows mean.
 *
 * A request belongs to the caller. It must live until on_done has run, in a turn of its own, or cancel has
 * returned. Each request gets exactly one answer. */
#ifndef SLP_LEASE_STORE_H
#define SLP_LEASE_STORE_H

#include "base/buf.h"
#include "base/fail.h"
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
  /* any other kind; s is its JSON in DynamoDB's form, such as {"L":[]}; it may be written back */
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

typedef struct slp_row { /* what a row points to belongs to the object that returned the row */
  const slp_attr *attrs; /* includes the attributes of the key; in no particular order */
  size_t n;
} slp_row;

/* never NULL; the kind is SLP_VAL_NONE if the row has no such attribute */
const slp_val *slp_row_get(const slp_row *row, slp_str name);
/* returns the text of an S or N; {NULL,0} if the attribute is absent or of another kind */
slp_str slp_row_text(const slp_row *row, slp_str name);
/* Returns an N as a whole number, or `otherwise` if the attribute is absent or no whole number. */
int64_t slp_row_int(const slp_row *row, slp_str name, int64_t otherwise);

typedef struct slp_row_key {
  slp_str hash, range; /* range is {NULL,0} in a table without range keys */
} slp_row_key;

/* ---- tables ---------------------------------------------------------------------------------------- */
typedef struct slp_table_spec { /* describes a table; both of its keys are of type S */
  const char *name;
  const char *hash_name;
  const char *range_name; /* NULL: the table has no range key */
  /* 1: the store never creates the table; while it does not exist, it reads as empty */
  uint8_t optional;
  /* Writes into `to` which layouts have a table with these keys; "": no known layout has. Called for the
   * message about a table whose keys are wrong. NULL: the message does not say. */
  void (*whose)(const char *hash, const char *range, char *to, size_t size);
} slp_table_spec;

/* ---- conditions and updates ------------------------------------------------------------------------- */
typedef enum slp_test {
  SLP_TEST_THERE, /* the attribute exists */
  /* the attribute does not exist */
  SLP_TEST_ABSENT,
  /* The tests below compare the attribute with `val`: S and B by bytes, N by value. If the attribute is
   * absent or of another kind, every test fails but NE. */
  SLP_TEST_EQ,
  SLP_TEST_NE, /* as in DynamoDB, NE passes if the attribute is absent or of another kind */
  SLP_TEST_LT,
  SLP_TEST_LE,
  SLP_TEST_GT,
  SLP_TEST_GE
} slp_test;

typedef struct slp_atom {
  slp_str name;
  slp_test test;
  slp_val val;
  /* 1: this atom or the next one must hold. Groups that are joined in this way must all hold */
  uint8_t or_next;
} slp_atom;

typedef enum slp_change_kind {
  SLP_SET,
  SLP_SET_IF_ABSENT,
  SLP_ADD_N,   /* adds to a number; if the attribute is absent, to 0 */
  SLP_ADD_SS,  /* adds members to a set; if the attribute is absent, to an empty set */
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
  /* called once with the answer, in a turn of its own */
  void (*on_done)(struct slp_store_req *rq);
  uint32_t ms_max; /* in: longest time for one try, or for waiting until a locked file is free; 0: 10000 */
  uint8_t table;   /* in: 0: the table of leases; n: the schema's n-th other table (slp_schema.side_table) */
  /* in: 1: the caller paces its requests itself, so the store answers a throttled call at once and does
   * not repeat it */
  uint8_t paced;
  slp_fail fail; /* out: class SLP_FINE: the request succeeded */
  /* out, monotonic: when the first try was sent and when the answer came. sent_us is never later than the
   * sending, because a proof of life counts from it */
  uint64_t sent_us, done_us;
  void *impl;    /* for the store; NULL before and after the request */
  slp_event ev;  /* for the store */
} slp_store_req; /* zero a request before use */

/* Rows, and one arena that holds everything they point to. An answer lives until slp_store_rows_free is
 * called or the request is used again. */
typedef struct slp_store_rows {
  slp_mem *mem;  /* the allocator for what is added */
  slp_row *rows; /* owned, with everything they point to */
  size_t n, cap;
  size_t bytes;                  /* total size of all blocks */
  struct slp_rows_block *blocks; /* owned; the newest first */
} slp_store_rows;
void slp_store_rows_init(slp_store_rows *rows, slp_mem *mem);
/* frees all rows; `rows` is empty then, and can be used again */
void slp_store_rows_free(slp_store_rows *rows);
/* For stores: returns zeroed memory that lives as long as the rows, or NULL if there is no memory. */
void *slp_store_rows_get(slp_store_rows *rows, size_t bytes);
/* returns a copy of s that lives as long as the rows; .p is NULL if there is no memory */
slp_str slp_store_rows_text(slp_store_rows *rows, slp_str s);
/* slp_store_rows_val copies a value and slp_store_rows_copy adds a copy of a row, both with everything
 * they point to. slp_store_rows_add adds a row whose attributes are in the arena already. Each returns 0
 * or SLP_ENOMEM. */
int slp_store_rows_val(slp_store_rows *rows, const slp_val *from, slp_val *ret);
int slp_store_rows_copy(slp_store_rows *rows, const slp_row *from);
int slp_store_rows_add(slp_store_rows *rows, const slp_attr *attrs, size_t n);
/* Moves all rows of `from` to the end of `to`. Returns 0, or SLP_ENOMEM and moves none. */
int slp_store_rows_join(slp_store_rows *to, slp_store_rows *from);
/* Moves all rows to `to`, which must be empty. They are later freed in the allocator that they came from. */
void slp_store_rows_move(slp_store_rows *to, slp_store_rows *from);

/* Creates the table if it does not exist, waits until it can be used, and checks its keys. */
typedef struct slp_store_prepare {
  slp_store_req rq;
  uint8_t create; /* in: 0: a missing table is not created, and the request fails with SLP_GONE */
  /* out: 1: the table was created */
  uint8_t created;
} slp_store_prepare;

/* Reads up to 100 rows by key. The answer lacks rows that do not exist. If a key is given several times,
 * its row is in the answer at least once. */
typedef struct slp_store_get {
  slp_store_req rq;
  const slp_row_key *keys; /* in */
  size_t keys_n;
  uint8_t consistent;
  slp_store_rows out;
  slp_buf at; /* where a paced request continues, like slp_store_list.at */
} slp_store_get;

/* A list fails if its rows have more bytes or pages than this. A hundred thousand leases take about half
 * of the bytes. Lists that are read at the same time share the limit. */
#define SLP_STORE_LIST_BYTES_MAX (256u * 1024 * 1024)
#define SLP_STORE_LIST_PAGES_MAX 10000u

typedef struct slp_store_bound { /* limits one list; zeros: the list is read alone, up to the maximum */
  uint64_t bytes_max;            /* limit for the rows of all lists together; 0: SLP_STORE_LIST_BYTES_MAX */
  uint64_t before;               /* bytes of rows that the caller already holds from earlier lists; they count
                                   * against bytes_max */
  /* number of lists that are read at the same time, with this one; 0: only this one */
  uint32_t at_once;
} slp_store_bound;
static inline uint32_t slp_store_share(const slp_store_bound *b) { return b->at_once ? b->at_once : 1; }
static inline uint64_t slp_store_bytes_max(const slp_store_bound *b) {
  return b->bytes_max ? b->bytes_max : SLP_STORE_LIST_BYTES_MAX;
}
/* Returns how many bytes of rows this list may keep. */
static inline uint64_t slp_store_bytes_left(const slp_store_bound *b) {
  uint64_t most = slp_store_bytes_max(b);
  return (b->before < most ? most - b->before : 0) / slp_store_share(b);
}

/* Reads every row with this hash key whose range key begins with `prefix`. In a table without range keys:
 * every row of the table. */
typedef struct slp_store_list {
  slp_store_req rq;
  slp_str hash, prefix; /* in */
  uint8_t consistent;
  slp_store_bound bound; /* in */
  slp_store_rows out;
  /* For a paced request only; otherwise zeros. When a page after the first is throttled, `out` keeps the
   * rows that have come. The store remembers here where to continue when the same request is sent again.
   * Empty: at the first page. */
  slp_buf at;
} slp_store_list;

typedef enum slp_write_kind {
  SLP_WRITE_UPDATE, /* changes a row, or creates it if it does not exist */
  SLP_WRITE_PUT,    /* replaces the whole row; all changes are SLP_SET */
  SLP_WRITE_DELETE  /* removes the row; it need not exist */
} slp_write_kind;

typedef enum slp_written {
  /* There was no answer, or the answer does not say: the write may have happened, or may still happen. If
   * fail.class is THROTTLE, GONE, AUTH, ACCESS or REFUSED, it has not happened and will not. */
  SLP_WRITTEN_NOT_SURE,
  SLP_WRITTEN_YES,
  SLP_WRITTEN_REFUSED /* the condition did not hold, so nothing was written */
} slp_written;

typedef struct slp_store_write {
  slp_store_req rq;
  slp_row_key key; /* in */
  slp_write_kind kind;
  const slp_atom *when; /* in: the condition; when_n 0: the write is always made */
  size_t when_n;
  const slp_change *changes; /* in */
  size_t changes_n;
  /* in: 1: a heartbeat: sent before all requests that wait, and tried once, without back-off */
  uint8_t urgent;
  slp_written written; /* out: the outcome; for YES and REFUSED, fail.class is SLP_FINE */
  /* out: at most one row. YES: the row after an update. REFUSED: the row that refused. Empty if the row
   * does not exist or image_known is 0. */
  slp_store_rows image;
  /* out: 0: the store does not know the row: after a put or a delete, and after REFUSED by a server that
   * does not return it. A caller that needs the row must read it. */
  uint8_t image_known;
} slp_store_write;

typedef struct slp_store_cost { /* by DynamoDB's rules; units in thousandths, as the server reported them */
  uint64_t write_units, read_units, write_calls, read_calls, throttles;
} slp_store_cost;

/* ---- a store ------------------------------------------------------------------------------------------- */
typedef struct slp_store slp_store;
typedef struct slp_store_ops {
  void (*prepare)(slp_store *s, slp_store_prepare *rq);
  void (*get)(slp_store *s, slp_store_get *rq);
  void (*list)(slp_store *s, slp_store_list *rq);
  void (*write)(slp_store *s, slp_store_write *rq);
  void (*cancel)(slp_store *s, slp_store_req *rq); /* on_done will not run; a write may still happen */
  void (*close)(slp_store *s);                     /* frees the store; no request may be under way */
  slp_store_cost (*cost)(slp_store *s);            /* NULL: the store counts in slp_store.cost */
} slp_store_ops;

struct slp_store {
  const slp_store_ops *ops;
  slp_store_cost cost;
};

static inline slp_store_cost slp_store_cost_of(slp_store *s) {
  return s->ops->cost ? s->ops->cost(s) : s->cost;
}

/* For stores: the request holds its answer; on_done will run in the next turn. */
void slp_store_answer(slp_host *h, slp_store_req *rq);

#endif
