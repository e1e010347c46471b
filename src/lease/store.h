/* store.h - where leases are kept, as lease/ sees it: rows of named values in one table, read by key or by
 * prefix, and written one at a time under a condition. store/ implements it over DynamoDB, SQLite and memory;
 * what the rows mean is up to a schema (schema.h). A request belongs to the caller and lives until on_done
 * ran (in a turn) or cancel returned; each gets exactly one answer. */
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
  SLP_VAL_BOOL, /* n 1: true */
  SLP_VAL_NULL,
  /* any other kind; s is its JSON as DynamoDB writes it, such as {"L":[]}; may be written back */
  SLP_VAL_OTHER
} slp_val_kind;

typedef struct slp_val {
  slp_val_kind kind;
  slp_str s;            /* S, N, B, OTHER */
  const slp_str *items; /* SS: the members */
  size_t n;             /* SS: how many; BOOL: the value */
} slp_val;

typedef struct slp_attr {
  slp_str name;
  slp_val val;
} slp_attr;

typedef struct slp_row { /* what it points to belongs to the object that gave it */
  const slp_attr *attrs; /* includes the key's attributes; in no particular order */
  size_t n;
} slp_row;

const slp_val *slp_row_get(const slp_row *row, slp_str name); /* never NULL; kind SLP_VAL_NONE if absent */
/* returns an S or N; {NULL,0} if absent or of another kind */
slp_str slp_row_text(const slp_row *row, slp_str name);
/* Returns an N as a whole number, or `otherwise` if it is absent or not one. */
int64_t slp_row_int(const slp_row *row, slp_str name, int64_t otherwise);

typedef struct slp_row_key {
  slp_str hash, range; /* range is {NULL,0} in a table without range keys */
} slp_row_key;

/* ---- tables ---------------------------------------------------------------------------------------- */
typedef struct slp_table_spec { /* a table; both of its keys are of type S */
  const char *name;
  const char *hash_name;
  const char *range_name; /* or NULL */
  uint8_t optional;       /* never made; while it is not there it reads as empty */
  /* Writes which layouts have a table with these keys; "": none that is known. NULL: nothing is told. */
  void (*whose)(const char *hash, const char *range, char *to, size_t size);
} slp_table_spec;

/* ---- conditions and updates ------------------------------------------------------------------------- */
typedef enum slp_test {
  SLP_TEST_THERE, /* the attribute exists */
  SLP_TEST_ABSENT,
  /* S and B compare bytes, N compares values. An absent attribute or another kind fails every comparison */
  SLP_TEST_EQ,
  SLP_TEST_NE, /* except this one, which it passes, as in DynamoDB */
  SLP_TEST_LT,
  SLP_TEST_LE,
  SLP_TEST_GT,
  SLP_TEST_GE
} slp_test;

typedef struct slp_atom {
  slp_str name;
  slp_test test;
  slp_val val;
  uint8_t or_next; /* 1: this atom or the next one must hold. The groups made so are joined by AND */
} slp_atom;

typedef enum slp_change_kind {
  SLP_SET,
  SLP_SET_IF_ABSENT,
  SLP_ADD_N,   /* adds to a number; an absent one counts as 0 */
  SLP_ADD_SS,  /* adds to a set; an absent one counts as empty */
  SLP_DROP_SS, /* removes from a set; an empty set is removed */
  SLP_REMOVE
} slp_change_kind;

typedef struct slp_change {
  slp_str name;
  slp_change_kind kind;
  slp_val val;
} slp_change;

/* ---- requests ---------------------------------------------------------------------------------------- */
typedef struct slp_store_req {
  void (*on_done)(struct slp_store_req *rq);
  uint32_t ms_max; /* in: the longest time for one try, or to wait for a locked file; 0 means 10000 */
  uint8_t table;   /* in: 0: the table of leases; n: the schema's n-th table beside it */
  /* in: the caller paces its requests itself: a throttled call is answered, and not repeated by the store */
  uint8_t paced;
  slp_fail fail; /* SLP_FINE: it succeeded */
  /* monotonic. sent_us is not later than the sending of the first try, because a renewal counts from there */
  uint64_t sent_us, done_us;
  void *impl;    /* for the store; NULL before and after */
  slp_event ev;  /* for the store */
} slp_store_req; /* zero the request before use */

/* Rows, and one arena that holds all they point to. An answer lives until slp_store_rows_free or until the
 * request is used again. */
typedef struct slp_store_rows {
  slp_mem *mem;  /* for what is added */
  slp_row *rows; /* owned, with all they point to */
  size_t n, cap;
  size_t bytes;                  /* total size of the blocks */
  struct slp_rows_block *blocks; /* owned; newest first */
} slp_store_rows;
void slp_store_rows_init(slp_store_rows *rows, slp_mem *mem);
void slp_store_rows_free(slp_store_rows *rows); /* empties it */
/* For stores: returns zeroed memory that lives as long as the rows. NULL: no memory. */
void *slp_store_rows_get(slp_store_rows *rows, size_t bytes);
/* returns a copy of s; .p is NULL if there is no memory */
slp_str slp_store_rows_text(slp_store_rows *rows, slp_str s);
/* slp_store_rows_val and slp_store_rows_copy copy deeply. slp_store_rows_add adds a row that points into the
 * arena. Each returns 0 or SLP_ENOMEM. */
int slp_store_rows_val(slp_store_rows *rows, const slp_val *from, slp_val *ret);
int slp_store_rows_copy(slp_store_rows *rows, const slp_row *from);
int slp_store_rows_add(slp_store_rows *rows, const slp_attr *attrs, size_t n);
/* Appends all rows of `from`. SLP_ENOMEM: none was moved. */
int slp_store_rows_join(slp_store_rows *to, slp_store_rows *from);
/* Moves all rows to `to`, which must be empty, and frees them in their own memory as before. */
void slp_store_rows_move(slp_store_rows *to, slp_store_rows *from);

/* creates the table if it does not exist, waits until it can be used, and checks its keys */
typedef struct slp_store_prepare {
  slp_store_req rq;
  uint8_t create; /* in: 0: a missing table fails with SLP_GONE */
  uint8_t created;
} slp_store_prepare;

/* Reads up to 100 rows by key. Absent rows are left out of the answer. A key may be given several times; its
 * row comes at least once. */
typedef struct slp_store_get {
  slp_store_req rq;
  const slp_row_key *keys; /* in */
  size_t keys_n;
  uint8_t consistent;
  slp_store_rows out;
  slp_buf at; /* of a paced request: see slp_store_list.at */
} slp_store_get;

/* A list fails if it has more than this; a hundred thousand leases take about half. Lists that are read at
 * the same time share the limit. */
#define SLP_STORE_LIST_BYTES_MAX (256u * 1024 * 1024)
#define SLP_STORE_LIST_PAGES_MAX 10000u

typedef struct slp_store_bound { /* limits one list; zeros: it is read alone, up to the maximum */
  uint64_t bytes_max;            /* for the rows of all lists together; 0: SLP_STORE_LIST_BYTES_MAX */
  uint64_t before;               /* bytes of rows that the owner has already from earlier lists */
  uint32_t at_once;              /* how many lists are read at the same time, with this one; 0: it is alone */
} slp_store_bound;
static inline uint32_t slp_store_share(const slp_store_bound *b) { return b->at_once ? b->at_once : 1; }
static inline uint64_t slp_store_bytes_max(const slp_store_bound *b) {
  return b->bytes_max ? b->bytes_max : SLP_STORE_LIST_BYTES_MAX;
}
/* Returns how many bytes this list may keep. */
static inline uint64_t slp_store_bytes_left(const slp_store_bound *b) {
  uint64_t most = slp_store_bytes_max(b);
  return (b->before < most ? most - b->before : 0) / slp_store_share(b);
}

/* every row of one hash key whose range key begins with `prefix`; without a range key, the whole table */
typedef struct slp_store_list {
  slp_store_req rq;
  slp_str hash, prefix; /* in */
  uint8_t consistent;
  slp_store_bound bound; /* in */
  slp_store_rows out;
  /* Only for a paced request, otherwise zeros. When a later page is throttled, `out` keeps the rows that have
   * come, and the store notes here where to go on when the same request is sent again. Empty: begin at the
   * start. */
  slp_buf at;
} slp_store_list;

typedef enum slp_write_kind {
  SLP_WRITE_UPDATE, /* creates the row if it does not exist */
  SLP_WRITE_PUT,    /* replaces the whole row; changes are SLP_SET only */
  SLP_WRITE_DELETE  /* the row need not exist */
} slp_write_kind;

typedef enum slp_written {
  /* there was no answer, or it does not tell: the write may have happened, or may still happen. If fail.class
   * is THROTTLE, GONE, AUTH, ACCESS or REFUSED, it did not and will not */
  SLP_WRITTEN_NOT_SURE,
  SLP_WRITTEN_YES,
  SLP_WRITTEN_REFUSED /* the condition did not hold; nothing was written */
} slp_written;

typedef struct slp_store_write {
  slp_store_req rq;
  slp_row_key key; /* in */
  slp_write_kind kind;
  const slp_atom *when; /* in: the condition; none: always */
  size_t when_n;
  const slp_change *changes; /* in */
  size_t changes_n;
  uint8_t urgent;      /* in: a heartbeat: it goes before all that waits, is tried once, without back-off */
  slp_written written; /* out; fail is FINE for YES and REFUSED */
  /* out: one row. YES: the row after an update. REFUSED: the row that refused. Empty if there is no row or
   * the store does not tell */
  slp_store_rows image;
  /* out: 0: the store does not tell the row: after a put or a delete, and after REFUSED on servers that
   * ignore the wish. Read it if it is needed */
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
  void (*close)(slp_store *s);                     /* nothing may be in flight; frees the store */
  slp_store_cost (*cost)(slp_store *s);            /* NULL: the store counts in slp_store.cost */
} slp_store_ops;

struct slp_store {
  const slp_store_ops *ops;
  slp_store_cost cost;
};

static inline slp_store_cost slp_store_cost_of(slp_store *s) {
  return s->ops->cost ? s->ops->cost(s) : s->cost;
}

/* For stores: the request holds its answer; on_done runs in the next turn. */
void slp_store_answer(slp_host *h, slp_store_req *rq);

#endif
