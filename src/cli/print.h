/* print.h - a record to text as the options say: decoded, matched, made unique, formatted. */
#ifndef SLP_CLI_PRINT_H
#define SLP_CLI_PRINT_H

#include "cli/args.h"
#include "cli/format.h"
#include "cli/grep.h"
#include "cli/schemas.h"
#include "cli/show.h"
#include "cli/unique.h"

/*   IDLE --> KEY --> DATA --> LINE                LINE: matched and printed, of the record
 *                       +---> EVENTS <--> EVENT   of those that -s cwlogs or avro finds; the line of one
 * To LINE from KEY, EVENTS and EVENT too, when it can't be decoded and is printed as it came; and back to
 * IDLE from anywhere, when it is printed or can't be. */
typedef enum slp_printer_state {
  SLP_PRINTER_IDLE,
  SLP_PRINTER_KEY,  /* being decoded */
  SLP_PRINTER_DATA, /* likewise */
  SLP_PRINTER_LINE,
  SLP_PRINTER_EVENTS,
  SLP_PRINTER_EVENT
} slp_printer_state;

typedef struct slp_printer {
  slp_mem *mem;         /* borrowed */
  const slp_args *args; /* borrowed */
  slp_format *format;   /* owned, as the next two; NULL: not asked for */
  slp_grep *grep;
  slp_unique *unique;
  slp_show_style style;
  slp_buf delimiter, key_delimiter;
  uint8_t terminal;   /* the lines are for a terminal */
  const char *worker; /* borrowed: with leases, the worker that reads the records; or NULL */
  uint64_t undecoded; /* printed as they came */
  uint64_t controls;  /* control messages of CloudWatch Logs, which print nothing */
  uint64_t undecided; /* records with a line that was printed undecided: bounds hid whether it matches */
  char why[200];      /* of the last record that is undecoded or undecided */

  slp_printer_state state; /* of the record at hand, as what follows */
  const sloop_record_t *as_it_came;
  sloop_record_t record; /* decoded */
  slp_show_extra extra;
  sloop_record_t line; /* to be printed if it matches */
  slp_show_extra line_extra;
  char undecodable[100]; /* why it is printed as it came */
  char undecidable[100]; /* why a line of it is printed undecided */
  uint8_t printed;       /* a line of it is in the text */
  uint8_t is_undecided;  /* it is counted in `undecided` */
  slp_decoding key, data;
  slp_cwlogs events;
  slp_schemas schemas; /* of both */
  slp_str rows;        /* EVENTS: the lines to come that a decoder made; absent: they are cwlogs's */
  int64_t behind_ms;
  size_t from; /* in the text: where its part begins, in this step */
  size_t made; /* bytes of its part, which are the last of the text */
} slp_printer;

/* SLP_EINVAL (wrong usage) or SLP_ENOMEM, and `why`. */
int slp_printer_open(slp_printer *p, slp_mem *mem, const slp_args *args, int terminal, int colour,
                     char why[400]);
void slp_printer_close(slp_printer *p);
/* The record is the next to be printed, and must live until it is; what was left of another one is
 * dropped. */
void slp_printer_begin(slp_printer *p, const sloop_record_t *r, int64_t behind_ms);
/* Does a slice of work on it, at the end of the text `b`, to which nobody else may add meanwhile. 1: there
 * is more to do. SLP_DECODE_WAITS: for a schema; nothing can be done before it comes. 0: its text is there;
 * *ret_printed: is there any, of whichever slice? SLP_EBADDATA: it can't be decoded, or whether it matches
 * is undecided; p->why says why, and without -E that is the end; else no memory. Nothing of it is appended
 * then. */
int slp_printer_step(slp_printer *p, slp_buf *b, int *ret_printed);

#endif
