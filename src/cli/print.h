/* print.h - turns a record into text as the options say: decodes it, leaves it out if --grep or --unique says
 * so, and formats it. */
#ifndef SLP_CLI_PRINT_H
#define SLP_CLI_PRINT_H

#include "base/buf.h"
#include "base/mem.h"
#include "cli/args.h"
#include "cli/decode.h"
#include "cli/decode_cwlogs.h"
#include "cli/decoder_table.h"
#include "cli/format.h"
#include "cli/grep.h"
#include "cli/record_formats.h"
#include "cli/schemas.h"
#include "cli/unique.h"

#include <sloop.h>

/* The states of a printer, for one record:
 *
 *   IDLE --> KEY --> PICK --> DATA --> LINE                the record is one line
 *                                +---> EVENTS <--> EVENT   -s cwlogs or avro finds lines in the record;
 *                                                          EVENT: one of these lines
 *
 * LINE and EVENT find the matches that are shown in colour before they print. PICK does the same with a key.
 * KEY goes to DATA at once if every key is wanted. KEY, PICK, DATA, EVENTS and EVENT also go to LINE when the
 * record can't be decoded and is printed as it came.
 * Every state goes back to IDLE when the record is done or has failed. */
typedef enum slp_printer_state {
  SLP_PRINTER_IDLE,
  SLP_PRINTER_KEY,    /* the key is being decoded */
  SLP_PRINTER_PICK,   /* the key is matched by --key and --key-is */
  SLP_PRINTER_DATA,   /* the payload is being decoded */
  SLP_PRINTER_LINE,   /* the record's only line is matched and printed */
  SLP_PRINTER_EVENTS, /* the next of the record's lines is looked for */
  SLP_PRINTER_EVENT   /* one of the record's lines is matched and printed */
} slp_printer_state;

typedef struct slp_printer {
  slp_mem *mem;         /* borrowed */
  const slp_args *args; /* borrowed */
  slp_format *format;   /* owned, like the next three members; NULL: the user did not give its option */
  slp_grep *grep, *key_grep;
  slp_unique *unique;
  struct slp_highlight *marks, *key_marks; /* owned; NULL: matches of --grep, or of --key, are not shown */
  slp_show_style style;
  slp_buf delimiter, key_delimiter;
  struct slp_line_memo *memo; /* owned; what JSON lines have in common; NULL: none are printed */
  uint8_t terminal;           /* 1: the lines are for a terminal */
  uint8_t direct; /* 1: records are printed as they came: nothing decodes, picks or searches them */
  /* borrowed; with leases: the name of the worker that reads the records; NULL: no leases */
  const char *worker;
  uint64_t undecoded; /* number of records that could not be decoded */
  uint64_t controls;  /* number of control messages of CloudWatch Logs, for which nothing is printed */
  /* records for which --grep or --key reached a bound before it could decide whether a line or key matches */
  uint64_t undecided;
  char why[200]; /* which record was undecoded or undecided last, and why */

  slp_printer_state state; /* this member and all members below are about the record that is printed now */
  const sloop_record_t *as_it_came;
  sloop_record_t record; /* the record with its key and payload decoded */
  slp_show_extra extra;
  sloop_record_t line; /* the line that is being matched, and is printed if it matches */
  slp_show_extra line_extra;
  char undecodable[100]; /* why the record can't be decoded and is printed as it came */
  char undecidable[100]; /* why --grep can't decide whether a line of the record matches */
  uint8_t marking;       /* 1: the line or the key matches, and its matches are being found */
  uint8_t printed;       /* 1: the text has a line of the record already */
  uint8_t is_undecided;  /* 1: the record is counted in `undecided` */
  slp_decoding key, data;
  slp_cwlogs events;
  slp_schemas schemas; /* the schemas by which key and payload are decoded */
  /* EVENTS: lines that a decoder made and that are not printed yet; rows.p NULL: the lines come from
   * `events` */
  slp_str rows;
  uint64_t left;     /* how many decoded bytes the payload may have: what the key has left of the limit */
  int64_t behind_ms; /* sloop_batch_behind_ms() of the batch that has the record */
  size_t from;       /* offset in the text where this record's text begins; set anew in each step */
  size_t made;       /* how many bytes of text the record has so far; they stand at the end of the text */
} slp_printer;

/* Opens a printer. `terminal`: the output is a terminal. Returns 0, or SLP_EINVAL (wrong usage) or SLP_ENOMEM
 * with a message in `why`. Call slp_printer_close() in every case. */
int slp_printer_open(slp_printer *p, slp_mem *mem, const slp_args *args, int terminal, int colour,
                     char why[400]);
void slp_printer_close(slp_printer *p);
/* Returns 1 if payloads are read, 0 if only the rest of the records is. */
int slp_printer_reads_payloads(const slp_printer *p);
/* Begins to print r, which must live until it is printed. Drops the rest of a record that was not
 * finished. */
void slp_printer_begin(slp_printer *p, const sloop_record_t *r, int64_t behind_ms);
/* Does one slice of work, and appends text to b. Until the record is finished, no other function may append
 * to b. Returns:
 *   1                 the record is not finished: call again
 *   SLP_DECODE_WAITS  a schema is missing; call again when it has come
 *   0                 the record is finished; *ret_printed is 1 if any of its lines was printed
 *   SLP_EBADDATA      only without -E: the record can't be decoded, or --grep can't decide whether the
 *                     record matches; p->why says why
 *   another code      no memory
 * On an error, the record's text is removed from b. */
int slp_printer_step(slp_printer *p, slp_buf *b, int *ret_printed);

#endif
