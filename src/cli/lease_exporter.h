/* lease_exporter.h - --leases --metrics: serves what the lease tables of applications say. */
#ifndef SLP_CLI_LEASE_EXPORTER_H
#define SLP_CLI_LEASE_EXPORTER_H

#include "cli/args.h"

/* Runs until it is interrupted; returns the exit code. */
int slp_lease_exporter_run(slp_mem *mem, const slp_args *args);

#endif
