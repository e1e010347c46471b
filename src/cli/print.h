/* print.h - a record to text as the options say: decoded, matched, made unique, formatted. */
#ifndef SLP_CLI_PRINT_H
#define SLP_CLI_PRINT_H

#include "cli/args.h"
#include "cli/format.h"
#include "cli/grep.h"
#include "cli/show.h"
#include "cli/unique.h"

typedef struct slp_printer {
  slp_mem *mem;         /* borrowed */
  const slp_args *args; /* borrowed */
  slp_format *format;   /* owned, as the next two; NULL: not asked for */
  slp_grep *grep;
  slp_unique *unique;
  slp_show_style style;
  slp_buf delimiter, key_delimiter;
  slp_buf data_room, key_room; /* decoded */
  uint8_t terminal;            /* the lines are for a terminal */
  const char *worker;          /* borrowed: with leases, the worker that reads the records; or NULL */
  uint64_t undecoded;          /* printed as they came */
  char why[200];               /* of the last record that could not be decoded */
} slp_printer;

/* SLP_EINVAL (wrong usage) or SLP_ENOMEM, and `why`. */
int slp_printer_open(slp_printer *p, slp_mem *mem, const slp_args *args, int terminal, int colour,
                     char why[200]);
void slp_printer_close(slp_printer *p);
/* Appends the record's text; *ret_printed: is there any? SLP_EBADDATA: it can't be decoded, p->why says why,
 * and without -E that is the end; else no memory. Nothing is appended then. */
int slp_printer_add(slp_printer *p, slp_buf *b, const sloop_record_t *r, int64_t behind_ms, int *ret_printed);

#endif
