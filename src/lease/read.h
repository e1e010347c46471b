/* read.h - one read of the lease table, from the question to its answer. Whoever asks again after a
 * failure is the reader's owner; a failure that lasts is told to the user from here.
 *
 * A read that is throttled is no failure: it waits for its turn behind the worker's other reads (gate.h), is
 * asked again, and keeps the rows that came. */
#ifndef SLP_LEASE_READ_H
#define SLP_LEASE_READ_H

#include "lease/context.h"
#include "lease/gate.h"

typedef struct slp_reads { /* of one worker */
  slp_gate gate;
  slp_list waiting; /* slp_read_turn, the oldest first */
  slp_timer timer;
} slp_reads;

typedef struct slp_read_turn { /* one request of a read */
  slp_list link;               /* in slp_reads.waiting, until it is sent */
  uint64_t first_us;           /* of a request that was throttled: it was first sent then; 0: it was not */
  struct slp_read *of;
  void (*send)(struct slp_read_turn *turn);
} slp_read_turn;

typedef struct slp_read_part { /* of a list over several partition keys */
  slp_store_list list;
  slp_read_turn turn;
  uint8_t done;
} slp_read_part;

typedef struct slp_read {
  slp_fleet *f;
  const char *of;  /* in the message about failures */
  uint32_t share;  /* one try takes at most lease / share; 0: what the store allows by itself */
  uint32_t failed; /* in a row; where one read asks several questions in turn, only the answer to the one that
                      failed ends the row */
  const slp_store_req *failing; /* that question: its request ... */
  uint8_t failing_table;        /* ... and table */
  uint8_t busy;                 /* asked, and not answered yet */
  uint8_t came;                 /* the last answer was rows, not a failure */
  slp_row_key key;              /* of the one row or of the list */
  slp_buf text;                 /* of keys */
  slp_store_get get;
  slp_store_list list;
  slp_read_turn turn; /* of the one of both that was used last */
  uint8_t list_done;
  uint8_t table;                                      /* of a list */
  uint8_t starved;                                    /* there was no memory to ask for all parts */
  uint8_t whole;                                      /* of a list of all rows: every key was asked */
  void (*choose)(struct slp_read *r, uint8_t keys[]); /* NULL: all are asked */
  uint32_t others;      /* of a list of all rows: so many keys beside the first one have leases */
  slp_read_part *parts; /* owned; those that are asked, all at once; none behind the answer */
  uint32_t parts_n;
  slp_store_req *rq;    /* of the one of both that was used last */
  slp_store_rows *rows; /* its answer: of a list until on_done returns, else until the next read */
  size_t next;
  void (*on_done)(struct slp_read *r);
} slp_read;

void slp_read_init(slp_read *r, slp_fleet *f, const char *of, uint32_t share);
void slp_read_stop(slp_read *r); /* on_done does not come any more */
void slp_read_free(slp_read *r); /* stopped, and its memory given back */

/* Each asks once; on_done comes later, once. Nothing may be under way. SLP_ENOMEM: nothing was asked. */
int slp_read_row(slp_read *r, slp_operation_kind kind, slp_str name, int consistent,
                 void (*on_done)(slp_read *r));
/* Every row whose key begins as that of `kind` does, such as those of all workers. */
int slp_read_list(slp_read *r, slp_operation_kind kind, int consistent, void (*on_done)(slp_read *r));
/* Every row of this application and stream, under whichever keys they lie. */
void slp_read_all(slp_read *r, int consistent, void (*on_done)(slp_read *r));
/* The same, but of the keys beside the first one only those that choose marks: keys[n] = 1 for the n-th. It
 * is called when the rows under the first key are there. r->whole says whether every key was asked. */
void slp_read_chosen(slp_read *r, int consistent, void (*choose)(slp_read *r, uint8_t keys[]),
                     void (*on_done)(slp_read *r));
/* All rows of the table of leases with this hash key and prefix, which live until on_done. */
void slp_read_scope(slp_read *r, slp_str hash, slp_str prefix, void (*on_done)(slp_read *r));
/* Every row of the schema's n-th table beside the table of leases. */
void slp_read_side(slp_read *r, uint8_t n, void (*on_done)(slp_read *r));
/* The rows of these keys, which stay the caller's, by a consistent read. */
void slp_read_keys(slp_read *r, const slp_row_key *keys, size_t n, void (*on_done)(slp_read *r));

/* The answer, row by row: 1, or 0 behind the last. */
int slp_read_next(slp_read *r, slp_parsed_row *ret);
/* The answer's only row; of kind OTHER when there is none. */
void slp_read_one(slp_read *r, slp_parsed_row *ret);

/* Counts an answer, and tells of failures when that is due: as slp_fleet_tells() has it, and at once of an
 * answer of many pages that took seconds and makes no sense. 1: it came. */
int slp_read_count(slp_read *r, const slp_fail *fail);

void slp_reads_init(slp_fleet *f);
void slp_reads_stop(slp_fleet *f);
int slp_fleet_throttled(const slp_fleet *f); /* 1: reads or writes of this worker wait for what is granted */
int slp_fleet_is_scarce(const slp_fleet *f); /* 1: it gets a few reads or writes a second at most */
/* How long one kind of read waits before it is repeated: us, and so long that the table grants this worker so
 * many units for other reads meanwhile. */
uint64_t slp_reads_rest_us(const slp_fleet *f, uint64_t us, uint32_t units);
/* Of so many rows, how many to ask for at once. A table that grants this worker one request a second may
 * grant one row; where it grants n requests a second, n * n rows are asked for, so that a gate that is nearly
 * open does not make many requests of one. */
size_t slp_reads_at_once(const slp_fleet *f, size_t most);

#endif
