/* store.h - where leases live, as lease/ wants it: rows of named values in one table, read by key or by
 * prefix, and written one row at a time under a condition. store/ implements it over DynamoDB, SQLite and
 * memory; what the rows mean is a schema's business (schema.h). Requests are the caller's, live until on_done
 * ran (from the turn queue) or cancel returned; exactly one answer each. */
#ifndef SLP_LEASE_STORE_H
#define SLP_LEASE_STORE_H

#include "base/buf.h"
#include "base/fail.h"
#include "host/host.h"

/* ---- rows ----------------------------------------------------------------------------------------- */
typedef enum slp_val_kind {
  SLP_VAL_NONE, /* no such attribute */
  SLP_VAL_S,    /* text */
  SLP_VAL_N,    /* a number as decimal text, at most 38 digits */
  SLP_VAL_B,    /* bytes, at most 400 KB */
  SLP_VAL_SS,   /* a set of texts, never empty, sorted */
  SLP_VAL_BOOL, /* n 1: true */
  SLP_VAL_NULL,
  SLP_VAL_OTHER /* any other kind: s is its JSON as DynamoDB writes it, {"L":[]}; may be written back */
} slp_val_kind;

typedef struct slp_val {
  slp_val_kind kind;
  slp_str s;            /* S, N, B, OTHER */
  const slp_str *items; /* SS */
  size_t n;             /* SS: items; BOOL */
} slp_val;

typedef struct slp_attr {
  slp_str name;
  slp_val val;
} slp_attr;

typedef struct slp_row { /* everything it points at lives with what gave it */
  const slp_attr *attrs; /* the key's attributes too; order means nothing */
  size_t n;
} slp_row;

const slp_val *slp_row_get(const slp_row *row, slp_str name); /* never NULL: kind NONE when absent */
slp_str slp_row_text(const slp_row *row, slp_str name); /* S or N; {NULL,0} when absent or another kind */
/* N as a whole number; `otherwise` when absent or not one. */
int64_t slp_row_int(const slp_row *row, slp_str name, int64_t otherwise);

typedef struct slp_row_key {
  slp_str hash, range; /* range {NULL,0} in a table that has none */
} slp_row_key;

/* ---- tables ---------------------------------------------------------------------------------------- */
typedef struct slp_table_spec { /* both keys are S */
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
  SLP_TEST_EQ, /* S and B by bytes, N by value; an absent attribute or another kind fails every comparison */
  SLP_TEST_NE, /* but this one, which it passes, as in DynamoDB */
  SLP_TEST_LT,
  SLP_TEST_LE,
  SLP_TEST_GT,
  SLP_TEST_GE
} slp_test;

typedef struct slp_atom {
  slp_str name;
  slp_test test;
  slp_val val;
  uint8_t or_next; /* 1: this atom or the next one; AND binds the groups that this makes */
} slp_atom;

typedef enum slp_change_kind {
  SLP_SET,
  SLP_SET_IF_ABSENT,
  SLP_ADD_N,   /* to a number; an absent one counts as 0 */
  SLP_ADD_SS,  /* into a set; an absent one counts as empty */
  SLP_DROP_SS, /* out of a set; an emptied set goes */
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
  uint32_t ms_max; /* in: of one try, or of waiting for a locked file. 0: 10000 */
  uint8_t table;   /* in: 0: the table of leases; n: the schema's n-th table beside it */
  uint8_t paced;   /* in: whoever asks paces its requests: a throttled call is answered, not repeated */
  slp_fail fail;   /* class SLP_FINE: all is well */
  uint64_t sent_us, done_us; /* monotonic; sent_us is never later than the first try's sending: a renewal
                                counts from there */
  void *impl;                /* the store's; NULL before and after */
  slp_event ev;              /* the store's */
} slp_store_req;             /* zero the request first */

/* Rows and the one arena with all they point at: what a request answered lives until slp_store_rows_free or
 * its next use. */
typedef struct slp_store_rows {
  slp_mem *mem;  /* for what is added */
  slp_row *rows; /* owned, as all they point at */
  size_t n, cap;
  size_t bytes;                  /* of blocks */
  struct slp_rows_block *blocks; /* owned; the newest first */
} slp_store_rows;
void slp_store_rows_init(slp_store_rows *rows, slp_mem *mem);
void slp_store_rows_free(slp_store_rows *rows); /* empty again */
/* For stores. Memory that lives as long as the rows, zeroed; NULL: none left. */
void *slp_store_rows_get(slp_store_rows *rows, size_t bytes);
slp_str slp_store_rows_text(slp_store_rows *rows, slp_str s); /* a copy; .p NULL: no memory */
/* Deep copies, and a row more that points into the arena. 0 or SLP_ENOMEM. */
int slp_store_rows_val(slp_store_rows *rows, const slp_val *from, slp_val *ret);
int slp_store_rows_copy(slp_store_rows *rows, const slp_row *from);
int slp_store_rows_add(slp_store_rows *rows, const slp_attr *attrs, size_t n);
/* All rows go over, behind those that are there. SLP_ENOMEM: nothing went. */
int slp_store_rows_join(slp_store_rows *to, slp_store_rows *from);
/* All rows go over; `to` was empty. Memory goes back to where it came from. */
void slp_store_rows_move(slp_store_rows *to, slp_store_rows *from);

typedef struct slp_store_prepare { /* makes the table when it is not there, waits until it can be used, checks
                                      its keys */
  slp_store_req rq;
  uint8_t create; /* in: 0: a missing table is SLP_GONE */
  uint8_t created;
} slp_store_prepare;

/* Up to 100 rows by key; those that are absent are left out of the answer. A key may be there several times:
 * its row comes once at least. */
typedef struct slp_store_get {
  slp_store_req rq;
  const slp_row_key *keys; /* in */
  size_t keys_n;
  uint8_t consistent;
  slp_store_rows out;
  slp_buf at; /* of a request that is paced: see slp_store_list */
} slp_store_get;

/* A list ends with an error where there is more: a hundred thousand leases come to half of it. Lists that are
 * asked at once keep no more than that together, each its share. */
#define SLP_STORE_LIST_BYTES_MAX (256u * 1024 * 1024)
#define SLP_STORE_LIST_PAGES_MAX 10000u

typedef struct slp_store_bound { /* of a list; zeroes: it is asked alone, and may keep as much as any */
  uint64_t bytes_max;            /* of rows, all in all; 0: SLP_STORE_LIST_BYTES_MAX */
  uint64_t before;               /* so many of them its owner has already, of lists that came before */
  uint32_t at_once;              /* so many are asked at once, and this is one of them; 0: it is alone */
} slp_store_bound;
static inline uint32_t slp_store_share(const slp_store_bound *b) { return b->at_once ? b->at_once : 1; }
static inline uint64_t slp_store_bytes_max(const slp_store_bound *b) {
  return b->bytes_max ? b->bytes_max : SLP_STORE_LIST_BYTES_MAX;
}
/* How many bytes this one may keep. */
static inline uint64_t slp_store_bytes_left(const slp_store_bound *b) {
  uint64_t most = slp_store_bytes_max(b);
  return (b->before < most ? most - b->before : 0) / slp_store_share(b);
}

typedef struct slp_store_list { /* every row of one hash key whose range begins so; without a range key: the
                                   whole table */
  slp_store_req rq;
  slp_str hash, prefix; /* in */
  uint8_t consistent;
  slp_store_bound bound; /* in */
  slp_store_rows out;
  /* Of a request that is paced; else zeroes. When a later page is throttled, `out` keeps the rows that came,
   * and the store notes here where the same request goes on when it is sent again. Empty: at its beginning.
   * */
  slp_buf at;
} slp_store_list;

typedef enum slp_write_kind {
  SLP_WRITE_UPDATE, /* makes the row when it is not there */
  SLP_WRITE_PUT,    /* the whole row: changes are SLP_SET only */
  SLP_WRITE_DELETE  /* a row that is not there is fine */
} slp_write_kind;

typedef enum slp_written {
  SLP_WRITTEN_NOT_SURE, /* no answer, or one that does not say: it may have happened, or happen yet. When
                           fail.class is THROTTLE, GONE, AUTH, ACCESS or REFUSED, it did not and will not */
  SLP_WRITTEN_YES,
  SLP_WRITTEN_REFUSED /* the condition did not hold: nothing happened */
} slp_written;

typedef struct slp_store_write {
  slp_store_req rq;
  slp_row_key key; /* in */
  slp_write_kind kind;
  const slp_atom *when; /* in: the condition; none: always */
  size_t when_n;
  const slp_change *changes; /* in */
  size_t changes_n;
  uint8_t urgent;       /* in: a heartbeat: before anything else that waits, one try, no back-off */
  slp_written written;  /* out. fail is FINE for YES and REFUSED */
  slp_store_rows image; /* out: one row: YES: after an update, REFUSED: the row that refused; none when there
                           is no row or the store does not tell */
  uint8_t image_known;  /* out: 0: the store does not tell: after a put or a delete, and REFUSED on servers
                           that  ignore the wish: read it */
} slp_store_write;

typedef struct slp_store_cost { /* by DynamoDB's rules; units in thousandths, as the server told them */
  uint64_t write_units, read_units, write_calls, read_calls, throttles;
} slp_store_cost;

/* ---- a store ------------------------------------------------------------------------------------------- */
typedef struct slp_store slp_store;
typedef struct slp_store_ops {
  void (*prepare)(slp_store *s, slp_store_prepare *rq);
  void (*get)(slp_store *s, slp_store_get *rq);
  void (*list)(slp_store *s, slp_store_list *rq);
  void (*write)(slp_store *s, slp_store_write *rq);
  void (*cancel)(slp_store *s, slp_store_req *rq); /* silence from here on; a write may still happen */
  void (*close)(slp_store *s);                     /* nothing is in flight; frees */
  slp_store_cost (*cost)(slp_store *s);            /* NULL: what is counted in the store itself */
} slp_store_ops;

struct slp_store {
  const slp_store_ops *ops;
  slp_store_cost cost;
};

static inline slp_store_cost slp_store_cost_of(slp_store *s) {
  return s->ops->cost ? s->ops->cost(s) : s->cost;
}

/* For stores: the answer is in the request; on_done runs on the next turn. */
void slp_store_answer(slp_host *h, slp_store_req *rq);

#endif
