/* output.h - takes batches, turns their records into text and writes that to standard output.
 *
 * Text is made in slices of bounded time and size, each in a turn of its own, and is written as fast as the
 * reader takes it. A record is acknowledged when the last byte of its text was written, never earlier.
 *
 * With leases, no record is begun while this worker can't prove that it lives, and a record whose shard
 * another worker has taken is never written. A record that is partly written is always finished, so that
 * lines stay whole.
 *
 *           slp_output_drain           slp_output_cut
 *   RUNS ----------------------> DRAINS --------------> CUTS
 *     +-------------------- slp_output_cut --------------^
 *
 *   any of these ---> OVER, by slp_output_give_up; CUTS also by itself, when its last record is written */
#ifndef SLP_CLI_OUTPUT_H
#define SLP_CLI_OUTPUT_H

#include "base/list.h"
#include "cli/app.h"
#include "sloop.h"

typedef enum slp_output_state {
  SLP_OUTPUT_RUNS,   /* records become text, and text is written */
  SLP_OUTPUT_DRAINS, /* text that was made is still written, but no further record becomes text */
  SLP_OUTPUT_CUTS,   /* only the record that is partly written is finished */
  SLP_OUTPUT_OVER    /* nothing is written, and no batch is held */
} slp_output_state;

enum { SLP_MADE, SLP_MADE_PART, SLP_MADE_NONE, SLP_MADE_WAITS }; /* results of slp_output.make */

typedef struct slp_output slp_output;
struct slp_output {
  slp_app *app; /* borrowed */
  slp_output_state state;
  slp_list batches;  /* batches held, oldest first */
  slp_buf text;      /* text made; kept until all of it is written */
  size_t done;       /* bytes of `text` that are written */
  size_t whole;      /* bytes of `text` up to the end of the last record that is made whole */
  uint64_t written;  /* bytes written since the beginning */
  uint64_t returned; /* offset in the whole output where the last record given back ends */
  uint8_t doubt;     /* 1: a lease is gone, so text not yet written is checked before more is written */
  uint64_t dropped;  /* records whose text was dropped because another worker has their shard */
  /* Set by the user. */
  uint8_t leased;     /* 1: before writing, ask sloop_batch_owned() whether the records still count */
  uint8_t unbuffered; /* 1: each record is written by itself */
  /* Appends text of the record r of batch b, which `owner` handed over. begins: 1 at the first call for r.
   *   SLP_MADE        the text is complete
   *   SLP_MADE_PART   there is more to do: it is called again, with begins 0
   *   SLP_MADE_WAITS  the same, but only after slp_output_wake(): something from outside is missing
   *   SLP_MADE_NONE   do not print r and the records after it in b
   *   negative        an error, treated as SLP_MADE_NONE */
  int (*make)(void *user, const void *owner, const sloop_batch_t *b, const sloop_record_t *r, int begins,
              slp_buf *text);
  void *user;
};

void slp_output_init(slp_output *o, slp_app *app);
void slp_output_free(slp_output *o);
/* Takes a batch over; `owner` is passed to `make`. Only in RUNS. Returns 0, or SLP_ENOMEM and the batch stays
 * the caller's. */
int slp_output_add(slp_output *o, sloop_batch_t *batch, const void *owner);
/* Call it when what SLP_MADE_WAITS waits for has come. Asks for a turn. */
void slp_output_wake(slp_output *o);
/* Does one turn: makes text, writes it, gives back batches that are written, and asks for the next turn. */
void slp_output_run(slp_output *o);
/* Acknowledges the written records of the oldest batch, which is not wholly written yet. */
void slp_output_acknowledge(slp_output *o);
/* Call it when a lease was lost or given up: text and records that are not begun are checked before they are
 * written. */
void slp_output_doubt(slp_output *o);

/* Both give the records that will not be written back, unacknowledged, once the rest is written. */
void slp_output_drain(slp_output *o);
void slp_output_cut(slp_output *o);
/* Ends all writing, and gives every batch back; what was written is acknowledged. */
void slp_output_give_up(slp_output *o);

int slp_output_has(const slp_output *o, const void *owner); /* Returns 1 if a batch of this owner is held. */
int slp_output_empty(const slp_output *o);

#endif
