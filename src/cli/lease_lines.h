/* lease_lines.h - turns lease events into lines of text for people. */
#ifndef SLP_CLI_LEASE_LINES_H
#define SLP_CLI_LEASE_LINES_H

#include <sloop.h>

/* Writes a lease event as one line. Returns 1 if the line is about trouble, so that people should see it
 * without -v too; 0 otherwise. */
int slp_lease_event_line(const sloop_lease_event_t *e, char *line, size_t n);

#endif
