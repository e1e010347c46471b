/* lease_lines.h - events of leases as lines for people. */
#ifndef SLP_CLI_LEASE_LINES_H
#define SLP_CLI_LEASE_LINES_H

#include "base/base.h"
#include "sloop.h"

/* An event of a lease as one line. 1: a person should see it without asking. */
int slp_lease_event_line(const sloop_lease_event_t *e, char *line, size_t n);

#endif
