/* read.h - one read of the lease table, from the request to its answer. The owner of the slp_read decides
 * whether to ask again after a failure. slp_read tells the user of failures that last.
 *
 * A throttled read is not a failure. It waits for its turn after the worker's other reads (gate.h), and is
 * sent again. Rows that have come already are kept. */
#ifndef SLP_LEASE_READ_H
#define SLP_LEASE_READ_H

#include "lease/context.h"
#include "lease/gate.h"

typedef struct slp_reads { /* all reads of one worker */
  slp_gate gate;
  slp_list waiting; /* requests that wait for the gate (slp_read_turn), the oldest first */
  /* runs when the gate lets the first waiting request pass */
  slp_timer timer;
} slp_reads;

typedef struct slp_read_turn { /* one request of a read */
  slp_list link;               /* link in slp_reads.waiting, until the request is sent */
  uint64_t first_us;           /* when the request was first sent, if it was throttled; 0: it was not */
  struct slp_read *of;
  /* sends the request */
  void (*send)(struct slp_read_turn *turn);
} slp_read_turn;

/* one of several lists that are read at the same time, each under another partition key */
typedef struct slp_read_part {
  slp_store_list list;
  slp_read_turn turn;
  /* the part has come or failed */
  uint8_t done;
} slp_read_part;

typedef struct slp_read {
  slp_fleet *f;
  const char *of; /* what is read, for messages about failures */
  uint32_t share; /* one try may take at most lease / share; 0: as long as the store allows */
  /* Failures in a row. Where one slp_read sends different requests in turn, only a good answer to the
   * request that failed ends the row. */
  uint32_t failed;
  const slp_store_req *failing; /* the request that failed last: `get` or `list` */
  /* table of the request that failed last */
  uint8_t failing_table;
  uint8_t busy;    /* asked, and not answered yet */
  uint8_t came;    /* the last answer was rows, not a failure */
  slp_row_key key; /* key of the row, or of the list */
  slp_buf text;    /* holds the bytes of the keys */
  slp_store_get get;
  slp_store_list list;
  slp_read_turn turn; /* turn of `get` or `list`, whichever was used last */
  /* `list` has come or failed */
  uint8_t list_done;
  uint8_t table;   /* the table that a list reads */
  uint8_t starved; /* there was no memory to ask for all parts */
  uint8_t whole;   /* a list of all rows has read every partition key */
  /* marks the partition keys to be read; NULL: all keys are read */
  void (*choose)(struct slp_read *r, uint8_t keys[]);
  /* a list of all rows: how many partition keys other than the first one may have leases */
  uint32_t others;
  /* owned: one list for each of those other keys, all read at the same time. Freed (NULL) as soon as their
   * rows are joined into one answer */
  slp_read_part *parts;
  uint32_t parts_n;
  slp_store_req *rq; /* request of `get` or `list`, whichever was used last */
  /* the answer: that of a list lives until on_done returns, that of a get until the next read */
  slp_store_rows *rows;
  /* index of the next row for slp_read_next */
  size_t next;
  void (*on_done)(struct slp_read *r);
} slp_read;

/* of: what is read, for messages; not copied. share: see slp_read.share */
void slp_read_init(slp_read *r, slp_fleet *f, const char *of, uint32_t share);
void slp_read_stop(slp_read *r); /* cancels the read; on_done will not run */
void slp_read_free(slp_read *r); /* cancels the read and frees its memory */

/* Each of the functions below starts one read, and on_done runs once, later. No read of r may be under way.
 * Those that return an int return 0, or SLP_ENOMEM if no read was started.
 *
 * slp_read_row reads the row of `kind` with this name. */
int slp_read_row(slp_read *r, slp_operation_kind kind, slp_str name, int consistent,
                 void (*on_done)(slp_read *r));
/* Reads every row whose key begins like the keys of `kind`, such as the rows of all workers. */
int slp_read_list(slp_read *r, slp_operation_kind kind, int consistent, void (*on_done)(slp_read *r));
/* Reads every row of this application and stream, under all of its partition keys. */
void slp_read_all(slp_read *r, int consistent, void (*on_done)(slp_read *r));
/* Reads all rows like slp_read_all, but only under the partition keys that `choose` marks: keys[n] = 1 for
 * the n-th key. The first key is always read, and `choose` is called when its rows have come. r->whole
 * says whether every key was read. */
void slp_read_chosen(slp_read *r, int consistent, void (*choose)(slp_read *r, uint8_t keys[]),
                     void (*on_done)(slp_read *r));
/* Reads all rows of the table of leases with this hash key and prefix. */
void slp_read_scope(slp_read *r, slp_str hash, slp_str prefix, void (*on_done)(slp_read *r));
/* Reads every row of the schema's n-th table other than the table of leases. */
void slp_read_side(slp_read *r, uint8_t n, void (*on_done)(slp_read *r));
/* Reads the rows of these keys, by a consistent read. The caller keeps the keys until on_done. */
void slp_read_keys(slp_read *r, const slp_row_key *keys, size_t n, void (*on_done)(slp_read *r));

/* Returns 1 and the next row of the answer, or 0 after the last row. */
int slp_read_next(slp_read *r, slp_parsed_row *ret);
/* Returns the only row of the answer; its kind is OTHER if there is no row. */
void slp_read_one(slp_read *r, slp_parsed_row *ret);

/* Counts an answer. Returns 1, or 0 if it is a failure. Tells the user of a failure if slp_fleet_tells
 * says so, and at once if an answer of many pages took seconds and makes no sense. */
int slp_read_count(slp_read *r, const slp_fail *fail);

void slp_reads_init(slp_fleet *f);
void slp_reads_stop(slp_fleet *f);
/* returns 1 if reads or writes of this worker wait for capacity of the table */
int slp_fleet_throttled(const slp_fleet *f);
/* returns 1 if the table serves only a few reads or writes of this worker a second */
int slp_fleet_is_scarce(const slp_fleet *f);
/* Returns how long to wait before one kind of read is repeated: us, or longer, so that the table can serve
 * `units` read units of this worker's other reads meanwhile. */
uint64_t slp_reads_rest_us(const slp_fleet *f, uint64_t us, uint32_t units);
/* Returns how many rows one request may ask for, `most` at most. If the table serves this worker n
 * requests a second, that is n * n rows. So a table that serves one request a second is asked for one row,
 * and a gate that is nearly open does not make many requests of one row. */
size_t slp_reads_at_once(const slp_fleet *f, size_t most);

#endif
