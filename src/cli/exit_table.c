/* exit_table.c - the table of exit statuses. */
#include "cli/exit_table.h"

#include "cli/exit.h"

const slp_exit_row slp_exit_rows[] = {
    {SLP_EXIT_FINE, "everything was done, or the end was reached: -e, -n, -c, --until, --timeout"},
    {SLP_EXIT_FINE, "the reader of standard output left"},
    {SLP_EXIT_FINE, "a first Ctrl-C ended the reading of records"},
    {SLP_EXIT_FAILED, "it failed, or could not do everything it was told to; standard error says why"},
    {SLP_EXIT_FAILED, "--timeout or -m: nothing was answered in that time"},
    {SLP_EXIT_FAILED,
     "a change (--migrate, --release, --reset, --deregister) was interrupted by a first Ctrl-C or "
     "--timeout; it says how much of it is done and what is not known"},
    {SLP_EXIT_FAILED, "-L, --consumers: a first Ctrl-C or -m ended the listing before all was listed"},
    {SLP_EXIT_FAILED, "--leases, --explain, --iam --try: a first Ctrl-C came before the answer was complete"},
    {SLP_EXIT_FAILED, "--lag-over: a stream could not be checked, or a first Ctrl-C came before all were"},
    {SLP_EXIT_FAILED, "--iam --try: a call failed, and no right is known to be denied"},
    {SLP_EXIT_FAILED, "-P: a line was read that is neither put nor refused, or an input could not be read"},
    {SLP_EXIT_USAGE, "wrong usage: nothing was begun"},
    {SLP_EXIT_LOSS, "--fail-on-loss: records were lost"},
    {SLP_EXIT_OWNED, "--release, --reset, --migrate: a live worker owns the lease, and nothing was changed"},
    {SLP_EXIT_OWNED, "--save: another process keeps its position in that file"},
    {SLP_EXIT_NO_SHARD, "--explain, --release, --reset: no such shard"},
    {SLP_EXIT_NO_WORKER, "--release: no such worker"},
    {SLP_EXIT_BEHIND,
     "--lag-over: the lag of a shard is above the limit, or is unknown: its lag is not known, the "
     "service refuses its position, its row is invalid, or no shard has a lease. One line names "
     "up to ten of them"},
    {SLP_EXIT_DENIED, "--iam --try: a right is denied"},
    {SLP_EXIT_REFUSED, "-P: lines were refused, and all others are put"},
    {SLP_EXIT_INTERRUPTED, "a second Ctrl-C"},
};
const size_t slp_exit_rows_n = SLP_COUNT(slp_exit_rows);
