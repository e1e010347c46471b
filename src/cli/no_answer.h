/* no_answer.h - decides whether a command has waited long enough (-m, --timeout) for a service that does not
 * answer, or for shards that no worker reads. */
#ifndef SLP_CLI_NO_ANSWER_H
#define SLP_CLI_NO_ANSWER_H

#include "cli/args.h"
#include "cli/consumer_run.h"
#include "cli/fleet_look.h"

/* Returns 1 and a line for the user if the service has answered nothing within -m or --timeout, whichever
 * is shorter, since begun_us. error: the last error; "": no call has failed. */
int slp_is_unanswered(const slp_args *a, const char *error, uint64_t begun_us, char line[480]);
/* With leases and --timeout. Returns 1 and a line for the user in either of two cases:
 *   - some shard still has no living reader, although a worker should have begun to read it by now;
 *   - this worker could not write to the lease table for the time of --timeout (if the error may pass by
 *     itself: and one duration of a lease), so it can't take the shard either.
 * begun_us: when the consumer was opened. */
int slp_is_without_share(slp_cli_consumer *c, const slp_fleet_look *look, uint64_t begun_us, char line[480]);

#endif
