/* read.h - one read of the lease table, from the request to its answer. The owner of the reader decides
 * whether to ask again after a failure. If failures last, the user is told from here.
 *
 * A throttled read is not a failure. It waits for its turn behind the worker's other reads (gate.h), is sent
 * again, and keeps the rows that have come. */
#ifndef SLP_LEASE_READ_H
#define SLP_LEASE_READ_H

#include "lease/context.h"
#include "lease/gate.h"

typedef struct slp_reads { /* all reads of one worker */
  slp_gate gate;
  slp_list waiting; /* requests that wait for the gate (slp_read_turn), oldest first */
  slp_timer timer;
} slp_reads;

typedef struct slp_read_turn { /* one request of a read */
  slp_list link;               /* in slp_reads.waiting, until the request is sent */
  uint64_t first_us;           /* when a throttled request was first sent; 0: it was not throttled */
  struct slp_read *of;
  void (*send)(struct slp_read_turn *turn);
} slp_read_turn;

typedef struct slp_read_part { /* one of several lists that are read at once, each of another partition key */
  slp_store_list list;
  slp_read_turn turn;
  uint8_t done;
} slp_read_part;

typedef struct slp_read {
  slp_fleet *f;
  const char *of; /* what is read, for the message about failures */
  uint32_t share; /* one try may take lease / share at most; 0: what the store allows */
  /* failures in a row. If one read asks several questions in turn, only an answer to the question that failed
   * ends the row */
  uint32_t failed;
  const slp_store_req *failing; /* the question that failed: its request ... */
  uint8_t failing_table;        /* ... and table */
  uint8_t busy;                 /* asked, and not answered yet */
  uint8_t came;                 /* the last answer was rows, not a failure */
  slp_row_key key;              /* of the row, or of the list */
  slp_buf text;                 /* bytes of the keys */
  slp_store_get get;
  slp_store_list list;
  slp_read_turn turn; /* of `get` or `list`, whichever was used last */
  uint8_t list_done;
  uint8_t table;                                      /* of a list: which table */
  uint8_t starved;                                    /* there was no memory to ask for all parts */
  uint8_t whole;                                      /* a list of all rows: every key was asked */
  void (*choose)(struct slp_read *r, uint8_t keys[]); /* marks the keys to be read; NULL: all are */
  uint32_t others; /* a list of all rows: how many keys beside the first may have leases */
  /* owned; lists that are under way at the same time; none once the answer is complete */
  slp_read_part *parts;
  uint32_t parts_n;
  slp_store_req *rq;    /* of `get` or `list`, whichever was used last */
  slp_store_rows *rows; /* the answer: of a list until on_done returns, otherwise until the next read */
  /* the next row for slp_read_next */
  size_t next;
  void (*on_done)(struct slp_read *r);
} slp_read;

void slp_read_init(slp_read *r, slp_fleet *f, const char *of, uint32_t share);
void slp_read_stop(slp_read *r); /* on_done will not run */
void slp_read_free(slp_read *r); /* stops it and frees its memory */

/* Each of these reads once, and on_done runs once, later. No read may be under way. SLP_ENOMEM: nothing was
 * asked. */
int slp_read_row(slp_read *r, slp_operation_kind kind, slp_str name, int consistent,
                 void (*on_done)(slp_read *r));
/* Reads every row whose key begins like that of `kind`, such as the rows of all workers. */
int slp_read_list(slp_read *r, slp_operation_kind kind, int consistent, void (*on_done)(slp_read *r));
/* Reads every row of this application and stream, under all of its keys. */
void slp_read_all(slp_read *r, int consistent, void (*on_done)(slp_read *r));
/* Does the same, but of the keys beside the first one reads only those that `choose` marks: keys[n] = 1 for
 * the n-th. `choose` is called once the rows under the first key have come. r->whole says whether every key
 * was read. */
void slp_read_chosen(slp_read *r, int consistent, void (*choose)(slp_read *r, uint8_t keys[]),
                     void (*on_done)(slp_read *r));
/* Reads all rows of the table of leases with this hash key and prefix. */
void slp_read_scope(slp_read *r, slp_str hash, slp_str prefix, void (*on_done)(slp_read *r));
/* Reads every row of the schema's n-th table beside the table of leases. */
void slp_read_side(slp_read *r, uint8_t n, void (*on_done)(slp_read *r));
/* Reads the rows of these keys by a consistent read. The keys stay the caller's. */
void slp_read_keys(slp_read *r, const slp_row_key *keys, size_t n, void (*on_done)(slp_read *r));

/* Returns 1 and the next row of the answer, or 0 after the last one. */
int slp_read_next(slp_read *r, slp_parsed_row *ret);
/* Gives the only row of the answer; its kind is OTHER if there is none. */
void slp_read_one(slp_read *r, slp_parsed_row *ret);

/* Counts an answer and returns 1 if it is not a failure. Tells the user of failures when slp_fleet_tells says
 * so, and at once of an answer of many pages that took seconds and makes no sense. */
int slp_read_count(slp_read *r, const slp_fail *fail);

void slp_reads_init(slp_fleet *f);
void slp_reads_stop(slp_fleet *f);
/* returns 1 if reads or writes of this worker wait for capacity */
int slp_fleet_throttled(const slp_fleet *f);
/* returns 1 if the table grants this worker only a few reads or writes a second */
int slp_fleet_is_scarce(const slp_fleet *f);
/* Returns how long one kind of read waits before it is repeated: us, or long enough that the table grants
 * this worker `units` for other reads meanwhile. */
uint64_t slp_reads_rest_us(const slp_fleet *f, uint64_t us, uint32_t units);
/* Returns how many rows to ask for at once, of at most `most`. A table that grants this worker one request a
 * second may grant only one row. Where it grants n requests a second, n * n rows are asked for, so that a
 * gate that is nearly open does not make many requests of one row. */
size_t slp_reads_at_once(const slp_fleet *f, size_t most);

#endif
