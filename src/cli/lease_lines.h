/* lease_lines.h - turns lease events into lines of text for people. */
#ifndef SLP_CLI_LEASE_LINES_H
#define SLP_CLI_LEASE_LINES_H

#include <sloop.h>

/* Writes a lease event as one line. Returns 1 if a person should see the line without -v, because it tells
 * about trouble. */
int slp_lease_event_line(const sloop_lease_event_t *e, char *line, size_t n);

#endif
