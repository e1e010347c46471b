/* print.h - turns a record into text as the options say: decodes it, leaves it out if --grep or --unique says
 * so, and formats it. */
#ifndef SLP_CLI_PRINT_H
#define SLP_CLI_PRINT_H

#include "cli/args.h"
#include "cli/format.h"
#include "cli/grep.h"
#include "cli/schemas.h"
#include "cli/show.h"
#include "cli/unique.h"

/*  The states of a printer, for one record:
 *
 *   IDLE --> KEY --> DATA --> LINE                the record is one line
 *                       +---> EVENTS <--> EVENT   -s cwlogs or avro finds lines in it; EVENT: one of them
 *
 * KEY, EVENTS and EVENT go to LINE too, if the record can't be decoded and is printed as it came. Every state
 * goes back to IDLE when the record is done or has failed. */
typedef enum slp_printer_state {
  SLP_PRINTER_IDLE,
  SLP_PRINTER_KEY,    /* the key is being decoded */
  SLP_PRINTER_DATA,   /* the payload is being decoded */
  SLP_PRINTER_LINE,   /* the line of the record is matched and printed */
  SLP_PRINTER_EVENTS, /* the next line of the record is looked for */
  SLP_PRINTER_EVENT   /* a line of the record is matched and printed */
} slp_printer_state;

typedef struct slp_printer {
  slp_mem *mem;         /* borrowed */
  const slp_args *args; /* borrowed */
  slp_format *format;   /* owned, as are the next two; NULL: its option is not given */
  slp_grep *grep;
  slp_unique *unique;
  slp_show_style style;
  slp_buf delimiter, key_delimiter;
  uint8_t terminal;   /* 1: the lines are for a terminal */
  const char *worker; /* borrowed: with leases, the worker that reads the records; NULL: no leases */
  uint64_t undecoded; /* records that could not be decoded */
  uint64_t controls;  /* control messages of CloudWatch Logs; they print nothing */
  /* records for which a bound of --grep was reached before it was known whether a line matches */
  uint64_t undecided;
  char why[200]; /* names the last undecoded or undecided record, and says why it is */

  slp_printer_state state; /* this and all members below are about the record being printed */
  const sloop_record_t *as_it_came;
  sloop_record_t record; /* the record with its key and payload decoded */
  slp_show_extra extra;
  sloop_record_t line; /* the line that is being matched, and is printed if it matches */
  slp_show_extra line_extra;
  char undecodable[100]; /* why the record is printed as it came */
  char undecidable[100]; /* why it is not known whether a line of it matches */
  uint8_t printed;       /* 1: a line of the record is in the text */
  uint8_t is_undecided;  /* 1: the record is counted in `undecided` */
  slp_decoding key, data;
  slp_cwlogs events;
  slp_schemas schemas; /* schemas for key and payload */
  /* EVENTS: the lines still to come that a decoder made; rows.p NULL: the lines come from `events` */
  slp_str rows;
  int64_t behind_ms; /* sloop_batch_behind_ms() of its batch */
  size_t from;       /* offset in the text where this record's part begins, in the present step */
  size_t made;       /* bytes of this record's part, which stands at the end of the text */
} slp_printer;

/* Opens a printer; terminal: the output is a terminal. Returns 0, or SLP_EINVAL (wrong usage) or SLP_ENOMEM,
 * and `why`. Call slp_printer_close in either case. */
int slp_printer_open(slp_printer *p, slp_mem *mem, const slp_args *args, int terminal, int colour,
                     char why[400]);
void slp_printer_close(slp_printer *p);
/* Begins to print r, which must live until it is printed. Drops what was left of another record. */
void slp_printer_begin(slp_printer *p, const sloop_record_t *r, int64_t behind_ms);
/* Does a slice of work, and appends text to b. Nobody else may append to b before the record is done.
 *   1                 there is more to do
 *   SLP_DECODE_WAITS  a schema is missing; nothing can be done before it comes
 *   0                 the record is done; *ret_printed is 1 if any of its steps made text
 *   SLP_EBADDATA      without -E: the record can't be decoded, or whether it matches is undecided; p->why
 *                     says why
 *   another code      no memory
 * On an error, the record's text is removed from b. */
int slp_printer_step(slp_printer *p, slp_buf *b, int *ret_printed);

#endif
