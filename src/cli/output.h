/* output.h - takes batches, turns their records into text and writes the text to standard output.
 *
 * Text is produced in slices of limited time and size, one slice in each turn of the loop. The text is
 * written as fast as the reader takes it. A record is acknowledged when the last byte of its text is written,
 * never earlier.
 *
 * With leases two rules hold:
 *   1. The writing of a record starts only while this worker can prove that it is alive, and never after
 *      another worker has taken the record's shard.
 *   2. A record that is partly written is always finished, so that lines stay whole.
 *
 *           slp_output_drain           slp_output_cut
 *   RUNS ----------------------> DRAINS --------------> CUTS
 *     +-------------------- slp_output_cut --------------^
 *
 *   any of these ---> OVER, by slp_output_give_up; CUTS also by itself, when its last record is written */
#ifndef SLP_CLI_OUTPUT_H
#define SLP_CLI_OUTPUT_H

#include "base/buf.h"
#include "base/list.h"
#include "cli/app.h"

#include <sloop.h>

typedef enum slp_output_state {
  SLP_OUTPUT_RUNS,   /* records become text, and the text is written */
  SLP_OUTPUT_DRAINS, /* existing text is still written, but no further record becomes text */
  SLP_OUTPUT_CUTS,   /* the record that is partly written is finished, and nothing else is written */
  SLP_OUTPUT_OVER    /* nothing more is written, and no batch is held */
} slp_output_state;

enum { SLP_MADE, SLP_MADE_PART, SLP_MADE_NONE, SLP_MADE_WAITS }; /* results of slp_output.make */

/* Counts the records that were read, and keeps their earliest and latest time of arrival. */
typedef struct slp_read_span {
  uint64_t records;
  /* times of arrival of the earliest and of the latest record; 0: no record had a time */
  int64_t first_ms, last_ms;
} slp_read_span;

typedef struct slp_output slp_output;
struct slp_output {
  slp_app *app; /* borrowed */
  slp_output_state state;
  slp_list batches;  /* the batches that are not given back yet, oldest first */
  slp_buf text;      /* text of records; kept until all of it is written */
  size_t done;       /* number of bytes of `text` that are written */
  size_t whole;      /* number of bytes of `text` up to the end of the last record whose text is complete */
  uint64_t written;  /* bytes written since the start */
  uint64_t returned; /* offset in the whole output where the text of the last record given back ends */
  /* 1: a lease was lost or given up. Before more is written, the text of records of such leases is
   * removed. */
  uint8_t doubt;
  /* number of records whose text was removed because another worker has taken their shard */
  uint64_t dropped;
  slp_read_span read; /* the records that were given back as acknowledged */
  /* The code that uses this output sets the members below. */
  uint8_t leased; /* 1: the worker has leases, so sloop_batch_owned() is called before records are written */
  uint8_t unbuffered;     /* 1: each record is written separately */
  uint8_t reads_payloads; /* 1: `make` reads the payloads of records */
  /* Appends text of record r of batch b, which came with `owner`. begins: 1 in the first call for r.
   *   SLP_MADE        the text of r is complete
   *   SLP_MADE_PART   r has more text: call again, with begins 0
   *   SLP_MADE_WAITS  as SLP_MADE_PART, but call again only after slp_output_wake(), because r needs
   *                   something that has not come yet
   *   SLP_MADE_NONE   r and the records after it in b are not printed
   *   negative        an error, treated as SLP_MADE_NONE */
  int (*make)(void *user, const void *owner, const sloop_batch_t *b, const sloop_record_t *r, int begins,
              slp_buf *text);
  void *user;
};

void slp_output_init(slp_output *o, slp_app *app);
void slp_output_free(slp_output *o);
/* Adds a batch, which is then owned by o; `owner` is passed to `make`. May be called only in RUNS. Returns 0;
 * or SLP_ENOMEM, and then the caller still owns the batch. */
int slp_output_add(slp_output *o, sloop_batch_t *batch, const void *owner);
/* Must be called when `make` has returned SLP_MADE_WAITS for a record, and what the record waits for has
 * come. Starts a turn of the output soon. */
void slp_output_wake(slp_output *o);
/* Does one turn: makes text of records, writes text, gives written batches back, and makes sure that there is
 * a next turn. */
void slp_output_run(slp_output *o);
/* Gives written batches back. Then acknowledges the written records of the oldest batch that is left, without
 * giving it back. */
void slp_output_acknowledge(slp_output *o);
/* Must be called when a lease was lost or given up. Records and text whose writing has not started are then
 * checked before they are written. */
void slp_output_doubt(slp_output *o);

/* slp_output_drain and slp_output_cut change the state (see above). Records that will not be written are
 * given back without being acknowledged, once the text that is still to be written is written. */
void slp_output_drain(slp_output *o);
void slp_output_cut(slp_output *o);
/* Stops all writing and gives every batch back. Records that are completely written are acknowledged. */
void slp_output_give_up(slp_output *o);

/* returns 1 if a batch of this owner is not given back yet */
int slp_output_has(const slp_output *o, const void *owner);
int slp_output_empty(const slp_output *o);

#endif
