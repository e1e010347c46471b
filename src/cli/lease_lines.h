/* lease_lines.h - words lease events as lines for people. */
#ifndef SLP_CLI_LEASE_LINES_H
#define SLP_CLI_LEASE_LINES_H

#include "base/base.h"
#include "sloop.h"

/* Writes a lease event as one line. Returns 1 if it is trouble, which a person should see without -v. */
int slp_lease_event_line(const sloop_lease_event_t *e, char *line, size_t n);

#endif
