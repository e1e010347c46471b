/* read.h - one read of the lease table, from the request to its answer. The owner of the slp_read decides
 * whether to read again after a failure. If failures last, the user is told here.
 *
 * A throttled read is not a failure. It waits for its turn after the worker's other reads (gate.h), and is
 * sent again. Rows that have come already are kept. */
#ifndef SLP_LEASE_READ_H
#define SLP_LEASE_READ_H

#include "base/buf.h"
#include "base/fail.h"
#include "base/list.h"
#include "host/host.h"
#include "lease/gate.h"
#include "lease/lease_types.h"
#include "lease/schema.h"
#include "lease/store.h"

typedef struct slp_reads { /* all reads of one worker */
  slp_gate gate;
  /* requests that wait for the gate, linked by slp_read_turn.link; the one that has waited longest first */
  slp_list waiting;
  /* runs when the gate lets the first waiting request pass */
  slp_timer timer;
} slp_reads;

typedef struct slp_read_turn { /* one request of a read, and its place among the requests that wait */
  slp_list link;               /* in slp_reads.waiting, while the request waits */
  uint64_t first_us; /* when the request was first sent, if it was throttled since; 0: it was not throttled */
  struct slp_read *of;
  /* sends the request */
  void (*send)(struct slp_read_turn *turn);
} slp_read_turn;

/* one of several lists of the same read, each under another partition key */
typedef struct slp_read_part {
  slp_store_list list;
  slp_read_turn turn;
  /* 1: this list has come or failed */
  uint8_t done;
} slp_read_part;

typedef struct slp_read {
  slp_fleet *f;
  const char *of; /* names what is read, for messages about failures */
  /* one try may take at most the lease time divided by this; 0: as long as the store allows */
  uint32_t share;
  /* How many reads in a row have failed. If one slp_read sends different requests, only a success of the
   * request that failed sets this to 0 (see `failing`). */
  uint32_t failed;
  const slp_store_req *failing; /* the request that failed last: `get` or `list` */
  /* slp_store_req.table of the request that failed last */
  uint8_t failing_table;
  uint8_t busy;    /* 1: a read was begun, and is not answered yet */
  uint8_t came;    /* 1: the last answer was rows and not a failure */
  slp_row_key key; /* key of the row that is read; of several rows: the key that they share */
  slp_buf text;    /* holds the bytes of the keys */
  slp_store_get get;
  slp_store_list list;
  slp_read_turn turn; /* `get` or `list`, whichever was used last, while it waits for the gate */
  /* 1: `list` has come or failed */
  uint8_t list_done;
  uint8_t table;   /* the table that a list reads */
  uint8_t starved; /* 1: there was no memory to ask for all partition keys */
  uint8_t whole;   /* 1: a list of all rows has read every partition key */
  /* Sets keys[n] to 1 if the n-th partition key is to be read. NULL: all keys are read. */
  void (*choose)(struct slp_read *r, uint8_t keys[]);
  /* for a list of all rows: how many partition keys may have leases, not counting the first key */
  uint32_t others;
  /* Owned: one list for each of the `others` partition keys, all read at the same time. Freed, and NULL
   * again, when their rows are joined into one answer. */
  slp_read_part *parts;
  uint32_t parts_n;
  slp_store_req *rq; /* request of `get` or `list`, whichever was used last */
  /* The answer. If it came by `list`, it is valid until on_done returns; if by `get`, until the next read. */
  slp_store_rows *rows;
  /* index of the row that slp_read_next returns next */
  size_t next;
  void (*on_done)(struct slp_read *r);
} slp_read;

/* of: names what is read, for messages; not copied. share: see slp_read.share. */
void slp_read_init(slp_read *r, slp_fleet *f, const char *of, uint32_t share);
void slp_read_stop(slp_read *r); /* cancels the read; on_done is not called */
void slp_read_free(slp_read *r); /* cancels the read and frees its memory */

/* Each of the next functions begins one read; on_done is called once, later. No other read of r may be under
 * way. A function that returns int returns 0, or SLP_ENOMEM if no read was begun. slp_read_row reads one row:
 * the row of `kind` with this name. */
int slp_read_row(slp_read *r, slp_operation_kind kind, slp_str name, int consistent,
                 void (*on_done)(slp_read *r));
/* Reads every row whose key has the same beginning as the keys of `kind`, such as the rows of all workers. */
int slp_read_list(slp_read *r, slp_operation_kind kind, int consistent, void (*on_done)(slp_read *r));
/* Reads every row of this application and stream, under all of its partition keys. */
void slp_read_all(slp_read *r, int consistent, void (*on_done)(slp_read *r));
/* Reads all rows like slp_read_all, but only under the partition keys that `choose` marks: keys[n] = 1 for
 * the n-th key. The first key is always read; `choose` is called when its rows have come. Afterwards r->whole
 * says whether every key was read. */
void slp_read_chosen(slp_read *r, int consistent, void (*choose)(slp_read *r, uint8_t keys[]),
                     void (*on_done)(slp_read *r));
/* Reads all rows in the table of leases that have this hash key, and a range key with this prefix. */
void slp_read_scope(slp_read *r, slp_str hash, slp_str prefix, void (*on_done)(slp_read *r));
/* Reads every row of another table of the schema. n: its number (slp_schema.side_table). */
void slp_read_side(slp_read *r, uint8_t n, void (*on_done)(slp_read *r));
/* Reads the rows of these keys, by a consistent read. The caller keeps the keys until on_done. */
void slp_read_keys(slp_read *r, const slp_row_key *keys, size_t n, void (*on_done)(slp_read *r));

/* Returns 1 and the next row of the answer, or 0 after the last row. */
int slp_read_next(slp_read *r, slp_parsed_row *ret);
/* Returns the only row of the answer; its kind is OTHER if there is no row. */
void slp_read_one(slp_read *r, slp_parsed_row *ret);

/* Counts an answer; fail: the `fail` of its request. Returns 1, or 0 if the answer is a failure. Reports a
 * failure to the user if slp_fleet_tells says so, and at once if the answer makes no sense and took
 * seconds. */
int slp_read_count(slp_read *r, const slp_fail *fail);

void slp_reads_init(slp_fleet *f);
void slp_reads_stop(slp_fleet *f);
/* returns 1 if requests of this worker wait for capacity of the table */
int slp_fleet_throttled(const slp_fleet *f);
/* returns 1 if the table serves only a few requests of this worker a second */
int slp_fleet_is_scarce(const slp_fleet *f);
/* Returns how long to wait before a read of one kind is repeated: us, or longer if the table needs longer to
 * serve `units` read units of this worker's other reads. */
uint64_t slp_reads_rest_us(const slp_fleet *f, uint64_t us, uint32_t units);
/* Returns how many rows one request may ask for; at most `most`. If the table serves this worker n requests a
 * second, it is n * n rows. So a slow table is asked for few rows at a time, and a fast one is not asked for
 * each row in a request of its own. */
size_t slp_reads_at_once(const slp_fleet *f, size_t most);

#endif
