/* printer_report.c - tells the user which records could not be printed as asked. */
#include "cli/printer_report.h"

#include "cli/args.h"
#include "cli/people_lines.h"
#include "cli/print.h"
#include "program/program.h"

#include <stdio.h>

#define TELL_UNDECODED_US 5000000u /* the least time between two reports of undecoded records */

/* Reports records that could not be decoded, and records about which --grep could not decide. */
static void tell_undecoded(slp_printer_reports *r, const slp_printer *p, int at_end) {
  uint64_t now_us = slp_program_mono_us();
  int lately = r->undecoded_at_us && now_us - r->undecoded_at_us < TELL_UNDECODED_US;
  uint64_t all = p->undecoded + p->undecided;
  if (all == r->undecoded || (lately && !at_end)) return;
  char undecoded[60] = "", undecided[60] = "";
  if (p->undecoded)
    snprintf(undecoded, sizeof undecoded, "; %llu printed as they came", (unsigned long long)p->undecoded);
  if (p->undecided)
    snprintf(undecided, sizeof undecided, "; %llu printed undecided", (unsigned long long)p->undecided);
  slp_say_if_room("%s%s%s", p->why, undecoded, undecided);
  r->undecoded = all;
  r->undecoded_at_us = now_us;
}

/* Reports how many control messages came. The first report comes as soon as some came, because nothing else
 * shows that a new subscription works. The second, at the end, has the total. */
static void tell_controls(slp_printer_reports *r, const slp_printer *p, int at_end) {
  if (p->controls == r->controls || (r->controls && !at_end)) return;
  slp_say_if_room("control messages of CloudWatch Logs, which are not printed: %llu",
                  (unsigned long long)p->controls);
  r->controls = p->controls;
}

/* Warns once that the schema file without an id was used for several schema versions, because the file may
 * fit only one of them. */
static void tell_mixed(slp_printer_reports *r, const slp_printer *p) {
  if (!p->schemas.seen_more || r->mixed) return;
  r->mixed = 1;
  slp_say_if_room(
      "records of several schema versions are decoded by the one --schema-file without an id, which "
      "may not fit all of them; --schema-file ID=FILE gives each its own");
}

void slp_printer_report(slp_printer_reports *r, const slp_printer *p, const slp_args *a, int bad,
                        int at_end) {
  if (a->quiet) return;
  if (!bad) tell_undecoded(r, p, at_end);
  tell_controls(r, p, at_end);
  tell_mixed(r, p);
}

void slp_printer_failure(const slp_printer *p, int code, char line[300]) {
  if (code == SLP_EBADDATA)
    snprintf(line, 300, "%s; use -E to continue after such records", p->why);
  else
    snprintf(line, 300, "%s",
             code == SLP_ENOMEM ? "no memory to print a record" : "a record is too large as text");
}
