/* printer_report.h - tells the user which records could not be printed as asked. */
#ifndef SLP_CLI_PRINTER_REPORT_H
#define SLP_CLI_PRINTER_REPORT_H

#include "cli/args.h"
#include "cli/print.h"

typedef struct slp_printer_reports { /* begins zeroed */
  /* the printer's counts when they were last reported: undecoded and undecided records, control messages */
  uint64_t undecoded, controls;
  uint64_t undecoded_at_us; /* when `undecoded` was last reported */
  uint8_t mixed; /* 1: the user was told that one schema file is used for several schema versions */
} slp_printer_reports;

/* Reports what is new since the last report; undecoded records at most every five seconds. bad: 1 if the
 * command ends because of a record that can't be printed; then the reason was reported already. at_end: 1 for
 * the last report, which leaves nothing out. */
void slp_printer_report(slp_printer_reports *r, const slp_printer *p, const slp_args *a, int bad, int at_end);

/* Writes why a record that can't be printed ends the command. code: the error of slp_printer_step(). */
void slp_printer_failure(const slp_printer *p, int code, char line[300]);

#endif
