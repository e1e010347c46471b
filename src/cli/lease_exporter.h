/* lease_exporter.h - --leases --metrics: reads lease tables and serves what they contain as metrics. */
#ifndef SLP_CLI_LEASE_EXPORTER_H
#define SLP_CLI_LEASE_EXPORTER_H

#include "base/mem.h"
#include "cli/args.h"

/* Runs until it is interrupted. Returns the exit code. */
int slp_lease_exporter_run(slp_mem *mem, const slp_args *args);

#endif
