/* output.h - the way of records to standard output. Batches wait here, become text in slices of bounded
 * time and size, each in a turn of its own, and are written as fast as the reader takes them. A record is
 * acknowledged when the last byte of its text was written, not earlier.
 *
 * With leases nothing is begun to be written while this worker can't prove that it lives, and never what is
 * another worker's meanwhile. A record of which a part is written already is finished, so that lines stay
 * whole.
 *
 *             no more is to be printed         a signal: only the record that is begun
 *   RUNS ------------------------------> DRAINS -----------------------------> CUTS
 *     +-----------------------------------------------------------------------^ |
 *     +--- all is written, or never will be ---> OVER <--- from anywhere -------+ */
#ifndef SLP_CLI_OUTPUT_H
#define SLP_CLI_OUTPUT_H

#include "base/list.h"
#include "cli/app.h"
#include "sloop.h"

typedef enum slp_output_state {
  SLP_OUTPUT_RUNS,
  SLP_OUTPUT_DRAINS, /* the text that there is gets written, and no record becomes text any more */
  SLP_OUTPUT_CUTS,   /* the record that is partly written is finished, and nothing behind it */
  SLP_OUTPUT_OVER    /* nothing is written any more, and no batch is here */
} slp_output_state;

enum { SLP_MADE, SLP_MADE_PART, SLP_MADE_NONE, SLP_MADE_WAITS }; /* see `make` */

typedef struct slp_output slp_output;
struct slp_output {
  slp_app *app; /* borrowed */
  slp_output_state state;
  slp_list batches;  /* oldest first */
  slp_buf text;      /* made and not yet forgotten */
  size_t done;       /* of it: written */
  size_t whole;      /* of it: up to the end of a record */
  uint64_t written;  /* since the beginning */
  uint64_t returned; /* where the text ends of the last record that was given back */
  uint8_t doubt;     /* some lease is gone: what waits is looked through before anything is written */
  uint64_t dropped;  /* records whose text was not written because they are another worker's */
  /* Set by the user. */
  uint8_t leased;     /* ask before writing whether the records still count */
  uint8_t unbuffered; /* each record is written by itself */
  /* Appends text of the record: SLP_MADE; SLP_MADE_PART: asks to be called again, `begins` is 0 then;
   * SLP_MADE_WAITS: the same, but not in this turn, for what comes from outside: slp_output_wake() then;
   * SLP_MADE_NONE: neither this record nor what follows it in its batch is to be printed; negative:
   * likewise. */
  int (*make)(void *user, const void *owner, const sloop_batch_t *b, const sloop_record_t *r, int begins,
              slp_buf *text);
  void *user;
};

void slp_output_init(slp_output *o, slp_app *app);
void slp_output_free(slp_output *o);
/* Takes the batch that `owner` handed over. SLP_ENOMEM: nothing has happened. */
int slp_output_add(slp_output *o, sloop_batch_t *batch, const void *owner);
/* What a record waited for is here: asks for a turn. */
void slp_output_wake(slp_output *o);
/* Does one turn: makes text, writes, gives written batches back, and asks for the next turn. */
void slp_output_run(slp_output *o);
/* Acknowledges what is written of a batch that will take longer. */
void slp_output_acknowledge(slp_output *o);
/* Some lease was lost or given up: what is not begun is looked through. */
void slp_output_doubt(slp_output *o);

/* Each gives the other records back, unacknowledged. */
void slp_output_drain(slp_output *o);
void slp_output_cut(slp_output *o);
/* Nothing more will be written. */
void slp_output_give_up(slp_output *o);

int slp_output_has(const slp_output *o, const void *owner); /* a batch of this owner is here */
int slp_output_empty(const slp_output *o);

#endif
